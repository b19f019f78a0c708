//! The five functions.

use std::time::Duration;

use sha2::{Digest, Sha256};
use squall_fleet::protocol::io::{Answer, Input};
use squall_fleet::protocol::messages::{OnLoss, Order, SentFile};
use squall_fleet::transport::{Client, Event, LocalServer, Room, Transport};

use crate::peer::{Joined, Server, bytes, run};

const SECOND: u64 = 1_000_000_000;

fn stored(answer: Answer) -> u64 {
    match answer {
        Answer::Stored(number) => number,
        other => panic!("not stored: {other:?}"),
    }
}

#[test]
#[ignore = "needs nats-server"]
fn keys_have_revisions_and_are_read_as_they_are_stored() {
    let server = Server::open();
    run(async {
        let nats = Joined::to(server.connect("a")).await.nats;
        let key = || "run.r.order".to_owned();
        assert_eq!(nats.get(key()).await, Answer::Value(None));
        let first = stored(nats.put(key(), bytes("1"), Some(0)).await);
        assert_eq!(nats.put(key(), bytes("2"), Some(0)).await, Answer::Conflict);
        assert_eq!(nats.put(key(), bytes("2"), Some(first + 7)).await, Answer::Conflict);
        let second = stored(nats.put(key(), bytes("2"), Some(first)).await);
        assert!(second > first);
        assert_eq!(nats.get(key()).await, Answer::Value(Some((second, bytes("2")))));
        stored(nats.put(key(), bytes("3"), None).await);
        stored(nats.delete(key()).await);
        assert_eq!(nats.get(key()).await, Answer::Value(None));
        // Where one was deleted one can be made.
        let anew = stored(nats.put(key(), bytes("4"), Some(0)).await);
        assert_eq!(nats.get(key()).await, Answer::Value(Some((anew, bytes("4")))));
        stored(nats.put("node.a".to_owned(), bytes("card"), None).await);
        stored(nats.put("node.b".to_owned(), bytes("card"), None).await);
        stored(nats.delete("node.b".to_owned()).await);
        let cards: Vec<String> =
            nats.keys("node.*").await.unwrap().into_iter().map(|(key, ..)| key).collect();
        assert_eq!(cards, ["node.a"]);
    });
}

#[test]
#[ignore = "needs nats-server"]
fn a_watch_begins_with_what_is_there_and_goes_on_after_the_server_was_killed() {
    let mut server = Server::open();
    run(async {
        let mut other = Joined::to(server.connect("other")).await;
        let nats = other.nats.clone();
        let put = |text: &'static str| nats.put("call.a".to_owned(), bytes(text), None);
        stored(put("1").await);
        let mut watching = Joined::to(server.connect("watching")).await;
        watching.nats.watch("call.*".to_owned());
        assert_eq!(watching.key().await.2.unwrap(), b"1");
        stored(put("2").await);
        assert_eq!(watching.key().await.2.unwrap(), b"2");
        stored(other.nats.delete("call.a".to_owned()).await);
        assert_eq!(watching.key().await.2, None);
        server.kill();
        watching
            .next(|event| matches!(event, Event::Input(Input::Disconnected)).then_some(()))
            .await;
        server.start();
        other.next(|event| matches!(event, Event::Input(Input::Connected)).then_some(())).await;
        stored(put("3").await);
        loop {
            // What was there before may come again.
            if watching.key().await.2.as_deref() == Some(b"3") {
                break;
            }
        }
    });
}

