use super::*;
use crate::document::{FailureDocument, RunDocument, Times};

/// A run with a commit of its number, and such a 95th percentile.
pub(crate) fn run(number: u64, value: f64) -> HistoryRun {
    let labels = [("commit".to_owned(), format!("{number:07}abcdef"))].into_iter().collect();
    let latency_us = Times { count: 9, p95: value, ..Times::default() };
    let row = |kind: &str, name: &str| Row {
        kind: kind.to_owned(),
        name: name.to_owned(),
        count: 9,
        latency_us: latency_us.clone(),
        ..Row::default()
    };
    HistoryRun {
        schema: SCHEMA,
        folder: format!("runs/{number}"),
        meta: Meta { labels, started_unix: number as f64 * 60.0, ..Meta::default() },
        totals: row("", ""),
        requests: vec![row("request", "login")],
        ..HistoryRun::default()
    }
}

/// What a list needs of a result stands before what it does not read.
#[test]
fn a_result_begins_with_what_lists_need() {
    let keys = |value: serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let result = keys(serde_json::to_value(RunDocument::default()).expect("JSON"));
    let listed = keys(serde_json::to_value(HistoryRun::default()).expect("JSON"));
    let place = |key: &str| result.iter().position(|own| own == key);
    let rows = ["requests", "groups", "iterations"];
    for key in listed.iter().filter(|key| *key != "folder") {
        let at = place(key).expect("a key of the result");
        let extent = if rows.contains(&key.as_str()) { Extent::Rows } else { Extent::Totals };
        assert!(at <= place(extent.last_key()).expect("a key of the result"), "{key}");
    }
}

#[test]
fn no_more_of_a_result_is_read_than_is_wanted() {
    let whole = run(3, 1.0);
    let json = serde_json::to_string(&RunDocument {
        schema: SCHEMA,
        meta: whole.meta.clone(),
        totals: whole.totals.clone(),
        requests: whole.requests.clone(),
        ..RunDocument::default()
    });
    let json = json.expect("JSON");
    let read = |extent| history_run(Path::new("runs/3"), json.as_bytes(), extent).expect("a run");
    assert_eq!(read(Extent::Rows), whole);
    assert_eq!(read(Extent::Totals), HistoryRun { requests: Vec::new(), ..whole });
    let later = json.replacen(&format!("\"schema\":{SCHEMA}"), "\"schema\":99", 1);
    let later = history_run(Path::new("runs/3"), later.as_bytes(), Extent::Totals);
    assert!(later.is_err_and(|reason| reason.contains("another version")));
}

#[test]
fn runs_are_filtered_by_all_that_is_given() {
    let own = HistoryRun { validity: "questionable".to_owned(), ..run(3, 1.0) };
    let filter = |commit: &str, label: (&str, &str)| Filter {
        commit: Some(commit.to_owned()),
        labels: vec![(label.0.to_owned(), label.1.to_owned())],
        ..Filter::default()
    };
    assert!(filter("000000", ("commit", "0000003abcdef")).holds(&own));
    assert!(!filter("1", ("commit", "0000003abcdef")).holds(&own));
    assert!(!filter("000000", ("commit", "0000003")).holds(&own));
    assert!(!Filter { plan: Some("shop".to_owned()), ..Filter::default() }.holds(&own));
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let validities =
        |words: &[&str]| Filter { validities: owned(words), ..Filter::default() }.holds(&own);
    assert!(validities(&["questionable"]) && validities(&["invalid", "questionable"]));
    assert!(!validities(&["valid"]) && !validities(&["invalid", "none"]));
}

