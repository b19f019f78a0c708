//! Whether the numbers of a run can be trusted, and if not, why. Each rule is a function from what is
//! known about a run to a reason or none; a reason weighs what it saw by its effect on what the plan asks and
//! the report shows. The limits are constants, each with its justification; `docs/measurement.md` lists them.

mod generator;
mod host;
mod neighbours;
mod target;
#[cfg(test)]
mod tests;
mod weight;

use crate::series::{Series, SeriesRow};
use crate::steady::Steady;
use crate::threshold::{Threshold, ThresholdResult};
use crate::totals::Totals;
use squall_metrics::HostMetrics;
use squall_metrics::RequestStats;
pub use target::samples_needed;
pub use weight::Effect;
use weight::Shift;

/// How far the numbers of a run can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// Nothing was found that changed them noticeably.
    Valid,
    /// Some of them may be off, or say less than they seem to: the reasons say which and by how much.
    Questionable,
    /// Some of them are off by so much that the target cannot be judged by them.
    Invalid,
}

impl Validity {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Validity::Valid => "valid",
            Validity::Questionable => "questionable",
            Validity::Invalid => "invalid",
        }
    }
}

/// What was observed that numbers may suffer from.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// Name of the rule.
    pub rule: &'static str,
    /// By how much it may have changed the numbers; `None`: nobody can tell.
    pub effect: Option<Effect>,
    /// How far numbers can be trusted with this: valid, if it is no more than a note.
    pub weight: Validity,
    /// What was observed: the value, the limit, and when.
    pub observed: String,
    /// What to do about it.
    pub advice: String,
}

/// The rules that say that squall or the machine that it runs on was too slow, or had too little of something.
const OF_THE_GENERATOR: [&str; 14] = [
    "cpu_bound",
    "host_busy",
    "starved",
    "stalled",
    "generator_time",
    "send_delay",
    "receive_delay",
    "connect_delay",
    "ports",
    "files",
    "steal",
    "swapping",
    "clock_step",
    "link",
];

impl Reason {
    /// One that weighs as much as it may have moved what is asked and shown.
    fn weighed(
        facts: &Facts<'_>,
        rule: &'static str,
        shift: &Shift<'_>,
        observed: String,
        advice: String,
    ) -> Reason {
        let (effect, weight) = (Some(shift.effect(facts)), shift.weight(facts));
        Reason { rule, effect, weight, observed, advice }
    }

    /// One of which nobody knows the effect.
    fn of_unknown_effect(rule: &'static str, observed: String, advice: String) -> Reason {
        Reason { rule, effect: None, weight: Validity::Questionable, observed, advice }
    }

    /// Something worth knowing, which changed nothing.
    fn note(rule: &'static str, observed: String, advice: String) -> Reason {
        Reason { rule, effect: Some(Effect::NONE), weight: Validity::Valid, observed, advice }
    }

    /// Whether it is about squall and its machine, and not about the target, the network or the plan.
    pub fn is_of_generator(&self) -> bool {
        OF_THE_GENERATOR.contains(&self.rule)
    }

    /// How far numbers can be trusted with this: valid, if it is no more than a note.
    pub fn validity(&self) -> Validity {
        self.weight
    }

    /// Its effect in words.
    pub fn effect_text(&self) -> String {
        self.effect.map_or_else(|| "unknown".to_owned(), |effect| effect.text())
    }
}

/// What is known about a run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What was recorded.
    pub totals: &'a Totals,
    /// The same second by second.
    pub series: &'a Series,
    /// All its requests together.
    pub all: &'a RequestStats,
    /// How long it took, in s.
    pub elapsed_s: f64,
    /// Samples of the host that squall ran on.
    pub host: &'a HostMetrics,
    /// Its steady part, if its load has one.
    pub steady: Option<Steady>,
    /// The run's thresholds: they say which percentiles were asked for.
    pub thresholds: &'a [Threshold],
    /// Their results, as far as they are known.
    pub results: &'a [ThresholdResult],
    /// Whether anybody sees its corrected latencies: where nobody does, what moves them alone is no more than a note.
    pub shows_corrected: bool,
}

impl Facts<'_> {
    /// The result of a threshold; `None`: it has windows, and nobody has looked at them.
    fn result_of(&self, threshold: &Threshold) -> Option<ThresholdResult> {
        let known = self.results.iter().find(|own| own.text == threshold.text());
        let whole = || {
            threshold.window().is_none().then(|| threshold.evaluate(self.totals, self.elapsed_s))
        };
        known.cloned().or_else(whole)
    }
}

/// What the numbers of a run may suffer from, the most severe first; none above a note: they are valid.
pub fn assess(facts: &Facts<'_>) -> Vec<Reason> {
    const RULES: [fn(&Facts<'_>) -> Option<Reason>; 25] = [
        neighbours::host_busy,
        generator::cpu_bound,
        generator::starved,
        generator::stalled,
        generator::generator_time,
        generator::send_delay,
        generator::receive_delay,
        generator::connect_delay,
        generator::arrivals_dropped,
        host::ports,
        host::files,
        host::steal,
        host::swapping,
        host::clock_step,
        host::link,
        neighbours::machine_full,
        target::retransmits,
        target::packets_lost,
        target::retries,
        target::name_lookups,
        target::pool_waits,
        target::timeouts,
        target::cut_off,
        target::hidden_stall,
        target::unsteady,
    ];
    let mut reasons: Vec<Reason> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    reasons.extend(target::too_short(facts));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.validity()));
    reasons
}

/// The validity of a run with these reasons.
pub fn worst(reasons: &[Reason]) -> Validity {
    reasons.iter().map(Reason::validity).max().unwrap_or(Validity::Valid)
}

/// What of a second a run must have for it to count as one of its seconds.
const MIN_OF_SECOND: f64 = 0.05;

/// The seconds for which a condition is true, in words.
fn when(facts: &Facts<'_>, is: impl Fn(&SeriesRow) -> bool) -> String {
    let rows = facts.series.rows();
    let length = |row: &SeriesRow| row.seconds.max(1);
    // One that has hardly begun when the run ends is none of its seconds, unless it is meant.
    let counts = |row: &&SeriesRow| {
        is(row) || f64::from(row.second - rows[0].second) + MIN_OF_SECOND < facts.elapsed_s
    };
    let all: Vec<(u32, u32)> =
        rows.iter().filter(counts).map(|row| (row.second, length(row))).collect();
    let meant = rows.iter().filter(|row| is(row)).map(|row| (row.second, length(row)));
    seconds_in_words(&meant.collect::<Vec<_>>(), &all)
}

/// Some of the seconds of a run in words; each is given by its number, from 0, and how many follow it without a gap, itself
/// included.
fn seconds_in_words(meant: &[(u32, u32)], all: &[(u32, u32)]) -> String {
    let count = |spans: &[(u32, u32)]| spans.iter().map(|(_, seconds)| seconds).sum::<u32>();
    let (Some((first, _)), Some((last, more))) = (meant.first(), meant.last()) else {
        return String::new();
    };
    let (last, number) = (last + more - 1, count(meant));
    let begin = all.first().map_or(0, |(begin, _)| *begin);
    let end = all.last().map_or(last, |(second, more)| second + more - 1);
    let of = match begin {
        0 => (end + 1).to_string(),
        _ => format!("{begin} to {end}"),
    };
    match number {
        1 => format!("in second {first}"),
        _ if last - first + 1 == number => format!("in seconds {first} to {last} of {of}"),
        _ => format!("in {number} of {} seconds, first in second {first}", count(all)),
    }
}
