//! Options of k6 scripts, as the binary keeps them.

use std::path::Path;

use crate::common::{self, target, with_script};

/// Runs a script under `squall k6 run`, with more on the command line: its exit code, and all that it said.
fn run(script: &str, more: &[&str]) -> (i32, String) {
    said(with_script(script).path(), &[&["k6", "run", "-q", "a.js"], more].concat())
}

fn said(folder: &Path, args: &[&str]) -> (i32, String) {
    let (code, out, errors) = common::said(folder, args);
    (code, out + &errors)
}

/// A script whose checks all have to pass, that of `default` with these options.
fn checked(options: &str, body: &str) -> String {
    format!(
        "import http from 'k6/http';
import exec from 'k6/execution';
import {{ check, group }} from 'k6';
export const options = {{ thresholds: {{ checks: ['rate==1', 'rate>0'] }}, {options} }};
export default function () {{
  {body}
}}"
    )
}

/// The script passes all its checks.
fn passes(script: &str, more: &[&str]) {
    let (code, said) = run(script, more);
    assert_eq!(code, 0, "{script}\n{said}");
}

#[test]
fn a_script_knows_the_options_of_its_test() {
    let server = target();
    let body = format!("http.get('{}/');", server.url());
    let body = body
        + "
  const { scenarios, userAgent, rps, batch, vus, setupTimeout } = exec.test.options;
  const own = scenarios.default;
  check(null, {
    scenario: () => own.executor === 'shared-iterations' && own.vus === 2 && own.iterations === 5,
    rest: () => userAgent === 'me' && rps === 1000 && batch === null && vus === undefined && setupTimeout === '1m0s',
    frozen: () => Object.isFrozen(exec.test.options),
  });";
    let script = checked("vus: 3, iterations: 3, userAgent: 'me', rps: 1000", &body);
    passes(&script, &["--vus", "2", "--iterations", "5"]);
    // The other commands tell them, too; without flags they are those of the script.
    let script = script.replace("own.vus === 2 && own.iterations === 5", "own.vus === 3");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.js"), script).expect("writable");
    for line in [&["run", "a.js", "--quiet"][..], &["try", "a.js"]] {
        let (code, said) = said(folder.path(), line);
        assert_eq!(code, 0, "{line:?}: {said}");
    }
}

#[test]
fn requests_go_where_the_options_let_them() {
    let server = target();
    let port = server.url().rsplit(':').next().expect("a port").to_owned();
    let body = format!(
        "const of = (host) => http.get(`http://${{host}}:{port}/`);
  const [name, named, address] = ['a.bad.test', 'a.shop.test', '127.0.0.2'].map(of);
  check(null, {{
    host: () => name.error_code === 1111 && name.status === 0 && name.error.includes('a.bad.test'),
    named: () => named.status === 200,
    address: () => address.error_code === 1110,
    batch: () => http.batch([`http://127.0.0.1:{port}/`, `http://b.bad.test:{port}/`]).map((own) => own.error_code).join() === '0,1111',
  }});"
    );
    let options = "iterations: 1, blockHostnames: ['*.bad.test'], blacklistIPs: ['127.0.0.2/32'], hosts: { '*.shop.test': '127.0.0.1' }";
    passes(&checked(options, &body), &[]);
}

/// Ten requests, six of them of a batch, stand in one line.
#[test]
fn requests_of_all_users_stand_in_one_line() {
    let server = target();
    let url = server.url();
    let body = format!(
        "http.get('{url}/');
  http.batch(['{url}/', '{url}/', '{url}/']);
  http.get('{url}/');"
    );
    let script = format!(
        "import {{ Counter }} from 'k6/metrics';
{}
export function setup() {{ return Date.now() }}
export function teardown(began) {{
  // The first one need not wait.
  if (Date.now() - began < 9 * 20) throw new Error('too fast');
}}",
        checked("vus: 2, iterations: 2, rps: 50, thresholds: { http_reqs: ['count==10'] }", &body)
    );
    let (code, said) = run(&script, &[]);
    assert!(code == 0 && !said.contains("too fast"), "{code}: {said}");
}

