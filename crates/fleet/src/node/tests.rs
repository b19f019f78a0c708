//! Loads on nodes in this process, against the built-in target: what they send is counted there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use squall_engine::Progress;
use squall_metrics::{ErrorKind, NameId, RequestStats, RowKind, Source};
use squall_target::Server;

use super::job::tests::{job, local, sealed};
use super::load::Load;
use crate::protocol::io::{LoadCommand, LoadEvent, Nanos};
use crate::protocol::messages::{Allows, Change, Job, Order, Second, Shards};
use crate::record::{self, Merger};
use crate::transport::drive::Clocks;

/// How long an event may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// A node with a load.
struct Node {
    load: Load,
    events: Receiver<LoadEvent>,
    order: Arc<Order>,
    key: Arc<[u8]>,
    _temporary: tempfile::TempDir,
}

fn instant(steady: Nanos) -> Instant {
    Clocks::new().instant(steady)
}

/// In so many milliseconds, by the steady clock.
fn soon(milliseconds: u64) -> Nanos {
    Clocks::new().now().steady + milliseconds * 1_000_000
}

fn target() -> Server {
    let options = squall_target::Options { seed: Some(1), ..squall_target::Options::default() };
    Server::start(options).expect("a target")
}

fn plan(server: &Server, load: &str) -> String {
    format!(
        "target: {}\nscenarios: {{a: {{load: {{{load}}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    )
}

impl Node {
    fn new(job: Job, allows: Allows) -> Node {
        let sealed = sealed(job, &[], allows, 8);
        let (tell, events): (Sender<LoadEvent>, _) = channel();
        let load = Load::new(Arc::new(sealed.lender), instant, move |event| {
            // A test that has seen enough listens no more.
            let _enough = tell.send(event);
        });
        let key = sealed.key.into();
        let order = Arc::new(sealed.order);
        let mut node = Node { load, events, order, key, _temporary: sealed.temporary };
        node.prepare();
        node
    }

    fn prepare(&mut self) {
        let (order, key) = (self.order.clone(), self.key.clone());
        self.load.on(LoadCommand::Prepare { order, key, number: 3, of: 20 });
    }

    /// One whose plan can run.
    fn ready(plan: &str) -> Node {
        let node = Node::new(job(plan), local());
        match node.next() {
            LoadEvent::Ready => node,
            other => panic!("{other:?}"),
        }
    }

    fn next(&self) -> LoadEvent {
        self.events.recv_timeout(PATIENCE).expect("an event")
    }

    fn start(&mut self, at: Nanos, shards: &[u32]) {
        self.load.on(LoadCommand::Start { at, shards: shards.into() });
    }

    /// The next second that it hands over.
    fn second(&self) -> Second {
        loop {
            match self.next() {
                LoadEvent::Second(second) => return second,
                LoadEvent::Done { .. } | LoadEvent::Progress(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// All seconds until what it has is done, since this second.
    fn until_done(&self, wanted: u32) -> Vec<Second> {
        let mut seconds = Vec::new();
        loop {
            match self.next() {
                LoadEvent::Second(second) => seconds.push(second),
                LoadEvent::Done { since } if since == Some(wanted) => return seconds,
                LoadEvent::Done { .. } | LoadEvent::Progress(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// All seconds until the end, which is asked for when all is done.
    fn finish(&mut self) -> Vec<Second> {
        let mut seconds = Vec::new();
        loop {
            match self.next() {
                LoadEvent::Second(second) => seconds.push(second),
                LoadEvent::Done { since: Some(_) } => self.stop(),
                LoadEvent::Done { .. } | LoadEvent::Progress(_) => {}
                LoadEvent::Ended { failures } => {
                    assert!(failures.is_empty(), "{failures:?}");
                    return seconds;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn stop(&mut self) {
        self.load.on(LoadCommand::Change(Change::Stop { graceful: 0 }));
    }

    /// All seconds until the end.
    fn rest(&self) -> Vec<Second> {
        let mut seconds = Vec::new();
        loop {
            match self.next() {
                LoadEvent::Second(second) => seconds.push(second),
                LoadEvent::Done { .. } | LoadEvent::Progress(_) => {}
                LoadEvent::Ended { failures } => {
                    assert!(failures.is_empty(), "{failures:?}");
                    return seconds;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Requests that ended in a second, as the record says.
fn requests(second: &Second) -> u64 {
    let mut merger = Merger::new();
    let record = record::decode(&second.record).expect("a record");
    merger.add("n", "", second.second, &record);
    let Some(slice) = merger.take(second.second, Source::Worker(0)) else { return 0 };
    let named: BTreeMap<_, _> = slice.names.iter().map(|(id, key)| (*id, key)).collect();
    let is_request = |id| named.get(&id).is_some_and(|key| key.place.kind == RowKind::Request);
    slice.rows().filter(|(id, _)| is_request(*id)).map(|(_, stats)| stats.count).sum()
}

/// How many errors there were of each kind.
fn errors(seconds: &[Second]) -> Vec<(ErrorKind, u64)> {
    let mut all = RequestStats::default();
    for second in seconds {
        let mut merger = Merger::new();
        let record = record::decode(&second.record).expect("a record");
        merger.add("n", "", second.second, &record);
        let Some(slice) = merger.take(second.second, Source::Worker(0)) else { continue };
        let is_request = |id: &NameId| {
            slice.names.iter().any(|(own, key)| own == id && key.place.kind == RowKind::Request)
        };
        slice.rows().filter(|(id, _)| is_request(id)).for_each(|(_, stats)| all.merge(stats));
    }
    all.error_kinds
}

fn sum(seconds: &[Second]) -> u64 {
    seconds.iter().map(requests).sum()
}

#[test]
fn two_nodes_are_one_run() {
    for (load, expected) in [
        ("rate: 100/s, for: 2s", 200),
        ("users: 6, iterations: 5", 30),
        ("users: 6, total_iterations: 41", 41),
    ] {
        let server = target();
        let plan = plan(&server, load);
        let mut nodes = [Node::ready(&plan), Node::ready(&plan)];
        let at = soon(300);
        nodes[0].start(at, &[0, 1, 2, 3]);
        nodes[1].start(at, &[4, 5, 6, 7]);
        let seconds = nodes.each_mut().map(Node::finish);
        let [one, two] = seconds.each_ref().map(|seconds| sum(seconds));
        assert_eq!((one + two, server.stats().requests), (expected, expected), "{load}");
        assert!(one > 0 && two > 0, "{load}: {one} {two}");
        for second in seconds.iter().flatten() {
            assert!(second.is_whole && second.shards.len() == 4, "{second:?}");
        }
    }
}

/// A node whose share is done stays, and does what it gets later.
#[test]
fn a_node_that_is_done_takes_over_what_another_leaves() {
    let server = target();
    let mut node = Node::ready(&plan(&server, "users: 8, iterations: 3"));
    node.start(soon(300), &[0, 1]);
    let mut seconds = node.until_done(0);
    assert_eq!(server.stats().requests, 6);
    // Of the three iterations of user 5 another node had begun two.
    let users = BTreeMap::from([((0, 5), 2)]);
    node.load.on(LoadCommand::Known(Progress { users, ..Progress::default() }));
    node.load.on(LoadCommand::Reshare { from: 3, shards: [0, 1, 5].into() });
    seconds.extend(node.until_done(3));
    assert_eq!(server.stats().requests, 7);
    node.stop();
    seconds.extend(node.rest());
    assert_eq!(sum(&seconds), 7);
}

#[test]
fn a_node_tells_how_far_its_users_are() {
    let server = target();
    let mut node = Node::ready(&plan(&server, "users: 8, iterations: 3"));
    node.start(soon(100), &[0, 1]);
    let mut known = Progress::default();
    let mut told = |event: &LoadEvent| {
        if let LoadEvent::Progress(progress) = event {
            known.merge(progress);
        }
        matches!(event, LoadEvent::Ended { .. })
    };
    loop {
        let event = node.next();
        if told(&event) {
            break;
        }
        if let LoadEvent::Done { since: Some(_) } = event {
            node.stop();
        }
    }
    assert_eq!(known.users, BTreeMap::from([((0, 0), 3), ((0, 1), 3)]));
}

#[test]
fn a_plan_knows_which_node_runs_it() {
    let server = target();
    let text = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}, {{log: '${{node_name}}: ${{node}} of ${{nodes}}'}}]}}}}\n",
        server.url()
    );
    let mut node = Node::ready(&text);
    node.start(soon(100), &[0, 1, 2, 3, 4, 5, 6, 7]);
    let mut seconds = node.until_done(0);
    node.stop();
    seconds.extend(node.rest());
    let said: Vec<String> = seconds
        .iter()
        .flat_map(|own| record::decode(&own.record).expect("a record").aside.log)
        .map(|line| line.text)
        .collect();
    assert_eq!(said, ["eu-3: 3 of 20"]);
}

#[test]
fn shards_are_handed_over_at_a_whole_second() {
    let server = target();
    let plan = plan(&server, "rate: 80/s, for: 4s");
    let mut nodes = [Node::ready(&plan), Node::ready(&plan)];
    let at = soon(300);
    nodes[0].start(at, &[0, 1, 2, 3, 4, 5]);
    // One that joins has nothing at first.
    nodes[1].start(at, &[]);
    let reshare = |node: &mut Node, from, shards: &[u32]| {
        node.load.on(LoadCommand::Reshare { from, shards: shards.into() });
    };
    reshare(&mut nodes[0], 2, &[0, 1]);
    reshare(&mut nodes[1], 2, &[2, 3, 4, 5, 6, 7]);
    let seconds = nodes.each_ref().map(Node::rest);
    let [one, two] = seconds.each_ref().map(|seconds| sum(seconds));
    assert_eq!(one + two, server.stats().requests);
    assert_eq!((one, two), (2 * 60 + 2 * 20, 2 * 60));
    let shards = |seconds: &[Second], second| -> Option<Shards> {
        seconds.iter().find(|own| own.second == second).map(|own| own.shards.clone())
    };
    assert_eq!(shards(&seconds[0], 1).as_deref(), Some(&[0, 1, 2, 3, 4, 5][..]));
    assert_eq!(shards(&seconds[0], 2).as_deref(), Some(&[0, 1][..]));
    assert_eq!(shards(&seconds[1], 1), None, "nothing to say without shards");
    assert_eq!(shards(&seconds[1], 3).map(|own| own.len()), Some(6));
}

#[test]
fn a_fence_stops_everything_until_it_goes_on_at_a_whole_second() {
    let server = target();
    let mut node = Node::ready(&plan(&server, "rate: 80/s, for: 1h"));
    node.start(soon(300), &[0, 1, 2, 3]);
    let mut seconds = vec![node.second()];
    assert_eq!((seconds[0].second, seconds[0].is_whole), (0, true));
    node.load.on(LoadCommand::Fence);
    // What was recorded until then is handed over.
    while seconds.last().is_some_and(|last| last.is_whole) {
        seconds.push(node.second());
    }
    let fenced = seconds.last().expect("one").second;
    let sent = server.stats().requests;
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.stats().requests, sent, "nobody sends any more");
    let from = fenced + 4;
    node.load.on(LoadCommand::Resume { from, shards: [0, 1, 6].into() });
    let mut later = Vec::new();
    while later.len() < 2 {
        later.push(node.second());
    }
    node.load.on(LoadCommand::Change(Change::Stop { graceful: 1_000_000_000 }));
    later.extend(node.rest());
    assert_eq!(later[0].second, from, "{:?}", later.iter().map(|own| own.second));
    assert!(later.iter().all(|own| *own.shards == [0, 1, 6] && own.is_whole), "{later:?}");
    assert_eq!(sum(&seconds) + sum(&later), server.stats().requests);
    // The first second after it is a whole one: three of eight shards of 80 a second.
    assert!(requests(&later[0]) + requests(&later[1]) >= 30, "{}", sum(&later));
}

#[test]
fn a_load_is_paused_and_changed() {
    let server = target();
    let mut node = Node::ready(&plan(&server, "rate: 80/s, for: 1h, max_users: 50"));
    let change = |node: &mut Node, change| node.load.on(LoadCommand::Change(change));
    // Before the start, too.
    change(&mut node, Change::Pause { from: 0 });
    node.start(soon(100), &[0, 1, 2, 3, 4, 5, 6, 7]);
    let first = node.second();
    assert_eq!((requests(&first), server.stats().requests), (0, 0));
    let shape = "{rate: 200/s, for: 1h, max_users: 60}".to_owned();
    change(&mut node, Change::Shape { load: 0, shape, after: 0 });
    change(&mut node, Change::GoOn { from: first.second + 2 });
    while requests(&node.second()) < 150 {}
    let bad = "{users: many}".to_owned();
    change(&mut node, Change::Shape { load: 0, shape: bad, after: 0 });
    change(&mut node, Change::Abort);
    loop {
        match node.next() {
            LoadEvent::Second(_) | LoadEvent::Progress(_) | LoadEvent::Done { .. } => {}
            LoadEvent::Ended { failures } => {
                assert!(failures.iter().any(|why| why.contains("was not made")), "{failures:?}");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A node that carries none of its shards says so of each second, so that they are listed with the reason.
#[test]
fn a_node_that_carries_none_of_its_shards_says_so() {
    let server = target();
    let allows = Allows { max_users: Some(9), ..local() };
    let mut node = Node::new(job(&plan(&server, "users: 80, for: 1h")), allows);
    assert!(matches!(node.next(), LoadEvent::Ready));
    node.start(soon(100), &[0, 1]);
    let mut seconds = vec![node.second(), node.second()];
    assert!(seconds.iter().all(|own| own.shards.is_empty() && own.is_whole), "{seconds:?}");
    assert_eq!((seconds[0].second, seconds[1].second), (0, 1));
    node.stop();
    let failures = loop {
        match node.next() {
            LoadEvent::Second(second) => seconds.push(second),
            LoadEvent::Ended { failures } => break failures,
            _ => {}
        }
    };
    assert_eq!((sum(&seconds), server.stats().requests), (0, 0));
    assert!(failures[0].contains("drove 0 of its 2 shards"), "{failures:?}");
}

#[test]
fn a_step_that_stops_the_run_asks_for_it() {
    let server = target();
    let text = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 2, for: 1h}}, steps: [{{get: /}}, {{stop: run}}]}}}}\n",
        server.url()
    );
    let mut node = Node::ready(&text);
    node.start(soon(50), &[0, 1, 2, 3, 4, 5, 6, 7]);
    let (mut asked, mut ended) = (0, false);
    while !ended {
        match node.next() {
            LoadEvent::StopAsked => asked += 1,
            LoadEvent::Ended { .. } => ended = true,
            _ => {}
        }
    }
    assert_eq!(asked, 1);
}

#[test]
fn what_a_node_does_not_allow_is_refused() {
    let server = target();
    let text = plan(&server, "users: 2, for: 1s");
    let refused = |job: Job, allows: Allows| match Node::new(job, allows).next() {
        LoadEvent::Refused(why) => why,
        other => panic!("{other:?}"),
    };
    let hosts = |host: &str| Allows { hosts: vec![host.to_owned()], ..Allows::default() };
    assert!(refused(job(&text), Allows::default()).contains("--allow-hosts"));
    let why = refused(job(&text), hosts("shop.example.com"));
    assert!(why.contains("127.0.0.1") && why.contains("--allow-hosts 127.0.0.1"), "{why}");
    let exec = "target: http://127.0.0.1:1\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{exec: [ls]}]}}\n";
    let why = refused(Job { allow_exec: true, ..job(exec) }, local());
    assert!(why.contains("--allow-exec"), "{why}");
    assert_eq!(server.stats().requests, 0);
}

/// What the plan allows does not matter to a node: a redirect to a host that it was not started for is an error of a kind of
/// its own, and is not sent.
#[test]
fn a_redirect_to_another_host_is_not_followed() {
    let server = target();
    let sent = |host: &str| {
        let elsewhere = server.url().replace("127.0.0.1", host);
        let plan = format!(
            "target: {}\nallow_hosts: ['*']\nscenarios: {{a: {{load: {{users: 2, iterations: 3}}, steps: [{{get: '/redirect-to?url={elsewhere}/bytes/1', redirects: 2}}]}}}}\n",
            server.url()
        );
        let mut node = Node::ready(&plan);
        let before = server.stats().requests;
        node.start(soon(50), &[0, 1, 2, 3, 4, 5, 6, 7]);
        let mut seconds = node.until_done(0);
        node.stop();
        seconds.extend(node.rest());
        (server.stats().requests - before, sum(&seconds), errors(&seconds))
    };
    // A name whose address is allowed is allowed.
    assert_eq!(sent("localhost"), (12, 6, vec![]));
    assert_eq!(sent("127.0.0.2"), (6, 6, vec![(ErrorKind::HostNotAllowed, 6)]));
}

#[test]
fn a_node_carries_no_more_users_than_it_may() {
    let server = target();
    let text = plan(&server, "users: 8, iterations: 2");
    let node = Node::new(job(&text), Allows { max_users: Some(3), ..local() });
    let LoadEvent::Ready = node.next() else { panic!("not ready") };
    let mut node = node;
    node.start(soon(50), &[0, 1, 2, 3, 4, 5]);
    let mut shards = Vec::new();
    let failures = loop {
        match node.next() {
            LoadEvent::Second(second) => shards.push(second.shards.len()),
            LoadEvent::Done { since: Some(_) } => node.stop(),
            LoadEvent::Done { since: None } | LoadEvent::Progress(_) => {}
            LoadEvent::Ended { failures } => break failures,
            other => panic!("{other:?}"),
        }
    };
    assert!(
        failures[0].contains("drove 3 of its 6 shards") && failures[0].contains("--max-users"),
        "{failures:?}"
    );
    assert!(!shards.is_empty() && shards.iter().all(|count| *count == 3), "{shards:?}");
    assert_eq!(server.stats().requests, 6);
}

/// More users than it carries are not driven, and it says of which shards.
#[test]
fn a_load_that_grows_beyond_a_node_goes_on_with_fewer_shards() {
    let server = target();
    let text = plan(&server, "users: 8, for: 1h");
    let mut node = Node::new(job(&text), Allows { max_users: Some(8), ..local() });
    let LoadEvent::Ready = node.next() else { panic!("not ready") };
    node.start(soon(50), &[0, 1, 2, 3, 4, 5, 6, 7]);
    let first = node.second();
    assert_eq!(first.shards.len(), 8);
    let (shape, after) = ("{users: 16, for: 1h}".to_owned(), 0);
    node.load.on(LoadCommand::Change(Change::Shape { load: 0, shape, after }));
    while node.second().shards.len() != 4 {}
    node.stop();
}

/// A run that is over leaves nothing behind, and another can follow it.
#[test]
fn one_run_follows_another() {
    let server = target();
    let mut node = Node::ready(&plan(&server, "users: 1, for: 1h"));
    node.start(soon(50), &[0, 1, 2, 3, 4, 5, 6, 7]);
    while requests(&node.second()) == 0 {}
    assert!(node.load.is_busy());
    node.load.on(LoadCommand::Forget);
    assert!(!node.load.is_busy());
    node.prepare();
    // Nothing of the former one is told any more, but what was on its way.
    loop {
        match node.next() {
            LoadEvent::Ready => break,
            LoadEvent::Second(_) | LoadEvent::Progress(_) | LoadEvent::Done { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let temporary = node._temporary.path().to_owned();
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 1);
    drop(node.load);
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
}
