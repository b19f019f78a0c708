//! What monitors sampled of the target, in the text, the result and the page.

use serde_json::{Value, json};
use squall_analysis::Totals;
use squall_metrics::{
    MetricId, MetricKey, MetricKind, NameId, RowKey, RowKind, Sample, Slice, Source,
};
use squall_report::{
    Details, Meta, Recording, Run, RunDocument, RunFolder, Show, Side, compare_markdown,
    compare_runs, compare_text, document, html, text,
};

const SECONDS: u32 = 60;

/// A second of the load.
fn load(second: u32) -> Slice {
    let mut slice = Slice::new(0, second);
    if second == 0 {
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "GET /"));
    }
    for n in 1..=20 {
        slice.record(NameId(0), &Sample::ok(n * 100 * (1 + u64::from(second) / 20)));
    }
    slice.counters.users_active = 3;
    slice
}

/// What monitors sampled in a second: a server whose CPU gets full, with a gap of three seconds, and a pool that only the
/// target knows.
fn sampled(second: u32, factor: f64) -> Slice {
    let mut slice = Slice::new(Source::Monitor(1), second);
    let busy = f64::from(second.min(40)) / 40.0;
    let disk = |name: &str| vec![("disk".to_owned(), name.to_owned())];
    let all = [
        ("server", "cpu", Vec::new(), factor * 2.0 * busy),
        ("server", "cpu_limit", Vec::new(), 2.0),
        ("server", "rss", Vec::new(), 3e8 + 2e8 * busy),
        ("server", "threads", Vec::new(), 12.0 + f64::from(second % 3)),
        ("machine", "disk_busy", disk("sda"), 0.25),
        ("machine", "disk_busy", disk("sdb"), 0.5 * busy),
        ("machine", "swap_used", Vec::new(), 0.0),
        ("app", "pool_waiting", Vec::new(), f64::from(second / 10)),
    ];
    for (number, (monitor, name, mut tags, value)) in (0..).zip(all) {
        tags.push(("monitor".to_owned(), monitor.to_owned()));
        let key = MetricKey::new(MetricKind::Gauge, "", name, tags);
        if second == 0 {
            slice.announce_metric(MetricId(number), &key);
        }
        if !(20..23).contains(&second) {
            let at = u64::from(second) * 1_000_000_000;
            slice.record_metric(MetricId(number), key.kind, value, at).expect("a value");
        }
    }
    slice
}

/// A run on disk.
fn folder(base: &std::path::Path, factor: f64) -> std::path::PathBuf {
    let thresholds =
        vec!["cpu(server) < 80%".to_owned(), "rss(server) < 400MiB over 10s".to_owned()];
    let meta = Meta { plan: "shop".to_owned(), thresholds, ..Meta::default() };
    let mut folder = RunFolder::create(base, &meta, "name: shop\n").expect("a folder");
    let mut totals = Totals::new();
    for second in 0..SECONDS {
        for slice in [load(second), sampled(second, factor)] {
            folder.slice(&slice);
            totals.add(&slice);
        }
    }
    let elapsed_s = f64::from(SECONDS);
    let mut run = Run { meta, elapsed_s, finished: true, totals: totals.into(), ..Run::default() };
    run.evaluate_to_draw(&mut Recording::open(&folder.path().join("slices.bin")).expect("slices"))
        .expect("readable");
    let result = document(&run);
    folder.write_result(&result).expect("writable");
    folder.write_page(&run, &result).expect("writable");
    folder.path().to_owned()
}

fn result(path: &std::path::Path) -> RunDocument {
    document(&squall_report::load_folder(path).expect("a run").0)
}

