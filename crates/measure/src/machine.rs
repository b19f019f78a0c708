//! What the machine under the generator looked like, sampled about once a second. Reading it is not
//! done here; this is only what the values are and how they add up.

/// Defines [`Machine`] once, with its names and which of its values are levels.
macro_rules! machine {
    (levels { $($(#[$ldoc:meta])* $level:ident,)* } counts { $($(#[$cdoc:meta])* $count:ident,)* }) => {
        /// One look at the machine. Levels are what they are at that moment; counts are sums since
        /// the machine, or the process, was started. What the system does not say is 0.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Machine {
            $($(#[$ldoc])* pub $level: u64,)*
            $($(#[$cdoc])* pub $count: u64,)*
        }

        impl Machine {
            /// Name and value of each level.
            pub fn levels(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($level), self.$level),)*].into_iter()
            }

            /// Name and value of each count.
            pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($count), self.$count),)*].into_iter()
            }

            /// Sets the value of a name; unknown ones are left out.
            pub fn set(&mut self, name: &str, value: u64) {
                match name {
                    $(stringify!($level) => self.$level = value,)*
                    $(stringify!($count) => self.$count = value,)*
                    _ => {}
                }
            }

            /// The larger of two levels each; the later counts.
            fn most(&self, later: &Machine) -> Machine {
                Machine {
                    $($level: self.$level.max(later.$level),)*
                    $($count: later.$count,)*
                }
            }

            /// What was counted since an earlier look; levels stay.
            pub fn since(&self, earlier: &Machine) -> Machine {
                Machine {
                    $($level: self.$level,)*
                    $($count: self.$count.saturating_sub(earlier.$count),)*
                }
            }
        }
    };
}

machine! {
    levels {
    /// Files and sockets that the process has open.
    open_files,
    /// How many it may have.
    open_files_limit,
    /// Local ports that are in use toward the destination that uses most; counted when the machine
    /// has many sockets, otherwise 0.
    ports_used,
    /// Local ports that the system gives out toward one destination (`ip_local_port_range`, times
    /// the source addresses of the plan).
    ports_limit,
    /// TCP connections of the machine in TIME_WAIT.
    time_wait,
    /// TCP sockets of the machine that are in use.
    tcp_in_use,
    /// Memory of the machine's TCP sockets, in bytes.
    tcp_memory_bytes,
    /// Resident memory of the process, in bytes.
    rss_bytes,
    /// How much of its speed the fullest direction of the fullest network link has carried since the
    /// look before, in thousandths; 0 where the system knows no speed.
    link_used_permille,
    }
    counts {
    /// Processor time of the whole machine, idle time included, in clock ticks.
    cpu_ticks,
    /// Processor time that other guests of the same host took, in clock ticks.
    steal_ticks,
    /// TCP segments that the machine has sent.
    segments_sent,
    /// TCP segments that it has sent again.
    retransmits,
    /// Connections that the other side has reset.
    resets_received,
    /// Resets that the machine has sent.
    resets_sent,
    /// Connections that a full accept queue on this machine has turned away.
    listen_overflows,
    /// Connections that a listener on this machine has dropped for any reason.
    listen_drops,
    /// Page faults of the process that had to wait for a disk.
    major_faults,
    /// Page faults of the process that did not.
    minor_faults,
    /// Bytes that the machine's network interfaces, loopback aside, have received and sent.
    network_bytes,
    }
}

/// All looks at the machine in a run, in constant memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Surroundings {
    first: Option<(f64, Machine)>,
    last: (f64, Machine),
    most: Machine,
}

impl Surroundings {
    /// Adds a look, so many seconds after the start of the run; they come in order.
    pub fn add(&mut self, at_s: f64, machine: Machine) {
        self.first.get_or_insert((at_s, machine));
        self.last = (at_s, machine);
        self.most = self.most.most(&machine);
    }

    /// The last look, with what was counted since the first.
    pub fn whole(&self) -> Machine {
        self.first.map_or(self.last.1, |(_, first)| self.last.1.since(&first))
    }

    /// Each level at its highest.
    pub fn most(&self) -> Machine {
        self.most
    }

    /// How fast a level has risen over the run, a second.
    pub fn rise(&self, level: impl Fn(&Machine) -> u64) -> f64 {
        let Some((began, first)) = &self.first else { return 0.0 };
        let time = self.last.0 - began;
        if time <= 0.0 { 0.0 } else { (level(&self.last.1) as f64 - level(first) as f64) / time }
    }

    /// Whether there was any look.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_a_top_and_counts_a_difference() {
        let mut surroundings = Surroundings::default();
        for (second, (files, resets)) in [(10, 100), (50, 130), (30, 170)].into_iter().enumerate() {
            let mut machine = Machine::default();
            machine.set("open_files", files);
            machine.set("resets_received", resets);
            surroundings.add(second as f64, machine);
        }
        assert_eq!(surroundings.most().open_files, 50);
        let whole = surroundings.whole();
        assert_eq!((whole.open_files, whole.resets_received), (30, 70));
        assert!((surroundings.rise(|machine| machine.open_files) - 10.0).abs() < 1e-9);
    }
}
