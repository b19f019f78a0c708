//! Connecting with each I/O backend.

use std::cell::RefCell;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::*;
use crate::exchange::tests::{with_each_backend, with_each_backend_and};
use crate::origin::Scheme;
use crate::settings::{Settings, Substitute};

fn origin(listener: &TcpListener) -> Origin {
    let port = listener.local_addr().expect("an address").port();
    Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port }
}

/// The program is held up between the end of the handshake, which the kernel does alone, and its next
/// look: that is its own delay, and no time of the network.
#[test]
fn a_late_look_does_not_lengthen_the_connecting() {
    const HELD_UP: Duration = Duration::from_millis(100);
    with_each_backend(|client| async move {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (origin, progress) = (origin(&listener), Progress::default());
        let via = Via::default();
        let mut connecting = std::pin::pin!(connect(&client, (&origin, &via), &progress, None));
        let began = Instant::now();
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(connecting.as_mut().poll(cx)));
        assert!(first.await.is_pending());
        if let Some(ring) = client.ring() {
            ring.submit();
        }
        std::thread::sleep(HELD_UP);
        let (_, times) = connecting.await.expect("a connection");
        let whole = began.elapsed();
        let connect_ns = times.connect_ns.expect("a part of it");
        let ns = |time: Duration| time.as_nanos() as u64;
        assert!(times.delay_ns >= ns(HELD_UP / 2), "{times:?}");
        // However slow this machine is, the delay is no part of the connecting.
        assert!(connect_ns + times.delay_ns <= ns(whole), "{times:?} {whole:?}");
        assert_eq!(times.begin_ns, times.connect_begin_ns);
    });
}

/// A port of the range of local ports that nobody listens on, and no other to connect from.
#[test]
fn a_socket_that_meets_itself_is_a_refused_connection() {
    let port = || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let port = port();
    let settings = Settings { ports: Some((port, port)), ..Settings::default() };
    with_each_backend_and(&settings, |client| async move {
        let origin = Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port };
        // Without the look at who is there, the kernel's own means connect it to itself.
        let socket = TcpSocket::new_v4().expect("a socket");
        if sys::ports_in_turn(&socket, (port, port)).is_err() {
            return println!("not tested: Linux before 6.3");
        }
        let in_tokio = client.in_tokio();
        let itself = socket.connect(SocketAddr::from(([127, 0, 0, 1], port))).await;
        drop(in_tokio);
        let itself = itself.expect("a connection to itself");
        assert_eq!(itself.local_addr().ok(), itself.peer_addr().ok());
        itself.set_zero_linger().expect("an option of all sockets");
        drop(itself);
        let error = connect(&client, (&origin, &Via::default()), &Progress::default(), None)
            .await
            .expect_err("nobody");
        assert_eq!(error.kind(), ErrorKind::ConnectRefused, "{error}");
        assert!(error.to_string().contains("met itself"), "{error}");
        drop(TcpListener::bind(("127.0.0.1", port)).expect("the port is free again"));
    });
}

#[test]
fn a_name_is_looked_up_again_when_that_is_too_old() {
    for (ttl, again) in [(None, false), (Some(Duration::ZERO), true)] {
        let settings = Settings { dns: crate::Dns { ttl, in_order: false }, ..Settings::default() };
        with_each_backend_and(&settings, |client| async move {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let origin = Origin { host: "localhost".into(), ..origin(&listener) };
            let progress = Progress::default();
            for turn in 0..3 {
                let connected = connect(&client, (&origin, &Via::default()), &progress, None).await;
                let (_, times) = connected.expect("a connection");
                assert_eq!(times.dns_ns.is_some(), turn == 0 || again, "{ttl:?} {turn}");
            }
        });
    }
}

#[test]
fn what_only_users_know_goes_past_no_unix_socket() {
    let settings = Settings { unix: Some("/nowhere/a.sock".into()), ..Settings::default() };
    with_each_backend_and(&settings, |client| async move {
        let origin = Origin { scheme: Scheme::Http, host: "shop.test".into(), port: 80 };
        let proxy = crate::Proxy { host: "gate.test".to_owned(), port: 3128, credentials: None };
        for via in [
            Via { proxy: Some(proxy.into()), ..Via::default() },
            Via { source: "127.0.0.2".parse().ok(), ..Via::default() },
        ] {
            let made = connect(&client, (&origin, &via), &Progress::default(), None).await;
            let error = made.expect_err("not both").to_string();
            assert!(error.contains("`unix: /nowhere/a.sock` leaves no room"), "{error}");
        }
    });
}

