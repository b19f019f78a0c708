//! When the loads of a plan reach their stages. Pure.

use squall_plan::model::{Load, Plan, Stage};

/// The moments at which stages begin, as far as they lie ahead.
#[derive(Debug)]
pub(crate) struct Marks {
    /// When, in seconds after the start of the load, whose, and which stage begins; the latest first.
    ahead: Vec<(f64, String, usize)>,
}

impl Marks {
    /// Those of a plan. A pause, which moves them, is not considered.
    pub(crate) fn of(plan: &Plan) -> Marks {
        let mut ahead = Vec::new();
        let mut add = |load: &Load, name: &str, start_s: f64| {
            let mut at = start_s;
            for (index, stage) in stages(load).iter().enumerate() {
                ahead.push((at, name.to_owned(), index + 1));
                at += stage.over.as_secs_f64();
            }
            if !stages(load).is_empty() {
                ahead.push((at, name.to_owned(), stages(load).len() + 1));
            }
        };
        for scenario in &plan.scenarios {
            if let Some(load) = &scenario.load {
                add(&load.value, &scenario.name.value, scenario.start_after.as_secs_f64());
            }
        }
        plan.load.iter().for_each(|load| add(&load.value, "", 0.0));
        ahead.sort_by(|a, b| b.0.total_cmp(&a.0));
        Marks { ahead }
    }

    /// Takes those that lie before second `second`: scenario and stage.
    pub(crate) fn until(&mut self, second: u32) -> Vec<(String, usize)> {
        let rest = self.ahead.partition_point(|(at, _, _)| *at >= f64::from(second));
        self.ahead.drain(rest..).rev().map(|(_, name, stage)| (name, stage)).collect()
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
        let text = "target: builtin\nscenarios:\n  a: {load: {stages: [{users: 5, over: 2s}, {users: 1, over: 1s}]}, start_after: 1s, steps: [{get: /}]}\n  b: {load: {users: 1, for: 9s}, steps: [{get: /}]}\n";
        let loaded = load_str("p", text, Path::new(""), &Default::default()).expect("a plan");
        let mut marks = Marks::of(&loaded.plan);
        assert!(marks.until(1).is_empty());
        assert_eq!(marks.until(2), [("a".to_owned(), 1)]);
        assert!(marks.until(3).is_empty());
        assert_eq!(marks.until(9), [("a".to_owned(), 2), ("a".to_owned(), 3)]);
    }
}
