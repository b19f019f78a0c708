//! A run is evaluated from what is on disk: while it is in progress, afterwards, and by later versions.

use std::path::Path;

use squall_analysis::Totals;
use squall_metrics::{NameId, NameKind, Sample, Slice};
use squall_report::{Meta, Recording, Run, RunFolder, json, load};

fn slice(worker: u32, second: u32) -> Slice {
    let mut slice = Slice::new(worker, second);
    if second == 0 {
        slice.announce(NameId(worker), NameKind::Request, "GET /a");
        slice.announce(NameId(1 - worker), NameKind::Group, "g");
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
    slice.record_group(NameId(1 - worker), 70_000, false);
    slice.counters.users_active = 5;
    slice.self_metrics.cpu_ns = u64::from(second);
    slice
}

fn meta(seconds: u32) -> Meta {
    Meta {
        plan: "long".to_owned(),
        workers: 2,
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
            totals,
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
    assert_eq!(json(&with_folder), json(&without));
    folder.finish(&with_folder).expect("writable");
    let again = load(folder.path()).expect("a run");
    assert_eq!(json(&again), json(&with_folder));

    let rows = again.series.rows();
    assert!(rows.len() <= 1_200 && rows.iter().all(|row| row.users == 10), "{rows:?}");
    assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), u64::from(SECONDS) * 40);
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
    assert_eq!(run.totals.all().count, 20);
    assert!(run.warnings.iter().any(|text| text.contains("not a slice")), "{:?}", run.warnings);
    // Without the first record, nobody knows the names of the second.
    let mut folder = RunFolder::create(base.path(), &meta(3), "name: x\n").expect("a folder");
    folder.slice(&slice(0, 1));
    let nameless = load(folder.path()).expect("a run");
    assert_eq!(nameless.totals.nameless(), 21);
    assert!(nameless.warnings.iter().any(|text| text.contains("names was lost")));
    // A length that nothing justifies is no reason to allocate so much.
    bytes.truncate(bytes.len() - 11);
    bytes.extend_from_slice(&(255u32 << 20).to_le_bytes());
    std::fs::write(&file, &bytes).expect("writable");
    assert_eq!(load(&path).expect("a run").totals.all().count, 20);
}

/// Everything that was said is still said; a later version may say more.
fn still_says(now: &serde_json::Value, before: &serde_json::Value, at: &str) {
    match before.as_object() {
        Some(keys) => {
            keys.iter()
                .for_each(|(key, value)| still_says(&now[key], value, &format!("{at} {key}")));
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
        let again = json(&load(&path).expect("a run")).to_string();
        let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
        still_says(&again, &said, &path.display().to_string());
        found += 1;
    }
    assert!(found > 0, "nothing is stored");
}
