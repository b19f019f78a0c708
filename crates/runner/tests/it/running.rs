//! A run through the library: what sinks are told, how it is controlled from another thread, and how it ends in
//! each of its phases. Nothing depends on when something was seen, but on what had happened before.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use squall_engine::ExchangeFilter;
use squall_plan::yaml::Loaded;
use squall_report::Run;
use squall_runner::{
    Event, EventKind, FinishedRun, Folder, Handle, Json, Options, Phase, PhaseEnd, Second, Sink,
    Start, Wanted, WantedExchanges, load_str, run,
};

use crate::common::{options, target};

/// What a sink was told, as words, and who waits for it.
#[derive(Clone, Default)]
struct Notes(Arc<(Mutex<Vec<String>>, Condvar)>);

impl Notes {
    fn add(&self, text: impl Into<String>) {
        self.0.0.lock().expect("no panic").push(text.into());
        self.0.1.notify_all();
    }

    fn all(&self) -> Vec<String> {
        self.0.0.lock().expect("no panic").clone()
    }

    /// Those that begin so.
    fn of(&self, begin: &str) -> Vec<String> {
        self.all().into_iter().filter(|note| note.starts_with(begin)).collect()
    }

    /// Waits until a note begins so.
    fn wait_for(&self, text: &str) {
        self.wait_until(text, |note| note.starts_with(text));
    }

    /// Waits until there is such a note. In vain if the run ends without it, or hangs.
    fn wait_until(&self, what: &str, is_it: impl Fn(&str) -> bool) {
        let notes = self.0.0.lock().expect("no panic");
        let lacks = |notes: &mut Vec<String>| {
            let is_over = notes.iter().any(|note| note.starts_with("finish "));
            !is_over && !notes.iter().any(|note| is_it(note))
        };
        let notes = self.0.1.wait_while(notes, lacks).expect("no panic");
        assert!(notes.iter().any(|note| is_it(note)), "{what} is not among {notes:?}");
    }
}

/// A sink that notes what it is told.
struct Note(Notes);

impl Sink for Note {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.0.add(format!("start {}", start.meta.plan));
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        let rows = second.rows.iter().filter(|row| row.key.place.kind.is_request());
        let rows: Vec<String> =
            rows.map(|row| format!("{} {}", row.key.name, row.stats.count)).collect();
        self.0.add(format!("second {}: {}", second.second, rows.join(", ")));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.add(match &event.kind {
            EventKind::PhaseBegan(phase) => format!("{} began", phase.label()),
            EventKind::PhaseEnded { phase, failed: None } => format!("{} ended", phase.label()),
            EventKind::PhaseEnded { phase: _, failed: Some(why) } => why.clone(),
            EventKind::NotRun(phase) => format!("{} is not run", phase.label()),
            EventKind::Stage { scenario, stage, .. } => format!("stage {stage} of {scenario}"),
            EventKind::StopAsked(phase) => format!("stop asked in {}", phase.label()),
            EventKind::Aborted(abort) => abort.text(),
            EventKind::AbortAsked(phase) => format!("abort asked in {}", phase.label()),
            EventKind::Paused => "paused".to_owned(),
            EventKind::Resumed => "resumed".to_owned(),
            EventKind::Scaled { scenario, to, .. } => format!("{scenario} scaled to {to}"),
            EventKind::FirstError { key, kind } => {
                format!("first {kind} of {} in {}", key.name, key.place.scenario)
            }
            EventKind::Log { text, .. } => format!("log {text}"),
            EventKind::Warning(text) => format!("warning {text}"),
            EventKind::Error(text) => format!("error {text}"),
            EventKind::Exchange(seen) => format!("exchange {}", seen.exchange.name),
            EventKind::Group { group, .. } => format!("group {}", group.name),
            EventKind::Measured { measured, .. } => format!("measured {:?}", measured.values),
            EventKind::Evaluated(run) => format!("evaluated {}", run.totals.all().count),
            EventKind::Notice { node, text } => format!("{node}: {text}"),
        });
        Ok(())
    }

    fn finish(&mut self, run: &Run) -> io::Result<()> {
        self.0.add(format!("finish {}", run.totals.all().count));
        Ok(())
    }
}

