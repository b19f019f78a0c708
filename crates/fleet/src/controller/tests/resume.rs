//! What is kept of a run, and that another process goes on with it.

use std::path::Path;

use squall_runner::Folder;

use super::*;
use crate::controller::events::Events;
use crate::controller::kept::Kept;
use crate::controller::source::run_name;
use crate::protocol::messages::OnLoss;
use crate::seal::RunKey;

/// The key is there as long as somebody may have to go on with the run.
#[test]
fn a_run_can_be_gone_on_with_until_it_is_released() {
    let base = tempfile::tempdir().expect("a folder");
    let folder = base.path().to_owned();
    let kept: Arc<Mutex<Vec<Kept>>> = Arc::default();
    let found = kept.clone();
    let look = Line::Do(Box::new(move || {
        let mut runs = std::fs::read_dir(&folder).expect("a folder").flatten();
        let run = runs.next().expect("the run's").path();
        found.lock().expect("no panic").push(Kept::read(&run).expect("kept"));
    }));
    let (source, _) = scripted(vec![vec![
        look,
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        told("us-1", "was lost"),
        ended(1, Vec::new()),
    ]]);
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(base.path())))];
    let outcome = ran(source, "", sinks, &Handle::default());
    let folder = outcome.folder.expect("a folder");
    assert!(Kept::read(&folder).is_err(), "it was released");
    assert!(Events::open(Some(&folder)).since(0).is_empty(), "it was released");
    assert!(FleetSource::resume(options(), &folder).is_err());
    let kept = kept.lock().expect("no panic").pop().expect("one");
    assert!(kept.run.starts_with("shop-plan-"), "{}", kept.run);
    let held = kept.write(&folder).expect("written");
    Events::open(Some(&folder)).add("us-1", now(), "was lost");
    let why = FleetSource::resume(options(), &folder).err().expect("another process leads it");
    assert!(why.contains("end that one first"), "{why}");
    drop(held);
    resumed(&folder, &kept);
}

fn resumed(folder: &Path, kept: &Kept) {
    let (_, plan, run) = FleetSource::resume(options(), folder).expect("a run");
    assert_eq!((run.seed, plan.plan.scenarios.len()), (Some(7), 1));
    let (mut source, commanded) = scripted(vec![vec![
        starts(Duration::from_secs(60)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        told("us-1", "is back"),
        ended(1, Vec::new()),
    ]]);
    source.resumes(kept.clone());
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::again(folder)))];
    let parts = RunParts { source: Box::new(source), sinks, ..RunParts::default() };
    let outcome = run_with(&plan, &run, parts, &Handle::default()).expect("a run");
    assert_eq!((outcome.run.totals.all().count, outcome.folder.as_deref()), (10, Some(folder)));
    assert_eq!(squall_report::load(folder).expect("a run").totals.count, 10);
    assert_eq!(outcome.run.meta.started_unix, kept.started_unix);
    let events = &outcome.run.fleet.as_ref().expect("a fleet").events;
    let events: Vec<&str> = events.iter().map(|own| own.text.as_str()).collect();
    assert_eq!(events, ["was lost", "is back"], "what the former process was told, too");
    assert_eq!(commands(&commanded)[0], format!("Resume {{ run: {:?} }}", kept.run));
}

#[test]
fn a_kept_run_has_what_nodes_were_given() {
    let key = RunKey::new().expect("random numbers");
    let job = serde_json::json!({
        "plan": "target: builtin", "files": {}, "target": "http://127.0.0.1:9", "seed": 3,
        "allow_exec": true, "io": "epoll", "workers": 2, "setup": [["token", "t-1"]], "exchanges": null,
    });
    let job = serde_json::from_value(job).expect("a job");
    let kept = Kept::new("r", &key, 1.0, (1, OnLoss::Abort), job);
    let (mut source, _) = scripted(Vec::new());
    source.resumes(kept);
    let found = squall_runner::LoadSource::found(&source).expect("the setup's");
    assert_eq!(found, [("token".to_owned(), squall_plan::value::Value::text("t-1"))]);
}

/// What nodes fetch is there as long as one may join, and a controller that was lost leaves nothing for ever.
#[test]
fn what_nodes_fetch_is_kept_longer_than_the_load_takes() {
    for (load, kept_h) in [
        ("users: 1, for: 1m", 24 + 1),
        ("users: 1, for: 50h", 24 + 50 + 1),
        ("users: 1, iterations: 5", 7 * 24),
        ("users: 1, for: 8783h", 366 * 24),
    ] {
        let hour = Duration::from_secs(3600);
        let kept = Arc::new(Mutex::new(Duration::ZERO));
        let found = kept.clone();
        let open = move |opening: Opening| {
            *found.lock().expect("no panic") = opening.keep;
            Err(std::io::Error::other("that was all"))
        };
        let source = FleetSource::over(FleetOptions { wait: hour, ..options() }, Box::new(open));
        let text = PLAN.replace("users: 8, for: 3s", load).replace("THRESHOLDS", "");
        let plan = load_str("plan", &text).expect("a plan");
        let parts = RunParts { source: Box::new(source), ..RunParts::default() };
        let ran = run_with(&plan, &Options::default(), parts, &Handle::default()).expect("a run");
        assert_eq!(ran.run.incomplete, ["load failed: that was all"]);
        let kept = *kept.lock().expect("no panic");
        assert_eq!(kept.as_secs() / 3600, kept_h, "{load}: {kept:?}");
    }
}

#[test]
fn names_of_runs_are_names() {
    for plan in ["shop", "", "--", "Ünter uns/2", &"x".repeat(300)] {
        let name = run_name(plan).expect("random numbers");
        assert!(crate::protocol::keys::is_name(&name), "{name}");
        assert_ne!(name, run_name(plan).expect("random numbers"));
    }
}
