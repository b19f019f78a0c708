//! What a user takes from one origin to another, through the binary against real sockets: headers and
//! credentials on redirects, cookies, digest challenges, and redirects that lead nowhere.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::peer::{Peer, header, response};
use crate::common::{Steps, all_good, kinds, target_at};
use squall_target::{TlsCertificate, TlsOptions};

/// A peer that redirects `/N` to the N-th of some places, in which `SELF` is its own address, and `/to/X`
/// to X; all else gets `200`.
fn redirects(to: Vec<String>) -> Peer {
    Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.request() {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let number = path.strip_prefix('/').and_then(|path| path.parse::<usize>().ok());
            let own = client.stream.local_addr().expect("an address").to_string();
            let to = number.and_then(|number| to.get(number)).map(|to| to.replace("SELF", &own));
            match to.or(path.strip_prefix("/to/").map(str::to_owned)) {
                Some(to) => client.send(format!(
                    "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
                )),
                None => client.send(response("200 OK", "here")),
            }
        }
    })
}

/// The heads of the requests that a peer has got, each as its path and the headers of these names.
fn heads(peer: &Peer, names: &[&str]) -> Vec<String> {
    let show = |head: String| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let found = names
            .iter()
            .filter_map(|name| header(&head, name).map(|value| format!(" {name}={value}")));
        path + &found.collect::<String>()
    };
    peer.seen().into_iter().map(|seen| show(seen.head)).collect()
}

const NAMES: [&str; 8] =
    ["Host", "Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Plain", "X-Own"];

/// Sends a request with all kinds of headers, which is redirected on its own origin and then to another:
/// what the two of them got.
fn sends_on(more: &str) -> (Vec<String>, Vec<String>) {
    let other = redirects(Vec::new());
    let first = redirects(vec!["/1".to_owned(), format!("{}/end", other.url())]);
    let head = format!(
        "allow_hosts: [\"{}\"]\nvars: {{own: {{value: mine-alone, secret: true}}}}",
        other.address
    );
    let steps = format!(
        "{{get: /0, redirects: 5, auth: {{bearer: b}}, {more} headers: {{Host: shop.test, Cookie: c=1, X-Api-Key: k, \
         Api-Key: k, X-Auth-Token: t, X-Plain: p, X-Own: \"${{own}}\"}}}}"
    );
    let url = first.url();
    all_good(&Steps { head: &head, ..Steps::one(&url, &steps) }.run(0), 1);
    let own = other.address.to_string();
    let theirs = heads(&other, &NAMES).iter().map(|head| head.replace(&own, "OTHER")).collect();
    (heads(&first, &NAMES), theirs)
}

#[test]
fn headers_of_the_plan_stay_with_their_origin_unless_the_plan_says_otherwise() {
    let all = " Host=shop.test Authorization=Bearer b Cookie=c=1 X-Api-Key=k Api-Key=k X-Auth-Token=t \
               X-Plain=p X-Own=mine-alone";
    let (own, others) = sends_on("");
    assert_eq!(own, [format!("/0{all}"), format!("/1{all}")]);
    assert_eq!(others, ["/end Host=OTHER X-Plain=p"]);
    let (_, others) = sends_on("redirect_headers: [authorization, x-own],");
    assert_eq!(others, ["/end Host=OTHER Authorization=Bearer b X-Plain=p X-Own=mine-alone"]);
    let (_, others) = sends_on("redirect_headers: [Host, Cookie],");
    assert_eq!(others, ["/end Host=shop.test Cookie=c=1 X-Plain=p"]);
}

