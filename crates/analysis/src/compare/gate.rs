//! What a build may not do to a measure: `p95 +10%`, `rate -5%`, `error_rate +0.5%`.

use squall_metrics::RowKey;

use super::advice::{needed, wanted_by_gate};
use super::comparison::{Difference, DifferenceResult, Needed};
use super::difference::{Row, decide, difference_and_doubt};
use super::estimate::Measured;
use super::measure::{MeasureOf, Scale, error};
use crate::SyntaxError;

/// The probability with which a change that a gate is to catch is said not to be there: less than the 5 in 100 that are
/// promised, as where seconds have much in common with those long before them 5.3 in 100 are missed with 5.
const MISSED: f64 = 0.04;
/// A gate is never asked to tell apart changes that are closer than this to its limit: as a share, or in points.
const CLOSEST: (f64, f64) = (0.02, 0.002);

/// A change that fails a build: one that is larger, and more than chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As it was written.
    pub text: String,
    /// What may not change.
    pub of: MeasureOf,
    /// By how much it may: above 0 it may not rise by more, below 0 not fall by more. A share of what it was; of
    /// error rates, a difference of the shares.
    pub limit: f64,
}

/// What a gate says of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// It got worse by more than the limit, and by more than chance: of equal sides, 5 in 100 at most are called so.
    Worse,
    /// It did not: of sides that changed by [`Gate::caught`], 5 in 100 at most are called so.
    NotWorse,
    /// What was measured does not tell.
    CannotTell,
    /// One of the sides has no such row or value.
    Missing,
}

impl GateOutcome {
    pub fn label(self) -> &'static str {
        match self {
            GateOutcome::Worse => "worse",
            GateOutcome::NotWorse => "not_worse",
            GateOutcome::CannotTell => "cannot_tell",
            GateOutcome::Missing => "missing",
        }
    }
}

/// What came of a gate for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    /// The gate as it was written.
    pub text: String,
    /// What it may change by, as in [`Gate`].
    pub limit: f64,
    /// The change that it is to catch, as in [`Gate::caught`].
    pub caught: f64,
    pub row: GatedRow,
    /// How it changed; `None`: not both sides have it.
    pub difference: Option<Difference>,
    /// Whether the change is larger than it may be.
    pub is_beyond: bool,
    /// What is said of it.
    pub outcome: GateOutcome,
    /// Where that is unknown, how much more would probably tell.
    pub needed: Option<Needed>,
}

/// What a gate is held to.
#[derive(Debug, Clone, PartialEq)]
pub enum GatedRow {
    All,
    /// A row of the first run.
    Of(RowKey),
    /// The first run has no row that is meant.
    Missing,
}

impl Gate {
    /// Parses a gate.
    ///
    /// # Errors
    /// The text is none; the error says where, and what was expected.
    pub fn parse(text: &str) -> Result<Gate, SyntaxError> {
        let fail = |offset: usize, message: &str| {
            let help = "write it as \"p95 +10%\", \"p99(login) +5%\", \"error_rate +0.5%\" (percentage points) or \
                        \"rate -5%\"";
            SyntaxError { help: Some(help.to_owned()), ..error(offset, message.to_owned()) }
        };
        let (of, rest) = MeasureOf::parse_prefix(text)?;
        let rest = rest.trim_start();
        let at = text.len() - rest.len();
        let (sign, number) = match (rest.strip_prefix('+'), rest.strip_prefix('-')) {
            (Some(number), _) => (1.0, number),
            (_, Some(number)) => (-1.0, number),
            _ => return Err(fail(at, "expected + or - and a percentage")),
        };
        let digits = number.trim().strip_suffix('%');
        let digits = digits.ok_or_else(|| fail(at + 1, "expected a percentage, such as 10%"))?;
        let is_number = |text: &&str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let percent =
            Some(digits.trim()).filter(is_number).and_then(|text| text.parse::<f64>().ok());
        let percent = percent.ok_or_else(|| fail(at + 1, "expected a number before the %"))?;
        if sign < 0.0 && percent >= 100.0 {
            return Err(fail(at + 1, "nothing can fall by 100% or more"));
        }
        Ok(Gate { text: text.trim().to_owned(), of, limit: sign * percent / 100.0 })
    }

    /// Whether a change is larger than it may be.
    fn is_beyond(&self, change: f64) -> bool {
        if self.limit.is_sign_positive() { change > self.limit } else { change < self.limit }
    }

    /// The change that it is to catch: twice the limit. Between the two it says what it can.
    pub fn caught(&self) -> f64 {
        let closest = if self.of.measure.scale() == Scale::Points { CLOSEST.1 } else { CLOSEST.0 };
        match self.of.measure.scale() {
            _ if self.limit.is_sign_positive() => self.limit + self.limit.max(closest),
            Scale::Points => self.limit + self.limit.min(-closest),
            // Two falls in a row, which never are one of everything.
            Scale::Ratio => (1.0 + self.limit) * (1.0 + self.limit.min(-closest)) - 1.0,
        }
    }

