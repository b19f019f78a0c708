//! Texts that are given as plans and are those of other tools, or descriptions of something else: one sentence says what they
//! are, where their text would be quoted line by line as a plan with mistakes. Recognised by their content; where that says
//! nothing, by the file's name.

use serde_json::Value;

use crate::import::{FrontEnd, Import, ImportError, PlanText};
use crate::values::Values;

/// What to do about a script: its words have to be translated by hand.
const TRANSLATE: &str = "squall cannot run it, but reads plans in YAML: `squall init` writes one to start from, docs/glossary.md has its words for those of other tools";
/// What to do about a script that squall runs, but under another name.
const RENAME: &str = "squall runs it as a script if the name of its file ends in .js or .ts";
/// What to do about a description: there is no load in it.
const WRITE: &str =
    "squall cannot run it, but reads plans in YAML: `squall init` writes one to start from";

/// Lines that only a script of some language begins with, and what it is.
const BEGINNINGS: [(&str, &str); 4] = [
    ("from locust", "a script of Locust"),
    ("import locust", "a script of Locust"),
    ("import io.gatling.", "a simulation of Gatling"),
    ("wrk.", "a script of wrk"),
];

const OF_K6: &str = "a script of k6";
const HAR: &str = "a recording of a browser (HAR)";
const OPENAPI: &str = "a description of an API (OpenAPI)";

/// Refuses what is no plan.
pub(crate) struct Foreign;

impl FrontEnd for Foreign {
    fn read(&self, plan: &PlanText, _: &Values) -> Option<Import> {
        let PlanText { name, text, .. } = plan;
        let why = format!("{name}: this is {}", what_is(name, text)?);
        Some(Import::of(Err(ImportError::Refused(why))))
    }
}

/// A text without what may be before its first character.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_start()
}

/// Whether a text is HTML.
pub(crate) fn is_web_page(text: &str) -> bool {
    let begins = |tag: &str| text.get(..tag.len()).is_some_and(|own| own.eq_ignore_ascii_case(tag));
    begins("<!doctype html") || begins("<html")
}

/// What a text is, and what to do, if it is not a plan; `name` is that of its file.
fn what_is(name: &str, text: &str) -> Option<String> {
    let text = trimmed(text);
    let described = described(text);
    let script = || of_script(text).or_else(|| by_name(name));
    let (what, remedy) = match described {
        Some(what) => (what, WRITE),
        None => {
            let what = script()?;
            (what, if what == OF_K6 { RENAME } else { TRANSLATE })
        }
    };
    Some(format!("{what}: {remedy}"))
}

/// What a document describes, if it is one of those that people try.
fn described(text: &str) -> Option<&'static str> {
    if is_web_page(text) {
        return Some("a web page (HTML)");
    }
    if text.starts_with('{') {
        return of_json(&serde_json::from_str(text).ok()?);
    }
    let has = |key: &str| has_line(text, key);
    match () {
        () if has("openapi:") || has("swagger:") => Some(OPENAPI),
        () if has("config:") && has("scenarios:") => Some("a script of Artillery"),
        () if has("execution:") && !has("target:") => Some("a configuration of Taurus"),
        () => None,
    }
}

fn of_json(json: &Value) -> Option<&'static str> {
    let postman = json["info"]["schema"].as_str();
    match json {
        _ if json["log"]["entries"].is_array() => Some(HAR),
        _ if json.get("openapi").is_some() || json.get("swagger").is_some() => Some(OPENAPI),
        _ if postman.is_some_and(|schema| schema.contains("postman")) => {
            Some("a collection of Postman")
        }
        _ => None,
    }
}

fn has_line(text: &str, beginning: &str) -> bool {
    text.lines().any(|line| line.starts_with(beginning))
}

/// What a script is, by lines that a plan has within its texts at most.
fn of_script(text: &str) -> Option<&'static str> {
    let is_json = text.starts_with('{') && text.contains("\"scenarios\"");
    if is_json || has_line(text, "scenarios:") {
        return None;
    }
    let names = |module: &str| {
        let quoted = [format!("'{module}"), format!("\"{module}")];
        text.lines().any(|line| {
            let line = line.trim_start();
            let is_import = line.starts_with("import ") || line.contains("require(");
            is_import && quoted.iter().any(|own| line.contains(own.as_str()))
        })
    };
    if names("k6") {
        return Some(OF_K6);
    }
    if names("@gatling.io") {
        return Some("a simulation of Gatling");
    }
    let known = BEGINNINGS.into_iter().find(|(beginning, _)| has_line(text, beginning));
    let shell = text.starts_with("#!/").then_some("a script of a shell or another program");
    known.map(|(_, what)| what).or(shell)
}

/// What files with such a name are, if they say nothing else.
fn by_name(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" => "a script in Python",
        "scala" | "java" | "kt" => "a simulation of Gatling, or another program",
        "lua" => "a script of wrk, or another program",
        "har" => HAR,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_says_what_a_text_is_whatever_its_name() {
        for (text, what) in [
            ("import http from 'k6/http';\nexport default function () {}\n", "a script of k6"),
            ("// a test\nimport { check } from \"k6\";\n", "a script of k6"),
            ("const http = require('k6/http');\n", "a script of k6"),
            ("{\"log\": {\"entries\": []}}", HAR),
            ("{\"openapi\": \"3.1.0\"}", OPENAPI),
            ("openapi: 3.1.0\n", OPENAPI),
            ("from locust import HttpUser\n", "a script of Locust"),
            ("#!/bin/sh\ncurl http://a\n", "a script of a shell or another program"),
            ("<!DOCTYPE HTML>\n<title>404</title>", "a web page (HTML)"),
        ] {
            let found = what_is("plan.txt", text).unwrap_or_default();
            assert!(found.starts_with(&format!("{what}: ")), "{text}: {found}");
        }
        for plan in [
            "name: k6\ntarget: http://a\nscenarios: {a: {steps: [{get: \"/k6\"}]}}\n",
            "{\"target\": \"http://a\"}",
            "{\"scenarios\": {\"a\": {\"steps\": [{\"post\": \"/\", \"body\": \"require('k6')\"}]}}}",
            "#!/usr/bin/env -S squall run\nscenarios: {a: {steps: [{get: /}]}}\n",
            "scenarios:\n  a:\n    steps:\n      - post: /\n        body: |\n          import http from 'k6/http';\n",
            "name: a\n#!/ is no first line\n",
            "<?xml version=\"1.0\"?>\n<jmeterTestPlan/>",
            "",
        ] {
            assert_eq!(what_is("plan.txt", plan), None, "{plan}");
        }
        assert!(
            what_is("a.py", "x = 1").is_some_and(|what| what.starts_with("a script in Python"))
        );
    }
}
