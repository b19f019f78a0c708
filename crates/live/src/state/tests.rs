//! A made-up run, which the tests of this crate look at.

use std::sync::Arc;

use squall_engine::ErrorExample;
use squall_metrics::{
    CheckResult, ErrorKind, Level, MetricKey, MetricKind, MetricStats, NameId, RowKey, RowKind,
    Sample, ScenarioLoad, Slice,
};
use squall_plan::yaml::load_str;
use squall_runner::{MergedLoad, Row};

use super::rows::MAX_ROWS;
use super::*;

/// Two loads: 200 virtual users, and 1,000 arrivals a second.
const MIXED: &str = "
target: http://shop.test
scenarios:
  buyer: {load: {users: 200, ramp: 10s, for: 5m}, steps: [{get: /}]}
  guest: {load: {rate: 1000/s, for: 5m}, steps: [{get: /}]}
";

/// A run of a plan whose load began a second ago after a second.
fn running(text: &str, length_s: Option<f64>) -> LiveState {
    with_thresholds(text, length_s, &["p99 < 300ms", "error_rate < 0.1%"])
}

/// The same with other thresholds.
fn with_thresholds(text: &str, length_s: Option<f64>, thresholds: &[&str]) -> LiveState {
    let plan = load_str("shop", text, "".as_ref(), &Default::default()).expect("a plan").plan;
    let meta = Meta {
        plan: "shop.yaml".to_owned(),
        target: Some("http://shop.test".to_owned()),
        thresholds: thresholds.iter().map(|text| (*text).to_owned()).collect(),
        ..Meta::default()
    };
    let mut state = LiveState::of(&meta, &plan, length_s);
    happen(&mut state, 1.0, EventKind::PhaseBegan(Phase::Load));
    state
}

/// Something happens at a time.
pub fn happen(state: &mut LiveState, at_s: f64, kind: EventKind) {
    state.now_s = state.now_s.max(at_s);
    state.event(&Event { at_s, kind });
}

pub fn pause(state: &mut LiveState) {
    happen(state, state.now_s, EventKind::Paused);
}

pub fn resume(state: &mut LiveState) {
    happen(state, state.now_s, EventKind::Resumed);
}

/// What the made-up workers do in a second.
#[derive(Clone, Copy)]
pub struct Doing {
    /// Requests of each name.
    pub requests: u64,
    /// Errors among those of the second name.
    pub errors: u64,
    /// Latency of the first name, in µs; the others are slower.
    pub latency_us: u64,
    pub dropped: u64,
    pub users: u64,
}

pub const WELL: Doing =
    Doing { requests: 1_000, errors: 0, latency_us: 4_000, dropped: 0, users: 260 };

const NAMES: [&str; 3] = ["GET /", "login", "pay \x1b[31mred"];

fn key(number: usize) -> RowKey {
    match number {
        0..3 => RowKey::new(RowKind::Request, ["buyer", "buyer", "guest"][number], NAMES[number]),
        3 => RowKey::new(RowKind::Iteration, "buyer", "iteration"),
        4 => RowKey::new(RowKind::Iteration, "guest", "iteration"),
        _ => RowKey::new(RowKind::Check, "buyer", "status == 200"),
    }
}

/// The load of the two scenarios: users of the first, up to 200, and of the second what is left; of the second 1,000
/// arrivals or, where fewer requests were made, as many.
fn load_of(doing: Doing) -> MergedLoad {
    let own = |users, iterations_started| ScenarioLoad {
        users,
        in_flight: Level { most: users / 2, at_end: 0 },
        iterations_started,
        arrivals_dropped: 0,
    };
    let buyers = doing.users.min(200);
    let guests = own(doing.users - buyers, doing.requests - doing.dropped.min(doing.requests));
    MergedLoad {
        in_flight: Level { most: doing.users / 2, at_end: 0 },
        scenarios: [
            ("buyer".to_owned(), own(buyers, doing.requests)),
            ("guest".to_owned(), guests),
        ]
        .into(),
    }
}

