//! What a run with many names takes in memory.

use squall_analysis::Totals;
use squall_base::random::Random;
use squall_metrics::{NameId, NameKind, Phases, Sample, Slice};

fn sample(latency_us: u64) -> Sample {
    let mut phases = Phases::default();
    phases.add(3, latency_us * 900);
    phases.add(4, latency_us * 100);
    Sample { bytes_in: 1_000, bytes_out: 100, phases, ..Sample::ok(latency_us) }
}

/// The budget: 1,000 names on 2 workers, 200 requests a name and second, within 32 MiB for what
/// the workers hold and the totals of the run.
#[test]
fn a_thousand_names_cost_little() {
    let mut totals = Totals::new();
    let mut worst = 0;
    for second in 0..3 {
        let mut slices = [Slice::new(0, second), Slice::new(1, second)];
        for slice in &mut slices {
            for name in 0..1_000u32 {
                if second == 0 {
                    slice.announce(NameId(name), NameKind::Request, &format!("GET /page/{name}"));
                }
                let mut random = Random::of(1, u64::from(name), u64::from(second), 0);
                for _ in 0..100 {
                    let latency = 300.0 * 100f64.powf(random.uniform());
                    slice.record(NameId(name), &sample(latency as u64));
                }
            }
        }
        let in_slices: usize = slices.iter().map(Slice::heap_bytes).sum();
        slices.iter().for_each(|slice| assert!(totals.add(slice)));
        worst = worst.max(in_slices + totals.heap_bytes());
        slices.iter_mut().for_each(|slice| slice.restart(second + 1));
        assert!(slices.iter().all(|slice| slice.heap_bytes() < 64 << 10));
    }
    assert!(worst < 32 << 20, "{worst} bytes");
}
