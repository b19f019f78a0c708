//! What users of scripts do, on virtual time and without a network.

use std::time::Duration;

use squall_metrics::{MetricKind, RowKind};

use crate::testing::{Bench, Handed, S, scenario};

/// A worker whose users call the default function of a script, and what else its plan says.
fn bench(load: &str, script: &str, steps: &str, more: &str) -> (Bench, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.js");
    std::fs::write(&file, script).expect("a file");
    let steps = steps.replace("FILE", &file.display().to_string());
    (Bench::new(scenario(load, &steps, more)), folder)
}

const CALL: &str = "{script: {file: FILE}}";

/// The same, run up to a time.
fn run(load: &str, script: &str, steps: &str, until: u64) -> Handed {
    let (bench, _folder) = bench(load, script, steps, "on_error: continue");
    bench.run_to(until);
    bench.finish()
}

/// How many checks of a name passed and failed.
fn checks(handed: &Handed, name: &str) -> (u64, u64) {
    let all = handed.totals.checks();
    let own = all.into_iter().find(|(key, _)| key.name == name);
    own.map(|(_, stats)| (stats.passed, stats.failed)).unwrap_or_default()
}

/// The values of a metric: how many, and their sum in thousandths where it is a counter.
fn metric(handed: &Handed, name: &str) -> Option<(MetricKind, u64)> {
    let mut all = handed.totals.metrics();
    let (key, stats) = all.find(|(key, _)| key.name == name)?;
    Some((key.kind, stats.count))
}

#[test]
fn what_a_script_tells_counts_like_what_steps_do() {
    let script = "
import { check, group, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const bought = new Counter('bought'), took = new Trend('took');
export default function () {
  group('outer', () => {
    sleep(1);
    group('inner', () => { sleep(0.5); check(3, { 'is small': (n) => n < 3, 'is odd': (n) => n % 2 }); });
  });
  bought.add(2); took.add(7);
}";
    let handed = run("users: 2, iterations: 3", script, CALL, 20 * S);
    assert_eq!(handed.spans(RowKind::Group, "outer"), (6, 0, 0));
    assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (6, 0, 0));
    let inner = handed.totals.of_kind(RowKind::Group).find(|(key, _)| key.name == "inner");
    let (key, stats) = inner.expect("a row");
    assert_eq!((key.place.group.as_slice(), stats.count), (["outer".to_owned()].as_slice(), 6));
    assert_eq!((checks(&handed, "is small"), checks(&handed, "is odd")), ((0, 6), (6, 0)));
    for (name, expected) in [
        ("bought", (MetricKind::Counter, 6)),
        ("took", (MetricKind::Trend, 6)),
        ("checks", (MetricKind::Rate, 12)),
        ("group_duration", (MetricKind::Trend, 12)),
        ("iteration_duration", (MetricKind::Trend, 6)),
        ("iterations", (MetricKind::Counter, 6)),
    ] {
        assert_eq!(metric(&handed, name), Some(expected), "{name}");
    }
    assert_eq!(metric(&handed, "http_reqs"), None, "nothing was requested");
}

#[test]
fn each_user_has_what_stands_at_the_top_level_for_itself() {
    let script = "
let passes = 0;
export default function () { passes += 1; console.log(`${__VU}: ${passes}`); }";
    let mut handed = run("users: 2, iterations: 2", script, CALL, 5 * S);
    handed.log.sort();
    assert_eq!(handed.log, ["1: 1", "1: 2", "2: 1", "2: 2"]);
}

/// A user that only computes gives way to others long before it is done: meanwhile its worker reads responses.
#[test]
fn users_who_compute_take_turns() {
    let script = "
import { sleep } from 'k6';
export default function () {
  for (let pass = 1; pass <= 100; pass++) { sleep(0); if (pass % 50 === 0) console.log(`${__VU}: ${pass}`); }
}";
    let mut handed = run("users: 2, iterations: 1", script, CALL, 5 * S);
    // Who comes first is nobody's concern.
    handed.log[..2].sort();
    handed.log[2..].sort();
    assert_eq!(handed.log, ["1: 50", "2: 50", "1: 100", "2: 100"]);
}