fn plan(text: &str) -> Loaded {
    load_str("plan", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a plan with a sink that takes notes.
fn noted(plan: &Loaded, notes: &Notes, handle: &Handle) -> FinishedRun {
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("notes".to_owned(), Box::new(Note(notes.clone())))];
    run(plan, &options(), sinks, handle).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a plan, and does something to it as soon as its notes have a line that begins with `when`.
fn controlled(plan: &str, when: &str, act: impl FnOnce(&Handle) + Send) -> (FinishedRun, Notes) {
    let (notes, handle, plan) = (Notes::default(), Handle::default(), self::plan(plan));
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| noted(&plan, &notes, &handle));
        notes.wait_for(when);
        act(&handle);
        running.join().expect("no panic")
    });
    (outcome, notes)
}

#[test]
fn sinks_are_told_of_everything_in_order() {
    let notes = Notes::default();
    let plan = plan(
        "target: builtin
setup: [{get: /status/204}]
teardown: [{get: /status/204}]
scenarios:
  a:
    load: {stages: [{users: 2, over: 0}, {users: 2, over: 1200ms}]}
    on_error: continue
    steps: [{get: /}, {get: /status/500}, {log: hello}, {think: 20ms}]
",
    );
    let outcome = noted(&plan, &notes, &Handle::default());
    assert_eq!(outcome.run.incomplete, [] as [String; 0]);
    let all = notes.all();
    let place = |text: &str| {
        let at = all.iter().position(|note| note.starts_with(text));
        at.unwrap_or_else(|| panic!("{text} is not among {all:#?}"))
    };
    let order = [
        "start plan",
        "setup began",
        "setup ended",
        "load began",
        "second 0",
        "second 1",
        "load ended",
        "evaluated ",
        "teardown began",
        "teardown ended",
        "finish ",
    ];
    let places: Vec<usize> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{all:#?}");
    for text in ["stage 1 of a", "stage 2 of a", "stage 3 of a", "log hello"] {
        place(text);
    }
    assert_eq!(notes.of("first "), ["first status of GET /status/500 in a"]);
    // What the seconds have adds up to the result.
    let sum: u64 = notes
        .of("second ")
        .iter()
        .flat_map(|note| note.split(", "))
        .filter_map(|row| row.rsplit(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(sum, outcome.run.totals.all().count);
    let ends: Vec<(Phase, &PhaseEnd, u64)> = outcome
        .phases
        .iter()
        .map(|report| (report.phase, &report.end, report.requests.min(2)))
        .collect();
    let done = &PhaseEnd::Done;
    assert_eq!(ends, [(Phase::Setup, done, 1), (Phase::Load, done, 2), (Phase::Teardown, done, 1)]);
    let phases = squall_report::document(&outcome.run).run_phases;
    let words: Vec<_> =
        phases.iter().map(|own| (own.phase.as_str(), own.end.as_str(), own.errors > 0)).collect();
    let wanted = [("setup", "done", false), ("load", "done", true), ("teardown", "done", false)];
    assert_eq!(words, wanted);
}

const ENDLESS: &str =
    "scenarios: {a: {load: {users: 2, for: 1h}, steps: [{get: /}, {think: 10ms}]}}";

#[test]
fn a_threshold_ends_the_load_in_order() {
    let text = "target: builtin
graceful_stop: 5s
teardown: [{get: /status/204}]
thresholds:
  - {threshold: 'error_rate < 40%', abort_on_fail: true, after: 2s}
  - {threshold: 'p99 < 1h', abort_on_fail: true}
  - count > 1000000
scenarios:
  a:
    load: {users: 2, for: 1h}
    on_error: continue
    steps: [{get: /status/500}, {get: /delay/20}]
";
    let notes = Notes::default();
    let outcome = noted(&plan(text), &notes, &Handle::default());
    assert!(!outcome.is_interrupted());
    let abort = outcome.run.aborted.as_ref().expect("it was aborted");
    assert_eq!((abort.threshold.as_str(), abort.at_s), ("error_rate < 40%", 2.0));
    assert!(outcome.run.elapsed_s >= 2.0, "{}", outcome.run.elapsed_s);
    // What was in flight was finished, and what the run had made is cleaned up.
    let kinds = outcome.run.totals.all().error_kinds;
    assert!(kinds.iter().all(|(kind, _)| kind.label() == "status"), "{kinds:?}");
    let ended = outcome.phase(Phase::Load).expect("a load").end.clone();
    assert_eq!(ended, PhaseEnd::Aborted(abort.text()));
    assert_eq!(outcome.phase(Phase::Teardown).map(|down| &down.end), Some(&PhaseEnd::Done));
    assert_eq!(notes.of("threshold "), [abort.text(), abort.text()], "asked for, and the end");
    let json = squall_report::document(&outcome.run);
    assert_eq!(json.aborted.map(|own| own.threshold).as_deref(), Some("error_rate < 40%"));
    assert_eq!(json.run_phases[0].end, "aborted");
    assert_eq!((json.outcome.passed, json.outcome.exit_code), (false, 1));
    let kinds: Vec<&str> = json.outcome.reasons.iter().map(|own| own.kind.as_str()).collect();
    assert_eq!(kinds, ["aborted", "threshold"], "and the one of the count");
}

#[test]
fn a_threshold_that_holds_or_comes_later_ends_nothing() {
    let text = "target: builtin
thresholds:
  - {threshold: 'error_rate < 40%', abort_on_fail: true, after: 1m}
  - {threshold: 'errors < 100000', abort_on_fail: true}
scenarios: {a: {load: {users: 1, for: 1500ms}, steps: [{get: /status/500}, {think: 10ms}]}}
";
    let outcome = noted(&plan(text), &Notes::default(), &Handle::default());
    assert_eq!(outcome.run.aborted, None);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Done);
    let bad = text.replace("errors < 100000", "count >= 100");
    let refused = run(&plan(&bad), &options(), Vec::new(), &Handle::default());
    let error = refused.expect_err("it would never run").text;
    assert!(error.contains("would abort every run: its count begins at 0"), "{error}");
    assert!(error.contains("plan:4:"), "{error}");
}

#[test]
fn a_run_is_stopped_in_any_phase() {
    let slow = "graceful_stop: 50ms\nSECTION: [{get: /delay/3600000}]\nteardown: [{get: /}]";
    let text = |section: &str| {
        let section = slow.replace("SECTION", section);
        format!("target: builtin\n{section}\n{ENDLESS}\n")
    };
    // In its setup: there is no load, and what the setup has made is cleaned up.
    let (outcome, notes) = controlled(&text("setup"), "setup began", Handle::stop);
    assert!(outcome.is_interrupted() && !outcome.has_load, "{outcome:?}");
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
    assert_eq!(outcome.phase(Phase::Teardown).map(|down| &down.end), Some(&PhaseEnd::Done));
    assert_eq!(notes.of("load began"), [] as [&str; 0]);
    // In its load.
    let plan = format!("target: builtin\nteardown: [{{get: /}}]\n{ENDLESS}\n");
    let (outcome, notes) = controlled(&plan, "second 0", Handle::stop);
    assert!(outcome.run.interrupted && outcome.run.totals.all().count > 0);
    assert_eq!(outcome.run.incomplete, [] as [&str; 0]);
    assert_eq!(outcome.phase(Phase::Teardown).map(|down| &down.end), Some(&PhaseEnd::Done));
    assert_eq!(notes.of("stop asked"), ["stop asked in load"]);
    // In its teardown: the result is there.
    let plan = "target: builtin\ngraceful_stop: 50ms\nteardown: [{get: /delay/3600000}]\nscenarios: {a: {load: {users: 1, iterations: 3}, steps: [{get: /}]}}\n";
    let (outcome, _) = controlled(plan, "teardown began", Handle::stop);
    assert_eq!(outcome.run.totals.all().count, 3);
    assert_eq!(outcome.phases[1].end, PhaseEnd::Interrupted);
    let reasons = outcome.run.outcome().reasons;
    assert_eq!(reasons.last().map(|own| &*own.text), Some("the teardown was interrupted"));
}

#[test]
fn an_aborted_run_waits_for_nothing() {
    let plan = "target: builtin\ngraceful_stop: 1h\nteardown: [{get: /}]\nscenarios: {a: {load: {users: 2, for: 1h}, steps: [{get: /delay/3600000}]}}\n";
    let (outcome, notes) = controlled(plan, "load began", |handle| {
        handle.stop();
        handle.abort();
    });
    assert!(outcome.run.interrupted);
    assert_eq!(notes.of("teardown"), ["teardown is not run"]);
    let down = outcome.phase(Phase::Teardown).expect("the plan has one");
    assert_eq!(
        (&down.end, down.trouble().as_deref()),
        (&PhaseEnd::NotRun, Some("the teardown was not run"))
    );
}

#[test]
fn a_run_that_is_stopped_before_it_starts_sends_nothing() {
    let server = target();
    let handle = Handle::default();
    handle.stop();
    let plan = plan(&format!("target: {}\n{ENDLESS}\n", server.url()));
    assert!(run(&plan, &options(), Vec::new(), &handle).is_err());
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn a_failed_setup_starts_no_load_and_is_cleaned_up() {
    let server = target();
    let plan = plan(&format!(
        "target: {}\nsetup: [{{log: begins}}, {{get: /status/500}}]\nteardown: [{{get: /status/204}}]\n{ENDLESS}\n",
        server.url()
    ));
    let notes = Notes::default();
    let outcome = noted(&plan, &notes, &Handle::default());
    let incomplete = &outcome.run.incomplete;
    assert!(incomplete[0].starts_with("setup failed: "), "{incomplete:?}");
    assert!(!incomplete[0].contains("begins"), "what a plan logs is no reason: {incomplete:?}");
    assert!(outcome.phases[0].log.iter().any(|line| line == "begins"), "{outcome:?}");
    assert!(!outcome.run.passed(), "nothing was tested");
    assert_eq!(notes.of("load"), [] as [&str; 0]);
    assert_eq!(server.stats().requests, 2, "the second is the teardown's");
    assert_eq!((outcome.phases[0].requests, outcome.phases[0].errors), (1, 1));
}

/// The outcome says in one line what is wrong with a plan since its setup, without the line of the file.
#[test]
fn a_plan_that_setup_has_made_wrong_says_so_in_one_line() {
    let server = target();
    let plan = plan(&format!(
        "target: {}\nvars: {{n: 5, m: '${{10 / int(n)}}', k: '${{20 / int(n)}}'}}\n\
         setup: [{{get: /echo?n=0, extract: {{n: {{json: $.query.n}}}}}}]\n{ENDLESS}\n",
        server.url()
    ));
    let outcome = noted(&plan, &Notes::default(), &Handle::default());
    let reason = &outcome.run.incomplete[0];
    assert!(reason.starts_with("load failed: ") && reason.contains(":2:"), "{reason}");
    assert!(reason.contains("error: ") && reason.ends_with("; and 1 more"), "{reason}");
    assert!(!reason.contains('|') && !reason.contains('\n'), "{reason}");
}

/// What came of a setup that failed, and of the teardown after it, is in the result on disk.
#[test]
fn a_failed_setup_leaves_a_folder_with_its_result() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = plan(&format!(
        "target: {}
setup: [{{get: /echo?made=7, extract: {{made: {{json: $.query.made}}}}}}, {{get: /status/500}}, {{get: /never}}]
teardown: [{{get: /status/404}}, {{get: '/status/20${{int(made) - 7}}'}}]
{ENDLESS}
",
        server.url()
    ));
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(folder.path().join("runs"))))];
    let outcome = run(&plan, &options(), sinks, &Handle::default()).expect("an outcome");
    let incomplete = &outcome.run.incomplete;
    let failed = incomplete.iter().map(|text| text.split(": ").next());
    assert!(failed.eq([Some("setup failed"), Some("teardown failed")]), "{incomplete:?}");
    let path = outcome.folder.expect("a folder").join("run.json");
    let json = std::fs::read(path).expect("a result");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!((&json["totals"]["count"], &json["validity"]), (&0.into(), &"none".into()));
    for (number, phase, counts) in [(0, "setup", [2, 1]), (1, "teardown", [2, 1])] {
        let json = &json["run_phases"][number];
        assert_eq!([&json["phase"], &json["end"]], [phase, "failed"], "{json}");
        let rows = json["rows"].as_array().expect("an array");
        let sum = |key: &str| rows.iter().filter_map(|row| row[key].as_u64()).sum::<u64>();
        assert_eq!([sum("count"), sum("errors")], counts, "{phase}: {json}");
        assert!(json["log"][0].as_str().is_some_and(|text| text.contains("/status/")), "{json}");
    }
    let reasons = json["outcome"]["reasons"].to_string();
    assert!(reasons.contains("setup failed: ") && reasons.contains("teardown failed: "));
}

