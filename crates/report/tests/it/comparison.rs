//! Compares the outputs of comparisons of fixed runs with files in `tests/golden`, and reads a baseline again.

use crate::common::golden;
use squall_analysis::{Gate, Measured, SketchBuilder};
use squall_base::random::Random;
use squall_metrics::{ErrorKind, NameId, RowKey, RowKind, Sample, Slice};
use squall_report::{
    ComparisonDocument, Machine, Meta, RunAbout, ScenarioMeta, Show, Side, compare_html,
    compare_markdown, compare_runs, compare_text, comparison_schema, decode_baseline,
    encode_baseline,
};

/// A run of `rows` names: `slower` says by which factor those of a name are, and failures are of the third name.
fn side(
    name: &str,
    rows: usize,
    seconds: u32,
    seed: u64,
    slower: fn(usize) -> f64,
    failures: f64,
) -> Side {
    let mut random = Random::of(seed, 1, 2, 3);
    let slices: Vec<Slice> = (0..seconds)
        .map(|second| {
            let mut slice = Slice::new(0, second);
            for row in 0..rows {
                let id = NameId(row as u32);
                if second == 0 {
                    let name = [
                        "GET /",
                        "login",
                        "POST /pay|<b>",
                        "a very long name of a request, as paths often are",
                    ];
                    let name =
                        name.get(row).map_or(format!("GET /item/{row}"), |name| (*name).to_owned());
                    slice.announce(id, RowKey::new(RowKind::Request, "buyer", &name));
                }
                for _ in 0..40 {
                    let us = 12_000.0 * slower(row) * random.normal(0.0, 0.3).exp();
                    let error =
                        (row == 2 && random.uniform() < failures).then_some(ErrorKind::Status);
                    let sample = Sample { latency_ns: (us * 1e3) as u64, error, ..Sample::ok(0) };
                    slice.record(id, &sample);
                }
            }
            slice
        })
        .collect();
    let mut builder = SketchBuilder::new(0, seconds);
    slices.iter().for_each(|slice| builder.add(slice));
    let scenarios = vec![ScenarioMeta {
        name: "buyer".to_owned(),
        load: "200/s arrivals, for 30s".to_owned(),
        ..ScenarioMeta::default()
    }];
    let meta = Meta {
        squall: "0.1.0".to_owned(),
        plan: "shop".to_owned(),
        nodes: vec![Machine { io: "io_uring".to_owned(), ..Machine::default() }],
        labels: [("commit".to_owned(), format!("{seed}").repeat(40))].into_iter().collect(),
        started_unix: 1_795_213_023.0 + seed as f64 * 3_600.0,
        scenarios,
        seed,
        ..Meta::default()
    };
    let about = RunAbout {
        meta,
        elapsed_s: f64::from(seconds) + 0.5,
        finished: true,
        passed: true,
        validity: "valid".to_owned(),
        seconds: (0, u64::from(seconds)),
        is_steady: true,
        source: "recording".to_owned(),
        ..RunAbout::default()
    };
    Side::new(name, vec![about], Measured::Blocks(builder.finish()))
}

fn same(_: usize) -> f64 {
    1.0
}

fn login_slower(row: usize) -> f64 {
    if row == 1 { 1.2 } else { 1.0 }
}

/// A comparison with something of everything: a slower request, more errors, another load, a doubtful run, gates.
fn document() -> ComparisonDocument {
    let before = side("main", 4, 30, 1, same, 0.0);
    let mut after = side("2026-11-22T10-00-00-shop", 4, 30, 2, login_slower, 0.03);
    let about = &mut after.runs[0].1;
    about.meta.scenarios[0].load = "220/s arrivals, for 30s".to_owned();
    about.validity = "questionable".to_owned();
    about.reasons =
        vec!["cpu_bound: the busiest worker used 97% of a CPU in 12 of 30 seconds".to_owned()];
    let gates = ["p95(login) +10%", "p95(\"GET /\") +5%", "error_rate +0.5%", "rate(nothing) -5%"];
    let gates: Vec<Gate> = gates.iter().map(|text| Gate::parse(text).expect("a gate")).collect();
    compare_runs(&[before, after], &gates)
}

fn show(columns: usize) -> Show {
    Show { columns, ..Default::default() }
}

#[test]
fn texts_fit_their_terminals() {
    let document = document();
    for columns in [80, 200] {
        let text = compare_text(&document, &show(columns));
        golden(&format!("compare-{columns}.txt"), &text);
        assert!(text.lines().all(|line| line.chars().count() < columns), "{text}");
    }
    let equal =
        compare_runs(&[side("a", 12, 30, 1, same, 0.0), side("b", 12, 30, 2, same, 0.0)], &[]);
    golden("compare-equal-80.txt", &compare_text(&equal, &show(80)));
    assert!(equal.passed && equal.pairs[0].changed == 0);
}

