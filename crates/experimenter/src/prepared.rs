//! An experiment before its first run: everything that can be wrong with its file has been found.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use squall_analysis::RunMeasure;
use squall_experiment::{Demand, Design, Measure, Repeats, Schedule};
use squall_front::Values;
use squall_plan::diagnostic::{Diagnostic, Sources};
use squall_plan::model::{Experiment, Factor, FactorKind, Order, PlanSource};
use squall_plan::span::{Span, Spanned};
use squall_report::ExperimentFactor;
use squall_supervisor::CpuSet;

use crate::binding::Variables;
use crate::counting::{Counting, counting};
use crate::file::ExperimentText;
use crate::measures::{is_measured, measures};
use crate::plan::{CheckPlan, PlanError, VariantPlan, digest, length, shown_warmup};
use crate::programs::{Programs, cpu_set, first_program};
use crate::variants::{Setting, Variant, variants};

/// Repeats where the file does not say, and their bounds where they go on until intervals are narrow.
const REPEATS: u64 = 5;
const LEAST: u64 = 3;
const MOST: u64 = 20;
/// How often a run that failed is made again.
const RETRIES: u64 = 2;

/// An experiment whose runs can be made.
#[derive(Debug)]
pub struct Prepared {
    pub name: String,
    /// Its file, as it was asked for.
    pub file: ExperimentText,
    /// The plan: its file, or the name of one that stands in the experiment.
    pub plan: String,
    pub design: Design,
    /// The factors, as results have them.
    pub factors: Vec<ExperimentFactor>,
    pub variants: Vec<PreparedVariant>,
    pub measures: Vec<RunMeasure>,
    pub demand: Demand,
    /// Seed of the order of the runs, whether or not they are in random order.
    pub seed: u64,
    /// Whether the seed was drawn, as nobody has given one.
    pub is_seed_drawn: bool,
    /// Which runs count although their numbers are invalid.
    pub counting: Counting,
    /// How long a run may take; `None`: as [`Prepared::patience`] says.
    pub run_within: Option<Duration>,
    /// Processors that squall is bound to.
    pub cpus: Option<CpuSet>,
    /// The warm-up that the file asks for; empty: as the plan says.
    pub warmup: String,
    /// The servers as the file has them, with `${...}`.
    pub servers: Vec<(String, Vec<String>)>,
    /// What may not mean what was meant, a text each.
    pub warnings: Vec<String>,
    /// What the plans of all variants are, in a few letters.
    pub digest: String,
}

/// A variant whose runs can be made.
#[derive(Debug)]
pub struct PreparedVariant {
    pub name: String,
    /// What it sets, a line each.
    pub sets: Vec<String>,
    pub programs: Programs,
    /// Settings of the kernel, and their values.
    pub sysctl: Vec<(String, String)>,
    /// Its plan, secrets included.
    pub plan: Value,
    /// How long the load of a run lasts, where the plan says.
    pub length: Option<Duration>,
}

/// What was said on the command line.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Whether programs may be started.
    pub exec: bool,
    /// Whether settings of the kernel may be changed.
    pub sysctl: bool,
}

/// Reads an experiment and everything that it needs, and starts nothing.
///
/// # Errors
/// Something is wrong with it, in a text with its places.
pub fn prepare(
    file: ExperimentText,
    values: &Values,
    permissions: &Permissions,
    seed: Option<u64>,
    check: &CheckPlan<'_>,
) -> Result<Prepared, String> {
    let loaded = file.load(&file.options(values))?;
    let (own, sources) = (&loaded.experiment, &loaded.sources);
    let here = |found: Diagnostic| sources.render(&found);
    permitted(own, permissions).map_err(here)?;
    let measures = measures(own).map_err(here)?;
    let (design, all) = variants(own).map_err(here)?;
    let mut made = prepare_variants(&file, own, sources, &all, values)?;
    look_at_plans(own, sources, &all, &mut made, &measures, check)?;
    let cpus = own.cpus.as_ref().map(|own| cpu_set(&own.value, own.span)).transpose();
    let given = seed.or(own.seed);
    let seed = given.unwrap_or_else(fresh_seed);
    let written = |command: &[squall_plan::template::Template]| {
        command.iter().map(|word| word.source().to_owned()).collect::<Vec<_>>()
    };
    let warnings = loaded.warnings.iter().cloned().chain(order_matters(own)).map(here);
    Ok(Prepared {
        name: own.name.clone(),
        plan: match &own.plan {
            PlanSource::File(path) => path.value.display().to_string(),
            PlanSource::Inline(plan) => plan.name.clone(),
        },
        factors: factors(own, &design),
        demand: Demand {
            repeats: repeats(own),
            retries: own.retries.unwrap_or(RETRIES) as usize,
            seed: (own.order == Order::Random).then_some(seed),
        },
        seed,
        is_seed_drawn: given.is_none(),
        counting: counting(own).map_err(here)?,
        run_within: own.run_within,
        cpus: cpus.map_err(here)?,
        warmup: own.warmup.map_or(String::new(), shown_warmup),
        servers: own
            .servers
            .iter()
            .map(|own| (own.name.value.clone(), written(&own.command)))
            .collect(),
        warnings: warnings.collect(),
        digest: digest(made.iter().map(|own| own.plan.value.to_string())),
        variants: made.into_iter().zip(&all).map(|(own, variant)| own.finish(variant)).collect(),
        measures: measures.into_iter().map(|own| own.value).collect(),
        design,
        file,
    })
}