/// What the plan and a monitor record in a second.
fn metrics(doing: Doing) -> Vec<(Arc<MetricKey>, MetricStats)> {
    let tag = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let all = [
        (MetricKind::Counter, "buyer", "bought", tag("country", "at"), doing.requests as f64),
        (MetricKind::Gauge, "", "cpu", tag("host", "db\x1b1"), doing.latency_us as f64 / 1e5),
        (MetricKind::Trend, "buyer", "render", Vec::new(), doing.latency_us as f64 / 1e3),
    ];
    let recorded = all.map(|(kind, scenario, name, tags, value)| {
        let mut stats = MetricStats::default();
        stats.record(kind, value, 0).expect("a value");
        (Arc::new(MetricKey::new(kind, scenario, name, tags)), stats)
    });
    recorded.into()
}

/// A second of the load is over, as the runner tells of it.
pub fn pass(state: &mut LiveState, number: u32, doing: Doing) {
    let mut slice = Slice::new(0, number);
    if number == 0 {
        (0..6).for_each(|id| slice.announce(NameId(id as u32), key(id)));
    }
    for name in 0..3u32 {
        for request in 0..doing.requests {
            // A tail: one in a hundred takes ten times as long.
            let factor = if request % 100 == 99 { 10 } else { 1 };
            let latency = (doing.latency_us + request % 50) * u64::from(name + 1) * factor;
            let failed = name == 1 && request < doing.errors;
            let error = failed.then_some(ErrorKind::Status);
            let status = if failed { 503 } else { 200 };
            slice.record(NameId(name), &Sample { error, status, ..Sample::ok(latency) });
        }
    }
    for _ in 0..doing.requests {
        slice.record_span(NameId(3), 20_000_000, false);
        slice.record_span(NameId(4), 20_000_000, false);
        slice.record_check(NameId(5), CheckResult::Passed);
    }
    (0..doing.errors).for_each(|_| slice.record_check(NameId(5), CheckResult::Failed));
    slice.counters.users_active = doing.users;
    slice.counters.iterations_started = doing.requests;
    slice.counters.arrivals_due = 1_000;
    slice.counters.arrivals_dropped = doing.dropped;
    slice.self_metrics.cpu_ns = 310_000_000;
    let load = load_of(doing);
    slice.self_metrics.send_delay.record(90);
    let keys: Vec<Arc<RowKey>> = (0..6).map(|id| Arc::new(key(id))).collect();
    let rows = slice
        .rows()
        .map(|(id, stats)| Row { key: keys[id.0 as usize].clone(), stats: stats.clone() });
    let second = Second {
        second: number,
        rows: rows.collect(),
        checks: slice.checks().map(|(id, own)| (keys[id.0 as usize].clone(), own)).collect(),
        counters: slice.counters,
        load,
        self_metrics: slice.self_metrics.clone(),
        metrics: metrics(doing),
        host: vec![(
            f64::from(number),
            HostSample {
                rss_bytes: 40 << 20,
                open_files: 280,
                open_files_limit: 1_024,
                ..HostSample::default()
            },
        )],
        slices: vec![slice],
    };
    state.now_s = state.now_s.max(f64::from(number) + 2.0);
    state.second(&second);
}

/// What goes wrong in the made-up run.
fn fail(state: &mut LiveState, at_s: f64) {
    let kind = ErrorKind::Status;
    let key = Arc::new(key(1));
    happen(state, at_s, EventKind::FirstError { key, kind: kind.label() });
    let (scenario, name) = ("buyer".to_owned(), "login".to_owned());
    let example =
        ErrorExample { scenario, name, kind, status: 503, number: 1, excerpt: String::new() };
    let text = "login: POST http://shop.test/login: HTTP 503: \x1b]0;owned\x07 sorry".to_owned();
    let log =
        EventKind::Log { phase: Phase::Load, worker: 0, second: 12, text, example: Some(example) };
    happen(state, at_s, log);
}

/// Half a minute of two loads, all well.
pub fn mixed() -> LiveState {
    let mut state = running(MIXED, Some(300.0));
    (0..30).for_each(|number| {
        let wave = u64::from(number % 7) * 300;
        pass(&mut state, number, Doing { latency_us: 4_000 + wave, ..WELL });
    });
    state
}

/// The same, and then errors.
pub fn failing() -> LiveState {
    let mut state = mixed();
    happen(&mut state, 31.0, EventKind::Warning("plan.yaml:3: this may not be meant\n".to_owned()));
    fail(&mut state, 31.5);
    (30..41).for_each(|number| {
        pass(&mut state, number, Doing { errors: 40, dropped: 25, latency_us: 31_000, ..WELL });
    });
    state
}

