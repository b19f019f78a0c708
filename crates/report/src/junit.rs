//! The result as JUnit XML, which build servers show as tests: one for each threshold and each check, and one of the
//! run itself, which fails for what is neither: what is incomplete, or numbers that `--strict` refuses.

use std::fmt::Write as _;

use crate::document::RunDocument;
use crate::group_path::group_path;
use crate::run::INTERRUPTED;

/// A test, why it failed, and what else is to be said of it.
struct Test {
    class: &'static str,
    name: String,
    failure: Option<String>,
    note: Option<String>,
}

/// The result as tests.
pub fn junit(run: &RunDocument) -> String {
    let tests = tests(run);
    let failures = tests.iter().filter(|test| test.failure.is_some()).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{:.3}\"",
        tests.len(),
        run.elapsed_s
    );
    let plan = escaped(&run.meta.plan);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{plan}\" {counts}>\n"
    );
    for test in &tests {
        let head = format!(
            "<testcase classname=\"{plan}.{}\" name=\"{}\"",
            test.class,
            escaped(&test.name)
        );
        let _ = match (&test.failure, &test.note) {
            (None, None) => writeln!(out, "{head}/>"),
            (None, Some(text)) => {
                writeln!(out, "{head}><system-out>{}</system-out></testcase>", escaped(text))
            }
            (Some(text), note) => {
                let text = escaped(text);
                let note = note.as_ref().map_or(String::new(), |note| {
                    format!("<system-out>{}</system-out>", escaped(note))
                });
                writeln!(
                    out,
                    "{head}><failure message=\"{text}\">{text}</failure>{note}</testcase>"
                )
            }
        };
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

fn tests(run: &RunDocument) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for own in &run.thresholds {
        let failure = (!own.passed).then(|| format!("measured {}", own.shown));
        tests.push(Test { class: "thresholds", name: own.text.clone(), failure, note: None });
    }
    for own in &run.checks {
        let place = [own.scenario.clone(), group_path(&own.group)].into_iter();
        let place = place.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" / ");
        // Where thresholds decide whether a run passes, a check that failed fails no build.
        let decides = run.outcome.reasons.iter().any(|reason| {
            reason.kind == "check" && reason.name.as_deref() == Some(own.name.as_str())
        });
        let all = own.passed + own.failed + own.warned;
        let text = (own.failed > 0).then(|| format!("failed {} of {all} times", own.failed));
        let (failure, note) = if decides { (text, None) } else { (None, text) };
        tests.push(Test { class: "checks", name: format!("{place}: {}", own.name), failure, note });
    }
    let others = run
        .outcome
        .reasons
        .iter()
        .filter(|own| !matches!(own.kind.as_str(), "threshold" | "check"));
    let refused = is_refused(run).then(|| {
        let why = run.validity_reasons.iter().filter(|own| own.validity == "invalid");
        let why: Vec<String> = why.map(|own| format!("{}: {}", own.rule, own.observed)).collect();
        format!("the numbers are invalid, which --strict refuses: {}", why.join("; "))
    });
    let others: Vec<&str> = run
        .interrupted
        .then_some(INTERRUPTED)
        .into_iter()
        .chain(others.map(|own| own.text.as_str()))
        .chain(refused.as_deref())
        .collect();
    let failure = (!others.is_empty()).then(|| others.join("; "));
    let caveats = &run.outcome.caveats;
    let note = (!caveats.is_empty()).then(|| caveats.join("; "));
    tests.push(Test { class: "run", name: "the run".to_owned(), failure, note });
    tests
}

/// Whether the run fails for its numbers: they are invalid, and `--strict` was given.
pub(crate) fn is_refused(run: &RunDocument) -> bool {
    run.meta.strict && run.validity == "invalid"
}

/// Text in XML 1.0, which has no control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod own_tests {
    use super::*;
    use crate::document::ValidityReason;

    #[test]
    fn numbers_that_strict_refuses_are_a_failed_test() {
        let reason = ValidityReason {
            rule: "send_delay".to_owned(),
            validity: "invalid".to_owned(),
            observed: "half of the requests were late".to_owned(),
            ..ValidityReason::default()
        };
        let mut run = RunDocument { validity: "invalid".to_owned(), ..RunDocument::default() };
        run.validity_reasons = vec![reason];
        assert!(junit(&run).contains("failures=\"0\""), "without --strict");
        run.meta.strict = true;
        let refused = junit(&run);
        let wanted = "<failure message=\"the numbers are invalid, which --strict refuses: send_delay: half of the requests were late\">";
        assert!(refused.contains("failures=\"1\"") && refused.contains(wanted), "{refused}");
    }

    #[test]
    fn caveats_are_the_output_of_the_run() {
        let mut run = RunDocument::default();
        let caveats = ["80% of the arrivals were dropped", "2% of the requests could not be sent"];
        run.outcome.caveats = caveats.map(str::to_owned).into();
        let said = "<system-out>80% of the arrivals were dropped; 2% of the requests could not be sent</system-out></testcase>";
        let passed = junit(&run);
        assert!(passed.contains("failures=\"0\"") && passed.contains(said), "{passed}");
        run.interrupted = true;
        let failed = junit(&run);
        assert!(failed.contains(&format!("</failure>{said}")), "{failed}");
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("<a b=\"&\">\u{0}\n"), "&lt;a b=&quot;&amp;&quot;&gt;\u{fffd}&#10;");
    }
}