#[test]
fn runs_that_have_no_row_in_common_are_said_to_be_others() {
    let mut other = side("other", 2, 30, 2, same, 0.0);
    let Measured::Blocks(sketch) = &mut other.measured else { panic!("blocks") };
    let keys = sketch.rows.iter_mut().filter_map(|row| row.key.as_mut());
    keys.for_each(|key| key.name.push_str(" of another"));
    let document = compare_runs(&[side("main", 2, 30, 1, same, 0.0), other], &[]);
    let text = compare_text(&document, &show(200));
    assert!(text.contains("no request, group or scenario is in both runs"), "{text}");
    assert!(text.contains("only in main: GET /, login\n"), "{text}");
    assert!(text.contains("only in other: GET / of another, login of another\n"), "{text}");
}

#[test]
fn rows_that_differ_by_their_tags_alone_are_told_apart() {
    let tagged = |name: &str, seed| {
        let mut side = side(name, 2, 30, seed, same, 0.0);
        let Measured::Blocks(sketch) = &mut side.measured else { panic!("blocks") };
        let keys = sketch.rows.iter_mut().filter_map(|row| row.key.as_mut());
        for (key, team) in keys.zip(["a", "b"]) {
            key.name = "login".to_owned();
            key.place.tags = vec![("team".to_owned(), team.to_owned())];
        }
        side
    };
    let gate = Gate::parse("p50(login) +50%").expect("a gate");
    let document = compare_runs(&[tagged("main", 1), tagged("other", 2)], &[gate]);
    let outputs = [
        compare_text(&document, &show(200)),
        compare_markdown(&document).replace('\\', ""),
        compare_html(&document),
    ];
    for text in outputs {
        for row in ["login{team=a}", "login{team=b}"] {
            assert!(text.matches(row).count() >= 2, "in the table and of the gate: {text}");
        }
    }
}

/// The first gate of a comparison of two sides.
fn gated(before: Side, after: Side, gate: &str) -> (ComparisonDocument, String) {
    let gate = Gate::parse(gate).expect("a gate");
    let document = compare_runs(&[before, after], &[gate]);
    let text = compare_text(&document, &show(200));
    (document, text)
}

#[test]
fn a_gate_that_cannot_tell_says_so_everywhere_and_what_would_tell() {
    let of = |seed| side("a", 1, 6, seed, |_| 1.0, 0.0);
    let (document, text) = gated(of(1), side("b", 1, 6, 2, |_| 1.12, 0.0), "p99 +10%");
    assert!(document.passed && document.undecided, "{text}");
    let gate = &document.pairs[0].gates[0];
    assert_eq!(gate.outcome, "cannot_tell");
    assert!(gate.needed_runs.is_some_and(|runs| runs > 1) && gate.needed_s > Some(6.0), "{gate:?}");
    for wanted in [
        "cannot tell p99 +10%",
        "would tell",
        "result   the gate cannot tell: p99 +10%; no change is certain",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // Nothing that it says contradicts this.
    assert!(!text.contains("FAILED") && !text.contains("not worse"), "{text}");
    assert!(compare_markdown(&document).contains("⚠️ cannot tell"));
    // Fewer than 5 seconds say nothing of how they vary.
    let few = |seed| side("a", 1, 4, seed, |_| 1.0, 0.0);
    let (document, text) = gated(few(1), side("b", 1, 4, 2, |_| 2.0, 0.0), "p50 +10%");
    let wanted = "too little data to tell whether this is random (fewer than 5 steady seconds)";
    assert!(document.undecided && text.contains(wanted) && !text.contains("(-)"), "{text}");
}

#[test]
fn invalid_numbers_come_first_and_no_gate_tells_anything_by_them() {
    let mut before = side("main", 1, 30, 1, same, 0.0);
    let about = &mut before.runs[0].1;
    about.validity = "invalid".to_owned();
    about.reasons = vec!["send_delay: half of the requests were late".to_owned()];
    let after = side("new", 1, 30, 2, |_| 1.5, 0.0);
    let (document, text) = gated(before, after, "p50 +10%");
    assert!(document.passed && document.undecided, "{text}");
    let first = text.lines().find(|line| line.starts_with(" INVALID ")).expect("it is said");
    assert!(first.contains("main is invalid: send_delay"), "{text}");
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(at(" INVALID ") < at(" note "), "{text}");
    assert!(text.contains("the numbers of main are invalid"), "{text}");
    let comment = compare_markdown(&document);
    assert!(comment.contains("- ❌ main is invalid"), "{comment}");
}

#[test]
fn several_runs_of_a_side_tell_what_one_does_not() {
    let of = |name: &str, seed: u64, slower: fn(usize) -> f64| side(name, 1, 12, seed, slower, 0.0);
    let slower = |_| 1.08;
    let (one, _) = gated(of("a", 1, same), of("b", 2, slower), "p95 +4%");
    assert_eq!(one.pairs[0].gates[0].outcome, "cannot_tell");
    let side_of = |name: &str, first: u64, slower: fn(usize) -> f64| {
        let runs = (first..first + 16).map(|seed| of(&format!("{name}{seed}"), seed, slower));
        Side::pool(name, runs.collect()).expect("sketches")
    };
    let (before, after) = (side_of("a", 1, same), side_of("b", 100, slower));
    let (many, text) = gated(before.clone(), after, "p95 +4%");
    assert_eq!(many.pairs[0].gates[0].outcome, "worse", "{text}");
    assert!(text.contains(" a: 16 runs\n") && text.contains(" a16 "), "{text}");
    assert_eq!(many.sides[1].runs, (16..32).collect::<Vec<u64>>());
    // A baseline keeps them all.
    let abouts: Vec<RunAbout> = before.runs.iter().map(|(_, about)| about.clone()).collect();
    let bytes = encode_baseline(&abouts, before.measured.sketch().expect("blocks"));
    let (again, sketch) = decode_baseline(&bytes).expect("what was written");
    assert_eq!(again, abouts);
    let kept = Side::new("kept", again, Measured::Blocks(sketch));
    let (of_baseline, _) = gated(kept, side_of("b", 100, slower), "p95 +4%");
    let change = |document: &ComparisonDocument| {
        let value = document.pairs[0].gates[0].value.as_ref().expect("a value");
        [value.change, value.low, value.high].map(|own| (own.expect("known") * 1e6).round())
    };
    assert_eq!(change(&of_baseline), change(&many));
}

#[test]
fn a_pull_request_and_a_page_show_the_same() {
    let document = document();
    let comment = compare_markdown(&document);
    golden("compare.md", &comment);
    let page = compare_html(&document);
    golden("compare.html", &page);
    for text in [&comment, &page] {
        let at = |words: &str| text.find(words).expect(words);
        assert!(
            at("load differs: 200/s") < at("login: slower"),
            "what keeps them from being compared"
        );
    }
    assert!(!page.contains("<b>|") && page.contains("POST /pay|&lt;b&gt;"), "names are no markup");
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "nothing is loaded from elsewhere"
    );
}

