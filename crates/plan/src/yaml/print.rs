//! A plan as YAML that reads back as the same plan.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::keys::{Form, Of};
use crate::model::Plan;
use crate::secrets::{self, Secrets};

/// A plan as YAML. With `mask_secrets` the values of secret variables, and every text that holds one,
/// are masked: the result then no longer runs as it did.
pub fn print(plan: &Plan, mask_secrets: bool) -> String {
    let secrets = if mask_secrets { plan.secrets() } else { Secrets::default() };
    let mut value = Of::<Plan>::print(plan);
    if mask_secrets {
        secrets::hide_in_place(&mut value);
    }
    let mut out = String::new();
    block(&mut out, &value, 0, &|text: &str| secrets.mask(text));
    out
}

/// Writes maps and lists as blocks, texts in double quotes as JSON has them, which YAML reads.
fn block(out: &mut String, value: &Value, depth: usize, mask: &dyn Fn(&str) -> String) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                // Writing to a String cannot fail.
                let _ = write!(out, "{pad}{}:", json!(mask(key)));
                behind(out, value, depth, mask);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{pad}-");
                behind(out, item, depth, mask);
            }
        }
        other => {
            let _ = writeln!(out, "{pad}{}", scalar(other, mask));
        }
    }
}

fn behind(out: &mut String, value: &Value, depth: usize, mask: &dyn Fn(&str) -> String) {
    let nested = matches!(value, Value::Object(map) if !map.is_empty())
        || matches!(value, Value::Array(items) if !items.is_empty());
    if nested {
        out.push('\n');
        block(out, value, depth + 1, mask);
    } else {
        let _ = writeln!(out, " {}", scalar(value, mask));
    }
}

fn scalar(value: &Value, mask: &dyn Fn(&str) -> String) -> String {
    match value {
        Value::String(text) => json!(mask(text)).to_string(),
        other => {
            let shown = other.to_string();
            let masked = mask(&shown);
            if masked == shown { shown } else { json!(masked).to_string() }
        }
    }
}
