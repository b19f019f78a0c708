//! Real runs with feeds to receivers of our own, which do what receivers do that are not well.

mod decode;
mod jmeter;
mod receivers;
mod tls;
mod tokens;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use squall_feeds::{Feed, FeedKind, FeedTarget};
use squall_report::{FeedReport, Run};
use squall_runner::{Handle, Options, Sink, load_str, run};

use receivers::{Carbon, Fault, Grpc, Http, Statsd};

/// Two rows, of which one has errors. Each of ten users begins every tenth of a second, so often: nothing is cut off, however slow
/// this machine is.
fn plan(iterations: u64) -> String {
    format!(
        "
target: builtin
scenarios:
  a:
    load: {{users: 10, iterations: {iterations}, pacing: 100ms}}
    on_error: continue
    steps: [{{get: /, name: good, tags: {{team: x}}}}, {{get: /status/500, name: bad}}]
"
    )
}

/// What a receiver holds of requests, by field.
type Sums = HashMap<String, u64>;

/// Runs the plan with a feed for a second and a bit: the result, and what became of the feed.
fn run_with(kind: FeedKind, to: &str) -> (Run, FeedReport) {
    run_long(12, kind, to)
}

/// Runs it with two workers, for so many tenths of a second.
fn run_long(iterations: u64, kind: FeedKind, to: &str) -> (Run, FeedReport) {
    let target = FeedTarget::new(kind, to).expect("a target");
    let feed = Feed::new(&target, &[("env".to_owned(), "test".to_owned())]);
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![(target.shown(), Box::new(feed))];
    let options = Options { workers: Some(2), ..Options::default() };
    let plan = load_str("feeds", &plan(iterations)).expect("a good plan");
    let outcome = run(&plan, &options, sinks, &Handle::default()).expect("a run");
    assert_eq!(outcome.run.totals.all().count, iterations * 20, "the load is as without a feed");
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

/// The same for receivers that hold distributions too.
fn totals_of_run(run: &Run) -> Sums {
    let latencies = run.totals.all().latency.count();
    of_run(run).into_iter().chain([("latencies".to_owned(), latencies)]).collect()
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

/// The same of runs side by side, as each waits for seconds in vain.
fn are_lost(cases: &[(FeedKind, String, &str)]) {
    std::thread::scope(|scope| {
        for (kind, to, why) in cases {
            scope.spawn(move || {
                let (run, report) = run_with(*kind, to);
                assert_lost(&run, &report, why);
            });
        }
    });
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
    let lines = told.recv().expect("the end of the pipe");
    assert_complete(&run, &report, &json_sums(lines.iter().map(String::as_str)));
}

#[test]
fn a_pipe_that_nobody_reads_costs_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = pipe(folder.path());
    let (run, report) = run_with(FeedKind::JsonLines, &path);
    assert_lost(&run, &report, "had not taken everything");
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
    let receiver = Http::influxdb(fault, 2);
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
    let receiver = Http::influxdb(Fault::Status(401), usize::MAX);
    let (run, report) = run_with(FeedKind::Influxdb, &receiver.url());
    assert_lost(&run, &report, "status 401: no");
    assert!(receiver.heads().len() < 10);
    assert!(!report.name.contains("secret-word") && report.name.contains("***@"), "{report:?}");
}

/// What authorizes may come back in what refuses it.
#[test]
fn a_receiver_that_repeats_what_authorized_puts_no_secret_into_the_result() {
    let (influxdb, grpc) =
        (Http::influxdb(Fault::Repeats, usize::MAX), Grpc::start(Fault::Repeats, usize::MAX));
    for (kind, url, why) in [
        (FeedKind::Influxdb, influxdb.url(), "status 401: "),
        (FeedKind::OtlpGrpc, grpc.url(), "gRPC status 16 (UNAUTHENTICATED): "),
    ] {
        let (run, report) = run_with(kind, &url);
        assert_lost(&run, &report, why);
        let shown = format!("{report:?} {:?}", run.warnings);
        assert!(!shown.contains("secret-word") && !shown.contains("bWU6c2"), "{shown}");
    }
}

#[test]
fn receivers_that_are_down_or_hang_cost_points_alone() {
    let nobody = receivers::closed_port();
    let receiver = Http::influxdb(Fault::Hangs, usize::MAX);
    are_lost(&[
        (FeedKind::Influxdb, format!("http://{nobody}/write?db=x"), "refused"),
        (FeedKind::Graphite, nobody, "refused"),
        (FeedKind::Influxdb, receiver.url(), "timeout"),
    ]);
}

#[test]
fn opentelemetry_over_grpc_holds_what_the_run_counted_whatever_happens_on_the_way() {
    let faults =
        [Fault::None, Fault::Status(14), Fault::ClosesHalfWay, Fault::TakesAndCloses, Fault::Slow];
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || grpc_is_complete(fault));
        }
    });
}

