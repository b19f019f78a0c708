//! Metrics of the host that squall runs on, sampled about once a second: which values there are and how
//! they are aggregated. Reading them is the command line's part.

/// Defines [`HostSample`] with its gauges and counters and their names.
macro_rules! host_sample {
    (gauges { $($(#[$gauge_doc:meta])* $gauge:ident,)* } counters { $($(#[$counter_doc:meta])* $counter:ident,)* }) => {
        /// One sample of the host. Gauges are values at that moment; counters are sums since the host,
        /// or the process, was started. What the system does not report is 0.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct HostSample {
            $($(#[$gauge_doc])* pub $gauge: u64,)*
            $($(#[$counter_doc])* pub $counter: u64,)*
        }

        impl HostSample {
            /// Name and value of each gauge.
            pub fn gauges(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($gauge), self.$gauge),)*].into_iter()
            }

            /// Name and value of each counter.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($counter), self.$counter),)*].into_iter()
            }

            /// Sets the value of this name; unknown names are ignored.
            pub fn set(&mut self, name: &str, value: u64) {
                match name {
                    $(stringify!($gauge) => self.$gauge = value,)*
                    $(stringify!($counter) => self.$counter = value,)*
                    _ => {}
                }
            }

            /// The larger value of each gauge, and the later counters.
            fn peak_with(&self, later: &HostSample) -> HostSample {
                HostSample {
                    $($gauge: self.$gauge.max(later.$gauge),)*
                    $($counter: later.$counter,)*
                }
            }

            /// The larger value of each gauge, and the sums of the counters.
            fn add(&mut self, later: &HostSample) {
                $(self.$gauge = self.$gauge.max(later.$gauge);)*
                $(self.$counter = self.$counter.saturating_add(later.$counter);)*
            }

            /// Its gauges, and what its counters have counted since an earlier sample.
            pub fn since(&self, earlier: &HostSample) -> HostSample {
                HostSample {
                    $($gauge: self.$gauge,)*
                    $($counter: self.$counter.saturating_sub(earlier.$counter),)*
                }
            }
        }
    };
}

host_sample! {
    gauges {
    /// Open files and sockets of the process.
    open_files,
    /// Its limit of open files.
    open_files_limit,
    /// Local ports in use toward the destination that uses the most; counted only when the host has many
    /// sockets, otherwise 0.
    ports_used,
    /// Local ports available toward one destination (`ip_local_port_range` times the plan's source
    /// addresses).
    ports_limit,
    /// TCP connections of the host in TIME_WAIT.
    time_wait,
    /// TCP sockets of the host in use.
    tcp_in_use,
    /// Memory of the host's TCP sockets, in bytes.
    tcp_memory_bytes,
    /// Resident memory of the process, in bytes.
    rss_bytes,
    /// The share of its speed that the busiest direction of the busiest network link has carried since
    /// the previous sample, in thousandths; 0 where the system knows no speed.
    link_used_permille,
    /// By how much the system's clock has jumped against the steady one since the previous sample, in µs.
    clock_step_us,
    }
    counters {
    /// CPU time of the whole host, idle time included, in clock ticks.
    cpu_ticks,
    /// CPU time of the whole host in which it was not idle and waited for no disk, what other guests took included,
    /// in clock ticks.
    cpu_busy_ticks,
    /// CPU time that other guests on the same hypervisor took, in clock ticks.
    steal_ticks,
    /// TCP segments that the host has sent.
    segments_sent,
    /// TCP segments that it has retransmitted.
    retransmits,
    /// Connections that the peer has reset.
    resets_received,
    /// Resets that the host has sent.
    resets_sent,
    /// Connections rejected because an accept queue on this host was full.
    listen_overflows,
    /// Connections that a listener on this host has dropped for any reason.
    listen_drops,
    /// Page faults of the process that required disk access.
    major_faults,
    /// Page faults of the process that did not.
    minor_faults,
    /// Bytes that the host's network interfaces, loopback excluded, have received and sent.
    network_bytes,
    }
}

/// Most rows of the samples over time; in longer runs each covers several seconds.
const MAX_ROWS: usize = 1_200;

/// Samples over time: gauges at their highest, and what the counters counted, by second.
#[derive(Debug, Clone, PartialEq)]
struct HostSeries {
    /// Seconds per row.
    resolution: u32,
    /// First seconds of rows, in order, each with what was sampled.
    rows: Vec<(u32, HostSample)>,
}

impl Default for HostSeries {
    fn default() -> HostSeries {
        HostSeries { resolution: 1, rows: Vec::new() }
    }
}

impl HostSeries {
    /// Adds a sample with what was counted since the one before. Samples come in order.
    fn add(&mut self, second: u32, sample: HostSample) {
        self.put(second, sample);
        while self.rows.len() > MAX_ROWS {
            self.resolution = self.resolution.saturating_mul(2);
            let rows = std::mem::take(&mut self.rows);
            rows.into_iter().for_each(|(second, sample)| self.put(second, sample));
        }
    }

    fn put(&mut self, second: u32, sample: HostSample) {
        let first = second / self.resolution * self.resolution;
        match self.rows.last_mut().filter(|(last, _)| *last >= first) {
            Some((_, last)) => last.add(&sample),
            None => self.rows.push((first, sample)),
        }
    }
}

/// All samples of a run, aggregated in constant memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostMetrics {
    first: Option<(f64, HostSample)>,
    last: (f64, HostSample),
    peak: HostSample,
    series: HostSeries,
}

impl HostMetrics {
    /// Adds a sample, taken `at_s` seconds after the start of the run; samples come in order.
    pub fn add(&mut self, at_s: f64, sample: HostSample) {
        let before = self.first.map_or(sample, |_| self.last.1);
        // Conversion from floating point saturates.
        self.series.add(at_s as u32, sample.since(&before));
        self.first.get_or_insert((at_s, sample));
        self.last = (at_s, sample);
        self.peak = self.peak.peak_with(&sample);
    }

    /// The last sample's gauges, and what the counters have counted since the first.
    pub fn during_run(&self) -> HostSample {
        self.first.map_or(self.last.1, |(_, first)| self.last.1.since(&first))
    }

    /// The highest value of each gauge.
    pub fn peak(&self) -> HostSample {
        self.peak
    }

    /// The samples over time, at most 1,200 rows: the first second of each, its gauges at their highest, and what its
    /// counters counted in it.
    pub fn series(&self) -> &[(u32, HostSample)] {
        &self.series.rows
    }

    /// How fast a gauge has grown over the run, per second.
    pub fn growth(&self, gauge: impl Fn(&HostSample) -> u64) -> f64 {
        let Some((began, first)) = &self.first else { return 0.0 };
        let time = self.last.0 - began;
        if time <= 0.0 { 0.0 } else { (gauge(&self.last.1) as f64 - gauge(first) as f64) / time }
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_have_a_peak_and_counters_a_difference() {
        let mut host = HostMetrics::default();
        for (second, (files, resets)) in [(10, 100), (50, 130), (30, 170)].into_iter().enumerate() {
            let mut sample = HostSample::default();
            sample.set("open_files", files);
            sample.set("resets_received", resets);
            host.add(second as f64, sample);
        }
        assert_eq!(host.peak().open_files, 50);
        let run = host.during_run();
        assert_eq!((run.open_files, run.resets_received), (30, 70));
        assert!((host.growth(|sample| sample.open_files) - 10.0).abs() < 1e-9);
        let series =
            host.series().iter().map(|(at, own)| (*at, own.open_files, own.resets_received));
        assert_eq!(series.collect::<Vec<_>>(), [(0, 10, 0), (1, 50, 30), (2, 30, 40)]);
    }

    #[test]
    fn a_long_run_has_no_more_rows_than_a_short_one() {
        let mut host = HostMetrics::default();
        for second in 0..50_000u32 {
            let resets_received = u64::from(second) * 3;
            host.add(f64::from(second), HostSample { resets_received, ..HostSample::default() });
        }
        let rows = host.series();
        assert!((600..=1_200).contains(&rows.len()), "{}", rows.len());
        let counted: u64 = rows.iter().map(|(_, own)| own.resets_received).sum();
        assert_eq!(counted, host.during_run().resets_received);
        assert!(rows.windows(2).all(|pair| pair[1].0 - pair[0].0 == 64), "whole rows");
    }
}
