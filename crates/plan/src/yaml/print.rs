//! A plan as YAML that reads back as the same plan, and as a person would write it: no quotes that are not needed, short mappings
//! on one line, texts of several lines as such.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::keys::{Form, Of};
use crate::model::Plan;
use crate::plan_secrets::hide_in_place;
use crate::secrets::Secrets;

/// Characters of a line that a mapping or a list may stand on.
const LINE: usize = 120;
/// Most entries of a mapping on one line.
const MAX_ENTRIES: usize = 6;
/// Keys whose values are always over several lines: they are what a plan is made of.
const BLOCKS: [&str; 12] = [
    "scenarios",
    "steps",
    "then",
    "else",
    "setup",
    "teardown",
    "vars",
    "data",
    "thresholds",
    "feeds",
    "monitor",
    "defaults",
];

/// A plan as YAML. With `mask_secrets` the values of secret variables, and every text that holds one,
/// are masked: the result then no longer runs as it did.
pub fn print(plan: &Plan, mask_secrets: bool) -> String {
    print_value(&value(plan, mask_secrets))
}

/// A mapping as YAML.
pub(super) fn print_value(value: &Value) -> String {
    let mut out = Out::default();
    out.find_headers(value);
    block(&mut out, value, 0);
    out.text
}

/// What [`print()`] writes, whatever its layout.
pub fn value(plan: &Plan, mask_secrets: bool) -> Value {
    let mut value = Of::<Plan>::print(plan);
    if mask_secrets {
        hide_in_place(&mut value);
        mask(&mut value, &plan.secrets());
    }
    value
}

/// Masks secrets in all texts, numbers included.
fn mask(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::Object(map) => {
            let entries = std::mem::take(map).into_iter().map(|(key, mut value)| {
                mask(&mut value, secrets);
                (secrets.mask(&key), value)
            });
            *map = entries.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::String(text) => *text = secrets.mask(text),
        other => {
            let shown = other.to_string();
            let masked = secrets.mask(&shown);
            if masked != shown {
                *other = masked.into();
            }
        }
    }
}

/// What is being written.
#[derive(Default)]
struct Out {
    text: String,
    /// Headers of some length, as JSON: how often they are there, and under which number they stand already.
    headers: HashMap<String, (usize, Option<usize>)>,
    /// How many headers have a number.
    numbered: usize,
}

impl Out {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Counts headers that may be equal.
    fn find_headers(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if key == "headers" && is_long(value) {
                        self.headers.entry(value.to_string()).or_default().0 += 1;
                    }
                    self.find_headers(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.find_headers(item)),
            _ => {}
        }
    }

    /// The anchor of headers that others are equal to, or the alias of those that stand already.
    fn shared_headers(&mut self, value: &Value) -> Option<String> {
        let (_, number) =
            self.headers.get_mut(&value.to_string()).filter(|(count, _)| *count > 1)?;
        if let Some(number) = number {
            return Some(format!(" *headers_{number}"));
        }
        self.numbered += 1;
        *number = Some(self.numbered);
        Some(format!(" &headers_{}", self.numbered))
    }
}

/// Whether there are so many headers that it is worth while to give them a name.
fn is_long(headers: &Value) -> bool {
    headers.as_object().is_some_and(|headers| headers.len() > 2)
}

/// Writes a value over several lines, with a line end.
fn block(out: &mut Out, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                indent(out, depth);
                entry(out, key, value, depth);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for value in items {
                indent(out, depth);
                item(out, value, depth);
            }
        }
        other => {
            indent(out, depth);
            out.push(&flow(other));
            out.push("\n");
        }
    }
}

fn indent(out: &mut Out, depth: usize) {
    out.text.extend(std::iter::repeat_n("  ", depth));
}

/// Writes a key and what stands behind it.
fn entry(out: &mut Out, key: &str, value: &Value, depth: usize) {
    let shown = scalar(key, false);
    let room = LINE.saturating_sub(2 * depth + shown.chars().count() + 2);
    out.push(&shown);
    out.push(":");
    if key == "headers"
        && let Some(name) = out.shared_headers(value)
    {
        let is_there = name.starts_with(" *");
        out.push(&name);
        out.push("\n");
        if !is_there {
            block(out, value, depth + 1);
        }
        return;
    }
    behind(out, value, depth, if BLOCKS.contains(&key) { 0 } else { room });
}

/// Writes an item of a list: a mapping begins on the line of its dash.
fn item(out: &mut Out, item: &Value, depth: usize) {
    out.push("-");
    let room = LINE.saturating_sub(2 * depth + 2);
    match item {
        Value::Object(map) if map.len() == 1 || !(map.is_empty() || fits(item, room)) => {
            for (number, (key, value)) in map.iter().enumerate() {
                match number {
                    0 => out.push(" "),
                    _ => indent(out, depth + 1),
                }
                entry(out, key, value, depth + 1);
            }
        }
        other => behind(out, other, depth, room),
    }
}

/// Writes what stands behind a key or a dash: on its line if there is room, or else below it.
fn behind(out: &mut Out, value: &Value, depth: usize, room: usize) {
    let is_nested = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_nested && !fits(value, room) {
        out.push("\n");
        return block(out, value, depth + 1);
    }
    out.push(" ");
    match value {
        Value::String(text) => {
            let lines = lines(text, depth + 1);
            out.push(&lines.unwrap_or_else(|| scalar(text, false)));
        }
        other => out.push(&flow(other)),
    }
    out.push("\n");
}

/// Whether a value stands on one line that has so much room.
fn fits(value: &Value, room: usize) -> bool {
    is_simple(value, 2) && flow(value).chars().count() <= room
}

