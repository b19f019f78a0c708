//! What is measured of each run, and how its values are written.

use squall_base::units;

use crate::statistics::{Scale, Statistics};

/// The difference that is worth knowing of, as a share: if the repeats may not show it, more are advised.
const RELEVANT: f64 = 0.05;
/// The same of shares, such as an error rate, which are told as differences.
const RELEVANT_SHARE: f64 = 0.005;

/// What is measured of each run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    name: String,
    unit: Unit,
}

/// The unit of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// In µs.
    Time,
    /// A second.
    Rate,
    /// Of 1.
    Share,
    Bytes,
    Number,
}

impl Measure {
    /// `name` is the measure as the experiment names it, `mean(store)`; `unit` its label: `us`, `per_second`, `share`, `bytes`,
    /// and whatever else is a number.
    pub fn new(name: &str, unit: &str) -> Measure {
        Measure { name: name.to_owned(), unit: Unit::from_label(unit) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// How its differences are told. Shares are differences, in percentage points, as an error rate may be 0; CPU time is a
    /// share that is not: twice as much is twice as much.
    pub fn scale(&self) -> Scale {
        match self.unit {
            Unit::Share if !self.is_cpu() => Scale::Difference,
            _ => Scale::Ratio,
        }
    }

    /// The difference that is worth knowing of: 5 %, of shares half a percentage point.
    pub fn relevant(&self, own: &Statistics) -> f64 {
        match (own.scale, self.unit) {
            (Scale::Ratio, _) => RELEVANT,
            (Scale::Difference, Unit::Share) => RELEVANT_SHARE,
            (Scale::Difference, _) => {
                let values: Vec<f64> = own.cells.iter().filter_map(|cell| cell.value).collect();
                let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
                RELEVANT * mean.abs()
            }
        }
    }

    /// A value, as people read it.
    pub fn show(&self, value: f64) -> String {
        self.unit.show(value)
    }

    pub(crate) fn is_cpu(&self) -> bool {
        self.name.starts_with("cpu")
    }
}

impl Unit {
    pub fn from_label(label: &str) -> Unit {
        let all = [Unit::Time, Unit::Rate, Unit::Share, Unit::Bytes];
        all.into_iter().find(|unit| unit.label() == label).unwrap_or(Unit::Number)
    }

    pub fn label(self) -> &'static str {
        match self {
            Unit::Time => "us",
            Unit::Rate => "per_second",
            Unit::Share => "share",
            Unit::Bytes => "bytes",
            Unit::Number => "number",
        }
    }

    /// A value, as people read it.
    pub fn show(self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        let size = value.abs();
        let shown = match self {
            Unit::Time => units::time(size),
            Unit::Rate => units::rate(size),
            Unit::Share => units::percent(size),
            Unit::Bytes => units::bytes(size.round() as u64),
            Unit::Number if size >= 100.0 => units::count(size.round() as u64),
            Unit::Number => format!("{:.1$}", size, if size < 10.0 { 2 } else { 1 }),
        };
        format!("{sign}{shown}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_that_of_its_unit() {
        for unit in [Unit::Time, Unit::Rate, Unit::Share, Unit::Bytes, Unit::Number] {
            assert_eq!(Unit::from_label(unit.label()), unit);
        }
        assert_eq!(Unit::from_label("cores"), Unit::Number);
    }

    #[test]
    fn values_are_written_in_their_units() {
        for (unit, value, shown) in [
            (Unit::Time, 3_740.0, "3.74 ms"),
            (Unit::Time, -212.0, "-212 µs"),
            (Unit::Rate, 1_967.0, "1,967/s"),
            (Unit::Share, 0.127, "12.7%"),
            (Unit::Bytes, 12_897_485.0, "12.3 MiB"),
            (Unit::Number, 1.5, "1.50"),
            (Unit::Number, 12.34, "12.3"),
            (Unit::Number, 28_232.4, "28,232"),
        ] {
            assert_eq!(unit.show(value), shown);
        }
    }

    #[test]
    fn shares_that_may_be_zero_are_told_as_differences() {
        for (name, unit, scale) in [
            ("mean", "us", Scale::Ratio),
            ("rate", "per_second", Scale::Ratio),
            ("error_rate", "share", Scale::Difference),
            ("cpu(server)", "share", Scale::Ratio),
            ("rss(server)", "bytes", Scale::Ratio),
        ] {
            assert_eq!(Measure::new(name, unit).scale(), scale, "{name}");
        }
    }
}
