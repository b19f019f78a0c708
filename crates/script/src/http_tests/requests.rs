//! Requests: what a call of each function asks for.

use std::io::Read;
use std::time::Duration;

use super::{run, run_with};
use crate::http::{BodyKind, HttpHead, HttpOptions, HttpParams, HttpRequest};

/// A request as it is without anything that a script says of it.
fn plain(method: &str, url: &str) -> HttpRequest {
    let agent = HttpOptions::default().user_agent;
    let head = HttpHead {
        method: method.to_owned(),
        url: url.to_owned(),
        headers: vec![("User-Agent".to_owned(), agent)],
        ..HttpHead::default()
    };
    HttpRequest { head: head.into(), body: Vec::new() }
}

#[test]
fn each_function_has_its_method() {
    for (call, method) in [
        ("http.get('http://a/')", "GET"),
        ("http.head('http://a/')", "HEAD"),
        ("http.post('http://a/')", "POST"),
        ("http.put('http://a/', null)", "PUT"),
        ("http.patch('http://a/', undefined, {})", "PATCH"),
        ("http.del('http://a/')", "DELETE"),
        ("http.options('http://a/')", "OPTIONS"),
        ("http.request('get', 'http://a/')", "GET"),
        ("http.request('PURGE', 'http://a/', null, null)", "PURGE"),
        ("http.asyncRequest('POST', 'http://a/')", "POST"),
    ] {
        let ran = run(call);
        assert_eq!(*ran.request(), plain(method, "http://a/"), "{call}");
        assert!(ran.said.is_empty(), "{call}: {:?}", ran.said);
    }
}

#[test]
fn params_stand_where_each_function_has_them() {
    for call in [
        "http.get('http://a/', { redirects: 3 })",
        "http.head('http://a/', { redirects: 3 })",
        "http.post('http://a/', null, { redirects: 3 })",
        "http.put('http://a/', null, { redirects: 3 })",
        "http.patch('http://a/', null, { redirects: 3 })",
        "http.del('http://a/', null, { redirects: 3 })",
        "http.options('http://a/', null, { redirects: 3 })",
        "http.request('GET', 'http://a/', null, { redirects: 3 })",
        "http.batch([['GET', 'http://a/', null, { redirects: 3 }]])",
        "http.batch([{ url: 'http://a/', params: { redirects: 3 } }])",
        "http.asyncRequest('GET', 'http://a/', null, { redirects: 3 })",
    ] {
        assert_eq!(run(call).request().params.redirects, Some(3), "{call}");
    }
}