#[test]
fn a_run_that_goes_well_is_answered_with_yes() {
    let state = mixed();
    let answers = state.answers();
    let words = answers.each_ref().map(|answer| answer.word.as_str());
    assert_eq!(words, ["yes", "yes", "yes"], "{answers:#?}");
    assert_eq!((state.load_s(), state.loads[0].done, state.loads[1].done), (30.0, 30_000, 30_000));
    let [buyer, guest] = [0, 1].map(|load: usize| state.loads[load].planned(30.0));
    assert_eq!((buyer, guest), (200.0, 1_000.0));
}

#[test]
fn errors_are_counted_by_name_and_kind_with_one_example() {
    let mut state = failing();
    fail(&mut state, 32.0);
    let [problem] = state.problems.all() else { panic!("{:?}", state.problems) };
    assert_eq!((problem.count, problem.lately, problem.seen), (11 * 40, 40, Some((30, 40))));
    let example = problem.example.as_deref().expect("an example");
    assert!(example.contains("HTTP 503") && !example.contains('\x1b'), "{example}");
    let [planned, target, _] = state.answers();
    assert_eq!((planned.mood, target.mood), (Mood::Bad, Mood::Bad));
    assert!(planned.detail.contains("25.0/s dropped"), "{}", planned.detail);
    let failing = "error_rate 0.36% > 0.1%, last second 1.33%, 1.33% errors now";
    assert!(target.detail.starts_with(failing), "{}", target.detail);
    assert!(state.thresholds.iter().any(|own| !own.passed));
    // They are over, and not forgotten.
    (41..50).for_each(|number| pass(&mut state, number, WELL));
    assert_eq!(state.problems.all()[0].lately, 0);
}

#[test]
fn a_pause_moves_what_is_planned() {
    let mut state = mixed();
    happen(&mut state, 31.0, EventKind::Paused);
    state.now_s = 41.0;
    assert_eq!((state.load_s(), state.stood_still_s(), state.is_paused()), (30.0, 10.0, true));
    assert_eq!(state.answers()[0].word, "paused");
    pass(&mut state, 30, Doing { requests: 0, ..WELL });
    assert_eq!(state.history.last().map(|point| point.planned_arrivals), Some(0.0));
    happen(&mut state, 41.0, EventKind::Resumed);
    state.now_s = 46.0;
    assert_eq!((state.load_s(), state.stood_still_s()), (35.0, 10.0));
}

/// Four seconds of a load that another one waits for.
pub fn awaiting() -> LiveState {
    let plan = "target: http://a.test\nscenarios:\n  buyer: {load: {users: 200, for: 1m}, steps: [{get: /}]}\n  \
                guest: {after: [buyer], load: {rate: 1000/s, for: 1m}, steps: [{get: /}]}\n";
    let mut state = running(plan, None);
    let alone = Doing { requests: 0, users: 200, ..WELL };
    (0..4).for_each(|number| pass(&mut state, number, alone));
    state
}

#[test]
fn a_load_that_comes_after_others_is_planned_from_its_first_user_on() {
    let mut state = awaiting();
    let seen = |state: &LiveState| {
        let last = *state.history.last().expect("a second");
        let names = state.awaited(false).join(", ");
        (last.planned_users, last.planned_arrivals, names, state.answers()[0].word.clone())
    };
    assert_eq!(seen(&state), (200.0, 0.0, "guest".to_owned(), "yes".to_owned()));
    pass(&mut state, 4, WELL);
    assert_eq!(seen(&state).1, 500.0, "it began within the second");
    let few = Doing { requests: 100, ..WELL };
    (5..8).for_each(|number| pass(&mut state, number, few));
    assert_eq!(seen(&state), (200.0, 1_000.0, String::new(), "no".to_owned()));
}

#[test]
fn a_change_of_the_load_is_what_is_planned_from_then_on() {
    let mut state = mixed();
    state.scaled("guest", 500.0);
    pass(&mut state, 31, WELL);
    let planned = state.history.last().map(|point| point.planned_arrivals);
    assert_eq!(planned, Some(500.0));
    assert_eq!(state.loads[1].planned(10.0), 1_000.0, "before, it was as it was");
}

