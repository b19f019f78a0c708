//! A run is read again: from its folder, finished or broken off, or from its `run.json` alone.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use squall_analysis::{Abort, Totals};
use squall_metrics::{HostMetrics, HostSample};
use squall_plan::files;

use crate::document::{AbortDocument, RunDocument, SCHEMA};
use crate::json::document;
use crate::lines::each_line;
use crate::profile::Profile;
use crate::recording::Recording;
use crate::run::Run;
use crate::totals_file;

/// Largest result that is read, in bytes: those of runs with very many names have some megabytes.
pub(crate) const MAX_RESULT: u64 = 64 << 20;

/// Why a run cannot be read.
#[derive(Debug)]
pub struct LoadError(pub(crate) String);

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// Reads a run: from its folder, finished or broken off, everything that was recorded is evaluated again; a
/// `run.json` is taken as it is.
///
/// # Errors
/// There is no run, or a later version of squall wrote it.
pub fn load(path: &Path) -> Result<RunDocument, LoadError> {
    if path.is_dir() { load_folder(path).map(|(run, _)| document(&run)) } else { load_json(path) }
}

/// Reads a `run.json`.
pub(crate) fn load_json(path: &Path) -> Result<RunDocument, LoadError> {
    let wrong = |reason: &dyn std::fmt::Display| LoadError(format!("{}: {reason}", path.display()));
    let text = files::bytes(path, MAX_RESULT).map_err(|error| wrong(&error))?;
    read_result(&text).map_err(|reason| wrong(&reason))
}

/// Reads the text of a `run.json`.
///
/// # Errors
/// It is no result of a run that this version can read, in a sentence.
pub fn read_result(text: &[u8]) -> Result<RunDocument, String> {
    let no_json = |error| format!("this is not the result of a run: {error}");
    let json: serde_json::Value = serde_json::from_slice(text).map_err(no_json)?;
    // Fields may be missing that a later version added, but none of these.
    let is_result = ["meta", "outcome", "totals"].iter().all(|key| json[*key].is_object());
    match json["schema"].as_u64() {
        Some(SCHEMA) if is_result => {
            serde_json::from_value(json).map_err(|error| error.to_string())
        }
        Some(later) if later > SCHEMA => {
            Err("it was written by a later version of squall".to_owned())
        }
        _ => Err("this is not the result of a run that this version can read".to_owned()),
    }
}

/// Reads a run, finished or broken off, from its folder, and what was recorded.
///
/// # Errors
/// There is no run, or a later version of squall wrote it.
pub fn load_folder(folder: &Path) -> Result<(Run, Recording), LoadError> {
    read_folder(folder, Run::read)
}

/// The same, with the curves that a page draws.
///
/// # Errors
/// As of [`load_folder`].
pub fn load_folder_to_draw(folder: &Path) -> Result<(Run, Recording), LoadError> {
    read_folder(folder, Run::read_to_draw)
}

