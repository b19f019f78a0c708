//! Runs a plan: setup, load, evaluation, teardown, result.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use squall_analysis::Totals;
use squall_engine::{Ended, Event, RunOptions, Section};
use squall_plan::value::Value;
use squall_plan::yaml::Loaded;
use squall_report::{FeedReport, Run};

use crate::collect::Collector;
use crate::describe;
use crate::error::Error;
use crate::handle::Handle;
use crate::known_metrics::KnownMetrics;
use crate::load_source::{LoadOrder, LoadSource, LocalEngine};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::phase::Phase;
use crate::prepared::Prepared;
use crate::sections::{self, PhaseEnd, PhaseReport, Ran};
use crate::sink::{EventKind, Profiled, Sink, SinkReport, Sinks, Start};

/// A run that is over.
#[derive(Debug)]
pub struct FinishedRun {
    /// The result. Without a load there is nothing in it but what was known before. Its `incomplete` says what
    /// could not be done or written: a setup or teardown that failed, workers that broke off, sinks that lost
    /// something.
    pub run: Arc<Run>,
    /// Whether there was a load, be it a broken one.
    pub has_load: bool,
    /// What became of setup, load and teardown, as far as the plan has them and they were to run.
    pub phases: Vec<PhaseReport>,
    /// How the sinks have fared, in their order.
    pub sinks: Vec<SinkReport>,
    /// The run's folder, if a sink has one.
    pub folder: Option<PathBuf>,
    /// The variables that its setup has found.
    pub found: Vec<(String, Value)>,
}

impl FinishedRun {
    /// What became of a phase; `None`: the plan has none, or it was not its turn.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseReport> {
        self.phases.iter().find(|report| report.phase == phase)
    }

    /// Setup, load and teardown as one: what they have recorded together, how long they took, and thresholds judged by all of
    /// that. Its series and reasons are those of the load.
    pub fn as_one(&self) -> Run {
        let mut totals = Totals::new();
        let mut elapsed = Duration::ZERO;
        for report in &self.phases {
            let part = if report.phase == Phase::Load { &self.run.totals } else { &report.totals };
            totals.add_later(part, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
            elapsed += report.elapsed;
        }
        totals.take_users(&self.run.totals);
        let (totals, elapsed_s) = (Arc::new(totals), elapsed.as_secs_f64());
        let mut run = Run { totals, elapsed_s, ..(*self.run).clone() };
        run.judge_again();
        run
    }

    /// Whether somebody stopped or aborted it, in any phase.
    pub fn is_interrupted(&self) -> bool {
        self.run.interrupted
    }
}

/// What takes part in a run besides its plan: where its load comes from, and what watches it, each under its name.
pub struct RunParts {
    /// What generates the load.
    pub source: Box<dyn LoadSource>,
    /// What samples something beside it.
    pub monitors: Vec<(String, Box<dyn Monitor>)>,
    /// What is told of it.
    pub sinks: Vec<(String, Box<dyn Sink>)>,
}

impl Default for RunParts {
    /// The workers of this process, and nobody who watches.
    fn default() -> RunParts {
        RunParts { source: Box::new(LocalEngine), monitors: Vec::new(), sinks: Vec::new() }
    }
}

/// Runs a plan with the workers of this process, as [`run_with`] does.
///
/// # Errors
/// See [`run_with`].
pub fn run(
    loaded: &Loaded,
    options: &Options,
    sinks: Vec<(String, Box<dyn Sink>)>,
    handle: &Handle,
) -> Result<FinishedRun, Error> {
    run_with(loaded, options, RunParts { sinks, ..RunParts::default() }, handle)
}

