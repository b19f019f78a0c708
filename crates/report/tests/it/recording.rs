//! A run is evaluated from what is on disk: while it is in progress, afterwards, and by later versions.

use std::path::Path;

use squall_analysis::Totals;
use squall_metrics::{Level, Load, NameId, RowKey, RowKind, Sample, ScenarioLoad, Slice};
use squall_report::{Machine, Meta, Recording, Run, RunFolder, document, load, load_folder};

fn slice(worker: u32, second: u32) -> Slice {
    let mut slice = Slice::new(worker, second);
    if second == 0 {
        slice.announce(NameId(worker), RowKey::new(RowKind::Request, "s", "GET /a"));
        slice.announce(NameId(1 - worker), RowKey::new(RowKind::Group, "s", "g"));
        slice.announce(NameId(2), RowKey::new(RowKind::Iteration, "s", "iteration"));
    }
    for n in 0..20 {
        let sample = Sample {
            latency_ns: 1_000_000 + u64::from(second * 7_919 + worker * 31 + n * 17) % 500 * 1_000,
            bytes_in: 10,
            bytes_out: 5,
            ..Sample::ok(0)
        };
        slice.record(NameId(worker), &sample);
    }
    slice.record_span(NameId(1 - worker), 70_000, false);
    slice.counters.users_active = 5;
    slice.load = load_of(second);
    slice.self_metrics.cpu_ns = u64::from(second);
    slice
}

/// Requests in flight, and the load of the scenario.
fn load_of(second: u32) -> Load {
    let in_flight = Level { most: 3 + u64::from(second % 2), at_end: 1 };
    let own = ScenarioLoad { users: 5, in_flight, iterations_started: 2, arrivals_dropped: 1 };
    Load { in_flight, scenarios: vec![(NameId(2), own)] }
}

fn meta(seconds: u32) -> Meta {
    Meta {
        plan: "long".to_owned(),
        nodes: vec![Machine { workers: 2, ..Machine::default() }],
        warmup: "auto".to_owned(),
        constant_s: Some((0.0, Some(f64::from(seconds)))),
        thresholds: vec!["p99 < 2ms".to_owned()],
        ..Meta::default()
    }
}

/// A run longer than the series has rows, of two workers of which one is late: its result is the same
/// with a folder, without one, and when it is read again.
#[test]
fn a_result_is_the_same_wherever_it_is_recorded() {
    const SECONDS: u32 = 2_500;
    let base = tempfile::tempdir().expect("a folder");
    let mut folder =
        RunFolder::create(base.path(), &meta(SECONDS), "name: long\n").expect("a folder");
    let mut unnamed = Recording::unnamed().expect("a file");
    let mut totals = Totals::new();
    let late = (0..SECONDS + 6).flat_map(|second| [(0, Some(second)), (1, second.checked_sub(6))]);
    for (worker, second) in late {
        let Some(second) = second.filter(|second| *second < SECONDS) else { continue };
        let slice = slice(worker, second);
        assert!(totals.add(&slice) && !totals.add(&slice));
        folder.slice(&slice);
        unnamed.append(&slice);
    }
    let run = |recording: &mut Recording, totals: Totals| {
        let mut run = Run {
            meta: meta(SECONDS),
            elapsed_s: f64::from(SECONDS),
            finished: true,
            totals: totals.into(),
            ..Run::default()
        };
        run.evaluate(recording).expect("readable");
        run
    };
    let with_folder = run(
        &mut Recording::open(&folder.path().join("slices.bin")).expect("a file"),
        totals.clone(),
    );
    let without = run(&mut unnamed, totals);
    assert_eq!(document(&with_folder), document(&without));
    folder.write_result(&document(&with_folder)).expect("writable");
    let (again, _) = load_folder(folder.path()).expect("a run");
    assert_eq!(document(&again), document(&with_folder));
    folder.write_totals(&with_folder.totals).expect("writable");
    let mut known = document(&load_folder(folder.path()).expect("a run").0);
    let warned = std::mem::take(&mut known.warnings);
    assert!(
        warned[0].contains("left out"),
        "only the totals of the run itself saw slices twice: {warned:?}"
    );
    assert!(known == document(&again), "totals that were kept are those that are added up");
    let alone = load(&folder.path().join("run.json")).expect("a result");
    assert_eq!(alone, document(&again), "a number is what it was when it is read from a text");
    assert_eq!((alone.requests.len(), alone.series.len()), (1, again.series.rows().len()));

    let rows = again.series.rows();
    assert!(rows.len() <= 1_200 && rows.iter().all(|row| row.users == 10), "{rows:?}");
    assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), u64::from(SECONDS) * 40);
    let row = &rows[7];
    assert_eq!((row.seconds, row.in_flight, row.in_flight_at_end), (4, 8, 2));
    let scenario = row.scenarios[0].load;
    assert_eq!((scenario.users, scenario.in_flight), (10, Level { most: 8, at_end: 2 }));
    assert_eq!((scenario.iterations_started, scenario.arrivals_dropped), (16, 8));
    let tracks = again.series.requests();
    let counted: u64 = tracks[0].points.iter().map(|(_, point)| point.count).sum();
    assert_eq!((tracks[0].key.name.as_str(), counted), ("GET /a", u64::from(SECONDS) * 40));
    assert!(tracks.iter().map(|track| track.points.len()).sum::<usize>() <= 12_000);
    let (steady, batches) = (again.steady.expect("a steady part"), again.batches.expect("batches"));
    assert!(steady.to > 2_400 && batches.rate_interval().high().is_some());
    assert_eq!(batches.requests(), u64::from(steady.to - steady.from) * 40);
    assert_eq!(batches.latency().all().count(), batches.requests());
}