/// The log of a run has examples of its errors, with what came: nothing was kept of the first response.
#[test]
fn examples_of_errors_have_an_excerpt_without_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(
        "target: builtin
vars: {token: {value: wonderful-secret, secret: true}}
scenarios: {a: {load: {users: 1, iterations: 3}, steps: [{get: '/echo?q=${token}', name: ask, check: status == 201}]}}
",
    );
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(folder.path().join("runs"))))];
    let outcome = run(&plan, &options(), sinks, &Handle::default()).expect("an outcome");
    let log = outcome.folder.expect("a folder").join("log.jsonl");
    let log = std::fs::read_to_string(log).expect("a log");
    let examples: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(examples.len(), 3, "{log}");
    for (example, number) in examples.iter().zip(1..) {
        let excerpt = example["excerpt"].as_str().expect("a text");
        let of = (&example["name"], &example["error"], &example["status"], &example["number"]);
        assert_eq!(of, (&"ask".into(), &"check".into(), &200.into(), &number.into()));
        assert_eq!(excerpt.contains("\"q\":"), number > 1, "{log}");
    }
    assert!(!log.contains("wonderful"), "{log}");
}

/// Pauses two users that never wait, until a whole second was without requests. They go on after it.
fn stands_still(steps: &str) {
    let plan = plan(&format!(
        "target: builtin\nscenarios: {{a: {{load: {{users: 2, for: 2s}}, steps: {steps}}}}}\n"
    ));
    let (notes, handle) = (Notes::default(), Handle::default());
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| noted(&plan, &notes, &handle));
        notes.wait_for("second 0");
        handle.pause().expect("a load");
        notes.wait_until("an empty second", |note| {
            note.starts_with("second ") && note.ends_with(": ")
        });
        handle.resume().expect("a load");
        running.join().expect("no panic")
    });
    let by_second: Vec<u64> = outcome.run.series.rows().iter().map(|row| row.requests).collect();
    let still = by_second.iter().position(|requests| *requests == 0).expect("an empty second");
    assert!(by_second[0] > 0 && by_second[still..].iter().any(|own| *own > 0), "{by_second:?}");
    assert!(outcome.run.elapsed_s >= 3.0, "it is no part of the load: {}", outcome.run.elapsed_s);
}

