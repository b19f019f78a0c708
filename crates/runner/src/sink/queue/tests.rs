//! A queue never waits for its sink, counts what it drops, and reports what fails.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::feed::TOGETHER;
use super::inbox::{MAX_EXCHANGE_BYTES, MAX_EXCHANGES};
use super::*;
use crate::sink::interface::Wanted;

/// What a sink was told, in order.
type Told = Arc<Mutex<Vec<String>>>;

/// Waits at its first second until it may go on; fails when it is told so.
struct Slow {
    told: Told,
    gate: Option<Receiver<()>>,
    fails: bool,
}

impl Slow {
    fn note(&self, text: String) -> io::Result<()> {
        self.told.lock().expect("no panic").push(text);
        if self.fails { Err(io::Error::other("the disk is full")) } else { Ok(()) }
    }
}

impl Sink for Slow {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        if let Some(gate) = self.gate.take() {
            // The test lets it go on, or is over.
            let _ = gate.recv();
        }
        self.note(format!("second {}", second.second))
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        assert!(!matches!(event.kind, EventKind::Resumed), "a bug");
        self.note("event".to_owned())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.note("finish".to_owned())
    }

    fn amend(&mut self, _: &Run) -> io::Result<()> {
        self.note("amend".to_owned())
    }
}

fn start(sink: Slow) -> Sinks {
    Sinks::start(vec![("slow".to_owned(), Box::new(sink))], &plan(), &|| false).expect("it starts")
}

fn plan() -> Arc<Start> {
    let loaded = crate::load_str(
        "p",
        "target: builtin\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}\n",
    );
    let plan = loaded.expect("a plan").plan;
    let options = squall_engine::CompileOptions {
        target: Some("http://127.0.0.1:1".to_owned()),
        ..crate::Options::default().compile(None, 1)
    };
    let program = Arc::new(squall_engine::compile(&plan, &options).expect("a program"));
    Arc::new(Start { meta: Default::default(), plan, program })
}

fn second(second: u32) -> Second {
    Second { second, ..Second::default() }
}

#[test]
fn what_finds_the_queue_full_is_dropped_and_counted() {
    let (told, (open, gate)) = (Told::default(), channel());
    let sinks = start(Slow { told: told.clone(), gate: Some(gate), fails: false });
    let (seconds, events) = (MAX_SECONDS as u32 + 50, MAX_EVENTS + 7);
    // None of these waits, though the sink does.
    (0..seconds).for_each(|number| sinks.second(second(number)));
    (0..events).for_each(|_| sinks.event(EventKind::Paused));
    open.send(()).expect("it waits");
    let reports = sinks.finish(&Arc::default());
    let told = told.lock().expect("no panic");
    // The one that it waited at had left the queue, or not yet.
    let dropped = reports[0].dropped as usize;
    assert!((56..=57).contains(&dropped), "{dropped}");
    assert_eq!(told.len(), seconds as usize + events - dropped + 1);
    assert_eq!((told[0].as_str(), told[told.len() - 1].as_str()), ("second 0", "finish"));
    assert!(reports[0].loss().expect("a loss").contains("too slow"));
}

/// Exchanges are handed over together, but before what comes after them, and none is left behind.
#[test]
fn exchanges_stand_in_line_with_everything_else() {
    let told = Told::default();
    let sinks = start(Slow { told: told.clone(), gate: None, fails: false });
    let exchange = |n: usize| {
        for _ in 0..n {
            let exchange = Arc::new(Exchange::default());
            let kind = EventKind::Exchange(SeenExchange { phase: Phase::Load, exchange });
            sinks.feeds[0].exchange(Event { at_s: 0.0, kind }, 100);
        }
    };
    exchange(3);
    sinks.second(second(0));
    exchange(2 * TOGETHER + 1);
    sinks.settle();
    let expected: Vec<&str> =
        [vec!["event"; 3], vec!["second 0"], vec!["event"; 2 * TOGETHER + 1]].concat();
    assert_eq!(*told.lock().expect("no panic"), expected);
    exchange(1);
    let reports = sinks.finish(&Arc::default());
    let told = told.lock().expect("no panic");
    assert_eq!(told[expected.len()..], ["event", "finish"]);
    assert_eq!(reports[0].exchanges, 3 + 2 * TOGETHER as u64 + 1 + 1);
    let queue = &sinks.feeds[0].queue;
    assert_eq!((queue.exchanges.load(Relaxed), queue.exchange_bytes.load(Relaxed)), (0, 0));
}

