//! Setup and teardown of a plan: each runs once, with one virtual user.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use squall_analysis::Totals;
use squall_base::units::print_duration;
use squall_engine::{Control, Event, RunOptions, Section};
use squall_metrics::RequestStats;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_report::{Row, RunPhase};

use crate::error::Error;
use crate::handle::Handle;
use crate::phase::Phase;
use crate::prepared::Prepared;
use crate::sink::{EventKind, Sinks};

/// How a phase of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseEnd {
    /// All its steps were run, or its load is done.
    Done,
    /// It failed, for this reason.
    Failed(String),
    /// It was ended, as it took longer than this.
    TimedOut(Duration),
    /// It was stopped or aborted.
    Interrupted,
    /// A threshold ended it, as this sentence says.
    Aborted(String),
    /// It was not begun, because the run was stopped or aborted before.
    NotRun,
}

/// What became of a phase that the plan has.
#[derive(Debug, Clone)]
pub struct PhaseReport {
    /// Which.
    pub phase: Phase,
    /// How it ended.
    pub end: PhaseEnd,
    /// Requests and programs that ended in it.
    pub requests: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What a setup or teardown has recorded; that of a load is in the result.
    pub totals: Arc<Totals>,
    /// Its requests and programs, likewise.
    pub rows: Vec<Row>,
    /// The details of its errors, and lines that the plan logs; likewise.
    pub log: Vec<String>,
}

impl PhaseReport {
    /// Of a phase that was not begun.
    pub(crate) fn not_run(phase: Phase) -> PhaseReport {
        PhaseReport {
            phase,
            end: PhaseEnd::NotRun,
            requests: 0,
            errors: 0,
            elapsed: Duration::ZERO,
            totals: Arc::default(),
            rows: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Why the result is incomplete because of it, if it is: an interruption is no failure.
    pub fn failure(&self) -> Option<String> {
        let has_failed = matches!(self.end, PhaseEnd::Failed(_) | PhaseEnd::TimedOut(_));
        self.trouble().filter(|_| has_failed)
    }

    /// Whether somebody stopped or aborted it, or the run before it.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.end, PhaseEnd::Interrupted | PhaseEnd::NotRun)
    }

    /// As it stands in the result.
    pub(crate) fn in_result(&self) -> RunPhase {
        let end = match self.end {
            PhaseEnd::Done => "done",
            PhaseEnd::Failed(_) | PhaseEnd::TimedOut(_) => "failed",
            PhaseEnd::Interrupted => "interrupted",
            PhaseEnd::Aborted(_) => "aborted",
            PhaseEnd::NotRun => "not_run",
        };
        RunPhase {
            phase: self.phase.label().to_owned(),
            end: end.to_owned(),
            requests: self.requests,
            errors: self.errors,
            elapsed_s: self.elapsed.as_secs_f64(),
            rows: self.rows.clone(),
            log: self.log.clone(),
        }
    }

    /// What a person is told of it; `None`: it is as it should be.
    pub fn trouble(&self) -> Option<String> {
        let name = self.phase.label();
        match &self.end {
            PhaseEnd::Done => None,
            PhaseEnd::Failed(reason) => Some(format!("{name} failed: {reason}")),
            PhaseEnd::TimedOut(limit) => {
                let limit = print_duration(*limit);
                Some(format!("{name} failed: it took longer than {limit} (`{name}_timeout`)"))
            }
            PhaseEnd::Interrupted => Some(format!("the {name} was interrupted")),
            PhaseEnd::Aborted(how) => Some(how.clone()),
            PhaseEnd::NotRun => Some(format!("the {name} was not run")),
        }
    }
}

/// A setup or a teardown that was to be run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What its variables held at the end, which for a setup that failed is what it had found by then.
    pub variables: Vec<(String, Value)>,
    /// What became of it.
    pub report: PhaseReport,
}

