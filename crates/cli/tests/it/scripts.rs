//! Steps that call functions of scripts, through the binary against the built-in target.

use serde_json::Value;

use crate::common::{Steps, all_good, counter, logged, squall, target};

const CALL: &str = "\n      - script: {file: own.js}";

/// A plan whose users call the default function of a script.
fn calls<'a>(url: &'a str, head: &'a str, files: &'a [(&'a str, &'a [u8])]) -> Steps<'a> {
    Steps { url, head, users: 1, iterations: 1, steps: CALL, files }
}

/// The `scripts` of a plan in which `__ENV.URL` is where its target is.
fn env(url: &str, more: &str) -> String {
    format!("scripts: {{env: {{URL: \"{url}\"}}}}\n{more}")
}

/// A metric of a run: what it recorded, over all its tags.
fn metric(result: &Value, name: &str) -> Vec<Value> {
    let all = result["metrics"].as_array().expect("metrics").iter();
    all.filter(|own| own["name"] == name).cloned().collect()
}

#[test]
fn a_request_has_a_response_and_counts_like_that_of_a_step() {
    let script = br#"
import http from 'k6/http';
import { check, group, sleep } from 'k6';
export default function () {
  group('shop', () => {
    const own = http.get(`${__ENV.URL}/api/items/7`, { tags: { name: 'item' } });
    check(own, {
      'is there': (own) => own.status === 200,
      'is JSON': (own) => own.json('id') === 7,
      'has a type': (own) => own.headers['Content-Type'].startsWith('application/json'),
      'took time': (own) => own.timings.duration > 0 && own.proto === 'HTTP/1.1',
    });
    sleep(0);
  });
}"#;
    let target = target();
    let url = target.url();
    let head = "thresholds: [\"p95(http_req_duration) < 60000\", \"count(http_reqs, status: 200) == 6\", \"rate(checks) == 100%\"]";
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let result = Steps { users: 2, iterations: 3, ..calls(&url, &env(&url, head), &files) }.run(0);
    all_good(&result, 6);
    assert_eq!(result["requests"]["item"]["count"], 6);
    assert_eq!(result["groups"]["shop"]["count"], 6);
    assert_eq!(counter(&result, "checks_passed"), 24);
}

