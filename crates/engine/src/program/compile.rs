//! From a plan to a program: what all steps share first, then scenario by scenario.

use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{OnError, Plan, Step};

use super::compiled::Program;
use super::compiler::{CompileOptions, Compiler, DEFAULT_GRACEFUL_STOP, Section};
use super::judged::Subjects;
use super::target::http;
use crate::parts::secret_forms;

/// Compiles a plan.
///
/// # Errors
/// Everything that was found wrong, each with its place: patterns, paths and selectors that do not
/// compile, names that do not exist, files that cannot be read, URLs that cannot be used.
pub fn compile(plan: &Plan, options: &CompileOptions) -> Result<Program, Vec<Diagnostic>> {
    compile_or_refuse(plan, options).map_err(|refused| refused.errors)
}

/// A plan that was found wrong.
#[derive(Debug)]
pub struct Refused {
    /// Everything that is wrong, each with its place.
    pub errors: Vec<Diagnostic>,
    /// What thresholds can be about all the same; `None`: something that has an error has a name which is not known.
    pub subjects: Option<Box<Subjects>>,
}

/// Compiles a plan, like [`compile`].
///
/// # Errors
/// As [`compile`], with what thresholds can be about.
pub fn compile_or_refuse(plan: &Plan, options: &CompileOptions) -> Result<Program, Refused> {
    let mut compiler = Compiler::new(plan, options);
    let merged = compiler.merged_defaults();
    compiler.open_feeds();
    compiler.declare();
    compiler.find_target();
    compiler.find_proxy();
    compiler.find_key_store();
    let (scenarios, loads) = match options.section {
        // A script sees what fails in it, and throws if that is to end the setup.
        Section::Setup if plan.setup.iter().all(Step::is_script) => {
            compiler.once("setup", &plan.setup, OnError::Continue)
        }
        Section::Setup => compiler.once("setup", &plan.setup, OnError::StopRun),
        Section::Teardown => compiler.once("teardown", &plan.teardown, OnError::Continue),
        Section::Load | Section::Trial => compiler.scenarios(&merged),
    };
    let max_names = compiler.max_names();
    let secrets_to_find = compiler.secrets_to_find();
    secret_forms::add(&mut compiler.secrets, 0, &compiler.charsets);
    compiler.errors.extend(compiler.secrets.too_many());
    if compiler.has_errors() {
        let known = !compiler.lacks_names;
        let subjects = known.then(|| match options.section.has_steps(plan) {
            true => Subjects::of(&compiler.names, &scenarios, &loads),
            false => Subjects::none(),
        });
        let lost_tags = std::mem::take(&mut compiler.lost_tags);
        let subjects = subjects.map(|own| Box::new(own.without_tags(lost_tags)));
        return Err(Refused { errors: compiler.into_errors(), subjects });
    }
    Ok(Program {
        name: plan.name.clone(),
        section: options.section,
        scenarios,
        loads,
        names: compiler.names,
        max_names,
        variables: compiler.variables,
        initial: compiler.initial.into(),
        shared: compiler.shared,
        initial_shared: compiler.initial_shared.into(),
        feeds: compiler.feeds,
        functions: compiler.functions,
        origins: compiler.origins.into_all(),
        target: compiler.target,
        hosts: compiler.hosts,
        connections: plan.connections.reuse,
        http: http(plan),
        proxy: compiler.proxy,
        destinations: compiler.destinations.into_all(),
        source_addresses: compiler.source_addresses,
        key_store: compiler.key_store,
        via_use: compiler.via_use,
        counts_active: compiler.counts_active,
        places: compiler.places.len(),
        lines: compiler.lines.len(),
        counts: compiler.counts,
        used: compiler.used,
        secrets: compiler.secrets,
        charsets: compiler.charsets,
        secrets_to_find,
        warnings: compiler.warnings,
        scripts: compiler.scripts.into_all(),
        named_jars: compiler.stores.jars(),
        seed: options.seed,
        graceful_stop: plan.graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP),
    })
}
