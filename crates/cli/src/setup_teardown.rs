//! Setup and teardown of a plan: each runs once, with one virtual user.

use std::sync::Arc;

use squall_engine::{CompileOptions, Control, Event, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_wire::Shared;

use crate::exit::{CommandError, CommandResult};
use crate::signals::Interrupts;
use crate::{out, plans};

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
    /// A request failed: the run must not continue, as later steps would not mean what the plan says. Or a
    /// signal ended it.
    pub fn setup(
        &self,
        options: &CompileOptions,
        interrupts: &Interrupts,
    ) -> Result<Vec<(String, Value)>, CommandError> {
        let variables = match interrupts.begin(0) {
            Some(control) => self.run(options, Section::Setup, &control),
            None => Ok(Vec::new()),
        };
        match interrupts.received() {
            0 => variables,
            _ => Err(CommandError::interrupted("interrupted during setup; no load was started")),
        }
    }

    /// Runs the teardown: an interrupted load is cleaned up as well, unless a second signal asked for the
    /// end at once.
    ///
    /// # Errors
    /// A request failed, or a signal ended it.
    pub fn teardown(
        &self,
        options: &CompileOptions,
        interrupts: &Interrupts,
    ) -> Result<(), CommandError> {
        if !has_steps(self.plan, Section::Teardown) {
            return Ok(());
        }
        let before = interrupts.received();
        let Some(control) = interrupts.begin(1) else {
            let text = "the teardown was not run, because of the second signal";
            return Err(CommandError::interrupted(text));
        };
        let done = self.run(options, Section::Teardown, &control);
        match interrupts.received() > before {
            true => Err(CommandError::interrupted("the teardown was interrupted")),
            false => done.map(|_| ()),
        }
    }

    fn run(
        &self,
        options: &CompileOptions,
        section: Section,
        control: &Control,
    ) -> Result<Vec<(String, Value)>, CommandError> {
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
            .map_err(CommandError::incomplete)?;
        if ended.asked || !ended.failures.is_empty() {
            let name = if section == Section::Setup { "setup" } else { "teardown" };
            log.extend(ended.failures);
            return Err(CommandError::incomplete(format!("{name} failed: {}", log.join("; "))));
        }
        Ok(ended.variables)
    }
}

/// What a command comes to, whose result is printed and whose teardown may have failed since.
pub fn settle(outcome: CommandResult, torn_down: Result<(), CommandError>) -> CommandResult {
    match (outcome, torn_down) {
        (outcome, Ok(())) => outcome,
        (Ok(_), Err(failure)) => Err(failure),
        (Err(first), Err(failure)) => {
            out::message(&format!("{}\n", failure.text));
            Err(first)
        }
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