#[test]
fn users_that_never_wait_pause_between_iterations() {
    stands_still("[{get: /}]");
}

#[test]
fn users_that_never_wait_pause_within_an_iteration() {
    stands_still("[{repeat: 1000000, steps: [{get: /}]}]");
}

#[test]
fn users_that_never_wait_pause_in_branches() {
    let branch = |path| format!("{{repeat: 1000000, steps: [{{get: {path}}}]}}");
    stands_still(&format!("[{{parallel: [{}, {}]}}]", branch("/"), branch("/delay/1")));
}

#[test]
fn a_load_pauses_and_goes_on() {
    // There are users for all arrivals of a moment in which the machine stood still.
    let plan = "target: builtin\nscenarios: {a: {load: {rate: 50/s, for: 2s, max_users: 100}, steps: [{get: /}]}}\n";
    let (outcome, notes) = controlled(plan, "second 0", |handle| {
        handle.pause().expect("a load");
        std::thread::sleep(Duration::from_secs(1));
        handle.resume().expect("a load");
    });
    assert_eq!(outcome.run.totals.counters().arrivals_due, 100, "nothing is lost");
    assert_eq!(outcome.run.totals.all().count, 100);
    assert!(outcome.run.elapsed_s >= 2.9, "{}", outcome.run.elapsed_s);
    assert!(notes.of("paused").len() == 1 && notes.of("resumed").len() == 1);
}

