//! A load that no worker generates: slices as a script says, in virtual time.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use squall_engine::{Ended, Event, Program, RunOptions};
use squall_metrics::{ErrorKind, NameId, RowKey, RowKind, Sample, Slice};
use squall_runner::{LoadOrder, LoadSource, Second, Sink, Start, Wanted};

/// Hands over slices one after the other, until it is told to stop.
pub struct Scripted {
    /// Workers that are elsewhere.
    pub workers: u32,
    /// The slice that comes next, of those that have come; `None`: the load is done.
    pub next: Box<dyn Fn(usize) -> Option<Slice> + Send + Sync>,
    pub elapsed: Duration,
    pub failures: Vec<String>,
}

impl Scripted {
    /// These slices, of a load of so many seconds.
    pub fn of(workers: u32, slices: Vec<Slice>, seconds: u64) -> Scripted {
        let next = Box::new(move |at: usize| slices.get(at).cloned());
        Scripted { workers, next, elapsed: Duration::from_secs(seconds), failures: Vec::new() }
    }
}

impl LoadSource for Scripted {
    fn workers(&self, _: &Program, _: &RunOptions) -> u32 {
        self.workers
    }

    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        on(Event::Started);
        let slices = (0..).map_while(|at| (self.next)(at));
        let slices = slices.take_while(|_| !order.control.is_stopped());
        slices.for_each(|slice| on(Event::Slice(&slice)));
        let (elapsed, failures) = (self.elapsed, self.failures.clone());
        Ok(Ended { elapsed, asked: false, failures, variables: Vec::new() })
    }
}

/// What a worker did in a second: ten requests of 10 ms each, of which so many are errors.
pub fn slice(worker: u32, second: u32, errors: usize) -> Slice {
    let mut slice = Slice::new(worker, second);
    // Each worker numbers for itself; here each announces its name in each second.
    let number = NameId(worker % 3);
    slice.announce(number, RowKey::new(RowKind::Request, "a", "GET /"));
    for request in 0..10 {
        let error = (request < errors).then_some(ErrorKind::Status);
        slice.record(number, &Sample { error, ..Sample::ok(10_000) });
    }
    slice
}

/// The seconds that a sink was told of: its number, requests, slices, and the last values of gauges by name.
pub type Told = Arc<Mutex<Vec<(u32, u64, usize, Vec<(String, f64)>)>>>;

/// A sink that notes them, but for the last sample of the host, which comes alone when all is over.
#[derive(Default)]
pub struct Seconds(pub Told);

impl Sink for Seconds {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        if second.slices.is_empty() {
            return Ok(());
        }
        let requests = second.rows.iter().map(|row| row.stats.count).sum();
        let from_workers = second.slices.iter().filter(|slice| slice.source.is_worker()).count();
        let gauges = second
            .metrics
            .iter()
            .filter_map(|(key, stats)| Some((key.name.clone(), stats.gauge()?.last)));
        let told = (second.second, requests, from_workers, gauges.collect());
        self.0.lock().expect("no panic").push(told);
        Ok(())
    }

    fn event(&mut self, _: &squall_runner::Event) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &squall_report::Run) -> io::Result<()> {
        Ok(())
    }
}
