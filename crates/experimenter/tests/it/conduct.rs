//! Which runs are made, and what becomes of those that fail.

use std::cell::RefCell;
use std::path::Path;

use squall_experimenter::{
    End, Journal, Notice, Prepared, RunFailure, RunOrder, Stop, conduct, result, unmeasured,
};
use squall_report::{ExperimentResult, ExperimentState};

use crate::scripted::{FILE, Scripted, conducted, prepared};

fn failure(text: &str, before_load: bool) -> RunFailure {
    RunFailure { text: text.to_owned(), before_load }
}

fn value(order: RunOrder) -> Vec<Option<f64>> {
    vec![Some(1_000.0 + order.variant as f64 + order.block as f64), Some(10.0)]
}

/// The result of an experiment that is over.
fn finished(own: &Prepared, journal: &Journal, folder: &Path) -> ExperimentResult {
    result(own, &journal.state, folder, Vec::new(), ExperimentState::Finished, Vec::new()).unwrap()
}

#[test]
fn each_variant_is_prepared_once_and_run_once_a_block() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order| Ok(value(order));
    let mut laboratory = Scripted::new(&script);
    let (end, journal) = conducted(&own, folder.path(), &mut laboratory);
    assert_eq!(end, End::Finished);
    assert_eq!(journal.state.runs.len(), 9);
    for variant in 0..3 {
        let prepare = format!("prepare {variant}");
        let at = |what: &str| laboratory.asked.iter().position(|own| own == what).unwrap();
        assert!(at(&prepare) + 1 == at(&format!("run 0 of {variant}")), "{:?}", laboratory.asked);
        assert_eq!(laboratory.asked.iter().filter(|own| **own == prepare).count(), 1);
    }
    let started: Vec<f64> = journal.state.runs.iter().map(|run| run.started_s).collect();
    assert_eq!(started[..3], [0.0, 2.0, 4.0]);
    let result = finished(&own, &journal, folder.path());
    assert_eq!((result.runs.len(), result.variants[1].repeats, result.about.seed), (9, 3, Some(3)));
}

#[test]
fn a_run_that_failed_is_made_again_and_its_cell_says_why() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order: RunOrder| match (order.variant, order.block, order.attempt) {
        (1, 0, 1) => Err(failure("its numbers are invalid", false)),
        (2, 1, _) => Err(failure("server `server` ended during the run", false)),
        _ => Ok(value(order)),
    };
    let mut laboratory = Scripted::new(&script);
    let (end, journal) = conducted(&own, folder.path(), &mut laboratory);
    assert_eq!(end, End::Finished);
    // One is made again with success, another one twice without.
    assert_eq!(laboratory.made.len(), 11);
    let result = finished(&own, &journal, folder.path());
    let [one, two, three] = &result.variants[..] else { panic!("{:?}", result.variants) };
    assert_eq!((one.repeats, one.failed), (3, 0));
    assert_eq!((two.repeats, two.failed), (3, 1));
    assert_eq!((three.repeats, three.failed, three.missing), (2, 2, 1));
    assert!(three.why[0].text.contains("ended during the run"), "{:?}", three.why);
    assert_eq!((three.why.len(), three.why[0].runs), (1, 2));
}

