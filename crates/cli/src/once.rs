//! Setup and teardown of a plan: each runs once, with one user.

use std::sync::Arc;

use squall_engine::{CompileOptions, Event, RunOptions, Section, Stopper};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_wire::Shared;

use crate::exit::Failure;
use crate::plans;

/// What is needed to run a part of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Once<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub shared: &'a Arc<Shared>,
}

impl Once<'_> {
    /// Runs setup or teardown; returns what its variables held at the end. A failed request there
    /// ends everything: what comes after would not mean what the plan says.
    pub fn run(
        &self,
        options: &CompileOptions,
        part: Section,
        stopper: &Stopper,
    ) -> Result<Vec<(String, Value)>, Failure> {
        if !has_steps(self.plan, part) {
            return Ok(Vec::new());
        }
        let program = plans::compile(self.plan, self.sources, part, options)?;
        let secrets = program.secrets.clone();
        let mut log = Vec::new();
        let run = RunOptions::default();
        let ended =
            squall_engine::run(program, self.shared.clone(), &run, stopper, None, |event| {
                if let Event::Log(lines) = event {
                    log.extend(lines.iter().map(|line| secrets.mask(&line.text)));
                }
            })
            .map_err(Failure::incomplete)?;
        if ended.asked || !ended.failures.is_empty() {
            let name = if part == Section::Setup { "setup" } else { "teardown" };
            log.extend(ended.failures);
            return Err(Failure::incomplete(format!("{name} failed: {}", log.join("; "))));
        }
        Ok(ended.variables)
    }
}

/// Whether a plan has steps for a part.
pub fn has_steps(plan: &Plan, part: Section) -> bool {
    match part {
        Section::Setup => !plan.setup.is_empty(),
        Section::Teardown => !plan.teardown.is_empty(),
        Section::Load | Section::Trial => true,
    }
}
