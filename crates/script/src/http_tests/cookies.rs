//! Jars of cookies: what is asked of whoever has them.

use super::run;
use crate::Ask;

#[test]
fn jars_ask_for_what_is_in_them() {
    let url = || "http://a/".to_owned();
    let set = |line: &str| Ask::SetCookie { jar: 0, url: url(), line: line.to_owned() };
    for (call, asked, said) in [
        (
            "console.log(JSON.stringify(jar.cookiesForURL('http://a/')))",
            Ask::Cookies { jar: 0, url: url() },
            r#"{"a":["1","3"],"b":["2"]}"#,
        ),
        ("console.log(jar.set('http://a/', 'n', 'v'))", set("n=v"), "true"),
        (
            "console.log(jar.set('http://a/', 'n', 1, { domain: 'a', path: '/p', max_age: 600, expires: 'Mon, 02 Jan 2034 15:04:05 GMT', secure: true, http_only: true }))",
            set(
                "n=1; Domain=a; Path=/p; Max-Age=600; Expires=Mon, 02 Jan 2034 15:04:05 GMT; Secure; HttpOnly",
            ),
            "true",
        ),
        (
            "console.log(jar.set('http://a/', 'n', 'v', { secure: false, http_only: 0 }))",
            set("n=v"),
            "true",
        ),
        (
            "console.log(jar.clear('http://a/', 'ignored'))",
            Ask::ClearCookies { jar: 0, url: url(), name: None },
            "undefined",
        ),
        (
            "console.log(jar.delete('http://a/', 'n'))",
            Ask::ClearCookies { jar: 0, url: url(), name: Some("n".to_owned()) },
            "undefined",
        ),
    ] {
        let ran = run(&format!("const jar = http.cookieJar(); {call}"));
        assert_eq!(ran.asked, [asked], "{call}");
        assert_eq!(ran.said, [said], "{call}");
    }
}

#[test]
fn a_jar_that_nobody_holds_is_used_anew_and_empty() {
    let ran = run("const first = new http.CookieJar(); (() => { new http.CookieJar() })();
const third = new http.CookieJar(); third.clear('http://a/'); first.clear('http://a/'); http.get('http://a/', { jar: third })");
    let clear = |jar| Ask::ClearCookies { jar, url: "http://a/".to_owned(), name: None };
    assert_eq!(ran.asked, [Ask::ForgetJar { jar: 2 }, clear(2), clear(1)]);
    assert_eq!(ran.request().params.jar, 2);
    assert_eq!(run("console.log(new http.CookieJar() instanceof http.CookieJar, http.cookieJar() instanceof http.CookieJar)").said, ["true true"]);
}

#[test]
fn cookies_that_cannot_be_are_refused() {
    for (call, said) in [
        (
            "jar.set('http://a/', 'n', 'v; Path=/x')",
            "TypeError: the value of a cookie is \"v; Path=/x\"",
        ),
        ("jar.set('http://a/', 'n=m', 'v')", "TypeError: the name of a cookie is \"n=m\""),
        ("jar.set('http://a/', 'n', 'v', { path: 'x\\n' })", "TypeError: the path of a cookie"),
        (
            "jar.set('http://a/', 'n', 'v', { ttl: 1 })",
            "TypeError: the option \"ttl\" of a cookie: expected domain",
        ),
        ("jar.set('http://a:b/', 'n', 'v')", "TypeError: invalid URL \"http://a:b/\""),
        ("jar.cookiesForURL('http://a b/')", "TypeError: invalid URL \"http://a b/\""),
        ("jar.set.call({}, 'http://a/', 'n', 'v')", "TypeError: this is not a jar of cookies"),
    ] {
        let ran = run(&format!("const jar = http.cookieJar(); {call}"));
        assert!(ran.asked.is_empty(), "{call}");
        assert!(ran.said.len() == 1 && ran.said[0].starts_with(said), "{call}: {:?}", ran.said);
    }
}
