//! Reads a threshold.

use squall_base::units;
use squall_metrics::Monitored;

use super::limit::{Op, Unit};
use super::metric::Metric;
use super::requirement::Threshold;
use super::subject::Subject;
use super::{apdex, foreign, monitored};

/// Why a text is not a threshold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: String,
    /// Byte offset in the text.
    pub offset: usize,
    pub help: Option<String>,
}

const FORMS: &str = "write it as p99(login) < 300ms, error_rate < 1%, rate(\"GET /\") > 100/s, count >= 10, \
                     p95(login, scenario: buyer) < 1s (also kind, group, phase, and tags: p95(team: a) < 1s), \
                     p95(group checkout) < 1s, apdex(login, 500ms) > 0.9, \
                     or for each window of some seconds p95 < 300ms over 10s; \
                     the metrics are count, errors, error_rate, rate, mean, min, max, p50 to p99.999, apdex, \
                     corrected_mean, corrected_max, corrected_p99, errors_<kind>, cut_off, not_sent, and the run's counters; \
                     of what the plan records with `metric` also last(stock) > 5, p95(render) < 10, rate(cached) > 90%; \
                     of what a monitor samples cpu(server) < 80%, max(rss, monitor: server) < 1GiB";

fn fail(offset: usize, message: String) -> SyntaxError {
    SyntaxError { message, offset, help: Some(FORMS.to_owned()) }
}

impl Threshold {
    /// Parses a threshold.
    ///
    /// # Errors
    /// The text is not a threshold; the error says where, and what was expected.
    pub fn parse(text: &str) -> Result<Threshold, SyntaxError> {
        let body = text.trim();
        let end = body
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(body.len());
        let (word, rest) = body.split_at(end);
        let apdex = (word == "apdex").then(|| apdex::parse(rest)).transpose();
        let apdex = apdex.map_err(|message| fail(end, message))?;
        let (of_apdex, rest) = match &apdex {
            Some(apdex) => (Some(Metric::Apdex { target_us: apdex.target_us }), &*apdex.rest),
            None => (None, rest),
        };
        let is_known = Metric::parse(word).is_some() || Monitored::unit_of(word).is_some();
        if of_apdex.is_none() && !is_known {
            return Err(unknown(word, rest));
        }
        let (mut subject, rest) =
            Subject::parse(rest.trim_start()).map_err(|message| fail(end, message))?;
        let sampled = match of_apdex {
            Some(_) => None,
            None => monitored::parse(word, &mut subject).map_err(|message| fail(end, message))?,
        };
        let metric = of_apdex.or(sampled).or_else(|| Metric::parse(word));
        let metric = metric.ok_or_else(|| unknown(word, rest))?.of_subject(&mut subject);
        if !subject.is_all() && matches!(metric, Metric::Counter(_)) {
            return Err(fail(end, format!("`{word}` counts for the whole run: it takes no name")));
        }
        if subject.phase.is_some() && !matches!(metric, Metric::Latency { corrected: false, .. }) {
            return Err(fail(end, format!("`{word}` has no phases: only latencies do")));
        }
        let rest = rest.trim_start();
        let at = text.len() - rest.len();
        let (op, limit) = Op::strip(rest)
            .ok_or_else(|| fail(at, "expected one of <, <=, >, >=, == and !=".to_owned()))?;
        if subject.selector.name.is_none() && metric == Metric::Last {
            return Err(fail(end, "`last` needs the name of a gauge".to_owned()));
        }
        let (limit, window) = match limit.split_once(" over ") {
            Some((limit, length)) => (limit, Some(window_of(length).map_err(|own| fail(at, own))?)),
            None => (limit, None),
        };
        let (unit, limit) = limit_of(metric, &subject, limit.trim(), at)?;
        let is_by_second = match metric {
            Metric::Sampled(_) => true,
            _ => unit == metric.unit() && metric.is_of_rows(),
        };
        if window.is_some() && !is_by_second {
            let text =
                format!("`{word}` with this limit is about the whole run: it takes no `over`");
            return Err(fail(end, text));
        }
        let (text, word) = (body.to_owned(), word.to_owned());
        Ok(Threshold { text, metric, word, subject, op, limit, unit, window })
    }
}

/// A word that is no metric, with what another tool's word for one is here.
fn unknown(word: &str, rest: &str) -> SyntaxError {
    let near = foreign::meant(word, rest).map(|ours| format!("did you mean `{ours}`?"));
    let error = fail(0, format!("unknown metric `{word}`"));
    SyntaxError { help: near.or(error.help), ..error }
}

/// A limit with its unit: the metric's or, as what a plan records itself may be in any unit, another one.
fn limit_of(
    metric: Metric,
    subject: &Subject,
    limit: &str,
    at: usize,
) -> Result<(Unit, f64), SyntaxError> {
    let units = match (metric, subject.selector.metric()) {
        (Metric::Sampled(_), Some(name)) => monitored::units(name),
        _ => &[metric.unit()],
    };
    // There is always one.
    let (unit, others) =
        units.split_first().map_or((metric.unit(), units), |(own, rest)| (*own, rest));
    let error = |message| SyntaxError { help: unit.hint(limit), ..fail(at, message) };
    let own = subject.selector.name.iter().flat_map(|_| metric.units_of_own()).chain(others);
    let read = unit.parse(limit).map(|value| (unit, value)).map_err(error);
    read.or_else(|error| {
        let of_own = |unit: &Unit| Some((*unit, unit.parse(limit).ok()?));
        own.into_iter().find_map(of_own).ok_or(error)
    })
}

/// The longest moving window, in seconds: each second of it is kept in memory.
const MAX_WINDOW_S: u32 = 3_600;

/// The length of a moving window, in seconds.
fn window_of(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let length = units::parse_duration(text).ok().filter(|length| length.subsec_nanos() == 0);
    let seconds = length.and_then(|length| u32::try_from(length.as_secs()).ok());
    match seconds {
        Some(seconds) if seconds > MAX_WINDOW_S => {
            Err(format!("a window may be 1h long at most, found `over {text}`"))
        }
        Some(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(format!("expected whole seconds after `over`, from 1s to 1h, found `{text}`")),
    }
}
