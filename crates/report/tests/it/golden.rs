//! Compares every output of a fixed run with a file in `tests/golden`. After an intended change,
//! `SQUALL_BLESS=1 cargo test -p squall-report` rewrites the files: read the difference.

use crate::common::golden;
use serde_json::Value;
use squall_analysis::{Recent, Totals};
use squall_metrics::{
    CheckResult, ErrorKind, HostMetrics, HostSample, Level, Load, MetricId, MetricKey, MetricKind,
    NameId, Phases, RowKey, RowKind, Sample, ScenarioLoad, Slice, TimeAccount, TimeRecorder,
    UserState,
};
use squall_report::{
    FileKind, Finished, Generator, Live, Machine, Mark, Meta, OutcomeDocument, PlannedLoad,
    Recording, Row, Run, RunDocument, RunFolder, RunPhase, ScenarioMeta, Show, document, file,
    live_line, load, run_schema, text, write_json,
};

const HOME: NameId = NameId(0);
const PAY: NameId = NameId(1);
const CHECKOUT: NameId = NameId(2);
const GUEST_HOME: NameId = NameId(3);
const ITERATION: NameId = NameId(4);
const CHECKS: [NameId; 3] = [NameId(5), NameId(6), NameId(7)];

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
        slice.announce(HOME, RowKey::new(RowKind::Request, "buyer", "GET /"));
        let pay = "POST /a/path/that/is/too/long/for/its/column/as/most/paths/are/not";
        let mut pay = RowKey::new(RowKind::Request, "buyer", pay);
        pay.place.group.push("checkout".to_owned());
        slice.announce(PAY, pay);
        slice.announce(CHECKOUT, RowKey::new(RowKind::Group, "buyer", "checkout"));
        slice.announce(GUEST_HOME, RowKey::new(RowKind::Request, "guest", "GET /"));
        slice.announce(ITERATION, RowKey::new(RowKind::Iteration, "buyer", "iteration"));
        let names = ["status == 200", "body has a price", "fast enough"];
        for (check, name) in CHECKS.into_iter().zip(names) {
            slice.announce(check, RowKey::new(RowKind::Check, "buyer", name));
        }
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
    (0..50).for_each(|n| slice.record(GUEST_HOME, &Sample::ok(2_000 + n * 10)));
    slice.record_span(CHECKOUT, 250_000_000, false);
    slice.record_span(CHECKOUT, 350_000_000, true);
    slice.record_span(ITERATION, 900_000_000, true);
    slice.record_cut_off_span(ITERATION, 100_000_000);
    for (check, passed, result) in [
        (CHECKS[0], 60, CheckResult::Failed),
        (CHECKS[1], 38, CheckResult::Failed),
        (CHECKS[2], 0, CheckResult::Warned),
    ] {
        (0..passed).for_each(|_| slice.record_check(check, CheckResult::Passed));
        slice.record_check(check, result);
    }
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
    slice.load = levels(u64::from(second));
    slice.counters.arrivals_due = 105;
    slice.counters.arrivals_dropped = 5;
    slice.counters.stale_retries = 4;
    slice.counters.unsolicited_responses = u64::from(second == 0);
    slice.counters.checks_passed = 98;
    slice.counters.checks_failed = 2;
    slice
}

/// The load of a second: the buyer's users and requests in flight.
fn levels(second: u64) -> Load {
    let in_flight = Level { most: 12 + second, at_end: 9 };
    let buyer =
        ScenarioLoad { users: 15 + second, in_flight, iterations_started: 2, arrivals_dropped: 0 };
    Load { in_flight, scenarios: vec![(ITERATION, buyer)] }
}

