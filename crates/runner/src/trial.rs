//! Tries a plan: one iteration of one user, with a copy of every request and response. It is how a plan is
//! written and debugged.

use squall_engine::{Control, Event, Exchange, ExchangeFilter, RunOptions, Section, Trace};
use squall_plan::yaml::Loaded;

use crate::error::Error;
use crate::known_metrics::KnownMetrics;
use crate::options::Options;
use crate::prepared::Prepared;

/// What a trial shows. It comes from a worker's thread.
#[derive(Debug)]
pub enum Tried<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A request and its response, with the secrets that are in them.
    Exchange(&'a Exchange),
    /// A line that the plan logs, its secrets masked and its control characters escaped.
    Log(&'a str),
}

/// What failed when a plan was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TryFailures {
    /// Expressions that could not be evaluated, and extracts of a `look` that found nothing.
    pub expressions: u64,
    /// Checks that failed, of requests and of a `look`.
    pub checks: u64,
    /// Calls of scripts that ended with an exception.
    pub exceptions: u64,
    /// How often a script marked the run as failed.
    pub marks: u64,
}

/// Runs setup, one iteration, and teardown; shows everything when it happens, with at most `bytes` of each
/// message. After a setup that failed only the teardown is run. Returns what failed beside requests, which the log says one
/// by one.
///
/// # Errors
/// The plan or an option is wrong, or a worker broke off. A request that fails is no error: it is shown.
pub fn try_plan(
    loaded: &Loaded,
    options: &Options,
    bytes: usize,
    show: impl Fn(Tried<'_>) + Send + Sync + Clone + 'static,
) -> Result<TryFailures, Error> {
    let mut prepared = Prepared::new(loaded, options, &KnownMetrics::default())?;
    prepared.warnings.iter().for_each(|warning| show(Tried::Warning(warning)));
    let (mut is_set_up, mut failures) = (true, TryFailures::default());
    for part in [Section::Setup, Section::Trial, Section::Teardown] {
        // A plan's teardown also cleans up what a setup that failed has made half-way.
        let is_for_nothing = part == Section::Trial || part.is_of_scripts(&loaded.plan);
        let is_its_turn = is_set_up || !is_for_nothing;
        if !is_its_turn || !part.has_steps(&loaded.plan) {
            continue;
        }
        let program = prepared.program(part)?;
        let (shown, logged) = (show.clone(), show.clone());
        let trace = Trace::new(ExchangeFilter::All, bytes, move |exchange| {
            shown(Tried::Exchange(&exchange));
        });
        let trace = trace.with_observations().with_log(move |line| logged(Tried::Log(line)));
        let (run, control) = (RunOptions::default(), Control::default());
        let shared = prepared.shared.clone();
        let count = |event: Event<'_>| {
            if let Event::Slice(slice) = event {
                failures.expressions += slice.counters.expressions_failed;
                failures.exceptions += slice.counters.exceptions;
                failures.checks += slice.counters.checks_failed;
                failures.marks += slice.counters.marked_failed;
            }
        };
        let ended = squall_engine::run(program, shared, &run, &control, Some(trace), count)
            .map_err(Error::incomplete)?;
        if let Some(reason) = ended.failures.first() {
            return Err(Error::incomplete(reason));
        }
        if part == Section::Setup {
            if ended.asked {
                is_set_up = false;
                show(Tried::Warning("setup failed: the scenarios are not tried\n"));
            }
            prepared.compile.setup = ended.variables;
        }
    }
    Ok(failures)
}