fn read_folder(
    folder: &Path,
    read: impl FnOnce(&mut Run, &mut Recording, Option<Totals>) -> io::Result<()>,
) -> Result<(Run, Recording), LoadError> {
    let wrong = |name: &str, reason: &dyn std::fmt::Display| {
        LoadError(format!("{}: {reason}", folder.join(name).display()))
    };
    if folder.is_dir() && !folder.join("run.json").exists() {
        let text =
            format!("{}: this is not the folder of a run: it has no run.json", folder.display());
        return Err(LoadError(text));
    }
    let known = load_json(&folder.join("run.json"))?;
    let incomplete = known.outcome.reasons.iter().filter(|own| own.kind == "incomplete");
    let counted = known.totals.count;
    let mut run = Run {
        // That it has no end is seen again, if it still has none.
        incomplete: match known.finished {
            true => incomplete.map(|own| own.text.clone()).collect(),
            false => Vec::new(),
        },
        meta: known.meta,
        elapsed_s: known.elapsed_s,
        phases: known.run_phases,
        finished: known.finished,
        interrupted: known.interrupted,
        aborted: known.aborted.map(|AbortDocument { threshold, at_s, shown }| Abort {
            threshold,
            at_s,
            shown,
        }),
        stopped_by_plan: known.stopped_by_plan,
        marks: known.marks,
        generator: known.generator.used(),
        // Those of one process follow from what was recorded.
        nodes: if known.fleet.is_some() { known.nodes } else { Vec::new() },
        fleet: known.fleet,
        feeds: known.feeds,
        log: known.log,
        ..Run::default()
    };
    let broken = |error: io::Error| wrong("slices.bin", &error);
    let mut recording = Recording::open(&folder.join("slices.bin")).map_err(broken)?;
    // A generator that was killed at once may not have written it.
    let host =
        files::open(&folder.join("host.jsonl")).and_then(|file| host_metrics(file, &mut run.host));
    let totals = totals_file::read(folder, recording.length());
    read(&mut run, &mut recording, totals).map_err(broken)?;
    run.incomplete.extend(missing_requests(&run, counted));
    run.warn();
    run.warnings.extend(host.err().filter(|error| error.kind() != io::ErrorKind::NotFound).map(
        |error| format!("host.jsonl: {error}; what follows of the host's samples is missing"),
    ));
    // What does not follow from what was recorded: a setup that was interrupted, what feeds lost.
    match Profile::read(folder) {
        Ok(profile) => run.profile = profile.map(Arc::new),
        Err(error) => run.warnings.push(format!("{error}; the profile is missing")),
    }
    let others = known.warnings.into_iter().filter(|text| !run.warnings.contains(text));
    let others: Vec<String> = others.collect();
    run.warnings.extend(others);
    Ok((run, recording))
}

/// What is said of a finished run whose result counted more requests than are recorded; of one that was broken off, nothing
/// was counted before. `None`: nothing is missing, or it was said already.
fn missing_requests(run: &Run, counted: u64) -> Option<String> {
    let recorded = run.totals.all().count;
    let is_known = run.incomplete.iter().any(|text| text.starts_with("slices.bin: "));
    (run.finished && recorded < counted && !is_known).then(|| {
        let [recorded, counted] = [recorded, counted].map(squall_base::units::count);
        format!("slices.bin: it holds {recorded} of the {counted} requests that the run counted; the others are missing")
    })
}

