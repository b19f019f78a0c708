//! Requests that carry a trace context, and where their IDs are told.

use std::collections::HashSet;

use squall_report::{SampleFormat, document};
use squall_runner::{Handle, Samples, Sink, Tried};

use crate::common::peer::{Conversation, Peer, header, response};
use crate::common::{End, Steps, logged, options, rows_as_read};
use crate::http2::{self, Ways};

/// Redirects `/moved` and `/login`, refuses `/bad` and `/missing`, has a page, and keeps its connections.
fn answers(mut client: Conversation) {
    while let Some(head) = client.head() {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let moved =
            |to| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        client.send(match path.as_str() {
            "/moved" => moved("/"),
            "/login" => moved("/echo?from=login"),
            "/page" => {
                let tags = "<img src=/tagged><img src='/slow?1'><img src='/slow?2'>";
                let length = tags.len();
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{tags}")
            }
            "/bad" | "/missing" => response("500 No", "broken"),
            _ => response("200 OK", "well"),
        });
    }
}

/// Trace and span of what a request carried.
fn context(head: &str) -> Option<(String, String)> {
    Some(parts(header(head, "traceparent")?))
}

/// Trace and span of a header's value.
fn parts(value: &str) -> (String, String) {
    let parts: Vec<&str> = value.split('-').collect();
    assert_eq!((parts.len(), parts[0], parts[3]), (4, "00", "01"), "{value}");
    assert_eq!((parts[1].len(), parts[2].len()), (32, 16), "{value}");
    (parts[1].to_owned(), parts[2].to_owned())
}

/// Constant requests, such with variables, redirects, and those that say otherwise.
const STEPS: &str = "
      - get: /
      - get: '/${iteration}'
      - {get: /moved, redirects: 1}
      - {get: /, headers: {traceparent: mine}}
      - {get: /, trace_context: false}
      - {get: /bad, status_errors: true}";

#[test]
fn each_request_has_a_trace_of_its_own_and_each_hop_a_span() {
    let peer = Peer::start("127.0.0.1", answers);
    let head = "defaults: {trace_context: true}\nseed: 1";
    let run = || Steps { head, iterations: 2, ..Steps::one(&peer.url(), STEPS) }.run(End::Failed);
    let json = run();
    let first = peer.seen();
    assert_eq!(first.len(), 2 * 7);
    let of = |at: usize| context(&first[at].head).expect("a context");
    let (found, moved) = (of(2), of(3));
    assert_eq!(found.0, moved.0, "a redirect belongs to the trace");
    assert_ne!(found.1, moved.1, "and is a span of its own");
    assert_eq!(header(&first[4].head, "traceparent"), Some("mine"));
    assert_eq!(header(&first[5].head, "traceparent"), None);
    let bad = of(6).0;
    assert!(logged(&json).iter().any(|line| line.contains(&format!("trace {bad}"))), "{json}");
    // No trace comes twice, in another run neither.
    run();
    let all: Vec<String> = first
        .iter()
        .chain(&peer.seen())
        .filter_map(|seen| {
            if header(&seen.head, "traceparent") == Some("mine") {
                None
            } else {
                context(&seen.head)
            }
        })
        .map(|(trace, _)| trace)
        .collect();
    let traces: HashSet<&String> = all.iter().collect();
    assert_eq!((all.len(), traces.len()), (2 * 2 * 5, 2 * 2 * 4));
}

#[test]
fn who_watches_is_told_the_trace() {
    let peer = Peer::start("127.0.0.1", answers);
    let plan = format!(
        "target: {}\nscenarios: {{u: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /, trace_context: true}}, {{get: /}}]}}}}\n",
        peer.url()
    );
    let plan = squall_runner::load_str("plan", &plan).expect("a plan");
    let (told, traces) = std::sync::mpsc::channel();
    squall_runner::try_plan(&plan, &options(), 0, move |tried| {
        if let Tried::Exchange(exchange) = tried {
            told.send(exchange.trace.map(|trace| trace.to_string())).expect("it is read");
        }
    })
    .expect("a trial");
    let told: Vec<Option<String>> = traces.iter().collect();
    let sent = peer.seen();
    let sent: Vec<Option<String>> =
        sent.iter().map(|seen| context(&seen.head).map(|(trace, _)| trace)).collect();
    assert!(told[0].is_some() && told == sent, "{told:?} {sent:?}");
}

/// A constant request and one with a variable, a redirect, a page with three resources, and an error.
const TOLD: &str = "
      - get: /echo
      - get: '/echo?n=${iteration}'
      - {get: /login, redirects: 1}
      - {get: /page, resources: true}
      - get: /missing
      - {get: /echo?mine, headers: {traceparent: mine}}
      - {get: /echo?none, trace_context: false}";