#[test]
fn bodies_are_texts_bytes_and_forms() {
    let form = Some("application/x-www-form-urlencoded");
    for (body, sent, kind) in [
        ("'a\u{e4}'", "a\u{e4}".as_bytes(), None),
        ("''", b"", None),
        ("null", b"", None),
        (
            "{ a: 1, 'b c': 'x y&\u{e4}', list: [1, 'z'], no: null }",
            b"a=1&b+c=x+y%26%C3%A4&list=1&list=z&no=null",
            form,
        ),
        ("{}", b"", form),
        ("new Uint8Array([1, 2, 255]).buffer", &[1, 2, 255], None),
        ("new Uint8Array([9, 1, 2, 9]).subarray(1, 3)", &[1, 2], None),
        ("new Uint16Array([1, 256])", &[1, 0, 0, 1], None),
        ("new DataView(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2)", &[1, 2], None),
        ("new ArrayBuffer(0)", b"", None),
        ("JSON.stringify({ a: 1 })", br#"{"a":1}"#, None),
    ] {
        let ran = run(&format!("http.post('http://a/', {body})"));
        let request = ran.request();
        assert_eq!(request.body, sent, "{body}");
        let header = request.headers.iter().find(|(name, _)| name == "Content-Type");
        assert_eq!(header.map(|(_, value)| value.as_str()), kind, "{body}");
    }
    let own = "http.post('http://a/', { a: 1 }, { headers: { 'content-type': 'own' } })";
    let ran = run(own);
    let headers = &ran.request().headers;
    assert_eq!(headers[0], ("content-type".to_owned(), "own".to_owned()));
    assert_eq!(headers.len(), 2);
}

#[test]
fn forms_with_files_have_parts() {
    let ran = run(
        "http.post('http://a/', { 'f\"1': http.file('data', 'n\"\\n.txt', 'text/plain'), \
                   g: http.file(new Uint8Array([255]), 'b'), list: ['x', http.file('y', 'c')], n: 1 })",
    );
    let request = ran.request();
    let (_, kind) = &request.headers[0];
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
    let text: String = request.body.iter().map(|own| char::from(*own)).collect();
    let part = |head: &str, body: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name={head}\r\n\r\n{body}\r\n")
    };
    let octets = "Content-Type: application/octet-stream";
    let expected = [
        part("\"f%221\"; filename=\"n%22%0A.txt\"\r\nContent-Type: text/plain", "data"),
        part(&format!("\"g\"; filename=\"b\"\r\n{octets}"), "\u{ff}"),
        part("\"list\"", "x"),
        part(&format!("\"list\"; filename=\"c\"\r\n{octets}"), "y"),
        part("\"n\"", "1"),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(text, expected.concat());
    // A boundary that a file has itself is none.
    let ran = run(
        "const f = http.file('squall-form-0000000000000001', 'n'); http.post('http://a/', { f })",
    );
    assert!(ran.request().headers[0].1.ends_with("0000000000000002"));
}

#[test]
fn params_say_how_a_request_is_made() {
    type Same = fn(&HttpParams) -> bool;
    let cases: [(&str, Same); 22] = [
        ("timeout: 1500", |own| own.timeout == Some(Duration::from_millis(1500))),
        ("timeout: '1m30s'", |own| own.timeout == Some(Duration::from_secs(90))),
        ("timeout: '250'", |own| own.timeout == Some(Duration::from_millis(250))),
        ("timeout: null", |own| own.timeout.is_none()),
        ("redirects: 0", |own| own.redirects == Some(0)),
        ("responseType: 'none'", |own| own.body == BodyKind::None),
        ("responseType: 'binary'", |own| own.body == BodyKind::Binary),
        ("responseType: 'text'", |own| own.body == BodyKind::Text),
        ("auth: 'basic'", |own| own.auth.as_deref() == Some("basic")),
        ("auth: http.AUTH_DIGEST", |own| own.auth.as_deref() == Some("digest")),
        ("tags: { a: 1, b: 'x' }", |own| {
            own.tags == [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "x".to_owned())]
        }),
        ("cookies: { a: 'x' }", |own| own.cookies == [("a".to_owned(), "x".to_owned(), false)]),
        ("cookies: { a: { value: 1, replace: true } }", |own| {
            own.cookies == [("a".to_owned(), "1".to_owned(), true)]
        }),
        ("jar: http.cookieJar()", |own| own.jar == 0),
        ("jar: new http.CookieJar()", |own| own.jar == 1),
        ("jar: null", |own| own.jar == 0),
        ("responseCallback: http.expectedStatuses(200, { min: 300, max: 399 })", |own| {
            own.expected == Some(vec![(200, 200), (300, 399)])
        }),
        ("responseCallback: null", |own| own.expected == Some(vec![(0, u16::MAX)])),
        ("responseCallback: undefined", |own| own.expected.is_none()),
        ("", |own| *own == HttpParams::default()),
        ("whatever: 1", |own| *own == HttpParams::default()),
        ("throw: true", |own| *own == HttpParams::default()),
    ];
    for (params, holds) in cases {
        let ran = run(&format!("http.get('http://a/', {{ {params} }})"));
        assert!(holds(&ran.request().params), "{params}: {:?}", ran.request().params);
    }
}

#[test]
fn headers_are_sent_once_in_their_order() {
    let ran =
        run("http.get('http://a/', { headers: { B: 1, a: 'x', b: 2, 'user-agent': 'own' } })");
    let headers: Vec<_> =
        ran.request().headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(headers, ["B: 2", "a: x", "user-agent: own"]);
}

