//! What of the target was full when it broke: a ranking of what rose with the load and reached a bound, with the evidence. It
//! says what is known and no more: what has no known bound, or may be full without being in the way, is a sign.

pub mod curves;
mod rules;
mod series;
mod signs;
#[cfg(test)]
mod tests;

use crate::load_step::{LevelKind, LoadStep, level_text};
use rules::{Rule, amount, is_of_processes, noun, rules_of};
use series::{Point, Series, levels, series};

/// Below the level at which it is full it has at most this share of what it has there: what is as full without load says
/// nothing.
const MOST_BEFORE: f64 = 0.8;
/// What does not rise with the load has a lower rank correlation with it than this.
const LEAST_CORRELATION: f64 = 0.5;
/// Fewer levels than this tell no rise from chance.
const LEAST_LEVELS: usize = 3;

/// What was full when the target broke.
#[derive(Debug, Clone, PartialEq)]
pub struct Saturation {
    /// What was full or looked like it, the likeliest cause first.
    pub findings: Vec<Finding>,
    /// What came closest to its bound at the levels that broke, in a sentence, if nothing was full.
    pub closest: Option<String>,
    /// Whether monitors sampled anything at levels that broke.
    pub was_sampled: bool,
}

/// A metric that says that something was full.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The monitor's name.
    pub monitor: String,
    /// The metric's name.
    pub metric: String,
    /// Its other tags.
    pub tags: Vec<(String, String)>,
    /// Whether it was full; otherwise it is a sign of it.
    pub is_certain: bool,
    /// The lowest level at which a requirement was violated and it was full.
    pub level: f64,
    /// The evidence, in a sentence.
    pub text: String,
    /// Level and value, from the lowest level on.
    pub values: Vec<(f64, f64)>,
    /// The value at which it is full, at that level.
    pub bound: Option<f64>,
    rank: usize,
    /// Another metric of the same monitor that it says the same of.
    covers: Option<String>,
}

impl Saturation {
    /// What follows from the steps of a search; `None`: no requirement was violated because of the target, or there are no
    /// monitors.
    pub fn of(steps: &[LoadStep], by: LevelKind) -> Option<Saturation> {
        let levels = levels(steps);
        let all = series(&levels);
        if all.is_empty() || !levels.iter().any(|own| own.violated == Some(true)) {
            return None;
        }
        let seen = Seen { all: &all, by };
        let bounded = all.iter().flat_map(|own| {
            rules_of(&own.of.name).into_iter().filter_map(|(rank, rule)| seen.full(own, rule, rank))
        });
        let mut findings: Vec<Finding> = bounded.chain(seen.signs()).collect();
        findings.sort_by(|a, b| {
            let certain = b.is_certain.cmp(&a.is_certain);
            certain.then(a.rank.cmp(&b.rank)).then(a.level.total_cmp(&b.level))
        });
        without_repeats(&mut findings);
        let was_sampled = all.iter().any(|own| own.broken().next().is_some());
        let is_full = findings.iter().any(|own| own.is_certain);
        let closest = if is_full { None } else { seen.closest() };
        Some(Saturation { findings, closest, was_sampled })
    }

    /// What was full, in sentences, the most important one first.
    pub fn words(&self) -> Vec<String> {
        let certain = self.findings.iter().filter(|own| own.is_certain);
        let mut words: Vec<String> = certain.take(5).map(|own| own.text.clone()).collect();
        if words.len() > 1 {
            words.push(
                "of several that were full, one may be full because another is: the likeliest cause stands first"
                    .to_owned(),
            );
        }
        if !words.is_empty() {
            return words;
        }
        if !self.was_sampled {
            return vec![
                "not known: the monitors sampled nothing at the levels that broke".to_owned(),
            ];
        }
        let closest = self.closest.as_ref().map_or(String::new(), |own| format!("; {own}"));
        let signs: Vec<String> = self.findings.iter().take(3).map(|own| own.text.clone()).collect();
        words.push(match signs.is_empty() {
            true => format!(
                "nothing that was measured was full{closest}. What remains: a lock, a limit within the program, or something that it waits for and that has no monitor"
            ),
            false => format!("nothing that was measured was certainly full{closest}. But there are signs:"),
        });
        words.extend(signs);
        words
    }
}

/// A metric is named once, a thread of a program whose CPU is full needs no name, and heap and pressure are the same thing
/// seen again.
fn without_repeats(findings: &mut Vec<Finding>) {
    let certain: Vec<(String, String)> = findings
        .iter()
        .filter(|own| own.is_certain)
        .map(|own| (own.monitor.clone(), own.metric.clone()))
        .collect();
    let is_full = |monitor: &str, metric: &str| {
        certain.iter().any(|(of, name)| of == monitor && name == metric)
    };
    let covers = |own: &Finding| Some((own.monitor.clone(), own.covers.clone()?));
    let covered: Vec<(String, String)> =
        findings.iter().filter(|own| own.is_certain).filter_map(covers).collect();
    let is_covered =
        |own: &Finding| covered.iter().any(|(of, name)| *of == own.monitor && *name == own.metric);
    findings.retain(|own| match own.metric.as_str() {
        _ if is_covered(own) => false,
        "cpu_thread" => !is_full(&own.monitor, "cpu"),
        metric => own.is_certain || !is_full(&own.monitor, metric),
    });
}

