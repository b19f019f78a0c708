//! A queue never waits for its sink, counts what it drops, and reports what fails.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::sink::Wanted;

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
            gate.recv().expect("the test lets it go on");
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
}

fn start(sink: Slow) -> Sinks {
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
    let start = Start { meta: Default::default(), plan, program };
    Sinks::start(vec![("slow".to_owned(), Box::new(sink))], &start).expect("it starts")
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

#[test]
fn a_queue_has_room_up_to_its_end() {
    let queue = AtomicUsize::new(0);
    assert!(enter(&queue, 6, 10) && !enter(&queue, 5, 10) && enter(&queue, 4, 10));
    assert!(!enter(&queue, 1, 10));
}
