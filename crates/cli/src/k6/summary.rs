//! k6's summary of a finished run, made of what squall has recorded: metrics under k6's names, checks, groups, users and
//! dropped arrivals. Reads a run, and writes nothing.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use serde_json::Value;
use squall_analysis::ThresholdResult;
use squall_k6::summary::{
    BuiltIn, CheckFacts, Contains, MetricFacts, RunFacts, ScenarioFacts, Selector, SummaryData,
    SummaryOptions, ThresholdFacts, Values,
};
use squall_metrics::{MetricKey, MetricKind, MetricStats, OTHER, RowKind};
use squall_report::Run;
use squall_script::ScriptMetric;

use super::metric_kinds::of_k6;
use super::stats::Stats;

/// A part of a metric that k6 shows in any case, if it is recorded.
const ALWAYS: &str = "http_req_duration{expected_response:true}";

/// A scenario of which k6 says nothing beside the whole: it is the only one.
const DEFAULT: &str = "default";

/// What is known of a script beside its run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Script<'s> {
    /// Its thresholds: the metric with its tags, as in `http_req_duration{name:items}`, and the expression. The plan's
    /// thresholds stand for them in the same order; none: they are not to be judged.
    pub thresholds: &'s [(String, String)],
    /// The metrics that it makes.
    pub metrics: &'s [ScriptMetric],
}

/// Sums a run up as k6 does. `setup_data` is what the script's `setup` has returned.
pub fn summary(
    run: &Run,
    script: Script<'_>,
    setup_data: Value,
    options: SummaryOptions,
) -> SummaryData {
    let whole = recorded(run, script, None);
    let names = run.series.scenarios().iter().filter(|own| *own != DEFAULT);
    let by_scenario: Vec<(&String, Vec<Recorded>)> =
        names.map(|name| (name, recorded(run, script, Some(name)))).collect();
    let scenarios = by_scenario.iter().map(|(name, own)| ScenarioFacts {
        name: (*name).clone(),
        metrics: own.iter().map(Recorded::facts).collect(),
        checks: checks(run, Some(name)),
        groups: groups(run, Some(name)),
    });
    let counted = counted(run);
    let is_counted = |own: &MetricFacts<'_>| counted.iter().any(|known| known.name == own.name);
    let mut metrics: Vec<MetricFacts<'_>> = whole.iter().map(Recorded::facts).collect();
    metrics.retain(|own| !is_counted(own));
    metrics.extend(counted);
    let facts = RunFacts {
        seconds: run.elapsed_s,
        metrics,
        scenarios: scenarios.collect(),
        thresholds: thresholds(run, script),
        checks: checks(run, None),
        groups: groups(run, None),
        setup_data,
        is_terminal: [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()],
    };
    SummaryData::of(&facts, options)
}

/// A metric that was recorded, or those of its values that have some tags.
#[derive(Debug)]
struct Recorded {
    /// With tags as k6 writes them.
    name: String,
    kind: MetricKind,
    contains: Contains,
    stats: Stats,
}

impl Recorded {
    /// One of which nothing is recorded yet; `None`: nobody knows what it is.
    fn new(name: &str, kind: Option<MetricKind>, script: Script<'_>) -> Option<Recorded> {
        let base = Selector::of(name).name;
        let of_script = script.metrics.iter().find(|own| own.name == base);
        let built_in = BuiltIn::of(base);
        let known = built_in.map(|own| own.kind).or(of_script.map(|own| own.kind));
        let is_time = of_script.is_some_and(|own| own.is_time);
        let contains = if is_time { Contains::Time } else { Contains::Default };
        Some(Recorded {
            name: name.to_owned(),
            kind: kind.or(known.map(of_k6))?,
            contains: built_in.map_or(contains, |own| own.contains),
            stats: Stats::default(),
        })
    }

    fn facts(&self) -> MetricFacts<'_> {
        let values = match self.kind {
            MetricKind::Counter => Values::Counter(self.stats.sum()),
            MetricKind::Gauge => {
                let gauge = self.stats.gauge().map(|own| (own.last, own.min, own.max));
                let (last, min, max) = gauge.unwrap_or_default();
                Values::Gauge { last, min, max }
            }
            MetricKind::Rate => Values::Rate { trues: self.stats.trues, count: self.stats.count },
            MetricKind::Trend => Values::Trend(&self.stats),
        };
        MetricFacts { name: self.name.clone(), contains: self.contains, values }
    }
}

