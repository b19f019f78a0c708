//! k6's thresholds as squall's, on metrics of the same names. Pure.

use squall_plan::model;
use squall_plan::span::{Span, Spanned};

use crate::options::{Aggregate, OptionError, Source, Threshold};

/// Metrics that squall does not record, and what to do.
const NOT_RECORDED: [(&str, &str); 2] = [
    ("ws_", "squall runs no `k6/ws` and `k6/websockets`, whose metric this is"),
    ("grpc_", "squall runs no `k6/net/grpc`, whose metric this is"),
];

/// Metrics that squall has for the run as a whole, what may be asked of them, and the measure that means the same.
const OF_THE_RUN: [(&str, Aggregate, &str); 3] = [
    ("dropped_iterations", Aggregate::Count, "arrivals_dropped"),
    ("vus", Aggregate::Last, "last(users_active)"),
    ("vus_max", Aggregate::Last, "users_active"),
];

/// The threshold that means the same.
///
/// # Errors
/// squall does not record its metric, or cannot ask for its tags.
pub(super) fn threshold(own: &Threshold) -> Result<model::Threshold, OptionError> {
    let refused = |message: &str| OptionError {
        name: format!("thresholds.{}", own.subject),
        source: Source::Script,
        message: message.to_owned(),
    };
    let is_meant =
        |name: &str| own.metric == name || (name.ends_with('_') && own.metric.starts_with(name));
    if let Some((_, why)) = NOT_RECORDED.iter().find(|(name, _)| is_meant(name)) {
        return Err(refused(why));
    }
    let measure = measure(own).map_err(|why| refused(&why))?;
    let text = format!("{measure} {} {}", own.operator, own.limit);
    let text = Spanned::new(text, Span::default());
    let (abort_on_fail, after) = (own.aborts, own.delay);
    // A delay only matters where something may end.
    let after = if abort_on_fail { after } else { std::time::Duration::ZERO };
    Ok(model::Threshold { text, abort_on_fail, after })
}

/// `p95(http_req_duration, tag.name: "login")`.
fn measure(own: &Threshold) -> Result<String, String> {
    if let Some((_, aggregate, measure)) = OF_THE_RUN.iter().find(|(name, ..)| *name == own.metric)
    {
        return match own.aggregate == *aggregate && own.tags.is_empty() {
            true => Ok((*measure).to_owned()),
            false => Err(format!(
                "squall has it for the whole run: ask for its `{}`, without tags",
                if *aggregate == Aggregate::Count { "count" } else { "value" }
            )),
        };
    }
    let mut subject = own.metric.clone();
    for (tag, value) in &own.tags {
        let key = match tag.as_str() {
            "scenario" => tag.clone(),
            _ => format!("tag.{tag}"),
        };
        if !tag.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
            return Err(format!(
                "tag `{tag}`: expected a name of letters, digits, `_`, `-` and `.`"
            ));
        }
        let quote = if value.contains('"') { '\'' } else { '"' };
        if value.contains(quote) || (value.is_empty() && tag == "scenario") {
            return Err(format!("tag `{tag}`: expected a value that has not both kinds of quotes"));
        }
        subject.push_str(&format!(", {key}: {quote}{value}{quote}"));
    }
    let word = match own.aggregate {
        Aggregate::Average => "mean".to_owned(),
        Aggregate::Minimum => "min".to_owned(),
        Aggregate::Maximum => "max".to_owned(),
        Aggregate::Median => "p50".to_owned(),
        Aggregate::Percentile(0.0) => "min".to_owned(),
        Aggregate::Percentile(percentile) => format!("p{percentile}"),
        Aggregate::Count => "count".to_owned(),
        Aggregate::Rate => "rate".to_owned(),
        Aggregate::Last => "last".to_owned(),
    };
    Ok(format!("{word}({subject})"))
}
