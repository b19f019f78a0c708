//! The load that was there in a second: virtual users, requests in flight and iterations, by scenario.

use crate::codec::{self, DecodeError};
use crate::names::{MAX_NUMBERS, NameId};

/// How many there were at a time: a gauge of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Level {
    pub most: u64,
    /// At the end of the second.
    pub at_end: u64,
}

impl Level {
    /// Adds those of another worker in the same second. Workers need not have their most at the same moment,
    /// so that the sum of several is an upper bound.
    pub fn add_worker(&mut self, other: Level) {
        self.most = self.most.saturating_add(other.most);
        self.at_end = self.at_end.saturating_add(other.at_end);
    }

    /// Goes on with those of a later second.
    pub fn add_later(&mut self, later: Level) {
        *self = Level { most: self.most.max(later.most), at_end: later.at_end };
    }
}

/// The load of a scenario in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScenarioLoad {
    /// Most users active at once; those of an open workload are active while they serve an arrival.
    pub users: u64,
    /// Requests and programs begun and not yet over; those that wait for a connection of the plan's own pool are not
    /// begun.
    pub in_flight: Level,
    /// Iterations started; of an open workload, the arrivals that found a user.
    pub iterations_started: u64,
    /// Arrivals dropped because no user was free.
    pub arrivals_dropped: u64,
}

impl ScenarioLoad {
    /// Adds the load on another worker in the same second.
    pub fn add_worker(&mut self, other: &ScenarioLoad) {
        self.users = self.users.saturating_add(other.users);
        self.in_flight.add_worker(other.in_flight);
        self.add_counts(other);
    }

    /// Goes on with the load of a later second.
    pub fn add_later(&mut self, later: &ScenarioLoad) {
        self.users = self.users.max(later.users);
        self.in_flight.add_later(later.in_flight);
        self.add_counts(later);
    }

    fn add_counts(&mut self, other: &ScenarioLoad) {
        self.iterations_started = self.iterations_started.saturating_add(other.iterations_started);
        self.arrivals_dropped = self.arrivals_dropped.saturating_add(other.arrivals_dropped);
    }
}

/// The load of one worker in one second.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// Requests in flight, of all scenarios.
    pub in_flight: Level,
    /// Scenarios that had any load, each by the number of the row of its iterations.
    pub scenarios: Vec<(NameId, ScenarioLoad)>,
}

impl Load {
    /// Resets all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.in_flight = Level::default();
        self.scenarios.clear();
    }

    /// Whether there was none.
    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight == Level::default() && self.scenarios.is_empty()
    }

    /// Heap memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.scenarios.capacity() * size_of::<(NameId, ScenarioLoad)>()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let numbers = [self.in_flight.most, self.in_flight.at_end, self.scenarios.len() as u64];
        numbers.into_iter().for_each(|number| codec::put(out, number));
        for (NameId(id), own) in &self.scenarios {
            codec::put(out, u64::from(*id));
            codec::put_block(out, |out| {
                for number in [
                    own.users,
                    own.in_flight.most,
                    own.in_flight.at_end,
                    own.iterations_started,
                    own.arrivals_dropped,
                ] {
                    codec::put(out, number);
                }
            });
        }
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Load, DecodeError> {
        let in_flight = Level { most: codec::get(bytes)?, at_end: codec::get(bytes)? };
        let mut load = Load { in_flight, scenarios: Vec::new() };
        for _ in 0..codec::get(bytes)? {
            let id = codec::get_u32(bytes)?;
            let mut block = codec::get_bytes(bytes)?;
            let mut number = || codec::get(&mut block);
            let own = ScenarioLoad {
                users: number()?,
                in_flight: Level { most: number()?, at_end: number()? },
                iterations_started: number()?,
                arrivals_dropped: number()?,
            };
            if id >= MAX_NUMBERS {
                return Err(DecodeError("the number of a scenario is out of range"));
            }
            load.scenarios.push((NameId(id), own));
        }
        Ok(load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up_and_seconds_follow_each_other() {
        let level = |most, at_end| Level { most, at_end };
        let of = |users, in_flight, started| ScenarioLoad {
            users,
            in_flight,
            iterations_started: started,
            arrivals_dropped: 1,
        };
        let mut second = of(3, level(2, 1), 10);
        second.add_worker(&of(4, level(4, 0), 5));
        assert_eq!(second, ScenarioLoad { arrivals_dropped: 2, ..of(7, level(6, 1), 15) });
        second.add_later(&of(5, level(1, 1), 2));
        assert_eq!(second, ScenarioLoad { arrivals_dropped: 3, ..of(7, level(6, 1), 17) });
    }
}