/// Metrics of each kind, of which one has tags.
fn record_metrics(slice: &mut Slice) {
    let tags = vec![("country".to_owned(), "at".to_owned()), ("a".to_owned(), "b c".to_owned())];
    let metrics = [
        (MetricKey::new(MetricKind::Counter, "buyer", "bought", tags), [2.5, 1.0, 0.125]),
        (MetricKey::new(MetricKind::Gauge, "buyer", "stock", Vec::new()), [7.0, -2.0, 3.5]),
        (MetricKey::new(MetricKind::Rate, "buyer", "cached", Vec::new()), [1.0, 0.0, 1.0]),
        (MetricKey::new(MetricKind::Trend, "buyer", "render", Vec::new()), [4.0, 8.25, 5.5]),
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

fn planned(unit: &str, points: &[(f64, f64)]) -> PlannedLoad {
    PlannedLoad { unit: unit.to_owned(), points: points.to_vec(), ..PlannedLoad::default() }
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
            target: Some("http://shop.example:8080".to_owned()),
            command: ["squall", "run", "shop.yaml"].map(str::to_owned).to_vec(),
            scenarios: vec![
                ScenarioMeta {
                    name: "buyer".to_owned(),
                    load: "20 virtual users, for 3s".to_owned(),
                    planned: planned("users", &[(0.0, 0.0), (1.5, 20.0), (3.0, 20.0), (3.0, 0.0)]),
                },
                ScenarioMeta {
                    name: "guest".to_owned(),
                    load: "50/s arrivals, for 3s".to_owned(),
                    planned: planned("arrivals", &[(0.0, 50.0), (3.0, 50.0), (3.0, 0.0)]),
                },
            ],
            started_unix: 1_795_213_023.25,
            nodes: vec![machine()],
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
            ..Meta::default()
        },
        elapsed_s: 3.0,
        phases: vec![
            RunPhase {
                phase: "setup".to_owned(),
                end: "done".to_owned(),
                requests: 4,
                errors: 1,
                elapsed_s: 0.125,
                rows: vec![Row {
                    kind: "request".to_owned(),
                    count: 4,
                    errors: 1,
                    ..Row::default()
                }],
                log: vec!["POST /login: status: status 503".to_owned()],
            },
            RunPhase { phase: "load".to_owned(), end: "done".to_owned(), ..RunPhase::default() },
        ],
        finished: true,
        totals: totals.into(),
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
        marks: [(0.0, "stage", "buyer", "buyer: stage 1"), (1.5, "paused", "", "paused")]
            .map(|(at_s, kind, scenario, text)| Mark {
                at_s,
                kind: kind.to_owned(),
                scenario: scenario.to_owned(),
                text: text.to_owned(),
            })
            .to_vec(),
        ..Run::default()
    };
    run.evaluate(&mut recording).expect("readable");
    run.warn();
    run
}

#[test]
fn the_text() {
    let run = document(&run());
    for columns in [80, 100, 140, 200] {
        let shown = text(&run, &Show { columns, ..PLAIN });
        assert!(shown.lines().all(|line| line.chars().count() < columns), "{shown}");
        golden(&format!("report-{columns}.txt"), &shown);
    }
    for columns in [80, 100, 120] {
        let shown = text(&run, &Show { columns, ..BRIEF });
        assert!(shown.lines().all(|line| line.chars().count() < columns), "{shown}");
        golden(&format!("report-brief-{columns}.txt"), &shown);
    }
    golden("report-explained.txt", &text(&run, &Show { explain: true, ..PLAIN }));
    golden("report-in-colour.txt", &text(&run, &Show { color: true, ..PLAIN }));
    let nothing = document(&Run { finished: true, ..Run::default() });
    golden("report-of-nothing.txt", &text(&nothing, &PLAIN));
    for columns in [80, 200] {
        let shown = text(&document(&failed_setup()), &Show { columns, ..PLAIN });
        golden(&format!("report-failed-setup-{columns}.txt"), &shown);
    }
    golden("report-brief-failed-setup.txt", &text(&document(&failed_setup()), &BRIEF));
    let broken = RunDocument { finished: true, interrupted: true, ..run };
    golden("report-interrupted.txt", &text(&broken, &PLAIN));
    golden("report-brief-interrupted.txt", &text(&broken, &BRIEF));
}

/// A run whose setup failed: there is no load.
fn failed_setup() -> Run {
    let of = |name: &str, errors| Row {
        kind: "request".to_owned(),
        name: name.to_owned(),
        count: 1,
        errors,
        error_rate: errors as f64,
        ..Row::default()
    };
    let setup = RunPhase {
        phase: "setup".to_owned(),
        end: "failed".to_owned(),
        requests: 2,
        errors: 1,
        elapsed_s: 0.0125,
        rows: vec![of("POST /login", 0), of("GET /token", 1)],
        log: vec![
            "GET /token: status (status 401, 12 bytes, GET http://shop.example/token)".to_owned(),
        ],
    };
    let load =
        RunPhase { phase: "load".to_owned(), end: "not_run".to_owned(), ..RunPhase::default() };
    Run {
        meta: Meta {
            plan: "shop".to_owned(),
            thresholds: vec!["p99 < 1s".to_owned()],
            ..Meta::default()
        },
        phases: vec![setup, load],
        incomplete: vec!["setup failed: 1 of 2 requests was an error".to_owned()],
        finished: true,
        ..Run::default()
    }
}