#[test]
fn requests_that_say_the_same_share_it() {
    let ran = run("http.get('http://a/'); http.get('http://a/'); http.post('http://a/', 'x'); \
         http.post('http://a/', 'y'); http.get('http://a/', { tags: { t: 1 } }); \
         http.get('http://a/', { tags: { t: 1 } }); http.request('get', 'http://a/');");
    let heads: Vec<_> = ran.batches.iter().map(|own| &own.list[0].head).collect();
    let same = |one: usize, other: usize| std::rc::Rc::ptr_eq(heads[one], heads[other]);
    assert!(same(0, 1) && same(2, 3) && same(4, 5) && same(0, 6));
    assert!(!same(0, 2) && !same(0, 4));
    assert_eq!(
        (&*ran.batches[2].list[0].body, &*ran.batches[3].list[0].body),
        (&b"x"[..], &b"y"[..])
    );
}

#[test]
fn names_come_from_tags_and_templates() {
    for (call, url, name) in [
        ("http.get('http://a/1')", "http://a/1", None),
        ("http.get('http://a/1', { tags: { name: 'one' } })", "http://a/1", Some("one")),
        (
            "http.get(http.url`http://a/${1 + 1}/x/${'y'}`)",
            "http://a/2/x/y",
            Some("http://a/${}/x/${}"),
        ),
        ("http.get(http.url`http://a/${1}`, { tags: { name: 'one' } })", "http://a/1", Some("one")),
        ("http.batch([http.url`http://a/${1}`])", "http://a/1", Some("http://a/${}")),
        ("http.get(`${http.url`http://a/${1}`}`)", "http://a/1", None),
        ("http.get({ toString: () => 'http://a/o' })", "http://a/o", None),
    ] {
        let ran = run(call);
        assert_eq!(
            (ran.request().url.as_str(), ran.request().name.as_deref()),
            (url, name),
            "{call}"
        );
        assert!(ran.request().params.tags.is_empty());
    }
}

#[test]
fn bodies_are_compressed_in_the_order_that_is_asked_for() {
    let compressed = |asked: &str, headers: &str| {
        let call = format!(
            "http.post('http://a/', 'x'.repeat(5000), {{ compression: '{asked}', headers: {{ {headers} }} }})"
        );
        run(&call).request().clone()
    };
    let bytes = "x".repeat(5000).into_bytes();
    for (asked, undone) in
        [("gzip", "gzip"), ("deflate, br", "br,deflate"), ("GZIP,zstd", "zstd,gzip")]
    {
        let request = compressed(asked, "");
        let mut body = request.body.clone();
        for own in undone.split(',') {
            let mut out = Vec::new();
            match own {
                "gzip" => flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut out),
                "deflate" => flate2::read::ZlibDecoder::new(&body[..]).read_to_end(&mut out),
                "br" => brotli::Decompressor::new(&body[..], 4096).read_to_end(&mut out),
                _ => zstd::Decoder::new(&body[..]).and_then(|mut own| own.read_to_end(&mut out)),
            }
            .expect(asked);
            body = out;
        }
        assert_eq!(body, bytes, "{asked}");
        assert!(request.params.compression.is_empty());
        let said =
            asked.to_ascii_lowercase().split(',').map(str::trim).collect::<Vec<_>>().join(", ");
        assert_eq!(request.headers[0], ("Content-Encoding".to_owned(), said));
    }
    let own = compressed("gzip", "'content-encoding': 'own'");
    assert_eq!(own.headers[0], ("content-encoding".to_owned(), "own".to_owned()));
}

#[test]
fn params_without_properties_say_nothing() {
    for params in ["'text'", "''", "1", "true", "[]", "() => 1", "null", "undefined"] {
        let ran = run(&format!("http.get('http://a/', {params}, {{ headers: {{ a: '1' }} }})"));
        assert!(ran.said.is_empty(), "{params}: {:?}", ran.said);
        assert_eq!(ran.batches.len(), 1, "{params}");
    }
}

