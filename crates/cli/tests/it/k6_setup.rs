//! Setup and teardown of k6 scripts: when they fail, and where counts belong that they make.

use serde_json::{Value, json};

use crate::common::{said as run, target, with_script as folder};

/// As in k6, `setup()` fails with an exception alone, and a setup that fails has no teardown.
#[test]
fn setup_goes_on_after_requests_that_fail() {
    let server = target();
    let text = |last: &str| {
        format!(
            "import http from 'k6/http';
import {{ check }} from 'k6';
export function setup() {{
  const response = http.get('{0}/status/404');
  check(response, {{ 'is 200': (own) => own.status === 200 }});
  {last}
}}
export default function (data) {{
  http.get('{0}/');
  check(data, {{ 'has data': (own) => own === 404 }});
}}
export function teardown() {{ console.log('torn down'); http.get('{0}/status/500') }}",
            server.url()
        )
    };
    // `squall run` says on the terminal how many requests there were, and keeps the log in its folder.
    let has_teardown = |said: &str| said.contains("torn down") || said.contains("teardown: 1");
    for command in [&["k6", "run", "a.js"][..], &["run", "a.js"], &["try", "a.js"]] {
        let goes_on = folder(&text("return response.status"));
        let (code, out, errors) = run(goes_on.path(), command);
        // A try has failed if a request has.
        let expected = i32::from(command[0] == "try");
        assert!(code == expected && has_teardown(&format!("{out}{errors}")), "{out}\n{errors}");
        let throws = folder(&text("throw new Error('enough')"));
        let (code, out, errors) = run(throws.path(), command);
        let said = format!("{out}{errors}");
        assert!(code != 0 && said.contains("enough") && !has_teardown(&said), "{said}");
        assert!(!said.contains("setup_data"), "{said}");
    }
}

/// As in k6, all that they do but iterations counts in summary and thresholds, in groups of their names and in no scenario.
#[test]
fn what_they_do_counts_in_the_summary() {
    let server = target();
    let thresholds = json!({
        "http_reqs": ["count==6"], "http_reqs{group:::setup}": ["count==1"], "http_reqs{scenario:default}": ["count==2"],
        "http_reqs{group:::setup::inner}": ["count==1"], "http_reqs{group:::teardown}": ["count==2"],
        "checks": ["rate==0.75"], "checks{group:::teardown}": ["rate==0"], "own": ["count==3"], "iterations": ["count==2"],
        "level": ["value==3"],
    });
    let text = format!(
        "import http from 'k6/http';
import {{ check, group, sleep }} from 'k6';
import {{ Counter, Gauge }} from 'k6/metrics';
const own = new Counter('own'), level = new Gauge('level');
export const options = {{ iterations: 2, thresholds: {thresholds} }};
export function setup() {{
  own.add(2);
  http.get('{0}/');
  group('inner', () => check(http.get('{0}/'), {{ up: () => true }}));
  sleep(0.1);
  level.add(1);
}}
export default function () {{ level.add(2); check(http.get('{0}/'), {{ up: () => true }}) }}
export function teardown() {{
  own.add(1);
  for (let i = 0; i < 2; i++) http.get('{0}/');
  check(null, {{ down: () => false }});
  level.add(3);
}}",
        server.url()
    );
    let folder = folder(&text);
    let line = ["k6", "run", "-q", "--summary-export", "s.json", "--summary-mode", "full", "a.js"];
    let (code, out, errors) = run(folder.path(), &line);
    assert_eq!(code, 0, "{out}\n{errors}");
    let shown: Vec<&str> =
        out.lines().map(str::trim).filter(|line| line.contains("GROUP")).collect();
    assert_eq!(shown, ["█ GROUP: setup", "↳ GROUP: inner"], "{out}");
    assert_eq!(out.matches("✓ up").count(), 2, "in the whole and in its group: {out}");
    let export = std::fs::read_to_string(folder.path().join("s.json")).expect("a file");
    let export: Value = serde_json::from_str(&export).expect("JSON");
    let groups = &export["root_group"]["groups"];
    let passes = &groups["setup"]["groups"]["inner"]["checks"]["up"]["passes"];
    let fails = &groups["teardown"]["checks"]["down"]["fails"];
    assert_eq!((passes, fails), (&json!(1), &json!(1)), "{export}");
    // squall's own result is that of the load.
    let (_, out, _) = run(folder.path(), &["run", "a.js", "--quiet", "--json", "-"]);
    let result: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(result["totals"]["count"], json!(2), "{out}");
}