/// What the plan has recorded of a scenario, or of all, each metric with all its tags together, and the parts that thresholds
/// are about. Of all scenarios the metrics of thresholds are there also if nothing was recorded.
fn recorded(run: &Run, script: Script<'_>, scenario: Option<&str>) -> Vec<Recorded> {
    let of_thresholds = script.thresholds.iter().map(|(metric, _)| metric.as_str());
    let parts: Vec<&str> =
        of_thresholds.clone().filter(|name| name.contains('{')).chain([ALWAYS]).collect();
    let mut all: BTreeMap<String, Recorded> = BTreeMap::new();
    let mut note = |name: &str, kind, stats: &MetricStats| {
        if !all.contains_key(name) {
            all.extend(Recorded::new(name, kind, script).map(|own| (name.to_owned(), own)));
        }
        if let Some(own) = all.get_mut(name) {
            own.stats.merge(stats);
        }
    };
    for (key, stats) in run.totals.metrics() {
        let is_meant = scenario.is_none_or(|own| own == key.scenario);
        if !is_meant || key.is_of_monitor() || key.name == OTHER {
            continue;
        }
        note(&key.name, Some(key.kind), stats);
        for part in parts.iter().filter(|part| is_in(key, &Selector::of(part))) {
            note(part, Some(key.kind), stats);
        }
    }
    if scenario.is_none() {
        of_thresholds.for_each(|name| note(name, None, &MetricStats::default()));
        all.extend(expected(&all).map(|own| (own.name.clone(), own)));
    }
    all.into_values().collect()
}

/// The part that is shown in any case, where its tag is not recorded: while no request has failed it is all there is.
fn expected(all: &BTreeMap<String, Recorded>) -> Option<Recorded> {
    let of_all = all.get(Selector::of(ALWAYS).name).filter(|_| !all.contains_key(ALWAYS))?;
    let has_failed = all.get("http_req_failed").is_none_or(|own| own.stats.trues > 0);
    (!has_failed).then(|| Recorded {
        name: ALWAYS.to_owned(),
        kind: of_all.kind,
        contains: of_all.contains,
        stats: of_all.stats.clone(),
    })
}

/// Whether values are a part of a metric.
fn is_in(key: &MetricKey, part: &Selector<'_>) -> bool {
    let has = |(tag, value): &(&str, &str)| match *tag {
        "scenario" => key.scenario == *value,
        _ => key.tags.iter().any(|(own, is)| own == tag && is == value),
    };
    key.name == part.name && part.tags.iter().all(has)
}

/// What squall counts itself: users, and arrivals that were dropped, if any were.
fn counted(run: &Run) -> Vec<MetricFacts<'static>> {
    let users = || run.series.rows().iter().map(|row| row.users);
    let planned = run.series.rows().iter().map(|row| row.planned_users);
    let gauge = |name: &str, last: f64, min: f64, max: f64| MetricFacts {
        name: name.to_owned(),
        contains: Contains::Default,
        values: Values::Gauge { last, min, max },
    };
    let [last, min, max] = [users().next_back(), users().min(), users().max()]
        .map(|number| number.unwrap_or(0) as f64);
    let most = planned.fold(max, f64::max).ceil();
    let mut all = vec![gauge("vus", last, min, max), gauge("vus_max", most, most, most)];
    let dropped = run.totals.counters().arrivals_dropped;
    all.extend((dropped > 0).then(|| MetricFacts {
        name: "dropped_iterations".to_owned(),
        contains: Contains::Default,
        values: Values::Counter(dropped as f64),
    }));
    all
}

fn thresholds(run: &Run, script: Script<'_>) -> Vec<ThresholdFacts> {
    let judged = script.thresholds.iter().zip(&run.threshold_results);
    let facts = judged.map(|((metric, expression), result)| ThresholdFacts {
        metric: metric.clone(),
        expression: expression.clone(),
        is_met: is_met(result),
    });
    facts.collect()
}

