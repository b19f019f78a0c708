//! Requests that carry a trace context, and where their IDs are told.

use std::collections::HashSet;

use squall_runner::Tried;

use crate::common::peer::{Conversation, Peer, header, response};
use crate::common::{End, Steps, logged, options};

/// Redirects `/moved`, refuses `/bad`, and keeps its connections.
fn answers(mut client: Conversation) {
    while let Some(head) = client.head() {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        client.send(match path.as_str() {
            "/moved" => "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_owned(),
            "/bad" => response("500 No", "broken"),
            _ => response("200 OK", "well"),
        });
    }
}

/// Trace and span of what a request carried.
fn context(head: &str) -> Option<(String, String)> {
    let value = header(head, "traceparent")?;
    let parts: Vec<&str> = value.split('-').collect();
    assert_eq!((parts.len(), parts[0], parts[3]), (4, "00", "01"), "{value}");
    assert_eq!((parts[1].len(), parts[2].len()), (32, 16), "{value}");
    Some((parts[1].to_owned(), parts[2].to_owned()))
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
