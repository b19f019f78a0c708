//! What a plan would do, and what it needs; sends nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use squall_engine::{Alone, Program};
use squall_plan::diagnostic::{Diagnostic, Severity};
use squall_plan::yaml::Loaded;

use crate::capacity::Demand;
use crate::error::Error;
use crate::known_metrics::KnownMetrics;
use crate::monitor::Monitor;
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
    /// The scripts whose users have an interpreter each.
    pub alone: BTreeMap<PathBuf, Alone>,
}

/// Compiles a plan as a run would beside these monitors.
///
/// # Errors
/// It is no good plan, with the places.
pub fn check(
    loaded: &Loaded,
    options: &Options,
    monitors: &[(String, Box<dyn Monitor>)],
) -> Result<Checked, Error> {
    let plan = &loaded.plan;
    let compile = options.compile(options.target_url(), plans::seed(plan, options.seed));
    let known = KnownMetrics::new(Vec::new(), monitors);
    let programs = plans::compile_all(loaded, &plans::SECTIONS, &compile, &known)?;
    let builtin = builtin::is_asked_for(plan, options);
    // Setup, load and teardown may call the same.
    let alone = programs.all.iter().flat_map(|program| program.alone());
    let alone: BTreeMap<_, _> = alone.map(|(file, own)| (file.to_owned(), own.clone())).collect();
    let interpreters = alone.values().map(|own| own.bytes as u64).sum();
    let demand = Demand::of(plan, plans::hosts(&programs.all), builtin);
    let demand = Demand { interpreters, ..demand };
    // It may be another machine that runs the plan.
    let foreign = source_addresses::foreign(plan, &programs.all).into_iter();
    let foreign = foreign.map(|own| Diagnostic { severity: Severity::Warning, ..own });
    let mut warnings = programs.warnings;
    warnings.extend(foreign.map(|own| loaded.sources.render(&own)));
    Ok(Checked { programs: programs.all, warnings, demand, alone })
}
