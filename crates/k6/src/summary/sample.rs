//! A run for the tests of this folder.

use serde_json::json;

use super::data::{SummaryData, SummaryOptions};
use super::facts::{
    CheckFacts, Contains, Distribution, MetricFacts, RunFacts, ScenarioFacts, ThresholdFacts,
    Values,
};

/// The whole numbers from 1 to 100, times a factor.
#[derive(Debug)]
struct UpTo100(f64);

impl Distribution for UpTo100 {
    fn count(&self) -> u64 {
        100
    }
    fn mean(&self) -> f64 {
        50.5 * self.0
    }
    fn min(&self) -> f64 {
        self.0
    }
    fn max(&self) -> f64 {
        100.0 * self.0
    }
    fn percentile(&self, p: f64) -> f64 {
        p * self.0
    }
}

const TREND: Values<'static> = Values::Trend(&UpTo100(1.0));

fn metric(name: &str, contains: Contains, values: Values<'static>) -> MetricFacts<'static> {
    MetricFacts { name: name.to_owned(), contains, values }
}

fn http() -> Vec<MetricFacts<'static>> {
    use Contains::{Data, Default, Time};
    vec![
        metric("http_reqs", Default, Values::Counter(28.0)),
        metric("http_req_failed", Default, Values::Rate { trues: 7, count: 28 }),
        metric("http_req_duration", Time, TREND),
        metric("http_req_waiting", Time, Values::Trend(&UpTo100(0.001_234_5))),
        metric("iterations", Default, Values::Counter(14.0)),
        metric("iteration_duration", Time, Values::Trend(&UpTo100(1_234.5))),
        metric("data_received", Data, Values::Counter(35_400.0)),
        metric("data_sent", Data, Values::Counter(1_250.0)),
    ]
}

/// A run with each kind of metric, with groups, checks and thresholds.
pub fn facts() -> RunFacts<'static> {
    use Contains::{Default, Time};
    let mut metrics = http();
    metrics.extend([
        metric("vus", Default, Values::Gauge { last: 1.0, min: 1.0, max: 5.0 }),
        metric("vus_max", Default, Values::Gauge { last: 5.0, min: 5.0, max: 5.0 }),
        metric("checks", Default, Values::Rate { trues: 28, count: 42 }),
        metric("http_req_duration{name:items}", Time, Values::Trend(&UpTo100(70_000.0))),
        metric("http_req_duration{expected_response:true}", Time, TREND),
        metric("group_duration", Time, TREND),
        metric("basket_size", Default, Values::Trend(&UpTo100(0.3))),
        metric("bought", Default, Values::Counter(3.5)),
        metric("stock", Default, Values::Gauge { last: -2.0, min: -2.0, max: 8.0 }),
        metric("errors", Default, Values::Rate { trues: 0, count: 14 }),
    ]);
    let threshold = |metric: &str, expression: &str, is_met| ThresholdFacts {
        metric: metric.to_owned(),
        expression: expression.to_owned(),
        is_met,
    };
    let check = |group: &[&str], name: &str, passes, fails| CheckFacts {
        group: group.iter().map(|name| (*name).to_owned()).collect(),
        name: name.to_owned(),
        passes,
        fails,
    };
    let checks = vec![
        check(&[], "status is 200", 14, 0),
        check(&["setup"], "status is 200", 1, 0),
        check(&["shop"], "has items", 0, 14),
        check(&["shop", "cart"], "is not empty", 14, 0),
    ];
    let scenarios = vec![ScenarioFacts {
        name: "buyers".to_owned(),
        metrics: http(),
        checks: checks.clone(),
        groups: Vec::new(),
    }];
    RunFacts {
        seconds: 2.0,
        metrics,
        scenarios,
        thresholds: vec![
            threshold("http_req_duration", "p(99)<200", true),
            threshold("http_req_duration", "avg<60", true),
            threshold("http_req_duration{name:items}", "p(95)<200", false),
            threshold("http_reqs", "rate>10", true),
            threshold("checks", "rate>0.9", false),
        ],
        checks,
        groups: ["setup", "shop", "idle"].map(|name| vec![name.to_owned()]).to_vec(),
        setup_data: json!({"token": "t"}),
        is_terminal: [true, false],
    }
}

/// Its summary.
pub fn data() -> SummaryData {
    SummaryData::of(&facts(), SummaryOptions::default())
}