#[test]
fn before_a_run_is_made_again_it_is_waited_longer_each_time() {
    let own = prepared(&FILE.replace("retries: 1", "retries: 4")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order: RunOrder| match (order.variant, order.block) {
        (1, 0) => Err(failure("its numbers are invalid", false)),
        _ => Ok(value(order)),
    };
    let (_, journal) = conducted(&own, folder.path(), &mut Scripted::new(&script));
    let runs = journal.state.runs.iter();
    let runs: Vec<_> = runs.filter(|run| (run.variant, run.block) == (1, 0)).collect();
    // Each takes two seconds; those that are made again stand at the end of the block.
    let between: Vec<f64> =
        runs.windows(2).map(|own| own[1].started_s - own[0].started_s - 2.0).collect();
    assert_eq!(between[1..], [5.0, 25.0, 25.0], "{between:?}");
    let first = &journal.state.runs[2];
    assert_eq!(runs[1].started_s - (first.started_s + 2.0), 1.0);
}

#[test]
fn when_a_block_begins_what_was_made_is_told() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order| Ok(value(order));
    let mut laboratory = Scripted::new(&script);
    laboratory.interrupted_after = 0;
    let (_, mut journal) = conducted(&own, folder.path(), &mut laboratory);
    let mut told = Vec::new();
    let mut tell = |notice: Notice<'_>| {
        if let Notice::Block { state, left_time } = notice {
            let at = ExperimentState::UnderWay { left_s: left_time.map(|own| own.as_secs_f64()) };
            let made = result(&own, state, folder.path(), Vec::new(), at, Vec::new()).unwrap();
            told.push((
                made.about.blocks_done,
                made.about.left_s,
                made.variants[2].repeats,
                made.about.finished,
            ));
        }
    };
    conduct(&own, &mut journal, &mut Scripted::new(&script), &mut tell).unwrap();
    assert_eq!(told, [(0, None, 0, false), (1, Some(12.0), 1, false), (2, Some(6.0), 2, false)]);
}

#[test]
fn what_servers_print_of_their_versions_is_in_the_result() {
    let own =
        prepared(&format!("{FILE}server: {{command: [x], version: [x, --version]}}")).unwrap();
    assert_eq!(own.variants[0].programs.servers[0].version, ["x", "--version"]);
    let folder = tempfile::tempdir().unwrap();
    let script = |order| Ok(value(order));
    let (_, journal) = conducted(&own, folder.path(), &mut Scripted::new(&script));
    let version = || {
        let at = ExperimentState::Finished;
        let made = result(&own, &journal.state, folder.path(), Vec::new(), at, Vec::new()).unwrap();
        made.servers[0].version.clone()
    };
    assert_eq!(version(), "");
    let logs = folder.path().join(squall_experimenter::LOGS);
    std::fs::create_dir(&logs).unwrap();
    for (variant, text) in [(1, "\nx 1.0\nmore"), (2, "x 1.0\n"), (3, "x 2.0")] {
        std::fs::write(logs.join(format!("version-server-{variant}.log")), text).unwrap();
    }
    assert_eq!(version(), "x 1.0; x 2.0");
}

#[test]
fn a_variant_that_never_starts_ends_the_experiment() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order: RunOrder| match order.variant {
        1 => Err(failure("server `server` was not ready within 1s", true)),
        _ => Ok(value(order)),
    };
    let mut laboratory = Scripted::new(&script);
    let (end, journal) = conducted(&own, folder.path(), &mut laboratory);
    let End::Stopped(Stop::Failed(why)) = end else { panic!("{end:?}") };
    assert!(why.contains("variant `two`") && why.contains("not ready within 1s"), "{why}");
    // Its first block was tried to the end.
    assert_eq!(journal.state.runs.iter().filter(|run| run.variant == 1).count(), 2);
    assert!(journal.state.runs.iter().all(|run| run.variant != 1 || run.folder.is_none()));
}

#[test]
fn wherever_it_is_interrupted_it_goes_on_and_makes_the_same_runs() {
    let own = prepared(FILE).unwrap();
    let script = |order: RunOrder| match (order.variant, order.block, order.attempt) {
        (1, 0, 1) | (0, 2, _) => Err(failure("it failed", false)),
        _ => Ok(value(order)),
    };
    let whole = tempfile::tempdir().unwrap();
    let mut laboratory = Scripted::new(&script);
    let (_, journal) = conducted(&own, whole.path(), &mut laboratory);
    let (asked, runs) = (laboratory.asked, journal.state.runs);
    for point in 0..asked.len() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Scripted::new(&script);
        first.interrupted_after = point;
        let (end, _) = conducted(&own, folder.path(), &mut first);
        assert_eq!(end, End::Stopped(Stop::Interrupted), "{point}");
        let mut second = Scripted::new(&script);
        second.now = first.now;
        let (end, journal) = conducted(&own, folder.path(), &mut second);
        assert_eq!(end, End::Finished);
        let all: Vec<String> = first.asked.into_iter().chain(second.asked).collect();
        assert_eq!(all, asked, "{point}");
        assert_eq!(journal.state.runs, runs, "{point}");
    }
}

