//! The numbers that k6 takes of a metric, by their names: `avg`, `p(95)`, `count`, `rate`. Pure.

use super::facts::Distribution;

/// A number of a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Avg,
    Min,
    Med,
    Max,
    Count,
    /// From 0 to 100.
    Percentile(f64),
}

/// Those that are shown where nothing else is asked for.
pub(super) const SHOWN: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

impl Statistic {
    /// The number that a name asks for.
    ///
    /// # Errors
    /// The name is unknown, in a sentence that says what was expected.
    pub fn parse(name: &str) -> Result<Statistic, String> {
        Ok(match name {
            "avg" => Statistic::Avg,
            "min" => Statistic::Min,
            "med" => Statistic::Med,
            "max" => Statistic::Max,
            "count" => Statistic::Count,
            _ => {
                let inner = name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
                let percent = inner.and_then(|number| number.trim().parse::<f64>().ok());
                let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
                percent.map(Statistic::Percentile).ok_or_else(|| {
                    format!("unknown statistic `{name}`: expected avg, min, med, max, count, or a percentile such as p(95)")
                })?
            }
        })
    }

    /// Its value; in the unit of the trend, but for a count.
    pub fn of(self, trend: &dyn Distribution) -> f64 {
        match self {
            Statistic::Avg => trend.mean(),
            Statistic::Min => trend.min(),
            Statistic::Med => trend.percentile(50.0),
            Statistic::Max => trend.max(),
            Statistic::Count => trend.count() as f64,
            Statistic::Percentile(p) => trend.percentile(p),
        }
    }
}

/// What a threshold is about: `p(95)` of `p(95) < 200`.
pub(super) fn of_expression(expression: &str) -> &str {
    expression.split(['<', '>', '=', '!']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_k6() {
        for (name, expected) in [
            ("avg", Statistic::Avg),
            ("med", Statistic::Med),
            ("p(99.9)", Statistic::Percentile(99.9)),
            ("p( 0 )", Statistic::Percentile(0.0)),
        ] {
            assert_eq!(Statistic::parse(name), Ok(expected), "{name}");
        }
        for name in ["", "p95", "p(101)", "p(x)", "mean"] {
            let error = Statistic::parse(name).expect_err(name);
            assert!(error.contains("expected avg"), "{error}");
        }
    }

    #[test]
    fn expressions_begin_with_what_they_are_about() {
        for (expression, about) in
            [("p(95)<200", "p(95)"), (" rate >= 0.9", "rate"), ("count==0", "count"), ("", "")]
        {
            assert_eq!(of_expression(expression), about);
        }
    }
}