#[test]
fn a_body_headers_and_cookies_go_along() {
    let script = br#"
import http from 'k6/http';
export default function () {
  const own = http.post(`${__ENV.URL}/echo`, JSON.stringify({ a: 1 }), {
    headers: { 'Content-Type': 'application/json', 'X-Own': 'x' }, cookies: { c: '1' },
  });
  const back = own.json();
  console.log(`${back.method} ${back.body} ${own.request.body}`);
  const names = Object.keys(back.headers).map((name) => name.toLowerCase());
  console.log(['x-own', 'cookie', 'content-type', 'user-agent'].filter((own) => names.includes(own)).join());
  http.get(`${__ENV.URL}/cookies/set?a=1`);
  console.log(JSON.stringify(http.get(`${__ENV.URL}/cookies`).json()));
}"#;
    let target = target();
    let url = target.url();
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let result = calls(&url, &env(&url, ""), &files).run(0);
    let log = logged(&result);
    assert_eq!(log[0], r#"POST {"a":1} {"a":1}"#);
    assert_eq!(log[1], "x-own,cookie,content-type,user-agent");
    assert!(log[2].contains(r#""a":"1""#), "{log:?}");
}

#[test]
fn requests_that_say_the_same_have_bodies_and_cookies_of_their_own() {
    let script = br#"
import http from 'k6/http';
import { group } from 'k6';
function echo(method, body, params) {
  const own = http.request(method, `${__ENV.URL}/echo`, body, params).json();
  const cookies = Object.entries(own.headers).filter(([name]) => name.toLowerCase() === 'cookie');
  return `${own.method}:${own.body}:${cookies.map(([, value]) => value)}`;
}
export default function () {
  const said = ['a', null, 'bc', null].map((body) => echo('POST', body));
  said.push(echo('GET'));
  http.get(`${__ENV.URL}/cookies/set?c=1`);
  said.push(echo('GET'), echo('GET', null, { cookies: { d: '2' } }), echo('GET', null, { cookies: { d: '2' } }));
  group('inner', () => said.push(echo('GET')));
  console.log(said.join(' '));
}"#;
    let target = target();
    let url = target.url();
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let result = Steps { iterations: 2, ..calls(&url, &env(&url, ""), &files) }.run(0);
    let said = "POST:a: POST:: POST:bc: POST:: GET:: GET::c=1 GET::d=2; c=1 GET::d=2; c=1 GET::c=1";
    // The user keeps what it was given in its first iteration.
    let again = "POST:a:c=1 POST::c=1 POST:bc:c=1 POST::c=1 GET::c=1 GET::c=1 GET::d=2; c=1 GET::d=2; c=1 GET::c=1";
    assert_eq!(logged(&result), [said, again]);
}

#[test]
fn each_redirect_is_a_sample() {
    let script = br#"
import http from 'k6/http';
export default function () {
  const own = http.get(`${__ENV.URL}/redirect/3`, { tags: { name: 'far' } });
  console.log(`${own.status} ${own.url.split('/').slice(3).join('/')}`);
  const near = http.get(`${__ENV.URL}/redirect/3`, { redirects: 1, tags: { name: 'near' } });
  console.log(`${near.status}`);
}"#;
    let target = target();
    let url = target.url();
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let result = calls(&url, &env(&url, ""), &files).run(0);
    assert_eq!(result["requests"]["far"]["count"], 4);
    assert_eq!(result["requests"]["near"]["count"], 2);
    assert_eq!(counter(&result, "redirects"), 4);
    let log = logged(&result);
    assert!(log[0].starts_with("200 ") && log[1] == "302", "{log:?}");
}

#[test]
fn a_batch_gives_its_responses_in_the_order_of_its_requests() {
    let script = br#"
import http from 'k6/http';
export default function () {
  const all = http.batch([1, 2, 3, 4].map((n) => ['GET', `${__ENV.URL}/delay/${200 - 40 * n}?n=${n}`, null, { tags: { name: `d${n}` } }]));
  console.log(all.map((own) => own.status).join());
}"#;
    let target = target();
    let url = target.url();
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let result = calls(&url, &env(&url, ""), &files).run(0);
    all_good(&result, 4);
    assert_eq!(logged(&result), ["200,200,200,200"]);
}

#[test]
fn what_is_not_expected_fails_and_the_user_goes_on() {
    let script = br#"
import http from 'k6/http';
export default function () {
  const own = http.get(`${__ENV.URL}/status/503`, { tags: { name: 'bad' } });
  const good = http.get(`${__ENV.URL}/status/404`, { responseCallback: http.expectedStatuses(404), tags: { name: 'good' } });
  console.log(`${own.status} ${own.error_code} ${good.status} ${good.error_code}`);
  null.x;
}"#;
    let target = target();
    let url = target.url();
    let files: [(&str, &[u8]); 1] = [("own.js", script)];
    let head = "thresholds: [\"rate(http_req_failed) == 50%\"]";
    let result = Steps { iterations: 2, ..calls(&url, &env(&url, head), &files) }.run(0);
    assert_eq!(result["requests"]["bad"]["errors"], 2);
    assert_eq!(result["requests"]["good"]["errors"], 0);
    let log = logged(&result).join("\n");
    assert!(log.contains("503 1503 404 1404"), "{log}");
    assert!(log.contains("iteration: script: TypeError: "), "{log}");
    assert_eq!(metric(&result, "iterations").len(), 1);
}

#[test]
fn what_is_wrong_with_a_script_is_said_before_the_run() {
    for (script, steps, said) in [
        ("export default function () {\n  let a = ;\n}", CALL, "own.js:2:11: "),
        ("import x from './other.js'", CALL, "own.js:1:15: `./other.js` is not there"),
        ("\nnull.x; export default function () {}", CALL, "own.js:2:"),
        ("export function other() {}", CALL, "exports no function `default`"),
        (
            "export default function () {}",
            "\n      - script: {file: own.js, returns: {a: \"$.\"}}",
            "invalid JSONPath",
        ),
    ] {
        let files: [(&str, &[u8]); 1] = [("own.js", script.as_bytes())];
        let steps = Steps { steps, ..calls("http://127.0.0.1:1", "", &files) };
        let folder = steps.folder();
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {error}");
        assert!(error.contains(said), "{script}: {error}");
    }
}
