//! What is measured of every second of a run, each quantity once: its name in results, type, unit, how those of seconds
//! become one where only they are known, what it is, and where it comes from. The rows of the series, the points of what
//! is shown while a run goes on, `run.json` with its schema, the page and the documentation follow from the table.

use crate::checks::CheckCounts;
use crate::load::Level;
use crate::request_stats::RequestStats;
use crate::self_metrics::SelfMetrics;
use crate::slice::Counters;
use crate::times::Times;

/// What was recorded in a second, or in several: everything that quantities are made of.
#[derive(Debug)]
pub struct Recorded<'r> {
    /// Requests, resources and programs.
    pub requests: &'r RequestStats,
    /// Latency of complete responses; zeros: there was none.
    pub latency: Times,
    pub counters: &'r Counters,
    pub checks: CheckCounts,
    pub self_metrics: &'r SelfMetrics,
    /// Most virtual users in any of the seconds.
    pub users: u64,
    pub in_flight: Level,
    /// CPU time of the busiest worker in any of the seconds, in ns.
    pub busiest_ns: u64,
}

/// Gives the table to a macro: `doc comment, name: type, unit, how seconds become one, source;`. The unit is a
/// [`Unit`], how seconds become one a method of [`Amount`], the source a function of [`Recorded`].
#[macro_export]
macro_rules! second_quantities {
    ($with:ident!) => {
        $with! {
            /// Most virtual users that the plan asks for at once, of closed workloads; not rounded.
            planned_users: f64, Number, max, |_| 0.0;
            /// Arrivals that the plan asks for, of open workloads; not rounded.
            planned_arrivals: f64, Number, sum, |_| 0.0;
            /// Most virtual users at once; those of an open workload count while they serve an arrival.
            users: u64, Number, max, |second| second.users;
            /// Most requests in flight at once, and programs that run.
            in_flight: u64, Number, max, |second| second.in_flight.most;
            /// Requests in flight at its end.
            in_flight_at_end: u64, Number, last, |second| second.in_flight.at_end;
            /// Iterations started.
            iterations_started: u64, Number, sum, |second| second.counters.iterations_started;
            /// Iterations finished.
            iterations_done: u64, Number, sum, |second| second.counters.iterations_done;
            /// Requests that have ended, with resources and programs.
            requests: u64, Number, sum, |second| second.requests.count;
            /// Those of them that were errors.
            errors: u64, Number, sum, |second| second.requests.errors;
            /// Bytes received.
            bytes_in: u64, Bytes, sum, |second| second.requests.bytes_in;
            /// Bytes sent.
            bytes_out: u64, Bytes, sum, |second| second.requests.bytes_out;
            /// Mean latency of complete responses.
            mean_us: f64, Microseconds, max, |second| second.latency.mean;
            /// Median latency.
            p50_us: f64, Microseconds, max, |second| second.latency.p50;
            /// 90th percentile of the latency.
            p90_us: f64, Microseconds, max, |second| second.latency.p90;
            /// 95th percentile of the latency.
            p95_us: f64, Microseconds, max, |second| second.latency.p95;
            /// 99th percentile of the latency.
            p99_us: f64, Microseconds, max, |second| second.latency.p99;
            /// Largest latency.
            max_us: f64, Microseconds, max, |second| second.latency.max;
            /// Checks that passed.
            checks_passed: u64, Number, sum, |second| second.checks.passed;
            /// Checks that failed.
            checks_failed: u64, Number, sum, |second| second.checks.failed;
            /// Checks that failed and were only to warn.
            checks_warned: u64, Number, sum, |second| second.checks.warned;
            /// Arrivals that were due.
            arrivals_due: u64, Number, sum, |second| second.counters.arrivals_due;
            /// Arrivals dropped because no virtual user was free.
            arrivals_dropped: u64, Number, sum, |second| second.counters.arrivals_dropped;
            /// 99th percentile of the receive delay.
            receive_delay_p99_us: u64, Microseconds, max,
                |second| second.self_metrics.receive_delay.percentile(99.0);
            /// 99th percentile of the send delay.
            send_delay_p99_us: u64, Microseconds, max,
                |second| second.self_metrics.send_delay.percentile(99.0);
            /// 99th percentile of how late timers fired.
            timer_delay_p99_us: u64, Microseconds, max,
                |second| second.self_metrics.timer_delay.percentile(99.0);
            /// 99th percentile of how late new connections were seen.
            connect_delay_p99_us: u64, Microseconds, max,
                |second| second.self_metrics.connect_delay.percentile(99.0);
            /// The longest iteration of an event loop.
            loop_iteration_max_us: u64, Microseconds, max,
                |second| second.self_metrics.loop_iteration.max();
            /// Time in which workers were ready to run but had no CPU.
            starved_us: u64, Microseconds, sum, |second| second.self_metrics.starved_ns / 1_000;
            /// CPU time of all workers.
            workers_cpu_us: u64, Microseconds, sum, |second| second.self_metrics.cpu_ns / 1_000;
            /// CPU time of the busiest worker in a second.
            busiest_worker: f64, Seconds, max, |second| second.busiest_ns as f64 / 1e9;
        }
    };
}

