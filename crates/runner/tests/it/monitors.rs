//! Monitors beside a load in virtual time: what they sample is in the seconds, judged by thresholds, and in the result,
//! and none holds the load up.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use squall_metrics::{MetricKey, MetricKind};
use squall_report::document;
use squall_runner::{
    ErrorKind, Handle, Monitor, MonitorSample, Options, RunParts, Sink, load_str, run_with,
};

use crate::common::scripted::{Scripted, Seconds, Told, slice};

/// Pieces in stock, of which one less is there each second; or how it fails.
struct Stock {
    name: &'static str,
    how: How,
}

enum How {
    Good,
    Fails,
    /// It waits for this, which does not come while the load goes on.
    Hangs(Mutex<Receiver<()>>),
}

impl Monitor for Stock {
    fn names(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    fn sample(&mut self, at: Duration) -> io::Result<MonitorSample> {
        match &self.how {
            How::Good => {}
            How::Fails => return Err(io::Error::other("no connection")),
            How::Hangs(gate) => {
                // The test is over.
                let _ = gate.lock().expect("no panic").recv();
            }
        }
        let tags = vec![("host".to_owned(), "db1".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "", self.name, tags);
        Ok(vec![(key, 1e6 - at.as_secs_f64())])
    }
}

fn plan(thresholds: &str) -> squall_plan::yaml::Loaded {
    let plan = format!(
        "target: http://127.0.0.1:1\nthresholds: {thresholds}\nscenarios: {{a: {{load: {{users: 1, for: 4s}}, steps: [{{get: /}}]}}}}\n"
    );
    load_str("plan", &plan).expect("a plan")
}

#[test]
fn what_monitors_sample_is_in_seconds_thresholds_and_result() {
    let told = Told::default();
    let (_open, gate) = channel();
    let monitor = |name: &'static str, how| -> (String, Box<dyn Monitor>) {
        (name.to_owned(), Box::new(Stock { name, how }))
    };
    let monitors = vec![
        monitor("stock", How::Good),
        monitor("broken", How::Fails),
        monitor("stuck", How::Hangs(Mutex::new(gate))),
    ];
    // Virtual seconds go on until a sample has come to a sink: monitors have their own threads. A machine is never so busy
    // that none has come after so many seconds.
    let seen = told.clone();
    let has_stock = move || {
        let told = seen.lock().expect("no panic");
        told.iter().any(|(.., gauges)| gauges.iter().any(|(name, _)| name == "stock"))
    };
    let next = move |at: usize| {
        // They answer before the next one, unless the machine is busy.
        std::thread::sleep(Duration::from_millis(2));
        (at < 3 || (at < 5_000 && !has_stock()))
            .then(|| slice(0, u32::try_from(at).expect("few"), 0))
    };
    let (workers, elapsed) = (1, Duration::from_secs(4));
    let source = Scripted { workers, next: Box::new(next), elapsed, failures: Vec::new() };
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("seconds".to_owned(), Box::new(Seconds(told.clone())))];
    let parts = RunParts { source: Box::new(source), monitors, sinks };
    let thresholds = "['last(stock) > 5', 'max(stock) <= 1000000', 'min(squall_memory_bytes) > 1']";
    let outcome = run_with(&plan(thresholds), &Options::default(), parts, &Handle::default());
    let run = outcome.expect("a run").run;
    assert!(run.passed(), "{:?}", run.threshold_results);
    assert_eq!(run.incomplete, [] as [&str; 0]);
    // No second came twice, or without its worker.
    let told = told.lock().expect("no panic");
    assert!(told.len() < 5_000, "no sample came to the sink");
    let workers: Vec<(u32, usize)> = told.iter().map(|own| (own.0, own.2)).collect();
    let expected: Vec<(u32, usize)> = (0..).map(|second| (second, 1)).take(told.len()).collect();
    assert_eq!(workers, expected);
    assert_eq!(run.totals.workers(), 1);
    // A sample is of the second that it was asked for in.
    for (second, .., gauges) in told.iter() {
        let stock = gauges.iter().find(|(name, _)| name == "stock");
        assert!(stock.is_none_or(|(_, value)| *value == 1e6 - f64::from(*second)), "{gauges:?}");
    }
    let document = document(&run);
    let row = document.metrics.iter().find(|row| row.name == "stock").expect("a row");
    assert_eq!((row.kind.as_str(), row.tags["host"].as_str()), ("gauge", "db1"));
    assert!(document.series_metrics.iter().any(|track| track.name == "stock"));
    assert!(document.metrics.iter().any(|row| row.name == "squall_memory_bytes"));
    assert!(document.metrics.iter().all(|row| row.name != "broken" && row.name != "stuck"));
    for name in ["broken", "stuck"] {
        let is_said = |own: &String| own.starts_with(&format!("monitor {name}: "));
        assert!(run.warnings.iter().any(is_said), "{name}: {:?}", run.warnings);
    }
}