    fn result(&self, found: Found<'_>, sides: [&Measured; 2]) -> GateResult {
        let Found { row, difference, doubt, .. } = found;
        let change = difference.and_then(|own| own.change);
        let is_beyond = change.is_some_and(|change| self.is_beyond(change));
        let is_real = difference.is_some_and(|own| own.result == DifferenceResult::Changed);
        let caught = self.caught();
        let outcome = match change {
            None => GateOutcome::Missing,
            Some(_) if is_beyond && is_real => GateOutcome::Worse,
            Some(_) if doubt.is_some_and(|p| p < MISSED) => GateOutcome::NotWorse,
            Some(_) => GateOutcome::CannotTell,
        };
        let scaled = match self.of.measure.scale() {
            Scale::Points => caught,
            Scale::Ratio => (1.0 + caught).ln(),
        };
        let unsure = difference.filter(|_| outcome == GateOutcome::CannotTell);
        GateResult {
            text: self.text.clone(),
            limit: self.limit,
            caught,
            row,
            difference,
            is_beyond,
            outcome,
            needed: unsure.and_then(|own| needed(&own, wanted_by_gate(scaled), sides)),
        }
    }
}

/// What was found for a gate and a row.
struct Found<'g> {
    gate: &'g Gate,
    row: GatedRow,
    difference: Option<Difference>,
    /// The probability of so small a change where there is one that the gate is to catch.
    doubt: Option<f64>,
}

/// Judges two sides, each a run or several of the same thing, by gates: each row that a gate is about is held to it. What
/// is more than chance is decided among these alone, as they were chosen before.
pub fn judge(gates: &[Gate], before: &Measured, after: &Measured) -> Vec<GateResult> {
    let (first, second) = (before.keys(), after.keys());
    let mut found: Vec<Found<'_>> = Vec::new();
    for gate in gates {
        let rows = gate.of.rows(&first);
        if rows.is_empty() {
            found.push(Found { gate, row: GatedRow::Missing, difference: None, doubt: None });
        }
        for at in rows {
            let row = first[at].clone().map_or(GatedRow::All, GatedRow::Of);
            let other = second.iter().position(|key| *key == first[at]);
            let own = other.map(|other| {
                let (before, after) = (Row::new(before, at), Row::new(after, other));
                difference_and_doubt(gate.of.measure, &before, &after, Some(gate.caught()))
            });
            let own = own.filter(|(own, _)| own.before.is_some() && own.after.is_some());
            let (difference, doubt) = own.map_or((None, None), |(own, doubt)| (Some(own), doubt));
            found.push(Found { gate, row, difference, doubt });
        }
    }
    decide(&mut found.iter_mut().filter_map(|own| own.difference.as_mut()).collect::<Vec<_>>());
    found.into_iter().map(|own| own.gate.result(own, [before, after])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read() {
        let of = |text: &str| Gate::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(of("p95 +10%").limit, 0.1);
        assert_eq!(of(" rate(\"GET /\")  -5 % ").limit, -0.05);
        let login = of("p99(login)+2.5%");
        assert_eq!(login.of.selector.name.as_deref(), Some("login"));
        assert_eq!((login.limit, login.text.as_str()), (0.025, "p99(login)+2.5%"));
        assert!(of("rate -0%").is_beyond(-0.01) && !of("rate -0%").is_beyond(0.01));
    }

    #[test]
    fn a_gate_is_to_catch_twice_its_limit() {
        let caught = |text: &str| {
            let gate = Gate::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            (gate.caught() * 1e4).round() / 1e4
        };
        assert_eq!([caught("p95 +10%"), caught("error_rate +0.5%")], [0.2, 0.01]);
        assert_eq!([caught("rate -5%"), caught("rate -90%")], [-0.0975, -0.99]);
        assert_eq!(
            [caught("p95 +0%"), caught("rate -0%"), caught("error_rate +0%")],
            [0.02, -0.02, 0.002]
        );
    }

    #[test]
    fn what_is_no_gate_is_refused_at_its_place() {
        for (text, offset, word) in [
            ("", 0, "expected a measure"),
            ("p95", 3, "expected + or -"),
            ("p95 10%", 4, "expected + or -"),
            ("p95 +10", 5, "expected a percentage"),
            ("p95 +x%", 5, "expected a number"),
            ("p95 +-1%", 5, "expected a number"),
            ("p95 +%", 5, "expected a number"),
            ("rate -100%", 6, "nothing can fall"),
            ("p95 +10% or so", 5, "expected a percentage"),
            ("latency +10%", 0, "unknown measure `latency`"),
            ("p95(login +10%", 3, "closing parenthesis"),
        ] {
            let error = Gate::parse(text).expect_err(text);
            assert!(error.message.contains(word), "{text}: {error:?}");
            assert_eq!(error.offset, offset, "{text}");
        }
    }
}