/// A run of two scenarios with rows and checks of such names, with large numbers.
fn large(names: [&str; 2]) -> RunDocument {
    let mut document = document(&run());
    let scenarios: Vec<String> =
        document.meta.scenarios.iter().map(|own| own.name.clone()).collect();
    for (row, name) in document.requests.iter_mut().zip(names.into_iter().cycle()) {
        (row.count, row.rate, row.name) = (123_456_789, 1_234_567.8, name.to_owned());
    }
    for (number, check) in document.checks.iter_mut().enumerate() {
        check.scenario = scenarios[number % 2].clone();
        check.name = names[number / 2].to_owned();
        check.passed = 123_456_789_012;
    }
    document
}

/// The columns that a line takes, if no characters but those of China and Japan take two.
fn columns(line: &str) -> usize {
    line.chars().count() + line.chars().filter(|c| ('\u{3000}'..='\u{9fff}').contains(c)).count()
}

#[test]
fn large_numbers_and_wide_names_stay_under_their_heads() {
    let names = ["GET /a/path/that/is/long", "GET /価格一覧/商品/詳細/在庫確認"];
    for columns_of_terminal in [80, 100, 140] {
        let show = Show { columns: columns_of_terminal, ..PLAIN };
        let shown = text(&large(names), &show);
        let fits = |line: &str| columns(line) < columns_of_terminal;
        assert!(shown.lines().all(fits), "{shown}");
        for title in ["request", "check"] {
            let mut lines =
                shown.lines().skip_while(|line| !line.starts_with(&format!(" {title} ")));
            let head = columns(lines.next().expect("a head"));
            let rows = lines.take_while(|line| !line.is_empty());
            for row in rows.filter(|line| line.contains("123,456,789")) {
                assert_eq!(columns(row), head, "{shown}");
            }
        }
    }
    golden("report-brief-large-80.txt", &text(&large(names), &Show { columns: 80, ..BRIEF }));
    golden("report-large-80.txt", &text(&large(names), &Show { columns: 80, ..PLAIN }));
}

/// A check that fails in one scenario alone is not added up with the others.
#[test]
fn checks_of_one_name_stay_apart_by_scenario() {
    let mut run = document(&run());
    let first = run.checks[0].clone();
    let of = |scenario: &str, passed, failed| {
        let mut check = first.clone();
        (check.scenario, check.passed, check.failed) = (scenario.to_owned(), passed, failed);
        check
    };
    run.checks = vec![of("buyer", 3, 0), of("guest", 0, 3)];
    let shown = text(&run, &PLAIN);
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .skip_while(|line| !line.starts_with(" check "))
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    let wanted = [
        vec!["check", "passed", "failed", "warned"],
        vec!["buyer"],
        vec!["status", "==", "200", "3", "0", "0"],
        vec!["guest"],
        vec!["status", "==", "200", "0", "3", "0"],
    ];
    assert_eq!(lines, wanted);
}

/// What others sent stays data, wherever in the result it stands.
#[test]
fn the_text_commands_no_terminal() {
    fn taint(value: &mut Value) {
        match value {
            Value::String(text) => text.push_str("\u{1b}[31m\u{9b}2J\u{202e}\r\u{7}"),
            Value::Array(list) => list.iter_mut().for_each(taint),
            Value::Object(map) => map.values_mut().for_each(taint),
            _ => {}
        }
    }
    for run in [run(), failed_setup()] {
        let mut json = serde_json::to_value(document(&run)).expect("JSON");
        taint(&mut json);
        let tainted = serde_json::from_value(json).expect("a result");
        let shown = text(&tainted, &Show { explain: true, ..PLAIN });
        let obeyed = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
        assert!(!shown.chars().any(|c| obeyed(&c)), "{shown:?}");
        assert!(shown.contains("\\x1b[31m"), "{shown}");
    }
}

