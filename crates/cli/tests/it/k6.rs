//! Scripts of k6, run as they are: with k6's command line, and with squall's.

use serde_json::{Value, json};

use crate::common::{said as run, target, with_script as folder};

/// A script that asks the target for something, with these options.
fn script(url: &str, options: &Value) -> String {
    format!(
        "import http from 'k6/http';
import {{ check, group, sleep }} from 'k6';
import {{ Trend }} from 'k6/metrics';
const size = new Trend('size');
export const options = {options};
export function setup() {{ return {{ token: 't' }} }}
export default function (data) {{
  group('shop', () => {{
    const response = http.get('{url}/', {{ tags: {{ name: 'home' }} }});
    check(response, {{ 'is 200': (own) => own.status === 200, 'has data': () => data.token === 't' }});
    size.add(response.body.length);
  }});
  sleep(0.01);
}}
export function teardown(data) {{ if (data.token !== 't') throw new Error('no data') }}
"
    )
}

#[test]
fn a_script_runs_with_the_command_line_of_k6() {
    let server = target();
    let thresholds = json!({
        "http_req_failed": ["rate<0.5"], "http_req_duration{name:home}": ["p(95)<60000"], "checks": ["rate==1"],
        "iterations": ["count==6"], "size": ["min>0"], "http_reqs{name:nobody}": ["count<1"],
    });
    let text = script(&server.url(), &json!({"vus": 1, "iterations": 1, "thresholds": thresholds}));
    let folder = folder(&text);
    let line = [
        "k6",
        "run",
        "-q",
        "--vus",
        "2",
        "--iterations",
        "6",
        "--summary-export",
        "s.json",
        "a.js",
    ];
    let (code, out, errors) = run(folder.path(), &line);
    assert_eq!(code, 0, "{out}\n{errors}");
    for part in ["http_req_duration", "{ name:home }", "is 200", "iterations", "checks_succeeded"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let export = std::fs::read_to_string(folder.path().join("s.json")).expect("a file");
    let export: Value = serde_json::from_str(&export).expect("JSON");
    let metrics = &export["metrics"];
    assert_eq!(
        (&metrics["iterations"]["count"], &metrics["http_reqs"]["count"]),
        (&json!(6), &json!(6))
    );
    assert_eq!(metrics["checks"]["passes"], json!(12));
    assert_eq!(
        metrics["http_req_failed"]["thresholds"]["rate<0.5"],
        json!(false),
        "true means failed"
    );
}

#[test]
fn exit_codes_are_those_of_k6() {
    let server = target();
    let once = |more: &str| {
        format!(
            "{more}\nexport const options = {{ iterations: 1 }};\nexport default function () {{}}"
        )
    };
    let crossed =
        script(&server.url(), &json!({"iterations": 1, "thresholds": {"checks": ["rate<1"]}}));
    for (text, args, code, said) in [
        (once(""), &[][..], 0, ""),
        ("export default function () { throw new Error('no') }".to_owned(), &[][..], 0, ""),
        (crossed, &[][..], 99, "thresholds on metrics 'checks' have been crossed"),
        (once("let = 1 1;"), &[], 107, "a.js:1:"),
        (once("throw new Error('top');"), &[], 107, "top"),
        (once("export function setup() { throw new Error('first') }"), &[], 107, "first"),
        (once(""), &["--vus", "x"], 104, "option `vus` (--vus): expected a whole number"),
        (once(""), &["-d", "1s", "-i", "0"], 104, "option `iterations` (--iterations): expected"),
        ("export const options = { thresholds: { nothing: ['rate<1'] } };\nexport default () => {}".to_owned(), &[], 104, "unknown metric `nothing`"),
        ("export const options = {};".to_owned(), &[], 104, "exports no function `default`"),
        (once(""), &["--nonsense"], 255, "--nonsense"),
        (once(""), &["--summary-mode", "legacy"], 255, "legacy"),
        (
            "import exec from 'k6/execution'; export default function () { exec.test.abort('enough') }".to_owned(),
            &[],
            108,
            "",
        ),
        (
            "import exec from 'k6/execution'; export default function () { exec.test.fail('bad') }".to_owned(),
            &[],
            110,
            "level=error msg=\"the script marked the run as failed: bad\"\n",
        ),
        (
            once("import exec from 'k6/execution'; export function setup() { exec.test.fail('bad') }"),
            &[],
            110,
            "msg=\"setup failed: the script marked the run as failed: bad\"\n",
        ),
        (
            once("import exec from 'k6/execution'; export function setup() { exec.test.fail('bad'); throw new Error('first') }"),
            &[],
            107,
            "first",
        ),
        (
            once("import exec from 'k6/execution'; export function teardown() { exec.test.fail('bad') }"),
            &[],
            110,
            "marked the run as failed: bad",
        ),
        (once(""), &["-t", "archive"], 255, "squall reads no archives"),
        (once(""), &["--log-output", "loki=http://a"], 255, "squall sends no logs to Loki"),
        (once(""), &["--secret-source", "hunter2"], 104, "--secret-source ...: expected mock=NAME=VALUE"),
        (once(""), &["-a", "localhost:6565"], 0, "level=warning msg=\"--address has no effect"),
    ] {
        let folder = folder(&text);
        let line = [&["k6", "run", "-q", "a.js"], args].concat();
        let (found, out, errors) = run(folder.path(), &line);
        assert_eq!(found, code, "{text}\n{args:?}\n{out}\n{errors}");
        assert!(errors.contains(said), "{said}: {errors}");
        assert!(errors.matches("setup failed").count() <= 1, "{errors}");
    }
    let folder = folder("");
    let (code, _, errors) = run(folder.path(), &["k6", "run", "none.js"]);
    assert!(code == 255 && errors.contains("none.js"), "{code}: {errors}");
}

/// `httpDebug` logs heads, and bodies if it is `full`; what is secret is masked.
#[test]
fn requests_and_responses_are_logged_if_that_is_asked_for() {
    let server = target();
    let folder = folder(&format!(
        "import http from 'k6/http';
export const options = {{ iterations: 1 }};
export default function () {{
  http.post('{}/echo', 'the body', {{ headers: {{ Authorization: 'Bearer s3cret-token' }} }});
}}",
        server.url()
    ));
    for (flag, has_bodies) in [("--http-debug", false), ("--http-debug=full", true)] {
        let args = ["k6", "run", "-q", "-e", "API_TOKEN=s3cret-token", flag, "a.js"];
        let (code, _, errors) = run(folder.path(), &args);
        assert_eq!(code, 0, "{errors}");
        let said = |what: &str| errors.lines().find(|own| own.contains(what)).unwrap_or_default();
        let (request, response) = (said("msg=\"Request:"), said("msg=\"Response:"));
        assert!(request.contains("Request:\\nPOST /echo HTTP/1.1\\r\\n"), "{errors}");
        assert!(response.contains("Response:\\nHTTP/1.1 200 OK\\r\\n"), "{errors}");
        assert!(request.ends_with("source=http-debug"), "{errors}");
        assert_eq!(request.contains("the body"), has_bodies, "{errors}");
        assert_eq!(response.contains("the body"), has_bodies, "{errors}");
        assert!(!errors.contains("s3cret-token"), "{errors}");
    }
    let (_, _, errors) = run(folder.path(), &["check", "a.js"]);
    assert!(!errors.contains("httpDebug"), "{errors}");
}

/// Each request of a redirect has its own URL as its name, unless the script names them.
#[test]
fn requests_of_a_redirect_have_names_of_their_own() {
    let server = target();
    let url = server.url();
    let text = format!(
        "import http from 'k6/http'
export default function () {{
  http.get('{url}/redirect/2')
  http.get('{url}/redirect/1', {{ tags: {{ name: 'both' }} }})
}}"
    );
    let folder = folder(&text);
    let (code, _, errors) =
        run(folder.path(), &["k6", "run", "-q", "--out", "json=points", "a.js"]);
    assert_eq!(code, 0, "{errors}");
    let points = std::fs::read_to_string(folder.path().join("points")).expect("points");
    let points = points.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let requests = points.filter(|own| own["type"] == "Point" && own["metric"] == "http_reqs");
    let name = |own: Value| own["data"]["tags"]["name"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = requests.map(name).collect();
    names.sort();
    let own = |path: &str| format!("{url}/redirect/{path}");
    assert_eq!(names[..2], ["both", "both"]);
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains(&own("1")) && names.contains(&own("2")), "{names:?}");
}

/// A script whose users change what is built in, each in its own way.
const CHANGES: &str = "
import { check, sleep } from 'k6';
export const options = { vus: 3, iterations: 9 };
globalThis.own = __VU;
Array.prototype.mine = () => globalThis.own;
export default function () {
  sleep(0.01);
  check([].mine(), { 'is its own': (own) => own === __VU });
}";

#[test]
fn users_who_change_globals_have_an_interpreter_each() {
    let folder = folder(CHANGES);
    let (code, text, errors) = run(folder.path(), &["check", "a.js"]);
    assert_eq!(code, 0, "{errors}");
    let script = text.lines().find(|line| line.contains("  script ")).expect("what it costs");
    let said = "a.js: each user has an interpreter of its own, some ";
    assert!(script.contains(said) && script.contains(" KiB where it begins"), "{script}");
    assert!(
        script.contains("since it writes to a global") && script.contains("a.js:4:1"),
        "{script}"
    );
    let (code, text, errors) = run(folder.path(), &["k6", "run", "-q", "a.js"]);
    assert_eq!(code, 0, "{errors}");
    assert!(text.contains("✓ is its own"), "{text}");
    let shared = ["k6", "run", "-q", "--isolation", "shared", "a.js"];
    let (code, _, errors) = run(folder.path(), &shared);
    assert_ne!(code, 0);
    assert!(errors.contains("a.js:4:") && errors.contains("use --isolation=vm"), "{errors}");
}

/// What the scan of a script misses throws, and runs where that is asked for.
#[test]
fn what_users_share_cannot_be_changed_without_asking_for_it() {
    let folder = folder(
        "export const options = { iterations: 1, thresholds: { iterations: ['count==1'] } };
export default function () { const all = globalThis; all.x = 1; if (x !== 1) throw new Error('not set') }",
    );
    let (code, text, errors) = run(folder.path(), &["check", "a.js"]);
    assert!(code == 0 && !text.contains("interpreter"), "{text}{errors}");
    let (_, _, errors) = run(folder.path(), &["k6", "run", "-q", "a.js"]);
    assert!(errors.contains("use --isolation=vm"), "{errors}");
    let (code, _, errors) = run(folder.path(), &["k6", "run", "-q", "--isolation=vm", "a.js"]);
    assert!(code == 0 && !errors.contains("rror"), "{errors}");
    let (code, text, errors) = run(folder.path(), &["check", "--isolation=vm", "a.js"]);
    assert!(code == 0 && text.contains("an interpreter of its own"), "{text}{errors}");
}

#[test]
fn a_script_handles_its_summary() {
    let text = "export function setup() { return { n: 1 } }
export default function () {}
export function handleSummary(data) {
  return { stdout: `${data.metrics.iterations.values.count} of ${data.setup_data.n}\\n`, 'out.txt': 'x' };
}";
    let folder = folder(text);
    let (code, out, errors) = run(folder.path(), &["k6", "run", "-q", "a.js"]);
    assert_eq!((code, out.as_str()), (0, "1 of 1\n"), "{errors}");
    assert_eq!(std::fs::read_to_string(folder.path().join("out.txt")).ok().as_deref(), Some("x"));
}

/// `handleSummary` may log, send requests and write bytes, and what fails in it is said.
#[test]
fn a_summary_may_be_sent_somewhere() {
    let server = target();
    let text = format!(
        "import http from 'k6/http';
export default function () {{}}
export async function handleSummary(data) {{
  console.warn('handled');
  const response = http.post('{}/', JSON.stringify(data.metrics));
  return {{ stdout: `${{response.status}}\\n`, 'out.bin': new Uint8Array([0, 255]).buffer }};
}}",
        server.url()
    );
    let own = folder(&text);
    let (code, out, errors) = run(own.path(), &["k6", "run", "-q", "a.js"]);
    assert_eq!((code, out.as_str()), (0, "405\n"), "{errors}");
    assert!(errors.contains("level=warning msg=handled source=console"), "{errors}");
    assert_eq!(std::fs::read(own.path().join("out.bin")).ok(), Some(vec![0, 255]));
    let own = folder(
        "export default function () {}\nexport function handleSummary() { throw new Error('no summary') }",
    );
    let (code, out, errors) = run(own.path(), &["k6", "run", "-q", "a.js"]);
    assert!(code == 0 && out.contains("iterations"), "{code}: {out}");
    assert!(errors.contains("no summary"), "{errors}");
}

/// No output has a secret, whatever a script does with it.
#[test]
fn secrets_are_masked() {
    let server = target();
    let text = format!(
        "import http from 'k6/http';
import secrets from 'k6/secrets';
import {{ check }} from 'k6';
export default async function () {{
  const own = await secrets.get('user');
  const other = await secrets.source('second').get('key');
  console.log(own + ' and ' + other + ' and ' + __ENV.SHOP_KEY);
  http.get(`{}/?user=${{own}}&key=${{other}}`);
  http.get(`http://127.0.0.1:1/${{own}}`);
  check(null, {{ [`of ${{own}}`]: () => true }});
}}
export function handleSummary(data) {{ return {{ stdout: JSON.stringify(data), 'out.json': JSON.stringify(data) }} }}",
        server.url()
    );
    let folder = folder(&text);
    let given = [
        "--secret-source=mock=default,user=hunter2-one",
        "--secret-source=mock=name=second,key=hunter2-two",
        "-e",
        "SHOP_KEY=hunter2-three",
        "a.js",
    ];
    let line = [
        "k6",
        "run",
        "-q",
        "--summary-mode",
        "full",
        "--out",
        "json=points",
        "--summary-export",
        "export",
    ];
    let (code, out, errors) = run(folder.path(), &[&line[..], &given].concat());
    assert_eq!(code, 0, "{out}\n{errors}");
    assert!(errors.contains("msg=\"*** and *** and ***\" source=console"), "{errors}");
    let (_, of_run, of_errors) = run(folder.path(), &[&["run", "-o", "runs"], &given[..]].concat());
    let (_, of_try, _) = run(folder.path(), &[&["try"], &given[..]].concat());
    let mut texts = vec![out, errors, of_run, of_errors, of_try];
    let mut folders = vec![folder.path().to_owned()];
    while let Some(own) = folders.pop() {
        for entry in std::fs::read_dir(own).expect("a folder") {
            let path = entry.expect("readable").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.ends_with("a.js") => {}
                false => texts.push(
                    String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned(),
                ),
            }
        }
    }
    assert!(texts.len() > 10, "{}", texts.len());
    for text in texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
    let plan = "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{log: a}]}}";
    std::fs::write(folder.path().join("p.yaml"), plan).expect("writable");
    let (code, _, errors) = run(folder.path(), &["check", "p.yaml", "--secret-source=mock=a=b"]);
    assert!(code == 2 && errors.contains("this plan calls none"), "{code}: {errors}");
}

