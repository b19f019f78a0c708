//! Whether thresholds are about anything that a plan has: what nothing has is an error, since no run could meet
//! them. Names are looked at where all are known before the run.

use std::collections::{BTreeSet, HashMap, HashSet};

use squall_metrics::{Names, RowKey, RowKind, Selector};
use squall_plan::diagnostic::{Diagnostic, nearest};
use squall_plan::span::Span;

use super::compiled::{Program, Scenario};
use super::op::{DataOp, MetricOp, Op, Operation, ScriptMetricOp, on_op};
use crate::profile::LoadProfile;

/// Errors that come with the name that was most likely meant: to find it takes a look at all.
const MAX_HINTS: usize = 20;
/// Most names that a hint lists.
const MAX_LISTED: usize = 20;

/// What a threshold is about, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'t> {
    /// Its rows, or its metric.
    pub selector: &'t Selector,
    /// The phase of them; `None`: it asks for none.
    pub phase: Option<&'static str>,
    /// Whether it asks for corrected latencies.
    pub is_corrected: bool,
    /// Whether only a metric can have its limit.
    pub is_of_metric: bool,
    /// The place of the threshold.
    pub span: Span,
}

/// What thresholds can be about in one section of a plan.
#[derive(Debug, Default)]
pub struct Subjects {
    rows: Vec<RowKey>,
    metrics: Vec<Recorded>,
    scenarios: Vec<String>,
    /// The scenarios whose requests are due at times of a schedule: those of an arrival rate or with a pacing.
    scheduled: Vec<String>,
    /// Whether the names of all requests and programs are known before the run.
    are_names_known: bool,
    /// Tags of which a value is not known, since it has an error.
    lost_tags: HashSet<String>,
}

/// A metric that a plan records: its name, its scenario, and its tags; `None`: a value that only the run knows.
#[derive(Debug)]
pub(super) struct Recorded {
    pub name: String,
    pub scenario: String,
    tags: Vec<(String, Option<String>)>,
}

impl Subjects {
    /// Those of a section without steps.
    pub(super) fn none() -> Subjects {
        Subjects { are_names_known: true, ..Subjects::default() }
    }

    /// The names that were given, and the scenarios and loads that were compiled.
    pub(super) fn of(names: &Names, scenarios: &[Scenario], loads: &[LoadProfile]) -> Subjects {
        let is_known = |op: &Op| on_op!(op, own => own.is_name_known());
        let ops = || scenarios.iter().flat_map(|scenario| &scenario.ops);
        let scheduled = loads.iter().filter(|load| load.has_schedule());
        let scheduled = scheduled.flat_map(|load| &load.members);
        Subjects {
            rows: names.keys().collect(),
            metrics: ops().flat_map(recorded).collect(),
            scenarios: scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
            scheduled: scheduled.map(|own| scenarios[own.scenario].name.clone()).collect(),
            are_names_known: ops().all(is_known),
            lost_tags: HashSet::new(),
        }
    }

    /// The names of the metrics that are recorded.
    pub fn metric_names(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|metric| metric.name.as_str())
    }

    /// The same, with tags of which a value is not known.
    pub(super) fn without_tags(self, lost_tags: HashSet<String>) -> Subjects {
        Subjects { lost_tags, ..self }
    }
}

/// The metrics that an operation records.
pub(super) fn recorded(op: &Op) -> Vec<Recorded> {
    match op {
        Op::Data(DataOp::Metric(metric)) => vec![recorded_by_step(metric)],
        Op::Script(script) => {
            let of_script = |own: &ScriptMetricOp| Recorded {
                name: own.name.to_string(),
                scenario: script.place.scenario.clone(),
                tags: own.tags.iter().map(|tag| (tag.clone(), None)).collect(),
            };
            script.metrics.iter().map(of_script).collect()
        }
        _ => Vec::new(),
    }
}

fn recorded_by_step(metric: &MetricOp) -> Recorded {
    let known = metric.key.tags.iter();
    let known = known.map(|(tag, value)| (tag.clone(), Some(value.clone())));
    let own = metric.tags.iter().map(|(tag, value)| (tag.to_string(), value.constant()));
    Recorded {
        name: metric.key.name.clone(),
        scenario: metric.key.scenario.clone(),
        tags: known.chain(own).collect(),
    }
}

