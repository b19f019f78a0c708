//! Carries out an experiment: which run comes next, what is written down of it, and when it ends. What a run is, its
//! laboratory knows.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use squall_experiment::{Next, Run};
use squall_report::ExperimentRun;

use crate::journal::{Journal, State};
use crate::prepared::Prepared;

/// Makes the runs of an experiment.
pub trait Laboratory {
    /// Seconds since 1970.
    fn now(&self) -> f64;

    /// Does what is done once for a variant, before its first run.
    ///
    /// # Errors
    /// The experiment cannot go on.
    fn prepare(&mut self, variant: usize) -> Result<(), Stop>;

    /// Lets so much time pass, before a run that failed is made again.
    ///
    /// # Errors
    /// The tester has interrupted it.
    fn wait(&mut self, time: Duration) -> Result<(), Stop>;

    /// Makes a run. Whatever comes of it, nothing that it started is left, and all that it set is put back.
    ///
    /// # Errors
    /// The experiment cannot go on, and the run does not count.
    fn run(&mut self, order: RunOrder) -> Result<RunMade, Stop>;
}

/// Why an experiment ends before its last run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The tester interrupted it.
    Interrupted,
    /// It cannot go on, for this reason.
    Failed(String),
}

/// A run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOrder {
    /// From 1, in the order of runs.
    pub number: u64,
    pub variant: usize,
    /// From 0.
    pub block: usize,
    /// From 1; more: it failed before.
    pub attempt: usize,
}

/// A run that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMade {
    /// Its folder, relative to that of the experiment, if it has one.
    pub folder: Option<String>,
    /// From the start of its preparations to the end of what comes after it.
    pub took: Duration,
    /// The value of each measure, or why there is none.
    pub values: Result<Vec<Option<f64>>, RunFailure>,
    /// The rules by which its numbers are invalid, although it counts.
    pub counted_invalid: Vec<String>,
    /// What is to be known of it beside its values.
    pub warnings: Vec<String>,
}

/// Why a run has no values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    /// In a sentence.
    pub text: String,
    /// Whether its load never started, because of what comes before it.
    pub before_load: bool,
}

/// What is told while an experiment goes on.
#[derive(Debug)]
pub enum Notice<'n> {
    /// A variant is prepared.
    Preparing { variant: &'n str },
    /// A run was made.
    Made {
        run: &'n ExperimentRun,
        variant: &'n str,
        /// How many runs are left, at most.
        left: usize,
        /// How long they take, if they take as long as those before.
        left_time: Option<Duration>,
    },
    /// A block begins: those before it are done.
    Block {
        /// What was made so far.
        state: &'n State,
        /// How long the runs that are left take, if they take as long as those before.
        left_time: Option<Duration>,
    },
}

/// How an experiment ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Finished,
    Stopped(Stop),
}

/// Makes the runs that are left.
///
/// # Errors
/// The journal cannot be written.
pub fn conduct(
    own: &Prepared,
    journal: &mut Journal,
    laboratory: &mut dyn Laboratory,
    tell: &mut dyn FnMut(Notice<'_>),
) -> io::Result<End> {
    let mut schedule = own.schedule();
    journal.state.runs.iter().for_each(|run| schedule.made(counted(run)));
    let mut block = None;
    while let Some(next) = schedule.next() {
        if block != Some(next.block) {
            block = Some(next.block);
            tell(Notice::Block { state: &journal.state, left_time: schedule.left_time() });
        }
        if let Some(why) = never_started(journal, next) {
            let variant = &own.variants[next.variant].name;
            let text = format!("variant `{variant}` could not be run: {why}");
            return Ok(End::Stopped(Stop::Failed(text)));
        }
        match make(own, next, journal, laboratory, tell)? {
            Err(stop) => return Ok(End::Stopped(stop)),
            Ok(run) => {
                schedule.made(counted(&run));
                let (left, left_time) = (schedule.left(), schedule.left_time());
                let variant = &own.variants[next.variant].name;
                tell(Notice::Made { run: &run, variant, left, left_time });
            }
        }
    }
    Ok(End::Finished)
}

/// Makes a run, and what has to be before it.
fn make(
    own: &Prepared,
    next: Next,
    journal: &mut Journal,
    laboratory: &mut dyn Laboratory,
    tell: &mut dyn FnMut(Notice<'_>),
) -> io::Result<Result<ExperimentRun, Stop>> {
    let variant = &own.variants[next.variant];
    if !variant.programs.prepare.is_empty() && !journal.state.prepared.contains(&next.variant) {
        tell(Notice::Preparing { variant: &variant.name });
        if let Err(stop) = laboratory.prepare(next.variant) {
            return Ok(Err(stop));
        }
        journal.prepared(next.variant)?;
    }
    if let Err(stop) = laboratory.wait(pause(next.attempt)) {
        return Ok(Err(stop));
    }
    let number = journal.state.runs.last().map_or(0, |run| run.number) + 1;
    let Next { variant, block, attempt } = next;
    let started_s = laboratory.now() - journal.state.begin.started_unix;
    let made = match laboratory.run(RunOrder { number, variant, block, attempt }) {
        Ok(made) => made,
        Err(stop) => return Ok(Err(stop)),
    };
    let failed = made.values.as_ref().err().map(|why| why.text.clone());
    let before_load = made.values.as_ref().is_err_and(|why| why.before_load);
    let run = ExperimentRun {
        number,
        variant: variant as u64,
        block: block as u64,
        attempt: attempt as u64,
        // What never began has no folder.
        folder: made.folder.filter(|_| !before_load),
        started_s,
        took_s: made.took.as_secs_f64(),
        values: made.values.unwrap_or_default(),
        failed,
        counted_invalid: made.counted_invalid,
        warnings: made.warnings,
    };
    journal.made(run.clone())?;
    Ok(Ok(run))
}

/// How long it is waited before a run is made for the nth time: what has failed at once would do so again, such as a port that is
/// still taken.
fn pause(attempt: usize) -> Duration {
    const PAUSES: [u64; 4] = [0, 1, 5, 25];
    let at = attempt.saturating_sub(1).min(PAUSES.len() - 1);
    Duration::from_secs(PAUSES[at])
}

/// A run as the schedule counts it.
pub(crate) fn counted(run: &ExperimentRun) -> Run {
    Run {
        variant: run.variant as usize,
        block: run.block as usize,
        took: Duration::from_secs_f64(run.took_s.clamp(0.0, 1e9)),
        values: run.failed.is_none().then(|| run.values.clone()),
    }
}

/// Why a variant was given up without a single run that began: further blocks would fail as well.
fn never_started(journal: &Journal, next: Next) -> Option<&str> {
    let own = || journal.state.runs.iter().filter(|run| run.variant as usize == next.variant);
    let blocks: BTreeSet<u64> = own().map(|run| run.block).collect();
    let is_given_up = blocks.iter().any(|block| *block < next.block as u64);
    let never = own().all(|run| run.failed.is_some() && run.folder.is_none());
    if is_given_up && never { own().next_back()?.failed.as_deref() } else { None }
}

/// What no run has of what was measured.
pub fn unmeasured(own: &Prepared, runs: &[ExperimentRun]) -> Vec<String> {
    let valid = || runs.iter().filter(|run| run.failed.is_none());
    let none = |at: usize| valid().all(|run| run.values.get(at).copied().flatten().is_none());
    let all =
        own.measures.iter().enumerate().filter(|(at, _)| valid().next().is_some() && none(*at));
    all.map(|(_, measure)| {
        format!("measure `{}`: no run has it: nothing of it was recorded", measure.text())
    })
    .collect()
}
