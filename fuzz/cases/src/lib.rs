//! What the fuzzer runs: for the parsers of plans and responses, and for the engine
//! of scripts, a function over any
//! bytes that must neither panic nor break what it asserts.
//!
//! The targets of cargo-fuzz call them, and so does a test over the seeds in `fuzz/seeds`, without a
//! fuzzer and with the stable toolchain.

mod body;
mod plan;
mod response;
mod serve;

/// A function over any bytes.
pub struct Case {
    /// Its name: that of the fuzz target and of the folder of its seeds.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&[u8]),
}

/// All cases.
pub const CASES: [Case; 39] = [
    Case { name: "response", run: response::response },
    Case { name: "chunked", run: response::chunked },
    Case { name: "decompress", run: response::decompress },
    Case { name: "framing", run: response::framing },
    Case { name: "plan", run: plan::plan },
    Case { name: "jmeter", run: jmeter },
    Case { name: "jmeter_element", run: jmeter_element },
    Case { name: "template", run: plan::template },
    Case { name: "expression", run: plan::expression },
    Case { name: "env_file", run: plan::env_file },
    Case { name: "threshold", run: threshold },
    Case { name: "gate", run: gate },
    Case { name: "measure", run: measure },
    Case { name: "baseline", run: baseline },
    Case { name: "cookies", run: squall_engine::fuzz::cookies },
    Case { name: "digest", run: squall_engine::fuzz::digest },
    Case { name: "url", run: squall_engine::fuzz::urls },
    Case { name: "slice", run: slice },
    Case { name: "extract_text", run: body::text },
    Case { name: "extract_json", run: body::json },
    Case { name: "extract_css", run: body::css },
    Case { name: "extract_xpath", run: body::xpath },
    Case { name: "links", run: body::links },
    Case { name: "resources", run: body::resources },
    Case { name: "charset", run: body::charset },
    Case { name: "request", run: serve::request },
    Case { name: "properties", run: properties },
    Case { name: "run_json", run: run_json },
    Case { name: "cache", run: squall_engine::fuzz::cache },
    Case { name: "csv", run: squall_engine::fuzz::csv },
    Case { name: "connect", run: response::connect },
    Case { name: "http2_fields", run: response::http2_fields },
    Case { name: "scrape", run: squall_monitor::fuzz::scrape },
    Case { name: "perf_data", run: squall_monitor::fuzz::perf_data },
    Case { name: "grpc", run: squall_feeds::fuzz::grpc },
    Case { name: "totals", run: squall_report::fuzz::totals },
    Case { name: "includes", run: plan::includes },
    Case { name: "record", run: squall_fleet::fuzz::record },
    Case { name: "script", run: squall_script::fuzz::script },
];

/// Runs the case of a name.
///
/// # Panics
/// What the case asserts does not hold, or there is no case of that name.
pub fn run(name: &str, bytes: &[u8]) {
    let case = CASES.iter().find(|case| case.name == name);
    (case.expect("a case of that name").run)(bytes);
}

/// Any bytes as a slice read from disk: it is refused, or counts once, and is the same when it is written
/// and read again.
fn slice(bytes: &[u8]) {
    let Ok(slice) = squall_metrics::Slice::decode(&mut &*bytes) else { return };
    let mut totals = squall_analysis::Totals::new();
    assert!(totals.add(&slice) && !totals.add(&slice));
    let mut series = totals.series();
    series.add(&slice);
    assert_eq!(series.finish().rows().len(), 1);
    let mut written = Vec::new();
    slice.encode(&mut written);
    let again = squall_metrics::Slice::decode(&mut written.as_slice()).expect("what was encoded");
    assert!(slice.rows().eq(again.rows()));
}

/// Any text as a gate: it is refused at a place within it, or is the same when its text is read again.
fn gate(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match squall_analysis::Gate::parse(text) {
        Ok(gate) => {
            let again = squall_analysis::Gate::parse(&gate.text).expect("what was read");
            assert_eq!((again.limit, again.of), (gate.limit, gate.of));
        }
        Err(error) => assert!(text.is_char_boundary(error.offset), "{error:?}"),
    }
}