impl Prepared {
    /// How long a run of a variant may take before it is ended: what the file says; otherwise three times what its load is
    /// planned to take, and an hour at least, since nobody knows how long setup, teardown and a fixed number of iterations take.
    pub fn patience(&self, variant: usize) -> Duration {
        const LEAST: Duration = Duration::from_secs(3_600);
        let planned = self.variants.get(variant).and_then(|own| own.length);
        let usual = planned.map_or(LEAST, |own| own.saturating_mul(3).max(LEAST));
        self.run_within.unwrap_or(usual)
    }

    /// The schedule of its runs, of which none was made.
    pub fn schedule(&self) -> Schedule {
        let scales = self.measures().iter().map(Measure::scale).collect();
        Schedule::new(self.design.clone(), self.demand.clone(), scales)
    }

    /// What is measured, as statistics tell of it.
    pub fn measures(&self) -> Vec<Measure> {
        let measure = |own: &RunMeasure| Measure::new(own.text(), own.unit());
        self.measures.iter().map(measure).collect()
    }

    /// How long a run of all variants lasts by their plans, without what is around it; `None`: the plans do not say.
    pub fn block_length(&self) -> Option<Duration> {
        self.variants.iter().map(|own| own.length).sum()
    }
}

/// A seed that nobody asked for; 53 bits survive every JSON reader.
fn fresh_seed() -> u64 {
    let nanos = (crate::clock::unix_time() * 1e9) as u64;
    squall_base::random::mix(nanos ^ u64::from(std::process::id()) << 32) >> 11
}

/// A variant that is being prepared.
struct Preparing {
    programs: Programs,
    plan: VariantPlan,
    /// Variables that its programs and its target use.
    used: BTreeSet<String>,
}

impl Preparing {
    fn finish(self, variant: &Variant) -> PreparedVariant {
        let sysctl = variant.sysctl.iter().map(|own| (own.what.clone(), own.value.to_string()));
        PreparedVariant {
            name: variant.name.clone(),
            sets: variant.sets(),
            programs: self.programs,
            sysctl: sysctl.collect(),
            length: length(&self.plan.loaded.plan),
            plan: self.plan.value,
        }
    }
}

fn prepare_variants(
    file: &ExperimentText,
    own: &Experiment,
    sources: &Sources,
    all: &[Variant],
    values: &Values,
) -> Result<Vec<Preparing>, String> {
    let each = all.iter().map(|variant| {
        let here = |found: Diagnostic| {
            let message = format!("variant `{}`: {}", variant.name, found.message);
            let found =
                if own.factors.is_empty() { Diagnostic { message, ..found } } else { found };
            sources.render(&found)
        };
        let variables = Variables::new(&variant.vars);
        let programs = Programs::of(own, &variables, &file.folder).map_err(here)?;
        let target = own.target.as_ref().map(|own| variables.text(own));
        let target = target.transpose().map_err(here)?;
        let plan = VariantPlan::of(file, own, variant, target.as_deref(), values);
        let plan = plan.map_err(|error| match error {
            PlanError::Here(found) => sources.render(&found),
            PlanError::Plan(text) => text,
        })?;
        Ok(Preparing { programs, plan, used: variables.used() })
    });
    each.collect()
}

/// Compiles the plans of all variants with what is measured, and looks for factors that nothing uses. A plan keeps those
/// variables of its variant that it uses.
fn look_at_plans(
    own: &Experiment,
    sources: &Sources,
    all: &[Variant],
    made: &mut [Preparing],
    measures: &[Spanned<RunMeasure>],
    check: &CheckPlan<'_>,
) -> Result<(), String> {
    let mut names: Vec<String> =
        all.iter().flat_map(|own| own.vars.iter().map(|own| own.what.clone())).collect();
    names.sort_unstable();
    names.dedup();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (variant, own) in all.iter().zip(&mut *made) {
        let facts = check(&own.plan.loaded, &names).map_err(|why| {
            // What is wrong with the plan itself has a place in its own file.
            let of_plan = check(&own.plan.original, &[]).err();
            of_plan.unwrap_or_else(|| format!("the plan of variant `{}`:\n{why}", variant.name))
        });
        let of_plan = facts?.used;
        let vars = variant.vars.iter().map(|own| own.what.as_str());
        own.plan.forget(vars.filter(|own| !of_plan.contains(*own)));
        used.extend(of_plan);
        used.extend(own.used.iter().chain(&own.plan.resolved).cloned());
    }
    if let Some(own) = made.first() {
        for measure in measures {
            is_measured(&own.plan.loaded, measure, sources, check)?;
        }
    }
    let is_used = |name: &str| used.contains(name) || changes_plan(name, all, made);
    match all.iter().flat_map(|own| &own.vars).find(|own| !is_used(&own.what)) {
        Some(unused) => Err(sources.render(&nothing_uses(unused, own))),
        None => Ok(()),
    }
}