#[test]
fn arrivals_that_do_not_begin_are_seen_without_any_dropped() {
    let plan = "target: http://a.test\nscenarios:\n  guest: {load: {rate: 1000/s, for: 1m}, steps: [{get: /}]}\n";
    let mut state = running(plan, Some(60.0));
    (0..10).for_each(|number| pass(&mut state, number, Doing { requests: 800, ..WELL }));
    let [planned, ..] = state.answers();
    assert_eq!((planned.word.as_str(), planned.mood), ("no", Mood::Bad), "{}", planned.detail);
    assert!(planned.detail.starts_with("800/s of 1,000/s arrivals"), "{}", planned.detail);
}

#[test]
fn names_that_are_too_many_are_counted_and_not_shown() {
    let mut state = running(MIXED, None);
    let mut slice = Slice::new(0, 0);
    let key = |number: u32| RowKey::new(RowKind::Request, "buyer", &format!("/{number}"));
    let number = MAX_ROWS as u32 + 5;
    (0..number).for_each(|id| {
        slice.announce(NameId(id), key(id));
        slice.record(NameId(id), &Sample::ok(5));
    });
    let rows =
        slice.rows().map(|(id, stats)| Row { key: Arc::new(key(id.0)), stats: stats.clone() });
    let second = Second {
        second: 0,
        rows: rows.collect(),
        counters: slice.counters,
        self_metrics: slice.self_metrics.clone(),
        slices: vec![slice],
        ..Second::default()
    };
    state.second(&second);
    assert_eq!((state.rows.all().len(), state.rows.left_out()), (MAX_ROWS, 5));
}

#[test]
fn the_second_of_a_change_is_not_held_against_the_plan() {
    let plan = "target: http://a.test\nscenarios:\n  guest: {load: {rate: 1000/s, for: 1m}, steps: [{get: /}]}\n";
    let mut state = running(plan, Some(60.0));
    (0..10).for_each(|number| pass(&mut state, number, WELL));
    state.now_s = 11.5;
    state.scaled("guest", 2_000.0);
    pass(&mut state, 10, Doing { requests: 1_500, ..WELL });
    (11..13).for_each(|number| pass(&mut state, number, Doing { requests: 2_000, ..WELL }));
    assert_eq!(state.answers()[0].word, "yes", "{:?}", state.answers()[0]);
}

#[test]
fn the_conclusion_names_the_thresholds_that_fail() {
    let mut state = mixed();
    let slow = Doing { latency_us: 400_000, ..WELL };
    (30..41).for_each(|number| pass(&mut state, number, slow));
    (41..46).for_each(|number| pass(&mut state, number, WELL));
    let conclusion = state.conclusion();
    assert!(conclusion.word.starts_with("1 threshold failing: p99 "), "{}", conclusion.word);
    assert!(conclusion.word.contains(" > 300 ms, last second "), "{}", conclusion.word);
    // The last second alone passes.
    assert!(!state.thresholds[0].passed && state.last_second[0].passed);
}

#[test]
fn a_moving_window_is_not_judged_before_the_first_one_is_over() {
    let mut state = with_thresholds(MIXED, Some(300.0), &["p95 < 300ms over 10s"]);
    (0..6).for_each(|number| pass(&mut state, number, WELL));
    assert_eq!((state.thresholds[0].passed, state.thresholds[0].value), (false, None));
    assert_eq!(state.standing(&state.thresholds[0]), Standing::NotYet);
    assert_eq!((state.failing_thresholds().len(), state.last_second.len()), (0, 0));
    let target = state.answers()[1].clone();
    assert_eq!(target.word, "yes");
    assert!(target.detail.ends_with("1 threshold has no value yet"), "{}", target.detail);
    let conclusion = state.conclusion();
    assert!(!conclusion.word.contains("threshold"), "{}", conclusion.word);
    let slow = Doing { latency_us: 400_000, ..WELL };
    (6..11).for_each(|number| pass(&mut state, number, slow));
    let failing = state.failing_thresholds().join("; ");
    assert!(failing.starts_with("p95 "), "{failing}");
    assert!(failing.contains(" > 300 ms over 10s (seconds "), "{failing}");
}

#[test]
fn a_moving_window_without_a_value_has_failed_when_the_load_is_over() {
    let mut state = with_thresholds(MIXED, Some(6.0), &["p95 < 300ms over 10s"]);
    (0..6).for_each(|number| pass(&mut state, number, WELL));
    let ended = EventKind::PhaseEnded { phase: Phase::Load, failed: None };
    happen(&mut state, 7.0, ended);
    assert_eq!(state.standing(&state.thresholds[0]), Standing::Fails);
}

