//! Whether a run passed, and if not, why; and its thresholds, with what was measured and how far that is from the limit.

use std::fmt::Write as _;

use squall_base::units::{count, counted, percent};

use super::paragraph::{INDENT, paragraph, verdict};
use super::show::{Show, more};
use super::width::{shorten, text_width};
use crate::document::{CheckRow, FailureDocument, NONE, RunDocument, ThresholdRow};

/// Most reasons that are shown, and most thresholds, unless everything is.
const MAX_SHOWN: usize = 8;
/// Most requests that are named of a check that failed.
const MAX_JUDGED: usize = 3;

/// Whether the run passed, and if not, why; of one that was interrupted, whether it did up to then.
pub(super) fn outcome(out: &mut String, run: &RunDocument, show: &Show) {
    let reasons = reasons(run);
    let ((plain, color), why) = match reasons.first() {
        Some(first) => (("FAILED", "31;1"), first.as_str()),
        None if run.thresholds.len() == 1 => (("passed", "32"), "its threshold passed"),
        None if !run.thresholds.is_empty() => (("passed", "32"), "all thresholds passed"),
        None if run.validity == NONE => (("passed", "32"), "there was nothing to judge"),
        None => (("passed", "32"), "no check failed and no request was an error"),
    };
    let caveats = &run.outcome.caveats;
    // Of a run that passed they belong to the sentence that says so.
    let (why, caveats) = match caveats.is_empty() || !reasons.is_empty() {
        true => (why.to_owned(), caveats.as_slice()),
        false => (format!("{why}, but {}", caveats.join(", and ")), Default::default()),
    };
    let ((plain, color), why) = match run.interrupted {
        true if run.outcome.lacks_teardown_alone() => {
            (("INTERRUPTED", "33;1"), format!("up to then the run passed, but {why}"))
        }
        true => (("INTERRUPTED", "33;1"), format!("up to then the run {plain}: {why}")),
        false => ((plain, color), why),
    };
    verdict(out, " run         ", (plain, color), &why, show);
    let most = if show.full { usize::MAX } else { MAX_SHOWN };
    for reason in reasons.iter().take(most).skip(1) {
        paragraph(out, INDENT, reason, show.width());
    }
    more(out, reasons.len().saturating_sub(most), "reasons");
    for caveat in caveats {
        paragraph(out, INDENT, caveat, show.width());
    }
    if run.meta.strict
        && run.validity == "invalid"
        && run.outcome.exit_code == 3
        && !is_incomplete(run)
    {
        let text = "`--strict` refuses these numbers, as they are invalid: exit code 3";
        paragraph(out, INDENT, text, show.width());
    }
}

/// Why the run failed, a sentence each. Of several thresholds their number: they are listed by themselves.
fn reasons(run: &RunDocument) -> Vec<String> {
    let is_threshold = |own: &&FailureDocument| own.kind == "threshold";
    let failed = run.outcome.reasons.iter().filter(is_threshold).count();
    let mut said = Vec::new();
    let mut counted_already = false;
    for own in &run.outcome.reasons {
        let row = run.thresholds.iter().find(|row| Some(&row.text) == own.name.as_ref());
        match row.filter(|_| own.kind == "threshold") {
            None => said.push(format!("{}{}", own.text, judged(run, own))),
            Some(row) if failed == 1 => {
                said.push(format!("threshold {}: {}", row.text, measured(row)));
            }
            Some(_) if counted_already => {}
            Some(_) => {
                let of = run.thresholds.len() as u64;
                said.push(format!("{failed} of {} failed", counted(of, "threshold")));
                counted_already = true;
            }
        }
    }
    said
}

