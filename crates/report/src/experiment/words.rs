//! Numbers and phrases that all outputs of an experiment have.

use squall_base::units::{bytes, counted, percent, print_duration};
use squall_experiment::Unit;
use std::time::Duration;

use super::document::{
    ExperimentCell, ExperimentContrast, ExperimentDifference, ExperimentMeasure, ExperimentReason,
    ExperimentResult, ExperimentVariant, UNDER_WAY,
};
use crate::fleet::each;

/// What stands below tables of effects.
pub(super) const SHARES: &str = "Shares of variation are sums of squares of each effect, of the interactions of three factors and more, of the \
    blocks and of what is left, divided by their total (Jain, The Art of Computer Systems Performance Analysis, 1991, \
    chapters 17, 18, 21 and 22).";
/// What intervals of differences are.
pub(super) const TOGETHER: &str = "Intervals of differences hold all together: in 95 of 100 experiments none of them misses the truth (Bonferroni's \
    correction for the number of comparisons, over all measures). Variants are compared that differ in one factor: each comparison more \
    would make all intervals wider. The unit is a run: what happens within one is not independent of itself.";
/// What intervals of values are.
pub(super) const VALUES: &str = "Values are means over repeats, geometric ones unless they are shares, with their 95% interval (Student's t).";

/// A share of variation that no effect explains.
pub(super) struct OtherShare {
    /// `higher`, `blocks` or `chance`.
    pub kind: &'static str,
    pub label: &'static str,
    pub share: f64,
}

impl ExperimentMeasure {
    /// A value of the measure.
    pub(super) fn shown(&self, value: f64) -> String {
        Unit::from_label(&self.unit).show(value)
    }

    /// `1.20 ms to 1.26 ms`.
    pub(super) fn interval(&self, cell: &ExperimentCell) -> String {
        match (cell.low, cell.high) {
            (Some(low), Some(high)) => format!("{} to {}", self.shown(low), self.shown(high)),
            _ => String::new(),
        }
    }

    /// Half the width of the interval of a value: as a share of it, or in percentage points.
    pub(super) fn half(&self, cell: &ExperimentCell) -> String {
        let (Some(value), Some(low), Some(high)) = (cell.value, cell.low, cell.high) else {
            return String::new();
        };
        let half = (high - low) / 2.0;
        match (self.is_ratio(), Unit::from_label(&self.unit)) {
            (true, _) => format!("± {}", percent(half / value.abs())),
            (false, Unit::Share) => format!("± {} pp", points(half)),
            (false, unit) => format!("± {}", unit.show(half)),
        }
    }

    /// How much more, with its sign: `+13%`, `-1.2 pp`.
    pub(super) fn change(&self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "+" };
        let size = value.abs();
        let shown = match (self.is_ratio(), Unit::from_label(&self.unit)) {
            (true, _) => percent(size),
            (false, Unit::Share) => format!("{} pp", points(size)),
            (false, unit) => unit.show(size),
        };
        // What is rounded to nothing has no sign.
        let is_zero = !shown.chars().any(|c| ('1'..='9').contains(&c));
        if is_zero { shown } else { format!("{sign}{shown}") }
    }

    /// The value of a difference, and its interval.
    pub(super) fn difference(&self, own: Option<&ExperimentDifference>) -> [String; 2] {
        let Some(own) = own else { return ["-".to_owned(), "no valid run".to_owned()] };
        let interval = match (own.low, own.high) {
            (Some(low), Some(high)) => format!("{} to {}", self.change(low), self.change(high)),
            _ => "one repeat".to_owned(),
        };
        [self.change(own.value), interval]
    }

    /// The difference for which repeats are advised.
    pub(super) fn relevant(&self) -> &'static str {
        match (self.is_ratio(), Unit::from_label(&self.unit)) {
            (false, Unit::Share) => "0.5 pp",
            _ => "5%",
        }
    }

    /// Shares of variation that no effect explains, with what they are.
    pub(super) fn other_shares(&self, result: &ExperimentResult) -> Vec<OtherShare> {
        // Without a third factor what is left is what two effects explain together where runs are missing.
        let higher = match result.factors.iter().filter(|own| own.levels.len() > 1).count() {
            0..=2 => "more than one effect, as runs are missing",
            _ => "interactions of three factors and more",
        };
        let all = [
            ("higher", higher, self.share_of_higher),
            ("blocks", "when the run was made (blocks)", self.share_of_blocks),
            ("chance", "chance: repeats of the same", self.share_of_chance),
        ];
        let all = all.map(|(kind, label, share)| OtherShare { kind, label, share });
        // Rounding is no share.
        all.into_iter().filter(|own| own.share > 1e-6).collect()
    }

    pub(super) fn is_ratio(&self) -> bool {
        self.scale == "ratio"
    }
}

fn points(share: f64) -> String {
    percent(share).trim_end_matches('%').to_owned()
}

impl ExperimentDifference {
    /// `real`, `not seen`, or `unknown`, as one repeat says nothing about chance.
    pub(super) fn word(&self) -> String {
        let word = match (self.is_real, self.low) {
            (true, _) => "real",
            (false, None) => "unknown",
            (false, Some(_)) => "not seen",
        };
        word.to_owned()
    }
}

impl ExperimentContrast {
    /// `gson beside own`; of an interaction `classic beside virtual, gson beside own`.
    pub(super) fn label(&self) -> String {
        let levels = self.levels.iter().map(|(level, other)| format!("{level} beside {other}"));
        levels.collect::<Vec<_>>().join(", ")
    }
}

