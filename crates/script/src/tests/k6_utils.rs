//! `https://jslib.k6.io/k6-utils`.

use std::time::Duration;

use super::{Host, cases, default, once, stage};
use crate::{Event, Facts, StageOptions};

const IMPORTS: &str = "import { randomIntBetween, randomItem, randomString, uuidv4, findBetween, parseDuration, normalDistributionStages, check } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
const many = (own) => Array.from({ length: 500 }, own);";

#[test]
fn functions_of_values() {
    cases(
        IMPORTS,
        &[
            (
                "[...new Set(many(() => randomIntBetween(-1, 2)))].sort((a, b) => a - b)",
                "[-1,0,1,2]",
            ),
            ("[...new Set(many(() => randomItem(['a', 'b', 'c'])))].sort()", r#"["a","b","c"]"#),
            ("randomString(12).length", "12"),
            ("/^[a-z]{40}$/.test(randomString(40))", "true"),
            ("[...new Set(randomString(200, 'xy'))].sort()", r#"["x","y"]"#),
            ("randomString(0)", "\"\""),
            (
                "many(() => uuidv4()).every((own) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(own))",
                "true",
            ),
            ("uuidv4(true).length", "36"),
            ("uuidv4() === uuidv4()", "false"),
            ("findBetween('<a>1</a><a>2</a>', '<a>', '</a>')", "\"1\""),
            ("findBetween('<a>1</a><a>2</a>', '<a>', '</a>', true)", r#"["1","2"]"#),
            ("findBetween('none', '<a>', '</a>')", "\"\""),
            ("findBetween('<a>open', '<a>', '</a>', true)", "[]"),
            (
                "['10s', '1m30s', '500ms', '1.5h', '1d', '2m5s10ms'].map(parseDuration)",
                "[10000,90000,500,5400000,86400000,125010]",
            ),
            (
                "parseDuration('10x')",
                "TypeError: parseDuration(): \"10x\" is not made of numbers with the units d, h, m, s or ms",
            ),
            ("parseDuration('')", "TypeError: parseDuration() takes a text such as 1m30s"),
            ("parseDuration(5)", "TypeError: parseDuration() takes a text"),
            (
                "normalDistributionStages(100, 60, 4).map((own) => own.target)",
                "[14,61,100,61,14,0]",
            ),
            (
                "normalDistributionStages(100, 60, 4).map((own) => own.duration)",
                r#"["10s","10s","10s","10s","10s","10s"]"#,
            ),
            ("normalDistributionStages(10, 60).length", "12"),
        ],
    );
}

#[test]
fn checks_may_be_async() {
    let script = format!(
        "{IMPORTS}
export default async function () {{
  const now = check(1, {{ is: (own) => own === 1, not: false }}, {{ kind: 'x' }});
  const later = check(2, {{ late: async (own) => {{ await null; return own === 2 }}, soon: true }});
  const isPromise = later instanceof Promise;
  return [now, isPromise, await later];
}}"
    );
    let (host, result) = once(&script);
    assert_eq!(result.expect("no error").as_deref(), Some("[false,true,true]"));
    let told = host.told.iter().map(|own| match own {
        Event::Check { name, ok, tags } => format!("{name} {ok} {}", tags.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["is true 1", "not false 1", "late true 0", "soon true 0"]
    );
}

#[test]
fn stages_follow_from_how_far_the_scenario_is() {
    let script = "import * as utils from 'https://jslib.k6.io/k6-utils/1.3.0/index.js';
import exec from 'k6/execution';
export default function () {
  utils.tagWithCurrentStageIndex();
  utils.tagWithCurrentStageProfile();
  return [utils.getCurrentStageIndex(), exec.vu.metrics.tags.stage, exec.vu.metrics.tags.stage_profile];
}";
    let stages = r#"[{"duration":"10s","target":5},{"duration":"1m0s","target":5},{"duration":"30s","target":0}]"#;
    let options = format!(r#"{{"scenarios":{{"buy":{{"startVUs":0,"stages":{stages}}}}}}}"#);
    let options = StageOptions { options: Some(options), ..StageOptions::default() };
    let stage = stage(script, &options);
    let function = default(&stage, 1);
    let at = |progress: f64, scenario: &str| {
        let facts = Facts { scenario: scenario.into(), progress, ..Facts::default() };
        let mut host = Host { facts, now: Duration::ZERO, ..Host::default() };
        host.run(&stage, &function, 0)
    };
    for (progress, expected) in [
        (0.0, r#"[0,"0","ramp-up"]"#),
        (0.0999, r#"[0,"0","ramp-up"]"#),
        (0.1, r#"[1,"1","steady"]"#),
        (0.75, r#"[2,"2","ramp-down"]"#),
        (1.0, r#"[2,"2","ramp-down"]"#),
    ] {
        assert_eq!(at(progress, "buy").expect("no error").as_deref(), Some(expected), "{progress}");
    }
    let thrown = at(0.5, "other").expect_err("no stages");
    assert!(thrown.message.starts_with("Error: scenario other has no stages"), "{thrown}");
}
