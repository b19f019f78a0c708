//! What a made-up run says of itself when it is evaluated, where a real one would have to be long, and would depend on the
//! machine.

use squall_analysis::Totals;
use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};
use squall_report::{Machine, Meta, Recording, Run, document};

const SECONDS: u32 = 12;

/// One user whose n-th request takes n ms, for so many seconds.
fn slower_and_slower() -> Vec<Slice> {
    let mut slices: Vec<Slice> = (0..SECONDS).map(|second| Slice::new(0, second)).collect();
    slices[0].announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
    let mut now_us = 0;
    for n in 1.. {
        now_us += n * 1_000;
        let Some(slice) = slices.get_mut((now_us / 1_000_000) as usize) else { break };
        slice.record(NameId(0), &Sample::ok(n * 1_000));
    }
    slices
}

#[test]
fn a_target_that_gets_slower_and_slower_is_not_steady() {
    let mut recording = Recording::unnamed().expect("a file");
    let mut totals = Totals::new();
    for slice in slower_and_slower() {
        assert!(totals.add(&slice));
        recording.append(&slice);
    }
    let meta = Meta {
        nodes: vec![Machine { workers: 1, ..Machine::default() }],
        warmup: "none".to_owned(),
        constant_s: Some((0.0, Some(f64::from(SECONDS)))),
        ..Meta::default()
    };
    let elapsed_s = f64::from(SECONDS);
    let mut run = Run { meta, elapsed_s, finished: true, totals: totals.into(), ..Run::default() };
    run.evaluate(&mut recording).expect("readable");
    let document = serde_json::to_value(document(&run)).expect("JSON");
    let reasons = document["validity_reasons"].as_array().expect("a list");
    let unsteady = reasons.iter().find(|reason| reason["rule"] == "unsteady");
    let unsteady = unsteady.unwrap_or_else(|| panic!("{reasons:?}"));
    // All of them change, and the report names the one that changed most.
    let seen = unsteady["observed"].as_str().expect("words");
    let all = "the median latency kept rising from second 0 to 12, by 332.7% (limit 10%)";
    assert_eq!(seen, all);
    assert_eq!(document["steady"]["found"], false);
}
