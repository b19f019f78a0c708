//! The runs and experiments of a folder: their list, and their pages. Nothing else of the disk can be read: a run or an experiment
//! is named by one part of a path, a run of an experiment by one more, and none of them nor its page may be a link.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use percent_encoding::percent_decode_str;
use rustix::fs::{Mode, OFlags, open, openat};
use serde_json::{Value, json};
use squall_report::{
    Extent, HistoryExperiment, HistoryRun, Side, compare_html, compare_runs, history_experiment,
    history_run,
};

/// The page of a run, in its folder.
pub const REPORT: &str = "report.html";
const RESULT: &str = "run.json";
/// The page of an experiment and its result, in its folder, and where its runs are.
const EXPERIMENT_PAGE: &str = "experiment.html";
const EXPERIMENT: &str = "experiment.json";
const EXPERIMENT_RUNS: &str = "runs";
/// Most runs that are compared on one page.
const MAX_COMPARED: usize = 10;
/// Most sentences of an experiment in the list.
const MAX_SENTENCES: usize = 3;
/// A file that was changed so shortly ago may change again without a sign of it, since times on disk are coarse.
const SETTLED: Duration = Duration::from_secs(1);

/// A folder of runs and experiments, with what is known of them: a result is read once, for as long as its file stays as it is.
#[derive(Debug, Clone)]
pub struct Runs {
    folder: PathBuf,
    known: Arc<Mutex<HashMap<String, Known>>>,
}

/// What was read of a run or an experiment.
#[derive(Debug, Clone)]
struct Known {
    kind: Kind,
    /// The file that was read; `None`: it may change without a sign of it, so that it is read again.
    file: Option<Stamp>,
    /// As it stands in the list, with when it began; `None`: it cannot be read.
    entry: Option<(f64, Value)>,
}

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Run,
    Experiment,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Run, Kind::Experiment];

    /// The name of its result and of its page.
    fn files(self) -> (&'static str, &'static str) {
        match self {
            Kind::Run => (RESULT, REPORT),
            Kind::Experiment => (EXPERIMENT, EXPERIMENT_PAGE),
        }
    }
}

/// By what it is seen that a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
}

impl Runs {
    /// Of a folder, which need not be there yet.
    pub fn of(folder: &Path) -> Runs {
        Runs { folder: folder.to_owned(), known: Arc::default() }
    }

    /// The runs and experiments as JSON, the latest first. A folder that is not there yet has none.
    ///
    /// # Errors
    /// It cannot be read, in a sentence.
    pub fn list(&self) -> Result<Value, String> {
        let shown = self.folder.display().to_string();
        if !self.folder.exists() {
            return Ok(json!({"folder": shown, "runs": [], "experiments": [], "unread": 0}));
        }
        let wrong = |error: io::Error| format!("{shown}: {error}");
        // Whoever asks at the same time waits, and finds everything known.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = HashMap::new();
        for entry in fs::read_dir(&self.folder).map_err(wrong)? {
            let Ok(name) = entry.map_err(wrong)?.file_name().into_string() else { continue };
            let result =
                |kind: &Kind| Some((*kind, find(&self.folder, &[&name], kind.files().0).ok()?));
            let Some((kind, file)) = Kind::ALL.iter().find_map(result) else { continue };
            let own = self.read(&name, kind, file, known.remove(&name)).map_err(wrong)?;
            found.insert(name, own);
        }
        *known = found;
        let entries = |kind: Kind| -> Vec<Value> {
            let of_kind = known.iter().filter(|(_, own)| own.kind == kind);
            let mut all: Vec<(&String, &(f64, Value))> =
                of_kind.filter_map(|(name, own)| Some((name, own.entry.as_ref()?))).collect();
            all.sort_by(|(a, one), (b, other)| other.0.total_cmp(&one.0).then_with(|| b.cmp(a)));
            let with_page = |(name, (_, entry)): (&String, &(f64, Value))| {
                let mut entry = entry.clone();
                entry["report"] = find(&self.folder, &[name], kind.files().1).is_ok().into();
                entry
            };
            all.into_iter().map(with_page).collect()
        };
        let (runs, experiments) = (entries(Kind::Run), entries(Kind::Experiment));
        let unread = known.len() - runs.len() - experiments.len();
        Ok(json!({"folder": shown, "runs": runs, "experiments": experiments, "unread": unread}))
    }

