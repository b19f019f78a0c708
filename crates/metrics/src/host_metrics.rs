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

/// All samples of a run, aggregated in constant memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostMetrics {
    first: Option<(f64, HostSample)>,
    last: (f64, HostSample),
    peak: HostSample,
}

impl HostMetrics {
    /// Adds a sample, taken `at_s` seconds after the start of the run; samples come in order.
    pub fn add(&mut self, at_s: f64, sample: HostSample) {
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
    }
}