/// Runs them; whoever reads the samples or the example of the error finds the traces that `seen` has: paths, and values of the header.
fn samples_tell_what_was_sent(
    url: &str,
    connections: &str,
    seen: impl Fn() -> Vec<(String, Option<String>)>,
) {
    let head = format!("defaults: {{trace_context: true}}\nconnections: {{{connections}}}");
    let folder = Steps { head: &head, iterations: 2, ..Steps::one(url, TOLD) }.folder();
    let plan = squall_runner::load(&folder.path().join("plan.yaml"), &Default::default());
    let csv = folder.path().join("samples.csv");
    let samples: Box<dyn Sink> = Box::new(Samples::new(&csv, SampleFormat::Csv));
    let sinks = vec![("samples".to_owned(), samples)];
    let outcome = squall_runner::run(&plan.expect("a plan"), &options(), sinks, &Handle::default());
    let json = rows_as_read(&document(&outcome.expect("a run").run));

    let seen = seen();
    assert_eq!(seen.len(), 2 * (2 + 2 + 4 + 3), "{seen:?}");
    let own = |path: &str| -> Vec<Option<&str>> {
        let of = seen.iter().filter(|(own, _)| own == path);
        of.map(|(_, value)| value.as_deref()).collect()
    };
    assert_eq!((own("/echo?mine"), own("/echo?none")), (vec![Some("mine"); 2], vec![None; 2]));
    let mut sent: Vec<(String, String, String)> = Vec::new();
    for (path, value) in seen.iter().filter(|(_, value)| value.as_deref() != Some("mine")) {
        let (trace, span) = value.as_deref().map(parts).unwrap_or_default();
        sent.push((path.clone(), trace, span));
    }
    let contexts = || sent.iter().filter(|(_, trace, _)| !trace.is_empty());
    let spans: HashSet<&String> = contexts().map(|(.., span)| span).collect();
    assert_eq!(spans.len(), 2 * 9, "each hop and each resource is a span of its own");
    let traces: HashSet<&String> = contexts().map(|(_, trace, _)| trace).collect();
    assert_eq!(traces.len(), 2 * 8, "a redirect belongs to the trace, a resource has its own");
    let mut redirects = own("/login").into_iter().zip(own("/echo?from=login"));
    let trace = |value: Option<&str>| parts(value.expect("a context")).0;
    assert!(redirects.all(|(from, to)| trace(from) == trace(to)), "{seen:?}");

    // A sample tells where its last hop went; one whose header is the plan's own has no trace of squall's.
    let mut told = columns(&csv, ["url", "trace_id"]);
    for [url, _] in &mut told {
        *url = url.split_once("127.0.0.1:").expect("a URL").1.to_owned();
        *url = url[url.find('/').expect("a path")..].to_owned();
    }
    let last = sent.into_iter().filter(|(path, ..)| path != "/login");
    let mut wanted: Vec<[String; 2]> = last.map(|(path, trace, _)| [path, trace]).collect();
    wanted.extend(own("/echo?mine").iter().map(|_| ["/echo?mine".to_owned(), String::new()]));
    told.sort();
    wanted.sort();
    assert_eq!(told, wanted);

    let missing: Vec<String> = own("/missing").into_iter().map(trace).collect();
    let example = |line: &&str| missing.iter().any(|own| line.contains(&format!("trace {own}")));
    assert!(logged(&json).iter().any(example), "{missing:?} {json}");
}

/// Columns of a file of samples, none of whose values has a comma.
fn columns<const N: usize>(csv: &std::path::Path, names: [&str; N]) -> Vec<[String; N]> {
    let text = std::fs::read_to_string(csv).expect("samples");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let places = names.map(|name| head.iter().position(|own| *own == name).expect("a column"));
    lines.map(|line| places.map(|at| line[at].to_owned())).collect()
}

#[test]
fn samples_and_examples_tell_the_traces_that_were_sent() {
    let peer = Peer::start("127.0.0.1", answers);
    samples_tell_what_was_sent(&peer.url(), "http: 1.1", || {
        let path = |head: &str| head.split(' ').nth(1).unwrap_or_default().to_owned();
        let value = |head: &str| header(head, "traceparent").map(str::to_owned);
        peer.seen().iter().map(|seen| (path(&seen.head), value(&seen.head))).collect()
    });
}

#[test]
fn over_http_2_they_do_too() {
    for tls in [false, true] {
        let peer = http2::peer(Ways { tls, ..Ways::default() });
        samples_tell_what_was_sent(&peer.url, "http: 2, tls: {insecure: true}", || {
            let heads = peer.heads.lock().expect("nobody panicked");
            let value = |headers: &http::HeaderMap| {
                Some(headers.get("traceparent")?.to_str().expect("text").to_owned())
            };
            let path =
                |uri: &http::Uri| uri.path_and_query().map_or("", |own| own.as_str()).to_owned();
            heads.iter().map(|(uri, headers)| (path(uri), value(headers))).collect()
        });
    }
}