/// In which requests a check failed: ` (GET /items, POST /buy)`.
fn judged(run: &RunDocument, reason: &FailureDocument) -> String {
    let is_meant = |row: &&CheckRow| {
        row.failed > 0 && reason.kind == "check" && Some(&row.name) == reason.name.as_ref()
    };
    let mut requests: Vec<&str> = Vec::new();
    for request in run.checks.iter().filter(is_meant).filter_map(|row| row.group.last()) {
        if !requests.contains(&request.as_str()) {
            requests.push(request);
        }
    }
    match requests.as_slice() {
        [] => String::new(),
        few if few.len() <= MAX_JUDGED => format!(" ({})", few.join(", ")),
        [first, more @ ..] => format!(" ({first} and {} more)", more.len()),
    }
}

/// Whether something is missing, which is more than what the numbers say.
fn is_incomplete(run: &RunDocument) -> bool {
    run.outcome.reasons.iter().any(|own| own.kind == "incomplete")
}

/// Each threshold with what was measured: those that failed first, unless all are shown.
pub(super) fn thresholds(out: &mut String, run: &RunDocument, show: &Show) {
    let mut all: Vec<&ThresholdRow> = run.thresholds.iter().collect();
    if !show.full && all.len() > MAX_SHOWN {
        all.sort_by_key(|own| own.passed);
    }
    let most = if show.full { usize::MAX } else { MAX_SHOWN };
    for own in all.iter().take(most) {
        let word = if own.passed { show.word("passed", "32") } else { show.word("FAILED", "31;1") };
        let measured = format!("{}{}", measured(own), which(run, own));
        let room = show.width() - 22;
        // What one does not need is the other's.
        let rest = room.saturating_sub(text_width(&measured));
        let text = shorten(&own.text, rest.max(room / 2));
        let measured = shorten(&measured, room - text_width(&text));
        let _ = writeln!(out, " threshold   {word} {text}: {measured}");
    }
    let hidden = &all[all.len().min(most)..];
    if !hidden.is_empty() {
        let failed = hidden.iter().filter(|own| !own.passed).count() as u64;
        let failed =
            if failed > 0 { format!(", {} of them failed", count(failed)) } else { String::new() };
        let _ = writeln!(out, "{INDENT}and {} more{failed} (--full)", count(hidden.len() as u64));
    }
}

/// What was measured, and how far beyond the limit that is: `440 ms, 47% over`.
fn measured(own: &ThresholdRow) -> String {
    match beyond(own) {
        Some(beyond) => format!("{}, {beyond}", own.shown),
        None => own.shown.clone(),
    }
}

/// How far beyond its limit a value is; `None`: it is not, or the limit is no upper or lower one above 0.
fn beyond(own: &ThresholdRow) -> Option<String> {
    let value = own.value.filter(|_| !own.passed && own.limit > 0.0)?;
    let ratio = value / own.limit;
    let (share, word) = match own.op.as_str() {
        "<" | "<=" => (ratio - 1.0, "over"),
        ">" | ">=" => (1.0 - ratio, "under"),
        _ => return None,
    };
    let text = match share {
        share if share >= 9.0 => format!("{} times the limit", count(ratio.round() as u64)),
        share if share >= 0.095 => format!("{:.0}% {word}", share * 100.0),
        // Less than what is shown of it.
        share if share < 0.000_05 => return None,
        share => format!("{} {word}", percent(share)),
    };
    Some(text)
}

