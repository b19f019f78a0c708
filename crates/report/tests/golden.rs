//! Compares every output of a fixed run with a file in `tests/golden`. After an intended change,
//! `SQUALL_BLESS=1 cargo test -p squall-report` rewrites the files: read the difference.

mod common;

use common::golden;
use squall_analysis::Totals;
use squall_metrics::{
    ErrorKind, HostMetrics, HostSample, MetricId, MetricKey, MetricKind, NameId, NameKind, Phases,
    Sample, Slice, TimeAccount, TimeRecorder, UserState,
};
use squall_report::{
    Generator, Live, Meta, Recording, Run, RunFolder, json, live_line, load, text, write_json,
};

const HOME: NameId = NameId(0);
const PAY: NameId = NameId(1);
const CHECKOUT: NameId = NameId(2);

const SECOND: u64 = 1_000_000_000;

/// A second of four users: one in requests, one that thinks, one not yet started, one done half way.
fn account(start: u64) -> TimeAccount {
    let mut book = TimeRecorder::new(start);
    book.expect(4);
    let phases = Phases([None, None, None, None, Some(SECOND / 1_000), Some(SECOND / 10_000)]);
    for (state, from) in
        [(UserState::Request, 2), (UserState::Think, 4), (UserState::Finished, 500)]
    {
        let at = start + from * SECOND / 1_000;
        book.change(UserState::NotStarted, UserState::Ready, start);
        book.change(UserState::Ready, state, at);
    }
    (0..200).for_each(|_| book.request(&phases));
    book.close(start + SECOND)
}

/// A second of a run: responses with latencies of 1 to 100 ms, some late, some failed.
fn slice(second: u32) -> Slice {
    let mut slice = Slice::new(0, second);
    if second == 0 {
        slice.announce(HOME, NameKind::Request, "GET /");
        slice.announce(PAY, NameKind::Request, "POST /a/path/that/is/too/long/for/its/column");
        slice.announce(CHECKOUT, NameKind::Group, "checkout");
    }
    for n in 1..=100 {
        let mut phases = Phases::default();
        phases.add(3, n * 900_000);
        phases.add(4, n * 100_000);
        if n == 1 {
            phases.add(0, 20_000);
            phases.add(1, 150_000);
        }
        let sample = Sample { bytes_in: 1_200, bytes_out: 100, phases, ..Sample::ok(n * 1_000) };
        slice.record(HOME, &sample);
        let status = if n % 25 == 0 { 503 } else { 201 };
        let error = (n % 25 == 0).then_some(ErrorKind::Status);
        let corrected_latency_ns = Some(n * 3_000_000);
        slice.record(PAY, &Sample { status, error, corrected_latency_ns, ..sample });
    }
    let lost = Sample {
        complete: false,
        status: 0,
        error: Some(ErrorKind::TimeoutFirstByte),
        bytes_out: 100,
        ..Sample::ok(5_000_000)
    };
    slice.record(HOME, &lost);
    slice.record_group(CHECKOUT, 250_000_000, false);
    slice.record_group(CHECKOUT, 350_000_000, true);
    slice.time_account = account(u64::from(second) * SECOND);
    for delay in 1..=100 {
        slice.self_metrics.receive_delay.record(delay);
        slice.self_metrics.send_delay.record(delay * 10);
        slice.self_metrics.loop_iteration.record(delay / 2);
    }
    (slice.self_metrics.cpu_ns, slice.self_metrics.starved_ns, slice.self_metrics.preempted) =
        (SECOND / 2, SECOND / 100, 3);
    record_metrics(&mut slice);
    slice.counters.users_active = 20 + u64::from(second);
    slice.counters.arrivals_due = 105;
    slice.counters.arrivals_dropped = 5;
    slice.counters.stale_retries = 4;
    slice.counters.unsolicited_responses = u64::from(second == 0);
    slice.counters.checks_passed = 98;
    slice.counters.checks_failed = 2;
    slice
}

/// Metrics of each kind, of which one has tags.
fn record_metrics(slice: &mut Slice) {
    let tags = vec![("country".to_owned(), "at".to_owned()), ("a".to_owned(), "b c".to_owned())];
    let metrics = [
        (MetricKey::new(MetricKind::Counter, "bought", tags), [2.5, 1.0, 0.125]),
        (MetricKey::new(MetricKind::Gauge, "stock", Vec::new()), [7.0, -2.0, 3.5]),
        (MetricKey::new(MetricKind::Rate, "cached", Vec::new()), [1.0, 0.0, 1.0]),
        (MetricKey::new(MetricKind::Trend, "render", Vec::new()), [4.0, 8.25, 5.5]),
    ];
    for (number, (key, values)) in metrics.iter().enumerate() {
        let id = MetricId(number as u32);
        if slice.second == 0 {
            slice.announce_metric(id, key);
        }
        for value in values {
            let at = u64::from(slice.second) * SECOND;
            assert_eq!(slice.record_metric(id, key.kind, *value, at), Ok(()));
        }
    }
}