impl Recorded {
    /// Whether a selector that has its name means it: rows have kinds and groups, metrics have none.
    pub(super) fn is_meant(&self, selector: &Selector) -> bool {
        selector.kind.is_none()
            && selector.group.is_none()
            && selector.scenario.as_ref().is_none_or(|own| *own == self.scenario)
    }
}

impl Program {
    /// What thresholds can be about.
    pub fn subjects(&self) -> Subjects {
        match self.is_empty() {
            true => Subjects::none(),
            false => Subjects::of(&self.names, &self.scenarios, &self.loads),
        }
    }
}

/// What is wrong with what thresholds are about, given what there is in setup, load and teardown.
pub fn misjudged(subjects: &[&Subjects], judged: &[Judged<'_>]) -> Vec<Diagnostic> {
    let mut known = Known::of(subjects);
    let mut found = Vec::new();
    let is_lost =
        |(tag, _): &(String, String)| subjects.iter().any(|own| own.lost_tags.contains(tag));
    for own in judged.iter().filter(|own| !own.selector.tags.iter().any(is_lost)) {
        let tags = own.selector.tags.iter();
        let wrong = known
            .unknown_scenario(own.selector)
            .or_else(|| tags.clone().find_map(|(tag, value)| known.unknown_tag(tag, value)))
            .or_else(|| known.without_phases(own))
            .or_else(|| known.unknown_row(own))
            .or_else(|| known.without_schedule(own));
        found.extend(wrong.map(|(text, help)| Diagnostic::error(own.span, text).with_help(&help)));
    }
    found
}

/// All that thresholds can be about, by what they ask for: there may be many of both.
#[derive(Default)]
struct Known<'s> {
    rows: Vec<&'s RowKey>,
    by_name: HashMap<&'s str, Vec<&'s RowKey>>,
    by_scenario: HashMap<&'s str, Vec<&'s RowKey>>,
    by_group: HashMap<&'s str, Vec<&'s RowKey>>,
    by_kind: HashMap<RowKind, Vec<&'s RowKey>>,
    by_tag: HashMap<&'s str, HashMap<&'s str, Vec<&'s RowKey>>>,
    metrics: HashMap<&'s str, Vec<&'s Recorded>>,
    /// The values of each tag.
    tags: HashMap<&'s str, BTreeSet<Option<&'s str>>>,
    scenarios: BTreeSet<&'s str>,
    scheduled: BTreeSet<&'s str>,
    are_names_known: bool,
    /// How many hints were looked for.
    hints: usize,
}

