//! JMeter's patterns, which are those of Perl 5, as ours, and its JSONPaths as those of RFC 9535: where both mean the same
//! they are written as it has to be, and everything else is refused.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern of JMeter's in Rust's syntax. `one_line`: what it is looked for in has no line ends.
///
/// # Errors
/// What of it has no equal.
pub(super) fn regex(source: &str, one_line: bool) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = source.chars().peekable();
    let refused = |what: &str| Err(format!("{what} in the pattern `{source}`"));
    while let Some(c) = rest.next() {
        match c {
            '\\' => match escape(&mut rest) {
                Some(text) => out.push_str(&text),
                None => return refused("an escape that is not supported"),
            },
            '[' => match class(&mut rest) {
                Some(text) => out.push_str(&text),
                None => return refused("a set of characters that is not supported"),
            },
            // Before the last line end it matches too.
            '$' if !one_line => return refused("`$`"),
            '{' if !is_count(rest.clone()) => out.push_str("\\{"),
            '(' if rest.peek() == Some(&'?') => {
                let after: String = rest.clone().skip(1).take(1).collect();
                if !matches!(after.as_str(), ":" | "i" | "s") {
                    return refused("`(?`");
                }
                out.push(c);
            }
            '+' if matches!(out.chars().last(), Some('+' | '*' | '?' | '}'))
                && !out.ends_with("\\}") =>
            {
                return refused("a possessive count");
            }
            other => out.push(other),
        }
    }
    match regex::Regex::new(&out) {
        Ok(_) => Ok(out),
        Err(_) => refused("something that is not supported"),
    }
}

/// Whether a pattern in Rust's syntax is found in an empty text.
pub(super) fn matches_nothing(pattern: &str) -> bool {
    regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(""))
}

/// What is behind a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    match rest.next()? {
        c @ ('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' | 'n' | 'r' | 't' | 'f') => {
            Some(format!("\\{c}"))
        }
        c if c.is_alphanumeric() => None,
        c => Some(regex::escape(&c.to_string())),
    }
}

/// A set of characters, behind its `[`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut out = String::from("[");
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    // In the first place it is itself.
    if rest.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    loop {
        match rest.next()? {
            ']' => {
                out.push(']');
                return Some(out);
            }
            // `[:alpha:]`
            '[' if rest.peek() == Some(&':') => return None,
            '\\' => match rest.next()? {
                'b' | 'B' => return None,
                c @ ('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'n' | 'r' | 't' | 'f') => {
                    out.extend(['\\', c])
                }
                c if c.is_alphanumeric() => return None,
                c if c.is_ascii_punctuation() => out.extend(['\\', c]),
                c => out.push(c),
            },
            c @ ('[' | '&' | '~') => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
}

/// Whether a `{` counts: digits, perhaps a comma and more digits, and `}` follow.
fn is_count(rest: Peekable<Chars<'_>>) -> bool {
    let text: String = rest.take_while(|c| *c != '}').collect();
    let (from, to) = text.split_once(',').unwrap_or((&text, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    !from.is_empty() && digits(from) && digits(to)
}

/// A path of names, numbers, `*` and `..`, as RFC 9535 has it.
///
/// # Errors
/// What of it has no equal.
pub(super) fn json_path(source: &str) -> Result<String, String> {
    let refused = || format!("the JSONPath `{source}`");
    let mut rest = match source.strip_prefix('$') {
        Some(rest) => rest.to_owned(),
        None => format!(".{source}"),
    };
    let mut out = String::from("$");
    while !rest.is_empty() {
        let (dots, after) = match rest.strip_prefix("..") {
            Some(after) => ("..", after),
            None => match rest.strip_prefix('.') {
                Some(after) => (".", after),
                None => ("", rest.as_str()),
            },
        };
        let (step, left) = match after.strip_prefix('[') {
            Some(_) if dots == "." => return Err(refused()),
            Some(inner) => {
                let (inner, left) = bracket(inner).ok_or_else(refused)?;
                (inner, left)
            }
            None if dots.is_empty() => return Err(refused()),
            None => {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                let (name, left) = after.split_at(end);
                let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | ':');
                let step = match name {
                    "*" if dots == "." => "*".to_owned(),
                    _ if name.is_empty() || !name.chars().all(is_name) => return Err(refused()),
                    _ => format!("'{name}'"),
                };
                (step, left)
            }
        };
        let deep = if dots == ".." { ".." } else { "" };
        out.push_str(&format!("{deep}[{step}]"));
        rest = left.to_owned();
    }
    Ok(out)
}

/// What stands in brackets, and what is behind them.
fn bracket(text: &str) -> Option<(String, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let (name, left) = text[1..].split_once(quote)?;
        let plain = !name.contains(['\'', '"', '\\']);
        return Some((format!("'{name}'"), left.strip_prefix(']').filter(|_| plain)?));
    }
    let (inner, left) = text.split_once(']')?;
    let inner = inner.trim();
    let is_good = inner == "*" || inner.parse::<u32>().is_ok_and(|_| !inner.starts_with('+'));
    is_good.then(|| (inner.to_owned(), left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_as_rust_has_them() {
        for (source, expected) in [
            (r#""id":"(.+?)""#, r#""id":"(.+?)""#),
            (r#"{"a":\{(\d{2,})}"#, r#"\{"a":\{(\d{2,})}"#),
            (r"\<a\/\-\_ [^[&\]]", r"<a/\-_ [^\[\&\]]"),
            ("(?s)a(?:b)*", "(?s)a(?:b)*"),
        ] {
            assert_eq!(regex(source, false).as_deref(), Ok(expected), "{source}");
        }
        for source in ["a$", "(?=a)", r"\1", r"\Z", "a++", "(", "[[:alpha:]]", "(?<n>a)"] {
            assert!(regex(source, false).is_err(), "{source}");
        }
        assert_eq!(regex("^200$", true).as_deref(), Ok("^200$"));
        assert!(matches_nothing("a*") && !matches_nothing("a+"));
    }

    #[test]
    fn paths_are_written_as_the_rfc_has_them() {
        for (source, expected) in [
            ("$", "$"),
            ("$.a.b-c[0]['d e'][*].*", "$['a']['b-c'][0]['d e'][*][*]"),
            ("$..id", "$..['id']"),
            ("$..[0].x", "$..[0]['x']"),
            ("name", "$['name']"),
        ] {
            assert_eq!(json_path(source).as_deref(), Ok(expected), "{source}");
        }
        for source in
            ["$.a[?(@.b==1)]", "$.a.length()", "$.", "$[-1]", "$[0:2]", "$.a['b", "$a", "$..*"]
        {
            assert!(json_path(source).is_err(), "{source}");
        }
    }
}