fn figures(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"run\">";
    let rest = page.split_once(begin).expect("data").1;
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn the_text_has_the_main_metrics_of_each_monitor_and_says_what_was_full() {
    let base = tempfile::tempdir().expect("a folder");
    let run = result(&folder(base.path(), 1.0));
    let show = Show { columns: 100, color: false, full: false, explain: false };
    let brief = text(&run, &show);
    let table = [
        "target mean max last full at",
        "server",
        "cpu (was full) 133.1% 200% 200% 200%",
        "rss 413.0 MiB 476.8 MiB 476.8 MiB",
        "threads 13 14 14",
        "machine",
        "disk_busy{disk=sda} 25% 25% 25% 100%",
        "disk_busy{disk=sdb} 33.3% 50% 50% 100%",
        "and 1 more (--full)",
        "app",
        "pool_waiting 2.526 5 5",
        "",
    ];
    let lines = brief.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let shown: Vec<String> =
        lines.skip_while(|line| !line.starts_with("target ")).take(table.len()).collect();
    assert_eq!(shown, table, "{brief}");
    assert!(brief.lines().all(|line| line.chars().count() <= 100), "{brief}");
    let full = text(&run, &Show { full: true, ..show });
    assert!(full.contains("   swap_used  ") && !full.contains("metric      cpu"), "{full}");
    let judged: Vec<(&str, bool)> =
        run.thresholds.iter().map(|own| (own.shown.as_str(), own.passed)).collect();
    assert_eq!(judged, [("133.1%", false), ("476.8 MiB, from second 40 to 50", false)]);
}

#[test]
fn the_result_has_units_and_the_page_has_charts_with_limits() {
    let base = tempfile::tempdir().expect("a folder");
    let path = folder(base.path(), 1.0);
    let run = result(&path);
    let cpu = run.metrics.iter().find(|own| own.name == "cpu").expect("a row");
    assert_eq!((cpu.unit.as_deref(), cpu.tags["monitor"].as_str()), (Some("share"), "server"));
    let track = run.series_metrics.iter().find(|own| own.name == "rss").expect("a track");
    assert_eq!((track.unit.as_deref(), track.second.len()), (Some("bytes"), 57));
    let page = std::fs::read_to_string(path.join("report.html")).expect("a page");
    let target = &figures(&page)["target"];
    assert_eq!(target.as_array().map(Vec::len), Some(3));
    let chart = &target[0]["charts"][0];
    assert_eq!((&chart["title"], &chart["unit"]), (&json!("CPU"), &json!("percent")));
    assert_eq!(chart["limits"], json!([[2.0, "cpu full at 200%"]]));
    let place = chart["metrics"][0].as_u64().expect("a place") as usize;
    assert_eq!(run.metrics[place].name, "cpu");
    let without = document(&Run::default());
    assert_eq!(figures(&html(&without, &Details::default()))["target"], json!([]));
}

#[test]
fn a_comparison_has_the_means_side_by_side() {
    let base = tempfile::tempdir().expect("a folder");
    let paths = [1.0, 0.5].map(|factor| folder(base.path(), factor));
    let sides = paths.map(|path| Side::load(&path).expect("a run"));
    let sides: Vec<Side> =
        sides.into_iter().zip(["a", "b"]).map(|(side, name)| side.renamed(name)).collect();
    let found = compare_runs(&sides, &[]);
    let cpu = &found.pairs[0].target[0];
    assert_eq!((cpu.measure.as_str(), cpu.unit.as_str()), ("cpu(server)", "share"));
    assert_eq!(cpu.change.map(|change| (change * 100.0).round()), Some(-50.0));
    let show = Show { columns: 100, color: false, full: false, explain: false };
    let shown = compare_text(&found, &show);
    assert!(shown.contains("cpu(server)"), "{shown}");
    let line = shown.lines().find(|line| line.contains("cpu(server)")).unwrap_or_default();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["cpu(server)", "133.1%", "66.5%", "-50.0%"], "{shown}");
    assert!(shown.contains("nothing says how far a difference is chance"), "{shown}");
    assert!(compare_markdown(&found).contains("| cpu(server) | 133.1% | 66.5% | -50.0% |"));
}
