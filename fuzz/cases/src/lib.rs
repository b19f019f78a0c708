//! What the fuzzer runs: for each parser that reads what a user or a server sent, a function over any
//! bytes that must neither panic nor break what it asserts.
//!
//! The targets of cargo-fuzz call them, and so does a test over the seeds in `fuzz/seeds`, without a
//! fuzzer and with the stable toolchain.

mod body;
mod plan;
mod response;

/// A function over any bytes.
pub struct Case {
    /// Its name: that of the fuzz target and of the folder of its seeds.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&[u8]),
}

/// All cases.
pub const CASES: [Case; 16] = [
    Case { name: "response", run: response::response },
    Case { name: "chunked", run: response::chunked },
    Case { name: "decompress", run: response::decompress },
    Case { name: "plan", run: plan::plan },
    Case { name: "template", run: plan::template },
    Case { name: "expression", run: plan::expression },
    Case { name: "env_file", run: plan::env_file },
    Case { name: "threshold", run: threshold },
    Case { name: "cookies", run: squall_engine::fuzz::cookies },
    Case { name: "digest", run: squall_engine::fuzz::digest },
    Case { name: "url", run: squall_engine::fuzz::urls },
    Case { name: "slice", run: slice },
    Case { name: "extract_text", run: body::text },
    Case { name: "extract_json", run: body::json },
    Case { name: "extract_css", run: body::css },
    Case { name: "extract_xpath", run: body::xpath },
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

/// Any text as a threshold: it is refused, or is the same when its text is read again, and judges a run.
fn threshold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(threshold) = squall_analysis::Threshold::parse(text) else { return };
    assert_eq!(squall_analysis::Threshold::parse(threshold.text()).as_ref(), Ok(&threshold));
    let mut totals = squall_analysis::Totals::new();
    let mut slice = squall_metrics::Slice::new(0, 0);
    slice.announce(squall_metrics::NameId(0), squall_metrics::NameKind::Request, "a");
    (1..50).for_each(|ms| {
        slice.record(squall_metrics::NameId(0), &squall_metrics::Sample::ok(ms * 1_000));
    });
    assert!(totals.add(&slice));
    let result = threshold.evaluate(&totals, 1.0);
    assert!(!result.shown.is_empty(), "{text}");
}