/// What was seen, for those who look for something in it.
struct Seen<'a> {
    all: &'a [Series],
    by: LevelKind,
}

impl Seen<'_> {
    /// Whether a metric reached its bound when the target broke, and rose with the load until then.
    fn full(&self, own: &Series, rule: Rule, rank: usize) -> Option<Finding> {
        let first = first_that(own, |point| rule.is_full(point))?;
        let share = |point: &Point| rule.share(point).unwrap_or(0.0);
        if !rises(own, share, first) {
            return None;
        }
        let in_cores = is_of_processes(own, self.all);
        let value = |point: &Point, bound| amount(&own.of.name, rule.value(point), bound, in_cores);
        let noun = noun(&own.of, rule);
        let at = self.at(first);
        let before = self.before(own, first, |point| value(point, None));
        let here = value(first, first.bound);
        let text = match (own.of.name.as_str(), rule.is_sign) {
            ("gc_share", _) => {
                format!(
                    "garbage collection stopped {} for {here} of the time {at}{before}",
                    own.of.monitor
                )
            }
            (_, false) => format!("{noun} was full: {here} {at}{before}"),
            (_, true) => format!("{noun} was high: {here} {at}{before}"),
        };
        let text = match own.of.name.as_str() {
            "connections" | "ports_used" | "descriptors" => {
                text.replacen(" was full", " were all in use", 1)
            }
            _ => text,
        };
        // Whoever uses a host's cores: that of processes that are watched says more.
        let is_of_others = own.of.name == "cpu"
            && !in_cores
            && self.all.iter().any(|other| is_of_processes(other, self.all));
        let is_certain = !rule.is_sign && !is_of_others && own.points.len() >= LEAST_LEVELS;
        let rule_value = |point: &Point| rule.value(point);
        Some(self.finding(own, (is_certain, rank), first, text, rule_value))
    }

    fn finding(
        &self,
        own: &Series,
        (is_certain, rank): (bool, usize),
        first: &Point,
        text: String,
        value: impl Fn(&Point) -> f64,
    ) -> Finding {
        Finding {
            monitor: own.of.monitor.clone(),
            metric: own.of.name.clone(),
            tags: own.of.tags.clone(),
            is_certain,
            level: first.load,
            text,
            values: own.points.iter().map(|point| (point.load, value(point))).collect(),
            bound: first.bound,
            rank,
            covers: None,
        }
    }

    /// "at 1,200/s".
    fn at(&self, point: &Point) -> String {
        let level = level_text(self.by, point.load);
        let unit = if self.by == LevelKind::Users { " users" } else { "" };
        format!("at {level}{unit}")
    }

    /// ", and 0.50 at 600/s": at the highest level below that met the requirements, or else at the lowest.
    fn before(&self, own: &Series, first: &Point, value: impl Fn(&Point) -> String) -> String {
        let lowest = own.lowest().filter(|point| point.load < first.load);
        let met = own.met_below(first.load).or(lowest);
        met.map_or(String::new(), |point| format!(", and {} {}", value(point), self.at(point)))
    }

    /// What came closest to its bound at the levels that broke, of what rose with the load.
    fn closest(&self) -> Option<String> {
        let shares = self.all.iter().flat_map(|own| {
            let rules = rules_of(&own.of.name).into_iter().filter(|(_, rule)| !rule.is_sign);
            rules.filter_map(move |(_, rule)| {
                let most = own.broken().max_by(|a, b| rule.value(a).total_cmp(&rule.value(b)))?;
                let rose = rises(own, |point| rule.value(point), most);
                rose.then_some((rule.share(most)?, own, rule, most))
            })
        });
        let is_told = |own: &Series| own.of.name != "gc_share" && own.of.name != "rss";
        let told = shares.filter(|(_, own, ..)| is_told(own));
        let (_, own, rule, most) = told.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let in_cores = is_of_processes(own, self.all);
        let value = amount(&own.of.name, rule.value(most), most.bound, in_cores);
        Some(format!("closest to it was {}: {value} {}", noun(&own.of, rule), self.at(most)))
    }
}

/// The lowest level that violated a requirement from which on this is so: there, and at most of those above.
fn first_that(own: &Series, is_so: impl Fn(&Point) -> bool) -> Option<&Point> {
    let broken: Vec<&Point> = own.broken().collect();
    let at = broken.iter().position(|point| is_so(point))?;
    let above = &broken[at..];
    let so = above.iter().filter(|point| is_so(point)).count();
    (2 * so > above.len()).then_some(broken[at])
}

/// Whether a value rose with the load until this level.
fn rises(own: &Series, value: impl Fn(&Point) -> f64, first: &Point) -> bool {
    let lowest = own.lowest().filter(|point| point.load < first.load);
    let is_higher = lowest.is_some_and(|point| value(point) <= MOST_BEFORE * value(first));
    let correlation = own.correlation(value, first.load);
    is_higher && correlation.is_none_or(|own| own >= LEAST_CORRELATION)
}