/// Steady for 30 s: every number has an interval, and the run passes.
#[test]
fn the_text_of_a_steady_run() {
    let (mut totals, mut recording) = (Totals::new(), Recording::unnamed().expect("a file"));
    for second in 0..30 {
        let mut slice = Slice::new(0, second);
        if second == 0 {
            slice.announce(HOME, RowKey::new(RowKind::Request, "user", "GET /"));
        }
        for n in 0..400u64 {
            let spread = (n * 7_919 + u64::from(second) * 104_729) % 1_000;
            slice.record(HOME, &Sample::ok(1_000 + spread));
        }
        assert!(totals.add(&slice));
        recording.append(&slice);
    }
    let meta =
        Meta { plan: "steady".to_owned(), constant_s: Some((0.0, Some(30.0))), ..Meta::default() };
    let mut run =
        Run { meta, elapsed_s: 30.0, finished: true, totals: totals.into(), ..Run::default() };
    run.evaluate(&mut recording).expect("readable");
    golden("report-steady.txt", &text(&document(&run), &PLAIN));
    golden("report-brief-steady.txt", &text(&document(&run), &BRIEF));
}

/// 200 names, and 80 checks.
#[test]
fn the_text_of_many_names() {
    let mut slice = Slice::new(0, 0);
    for n in 0..200 {
        slice.announce(NameId(n), RowKey::new(RowKind::Request, "user", &format!("GET /page/{n}")));
        slice.record(NameId(n), &Sample::ok(1_000 + u64::from(n)));
    }
    for n in 200..280 {
        slice.announce(NameId(n), RowKey::new(RowKind::Check, "user", &format!("check {n}")));
        let result = if n % 40 == 0 { CheckResult::Failed } else { CheckResult::Passed };
        slice.record_check(NameId(n), result);
    }
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    let meta = Meta { plan: "many".to_owned(), ..Meta::default() };
    let run = Run { meta, elapsed_s: 1.0, finished: true, totals: totals.into(), ..Run::default() };
    golden("report-many-names.txt", &text(&document(&run), &PLAIN));
    let brief = text(&document(&run), &BRIEF);
    assert!(brief.lines().count() <= 20, "{brief}");
    golden("report-brief-many-names.txt", &brief);
}

fn machine() -> Machine {
    Machine {
        host: "lab-1".to_owned(),
        os: "Linux version 6.1".to_owned(),
        cpus: 2,
        workers: 1,
        io: "epoll".to_owned(),
        ..Machine::default()
    }
}

const PLAIN: Show = Show { columns: 100, color: false, full: true, explain: false };
/// What is shown unless somebody asks for more.
const BRIEF: Show = Show { full: false, ..PLAIN };

/// Keeps the folder of a run of a new form, see `results_of_earlier_versions_are_readable`.
fn store(folder: &std::path::Path) {
    let stored = format!("{}/tests/stored/{}", env!("CARGO_MANIFEST_DIR"), squall_report::SCHEMA);
    if std::env::var_os("SQUALL_BLESS").is_some() && std::fs::create_dir(&stored).is_ok() {
        for name in ["run.json", "slices.bin", "host.jsonl"] {
            std::fs::copy(folder.join(name), format!("{stored}/{name}")).expect("writable");
        }
    }
}

#[test]
fn a_metric_of_a_monitor_is_of_no_scenario() {
    let mut run = document(&run());
    run.metrics[1].scenario = String::new();
    let shown = text(&run, &PLAIN);
    assert!(shown.contains(" metric      stock: 3.5 (mean 2.833, min -2, max 7)\n"), "{shown}");
}

#[test]
fn the_json() {
    let mut written = Vec::new();
    write_json(&document(&run()), &mut written).expect("a Vec takes everything");
    golden("run.json", &String::from_utf8(written).expect("JSON"));
    let schema = serde_json::to_string_pretty(&run_schema()).expect("JSON");
    golden("run.schema.json", &(schema + "\n"));
}

/// Everything else that a result is written as, but for the page and the interval log, which have tests of their own.
#[test]
fn the_files() {
    let document = document(&run());
    let of = Finished { document: &document, run: None, folder: None };
    for (kind, name) in [
        (FileKind::Csv, "report.csv"),
        (FileKind::Markdown, "report.md"),
        (FileKind::Junit, "report.junit.xml"),
        (FileKind::Github, "report.github.txt"),
        (FileKind::Gitlab, "report.gitlab.json"),
        (FileKind::Openmetrics, "report.openmetrics.txt"),
    ] {
        let bytes = file(kind, of).expect("made of the result alone");
        golden(name, &String::from_utf8(bytes).expect("text"));
    }
    assert!(file(FileKind::Hlog, of).is_err());
    for (kind, name) in FileKind::ALL {
        assert_eq!((FileKind::from_label(name), kind.label()), (Some(kind), name));
    }
}

