//! Lines of YAML, whether they could be read or not: their keys, and what stands behind them. Pure.

use std::ops::Range;

/// What stands behind a key and is none: another value's name, the beginning of a map or a list, a word.
pub(super) fn is_no_secret(value: &str) -> bool {
    let template = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    template.is_some_and(|inner| !inner.contains("${"))
        || value.starts_with(['{', '[', '*', '&', '!'])
        || matches!(value, "true" | "false" | "null" | "~")
}

/// The keys of a line: words with a colon behind them, quoted or not.
pub(super) fn keys(line: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    line.match_indices(':').filter_map(|(colon, _)| {
        let rest = &line[colon + 1..];
        let before = line[..colon].trim_end();
        let quoted = before.ends_with(['"', '\'']);
        if !(rest.is_empty() || rest.starts_with([' ', '\t']) || quoted) {
            return None;
        }
        let end = before.trim_end_matches(['"', '\'']).len();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let word = &before[..end];
        let begin = word.trim_end_matches(is_word).len();
        (begin < end).then_some(begin..end)
    })
}

/// Whether a character begins or ends a flow collection.
pub(super) fn opens(c: char) -> i64 {
    match c {
        '{' | '[' => 1,
        '}' | ']' => -1,
        _ => 0,
    }
}

/// The value behind a key that ends at `from`, without the quotes around it.
pub(super) fn scalar(line: &str, from: usize, is_flow: bool) -> Range<usize> {
    let rest = line[from..].trim_start_matches(['"', '\'']).trim_start();
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    let begin = line.len() - rest.len();
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &rest[1..];
        let mut is_escaped = false;
        let end = inner.char_indices().find(|(_, c)| {
            let ends = *c == quote && !is_escaped;
            is_escaped = *c == '\\' && quote == '"' && !is_escaped;
            ends
        });
        return begin + 1..begin + 1 + end.map_or(inner.trim_end().len(), |(at, _)| at);
    }
    let mut end = rest.find(" #").unwrap_or(rest.len());
    // A template may have braces and commas of its own.
    if is_flow && !rest.starts_with("${") && !rest.starts_with(['{', '[']) {
        end = end.min(rest.find([',', '}', ']']).unwrap_or(end));
    } else if is_flow && rest.starts_with("${") {
        end = end.min(rest.find('}').map_or(end, |at| at + 1));
    }
    begin..begin + rest[..end].trim_end().len()
}
