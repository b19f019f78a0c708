//! When a metric says that something was full, and how that is said.

use squall_base::units::{bytes, count, percent};
use squall_metrics::{Monitored, MonitoredUnit};

use super::series::{MetricName, Point, Series};

/// Which value of a level counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The mean: what is full for a moment only is not full.
    Mean,
    /// The largest: what is full for a moment refuses something.
    Max,
}

/// When a metric with a bound is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    name: &'static str,
    pub which: Which,
    /// From which share of its bound on it is full, or, if it is a sign only, looks like it.
    pub from: f64,
    /// Whether it may be full for other reasons, or without being in the way.
    pub is_sign: bool,
    /// What is full, of which monitor; `{}` stands for tags.
    noun: &'static str,
}

const fn rule(name: &'static str, which: Which, from: f64, noun: &'static str) -> Rule {
    Rule { name, which, from, is_sign: false, noun }
}

const fn sign(name: &'static str, which: Which, from: f64, noun: &'static str) -> Rule {
    Rule { name, which, from, is_sign: true, noun }
}

use Which::{Max, Mean};

/// Those of our own metrics, in the order in which they rank where they were full from the same level on: what may fill
/// others comes first. Garbage collection takes CPU time; where the CPU is full, queues fill.
#[rustfmt::skip]
const RULES: [Rule; 19] = [
    rule("gc_share", Mean, 0.2, "garbage collection"),
    rule("connections", Max, 0.95, "the connections"),
    rule("network_out_bytes", Mean, 0.9, "interface {} (sending)"),
    rule("network_in_bytes", Mean, 0.9, "interface {} (receiving)"),
    rule("rss", Max, 0.95, "memory"),
    rule("descriptors", Max, 0.98, "the open files"),
    rule("ports_used", Max, 0.95, "the local ports"),
    rule("cpu_throttled", Mean, 0.5, "the CPU quota"),
    rule("cpu", Mean, 0.95, "CPU"),
    rule("cpu_thread", Mean, 0.95, "the busiest thread"),
    rule("listen_queue", Max, 1.0, "the listen queue of port {}"),
    sign("gc_share", Mean, 0.1, "garbage collection"),
    sign("heap_used", Mean, 0.9, "the Java heap"),
    sign("memory_used", Max, 0.95, "memory"),
    sign("disk_busy", Mean, 0.6, "disk {}"),
    sign("cpu_core", Mean, 0.95, "core {}"),
    sign("pressure_cpu", Mean, 0.5, "the pressure on CPUs"),
    sign("pressure_memory", Mean, 0.5, "the pressure on memory"),
    sign("pressure_io", Mean, 0.5, "the pressure on disks"),
];

/// That of other metrics whose bound is known by its name.
const OTHERS: Rule = rule("", Mean, 0.95, "");

/// Where a rule stands that is not in the table.
pub(super) const RANK_OF_POOLS: usize = 1;
pub(super) const RANK_OF_QUEUES: usize = 10;
pub(super) const RANK_OF_OTHER_SIGNS: usize = RULES.len();

/// The rules of a metric, each with its rank.
pub(super) fn rules_of(name: &str) -> Vec<(usize, Rule)> {
    let own = RULES.iter().copied().enumerate().filter(|(_, rule)| rule.name == name);
    let own: Vec<(usize, Rule)> = own.collect();
    if own.is_empty() && Monitored::named(name).next().is_none() {
        return vec![(RANK_OF_POOLS, OTHERS)];
    }
    own
}

/// A core's worth of CPU time, as processes have it, and not a share of all cores.
pub(super) fn is_of_processes(series: &Series, all: &[Series]) -> bool {
    let has = |name: &str| {
        all.iter().any(|own| own.of.monitor == series.of.monitor && own.of.name == name)
    };
    series.of.name == "cpu" && has("cpu_limit")
}

/// What is full, in words.
pub(super) fn noun(of: &MetricName, rule: Rule) -> String {
    let tags: Vec<&str> = of.tags.iter().map(|(_, value)| value.as_str()).collect();
    let tags = tags.join(", ");
    let noun = match rule.noun {
        "" if tags.is_empty() => of.name.clone(),
        "" => format!("{}{{{tags}}}", of.name),
        noun if noun.contains("{}") => noun.replace("{}", &tags),
        noun if tags.is_empty() => noun.to_owned(),
        noun => format!("{noun} {tags}"),
    };
    format!("{noun} of {}", of.monitor)
}

/// A value with its unit, and of how much it is.
pub(super) fn amount(name: &str, value: f64, bound: Option<f64>, in_cores: bool) -> String {
    let whole = |value: f64| value.max(0.0).round() as u64;
    let number = |value: f64| match value < 10.0 && value.fract() != 0.0 {
        true => format!("{value:.1}"),
        false => count(whole(value)),
    };
    let of = |text: String, bound: Option<String>| match bound {
        Some(bound) => format!("{text} of {bound}"),
        None => text,
    };
    if in_cores {
        let cores = |bound: f64| match bound {
            1.0 => "1 core".to_owned(),
            _ if bound.fract() == 0.0 => format!("{bound:.0} cores"),
            _ => format!("{bound:.2} cores"),
        };
        return of(format!("{value:.2}"), bound.map(cores));
    }
    match Monitored::unit_of(name) {
        Some(MonitoredUnit::Share) => percent(value),
        Some(MonitoredUnit::Bytes) => of(bytes(whole(value)), bound.map(|own| bytes(whole(own)))),
        Some(MonitoredUnit::BytesPerSecond) => {
            let text = of(bytes(whole(value)), bound.map(|own| bytes(whole(own))));
            format!("{text}/s")
        }
        Some(MonitoredUnit::Number | MonitoredUnit::PerSecond | MonitoredUnit::Seconds) | None => {
            of(number(value), bound.map(number))
        }
    }
}

impl Rule {
    /// The value that counts.
    pub fn value(self, point: &Point) -> f64 {
        match self.which {
            Which::Mean => point.mean,
            Which::Max => point.max,
        }
    }

    /// As a share of the bound; `None`: there is none.
    pub fn share(self, point: &Point) -> Option<f64> {
        point.bound.map(|bound| self.value(point) / bound)
    }

    /// Whether it is so full.
    pub fn is_full(self, point: &Point) -> bool {
        self.share(point).is_some_and(|share| share >= self.from)
    }
}
