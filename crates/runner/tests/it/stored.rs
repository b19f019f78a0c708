//! What a run stores, and what is said there of what was lost.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use squall_base::hex::hex;
use squall_report::Run;
use squall_runner::{
    Event, Folder, Handle, Json, Options, Second, Sink, Start, Wanted, load_str, run,
};

use crate::common::options;

const PLAN: &str =
    "target: builtin\nscenarios: {a: {load: {users: 1, iterations: 3}, steps: [{get: /}]}}\n";

/// Loses something at the very end.
struct Loses;

impl Sink for Loses {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Whoever reads the result later learns what only the end has shown.
#[test]
fn what_is_lost_at_the_end_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("result.json");
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![
        ("folder".to_owned(), Box::new(Folder::new(folder.path().join("runs")))),
        ("json".to_owned(), Box::new(Json::new(&json))),
        ("all.csv".to_owned(), Box::new(Loses)),
    ];
    let plan = load_str("plan", PLAN).expect("a plan");
    let outcome = run(&plan, &options(), sinks, &Handle::default()).expect("a run");
    let kept = outcome.folder.expect("a folder");
    let stored = read(&kept.join("run.json"));
    assert_eq!(stored["outcome"]["exit_code"], 3, "{}", stored["outcome"]);
    let text = stored["outcome"]["reasons"][0]["text"].as_str().expect("a reason");
    assert_eq!([text], outcome.run.incomplete[..]);
    assert!(text.starts_with("all.csv: "), "{text}");
    assert_eq!(stored, read(&json));
    let page = std::fs::read_to_string(kept.join("report.html")).expect("a page");
    assert!(page.contains("all.csv: "));
    let again = squall_report::load(&kept).expect("a run");
    assert_eq!(again.outcome.exit_code, 3);
}

/// The folder of a run with a seed.
fn stored(base: &Path, plan: &str, seed: u64) -> PathBuf {
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(base)))];
    let plan = load_str("plan", plan).expect("a plan");
    let seeded = Options { seed: Some(seed), ..options() };
    let outcome = run(&plan, &seeded, sinks, &Handle::default()).expect("a run");
    outcome.folder.expect("a folder")
}

/// The digest of the plan is that of what is stored without the seed, whatever the seed and whoever says it: two runs of a plan
/// have the same, and so has one of what was stored.
#[test]
fn the_digest_of_a_plan_can_be_verified() {
    let base = tempfile::tempdir().expect("a folder");
    let first = stored(base.path(), PLAN, 1);
    let again = std::fs::read_to_string(first.join("plan.yaml")).expect("a plan");
    let others = [(PLAN, 2), (&again, 1), (&format!("seed: 7\n{PLAN}"), 7)]
        .map(|(plan, seed)| stored(base.path(), plan, seed));
    let digests: Vec<Value> = std::iter::once(first)
        .chain(others)
        .map(|folder| {
            let plan = std::fs::read_to_string(folder.join("plan.yaml")).expect("a plan");
            let lines = plan.lines().filter(|line| !line.starts_with("seed:"));
            let unseeded: String = lines.map(|line| format!("{line}\n")).collect();
            assert!(unseeded.len() < plan.len(), "{plan}");
            let own = read(&folder.join("run.json"))["meta"]["digests"]["plan"].clone();
            assert_eq!(own, hex(&Sha256::digest(unseeded.as_bytes())));
            own
        })
        .collect();
    assert!(digests.iter().all(|own| *own == digests[0]), "{digests:?}");
}

#[test]
fn an_option_overrides_the_plans_seed() {
    let base = tempfile::tempdir().expect("a folder");
    let folder = stored(base.path(), &format!("seed: 7\n{PLAN}"), 9);
    assert_eq!(read(&folder.join("run.json"))["meta"]["seed"], 9);
}
