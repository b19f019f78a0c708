//! JMeter's patterns, which are those of Perl 5, as ours: where both mean the same they are written as it has to be, and
//! everything else is refused.

use std::iter::Peekable;
use std::str::Chars;

use regex_automata::meta::Regex;

use super::texts::{TextPiece, quoted};

/// What a pattern is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// A text without line ends.
    Line,
    /// A text with line ends.
    Lines,
    /// A text with line ends, all of which it has to match.
    Whole,
}

/// A pattern of JMeter's in Rust's syntax.
///
/// # Errors
/// What of it has no equal.
pub(super) fn regex(source: &str, subject: Subject) -> Result<String, String> {
    let out = written(source, subject)?;
    match Regex::new(&out) {
        Ok(_) => Ok(out),
        Err(_) => Err(format!("something that is not supported in the pattern `{source}`")),
    }
}

/// A pattern of which the run gives parts, as an expression; those parts are taken as they are.
///
/// # Errors
/// What of the rest has no equal.
pub(super) fn regex_of_pieces(pieces: &[TextPiece], subject: Subject) -> Result<String, String> {
    let mut whole = String::new();
    let mut terms = Vec::new();
    for piece in pieces {
        match piece {
            TextPiece::Text(text) => {
                let text = written(text, subject)?;
                whole.push_str(&text);
                terms.push(quoted(&text));
            }
            TextPiece::Expr(value) => {
                whole.push('0');
                terms.push(format!("string({value})"));
            }
        }
    }
    let is_good = Regex::new(&whole).is_ok();
    let terms = if terms.is_empty() { quoted("") } else { terms.join(" + ") };
    if is_good { Ok(terms) } else { Err("something that is not supported in a pattern".to_owned()) }
}

/// A pattern, or a part of one, which is not looked at as a whole.
fn written(source: &str, subject: Subject) -> Result<String, String> {
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
            // It matches before the last line end, too. A search takes that along, which nobody sees at the end.
            '$' if subject == Subject::Lines => match rest.peek() {
                None | Some(')' | '|') => out.push_str("(?:\\n?\\z)"),
                Some(_) => return refused("`$`"),
            },
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
    Ok(out)
}

/// Whether a pattern in Rust's syntax is found in an empty text.
pub(super) fn matches_nothing(pattern: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(""))
}

/// How many groups a pattern in Rust's syntax has.
pub(super) fn groups(pattern: &str) -> u32 {
    let groups = Regex::new(pattern).map_or(0, |pattern| pattern.captures_len() - 1);
    u32::try_from(groups).unwrap_or(u32::MAX)
}

/// How many groups a pattern has of which the run gives parts: those of the rest.
pub(super) fn groups_of_pieces(pieces: &[TextPiece], subject: Subject) -> u32 {
    let part = |piece: &TextPiece| match piece {
        TextPiece::Text(text) => written(text, subject).unwrap_or_default(),
        TextPiece::Expr(_) => "0".to_owned(),
    };
    groups(&pieces.iter().map(part).collect::<String>())
}

/// What is behind a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    match rest.next()? {
        c @ ('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' | 'n' | 'r' | 't' | 'f') => {
            Some(format!("\\{c}"))
        }
        c if c.is_alphanumeric() => None,
        c => Some(regex_syntax::escape(&c.to_string())),
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
            assert_eq!(regex(source, Subject::Lines).as_deref(), Ok(expected), "{source}");
        }
        for source in ["a$b", "(?=a)", r"\1", r"\Z", "a++", "(", "[[:alpha:]]", "(?<n>a)"] {
            assert!(regex(source, Subject::Lines).is_err(), "{source}");
        }
        assert_eq!(regex("^200$", Subject::Line).as_deref(), Ok("^200$"));
        assert_eq!(regex("(a|b$)$", Subject::Lines).as_deref(), Ok(r"(a|b(?:\n?\z))(?:\n?\z)"));
        let pieces = [TextPiece::Text("id=\\<".to_owned()), TextPiece::Expr("id".to_owned())];
        let of_pieces = regex_of_pieces(&pieces, Subject::Lines);
        assert_eq!(of_pieces.as_deref(), Ok(r#""id=<" + string(id)"#));
        assert!(matches_nothing("a*") && !matches_nothing("a+"));
    }
}
