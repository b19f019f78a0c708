//! Plans of Apache JMeter: translated, or refused with all of them that has no equal.

use std::fmt::Write as _;
use std::path::Path;

use squall_base::units::print_duration;
use squall_jmeter::{
    Inventory, Reason, Supported, Translation, TranslationContext, Tree, asked_properties,
    inventory, translate, translate_supported,
};
use squall_plan::diagnostic::{Diagnostic, Sources, nearest};
use squall_plan::model::{Load, Plan, Scenario};
use squall_plan::span::Span;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded};

use crate::foreign::{is_web_page, trimmed};
use crate::import::{FrontEnd, Import, ImportError, PlanText};
use crate::machine;
use crate::values::Values;

/// What is said of reasons in one go: a large plan has thousands of elements.
const MOST_SHOWN: usize = 50;

/// Reads plans of JMeter.
pub(crate) struct Jmx;

impl FrontEnd for Jmx {
    /// XML of any kind but web pages: its reader says what it expected.
    fn read(&self, plan: &PlanText, values: &Values) -> Option<Import> {
        let text = trimmed(&plan.text);
        if !text.starts_with('<') || is_web_page(text) {
            return None;
        }
        Some(match Translated::of(plan, values) {
            Ok(read) => {
                let outline = squall_base::escape_lines(&read.found.to_string()).into_owned();
                Import { plan: read.loaded(plan, values), outline: Some(outline) }
            }
            Err(why) => Import::of(Err(ImportError::Refused(why))),
        })
    }
}

/// A plan of JMeter, translated.
pub struct Translated {
    name: String,
    tree: Tree,
    /// Its elements, and what becomes of each.
    found: Inventory,
    /// What was left out because it is not supported, and its user wants to do without.
    pub left_out: Vec<Reason>,
    /// What keeps it from being run.
    pub refused: Vec<Reason>,
    /// The plan that it becomes, without the names of its elements' places.
    pub plan: Plan,
    /// Whether no thread group has anything to do.
    is_idle: bool,
}

impl Translated {
    /// Translates a plan.
    ///
    /// # Errors
    /// It is none of JMeter's; in a sentence with its name and the place.
    pub fn of(plan: &PlanText, values: &Values) -> Result<Translated, String> {
        let PlanText { name, text, folder } = plan;
        let tree = Tree::read(text.as_bytes()).map_err(|error| format!("{name}: {error}"))?;
        let file_name = Path::new(name).file_name().unwrap_or_default();
        let surroundings = TranslationContext {
            properties: values.by_name(),
            machine: machine::this(&values.system, text.contains("__machine")),
            folder: folder.clone(),
            file_name: file_name.to_string_lossy().into_owned(),
        };
        let whole = translate(&tree, surroundings.clone());
        let found = inventory(&tree, &whole.obstacles, &whole.idle);
        let (translation, left_out, refused) = match values.skips_unsupported {
            true => {
                let Supported { translation, left_out, remaining } =
                    translate_supported(&tree, &surroundings);
                (translation, left_out, remaining)
            }
            false => (whole, Vec::new(), found.reasons()),
        };
        let Translation { plan, is_idle, .. } = translation;
        Ok(Translated { name: name.clone(), tree, found, left_out, refused, plan, is_idle })
    }

    /// The plan, if all of it can be run as it was meant.
    fn loaded(mut self, plan: &PlanText, values: &Values) -> Result<Loaded, ImportError> {
        if let Some(refusal) = self.refusal() {
            return Err(ImportError::Refused(refusal));
        }
        let mut warnings = self.left_out_elements();
        if self.is_idle {
            let root = self.tree.roots.first().map(|root| self.tree.element(*root).span);
            let message = "no thread group has anything to do";
            warnings.push(Diagnostic::warning(root.unwrap_or_default(), message));
        }
        warnings.extend(self.plan.scenarios.iter().filter_map(cut_short));
        warnings.extend(unknown(&self.tree, &plan.text, values));
        let sources = self.sources(&plan.name);
        let plan = std::mem::take(&mut self.plan);
        yaml::finish(Loaded { plan, sources, warnings }, &LoadOptions::default())
            .map_err(|errors| ImportError::Plan(Box::new(errors)))
    }

    /// What keeps it from running as JMeter would run it, if anything does.
    pub fn refusal(&self) -> Option<String> {
        if self.refused.is_empty() {
            return None;
        }
        let mut text = format!("{}: not all of this plan can be run as JMeter runs it:", self.name);
        for reason in self.refused.iter().take(MOST_SHOWN) {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n  {reason}");
        }
        if self.refused.len() > MOST_SHOWN {
            let _ = write!(text, "\n  and {} more", self.refused.len() - MOST_SHOWN);
        }
        Some(text)
    }

    /// What was left out, each at its place.
    fn left_out_elements(&self) -> Vec<Diagnostic> {
        let one = |reason: &Reason| {
            let span = reason.element.map(|id| self.tree.element(id).span);
            let message = format!("left out: {}", reason.what);
            Diagnostic::warning(span.unwrap_or_default(), message)
        };
        let mut all: Vec<Diagnostic> = self.left_out.iter().take(MOST_SHOWN).map(one).collect();
        if self.left_out.len() > MOST_SHOWN {
            let message = format!("{} more are left out", self.left_out.len() - MOST_SHOWN);
            all.push(Diagnostic::warning(Span::default(), message));
        }
        all
    }

    /// Its file, with the names of its elements.
    fn sources(&self, name: &str) -> Sources {
        let mut sources = Sources::default();
        let elements = self.found.entries.iter().map(|entry| {
            let place = entry.place().replace(char::is_control, " ");
            (self.tree.element(entry.id).span, place)
        });
        sources.add_named(name, elements);
        sources
    }
}

/// That a thread group ends before all of its threads have started.
fn cut_short(scenario: &Scenario) -> Option<Diagnostic> {
    let Load::Closed(load) = &scenario.load.as_ref()?.value else { return None };
    let length = load.duration.filter(|length| *length < load.ramp)?;
    let [ramp, length] = [load.ramp, length].map(print_duration);
    let message = format!(
        "the ramp-up period ({ramp}) is longer than the duration ({length}): never do all threads run"
    );
    Some(Diagnostic::warning(scenario.span, message))
}

/// What was given one by one, and the plan never asks for. JMeter's own properties, which have a `.` in their names, are passed
/// over unless they are like one that it does ask for.
fn unknown(tree: &Tree, text: &str, values: &Values) -> Vec<Diagnostic> {
    let asked = asked_properties(tree);
    let names = values.given.iter().map(|(name, _)| name.trim());
    let warning = |name: &str| {
        let near = nearest(name, asked.iter().map(String::as_str));
        if text.contains(name) || near.is_none() && name.contains('.') {
            return None;
        }
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if asked.is_empty() => "it asks for none: `${__P(NAME)}` is one".to_owned(),
            None => {
                let names: Vec<&str> = asked.iter().map(String::as_str).collect();
                format!("it asks for {}", names.join(", "))
            }
        };
        let message = format!("`{name}`: the plan asks for no such property");
        Some(Diagnostic::warning(Span::default(), message).with_help(&help))
    };
    names.filter_map(warning).collect()
}
