//! Whether thresholds are about anything that a plan has: tags and phases that nothing has are errors, since no
//! run could meet them. Names that nothing has are warnings only ([`super::advise`]), as more may be made while
//! the run goes on.

use squall_metrics::{RowKey, RowKind, Selector};
use squall_plan::diagnostic::{Diagnostic, nearest};
use squall_plan::span::Span;

use super::{Op, Program};

/// What a threshold is about, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'t> {
    /// Its rows, or its metric.
    pub selector: &'t Selector,
    /// The phase of them; `None`: it asks for none.
    pub phase: Option<&'static str>,
    /// The place of the threshold.
    pub span: Span,
}

/// A metric that a plan records: its name, its scenario, and its tags; `None`: a value that only the run knows.
struct Recorded<'p> {
    name: &'p str,
    scenario: &'p str,
    tags: Vec<(&'p str, Option<String>)>,
}

/// What is wrong with what thresholds are about, given the programs of setup, load and teardown.
pub fn misjudged(programs: &[&Program], judged: &[Judged<'_>]) -> Vec<Diagnostic> {
    let rows: Vec<RowKey> = programs.iter().flat_map(|program| program.names.keys()).collect();
    let metrics: Vec<Recorded<'_>> =
        programs.iter().flat_map(|program| program.metrics()).collect();
    let mut found = Vec::new();
    for own in judged {
        let tags = own.selector.tags.iter();
        let of_tags = tags.filter_map(|(tag, value)| unknown_tag(tag, value, &rows, &metrics));
        let wrong = of_tags.chain(without_phases(own, &rows, &metrics)).next();
        found.extend(wrong.map(|(text, help)| Diagnostic::error(own.span, text).with_help(&help)));
    }
    found
}

/// What is wrong with a tag and its value, and what helps.
fn unknown_tag(
    tag: &str,
    value: &str,
    rows: &[RowKey],
    metrics: &[Recorded<'_>],
) -> Option<(String, String)> {
    let of_rows = rows.iter().flat_map(|key| &key.place.tags);
    let of_rows = of_rows.map(|(name, value)| (name.as_str(), Some(value.as_str())));
    let of_metrics = metrics.iter().flat_map(|metric| &metric.tags);
    let of_metrics = of_metrics.map(|(name, value)| (*name, value.as_deref()));
    let known: Vec<(&str, Option<&str>)> = of_rows.chain(of_metrics).collect();
    let mut values: Vec<Option<&str>> =
        known.iter().filter(|(name, _)| *name == tag).map(|(_, value)| *value).collect();
    if values.is_empty() {
        let help = match nearest(tag, known.iter().map(|(name, _)| *name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a name with a colon stands in quotes: p99(\"{tag}: {value}\")"),
        };
        return Some((format!("nothing in this plan has the tag `{tag}`"), help));
    }
    if values.contains(&None) || values.contains(&Some(value)) {
        return None;
    }
    values.sort_unstable();
    values.dedup();
    let values: Vec<&str> = values.into_iter().flatten().take(20).collect();
    let text = format!("nothing in this plan has the tag `{tag}` with the value `{value}`");
    Some((text, format!("its values are {}", values.join(", "))))
}

/// What is wrong with a phase: only requests have them.
fn without_phases(
    own: &Judged<'_>,
    rows: &[RowKey],
    metrics: &[Recorded<'_>],
) -> Option<(String, String)> {
    let (phase, selector) = (own.phase?, own.selector);
    let kind = selector.kinds(rows.iter()).first().map(|kind| (*kind, kind.label()));
    let label = match kind {
        Some((RowKind::Request | RowKind::Resource, _)) => return None,
        Some((_, label)) => label,
        None => {
            let is_meant = |metric: &&Recorded<'_>| {
                selector.name.as_deref() == Some(metric.name)
                    && selector.scenario.as_ref().is_none_or(|own| own == metric.scenario)
            };
            metrics.iter().find(is_meant).map(|_| "metric")?
        }
    };
    let text = format!("{label}s have no phase `{phase}`: only requests have phases");
    Some((text, "leave `phase` out, or name a request: p99(login, phase: first_byte)".to_owned()))
}

impl Program {
    /// The metrics that it records.
    fn metrics(&self) -> impl Iterator<Item = Recorded<'_>> {
        let ops = self.scenarios.iter().flat_map(|scenario| &scenario.ops);
        ops.filter_map(|op| match op {
            Op::Metric(metric) => {
                let known = metric.key.tags.iter();
                let known = known.map(|(tag, value)| (tag.as_str(), Some(value.clone())));
                let own = metric.tags.iter().map(|(tag, value)| (&**tag, value.constant()));
                Some(Recorded {
                    name: &metric.key.name,
                    scenario: &metric.key.scenario,
                    tags: known.chain(own).collect(),
                })
            }
            _ => None,
        })
    }
}
