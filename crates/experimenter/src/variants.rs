//! The variants of an experiment: what each of them sets, and who says so.

use squall_experiment::{Design, Factor, MAX_VARIANTS};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{Experiment, FactorKind, Json, LoadKey};
use squall_plan::span::{Span, Spanned};

/// A value that a variant sets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting<T> {
    /// What is set: a variable, a part of the load, a key of the plan, a setting of the kernel.
    pub what: T,
    pub value: Json,
    /// Who sets it, as messages name it: `` factor `threads` ``.
    pub by: String,
    /// The place of that in the file.
    pub span: Span,
}

/// What a variant sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Variant {
    pub name: String,
    pub vars: Vec<Setting<String>>,
    pub load: Vec<Setting<LoadKey>>,
    /// Keys of the plan, by their paths.
    pub plan: Vec<Setting<String>>,
    /// Settings of the kernel.
    pub sysctl: Vec<Setting<String>>,
}

/// The factor that stands for variants that are named one by one.
const VARIANT: &str = "variant";

/// The design of an experiment, and what each of its variants sets.
///
/// # Errors
/// There are too many, or two of them have one name.
pub(crate) fn variants(own: &Experiment) -> Result<(Design, Vec<Variant>), Diagnostic> {
    let factors: Vec<Factor> = match own.factors.is_empty() {
        true => {
            let levels = own.variants.iter().map(|own| own.name.value.clone()).collect();
            vec![Factor { name: VARIANT.to_owned(), levels }]
        }
        false => own.factors.iter().map(factor).collect::<Result<_, _>>()?,
    };
    let place = own.factors.first().map(|own| own.name.span);
    let place = place.or(own.variants.first().map(|own| own.name.span)).unwrap_or_default();
    let counts: Vec<String> = factors.iter().map(|own| own.levels.len().to_string()).collect();
    let design = Design::new(factors).map_err(|_| {
        let message = format!("{} are more than {MAX_VARIANTS} variants", counts.join(" x "));
        let help = "leave out factors or values, or name the variants that matter in `variants`";
        Diagnostic::error(place, message).with_help(help)
    })?;
    let all = (0..design.variants()).map(|number| match own.factors.is_empty() {
        true => named(own, number),
        false => combined(own, &design, number),
    });
    let all = all.collect();
    Ok((design, all))
}

/// A factor as the design has it.
fn factor(own: &squall_plan::model::Factor) -> Result<Factor, Diagnostic> {
    let name = &own.name.value;
    let levels: Vec<String> = own.values.iter().map(Json::to_string).collect();
    let twice = levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level));
    if let Some((_, level)) = twice {
        let message = format!("factor `{name}` has the value `{level}` twice");
        let help = "leave one out; `variants` may be equal, where that is what is to be tried";
        return Err(Diagnostic::error(own.name.span, message).with_help(help));
    }
    Ok(Factor { name: name.clone(), levels })
}

/// A combination of values.
fn combined(own: &Experiment, design: &Design, number: usize) -> Variant {
    let mut variant = Variant { name: design.name(number), ..Variant::default() };
    for (factor, level) in own.factors.iter().zip(design.levels(number)) {
        let Spanned { value: name, span } = &factor.name;
        let (value, by) = (factor.values[level].clone(), format!("factor `{name}`"));
        let text = |what: &str| Setting {
            what: what.to_owned(),
            value: value.clone(),
            by: by.clone(),
            span: *span,
        };
        match &factor.kind {
            FactorKind::Variable => variant.vars.push(text(name)),
            FactorKind::Plan(path) => variant.plan.push(text(&path.value)),
            FactorKind::Sysctl(setting) => variant.sysctl.push(text(&setting.value)),
            FactorKind::Load(key) => {
                let Setting { value, by, span, .. } = text("");
                variant.load.push(Setting { what: *key, value, by, span });
            }
        }
    }
    variant
}

/// A variant that has a name.
fn named(own: &Experiment, number: usize) -> Variant {
    let own = &own.variants[number];
    let by = format!("variant `{}`", own.name.value);
    let setting = |what: &Spanned<String>, value: Json| Setting {
        what: what.value.clone(),
        value,
        by: by.clone(),
        span: what.span,
    };
    Variant {
        name: own.name.value.clone(),
        vars: own.vars.iter().map(|var| setting(&var.name, var.value.clone())).collect(),
        load: Vec::new(),
        plan: own.plan.iter().map(|(path, value)| setting(path, value.clone())).collect(),
        sysctl: own
            .sysctl
            .iter()
            .map(|(name, value)| {
                setting(name, Json::Text(squall_plan::template::Template::text(value)))
            })
            .collect(),
    }
}

impl Variant {
    /// What it sets, a line each.
    pub fn sets(&self) -> Vec<String> {
        let line = |what: &str, value: &Json| format!("{what} = {value}");
        let vars = self.vars.iter().map(|own| line(&format!("${{{}}}", own.what), &own.value));
        let load =
            self.load.iter().map(|own| line(&format!("load: {}", own.what.label()), &own.value));
        let plan = self.plan.iter().map(|own| line(&format!("plan: {}", own.what), &own.value));
        let sysctl =
            self.sysctl.iter().map(|own| line(&format!("sysctl: {}", own.what), &own.value));
        vars.chain(load).chain(plan).chain(sysctl).collect()
    }
}
