//! What a plan would do, and what it needs; sends nothing.

use std::sync::Arc;

use squall_engine::Program;
use squall_plan::diagnostic::{Diagnostic, Severity};
use squall_plan::yaml::Loaded;

use crate::capacity::Demand;
use crate::error::Error;
use crate::options::Options;
use crate::{builtin, plans, source_addresses};

/// A plan that was found good.
#[derive(Debug)]
pub struct Checked {
    /// What would run: setup, load, teardown.
    pub programs: Vec<Arc<Program>>,
    /// What may not mean what was meant, with its places.
    pub warnings: Vec<String>,
    /// What it needs of a machine.
    pub demand: Demand,
}

/// Compiles a plan as a run would, beside monitors that sample these metrics.
///
/// # Errors
/// It is no good plan, with the places.
pub fn check(loaded: &Loaded, options: &Options, monitored: &[String]) -> Result<Checked, Error> {
    let plan = &loaded.plan;
    let compile = options.compile(options.target_url(), plans::seed(plan, options.seed));
    let programs = plans::compile_all(loaded, &plans::SECTIONS, &compile, monitored)?;
    let builtin = builtin::is_asked_for(plan, options);
    let demand = Demand::of(plan, plans::hosts(&programs.all), builtin);
    // It may be another machine that runs the plan.
    let foreign = source_addresses::foreign(plan, &programs.all).into_iter();
    let foreign = foreign.map(|own| Diagnostic { severity: Severity::Warning, ..own });
    let mut warnings = programs.warnings;
    warnings.extend(foreign.map(|own| loaded.sources.render(&own)));
    Ok(Checked { programs: programs.all, warnings, demand })
}
