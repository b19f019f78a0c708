//! The load of the latest second, for those who ask in between. Pure.

use super::merged_load::MergedLoad;
use super::second::Second;

/// The load of the latest second that came.
#[derive(Debug, Clone, Default)]
pub struct LatestLoad {
    second: Option<u32>,
    load: MergedLoad,
}

impl LatestLoad {
    /// Notes a second. One that comes again, because a worker was late, adds to what it had; of one that is past
    /// nothing is left to say.
    pub fn note(&mut self, second: &Second) {
        match self.second {
            Some(latest) if second.second < latest => {}
            Some(latest) if second.second == latest => self.load.add_workers(&second.load),
            _ => {
                self.second = Some(second.second);
                self.load.clone_from(&second.load);
            }
        }
    }

    /// Whether a second has come.
    pub fn has_come(&self) -> bool {
        self.second.is_some()
    }

    /// The load.
    pub fn load(&self) -> &MergedLoad {
        &self.load
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use squall_metrics::{Level, ScenarioLoad};

    use super::*;

    fn second(number: u32, scenario: &str, users: u64) -> Second {
        let own = ScenarioLoad { users, ..ScenarioLoad::default() };
        let scenarios = BTreeMap::from([(scenario.to_owned(), own)]);
        let in_flight = Level { most: users, at_end: 1 };
        Second { second: number, load: MergedLoad { in_flight, scenarios }, ..Second::default() }
    }

    #[test]
    fn a_late_worker_adds_to_its_second_and_to_no_other() {
        let mut latest = LatestLoad::default();
        latest.note(&second(3, "a", 4));
        latest.note(&second(3, "a", 2));
        latest.note(&second(3, "b", 5));
        latest.note(&second(2, "a", 90));
        let load = latest.load();
        let names = ["a".to_owned(), "c".to_owned()];
        assert_eq!((load.users(), load.of(&names).users, load.in_flight.most), (11, 6, 11));
        latest.note(&second(4, "b", 1));
        assert_eq!((latest.load().users(), latest.load().of(&names).users), (1, 0));
    }
}
