//! k6's outputs: what files and receivers get of a script, with k6's names and tags.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::common::target;

/// A script whose requests, checks and values have tags. It asks a site for something.
fn script(url: &str) -> String {
    format!(
        "import http from 'k6/http';
import {{ check, group }} from 'k6';
import {{ Trend }} from 'k6/metrics';
const render = new Trend('render', true);
export const options = {{ vus: 1, iterations: 2, tags: {{ env: 'ci' }} }};
export default function () {{
  group('shop', () => {{
    const response = http.get('{url}/status/404', {{ tags: {{ name: 'home', team: 'a' }} }});
    check(response, {{ 'is there': (own) => own.status === 404 && own.remote_ip === '127.0.0.1' && own.remote_port > 0 }});
    render.add(2.5, {{ page: 'first' }});
  }});
}}
"
    )
}

/// Runs the script in a folder, with variables: its exit code and its messages.
fn run(folder: &Path, outputs: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let site = target();
    std::fs::write(folder.join("a.js"), script(&site.url())).expect("writable");
    let outputs = outputs.iter().flat_map(|own| ["--out", own]);
    let done = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["k6", "run", "-q"])
        .args(outputs)
        .arg("a.js")
        .envs(variables.iter().copied())
        .current_dir(folder)
        .output()
        .expect("squall runs");
    (done.status.code().unwrap_or(-1), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// A receiver that takes everything: its port, and the requests that come, each with its head and body.
fn receiver() -> (u16, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (say, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let say = say.clone();
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream.expect("a connection"));
                loop {
                    let (mut head, mut length) = (String::new(), 0);
                    while !head.ends_with("\r\n\r\n") {
                        let before = head.len();
                        if stream.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                        let line = head[before..].to_lowercase();
                        if let Some(value) = line.strip_prefix("content-length:") {
                            length = value.trim().parse().expect("a length");
                        }
                    }
                    let mut body = vec![0; length];
                    stream.read_exact(&mut body).expect("a body");
                    let response = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n";
                    // Whoever has closed meanwhile does not wait for it.
                    let _ = stream.get_mut().write_all(response);
                    let _ = say.send((head, body));
                }
            });
        }
    });
    (port, told)
}

/// Whether some bytes are somewhere in others.
fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|own| own == part.as_bytes())
}

#[test]
fn a_point_has_the_tags_and_the_time_of_what_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, errors) = run(folder.path(), &["json=a.json", "json=b.json.gz", "csv=a.csv"], &[]);
    assert_eq!(code, 0, "{errors}");
    let text = std::fs::read_to_string(folder.path().join("a.json")).expect("a file");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |name: &str| -> Vec<&Value> {
        let points = lines.iter().filter(|own| own["type"] == "Point" && own["metric"] == name);
        points.map(|own| &own["data"]).collect()
    };
    let [first, second] = of("http_reqs")[..] else { panic!("{text}") };
    for (tag, value) in [
        ("env", "ci"),
        ("error_code", "1404"),
        ("expected_response", "false"),
        ("group", "::shop"),
        ("method", "GET"),
        ("name", "home"),
        ("proto", "HTTP/1.1"),
        ("scenario", "default"),
        ("status", "404"),
        ("team", "a"),
        ("url", "home"),
    ] {
        assert_eq!(first["tags"][tag], value, "{tag}: {first}");
    }
    assert!(first["time"].as_str() < second["time"].as_str(), "{first} {second}");
    assert_eq!(of("render")[0]["tags"]["page"], "first");
    let check = of("checks")[0];
    assert_eq!((&check["tags"]["check"], &check["value"]), (&"is there".into(), &1.into()));
    assert_eq!(of("iterations")[0]["tags"]["group"], "");
    let names = ["http_req_sending", "http_req_failed", "data_sent", "group_duration", "vus"];
    assert!(names.iter().all(|name| !of(name).is_empty()), "{text}");
    let packed = std::fs::read(folder.path().join("b.json.gz")).expect("a file");
    assert_eq!(packed[..2], [0x1f, 0x8b], "compressed");
    let table = std::fs::read_to_string(folder.path().join("a.csv")).expect("a file");
    let row = table.lines().find(|line| line.starts_with("http_reqs,")).expect("a row");
    assert!(row.contains("::shop") && row.contains("env=ci") && row.contains("team=a"), "{row}");
}