/// Runs a plan, and tells each sink what happens. `handle` controls it meanwhile from any thread. Setup and teardown run in
/// this process, whatever the source of the load.
///
/// A setup or a teardown that fails, a sink that does, and a run that is stopped have an [`FinishedRun`], which says
/// so.
///
/// # Errors
/// Nothing was sent: the plan or an option is wrong, a sink cannot start, or it was stopped before.
pub fn run_with(
    loaded: &Loaded,
    options: &Options,
    parts: RunParts,
    handle: &Handle,
) -> Result<FinishedRun, Error> {
    let RunParts { source, monitors, sinks } = parts;
    let loaded = &*options.loads.applied(loaded)?;
    let known = KnownMetrics::new(source.metrics(), &monitors);
    let prepared = Prepared::new(loaded, options, &known)?;
    let workers = prepared.workers(&loaded.plan, &*source)?;
    handle.set_out()?;
    let plan = describe::as_run(&loaded.plan, options.target.as_deref());
    let most = source.workers(&prepared.load, &workers);
    let mut meta = describe::meta(&prepared, &plan, most);
    if !source.is_local() {
        // Which those are is known when the load begins.
        meta.nodes.clear();
    }
    let start = Arc::new(Start { meta, plan, program: prepared.load.clone() });
    let sinks = Arc::new(Sinks::start(sinks, &start, &|| handle.is_stopped())?);
    let is_local = source.is_local();
    let collector = Collector::new(&start, &prepared, most, is_local, monitors, &sinks)?;
    let (source, phases) = (&*source, Vec::new());
    let session = Session { prepared, source, workers, sinks: &sinks, handle, phases };
    let outcome = session.run(collector);
    handle.release();
    Ok(outcome)
}

/// A run in progress.
struct Session<'a> {
    prepared: Prepared<'a>,
    source: &'a dyn LoadSource,
    workers: RunOptions,
    sinks: &'a Arc<Sinks>,
    handle: &'a Handle,
    phases: Vec<PhaseReport>,
}