/// That a threshold is about a request, where a group has the same name.
fn which(run: &RunDocument, own: &ThresholdRow) -> &'static str {
    let has =
        |rows: &[crate::document::Row]| rows.iter().any(|row| Some(&row.name) == own.name.as_ref());
    match has(&run.requests) && has(&run.groups) && !own.subject.contains("kind:") {
        true => " (the request, not the group)",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Row;

    fn row(op: &str, limit: f64, value: f64) -> ThresholdRow {
        ThresholdRow {
            op: op.to_owned(),
            limit,
            value: Some(value),
            shown: "v".to_owned(),
            ..ThresholdRow::default()
        }
    }

    #[test]
    fn a_threshold_says_how_far_off_it_is() {
        for (op, limit, value, expected) in [
            ("<", 300.0, 411.0, "v, 37% over"),
            ("<=", 0.01, 0.0101, "v, 1% over"),
            ("<", 1.0, 25.0, "v, 25 times the limit"),
            (">", 100.0, 40.0, "v, 60% under"),
            (">=", 100.0, 0.0, "v, 100% under"),
            ("<", 300.0, 300.0, "v"),
            ("<", 0.0, 5.0, "v"),
            ("==", 3.0, 5.0, "v"),
        ] {
            assert_eq!(measured(&row(op, limit, value)), expected, "{value} {op} {limit}");
        }
        let nothing = ThresholdRow { value: None, ..row("<", 1.0, 0.0) };
        assert_eq!(measured(&nothing), "v");
    }

    #[test]
    fn a_request_and_a_group_of_one_name_are_told_apart() {
        let named = |name: &str| Row { name: name.to_owned(), ..Row::default() };
        let run = RunDocument {
            requests: vec![named("list"), named("buy")],
            groups: vec![named("list")],
            ..RunDocument::default()
        };
        let about = |name: &str, subject: &str| {
            let (name, subject) = (Some(name.to_owned()), subject.to_owned());
            which(&run, &ThresholdRow { name, subject, ..ThresholdRow::default() })
        };
        assert!(about("list", "list").contains("the request"));
        assert_eq!(about("list", "list, kind: group"), "");
        assert_eq!(about("buy", "buy"), "");
    }

    #[test]
    fn numbers_that_strict_refuses_are_said_with_the_outcome() {
        let mut run = RunDocument { validity: "invalid".to_owned(), ..RunDocument::default() };
        (run.outcome.passed, run.outcome.exit_code) = (true, 3);
        let refusal = |run: &RunDocument| {
            let mut shown = String::new();
            outcome(&mut shown, run, &Show { columns: 80, ..Show::default() });
            shown.lines().nth(1).map(str::to_owned)
        };
        assert_eq!(refusal(&run), None);
        run.meta.strict = true;
        let refused =
            "             `--strict` refuses these numbers, as they are invalid: exit code 3";
        assert_eq!(refusal(&run).as_deref(), Some(refused));
        run.outcome.exit_code = 130;
        assert_eq!(refusal(&run), None);
    }

    #[test]
    fn a_check_that_failed_names_the_requests() {
        let row = |request: &str, failed| CheckRow {
            name: "ok".to_owned(),
            group: vec!["g".to_owned(), request.to_owned()],
            failed,
            ..CheckRow::default()
        };
        let reason = FailureDocument {
            kind: "check".to_owned(),
            name: Some("ok".to_owned()),
            ..FailureDocument::default()
        };
        let of = |checks: Vec<CheckRow>| {
            judged(&RunDocument { checks, ..RunDocument::default() }, &reason)
        };
        assert_eq!(of(vec![row("a", 1), row("b", 0), row("a", 2)]), " (a)");
        let many = ["a", "b", "c", "d"].map(|name| row(name, 1));
        assert_eq!(of(many.to_vec()), " (a and 3 more)");
        assert_eq!(of(Vec::new()), "");
    }

    #[test]
    fn several_thresholds_are_counted_and_listed_once() {
        let reason = |kind: &str, name: &str| FailureDocument {
            kind: kind.to_owned(),
            name: Some(name.to_owned()),
            text: format!("{kind} {name}"),
            ..FailureDocument::default()
        };
        let named = |text: &str, passed| ThresholdRow {
            text: text.to_owned(),
            passed,
            ..row("<", 1.0, 2.0)
        };
        let mut run = RunDocument {
            thresholds: vec![named("a", false), named("b", false), named("c", true)],
            ..RunDocument::default()
        };
        run.outcome.reasons =
            vec![reason("threshold", "a"), reason("threshold", "b"), reason("errors", "x")];
        assert_eq!(reasons(&run), ["2 of 3 thresholds failed", "errors x"]);
        run.outcome.reasons.remove(1);
        assert_eq!(reasons(&run), ["threshold a: v, 100% over", "errors x"]);
    }
}