#[test]
fn a_threshold_may_ask_for_what_a_monitor_samples_and_for_nothing_else() {
    let ran = |monitors| {
        let source = Box::new(Scripted::of(1, vec![slice(0, 0, 0)], 1));
        let parts = RunParts { source, monitors, ..RunParts::default() };
        run_with(&plan("['last(stock) > 5']"), &Options::default(), parts, &Handle::default())
    };
    let error = ran(Vec::new()).expect_err("no such metric");
    assert_eq!(error.kind, ErrorKind::Plan);
    assert!(error.text.contains("the plan records no metric `stock`"), "{error}");
    let stock: Box<dyn Monitor> = Box::new(Stock { name: "stock", how: How::Fails });
    let run = ran(vec![("stock".to_owned(), stock)]).expect("a run").run;
    // Without a single value it is not met.
    assert!(!run.passed() && !run.threshold_results[0].passed, "{:?}", run.threshold_results);
}

/// A server whose CPU and memory a monitor samples, as much as its second says.
struct Server;

impl Monitor for Server {
    fn names(&self) -> Vec<String> {
        ["cpu", "rss"].map(str::to_owned).to_vec()
    }

    fn sample(&mut self, at: Duration) -> io::Result<MonitorSample> {
        let tags = vec![("monitor".to_owned(), "server".to_owned())];
        let key = |name: &str| MetricKey::new(MetricKind::Gauge, "", name, tags.clone());
        let part = at.as_secs_f64().min(100.0) / 100.0;
        Ok(vec![(key("cpu"), 0.5 + part), (key("rss"), 1_048_576.0 * (1.0 + part))])
    }
}

fn server() -> Vec<(String, Box<dyn Monitor>)> {
    vec![("server".to_owned(), Box::new(Server))]
}

#[test]
fn thresholds_judge_what_a_monitor_samples_of_the_target() {
    let told = Told::default();
    let seen = told.clone();
    let sampled = move || {
        let told = seen.lock().expect("no panic");
        told.iter().filter(|(.., gauges)| gauges.iter().any(|(name, _)| name == "cpu")).count()
    };
    // Until enough samples have come; a machine is never so busy that they have not after so many seconds.
    let next = move |at: usize| {
        std::thread::sleep(Duration::from_millis(2));
        (at < 5 || (at < 5_000 && sampled() < 4))
            .then(|| slice(0, u32::try_from(at).expect("few"), 0))
    };
    let (workers, elapsed) = (1, Duration::from_secs(5));
    let source = Scripted { workers, next: Box::new(next), elapsed, failures: Vec::new() };
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("seconds".to_owned(), Box::new(Seconds(told.clone())))];
    let parts = RunParts { source: Box::new(source), monitors: server(), sinks };
    let thresholds = "['cpu(server) < 10%', 'cpu(server) < 200%', 'max(rss, monitor: server) < 3MiB', 'rss(server) < 1MiB']";
    let run = run_with(&plan(thresholds), &Options::default(), parts, &Handle::default());
    let run = run.expect("a run").run;
    let passed: Vec<bool> = run.threshold_results.iter().map(|own| own.passed).collect();
    assert_eq!(passed, [false, true, true, false], "{:?}", run.threshold_results);
    assert!(run.threshold_results.iter().all(|own| own.value.is_some()));
    let document = document(&run);
    let cpu = document.metrics.iter().find(|row| row.name == "cpu").expect("a row");
    assert_eq!((cpu.unit.as_deref(), cpu.tags["monitor"].as_str()), (Some("share"), "server"));
    let mean = cpu.mean.expect("a mean");
    assert!(cpu.min <= Some(mean) && Some(mean) <= cpu.max, "{cpu:?}");
    let track = document.series_metrics.iter().find(|own| own.name == "rss").expect("a track");
    assert_eq!(track.unit.as_deref(), Some("bytes"));
}

#[test]
fn a_threshold_about_what_no_monitor_samples_is_refused_with_its_place() {
    for (threshold, said) in [
        ("cpu(other) < 80%", "the run has no monitor `other`"),
        ("threads(server) < 80", "the monitor `server` does not sample `threads`"),
    ] {
        let source = Box::new(Scripted::of(1, vec![slice(0, 0, 0)], 1));
        let parts = RunParts { source, monitors: server(), ..RunParts::default() };
        let plan = plan(&format!("['{threshold}']"));
        let error = run_with(&plan, &Options::default(), parts, &Handle::default());
        let error = error.expect_err("it cannot be judged");
        assert_eq!(error.kind, ErrorKind::Plan);
        assert!(error.text.contains(said) && error.text.contains("plan:2:"), "{error}");
    }
}

#[test]
fn what_a_monitor_samples_aborts_a_load() {
    let next = |at: usize| {
        std::thread::sleep(Duration::from_millis(2));
        (at < 5_000).then(|| slice(0, u32::try_from(at).expect("few"), 0))
    };
    let (workers, elapsed) = (1, Duration::from_secs(5));
    let source = Scripted { workers, next: Box::new(next), elapsed, failures: Vec::new() };
    let parts = RunParts { source: Box::new(source), monitors: server(), ..RunParts::default() };
    let threshold = "[{threshold: 'cpu(server) < 10%', abort_on_fail: true}]";
    let run = run_with(&plan(threshold), &Options::default(), parts, &Handle::default());
    let run = run.expect("a run").run;
    let aborted = run.aborted.as_ref().expect("it is violated at the first sample");
    assert_eq!(aborted.threshold, "cpu(server) < 10%");
}
