//! Secrets in the text of a plan, found by its words alone: an error quotes lines of plans that could not be
//! read. Pure.

use std::ops::Range;

use super::below_auth;
use super::credentials::{is_credential, sounds_secret};
use super::lines::{is_no_secret, keys, opens, scalar};

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