#[test]
fn system_tags_are_those_that_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = [("K6_SYSTEM_TAGS", "status,vu,iter,ip"), ("K6_OUT", "json=a.json,csv=a.csv")];
    let (code, errors) = run(folder.path(), &[], &asked);
    assert_eq!(code, 0, "{errors}");
    let text = std::fs::read_to_string(folder.path().join("a.json")).expect("a file");
    let points = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let request =
        points.into_iter().find(|own| own["type"] == "Point" && own["metric"] == "http_reqs");
    let request = &request.expect("a request")["data"];
    let expected =
        serde_json::json!({"status": "404", "ip": "127.0.0.1", "env": "ci", "team": "a"});
    assert_eq!(request["tags"], expected);
    assert_eq!(request["metadata"], serde_json::json!({"vu": "1", "iter": "0"}));
    let table = std::fs::read_to_string(folder.path().join("a.csv")).expect("a file");
    assert!(
        table.starts_with("metric_name,timestamp,metric_value,ip,status,extra_tags,metadata\n")
    );
}

#[test]
fn influxdb_gets_a_line_for_each_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let (port, told) = receiver();
    let (code, errors) =
        run(folder.path(), &[&format!("influxdb=http://127.0.0.1:{port}/runs")], &[]);
    assert_eq!(code, 0, "{errors}");
    let (create, _) = told.recv().expect("a request");
    assert!(create.starts_with("POST /query?q=CREATE%20DATABASE%20%22runs%22 "), "{create}");
    let all: Vec<(String, Vec<u8>)> = told.try_iter().collect();
    assert!(all.iter().all(|(head, _)| head.starts_with("POST /write?db=runs ")), "{all:?}");
    let lines = all.iter().flat_map(|(_, body)| body.split(|byte| *byte == b'\n'));
    let requests = lines.filter(|line| line.starts_with(b"http_reqs,"));
    let requests: Vec<_> =
        requests.map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    assert_eq!(requests.len(), 2, "{all:?}");
    let line = &requests[0];
    assert!(line.contains(",name=home,") && line.contains("group=::shop"), "{line}");
    assert!(line.contains(" url=\"home\",value=1 "), "{line}");
}

#[test]
fn prometheus_gets_series_with_the_names_of_k6() {
    let folder = tempfile::tempdir().expect("a folder");
    let (port, told) = receiver();
    let url = format!("http://127.0.0.1:{port}/api/v1/write");
    let variables = [
        ("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()),
        ("K6_PROMETHEUS_RW_BEARER_TOKEN", "hidden-word"),
        ("K6_PROMETHEUS_RW_HEADERS_X-Scope-OrgID", "me"),
        ("K6_PROMETHEUS_RW_TREND_STATS", "p(95),max"),
    ];
    let (code, errors) = run(folder.path(), &["experimental-prometheus-rw"], &variables);
    assert_eq!((code, errors.contains("hidden-word")), (0, false), "{errors}");
    let all: Vec<(String, Vec<u8>)> = told.try_iter().collect();
    let (head, body) = all.last().expect("a request");
    let head = head.to_lowercase();
    assert!(head.contains("authorization: bearer hidden-word"), "{head}");
    assert!(head.contains("x-scope-orgid: me"), "{head}");
    // Snappy repeats what it has had: the first of each name is there as it is.
    assert!(has(body, "k6_"), "{body:?}");
}

#[test]
fn opentelemetry_gets_metrics_with_the_names_of_k6() {
    let folder = tempfile::tempdir().expect("a folder");
    let (port, told) = receiver();
    let endpoint = format!("127.0.0.1:{port}");
    let variables = [
        ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", endpoint.as_str()),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_METRIC_PREFIX", "load."),
        ("K6_OTEL_SERVICE_NAME", "shop-test"),
    ];
    let (code, errors) = run(folder.path(), &["opentelemetry"], &variables);
    assert_eq!(code, 0, "{errors}");
    let all: Vec<(String, Vec<u8>)> = told.try_iter().collect();
    let (head, body) = all.last().expect("a request");
    assert!(head.starts_with("POST /v1/metrics "), "{head}");
    for part in
        ["shop-test", "load.http_req_duration", "load.checks", "nonzero", "::shop", "render"]
    {
        assert!(has(body, part), "{part}");
    }
}

#[test]
fn what_goes_wrong_with_an_output_is_said_and_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    // Port 1 is nobody's.
    let url = "influxdb=http://me:hidden-word@127.0.0.1:1/x";
    let (code, errors) = run(folder.path(), &[url], &[("K6_INFLUXDB_CONCURRENT_WRITES", "2")]);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("points were lost"), "{errors}");
    assert!(errors.contains("K6_INFLUXDB_CONCURRENT_WRITES has no effect"), "{errors}");
    assert!(!errors.contains("hidden-word"), "{errors}");
    for (output, expected) in [
        ("cloud", "sends nothing to k6's cloud"),
        ("web-dashboard", "--ui"),
        ("statsd", "--out statsd=HOST:PORT"),
        ("mine", "expected json, csv, influxdb"),
    ] {
        let (code, errors) = run(folder.path(), &[output], &[]);
        assert_eq!(code, 255, "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
    let (code, errors) = run(folder.path(), &[], &[("K6_WEB_DASHBOARD", "true")]);
    assert!(code == 255 && errors.contains("--ui"), "{errors}");
}