/// A secret is one wherever it comes from: by another variable, from `set`, or written out.
#[test]
fn no_header_takes_a_secret_to_another_origin() {
    let other = redirects(Vec::new());
    let first = redirects(vec![format!("{}/end", other.url())]);
    let head = format!(
        "allow_hosts: [\"{}\"]\nvars: {{word: {{value: TOPSECRET123, secret: true}}, derived: 'v=${{word}}', h: abc}}",
        other.address
    );
    let steps = "
      - set: {sig: 'v1=${word}', n: '${iteration}'}
      - get: /0
        redirects: 1
        redirect_headers: [X-Go]
        headers: {X-Sig: '${sig}', X-Derived: '${derived}', X-Plain: TOPSECRET123, X-AuthToken: a, AccessKey: b,
          X-API-KEY2: c, X-Go: '${sig}', X-Number: 'n${n}', X-Other: '${h}'}";
    let url = first.url();
    all_good(&Steps { head: &head, ..Steps::one(&url, steps) }.run(0), 1);
    let names = ["X-Sig", "X-Derived", "X-Plain", "X-AuthToken", "AccessKey", "X-API-KEY2"];
    let others = ["X-Go", "X-Number", "X-Other"];
    let all = [&names[..], &others].concat();
    assert_eq!(heads(&other, &all), ["/end X-Go=v1=TOPSECRET123 X-Number=n0 X-Other=abc"]);
    assert!(heads(&first, &names)[0].contains(" X-Sig=v1=TOPSECRET123 X-Derived=v=TOPSECRET123"));
}

#[test]
fn credentials_do_not_come_back_from_another_origin() {
    let other = redirects(Vec::new());
    let first = redirects(vec![format!("{}/to/http://SELF/end", other.url())]);
    let url = first.url();
    let head = format!("allow_hosts: [\"{}\"]", other.address);
    let steps = "{get: /0, redirects: 5, auth: {basic: {user: a, password: b}}}";
    all_good(&Steps { head: &head, ..Steps::one(&url, steps) }.run(0), 1);
    let path = format!("/to/{url}/end");
    assert_eq!(heads(&other, &["Authorization"]), [path]);
    assert_eq!(heads(&first, &["Authorization"]), ["/0 Authorization=Basic YTpi", "/end"]);
}

/// Whom the system trusts is said by the environment of a process.
#[test]
fn a_plain_target_may_lead_to_one_that_the_system_trusts() {
    let certificate = TlsCertificate::SelfSigned { names: Vec::new() };
    let tls = TlsOptions { certificate, client_ca: None, http2: true };
    let secure = target_at("127.0.0.1:0", Some(tls));
    let plain = redirects(vec![format!("{}/status/204", secure.url())]);
    let url = plain.url();
    let steps = Steps {
        head: "allow_hosts: ['*']",
        ..Steps::one(&url, "{get: /0, redirects: 1, check: status == 204}")
    };
    let folder = steps.folder();
    let path = folder.path().join("trusted.pem");
    std::fs::write(&path, secure.ca_pem().expect("a certificate")).expect("writable");
    for (trusted, code) in [(path.as_path(), 0), (Path::new("/dev/null"), 1)] {
        let output = Command::new(env!("CARGO_BIN_EXE_squall"))
            .args(["run", "plan.yaml", "--quiet"])
            .current_dir(folder.path())
            .env("SSL_CERT_FILE", trusted)
            .env_remove("SSL_CERT_DIR")
            .output()
            .expect("squall runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{trusted:?}: {text}");
    }
}

#[test]
fn a_redirect_to_something_else_than_http_is_an_error_that_names_its_scheme() {
    for (to, says) in [
        ("mailto:a@b.test", "its scheme is `mailto`"),
        ("com.app:/callback?code=1", "its scheme is `com.app`"),
        ("javascript:alert(1)", "its scheme is `javascript`"),
        ("http://", "it has no host"),
        ("http://h:99999/", "its port must be a number up to 65535"),
    ] {
        let peer = redirects(vec![to.to_owned()]);
        let url = peer.url();
        let step = "{get: /0, redirects: 5, check: status == 200}";
        let result = Steps::one(&url, &format!("{step}\non_error: continue")).run(1);
        assert!(kinds(&result).contains("\"bad_redirect\""), "{to}: {}", kinds(&result));
        assert!(result.to_string().contains(says), "{to}: {result}");
        assert_eq!(heads(&peer, &[]), ["/0"], "{to}");
    }
}

