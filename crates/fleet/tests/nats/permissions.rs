//! The shipped configuration against a node that tries more than it may.

use sha2::{Digest, Sha256};
use squall_fleet::protocol::io::{Answer, Input};
use squall_fleet::transport::configuration::{User, configuration};
use squall_fleet::transport::{Auth, Connect, Event, Room, Transport};

use crate::peer::{Joined, Server, bytes, run};

fn server() -> Server {
    let nodes =
        ["a", "b"].map(|name| User { name: name.to_owned(), password: format!("of-{name}") });
    Server::with(|port, path| {
        configuration(
            &format!("127.0.0.1:{port}"),
            &format!("{path}/store"),
            None,
            "of-controller",
            &nodes,
        )
    })
}

fn user(server: &Server, name: &str) -> Connect {
    let auth = Auth::User { user: name.to_owned(), password: format!("of-{name}") };
    Connect { auth, ..server.connect(name) }
}

fn is_forbidden(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(why) if why.contains("permissions do not let this user"))
}

#[test]
#[ignore = "needs nats-server"]
fn a_node_does_what_it_must_and_nothing_else() {
    let server = server();
    run(async {
        // A node may be there first.
        let mut a = Joined::to(user(&server, "a")).await;
        let mut controller = Joined::to(user(&server, "controller")).await;
        let mut b = Joined::to(user(&server, "b")).await;
        let put = |key: &str, value: &str| controller.nats.put(key.to_owned(), bytes(value), None);
        for (key, value) in [
            ("call.a", "r"),
            ("run.r.order", "{}"),
            ("run.r.share.a", "1"),
            ("run.r.share.b", "2"),
            ("run.r.changes", "[]"),
        ] {
            assert!(matches!(put(key, value).await, Answer::Stored(_)), "{key}");
        }
        controller.nats.consume("r".to_owned(), Room::default());
        controller.nats.listen("squall.r.clock".to_owned());
        let digest: String =
            Sha256::digest(b"job").iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(matches!(
            controller.nats.put_object(digest.clone(), bytes("job")).await,
            Answer::Stored(_)
        ));

        // What it must.
        assert!(matches!(
            a.nats.put("node.a".to_owned(), bytes("card"), Some(0)).await,
            Answer::Stored(_)
        ));
        for key in
            ["call.a", "run.r.order", "run.r.share.a", "run.r.changes", "run.r.release", "node.a"]
        {
            assert!(matches!(a.nats.get(key.to_owned()).await, Answer::Value(_)), "{key}");
        }
        for key in ["call.a", "run.r.share.a", "run.r.changes"] {
            a.nats.watch(key.to_owned());
            assert_eq!(a.key().await.0, key);
        }
        assert_eq!(a.nats.get_object(digest.clone()).await, Answer::Object(bytes("job")));
        while !matches!(
            a.nats.publish("squall.r.second.a".to_owned(), "r/a/1/1".to_owned(), bytes("x")).await,
            Answer::Stored(_)
        ) {}
        assert_eq!(controller.message().await.1, b"x");
        a.nats.listen("squall.r.resend".to_owned());
        let asked = a.nats.ask("squall.r.clock".to_owned(), bytes("?"), 5_000_000_000);
        let replied = async {
            let reply = controller
                .next(|event| match event {
                    Event::Input(Input::Asked { reply, .. }) => Some(reply.clone()),
                    _ => None,
                })
                .await;
            controller.nats.say(reply, bytes("noon")).await;
        };
        assert_eq!(tokio::join!(asked, replied).0, Answer::Reply(bytes("noon")));

        // What it must not.
        for key in [
            "node.b",
            "call.b",
            "call.a",
            "run.r.share.a",
            "run.r.order",
            "run.r.changes",
            "run.r.release",
            "run.r.leader",
        ] {
            let answer = a.nats.put(key.to_owned(), bytes("mine"), None).await;
            assert!(is_forbidden(&answer), "put {key}: {answer:?}");
        }
        for key in ["run.r.share.b", "call.b", "node.b", "run.r.leader"] {
            let answer = a.nats.get(key.to_owned()).await;
            assert!(is_forbidden(&answer), "get {key}: {answer:?}");
        }
        for subject in ["squall.r.second.b", "squall.r.second.~"] {
            let answer = a.nats.publish(subject.to_owned(), "id".to_owned(), bytes("x")).await;
            assert!(is_forbidden(&answer), "publish {subject}: {answer:?}");
        }
        for subject in [
            "$JS.API.STREAM.DELETE.KV_squall",
            "$JS.API.STREAM.DELETE.squall_r",
            "$JS.API.STREAM.PURGE.KV_squall",
            "$JS.API.STREAM.MSG.GET.KV_squall",
            "$JS.API.STREAM.NAMES",
            "$JS.API.CONSUMER.CREATE.KV_squall.x.$KV.squall.run.r.share.b",
            "$JS.API.CONSUMER.CREATE.KV_squall.x",
            "$JS.API.CONSUMER.CREATE.KV_squall",
            "$JS.API.CONSUMER.DURABLE.CREATE.KV_squall.x",
            "$JS.API.CONSUMER.CREATE.squall_r.x.squall.r.second.*",
            "$JS.API.CONSUMER.NAMES.KV_squall",
            "$JS.API.DIRECT.GET.KV_squall",
            "$JS.API.STREAM.CREATE.squall_q",
        ] {
            let answer = a.nats.ask(subject.to_owned(), bytes("{}"), 5_000_000_000).await;
            assert!(is_forbidden(&answer), "ask {subject}: {answer:?}");
        }
        // The stored object cannot be replaced, nor another's heart or inbox be used.
        assert!(is_forbidden(&a.nats.put_object(digest.clone(), bytes("other")).await));
        for subject in ["squall.hb.b", "squall.r.resend", "_INBOX.b.x", "_INBOX.controller.x"] {
            let answer = a.nats.ask(subject.to_owned(), bytes("x"), 5_000_000_000).await;
            assert!(is_forbidden(&answer), "say {subject}: {answer:?}");
        }
        // It does not hear what others are told.
        for subject in ["_INBOX.b.>", "squall.hb.*", "squall.hb.b", "squall.r.second.*", ">"] {
            a.nats.listen(subject.to_owned());
            let said = a
                .next(|event| match event {
                    Event::Log(line) => Some(line.clone()),
                    _ => None,
                })
                .await;
            assert!(said.contains("Permissions Violation for Subscription"), "{subject}: {said}");
        }
        // The other is not disturbed.
        assert!(
            matches!(b.nats.get("run.r.share.b".to_owned()).await, Answer::Value(Some((_, value))) if *value == *b"2")
        );
        b.nats.watch("run.r.share.b".to_owned());
        assert_eq!(b.key().await.2.unwrap(), b"2");
    });
}
