//! What a build may not do to a measure: `p95 +10%`, `rate -5%`, `error_rate +0.5%`.

use squall_metrics::RowKey;

use super::difference::{Difference, DifferenceResult, decide, difference};
use super::estimate::Measured;
use super::measure::{Measure, MeasureOf, error};
use crate::threshold::SyntaxError;

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

/// What came of a gate for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    /// The gate as it was written.
    pub text: String,
    /// What it may change by, as in [`Gate`].
    pub limit: f64,
    /// The row.
    pub row: GatedRow,
    /// How it changed; `None`: not both runs have it.
    pub difference: Option<Difference>,
    /// Whether it passed.
    pub passed: bool,
    /// Why, in words.
    pub why: &'static str,
}

/// What a gate is held to.
#[derive(Debug, Clone, PartialEq)]
pub enum GatedRow {
    /// All requests together.
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

    fn result(&self, row: GatedRow, own: Option<Difference>) -> GateResult {
        let beyond = own.and_then(|own| own.change).is_some_and(|change| self.is_beyond(change));
        let (passed, why) = match own {
            Some(Difference { change: Some(_), result, .. }) => match (beyond, result) {
                (false, _) => (true, "within the limit"),
                (true, DifferenceResult::Changed) => {
                    (false, "beyond the limit, and more than chance")
                }
                (true, DifferenceResult::Unknown) => {
                    (false, "beyond the limit; how far it may be chance is not known")
                }
                (true, _) => {
                    (true, "beyond the limit, but it may be chance: longer runs would tell")
                }
            },
            _ if row == GatedRow::Missing => (false, "the first run has no such row"),
            _ => (false, "not both runs have such a value"),
        };
        GateResult { text: self.text.clone(), limit: self.limit, row, difference: own, passed, why }
    }
}

/// Judges two runs by gates: each row that a gate is about is held to it. What is more than chance is decided
/// among these alone, as they were chosen before.
pub fn judge(gates: &[Gate], before: &Measured, after: &Measured) -> Vec<GateResult> {
    let (first, second) = (before.keys(), after.keys());
    let mut found: Vec<(&Gate, GatedRow, Option<Difference>)> = Vec::new();
    for gate in gates {
        let rows = gate.of.rows(&first);
        if rows.is_empty() {
            found.push((gate, GatedRow::Missing, None));
        }
        for at in rows {
            let of = |measure: Measure| {
                let other = second.iter().position(|key| *key == first[at])?;
                let own = difference(
                    measure,
                    before.estimate(at, measure),
                    after.estimate(other, measure),
                );
                Some(own).filter(|own| own.before.is_some() && own.after.is_some())
            };
            let row = first[at].clone().map_or(GatedRow::All, GatedRow::Of);
            found.push((gate, row, of(gate.of.measure)));
        }
    }
    decide(&mut found.iter_mut().filter_map(|(.., own)| own.as_mut()).collect::<Vec<_>>());
    found.into_iter().map(|(gate, row, own)| gate.result(row, own)).collect()
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
