//! The plan that each variant drives: the experiment's, with what the variant sets in it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use squall_base::units::print_duration;
use squall_front::{ImportError, PlanText, Values};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{
    Closed, Experiment, Load, Monitor, MonitorKind, Open, Plan, PlanSource, Stage, Warmup,
};
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded, PlanErrors};

use crate::file::ExperimentText;
use crate::plan_keys::{set_load, set_path};
use crate::variants::{Setting, Variant};

/// The number of a process that there never is: Linux has fewer (`PID_MAX_LIMIT`).
const NOBODY: u32 = 4_194_304;

/// What a caller that knows the engine says of a plan.
#[derive(Debug, Default)]
pub struct PlanFacts {
    /// Those of the given variables that the plan uses.
    pub used: BTreeSet<String>,
}

/// Compiles a plan and says which of these variables it uses.
///
/// # Errors
/// It is no good plan, in a text with its places.
pub type CheckPlan<'c> = dyn Fn(&Loaded, &[String]) -> Result<PlanFacts, String> + 'c;

/// Why a variant has no plan.
#[derive(Debug)]
pub(crate) enum PlanError {
    /// Something in the experiment's file.
    Here(Box<Diagnostic>),
    /// Something in the plan, shown with its lines.
    Plan(String),
}

/// The plan of a variant.
pub(crate) struct VariantPlan {
    /// As its run reads it.
    pub value: Value,
    /// The same, read.
    pub loaded: Loaded,
    /// Variables whose values stand in quantities.
    pub resolved: Vec<String>,
    /// It before anything of it was set but variables.
    pub base: Value,
    /// The same, with the places of its own file and the servers as monitors.
    pub original: Loaded,
}

impl VariantPlan {
    /// Reads the plan with the variables of the variant, and sets its keys.
    pub fn of(
        file: &ExperimentText,
        own: &Experiment,
        variant: &Variant,
        target: Option<&str>,
        values: &Values,
    ) -> Result<VariantPlan, PlanError> {
        let mut original = read(file, own, variant, values)?;
        let resolved = original.plan.resolved.0.iter().cloned().collect();
        let base = yaml::value(&original.plan, false);
        let mut plan = base.clone();
        if let Some(target) = target {
            plan["target"] = target.into();
        }
        if let Some(warmup) = own.warmup {
            plan["warmup"] = shown_warmup(warmup).into();
        }
        for server in &own.servers {
            monitor(&mut plan, &server.name.value, NOBODY);
            let monitors = &mut original.plan.monitor;
            if !monitors.iter().any(|own| own.name.value == server.name.value) {
                let kind = MonitorKind::Pid(NOBODY.into());
                monitors.push(Monitor { name: server.name.clone(), kind });
            }
        }
        for own in &variant.load {
            let set = |plan: &mut Value| set_load(plan, own.what, &own.value.written());
            try_to_set(&base, &mut plan, own, set)?;
        }
        for own in &variant.plan {
            let set = |plan: &mut Value| set_path(plan, &own.what, &own.value.written());
            try_to_set(&base, &mut plan, own, set)?;
        }
        let loaded =
            read_again(&plan.to_string()).map_err(|errors| PlanError::Plan(told(&errors)))?;
        Ok(VariantPlan { value: plan, loaded, resolved, base, original })
    }
}

impl VariantPlan {
    /// Leaves out variables that the plan was given for its variant and does not use. Those that stand in its own file stay, unless
    /// their values stand in quantities already.
    pub fn forget<'n>(&mut self, unused: impl Iterator<Item = &'n str>) {
        for name in unused {
            let own = &self.original.plan.vars;
            let is_own = own.iter().any(|own| own.name.value == name && own.name.span.is_known());
            if is_own && !self.resolved.iter().any(|own| own == name) {
                continue;
            }
            if let Some(vars) = self.value.get_mut("vars").and_then(Value::as_object_mut) {
                vars.remove(name);
            }
        }
    }
}

/// Lets a plan monitor a server, which is known by its name before there is a process; a monitor that the plan has itself under
/// that name stays.
pub(crate) fn monitor(plan: &mut Value, server: &str, pid: u32) {
    let own = &mut plan["monitor"][server];
    if own.is_null() || *own == json!({"pid": NOBODY}) {
        *own = json!({"pid": pid});
    }
}