/// What nobody knew before the run: a URL with variables, or where a redirect leads.
#[test]
fn nothing_is_connected_to_that_is_not_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connected = |allowed: &[&str], host: &'static str, proxy: Option<&str>| {
        let list = squall_base::AllowList::read(allowed).expect("patterns");
        let settings = Settings { allowed: Some(list.into()), ..Settings::default() };
        let proxy = proxy
            .map(|host| crate::Proxy { host: host.to_owned(), port, credentials: None }.into());
        let (via, made) = (Via { proxy, ..Via::default() }, RefCell::new(Vec::new()));
        with_each_backend_and(&settings, |client| {
            let (via, made) = (via.clone(), &made);
            async move {
                let origin = Origin { scheme: Scheme::Http, host: host.into(), port };
                let done = connect(&client, (&origin, &via), &Progress::default(), None).await;
                let error = done.err().map(|error| (error.kind(), error.to_string()));
                made.borrow_mut().push(error);
            }
        });
        made.into_inner()
    };
    let all_refused = |made: Vec<Option<(ErrorKind, String)>>, flag: &str| {
        assert!(!made.is_empty());
        for error in made {
            let (kind, text) = error.expect("a refusal");
            assert_eq!(kind, ErrorKind::NotAllowed, "{text}");
            assert!(text.contains(flag), "{text}");
        }
    };
    let none_refused = |made: Vec<Option<(ErrorKind, String)>>| {
        assert!(!made.is_empty() && made.iter().all(Option::is_none), "{made:?}");
    };
    none_refused(connected(&["127.0.0.0/8"], "127.0.0.1", None));
    none_refused(connected(&["localhost"], "localhost", None));
    none_refused(connected(&["127.0.0.1"], "localhost", None));
    all_refused(connected(&["10.0.0.0/8"], "127.0.0.1", None), "--allow-hosts 127.0.0.1");
    all_refused(connected(&["10.0.0.0/8"], "localhost", None), "--allow-hosts localhost");
    // It is not even looked up: the error is no other one.
    all_refused(connected(&["shop.test"], "none.invalid", None), "--allow-hosts none.invalid");
    none_refused(connected(&["shop.test", "127.0.0.1"], "shop.test", Some("127.0.0.1")));
    all_refused(connected(&["127.0.0.1"], "shop.test", Some("127.0.0.1")), "shop.test");
    all_refused(connected(&["shop.test"], "shop.test", Some("127.0.0.1")), "the proxy");
}

#[test]
fn nothing_is_connected_to_that_is_blocked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connected = |hosts: &[&str], addresses: &[&str], host: &'static str| {
        let list = |patterns| squall_base::AllowList::read(patterns).expect("patterns");
        let to = |address: &str| Substitute::Address(format!("{address}:0").parse().expect("one"));
        let settings = Settings {
            blocked_hosts: list(hosts),
            blocked_addresses: list(addresses),
            resolve: [
                ("*.shop.test".to_owned(), vec![to("127.0.0.1")]),
                ("both.test".to_owned(), vec![to("127.0.0.9"), to("127.0.0.1")]),
            ]
            .into(),
            ..Settings::default()
        };
        let made = RefCell::new(Vec::new());
        with_each_backend_and(&settings, |client| {
            let made = &made;
            async move {
                let origin = Origin { scheme: Scheme::Http, host: host.into(), port };
                let via = Via::default();
                let done = connect(&client, (&origin, &via), &Progress::default(), None).await;
                made.borrow_mut().push(done.err().map(|error| error.kind()));
            }
        });
        let made = made.into_inner();
        assert!(made.iter().all(|own| *own == made[0]), "{made:?}");
        made[0]
    };
    let (by_name, by_address) = (Some(ErrorKind::NotAllowed), Some(ErrorKind::AddressBlocked));
    assert_eq!(connected(&["shop.test"], &[], "a.shop.test"), None);
    assert_eq!(connected(&["*.shop.test"], &[], "a.shop.test"), by_name);
    assert_eq!(connected(&["*"], &[], "127.0.0.1"), None, "addresses are blocked as addresses");
    assert_eq!(connected(&[], &["127.0.0.0/8"], "a.shop.test"), by_address);
    assert_eq!(connected(&[], &["127.0.0.1"], "127.0.0.1"), by_address);
    assert_eq!(connected(&[], &["127.0.0.9"], "both.test"), None, "the other one is left");
}

