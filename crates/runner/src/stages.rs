//! When the loads of a plan reach their stages. Pure.

use squall_plan::model::{Load, Plan, Stage};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StageStart {
    /// In seconds after the start of the load.
    pub at_s: f64,
    /// Whose; empty: the load that scenarios share by weight.
    pub scenario: String,
    /// Which, from 1; one more than there are: the last is over.
    pub stage: usize,
    /// How many there are.
    pub stages: usize,
}

/// The moments at which stages begin, as far as they lie ahead.
#[derive(Debug)]
pub(crate) struct StageStarts {
    /// The latest first.
    ahead: Vec<StageStart>,
}

impl StageStarts {
    /// Those of a plan. A pause, which moves them, is not considered.
    pub(crate) fn of(plan: &Plan) -> StageStarts {
        let mut ahead = Vec::new();
        let mut add = |load: &Load, name: &str, start_s: f64| {
            let (own, mut at_s) = (stages(load), start_s);
            let ends = own.iter().map(|stage| stage.over.as_secs_f64());
            // After the last one they are over.
            let after = (!own.is_empty()).then_some(0.0);
            for (index, over_s) in ends.chain(after).enumerate() {
                let (scenario, stages) = (name.to_owned(), own.len());
                ahead.push(StageStart { at_s, scenario, stage: index + 1, stages });
                at_s += over_s;
            }
        };
        for scenario in &plan.scenarios {
            if let (Some(load), Some(begins)) = (&scenario.load, scenario.begins()) {
                add(&load.value, &scenario.name.value, begins.as_secs_f64());
            }
        }
        plan.load.iter().for_each(|load| add(&load.value, "", 0.0));
        ahead.sort_by(|a, b| b.at_s.total_cmp(&a.at_s));
        StageStarts { ahead }
    }

    /// Takes those that lie before second `second`.
    pub(crate) fn until(&mut self, second: u32) -> Vec<StageStart> {
        let rest = self.ahead.partition_point(|own| own.at_s >= f64::from(second));
        self.ahead.drain(rest..).rev().collect()
    }
}

fn stages(load: &Load) -> &[Stage] {
    match load {
        Load::Closed(closed) => &closed.stages,
        Load::Open(open) => &open.stages,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use squall_plan::yaml::load_str;

    use super::*;

    #[test]
    fn stages_begin_one_after_the_other() {
        let text = "target: builtin\nscenarios:\n  a: {load: {stages: [{users: 5, over: 2s}, {users: 1, over: 1s}]}, start_after: 1s, steps: [{get: /}]}\n  b: {load: {users: 1, for: 9s}, steps: [{get: /}]}\n  c: {after: [a], load: {stages: [{users: 2, over: 1s}]}, steps: [{get: /}]}\n";
        let loaded = load_str("p", text, Path::new(""), &Default::default()).expect("a plan");
        let mut starts = StageStarts::of(&loaded.plan);
        let mut until = |second| -> Vec<(f64, usize, usize)> {
            let of_a = |own: &StageStart| own.scenario == "a";
            let own = starts.until(second);
            assert!(own.iter().all(of_a));
            own.iter().map(|own| (own.at_s, own.stage, own.stages)).collect()
        };
        assert!(until(1).is_empty());
        assert_eq!(until(2), [(1.0, 1, 2)]);
        assert!(until(3).is_empty());
        assert_eq!(until(9), [(3.0, 2, 2), (4.0, 3, 2)]);
    }
}
