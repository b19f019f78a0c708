//! How large the record of a second is, what it costs to make one, and what to merge it. Run by `bench/fleet/sizes.py`.
//!
//! `sizes NAMES SAMPLES SHAPE...` prints JSON: bytes of records of so many names with so many requests each, in all and by
//! section, and microseconds of CPU time. A shape is `small` (the body comes with the head), `large` (bodies take a tenth
//! of the latency, and vary in length), each with `+rate` (an arrival rate: latencies are corrected as well).

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use squall_base::random::Random;
use squall_fleet::record::{Aside, Decoder, Merger, encode, section_bytes};
use squall_metrics::{Phases, RequestStats, RowKey, RowKind, Sample, SelfMetrics, Slice, Source};
use squall_runner::{Row, Second};

/// Records of different nodes that are made and merged.
const NODES: u32 = 40;

/// A lognormal time in ns.
fn lognormal(random: &mut Random, median_ns: f64, sigma: f64) -> u64 {
    let uniform = |random: &mut Random| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (a, b) = (1.0 - uniform(random), uniform(random));
    let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
    (median_ns * (sigma * normal).exp()) as u64
}

struct Shape {
    is_large: bool,
    has_rate: bool,
}

fn sample(random: &mut Random, shape: &Shape, median_ns: f64) -> Sample {
    let mut phases = Phases::default();
    let (body, bytes) = match shape.is_large {
        true => (lognormal(random, median_ns / 10.0, 0.5), lognormal(random, 30_000.0, 0.5)),
        false => (lognormal(random, 2_000.0, 0.4), 1_234),
    };
    let first_byte = lognormal(random, median_ns, 0.5);
    phases.add(4, first_byte);
    phases.add(5, body);
    let latency_ns = first_byte + body;
    let delay = lognormal(random, 20_000.0, 0.7);
    Sample {
        latency_ns,
        corrected_latency_ns: shape.has_rate.then_some(latency_ns + delay),
        bytes_in: bytes,
        bytes_out: 180,
        phases,
        ..Sample::ok(0)
    }
}

fn second(node: u32, names: u32, samples: u32, shape: &Shape) -> Second {
    let mut random = Random::new(u64::from(node) + 1);
    let mut rows = Vec::new();
    let mut self_metrics = SelfMetrics::default();
    for name in 0..names {
        let median_ns = 1e6 * f64::from(5 + name % 60);
        let mut stats = RequestStats::default();
        for _ in 0..samples {
            stats.record(&sample(&mut random, shape, median_ns));
            self_metrics.receive_delay.record_ns(lognormal(&mut random, 15_000.0, 0.6));
            self_metrics.send_delay.record_ns(lognormal(&mut random, 20_000.0, 0.7));
        }
        let key = RowKey::new(RowKind::Request, "shopper", &format!("GET /catalog/items/{name}"));
        rows.push(Row { key: Arc::new(key), stats });
    }
    let slice = Slice::new(0, 0);
    Second { rows, self_metrics, slices: vec![slice], ..Second::default() }
}

/// CPU time of this thread, in µs, of `work` and how often it was done.
fn cost(times: u32, work: impl FnOnce()) -> f64 {
    let before = Instant::now();
    work();
    before.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [names, samples, shapes @ ..] = &arguments[..] else {
        return Err("expected the number of names, that of samples, and shapes".into());
    };
    let (names, samples): (u32, u32) = (names.parse()?, samples.parse()?);
    for shape in shapes {
        let parsed =
            Shape { is_large: shape.starts_with("large"), has_rate: shape.ends_with("+rate") };
        measure(names, samples, shape, &parsed)?;
    }
    Ok(())
}

fn measure(names: u32, samples: u32, label: &str, shape: &Shape) -> Result<(), Box<dyn Error>> {
    let seconds: Vec<Second> = (0..NODES).map(|node| second(node, names, samples, shape)).collect();
    let mut records = Vec::new();
    let encode_us = cost(NODES, || {
        records.extend(seconds.iter().map(|own| encode(own, &Aside::default())));
    });
    let (mut decoder, mut decoded) = (Decoder::default(), Vec::new());
    let decode_us = cost(NODES, || {
        decoded.extend(records.iter().filter_map(|own| decoder.decode(own).ok()));
    });
    let mut merger = Merger::new();
    let mut merge = |second| {
        for (node, record) in decoded.iter().enumerate() {
            merger.add(&format!("n{node}"), "eu", second, record);
        }
    };
    // The first time it takes memory for what the others add to.
    merge(0);
    let merge_us = cost(NODES, || merge(0));
    let take_us = cost(1, || {
        let taken = merger.take(0, Source::Worker(0)).map_or(0, |slice| slice.rows().count());
        assert_eq!(taken, names as usize);
    });
    let bytes = records.iter().map(|own| own.len()).sum::<usize>() / records.len();
    let sections = section_bytes(&records[0])?;
    let sections: Vec<String> = sections
        .iter()
        .map(|(name, plain, packed)| format!("\"{name}\":[{plain},{packed}]"))
        .collect();
    println!(
        "{{\"names\":{names},\"samples\":{samples},\"shape\":\"{label}\",\"bytes\":{bytes},\
         \"encode_us\":{encode_us:.1},\"decode_us\":{decode_us:.1},\"merge_us\":{merge_us:.1},\
         \"take_us\":{take_us:.1},\"sections\":{{{}}}}}",
        sections.join(",")
    );
    Ok(())
}