#[test]
fn users_and_rates_change_while_the_load_goes_on() {
    let plan = "target: builtin
scenarios:
  few: {load: {users: 1, for: 3s}, steps: [{get: /}, {think: 20ms}]}
  slow: {load: {rate: 10/s, for: 3s, max_users: 50}, steps: [{get: /}]}
  counted: {load: {users: 1, iterations: 1}, steps: [{get: /}]}
  later: {after: [counted], load: {users: 1, for: 1s}, steps: [{get: /}]}
";
    let (outcome, notes) = controlled(plan, "second 0", |handle| {
        handle.set_users("few", 7).expect("it is a number of users");
        handle.set_rate("slow", 200.0).expect("it is a rate");
        for wrong in [
            handle.set_rate("few", 1.0),
            handle.set_users("slow", 1),
            handle.set_users("nobody", 1),
            handle.set_users("counted", 3),
            handle.set_users("later", 3),
            handle.set_rate("slow", 9e7),
        ] {
            assert!(wrong.is_err());
        }
    });
    let counters = outcome.run.totals.counters();
    assert!(counters.users_active >= 7, "{counters:?}");
    // 10 a second for at least a second, and then 200.
    assert!((40..=10 + 2 * 200).contains(&counters.arrivals_due), "{counters:?}");
    assert!(outcome.run.elapsed_s >= 2.9, "{}", outcome.run.elapsed_s);
    let scaled: Vec<String> =
        notes.all().into_iter().filter(|note| note.contains("scaled")).collect();
    assert_eq!(scaled, ["few scaled to 7 users", "slow scaled to 200/s"]);
}