    /// What is known of a run or an experiment, which is read if its file is not as it was.
    fn read(&self, name: &str, kind: Kind, file: File, known: Option<Known>) -> io::Result<Known> {
        let metadata = file.metadata()?;
        let stamp = Stamp { modified: metadata.modified()?, bytes: metadata.len() };
        if let Some(known) = known.filter(|own| own.kind == kind && own.file == Some(stamp)) {
            return Ok(known);
        }
        let is_settled = stamp.modified.elapsed().is_ok_and(|age| age > SETTLED);
        let entry = match kind {
            Kind::Run => history_run(&self.folder.join(name), file, Extent::Totals)
                .ok()
                .map(|run| (run.meta.started_unix, listed(name, &run))),
            Kind::Experiment => history_experiment(file)
                .ok()
                .map(|own| (own.about.started_unix, listed_experiment(name, &own))),
        };
        Ok(Known { kind, file: is_settled.then_some(stamp), entry })
    }

    /// The page that a path names, as it stands in a request: `NAME/report.html`, `NAME/experiment.html`, or of a run of an
    /// experiment `NAME/runs/RUN/report.html`.
    ///
    /// # Errors
    /// There is none, or it is not one of this folder.
    pub fn report(&self, path: &str) -> io::Result<File> {
        report(&self.folder, path)
    }

    /// The page that compares runs with the first of them: their names are the parts of a path, as it stands in a request.
    ///
    /// # Errors
    /// There are too few or too many, or one cannot be read, in a sentence.
    pub fn compare(&self, path: &str) -> Result<String, String> {
        let names = path.split('/').map(|name| percent_decode_str(name).decode_utf8());
        let names: Result<Vec<_>, _> = names.collect();
        let names = names.map_err(|_| "no run has such a name".to_owned())?;
        if !(2..=MAX_COMPARED).contains(&names.len()) {
            return Err(format!("2 to {MAX_COMPARED} runs can be compared"));
        }
        let sides: Result<Vec<Side>, String> = names.iter().map(|name| self.side(name)).collect();
        Ok(compare_html(&compare_runs(&sides?, &[])))
    }

    /// A run to be compared.
    fn side(&self, name: &str) -> Result<Side, String> {
        find(&self.folder, &[name], RESULT).map_err(|error| format!("{name}: {error}"))?;
        let folder = self.folder.join(name);
        let wrong = |error: io::Error| format!("{name}: {error}");
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            if entry.and_then(|own| own.file_type()).map_err(wrong)?.is_symlink() {
                return Err(format!("{name}: a run with links in its folder is not read"));
            }
        }
        Side::load(&folder).map_err(|error| error.to_string())
    }
}

/// A run in the list.
fn listed(name: &str, run: &HistoryRun) -> Value {
    let totals = &run.totals;
    json!({
        "name": name,
        "plan": run.meta.plan,
        "target": run.meta.target,
        "started_unix": run.meta.started_unix,
        "elapsed_s": run.elapsed_s,
        "outcome": run.outcome_label(),
        "validity": run.validity,
        "requests": totals.count,
        "rate": totals.rate,
        "error_rate": totals.error_rate,
        "p50_us": totals.latency_us.p50,
        "p95_us": totals.latency_us.p95,
        "p99_us": totals.latency_us.p99,
        "labels": run.meta.labels,
    })
}

/// An experiment in the list.
fn listed_experiment(name: &str, own: &HistoryExperiment) -> Value {
    let sentences = own.measures.iter().flat_map(|measure| &measure.sentences);
    json!({
        "name": name,
        "title": own.about.name,
        "plan": own.about.plan,
        "started_unix": own.about.started_unix,
        "elapsed_s": own.about.elapsed_s,
        "state": own.about.state,
        "blocks_done": own.about.blocks_done,
        "blocks": own.about.repeats,
        "is_at_most": own.about.relative_error.is_some(),
        "left_s": own.about.left_s,
        "known_unix": own.about.started_unix + own.about.elapsed_s,
        "variants": own.variants.len(),
        "runs": own.variants.iter().map(|variant| variant.repeats + variant.failed).sum::<u64>(),
        "sentences": sentences.take(MAX_SENTENCES).collect::<Vec<_>>(),
    })
}

fn report(folder: &Path, path: &str) -> io::Result<File> {
    let none = || io::Error::from(io::ErrorKind::NotFound);
    let decoded = |part: &str| {
        let part = percent_decode_str(part).decode_utf8().map_err(|_| none())?;
        Ok::<String, io::Error>(part.into_owned())
    };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [name, file @ (REPORT | EXPERIMENT_PAGE)] => find(folder, &[&decoded(name)?], file),
        [name, EXPERIMENT_RUNS, run, file @ REPORT] => {
            find(folder, &[&decoded(name)?, EXPERIMENT_RUNS, &decoded(run)?], file)
        }
        _ => Err(none()),
    }
}

