//! Runs a plan: setup, load, teardown, evaluation.

use std::path::PathBuf;
use std::sync::Arc;

use squall_engine::{CompileOptions, DEFAULT_GRACEFUL_STOP, Ended, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_report::{Live, Run, SectionResult};
use squall_wire::Shared;

use crate::collect::Collector;
use crate::error::Error;
use crate::handle::{Handle, Phase};
use crate::options::Options;
use crate::request_log::{Logged, RequestLog};
use crate::setup_teardown::SetupTeardown;
use crate::{builtin, capacity, io_backend, plans};

/// What a run tells while it goes on.
#[derive(Debug)]
pub enum Notice<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A second is over.
    Second(Live<'a>),
    /// The load is over, and this is its result; the teardown follows, which adds its own.
    Evaluated(&'a Run),
}

/// A finished run.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub run: Run,
    /// Why it is incomplete, a sentence each: workers that broke off, and what could not be written.
    pub failures: Vec<String>,
    /// Its folder.
    pub folder: Option<PathBuf>,
    /// Why the teardown was not run to its end.
    pub teardown: Option<Error>,
}

/// What is run, and how.
pub(crate) struct Job<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub options: &'a Options,
}

/// Runs a plan from setup to result; `handle` stops it, `tell` is told what happens meanwhile.
///
/// # Errors
/// There is no result: the plan or an option is wrong, the setup failed, or it was stopped before its load.
pub fn run(
    plan: &Plan,
    sources: &Sources,
    options: &Options,
    handle: &Handle,
    tell: &mut dyn FnMut(Notice<'_>),
) -> Result<Outcome, Error> {
    let job = Job { plan, sources, options };
    let seed = plans::seed(plan, options.seed);
    let destination = builtin::destination(plan, options, seed)?;
    let mut compile = options.compile(destination.url.clone(), seed);
    // Everything is compiled before anything is sent.
    let programs = plans::compile_all(plan, sources, &compile)?;
    programs.warnings.iter().for_each(|warning| tell(Notice::Warning(warning)));
    let io = io_backend::choose(options.io, plan);
    let shared = plans::network(plan, sources, &programs.all, io)?;
    let builtin = builtin::is_asked_for(plan, options);
    let workers = capacity::workers(plan, plans::hosts(&programs.all), builtin, options.workers)?;
    if handle.is_stopped() {
        return Err(Error::interrupted("interrupted before anything was sent"));
    }
    let log = options.request_log.as_ref().map(RequestLog::start).transpose()?;
    let setup = SetupTeardown { plan, sources, shared: &shared, log: log.as_ref() };
    let setup = setup.setup(&mut compile, handle);
    let loaded = setup.and_then(|setup| {
        let log = log.as_ref();
        let loaded = load(&job, &compile, &workers, &shared, handle, log, tell)?;
        Ok((setup, loaded))
    });
    let logged = log.map(RequestLog::finish);
    let outcome = match loaded {
        Ok((setup, Loaded { mut collector, ended, interrupted })) => {
            logged.into_iter().for_each(|logged| collector.logged(logged));
            let outcome = collector.finish(ended, interrupted, setup);
            tell(Notice::Evaluated(&outcome.run));
            Ok(outcome)
        }
        Err(error) => Err(error),
    };
    // What a setup has made half-way is to be cleaned up too, whether or not that can be logged.
    let log = options.request_log.as_ref().map(RequestLog::go_on).transpose();
    let to = log.as_ref().ok().and_then(Option::as_ref);
    let teardown = SetupTeardown { plan, sources, shared: &shared, log: to };
    let (teardown, torn_down) = teardown.teardown(&compile, handle);
    let logged = match log {
        Ok(log) => log.map(RequestLog::finish),
        Err(error) => Some(Err(std::io::Error::other(error.text))),
    };
    match (outcome, torn_down) {
        (Ok(mut outcome), torn_down) => {
            outcome.teardown = torn_down.err();
            outcome.add_teardown(teardown, logged);
            Ok(outcome)
        }
        (Err(error), Ok(())) => Err(error),
        (Err(first), Err(more)) => {
            Err(Error { text: format!("{first}\n{more}"), kind: first.kind })
        }
    }
}

impl Outcome {
    /// What came of the teardown is part of the result, which was there before.
    fn add_teardown(
        &mut self,
        teardown: Option<SectionResult>,
        logged: Option<std::io::Result<Logged>>,
    ) {
        if teardown.is_none() {
            return;
        }
        self.run.teardown = teardown;
        match logged {
            Some(Ok(logged)) => {
                let generator = &mut self.run.generator;
                let add = |number: &mut Option<u64>, more| *number = number.map(|own| own + more);
                add(&mut generator.requests_logged, logged.written);
                add(&mut generator.requests_not_logged, logged.dropped);
            }
            Some(Err(error)) => {
                self.failures.push(format!("the request log is incomplete: {error}"));
            }
            None => {}
        }
        if let Some(folder) = &self.folder
            && let Err(error) = squall_report::write_result(folder, &self.run)
        {
            self.failures.push(format!("{}: {error}", folder.join("run.json").display()));
        }
    }
}

/// A load that has ended.
struct Loaded<'t> {
    collector: Collector<'t>,
    ended: Ended,
    /// Whether the tester interrupted it.
    interrupted: bool,
}

/// Runs the load.
fn load<'t>(
    job: &Job<'_>,
    compile: &CompileOptions,
    workers: &RunOptions,
    shared: &Arc<Shared>,
    handle: &Handle,
    log: Option<&RequestLog>,
    tell: &'t mut dyn FnMut(Notice<'_>),
) -> Result<Loaded<'t>, Error> {
    let program = plans::compile(job.plan, job.sources, Section::Load, compile)?;
    let mut collector = Collector::new(job, &program, shared, workers.workers, tell)?;
    let graceful_stop = job.plan.graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP);
    let Some(control) = handle.begin(Phase::Load, graceful_stop) else {
        return Err(Error::interrupted("interrupted before the load was started"));
    };
    let trace = log.map(|log| log.trace(&program.secrets));
    let ended = squall_engine::run(program, shared.clone(), workers, &control, trace, |event| {
        collector.take(event);
    })
    .map_err(Error::incomplete)?;
    collector.sample_host();
    Ok(Loaded { collector, ended, interrupted: handle.is_stopped() })
}