#[test]
fn commands_of_k6_have_an_equal_or_say_what_does_their_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |line: &[&str]| run(folder.path(), line);
    assert_eq!(of(&["k6", "new"]).0, 0);
    let (code, _, errors) = of(&["k6", "new", "script.js"]);
    assert!(code == 255 && errors.contains("it is there already"), "{code}: {errors}");
    assert_eq!(of(&["k6", "new", "-f", "script.js"]).0, 0);
    let (code, out, _) = of(&["k6", "inspect", "--execution-requirements", "script.js"]);
    let options: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &options["vus"], &options["maxVUs"]), (0, &json!(5), &json!(5)));
    assert_eq!(options["totalDuration"], json!("40s"));
    assert!(of(&["k6", "version"]).1.starts_with("squall "));
    for (word, said) in [
        ("cloud", "squall has no cloud"),
        ("archive", "squall makes no archives"),
        ("rnu", "expected run, inspect, new or version"),
    ] {
        let (code, _, errors) = of(&["k6", word, "script.js"]);
        assert!(code == 255 && errors.contains(said), "{word}: {errors}");
    }
}

#[test]
fn the_log_goes_where_it_was_asked_for() {
    let text = "export const options = { iterations: 1 };
export default function () { console.log('to all'); console.debug('to few') }";
    let folder = folder(text);
    let (code, _, errors) = run(folder.path(), &["k6", "run", "-q", "--log-format", "raw", "a.js"]);
    assert!(code == 0 && errors.starts_with("to all\n") && !errors.contains("few"), "{errors}");
    let line =
        ["k6", "run", "-q", "-v", "--console-output", "c.log", "--log-output", "none", "a.js"];
    let (code, _, errors) = run(folder.path(), &line);
    let own = std::fs::read_to_string(folder.path().join("c.log")).expect("a file");
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(
        own.contains("level=info msg=\"to all\"\n") && own.contains("level=debug msg=\"to few\""),
        "{own}"
    );
}

