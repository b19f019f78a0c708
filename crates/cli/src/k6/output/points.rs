//! The points of k6's metrics that follow from what a run tells its sinks: each value that a script measures, and the users and
//! dropped arrivals of each second.

use std::borrow::Cow;
use std::collections::BTreeMap;

use squall_engine::Measured;
use squall_k6::options::SystemTags;
use squall_k6::output::{Point, PointMetric};
use squall_k6::summary::Contains;
use squall_metrics::MetricKind;
use squall_plan::secrets::Secrets;
use squall_runner::{Event, EventKind, Phase, Second, Start};
use squall_script::ScriptMetric;

use crate::k6::metric_kinds::to_k6;

/// Who is told of a point.
type Each<'e> = &'e mut dyn FnMut(&Point<'_>);

/// A tag with its value.
type Tag<'t> = (&'t str, Cow<'t, str>);

/// What outputs are told of a script.
#[derive(Debug, Clone)]
pub struct Measuring {
    /// Its thresholds: the metric with its tags, and the expression.
    pub thresholds: Vec<(String, String)>,
    /// The metrics that it makes.
    pub metrics: Vec<ScriptMetric>,
    /// The tags that k6 is asked to give.
    pub tags: SystemTags,
}

/// Makes points of a run.
#[derive(Debug)]
pub struct Points {
    /// Those that the script makes.
    metrics: Vec<ScriptMetric>,
    tags: SystemTags,
    /// When the run began, in seconds since 1970, and when each of its phases did.
    run_unix_s: f64,
    phases_unix_s: BTreeMap<Phase, f64>,
    /// The second of the load that comes next, from 0.
    next_second: u32,
}

impl Points {
    pub fn new(own: &Measuring) -> Points {
        let (metrics, tags) = (own.metrics.clone(), own.tags.clone());
        let phases_unix_s = BTreeMap::new();
        Points { metrics, tags, run_unix_s: 0.0, phases_unix_s, next_second: 0 }
    }

    pub fn start(&mut self, start: &Start) {
        self.run_unix_s = start.meta.started_unix;
    }

    /// When the run began, in seconds since 1970.
    pub fn began_unix_s(&self) -> f64 {
        self.run_unix_s
    }

    /// When a phase began, in µs since 1970.
    fn began_us(&self, phase: Phase) -> u64 {
        (self.phases_unix_s.get(&phase).copied().unwrap_or(self.run_unix_s) * 1e6) as u64
    }

    /// The points of an event, if it has any.
    pub fn event(&mut self, event: &Event, each: Each<'_>) {
        match &event.kind {
            EventKind::PhaseBegan(phase) => {
                self.phases_unix_s.insert(*phase, self.run_unix_s + event.at_s);
            }
            EventKind::Measured { phase, measured } => {
                self.measured(measured, self.began_us(*phase), each);
            }
            _ => {}
        }
    }

    /// The points of what a script has measured in a phase that began at `began_us`, in µs since 1970.
    fn measured(&self, own: &Measured, began_us: u64, each: Each<'_>) {
        let given = own.tags.iter().filter(|(name, _)| self.tags.gives(name));
        let tags: Vec<Tag<'_>> =
            given.map(|(name, value)| (&**name, shown(name, value, &own.secrets))).collect();
        let numbers = [("vu", own.user), ("iter", own.iteration)];
        let asked = numbers.into_iter().filter(|(name, _)| self.tags.asks_for(name));
        let asked = asked.map(|(name, number)| (name, number.to_string().into()));
        let said = own.metadata.iter();
        let said = said.map(|(name, value)| (name.as_str(), shown(name, value, &own.secrets)));
        let metadata: Vec<Tag<'_>> = asked.chain(said).collect();
        let unix_us = began_us + own.at_us;
        for (name, kind, value) in &own.values {
            let metric = self.metric(name, *kind);
            each(&Point { metric, unix_us, value: *value, tags: &tags, metadata: &metadata });
        }
    }

    fn metric<'n>(&self, name: &'n str, kind: MetricKind) -> PointMetric<'n> {
        PointMetric::built_in(name).unwrap_or_else(|| {
            let is_time = self.metrics.iter().any(|own| own.name == name && own.is_time);
            let contains = if is_time { Contains::Time } else { Contains::Default };
            PointMetric { name, kind: to_k6(kind), contains }
        })
    }

    /// The points of a second of the load: its users, unless it has come before, and the arrivals that were dropped.
    pub fn second(&mut self, own: &Second, each: Each<'_>) {
        let unix_us = self.began_us(Phase::Load) + (u64::from(own.second) + 1) * 1_000_000;
        let mut tell = |name, value, tags: &[Tag<'_>]| {
            if let Some(metric) = PointMetric::built_in(name) {
                each(&Point { metric, unix_us, value, tags, metadata: &[] });
            }
        };
        if own.second >= self.next_second {
            self.next_second = own.second.saturating_add(1);
            tell("vus", own.load.users() as f64, &[]);
        }
        for (scenario, load) in &own.load.scenarios {
            if load.arrivals_dropped > 0 {
                let tags = [("scenario", scenario.as_str().into())];
                tell("dropped_iterations", load.arrivals_dropped as f64, &tags);
            }
        }
    }
}