/// Sets something in a plan, and in the plan alone, so that it is known whose fault an error is.
fn try_to_set<T>(
    base: &Value,
    plan: &mut Value,
    own: &Setting<T>,
    set: impl Fn(&mut Value) -> Result<(), String>,
) -> Result<(), PlanError> {
    let error = |message: &str, help: &str| {
        let message = format!("{}: {message}", own.by);
        PlanError::Here(Box::new(Diagnostic::error(own.span, message).with_help(help)))
    };
    let mut alone = base.clone();
    set(&mut alone).and_then(|()| set(plan)).map_err(|why| error(&why, ""))?;
    let errors = match read_again(&alone.to_string()) {
        Ok(_) => return Ok(()),
        Err(errors) => errors,
    };
    let first = errors.diagnostics.first();
    let help = first.and_then(|own| own.help.clone()).unwrap_or_default();
    Err(error(first.map_or("the plan cannot be read with it", |own| &own.message), &help))
}

/// Reads the plan of the experiment, with the variables of a variant.
fn read(
    file: &ExperimentText,
    own: &Experiment,
    variant: &Variant,
    values: &Values,
) -> Result<Loaded, PlanError> {
    let factors = variant.vars.iter().map(|own| (own.what.clone(), own.value.clone())).collect();
    let values = Values { factors, ..values.clone() };
    if let PlanSource::File(path) = &own.plan {
        let here = |why: String| {
            PlanError::Here(Box::new(Diagnostic::error(path.span, format!("`plan`: {why}"))))
        };
        let text = PlanText::read(&path.value).map_err(here)?;
        return squall_front::import(&text, &values).plan.map_err(|error| match error {
            ImportError::Plan(errors) => PlanError::Plan(told(&errors)),
            ImportError::Refused(why) => here(why),
        });
    }
    let options = file.options(&values);
    let loaded = file.load(&options).map_err(PlanError::Plan)?;
    let PlanSource::Inline(plan) = loaded.experiment.plan else {
        return Err(PlanError::Plan(format!("{}: its plan has changed\n", file.name)));
    };
    let mut plan = *plan;
    if plan.name.is_empty() {
        plan.name.clone_from(&own.name);
    }
    let loaded = Loaded { plan, sources: loaded.sources, warnings: Vec::new() };
    yaml::finish(loaded, &options).map_err(|errors| PlanError::Plan(told(&errors)))
}

/// Reads what was printed: it says all of itself.
fn read_again(text: &str) -> Result<Loaded, PlanErrors> {
    yaml::load_str("the plan", text, Path::new("/"), &LoadOptions::default())
}

fn told(errors: &PlanErrors) -> String {
    errors.diagnostics.iter().map(|own| errors.sources.render(own)).collect()
}

/// What the plans of all variants are, in a few letters.
pub(crate) fn digest(texts: impl Iterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How long the load of a plan lasts, at most; `None`: the plan does not say.
pub(crate) fn length(plan: &Plan) -> Option<Duration> {
    let shared = plan.load.iter().map(|own| load_length(&own.value));
    let own = plan.scenarios.iter().filter_map(|scenario| {
        let length = load_length(&scenario.load.as_ref()?.value);
        Some(scenario.begins().zip(length).map(|(begins, length)| begins + length))
    });
    shared.chain(own).try_fold(Duration::ZERO, |most, own| Some(most.max(own?)))
}

fn load_length(load: &Load) -> Option<Duration> {
    let all = |stages: &[Stage]| {
        (!stages.is_empty()).then(|| stages.iter().map(|stage| stage.over).sum())
    };
    match load {
        Load::Closed(Closed { duration, stages, .. })
        | Load::Open(Open { duration, stages, .. }) => duration.or_else(|| all(stages)),
    }
}

/// A warm-up as a file has it.
pub(crate) fn shown_warmup(warmup: Warmup) -> String {
    match warmup {
        Warmup::Auto => "auto".to_owned(),
        Warmup::None => "none".to_owned(),
        Warmup::Fixed(time) => print_duration(time),
    }
}
