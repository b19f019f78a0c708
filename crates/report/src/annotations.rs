//! What failed, as annotations of a build: workflow commands of GitHub, and a code quality report of GitLab.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use squall_base::hex::hex;
use squall_base::units::{count, percent, rate};

use crate::document::RunDocument;

/// Something to say of a run.
struct Annotation {
    is_error: bool,
    title: String,
    text: String,
}

/// Why the run failed, and what the numbers are worth.
fn annotations(run: &RunDocument) -> Vec<Annotation> {
    let reasons = run.outcome.reasons.iter().map(|own| Annotation {
        is_error: true,
        title: format!("{}: run failed", run.meta.plan),
        text: own.text.clone(),
    });
    let doubts = run.validity_reasons.iter().filter(|own| own.validity != "valid");
    let doubts = doubts.map(|own| Annotation {
        is_error: own.validity == "invalid",
        title: format!("{}: numbers {}", run.meta.plan, own.validity),
        text: format!("{}: {}; hint: {}", own.rule, own.observed, own.advice),
    });
    reasons.chain(doubts).collect()
}

/// Workflow commands: printed by a step, they show up on its run and on the pull request.
pub fn github(run: &RunDocument) -> String {
    let mut out = String::new();
    for own in annotations(run) {
        let level = if own.is_error { "error" } else { "warning" };
        out.push_str(&format!(
            "::{level} title={}::{}\n",
            property(&own.title),
            message(&own.text)
        ));
    }
    let all = &run.totals;
    let word = if run.outcome.passed { "passed" } else { "failed" };
    let text = format!(
        "{} requests ({}), {} errors ({}), {}",
        count(all.count),
        rate(all.rate),
        count(all.errors),
        percent(all.error_rate),
        run.validity
    );
    let title = format!("{} {word}", run.meta.plan);
    out.push_str(&format!("::notice title={}::{}\n", property(&title), message(&text)));
    out
}

/// The message of a command is one line.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// So is a property, which ends at a comma or a colon besides.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// A code quality report (`artifacts: reports: codequality`), which a merge request shows. Its places are the plan.
pub fn gitlab(run: &RunDocument) -> String {
    let all = annotations(run).into_iter().map(|own| {
        let text = format!("{}: {}", own.title, own.text);
        // The same finding in two runs has the same fingerprint, whatever was measured.
        let finding = text.split(" (").next().unwrap_or_default();
        json!({
            "description": text,
            "check_name": "squall",
            "fingerprint": hex(&Sha256::digest(finding.as_bytes())),
            "severity": if own.is_error { "critical" } else { "minor" },
            "location": {"path": run.meta.plan, "lines": {"begin": 1}},
        })
    });
    let text = serde_json::to_string_pretty(&Value::Array(all.collect()));
    // Nothing in it can fail.
    text.unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_command() {
        assert_eq!(message("a\n::error::b 5%"), "a%0A::error::b 5%25");
        assert_eq!(property("a, b: c"), "a%2C b%3A c");
    }
}
