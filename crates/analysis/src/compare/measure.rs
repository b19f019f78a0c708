//! What is compared: a rate, a share of errors, a mean, a percentile; and how it is written: `p95(login)`.

use squall_metrics::{RowKey, Selector};

use crate::SyntaxError;
use crate::threshold::subject::Subject;

/// The percentiles that a comparison knows.
pub const GRID: [f64; 13] =
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 90.0, 95.0, 99.0, 99.9];

/// What every row is compared by.
pub const MEASURES: [Measure; 7] = [
    Measure::Rate,
    Measure::ErrorRate,
    Measure::Mean,
    Measure::Percentile(50.0),
    Measure::Percentile(90.0),
    Measure::Percentile(95.0),
    Measure::Percentile(99.0),
];

/// A number that a row has in each run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// How many ended a second.
    Rate,
    /// The share of them that were errors, from 0 to 1.
    ErrorRate,
    /// The mean latency of complete responses, in µs.
    Mean,
    /// A percentile of these, in µs; one of [`GRID`].
    Percentile(f64),
}

/// How a measure changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// By a share of what it was.
    Ratio,
    /// By so much, as a share of all: from 1% to 3% is 2 percentage points.
    Points,
}

impl Measure {
    /// As it is written: `rate`, `error_rate`, `mean`, `p99.9`.
    pub fn word(self) -> String {
        match self {
            Measure::Rate => "rate".to_owned(),
            Measure::ErrorRate => "error_rate".to_owned(),
            Measure::Mean => "mean".to_owned(),
            Measure::Percentile(p) => format!("p{p}"),
        }
    }

    /// The measure of a word; `None`: it is none that is compared.
    pub fn from_word(word: &str) -> Option<Measure> {
        match word {
            "rate" => Some(Measure::Rate),
            "error_rate" => Some(Measure::ErrorRate),
            "mean" => Some(Measure::Mean),
            _ => {
                let p: f64 = word.strip_prefix('p')?.parse().ok()?;
                GRID.contains(&p).then_some(Measure::Percentile(p))
            }
        }
    }

    pub fn scale(self) -> Scale {
        if self == Measure::ErrorRate { Scale::Points } else { Scale::Ratio }
    }

    /// Whether it is a time, in µs.
    pub fn is_time(self) -> bool {
        matches!(self, Measure::Mean | Measure::Percentile(_))
    }

    /// Whether more of it is worse for those who wait: all but the rate.
    pub fn more_is_worse(self) -> bool {
        self != Measure::Rate
    }
}

/// A measure of some rows: `p95(login)`.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureOf {
    /// As it was written.
    pub text: String,
    pub measure: Measure,
    /// The rows; all requests together if nothing is given.
    pub selector: Selector,
}

const FORMS: &str = "write it as p95, p99(login), error_rate, rate(\"GET /\"), p95(login, scenario: buyer); \
                     the measures are rate, error_rate, mean, p10, p20, p30, p40, p50, p60, p70, p75, p80, \
                     p90, p95, p99, p99.9";

impl MeasureOf {
    /// Parses a measure.
    ///
    /// # Errors
    /// The text is none; the error says where, and what was expected.
    pub fn parse(text: &str) -> Result<MeasureOf, SyntaxError> {
        let (of, rest) = MeasureOf::parse_prefix(text)?;
        match rest.trim() {
            "" => Ok(of),
            more => {
                let offset = text.rfind(more).unwrap_or(0);
                Err(error(offset, format!("unexpected `{more}` after the measure")))
            }
        }
    }

    /// Parses one at the beginning of a text, and returns what follows.
    pub(super) fn parse_prefix(text: &str) -> Result<(MeasureOf, &str), SyntaxError> {
        let body = text.trim_start();
        let begin = text.len() - body.len();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let (word, rest) = body.split_at(body.find(|c| !is_word(c)).unwrap_or(body.len()));
        let measure = Measure::from_word(word).ok_or_else(|| match word {
            "" => error(begin, "expected a measure".to_owned()),
            _ => error(begin, format!("unknown measure `{word}`")),
        })?;
        let at = begin + word.len();
        let (subject, rest) =
            Subject::parse(rest.trim_start()).map_err(|message| error(at, message))?;
        if subject.phase.is_some() {
            return Err(error(at, "phases are not compared".to_owned()));
        }
        let written = text[begin..text.len() - rest.len()].trim_end().to_owned();
        Ok((MeasureOf { text: written, measure, selector: subject.selector }, rest))
    }

    /// Whether it is about all requests together.
    pub fn is_all(&self) -> bool {
        self.selector == Selector::default()
    }

    /// Those of the rows that it is about, by their positions.
    pub fn rows(&self, keys: &[Option<RowKey>]) -> Vec<usize> {
        if self.is_all() {
            return keys.iter().position(Option::is_none).into_iter().collect();
        }
        let kinds = self.selector.kinds(keys.iter().flatten());
        let is_meant = |key: &RowKey| kinds.contains(&key.place.kind) && self.selector.matches(key);
        let all = keys.iter().enumerate();
        all.filter(|(_, key)| key.as_ref().is_some_and(is_meant)).map(|(at, _)| at).collect()
    }
}

/// What is wrong at a place of a text.
pub(super) fn error(offset: usize, message: String) -> SyntaxError {
    SyntaxError { message, offset, help: Some(FORMS.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_written_as_thresholds_are() {
        let of = |text: &str| MeasureOf::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(of(" p95 ").measure, Measure::Percentile(95.0));
        assert!(of("error_rate").is_all());
        let login = of("p99.9(login, scenario: buyer)");
        assert_eq!(login.text, "p99.9(login, scenario: buyer)");
        assert_eq!(login.selector.scenario.as_deref(), Some("buyer"));
        for measure in MEASURES {
            assert_eq!(Measure::from_word(&measure.word()), Some(measure));
        }
    }

    #[test]
    fn what_is_no_measure_is_refused_at_its_place() {
        for (text, offset, word) in [
            ("", 0, "expected a measure"),
            ("  p97", 2, "unknown measure `p97`"),
            ("count", 0, "unknown measure `count`"),
            ("p95(login", 3, "closing parenthesis"),
            ("p95(login, phase: connect)", 3, "not compared"),
            ("p95 < 300ms", 4, "unexpected `< 300ms`"),
        ] {
            let error = MeasureOf::parse(text).expect_err(text);
            assert!(error.message.contains(word), "{text}: {error:?}");
            assert_eq!(error.offset, offset, "{text}");
        }
    }
}