/// What the machine looked like: files go up and down, counts go up.
fn host() -> HostMetrics {
    let mut host = HostMetrics::default();
    (0..=3u32).for_each(|second| host.add(f64::from(second), host_sample(u64::from(second))));
    host
}

fn host_sample(second: u64) -> HostSample {
    HostSample {
        open_files: [10, 500, 900, 20][second as usize],
        open_files_limit: 1_000,
        ports_limit: 28_232,
        link_used_permille: [0, 100, 850, 300][second as usize],
        segments_sent: 1_000_000 + second * 1_000,
        retransmits: 5 + second * 20,
        cpu_ticks: 5_000 + second * 200,
        ..HostSample::default()
    }
}

fn run() -> Run {
    let (mut totals, mut recording) = (Totals::new(), Recording::unnamed().expect("a file"));
    for second in 0..3 {
        assert!(totals.add(&slice(second)));
        recording.append(&slice(second));
    }
    let mut run = Run {
        meta: Meta {
            squall: "0.0.0".to_owned(),
            plan: "shop".to_owned(),
            os: "Linux version 6.1".to_owned(),
            cpus: 2,
            started_unix: 1_795_213_023.25,
            io: "epoll".to_owned(),
            workers: 1,
            seed: 7,
            warmup: "none".to_owned(),
            constant_s: Some((0.0, Some(3.0))),
            thresholds: [
                "p99(\"GET /\") < 150ms",
                "error_rate < 1%",
                "rate(checkout) > 0.5/s",
                "p99(nowhere) < 1s",
            ]
            .map(str::to_owned)
            .to_vec(),
        },
        elapsed_s: 3.0,
        finished: true,
        totals,
        log: vec![
            "POST /pay: status: status 503".to_owned(),
            "GET /: timeout_first_byte".to_owned(),
        ],
        host: host(),
        generator: Generator {
            cpu_user_s: 0.25,
            cpu_sys_s: 0.75,
            peak_rss_bytes: 9 << 20,
            ..Generator::default()
        },
        ..Run::default()
    };
    run.evaluate(&mut recording).expect("readable");
    run.warn();
    run
}

#[test]
fn the_text() {
    let shown = text(&run(), false);
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    golden("report.txt", &shown);
    let nothing = Run { finished: true, ..Run::default() };
    golden("report-of-nothing.txt", &text(&nothing, false));
}

#[test]
fn the_json() {
    golden("run.json", &(format!("{:#}", json(&run())) + "\n"));
    let mut written = Vec::new();
    write_json(&run(), &mut written).expect("a Vec takes everything");
    golden("run.json", &String::from_utf8(written).expect("JSON"));
}

#[test]
fn the_live_line() {
    let run = run();
    let line =
        |elapsed_s, length_s| live_line(&Live { elapsed_s, length_s, totals: &run.totals }) + "\n";
    let lines = line(2.0, Some(20.0)) + &line(3.0, None) + &line(25.0, Some(20.0));
    assert!(lines.lines().all(|line| line.chars().count() <= 99), "{lines}");
    golden("live.txt", &lines);
}

#[test]
fn the_folder() {
    let base = tempfile::tempdir().expect("a folder");
    let run = run();
    let mut folder = RunFolder::create(base.path(), &run.meta, "name: shop\n").expect("writable");
    (0..3).for_each(|second| folder.slice(&slice(second)));
    (0..=3u32)
        .for_each(|second| folder.host_sample(f64::from(second), &host_sample(u64::from(second))));
    folder.log(1, 0, "a \"line\"");
    folder.finish(&run).expect("writable");
    let path = folder.path();
    let read = |name: &str| std::fs::read_to_string(path.join(name)).expect(name);
    assert_eq!(path.file_name().expect("a name"), "2026-11-20T22-17-03-shop");
    golden("timeline.hlog", &read("timeline.hlog"));
    golden("host.jsonl", &read("host.jsonl"));
    golden("log.jsonl", &read("log.jsonl"));
    golden("run.json", &read("run.json"));
    let again = load(path).expect("a run");
    assert_eq!(json(&again), json(&run), "what is read back is what was there");
}