#[test]
fn an_exception_ends_the_iteration_of_its_user_alone() {
    let script = "
import { group, sleep } from 'k6';
export default function () {
  group('g', () => {
    sleep(1);
    if (__VU === 1) {
      null.x;
    }
  });
}";
    let expected: [(&str, [u64; 4]); 3] = [
        // Groups and iterations that ended, and how many of these failed.
        ("continue", [4, 0, 4, 2]),
        ("next_iteration", [4, 0, 4, 2]),
        ("stop_user", [3, 0, 2, 0]),
    ];
    for (on_error, outcome) in expected {
        let more = format!("on_error: {on_error}");
        let (bench, _folder) = bench("users: 2, iterations: 2", script, CALL, &more);
        bench.run_to(10 * S);
        let handed = bench.finish();
        let (groups, iterations) =
            (handed.spans(RowKind::Group, "g"), handed.spans(RowKind::Iteration, "iteration"));
        let seen = [groups.0, groups.1, iterations.0, iterations.1];
        assert_eq!(seen, outcome, "{on_error}");
        let line = handed.log.first().expect("a line");
        assert!(line.starts_with("iteration: script: TypeError: "), "{line}");
        assert!(line.contains("own.js:7:"), "{line}");
    }
}

#[test]
fn the_end_of_the_run_cuts_off_users_that_sleep() {
    let script = "
import { group, sleep } from 'k6';
export default function () {
  try { group('g', () => sleep(60)); } finally { console.log('never'); }
}";
    let (bench, _folder) = bench("users: 3, for: 1h", script, CALL, "on_error: continue");
    bench.run_to(3 * S);
    bench.worker.stop_run(Duration::ZERO);
    bench.run_to(4 * S);
    let handed = bench.finish();
    assert_eq!(handed.spans(RowKind::Group, "g"), (0, 0, 3));
    assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (0, 0, 3));
    assert_eq!(handed.log, Vec::<String>::new());
    assert_eq!(metric(&handed, "iterations"), None);
}

#[test]
fn a_script_may_end_the_run() {
    let script = "
import exec from 'k6/execution';
export default function () { exec.test.abort('enough'); }";
    let (bench, _folder) = bench("users: 1, for: 1h", script, CALL, "on_error: continue");
    bench.run_to(S);
    let handed = bench.finish();
    assert!(handed.stop_asked.is_some());
    assert!(handed.log[0].contains("the script has ended the run: "), "{:?}", handed.log);
    assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (0, 0, 1));
}

#[test]
fn arguments_and_what_is_returned_keep_their_types() {
    let script = "
export function own(name, all, text) {
  return { kinds: [typeof name, typeof all.n, typeof text], sum: all.n + 1, env: __ENV.PLACE };
}";
    let steps = "
{set: {all: {n: 4}}},
{script: {file: FILE, call: own, args: [x, '${all}', 'n=${all.n}'], env: {PLACE: here},
          returns: {kinds: $.kinds, sum: $.sum, whole: $}}},
{log: '${kinds[0]} ${kinds[1]} ${kinds[2]} ${sum + 1} ${whole.env}'}";
    let handed = run("users: 1, iterations: 1", script, steps, S);
    assert_eq!(handed.log, ["string number string 6 here"]);
}

#[test]
fn users_with_another_environment_have_an_instance_of_their_own_in_the_same_realm() {
    let script = "
import { Counter } from 'k6/metrics';
const all = new Counter('all'), own = __ENV.KIND === 'b' ? new Counter('own') : null;
let calls = 0;
export default function () { all.add(1); own?.add(1); calls += 1; return `${__ENV.KIND}${calls}`; }";
    let call = |kind: &str, variable: &str| {
        format!("{{script: {{file: FILE, env: {{KIND: {kind}}}, returns: {{{variable}: $}}}}}}")
    };
    let steps = format!(
        "{}, {}, {}, {{log: '${{x}} ${{y}} ${{z}}'}}",
        call("a", "x"),
        call("b", "y"),
        call("a", "z")
    );
    let (bench, _folder) = bench("users: 1, iterations: 1", script, &steps, "on_error: continue");
    assert_eq!(bench.worker.program.scripts.len(), 1);
    bench.run_to(S);
    let handed = bench.finish();
    assert_eq!(handed.log, ["a1 b1 a2"]);
    let counted = ["all", "own"].map(|name| metric(&handed, name));
    assert_eq!(counted, [Some((MetricKind::Counter, 3)), Some((MetricKind::Counter, 1))]);
}

