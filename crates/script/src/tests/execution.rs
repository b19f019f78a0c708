//! `k6/execution`.

use super::{Host, default, once, stage, user};
use crate::engine::Cause;
use crate::{Event, Facts, StageOptions};

fn facts() -> Facts {
    Facts {
        user: 1,
        user_in_test: 12,
        iteration: 3,
        iteration_in_scenario: 2,
        scenario: "buy".into(),
        executor: "constant-vus".into(),
        scenario_start_ms: 1_700_000_000_000.0,
        progress: 0.25,
        scenario_iteration: 30,
        scenario_iteration_in_test: 31,
        iterations_completed: 40,
        iterations_interrupted: 5,
        users_active: 6,
        users_initialized: 7,
        test_run_ms: 0.0,
    }
}

#[test]
fn facts_are_those_of_whoever_runs_the_user() {
    let script = "import exec, { vu, scenario, instance, test } from 'k6/execution';
export default function () {
  return [
    vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario,
    scenario.name, scenario.executor, scenario.startTime, scenario.progress, scenario.iterationInInstance, scenario.iterationInTest,
    instance.iterationsCompleted, instance.iterationsInterrupted, instance.vusActive, instance.vusInitialized,
    instance.currentTestRunDuration,
    exec.vu.idInTest, exec.scenario === scenario, exec.test === test, exec.instance === instance,
    test.options.vus, Object.isFrozen(test.options.nested),
  ];
}";
    let options = Some(r#"{"vus":8,"nested":{}}"#.to_owned());
    let stage = stage(script, &StageOptions { options, ..StageOptions::default() });
    let function = default(&stage, 1);
    let mut host =
        Host { facts: facts(), now: std::time::Duration::from_millis(1500), ..Host::default() };
    let result = host.run(&stage, &function, 0).expect("no error");
    let expected = r#"[1,12,3,2,"buy","constant-vus",1700000000000,0.25,30,31,40,5,6,7,1500,12,true,true,true,8,true]"#;
    assert_eq!(result.as_deref(), Some(expected));
}

#[test]
fn facts_are_known_while_users_run() {
    for (read, said) in [
        (
            "exec.scenario.name",
            "k6/execution knows users, scenarios and the test only while they run",
        ),
        ("exec.test.options", "a function that users run can ask for the options of a k6 test"),
    ] {
        let script = format!("import exec from 'k6/execution'; {read}");
        let stage = stage(&script, &StageOptions::default());
        let thrown = user(&stage, 1).expect_err(read);
        assert!(thrown.message.contains(said), "{read}: {thrown}");
    }
    let script = "import exec from 'k6/execution'; export const own = exec.vu.idInInstance";
    let stage = stage(script, &StageOptions::default());
    let user = user(&stage, 9).expect("no error");
    assert_eq!(stage.json(&user, "own").expect("JSON").as_deref(), Some("9"));
}

#[test]
fn tags_of_a_user_go_with_what_it_tells() {
    let script = "import { check } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const own = new Counter('own');
export default function () {
  if (__ITER === 0) { exec.vu.metrics.tags.stage = 1; exec.vu.tags['kind'] = 'a' }
  own.add(1, { kind: 'mine' });
  check(1, { ok: true });
  const seen = [JSON.stringify(exec.vu.tags), 'stage' in exec.vu.tags, exec.vu.tags.none];
  if (__ITER === 1) { delete exec.vu.tags.stage; exec.vu.tags.kind = true }
  return seen;
}";
    let stage = stage(script, &StageOptions::default());
    let function = default(&stage, 1);
    let mut host = Host::default();
    let mut run = |iteration| {
        host.told.clear();
        let seen = host.run(&stage, &function, iteration).expect("no error").expect("a list");
        let tags = host.told.iter().map(|own| match own {
            Event::Check { tags, .. } | Event::Metric { tags, .. } => tags
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(","),
            other => panic!("{other:?}"),
        });
        (seen, tags.collect::<Vec<_>>())
    };
    let first = r#"["{\"stage\":\"1\",\"kind\":\"a\"}",true,null]"#;
    for iteration in 0..2 {
        let (seen, tags) = run(iteration);
        assert_eq!(
            (seen.as_str(), tags),
            (first, vec!["kind=mine,stage=1".into(), "stage=1,kind=a".into()])
        );
    }
    let (seen, tags) = run(2);
    assert_eq!(seen, r#"["{\"kind\":\"true\"}",false,null]"#);
    assert_eq!(tags, ["kind=mine", "kind=true"]);
    // Another user has none.
    let other = default(&stage, 2);
    host.told.clear();
    let fiber = stage.call(&other, Vec::new()).expect("a stack");
    let numbers = crate::Numbers { user: 2, iteration: 5 };
    let seen = host.finish(&stage, fiber, numbers).expect("no error");
    assert_eq!(seen.as_deref(), Some(r#"["{}",false,null]"#));
}

#[test]
fn tags_are_texts_numbers_and_booleans() {
    super::cases(
        "import exec from 'k6/execution';",
        &[
            (
                "exec.vu.tags.a = {}",
                "TypeError: a tag is a string, a number or a boolean, and a is not",
            ),
            ("exec.vu.tags = 5", "TypeError: tags: expected an object of names and values"),
            (
                "(exec.vu.tags = { b: 1, c: 'x' }, { ...exec.vu.metrics.tags })",
                r#"{"b":"1","c":"x"}"#,
            ),
            ("Object.keys(exec.vu.tags)", r#"["b","c"]"#),
            (
                "(exec.vu.metrics.tags = { d: 1 }, JSON.stringify(exec.vu.tags))",
                r#""{\"d\":\"1\"}""#,
            ),
            ("Object.defineProperty(exec.vu.tags, 'x', {})", "TypeError: a tag is set by its name"),
            ("(exec.vu.metrics.metadata.trace = 7, exec.vu.metrics.metadata)", r#"{"trace":"7"}"#),
            ("(delete exec.vu.metrics.metadata.trace, exec.vu.metrics.metadata)", "{}"),
            (
                "exec.vu.metrics.metadata.a = {}",
                "TypeError: metadata is a string, a number or a boolean, and a is not",
            ),
            ("Object.keys(exec.vu.tags)", r#"["d"]"#),
        ],
    );
}

#[test]
fn an_abort_ends_the_call_and_nothing_catches_it() {
    for abort in [
        "exec.test.abort('why')",
        "[1].forEach(() => exec.test.abort('why'))",
        "(async () => { await null; exec.test.abort('why') })()",
        "(async () => exec.test.abort('why'))()",
        "new Promise(() => exec.test.abort('why'))",
        "new Promise(() => setTimeout(() => exec.test.abort('why'), 5))",
        "JSON.stringify({ toJSON() { exec.test.abort('why') } })",
    ] {
        let script = format!(
            "import exec from 'k6/execution'; import {{ sleep }} from 'k6';
export default async function () {{
  try {{ await {abort} }} catch (e) {{ console.log('caught') }} finally {{ console.log('finally') }}
  sleep(1);
  await new Promise((done) => setTimeout(done, 10));
  console.log('after');
}}"
        );
        let (host, result) = once(&script);
        let thrown = result.expect_err(abort);
        assert_eq!(thrown.cause, Cause::Aborted, "{abort}: {thrown}");
        assert_eq!(host.told, [Event::Abort("why".to_owned())], "{abort}");
    }
    // Where the script begins it ends the same, and whoever begins after it begins as ever.
    let script = "import exec from 'k6/execution';
if (__VU === 1) Promise.resolve().then(() => exec.test.abort('early')).catch(() => {});
export default () => Math.random() < 1";
    let stage = stage(script, &StageOptions::default());
    let thrown = user(&stage, 1).expect_err("an end");
    assert_eq!(
        (thrown.cause, stage.told()),
        (Cause::Aborted, vec![Event::Abort("early".to_owned())])
    );
    let result = Host::default().run(&stage, &default(&stage, 2), 0);
    assert_eq!(result.expect("no error").as_deref(), Some("true"));
    let (host, result) =
        once("import exec from 'k6/execution'; export default function () { exec.test.abort() }");
    assert_eq!(host.told, [Event::Abort("the script gave no reason".to_owned())]);
    let thrown = result.expect_err("an end");
    assert_eq!(thrown.message, "Error: the script has aborted the test: the script gave no reason");
}

#[test]
fn a_test_that_is_to_fail_goes_on() {
    let (host, result) = once(
        "import exec from 'k6/execution'; export default function () { exec.test.fail('bad'); return 1 }",
    );
    assert_eq!(result.expect("no error").as_deref(), Some("1"));
    assert_eq!(host.told, [Event::Fail("bad".to_owned())]);
}