/// The value of a tag as it may be shown.
fn shown<'v>(name: &str, value: &'v str, secrets: &Secrets) -> Cow<'v, str> {
    let masked = if name == "url" { secrets.mask_own(value) } else { secrets.mask(value) };
    if masked == value { value.into() } else { masked.into() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use squall_metrics::ScenarioLoad;

    use super::*;

    /// A point in one line: its metric, value, time and tags.
    fn line(point: &Point<'_>) -> String {
        let Point { metric, unix_us, value, tags, metadata } = point;
        let tags = tags.iter().chain(*metadata).map(|(tag, value)| format!(" {tag}={value}"));
        format!("{} {value} @{unix_us}{}", metric.name, tags.collect::<String>())
    }

    fn points(tags: SystemTags) -> Points {
        let metric = ScriptMetric {
            kind: squall_script::MetricKind::Trend,
            name: "render".to_owned(),
            is_time: true,
        };
        Points::new(&Measuring { thresholds: Vec::new(), metrics: vec![metric], tags })
    }

    #[test]
    fn values_have_the_time_and_the_tags_of_what_measured_them() {
        let mut secrets = Secrets::default();
        secrets.add("SeCrEtVaLuE99");
        let measured = Measured {
            at_us: 5,
            values: vec![
                ("http_reqs".into(), MetricKind::Counter, 1.0),
                ("render".into(), MetricKind::Trend, 2.5),
            ],
            tags: vec![
                ("url".into(), "http://a/?q=SeCrEtVaLuE99".to_owned()),
                ("ip".into(), "10.0.0.1".to_owned()),
                ("team".into(), "a".to_owned()),
            ],
            metadata: vec![("trace".to_owned(), "SeCrEtVaLuE99".to_owned())],
            user: 7,
            iteration: 3,
            secrets: Arc::new(secrets),
        };
        let told = |points: &mut Points| {
            let mut told = Vec::new();
            let kind = EventKind::PhaseBegan(Phase::Load);
            points.event(&Event { at_s: 2.0, kind }, &mut |_| panic!("a point"));
            let kind =
                EventKind::Measured { phase: Phase::Load, measured: Arc::new(measured.clone()) };
            points.event(&Event { at_s: 9.0, kind }, &mut |own| told.push(line(own)));
            told
        };
        let usual = told(&mut points(SystemTags::default()));
        let tags = "url=http://a/?q=*** team=a trace=***";
        assert_eq!(
            usual,
            [format!("http_reqs 1 @2000005 {tags}"), format!("render 2.5 @2000005 {tags}")]
        );
        let asked = serde_json::json!({"systemTags": ["vu", "iter", "ip"]});
        let options = crate::k6::output::tests::options(&asked);
        let asked = told(&mut points(options.system_tags));
        assert_eq!(asked[0], "http_reqs 1 @2000005 ip=10.0.0.1 team=a vu=7 iter=3 trace=***");
        let own = points(SystemTags::default());
        assert_eq!(own.metric("render", MetricKind::Trend).contains, Contains::Time);
    }

    #[test]
    fn a_second_has_its_users_and_the_arrivals_that_were_dropped() {
        let mut own = Second::default();
        let load = ScenarioLoad { users: 3, arrivals_dropped: 2, ..ScenarioLoad::default() };
        own.load.scenarios.insert("buyers".to_owned(), load);
        let mut points = points(SystemTags::default());
        let mut told = || {
            let mut told = Vec::new();
            points.second(&own, &mut |point| told.push(line(point)));
            told
        };
        let dropped = "dropped_iterations 2 @1000000 scenario=buyers";
        assert_eq!(told(), ["vus 3 @1000000", dropped]);
        assert_eq!(told(), [dropped], "the users of a second that comes again are known");
    }
}