#[test]
fn one_run_leaves_nothing_to_the_next() {
    let plan = plan(
        "target: builtin\nseed: 7\nscenarios: {a: {load: {users: 2, iterations: 5}, steps: [{get: /}]}}\n",
    );
    let cores = std::thread::available_parallelism().expect("a number").get() as f64;
    for _ in 0..2 {
        let began = Instant::now();
        let outcome = noted(&plan, &Notes::default(), &Handle::default());
        assert_eq!(outcome.run.totals.all().count, 10);
        assert!(outcome.run.passed() && !outcome.is_interrupted());
        // More than all processors had in that time is not its own.
        let most = cores * began.elapsed().as_secs_f64() + 0.1;
        let used = outcome.run.generator.cpu_user_s;
        assert!(used <= most, "{used} s of at most {most} s");
    }
}

#[test]
fn the_folder_and_the_json_have_the_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("result.json");
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![
        ("folder".to_owned(), Box::new(Folder::new(folder.path().join("runs")))),
        ("json".to_owned(), Box::new(Json::new(&json))),
    ];
    let plan = plan(
        "target: builtin\nscenarios: {a: {load: {users: 2, for: 1500ms}, steps: [{get: /}, {think: 5ms}]}}\n",
    );
    let outcome = run(&plan, &options(), sinks, &Handle::default()).expect("a run");
    let path = outcome.folder.expect("a folder");
    let read = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
    };
    assert_eq!(read(&json), read(&path.join("run.json")));
    let (kept, _) = squall_report::load_folder(&path).expect("a run");
    assert_eq!(kept.totals.all(), outcome.run.totals.all());
    assert_eq!(kept.series.rows(), outcome.run.series.rows());
    assert!(path.join("host.jsonl").metadata().expect("a file").len() > 0);
}

/// A folder that cannot be made is known before anything is sent.
#[test]
fn a_sink_that_cannot_start_ends_the_run_before_it_begins() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("file"), "").expect("writable");
    let plan = plan(&format!("target: {}\n{ENDLESS}\n", server.url()));
    let base = folder.path().join("file").join("below");
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("file/below".to_owned(), Box::new(Folder::new(base)))];
    let error = run(&plan, &options(), sinks, &Handle::default()).expect_err("no folder");
    assert!(error.text.starts_with("file/below: "), "{error}");
    assert_eq!(server.stats().requests, 0);
}

