//! The modules that are built in: a file each, over scripts that run here, on a time of the test's own.

mod console;
mod crypto;
mod data;
mod encoding;
mod execution;
mod files;
mod k6_summary;
mod k6_utils;
mod limits;
mod modules;
mod random;
mod text;
mod timers;
mod together;
mod url;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Fiber, Held, Step, Thrown};
use crate::files::{Files, OpenFiles};
use crate::graph::Graph;
use crate::host::Numbers;
use crate::stage::{ScriptUser, Stage, StageOptions};
use crate::{Answer, Ask, Event, Facts, Wait};

/// Files of a test.
struct Texts(Vec<(String, Vec<u8>)>);

impl Files for Texts {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        let own = self.0.iter().find(|(own, _)| Path::new(own) == path);
        own.map(|(_, bytes)| bytes.clone())
            .ok_or_else(|| format!("{} is not there", path.display()))
    }
    fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|(own, _)| Path::new(own) == path)
    }
}

/// Options with files that a script may open.
fn with_files(files: &[(&str, &[u8])]) -> StageOptions {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    StageOptions { files: OpenFiles(Some(Arc::new(Texts(files)))), ..StageOptions::default() }
}

/// Users of a script: its file is `/t/a.js`.
fn stage(script: &str, options: &StageOptions) -> Stage {
    stage_of(&[("/t/a.js", script)], options)
}

fn stage_of(files: &[(&str, &str)], options: &StageOptions) -> Stage {
    let texts = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let graph = Graph::read(Path::new(files[0].0), &Texts(texts.collect()));
    let graph = graph.unwrap_or_else(|error| panic!("{error}"));
    Stage::new(&graph, options).expect("memory").unwrap_or_else(|thrown| panic!("{thrown}"))
}

fn user(stage: &Stage, user: u64) -> Result<ScriptUser, Thrown> {
    stage.user(Numbers { user, iteration: 0 }, &[])
}

/// The default function of a new user.
fn default(stage: &Stage, number: u64) -> Held {
    let user = user(stage, number).unwrap_or_else(|thrown| panic!("{thrown}"));
    stage.exported(&user, "default").expect("a function").expect("a default export")
}

/// Whoever runs users, on a time of its own.
#[derive(Default)]
struct Host {
    facts: Facts,
    now: Duration,
    slept: Vec<Duration>,
    told: Vec<Event>,
}

impl Host {
    /// What has come of a wait: time passes at once.
    fn answer(&mut self, wait: &Wait) -> Answer {
        match wait {
            Wait::Sleep(time) => {
                self.now += *time;
                self.slept.push(*time);
                Answer::Ready
            }
            Wait::Ask(Ask::Facts) => {
                let test_run_ms = self.now.as_secs_f64() * 1e3;
                Answer::Facts(Box::new(Facts { test_run_ms, ..self.facts.clone() }))
            }
            other => panic!("{other:?}"),
        }
    }

    /// Runs a call to its end; what it returns as JSON.
    fn finish(
        &mut self,
        stage: &Stage,
        mut fiber: Fiber,
        numbers: Numbers,
    ) -> Result<Option<String>, Thrown> {
        let mut answer = Answer::Ready;
        loop {
            let step = stage.resume(&mut fiber, numbers, answer);
            self.told.extend(stage.told());
            match step {
                Step::Wait(wait) => answer = self.answer(&wait),
                Step::Done(result) => return stage.json_of(&result?),
            }
        }
    }

    /// An iteration of a function.
    fn run(
        &mut self,
        stage: &Stage,
        function: &Held,
        iteration: u64,
    ) -> Result<Option<String>, Thrown> {
        let fiber = stage.call(function, Vec::new()).expect("a stack");
        self.finish(stage, fiber, Numbers { user: 1, iteration })
    }

    /// The lines of the log.
    fn lines(&self) -> Vec<&str> {
        let mut lines = Vec::new();
        for own in &self.told {
            if let Event::Log { text, .. } = own {
                lines.push(text.as_str());
            }
        }
        lines
    }
}

/// Runs the default function of one user of a script once.
fn once(script: &str) -> (Host, Result<Option<String>, Thrown>) {
    let stage = stage(script, &StageOptions::default());
    let function = default(&stage, 1);
    stage.open();
    let mut host = Host::default();
    let result = host.run(&stage, &function, 0);
    (host, result)
}

/// Evaluates expressions after the imports that they need; each comes to a JSON, or throws an error that begins so.
fn cases(imports: &str, table: &[(&str, &str)]) {
    let list: String = table.iter().map(|(own, _)| format!("async () => ({own}),\n")).collect();
    let script = format!(
        "{imports}\nconst cases = [{list}];
const hex = (own) => Array.from(new Uint8Array(own), (byte) => byte.toString(16).padStart(2, '0')).join('');
const one = async (own) => {{ try {{ return JSON.stringify(await own()) ?? 'undefined' }} catch (error) {{ return String(error) }} }};
export default async function () {{ const all = []; for (const own of cases) all.push(await one(own)); return all }}"
    );
    let (_, result) = once(&script);
    let result = result.unwrap_or_else(|thrown| panic!("{thrown}")).expect("a list");
    let results: Vec<String> = serde_json::from_str(&result).expect("texts");
    for ((expression, expected), result) in table.iter().zip(&results) {
        let is_error = expected.contains("Error");
        let as_expected = if is_error { result.starts_with(expected) } else { result == expected };
        assert!(as_expected, "{expression}\n  is        {result}\n  and not   {expected}");
    }
    assert_eq!(table.len(), results.len());
}