/// Whether a plan of another format is another one for another value of a variable.
fn changes_plan(name: &str, all: &[Variant], made: &[Preparing]) -> bool {
    let value_of = |variant: &Variant| {
        variant.vars.iter().find(|own| own.what == name).map(|own| own.value.clone())
    };
    let others = |variant: &Variant| -> Vec<_> {
        let others = variant.vars.iter().filter(|own| own.what != name);
        others.map(|own| (own.what.clone(), own.value.clone())).collect()
    };
    let plan_of = |own: &Preparing| {
        let mut plan = own.plan.base.clone();
        if let Some(vars) = plan.get_mut("vars").and_then(|vars| vars.as_object_mut()) {
            vars.remove(name);
        }
        plan
    };
    let all: Vec<_> = all.iter().zip(made).collect();
    all.iter().enumerate().any(|(at, (variant, own))| {
        all[..at].iter().any(|(other, its)| {
            value_of(variant) != value_of(other)
                && others(variant) == others(other)
                && plan_of(own) != plan_of(its)
        })
    })
}

fn nothing_uses(unused: &Setting<String>, own: &Experiment) -> Diagnostic {
    let name = &unused.what;
    let message = match own.factors.is_empty() {
        true => format!("{}: nothing uses the variable `{name}`", unused.by),
        false => format!("nothing uses factor `{name}`: all its variants would be the same"),
    };
    let help = format!(
        "use it as `${{{name}}}` in a command, in `env`, `target` or the plan; or say what it sets: `{name}: {{load: users, values: [...]}}`, `plan: KEY` or `sysctl: NAME`"
    );
    Diagnostic::error(unused.span, message).with_help(&help)
}

/// Whether all that the experiment does may be done.
fn permitted(own: &Experiment, permissions: &Permissions) -> Result<(), Diagnostic> {
    if let Some(span) = first_program(own).filter(|_| !permissions.exec) {
        let message = "this experiment starts programs, which is not allowed";
        let help = "read what it starts, then allow it with --allow-exec";
        return Err(Diagnostic::error(span, message).with_help(help));
    }
    let factors = own.factors.iter().filter_map(|own| match &own.kind {
        FactorKind::Sysctl(name) => Some(name),
        _ => None,
    });
    let all =
        factors.chain(own.variants.iter().flat_map(|own| own.sysctl.iter().map(|own| &own.0)));
    for name in all {
        if !cfg!(target_os = "linux") {
            let message =
                format!("`{}`: settings of the kernel can be set on Linux only", name.value);
            return Err(Diagnostic::error(name.span, message));
        }
        if !permissions.sysctl {
            let message = format!(
                "this experiment sets `{}` of the kernel, which is not allowed",
                name.value
            );
            let help = "allow it with --allow-sysctl: it is put back after each run";
            return Err(Diagnostic::error(name.span, message).with_help(help));
        }
    }
    Ok(())
}

fn repeats(own: &Experiment) -> Repeats {
    match &own.until {
        Some(until) => {
            let most = until.most.unwrap_or(MOST) as usize;
            let least = (until.least.unwrap_or(LEAST) as usize).min(most);
            Repeats::Until { relative_error: until.relative_error.value, least, most }
        }
        None => Repeats::Fixed(own.repeat.as_ref().map_or(REPEATS, |own| own.value) as usize),
    }
}

/// A warning where the order of the runs may be taken for a difference.
fn order_matters(own: &Experiment) -> Option<Diagnostic> {
    let message = "the runs are made in the order of the file: what changes meanwhile, such as a \
                   machine that gets warm, may look like a difference between variants";
    let warning = || Diagnostic::warning(Span::default(), message).with_help("leave out `order`");
    (own.order == Order::File).then(warning)
}

/// The factors as results have them.
fn factors(own: &Experiment, design: &Design) -> Vec<ExperimentFactor> {
    let of = |at: usize, levels: &[String]| {
        let (kind, sets) = match own.factors.get(at).map(|own: &Factor| &own.kind) {
            None => ("variants", ""),
            Some(FactorKind::Variable) => ("variable", ""),
            Some(FactorKind::Load(key)) => ("load", key.label()),
            Some(FactorKind::Plan(path)) => ("plan", path.value.as_str()),
            Some(FactorKind::Sysctl(name)) => ("sysctl", name.value.as_str()),
        };
        (kind.to_owned(), sets.to_owned(), levels.to_vec())
    };
    let all = design.factors().iter().enumerate();
    all.map(|(at, factor)| {
        let (kind, sets, levels) = of(at, &factor.levels);
        ExperimentFactor { name: factor.name.clone(), kind, sets, levels }
    })
    .collect()
}
