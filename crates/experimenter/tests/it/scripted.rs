//! A laboratory whose runs take no time: what comes of each is said before.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use squall_experimenter::{
    End, ExperimentText, Journal, Laboratory, Permissions, PlanFacts, Prepared, RunFailure,
    RunMade, RunOrder, Stop, conduct, prepare,
};
use squall_front::Values;

/// Three variants, three blocks.
pub const FILE: &str = "
name: tried
plan: {target: 'http://127.0.0.1:1', scenarios: {a: {load: {users: 1, for: 2s}, steps: [{get: '/${kind}'}]}}}
factors: {kind: [one, two, three]}
measure: [mean, rate]
repeat: 3
retries: 1
seed: 3
prepare: [[build, '${kind}']]
";

/// A text as the file of an experiment.
pub fn text(text: &str) -> ExperimentText {
    ExperimentText { name: "it.yaml".into(), text: text.into(), folder: "/folder".into() }
}

/// Prepares an experiment, given all permissions; its plan uses all variables that stand in it.
pub fn prepared(file: &str) -> Result<Prepared, String> {
    let all = Permissions { exec: true, sysctl: true };
    prepare(text(file), &Values::default(), &all, None, &|loaded, names| {
        let printed = squall_plan::yaml::print(&loaded.plan, false);
        let used = names.iter().filter(|name| printed.contains(&format!("${{{name}}}")));
        Ok(PlanFacts { used: used.cloned().collect::<BTreeSet<String>>() })
    })
}

/// Does what a script says, and notes what was asked for.
pub struct Scripted<'s> {
    /// What comes of a run.
    pub script: &'s dyn Fn(RunOrder) -> Result<Vec<Option<f64>>, RunFailure>,
    /// After so many calls it is interrupted.
    pub interrupted_after: usize,
    pub asked: Vec<String>,
    pub made: Vec<RunOrder>,
    pub now: f64,
}

impl<'s> Scripted<'s> {
    pub fn new(
        script: &'s dyn Fn(RunOrder) -> Result<Vec<Option<f64>>, RunFailure>,
    ) -> Scripted<'s> {
        Scripted {
            script,
            interrupted_after: usize::MAX,
            asked: Vec::new(),
            made: Vec::new(),
            now: 100.0,
        }
    }

    fn asked(&mut self, what: String) -> Result<(), Stop> {
        if self.asked.len() >= self.interrupted_after {
            return Err(Stop::Interrupted);
        }
        self.asked.push(what);
        Ok(())
    }
}

impl Laboratory for Scripted<'_> {
    fn now(&self) -> f64 {
        self.now
    }

    fn prepare(&mut self, variant: usize) -> Result<(), Stop> {
        self.asked(format!("prepare {variant}"))
    }

    fn wait(&mut self, time: Duration) -> Result<(), Stop> {
        if self.asked.len() >= self.interrupted_after {
            return Err(Stop::Interrupted);
        }
        self.now += time.as_secs_f64();
        Ok(())
    }

    fn run(&mut self, order: RunOrder) -> Result<RunMade, Stop> {
        self.asked(format!("run {} of {}", order.block, order.variant))?;
        self.made.push(order);
        let took = Duration::from_secs(2);
        self.now += took.as_secs_f64();
        let values = (self.script)(order);
        let began = !values.as_ref().is_err_and(|why| why.before_load);
        Ok(RunMade {
            folder: began.then(|| format!("runs/{:03}", order.number)),
            took,
            values,
            counted_invalid: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Conducts an experiment in a folder, new or as it was left.
pub fn conducted(own: &Prepared, folder: &Path, laboratory: &mut Scripted<'_>) -> (End, Journal) {
    let begin = squall_experimenter::Begin {
        squall: "1".into(),
        file: "/folder/it.yaml".into(),
        seed: own.seed,
        plans: own.digest.clone(),
        started_unix: 100.0,
    };
    let mut journal = match Journal::create(folder, begin) {
        Ok(journal) => journal,
        Err(_) => Journal::open(folder).expect("a journal"),
    };
    let end = conduct(own, &mut journal, laboratory, &mut |_| {}).expect("a folder");
    (end, journal)
}
