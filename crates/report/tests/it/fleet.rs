//! What a run of a fleet says of its nodes, in all forms; and that a run of one process says nothing of them.

#[path = "../../examples/fleet/made.rs"]
mod made;

use squall_report::{Details, Recording, RunDocument, Show, document, html, text};

use crate::common::golden;

const FULL: Show = Show { columns: 100, color: false, full: true, explain: false };
const BRIEF: Show = Show { full: false, ..FULL };

/// A run of so many nodes, with its page.
fn made(nodes: usize) -> (RunDocument, String) {
    let name = format!("squall-fleet-{}-{nodes}.bin", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut recording = Recording::create(&path).expect("a file");
    let mut run = made::run(nodes, 12, |slice| recording.append(slice));
    run.evaluate_to_draw(&mut recording).expect("readable");
    run.warn();
    std::fs::remove_file(&path).expect("it was there");
    let result = document(&run);
    let page = html(&result, &Details::of(&run, None));
    (result, page)
}

#[test]
fn a_run_of_four_nodes() {
    let (run, page) = made(4);
    golden("fleet-4.txt", &text(&run, &FULL));
    golden("fleet-4-brief.txt", &text(&run, &BRIEF));
    let rules: Vec<&str> = run.validity_reasons.iter().map(|own| own.rule.as_str()).collect();
    assert!(rules.contains(&"coverage") && rules.contains(&"node_clock"), "{rules:?}");
    assert!(page.contains("\"coverage\":\"720 of 768 cells"), "the page says it, too");
    let tracks = |name: &str| run.series_metrics.iter().filter(|own| own.name == name).count();
    assert_eq!((tracks("node_latency"), tracks("node_cpu"), tracks("zone_latency")), (4, 4, 2));
    let latency = run.series_metrics.iter().find(|own| own.name == "node_latency");
    let latency = latency.expect("a track");
    assert_eq!(latency.p95.len(), latency.value.len());
    assert!(latency.p95.iter().zip(&latency.value).all(|(p95, mean)| p95 > mean));
}

/// What is written and read is the same, and is judged the same.
#[test]
fn what_became_of_a_fleet_is_read_again() {
    let (run, _) = made(4);
    let json = serde_json::to_vec(&run).expect("JSON");
    let read = squall_report::read_result(&json).expect("a result");
    assert_eq!((&read.fleet, &read.nodes), (&run.fleet, &run.nodes));
    assert_eq!(read.meta.nodes, run.meta.nodes);
}

#[test]
fn a_run_of_a_thousand_nodes_stays_readable() {
    let (run, page) = made(1_000);
    assert!(run.outcome.passed, "{:?}", run.outcome.reasons);
    let brief = text(&run, &BRIEF);
    golden("fleet-1000-brief.txt", &brief);
    assert!(brief.lines().count() < 60, "{brief}");
    let tracks = run.series_metrics.len();
    assert!(tracks <= 1_000, "bounded: {tracks}");
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
}

#[test]
fn a_run_of_one_process_says_nothing_of_nodes() {
    let run = RunDocument { finished: true, ..RunDocument::default() };
    assert!(!text(&run, &FULL).contains("node"));
    assert!(html(&run, &Details::default()).contains("\"fleet\":null"));
}