/// The second behind them hands the last of them over while the sink still waits.
#[test]
fn exchanges_that_find_the_queue_full_are_dropped_and_counted() {
    let (told, (open, gate)) = (Told::default(), channel());
    let sinks = start(Slow { told, gate: Some(gate), fails: false });
    sinks.second(second(0));
    for _ in 0..MAX_EXCHANGES + 5 {
        let exchange = Arc::new(Exchange::default());
        let kind = EventKind::Exchange(SeenExchange { phase: Phase::Load, exchange });
        sinks.feeds[0].exchange(Event { at_s: 0.0, kind }, 0);
    }
    sinks.second(second(1));
    open.send(()).expect("it waits");
    let reports = sinks.finish(&Arc::default());
    assert_eq!((reports[0].exchanges, reports[0].exchanges_dropped), (MAX_EXCHANGES as u64, 5));
}

/// As many as there is room for the messages of; a small one still finds some behind a large one that does not.
#[test]
fn exchanges_whose_messages_find_no_room_are_dropped_and_counted() {
    let (told, (open, gate)) = (Told::default(), channel());
    let sinks = start(Slow { told, gate: Some(gate), fails: false });
    sinks.second(second(0));
    for size in [MAX_EXCHANGE_BYTES / 2, MAX_EXCHANGE_BYTES / 2 - 1, MAX_EXCHANGE_BYTES / 4, 1, 1] {
        let exchange = Arc::new(Exchange::default());
        let kind = EventKind::Exchange(SeenExchange { phase: Phase::Load, exchange });
        sinks.feeds[0].exchange(Event { at_s: 0.0, kind }, size);
    }
    sinks.second(second(1));
    open.send(()).expect("it waits");
    let reports = sinks.finish(&Arc::default());
    assert_eq!((reports[0].exchanges, reports[0].exchanges_dropped), (3, 2));
    assert_eq!(sinks.feeds[0].queue.exchange_bytes.load(Relaxed), 0);
}

#[test]
fn a_sink_that_fails_is_told_of_what_follows_and_reported() {
    let told = Told::default();
    let sinks = start(Slow { told: told.clone(), gate: None, fails: true });
    sinks.second(second(0));
    sinks.second(second(1));
    let reports = sinks.finish(&Arc::default());
    assert_eq!(*told.lock().expect("no panic"), ["second 0", "second 1", "finish"]);
    assert_eq!(reports[0].loss().expect("a loss"), "slow: the disk is full (3 failures)");
}

#[test]
fn a_sink_that_panics_is_reported() {
    let sinks = start(Slow { told: Told::default(), gate: None, fails: false });
    sinks.event(EventKind::Resumed);
    sinks.settle();
    let reports = sinks.finish(&Arc::default());
    assert!(reports[0].loss().expect("a loss").contains("panicked"));
}

/// Two sinks of which the first hangs at its first second until its gate is gone, for which the run waits so long.
fn one_hangs(told: &Told, patience: Patience) -> (Sinks, Sender<()>) {
    let (open, gate) = channel();
    let hangs = Slow { told: Told::default(), gate: Some(gate), fails: false };
    let works = Slow { told: told.clone(), gate: None, fails: false };
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("hangs".to_owned(), Box::new(hangs)), ("works".to_owned(), Box::new(works))];
    let mut sinks = Sinks::start(sinks, &plan(), &|| false).expect("they start");
    sinks.patience = patience;
    (sinks, open)
}

const AN_HOUR: Duration = Duration::from_secs(3_600);
const NOT_LONG: Duration = Duration::from_millis(300);