impl<'s> Known<'s> {
    fn of(subjects: &[&'s Subjects]) -> Known<'s> {
        let scenarios = subjects.iter().flat_map(|own| &own.scenarios).map(String::as_str);
        let scheduled = subjects.iter().flat_map(|own| &own.scheduled).map(String::as_str);
        let mut known = Known {
            scenarios: scenarios.collect(),
            scheduled: scheduled.collect(),
            are_names_known: subjects.iter().all(|own| own.are_names_known),
            ..Known::default()
        };
        for row in subjects.iter().flat_map(|own| &own.rows) {
            known.rows.push(row);
            known.by_name.entry(&row.name).or_default().push(row);
            known.by_scenario.entry(&row.place.scenario).or_default().push(row);
            known.by_kind.entry(row.place.kind).or_default().push(row);
            for group in &row.place.group {
                known.by_group.entry(group).or_default().push(row);
            }
            for (tag, value) in &row.place.tags {
                known.by_tag.entry(tag).or_default().entry(value).or_default().push(row);
                known.tags.entry(tag).or_default().insert(Some(value));
            }
        }
        for metric in subjects.iter().flat_map(|own| &own.metrics) {
            known.metrics.entry(&metric.name).or_default().push(metric);
            for (tag, value) in &metric.tags {
                known.tags.entry(tag).or_default().insert(value.as_deref());
            }
        }
        known
    }

    /// Rows among which are all that a selector means: the fewest that can be had without a search.
    fn candidates(&self, selector: &Selector) -> &[&'s RowKey] {
        let name = selector.name.as_deref().map(|name| self.by_name.get(name));
        let scenario = selector.scenario.as_deref().map(|own| self.by_scenario.get(own));
        let group = selector.group.as_deref().map(|own| self.by_group.get(own));
        let kind = selector.kind.map(|kind| self.by_kind.get(&kind));
        let tags = selector.tags.iter();
        let tags = tags.map(|(tag, value)| self.by_tag.get(tag.as_str())?.get(value.as_str()));
        let all = [name, scenario, group, kind].into_iter().flatten().chain(tags);
        let all = all.map(|found| found.map_or(&[][..], Vec::as_slice));
        all.min_by_key(|rows| rows.len()).unwrap_or(&self.rows)
    }

    /// What helps with a name that there is not: the one that was most likely meant, or else those that there are.
    fn hint(&mut self, name: &str, known: &BTreeSet<&str>, otherwise: &str) -> String {
        self.hints += 1;
        if self.hints > MAX_HINTS {
            return String::new();
        }
        match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{otherwise} are {}", listed(known)),
        }
    }

    /// What is wrong with a scenario, and what helps.
    fn unknown_scenario(&mut self, selector: &Selector) -> Option<(String, String)> {
        let own = selector.scenario.as_deref().filter(|own| !self.scenarios.contains(own))?;
        let help = self.hint(own, &self.scenarios.clone(), "the scenarios of this plan");
        Some((format!("no scenario is named `{own}`"), help))
    }

    /// What is wrong with a selector that no row matches, given all rows that there can be.
    fn unknown_row(&mut self, own: &Judged<'_>) -> Option<(String, String)> {
        let selector = own.selector;
        let is_asked = |key: &RowKey| selector.kind.is_none_or(|kind| kind == key.place.kind);
        let name = selector.name.as_deref();
        let of_metric = self.has_metric(selector);
        let mut rows = self.candidates(selector).iter();
        let is_there = rows.any(|key| is_asked(key) && selector.matches(key));
        // What pages load is named while the run goes on; iterations have a name of their own.
        let is_loaded = selector.kind == Some(RowKind::Resource);
        let is_made = !self.are_names_known && selector.kind != Some(RowKind::Iteration);
        let is_row = !own.is_of_metric && (is_there || is_loaded || is_made);
        if of_metric || is_row {
            return None;
        }
        let Some(name) = name.filter(|name| !self.by_name.contains_key(name)) else {
            let text = "nothing in this plan is what this threshold is about".to_owned();
            let help = "its kind, scenario, group and tags have to fit together";
            return Some((text, help.to_owned()));
        };
        let counts = |key: &&RowKey| !matches!(key.place.kind, RowKind::Check | RowKind::Iteration);
        let help = match self.hints < MAX_HINTS {
            true => {
                let named = self.rows.iter().copied().filter(counts);
                let named = named.map(|key| key.name.as_str()).collect();
                self.hint(name, &named, "the names of this plan")
            }
            false => String::new(),
        };
        Some((format!("no request or group is named `{name}`"), help))
    }

    /// Whether a selector may mean a metric.
    fn has_metric(&self, selector: &Selector) -> bool {
        let metrics = selector.metric().and_then(|name| self.metrics.get(name));
        metrics.is_some_and(|all| all.iter().any(|metric| metric.is_meant(selector)))
    }

    /// What is wrong with corrected latencies of what is not due at any time: there are none.
    fn without_schedule(&self, own: &Judged<'_>) -> Option<(String, String)> {
        let selector = own.selector;
        if !own.is_corrected || self.has_metric(selector) {
            return None;
        }
        let is_asked = selector.kind.is_none_or(|kind| kind == RowKind::Request);
        let is_due = |row: &&RowKey| {
            row.place.kind == RowKind::Request
                && selector.matches(row)
                && self.scheduled.contains(row.place.scenario.as_str())
        };
        let is_there = match (self.are_names_known, &selector.scenario) {
            (true, _) => self.candidates(selector).iter().any(is_due),
            (false, Some(scenario)) => self.scheduled.contains(scenario.as_str()),
            (false, None) => !self.scheduled.is_empty(),
        };
        let text = "nothing that this threshold is about has a corrected latency".to_owned();
        let help = "it counts from when a request was due, which only requests of a load with a `rate` or a `pacing` \
                    are: without `corrected_` it is the latency from the send";
        (!is_asked || !is_there).then(|| (text, help.to_owned()))
    }

    /// What is wrong with a tag and its value, and what helps.
    fn unknown_tag(&mut self, tag: &str, value: &str) -> Option<(String, String)> {
        let Some(values) = self.tags.get(tag) else {
            self.hints += 1;
            let near = (self.hints <= MAX_HINTS).then(|| nearest(tag, self.tags.keys().copied()));
            let help = match near.flatten() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("a name with a colon stands in quotes: p99(\"{tag}: {value}\")"),
            };
            return Some((format!("nothing in this plan has the tag `{tag}`"), help));
        };
        if values.contains(&None) || values.contains(&Some(value)) {
            return None;
        }
        let text = format!("nothing in this plan has the tag `{tag}` with the value `{value}`");
        let values = values.iter().copied().flatten().collect();
        Some((text, format!("its values are {}", listed(&values))))
    }

