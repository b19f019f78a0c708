//! `report.html`: what is in it, of a folder and of a result alone, and that nothing in a run becomes markup.

use serde_json::Value;
use squall_analysis::Totals;
use squall_metrics::{
    CheckResult, ErrorKind, MetricId, MetricKey, MetricKind, NameId, RowKey, RowKind, Sample, Slice,
};
use squall_report::{
    Details, Mark, Meta, Recording, Run, RunFolder, document, html, load_folder_to_draw,
};

/// What a page must not take for its own.
const HOSTILE: &str = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u{2028}\u{2029}'\"`&amp;{{RUN}}";

fn slice(worker: u32, second: u32) -> Slice {
    let mut slice = Slice::new(worker, second);
    if second == 0 {
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", HOSTILE));
        slice.announce(NameId(1), RowKey::new(RowKind::Request, "s", "GET /"));
        slice.announce(NameId(2), RowKey::new(RowKind::Group, HOSTILE, "group"));
        slice.announce(NameId(3), RowKey::new(RowKind::Iteration, "s", "iteration"));
        slice.announce(NameId(4), RowKey::new(RowKind::Check, "s", HOSTILE));
    }
    for n in 1..=10 {
        slice.record(NameId(0), &Sample { error: Some(ErrorKind::Status), ..Sample::ok(n * 100) });
        // The first worker's are fast, the second's slow: their percentiles are not those of either.
        slice.record(NameId(1), &Sample::ok(n * 1_000 * (1 + u64::from(worker) * 9)));
    }
    slice.record_span(NameId(2), 30_000_000, false);
    slice.record_span(NameId(3), 50_000_000, false);
    slice.record_check(NameId(4), CheckResult::Failed);
    let sold = MetricKey::new(MetricKind::Counter, "s", "sold", Vec::new());
    if second == 0 {
        slice.announce_metric(MetricId(0), &sold);
    }
    slice.record_metric(MetricId(0), sold.kind, 2.5, 0).expect("a value");
    slice.counters.users_active = 3;
    slice
}

/// A run on disk.
fn folder(base: &std::path::Path) -> std::path::PathBuf {
    let meta = Meta { plan: HOSTILE.to_owned(), ..Meta::default() };
    let mut folder =
        RunFolder::create(base, &meta, &format!("name: \"{HOSTILE}\"\n")).expect("a folder");
    let mut totals = Totals::new();
    for second in 0..4 {
        for worker in 0..2 {
            folder.slice(&slice(worker, second));
            totals.add(&slice(worker, second));
        }
    }
    folder.log(1, 0, HOSTILE, serde_json::json!({"name": HOSTILE, "error": "status"}));
    let mark = Mark { at_s: 2.0, text: HOSTILE.to_owned(), ..Mark::default() };
    let marks = vec![mark];
    let mut run = Run {
        meta,
        elapsed_s: 4.0,
        finished: true,
        totals: totals.into(),
        marks,
        ..Run::default()
    };
    run.evaluate_to_draw(&mut Recording::open(&folder.path().join("slices.bin")).expect("slices"))
        .expect("readable");
    run.log.push(HOSTILE.to_owned());
    let result = document(&run);
    folder.write_result(&result).expect("writable");
    folder.write_page(&run, &result).expect("writable");
    folder.path().to_owned()
}

/// The data of a page.
fn data(page: &str, id: &str) -> Value {
    let begin = format!("<script type=\"application/json\" id=\"{id}\">");
    let rest = page.split_once(&begin).expect("data").1;
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn a_page_holds_the_run_and_its_curves() {
    let base = tempfile::tempdir().expect("a folder");
    let path = folder(base.path());
    let page = std::fs::read_to_string(path.join("report.html")).expect("a page");
    let (run, _) = load_folder_to_draw(&path).expect("a run");
    assert_eq!(
        html(&document(&run), &Details::of(&run, Some(&path))),
        page,
        "made again it is the same"
    );
    let (figures, result) =
        (data(&page, "run"), serde_json::to_value(document(&run)).expect("JSON"));
    for name in
        ["meta", "marks", "totals", "requests", "groups", "checks", "validity_reasons", "generator"]
    {
        assert_eq!(figures[name], result[name], "{name}");
    }
    assert_eq!(figures["series"]["users"], serde_json::json!([6, 6, 6, 6]));
    assert_eq!(figures["series"]["second"], serde_json::json!([0, 1, 2, 3]));
    assert_eq!(figures["series_metrics"][0]["value"], serde_json::json!([5.0, 5.0, 5.0, 5.0]));
    let details = data(&page, "details");
    let all = &details["curves"]["all"];
    assert_eq!(all["count"], serde_json::json!([40, 40, 40, 40]));
    assert_eq!(all["errors"], serde_json::json!([20, 20, 20, 20]));
    assert_eq!(all["error_kinds"]["status"], serde_json::json!([20, 20, 20, 20]));
    assert_eq!(all["status"], serde_json::json!({"200": [40, 40, 40, 40]}));
    // Half of the requests are errors, and all others were quick.
    assert_eq!((&details["apdex"], &details["rows"][1]["apdex"]), (&0.5.into(), &1.0.into()));
    // The rows in the order of the result: two requests, a group, an iteration.
    let rows = details["rows"].as_array().expect("rows");
    let counts: Vec<u64> = rows
        .iter()
        .map(|row| {
            let counts = row["line"]["count"].as_array().expect("counts");
            counts.iter().filter_map(Value::as_u64).sum()
        })
        .collect();
    assert_eq!(counts, [80, 80, 8, 8]);
    // Of 1 to 10 ms and 10 to 100 ms together the 95th percentile is the 19th of 20.
    assert_eq!(rows[1]["line"]["p95"][0], 90_047);
    assert_eq!(details["checks"][0]["errors"], serde_json::json!([2, 2, 2, 2]));
    assert_eq!(details["examples"][0]["error"], "status");
    assert_eq!(details["missing"], serde_json::json!([]));
}

/// What is between the page's own tags is text: its own scripts, three of them data, are all that it has.
#[test]
fn nothing_in_a_run_is_markup() {
    let base = tempfile::tempdir().expect("a folder");
    let path = folder(base.path());
    let page = std::fs::read_to_string(path.join("report.html")).expect("a page");
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (4, 4));
    assert!(!page.contains("<img") && !page.contains("<!--"));
    assert!(page.contains("default-src 'none'"));
    let addresses = page
        .split("http")
        .skip(1)
        .filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
    let foreign: Vec<&str> =
        addresses.filter(|rest| !rest.starts_with("://www.w3.org/2000/svg")).collect();
    assert_eq!(foreign, [""; 0]);
}

/// Without a folder there is a page nevertheless, and one that says what it lacks.
#[test]
fn a_page_of_a_result_alone() {
    let page = html(&document(&Run { finished: true, ..Run::default() }), &Details::default());
    assert_eq!(data(&page, "details")["curves"], Value::Null);
    let base = tempfile::tempdir().expect("a folder");
    let path = folder(base.path());
    let (run, _) = load_folder_to_draw(&path).expect("a run");
    std::fs::remove_file(path.join("log.jsonl")).expect("it was there");
    let details = Details::of(&run, Some(&path));
    assert_eq!(details.missing.len(), 1, "{:?}", details.missing);
    assert!(details.latency.is_some() && details.curves.is_some());
    assert!(Details::of(&run, None).missing.is_empty());
}