#[test]
fn setup_and_teardown_have_their_time() {
    let slow = |phase: &str| {
        format!(
            "import {{ sleep }} from 'k6';
export const options = {{ iterations: 1, {phase}Timeout: '100ms' }};
export function {phase}() {{ sleep(600) }}
export default function () {{}}"
        )
    };
    for (phase, expected) in [("setup", 100), ("teardown", 101)] {
        let (code, said) = run(&slow(phase), &[]);
        assert_eq!(code, expected, "{said}");
        assert!(said.contains(&format!("{phase} failed: it took longer than 100ms")), "{said}");
    }
}

#[test]
fn values_in_a_group_are_judged() {
    let server = target();
    let get = format!("http.get('{}/')", server.url());
    let body = format!("{get}; group('a', () => group('b', () => {{ {get}; {get} }}));");
    // The last one is about what is in no group.
    let options = "iterations: 1, thresholds: { 'http_reqs{group:::a::b}': ['count==2'], 'http_reqs{group:::a}': ['count<1'], 'http_reqs{group:}': ['count==1'] }";
    passes(&checked(options, &body), &[]);
    let options = options.replace("count==2", "count==3");
    assert_eq!(run(&checked(&options, &body), &[]).0, 99);
}

#[test]
fn the_number_of_users_is_judged() {
    let users = |asked: &str, most: &str| {
        let script = format!(
            "import {{ sleep }} from 'k6';
export const options = {{
  vus: 3, duration: '2s',
  thresholds: {{ vus: [{{ threshold: '{asked}', abortOnFail: true }}], vus_max: ['{most}'] }},
}};
export default function () {{ sleep(2) }}"
        );
        run(&script, &[])
    };
    assert_eq!(users("value==3", "value>=3").0, 0);
    assert_eq!(users("value==3", "value>3").0, 99);
    assert_eq!(users("value<3", "value==3").0, 99);
}

/// A script asks what the users of all workers have done so far.
#[test]
fn an_instance_counts_the_users_of_all_workers() {
    let script = checked(
        "scenarios: {
    busy: { executor: 'per-vu-iterations', vus: 4, iterations: 3 },
    last: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'last', startTime: '2s' },
  }",
        "if (exec.vu.iterationInScenario === 2) sleep(4);",
    )
    .replace("from 'k6';", "from 'k6';\nimport { sleep } from 'k6';")
        + "
export function last() {
  const { vusActive, vusInitialized, iterationsCompleted, iterationsInterrupted } = exec.instance;
  check(null, {
    active: () => vusActive === 5,
    initialized: () => vusInitialized === 5,
    completed: () => iterationsCompleted === 8 && iterationsInterrupted === 0,
  });
}";
    passes(&script, &[]);
}

/// Each scenario has a time of its own for the iterations that go on at its end.
#[test]
fn iterations_of_a_scenario_end_with_its_graceful_stop() {
    let script = "import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const done = new Counter('done');
const own = (gracefulStop) => ({ executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop });
export const options = {
  scenarios: { cut: own('0s'), whole: own('60s') },
  thresholds: { done: ['count==1'], 'done{scenario:whole}': ['count==1'] },
};
export default function () { sleep(3); done.add(1) }";
    passes(script, &[]);
}

/// A user that a stage takes away finishes its iteration, or not, as its scenario says.
#[test]
fn iterations_of_users_that_leave_end_with_the_graceful_ramp_down() {
    let script = "import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const done = new Counter('done');
const stages = [{ duration: '1s', target: 1 }, { duration: 0, target: 0 }, { duration: '4s', target: 0 }];
const own = (gracefulRampDown) => ({ executor: 'ramping-vus', startVUs: 1, stages, gracefulRampDown });
export const options = {
  scenarios: { cut: own('0s'), whole: own() },
  thresholds: { done: ['count==1'], 'done{scenario:whole}': ['count==1'] },
};
export default function () { sleep(3); done.add(1) }";
    passes(script, &[]);
}
