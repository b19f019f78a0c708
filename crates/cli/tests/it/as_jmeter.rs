//! What `squall jmeter` writes of a plan: files of samples, and what is said of them.

use crate::common::peer::{Peer, response};
use crate::common::squall;

/// A thread group of one thread and one loop, with this in it.
fn group(class: &str, name: &str, inside: &str) -> String {
    format!(
        r#"<{class} testname="{name}"><stringProp name="ThreadGroup.num_threads">1</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <stringProp name="LoopController.loops">1</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp></{class}><hashTree>{inside}</hashTree>"#
    )
}

/// A request for a path, with these properties and this below it.
fn request(name: &str, path: &str, more: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testname="{name}">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
        <stringProp name="HTTPSampler.path">{path}</stringProp>{more}</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

/// A folder with these elements of a test plan as `plan.jmx`.
fn folder(elements: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
    );
    std::fs::write(folder.path().join("plan.jmx"), plan).expect("writable");
    folder
}

/// Runs the plan in a folder with samples in `out.jtl`; its standard output and standard error.
fn run(folder: &tempfile::TempDir, port: u16, more: &[&str]) -> (String, String) {
    let port = format!("-Jport={port}");
    let line = ["jmeter", "-n", "-t", "plan.jmx", "-l", "out.jtl", &port];
    let done = squall(folder.path(), &[&line[..], more].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{out}\n{errors}");
    (out, errors)
}

/// The rows of a file of samples, without its head; fields have no commas here, but in quotes.
fn rows(folder: &tempfile::TempDir, file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.path().join(file)).expect("samples");
    let fields = |line: &str| {
        let mut is_quoted = false;
        let split = line.split(|c| {
            is_quoted ^= c == '"';
            c == ',' && !is_quoted
        });
        split.map(|field| field.trim_matches('"').to_owned()).collect()
    };
    text.lines().skip(1).map(fields).collect()
}

/// These columns of rows.
fn columns<const N: usize>(rows: &[Vec<String>], columns: [usize; N]) -> Vec<[&str; N]> {
    rows.iter().map(|row| columns.map(|at| row[at].as_str())).collect()
}

const LABEL: usize = 2;
const THREAD: usize = 5;

/// A server that answers all requests with 200.
fn kind_server() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "ok"));
        }
    })
}

#[test]
fn threads_are_numbered_within_set_up_and_load() {
    let peer = kind_server();
    let elements = group("SetupThreadGroup", "setup", &request("a", "/a", "", ""))
        + &group("ThreadGroup", "users", &request("b", "/b", "", ""))
        + &group("PostThreadGroup", "end", &request("c", "/c", "", ""));
    let folder = folder(&elements);
    run(&folder, peer.address.port(), &[]);
    let rows = rows(&folder, "out.jtl");
    let expected = [["a", "setup 1-1"], ["b", "users 1-1"], ["c", "end 1-1"]];
    assert_eq!(columns(&rows, [LABEL, THREAD]), expected);
}

/// Though there is no proxy, and so nothing that would send it.
#[test]
fn the_password_of_a_proxy_is_in_no_report() {
    let peer = kind_server();
    let folder = folder(&group("ThreadGroup", "g", &request("r", "/a", "", "")));
    for (number, more) in
        [&["-u", "lovelace", "-a", "swordfish"][..], &["-ulovelace", "--password=swordfish"]]
            .iter()
            .enumerate()
    {
        let report = format!("report{number}");
        run(&folder, peer.address.port(), &[*more, &["-f", "-e", "-o", &report]].concat());
        let page = folder.path().join(report).join("index.html");
        let page = std::fs::read_to_string(page).expect("a report");
        assert!(page.contains("lovelace") && !page.contains("swordfish"), "{more:?}");
    }
}

/// The page and what it loads are one sample, which fails with any of it.
#[test]
fn a_page_with_what_it_loads_is_one_sample() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let page = |images: &str| {
                let length = images.len();
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{images}"
                )
            };
            client.send(match head.split(' ').nth(1) {
                Some("/good") => page("<img src=a.png>"),
                Some("/bad") => page("<img src=a.png><img src=missing.png>"),
                Some("/none") => page("<p>"),
                Some("/a.png") => response("200 OK", "a"),
                _ => response("404 Not Found", ""),
            });
        }
    });
    let loads = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp>"#;
    let requests =
        ["good", "bad", "none"].map(|name| request(name, &format!("/{name}"), loads, ""));
    let control = r#"<TransactionController testname="all"><boolProp name="TransactionController.parent">false</boolProp>
        <boolProp name="TransactionController.includeTimers">false</boolProp></TransactionController>"#;
    let inside = format!("{control}<hashTree>{}</hashTree>", requests.concat());
    let folder = folder(&group("ThreadGroup", "users", &inside));
    let port = peer.address.port();
    let (out, _) = run(&folder, port, &[]);
    assert!(out.contains("summary =      3 in ") && out.contains("Err:     1 (33.33%)"), "{out}");
    let all = rows(&folder, "out.jtl");
    let lost = format!(
        "Embedded resource download error:http://127.0.0.1:{port}/missing.png code:404 message:Not Found, "
    );
    let expected = [
        ["good", "200", "OK", "true"],
        ["good-0", "200", "OK", "true"],
        ["good-1", "200", "OK", "true"],
        ["bad", "200", &lost, "false"],
        ["bad-0", "200", "OK", "true"],
        ["bad-1", "200", "OK", "true"],
        ["bad-2", "404", "Not Found", "false"],
        ["none", "200", "OK", "true"],
        ["all", "", "Number of samples in transaction : 3, number of failing samples : 1", "false"],
    ];
    assert_eq!(columns(&all, [LABEL, 3, 4, 7]), expected);
    let bytes = |label: &str| -> u64 {
        let own = all.iter().filter(|row| row[LABEL] == label);
        own.map(|row| row[9].parse::<u64>().expect("a number")).sum()
    };
    assert_eq!(bytes("good"), bytes("good-0") + bytes("good-1"));
    assert_eq!(bytes("all"), bytes("good") + bytes("bad") + bytes("none"));
    let apart = "-Jjmeter.save.saveservice.subresults=false";
    run(&folder, port, &["-f", apart]);
    let labels = columns(&rows(&folder, "out.jtl"), [LABEL]).concat().join(" ");
    assert_eq!(labels, "good bad none all");
}