/// Each leads to a listener that the plan does not name, if squall reads it in another way than its list of
/// hosts does.
#[test]
fn no_redirect_gets_around_the_list_of_hosts() {
    let trap = redirects(Vec::new());
    let (ip, port) = (trap.address.ip(), trap.address.port());
    let to: Vec<String> = [
        "http://{}",
        "//{}",
        "///{}",
        "\\\\{}",
        "/\\{}",
        "http:\\\\{}",
        "http:///{}",
        "http:/\\{}",
        "http://NAMED@{}",
        "http://NAMED:x@{}",
        "http://x:NAMED@{}",
        "http://{}#@NAMED",
        "http://{}?@NAMED",
        "http://{}\\@NAMED",
        "http://{}/@NAMED",
        "http://0x7f.1:PORT",
        "http://0177.1:PORT",
        "http://2130706433:PORT",
        "http://127.1:PORT",
        "http://[::ffff:127.0.0.1]:PORT",
        "http://localhost:PORT",
        "http://127.0.0.1.:PORT",
        "http://%31%32%37.0.0.1:PORT",
        "http://\u{ff11}27.0.0.1:PORT",
        "http://127\u{3002}0.0.1:PORT",
        "HTTP://{}",
        "h\tttp://{}",
    ]
    .iter()
    .map(|text| text.replace("{}", &format!("{ip}:{port}")).replace("PORT", &port.to_string()))
    .collect();
    let count = to.len();
    let own = redirects(Vec::new());
    let to = to.iter().map(|text| text.replace("NAMED", &own.address.to_string())).collect();
    let first = redirects(to);
    let url = first.url();
    let head = format!("allow_hosts: [\"{}\"]\non_error: continue", own.address);
    let steps = format!(
        "repeat: {count}\n        counter: i\n        steps: [{{get: \"/${{i}}\", redirects: 3}}]"
    );
    let result = Steps { head: &head, ..Steps::one(&url, &steps) }.run(1);
    assert_eq!(heads(&first, &[]).len(), count, "{result}");
    assert_eq!(heads(&trap, &[]), [""; 0], "{result}");
    assert_eq!(result["totals"]["errors"].as_u64(), Some(count as u64), "{}", kinds(&result));
}

/// A server that wants digest credentials, with a nonce of its own, and says so in this way. It takes
/// each nonce so often.
fn digest(name: &'static str, challenge: &'static str, uses: usize) -> Peer {
    let asked = AtomicUsize::new(0);
    Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.request() {
            let sent = header(&head, "Authorization").unwrap_or_default();
            let nonce = format!("{name}{}", asked.load(Ordering::Relaxed));
            let count = sent.split("nc=").nth(1).and_then(|rest| rest.get(..8));
            let count = count.and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(1);
            let is_right = sent.contains(&format!("nonce=\"{nonce}\"")) && count <= uses;
            let stale = if sent.is_empty() { "" } else { ", stale=true" };
            match is_right {
                true => client.send(response("200 OK", "in")),
                false => {
                    let nonce = format!("{name}{}", asked.fetch_add(1, Ordering::Relaxed) + 1);
                    let challenge =
                        challenge.replace("NONCE", &format!("nonce=\"{nonce}\"{stale}"));
                    client.send(format!(
                        "HTTP/1.1 401 Unauthorized\r\n{challenge}Content-Length: 0\r\n\r\n"
                    ));
                }
            }
        }
    })
}

