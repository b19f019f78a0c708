//! What the fuzzer asks of parsers that are otherwise this crate's own: for any bytes they neither panic
//! nor break what is asserted here. No part of the interface.

use crate::parts::auth::{Asking, Challenge};
use crate::parts::cookies::{Jar, Site};
use crate::parts::{proxy, url};

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
