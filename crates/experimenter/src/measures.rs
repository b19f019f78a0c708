//! What an experiment measures of each run: read, and tried on a plan before anything is started.

use squall_analysis::{RunMeasure, Threshold};
use squall_plan::diagnostic::{Diagnostic, Sources};
use squall_plan::model::Experiment;
use squall_plan::span::{Span, Spanned};
use squall_plan::yaml::Loaded;

use crate::plan::CheckPlan;

/// What is measured where the file does not say.
const MEASURES: [&str; 4] = ["mean", "p99", "rate", "error_rate"];

/// What is measured of each run.
///
/// # Errors
/// A measure cannot be read, or stands twice.
pub(crate) fn measures(own: &Experiment) -> Result<Vec<Spanned<RunMeasure>>, Diagnostic> {
    let usual = MEASURES.map(Spanned::from);
    let texts = if own.measure.is_empty() { &usual[..] } else { &own.measure };
    let mut found: Vec<Spanned<RunMeasure>> = Vec::new();
    for Spanned { value: text, span } in texts {
        let measure = RunMeasure::parse(text).map_err(|error| {
            let message = format!("measure `{text}`: {}", error.message);
            Diagnostic::error(*span, message).with_help(&error.help.unwrap_or_default())
        })?;
        if found.iter().any(|own| own.value.text() == measure.text()) {
            let message = format!("measure `{text}` stands twice");
            return Err(Diagnostic::error(*span, message).with_help("leave one out"));
        }
        found.push(Spanned::new(measure, *span));
    }
    Ok(found)
}

/// Whether a run of a plan has a measure.
pub(crate) fn is_measured(
    plan: &Loaded,
    measure: &Spanned<RunMeasure>,
    sources: &Sources,
    check: &CheckPlan<'_>,
) -> Result<(), String> {
    let mut loaded = plan.clone();
    let text = Spanned::new(threshold_text(&measure.value), Span::default());
    let threshold = squall_plan::model::Threshold { text, ..Default::default() };
    loaded.plan.thresholds = vec![threshold];
    check(&loaded, &[]).map(drop).map_err(|why| {
        let first = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let help = why.lines().find_map(|line| line.trim().strip_prefix("hint: "));
        let help = help.unwrap_or("a measure is what a threshold of the plan could be about");
        let message = format!("measure `{}`: {first}", measure.value.text());
        sources.render(&Diagnostic::error(measure.span, message).with_help(help))
    })
}

/// A threshold about a measure that says nothing.
fn threshold_text(measure: &RunMeasure) -> String {
    // A time needs a unit.
    let all = ["0s", "0"].map(|limit| format!("{} >= {limit}", measure.text()));
    let [time, number] = all;
    if Threshold::parse(&time).is_ok() { time } else { number }
}
