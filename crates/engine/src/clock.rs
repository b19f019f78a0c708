//! The clock that a worker goes by: the run's. In unit tests it stands still until they set it.

#[cfg(not(test))]
pub(crate) use of_run::WorkerClock;
#[cfg(test)]
pub(crate) use still::WorkerClock;

#[cfg(not(test))]
mod of_run {
    use squall_wire::Clock;

    pub(crate) struct WorkerClock(Clock);

    impl WorkerClock {
        pub(crate) fn new(of_run: Clock) -> Self {
            WorkerClock(of_run)
        }

        /// The time, in nanoseconds of the run's clock.
        #[inline]
        pub(crate) fn now(&self) -> u64 {
            self.0.now()
        }
    }
}

#[cfg(test)]
mod still {
    use std::cell::Cell;

    use squall_wire::Clock;

    /// A clock that shows what it was set to.
    pub(crate) struct WorkerClock(Cell<u64>);

    impl WorkerClock {
        pub(crate) fn new(_: Clock) -> Self {
            WorkerClock(Cell::new(0))
        }

        pub(crate) fn now(&self) -> u64 {
            self.0.get()
        }

        pub(crate) fn set(&self, now: u64) {
            self.0.set(now);
        }
    }
}
