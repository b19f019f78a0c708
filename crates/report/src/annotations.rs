//! What failed, and what is to be said of a run that passed, as annotations of a build: workflow commands of GitHub, and a
//! code quality report of GitLab.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use squall_base::hex::hex;
use squall_base::units::{count, percent, rate};

use crate::document::RunDocument;
use crate::run::INTERRUPTED;

/// Something to say of a run.
struct Annotation {
    is_error: bool,
    title: String,
    text: String,
    /// What it is about, the same in each run in which it is found, whatever was measured.
    finding: String,
}

/// Why the run failed, how its load was other than planned, and what the numbers are worth.
fn annotations(run: &RunDocument) -> Vec<Annotation> {
    let interrupted = run.interrupted.then(|| Annotation {
        is_error: true,
        title: format!("{}: run interrupted", run.meta.plan),
        text: INTERRUPTED.to_owned(),
        finding: "interrupted".to_owned(),
    });
    let reasons = run.outcome.reasons.iter().map(|own| Annotation {
        is_error: true,
        title: format!("{}: run failed", run.meta.plan),
        text: own.text.clone(),
        finding: [own.kind.as_str(), own.name.as_deref().unwrap_or_default()].join(" "),
    });
    let caveats = run.outcome.caveats.iter().map(|own| Annotation {
        is_error: false,
        title: format!("{}: load other than planned", run.meta.plan),
        text: own.clone(),
        finding: format!("caveat {}", without_numbers(own)),
    });
    let doubts = run.validity_reasons.iter().filter(|own| own.validity != "valid");
    let doubts = doubts.map(|own| Annotation {
        is_error: own.validity == "invalid",
        title: format!("{}: numbers {}", run.meta.plan, own.validity),
        text: format!("{}: {}; hint: {}", own.rule, own.observed, own.advice),
        finding: format!("{} {}", own.validity, own.rule),
    });
    interrupted.into_iter().chain(reasons).chain(caveats).chain(doubts).collect()
}

/// The words of a text that have no digit.
fn without_numbers(text: &str) -> String {
    let has_digit = |word: &&str| word.chars().any(|c| c.is_ascii_digit());
    text.split_whitespace().filter(|word| !has_digit(word)).collect::<Vec<_>>().join(" ")
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
    let word = match (run.interrupted, run.outcome.passed) {
        (true, _) => "interrupted",
        (false, true) => "passed",
        (false, false) => "failed",
    };
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

/// A code quality report (`artifacts: reports: codequality`), which a merge request shows. Its places are the plan's file.
pub fn gitlab(run: &RunDocument) -> String {
    let file = run.meta.file.as_ref().unwrap_or(&run.meta.plan);
    let all = annotations(run).into_iter().map(|own| {
        let finding = format!("{file} {}", own.finding);
        json!({
            "description": format!("{}: {}", own.title, own.text),
            "check_name": "squall",
            "fingerprint": hex(&Sha256::digest(finding.as_bytes())),
            "severity": if own.is_error { "critical" } else { "minor" },
            "location": {"path": file.strip_prefix("./").unwrap_or(file), "lines": {"begin": 1}},
        })
    });
    let text = serde_json::to_string_pretty(&Value::Array(all.collect()));
    // Nothing in it can fail.
    text.unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ValidityReason;

    #[test]
    fn a_finding_is_the_same_in_each_run() {
        let fingerprint = |observed: &str| {
            let reason = ValidityReason {
                rule: "arrivals_dropped".to_owned(),
                validity: "questionable".to_owned(),
                observed: observed.to_owned(),
                ..ValidityReason::default()
            };
            let run = RunDocument { validity_reasons: vec![reason], ..RunDocument::default() };
            let all: Value = serde_json::from_str(&gitlab(&run)).expect("JSON");
            all[0]["fingerprint"].clone()
        };
        assert_eq!(fingerprint("15 of 315 arrivals"), fingerprint("2 of 315 arrivals"));
    }

    #[test]
    fn a_caveat_of_a_run_that_passed_is_a_warning() {
        let with = |caveat: &str| {
            let mut run = RunDocument::default();
            (run.meta.plan, run.outcome.passed) = ("shop".to_owned(), true);
            run.outcome.caveats = vec![caveat.to_owned()];
            run
        };
        let run = with("80% of the arrivals were dropped (168 of 200)");
        let wanted = "::warning title=shop%3A load other than planned::80%25 of the arrivals were dropped (168 of 200)\n";
        assert!(github(&run).starts_with(wanted), "{}", github(&run));
        let parsed =
            |run: &RunDocument| -> Value { serde_json::from_str(&gitlab(run)).expect("JSON") };
        let (one, other) =
            (parsed(&run), parsed(&with("1.5% of the arrivals were dropped (3 of 1,200)")));
        assert_eq!(one[0]["severity"], "minor");
        assert_eq!(one[0]["fingerprint"], other[0]["fingerprint"]);
        let another = parsed(&with("80% of the requests could not be sent (168 of 200)"));
        assert_ne!(one[0]["fingerprint"], another[0]["fingerprint"]);
    }

    #[test]
    fn a_text_is_no_command() {
        assert_eq!(message("a\n::error::b 5%"), "a%0A::error::b 5%25");
        assert_eq!(property("a, b: c"), "a%2C b%3A c");
    }
}
