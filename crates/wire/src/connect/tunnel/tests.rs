//! Proxies that do not do as they should, with each I/O backend.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::connect::connect;
use crate::exchange::tests::with_each_backend;
use crate::origin::Scheme;
use crate::progress::Progress;
use crate::via::Via;

/// A proxy, that does this with each connection once the request for a tunnel has come.
fn proxy(
    credentials: Option<&str>,
    act: impl Fn(TcpStream, String) + Send + 'static,
) -> Arc<Proxy> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0)
            {
                head.push(byte[0]);
            }
            act(stream, String::from_utf8_lossy(&head).into_owned());
        }
    });
    let credentials = credentials.map(str::to_owned);
    Arc::new(Proxy { host: "127.0.0.1".to_owned(), port, credentials })
}

/// A proxy that gives this response, and closes.
fn says(credentials: Option<&str>, response: &'static [u8]) -> Arc<Proxy> {
    proxy(credentials, move |mut stream, _| {
        // Who has seen enough closes first.
        let _ = stream.write_all(response);
    })
}

fn shop() -> Origin {
    Origin { scheme: Scheme::Https, host: "shop.test".into(), port: 443 }
}

/// What becomes of a tunnel through a proxy.
fn refused(proxy: &Arc<Proxy>, expected: &str, status: Option<u16>) {
    with_each_backend(|client| {
        let via = Via { proxy: Some(proxy.clone()), ..Via::default() };
        async move {
            let made = connect(&client, (&shop(), &via), &Progress::default(), None).await;
            let error = made.expect_err("no tunnel");
            assert_eq!(error.kind(), ErrorKind::Proxy, "{error}");
            assert!(error.to_string().starts_with("the proxy 127.0.0.1:"), "{error}");
            assert!(error.to_string().ends_with(expected), "{expected}: {error}");
            assert_eq!(error.status(), status, "{error}");
        }
    });
}

#[test]
fn a_refusal_is_told_with_its_status() {
    let bare = says(
        None,
        b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno",
    );
    let help = "CONNECT shop.test:443: status 407: its URL needs a user and a password, as in http://user:password@host:port";
    refused(&bare, help, Some(407));
    let known = says(Some("ada:secret"), b"HTTP/1.0 407 No\r\n\r\n");
    refused(&known, "status 407: it does not take the user and the password of its URL", Some(407));
    refused(&says(None, b"HTTP/1.1 502 Bad gateway\r\n\r\n"), "status 502", Some(502));
    // An interim response is none.
    refused(
        &says(None, b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 503 No\r\n\r\n"),
        "status 503",
        Some(503),
    );
}

#[test]
fn what_is_no_response_is_the_fault_of_the_proxy() {
    let closed = "it closed the connection before the end of its response";
    refused(&says(None, b""), closed, None);
    refused(&says(None, b"HTTP/1.1 200 Connection est"), closed, None);
    refused(
        &says(None, b"SSH-2.0-OpenSSH\r\n\r\n"),
        "CONNECT shop.test:443: the status line is not HTTP/1.x",
        None,
    );
    let endless: &'static [u8] = Box::leak(
        [b"HTTP/1.1 200 OK\r\n".as_slice(), &b"a: b\r\n".repeat(900), &[b'x'; 80_000]]
            .concat()
            .into_boxed_slice(),
    );
    refused(&says(None, endless), "the head of its response does not end", None);
    let reset = proxy(None, |stream, _| {
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))
            .expect("an option of all sockets");
    });
    refused(&reset, "(os error 104)", None);
}

#[test]
fn a_proxy_that_nobody_listens_at_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("one").port();
    for (host, kind) in
        [("127.0.0.1", ErrorKind::ConnectRefused), ("proxy.invalid", ErrorKind::Dns)]
    {
        let proxy = Arc::new(Proxy { host: host.to_owned(), port, credentials: None });
        with_each_backend(|client| {
            let via = Via { proxy: Some(proxy.clone()), ..Via::default() };
            async move {
                let made = connect(&client, (&shop(), &via), &Progress::default(), None).await;
                let error = made.expect_err("nobody");
                assert_eq!(error.kind(), kind, "{error}");
                assert!(error.to_string().starts_with(&format!("the proxy {host}")), "{error}");
            }
        });
    }
}

#[test]
fn what_the_proxy_is_told() {
    let (tell, told) = std::sync::mpsc::channel();
    let proxy = proxy(Some("ada:secret"), move |_, head| {
        let _ = tell.send(head);
    });
    refused(&proxy, "before the end of its response", None);
    let expected = "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\
                    Proxy-Authorization: Basic YWRhOnNlY3JldA==\r\n\r\n";
    assert_eq!(told.recv().as_deref(), Ok(expected));
}