/// Opens a plain file in a folder below `base`, named part by part, through no link.
fn find(base: &Path, names: &[&str], file: &str) -> io::Result<File> {
    let is_part = |name: &&str| {
        let is_name = !name.is_empty() && *name != "." && *name != "..";
        is_name && !name.chars().any(|c| c == '/' || c == '\\' || c.is_control())
    };
    if !names.iter().all(is_part) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    // Where the runs are is the user's to say, by a link too.
    let mut folder = open(base, flags | OFlags::DIRECTORY, Mode::empty())?;
    for name in names {
        folder =
            openat(&folder, *name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    }
    // A pipe would wait for its other end.
    let file = openat(&folder, file, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty())?;
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_file_outside_the_folder_is_read() {
        let outside = tempfile::tempdir().expect("a folder");
        let base = outside.path().join("runs");
        let make = |path: &str| {
            fs::create_dir_all(outside.path().join(path)).expect("a folder");
            fs::write(outside.path().join(path).join(REPORT), path).expect("written");
        };
        ["runs/a run", "runs/é", "runs/a run/deep", "elsewhere"].into_iter().for_each(make);
        fs::write(outside.path().join("runs").join(REPORT), "of the folder").expect("written");
        fs::write(base.join("a run").join("plan.yaml"), "a plan").expect("written");
        symlink("../elsewhere", base.join("linked")).expect("a link");
        ["runs/e/runs/001", "elsewhere/runs/001"].into_iter().for_each(make);
        fs::write(base.join("e").join(EXPERIMENT_PAGE), "an experiment").expect("written");
        symlink("../../../elsewhere", base.join("e").join("runs").join("002")).expect("a link");
        fs::create_dir(base.join("inner")).expect("a folder");
        symlink("../../elsewhere/report.html", base.join("inner").join(REPORT)).expect("a link");
        fs::create_dir_all(base.join("odd").join(REPORT)).expect("a folder");
        let read = |path: &str| -> Option<String> {
            let mut text = String::new();
            report(&base, path).ok()?.read_to_string(&mut text).ok()?;
            Some(text)
        };
        assert_eq!(read("a run/report.html").as_deref(), Some("runs/a run"));
        assert_eq!(read("a%20run/report.html").as_deref(), Some("runs/a run"));
        assert_eq!(read("%C3%A9/report.html").as_deref(), Some("runs/é"));
        assert_eq!(read("e/experiment.html").as_deref(), Some("an experiment"));
        assert_eq!(read("e/runs/001/report.html").as_deref(), Some("runs/e/runs/001"));
        for path in [
            "e/runs/002/report.html",
            "e/runs/report.html",
            "e/runs/../report.html",
            "e/runs/%2e%2e/report.html",
            "e/runs/001/experiment.html",
            "e/r%75ns/001/report.html",
            "linked/runs/001/report.html",
            "e/experiment.json",
            "",
            "report.html",
            "/report.html",
            "./report.html",
            "../report.html",
            "../elsewhere/report.html",
            "..%2felsewhere/report.html",
            "%2e%2e/report.html",
            "%2e%2e%2felsewhere/report.html",
            "..%5celsewhere/report.html",
            "a%20run%2fdeep/report.html",
            "a run/deep/report.html",
            "a run/plan.yaml",
            "a run/../../elsewhere/report.html",
            "a%20run%00/report.html",
            "%ff/report.html",
            "linked/report.html",
            "inner/report.html",
            "odd/report.html",
            "none/report.html",
            "a run/report%2ehtml",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_runs() {
        let runs = Runs::of(Path::new("/nowhere/at-all")).list().expect("a list");
        assert_eq!((&runs["runs"], &runs["unread"]), (&json!([]), &json!(0)));
        assert_eq!(runs["experiments"], json!([]));
    }

    /// Writes a result that was changed at this time.
    fn write(folder: &Path, name: &str, text: &str, modified: SystemTime) {
        fs::create_dir_all(folder.join(name)).expect("a folder");
        let path = folder.join(name).join(RESULT);
        fs::write(&path, text).expect("written");
        let file = File::options().write(true).open(&path).expect("there");
        file.set_modified(modified).expect("set");
    }

    #[test]
    fn only_runs_of_the_folder_are_compared() {
        let outside = tempfile::tempdir().expect("a folder");
        let base = outside.path().join("runs");
        let ended = SystemTime::now();
        ["one", "two"].iter().for_each(|name| write(&base, name, &result("a", 1), ended));
        write(outside.path(), "elsewhere", &result("a", 1), ended);
        write(&base, "linked", &result("a", 1), ended);
        symlink("../../elsewhere/run.json", base.join("linked").join("slices.bin"))
            .expect("a link");
        let runs = Runs::of(&base);
        let wrong = |path: &str| runs.compare(path).expect_err("not compared");
        assert!(wrong("one").contains("2 to 10 runs"), "{}", wrong("one"));
        let many = ["one"; MAX_COMPARED + 1].join("/");
        assert!(wrong(&many).contains("2 to 10 runs"));
        for path in ["../one", "%2e%2e%2felsewhere/one", "none/one", "/one", "%ff/one"] {
            assert!(!wrong(path).contains("slices.bin"), "{path}: {}", wrong(path));
        }
        assert!(wrong("linked/one").contains("links"), "{}", wrong("linked/one"));
    }

    fn result(plan: &str, started_unix: u32) -> String {
        let run = HistoryRun {
            schema: squall_report::SCHEMA,
            meta: squall_report::Meta {
                plan: plan.to_owned(),
                started_unix: f64::from(started_unix),
                ..squall_report::Meta::default()
            },
            ..HistoryRun::default()
        };
        serde_json::to_string(&run).expect("JSON")
    }

    fn plans(runs: &Runs) -> (Vec<String>, u64) {
        let list = runs.list().expect("a list");
        let plans = list["runs"].as_array().expect("a list").iter();
        let plans = plans.map(|run| run["plan"].as_str().expect("a name").to_owned());
        (plans.collect(), list["unread"].as_u64().expect("a number"))
    }

    #[test]
    fn experiments_are_listed_beside_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        write(folder.path(), "one", &result("a", 1), long_ago);
        let about = squall_report::ExperimentAbout {
            name: "two parsers".to_owned(),
            started_unix: 2.0,
            elapsed_s: 60.0,
            repeats: 5,
            blocks_done: 2,
            ..squall_report::ExperimentAbout::default()
        }
        .at(squall_report::ExperimentState::UnderWay { left_s: Some(90.0) });
        let factor = squall_report::ExperimentFactor {
            name: "parser".to_owned(),
            levels: vec!["own".to_owned(), "gson".to_owned()],
            ..squall_report::ExperimentFactor::default()
        };
        let own = squall_report::ExperimentResult::new(about, vec![factor], &[], Vec::new());
        let text = serde_json::to_string(&own.expect("small")).expect("JSON");
        fs::create_dir(folder.path().join("two")).expect("a folder");
        fs::write(folder.path().join("two").join(EXPERIMENT), text).expect("written");
        fs::create_dir(folder.path().join("three")).expect("a folder");
        fs::write(folder.path().join("three").join(EXPERIMENT), "{").expect("written");
        let list = Runs::of(folder.path()).list().expect("a list");
        assert_eq!(list["runs"].as_array().map(Vec::len), Some(1));
        assert_eq!(list["unread"], 1);
        let [own] = list["experiments"].as_array().expect("a list").as_slice() else {
            panic!("{list}")
        };
        assert_eq!((&own["name"], &own["title"]), (&json!("two"), &json!("two parsers")));
        assert_eq!((&own["variants"], &own["report"]), (&json!(2), &json!(false)));
        let far =
            ["state", "blocks_done", "blocks", "left_s", "known_unix"].map(|key| own[key].clone());
        assert_eq!(far, [json!("under way"), json!(2), json!(5), json!(90.0), json!(62.0)]);
        fs::write(folder.path().join("two").join(EXPERIMENT_PAGE), "").expect("written");
        let list = Runs::of(folder.path()).list().expect("a list");
        assert_eq!(list["experiments"][0]["report"], true);
    }

    #[test]
    fn a_result_is_read_again_when_its_file_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let runs = Runs::of(folder);
        write(folder, "one", &result("a", 1), long_ago);
        write(folder, "two", &result("b", 2), long_ago);
        write(folder, "wrong", "{", long_ago);
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(plans(&runs), (list(&["b", "a"]), 1), "the latest first");
        // With the time and the length of the one before, the file is taken for that one: it is not read.
        write(folder, "two", &result("c", 2), long_ago);
        assert_eq!(plans(&runs).0, list(&["b", "a"]));
        let later = long_ago + Duration::from_secs(1);
        write(folder, "two", &result("c", 2), later);
        assert_eq!(plans(&runs).0, list(&["c", "a"]));
        write(folder, "two", &result("longer", 2), later);
        assert_eq!(plans(&runs).0, list(&["longer", "a"]));
        fs::remove_dir_all(folder.join("one")).expect("removed");
        write(folder, "wrong", &result("d", 0), long_ago);
        assert_eq!(plans(&runs), (list(&["longer", "d"]), 0));
        // What was changed a moment ago is not taken for settled; a time to come is none of long ago either.
        let to_come = SystemTime::now() + Duration::from_secs(600);
        write(folder, "new", &result("e", 3), to_come);
        assert_eq!(plans(&runs).0, list(&["e", "longer", "d"]));
        write(folder, "new", &result("f", 3), to_come);
        assert_eq!(plans(&runs).0, list(&["f", "longer", "d"]));
    }
}
