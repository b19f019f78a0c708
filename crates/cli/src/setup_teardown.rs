//! Setup and teardown of a plan: each runs once, with one virtual user.

use std::sync::Arc;

use squall_engine::{CompileOptions, Control, Event, RunOptions, Section};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_wire::Shared;

use crate::exit::CommandError;
use crate::plans;

/// Runs the setup and the teardown of a plan.
#[derive(Debug, Clone, Copy)]
pub struct SetupTeardown<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub shared: &'a Arc<Shared>,
}

impl SetupTeardown<'_> {
    /// Runs setup or teardown and returns the final values of its variables.
    ///
    /// # Errors
    /// A request failed: the run must not continue, as later steps would not mean what the plan says.
    pub fn run(
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

/// Whether a plan has steps for this part.
pub fn has_steps(plan: &Plan, part: Section) -> bool {
    match part {
        Section::Setup => !plan.setup.is_empty(),
        Section::Teardown => !plan.teardown.is_empty(),
        Section::Load | Section::Trial => true,
    }
}
