//! Nodes as processes are: threads here, each with a connection of its own.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use squall_fleet::controller::{FleetOptions, FleetSource};
use squall_fleet::node::{Asked, Error, NodeOptions, serve};
use squall_fleet::protocol::messages::{Allows, Card};
use squall_fleet::transport::Client;
use squall_runner::{Handle, Options, RunParts, run_with};

use crate::peer::Server;

struct Node {
    leaves: Arc<AtomicBool>,
    said: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Node {
    fn start(server: &Server, name: &str, spool: &std::path::Path) -> Node {
        let options = NodeOptions {
            connect: server.connect(name),
            name: Some(name.to_owned()),
            zone: "eu".to_owned(),
            weight: 2.0,
            once: false,
            wait_for_run: None,
            allows: Allows { hosts: vec!["127.0.0.1".to_owned()], ..Allows::default() },
            spool: spool.to_owned(),
            spool_size: 1 << 20,
        };
        let leaves = Arc::new(AtomicBool::new(false));
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (asked, lines) = (leaves.clone(), said.clone());
        let thread = std::thread::spawn(move || {
            let asked = move || if asked.load(Relaxed) { Asked::Leave } else { Asked::GoOn };
            serve(options, asked, move |line| lines.lock().unwrap().push(line.to_owned()))
        });
        Node { leaves, said, thread }
    }

    fn leave(self) -> Result<(), Error> {
        self.leaves.store(true, Relaxed);
        self.thread.join().unwrap()
    }
}

/// The cards of a fleet, once there are so many.
fn cards(client: &Client, count: usize) -> Vec<Card> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let keys = client.keys("node.*").unwrap();
        let cards: Vec<Card> =
            keys.iter().filter_map(|(_, _, card)| serde_json::from_slice(card).ok()).collect();
        if cards.len() == count {
            return cards;
        }
        assert!(Instant::now() < until, "{cards:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs nats-server"]
fn a_node_joins_under_a_name_that_no_other_has_and_leaves() {
    let (server, spools) = (Server::open(), [tempfile::tempdir(), tempfile::tempdir()]);
    let spools = spools.map(Result::unwrap);
    let client = Client::open(server.connect("looks")).unwrap();
    let first = Node::start(&server, "eu-1", spools[0].path());
    let card = cards(&client, 1).remove(0);
    assert_eq!((card.node.as_str(), card.zone.as_str(), card.weight), ("eu-1", "eu", 2.0));
    assert!(card.calibration > 0.0 && !card.key.is_empty(), "{card:?}");
    // Another machine under the same name.
    let second = Node::start(&server, "eu-1", spools[1].path());
    let error = second.thread.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("eu-1") && error.contains("taken"), "{error}");
    // On the same machine the spool says so at once.
    let third = Node::start(&server, "eu-1", spools[0].path());
    let error = third.thread.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("another node on this machine"), "{error}");
    assert_eq!(cards(&client, 1)[0].boot, card.boot);
    let said = first.said.clone();
    assert_eq!(first.leave(), Ok(()));
    let said = said.lock().unwrap().join("\n");
    assert!(said.contains("eu-1"), "{said}");
    cards(&client, 0);
    assert!(!spools[0].path().join("eu-1").exists(), "nothing is left of it");
}

/// A run on two nodes is the run of one process: what the target has counted is in the result, to the last request.
#[test]
#[ignore = "needs nats-server"]
fn a_run_on_two_nodes_is_counted_to_the_last_request() {
    let (server, folder) = (Server::open(), tempfile::tempdir().unwrap());
    let target = squall_target::Server::start(squall_target::Options::default()).unwrap();
    std::fs::write(folder.path().join("people.csv"), "name\nann\nbob\ncid\n").unwrap();
    let plan = format!(
        "target: {}\nsetup: [{{get: /, extract: {{page: {{regex: '(<)'}}}}}}]\ndata: {{people: {{csv: people.csv}}}}\nscenarios: {{a: {{load: {{rate: 50/s, for: 3s}}, steps: [{{get: '/?q=${{people.name}}'}}]}}}}\nteardown: [{{get: /}}]\n",
        target.url()
    );
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, plan).unwrap();
    let plan = squall_runner::load(&path, &Default::default()).unwrap();
    let nodes = ["a", "b"].map(|name| Node::start(&server, name, &folder.path().join("spool")));
    let options = FleetOptions::new(server.connect("controller"), vec![(String::new(), 2)]);
    let parts = RunParts { source: Box::new(FleetSource::new(options)), ..RunParts::default() };
    let finished =
        run_with(&plan, &Options::default(), parts, &Handle::default()).map_err(|error| error.text);
    let said: Vec<Vec<String>> = nodes.iter().map(|own| own.said.lock().unwrap().clone()).collect();
    for node in nodes {
        assert_eq!(node.leave(), Ok(()), "{said:#?}");
    }
    let run = finished.unwrap_or_else(|error| panic!("{error}\n{said:#?}")).run;
    assert_eq!(run.incomplete, [] as [&str; 0], "{said:#?}");
    assert_eq!((run.totals.all().count, run.totals.all().errors), (150, 0), "{said:#?}");
    // With those of the setup and the teardown, which ran once.
    assert_eq!(target.stats().requests, 152, "{said:#?}");
}
