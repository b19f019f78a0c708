//! Whether thresholds are about anything that a plan has: what nothing has is an error, since no run could meet
//! them. Names are looked at where all are known before the run.

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
    let known = programs.iter().all(|program| program.names_are_known());
    let scenarios: Vec<&str> =
        programs.iter().flat_map(|program| &program.scenarios).map(|own| &*own.name).collect();
    let mut found = Vec::new();
    for own in judged {
        let tags = own.selector.tags.iter();
        let of_tags = tags.filter_map(|(tag, value)| unknown_tag(tag, value, &rows, &metrics));
        let wrong = unknown_scenario(own.selector, &scenarios).into_iter().chain(of_tags);
        let wrong = wrong.chain(without_phases(own, &rows, &metrics));
        let mut wrong = wrong.chain(unknown_row(own.selector, &rows, &metrics).filter(|_| known));
        let wrong = wrong.next();
        found.extend(wrong.map(|(text, help)| Diagnostic::error(own.span, text).with_help(&help)));
    }
    found
}

/// What is wrong with a scenario, and what helps.
fn unknown_scenario(selector: &Selector, known: &[&str]) -> Option<(String, String)> {
    let own = selector.scenario.as_deref().filter(|own| !known.contains(own))?;
    let help = match nearest(own, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the scenarios of this plan are {}", known.join(", ")),
    };
    Some((format!("no scenario is named `{own}`"), help))
}

/// What is wrong with a selector that no row matches, given all rows that there can be.
fn unknown_row(
    selector: &Selector,
    rows: &[RowKey],
    metrics: &[Recorded<'_>],
) -> Option<(String, String)> {
    let is_asked = |key: &RowKey| selector.kind.is_none_or(|kind| kind == key.place.kind);
    let is_metric = |name: &str| metrics.iter().any(|metric| metric.name == name);
    // With tags a metric is `name{key=value}`.
    let name = selector.name.as_deref();
    let of_metric = name.is_some_and(|name| is_metric(name.split('{').next().unwrap_or(name)));
    let is_there = rows.iter().any(|key| is_asked(key) && selector.matches(key));
    // What pages load is named while the run goes on.
    if of_metric || is_there || selector.kind == Some(RowKind::Resource) {
        return None;
    }
    let Some(name) = name.filter(|name| rows.iter().all(|key| key.name != *name)) else {
        let text = "nothing in this plan is what this threshold is about".to_owned();
        return Some((text, "its kind, scenario, group and tags have to fit together".to_owned()));
    };
    let named = rows.iter();
    let named = named.filter(|key| !matches!(key.place.kind, RowKind::Check | RowKind::Iteration));
    let mut named: Vec<&str> = named.map(|key| key.name.as_str()).collect();
    named.sort_unstable();
    named.dedup();
    let help = match nearest(name, named.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the names of this plan are {}", named.join(", ")),
    };
    Some((format!("no request or group is named `{name}`"), help))
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
    /// Whether the names of all requests and programs are known before the run.
    fn names_are_known(&self) -> bool {
        let known = |op: &Op| match op {
            Op::Request(request) => request.name.known().is_some(),
            Op::Tcp(tcp) => tcp.name.known().is_some(),
            Op::Exec(exec) => exec.name.known().is_some(),
            _ => true,
        };
        self.scenarios.iter().flat_map(|scenario| &scenario.ops).all(known)
    }

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