/// What it has not taken is lost, and the others do what they are there for.
#[test]
fn a_sink_that_hangs_is_given_up() {
    let told = Told::default();
    let patience = Patience { usual: NOT_LONG, with_folder: AN_HOUR, hurried: AN_HOUR };
    let (sinks, open) = one_hangs(&told, patience);
    (0..3).for_each(|number| sinks.second(second(number)));
    for _ in 0..5 {
        let exchange = Arc::new(Exchange::default());
        let kind = EventKind::Exchange(SeenExchange { phase: Phase::Load, exchange });
        sinks.feeds[0].exchange(Event { at_s: 0.0, kind }, 10);
    }
    sinks.settle();
    let reports = sinks.finish(&Arc::default());
    sinks.end();
    assert_eq!((reports[0].dropped, reports[0].exchanges_dropped), (2, 5));
    let loss = reports[0].loss().expect("a loss");
    assert!(loss.starts_with("hangs: it took nothing for 300ms"), "{loss}");
    assert_eq!(reports[1].loss(), None);
    let all = ["second 0", "second 1", "second 2", "finish"];
    assert_eq!(*told.lock().expect("no panic"), all);
    // What it does later counts no more.
    drop(open);
    assert_eq!(sinks.reports(), reports);
}

/// Whoever asks for the end at once gets it though a sink hangs, also while it is waited for.
#[test]
fn a_sink_that_hangs_is_given_up_at_the_end_at_once() {
    let patience = Patience { usual: AN_HOUR, with_folder: AN_HOUR, hurried: NOT_LONG };
    let (sinks, _open) = one_hangs(&Told::default(), patience);
    sinks.second(second(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(NOT_LONG);
            sinks.event(EventKind::AbortAsked(Phase::Load));
        });
        sinks.settle();
    });
    let reports = sinks.finish(&Arc::default());
    sinks.end();
    assert!(reports[0].loss().expect("a loss").contains("not waited for"), "{reports:?}");
    assert_eq!(reports[1].loss(), None);
}

/// One that is slow and goes on is waited for.
#[test]
fn a_sink_that_goes_on_is_waited_for() {
    let told = Told::default();
    let patience = Patience { usual: AN_HOUR, with_folder: AN_HOUR, hurried: AN_HOUR };
    let (sinks, open) = one_hangs(&told, patience);
    (0..3).for_each(|number| sinks.second(second(number)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(NOT_LONG);
            open.send(()).expect("it waits");
        });
        sinks.settle();
    });
    let run = Arc::default();
    sinks.finish(&run);
    // What happens after the end is told to nobody.
    sinks.event(EventKind::Paused);
    sinks.amend(&run);
    sinks.end();
    assert!(sinks.reports().iter().all(|own| own.loss().is_none()), "{:?}", sinks.reports());
    let all = ["second 0", "second 1", "second 2", "finish", "amend"];
    assert_eq!(*told.lock().expect("no panic"), all);
}

/// A sink whose beginning waits for its gate.
struct Opens(Receiver<()>);

impl Sink for Opens {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        let _ = self.0.recv();
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_that_does_not_begin_ends_the_run() {
    let (_open, gate) = channel();
    let mut sinks = Sinks::none();
    sinks.patience.usual = NOT_LONG;
    let begun = sinks.begin("f".to_owned(), Box::new(Opens(gate)), &plan(), &|| false);
    let error = begun.err().expect("it does not begin");
    assert_eq!(error.kind, crate::ErrorKind::Input);
    assert!(error.text.starts_with("f: it could not be opened within 300ms"), "{error}");
}

#[test]
fn a_stop_ends_the_wait_for_a_sink_that_does_not_begin() {
    let (_open, gate) = channel();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![("f".to_owned(), Box::new(Opens(gate)))];
    let error = Sinks::start(sinks, &plan(), &|| true).expect_err("it was stopped");
    assert_eq!(error.kind, crate::ErrorKind::Interrupted);
}

#[test]
fn a_queue_has_room_up_to_its_end() {
    let queue = AtomicUsize::new(0);
    assert!(enter(&queue, 6, 10) && !enter(&queue, 5, 10) && enter(&queue, 4, 10));
    assert!(!enter(&queue, 1, 10));
}