#[test]
fn each_origin_has_a_digest_of_its_own_and_a_stale_nonce_is_replaced() {
    let several = "WWW-Authenticate: Basic realm=\"x, Digest\", Digest realm=\"a \\\"b\\\"\", NONCE, qop=\"auth\", \
                   algorithm=SHA-512-256, Bearer\r\n";
    let lines = "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Digest realm=r, NONCE, qop=\"auth-int\"\r\n";
    let (a, b) = (digest("a", several, 2), digest("b", lines, 100));
    let head = format!(
        "allow_hosts: [\"{}\"]\ndefaults: {{auth: {{digest: {{user: u, password: p}}}}}}",
        b.address
    );
    let steps = format!("\n      - get: /one\n      - {{post: \"{}/two\", body: text}}", b.url());
    let url = a.url();
    let run = Steps { head: &head, iterations: 4, ..Steps::one(&url, &steps) }.run(0);
    all_good(&run, 8);
    let [a, b] = [&a, &b].map(|peer| heads(peer, &["Authorization"]));
    let tried =
        |heads: &[String]| heads.iter().map(|head| head.contains("Digest ")).collect::<Vec<_>>();
    // Asked, right, right, stale, right, right: the other origin's challenges change nothing about it.
    assert_eq!(tried(&a), [false, true, true, true, true, true], "{a:?}");
    assert_eq!(tried(&b), [false, true, true, true, true], "{b:?}");
    assert!(
        a[1].contains("algorithm=SHA-512-256, ") && a[1].contains(r#"realm="a \"b\"""#),
        "{}",
        a[1]
    );
    assert!(
        b[1].contains("algorithm=MD5, ") && b[1].contains("qop=auth-int, nc=00000001"),
        "{}",
        b[1]
    );
    assert!(b[4].contains("nc=00000004"), "{}", b[4]);
}

#[test]
fn wrong_credentials_are_not_tried_again_and_again() {
    let asked = AtomicUsize::new(0);
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            let nonce = format!("nonce=\"{}\"", asked.fetch_add(1, Ordering::Relaxed));
            client.send(format!(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=r, {nonce}\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    });
    let url = peer.url();
    let step = "{get: /, auth: {digest: {user: u, password: wrong}}, check: status == 401}";
    all_good(&Steps::one(&url, step).run(0), 1);
    assert_eq!(heads(&peer, &[]).len(), 2);
}

#[test]
fn a_logout_removes_its_cookie_and_cookies_go_in_order() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let cookies = match head.split(' ').nth(1) {
                Some("/login") => {
                    "Set-Cookie: sid=1; Path=/\r\nSet-Cookie: deep=2; Path=/a/b\r\nSet-Cookie: mid=3; Path=/a\r\n\
                     Set-Cookie: nameless; Path=/\r\nSet-Cookie: safe=4; Secure; Path=/\r\n\
                     Set-Cookie: __Host-x=5; Path=/\r\nSet-Cookie: bad=6\x01; Path=/\r\n"
                }
                Some("/logout") => {
                    "Set-Cookie: sid=; Expires=Thu, 1 Jan 1970 00:00:00 GMT; Path=/\r\n"
                }
                _ => "",
            };
            client.send(format!("HTTP/1.1 200 OK\r\n{cookies}Content-Length: 0\r\n\r\n"));
        }
    });
    let url = peer.url();
    let steps =
        "\n      - get: /login\n      - get: /a/b/c\n      - get: /logout\n      - get: /a/x";
    all_good(&Steps::one(&url, steps).run(0), 4);
    assert_eq!(
        heads(&peer, &["Cookie"]),
        [
            "/login",
            "/a/b/c Cookie=deep=2; mid=3; sid=1; nameless",
            "/logout Cookie=sid=1; nameless",
            "/a/x Cookie=mid=3; nameless"
        ]
    );
}

/// A path of the plan is sent as it is written; a link that a response gave is resolved as browsers do.
#[test]
fn paths_are_sent_as_written_and_links_as_resolved() {
    let peer = redirects(vec!["/x/../y/%2e%2e/z/./b\u{fc}cher?q=\u{fc}#f".to_owned()]);
    let url = peer.url();
    let steps = format!(
        "\n      - get: /a/../b//c/./%2e%2E/d;x?y=/../|\n      - get: \"{url}/a/../%2e/b\"\n      - {{get: /0, redirects: 1}}"
    );
    all_good(&Steps::one(&url, &steps).run(0), 3);
    assert_eq!(
        heads(&peer, &[]),
        ["/a/../b//c/./%2e%2E/d;x?y=/../|", "/a/../%2e/b", "/0", "/z/b%C3%BCcher?q=%C3%BC"]
    );
}
