//! CPU time and memory that this process has used.

use squall_report::Generator;

use crate::proc::process_stat;

/// CPU time and peak memory so far; zeros where the system does not report them.
pub fn process_usage() -> Generator {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let peak_kb: u64 = peak.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let stat = process_stat();
    let per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
    Generator {
        cpu_user_s: stat(11) as f64 / per_second,
        cpu_sys_s: stat(12) as f64 / per_second,
        peak_rss_bytes: peak_kb * 1024,
        ..Generator::default()
    }
}