impl Session<'_> {
    fn run(mut self, mut collector: Collector) -> FinishedRun {
        let headroom = self.source.is_local().then(|| self.prepared.headroom(&self.workers));
        self.handle.attach(self.sinks, self.prepared.plan(), headroom);
        let warnings = std::mem::take(&mut self.prepared.warnings);
        warnings.into_iter().for_each(|text| self.sinks.event(EventKind::Warning(text)));
        self.setup();
        let ended = match self.phases.iter().all(|setup| setup.end == PhaseEnd::Done) {
            true => self.load(&mut collector),
            false => None,
        };
        let mut lost: Vec<String> = self.phases.iter().filter_map(PhaseReport::failure).collect();
        let (is_stopped, source) = (self.handle.is_stopped(), self.source);
        let complete = |run: &mut Run| source.complete(run);
        let mut run = collector.evaluate(ended.as_ref(), is_stopped, complete, &mut lost);
        lost.append(&mut run.incomplete);
        for text in &lost {
            self.sinks.event(EventKind::Error(text.clone()));
        }
        let own = std::mem::take(&mut run.warnings);
        self.conclude(&mut run, &own, &lost);
        self.sinks.event(EventKind::Evaluated(Arc::new(run.clone())));
        let has_teardown = sections::has_teardown(self.prepared.plan(), &self.phases);
        if has_teardown && let Some(Ran { report, .. }) = self.section(Section::Teardown) {
            lost.extend(report.failure());
            self.phases.push(report);
        }
        self.sinks.settle();
        run.generator.count_logged(self.sinks.exchanges());
        self.conclude(&mut run, &own, &lost);
        let mut run = Arc::new(run);
        let mut sinks = self.sinks.finish(&run);
        let known = run.incomplete.clone();
        lost.extend(self.source.release());
        // What was lost when the result was written.
        self.conclude(Arc::make_mut(&mut run), &own, &lost);
        if run.incomplete != known {
            self.sinks.amend(&run);
            self.conclude(Arc::make_mut(&mut run), &own, &lost);
            sinks = self.sinks.reports();
        }
        self.sinks.end();
        let (folder, has_load) = (self.sinks.folder().map(ToOwned::to_owned), ended.is_some());
        let found = self.prepared.compile.setup;
        FinishedRun { run, has_load, phases: self.phases, sinks, folder, found }
    }

    /// Completes a result with what is known so far: its own `warnings`, what became of the phases, what is
    /// `lost`, what sinks have lost, and what became of what they send elsewhere.
    fn conclude(&self, run: &mut Run, warnings: &[String], lost: &[String]) {
        // A setup or a teardown that failed, and a teardown that was interrupted, are reasons of the outcome.
        let setup = self.phases.iter().filter(|report| report.phase == Phase::Setup);
        let interrupted = setup.filter(|report| report.failure().is_none());
        run.warnings = warnings.to_vec();
        run.warnings.extend(interrupted.filter_map(PhaseReport::trouble));
        run.feeds = self.sinks.deliveries();
        run.warnings.extend(run.feeds.iter().filter_map(FeedReport::loss));
        run.profile = self.sinks.profiles().find_map(Profiled::profile);
        run.warnings.extend(self.sinks.profiles().filter_map(Profiled::warning));
        run.incomplete = lost.to_vec();
        run.incomplete.extend(self.sinks.reports().iter().filter_map(SinkReport::loss));
        run.interrupted |= self.phases.iter().any(PhaseReport::is_interrupted);
        run.phases = self.phases.iter().map(PhaseReport::in_result).collect();
        run.marks = self.sinks.marks_of_load(run.elapsed_s);
    }

    /// Runs the setup, unless it was run when the load of this run began.
    fn setup(&mut self) {
        if let Some(found) = self.source.found() {
            self.prepared.compile.setup = found;
        } else if let Some(setup) = self.section(Section::Setup) {
            // What a setup that failed had found is known to the teardown.
            self.prepared.compile.setup = setup.variables;
            self.phases.push(setup.report);
        }
    }

    fn section(&self, section: Section) -> Option<Ran> {
        sections::run(&self.prepared, section, self.handle, self.sinks)
    }

    /// Runs the load; `None`: it could not be.
    fn load(&mut self, collector: &mut Collector) -> Option<Ended> {
        let mut report = PhaseReport::not_run(Phase::Load);
        let graceful_stop = self.prepared.graceful_stop();
        let Some(control) = self.handle.begin(Phase::Load, graceful_stop) else {
            self.sinks.event(EventKind::NotRun(Phase::Load));
            self.phases.push(report);
            return None;
        };
        let mut has_begun = false;
        let ended = self.prepared.program_in_run(Section::Load).and_then(|program| {
            let trace = self.sinks.trace(Phase::Load);
            let order = LoadOrder {
                program,
                network: self.prepared.shared.clone(),
                options: &self.workers,
                handle: self.handle,
                control: &control,
                trace,
                plan: self.prepared.plan(),
                compile: &self.prepared.compile,
                asked: self.prepared.options,
                folder: self.sinks.folder(),
            };
            let mut take = |event: Event<'_>| {
                if let Event::Started = event {
                    has_begun = true;
                    self.sinks.event(EventKind::PhaseBegan(Phase::Load));
                }
                collector.take(event);
                if let Some(abort) = collector.aborts() {
                    self.handle.end_load(abort);
                }
            };
            self.source.run(order, &mut take).map_err(Error::incomplete)
        });
        if !has_begun {
            self.sinks.event(EventKind::PhaseBegan(Phase::Load));
        }
        collector.end();
        (report.requests, report.errors) = collector.requests();
        report.end = match &ended {
            Err(error) => PhaseEnd::Failed(error.text.clone()),
            Ok(ended) if !ended.failures.is_empty() => PhaseEnd::Failed(ended.failures.join("; ")),
            Ok(_) if self.handle.is_stopped_in(Phase::Load) => PhaseEnd::Interrupted,
            Ok(_) => match collector.aborted() {
                Some(abort) => PhaseEnd::Aborted(abort.text()),
                None => PhaseEnd::Done,
            },
        };
        report.elapsed = ended.as_ref().map(|ended| ended.elapsed).unwrap_or_default();
        let failed = report.trouble();
        self.sinks.event(EventKind::PhaseEnded { phase: Phase::Load, failed });
        self.phases.push(report);
        ended.ok()
    }
}