/// In which unit a quantity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Number,
    Bytes,
    Microseconds,
    Seconds,
}

impl Unit {
    /// As documentation has it.
    pub fn label(self) -> &'static str {
        match self {
            Unit::Number => "number",
            Unit::Bytes => "bytes",
            Unit::Microseconds => "µs",
            Unit::Seconds => "s",
        }
    }
}

/// The value of a quantity, and how those of seconds that follow each other become one.
pub trait Amount {
    fn value(self) -> f64;
    fn sum(self, later: Self) -> Self;
    /// Percentiles are not averaged: the higher one counts.
    fn max(self, later: Self) -> Self;
    fn last(self, later: Self) -> Self;
}

impl Amount for u64 {
    fn value(self) -> f64 {
        self as f64
    }

    fn sum(self, later: u64) -> u64 {
        self.saturating_add(later)
    }

    fn max(self, later: u64) -> u64 {
        Ord::max(self, later)
    }

    fn last(self, later: u64) -> u64 {
        later
    }
}

impl Amount for f64 {
    fn value(self) -> f64 {
        self
    }

    fn sum(self, later: f64) -> f64 {
        self + later
    }

    fn max(self, later: f64) -> f64 {
        f64::max(self, later)
    }

    fn last(self, later: f64) -> f64 {
        later
    }
}

/// A quantity, without its values.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Its name in results.
    pub name: &'static str,
    pub unit: Unit,
    /// What it is, in a sentence.
    pub about: &'static str,
}

macro_rules! define {
    ($($(#[doc = $about:literal])+ $name:ident: $type:ty, $unit:ident, $merge:ident, $of:expr;)*) => {
        /// The quantities of a second of a run, or of several.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct Quantities { $($(#[doc = $about])+ pub $name: $type,)* }

        impl Quantities {
            /// All, in the order of the table.
            pub const ALL: &'static [Quantity] = &[$(Quantity {
                name: stringify!($name),
                unit: Unit::$unit,
                about: concat!($($about),+).trim_ascii(),
            },)*];

            /// Those of what was recorded. What the plan asks for is 0: that is known elsewhere.
            pub fn of(recorded: &Recorded<'_>) -> Quantities {
                Quantities { $($name: {
                    let of: fn(&Recorded<'_>) -> $type = $of;
                    of(recorded)
                },)* }
            }

            /// These and those of the seconds that follow.
            pub fn with(self, later: &Quantities) -> Quantities {
                Quantities { $($name: Amount::$merge(self.$name, later.$name),)* }
            }

            /// The values, in the order of [`Quantities::ALL`].
            pub fn values(&self) -> impl Iterator<Item = f64> {
                [$(Amount::value(self.$name),)*].into_iter()
            }
        }
    };
}
second_quantities!(define!);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_one_by_the_rule_of_each() {
        let of = |requests, users, in_flight_at_end, planned_arrivals| Quantities {
            requests,
            users,
            in_flight_at_end,
            planned_arrivals,
            ..Quantities::default()
        };
        assert_eq!(of(3, 5, 2, 0.5).with(&of(4, 1, 0, 0.25)), of(7, 5, 0, 0.75));
        let names = Quantities::ALL.iter().map(|own| own.name);
        let values: Vec<_> =
            names.zip(of(3, 5, 2, 0.5).values()).filter(|own| own.1 > 0.0).collect();
        let wanted = [
            ("planned_arrivals", 0.5),
            ("users", 5.0),
            ("in_flight_at_end", 2.0),
            ("requests", 3.0),
        ];
        assert_eq!(values, wanted);
    }
}