#[test]
fn the_json_has_what_its_schema_says() {
    let document = document();
    assert!(!document.passed, "p95(login) rose by 20%, and nothing counts under `nothing`");
    let outcomes: Vec<&str> =
        document.pairs[0].gates.iter().map(|gate| gate.outcome.as_str()).collect();
    assert_eq!(outcomes, ["worse", "not_worse", "worse", "missing"]);
    let rows = document.pairs[0].gates.iter().map(|gate| gate.row.as_deref());
    let wanted = [Some("login"), Some("GET /"), Some("all requests"), None];
    assert_eq!(rows.collect::<Vec<_>>(), wanted);
    let json = serde_json::to_value(&document).expect("JSON");
    let schema = comparison_schema();
    let names = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(names(&json), names(&schema["properties"]));
    let value = &schema["$defs"]["ComparedValue"]["properties"];
    assert_eq!(names(&json["pairs"][0]["rows"][0]["values"][0]), names(value));
    let again: ComparisonDocument = serde_json::from_value(json).expect("what was written");
    assert_eq!(again, document);
}

#[test]
fn a_baseline_says_what_the_run_said() {
    let own = side("main", 200, 60, 1, same, 0.01);
    let sketch = own.measured.sketch().expect("blocks");
    let bytes = encode_baseline(&[own.runs[0].1.clone()], sketch);
    assert!(bytes.len() < 1_200_000, "{} bytes for 200 names", bytes.len());
    let (abouts, again) = decode_baseline(&bytes).expect("what was written");
    let kept = Side::new("main", abouts, Measured::Blocks(again));
    let other = side("b", 200, 60, 2, login_slower, 0.01);
    let whole = compare_runs(&[own, other.clone()], &[]);
    let of_baseline = compare_runs(&[kept, other], &[]);
    let results = |document: &ComparisonDocument| -> Vec<String> {
        let rows = document.pairs[0].rows.iter().flat_map(|row| &row.values);
        rows.map(|own| {
            format!("{} {:?}", own.result, own.change.map(|change| (change * 1e4).round()))
        })
        .collect()
    };
    assert_eq!(results(&of_baseline), results(&whole));
    assert_eq!(of_baseline.differs, whole.differs);
}

#[test]
fn what_is_no_baseline_is_refused() {
    let own = side("main", 1, 10, 1, same, 0.0);
    let abouts = [own.runs[0].1.clone()];
    let bytes = encode_baseline(&abouts, own.measured.sketch().expect("blocks"));
    for cut in [0, 2, bytes.len() / 2, bytes.len() - 1] {
        assert!(decode_baseline(&bytes[..cut]).is_err(), "{cut} bytes");
    }
    let packed = |text: &str| {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory");
        encoder.finish().expect("memory")
    };
    for (text, word) in [
        ("[]", "not a baseline"),
        ("{}", "no version"),
        ("{\"squall_baseline\": 3}", "later version"),
        ("{\"squall_baseline\": 1, \"seconds\": [0]}", "earlier version"),
        ("{\"squall_baseline\": 2}", "no run"),
        ("{\"squall_baseline\": 2, \"runs\": [{\"seconds\": [0]}]}", "out of range"),
        (
            "{\"squall_baseline\": 2, \"runs\": [{\"seconds\": [1]}], \"rows\": [{}]}",
            "other blocks",
        ),
    ] {
        let error = decode_baseline(&packed(text)).expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}
