//! Files that are given as plans and are those of other tools, or descriptions of something else: one sentence says what they
//! are, where their text would be quoted line by line as a plan with mistakes.

use std::path::Path;

use serde_json::Value;

/// What to do about a script: its words have to be translated by hand.
const TRANSLATE: &str = "squall reads plans in YAML; `squall init` writes one to start from, docs/glossary.md has its words for those of other tools";
/// What to do about a description: there is no load in it.
const WRITE: &str = "squall reads plans in YAML; `squall init` writes one to start from";

/// What a file is, and what to do, if it is not a plan.
pub fn what_is(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let extension = path.extension().map(|own| own.to_string_lossy().to_ascii_lowercase());
    let extension = extension.unwrap_or_default();
    let text = || squall_plan::files::text(path).unwrap_or_default();
    let (what, remedy) = match extension.as_str() {
        "js" | "mjs" | "cjs" | "ts" => (script(&text(), &extension), TRANSLATE),
        "py" if text().contains("locust") => ("a script of Locust", TRANSLATE),
        "py" => ("a script in Python", TRANSLATE),
        "scala" | "java" | "kt" => ("a simulation of Gatling, or another program", TRANSLATE),
        "lua" => ("a script of wrk, or another program", TRANSLATE),
        "har" => ("a recording of a browser (HAR)", WRITE),
        "json" => (described(&serde_json::from_str(&text()).ok()?)?, WRITE),
        "yaml" | "yml" => (of_yaml(&text())?, WRITE),
        "xml" if text().contains("<jmeterTestPlan") => {
            return Some("a JMeter plan: rename it to end in .jmx".to_owned());
        }
        _ => return None,
    };
    Some(format!("{what}: {remedy}"))
}

fn script(text: &str, extension: &str) -> &'static str {
    match extension {
        _ if text.contains("'k6") || text.contains("\"k6") => "a script of k6",
        _ if text.contains("@gatling.io") => "a simulation of Gatling",
        "ts" => "a script in TypeScript",
        _ => "a script in JavaScript",
    }
}

/// What a JSON document describes, if it is one of those that people try.
fn described(json: &Value) -> Option<&'static str> {
    let postman = &json["info"]["schema"];
    match json {
        _ if json["log"]["entries"].is_array() => Some("a recording of a browser (HAR)"),
        _ if json.get("openapi").is_some() || json.get("swagger").is_some() => Some(OPENAPI),
        _ if postman.as_str().is_some_and(|schema| schema.contains("postman")) => {
            Some("a collection of Postman")
        }
        _ => None,
    }
}

const OPENAPI: &str = "a description of an API (OpenAPI)";

fn of_yaml(text: &str) -> Option<&'static str> {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    match () {
        () if has("openapi:") || has("swagger:") => Some(OPENAPI),
        () if has("config:") && has("scenarios:") => Some("a script of Artillery"),
        () if has("execution:") && !has("target:") => Some("a configuration of Taurus"),
        () => None,
    }
}