#[test]
fn scenarios_have_functions_and_variables_of_their_own() {
    let server = target();
    let text = format!(
        "import http from 'k6/http';
import {{ check }} from 'k6';
const scenario = (executor, more) => ({{ executor, ...more }});
export const options = {{ scenarios: {{
  one: scenario('per-vu-iterations', {{ vus: 2, iterations: 3, exec: 'one', env: {{ WHO: 'first' }} }}),
  two: scenario('constant-arrival-rate', {{ rate: 20, duration: '1s', preAllocatedVUs: 5, exec: 'two', startTime: '100ms' }}),
}} }};
export function one() {{ check(null, {{ first: () => __ENV.WHO === 'first' && __ENV.ALL === 'yes' }}) }}
export function two() {{ http.get('{}/'); check(null, {{ second: () => __ENV.WHO === undefined }}) }}
",
        server.url()
    );
    let folder = folder(&text);
    let line = ["k6", "run", "-q", "-e", "ALL=yes", "--summary-export", "s.json", "a.js"];
    let (code, out, errors) = run(folder.path(), &line);
    assert_eq!(code, 0, "{out}\n{errors}");
    let export: Value = serde_json::from_str(
        &std::fs::read_to_string(folder.path().join("s.json")).expect("a file"),
    )
    .expect("JSON");
    let metrics = &export["metrics"];
    assert_eq!(
        (&metrics["iterations"]["count"], &metrics["http_reqs"]["count"]),
        (&json!(26), &json!(20))
    );
    assert_eq!(
        (&metrics["checks"]["passes"], &metrics["checks"]["fails"]),
        (&json!(26), &json!(0))
    );
}

