//! What is there at the moment, counted as it comes and goes: users and requests in flight, of each scenario
//! and of all. A change costs two additions.

use std::cell::Cell;

use squall_metrics::{Level, Load, NameId, ScenarioLoad};

use crate::program::Scenario;

/// How many there are, and the most at once since the present second began.
#[derive(Debug, Default)]
struct Count {
    now: Cell<u64>,
    most: Cell<u64>,
}

impl Count {
    fn up(&self) {
        self.now.set(self.now.get() + 1);
        self.most.set(self.most.get().max(self.now.get()));
    }

    fn down(&self) {
        self.now.set(self.now.get().saturating_sub(1));
    }

    /// What it came to; another second begins.
    fn close(&self) -> Level {
        let at_end = self.now.get();
        Level { most: self.most.replace(at_end), at_end }
    }
}

/// What a scenario has at the moment, and has begun in the present second.
#[derive(Debug)]
struct ScenarioLevels {
    /// The row of its iterations.
    row: NameId,
    users: Count,
    in_flight: Count,
    iterations_started: Cell<u64>,
    arrivals_dropped: Cell<u64>,
}

/// What a worker has at the moment.
#[derive(Debug)]
pub(crate) struct Levels {
    in_flight: Count,
    scenarios: Box<[ScenarioLevels]>,
}

impl Levels {
    /// Nothing, of these scenarios.
    pub(super) fn new(scenarios: &[Scenario]) -> Levels {
        let of = |scenario: &Scenario| ScenarioLevels {
            row: NameId(scenario.iteration),
            users: Count::default(),
            in_flight: Count::default(),
            iterations_started: Cell::new(0),
            arrivals_dropped: Cell::new(0),
        };
        Levels { in_flight: Count::default(), scenarios: scenarios.iter().map(of).collect() }
    }

    /// A user of a scenario is active from now on.
    pub(crate) fn user_came(&self, scenario: usize) {
        self.scenarios[scenario].users.up();
    }

    /// A user of a scenario is no longer active.
    pub(crate) fn user_left(&self, scenario: usize) {
        self.scenarios[scenario].users.down();
    }

    /// An iteration of a scenario begins.
    pub(crate) fn iteration_started(&self, scenario: usize) {
        let count = &self.scenarios[scenario].iterations_started;
        count.set(count.get() + 1);
    }

    /// An arrival for a scenario found no user.
    pub(crate) fn arrival_dropped(&self, scenario: usize) {
        let count = &self.scenarios[scenario].arrivals_dropped;
        count.set(count.get() + 1);
    }

    /// A request of a scenario is in flight, as long as what this gives is kept.
    pub(crate) fn request(&self, scenario: usize) -> Outstanding<'_> {
        let counts = [&self.in_flight, &self.scenarios[scenario].in_flight];
        counts.into_iter().for_each(Count::up);
        Outstanding(counts)
    }

    /// What there was in the second that ends now; another one begins.
    pub(super) fn close(&self, load: &mut Load) {
        load.in_flight = self.in_flight.close();
        for own in &self.scenarios {
            let closed = ScenarioLoad {
                users: own.users.close().most,
                in_flight: own.in_flight.close(),
                iterations_started: own.iterations_started.take(),
                arrivals_dropped: own.arrivals_dropped.take(),
            };
            if closed != ScenarioLoad::default() {
                load.scenarios.push((own.row, closed));
            }
        }
    }
}

/// A request in flight.
pub(crate) struct Outstanding<'l>([&'l Count; 2]);

impl Drop for Outstanding<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(Count::down);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> Levels {
        let of = |row| ScenarioLevels {
            row: NameId(row),
            users: Count::default(),
            in_flight: Count::default(),
            iterations_started: Cell::new(0),
            arrivals_dropped: Cell::new(0),
        };
        Levels { in_flight: Count::default(), scenarios: [of(5), of(6)].into_iter().collect() }
    }

    fn close(levels: &Levels) -> Load {
        let mut load = Load::default();
        levels.close(&mut load);
        load
    }

    #[test]
    fn each_second_has_its_most_and_its_end() {
        let levels = levels();
        let first = levels.request(0);
        drop(levels.request(0));
        let second = levels.request(1);
        levels.user_came(0);
        levels.iteration_started(0);
        let load = close(&levels);
        assert_eq!(load.in_flight, Level { most: 2, at_end: 2 });
        let of = |users, most, at_end, iterations_started| ScenarioLoad {
            users,
            in_flight: Level { most, at_end },
            iterations_started,
            arrivals_dropped: 0,
        };
        let seen = [(NameId(5), of(1, 2, 1, 1)), (NameId(6), of(0, 1, 1, 0))];
        assert_eq!(load.scenarios, seen);
        drop((first, second));
        levels.user_left(0);
        let load = close(&levels);
        assert_eq!(load.in_flight, Level { most: 2, at_end: 0 });
        assert_eq!(load.scenarios[0].1, of(1, 1, 0, 0), "what was there when it began");
        assert_eq!(close(&levels), Load::default());
    }
}
