//! A comparison in words and numbers, as all outputs write them. Pure.

use squall_base::units::{counted, percent, rate, time};

use super::document::{
    ComparedRow, ComparedRun, ComparedSide, ComparedValue, ComparisonDocument, Pair,
};
use super::gate_words::advice;

/// Most rows that a summary names.
const MAX_NAMED: usize = 4;

impl ComparedValue {
    /// Whether it changed by more than chance.
    pub(super) fn is_changed(&self) -> bool {
        self.result == "changed"
    }

    /// A value of its unit; `-`: there is none.
    pub(super) fn shown(&self, value: Option<f64>) -> String {
        match (value, self.unit.as_str()) {
            (None, _) => "-".to_owned(),
            (Some(value), "us") => time(value),
            (Some(value), "per_second") => rate(value),
            (Some(value), _) => percent(value),
        }
    }

    /// A change of it: `+5.1%`, or `+0.52 pp`, which are percentage points.
    pub(super) fn shown_change(&self, change: f64) -> String {
        let percent = change * 100.0;
        let text = match self.unit.as_str() {
            "share" => format!("{percent:+.2} pp"),
            _ if percent.abs() >= 999.95 => format!("{percent:+.0}%"),
            _ => format!("{percent:+.1}%"),
        };
        // What rounds to nothing has no sign.
        match text.as_str() {
            "-0.0%" => "+0.0%".to_owned(),
            "-0.00 pp" => "+0.00 pp".to_owned(),
            _ => text,
        }
    }

    /// Its change; `-`: there is none.
    pub(super) fn its_change(&self) -> String {
        self.change.map_or("-".to_owned(), |change| self.shown_change(change))
    }

    /// The interval of its change.
    pub(super) fn interval(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                let (low, high) = (self.shown_change(low), self.shown_change(high));
                format!("{} to {high}", low.trim_end_matches(" pp"))
            }
            (Some(low), None) => format!("at least {}", self.shown_change(low)),
            (None, Some(high)) => format!("at most {}", self.shown_change(high)),
            (None, None) => "-".to_owned(),
        }
    }

    /// What every form shows of it: the measure, before, after, its change and the interval of it.
    pub(super) fn cells(&self) -> [String; 5] {
        let (before, after) = (self.shown(self.before), self.shown(self.after));
        [self.measure.clone(), before, after, self.its_change(), self.interval()]
    }

    /// Both, as far as there is an interval: `+5.1% (+2.0% to +8.3%)`.
    pub(super) fn its_change_and_interval(&self) -> String {
        match self.interval().as_str() {
            "-" => self.its_change(),
            interval => format!("{} ({interval})", self.its_change()),
        }
    }

    /// What is said of it, in a word.
    pub(super) fn word(&self) -> &'static str {
        match (self.result.as_str(), self.worse, self.unit.as_str()) {
            ("changed", true, "us") => "SLOWER",
            ("changed", false, "us") => "FASTER",
            ("changed", true, "per_second") => "LOWER",
            ("changed", false, "per_second") => "HIGHER",
            ("changed", true, _) => "MORE",
            ("changed", false, _) => "FEWER",
            ("same", ..) => "same",
            ("unclear", ..) => "unclear",
            _ if self.change.is_none() => "",
            _ => "unknown",
        }
    }
}

impl ComparedRow {
    /// Whether it is all requests together.
    pub(super) fn is_all(&self) -> bool {
        self.kind.is_empty()
    }

    /// What it is called; with its scenario, where there are several.
    pub(super) fn label(&self, with_scenario: bool) -> String {
        // Iterations are called by their scenario as it is.
        if !with_scenario || self.is_all() || self.kind == "iteration" {
            return self.label.clone();
        }
        format!("{}: {}", self.scenario.as_deref().unwrap_or("all scenarios"), self.label)
    }

    /// Its values that changed by more than chance.
    pub(super) fn changed(&self) -> impl Iterator<Item = &ComparedValue> {
        self.values.iter().filter(|value| value.is_changed())
    }

    /// The value of a measure.
    pub(super) fn value(&self, measure: &str) -> Option<&ComparedValue> {
        self.values.iter().find(|value| value.measure == measure)
    }

