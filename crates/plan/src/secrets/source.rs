//! Secrets in the text of a plan, found by its words alone: an error quotes lines of plans that could not be
//! read. Pure.

use std::ops::Range;

use super::{below_auth, is_credential, sounds_secret};

/// Where values stand in a plan's text that no error may quote: lines from 0, and parts of them. They
/// stand behind keys that sound like secrets, in `value` beside `secret: true`, below `auth`, and in URLs before `@`.
pub(crate) fn in_source(text: &str) -> Vec<(usize, Range<usize>)> {
    let lines: Vec<&str> = text.lines().collect();
    let marked: Vec<bool> = lines.iter().map(|line| is_marked(line)).collect();
    let mut found = Vec::new();
    // The lines of a block, `key: |`, are deeper than its key.
    let mut block: Option<usize> = None;
    for (number, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if block.is_some_and(|key| indent > key || line.trim().is_empty()) {
            found.push((number, indent..line.trim_end().len()));
            continue;
        }
        block = None;
        let is_marked =
            marked[number.saturating_sub(2)..(number + 3).min(lines.len())].contains(&true);
        let mut outer_sounds = number > 0
            && keys(lines[number - 1]).last().is_some_and(|key| {
                sounds(&lines[number - 1][key.clone()])
                    && lines[number - 1][key.end..].trim_matches(['"', '\'', ':', ' ']).is_empty()
            });
        // How many braces and brackets are open, up to where.
        let (mut open, mut counted) = (0_i64, 0);
        for key in keys(line) {
            let name = &line[key.clone()];
            let is_secret = sounds(name) || (name == "value" && (outer_sounds || is_marked));
            outer_sounds |= sounds(name);
            if !is_secret {
                continue;
            }
            open += line[counted..key.end].chars().map(opens).sum::<i64>();
            counted = key.end;
            let value = scalar(line, key.end, open > 0);
            let shown = &line[value.clone()];
            if shown.is_empty() || is_no_secret(shown) {
                continue;
            }
            if shown.starts_with(['|', '>']) {
                block = Some(indent);
            } else {
                found.push((number, value));
            }
        }
        found.extend(credentials_in_urls(line).into_iter().map(|hit| (number, hit)));
        found.extend(behind_unclosed(line).map(|hit| (number, hit)));
    }
    found.extend(below_auth::values(&lines));
    found.sort_by_key(|(line, _)| *line);
    found
}

/// What stands behind a variable whose `}` is missing: whatever was meant to be a literal behind it may be a secret, and nothing
/// says where it begins.
fn behind_unclosed(line: &str) -> Option<Range<usize>> {
    let begin = line.rfind("${").map(|at| at + 2)?;
    let rest = &line[begin..];
    let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let literal = begin + name..line.trim_end().len();
    (!rest.contains('}') && !literal.is_empty()).then_some(literal)
}

/// Whether a key of a plan, a variable's name or a header's, is a secret's.
fn sounds(key: &str) -> bool {
    // Only headers have a `-`: a plan has keys of its own, such as `key` and `session`.
    let is_header = key.contains('-') && is_credential(key);
    let key = key.to_ascii_lowercase();
    is_header
        || sounds_secret(&key)
        || matches!(key.as_str(), "bearer" | "authorization" | "proxy_authorization" | "cookie")
}

/// Whether a line says that a variable is secret.
fn is_marked(line: &str) -> bool {
    keys(line).any(|key| &line[key.clone()] == "secret" && line[key.end..].contains("true"))
}

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

/// Where the passwords of URLs stand in a text, `//user:PASSWORD@host`.
pub(crate) fn credentials_in_urls(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("//") {
        let rest = &text[at + 2..];
        let end = rest.find(|c: char| "/?#\\\"'`<>".contains(c) || c.is_whitespace());
        let authority = &rest[..end.unwrap_or(rest.len())];
        if let Some((user, _)) = authority.rsplit_once('@')
            && let Some((name, password)) = user.split_once(':')
            && !password.is_empty()
            && !password.starts_with("${")
        {
            let begin = at + 2 + name.len() + 1;
            found.push(begin..begin + password.len());
        }
    }
    found
}

/// Where what authorizes stands in the URL of a proxy: the password, or the user if there is none, which is a token then. As those
/// who read such a URL do, it goes up to the last `@`, whatever characters it has. What a user's variables say is no text of
/// the plan's.
pub(crate) fn credentials_of_proxy(text: &str) -> Option<Range<usize>> {
    let begin = text.find("://").map_or(0, |at| at + 3);
    let credentials = &text[begin..text.rfind('@').filter(|end| *end >= begin)?];
    // Behind the last variable: in it there may be any character.
    let known = credentials.rfind('}').map_or(0, |at| at + 1);
    let hit = match credentials[known..].find(':') {
        Some(colon) if known + colon + 1 < credentials.len() => {
            known + colon + 1..credentials.len()
        }
        _ if known > 0 => return None,
        _ => 0..credentials.trim_end_matches(':').len(),
    };
    (!hit.is_empty()).then(|| begin + hit.start..begin + hit.end)
}
