//! A plan as a person would write it: no quotes that are not needed, short mappings on one line, texts of several lines as
//! such.

use serde_json::{Value, json};

use crate::keys::{Form, Of};
use crate::model::Plan;

/// Most characters of a mapping or a list that stands on one line.
const MAX_FLOW: usize = 64;
/// Most entries of one.
const MAX_ENTRIES: usize = 4;
/// Keys whose values are always over several lines: they are what a plan is made of.
const BLOCKS: [&str; 13] = [
    "scenarios",
    "steps",
    "then",
    "else",
    "setup",
    "teardown",
    "vars",
    "data",
    "thresholds",
    "headers",
    "extract",
    "check",
    "defaults",
];

/// A plan as a person would write it. All of it is there, so that it reads back as the same plan.
pub fn print_readable(plan: &Plan) -> String {
    let mut value = Of::<Plan>::print(plan);
    tidy(&mut value);
    let mut out = String::new();
    block(&mut out, &value, 0);
    out
}

/// Writes in their short forms what has one: variables that are values alone, lists of one.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // Where a pattern is looked for unless something else is said.
            if map.contains_key("regex") && map.get("in").is_some_and(|within| within == "body") {
                map.shift_remove("in");
            }
            for (key, value) in map.iter_mut() {
                tidy(value);
                match (key.as_str(), &mut *value) {
                    ("vars", Value::Object(vars)) => vars.values_mut().for_each(unwrap_value),
                    ("check", Value::Array(items)) if items.len() == 1 => {
                        *value = items.remove(0);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// A variable of which nothing but its value is said, if that is not a mapping that would be taken for more.
fn unwrap_value(variable: &mut Value) {
    let Value::Object(map) = variable else { return };
    if map.len() == 1 && map.get("value").is_some_and(|value| !value.is_object()) {
        *variable = map["value"].take();
    }
}

/// Writes a value over several lines, with a line end.
fn block(out: &mut String, value: &Value, depth: usize) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                out.push_str(&format!("{pad}{}:", scalar(key, false)));
                behind(out, Some(key), value, depth);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                item_of_list(out, item, depth);
            }
        }
        other => {
            out.push_str(&pad);
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

/// An item of a list: a mapping begins on the line of its dash.
fn item_of_list(out: &mut String, item: &Value, depth: usize) {
    let pad = "  ".repeat(depth);
    match item {
        Value::Object(map) if !map.is_empty() => {
            let mut lines = String::new();
            block(&mut lines, item, depth + 1);
            out.push_str(&pad);
            out.push_str("- ");
            out.push_str(lines.trim_start_matches(' '));
        }
        other => {
            out.push_str(&pad);
            out.push('-');
            behind(out, None, other, depth);
        }
    }
}

/// What stands behind a key or a dash: on its line if it is short, or else below it.
fn behind(out: &mut String, key: Option<&str>, value: &Value, depth: usize) {
    if let Value::String(text) = value
        && let Some(lines) = as_lines(text, depth + 1)
    {
        out.push_str(&lines);
        return;
    }
    let is_nested = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    let is_block = key.is_some_and(|key| BLOCKS.contains(&key)) || !is_simple(value, 2);
    let short = flow(value);
    if is_nested && (is_block || short.chars().count() > MAX_FLOW) {
        out.push('\n');
        block(out, value, depth + 1);
    } else {
        let short = if let Value::String(text) = value { scalar(text, false) } else { short };
        out.push_str(&format!(" {short}\n"));
    }
}

/// Whether a value can stand on one line: few entries, not nested deeper than that, no text of several lines.
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

/// A value on one line.
fn flow(value: &Value) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{}: {}", scalar(key, true), flow(value));
    match value {
        Value::Object(map) => format!("{{{}}}", joined(map.iter().map(entry))),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(flow))),
        Value::String(text) => scalar(text, true),
        other => other.to_string(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A text of several lines as a block, with what stands before it; `None`: its lines would not be read as they are.
fn as_lines(text: &str, depth: usize) -> Option<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_good = |line: &str| !line.contains(|c: char| c.is_control() && c != '\t');
    let begins_well = body.starts_with(|c: char| !c.is_whitespace());
    if !body.contains('\n')
        || !begins_well
        || body.ends_with('\n')
        || !body.split('\n').all(is_good)
    {
        return None;
    }
    let pad = "  ".repeat(depth);
    let lines = body.split('\n').map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{pad}{line}\n"),
    });
    let sign = if text.ends_with('\n') { "|" } else { "|-" };
    Some(format!(" {sign}\n{}", lines.collect::<String>()))
}

/// A text, in quotes where YAML would read it as something else.
fn scalar(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) {
        return text.to_owned();
    }
    let is_printable = !text.chars().any(char::is_control);
    if is_printable && text.contains(['"', '\\']) && !text.contains('\'') {
        return format!("'{text}'");
    }
    json!(text).to_string()
}

/// Whether a text needs no quotes.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let begins =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '$' | '('));
    let is_odd = text.chars().any(char::is_control)
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #");
    let is_odd_in_flow =
        in_flow && text.contains([',', '[', ']', '{', '}', '"', '\'', '#', '&', '*', '|', '`']);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let digits = text.replace('_', "");
    let is_number =
        digits.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("0o");
    begins && !is_odd && !is_odd_in_flow && !is_word && !is_number
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
        let text = print_readable(&plan);
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
  headers:
    Accept: text/html
  timeout: {connect: 1s, total: 5s}
scenarios:
  visitor:
    load: {users: 5, ramp: 10s, for: 1m}
    steps:
      - get: /items
        name: items
        check: status == 302
      - think: 500ms
      - post: /a
        body: |-
          {
            "a": 1
          }
        extract:
          id: {regex: 'id="(\d+)"'}
        check:
          - status == 200
          - body.contains("ok")
      - get: /items/${id}
thresholds:
  - p95(items) < 300ms
"#;
        assert_eq!(again(plan), plan);
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
