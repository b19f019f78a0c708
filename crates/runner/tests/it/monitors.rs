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
