//! What this process has taken from the machine.

use squall_report::Generator;

/// CPU time and peak memory so far; zeros where the system does not say.
pub fn usage() -> Generator {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let peak_kb: u64 = peak.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // proc(5): fields 14 and 15, counted behind the name, which may hold anything.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
    Generator {
        cpu_user_s: ticks(11) / per_second,
        cpu_sys_s: ticks(12) / per_second,
        peak_rss_bytes: peak_kb * 1024,
        ..Generator::default()
    }
}