#[test]
fn a_run_has_one_outcome() {
    let of = |finished, passed, kinds: &[&str]| {
        let reason =
            |kind: &&str| FailureDocument { kind: (*kind).to_owned(), ..Default::default() };
        let reasons = kinds.iter().map(reason).collect();
        let outcome = OutcomeDocument { passed, reasons, ..OutcomeDocument::default() };
        HistoryRun { finished, outcome, ..run(3, 1.0) }
    };
    let cases = [
        (of(true, true, &[]), "passed"),
        (of(true, false, &["threshold", "check"]), "failed"),
        // Something could not be written; and one that was killed, or is still at work.
        (of(true, false, &["threshold", "incomplete"]), "incomplete"),
        (of(false, false, &[]), "incomplete"),
    ];
    for (own, label) in cases {
        let meant: Vec<&str> = OUTCOMES
            .into_iter()
            .filter(|word| {
                let outcomes = vec![(*word).to_owned()];
                Filter { outcomes, ..Filter::default() }.holds(&own)
            })
            .collect();
        assert_eq!(meant, [label]);
    }
}

#[test]
fn labels_begin_with_the_commit_and_are_cut_at_their_end() {
    let mut own = run(3, 1.0);
    own.meta.labels.insert("branch".to_owned(), "main".to_owned());
    assert_eq!(labels(&own.meta.labels), "0000003abc branch=main");
    let history = HistoryDocument { runs: vec![own], unread: Vec::new() };
    let show = |columns| Show { columns, ..Default::default() };
    let line = |columns| {
        let text = history_text(&history, &show(columns));
        text.lines().nth(2).expect("a run").to_owned()
    };
    assert!(line(120).ends_with("  0000003abc branch=main"), "{}", line(120));
    assert!(line(80).ends_with("  0000003abc branc…"), "{}", line(80));
    assert_eq!(line(80).chars().count(), 79, "a column is left free");
}

#[test]
fn runs_are_told_apart_where_there_is_little_room() {
    let of = |second: u64, finished: bool| HistoryRun {
        folder: format!("runs/2026-11-23T01-01-{second}-a-plan-of-some-length"),
        finished,
        ..run(second, 1.0)
    };
    let history = HistoryDocument { runs: vec![of(10, true), of(11, false)], unread: Vec::new() };
    let text = history_text(&history, &Show { columns: 80, ..Default::default() });
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert!(lines[0].starts_with(" 2026-11-23T01-01-10-a… "), "{text}");
    assert_eq!(lines[1], "    0000010abc", "labels that have no room have their own line");
    assert!(lines[2].starts_with(" 2026-11-23T01-01-11-a… "), "{text}");
    let numbers: Vec<&str> = lines[2].split_whitespace().skip(1).collect();
    assert_eq!(numbers, ["-", "-", "-", "-", "-", "incomplete"], "nothing is known of them");
    assert!(lines.iter().all(|line| line.chars().count() <= 79), "{text}");
}

/// A folder that has no run of its own is no reason not to look for a label of its name.
#[test]
fn runs_are_found_by_label_beside_folders_of_that_name() {
    let base = tempfile::tempdir().expect("a folder");
    let write = |folder: &str, branch: &str| {
        let labels = [("branch".to_owned(), branch.to_owned())].into_iter().collect();
        let meta = Meta { labels, ..Meta::default() };
        let run = RunDocument { schema: SCHEMA, meta, ..RunDocument::default() };
        let folder = base.path().join(folder);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("run.json"), serde_json::to_string(&run).expect("JSON"))
            .expect("a file");
    };
    // Tests run in the folder of the crate, where there is one of this name.
    write("one", "src");
    write("two", "main");
    fs::create_dir(base.path().join("main")).expect("a folder");
    let found = |text: &str| find_run(base.path(), text).map_err(|error| error.to_string());
    assert_eq!(found("src"), Ok(base.path().join("one")));
    assert_eq!(found("main"), Ok(base.path().join("two")));
    assert_eq!(found("branch=main"), Ok(base.path().join("two")));
    assert_eq!(found("one"), Ok(base.path().join("one")));
    assert_eq!(found("Cargo.toml"), Ok(PathBuf::from("Cargo.toml")), "a file is what it is");
    let error = found("tests").expect_err("no run");
    assert!(error.starts_with("tests: this is not the folder of a run, and no run in"), "{error}");
}