/// The iteration that goes on when the time is over is finished.
#[test]
fn iterations_are_finished_at_the_end() {
    let text = "import { check, sleep } from 'k6';
export const options = { vus: 3, duration: '1s' };
export default function () { sleep(1.5); check(null, { done: () => true }) }";
    let folder = folder(text);
    let (code, out, errors) =
        run(folder.path(), &["k6", "run", "-q", "--summary-export", "s.json", "a.js"]);
    assert_eq!(code, 0, "{out}\n{errors}");
    let export: Value = serde_json::from_str(
        &std::fs::read_to_string(folder.path().join("s.json")).expect("a file"),
    )
    .expect("JSON");
    assert_eq!(
        (&export["metrics"]["iterations"]["count"], &export["metrics"]["checks"]["passes"]),
        (&json!(3), &json!(3))
    );
}

#[test]
fn commands_of_squall_take_scripts() {
    let server = target();
    let text = script(
        &server.url(),
        &json!({"iterations": 4, "thresholds": {"http_req_failed": ["rate<0.5"]}}),
    );
    let folder = folder(&text);
    let (code, out, errors) = run(folder.path(), &["check", "a.js"]);
    assert_eq!(code, 0, "{out}\n{errors}");
    let (code, out, errors) = run(folder.path(), &["run", "a.js", "--quiet", "--json", "-"]);
    assert_eq!(code, 0, "{out}\n{errors}");
    let result: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&result["totals"]["count"], &result["outcome"]["passed"]),
        (&json!(4), &json!(true))
    );
    let (code, out, errors) = run(folder.path(), &["try", "a.js"]);
    assert!(code == 0 && out.contains("200"), "{out}\n{errors}");
    let (code, _, errors) = run(folder.path(), &["convert", "a.js", "-o", "plan.yaml"]);
    assert_eq!(code, 0, "{errors}");
    let plan = std::fs::read_to_string(folder.path().join("plan.yaml")).expect("a plan");
    assert!(plan.contains("script: {file: a.js") || plan.contains("file: a.js"), "{plan}");
    let (code, out, errors) = run(folder.path(), &["run", "plan.yaml", "--quiet", "--json", "-"]);
    assert_eq!(code, 0, "{out}\n{errors}");
    let (code, _, errors) = run(folder.path(), &["run", "a.js", "--set", "a=b"]);
    assert!(code == 2 && errors.contains("give it `-e NAME=VALUE`"), "{code}: {errors}");
}

#[test]
fn an_exception_is_shown_with_its_place() {
    let folder = folder("export default function () {\n  throw new Error('enough');\n}");
    for command in [&["run", "a.js"][..], &["try", "a.js"]] {
        let (code, out, errors) = run(folder.path(), command);
        assert_eq!(code, 1, "{out}\n{errors}");
        assert!(out.contains("1 exception") && out.contains("Error: enough"), "{out}\n{errors}");
        assert!(out.contains("a.js:2:"), "{out}\n{errors}");
    }
}
