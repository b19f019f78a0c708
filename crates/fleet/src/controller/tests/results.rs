//! What a run makes of what its nodes say.

use squall_engine::ExchangeFilter;
use squall_metrics::HostSample;
use squall_report::document;
use squall_runner::RequestLog;

use super::*;

#[test]
fn seconds_of_nodes_are_merged_and_what_is_late_follows() {
    let gap = Missing {
        shards: [4, 5, 6, 7].into(),
        from: 2,
        to: 2,
        node: "us-1".to_owned(),
        why: "was lost".to_owned(),
    };
    let (source, commanded) = scripted(vec![vec![
        Line::Say(RunEvent::Waiting("2 of 2 nodes are ready".to_owned())),
        clock("us-1", -3_200_000, 21_000),
        starts(Duration::from_secs(3)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        record("us-1", 0, (10, 9_000, 0), 0),
        whole(0),
        record("eu-1", 1, (10, 1_000, 0), 0),
        whole(1),
        record("us-1", 1, (10, 9_000, 3), 0),
        record("eu-1", 2, (10, 1_000, 0), 0),
        told("us-1", "was lost: nothing was stored of it for its lease of 15 s"),
        whole(2),
        record("us-1", 1, (1, 9_000, 0), 1),
        ended(3, vec![gap]),
    ]]);
    let seen = Seen::default();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![("seen".to_owned(), Box::new(seen.clone()))];
    let thresholds = "'p99 < 10ms', 'p95(node_latency, node: us-1) < 5', 'count == 51'";
    let outcome = ran(source, thresholds, sinks, &Handle::default());
    let seconds = seen.0.lock().expect("no panic").clone();
    assert_eq!(seconds, [(0, 20), (1, 10), (1, 10), (2, 10), (1, 1)]);
    let run = &outcome.run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    assert_eq!((run.totals.all().count, run.totals.all().errors), (51, 3));
    assert_eq!(run.elapsed_s, 3.0, "as the plan says, whose end is in the last second");
    let results: Vec<bool> = run.threshold_results.iter().map(|own| own.passed).collect();
    assert_eq!(results, [true, false, true], "{:?}", run.threshold_results);
    let machines: Vec<&str> = run.meta.nodes.iter().map(|own| own.node.as_str()).collect();
    assert_eq!(machines, ["eu-1", "us-1"]);
    let clocks = run.meta.nodes.iter().map(|own| (own.clock_offset_us, own.clock_error_us));
    assert_eq!(Vec::from_iter(clocks), [(None, None), (Some(3_200.0), Some(21.0))]);
    let fleet = run.fleet.as_ref().expect("a fleet");
    assert_eq!((fleet.shards, fleet.cells.cells, fleet.cells.driven), (8, 24, 20));
    let nodes: Vec<_> = run
        .nodes
        .iter()
        .map(|own| (own.node.as_str(), own.end_text(), own.requests, own.errors, own.shards))
        .collect();
    let expected = [("eu-1", "done".to_owned(), 30, 0, 4), ("us-1", "done".to_owned(), 21, 3, 4)];
    assert_eq!(nodes, expected);
    assert!(run.nodes[1].latency_us.p50 > 8_000.0 && run.nodes[0].latency_us.p50 < 1_100.0);
    // Each has its own generator, and the run has them together.
    let of_nodes = run.nodes.iter().map(|own| &own.generator);
    let delays = of_nodes.map(|own| (own.preempted, own.send_delay_us.max > 8_000.0));
    assert_eq!(Vec::from_iter(delays), [(30, false), (21, true)]);
    let together = document(run).generator;
    assert_eq!((together.preempted, together.send_delay_us.max > 8_000.0), (51, true));
    assert_eq!(fleet.zones.iter().map(|own| own.requests).collect::<Vec<_>>(), [30, 21]);
    assert_eq!(fleet.events.len(), 1);
    let marks: Vec<&str> = run.marks.iter().map(|own| own.text.as_str()).collect();
    assert_eq!(marks, ["node us-1 was lost: nothing was stored of it for its lease of 15 s"]);
    assert_eq!(run.log, ["us-1: status of us-1"]);
    let commanded = commands(&commanded);
    let is_written = |until: u32| commanded.contains(&format!("Written {{ until: {until} }}"));
    assert!(commanded[0].starts_with("Begin") && is_written(0) && is_written(2), "{commanded:?}");
    assert_eq!(commanded.last().map(String::as_str), Some("Release"));
}

/// Nodes send a bounded number of copies with a second.
#[test]
fn copies_that_nodes_left_out_are_counted_in_the_result() {
    let mut aside = Aside::default();
    aside.exchanges_left_out(5);
    let second = Second {
        second: 0,
        shards: [0].into(),
        is_whole: true,
        late: 0,
        record: encode(&Whole::default(), &aside),
    };
    let left_out = Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second });
    let lines = vec![
        starts(Duration::from_secs(1)),
        left_out,
        record("eu-1", 0, (10, 1_000, 0), 0),
        whole(0),
        ended(1, Vec::new()),
    ];
    let (source, _) = scripted(vec![lines]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    let log: Box<dyn Sink> = Box::new(RequestLog::new(&path, ExchangeFilter::All, 0));
    let run = ran(source, "", vec![("log".to_owned(), log)], &Handle::default()).run;
    assert_eq!(run.generator.requests_not_logged, Some(5));
    let said = "5 requests were left out of the request log or the samples";
    assert!(run.warnings.iter().any(|own| own.starts_with(said)), "{:?}", run.warnings);
}