/// A sink that fails or is too slow while the run goes on is in the outcome; the run and other sinks are as if it
/// were not there.
#[test]
fn what_a_sink_loses_is_reported() {
    struct Full;
    impl Sink for Full {
        fn start(&mut self, _: &Start) -> io::Result<Wanted> {
            Ok(Wanted::default())
        }
        fn second(&mut self, _: &Second) -> io::Result<()> {
            Err(io::Error::from_raw_os_error(28))
        }
        fn event(&mut self, _: &Event) -> io::Result<()> {
            Ok(())
        }
        fn finish(&mut self, _: &Run) -> io::Result<()> {
            Ok(())
        }
    }
    let notes = Notes::default();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![
        ("full".to_owned(), Box::new(Full)),
        ("notes".to_owned(), Box::new(Note(notes.clone()))),
    ];
    let plan = plan(
        "target: builtin\nscenarios: {a: {load: {users: 1, iterations: 3}, steps: [{get: /}]}}\n",
    );
    let outcome = run(&plan, &Options::default(), sinks, &Handle::default()).expect("a run");
    assert_eq!(outcome.run.totals.all().count, 3);
    let incomplete = &outcome.run.incomplete;
    assert_eq!(incomplete.len(), 1);
    assert!(incomplete[0].starts_with("full: No space left"), "{incomplete:?}");
    assert!(!outcome.run.passed(), "a part of the result is lost");
    assert_eq!(notes.of("finish"), ["finish 3"]);
}

/// Each sink sees the exchanges that it asks for, of all phases, whatever others ask for.
#[test]
fn sinks_see_the_exchanges_that_they_want() {
    #[derive(Clone)]
    struct Sees(WantedExchanges, Arc<Mutex<Vec<(Phase, i64, usize)>>>);
    impl Sink for Sees {
        fn start(&mut self, _: &Start) -> io::Result<Wanted> {
            Ok(Wanted { exchanges: Some(self.0), ..Wanted::default() })
        }
        fn second(&mut self, _: &Second) -> io::Result<()> {
            Ok(())
        }
        fn event(&mut self, event: &Event) -> io::Result<()> {
            if let EventKind::Exchange(seen) = &event.kind {
                let exchange = &seen.exchange;
                let head = exchange.last().map_or(0, |hop| hop.head.len());
                let own = (seen.phase, exchange.status, head);
                self.1.lock().expect("no panic").push(own);
            }
            Ok(())
        }
        fn finish(&mut self, _: &Run) -> io::Result<()> {
            Ok(())
        }
    }
    let sees = |which, bytes| Sees(WantedExchanges { which, bytes }, Arc::default());
    let (failed, some) = (sees(ExchangeFilter::Failed, 0), sees(ExchangeFilter::OneIn(4), 1 << 10));
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![
        ("failed".to_owned(), Box::new(failed.clone())),
        ("some".to_owned(), Box::new(some.clone())),
    ];
    let plan = plan(
        "target: builtin\nsetup: [{get: /}]\nscenarios: {a: {load: {users: 1, iterations: 10}, on_error: continue, steps: [{get: /}, {get: /status/500}]}}\n",
    );
    let outcome = run(&plan, &options(), sinks, &Handle::default()).expect("a run");
    let failed = failed.1.lock().expect("no panic");
    assert_eq!(failed.len(), 10);
    assert!(failed.iter().all(|(phase, status, _)| (*phase, *status) == (Phase::Load, 500)));
    let some = some.1.lock().expect("no panic");
    let phases: Vec<Phase> = some.iter().map(|(phase, _, _)| *phase).collect();
    assert_eq!(phases, [[Phase::Setup].as_slice(), &[Phase::Load; 5]].concat());
    assert!(some.iter().all(|(_, _, head)| *head > 10), "with the heads of responses");
    let told: Vec<u64> = outcome.sinks.iter().map(|sink| sink.exchanges).collect();
    assert_eq!((told, outcome.run.generator.requests_logged), (vec![10, 6], Some(16)));
}