/// A value on one line.
fn flow(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    let entry = |(key, value): (&String, &Value)| format!("{}: {}", scalar(key, true), flow(value));
    match value {
        Value::Object(map) => format!("{{{}}}", joined(map.iter().map(entry).collect())),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(flow).collect())),
        Value::String(text) => scalar(text, true),
        other => other.to_string(),
    }
}

/// Whether a value may stand on one line: few entries, not nested deeper than that, no text of several lines.
fn is_simple(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(map) => {
            let is_block = |key: &String| BLOCKS.contains(&key.as_str());
            depth > 0
                && map.len() <= MAX_ENTRIES
                && map.iter().all(|(key, value)| !is_block(key) && is_simple(value, depth - 1))
        }
        Value::Array(items) => {
            depth > 0 && items.iter().all(|item| !item.is_object() && is_simple(item, depth - 1))
        }
        Value::String(text) => !text.contains('\n'),
        _ => true,
    }
}

/// A text of several lines as a block; `None`: its lines would not be read as they are.
fn lines(text: &str, depth: usize) -> Option<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_good = |line: &str| {
        !line.contains(is_odd) && (line.is_empty() || line.contains(|c: char| c != ' '))
    };
    let begins_well = body.starts_with(|c: char| !c.is_whitespace());
    if !body.contains('\n')
        || !begins_well
        || body.ends_with('\n')
        || !body.split('\n').all(is_good)
    {
        return None;
    }
    let mut block = if text.ends_with('\n') { "|" } else { "|-" }.to_owned();
    for line in body.split('\n') {
        block.push('\n');
        if !line.is_empty() {
            block.extend(std::iter::repeat_n("  ", depth));
            block.push_str(line);
        }
    }
    Some(block)
}

/// A text, in quotes where YAML would read it as something else.
fn scalar(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) {
        return text.to_owned();
    }
    if !text.contains(is_odd) && text.contains(['"', '\\']) && !text.contains('\'') {
        return format!("'{text}'");
    }
    json!(text).to_string()
}

/// Whether a character is not read as it is, or not seen.
fn is_odd(c: char) -> bool {
    c.is_control() || c == '\u{feff}' || (c.is_whitespace() && c != ' ')
}

/// Whether a text needs no quotes.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let begins =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '$' | '('));
    let is_structure = text.contains(is_odd)
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #");
    let is_structure_in_flow =
        in_flow && text.contains([',', '[', ']', '{', '}', '"', '\'', '#', '&', '*', '|', '`']);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let digits = text.replace('_', "");
    let is_number =
        digits.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("0o");
    begins && !is_structure && !is_structure_in_flow && !is_word && !is_number
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::vars::LoadOptions;
    use crate::yaml::load_str;

    fn again(plan: &str) -> String {
        let load = |text: &str| {
            load_str("p", text, Path::new(""), &LoadOptions::default())
                .unwrap_or_else(|error| panic!("{:?}\n{text}", error.diagnostics))
                .plan
        };
        let plan = load(plan);
        let text = print(&plan, false);
        assert_eq!(load(&text), plan, "{text}");
        text
    }

    #[test]
    fn a_plan_is_printed_as_a_person_would_write_it() {
        let plan = r#"name: shop
target: http://127.0.0.1:8080
vars:
  page: $${page}
  size: 5
defaults:
  headers: {Accept: text/html}
  timeout: {connect: 1s, total: 5s}
scenarios:
  visitor:
    load: {users: 5, ramp: 10s, for: 1m}
    steps:
      - {get: /items, name: items, check: status == 302}
      - think: 500ms
      - post: /a
        body: |-
          {
            "a": 1
          }
        extract: {id: {regex: 'id="(\d+)"'}}
        check: [status == 200, 'body.contains("ok")']
      - get: /items/${id}
thresholds:
  - p95(items) < 300ms
"#;
        assert_eq!(again(plan), plan);
    }

    #[test]
    fn equal_headers_are_written_once() {
        let agent = "a".repeat(LINE);
        let headers =
            format!("headers: {{Accept: text/html, Accept-Language: en, User-Agent: {agent}}}");
        let plan = format!(
            "target: http://h\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /a, {headers}}}, {{get: /b, {headers}}}, {{get: /c}}]}}}}"
        );
        let text = again(&plan);
        assert_eq!(text.matches("Accept-Language").count(), 1, "{text}");
        assert!(text.contains("headers: &headers_1\n          Accept: text/html\n"), "{text}");
        assert!(text.contains("headers: *headers_1\n"), "{text}");
    }

    #[test]
    fn texts_that_mean_something_else_keep_their_quotes() {
        for text in [
            "1",
            "1.5",
            "1e3",
            "0x1F",
            "true",
            "No",
            "null",
            "~",
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "a:",
            "*",
            "- a",
            "{a}",
            "[a]",
            "!a",
            "%a",
            "@a",
            "a\tb",
            "a\r\nb",
            "\n",
            "a\n\n",
            " a\nb",
            "'a' \"b\"",
            "é",
            "日本",
            "#{a}",
            "a, b",
            "&a",
            "|",
            "> a",
            "? a",
            "1_000",
            ".inf",
            "a\u{0}b",
            "\\d+",
            "$$",
            "a\n\n b\n",
        ] {
            let text = text.replace("${", "$${");
            let plan = format!(
                "scenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{post: /, json: {{{0}: {0}, l: [{0}], m: {{x: {0}}}}}}}]}}}}",
                json!(text)
            );
            again(&plan);
        }
    }
}