/// Where connections come from that go to addresses of a made-up name, so many of them one after the other.
fn seen(
    settings: &Settings,
    source: Option<&str>,
    ports: &[u16],
    listeners: &[TcpListener],
) -> Vec<(String, u16)> {
    let seen = RefCell::new(Vec::new());
    with_each_backend_and(settings, |client| {
        let seen = &seen;
        async move {
            seen.borrow_mut().clear();
            let origin = Origin { scheme: Scheme::Http, host: "two.test".into(), port: 0 };
            let source = source.map(|text| text.parse().expect("an address"));
            let via = Via { source, ..Via::default() };
            for _ in 0..4 {
                let connected = connect(&client, (&origin, &via), &Progress::default(), None).await;
                connected.expect("a connection");
                for (listener, port) in listeners.iter().zip(ports) {
                    listener.set_nonblocking(true).expect("an option of all sockets");
                    let accepted = listener.accept().map(|(_, from)| from.ip().to_string());
                    seen.borrow_mut().extend(accepted.ok().map(|from| (from, *port)));
                }
            }
        }
    });
    seen.into_inner()
}

#[test]
fn each_source_address_meets_each_address_of_the_target() {
    let listeners: Vec<TcpListener> =
        (0..2).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let to: Vec<SocketAddr> =
        listeners.iter().map(|own| own.local_addr().expect("an address")).collect();
    let ports: Vec<u16> = to.iter().map(SocketAddr::port).collect();
    let [one, two] = ports[..] else { panic!("two ports") };
    let sources = ["127.0.0.2", "127.0.0.3", "::1"].map(|text| text.parse().expect("an address"));
    let settings = Settings {
        resolve: [("two.test".to_owned(), to.into_iter().map(Substitute::Address).collect())]
            .into(),
        source_addresses: sources.to_vec(),
        ..Settings::default()
    };
    let from = |address: &str, port| (address.to_owned(), port);
    assert_eq!(
        seen(&settings, None, &ports, &listeners),
        [
            from("127.0.0.2", one),
            from("127.0.0.2", two),
            from("127.0.0.3", one),
            from("127.0.0.3", two)
        ]
    );
    // Where all begin at the first address of the name.
    let dns = crate::Dns { in_order: true, ttl: None };
    let in_order = seen(&Settings { dns, ..settings.clone() }, None, &ports, &listeners);
    let expected = ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"].map(|own| from(own, one));
    assert_eq!(in_order, expected);
    // One of its own goes before those of all.
    let own = seen(&settings, Some("127.0.0.4"), &ports, &listeners);
    assert!(own.len() == 4 && own.iter().all(|(from, _)| from == "127.0.0.4"), "{own:?}");
}

#[test]
fn a_source_address_that_cannot_be_taken_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = origin(&listener);
    with_each_backend(|client| {
        let origin = origin.clone();
        async move {
            for (source, expected) in [
                // TEST-NET-3, RFC 5737
                ("203.0.113.9", "203.0.113.9 is not an address of this machine"),
                ("::1", "it is of another family than ::1"),
            ] {
                let source = Some(source.parse().expect("an address"));
                let via = Via { source, ..Via::default() };
                let made = connect(&client, (&origin, &via), &Progress::default(), None).await;
                let error = made.expect_err("no such address");
                assert_eq!(error.kind(), ErrorKind::ConnectFailed, "{error}");
                assert!(error.to_string().ends_with(expected), "{error}");
            }
        }
    });
}
