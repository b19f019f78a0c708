//! What a search is asked, what it tells meanwhile, and what comes of it.

use std::path::PathBuf;
use std::time::Duration;

use squall_limit::{LevelKind, Limit, LoadStep};
use squall_report::{Meta, RunPhase};

use crate::load_source::{LoadSource, LocalEngine};
use crate::monitor::Monitor;
use crate::sections::PhaseReport;

/// What a search runs with.
pub struct LimitParts<'a> {
    /// Who runs the levels.
    pub source: &'a dyn LoadSource,
    /// Makes the monitors of a level, each with its name.
    pub monitors: &'a dyn Fn() -> Vec<(String, Box<dyn Monitor>)>,
}

impl Default for LimitParts<'_> {
    /// The workers of this process, and no monitors.
    fn default() -> Self {
        LimitParts { source: &LocalEngine, monitors: &Vec::new }
    }
}

/// How the limit is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitOptions {
    /// Thresholds that must hold; none: the plan's.
    pub requirements: Vec<String>,
    /// What is raised; `None`: what the plan's loads use.
    pub by: Option<LevelKind>,
    /// The first level; `None`: 10/s, 1 user, or a quarter of the plan's loads.
    pub from: Option<f64>,
    /// The highest level; `None`: as high as it takes.
    pub to: Option<f64>,
    /// Length of a step, at least 2 s; its first fifth is not measured.
    pub step: Duration,
    /// Most steps.
    pub max_steps: u32,
    /// Where a folder is made, which has each step as soon as it is done; `None`: nowhere.
    pub folder: Option<PathBuf>,
}

/// What a search tells while it goes on.
#[derive(Debug)]
pub enum LimitNotice<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A step is over.
    Step {
        /// The step.
        step: &'a LoadStep,
        /// What its level counts.
        by: LevelKind,
        /// Its number, from 1.
        number: usize,
        /// How many there are at most.
        most: usize,
    },
}

/// A search that is over, or broke off.
#[derive(Debug)]
pub struct LimitOutcome {
    /// What was tested, and where.
    pub meta: Meta,
    /// What follows from the steps that were done.
    pub limit: Limit,
    /// Why it broke off other than by being stopped, or what is incomplete, a sentence each.
    pub failures: Vec<String>,
    /// The folder, if the options have one.
    pub folder: Option<PathBuf>,
    /// What became of setup and teardown, if the plan has them.
    pub phases: Vec<PhaseReport>,
}

impl LimitOutcome {
    /// What became of setup and teardown, as it stands in the result.
    pub fn run_phases(&self) -> Vec<RunPhase> {
        in_result(&self.phases)
    }
}

/// Phases as they stand in the result.
pub(super) fn in_result(phases: &[PhaseReport]) -> Vec<RunPhase> {
    phases.iter().map(PhaseReport::in_result).collect()
}
