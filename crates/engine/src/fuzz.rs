//! What the fuzzer asks of parsers that are otherwise this crate's own: for any bytes they neither panic
//! nor break what is asserted here. No part of the interface.

use squall_plan::model::Csv;

use crate::parts::auth::{Asking, Challenge};
use crate::parts::cache::{Cache, Fields, Lookup, Moments};
use crate::parts::cookies::{Jar, Site};
use crate::parts::{data_file, proxy, url};

/// Most of a jar in a request: 180 cookies of 4,096 bytes, and what stands between them.
const JAR_BYTES: usize = 180 * 4_100;

fn may_stand_in_a_header(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| !matches!(byte, b'\0' | b'\r' | b'\n'))
}

/// Lines of Set-Cookie, each set at several sites; the first one is the path of these.
pub fn cookies(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let path = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let sites = ["example.com", "www.example.com", "127.0.0.1"].map(|host| Site {
        host,
        path: &path,
        secure: path.len().is_multiple_of(2),
        now: 1_700_000_000,
    });
    let mut jar = Jar::default();
    for (line, site) in lines.zip(sites.iter().cycle()) {
        jar.set(line, *site);
        // Set again, it is the same cookie.
        let once = sent(&jar, *site);
        jar.set(line, *site);
        assert_eq!(sent(&jar, *site), once, "{:?}", String::from_utf8_lossy(line));
    }
    for site in sites {
        let header = sent(&jar, site);
        assert!(header.len() <= JAR_BYTES && may_stand_in_a_header(&header));
        for pair in header.split(|byte| *byte == b';') {
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            let _ = jar.get(&String::from_utf8_lossy(name), Some(site.host), site.now);
        }
    }
}

fn sent(jar: &Jar, site: Site<'_>) -> Vec<u8> {
    let mut header = Vec::new();
    assert_eq!(jar.header(site, &mut header), !header.is_empty());
    header
}

/// Lines of WWW-Authenticate, as the parser of responses lets them through: the response to the strongest is one line, and the next one has another
/// count.
pub fn digest(bytes: &[u8]) {
    if bytes.contains(&b'\0') || bytes.contains(&b'\r') {
        return;
    }
    let Ok(mut challenge) = Challenge::strongest(bytes.split(|byte| *byte == b'\n')) else {
        return;
    };
    let asking = Asking {
        user: "Mufasa \"the\" \\",
        password: "Circle of Life",
        method: "GET",
        uri: "/dir/index.html?a=b",
        body: Some(b"body"),
        chance: 7,
    };
    let mut authorize = || challenge.authorize(asking).expect("a body");
    let (first, second) = (authorize(), authorize());
    for value in [&first, &second] {
        assert!(value.starts_with("Digest username=") && may_stand_in_a_header(value.as_bytes()));
    }
    assert_eq!(first.contains(", nc=00000001"), second.contains(", nc=00000002"), "{first}");
}

/// A page, a line end and a reference on it: what they come to is sent as it is, and means the same when
/// it is read again.
pub fn urls(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (page, reference) = text.split_once('\n').unwrap_or((&text, ""));
    let _ = proxy::read(page);
    let parsed = url::parse(page).ok();
    let page = parsed.as_ref().map(|page| (&page.origin, &*page.path));
    for location in [url::resolve(page, reference).ok(), url::parse(reference).ok()] {
        let Some(location) = location else { continue };
        assert!(location.path.starts_with('/') && !location.origin.host.is_empty());
        let plain = |byte: u8| (0x21..0x7F).contains(&byte) && byte != b'#';
        assert!(location.path.bytes().all(plain), "{}", location.path);
        let written = format!("{}{}", location.origin, location.path);
        let again = url::parse(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!((again.origin, again.path), (location.origin, location.path), "{written}");
    }
    for encode in [url::encode_path, squall_base::form::encode] {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        assert!(out.iter().all(|byte| (0x21..0x7F).contains(byte)));
    }
}

/// Headers of two responses to one URL, a line each, the second behind an empty line: what may be asked of a server is a header,
/// what is fresh is not asked for, and time makes nothing fresh again.
pub fn cache(bytes: &[u8]) {
    let bytes: Vec<u8> =
        bytes.iter().copied().filter(|byte| !matches!(byte, b'\0' | b'\r')).collect();
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut fields = || {
        let lines = lines.by_ref().take_while(|line| !line.is_empty());
        let pairs = lines.map(|line| match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], line[at + 1..].trim_ascii()),
            None => (line, &b""[..]),
        });
        Fields::of(pairs)
    };
    let (first, second) = (fields(), fields());
    let mut cache = Cache::default();
    let header = |name: &str| name.as_bytes().into();
    let moments = Moments { requested: 1_700_000_000, received: 1_700_000_001 };
    cache.store("/", header, 200, first, moments, ());
    let is_fresh =
        |cache: &mut Cache<()>, now| cache.look_up("/", header, now) == Lookup::Fresh(());
    for now in [i64::MIN, 0, moments.received, moments.received + 60, i64::MAX - 1] {
        if is_fresh(&mut cache, now) {
            assert!(is_fresh(&mut cache, now.saturating_sub(1)));
        }
    }
    if let Lookup::Stale(conditions) = cache.look_up_stale("/", header) {
        assert!(
            !conditions.is_empty()
                && conditions.iter().all(|(_, value)| may_stand_in_a_header(value))
        );
    }
    let known = cache.look_up_stale("/", header) != Lookup::Absent;
    assert!(!known || cache.revalidate("/", header, second, moments).is_some());
}

/// A file of rows, behind a byte that says of which form: the rows that are read are those that are read again from any of
/// their places.
pub fn csv(bytes: &[u8]) {
    let Some((form, file)) = bytes.split_first() else { return };
    let has = |bit: u8| form & bit != 0;
    let form = Csv {
        delimiter: if has(1) { b';' } else { b',' },
        columns: has(2).then(|| vec!["a".to_owned(), "b".to_owned()]),
        skip_header: has(4),
        quotes: !has(8),
        ragged: has(16),
        charset: None,
    };
    data_file::read_again_and_again(file, form);
}