/// A record that is whole and wrong, as after a fault of the disk, ends what can be read, and is said.
#[test]
fn a_broken_record_is_said() {
    let base = tempfile::tempdir().expect("a folder");
    let mut folder = RunFolder::create(base.path(), &meta(3), "name: x\n").expect("a folder");
    folder.slice(&slice(0, 0));
    let path = folder.path().to_owned();
    let file = path.join("slices.bin");
    let mut bytes = std::fs::read(&file).expect("a file");
    bytes.extend_from_slice(b"\x07\0\0\0garbage");
    std::fs::write(&file, &bytes).expect("writable");
    let run = load(&path).expect("a run");
    assert_eq!(run.totals.count, 20);
    let reasons = &run.outcome.reasons;
    assert!(reasons[0].text.contains("later versions"), "{reasons:?}");
    // Without the first record, nobody knows the names of the second.
    let mut folder = RunFolder::create(base.path(), &meta(3), "name: x\n").expect("a folder");
    folder.slice(&slice(0, 1));
    let (nameless, _) = load_folder(folder.path()).expect("a run");
    assert_eq!(nameless.totals.nameless(), 21);
    assert!(nameless.warnings.iter().any(|text| text.contains("names was lost")));
    // A length that nothing justifies is no reason to allocate so much.
    bytes.truncate(bytes.len() - 11);
    bytes.extend_from_slice(&(255u32 << 20).to_le_bytes());
    std::fs::write(&file, &bytes).expect("writable");
    assert_eq!(load(&path).expect("a run").totals.count, 20);
}

/// The folder of a run of 20 seconds that passed, with its totals.
fn finished_run(base: &Path) -> std::path::PathBuf {
    let meta = Meta { thresholds: vec!["errors == 0".to_owned()], ..meta(20) };
    let mut folder = RunFolder::create(base, &meta, "name: x\n").expect("a folder");
    let mut totals = Totals::new();
    for second in 0..20 {
        folder.slice(&slice(0, second));
        totals.add(&slice(0, second));
    }
    let path = folder.path().to_owned();
    let mut recording = Recording::open(&path.join("slices.bin")).expect("a file");
    let totals = totals.into();
    let mut run = Run { meta, elapsed_s: 20.0, finished: true, totals, ..Run::default() };
    run.evaluate(&mut recording).expect("readable");
    folder.write_result(&document(&run)).expect("writable");
    folder.write_totals(&run.totals).expect("writable");
    assert_eq!(load(&path).expect("a run").outcome.exit_code, 0);
    path
}

/// Numbers of which a part is missing are those of no whole run, wherever the totals come from.
#[test]
fn a_run_whose_recording_is_damaged_is_incomplete() {
    let base = tempfile::tempdir().expect("a folder");
    let path = finished_run(base.path());
    let file = path.join("slices.bin");
    let whole = std::fs::read(&file).expect("a file");
    let (middle, mut flipped) = (whole.len() / 2, whole.clone());
    flipped[middle..middle + 6].iter_mut().for_each(|byte| *byte ^= 0xff);
    let ends = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("writable");
        let outcome = load(&path).expect("a run").outcome;
        let texts: Vec<String> = outcome.reasons.into_iter().map(|own| own.text).collect();
        (outcome.exit_code, texts)
    };
    // With its totals its series is cut short; cut off itself it has other totals than it had.
    for bytes in [&flipped[..], &whole[..middle]] {
        let (code, texts) = ends(bytes);
        assert_eq!((code, texts.len()), (3, 1), "{texts:?}");
        assert!(texts[0].starts_with("slices.bin: "), "{texts:?}");
    }
    std::fs::remove_file(path.join("totals.bin")).expect("it was there");
    let (code, texts) = ends(&flipped);
    assert_eq!((code, texts.len()), (3, 1), "{texts:?}");
    assert!(texts[0].ends_with("what follows it is left out"), "{texts:?}");
    let (_, texts) = ends(&whole[..middle]);
    assert!(texts[0].contains(" of the 400 requests that the run counted"), "{texts:?}");
    assert_eq!(ends(&whole).0, 0);
}

/// Sentences for people, which a later version may put better.
const SENTENCES: [&str; 2] = ["observed", "advice"];

/// Everything that was said is still said; a later version may say more.
fn still_says(now: &serde_json::Value, before: &serde_json::Value, at: &str) {
    match before.as_object() {
        Some(keys) => {
            for (key, value) in keys {
                match SENTENCES.contains(&key.as_str()) {
                    true => assert_ne!(now[key].as_str().unwrap_or_default(), "", "{at} {key}"),
                    false => still_says(&now[key], value, &format!("{at} {key}")),
                }
            }
        }
        None if before.is_array() => {
            let items = before.as_array().into_iter().flatten().enumerate();
            items.for_each(|(index, value)| {
                still_says(&now[index], value, &format!("{at} {index}"))
            });
        }
        None => assert_eq!(now, before, "{at}"),
    }
}

/// The folder of a run of each released form is kept in `tests/stored`, and still says what it said.
/// Never rewrite one: a new form gets a new folder.
#[test]
fn results_of_earlier_versions_are_readable() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored");
    let mut found = 0;
    for entry in std::fs::read_dir(stored).expect("a folder") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(path.join("run.json")).expect("a result");
        let said: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        // Both are read as text: a float may differ from itself in its last digit when it is read.
        let again = serde_json::to_string(&load(&path).expect("a run")).expect("JSON");
        let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
        still_says(&again, &said, &path.display().to_string());
        found += 1;
    }
    assert!(found > 0, "nothing is stored");
}