    /// What changed of it: `slower (p50 +5.1%, p95 +6.0%), more errors (+0.52 pp)`; `None`: nothing.
    pub(super) fn summary(&self) -> Option<String> {
        let mut parts = Vec::new();
        let times: Vec<&ComparedValue> =
            self.changed().filter(|value| value.unit == "us").collect();
        if !times.is_empty() {
            let word = match (times.iter().all(|own| own.worse), times.iter().any(|own| own.worse))
            {
                (true, _) => "slower",
                (_, false) => "faster",
                _ => "spread differently",
            };
            let shown = times.iter().map(|own| format!("{} {}", own.measure, own.its_change()));
            parts.push(format!("{word} ({})", shown.collect::<Vec<_>>().join(", ")));
        }
        for own in self.changed().filter(|value| value.unit != "us") {
            let word = match (own.unit.as_str(), own.worse) {
                ("per_second", true) => "lower rate",
                ("per_second", false) => "higher rate",
                (_, true) => "more errors",
                (_, false) => "fewer errors",
            };
            parts.push(format!("{word} ({})", own.its_change()));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Pair {
    /// Whether its rows are of several scenarios.
    pub(super) fn has_scenarios(&self) -> bool {
        let mut of = self.rows.iter().filter(|row| !row.is_all()).map(|row| &row.scenario);
        of.next().is_some_and(|first| of.any(|own| own != first))
    }

    /// Why values are unclear, and what would tell: those whose interval excludes that there is no change, as what is
    /// looked at together is held to a stricter test, and those that may have changed by 5%.
    pub(super) fn unclear(&self) -> Vec<String> {
        let beside = |own: &ComparedValue| {
            own.low.is_some_and(|low| low > 0.0) || own.high.is_some_and(|high| high < 0.0)
        };
        let of = |is_beside: bool, text: String| {
            let mut names: Vec<&str> = Vec::new();
            let (mut seconds, mut runs) = (Some(0.0f64), Some(0));
            let all = self.rows.iter().flat_map(|row| &row.values);
            for own in all.filter(|own| own.result == "unclear" && beside(own) == is_beside) {
                seconds = seconds.zip(own.needed_s).map(|(most, own)| most.max(own));
                runs = runs.max(own.needed_runs);
                if !names.contains(&own.measure.as_str()) {
                    names.push(&own.measure);
                }
            }
            let advice =
                advice(seconds, runs).map_or(String::new(), |advice| format!("; {advice}"));
            (!names.is_empty()).then(|| format!("{}: {text}{advice}", names.join(", ")))
        };
        let corrected = format!("not certain after correcting for {} comparisons", self.tests);
        let wide = "may have changed by 5% (of errors, half a percentage point) or not".to_owned();
        of(true, corrected).into_iter().chain(of(false, wide)).collect()
    }

    /// Of which measures nothing is known of how far a change may be chance, and why, each reason once.
    pub(super) fn whys(&self) -> Vec<String> {
        let mut whys: Vec<(&str, Vec<&str>)> = Vec::new();
        let unknown =
            self.rows.iter().flat_map(|row| &row.values).filter(|own| own.result == "unknown");
        for own in unknown {
            let Some(why) = own.why.as_deref() else { continue };
            let at = whys.iter().position(|(known, _)| *known == why).unwrap_or_else(|| {
                whys.push((why, Vec::new()));
                whys.len() - 1
            });
            if !whys[at].1.contains(&own.measure.as_str()) {
                whys[at].1.push(&own.measure);
            }
        }
        whys.into_iter().map(|(why, of)| format!("{}: {why}", of.join(", "))).collect()
    }

    /// What is found, in a sentence or two: what the gates say first.
    pub(super) fn summary(&self) -> String {
        match self.verdict() {
            Some(verdict) => format!("{verdict}; {}", self.differences()),
            None => self.differences(),
        }
    }

    fn differences(&self) -> String {
        if self.rows.is_empty() {
            return "the runs have no row in common".to_owned();
        }
        if self.tests == 0 {
            return "too little data to tell whether any difference is random".to_owned();
        }
        let among = format!("of {} differences that were tested together", self.tests);
        // What is known of all requests is then of different ones.
        let is_other = !self.only_before.is_empty() && self.rows.iter().all(ComparedRow::is_all);
        let apart = match is_other {
            true => "; no request, group or scenario is in both runs, so that these are others",
            false => "",
        };
        if self.changed == 0 {
            return format!("no change is certain: {}{apart}", self.uncertain());
        }
        let named = self.has_scenarios();
        // What one request does shows in all of them together: that is said last.
        let (all, each): (Vec<&ComparedRow>, Vec<&ComparedRow>) =
            self.rows.iter().partition(|row| row.is_all());
        let rows: Vec<String> = each
            .into_iter()
            .chain(all)
            .filter_map(|row| Some(format!("{}: {}", row.label(named), row.summary()?)))
            .collect();
        let more = rows.len().saturating_sub(MAX_NAMED);
        let mut text = rows[..rows.len() - more].join("; ");
        if more > 0 {
            text.push_str(&format!("; and {}", more_rows(more)));
        }
        format!("{text} ({} {among}, by more than random variation){apart}", self.changed)
    }

    /// What differences are where none is certain: `of 10 differences 6 are within 5%, ...`.
    fn uncertain(&self) -> String {
        let of = |result: &str| {
            let values = self.rows.iter().flat_map(|row| &row.values);
            values.filter(|own| own.result == result && own.change.is_some()).count()
        };
        let (same, unclear, unknown) = (of("same"), of("unclear"), of("unknown"));
        let kinds = [
            (same, "within 5% (of errors, half a percentage point)"),
            (unclear, "unclear"),
            (unknown, "unknown for too little data"),
        ];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let each = kinds.map(|(count, what)| {
            format!("{count} {} {what}", if count == 1 { "is" } else { "are" })
        });
        let all = same + unclear + unknown;
        format!("of {} {}", counted(all as u64, "difference"), each.collect::<Vec<_>>().join(", "))
    }
}

/// So many rows beside others that are named.
pub(super) fn more_rows(number: usize) -> String {
    format!("{number} more row{}", if number == 1 { "" } else { "s" })
}

/// How much something matters that must be known before any number is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caution {
    /// The numbers of a run are invalid: nothing follows from them.
    Invalid,
    /// Numbers may differ for this reason.
    Careful,
    /// It is good to know.
    Note,
}

impl ComparisonDocument {
    /// A side of a pair.
    pub(super) fn side(&self, at: u64) -> &ComparedSide {
        &self.sides[at as usize]
    }

    /// What must be known before any number is looked at: what each run was not, and what differs, what matters most
    /// first.
    pub(super) fn cautions(&self) -> Vec<(Caution, String)> {
        let mut all: Vec<(Caution, String)> =
            self.runs.iter().flat_map(|run| run.cautions()).collect();
        let differs = self.differs.iter().map(|own| {
            let caution = if own.matters { Caution::Careful } else { Caution::Note };
            (caution, self.differing(&own.what, &own.values))
        });
        all.extend(differs);
        all.sort_by_key(|(caution, _)| *caution);
        all
    }

    fn differing(&self, what: &str, values: &[String]) -> String {
        let each = self.runs.iter().zip(values).map(|(run, value)| {
            let value = if value.is_empty() { "none" } else { value };
            format!("{value} in {}", run.name)
        });
        format!("{what} differs: {}", each.collect::<Vec<_>>().join(", "))
    }
}

impl ComparedRun {
    /// What bears on whether its numbers can be compared.
    fn cautions(&self) -> Vec<(Caution, String)> {
        let about = &self.about;
        let mut all = Vec::new();
        let mut say =
            |caution: Caution, text: &str| all.push((caution, format!("{} {text}", self.name)));
        if about.validity != "valid" && !about.validity.is_empty() {
            let why = about.reasons.first().map_or("", String::as_str);
            let is_invalid = about.validity == "invalid";
            let caution = if is_invalid { Caution::Invalid } else { Caution::Careful };
            say(caution, &format!("is {}: {why}", about.validity));
        }
        if !about.finished {
            say(Caution::Careful, "was broken off");
        } else if about.interrupted {
            say(Caution::Careful, "was interrupted");
        }
        if !about.passed {
            say(Caution::Note, "failed");
        }
        if about.source == "result" {
            say(
                Caution::Note,
                "is a run.json alone: its rows have no intervals, and nothing of them is tested",
            );
        }
        if !about.is_steady {
            say(Caution::Note, "has no steady part: all of its seconds are compared");
        }
        all
    }

    /// When it was, how long, and what the tester says of it.
    pub(super) fn described(&self) -> String {
        let about = &self.about;
        let started = crate::folder::stamp(about.meta.started_unix as u64).replacen('T', " ", 1);
        let (day, clock) = started.split_once(' ').unwrap_or((&started, ""));
        let mut text = format!("{} {} UTC", day, clock.replace('-', ":"));
        text.push_str(&format!(
            ", seconds {} to {} of {}",
            about.seconds.0,
            about.seconds.1,
            time(about.elapsed_s * 1e6)
        ));
        for (name, value) in &about.meta.labels {
            let value: String =
                value.chars().take(if name == "commit" { 12 } else { 60 }).collect();
            text.push_str(&format!(", {name} {value}"));
        }
        text
    }
}
