//! Setup and teardown of a plan: each runs once, with one virtual user.

use std::sync::Arc;

use squall_engine::{CompileOptions, Control, DEFAULT_GRACEFUL_STOP, Event, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_wire::Shared;

use crate::error::Error;
use crate::handle::{Handle, Phase};
use crate::plans;

/// Runs the setup and the teardown of a plan.
#[derive(Debug, Clone, Copy)]
pub struct SetupTeardown<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub shared: &'a Arc<Shared>,
}

impl SetupTeardown<'_> {
    /// Runs the setup and returns the final values of its variables.
    ///
    /// # Errors
    /// A request failed: the run must not continue, as later steps would not mean what the plan says. Or it
    /// was stopped.
    pub fn setup(
        &self,
        options: &CompileOptions,
        handle: &Handle,
    ) -> Result<Vec<(String, Value)>, Error> {
        let variables = match handle.begin(Phase::Setup, self.graceful_stop()) {
            Some(control) => self.run(options, Section::Setup, &control),
            None => Ok(Vec::new()),
        };
        match handle.is_stopped() {
            false => variables,
            true => Err(Error::interrupted("interrupted during setup; no load was started")),
        }
    }

    /// Runs the teardown: an interrupted load is cleaned up as well, unless the end at once was
    /// asked for.
    ///
    /// # Errors
    /// A request failed, or it was stopped.
    pub fn teardown(&self, options: &CompileOptions, handle: &Handle) -> Result<(), Error> {
        if !has_steps(self.plan, Section::Teardown) {
            return Ok(());
        }
        let Some(control) = handle.begin(Phase::Teardown, self.graceful_stop()) else {
            return Err(Error::interrupted(
                "the teardown was not run, because the run was aborted",
            ));
        };
        let done = self.run(options, Section::Teardown, &control);
        match handle.is_stopped_in(Phase::Teardown) {
            true => Err(Error::interrupted("the teardown was interrupted")),
            false => done.map(|_| ()),
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
    ) -> Result<Vec<(String, Value)>, Error> {
        if !has_steps(self.plan, section) {
            return Ok(Vec::new());
        }
        let program = plans::compile(self.plan, self.sources, section, options)?;
        let secrets = program.secrets.clone();
        let mut log = Vec::new();
        let run = RunOptions::default();
        let ended =
            squall_engine::run(program, self.shared.clone(), &run, control, None, |event| {
                if let Event::Log(lines) = event {
                    log.extend(lines.iter().map(|line| secrets.mask(&line.text)));
                }
            })
            .map_err(Error::incomplete)?;
        if ended.asked || !ended.failures.is_empty() {
            let name = if section == Section::Setup { "setup" } else { "teardown" };
            log.extend(ended.failures);
            return Err(Error::incomplete(format!("{name} failed: {}", log.join("; "))));
        }
        Ok(ended.variables)
    }
}

/// Whether a plan has steps for this part.
pub fn has_steps(plan: &Plan, part: Section) -> bool {
    match part {
        Section::Setup => !plan.setup.is_empty(),
        Section::Teardown => !plan.teardown.is_empty(),
        Section::Load | Section::Trial => true,
    }
}