#[test]
fn runs_go_on_until_intervals_are_narrow() {
    let file = FILE.replace("repeat: 3", "until: {relative_error: 2%, least: 2, most: 9}");
    let own = prepared(&file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order: RunOrder| {
        let spread = if order.block == 0 { 1.02 } else { 1.0 };
        Ok(vec![Some(1_000.0 * spread), Some(10.0)])
    };
    let mut laboratory = Scripted::new(&script);
    let (end, journal) = conducted(&own, folder.path(), &mut laboratory);
    let blocks = journal.state.runs.iter().map(|run| run.block).max().unwrap() + 1;
    assert_eq!(end, End::Finished);
    assert!((3..9).contains(&blocks), "{blocks}");
}

#[test]
fn what_is_left_is_told_after_each_run() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |order: RunOrder| match order.number {
        2 => Err(failure("it failed", false)),
        _ => Ok(value(order)),
    };
    let told = RefCell::new(Vec::new());
    let mut tell =
        |notice: Notice<'_>| told.borrow_mut().push(squall_experimenter::notice(&own, &notice));
    let (_, mut journal) = {
        let mut laboratory = Scripted::new(&script);
        laboratory.interrupted_after = 0;
        conducted(&own, folder.path(), &mut laboratory)
    };
    conduct(&own, &mut journal, &mut Scripted::new(&script), &mut tell).unwrap();
    let told = told.into_inner();
    let runs: Vec<&String> = told.iter().filter(|line| line.starts_with(" run")).collect();
    let first = told.iter().find(|line| !line.is_empty()).unwrap();
    assert!(first.starts_with(" preparing "), "{told:?}");
    assert!(runs[0].contains("mean 1.00 ms, rate 10"), "{}", runs[0]);
    assert!(runs[0].contains("; 8 runs left, about 16s"), "{}", runs[0]);
    assert!(runs[1].contains("failed: it failed; 8 runs left"), "{}", runs[1]);
    assert!(runs.iter().any(|line| line.contains("(block 1, attempt 2)")), "{runs:?}");
    assert!(!runs[9].contains("left"), "{}", runs[9]);
}

#[test]
fn a_measure_that_no_run_has_is_named() {
    let own = prepared(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = |_: RunOrder| Ok(vec![Some(1.0), None]);
    let (_, journal) = conducted(&own, folder.path(), &mut Scripted::new(&script));
    let named = unmeasured(&own, &journal.state.runs);
    assert!(named.len() == 1 && named[0].contains("`rate`"), "{named:?}");
    assert_eq!(unmeasured(&own, &[]), Vec::<String>::new());
}

#[test]
fn an_experiment_goes_on_only_as_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.yaml");
    std::fs::write(&path, FILE).unwrap();
    let file = squall_experimenter::ExperimentText::read(&path).unwrap();
    let own = prepared(FILE).unwrap();
    let own = squall_experimenter::Prepared { file, ..own };
    let base = folder.path().join("out");
    let (made, journal) = squall_experimenter::begin(&own, &base, "1").unwrap();
    drop(journal);
    let resume = |version: &str, now: &str| {
        std::fs::write(&path, now).unwrap();
        squall_experimenter::resume(&made, None, version, |text, _| prepared(&text.text))
    };
    assert!(resume("1", FILE).is_ok());
    let error = resume("1", &FILE.replace("repeat: 3", "repeat: 4")).unwrap_err();
    assert!(
        error.contains("line 6") && error.contains("`repeat: 3`") && error.contains("`repeat: 4`"),
        "{error}"
    );
    let error = resume("2", FILE).unwrap_err();
    assert!(error.contains("squall 1") && error.contains("this is 2"), "{error}");
    std::fs::write(&path, FILE).unwrap();
    let other = FILE.replace("users: 1", "users: 2");
    let error = squall_experimenter::resume(&made, None, "1", |_, _| prepared(&other)).unwrap_err();
    assert!(error.contains("the plan"), "{error}");
    assert!(Journal::open(folder.path()).is_err());
}
