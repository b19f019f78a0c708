//! `squall run`: setup, load, teardown, evaluation, result.

use std::path::PathBuf;
use std::sync::Arc;

use squall_engine::{CompileOptions, Control, Ended, Program, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_wire::Shared;

use crate::args::{self, Output, Variables};
use crate::builtin;
use crate::collect::{self, Collector};
use crate::exit::{CommandError, CommandResult};
use crate::io_backend;
use crate::plans;
use crate::request_log::RequestLog;
use crate::setup_teardown::{self, SetupTeardown};
use crate::signals::Interrupts;

/// Folder in which run folders are created.
const DEFAULT_FOLDER: &str = "squall-runs";

/// What to run.
pub struct Job {
    pub plan: Plan,
    pub sources: Sources,
    pub variables: Variables,
    pub output: Output,
    /// Where the run folder is created; `None`: nowhere.
    pub folder: Option<PathBuf>,
}

/// Runs a plan.
pub fn command(args: &args::Run) -> CommandResult {
    let mut loaded = plans::load(&args.plan, &args.variables)?;
    plans::resize(&mut loaded.plan, args.users, args.duration);
    let folder = args.output.out.clone().unwrap_or_else(|| DEFAULT_FOLDER.into());
    run(Job {
        plan: loaded.plan,
        sources: loaded.sources,
        variables: args.variables.clone(),
        output: args.output.clone(),
        folder: Some(folder),
    })
}

/// Runs a job from setup to result.
pub fn run(job: Job) -> CommandResult {
    let seed = plans::seed(&job.plan);
    let destination = builtin::destination(&job.plan, &job.variables, seed)?;
    let mut options = plans::options(&job.variables, destination.url.clone(), Vec::new(), seed);
    // Everything is compiled before anything is sent.
    let programs = plans::compile_all(&job.plan, &job.sources, &options)?;
    let io = io_backend::choose(job.output.runtime.io(), &job.plan);
    let shared = plans::network(&job.plan, &job.sources, &programs, io)?;
    let graceful_stop = job.plan.graceful_stop.unwrap_or(squall_engine::DEFAULT_GRACEFUL_STOP);
    let interrupts = Interrupts::watch(graceful_stop).map_err(CommandError::incomplete)?;

    let setup_teardown = SetupTeardown { plan: &job.plan, sources: &job.sources, shared: &shared };
    let builtin = builtin::is_asked_for(&job.plan, &job.variables);
    let workers = job.output.runtime.workers(&job.plan, plans::hosts(&programs), builtin)?;
    options.setup = setup_teardown.setup(&options, &interrupts)?;
    let outcome = load(&job, &options, &workers, &shared, &interrupts);
    setup_teardown::settle(outcome, setup_teardown.teardown(&options, &interrupts))
}

/// Runs the load, and writes and prints its result.
fn load(
    job: &Job,
    options: &CompileOptions,
    workers: &RunOptions,
    shared: &Arc<Shared>,
    interrupts: &Interrupts,
) -> CommandResult {
    let program = plans::compile(&job.plan, &job.sources, Section::Load, options)?;
    let mut collector = Collector::new(job, &program, shared, workers.workers)?;
    let Some(control) = interrupts.begin(0) else {
        return Err(CommandError::interrupted("interrupted before the load was started"));
    };
    let ended = drive(job, &program, shared, workers, &control, &mut collector)?;
    collect::conclude(job, collector.finish(ended, interrupts.received() > 0))
}

/// Runs the load, with a request log if the flags ask for one.
fn drive(
    job: &Job,
    program: &Arc<Program>,
    shared: &Arc<Shared>,
    workers: &RunOptions,
    control: &Control,
    collector: &mut Collector,
) -> Result<Ended, CommandError> {
    let Output { log_requests, log_which, log_bodies, .. } = &job.output;
    let start = |path: &PathBuf| RequestLog::start(path, program.secrets.clone());
    let log = log_requests.as_ref().map(start).transpose()?;
    let bytes = log_bodies.map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX));
    let trace = log.as_ref().map(|log| log.trace(*log_which, bytes));
    let ended =
        squall_engine::run(program.clone(), shared.clone(), workers, control, trace, |event| {
            collector.take(event);
        })
        .map_err(CommandError::incomplete)?;
    if let Some(log) = log {
        collector.logged(log.finish());
    }
    Ok(ended)
}
