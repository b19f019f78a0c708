//! A number of a run, as a threshold names it, without a limit.

use super::parse::SyntaxError;
use super::requirement::Threshold;
use crate::totals::Totals;

/// A number of a run: `p99(login)`, `error_rate`, `last(stock)`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMeasure {
    text: String,
    /// The same with a limit that says nothing.
    threshold: Threshold,
}

impl RunMeasure {
    /// Reads one.
    ///
    /// # Errors
    /// The text is not the left side of a threshold; the error says where, and what was expected.
    pub fn parse(text: &str) -> Result<RunMeasure, SyntaxError> {
        if let Some(offset) = text.find(['<', '>', '=']) {
            return Err(SyntaxError {
                message: "a measure has no limit".to_owned(),
                offset,
                help: Some("write what is measured alone, such as p99(login)".to_owned()),
            });
        }
        // A time needs a unit.
        let parse = |limit: &str| Threshold::parse(&format!("{text} >= {limit}"));
        let plain = parse("0").ok().filter(|own| own.monitored().is_some());
        let threshold = plain.map_or_else(|| parse("0s").or_else(|_| parse("0")), Ok)?;
        Ok(RunMeasure { text: text.trim().to_owned(), threshold })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value in a run that took `elapsed_s` seconds: times in µs, rates per second. `None`: nothing of it was recorded.
    pub fn value(&self, totals: &Totals, elapsed_s: f64) -> Option<f64> {
        self.threshold.value(totals, elapsed_s).map(|value| value.value)
    }

    /// The unit of its values: `us`, `per_second`, `share` (of 1), `bytes`, `bytes_per_second` or `number`.
    pub fn unit(&self) -> &'static str {
        self.threshold.unit.label()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};

    fn totals() -> Totals {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "a", "login"));
        for latency_us in [1_000, 3_000] {
            slice.record(NameId(0), &Sample::ok(latency_us));
        }
        let mut totals = Totals::new();
        totals.add(&slice);
        totals
    }

    #[test]
    fn a_measure_is_a_threshold_without_a_limit() {
        let totals = totals();
        for (text, value, unit) in [
            ("mean(login)", Some(2_000.0), "us"),
            (" rate ", Some(0.5), "per_second"),
            ("count(login)", Some(2.0), "number"),
            ("error_rate", Some(0.0), "share"),
            ("p99(logout)", None, "us"),
        ] {
            let own = RunMeasure::parse(text).expect(text);
            let near = |own: f64, value: f64| (own - value).abs() <= 0.01 * value.max(1.0);
            let found = own.value(&totals, 4.0);
            assert!(
                match (found, value) {
                    (Some(found), Some(value)) => near(found, value),
                    (found, value) => found == value,
                },
                "{text}: {found:?}"
            );
            assert_eq!((own.unit(), own.text()), (unit, text.trim()), "{text}");
        }
    }

    #[test]
    fn what_is_no_measure_is_refused_where_it_stands() {
        for (text, offset, said) in [
            ("p99 < 3ms", 4, "no limit"),
            ("speed(a)", 0, "speed"),
            ("p99(", 3, "parenthesis"),
            ("", 0, "metric"),
        ] {
            let error = RunMeasure::parse(text).expect_err(text);
            assert!(error.offset == offset && error.message.contains(said), "{text}: {error:?}");
        }
    }
}
