//! Responses: what a script reads of them.

use super::{run, run_with};
use crate::http::{BodyKind, HttpOptions};

/// What an expression of a response `r` comes to, as text.
fn read(url: &str, params: &str, expression: &str) -> String {
    let ran =
        run(&format!("const r = http.get('{url}', {params}); console.log(String({expression}))"));
    assert_eq!(ran.said.len(), 1, "{expression}: {:?}", ran.said);
    ran.said[0].clone()
}

#[test]
fn each_property_is_what_came() {
    for (expression, value) in [
        ("r.status", "200"),
        ("r.status_text", "200 OK"),
        ("r.proto", "HTTP/1.1"),
        ("r.url", "http://a/hello"),
        ("r.body", "hello"),
        ("r.body === r.body", "true"),
        ("r.error", ""),
        ("r.error_code", "0"),
        ("r.remote_ip", "192.0.2.1"),
        ("r.remote_port", "8080"),
        ("r.tls_version", "tls1.3"),
        ("r.tls_cipher_suite", "TLS_AES_128_GCM_SHA256"),
        ("r.tls_version === http.TLS_1_3", "true"),
        ("r.ocsp.status === http.OCSP_STATUS_UNKNOWN", "true"),
        ("JSON.stringify(r.headers)", r#"{"Content-Type":"text/plain","X-A":"1, 2","Etag":"e"}"#),
        ("r.headers['Content-Type']", "text/plain"),
        ("r.headers === r.headers", "true"),
        ("r.timings.duration", "18"),
        (
            "JSON.stringify(r.timings)",
            r#"{"duration":18,"blocked":1,"looking_up":2,"connecting":3,"tls_handshaking":4,"sending":5,"waiting":6,"receiving":7}"#,
        ),
        (
            "JSON.stringify(r.cookies)",
            r#"{"sid":[{"name":"sid","value":"v","domain":"","path":"/","http_only":true,"secure":false,"max_age":9,"expires":1000}]}"#,
        ),
        ("r.cookies.sid[0].value", "v"),
        (
            "JSON.stringify(r.request)",
            r#"{"method":"GET","url":"http://a/hello","headers":{"Accept":["x"],"User-Agent":["squall/0.1.0"]},"body":"","cookies":{"c":[{"name":"c","value":"1","replace":false}]}}"#,
        ),
        (
            "Object.keys(JSON.parse(JSON.stringify(r))).join()",
            "body,cookies,error,error_code,headers,ocsp,proto,remote_ip,remote_port,request,status,status_text,timings,tls_cipher_suite,tls_version,url",
        ),
        ("r.nothing", "undefined"),
        ("(r.body = 'own', r.body)", "own"),
        ("(r.status = 1, r.status)", "1"),
        ("(r.more = 1, r.more)", "1"),
    ] {
        let params = "{ headers: { accept: 'x' }, cookies: { c: 1 } }";
        assert_eq!(read("http://a/hello", params, expression), value, "{expression}");
    }
}

#[test]
fn bodies_are_of_the_kind_that_is_asked_for() {
    for (params, expression, value) in [
        ("{}", "typeof r.body", "string"),
        ("{ responseType: 'text' }", "r.body", "hello"),
        ("{ responseType: 'binary' }", "r.body instanceof ArrayBuffer", "true"),
        ("{ responseType: 'binary' }", "new Uint8Array(r.body).join()", "104,101,108,108,111"),
        ("{ responseType: 'none' }", "r.body", "null"),
    ] {
        assert_eq!(read("http://a/hello", params, expression), value, "{params}");
    }
    let discards = HttpOptions { discards_bodies: true, ..HttpOptions::default() };
    let script = "export default function () { console.log(http.get('http://a/x').body, http.get('http://a/x', { responseType: 'text' }).body) }";
    let ran = run_with(script, discards);
    assert_eq!(ran.said, ["null x"]);
    let kinds: Vec<_> = ran.batches.iter().map(|own| own.list[0].params.body).collect();
    assert_eq!(kinds, [BodyKind::None, BodyKind::Text]);
}

#[test]
fn json_is_read_or_refused_with_its_place() {
    for (url, params, expression, said) in [
        ("http://a/{\"a\":[1,2]}", "{}", "JSON.stringify(r.json())", r#"{"a":[1,2]}"#),
        ("http://a/{\"a\":[1,2]}", "{ responseType: 'binary' }", "r.json('a.1')", "2"),
        ("http://a/{\"a\":[1,2]}", "{}", "r.json() === r.json()", "true"),
        ("http://a/{\"a\":null}", "{}", "r.json('a')", "null"),
        ("http://a/1", "{}", "r.json() + r.json()", "2"),
        ("http://a/{\"a\":1}", "{}", "r.json('b')", "undefined"),
    ] {
        assert_eq!(read(url, params, expression), said, "{url} {expression}");
    }
    for (url, params, said) in [
        (
            "http://a/<html>",
            "{}",
            "Error: cannot parse json due to an error at line 1, character 1: expected value",
        ),
        (
            "http://a/{\"a\":1",
            "{}",
            "Error: cannot parse json due to an error at line 1, character 6: EOF",
        ),
        ("http://a/", "{}", "Error: cannot parse json due to an error at line 1, character 0: EOF"),
        (
            "http://a/x",
            "{ responseType: 'none' }",
            "Error: the response has no body, so that it cannot be JSON: set",
        ),
        (
            "http://a/fails",
            "{}",
            "Error: the response has no body, so that it cannot be JSON: dial: connection refused",
        ),
    ] {
        let ran = run(&format!("http.get('{url}', {params}).json('a')"));
        assert!(ran.said.len() == 1 && ran.said[0].starts_with(said), "{url}: {:?}", ran.said);
    }
}

#[test]
fn what_squall_does_not_have_says_so() {
    for call in ["html()", "clickLink()", "submitForm({})"] {
        let ran = run(&format!("http.get('http://a/').{call}"));
        assert!(ran.said[0].contains("squall does not read HTML in scripts"), "{:?}", ran.said);
    }
    let ran = run("Object.getPrototypeOf(http.get('http://a/')).status");
    assert!(ran.said[0].contains("not the response of a request"), "{:?}", ran.said);
}

#[test]
fn failures_are_responses_or_thrown() {
    let fields = "console.log(r.status, r.error, r.error_code, r.body, r.url)";
    let ran = run(&format!("const r = http.get('http://a/fails'); {fields}"));
    assert_eq!(ran.said, ["0 dial: connection refused 1212 null http://a/fails"]);
    let ran = run("http.get('http://a/fails', { throw: true }); console.log('not here')");
    assert_eq!(ran.said, ["Error: dial: connection refused"]);
    // A status is no failure of the request.
    assert!(run("http.get('http://a/status/500', { throw: true })").said.is_empty());
    let ran = run(&format!("const r = http.get('10.0.0.1:80/x'); {fields}"));
    let wrong = "invalid URL \"10.0.0.1:80/x\": there is no scheme before its colon; expected http://host/path or https://host/path";
    let said = [format!("request failed: {wrong}"), format!("0 {wrong} 1020 null 10.0.0.1:80/x")];
    assert_eq!(ran.said, said);
    assert!(ran.batches.is_empty());
    let ran = run(
        "const [a, b] = http.batch(['http://a:b/', 'http://a/here']); console.log(a.error_code, b.body)",
    );
    assert_eq!(ran.said[1..], ["1020 here"]);
    let throws = HttpOptions { throws: true, ..HttpOptions::default() };
    for (call, said) in [
        ("http.get('http://a/fails')", "Error: dial: connection refused"),
        ("http.batch(['http://a/1', 'http://a/fails'])", "Error: dial: connection refused"),
        ("http.get('http://a:b/')", "Error: invalid URL \"http://a:b/\""),
        ("console.log(http.get('http://a/fails', { throw: false }).error_code)", "1212"),
    ] {
        let script = format!("export default function () {{ {call} }}");
        let said_by_it = run_with(&script, throws.clone()).said;
        assert!(said_by_it.len() == 1 && said_by_it[0].starts_with(said), "{call}: {said_by_it:?}");
    }
}
