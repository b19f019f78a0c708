//! What a plan must have beyond its form. What other crates know better (patterns, names in
//! expressions, thresholds) is found when it is compiled.

use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::expr::Pattern;
use crate::feed_target::{FeedKind, FeedTarget, TAGS_TAKEN, TAGS_TAKEN_BY_JMETER};
use crate::model::{Bandwidth, ConnectionReuse, FeedLayout, Load, Plan, PlanFeed, SampleForm};
use crate::monitors;
use crate::span::Spanned;

/// What is wrong with a plan that was read.
pub(crate) fn validate(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for scenario in &plan.scenarios {
        let slow = scenario.bandwidth.unwrap_or(plan.bandwidth) != Bandwidth::default();
        if slow && matches!(plan.connections.reuse, ConnectionReuse::Pool(_)) {
            let name = &scenario.name.value;
            let message = format!(
                "scenario `{name}` has a bandwidth, but its users share a pool of connections"
            );
            let help = "leave out `connections.reuse: pool` or the `bandwidth`";
            found.push(Diagnostic::error(scenario.span, message).with_help(help));
        }
    }
    let own = plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref());
    for load in own.chain(plan.load.as_ref()) {
        let (level, stages, what) = match &load.value {
            Load::Closed(own) => (own.users.map(|users| users as f64), &own.stages, "of 0 users"),
            Load::Open(own) => (own.rate, &own.stages, "at a rate of 0/s"),
        };
        let length = match &load.value {
            Load::Closed(own) => own.duration,
            Load::Open(own) => own.duration,
        };
        if length.is_some_and(|length| length.is_zero()) {
            let message = "a load of 0s is over before anything is done";
            let help = "write how long it lasts, such as `for: 1m`";
            found.push(Diagnostic::error(load.span, message).with_help(help));
        }
        if level == Some(0.0) && stages.iter().all(|stage| stage.level == 0.0) {
            found.push(Diagnostic::error(load.span, format!("a load {what} does nothing")));
        }
    }
    for samples in &plan.samples {
        if samples.append && matches!(samples.form, SampleForm::Csv | SampleForm::Parquet) {
            let message = "only files of the forms `jtl` and `jtl_xml` can go on";
            found.push(Diagnostic::error(samples.file.span, message));
        }
        found.extend(unknown_scenarios(plan, &samples.scenarios));
    }
    for (number, feed) in plan.feeds.iter().enumerate() {
        found.extend(problems_of_feed(plan, feed));
        found.extend(file_taken(&plan.feeds[..number], feed));
    }
    found.extend(monitors::problems(plan));
    found
}

/// Names of scenarios that there are not.
fn unknown_scenarios(plan: &Plan, names: &[Spanned<String>]) -> Vec<Diagnostic> {
    let is_there = |name: &str| plan.scenarios.iter().any(|own| own.name.value == name);
    let unknown = names.iter().filter(|name| !is_there(&name.value));
    let error = |name: &Spanned<String>| {
        Diagnostic::error(name.span, format!("there is no scenario `{}`", name.value))
    };
    unknown.map(error).collect()
}

/// That a feed goes into the file of one before it: each would overwrite what the other writes.
fn file_taken(before: &[PlanFeed], feed: &PlanFeed) -> Option<Diagnostic> {
    let FeedTarget { kind, to, .. } = &feed.target.value;
    let is_same =
        |other: &PlanFeed| other.target.value.kind == *kind && other.target.value.to == *to;
    let is_taken = *kind == FeedKind::JsonLines && !to.is_empty() && before.iter().any(is_same);
    is_taken
        .then(|| Diagnostic::error(feed.target.span, format!("another feed goes to `{to}`, too")))
}

/// What is wrong with a feed.
fn problems_of_feed(plan: &Plan, feed: &PlanFeed) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // One that does not say where it goes has no place, and an error of its own.
    if feed.target.span.line == 0 {
        return found;
    }
    if let Some(problem) = feed.target.value.problem() {
        found.push(Diagnostic::error(feed.target.span, problem));
    }
    let taken = match feed.layout {
        FeedLayout::Squall => &TAGS_TAKEN[..],
        FeedLayout::JmeterInfluxdb(_) | FeedLayout::JmeterGraphite(_) => &TAGS_TAKEN_BY_JMETER,
    };
    for (name, _) in feed.tags.iter().filter(|(name, _)| taken.contains(&name.value.as_str())) {
        let message = format!("the tag `{}` is one that squall gives itself", name.value);
        found.push(Diagnostic::error(name.span, message));
    }
    let Some((samples, every)) = feed.layout.jmeter() else { return found };
    found.extend(unknown_scenarios(plan, &samples.scenarios));
    if let Some(names) = &samples.names
        && let Err(error) = Pattern::compile(&names.value)
    {
        found.push(Diagnostic::error(names.span, error));
    }
    let is_one = |p: &Spanned<f64>| p.value > 0.0 && p.value <= 100.0;
    for percentile in samples.percentiles.iter().filter(|own| !is_one(own)) {
        let message =
            format!("invalid percentile `{}`: expected one above 0, up to 100", percentile.value);
        found.push(Diagnostic::error(percentile.span, message));
    }
    if let Some(every) = every.filter(|every| every.value < Duration::from_secs(1)) {
        found.push(Diagnostic::error(
            every.span,
            "points are made once a second at most: expected 1s or more",
        ));
    }
    found
}