/// Adds samples of the host, one per line, of which little is held; an incomplete line is ignored. What can be read is of use, as far
/// as it goes.
fn host_metrics(file: File, host: &mut HostMetrics) -> io::Result<()> {
    each_line(file, |line| {
        let Ok(serde_json::Value::Object(values)) = serde_json::from_slice(line) else {
            return ControlFlow::Continue(());
        };
        let mut sample = HostSample::default();
        for (name, value) in &values {
            sample.set(name, value.as_u64().unwrap_or(0));
        }
        let second = values.get("second").and_then(serde_json::Value::as_f64).unwrap_or(0.0);
        host.add(second, sample);
        ControlFlow::Continue(())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::RunFolder;
    use crate::html::Details;
    use crate::meta::Meta;
    use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};

    fn slice(second: u32) -> Slice {
        let mut slice = Slice::new(0, second);
        if second == 0 {
            slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "GET /a b"));
        }
        for n in 1..=10 {
            slice.record(NameId(0), &Sample { bytes_in: 10, bytes_out: 5, ..Sample::ok(n * 100) });
        }
        slice
    }

    #[test]
    fn a_killed_run_is_read_up_to_its_last_second() {
        let base = std::env::temp_dir().join(format!("squall-folder-{}", std::process::id()));
        let meta = Meta {
            plan: "a/b".to_owned(),
            thresholds: vec!["count == 20".to_owned()],
            ..Meta::default()
        };
        let mut folder = RunFolder::create(&base, &meta, "name: x\n").expect("a folder");
        let mut totals = Totals::new();
        for second in 0..2 {
            folder.slice(&slice(second));
            assert!(totals.add(&slice(second)));
        }
        folder.log(1, 0, "a line", serde_json::Value::Null);
        let path = folder.path().to_owned();
        drop(folder);
        let (run, _) = load_folder(&path).expect("a run");
        assert_eq!((run.finished, run.elapsed_s, run.passed()), (false, 2.0, false));
        let outcome = run.outcome();
        let kinds: Vec<_> = outcome.reasons.iter().map(|failure| failure.kind).collect();
        assert_eq!(kinds, [squall_analysis::FailureKind::Incomplete], "its threshold passed");
        // What the folder's own result says is the same.
        let stored = load(&path.join("run.json")).expect("a run").outcome;
        assert_eq!(stored, document(&run).outcome);
        let show = crate::Show { columns: 100, full: true, ..Default::default() };
        let shown = crate::text(&load(&path.join("run.json")).expect("a run"), &show);
        assert!(shown.contains("no result was written yet: the run did not finish"), "{shown}");
        assert!(!shown.contains("no load ran"), "{shown}");
        assert_eq!(run.totals.all(), totals.all());

        // Cut anywhere within the last record, the run is what was there before it.
        let file = path.join("slices.bin");
        let whole = fs::read(&file).expect("a file");
        let mut first = Recording::create(&base.join("first.bin")).expect("a file");
        first.append(&slice(0));
        let record = whole.len() as u64 - fs::metadata(base.join("first.bin")).expect("it").len();
        for cut in 1..record as usize {
            fs::write(&file, &whole[..whole.len() - cut]).expect("writable");
            assert_eq!(load(&path).expect("a run").totals.count, 10);
        }
        fs::write(&file, b"something else").expect("writable");
        assert!(load(&path).is_err());
        fs::remove_dir_all(&base).expect("it was there");
    }

    /// What stands in a run's folder may be of anybody's making: a pipe would wait, and a device has no end.
    #[cfg(target_os = "linux")]
    #[test]
    fn only_regular_files_of_a_folder_are_read() {
        use std::os::unix::fs::symlink;

        let base = tempfile::tempdir().expect("a folder");
        let mut folder = RunFolder::create(base.path(), &Meta::default(), "").expect("a folder");
        folder.slice(&slice(0));
        let path = folder.path().to_owned();
        for name in ["run.json", "slices.bin", "host.jsonl", "totals.bin", "log.jsonl", "plan.yaml"]
        {
            let file = path.join(name);
            let kept = fs::read(&file).ok();
            for make in [
                |file: &Path| {
                    let made = std::process::Command::new("mkfifo").arg(file).status();
                    assert!(made.expect("mkfifo runs").success());
                },
                |file: &Path| symlink("/dev/zero", file).expect("a link"),
            ] {
                // It may not be there.
                let _ = fs::remove_file(&file);
                make(&file);
                let loaded = load_folder_to_draw(&path);
                let is_needed = matches!(name, "run.json" | "slices.bin");
                assert_eq!(loaded.is_err(), is_needed, "{name}");
                match loaded {
                    Err(error) => assert!(error.0.contains("a device, a pipe"), "{error}"),
                    Ok((run, _)) => {
                        let is_said =
                            run.warnings.iter().any(|own| own.starts_with("host.jsonl: "));
                        assert_eq!(is_said, name == "host.jsonl", "{:?}", run.warnings);
                        let missing = Details::of(&run, Some(&path)).missing;
                        assert_eq!(
                            missing.len(),
                            usize::from(matches!(name, "log.jsonl" | "plan.yaml"))
                        );
                    }
                }
            }
            fs::remove_file(&file).expect("it is there");
            kept.into_iter().for_each(|own| fs::write(&file, own).expect("writable"));
        }
    }

    #[test]
    fn what_is_no_result_is_refused() {
        let name = format!("squall-no-result-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        let whole = r#"{"schema": 3, "meta": {}, "outcome": {}, "totals": {}}"#;
        for (text, is_result) in [
            (r#"{"schema": 3}"#, false),
            (r#"{"schema": 3, "meta": {}, "outcome": {"passed": true}}"#, false),
            ("[2]", false),
            (whole, true),
        ] {
            fs::write(&path, text).expect("writable");
            let loaded = load(&path);
            assert_eq!(loaded.is_ok(), is_result, "{text}");
            assert!(loaded.is_ok() || loaded.is_err_and(|own| own.0.contains("not the result")));
        }
        fs::remove_file(&path).expect("it was there");
    }
}
