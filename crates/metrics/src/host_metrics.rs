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
            pub fn peak_with(&self, later: &HostSample) -> HostSample {
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
    /// 1 if the plan's connections go to this machine itself.
    target_is_local,
    /// Processes that listen where the plan's connections go, as far as they are on this machine and squall may see them;
    /// squall's own is one of them if it has the built-in target.
    target_processes,
    }
    counters {
    /// CPU time of the whole host, idle time included, in clock ticks.
    cpu_ticks,
    /// CPU time of the whole host in which it was not idle and waited for no disk, what other guests took included,
    /// in clock ticks.
    cpu_busy_ticks,
    /// CPU time that other guests on the same hypervisor took, in clock ticks.
    steal_ticks,
    /// CPU time in which the host served interrupts, network traffic among them, in clock ticks.
    interrupt_ticks,
    /// CPU time of squall's process, in clock ticks; a built-in target is part of it.
    own_cpu_ticks,
    /// CPU time of the other processes that listen where the plan's connections go, in clock ticks.
    target_cpu_ticks,
    /// Time for which threads of all of `target_processes` were ready to run and had no CPU, in µs, added up.
    target_waited_us,
    /// Time for which any thread of the host was ready to run and had no CPU, in µs (`/proc/pressure/cpu`).
    cpu_pressure_us,
    /// TCP segments that the host has sent.
    segments_sent,
    /// TCP segments that it has retransmitted.
    retransmits,
    /// TCP segments that the host received before one that they follow: it was lost, or overtaken on the way.
    out_of_order,
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

/// Who had the CPUs of a machine, as shares of all their time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuShares {
    /// Everybody, without what other guests of the hypervisor took.
    pub busy: f64,
    pub own: f64,
    /// The processes that are the target, as far as squall may see them.
    pub target: f64,
    pub others: f64,
}

impl HostSample {
    /// Who had the CPUs, of what the counters counted in some time; `None`: no CPU time was counted.
    pub fn cpu_shares(&self) -> Option<CpuShares> {
        let share = |ticks: u64| ticks as f64 / self.cpu_ticks as f64;
        let busy = self.cpu_busy_ticks.saturating_sub(self.steal_ticks);
        let known = self.own_cpu_ticks + self.target_cpu_ticks + self.interrupt_ticks;
        (self.cpu_ticks > 0).then(|| CpuShares {
            busy: share(busy),
            own: share(self.own_cpu_ticks),
            target: share(self.target_cpu_ticks),
            others: share(busy.saturating_sub(known)),
        })
    }
}

/// Most rows of the samples over time; in longer runs each covers several seconds.
const MAX_ROWS: usize = 1_200;

/// Samples over time: gauges at their highest, and what the counters counted, by second.
#[derive(Debug, Clone, PartialEq)]
struct HostSeries {
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

    /// How many seconds each row of [`HostMetrics::series`] covers.
    pub fn seconds_per_row(&self) -> u32 {
        self.series.resolution
    }

    /// The time from the first sample to the last, in s.
    pub fn sampled_s(&self) -> f64 {
        self.first.map_or(0.0, |(began, _)| self.last.0 - began)
    }

    /// How fast a gauge has grown over the run, per second.
    pub fn growth(&self, gauge: impl Fn(&HostSample) -> u64) -> f64 {
        let Some((_, first)) = &self.first else { return 0.0 };
        let time = self.sampled_s();
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
    fn what_nobody_known_took_others_did() {
        let sample = HostSample {
            cpu_ticks: 1_000,
            cpu_busy_ticks: 900,
            steal_ticks: 100,
            interrupt_ticks: 50,
            own_cpu_ticks: 150,
            target_cpu_ticks: 300,
            ..HostSample::default()
        };
        let shares = CpuShares { busy: 0.8, own: 0.15, target: 0.3, others: 0.3 };
        assert_eq!(sample.cpu_shares(), Some(shares));
        // Ticks of a process are not counted at the same moment as those of the host.
        let early = HostSample { own_cpu_ticks: 10, cpu_ticks: 100, ..HostSample::default() };
        assert_eq!(early.cpu_shares().map(|shares| shares.others), Some(0.0));
        assert_eq!(HostSample::default().cpu_shares(), None);
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
