//! Setup and teardown of a plan: each runs once, with one virtual user.

use std::sync::Arc;

use squall_analysis::Totals;
use squall_engine::{CompileOptions, Control, DEFAULT_GRACEFUL_STOP, Event, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_report::SectionResult;
use squall_wire::Shared;

use crate::error::Error;
use crate::handle::{Handle, Phase};
use crate::plans;
use crate::request_log::RequestLog;

/// Runs the setup and the teardown of a plan.
#[derive(Clone, Copy)]
pub struct SetupTeardown<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub shared: &'a Arc<Shared>,
    /// Where their requests are logged.
    pub log: Option<&'a RequestLog>,
}

/// A section that was run to its end, good or bad.
struct Ran {
    variables: Vec<(String, Value)>,
    result: SectionResult,
}

impl SetupTeardown<'_> {
    /// Runs the setup, and gives what it found to `options`: for the load, and, if it failed half-way, for the
    /// teardown of what it had made by then. `None`: the plan has none.
    ///
    /// # Errors
    /// A request failed: the run must not continue, as later steps would not mean what the plan says. Or it
    /// was stopped.
    pub fn setup(
        &self,
        options: &mut CompileOptions,
        handle: &Handle,
    ) -> Result<Option<SectionResult>, Error> {
        let ran = match handle.begin(Phase::Setup, self.graceful_stop()) {
            Some(control) => self.run(options, Section::Setup, &control)?,
            None => None,
        };
        if handle.is_stopped() {
            return Err(Error::interrupted("interrupted during setup; no load was started"));
        }
        let Some(Ran { variables, result }) = ran else { return Ok(None) };
        options.setup = variables;
        match failure("setup", &result) {
            Some(error) => Err(error),
            None => Ok(Some(result)),
        }
    }

    /// Runs the teardown, all of its steps whatever fails: a load that was interrupted, and a setup that
    /// failed half-way, are cleaned up as well, unless the end at once was asked for.
    ///
    /// # Errors
    /// A request failed, or it was stopped. The result is there as far as it went.
    pub fn teardown(
        &self,
        options: &CompileOptions,
        handle: &Handle,
    ) -> (Option<SectionResult>, Result<(), Error>) {
        if !has_steps(self.plan, Section::Teardown) {
            return (None, Ok(()));
        }
        let Some(control) = handle.begin(Phase::Teardown, self.graceful_stop()) else {
            let text = "the teardown was not run, because the run was aborted";
            return (None, Err(Error::interrupted(text)));
        };
        let result = match self.run(options, Section::Teardown, &control) {
            Ok(ran) => ran.map(|ran| ran.result),
            Err(error) => return (None, Err(error)),
        };
        let failed = result.as_ref().and_then(|result| failure("teardown", result));
        match handle.is_stopped_in(Phase::Teardown) {
            true => (result, Err(Error::interrupted("the teardown was interrupted"))),
            false => (result, failed.map_or(Ok(()), Err)),
        }
    }

    fn graceful_stop(&self) -> std::time::Duration {
        self.plan.graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP)
    }

    fn run(
        &self,
        options: &CompileOptions,
        section: Section,
        control: &Control,
    ) -> Result<Option<Ran>, Error> {
        if !has_steps(self.plan, section) {
            return Ok(None);
        }
        let program = plans::compile(self.plan, self.sources, section, options)?;
        let trace = self.log.map(|log| log.trace(&program.secrets));
        let (mut log, mut totals) = (Vec::new(), Totals::new());
        let run = RunOptions::default();
        let ended =
            squall_engine::run(program, self.shared.clone(), &run, control, trace, |event| {
                match event {
                    Event::Log(lines) => log.extend(lines.iter().map(|line| line.text.clone())),
                    Event::Slice(slice) => {
                        totals.add(slice);
                    }
                }
            })
            .map_err(Error::incomplete)?;
        let passed = !ended.asked && ended.failures.is_empty() && totals.all().errors == 0;
        log.extend(ended.failures);
        let elapsed_s = ended.elapsed.as_secs_f64();
        let result = SectionResult { passed, elapsed_s, totals, log };
        Ok(Some(Ran { variables: ended.variables, result }))
    }
}

/// The error that a section of this name is, if it failed.
fn failure(name: &str, result: &SectionResult) -> Option<Error> {
    let text = || format!("{name} failed: {}", result.log.join("; "));
    (!result.passed).then(|| Error::incomplete(text()))
}

/// Whether a plan has steps for this part.
pub fn has_steps(plan: &Plan, part: Section) -> bool {
    match part {
        Section::Setup => !plan.setup.is_empty(),
        Section::Teardown => !plan.teardown.is_empty(),
        Section::Load | Section::Trial => true,
    }
}
