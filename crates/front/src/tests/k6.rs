//! Scripts of k6 as plans.

use std::path::PathBuf;

use squall_k6::options::known;
use squall_plan::model::{Load, StepKind};
use squall_plan::vars::LoadOptions;
use squall_plan::yaml;

use crate::{GivenToScript, ImportError, K6Failure, K6Test, PlanText, Values, import};

const SCRIPT: &str = "import http from 'k6/http';
import { Trend } from 'k6/metrics';
const stock = new Trend('stock');
export const options = {
  vus: Number(__ENV.USERS || 2),
  duration: '10s',
  thresholds: { http_req_duration: ['p(95)<200'], stock: ['avg<5'] },
};
export function setup() { return { token: 'a' } }
export default function (data) { http.get('http://a.example/') }
";

fn text(name: &str, text: &str) -> PlanText {
    PlanText { name: name.to_owned(), text: text.to_owned(), folder: PathBuf::from("/scripts") }
}

fn refused(name: &str, script: &str, values: &Values) -> String {
    match import(&text(name, script), values).plan {
        Err(ImportError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_is_a_plan_that_calls_it() {
    let values = Values { env: vec![("USERS".to_owned(), "7".to_owned())], ..Values::default() };
    for name in ["a.js", "some/where/a.mjs", "a.TS"] {
        let loaded =
            import(&text(name, SCRIPT), &values).plan.unwrap_or_else(|error| panic!("{error:?}"));
        let plan = loaded.plan;
        assert_eq!(plan.name, "a");
        let Some(Load::Closed(load)) = plan.scenarios[0].load.clone().map(|own| own.value) else {
            panic!("users")
        };
        assert_eq!(load.users, Some(7), "{name}");
        let StepKind::Script(call) = &plan.scenarios[0].steps[0].kind else { panic!("a call") };
        let file = name.rsplit('/').next().unwrap_or_default();
        assert_eq!(call.file.value, PathBuf::from("/scripts").join(file));
        let texts: Vec<_> = plan.thresholds.iter().map(|own| own.text.value.as_str()).collect();
        assert_eq!(texts, ["p95(http_req_duration) < 200", "mean(stock) < 5"]);
        // What is converted is read as the same plan.
        let printed = yaml::print(&plan, false);
        let again = yaml::load_str("a", &printed, &PathBuf::new(), &LoadOptions::default());
        let again =
            again.unwrap_or_else(|errors| panic!("{printed}: {:?}", errors.diagnostics)).plan;
        assert_eq!(yaml::print(&again, false), printed);
    }
}

#[test]
fn what_is_typed_is_stronger_than_the_environment_than_the_script_than_a_file() {
    let config = serde_json::json!({"vus": 3, "batch": 3, "maxRedirects": 3});
    let given = GivenToScript {
        flags: vec![(known("duration").expect("an option"), vec!["5s".to_owned()])],
        config: Some(("c.json".to_owned(), config)),
        environment: vec![
            ("K6_DURATION".to_owned(), "9s".to_owned()),
            ("K6_BATCH".to_owned(), "4".to_owned()),
        ],
        ..GivenToScript::default()
    };
    let test = K6Test::of(&text("a.js", SCRIPT), &given).unwrap_or_else(|why| panic!("{why:?}"));
    let plan = yaml::value(&test.loaded.plan, false);
    assert_eq!(plan["scenarios"]["default"]["load"], serde_json::json!({"users": 2, "for": "5s"}));
    assert_eq!((&plan["scripts"]["batch"], &plan["scripts"]["redirects"]), (&4.into(), &3.into()));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let none = Values::default();
    let why = refused("x/a.js", "export default function () {\n  let = 1 1;\n}", &none);
    assert!(why.starts_with("x/a.js:2:"), "{why}");
    let why = refused("a.js", "export default function () {}\nthrow new Error('no')", &none);
    assert!(why.starts_with("a.js: ") && why.contains("no"), "{why}");
    let why =
        refused("a.js", "export const options = { vus: 'x' };\nexport default () => {}", &none);
    assert!(why.starts_with("a.js: option `vus` (the script's options): expected"), "{why}");
    let why = refused("a.js", "export const options = {};", &none);
    assert!(why.contains("the script exports no function `default`"), "{why}");
    let mut values = Values::default();
    values.give("a=b").expect("a value");
    assert!(refused("a.js", SCRIPT, &values).contains("give it `-e NAME=VALUE`"));
    let values = Values { skips_unsupported: true, ..Values::default() };
    assert!(refused("a.js", SCRIPT, &values).contains("--skip-unsupported is for JMeter plans"));
    let failure = K6Test::of(&text("a.js", "throw 1"), &GivenToScript::default());
    assert!(matches!(failure, Err(K6Failure::Script(_))), "{failure:?}");
    let script = "export const options = { nonsense: 1 };\nexport default () => {}";
    let loaded =
        import(&text("a.js", script), &none).plan.unwrap_or_else(|error| panic!("{error:?}"));
    let said: String = loaded.warnings.iter().map(|own| loaded.sources.render(own)).collect();
    assert!(
        said.contains("a.js: option `nonsense` (the script's options): unknown, and ignored"),
        "{said}"
    );
}
