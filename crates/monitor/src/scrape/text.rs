//! Prometheus' text: lines of a name, labels and a value, with comments that say what is counted
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>; what OpenMetrics has besides is skipped). Pure.

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Line<'t> {
    /// Of what type the series of a family are.
    Type {
        family: &'t str,
        kind: SeriesKind,
    },
    Sample(Sample<'t>),
    /// A comment, or nothing.
    Nothing,
    Broken,
}

/// What the values of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeriesKind {
    Counter,
    Gauge,
    Histogram,
    Summary,
    Untyped,
}

/// A value of a series.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample<'t> {
    /// Name and labels as they are written: what tells series apart.
    pub series: &'t str,
    pub name: &'t str,
    /// Its labels as they are written, without the brackets.
    pub labels: &'t str,
    pub value: f64,
}

/// Reads a line.
pub(crate) fn line(text: &str) -> Line<'_> {
    let text = text.trim_matches([' ', '\t', '\r']);
    if text.is_empty() {
        return Line::Nothing;
    }
    if let Some(comment) = text.strip_prefix('#') {
        let mut words = comment.split_ascii_whitespace();
        if words.next() != Some("TYPE") {
            return Line::Nothing;
        }
        return match (words.next(), words.next()) {
            (Some(family), Some(kind)) => Line::Type { family, kind: kind_of(kind) },
            _ => Line::Broken,
        };
    }
    sample(text).map_or(Line::Broken, Line::Sample)
}

fn kind_of(word: &str) -> SeriesKind {
    match word {
        "counter" => SeriesKind::Counter,
        "gauge" => SeriesKind::Gauge,
        "histogram" => SeriesKind::Histogram,
        "summary" => SeriesKind::Summary,
        _ => SeriesKind::Untyped,
    }
}

fn sample(text: &str) -> Option<Sample<'_>> {
    let end = text.find(|letter| !is_of_name(letter))?;
    let (name, rest) = text.split_at(end);
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => {
            let end = end_of_labels(rest)?;
            (&rest[..end], &rest[end + 1..])
        }
        None => ("", rest),
    };
    let series = &text[..text.len() - rest.len()];
    let mut words = rest.split_ascii_whitespace();
    let value = value(words.next()?)?;
    // What may follow is a time, or an exemplar of OpenMetrics.
    let is_good = words.next().is_none_or(|word| word == "#" || word.parse::<f64>().is_ok());
    is_good.then_some(Sample { series, name, labels, value })
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')
}

/// Where the bracket is that closes labels: one in quotes does not.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'}' => return !is_quoted,
            _ => {}
        }
        false
    })
}

/// A value, such as `1.5e3`, `+Inf` or `NaN`.
fn value(word: &str) -> Option<f64> {
    // Rust's grammar has these words in any case, and no others.
    word.parse().ok()
}

/// The labels of a series; `None`: they are broken.
pub(crate) fn labels(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once('=')?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|letter| is_of_name(letter) && letter != ':') {
            return None;
        }
        let behind = behind.trim_start().strip_prefix('"')?;
        let (value, behind) = quoted(behind)?;
        found.push((name.to_owned(), value));
        rest = behind.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(behind) => behind.trim_start(),
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(found)
}

/// A value until its quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                letter @ ('\\' | '"') => value.push(letter),
                letter => value.extend(['\\', letter]),
            },
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_as_the_format_says() {
        let told = |name, labels, value| Ok((name, labels, value));
        for (text, expected) in [
            (
                "http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000",
                told("http_requests_total", "method=\"post\",code=\"200\"", 1027.0),
            ),
            (
                "metric_without_timestamp_and_labels 12.47",
                told("metric_without_timestamp_and_labels", "", 12.47),
            ),
            (
                "something_weird{problem=\"division by zero\"} +Inf -3982045",
                told("something_weird", "problem=\"division by zero\"", f64::INFINITY),
            ),
            ("a{b=\"}\\\"\"}1", told("a", "b=\"}\\\"\"", 1.0)),
            ("a 1 # {trace_id=\"x\"} 0.5", told("a", "", 1.0)),
            ("# TYPE a counter", Err(Line::Type { family: "a", kind: SeriesKind::Counter })),
            ("# HELP a TYPE a counter", Err(Line::Nothing)),
            ("# EOF", Err(Line::Nothing)),
            ("", Err(Line::Nothing)),
            ("# TYPE a", Err(Line::Broken)),
            ("a", Err(Line::Broken)),
            ("a b", Err(Line::Broken)),
            ("a 1 b", Err(Line::Broken)),
            ("1a 1", Err(Line::Broken)),
            ("a{b=\"c\" 1", Err(Line::Broken)),
            ("<html>", Err(Line::Broken)),
        ] {
            let read = match line(text) {
                Line::Sample(own) => Ok((own.name, own.labels, own.value)),
                other => Err(other),
            };
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn labels_are_taken_apart() {
        let expected = [("path", "C:\\DIR\\F\n"), ("error", "no \"x\", y")];
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        let text = r#"path="C:\\DIR\\F\n", error="no \"x\", y","#;
        assert_eq!(labels(text), Some(expected));
        for broken in ["a", "a=", "a=b", "a=\"b", "a=\"b\" c=\"d\"", "=\"b\"", "a-b=\"c\""] {
            assert_eq!(labels(broken), None, "{broken}");
        }
    }

    proptest! {
        /// What is written is read again, however its labels look.
        #[test]
        fn a_series_is_read_as_it_was_written(
            values in prop::collection::vec(("[a-z_]{1,4}", "[a-z\"\\\\\n{}=, ß]{0,8}"), 0..4),
            value in -1e9f64..1e9,
        ) {
            let escaped = |text: &str| text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
            let written: Vec<String> =
                values.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
            let text = format!("name{{{}}} {value}", written.join(","));
            let Line::Sample(read) = line(&text) else { panic!("{text}") };
            prop_assert_eq!(read.value, value);
            prop_assert_eq!(labels(read.labels), Some(values));
        }

        #[test]
        fn anything_is_read_without_a_panic(text in "[a-z#{}\"\\\\= 0-9.ß]{0,40}") {
            if let Line::Sample(read) = line(&text) {
                let _ = labels(read.labels);
            }
        }
    }
}
