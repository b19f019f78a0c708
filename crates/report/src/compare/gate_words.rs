//! What came of gates, in words: each in a sentence, and all of them. Pure.

use squall_analysis::{GateOutcome, GateResult, GatedRow, Scale};

use super::document::{GateRow, Pair};

/// Longest run that is advised, in seconds.
const LONGEST_S: f64 = 12.0 * 3_600.0;
/// Most runs that are advised.
const MOST_RUNS: u64 = 30;

/// Why a gate has its outcome; `invalid` are the runs whose numbers are.
pub(super) fn why(own: &GateResult, invalid: &[&str]) -> String {
    let is_points = own.difference.is_some_and(|own| own.measure.scale() == Scale::Points);
    let caught = change(own.caught, is_points);
    match (own.outcome, own.is_beyond) {
        (GateOutcome::Missing, _) if own.row == GatedRow::Missing => {
            "the first run has no such row".to_owned()
        }
        (GateOutcome::Missing, _) => "not both runs have such a value".to_owned(),
        _ if !invalid.is_empty() => format!("the numbers of {} are invalid", invalid.join(" and ")),
        (GateOutcome::Worse, _) => "more than the limit, and more than random variation".to_owned(),
        (GateOutcome::NotWorse, false) => format!("within the limit; {caught} is ruled out"),
        (GateOutcome::NotWorse, true) => {
            format!("more than the limit, but within random variation; {caught} is ruled out")
        }
        (GateOutcome::CannotTell, is_beyond) => {
            let unknown = own.difference.and_then(|own| own.why);
            let found = match (unknown, is_beyond) {
                (Some(why), _) => format!("too little data to tell whether this is random ({why})"),
                (_, true) => "more than the limit, but it may be random variation".to_owned(),
                (_, false) => format!("within the limit, but {caught} is not ruled out"),
            };
            let advice = own.needed.map(|needed| advice(needed.seconds, Some(needed.runs)));
            match advice.flatten() {
                Some(advice) => format!("{found}; {advice}"),
                None => found,
            }
        }
    }
}

/// A change: `+20%`, `-9.75%`, `+1 pp`.
fn change(change: f64, is_points: bool) -> String {
    let rounded = (change * 1e4).round() / 1e2;
    let unit = if is_points { " pp" } else { "%" };
    format!("{rounded:+}{unit}")
}

/// How long runs would have to be, or how many there would have to be, to tell; `None`: too long, and too many.
pub(super) fn advice(seconds: Option<f64>, runs: Option<u64>) -> Option<String> {
    let length = seconds.filter(|seconds| *seconds <= LONGEST_S).map(length);
    let runs = runs.filter(|runs| *runs <= MOST_RUNS);
    match (length, runs) {
        (Some(length), Some(runs)) => Some(format!(
            "runs of about {length}, or {runs} runs like these on each side, would tell"
        )),
        (Some(length), None) => Some(format!("runs of about {length} would tell")),
        (None, Some(runs)) => Some(format!("{runs} runs like these on each side would tell")),
        (None, None) => None,
    }
}

/// A length in plain units, rounded up.
fn length(seconds: f64) -> String {
    match seconds {
        ..=110.0 => format!("{} s", (seconds / 10.0).ceil() * 10.0),
        ..=5_400.0 => format!("{} min", (seconds / 60.0).ceil()),
        _ => format!("{} h", (seconds / 3_600.0).ceil()),
    }
}

impl GateRow {
    /// What is said of it, in a word or two.
    pub(super) fn word(&self) -> &'static str {
        match self.outcome.as_str() {
            "worse" => "WORSE",
            "not_worse" => "not worse",
            "missing" => "MISSING",
            _ => "cannot tell",
        }
    }

    /// Whether it fails a build.
    pub(super) fn fails(&self) -> bool {
        matches!(self.outcome.as_str(), "worse" | "missing")
    }

    /// Whether it is one that cannot tell.
    pub(super) fn is_undecided(&self) -> bool {
        self.outcome == GateOutcome::CannotTell.label()
    }

    /// What was found, and what follows: `login: +16.1% (+9.4% to +24.2%), more than the limit, ...`.
    pub(super) fn found(&self) -> String {
        match (&self.row, &self.value) {
            (Some(row), Some(own)) => {
                format!("{row}: {}, {}", own.its_change_and_interval(), self.why)
            }
            (Some(row), None) => format!("{row}: {}", self.why),
            (None, _) => self.why.clone(),
        }
    }
}

impl Pair {
    /// What the gates say all together; `None`: there are none.
    pub(super) fn verdict(&self) -> Option<String> {
        let named = |is_meant: fn(&GateRow) -> bool| {
            let mut names: Vec<&str> = self
                .gates
                .iter()
                .filter(|gate| is_meant(gate))
                .map(|gate| gate.text.as_str())
                .collect();
            names.dedup();
            names.join(", ")
        };
        let failed = named(GateRow::fails);
        let undecided = named(GateRow::is_undecided);
        match (self.gates.len(), failed.as_str(), undecided.as_str()) {
            (0, ..) => None,
            (_, "", "") => Some("no gate found it worse".to_owned()),
            (_, "", undecided) => Some(format!("the gate cannot tell: {undecided}")),
            (_, failed, "") => Some(format!("the gate failed: {failed}")),
            (_, failed, undecided) => {
                Some(format!("the gate failed: {failed}; it cannot tell: {undecided}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_in_plain_units() {
        let of = |seconds: f64, runs: u64| advice(Some(seconds), Some(runs)).unwrap_or_default();
        assert_eq!(of(41.0, 99), "runs of about 50 s would tell");
        assert_eq!(
            of(200.0, 8),
            "runs of about 4 min, or 8 runs like these on each side, would tell"
        );
        assert_eq!(of(20_000.0, 99), "runs of about 6 h would tell");
        assert_eq!(of(1e9, 9), "9 runs like these on each side would tell");
        assert_eq!((of(1e9, 99), advice(None, None)), (String::new(), None));
        assert_eq!(
            ["+20%", "+1 pp"],
            [change(0.2, false), change(0.01, true)].each_ref().map(String::as_str)
        );
    }
}
