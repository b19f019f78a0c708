use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::*;
use crate::protocol::io::Bytes;
use crate::transport::NoSpool;

/// A server whose first put waits for another key's.
#[derive(Clone, Default)]
struct Double {
    log: Arc<Mutex<Vec<String>>>,
    is_other_put: Arc<Notify>,
}

impl Double {
    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }
}

impl Transport for Double {
    async fn publish(&self, _: String, _: String, _: Bytes) -> Answer {
        std::future::pending().await
    }
    async fn get(&self, key: String) -> Answer {
        self.note(format!("get {key}"));
        Answer::Value(None)
    }
    async fn put(&self, key: String, value: Bytes, _: Option<u64>) -> Answer {
        if key == "other" {
            self.is_other_put.notify_one();
        } else if *value == *b"1" {
            self.is_other_put.notified().await;
        }
        self.note(format!("put {key} {}", String::from_utf8_lossy(&value)));
        Answer::Stored(1)
    }
    async fn delete(&self, key: String) -> Answer {
        self.note(format!("delete {key}"));
        Answer::Stored(2)
    }
    fn watch(&self, _: String) {}
    async fn ask(&self, _: String, _: Bytes, _: Nanos) -> Answer {
        Answer::Unknown
    }
    async fn say(&self, _: String, _: Bytes) {}
    fn listen(&self, _: String) {}
    async fn put_object(&self, _: String, _: Bytes) -> Answer {
        Answer::Unknown
    }
    async fn get_object(&self, _: String) -> Answer {
        Answer::Unknown
    }
    fn consume(&self, _: String, _: Room) {}
    fn unwatch(&self, _: String) {}
    async fn forget(&self, _: String) {}
    async fn close(&self) {
        self.note("close".to_owned());
    }
}

/// Does this when it is connected, and ends after so many answers and a tick.
struct Script {
    first: Vec<Output>,
    answers: usize,
    wakes: bool,
}

impl Machine for Script {
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        assert!(now.unix > 0);
        match input {
            Input::Connected => out.append(&mut self.first),
            Input::Done { answer, .. } => {
                out.push(Output::Log(format!("{answer:?}")));
                self.answers -= 1;
                self.wakes = self.answers == 0;
            }
            Input::Tick => out.push(Output::End),
            _ => {}
        }
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.wakes.then_some(0)
    }
}

fn put(ticket: u64, key: &str, value: &str) -> Output {
    let (ticket, key, value) = (Ticket(ticket), key.to_owned(), value.as_bytes().into());
    Output::Put { ticket, key, value, revision: None }
}

#[test]
fn outputs_are_performed_at_the_same_time_but_for_those_on_one_key() {
    let double = Double::default();
    let transport = double.clone();
    let key = || "one".to_owned();
    let first = vec![
        put(1, "one", "1"),
        put(2, "one", "2"),
        Output::Get { ticket: Ticket(3), key: key() },
        Output::Delete { ticket: Ticket(4), key: key() },
        put(5, "other", "x"),
        Output::Recall { ticket: Ticket(6), run: "r".to_owned(), boot: 1, number: 7 },
    ];
    let said = Arc::new(Mutex::new(Vec::new()));
    let log = said.clone();
    let driver = Driver::start_over(
        Script { first, answers: 6, wakes: false },
        |_| async move { Ok(transport) },
        NoSpool,
        move |output| log.lock().unwrap().push(format!("{output:?}")),
    )
    .unwrap();
    assert!(driver.join(Duration::from_secs(60)));
    assert_eq!(
        *double.log.lock().unwrap(),
        ["put other x", "put one 1", "put one 2", "get one", "delete one", "close"]
    );
    assert_eq!(said.lock().unwrap().len(), 6);
}

#[test]
fn a_driver_is_stopped_whatever_is_on_its_way() {
    let transport = Double::default();
    let publish = Output::Publish {
        ticket: Ticket(1),
        subject: String::new(),
        id: String::new(),
        payload: Bytes::default(),
    };
    let machine = Script { first: vec![publish], answers: 2, wakes: false };
    let driver =
        Driver::start_over(machine, |_| async move { Ok(transport) }, NoSpool, |_| {}).unwrap();
    assert!(!driver.has_ended());
    driver.stop();
}

#[test]
fn what_cannot_be_opened_is_told() {
    let machine = Script { first: Vec::new(), answers: 0, wakes: false };
    let open = |_| async { Err::<Double, _>(ConnectError::new("nobody is there".to_owned())) };
    let error = Driver::start_over(machine, open, NoSpool, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "nobody is there");
}

#[test]
fn times_far_ahead_are_instants() {
    let clocks = Clocks::new();
    assert!(clocks.instant(u64::MAX) > Instant::now());
    let now = clocks.now().steady;
    assert_eq!(clocks.steady(clocks.instant(now)), now);
}

/// Is held up until it is let go on, and ends after so many inputs.
struct HeldUp {
    go_on: blocking::Receiver<()>,
    left: usize,
}

impl Machine for HeldUp {
    fn on(&mut self, _: Now, input: Input, out: &mut Vec<Output>) {
        if let Input::Leave = input {
            // The sender is gone when it may go on.
            let _gone = self.go_on.recv();
            self.left -= 1;
            if self.left == 0 {
                out.push(Output::End);
            }
        }
    }
    fn wake_at(&self) -> Option<Nanos> {
        None
    }
}

/// What a load says while the node's disk hangs must not fill its memory.
#[test]
fn who_says_more_than_a_machine_takes_waits_for_it() {
    const ALL: usize = INPUTS_WAITING + 100;
    let (hold, go_on) = blocking::channel();
    let machine = HeldUp { go_on, left: ALL };
    let open = |_: Events| std::future::ready(Ok(Double::default()));
    let driver = Driver::start_over(machine, open, NoSpool, |_: Output| ()).expect("a driver");
    let (teller, said) = (driver.teller(), Arc::new(std::sync::atomic::AtomicUsize::new(0)));
    let count = said.clone();
    let says = std::thread::spawn(move || {
        for _ in 0..ALL {
            teller.tell(Input::Leave);
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    });
    let said = || said.load(std::sync::atomic::Ordering::SeqCst);
    while said() < INPUTS_WAITING {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It would have said the rest by now if it did not wait.
    std::thread::sleep(Duration::from_millis(50));
    assert!(said() <= INPUTS_WAITING + 1, "{}", said());
    drop(hold);
    says.join().expect("no panic");
    assert!(driver.join(Duration::from_secs(60)), "the machine has taken all of it");
}

#[test]
fn who_waits_for_a_machine_that_is_ended_waits_no_more() {
    let (hold, go_on) = blocking::channel();
    let machine = HeldUp { go_on, left: usize::MAX };
    let open = |_: Events| std::future::ready(Ok(Double::default()));
    let driver = Driver::start_over(machine, open, NoSpool, |_: Output| ()).expect("a driver");
    let teller = driver.teller();
    let says = std::thread::spawn(move || (0..1_000_000).for_each(|_| teller.tell(Input::Leave)));
    drop(hold);
    driver.stop();
    says.join().expect("it ends");
}
