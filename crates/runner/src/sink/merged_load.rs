//! The load of a second by scenario, merged of all workers. Pure.

use std::collections::BTreeMap;

use squall_metrics::{Level, ScenarioLoad};

/// The load that was there in a second, of all workers that have handed it over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedLoad {
    /// Requests in flight, of all scenarios.
    pub in_flight: Level,
    /// Scenarios that had any load, by name.
    pub scenarios: BTreeMap<String, ScenarioLoad>,
}

impl MergedLoad {
    /// Adds the load on other workers in the same second.
    pub fn add_workers(&mut self, other: &MergedLoad) {
        self.in_flight.add_worker(other.in_flight);
        for (scenario, load) in &other.scenarios {
            self.scenarios.entry(scenario.clone()).or_default().add_worker(load);
        }
    }

    /// The load of some scenarios together.
    pub fn of(&self, scenarios: &[String]) -> ScenarioLoad {
        let mut sum = ScenarioLoad::default();
        let own = scenarios.iter().filter_map(|scenario| self.scenarios.get(scenario));
        own.for_each(|load| sum.add_worker(load));
        sum
    }

    /// Virtual users of all scenarios.
    pub fn users(&self) -> u64 {
        self.scenarios.values().map(|load| load.users).sum()
    }
}