/// What builds show of a run that was interrupted, or has no end, is not that of one that passed.
#[test]
fn a_run_that_broke_off_says_so_in_every_file() {
    let interrupted = RunDocument {
        interrupted: true,
        outcome: OutcomeDocument { passed: true, ..OutcomeDocument::default() },
        ..document(&run())
    };
    let killed = document(&Run { finished: false, ..run() });
    let kinds = [FileKind::Markdown, FileKind::Junit, FileKind::Github, FileKind::Gitlab];
    for (run, word) in [(interrupted, "interrupted"), (killed, "the run did not finish")] {
        let of = Finished { document: &run, run: None, folder: None };
        for kind in kinds {
            let text = String::from_utf8(file(kind, of).expect("a file")).expect("text");
            assert!(text.contains(word), "{}: {text}", kind.label());
        }
    }
}

/// What the schema requires is what is written, at every depth.
#[test]
fn the_json_has_its_schema() {
    let run = serde_json::to_value(document(&run())).expect("JSON");
    let schema = run_schema();
    conforms(&run, &schema, &schema["$defs"], "run");
}

/// Whether a value is what a schema says, of the kinds of schemas that are used.
fn conforms(value: &Value, schema: &Value, definitions: &Value, at: &str) {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.strip_prefix("#/$defs/").expect("a reference within the schema");
        return conforms(value, &definitions[name], definitions, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let schema = if value.is_null() { &any[1] } else { &any[0] };
        return conforms(value, schema, definitions, at);
    }
    match schema["type"].as_str().expect("a type") {
        "object" => {
            let object = value.as_object().unwrap_or_else(|| panic!("{at}: {value}"));
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(object.contains_key(name.as_str().expect("a name")), "{at}: {name}");
            }
            for (name, value) in object {
                let known = &schema["properties"][name];
                let schema = if known.is_null() { &schema["additionalProperties"] } else { known };
                assert!(!schema.is_null(), "{at}: {name} is not in the schema");
                conforms(value, schema, definitions, &format!("{at}.{name}"));
            }
        }
        "array" => {
            for (index, item) in value.as_array().expect(at).iter().enumerate() {
                let item_schema = match schema["prefixItems"].get(index) {
                    Some(own) => own,
                    None => &schema["items"],
                };
                conforms(item, item_schema, definitions, &format!("{at}[{index}]"));
            }
        }
        "string" => assert!(value.is_string(), "{at}: {value}"),
        "boolean" => assert!(value.is_boolean(), "{at}: {value}"),
        "integer" => assert!(value.is_u64() || value.is_i64(), "{at}: {value}"),
        "number" => assert!(value.is_number(), "{at}: {value}"),
        "null" => assert!(value.is_null(), "{at}: {value}"),
        other => panic!("{at}: unknown type {other}"),
    }
}

#[test]
fn the_live_line() {
    let (run, mut recent) = (run(), Recent::default());
    (0..3).for_each(|second| recent.add(&slice(second)));
    let (errors, recent) = (run.totals.errors(), &recent);
    let line =
        |elapsed_s, length_s| live_line(&Live { elapsed_s, length_s, errors, recent }) + "\n";
    let lines = line(2.0, Some(20.0)) + &line(3.0, None) + &line(25.0, Some(20.0));
    assert!(lines.lines().all(|line| line.chars().count() <= 79), "{lines}");
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
    let example = serde_json::json!({"scenario": "buyer", "name": "GET /", "error": "status", "status": 503, "number": 1});
    folder.log(1, 0, "a \"line\"", example);
    folder.write_result(&document(&run)).expect("writable");
    let path = folder.path();
    let read = |name: &str| std::fs::read_to_string(path.join(name)).expect(name);
    assert_eq!(path.file_name().expect("a name"), "2026-11-20T22-17-03-shop");
    golden("host.jsonl", &read("host.jsonl"));
    golden("log.jsonl", &read("log.jsonl"));
    golden("run.json", &read("run.json"));
    let again = load(path).expect("a run");
    assert_eq!(again, document(&run), "what is read back is what was there");
    // The text is made of run.json alone.
    let alone = load(&path.join("run.json")).expect("a result");
    assert_eq!(text(&alone, &PLAIN), text(&again, &PLAIN));
    store(path);
}
