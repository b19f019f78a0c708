//! What stands below `auth` in the text of a plan, which may be one that could not be read: whatever its keys are called, their
//! values are credentials, but for the name of a user. Pure.

use std::ops::Range;

use super::lines::{is_no_secret, keys, opens, scalar};

/// Where what is below an `auth` goes on in the next line.
enum Below {
    Nothing,
    /// In the lines that are deeper than this column.
    Deeper(usize),
    /// Up to where so many braces and brackets are closed; in quotes of a kind, if a text goes on.
    Braces(Flow),
}

/// A flow collection that is read.
#[derive(Default)]
struct Flow {
    open: i64,
    quote: Option<char>,
}

/// Where values below `auth` stand: lines from 0, and parts of them.
pub(super) fn values(lines: &[&str]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    let mut below = Below::Nothing;
    for (number, line) in lines.iter().enumerate() {
        let mut note = |part: Range<usize>| {
            found.extend(values_in(line, part).into_iter().map(|hit| (number, hit)));
        };
        let indent = line.len() - line.trim_start().len();
        let mut at = 0;
        match &mut below {
            Below::Nothing => {}
            Below::Deeper(_) if line.trim().is_empty() => continue,
            Below::Deeper(column) => {
                let is_item = indent == *column && line[indent..].starts_with('-');
                if indent > *column || is_item {
                    note(indent..line.len());
                    continue;
                }
            }
            Below::Braces(flow) => {
                let end = flow.end(line, 0);
                note(0..end.unwrap_or(line.len()));
                let Some(end) = end else { continue };
                at = end;
            }
        }
        below = Below::Nothing;
        for key in keys(line) {
            if key.start < at || &line[key.clone()] != "auth" {
                continue;
            }
            let is_flow = line[..key.start].chars().map(opens).sum::<i64>() > 0;
            let value = scalar(line, key.end, is_flow);
            let rest = &line[value.start..];
            if !rest.starts_with(['{', '[']) {
                at = value.end;
                note(value);
                if !is_flow {
                    below = Below::Deeper(key.start);
                }
                continue;
            }
            let mut flow = Flow::default();
            let end = flow.end(line, value.start);
            note(value.start..end.unwrap_or(line.len()));
            at = end.unwrap_or(line.len());
            if end.is_none() {
                below = Below::Braces(flow);
            }
        }
    }
    found
}

impl Flow {
    /// Reads a line on from a place: behind the end of the collection, or `None`: it goes on in the next line.
    fn end(&mut self, line: &str, from: usize) -> Option<usize> {
        let mut before = ' ';
        for (at, c) in line[from..].char_indices() {
            match self.quote {
                Some(quote) if c == quote && before != '\\' => self.quote = None,
                Some(_) => {}
                // Within a word a quote is one of its characters.
                None if matches!(c, '"' | '\'') && " \t{[,:".contains(before) => {
                    self.quote = Some(c);
                }
                None => self.open += opens(c),
            }
            if self.open == 0 && self.quote.is_none() {
                return Some(from + at + c.len_utf8());
            }
            before = c;
        }
        None
    }
}

/// The values in a part of a line: what stands between its keys.
fn values_in(line: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let within = |key: &Range<usize>| part.start <= key.start && key.end <= part.end;
    let keys: Vec<Range<usize>> = keys(line).filter(within).collect();
    let begins = std::iter::once(part.start).chain(keys.iter().map(|key| key.end));
    let ends = keys.iter().map(|key| key.start).chain(std::iter::once(part.end));
    let around = |c: char| c.is_whitespace() || "\"':,{}[]".contains(c);
    let between = begins.zip(ends).map(|(begin, end)| {
        let text = &line[begin..end];
        let behind = text.trim_start_matches(around);
        let begin = end - behind.len();
        begin..begin + behind.trim_end_matches(around).len()
    });
    // A template has lost its brace; `-` begins an item, `|` a block.
    let is_value = |value: &Range<usize>| {
        let text = &line[value.clone()];
        let key = line[..value.start].trim_end_matches(around);
        let is_user = key.strip_suffix("user").is_some_and(|before| before.ends_with(around));
        !is_user
            && !matches!(text, "" | "-" | "|" | ">" | "|-" | ">-")
            && !is_no_secret(text)
            && !is_no_secret(&format!("{text}}}"))
    };
    between.filter(is_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let lines: Vec<&str> = text.lines().collect();
        values(&lines).into_iter().map(|(line, hit)| &lines[line][hit]).collect()
    }

    #[test]
    fn whatever_is_below_auth_is_found() {
        for (text, expected) in [
            ("auth: {basic: {user: x, pasword: abc}}, get: /y", &["abc"][..]),
            ("- {auth: {digest: \"a}}b\"}, get: /x}", &["a}}b"]),
            ("- {auth: abc, get: /x}", &["abc"]),
            ("auth: abc\nget: /x", &["abc"]),
            ("auth:\n  basic:\n    user: x\n\n    pass: a, b\n  more: c\nget: /x", &["a, b", "c"]),
            ("  auth: &cred\n    bearer: abc\n  get: /x", &["abc"]),
            ("  auth: |\n    abc\n  get: /x", &["abc"]),
            ("- auth:\n    basic: [abc, def]\n  get: /x", &["abc, def"]),
            ("- auth:\n- abc\n- get: /x", &[]),
            ("  auth:\n  - abc\n  get: /x", &["- abc"]),
            ("auth: {basic: {user: x,\n  word: abc}}\nget: /x", &["abc"]),
            ("auth: {bearer: \"${token}\"}\nget: /x", &[]),
            ("auth: {basic: {user: \"${u}\", word: 'a\"b'}}", &["a\"b"]),
            ("auth:\nget: /x", &[]),
            ("author: {name: abc}", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
