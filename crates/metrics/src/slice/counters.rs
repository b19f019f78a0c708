//! What is counted besides requests.

/// Defines [`Counters`] once, with its names.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What is counted besides requests. All are sums, except for the gauges that say so.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            /// Name and value of each counter.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// The value of the counter of this name.
            pub fn get(&self, name: &str) -> Option<u64> {
                self.named().find(|(own, _)| *own == name).map(|(_, value)| value)
            }

            pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut u64> {
                [$(&mut self.$name,)*].into_iter()
            }
        }
    };
}

counters! {
    /// Most users active at once in the second; users of an open workload are active while they serve an
    /// arrival (a gauge, summed over workers).
    users_active,
    iterations_started,
    iterations_done,
    /// Arrivals that the schedule asked for.
    arrivals_due,
    /// Arrivals dropped because no user was free.
    arrivals_dropped,
    /// Arrivals that were due and never began, because the run was ended, its data had no more rows, or their rate was
    /// changed while they were half a second behind.
    arrivals_cut_off,
    connections_opened,
    /// Of these, connections that speak HTTP/2.
    http2_connections,
    /// Requests retried on a new connection because the target had closed the old one.
    stale_retries,
    /// TCP segments that squall's own connections sent again, as far as slow responses made it look.
    segments_retransmitted,
    /// Responses that came without a request; their connections were closed.
    unsolicited_responses,
    redirects,
    /// Resources that were not requested because their user's cache had them fresh.
    cache_hits,
    checks_passed,
    checks_failed,
    /// Failed checks that are only warnings, and parts of pages that could not be read.
    warnings,
    /// Expressions of steps that could not be evaluated, for example because a variable had no value.
    expressions_failed,
    /// Calls of scripts that ended with an exception.
    exceptions,
    /// How often a script marked the run as failed, with `exec.test.fail()`.
    marked_failed,
    /// Users that stopped because a data source had no more rows.
    data_exhausted,
    /// Lines that did not fit into the run's log.
    log_dropped,
    /// Requests counted under `other`, because there were more names than the plan's `max_names`.
    names_beyond_limit,
}

impl Counters {
    /// Adds the counters of another worker in the same second.
    pub fn merge(&mut self, other: &Counters) {
        for (own, (_, theirs)) in self.all_mut().zip(other.named()) {
            *own = own.saturating_add(theirs);
        }
    }

    /// Adds the counters of a later second.
    pub fn add_later(&mut self, later: &Counters) {
        let users = later.users_active;
        self.merge(later);
        self.users_active = users;
    }
}
