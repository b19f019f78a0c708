//! Real runs with feeds to receivers of our own, which do what receivers do that are not well.

mod receivers;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use squall_feeds::{Feed, FeedKind, FeedTarget};
use squall_report::{FeedReport, Run};
use squall_runner::{Handle, Options, Sink, load_str, run};

use receivers::{Carbon, Fault, Influx};

/// Two workers and two rows, of which one has errors, over two seconds and a bit.
const PLAN: &str = "
target: builtin
scenarios:
  a:
    load: {rate: 40/s, for: 2500ms, max_users: 20}
    on_error: continue
    steps: [{get: /, name: good, tags: {team: x}}, {get: /status/500, name: bad}]
";

/// What a receiver holds of requests, by field.
type Sums = HashMap<String, u64>;

/// Runs the plan with a feed: the result, and what became of the feed.
fn run_with(kind: FeedKind, to: &str) -> (Run, FeedReport) {
    let target = FeedTarget::new(kind, to).expect("a target");
    let feed = Feed::new(&target, &[("env".to_owned(), "test".to_owned())]);
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![(target.shown(), Box::new(feed))];
    let options = Options { workers: Some(2), ..Options::default() };
    let plan = load_str("feeds", PLAN).expect("a good plan");
    let outcome = run(&plan, &options, sinks, &Handle::default()).expect("a run");
    assert_eq!(outcome.run.totals.all().count, 200, "the load is as without a feed");
    assert!(outcome.run.incomplete.is_empty(), "{:?}", outcome.run.incomplete);
    let report = outcome.run.feeds[0].clone();
    (outcome.run.as_ref().clone(), report)
}

/// The sums of a run's requests.
fn of_run(run: &Run) -> Sums {
    let all = run.totals.all();
    assert!(all.errors > 0 && all.bytes_in > 0 && all.bytes_out > 0);
    [
        ("count", all.count),
        ("errors", all.errors),
        ("bytes_in", all.bytes_in),
        ("bytes_out", all.bytes_out),
    ]
    .map(|(name, number)| (name.to_owned(), number))
    .into()
}

/// Everything arrived, whatever happened on the way.
fn assert_complete(run: &Run, report: &FeedReport, held: &Sums) {
    assert_eq!(*held, of_run(run));
    assert_eq!(report.points_lost, 0, "{report:?}");
    assert!(report.points_sent > 10 && run.warnings.iter().all(|text| !text.contains("lost")));
}

/// Everything is lost, and that is said and costs nothing else.
fn assert_lost(run: &Run, report: &FeedReport, why: &str) {
    assert!(report.points_sent == 0 && report.points_lost > 10, "{report:?}");
    assert!(report.error.as_ref().is_some_and(|error| error.contains(why)), "{report:?}");
    assert!(
        run.warnings.iter().any(|text| text.contains("points were lost")),
        "{:?}",
        run.warnings
    );
}

#[test]
fn json_lines_in_a_file_hold_what_the_run_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.jsonl");
    let (run, report) = run_with(FeedKind::JsonLines, path.to_str().expect("text"));
    let text = std::fs::read_to_string(&path).expect("a file");
    assert_complete(&run, &report, &json_sums(text.lines()));
    assert_eq!(report.points_sent, text.lines().count() as u64);
    assert!(text.lines().all(|line| line.contains("\"env\":\"test\"")), "{text}");
}

#[test]
fn json_lines_in_a_pipe_arrive_while_the_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = pipe(folder.path());
    let (say, told) = channel();
    let reading = path.clone();
    std::thread::spawn(move || {
        let lines = BufReader::new(std::fs::File::open(reading).expect("a pipe")).lines();
        let lines: Vec<String> = lines.map(|line| line.expect("a line")).collect();
        say.send(lines).expect("the test waits");
    });
    let (run, report) = run_with(FeedKind::JsonLines, &path);
    // The pipe is closed when the run is over.
    let lines = told.recv_timeout(Duration::from_secs(10)).expect("the end of the pipe");
    assert_complete(&run, &report, &json_sums(lines.iter().map(String::as_str)));
}

#[test]
fn a_pipe_that_nobody_reads_costs_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = pipe(folder.path());
    let began = Instant::now();
    let (run, report) = run_with(FeedKind::JsonLines, &path);
    assert_lost(&run, &report, "had not taken everything");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // Its thread is let go.
    drop(std::fs::File::open(&path));
}

fn pipe(folder: &std::path::Path) -> String {
    let path = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    path.to_str().expect("text").to_owned()
}

fn json_sums<'a>(lines: impl Iterator<Item = &'a str>) -> Sums {
    let mut sums = Sums::new();
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if line["measurement"] == "squall_requests" {
            for name in ["count", "errors", "bytes_in", "bytes_out"] {
                *sums.entry(name.to_owned()).or_default() +=
                    line["fields"][name].as_u64().expect("a number");
            }
        }
    }
    sums
}

#[test]
fn influxdb_holds_what_the_run_counted_whatever_happens_on_the_way() {
    let faults =
        [Fault::None, Fault::Status(503), Fault::ClosesHalfWay, Fault::TakesAndCloses, Fault::Slow];
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || influxdb_is_complete(fault));
        }
    });
}

fn influxdb_is_complete(fault: Fault) {
    let receiver = Influx::start(fault, 2);
    let (run, report) = run_with(FeedKind::Influxdb, &receiver.url());
    assert_complete(&run, &report, &receiver.sums());
    let is_healthy = matches!(fault, Fault::None | Fault::Slow);
    assert_eq!(report.error.is_none(), is_healthy, "{fault:?}: {report:?}");
    let heads = receiver.heads();
    let good = heads.iter().all(|head| {
        head.contains("POST /write?db=x HTTP/1.1") && head.contains("Basic bWU6c2VjcmV0LXdvcmQ=")
    });
    assert!(good, "{heads:?}");
}

#[test]
fn an_influxdb_that_refuses_is_not_asked_again() {
    let receiver = Influx::start(Fault::Status(401), usize::MAX);
    let (run, report) = run_with(FeedKind::Influxdb, &receiver.url());
    assert_lost(&run, &report, "status 401: no");
    assert!(receiver.heads().len() < 10);
    assert!(!report.name.contains("secret-word") && report.name.contains("***@"), "{report:?}");
}

#[test]
fn receivers_that_are_down_or_hang_cost_points_alone() {
    let nobody = receivers::closed_port();
    let (run, report) = run_with(FeedKind::Influxdb, &format!("http://{nobody}/write?db=x"));
    assert_lost(&run, &report, "refused");
    let (run, report) = run_with(FeedKind::Graphite, &nobody);
    assert_lost(&run, &report, "refused");
    let began = Instant::now();
    let receiver = Influx::start(Fault::Hangs, usize::MAX);
    let (run, report) = run_with(FeedKind::Influxdb, &receiver.url());
    assert_lost(&run, &report, "timeout");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn graphite_holds_what_the_run_counted_whatever_happens_on_the_way() {
    for fault in [Fault::None, Fault::ClosesHalfWay, Fault::Slow] {
        let receiver = Carbon::start(fault, 2);
        let (run, report) = run_with(FeedKind::Graphite, &receiver.address());
        assert_complete(&run, &report, &receiver.sums());
        assert_eq!(report.error.is_some(), fault == Fault::ClosesHalfWay, "{report:?}");
    }
}

/// What the documentation says is what is sent.
#[test]
fn the_documentation_holds_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/feeds.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let reference = squall_feeds::reference();
    assert!(text.contains(&reference), "docs/feeds.md must hold this:\n{reference}");
    for (_, name) in FeedKind::ALL {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}