#[test]
fn a_node_that_joins_is_known_with_its_zone() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        clock("eu-9", 7_000, 5_000),
        record("eu-1", 0, (10, 1_000, 0), 0),
        record("eu-9", 0, (10, 1_000, 0), 0),
        whole(0),
        ended(1, Vec::new()),
    ]]);
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    let fleet = run.fleet.as_ref().expect("a fleet");
    assert_eq!(fleet.zones.iter().map(|own| own.requests).collect::<Vec<_>>(), [20, 0]);
    let joined = run.meta.nodes.iter().find(|own| own.node == "eu-9").expect("a machine");
    assert_eq!((joined.zone.as_str(), joined.clock_offset_us), ("eu", Some(-7.0)));
}

/// What was recorded until then is kept.
#[test]
fn a_controller_that_ends_too_early_makes_the_result_incomplete() {
    let (source, _) =
        scripted(vec![vec![starts(Duration::from_secs(1)), record("eu-1", 0, (10, 1_000, 0), 0)]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let why = "load failed: the controller ended before the load had";
    assert_eq!(
        (outcome.run.incomplete.clone(), outcome.run.totals.all().count),
        (vec![why.to_owned()], 10)
    );
}

#[test]
fn what_is_no_record_is_said() {
    let second = Second {
        second: 0,
        shards: [0].into(),
        is_whole: true,
        late: 0,
        record: (&b"nonsense"[..]).into(),
    };
    let bad = Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second });
    let lines = vec![starts(Duration::from_secs(1)), bad, whole(0), ended(1, Vec::new())];
    let (source, _) = scripted(vec![lines]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let said = &outcome.run.incomplete[0];
    assert!(said.starts_with("load failed: second 0 of node eu-1 cannot be read: "), "{said}");
}

#[test]
fn a_node_that_has_hardly_a_port_left_is_noted() {
    let of = |second: u32, ports_used: u64| {
        let sample = HostSample {
            ports_used,
            ports_limit: 28_232,
            segments_sent: 1_000 + 7 * u64::from(second),
            ..HostSample::default()
        };
        let host =
            vec![(f64::from(second), HostSample::default()), (f64::from(second) + 0.5, sample)];
        let record = encode(&Whole { second, host, ..Whole::default() }, &Aside::default());
        let shards = [0, 1, 2, 3].into();
        let second = Second { second, shards, is_whole: true, late: 0, record };
        Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second })
    };
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(2)),
        of(0, 28_000),
        record("us-1", 0, (10, 1_000, 0), 0),
        of(1, 9_000),
        record("us-1", 1, (10, 1_000, 0), 0),
        whole(1),
        ended(2, Vec::new()),
    ]]);
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    let host = document(&run).nodes[0].host_metrics.clone();
    assert_eq!((host["ports_used"], host["ports_limit"]), (28_000, 28_232));
    assert_eq!(host["segments_sent"], 7, "from the first second to the last");
    let reason = run.reasons.iter().find(|own| own.rule == "node_ports").expect("it is noted");
    assert!(reason.observed.contains("node eu-1: 28,000 of 28,232"), "{}", reason.observed);
}
