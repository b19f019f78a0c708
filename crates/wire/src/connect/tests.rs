//! Connecting with each I/O backend.

use std::net::TcpListener;
use std::time::Duration;

use super::*;
use crate::exchange::tests::{with_each_backend, with_each_backend_and};
use crate::origin::Scheme;
use crate::settings::Settings;

fn origin(listener: &TcpListener) -> Origin {
    let port = listener.local_addr().expect("an address").port();
    Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port }
}

/// The program is held up between the end of the handshake, which the kernel does alone, and its next
/// look: that is its own delay, and no time of the network.
#[test]
fn a_late_look_does_not_lengthen_the_connecting() {
    const HELD_UP: Duration = Duration::from_millis(50);
    with_each_backend(|client| async move {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (origin, progress) = (origin(&listener), Progress::default());
        let mut connecting = std::pin::pin!(connect(&client, (&origin, None), &progress, None));
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(connecting.as_mut().poll(cx)));
        assert!(first.await.is_pending());
        if let Some(ring) = client.ring() {
            ring.submit();
        }
        std::thread::sleep(HELD_UP);
        let (_, times) = connecting.await.expect("a connection");
        let connect_ns = times.connect_ns.expect("a part of it");
        let held_up = HELD_UP.as_nanos() as u64;
        assert!(times.delay_ns >= held_up / 2, "{times:?}");
        assert!(connect_ns < held_up, "{times:?}");
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
        let error = connect(&client, (&origin, None), &Progress::default(), None)
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
                let connected = connect(&client, (&origin, None), &progress, None).await;
                let (_, times) = connected.expect("a connection");
                assert_eq!(times.dns_ns.is_some(), turn == 0 || again, "{ttl:?} {turn}");
            }
        });
    }
}