/// Any bytes as a plan of JMeter: it is refused at a place, or each of its elements has a fate, and each of its texts
/// is split into parts of which none is an empty text.
fn jmeter(bytes: &[u8]) {
    use squall_jmeter::text::{Part, Text};
    match squall_jmeter::Tree::read(bytes) {
        Ok(tree) => {
            let translation = squall_jmeter::translate(&tree, Default::default());
            let inventory =
                squall_jmeter::inventory(&tree, &translation.obstacles, &translation.idle);
            assert_eq!(inventory.entries.len(), tree.iter().count());
            assert!(translation.obstacles.is_empty() || !inventory.is_whole());
            let _ = inventory.to_string();
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(text) = Text::parse(text, &squall_jmeter::functions::is_function) {
        assert!(text.parts.iter().all(|part| *part != Part::Literal(String::new())));
    }
}

/// Any text as the script, the path, the pattern or the text of elements of JMeter, by its first byte: it is refused,
/// or becomes a part of a plan that reads as it was written.
fn jmeter_element(bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace(']', "&#93;");
    let property = |name: &str| format!("<stringProp name=\"{name}\">{escaped}</stringProp>");
    let below = |tag: &str, more: &str, name: &str| {
        format!("<{tag} testname=\"e\">{more}{}</{tag}><hashTree/>", property(name))
    };
    let named = "<stringProp name=\"JSONPostProcessor.referenceNames\">x</stringProp>\
                 <stringProp name=\"RegexExtractor.refname\">x</stringProp>\
                 <stringProp name=\"RegexExtractor.template\">$1$</stringProp>\
                 <stringProp name=\"scriptLanguage\">groovy</stringProp>";
    let (own, below) = match kind % 5 {
        0 => (String::new(), below("JSONPostProcessor", named, "JSONPostProcessor.jsonPathExprs")),
        1 => (String::new(), below("RegexExtractor", named, "RegexExtractor.regex")),
        2 => (String::new(), below("JSR223PostProcessor", named, "script")),
        3 => (String::new(), below("JSONPathAssertion", "", "JSON_PATH")),
        _ => (property("HTTPSampler.path"), String::new()),
    };
    let plan = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><ThreadGroup testname=\"g\">\
         <stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <stringProp name=\"LoopController.loops\">1</stringProp></elementProp></ThreadGroup><hashTree>\
         <HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.domain\">a.test</stringProp>{own}\
         </HTTPSamplerProxy><hashTree>{below}</hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    // What XML does not allow is refused by its reader.
    let Ok(tree) = squall_jmeter::Tree::read(plan.as_bytes()) else { return };
    let translation = squall_jmeter::translate(&tree, Default::default());
    if translation.obstacles.is_empty() {
        translation.plan.scenarios.iter().flat_map(|own| &own.steps).for_each(paths_are_good);
    }
    let written = squall_plan::yaml::print(&translation.plan, false);
    let folder = std::path::Path::new("");
    let read = squall_plan::yaml::load_str("plan.yaml", &written, folder, &Default::default());
    match read {
        Ok(again) => assert_eq!(squall_plan::yaml::print(&again.plan, false), written),
        Err(errors) => {
            assert!(!translation.obstacles.is_empty(), "{:?}\n{written}", errors.diagnostics)
        }
    }
}

/// The JSON paths of a request's extracts are some, but for patterns in them that are too large.
fn paths_are_good(step: &squall_plan::model::Step) {
    use squall_plan::model::{Extractor, StepKind};
    let StepKind::Request(request) = &step.kind else { return };
    for extract in &request.extract {
        let Extractor::Json(path) = &extract.from else { continue };
        let compiled = squall_extract::Extractor::compile(&squall_extract::Spec::Json(&path.value));
        let is_good = compiled.is_ok() || path.value.contains("match(");
        assert!(is_good, "{}: {compiled:?}", path.value);
    }
}

/// Any text as a file of properties: names and values do not grow.
fn properties(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = squall_jmeter::parse_properties(&text);
    let length: usize = found.iter().map(|(name, value)| name.len() + value.len()).sum();
    // What stands for no character, such as half of a pair, has more bytes than its escape may have.
    assert!(length <= 2 * text.len(), "{found:?}");
}

/// Any bytes as the result of a run: it is refused in a sentence, or can be shown in each form.
fn run_json(bytes: &[u8]) {
    let _ = squall_report::history_run("a".as_ref(), bytes, squall_report::Extent::Rows);
    let document = match squall_report::read_result(bytes) {
        Ok(document) => document,
        Err(reason) => return assert!(!reason.is_empty()),
    };
    let show = squall_report::Show { columns: 80, color: false, full: true, explain: true };
    assert!(!squall_report::text(&document, &show).is_empty());
    let finished = squall_report::Finished { document: &document, run: None, folder: None };
    for (kind, _) in squall_report::FileKind::ALL {
        // An interval log needs a folder.
        let _ = squall_report::file(kind, finished);
    }
}

/// Any text as a measure: likewise.
fn measure(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match squall_analysis::MeasureOf::parse(text) {
        Ok(of) => assert_eq!(squall_analysis::MeasureOf::parse(&of.text), Ok(of)),
        Err(error) => assert!(text.is_char_boundary(error.offset), "{error:?}"),
    }
}

/// Any bytes as a baseline, packed or to be packed: it is refused, or can be compared with itself and shown.
fn baseline(bytes: &[u8]) {
    use squall_report::{Side, compare_html, compare_markdown, compare_runs, compare_text};
    let decoded = squall_report::decode_baseline(bytes);
    let Ok((abouts, sketch)) = decoded.or_else(|_| squall_report::read_baseline(bytes)) else {
        return;
    };
    let measured = squall_analysis::Measured::Blocks(sketch);
    let side = Side::new("a", abouts, measured);
    let document = compare_runs(&[side.clone(), side], &[]);
    let show = squall_report::Show { columns: 80, color: false, full: true, explain: false };
    let _ = (compare_text(&document, &show), compare_markdown(&document), compare_html(&document));
}

/// Any text as a threshold: it is refused, or is the same when its text is read again, and judges a run.
fn threshold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(threshold) = squall_analysis::Threshold::parse(text) else { return };
    assert_eq!(squall_analysis::Threshold::parse(threshold.text()).as_ref(), Ok(&threshold));
    let mut totals = squall_analysis::Totals::new();
    let mut slice = squall_metrics::Slice::new(0, 0);
    let key = squall_metrics::RowKey::new(squall_metrics::RowKind::Request, "s", "a");
    slice.announce(squall_metrics::NameId(0), key);
    (1..50).for_each(|ms| {
        slice.record(squall_metrics::NameId(0), &squall_metrics::Sample::ok(ms * 1_000));
    });
    assert!(totals.add(&slice));
    let result = threshold.evaluate(&totals, 1.0);
    assert!(!result.shown.is_empty(), "{text}");
}
