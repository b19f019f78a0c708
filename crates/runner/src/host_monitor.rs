//! The first monitor: the host that squall runs on. What it samples is exact for the rules of validity, which read whole
//! samples, and in a few metrics over time for everybody else.

use std::io;
use std::time::Duration;

use squall_metrics::{HostSample, MetricKey, MetricKind};

use crate::host_sampler::HostSampler;
use crate::monitor::{Monitor, Sampled};

/// Its metrics, all of them gauges: the share of the machine's CPU time that was used, and that squall used; squall's memory;
/// traffic of all interfaces but loopback, per second; TCP sockets of the machine; and once they are counted, its local
/// ports in use toward the destination that uses the most, and how many there are.
pub(crate) const NAMES: [&str; 7] = [
    "host_cpu",
    "squall_cpu",
    "squall_memory_bytes",
    "host_network_bytes",
    "host_tcp_sockets",
    "host_ports_used",
    "host_ports_limit",
];

/// Least time over which CPU time and traffic say anything: the system counts CPU time in ticks of 10 ms.
const LEAST: Duration = Duration::from_millis(500);

/// Samples the host. It is quick, and has samples at the end of each second because it is not asked on a thread of its own.
#[derive(Debug)]
pub(crate) struct HostMonitor {
    sampler: HostSampler,
    /// The last sample, and when it was taken.
    last: (Duration, HostSample),
}

impl HostMonitor {
    /// Takes the first sample later.
    pub(crate) fn new(sampler: HostSampler) -> HostMonitor {
        HostMonitor { sampler, last: (Duration::ZERO, HostSample::default()) }
    }

    /// The load begins: what is counted is counted from now on.
    pub(crate) fn begin(&mut self) -> HostSample {
        self.last = (Duration::ZERO, self.sampler.sample());
        self.last.1
    }

    /// The last sample as it was taken.
    pub(crate) fn last(&self) -> HostSample {
        self.last.1
    }

    /// The load is over: a sample for which all that takes long is read.
    pub(crate) fn end(&mut self) -> HostSample {
        self.sampler.last_sample()
    }
}

impl Monitor for HostMonitor {
    fn names(&self) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    fn sample(&mut self, at: Duration) -> io::Result<Sampled> {
        let (before, sample) = (self.last, self.sampler.sample());
        self.last = (at, sample);
        let counted = sample.since(&before.1);
        Ok(metrics(&counted, at.saturating_sub(before.0)))
    }
}

/// The metrics of a sample whose counters have counted in this time. What the system does not report is left out, and what
/// is counted in too short a time.
fn metrics(sample: &HostSample, time: Duration) -> Sampled {
    let says_much = time >= LEAST;
    let shares = sample.cpu_shares().filter(|_| says_much);
    let known = |number: u64| Some(number as f64).filter(|number| *number > 0.0);
    let a_second = says_much.then(|| sample.network_bytes as f64 / time.as_secs_f64());
    let values = [
        shares.map(|shares| shares.busy),
        shares.map(|shares| shares.own),
        known(sample.rss_bytes),
        a_second,
        known(sample.tcp_in_use),
        known(sample.ports_used),
        known(sample.ports_limit).filter(|_| sample.ports_used > 0),
    ];
    let key = |name: &str| MetricKey::new(MetricKind::Gauge, "", name, Vec::new());
    let named = NAMES.into_iter().zip(values);
    named.filter_map(|(name, value)| Some((key(name), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sampled: Sampled) -> Vec<(String, f64)> {
        sampled.into_iter().map(|(key, value)| (key.name, value)).collect()
    }

    #[test]
    fn a_sample_is_a_few_metrics() {
        let sample = HostSample {
            cpu_ticks: 200,
            cpu_busy_ticks: 150,
            own_cpu_ticks: 50,
            rss_bytes: 1 << 20,
            network_bytes: 3_000,
            tcp_in_use: 7,
            ports_used: 21_000,
            ports_limit: 28_232,
            ..HostSample::default()
        };
        let expected = [0.75, 0.25, 1_048_576.0, 1_500.0, 7.0, 21_000.0, 28_232.0];
        let expected: Vec<(String, f64)> =
            NAMES.map(str::to_owned).into_iter().zip(expected).collect();
        assert_eq!(named(metrics(&sample, Duration::from_secs(2))), expected);
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        assert_eq!(named(metrics(&HostSample::default(), Duration::ZERO)), []);
        // At the end of a load its last second is a short one.
        let sample = HostSample {
            cpu_ticks: 2,
            cpu_busy_ticks: 2,
            network_bytes: 99,
            rss_bytes: 5,
            ports_limit: 28_232,
            ..HostSample::default()
        };
        let sampled = named(metrics(&sample, Duration::from_millis(10)));
        assert_eq!(sampled, [("squall_memory_bytes".to_owned(), 5.0)]);
    }
}