#[test]
fn a_threshold_that_passes_is_said_in_the_singular() {
    let mut state = with_thresholds(MIXED, Some(300.0), &["p99 < 300ms"]);
    pass(&mut state, 0, WELL);
    let target = state.answers()[1].clone();
    assert!(target.detail.ends_with("1 threshold passes so far"), "{}", target.detail);
}

/// A second of a name whose requests could not be sent, but for so many.
fn unsent(state: &mut LiveState, number: u32, sent: u64) {
    let mut slice = Slice::new(0, number);
    if number == 0 {
        slice.announce(NameId(0), key(0));
    }
    let failed =
        Sample { complete: false, status: 0, error: Some(ErrorKind::Variable), ..Sample::ok(5) };
    (0..20).for_each(|_| slice.record(NameId(0), &failed));
    (0..sent).for_each(|_| slice.record(NameId(0), &Sample::ok(5_000)));
    let rows = slice.rows().map(|(_, own)| Row { key: Arc::new(key(0)), stats: own.clone() });
    let second = Second {
        second: number,
        rows: rows.collect(),
        counters: slice.counters,
        load: load_of(WELL),
        self_metrics: slice.self_metrics.clone(),
        slices: vec![slice],
        ..Second::default()
    };
    state.now_s = state.now_s.max(f64::from(number) + 2.0);
    state.second(&second);
}

#[test]
fn requests_that_could_not_be_sent_are_not_errors_of_the_target() {
    let mut state = with_thresholds(MIXED, Some(300.0), &[]);
    unsent(&mut state, 0, 0);
    assert_eq!((state.problems.total(), state.problems.not_sent()), (0, 20));
    let [planned, target, _] = state.answers();
    assert_eq!((planned.word.as_str(), target.word.as_str()), ("in part", "not yet"));
    assert!(planned.detail.starts_with("20 requests could not be sent, "), "{}", planned.detail);
    let conclusion = state.conclusion();
    let found = (conclusion.mood, conclusion.word.as_str());
    assert_eq!(found, (Mood::Bad, "20 requests could not be sent"));
    unsent(&mut state, 1, 10);
    assert_eq!(state.answers()[1].word, "yes");
    assert_eq!(state.conclusion().mood, Mood::Doubtful);
    assert_eq!(state.problems.all()[0].count, 40, "why is among the kinds");
}

#[test]
fn a_single_url_is_said_once() {
    let mut state = mixed();
    assert_eq!(state.target_beside_plan(), Some("http://shop.test"));
    state.plan = "http://shop.test/page".to_owned();
    assert_eq!(state.target_beside_plan(), None);
}

#[test]
fn a_second_without_a_response_has_no_latency() {
    let mut state = running(MIXED, Some(60.0));
    let all_dropped = Doing { requests: 1, ..WELL };
    pass(&mut state, 0, all_dropped);
    assert!(state.answers()[1].detail.contains("p50"));
    pass(&mut state, 1, Doing { requests: 0, ..WELL });
    assert!(!state.answers()[1].detail.contains("p50"), "{}", state.answers()[1].detail);
}

#[test]
fn the_conclusion_says_who_is_the_limit() {
    let mut state = mixed();
    assert_eq!(state.conclusion().word, "No bottleneck found");
    pass(&mut state, 30, Doing { dropped: 400, ..WELL });
    assert_eq!(state.conclusion().word, "The target is the limit");
    (31..40).for_each(|number| pass(&mut state, number, Doing { errors: 9, ..WELL }));
    assert_eq!(state.conclusion().word, "Requests fail: 0.3% errors now");
    (40..48).for_each(|number| pass(&mut state, number, WELL));
    assert_eq!(state.conclusion().word, "The target had errors");
    pause(&mut state);
    assert_eq!(state.conclusion().word, "The load was paused manually");
    state.reasons = vec![Reason {
        rule: "starved",
        effect: None,
        weight: squall_analysis::Validity::Questionable,
        observed: "workers waited for a CPU".to_owned(),
        advice: String::new(),
        nodes: Vec::new(),
    }];
    let conclusion = state.conclusion();
    assert_eq!(conclusion.word, "The generator may be the limit");
    assert!(conclusion.text.ends_with("workers waited for a CPU."), "{}", conclusion.text);
}