impl ExperimentVariant {
    /// What went wrong in its runs, in a sentence; `None`: nothing.
    pub(super) fn trouble(&self) -> Option<String> {
        let runs = self.repeats + self.failed;
        let mut parts = Vec::new();
        if self.failed > 0 {
            parts.push(format!("{} of {} failed", self.failed, counted(runs, "run")));
        }
        if self.missing > 0 {
            parts.push(format!("{} missing", counted(self.missing, "repeat")));
        }
        let why: Vec<String> = self.why.iter().map(ExperimentReason::shown).collect();
        let why = why.join("; ");
        match (parts.is_empty(), why.is_empty()) {
            (true, _) => None,
            (false, true) => Some(parts.join(", ")),
            (false, false) => Some(format!("{}: {why}", parts.join(", "))),
        }
    }
}

impl ExperimentVariant {
    /// That numbers count which are invalid, in a sentence; `None`: none do.
    pub(super) fn counted(&self) -> Option<String> {
        let rules: Vec<String> = self.counted_invalid.iter().map(ExperimentReason::shown).collect();
        let rules = rules.join("; ");
        (!rules.is_empty()).then(|| {
            format!("invalid numbers count, as `count_invalid` of the experiment says: {rules}")
        })
    }
}

impl ExperimentReason {
    /// `the server ended (3 runs, the first is runs/004-own-b1)`.
    fn shown(&self) -> String {
        let run = self.folder.clone().unwrap_or_else(|| format!("run {}", self.first));
        match self.runs {
            1 => format!("{} ({run})", self.text),
            runs => format!("{} ({}, the first is {run})", self.text, counted(runs, "run")),
        }
    }
}

impl ExperimentResult {
    /// `4 variants, 20 runs in 12m3s`.
    pub(super) fn summary(&self) -> String {
        let variants = counted(self.variants.len() as u64, "variant");
        let blocks = self.runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
        let end = match (self.about.finished, self.about.state.as_str()) {
            (true, _) => String::new(),
            (false, UNDER_WAY) => self.under_way(),
            (false, _) => "; interrupted before all runs were made".to_owned(),
        };
        format!(
            "{variants}, {}, {} in {}{end}",
            counted(blocks, "block"),
            counted(self.runs.len() as u64, "run"),
            length(self.about.elapsed_s)
        )
    }

    /// `; under way: 2 of 5 blocks are done, about 4m left`.
    fn under_way(&self) -> String {
        let about = &self.about;
        let most = if about.relative_error.is_some() { "at most " } else { "" };
        let left = about.left_s.map(|left| format!(", about {} left", length(left)));
        format!(
            "; under way: {} of {most}{} are done{}",
            about.blocks_done,
            counted(about.repeats, "block"),
            left.unwrap_or_default()
        )
    }

    /// The machine or machines in a line.
    pub(super) fn machine_line(&self) -> String {
        let processor = each(&self.machine, |own| own.cpu.clone());
        let cpus = each(&self.machine, |own| counted(own.cpus, "CPU"));
        let memory = each(&self.machine, |own| bytes(own.memory_bytes));
        let os = each(&self.machine, |own| own.os.clone());
        let host = each(&self.machine, |own| own.host.clone());
        let parts = [host, processor, cpus, memory, os];
        parts.into_iter().filter(|own| !own.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// What squall was, when it was, and how the order came about.
    pub(super) fn versions_line(&self) -> String {
        let about = &self.about;
        let order = about.seed.map_or("the order of the file".to_owned(), |seed| {
            format!("random order within each block (seed {seed})")
        });
        let start = crate::folder::stamp(about.started_unix as u64);
        let start = start.replacen('T', " ", 1);
        let (day, time) = start.split_once(' ').unwrap_or((&start, ""));
        format!("squall {}, started {day} {} UTC, {order}", about.squall, time.replace('-', ":"))
    }

    /// The servers, a line each.
    pub(super) fn server_lines(&self) -> Vec<String> {
        let line = |own: &super::document::ExperimentServer| {
            let version =
                if own.version.is_empty() { String::new() } else { format!(" ({})", own.version) };
            format!("{}: {}{version}", own.name, own.command.join(" "))
        };
        self.servers.iter().map(line).collect()
    }

    /// The names of its factors with what each sets, where that is no variable.
    pub(super) fn factor_lines(&self) -> Vec<String> {
        let line = |own: &super::document::ExperimentFactor| {
            let sets = if own.sets.is_empty() {
                String::new()
            } else {
                format!(" ({} {})", own.kind, own.sets)
            };
            format!("{}{sets}: {}", own.name, own.levels.join(", "))
        };
        self.factors.iter().map(line).collect()
    }

    /// Whether it has factors beside which comparisons of two variants say more.
    pub(super) fn has_factors(&self) -> bool {
        self.factors.iter().filter(|factor| factor.levels.len() > 1).count() > 1
    }
}

/// A length of time to the second.
pub(super) fn length(seconds: f64) -> String {
    print_duration(Duration::from_secs(seconds.max(0.0).round() as u64))
}

/// A text as HTML shows it, on one line.
pub(super) fn escaped(text: &str) -> String {
    crate::html::escaped(&text.replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_signs_and_units() {
        let measure = |unit: &str, scale: &str| ExperimentMeasure {
            unit: unit.to_owned(),
            scale: scale.to_owned(),
            ..ExperimentMeasure::default()
        };
        for (unit, scale, value, shown) in [
            ("us", "ratio", 0.13, "+13%"),
            ("us", "ratio", -0.021, "-2.1%"),
            ("us", "ratio", -1e-9, "0%"),
            ("share", "difference", 0.012, "+1.2 pp"),
            ("us", "difference", -1_500.0, "-1.50 ms"),
        ] {
            assert_eq!(measure(unit, scale).change(value), shown);
        }
    }
}
