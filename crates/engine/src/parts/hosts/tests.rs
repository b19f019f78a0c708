//! The list of hosts, and what tries to get around it.

use squall_wire::{Origin, Scheme};

use super::Hosts;
use crate::parts::proxy::ProxyChoice;
use crate::parts::url;

fn hosts(list: &[&str]) -> Hosts {
    let mut hosts = Hosts::default();
    list.iter().for_each(|text| hosts.allow(text).expect("a host"));
    hosts
}

#[test]
fn only_what_is_named_is_allowed() {
    let hosts = hosts(&[
        "a.example",
        "B.example:8080",
        "*.c.example",
        "[::1]:90",
        "::2",
        "b\u{fc}cher.example",
        "*.b\u{fc}cher.example",
        "0x7f.2",
    ]);
    for (host, port, allowed) in [
        ("a.example", 1, true),
        ("b.example", 8080, true),
        ("b.example", 80, false),
        ("x.c.example", 5, true),
        ("c.example", 5, false),
        ("evil-c.example", 5, false),
        (".c.example", 5, false),
        ("::1", 90, true),
        ("::1", 91, false),
        ("::2", 1, true),
        ("xn--bcher-kva.example", 1, true),
        ("x.xn--bcher-kva.example", 1, true),
        ("127.0.0.2", 1, true),
    ] {
        assert_eq!(hosts.allows(host, port), allowed, "{host}:{port}");
    }
    for bad in
        ["", "http://a.example", "a.example/x", "a b", "*a", "a.*.b", "a:x", "a:70000", "u@a", "*."]
    {
        assert!(Hosts::default().allow(bad).is_err(), "{bad}");
    }
    for (bad, reason) in [
        ("http://a", "without a scheme"),
        ("https://a:80/b", "without a scheme"),
        ("a:80/b", "without a path"),
        ("a:x", "its port must be a number"),
    ] {
        let error = Hosts::default().allow(bad).expect_err(bad);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_host_with_a_secret_is_shown_as_it_was_written() {
    let hosts = Hosts::default();
    let shown = hosts.explain("secretvalue.test", 80, Some("http://***.test/"));
    assert!(
        shown.starts_with("the plan does not name the host of `http://***.test/`, and"),
        "{shown}"
    );
    assert!(hosts.explain("::1", 1, None).starts_with("the plan does not name [::1]:1,"));
    let shown = hosts.explain("a.test", 80, None);
    assert!(shown.starts_with("the plan does not name a.test:80, and"), "{shown}");
}

/// Where the page is on which the tricks stand, and what else the plan allows.
const PAGE: &str = "/shop/page?q=1";
const ALLOWED: [&str; 4] = ["api.example:443", "*.cdn.example", "127.0.0.1:8080", "[::1]:8080"];

/// References that look as if they led to `shop.example:8080` or another host of the plan, and lead to
/// another; or, with a place, that look as if they led away, and do not.
const TRICKS: [(&str, Option<&str>); 80] = [
    // A name or a password before the host, and what looks like one.
    ("http://shop.example:8080@evil.example/", None),
    ("http://shop.example@evil.example:8080/", None),
    ("http://shop.example:pw@evil.example/", None),
    ("http://shop.example%40evil.example/", None),
    ("http://a@shop.example:8080@evil.example/", None),
    ("http://evil.example@shop.example:8080/x", Some("http://shop.example:8080/x")),
    ("//shop.example:8080@evil.example/", None),
    ("http://shop.example:8080%2F@evil.example/", None),
    ("http://shop.example&@evil.example/", None),
    ("http://@evil.example/", None),
    // Two hosts, and what stands between them.
    ("http://evil.example#@shop.example:8080/", None),
    ("http://evil.example?@shop.example:8080/", None),
    ("http://evil.example\\@shop.example:8080/", None),
    ("http://evil.example/@shop.example:8080/", None),
    ("http://evil.example;@shop.example:8080/", Some("http://shop.example:8080/")),
    ("http://evil.example,shop.example:8080/", None),
    ("http://shop.example,evil.example:8080/", None),
    ("http://shop.example:8080.evil.example/", None),
    ("http://shop.example .evil.example:8080/", None),
    ("http://evil.example:8080:80/", None),
    // Slashes of both kinds, too few and too many.
    ("//evil.example/", None),
    ("///evil.example/", None),
    ("////evil.example/", None),
    ("/\\evil.example/", None),
    ("\\\\evil.example/", None),
    ("\\/evil.example/", None),
    ("/\t/evil.example/", None),
    ("\t//evil.example/", None),
    (" \r\n//evil.example/", None),
    ("http:///evil.example/", None),
    ("http:\\\\evil.example/", None),
    ("http:/\\evil.example/", None),
    ("http:evil.example/", Some("http://shop.example:8080/shop/evil.example/")),
    ("http:/evil.example/", Some("http://shop.example:8080/evil.example/")),
    ("https:evil.example/", None),
    ("https:/evil.example/", None),
    ("h\tttp://evil.example/", None),
    ("HtTp://EVIL.example/", None),
    ("\u{0}http://evil.example/", None),
    ("./\\\\evil.example/", Some("http://shop.example:8080/shop///evil.example/")),
    // Other ports and schemes of the same host.
    ("http://shop.example/", None),
    ("http://shop.example:80/", None),
    ("http://shop.example:22/", None),
    ("https://shop.example/", None),
    ("http://shop.example:08080/", Some("http://shop.example:8080/")),
    ("http://shop.example:/", None),
    ("http://shop.example:0/", None),
    ("http://shop.example:65616/", None),
    ("https://api.example:8443/", None),
    ("http://api.example/", None),
    ("ftp://shop.example:8080/", None),
    ("ws://shop.example:8080/", None),
    ("file:///etc/passwd", None),
    ("javascript:alert(1)", None),
    ("jar:http://shop.example:8080/!/", None),
    // Names that are nearly those of the plan.
    ("http://shop.example.:8080/", None),
    ("http://shop.example.evil.example:8080/", None),
    ("http://evilshop.example:8080/", None),
    ("http://cdn.example/", None),
    ("http://evilcdn.example/", None),
    ("http://cdn.example.evil.example/", None),
    ("http://.cdn.example/", None),
    ("http://x.cdn.example./", None),
    ("http://shop%2Eexample:8080/", Some("http://shop.example:8080/")),
    ("http://evil%2Eexample/", None),
    ("http://\u{455}hop.example:8080/", None),
    ("http://sh\u{43e}p.example:8080/", None),
    ("http://\u{ff53}\u{ff48}\u{ff4f}\u{ff50}.example:8080/", Some("http://shop.example:8080/")),
    ("http://shop\u{3002}example:8080/", Some("http://shop.example:8080/")),
    ("http://shop\u{ad}.evil.example:8080/", None),
    ("http://shop.example\u{ff0f}.evil.example:8080/", None),
    // Addresses in other clothes.
    ("http://0x7f.1:8080/", Some("http://127.0.0.1:8080/")),
    ("http://2130706433:9090/", None),
    ("http://0177.0.0.2:8080/", None),
    ("http://127.1:9090/", None),
    ("http://0:8080/", None),
    ("http://[::ffff:127.0.0.1]:8080/", None),
    ("http://[::ffff:7f00:1]:8080/", None),
    ("http://[0:0:0:0:0:0:0:1]:8080/", Some("http://[::1]:8080/")),
    ("http://[::1%25lo]:8080/", None),
];

#[test]
fn no_trick_gets_around_the_list() {
    let page = Origin { scheme: Scheme::Http, host: "shop.example".into(), port: 8080 };
    let mut hosts = hosts(&ALLOWED);
    hosts.allow_origin("shop.example", 8080);
    for (trick, expected) in TRICKS {
        let location = url::resolve(Some((&page, PAGE)), trick).ok().filter(|location| {
            // What was parsed is what the connection is made to, and what the head of the request says.
            let again = url::resolve(None, &format!("{}{}", location.origin, location.path));
            assert_eq!(again.expect("a URL").origin, location.origin, "{trick}");
            hosts.allows(&location.origin.host, location.origin.port)
        });
        let place = location.map(|location| format!("{}{}", location.origin, location.path));
        assert_eq!(place.as_deref(), expected, "{trick:?}");
    }
}

/// A proxy sees as much of a request as its target does.
#[test]
fn no_proxy_gets_around_the_list() {
    let mut hosts = hosts(&ALLOWED);
    hosts.allow_origin("shop.example", 8080);
    for (proxy, allowed) in [
        ("", true),
        ("none", true),
        ("http://shop.example:8080", true),
        ("http://SHOP.example:8080/", true),
        ("http://ada:p@shop.example:8080", true),
        ("http://x.cdn.example", true),
        ("http://[::1]:8080", true),
        ("http://0x7f.1:8080", true),
        ("http://shop.example", false),
        ("http://shop.example:8080@evil.example", false),
        ("http://shop.example:8080@evil.example:8080", false),
        ("http://shop.example.evil.example:8080", false),
        ("http://127.0.0.1:9102", false),
        ("http://2130706433:9102", false),
        ("http://cdn.example", false),
        ("http://[::2]:8080", false),
    ] {
        let choice = ProxyChoice::read(proxy).expect(proxy);
        assert_eq!(choice.is_allowed(&hosts).is_ok(), allowed, "{proxy}");
    }
}