/// Runs the setup, which ends with its first error, or the teardown, which goes on after errors; `None`: the plan
/// has no such steps, or they run elsewhere.
pub(crate) fn run(
    prepared: &Prepared<'_>,
    section: Section,
    handle: &Handle,
    sinks: &Arc<Sinks>,
) -> Option<Ran> {
    if prepared.options.given.is_some() || !section.has_steps(prepared.plan()) {
        return None;
    }
    let phase = if section == Section::Setup { Phase::Setup } else { Phase::Teardown };
    let mut report = PhaseReport::not_run(phase);
    let Some(control) = handle.begin(phase, prepared.graceful_stop()) else {
        sinks.event(EventKind::NotRun(phase));
        return Some(Ran { variables: Vec::new(), report });
    };
    sinks.event(EventKind::PhaseBegan(phase));
    let mut recorded = Recorded::default();
    let limit = match section {
        Section::Setup => prepared.plan().setup_timeout,
        _ => prepared.plan().teardown_timeout,
    };
    let ended = prepared.program_in_run(section).and_then(|program| {
        let trace = sinks.trace(phase);
        let (shared, options) = (prepared.shared.clone(), RunOptions::default());
        let take = |event: Event<'_>| recorded.take(event, phase, sinks);
        let run = || squall_engine::run(program, shared, &options, &control, trace, take);
        within(limit, &control, run).map_err(Error::incomplete)
    });
    let all = recorded.totals.all();
    (report.requests, report.errors) = (all.count, all.errors);
    let mut variables = Vec::new();
    report.end = match ended {
        Err(error) => {
            recorded.log.push(error.text.clone());
            PhaseEnd::Failed(error.text)
        }
        Ok((ended, passed)) => {
            report.elapsed = ended.elapsed;
            recorded.log.extend(ended.failures.iter().cloned());
            recorded.reasons.extend(ended.failures.iter().cloned());
            // In a teardown there is nothing left to stop.
            let is_told_to_end = ended.asked && section == Section::Setup;
            let judges_itself = section.is_of_scripts(prepared.plan());
            let has_failed = is_told_to_end
                || !ended.failures.is_empty()
                || recorded.has_failed(&all, judges_itself);
            variables = ended.variables;
            match (handle.is_stopped_in(phase), passed) {
                (true, _) => PhaseEnd::Interrupted,
                (false, Some(limit)) => PhaseEnd::TimedOut(limit),
                (false, None) if has_failed => {
                    PhaseEnd::Failed(reason(&recorded.reasons, all.errors, all.count))
                }
                (false, None) => PhaseEnd::Done,
            }
        }
    };
    sinks.event(EventKind::PhaseEnded { phase, failed: report.trouble() });
    report.rows = squall_report::request_rows(&recorded.totals, report.elapsed.as_secs_f64());
    report.totals = Arc::new(recorded.totals);
    report.log = recorded.log;
    Some(Ran { variables, report })
}

/// Whether a teardown has its turn. A plan's also cleans up what a setup that failed has made half-way; a script's is given
/// what its setup returns, and there is nothing to give then.
pub(crate) fn has_teardown(plan: &Plan, phases: &[PhaseReport]) -> bool {
    let is_missed = |own: &PhaseReport| own.phase == Phase::Setup && own.end != PhaseEnd::Done;
    !Section::Teardown.is_of_scripts(plan) || !phases.iter().any(is_missed)
}

/// Runs something that is ended after a time, if it has a limit. Returns the limit as well if it was passed.
fn within<T, E>(
    limit: Option<Duration>,
    control: &Control,
    run: impl FnOnce() -> Result<T, E>,
) -> Result<(T, Option<Duration>), E> {
    let Some(limit) = limit else { return Ok((run()?, None)) };
    std::thread::scope(|scope| {
        let (ended, told) = mpsc::channel::<()>();
        let watch = scope.spawn(move || {
            let is_late = told.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if is_late {
                control.abort();
            }
            is_late
        });
        let result = run();
        drop(ended);
        // A watch that panicked has ended nothing.
        let is_late = watch.join().unwrap_or_default();
        Ok((result?, is_late.then_some(limit)))
    })
}

/// What a setup or a teardown has recorded.
#[derive(Debug, Default)]
struct Recorded {
    totals: Totals,
    log: Vec<String>,
    /// The lines of it that say what failed.
    reasons: Vec<String>,
}

impl Recorded {
    fn take(&mut self, event: Event<'_>, phase: Phase, sinks: &Sinks) {
        match event {
            // A setup has a share that does not change.
            Event::Started | Event::Notice { .. } | Event::Idle(_) | Event::Progress { .. } => {}
            Event::Slice(slice) => {
                self.totals.add(slice);
            }
            Event::Log(lines) => {
                for line in lines {
                    let (text, worker, second) = (line.text.clone(), line.worker, line.second);
                    self.log.push(text.clone());
                    self.reasons.extend(line.is_failure.then(|| text.clone()));
                    let example = line.example.clone();
                    sinks.event(EventKind::Log { phase, worker, second, text, example });
                }
            }
        }
    }

    /// Whether anything failed: checks of requests are in their errors, those of a `look` are not. Scripts judge their
    /// requests and checks themselves.
    fn has_failed(&self, all: &RequestStats, judges_itself: bool) -> bool {
        let counters = self.totals.counters();
        let thrown = counters.expressions_failed + counters.exceptions + counters.marked_failed;
        let judged = all.errors + all.not_sent + counters.checks_failed;
        thrown > 0 || !judges_itself && judged > 0
    }
}

/// Why a setup or a teardown failed, of whose requests so many were errors: what is known of its errors, or that
/// it was told to end.
fn reason(known: &[String], errors: u64, requests: u64) -> String {
    match (known.is_empty(), errors) {
        (false, _) => known.join("; "),
        (true, 0) => "a step stopped the run".to_owned(),
        (true, _) => format!("errors: {errors} of {requests} requests"),
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn a_failure_always_has_a_reason() {
        let known = ["GET /a: status".to_owned(), "a worker ended".to_owned()];
        assert_eq!(reason(&known, 1, 2), "GET /a: status; a worker ended");
        assert_eq!(reason(&[], 0, 2), "a step stopped the run");
        assert_eq!(reason(&[], 1, 2), "errors: 1 of 2 requests");
    }
}