#[test]
fn a_value_that_is_not_returned_is_an_error_of_its_expression() {
    let script = "export default function () { return { a: 1 }; }";
    let steps = "{script: {file: FILE, returns: {b: $.b}}}";
    let handed = run("users: 1, iterations: 1", script, steps, S);
    assert_eq!(handed.totals.counters().expressions_failed, 1);
    assert_eq!(handed.log, ["scenario a: b: the function returned nothing at $.b"]);
}

#[test]
fn a_sleep_takes_no_longer_than_it_says() {
    let script = "
import { sleep } from 'k6';
export default function () { sleep(0.25); sleep(0); }";
    let handed = run("users: 1, for: 2s", script, CALL, 10 * S);
    let done: u64 = handed.slices.iter().map(|slice| slice.counters.iterations_done).sum();
    assert!((7..=8).contains(&done), "{done}");
}

/// No request may go anywhere here: each is a sample that was not sent.
#[test]
fn requests_are_samples_where_the_script_makes_them() {
    let script = "
import http from 'k6/http';
import { group } from 'k6';
export default function () {
  group('g', () => {
    const own = http.get('http://other.test/a', { tags: { name: 'one' } });
    console.log(`${own.status} ${own.error_code}`);
  });
  const all = http.batch(['http://a.test/1', 'http://b.test/2', 'http://a.test/3']);
  console.log(all.map((own) => own.url).join(' '));
}";
    let handed = run("users: 2, iterations: 1", script, CALL, 5 * S);
    assert_eq!(handed.failed("one"), 2);
    assert_eq!(handed.failed("http://b.test/2"), 2);
    let one = handed.totals.of_kind(RowKind::Request).find(|(key, _)| key.name == "one");
    assert_eq!(one.expect("a row").0.place.group, ["g"]);
    assert_eq!(handed.spans(RowKind::Group, "g"), (2, 2, 0), "what fails in it fails it");
    let told = |line: &str| handed.log.iter().filter(|own| *own == line).count();
    assert_eq!(told("0 1111"), 2, "{:?}", handed.log);
    assert_eq!(told("http://a.test/1 http://b.test/2 http://a.test/3"), 2, "{:?}", handed.log);
    assert_eq!(metric(&handed, "http_reqs"), Some((MetricKind::Counter, 8)));
    assert_eq!(metric(&handed, "http_req_failed"), Some((MetricKind::Rate, 8)));
}

#[test]
fn a_request_that_fails_ends_the_iteration_where_on_error_says_so() {
    let script = "
import http from 'k6/http';
import { sleep } from 'k6';
export default function () {
  http.get('http://other.test/a');
  console.log('after');
  sleep(1);
}";
    for (on_error, after) in [("continue", 2), ("next_iteration", 0), ("stop_user", 0)] {
        let more = format!("on_error: {on_error}");
        let (bench, _folder) = bench("users: 1, iterations: 2", script, CALL, &more);
        bench.run_to(5 * S);
        let handed = bench.finish();
        let told = handed.log.iter().filter(|line| *line == "after").count();
        assert_eq!(told, after, "{on_error}");
    }
}

#[test]
fn a_user_keeps_the_cookies_that_its_script_sets() {
    let script = "
import http from 'k6/http';
export default function () {
  const jar = http.cookieJar();
  console.log(JSON.stringify(jar.cookiesForURL('http://a.test/x')));
  jar.set('http://a.test/', 'a', String(__VU));
}";
    let mut handed = run("users: 2, iterations: 2", script, CALL, 5 * S);
    handed.log.sort();
    assert_eq!(handed.log, [r#"{"a":["1"]}"#, r#"{"a":["2"]}"#, "{}", "{}"]);
}