/// Calls that cannot be, and how what they throw begins.
const REFUSED: &[(&str, &str)] = &[
    (
        "http.request('', 'http://a/')",
        "TypeError: the method of a request is \"\": expected letters",
    ),
    ("http.request('G T', 'http://a/')", "TypeError: the method of a request is \"G T\""),
    ("http.request(null, 'http://a/')", "TypeError: the method of a request is \"null\""),
    ("http.post('http://a/', 1)", "TypeError: the body is a number: expected a string"),
    ("http.post('http://a/', [1])", "TypeError: the body is an array"),
    ("http.post('http://a/', () => 1)", "TypeError: the body is a function"),
    ("http.post('http://a/', http.file('x'))", "TypeError: the body is a file"),
    (
        "http.get('http://a/', { timeout: 'soon' })",
        "TypeError: params.timeout is \"soon\": expected a number of milliseconds",
    ),
    ("http.get('http://a/', { timeout: -1 })", "TypeError: params.timeout is \"-1\""),
    ("http.get('http://a/', { timeout: {} })", "TypeError: params.timeout is an object"),
    (
        "http.get('http://a/', { redirects: 1.5 })",
        "TypeError: params.redirects is \"1.5\": expected a whole number",
    ),
    ("http.get('http://a/', { redirects: '1' })", "TypeError: params.redirects is \"1\""),
    (
        "http.get('http://a/', { responseType: 'blob' })",
        "TypeError: params.responseType is \"blob\": expected \"text\"",
    ),
    (
        "http.get('http://a/', { auth: 'ntlm' })",
        "TypeError: params.auth is \"ntlm\": expected \"basic\" or \"digest\"",
    ),
    (
        "http.get('http://a/', { compression: 'lzma' })",
        "TypeError: params.compression is \"lzma\": expected gzip",
    ),
    (
        "http.get('http://a/', { headers: 'x' })",
        "TypeError: params.headers is \"x\": expected an object",
    ),
    (
        "http.get('http://a/', { headers: { 'a b': 1 } })",
        "TypeError: params.headers has the name \"a b\"",
    ),
    (
        "http.get('http://a/', { headers: { a: 'x\\r\\nb: y' } })",
        "TypeError: params.headers[\"a\"] has a line end",
    ),
    ("http.get('http://a/', { tags: 1 })", "TypeError: params.tags is \"1\": expected an object"),
    ("http.get('http://a/', { cookies: [] })", "TypeError: params.cookies is an array"),
    ("http.get('http://a/', { cookies: { a: {} } })", "TypeError: params.cookies.a is an object"),
    (
        "http.get('http://a/', { jar: {} })",
        "TypeError: params.jar is an object: expected what http.cookieJar()",
    ),
    (
        "http.get('http://a/', { responseCallback: 200 })",
        "TypeError: params.responseCallback is \"200\": expected what",
    ),
    ("http.expectedStatuses()", "TypeError: http.expectedStatuses() takes statuses"),
    ("http.expectedStatuses('200')", "TypeError: http.expectedStatuses() was given a string"),
    (
        "http.expectedStatuses({ min: 200 })",
        "TypeError: http.expectedStatuses() was given an object",
    ),
    ("http.batch()", "TypeError: http.batch() takes an array"),
    ("http.batch('http://a/')", "TypeError: http.batch() takes an array"),
    ("http.batch([1])", "TypeError: http.batch(): each request is to be a URL"),
    ("http.batch([{}])", "TypeError: http.batch(): each request is to be a URL"),
    ("http.get('http://a/', { headers: { get a() { throw new Error('own') } } })", "Error: own"),
    ("http.setResponseCallback(1)", "TypeError: params.responseCallback is \"1\""),
    ("http.CookieJar()", "TypeError: CookieJar is a class"),
];