fn grpc_is_complete(fault: Fault) {
    let receiver = Grpc::start(fault, 2);
    let (run, report) = run_with(FeedKind::OtlpGrpc, &receiver.url());
    assert_eq!(receiver.sums(), totals_of_run(&run), "{fault:?}: {report:?}");
    assert_eq!(report.points_lost, 0, "{fault:?}: {report:?}");
    let is_healthy = matches!(fault, Fault::None | Fault::Slow);
    assert_eq!(report.error.is_none(), is_healthy, "{fault:?}: {report:?}");
    let method = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    let wanted = format!("{method} Basic bWU6c2VjcmV0LXdvcmQ=");
    let heads = receiver.heads();
    assert!(heads.len() >= 2 && heads.iter().all(|head| *head == wanted), "{heads:?}");
}

#[test]
fn a_server_of_grpc_that_refuses_is_not_asked_again_and_one_that_hangs_costs_points_alone() {
    let refuses = Grpc::start(Fault::Status(16), usize::MAX);
    let hangs = Grpc::start(Fault::Hangs, usize::MAX);
    are_lost(&[
        (FeedKind::OtlpGrpc, refuses.url(), "gRPC status 16 (UNAUTHENTICATED): no"),
        (FeedKind::OtlpGrpc, format!("http://{}", receivers::closed_port()), "refused"),
        (FeedKind::OtlpGrpc, hangs.url(), "timeout"),
    ]);
    assert!(refuses.heads().len() < 10);
}

#[test]
fn graphite_holds_what_the_run_counted_whatever_happens_on_the_way() {
    std::thread::scope(|scope| {
        for fault in [Fault::None, Fault::ClosesHalfWay, Fault::Slow, Fault::Hangs] {
            scope.spawn(move || {
                let receiver = Carbon::start(fault, 2);
                let (run, report) = run_with(FeedKind::Graphite, &receiver.address());
                assert_complete(&run, &report, &receiver.sums());
                assert_eq!(report.error.is_some(), fault == Fault::ClosesHalfWay, "{report:?}");
            });
        }
    });
}

#[test]
fn remote_write_holds_what_the_run_counted_whatever_happens_on_the_way() {
    totals_are_complete(FeedKind::RemoteWrite, Http::remote_write, |head| {
        head.contains("POST /api/v1/write HTTP/1.1")
            && head.contains("content-encoding: snappy")
            && head.contains("x-prometheus-remote-write-version: 0.1.0")
    });
}

#[test]
fn opentelemetry_holds_what_the_run_counted_whatever_happens_on_the_way() {
    totals_are_complete(FeedKind::Otlp, Http::otlp, |head| {
        head.contains("POST /v1/metrics HTTP/1.1")
            && head.contains("content-type: application/x-protobuf")
    });
}