    /// What is wrong with a phase: only requests have them.
    fn without_phases(&self, own: &Judged<'_>) -> Option<(String, String)> {
        let (phase, selector) = (own.phase?, own.selector);
        let rows = self.candidates(selector).iter().copied();
        let label = match selector.kinds(rows).first() {
            Some(RowKind::Request | RowKind::Resource) => return None,
            Some(kind) => kind.label(),
            None => self.has_metric(selector).then_some("metric")?,
        };
        let text = format!("{label}s have no phase `{phase}`: only requests have phases");
        let help = "leave `phase` out, or name a request: p99(login, phase: first_byte)";
        Some((text, help.to_owned()))
    }
}

/// Names, or as many of them as a hint has room for.
fn listed(names: &BTreeSet<&str>) -> String {
    let shown: Vec<&str> = names.iter().copied().take(MAX_LISTED).collect();
    match names.len().saturating_sub(MAX_LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(names: impl Iterator<Item = String>) -> Subjects {
        Subjects {
            rows: names.map(|name| RowKey::new(RowKind::Request, "a", &name)).collect(),
            scenarios: vec!["a".to_owned()],
            ..Subjects::none()
        }
    }

    fn judged(selector: &Selector) -> Judged<'_> {
        let span = Span::default();
        Judged { selector, phase: None, is_corrected: false, is_of_metric: false, span }
    }

    /// As many of both as there can be: no time is asked for, but a look at all rows for each would take hours.
    #[test]
    fn many_names_and_many_thresholds_are_judged_soon() {
        let subjects = subjects((0..100_000).map(|n| format!("n{n}")));
        let named = |prefix: &str| -> Vec<Selector> {
            let name = |n: usize| Some(format!("{prefix}{n}"));
            (0..100_000).map(|n| Selector { name: name(n), ..Selector::default() }).collect()
        };
        let (known, unknown) = (named("n"), named("unknown"));
        let known: Vec<Judged<'_>> = known.iter().map(judged).collect();
        assert!(misjudged(&[&subjects], &known).is_empty());
        let unknown: Vec<Judged<'_>> = unknown.iter().map(judged).collect();
        let errors = misjudged(&[&subjects], &unknown);
        assert_eq!(errors.len(), 100_000);
        assert_eq!(errors.iter().filter(|error| error.help.is_some()).count(), MAX_HINTS);
    }

    #[test]
    fn candidates_are_the_fewest_that_can_be_meant() {
        let subjects = subjects((0..100).map(|n| format!("n{n}")));
        let known = Known::of(&[&subjects]);
        let of = |selector: &Selector| known.candidates(selector).len();
        let named = Selector { name: Some("n5".to_owned()), ..Selector::default() };
        let of_scenario = Selector { scenario: Some("a".to_owned()), ..named.clone() };
        let of_kind = Selector { kind: Some(RowKind::Group), ..named.clone() };
        assert_eq!((of(&named), of(&of_scenario), of(&of_kind)), (1, 1, 0));
        assert_eq!(of(&Selector::default()), 100);
    }

    #[test]
    fn a_tag_whose_value_has_an_error_is_not_judged() {
        let mut subjects = subjects(["login".to_owned()].into_iter());
        let tags = vec![("team".to_owned(), "a".to_owned())];
        let selector = Selector { tags, ..Selector::default() };
        assert_eq!(misjudged(&[&subjects], &[judged(&selector)]).len(), 1);
        subjects.lost_tags.insert("team".to_owned());
        assert!(misjudged(&[&subjects], &[judged(&selector)]).is_empty());
    }

    #[test]
    fn a_hint_lists_some_names() {
        let subjects = subjects((0..100).map(|n| format!("name {n:03}")));
        let selector = Selector { name: Some("login".to_owned()), ..Selector::default() };
        let errors = misjudged(&[&subjects], &[judged(&selector)]);
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert!(help.starts_with("the names of this plan are name 000, name 001, "), "{help}");
        assert!(help.ends_with("name 019 and 80 more"), "{help}");
    }
}