#[test]
fn what_went_wrong_is_said_in_the_words_of_jmeter() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            match head.split(' ').nth(1) {
                Some("/drop") => return,
                Some("/late") => std::thread::sleep(std::time::Duration::from_secs(2)),
                _ => client.send(response("200 OK", "hello")),
            }
        }
    });
    let asserts = |own: &str| {
        format!(
            r#"<ResponseAssertion testname="asserted"><collectionProp name="Asserion.test_strings"><stringProp name="0">bye</stringProp></collectionProp>
            <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp>
            <stringProp name="Assertion.custom_message">{own}</stringProp></ResponseAssertion><hashTree/>"#
        )
    };
    let timeout = r#"<stringProp name="HTTPSampler.response_timeout">100</stringProp>"#;
    let nobody = request("refused", "/", "", "").replace("${__P(port)}", "9");
    let inside = request("dropped", "/drop", "", "")
        + &request("late", "/late", timeout, "")
        + &nobody
        + &request("asserted", "/", "", &asserts(""))
        + &request("own", "/", "", &asserts("say ${__threadNum}, not this"));
    let folder = folder(&group("ThreadGroup", "users", &inside));
    let port = peer.address.port();
    let (out, _) = run(&folder, port, &[]);
    assert!(out.contains("summary =      5 in ") && out.contains("Err:     5 (100.00%)"), "{out}");
    let all = rows(&folder, "out.jtl");
    let dropped = format!("Non HTTP response message: 127.0.0.1:{port} failed to respond");
    let expected = [
        [
            "dropped",
            "Non HTTP response code: org.apache.http.NoHttpResponseException",
            &dropped,
            "",
        ],
        [
            "late",
            "Non HTTP response code: java.net.SocketTimeoutException",
            "Non HTTP response message: Read timed out",
            "",
        ],
        [
            "refused",
            "Non HTTP response code: org.apache.http.conn.HttpHostConnectException",
            "Non HTTP response message: Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused",
            "",
        ],
        ["asserted", "200", "OK", "Test failed: text expected to contain /bye/"],
        ["own", "200", "OK", "say 1, not this"],
    ];
    assert_eq!(columns(&all, [LABEL, 3, 4, 8]), expected);
    assert!(all.iter().all(|row| row[7] == "false"), "{all:?}");
}

/// Listeners write their files, in their scope, beside the one that is asked for; a file that cannot be written stops nothing.
#[test]
fn listeners_write_their_files() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            client.send(match head.starts_with("GET /bad ") {
                true => response("500 No", "no"),
                false => response("200 OK", "ok"),
            });
        }
    });
    let listener = |file: &str, more: &str| {
        format!(
            r#"<ResultCollector testname="l"><stringProp name="filename">{file}</stringProp>{more}</ResultCollector><hashTree/>"#
        )
    };
    let errors = r#"<boolProp name="ResultCollector.error_logging">true</boolProp>"#;
    let xml = r#"<objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><xml>true</xml></value></objProp>"#;
    let one = request("good", "/good", "", "") + &request("bad", "/bad", "", "");
    let elements = listener("made/${__P(name,errors)}.jtl", errors)
        + &listener("all.xml", xml)
        + &listener("all.xml", xml)
        + &listener("out.jtl", "")
        + &listener("/proc/nowhere/at.jtl", "")
        + &group("ThreadGroup", "a", &(one + &listener("a.jtl", "")))
        + &group("ThreadGroup", "b", &request("other", "/other", "", ""));
    let folder = folder(&elements);
    let port = peer.address.port();
    let (_, told) = run(&folder, port, &[]);
    assert!(told.contains("/proc/nowhere/at.jtl") && told.contains("left out"), "{told}");
    let sorted = |file: &str| {
        let mut labels = columns(&rows(&folder, file), [LABEL]).concat().join(" ");
        if file == "out.jtl" {
            let mut words: Vec<&str> = labels.split(' ').collect();
            words.sort_unstable();
            labels = words.join(" ");
        }
        labels
    };
    assert_eq!(sorted("a.jtl"), "good bad");
    assert_eq!(sorted("made/errors.jtl"), "bad");
    assert_eq!(sorted("out.jtl"), "bad good other", "each sample once");
    let xml = || std::fs::read_to_string(folder.path().join("all.xml")).expect("samples");
    assert_eq!(xml().matches("<httpSample ").count(), 3, "{}", xml());
    // As in JMeter files go on, also where squall runs the plan in its own way.
    let done = squall(folder.path(), &["run", "plan.jmx", &format!("-Jport={port}"), "-q"]);
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(sorted("a.jtl"), "good bad good bad");
    assert_eq!(xml().matches("<httpSample ").count(), 6, "{}", xml());
}
