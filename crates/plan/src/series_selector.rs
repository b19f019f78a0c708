//! Which series of an endpoint are meant, as Prometheus writes it: a name, or a name with matches of labels, such as
//! `requests_total{code=~"5..",method!="GET"}`. Pure.

use crate::expr::Pattern;

/// Most matches of labels.
const MAX_MATCHES: usize = 20;

/// A name of series, and what their labels have to be.
#[derive(Debug, Clone)]
pub struct SeriesSelector {
    name: String,
    matches: Vec<LabelMatch>,
}

#[derive(Debug, Clone)]
struct LabelMatch {
    label: String,
    /// Whether it has to be so, or must not be.
    wanted: bool,
    value: LabelValue,
}

#[derive(Debug, Clone)]
enum LabelValue {
    Text(String),
    /// Matches the whole value.
    Pattern(Pattern),
}

impl SeriesSelector {
    /// Reads a selector.
    ///
    /// # Errors
    /// It is none: what was expected, where.
    pub fn parse(text: &str) -> Result<SeriesSelector, String> {
        let text = text.trim();
        let end = text.find(|letter| !is_of_name(letter)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return Err(format!("expected the name of a metric, found `{text}`"));
        }
        let mut own = SeriesSelector { name: name.to_owned(), matches: Vec::new() };
        let mut rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(own);
        }
        rest = rest.strip_prefix('{').ok_or_else(|| expected("`{` behind the name", rest))?;
        loop {
            rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix('}') {
                let behind = behind.trim();
                return if behind.is_empty() { Ok(own) } else { Err(expected("the end", behind)) };
            }
            if own.matches.len() == MAX_MATCHES {
                return Err(format!("expected at most {MAX_MATCHES} matches of labels"));
            }
            let (label, behind) = label_match(rest)?;
            own.matches.push(label);
            rest = behind.trim_start();
            match rest.strip_prefix(',') {
                Some(behind) => rest = behind,
                None if rest.starts_with('}') => {}
                None => return Err(expected("`,` or `}`", rest)),
            }
        }
    }

    /// The name of the series.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether series with these labels are meant; a label that is not there is empty.
    pub fn takes(&self, labels: &[(String, String)]) -> bool {
        self.matches.iter().all(|own| {
            let label = labels.iter().find(|(name, _)| *name == own.label);
            let value = label.map_or("", |(_, value)| value.as_str());
            let matches = match &own.value {
                LabelValue::Text(text) => text == value,
                LabelValue::Pattern(pattern) => pattern.is_match(value.as_bytes()),
            };
            matches == own.wanted
        })
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')
}

/// A match at the begin of a text, and what follows.
fn label_match(text: &str) -> Result<(LabelMatch, &str), String> {
    let end = text.find(|letter| !is_of_name(letter) || letter == ':').unwrap_or(text.len());
    let (label, rest) = text.split_at(end);
    if label.is_empty() {
        return Err(expected("the name of a label", text));
    }
    let rest = rest.trim_start();
    // `=~` begins as `=` does.
    let operators =
        [("=~", true, true), ("!~", false, true), ("=", true, false), ("!=", false, false)];
    let found = operators.into_iter().find_map(|(sign, wanted, is_pattern)| {
        rest.strip_prefix(sign).map(|rest| (wanted, is_pattern, rest))
    });
    let (wanted, is_pattern, rest) =
        found.ok_or_else(|| expected("`=`, `!=`, `=~` or `!~`", rest))?;
    let (value, rest) = quoted(rest.trim_start())?;
    let value = match is_pattern {
        true => LabelValue::Pattern(Pattern::compile(&format!(r"\A(?s:{value})\z"))?),
        false => LabelValue::Text(value),
    };
    Ok((LabelMatch { label: label.to_owned(), wanted, value }, rest))
}

/// A text in quotes at the begin of a text, and what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut letters = text.char_indices();
    let quote =
        letters.next().map(|(_, letter)| letter).filter(|letter| matches!(letter, '"' | '\''));
    let quote = quote.ok_or_else(|| expected("a value in quotes", text))?;
    let mut value = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, letter @ ('\\' | '"' | '\''))) => value.push(letter),
                // As of a pattern: `\.`.
                Some((_, letter)) => value.extend(['\\', letter]),
                None => break,
            },
            letter if letter == quote => return Ok((value, &text[at + letter.len_utf8()..])),
            letter => value.push(letter),
        }
    }
    Err(format!("expected `{quote}` at the end of `{text}`"))
}

fn expected(what: &str, found: &str) -> String {
    match found.is_empty() {
        true => format!("expected {what}, found the end"),
        false => format!("expected {what}, found `{found}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn series_are_selected_by_their_labels() {
        let selector = r#"requests_total{code=~"5..|4\\d\\d", method!='GET',path="/a,}",}"#;
        let own = SeriesSelector::parse(selector).expect("a selector");
        assert_eq!(own.name(), "requests_total");
        for (code, method, path, expected) in [
            ("503", "POST", "/a,}", true),
            ("404", "POST", "/a,}", true),
            ("5030", "POST", "/a,}", false),
            ("503", "GET", "/a,}", false),
            ("503", "POST", "/a", false),
        ] {
            let labels = labels(&[("code", code), ("method", method), ("path", path)]);
            assert_eq!(own.takes(&labels), expected, "{labels:?}");
        }
        // A label that is not there is empty.
        let own = SeriesSelector::parse(r#"up{job!~".+"}"#).expect("a selector");
        assert!(own.takes(&[]) && !own.takes(&labels(&[("job", "a")])));
    }

    #[test]
    fn what_was_expected_is_said() {
        for (text, error) in [
            ("", "expected the name of a metric, found ``"),
            ("5xx", "expected the name of a metric, found `5xx`"),
            ("up[5m]", "expected `{` behind the name, found `[5m]`"),
            ("up{", "expected the name of a label, found the end"),
            ("up{a}", "expected `=`, `!=`, `=~` or `!~`, found `}`"),
            ("up{a=b}", "expected a value in quotes, found `b}`"),
            (r#"up{a="b"#, r#"expected `"` at the end of `"b`"#),
            (r#"up{a="b" c="d"}"#, r#"expected `,` or `}`, found `c="d"}`"#),
            (r#"up{a="b"} + 1"#, "expected the end, found `+ 1`"),
        ] {
            assert_eq!(SeriesSelector::parse(text).expect_err(text), error);
        }
        assert!(SeriesSelector::parse(r#"up{a=~"("}"#).is_err());
    }

    proptest! {
        #[test]
        fn anything_is_read_without_a_panic(text in r#"[a-z]{0,3}[{}=!~",'\\ a-zäß(]{0,40}"#) {
            let _ = SeriesSelector::parse(&text);
        }
    }
}
