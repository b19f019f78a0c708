//! Makes the folder of a run that took long, without running it: `cargo run --release --example long_run -- DIR
//! SECONDS NAMES`. It has a ramp, latencies that go up and down, a stall, and errors in its second half.

use std::io;
use std::path::{Path, PathBuf};

use squall_analysis::Totals;
use squall_base::random::Random;
use squall_metrics::{
    CheckResult, ErrorKind, HostMetrics, HostSample, NameId, Phases, RowKey, RowKind, Sample, Slice,
};
use squall_report::{Generator, Machine, Meta, Recording, Run, RunFolder, ScenarioMeta, document};

const WORKERS: u32 = 2;
/// Requests of a name, worker and second.
const REQUESTS: f64 = 10.0;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: u32| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let base = arguments.first().map_or("long-run", String::as_str);
    println!("{}", make(Path::new(base), number(1, 3_600), number(2, 200))?.display());
    Ok(())
}

fn make(base: &Path, seconds: u32, names: u32) -> io::Result<PathBuf> {
    let meta = meta(f64::from(seconds));
    let mut folder = RunFolder::create(base, &meta, "name: a long run\n")?;
    let (mut totals, mut host) = (Totals::new(), HostMetrics::default());
    let mut random = Random::new(7);
    for second in 0..seconds {
        for worker in 0..WORKERS {
            let slice = slice(worker, second, seconds, names, &mut random);
            folder.slice(&slice);
            totals.add(&slice);
        }
        let sample = HostSample { open_files: 500, rss_bytes: 20 << 20, ..HostSample::default() };
        folder.host_sample(f64::from(second), &sample);
        host.add(f64::from(second), sample);
    }
    for n in 0..40 {
        let more = serde_json::json!({
            "scenario": "buyer", "name": "GET /page/7", "error": "status", "status": 503, "number": n,
        });
        folder.log(seconds / 2 + n, 0, "GET /page/7: status 503: {\"error\":\"overloaded\"}", more);
    }
    let generator = Generator { cpu_user_s: 900.0, cpu_sys_s: 1_800.0, ..Generator::default() };
    let elapsed_s = f64::from(seconds);
    let mut run = Run {
        meta,
        elapsed_s,
        finished: true,
        totals: totals.into(),
        host,
        generator,
        ..Run::default()
    };
    run.evaluate(&mut Recording::open(&folder.path().join("slices.bin"))?)?;
    folder.write_result(&document(&run))?;
    folder.write_totals(&run.totals)?;
    Ok(folder.path().to_owned())
}

fn meta(length: f64) -> Meta {
    let scenario = ScenarioMeta {
        name: "buyer".to_owned(),
        load: "500 virtual users".to_owned(),
        ..ScenarioMeta::default()
    };
    Meta {
        squall: env!("CARGO_PKG_VERSION").to_owned(),
        plan: "a long run".to_owned(),
        target: Some("http://shop.example".to_owned()),
        scenarios: vec![scenario],
        started_unix: 1_795_213_023.0,
        nodes: vec![Machine { workers: u64::from(WORKERS), cpus: 2, ..Machine::default() }],
        constant_s: Some((length / 20.0, Some(length))),
        thresholds: ["p99 < 800ms", "error_rate < 1%"].map(str::to_owned).to_vec(),
        ..Meta::default()
    }
}

fn slice(worker: u32, second: u32, seconds: u32, names: u32, random: &mut Random) -> Slice {
    let mut slice = Slice::new(worker, second);
    let (group, check) = (NameId(names), NameId(names + 1));
    if second == 0 {
        for n in 0..names {
            let name = format!("GET /page/{n}");
            slice.announce(NameId(n), RowKey::new(RowKind::Request, "buyer", &name));
        }
        slice.announce(group, RowKey::new(RowKind::Group, "buyer", "checkout"));
        slice.announce(check, RowKey::new(RowKind::Check, "buyer", "status == 200"));
    }
    let at = f64::from(second) / f64::from(seconds);
    let ramp = (at * 20.0).min(1.0);
    let stall = if (0.62..0.63).contains(&at) { 12.0 } else { 1.0 };
    for n in 0..names {
        let mean = (2_000.0 + 300.0 * f64::from(n)) * (1.3 + (at * 25.0).sin() * 0.3) * stall;
        for _ in 0..(REQUESTS * ramp).ceil() as u64 {
            let us = (mean * random.normal(0.0, 0.5).exp()) as u64;
            let failed = n == 7 && at > 0.5 && random.uniform() < 0.3;
            slice.record(NameId(n), &sample(us, failed));
            slice.record_check(
                check,
                if failed { CheckResult::Failed } else { CheckResult::Passed },
            );
        }
    }
    slice.record_span(group, 80_000_000, false);
    slice.counters.users_active = (250.0 * ramp) as u64;
    slice.self_metrics.cpu_ns = (750_000_000.0 * ramp) as u64;
    slice.self_metrics.receive_delay.record(40);
    slice.self_metrics.loop_iteration.record(120);
    slice
}

fn sample(us: u64, failed: bool) -> Sample {
    let mut phases = Phases::default();
    phases.add(4, us * 800);
    phases.add(5, us * 200);
    Sample {
        status: if failed { 503 } else { 200 },
        error: failed.then_some(ErrorKind::Status),
        phases,
        bytes_in: 2_000,
        bytes_out: 150,
        corrected_latency_ns: Some(us * 1_050),
        ..Sample::ok(us)
    }
}
