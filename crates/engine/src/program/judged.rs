//! Whether thresholds are about anything that a plan has: what nothing has is an error, since no run could meet
//! them. Names are looked at where all are known before the run.

use std::collections::{BTreeSet, HashMap, HashSet};

use squall_metrics::{Names, RowKey, RowKind, Selector};
use squall_plan::diagnostic::{Diagnostic, nearest};
use squall_plan::span::Span;

use super::{Op, Program, Scenario};

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
    /// The place of the threshold.
    pub span: Span,
}

/// What thresholds can be about in one section of a plan.
#[derive(Debug)]
pub struct Subjects {
    rows: Vec<RowKey>,
    metrics: Vec<Recorded>,
    scenarios: Vec<String>,
    /// Whether the names of all requests and programs are known before the run.
    are_names_known: bool,
    /// Tags of which a value is not known, since it has an error.
    lost_tags: HashSet<String>,
}

/// A metric that a plan records: its name, its scenario, and its tags; `None`: a value that only the run knows.
#[derive(Debug)]
struct Recorded {
    name: String,
    scenario: String,
    tags: Vec<(String, Option<String>)>,
}

impl Subjects {
    /// The names that were given, and the scenarios that were compiled.
    pub(super) fn of(names: &Names, scenarios: &[Scenario]) -> Subjects {
        let is_known = |op: &Op| match op {
            Op::Request(request) => request.name.known().is_some(),
            Op::Tcp(tcp) => tcp.name.known().is_some(),
            Op::Exec(exec) => exec.name.known().is_some(),
            _ => true,
        };
        let ops = || scenarios.iter().flat_map(|scenario| &scenario.ops);
        Subjects {
            rows: names.keys().collect(),
            metrics: ops().filter_map(recorded).collect(),
            scenarios: scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
            are_names_known: ops().all(is_known),
            lost_tags: HashSet::new(),
        }
    }

    /// The same, with tags of which a value is not known.
    pub(super) fn without_tags(self, lost_tags: HashSet<String>) -> Subjects {
        Subjects { lost_tags, ..self }
    }
}

/// The metric that an operation records.
fn recorded(op: &Op) -> Option<Recorded> {
    let Op::Metric(metric) = op else { return None };
    let known = metric.key.tags.iter();
    let known = known.map(|(tag, value)| (tag.clone(), Some(value.clone())));
    let own = metric.tags.iter().map(|(tag, value)| (tag.to_string(), value.constant()));
    Some(Recorded {
        name: metric.key.name.clone(),
        scenario: metric.key.scenario.clone(),
        tags: known.chain(own).collect(),
    })
}

impl Program {
    /// What thresholds can be about.
    pub fn subjects(&self) -> Subjects {
        Subjects::of(&self.names, &self.scenarios)
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
            .or_else(|| known.unknown_row(own.selector));
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
    are_names_known: bool,
    /// How many hints were looked for.
    hints: usize,
}

impl<'s> Known<'s> {
    fn of(subjects: &[&'s Subjects]) -> Known<'s> {
        let scenarios = subjects.iter().flat_map(|own| &own.scenarios).map(String::as_str);
        let mut known = Known {
            scenarios: scenarios.collect(),
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
    fn unknown_row(&mut self, selector: &Selector) -> Option<(String, String)> {
        let is_asked = |key: &RowKey| selector.kind.is_none_or(|kind| kind == key.place.kind);
        // With tags a metric is `name{key=value}`.
        let name = selector.name.as_deref();
        let metric = name.map(|name| name.split('{').next().unwrap_or(name));
        let of_metric = metric.is_some_and(|name| self.metrics.contains_key(name));
        let mut rows = self.candidates(selector).iter();
        let is_there = rows.any(|key| is_asked(key) && selector.matches(key));
        // What pages load is named while the run goes on.
        let is_loaded = selector.kind == Some(RowKind::Resource);
        if of_metric || is_there || is_loaded || !self.are_names_known {
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
            None => {
                let metrics = self.metrics.get(selector.name.as_deref()?)?;
                let is_meant = |metric: &&Recorded| {
                    selector.scenario.as_ref().is_none_or(|own| *own == metric.scenario)
                };
                metrics.iter().copied().find(is_meant).map(|_| "metric")?
            }
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
            metrics: Vec::new(),
            scenarios: vec!["a".to_owned()],
            are_names_known: true,
            lost_tags: HashSet::new(),
        }
    }

    fn judged(selector: &Selector) -> Judged<'_> {
        Judged { selector, phase: None, span: Span::default() }
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