#[test]
#[ignore = "needs nats-server"]
fn a_run_is_read_from_its_first_message_each_once_also_after_the_server_was_killed() {
    let mut server = Server::open();
    run(async {
        let node = Joined::to(server.connect("node")).await;
        let mut controller = Joined::to(server.connect("controller")).await;
        let publish = |number: u64| {
            node.nats.publish(
                "squall.r.second.node".to_owned(),
                format!("r/node/1/{number}"),
                number.to_le_bytes().as_slice().into(),
            )
        };
        // Nobody has made the stream yet.
        assert_eq!(publish(1).await, Answer::Unknown);
        controller.nats.consume("r".to_owned(), Room::default());
        while publish(1).await == Answer::Unknown {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let second = stored(publish(2).await);
        assert_eq!(stored(publish(2).await), second, "the same id is the same message");
        for number in 1..=2_u64 {
            assert_eq!(controller.message().await.1, number.to_le_bytes());
        }
        server.kill();
        controller
            .next(|event| matches!(event, Event::Input(Input::Disconnected)).then_some(()))
            .await;
        server.start();
        // More than one turn brings.
        for number in 3..=700 {
            while !matches!(publish(number).await, Answer::Stored(_)) {}
        }
        for number in 3..=700_u64 {
            assert_eq!(controller.message().await.1, number.to_le_bytes());
        }
        // Another controller begins at the first.
        let mut resumed = Joined::to(server.connect("controller")).await;
        resumed.nats.consume("r".to_owned(), Room::default());
        assert_eq!(resumed.message().await, (1, 1_u64.to_le_bytes().to_vec()));
    });
}

#[test]
#[ignore = "needs nats-server"]
fn who_reads_a_run_makes_no_stream_of_one_that_is_over() {
    let server = Server::open();
    run(async {
        let controller = Joined::to(server.connect("controller")).await;
        controller.nats.consume("r".to_owned(), Room::default());
        let publish = || {
            let (subject, id) = ("squall.r.second.n".to_owned(), "r/n/1/1".to_owned());
            controller.nats.publish(subject, id, bytes("1"))
        };
        while !matches!(publish().await, Answer::Stored(_)) {}
        let mut reader = Joined::to(server.connect("controller")).await;
        reader.nats.read("r".to_owned());
        assert_eq!(reader.message().await, (1, b"1".to_vec()));
        controller.nats.forget("r".to_owned()).await;
        // One who begins to read now finds nothing, and nobody makes it anew: both have looked again when a key has come.
        reader.nats.read("r".to_owned());
        for number in 1..=20 {
            let (key, value) = ("run.s.order".to_owned(), bytes(&number.to_string()));
            stored(controller.nats.put(key, value, None).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(controller.nats.runs().await, Ok(Vec::new()));
    });
}

#[test]
#[ignore = "needs nats-server"]
fn messages_wait_in_the_server_until_there_is_room_and_all_else_goes_on() {
    let server = Server::open();
    run(async {
        let mut controller = Joined::to(server.connect("controller")).await;
        let room = Room::of(1);
        room.fill(1);
        controller.nats.consume("r".to_owned(), room.clone());
        for number in 1..=600_u64 {
            let payload = || number.to_le_bytes().as_slice().into();
            let publish = || {
                let (subject, id) = ("squall.r.second.n".to_owned(), format!("r/n/1/{number}"));
                controller.nats.publish(subject, id, payload())
            };
            while !matches!(publish().await, Answer::Stored(_)) {}
        }
        controller.nats.watch("run.r.order".to_owned());
        stored(controller.nats.put("run.r.order".to_owned(), bytes("1"), None).await);
        let first = controller.next(|event| match event {
            Event::Input(Input::Key { .. }) => Some(true),
            Event::Input(Input::Message { .. }) => Some(false),
            _ => None,
        });
        assert!(first.await, "a message came without room");
        // Longer than the server keeps a consumer that asks for nothing is not waited for here.
        room.free(1);
        for number in 1..=600_u64 {
            assert_eq!(controller.message().await.1, number.to_le_bytes());
        }
    });
}

#[test]
#[ignore = "needs nats-server"]
fn objects_are_what_their_digest_says_and_are_forgotten_with_their_run() {
    let server = Server::open();
    run(async {
        let nats = Joined::to(server.connect("controller")).await.nats;
        let mut digests = Vec::new();
        for size in [0, 10, 3_000_000_usize] {
            let object: Vec<u8> = (0..size).map(|at| (at * 31 % 251) as u8).collect();
            let digest: String =
                Sha256::digest(&object).iter().map(|byte| format!("{byte:02x}")).collect();
            stored(nats.put_object(digest.clone(), object.clone().into()).await);
            stored(nats.put_object(digest.clone(), object.clone().into()).await);
            assert_eq!(nats.get_object(digest.clone()).await, Answer::Object(object.into()));
            digests.push(digest);
        }
        let wrong = "a".repeat(64);
        stored(nats.put_object(wrong.clone(), bytes("x")).await);
        assert!(
            matches!(nats.get_object(wrong).await, Answer::Refused(why) if why.contains("digest"))
        );
        assert!(matches!(nats.get_object("*".to_owned()).await, Answer::Refused(_)));
        assert!(
            matches!(nats.get_object("b".repeat(64)).await, Answer::Refused(why) if why.contains("no object"))
        );

        let file =
            |object: &String| SentFile { digest: object.clone(), object: object.clone(), bytes: 0 };
        let order = Order {
            run: "r".to_owned(),
            version: String::new(),
            shards: 4,
            lease: SECOND,
            on_loss: OnLoss::Redistribute,
            job: digests[0].clone(),
            files: digests[1..].iter().map(file).collect(),
        };
        stored(
            nats.put("run.r.order".to_owned(), serde_json::to_vec(&order).unwrap().into(), None)
                .await,
        );
        nats.forget("r".to_owned()).await;
        assert_eq!(nats.get("run.r.order".to_owned()).await, Answer::Value(None));
        for digest in digests {
            assert!(matches!(nats.get_object(digest).await, Answer::Refused(_)));
        }
    });
}

#[test]
#[ignore = "needs nats-server"]
fn who_asks_has_a_reply_or_is_told_that_nobody_gave_one() {
    let server = Server::open();
    run(async {
        let mut answers = Joined::to(server.connect("controller")).await;
        let asks = Joined::to(server.connect("node")).await;
        let ask = |wait| asks.nats.ask("squall.r.clock".to_owned(), bytes("now?"), wait);
        assert_eq!(ask(SECOND / 10).await, Answer::Unknown);
        answers.nats.listen("squall.r.clock".to_owned());
        let question = async {
            loop {
                let answer = ask(SECOND).await;
                if answer != Answer::Unknown {
                    return answer;
                }
            }
        };
        let reply = async {
            let reply = answers
                .next(|event| match event {
                    Event::Input(Input::Asked { reply, .. }) => Some(reply.clone()),
                    _ => None,
                })
                .await;
            answers.nats.say(reply, bytes("noon")).await;
        };
        assert_eq!(tokio::join!(question, reply).0, Answer::Reply(bytes("noon")));
        answers.nats.listen("squall.hb.*".to_owned());
        // Once the subscription has arrived what is said is heard.
        let beats = async {
            loop {
                asks.nats.say("squall.hb.node".to_owned(), bytes("beat")).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let heard = answers.next(|event| match event {
            Event::Input(Input::Heard { subject, .. }) => Some(subject.clone()),
            _ => None,
        });
        tokio::select! {
            () = beats => unreachable!(),
            subject = heard => assert_eq!(subject, "squall.hb.node"),
        }
    });
}

#[test]
#[ignore = "needs nats-server"]
fn a_server_of_our_own_wants_its_token_and_ends_with_us() {
    let server = LocalServer::start().unwrap_or_else(|error| panic!("{error}"));
    assert!(server.url().starts_with("nats://127.0.0.1:"), "{}", server.url());
    {
        let client = Client::open(server.connect("status")).unwrap();
        stored(client.put("node.a", bytes("card"), Some(0)));
        assert_eq!(client.keys("node.*").unwrap().len(), 1);
        assert_eq!(client.runs().unwrap(), Vec::<String>::new());
    }
    let mut connect = server.connect("x");
    connect.auth = squall_fleet::transport::Auth::Token("wrong".to_owned());
    let refused = Client::open(connect).unwrap_err().to_string();
    assert!(refused.contains("refuses these credentials"), "{refused}");
    let mut connect = server.connect("x");
    connect.patience = Duration::ZERO;
    drop(server);
    let gone = Client::open(connect).unwrap_err().to_string();
    assert!(gone.starts_with("no NATS server at 127.0.0.1:"), "{gone}");
}