#[test]
fn what_cannot_be_is_refused_with_what_was_expected() {
    for (call, said) in REFUSED {
        let ran = run(call);
        assert!(ran.batches.is_empty(), "{call}");
        assert!(ran.said.len() == 1 && ran.said[0].starts_with(said), "{call}: {:?}", ran.said);
    }
}

#[test]
fn a_batch_is_one_wait_within_limits() {
    let script = "export default function () {
  const all = http.batch(['http://a/1', ['POST', 'http://a/2', 'b', { tags: { t: 1 } }], { method: 'PUT', url: 'http://a/3', body: 'c' }, http.url`http://a/${4}`, ['DELETE', 'http://a/5']]);
  console.log(all.map((own) => `${own.request.method} ${own.body}`).join());
  const named = http.batch({ x: 'http://a/6', y: ['HEAD', 'http://a/7'], __proto__: null });
  console.log(Object.keys(named).join(), named.x.body, named.y.body);
  console.log(JSON.stringify(http.batch([])), JSON.stringify(http.batch({})));
}";
    let options = HttpOptions { limit: 7, limit_of_host: 0, ..HttpOptions::default() };
    let ran = run_with(script, options);
    assert_eq!(ran.said, ["GET 1,POST 2,PUT 3,GET 4,DELETE 5", "x,y 6 7", "[] {}"]);
    assert_eq!(ran.batches.len(), 2);
    let limits: Vec<_> = ran.batches.iter().map(|own| (own.limit, own.limit_of_host)).collect();
    assert_eq!(limits, [(7, 1), (7, 1)]);
    assert_eq!(ran.batches[0].list[1].body, b"b");
}

#[test]
fn requests_that_are_not_waited_for_are_sent_together() {
    let script = "export default async function () {
  const first = http.asyncRequest('GET', 'http://a/1');
  const [second, third] = await Promise.all([http.asyncRequest('GET', 'http://a/2'), http.asyncRequest('GET', 'http://a/3')]);
  console.log((await first).body, second.body, third.body);
  console.log((await http.asyncRequest('GET', 'http://a/4')).body);
  try { await http.asyncRequest('GET', 'http://a/5', 1) } catch (e) { console.log(e.name) }
  const both = [http.asyncRequest('GET', 'http://a/fails', null, { throw: true }), http.asyncRequest('GET', 'http://a/6')];
  try { await both[0] } catch (e) { console.log(e.message, (await both[1]).body) }
}";
    let ran = run_with(script, HttpOptions::default());
    let counts: Vec<_> = ran.batches.iter().map(|own| own.list.len()).collect();
    assert_eq!(counts, [3, 1, 2]);
    let said = ["1 2 3", "4", "TypeError", "dial: connection refused 6"];
    assert_eq!(ran.said, said);
}

#[test]
fn nothing_is_sent_before_users_run() {
    for call in [
        "http.get('http://a/')",
        "http.batch(['http://a/'])",
        "http.cookieJar().clear('http://a/')",
    ] {
        let stage = super::stage(
            &format!("{call}; export default function () {{}}"),
            HttpOptions::default(),
        );
        let thrown = stage.user(crate::Numbers::default(), &[]).expect_err(call);
        assert!(
            thrown.message.contains("requests and sleep() are not for the top level"),
            "{thrown}"
        );
        assert!(thrown.stack.contains("(/t/a.js:2:"), "{thrown}");
    }
}

#[test]
fn a_callback_for_all_requests_is_each_users_own() {
    let script = "if (__VU === 1) http.setResponseCallback(http.expectedStatuses(404));
export default function () { http.get('http://a/'); http.get('http://a/', { responseCallback: http.expectedStatuses(500) }) }";
    let ran = run_with(script, HttpOptions::default());
    let expected: Vec<_> =
        ran.batches.iter().map(|own| own.list[0].params.expected.clone()).collect();
    assert_eq!(expected, [Some(vec![(404, 404)]), Some(vec![(500, 500)])]);
    let other = script.replace("__VU === 1", "__VU === 2");
    let ran = run_with(&other, HttpOptions::default());
    assert_eq!(ran.batches[0].list[0].params.expected, None);
}