/// With each of the faults that pass.
fn totals_are_complete(kind: FeedKind, start: fn(Fault, usize) -> Http, is_good: fn(&str) -> bool) {
    let faults =
        [Fault::None, Fault::Status(503), Fault::ClosesHalfWay, Fault::TakesAndCloses, Fault::Slow];
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || {
                let receiver = start(fault, 2);
                let (run, report) = run_with(kind, &receiver.url());
                assert_eq!(receiver.sums(), totals_of_run(&run), "{fault:?}");
                assert_eq!(report.points_lost, 0, "{report:?}");
                let is_healthy = matches!(fault, Fault::None | Fault::Slow);
                assert_eq!(report.error.is_none(), is_healthy, "{fault:?}: {report:?}");
                let heads = receiver.heads();
                assert!(heads.iter().all(|head| is_good(head)), "{heads:?}");
            });
        }
    });
}

#[test]
fn receivers_of_totals_that_refuse_are_down_or_hang_cost_points_alone() {
    let mut cases = Vec::new();
    let mut refusing = Vec::new();
    for (kind, start) in [
        (FeedKind::RemoteWrite, Http::remote_write as fn(Fault, usize) -> Http),
        (FeedKind::Otlp, Http::otlp),
    ] {
        let [refuses, hangs] =
            [Fault::Status(400), Fault::Hangs].map(|fault| start(fault, usize::MAX));
        cases.push((kind, refuses.url(), "status 400: no"));
        cases.push((kind, format!("http://{}/x", receivers::closed_port()), "refused"));
        cases.push((kind, hangs.url(), "timeout"));
        refusing.push(refuses);
    }
    are_lost(&cases);
    assert!(refusing.iter().all(|receiver| receiver.heads().len() < 10));
}

#[test]
fn statsd_holds_what_the_run_counted() {
    let receiver = Statsd::start();
    let (run, report) = run_with(FeedKind::Statsd, &receiver.address());
    receiver.catch_up();
    assert_complete(&run, &report, &receiver.sums());
    assert_eq!(report.error, None);
}

#[test]
fn a_statsd_that_is_down_costs_points_alone() {
    let (run, report) = run_with(FeedKind::Statsd, &receivers::closed_port());
    assert_lost(&run, &report, "refused");
}

#[test]
fn who_scrapes_holds_what_the_run_counted() {
    let address = receivers::closed_port();
    let scraped = address.clone();
    let scraper = std::thread::spawn(move || receivers::scrape(&scraped));
    // It connects and asks for nothing.
    let silent = address.clone();
    let hanging = std::thread::spawn(move || {
        std::iter::repeat_with(|| std::net::TcpStream::connect(&silent)).find_map(|stream| {
            std::thread::sleep(Duration::from_millis(10));
            stream.ok()
        })
    });
    // Long enough for a scrape before its end wherever these tests run: who has scraped is waited for.
    let (run, report) = run_long(30, FeedKind::Prometheus, &address);
    let (held, times) = scraper.join().expect("no panic");
    assert_eq!(held, totals_of_run(&run));
    assert!(times > 1, "while it went on, and when it was over");
    assert_eq!((report.points_lost, &report.error), (0, &None));
    assert!(report.points_sent > 10, "{report:?}");
    assert!(hanging.join().expect("no panic").is_some());
}

#[test]
fn totals_that_nobody_fetches_are_lost() {
    let address = receivers::closed_port();
    let (run, report) = run_with(FeedKind::Prometheus, &address);
    assert_lost(&run, &report, "never scraped");
    // The thread that listened is told to end, and may take a moment. This would never end if it did not.
    while std::net::TcpStream::connect(&address).is_ok() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_address_that_is_taken_is_said_before_anything_is_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let target = FeedTarget::new(FeedKind::Prometheus, &address).expect("a target");
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![(target.shown(), Box::new(Feed::new(&target, &[])))];
    let plan = load_str("feeds", &plan(12)).expect("a good plan");
    let error = run(&plan, &Options::default(), sinks, &Handle::default()).err();
    let error = error.expect("no run").to_string();
    assert!(error.contains(&address) && error.contains("in use"), "{error}");
}

/// What the documentation says is what is sent.
#[test]
fn the_documentation_holds_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/feeds.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    for reference in [squall_feeds::reference(), squall_feeds::totals_reference()] {
        assert!(text.contains(&reference), "docs/feeds.md must hold this:\n{reference}");
    }
    for (_, name) in FeedKind::ALL {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}