/// Whether a threshold is met: as in k6, what was never recorded is 0.
fn is_met(result: &ThresholdResult) -> bool {
    let limit = result.limit;
    match (result.value, result.op.as_str()) {
        (Some(_), _) => result.passed,
        (None, "<") => 0.0 < limit,
        (None, "<=") => 0.0 <= limit,
        (None, ">") => 0.0 > limit,
        (None, ">=") => 0.0 >= limit,
        (None, "==") => limit == 0.0,
        (None, _) => limit != 0.0,
    }
}

/// The checks of a scenario, or of all.
fn checks(run: &Run, scenario: Option<&str>) -> Vec<CheckFacts> {
    let all = run.totals.checks();
    let all = all.filter(|(key, _)| scenario.is_none_or(|own| own == key.place.scenario));
    let facts = all.map(|(key, counts)| CheckFacts {
        group: key.place.group.clone(),
        name: key.name.clone(),
        passes: counts.passed,
        fails: counts.failed.saturating_add(counts.warned),
    });
    facts.collect()
}

/// The groups that users of a scenario went through, or of all, each with those around it.
fn groups(run: &Run, scenario: Option<&str>) -> Vec<Vec<String>> {
    let all = run.totals.of_kind(RowKind::Group).map(|(key, _)| key);
    let all = all.filter(|key| key.name != OTHER);
    let all = all.filter(|key| scenario.is_none_or(|own| own == key.place.scenario));
    all.map(|key| key.place.group.iter().chain([&key.name]).cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use squall_runner::{Handle, Options};

    use super::*;

    /// A plan that records what users of a script would: three iterations, with one request that is slow and one that fails.
    const PLAN: &str = r#"
scenarios:
  buyers:
    load: {users: 1, iterations: 3}
    steps:
      - metric: {name: http_reqs, kind: counter, tags: {name: items}}
      - metric: {name: http_req_duration, kind: trend, value: 10 + iteration * 20, tags: {name: items, expected_response: "true"}}
      - metric: {name: http_req_duration, kind: trend, value: "1000", tags: {name: pay, expected_response: "false"}}
      - metric: {name: http_req_failed, kind: rate, value: iteration == 1}
      - metric: {name: iterations, kind: counter}
      - metric: {name: data_sent, kind: counter, value: "1500"}
      - metric: {name: render, kind: trend, value: "2.5"}
      - metric: {name: stock, kind: gauge, value: 7 - iteration}
      - group: shop
        steps:
          - {look: "a", check: iteration < 2}
  guests:
    load: {users: 1, iterations: 1}
    steps:
      - metric: {name: http_reqs, kind: counter, value: "4"}
thresholds:
  - p95(http_req_duration) < 2000
  - "mean(http_req_duration{expected_response=true,name=items}) < 20"
  - rate(http_req_failed) < 0.5
"#;

    fn finished(plan: &str) -> std::sync::Arc<Run> {
        let loaded = squall_runner::load_str("plan.yaml", plan).expect("a plan");
        let options = Options { workers: Some(1), ..Options::default() };
        let done = squall_runner::run(&loaded, &options, Vec::new(), &Handle::default());
        done.expect("a run").run
    }

    fn owned(texts: &[(&str, &str)]) -> Vec<(String, String)> {
        texts.iter().map(|(metric, own)| ((*metric).to_owned(), (*own).to_owned())).collect()
    }

    #[test]
    fn a_run_is_summed_up_as_k6_would() {
        let run = finished(PLAN);
        let thresholds = owned(&[
            ("http_req_duration", "p(95)<2000"),
            ("http_req_duration{name:items}", "avg<20"),
            ("http_req_failed", "rate<0.5"),
        ]);
        let metrics = [ScriptMetric {
            kind: squall_script::MetricKind::Trend,
            name: "render".to_owned(),
            is_time: true,
        }];
        let script = Script { thresholds: &thresholds, metrics: &metrics };
        let data = summary(&run, script, Value::from(1), SummaryOptions::default());
        let value = |name: &str, number: &str| data.metric(name).and_then(|own| own.value(number));
        assert_eq!(value("http_reqs", "count"), Some(7.0));
        assert_eq!(value("http_req_duration", "max"), Some(1_000.0));
        assert_eq!(value("http_req_duration{name:items}", "avg"), Some(30.0));
        assert_eq!(value(ALWAYS, "max"), Some(50.0));
        assert_eq!(value("http_req_failed", "passes"), Some(1.0));
        assert_eq!(value("http_req_failed", "fails"), Some(2.0));
        assert_eq!(value("stock", "value"), Some(5.0));
        assert_eq!(value("stock", "max"), Some(7.0));
        assert_eq!(value("vus_max", "value"), Some(2.0));
        assert_eq!(data.metric("render").map(|own| own.contains), Some(Contains::Time));
        assert_eq!(data.metric("dropped_iterations"), None);
        assert_eq!(data.crossed().collect::<Vec<_>>(), ["http_req_duration{name:items}"]);
        assert_eq!((data.setup_data, data.state.duration_ms > 0.0), (Value::from(1), true));
        let shop = &data.root_group.groups[0];
        let checks: Vec<_> =
            shop.checks.iter().map(|own| (&*own.path, own.passes, own.fails)).collect();
        assert_eq!(checks, [("::shop::iteration < 2", 2, 1)]);
        let guests = data.scenarios.iter().find(|own| own.name == "guests").expect("guests");
        let reqs = guests.metrics.iter().find(|own| own.name == "http_reqs").expect("requests");
        assert_eq!((reqs.value("count"), guests.metrics.len()), (Some(4.0), 1));
        let groups = data.scenarios.iter().map(|own| (&*own.name, own.root_group.groups.len()));
        assert_eq!(groups.collect::<Vec<_>>(), [("buyers", 1), ("guests", 0)]);
    }

    #[test]
    fn metrics_of_thresholds_are_there_without_values() {
        let run = Run::default();
        let thresholds = owned(&[
            ("http_req_duration{name:x}", "p(95)<1"),
            ("checks", "rate>0.5"),
            ("unknown", "count>1"),
        ]);
        let script = Script { thresholds: &thresholds, metrics: &[] };
        let data = summary(&run, script, Value::Null, SummaryOptions::default());
        let names: Vec<&str> = data.metrics.iter().map(|own| &*own.name).collect();
        assert_eq!(names, ["checks", "http_req_duration{name:x}", "vus", "vus_max"]);
        assert!(data.metrics.iter().flat_map(|own| &own.values).all(|(_, value)| *value == 0.0));
    }

    #[test]
    fn arrivals_that_found_no_user_are_dropped_iterations() {
        let plan = "{scenarios: {a: {load: {rate: 200/s, max_users: 1, for: 200ms}, steps: [{think: 1s}]}}, \
            thresholds: [arrivals_dropped < 1]}";
        let run = finished(plan);
        let thresholds = owned(&[("dropped_iterations", "count<1")]);
        let script = Script { thresholds: &thresholds, metrics: &[] };
        let data = summary(&run, script, Value::Null, SummaryOptions::default());
        let dropped = data.metric("dropped_iterations").expect("it is there");
        let expected = run.totals.counters().arrivals_dropped as f64;
        assert!(expected > 0.0 && dropped.value("count") == Some(expected), "{dropped:?}");
        assert!(!dropped.thresholds[0].is_met);
    }

    #[test]
    fn without_failures_all_responses_were_expected() {
        let plan = |failed| {
            format!(
                "{{scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [\
                 {{metric: {{name: http_req_duration, kind: trend, value: 5}}}}, \
                 {{metric: {{name: http_req_failed, kind: rate, value: {failed}}}}}]}}}}}}"
            )
        };
        for (failed, expected) in [("false", Some(5.0)), ("true", None)] {
            let run = finished(&plan(failed));
            let data = summary(&run, Script::default(), Value::Null, SummaryOptions::default());
            let shown = data.metric(ALWAYS).and_then(|own| own.value("max"));
            assert_eq!(shown, expected, "{failed}");
        }
    }

    #[test]
    fn tags_say_which_values_are_meant() {
        let key = |scenario| {
            let tags = vec![("group".to_owned(), "::a".to_owned())];
            MetricKey::new(MetricKind::Rate, scenario, "checks", tags)
        };
        for (selector, expected) in [
            ("checks{group:::a}", true),
            ("checks{group:::a,scenario:s}", true),
            ("checks{scenario:t}", false),
            ("checks{group:::b}", false),
            ("http_reqs{group:::a}", false),
        ] {
            assert_eq!(is_in(&key("s"), &Selector::of(selector)), expected, "{selector}");
        }
    }
}
