//! The loads of a plan: what is planned of each at a time, and how far it has come. Pure.

use std::time::Duration;

use squall_load::{Presence, Rate, Users};
use squall_metrics::{RowKind, ScenarioLoad};
use squall_plan::model::{Load, Plan, Stage};
use squall_runner::Second;

#[derive(Debug)]
pub struct LoadState {
    /// Whose; empty: of the scenarios that share it by weight.
    pub scenario: String,
    /// The scenarios that it drives.
    pub members: Vec<String>,
    /// Whether a person can change it: it ends by time, and when it begins is known beforehand.
    pub can_change: bool,
    /// How long it lasts, in s; `None`: until its iterations are done.
    pub length_s: Option<f64>,
    /// Its end by iterations, of all users together.
    pub iterations: Option<u64>,
    /// Iterations that have ended.
    pub done: u64,
    /// Iterations that ended in the last second.
    pub done_lately: u64,
    /// What was there in the last second: users, requests in flight, iterations that began, arrivals dropped.
    pub now: ScenarioLoad,
    /// Levels that a person has asked for: from which second on, and what; in order.
    scaled: Vec<(f64, f64)>,
    /// When it begins and ends after the load's start, in s, pauses left out.
    presence: Presence,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Users(Users),
    Rate(Rate),
}

impl LoadState {
    /// The loads of a plan, in its order.
    pub fn of(plan: &Plan) -> Vec<LoadState> {
        let own = plan.scenarios.iter().filter_map(|scenario| {
            let load = &scenario.load.as_ref()?.value;
            let name = scenario.name.value.clone();
            LoadState::new(load, name.clone(), vec![name], scenario.begins())
        });
        let shared = plan.load.iter().filter_map(|load| {
            let members = plan.scenarios.iter().filter(|scenario| scenario.weight.is_some());
            let members = members.map(|scenario| scenario.name.value.clone()).collect();
            LoadState::new(&load.value, String::new(), members, Some(Duration::ZERO))
        });
        own.chain(shared).collect()
    }

    /// `None`: its shape makes no sense, which the run says.
    fn new(
        load: &Load,
        scenario: String,
        members: Vec<String>,
        from: Option<Duration>,
    ) -> Option<LoadState> {
        let (shape, stages, length, iterations) = match load {
            Load::Closed(closed) => {
                let users = closed.users.unwrap_or(0);
                let shape = match closed.stages.is_empty() {
                    true => Users::ramp(users, nanos(closed.start_time())),
                    false => Users::stages(users, &levels(&closed.stages)),
                };
                let each = closed.iterations.map(|each| each.saturating_mul(users));
                let iterations = closed.total_iterations.or(each);
                (Shape::Users(shape.ok()?), &closed.stages, closed.duration, iterations)
            }
            Load::Open(open) => {
                let rate = open.rate.unwrap_or(0.0);
                let shape = match open.stages.is_empty() {
                    true => Rate::ramp(rate, nanos(open.ramp)),
                    false => Rate::stages(rate, &levels(&open.stages)),
                };
                (Shape::Rate(shape.ok()?), &open.stages, open.duration, open.total_iterations)
            }
        };
        let staged = || stages.iter().map(|stage| stage.over).sum::<Duration>();
        let length = length.or_else(|| (!stages.is_empty()).then(staged));
        Some(LoadState {
            scenario,
            members,
            presence: Presence::new(from.map(|from| from.as_secs_f64()), iterations.is_some()),
            can_change: iterations.is_none() && length.is_some() && from.is_some(),
            length_s: length.map(|length| length.as_secs_f64()),
            iterations,
            done: 0,
            done_lately: 0,
            now: ScenarioLoad::default(),
            scaled: Vec::new(),
            shape,
        })
    }

    /// Its iterations that ended in a second.
    pub fn ended_in(&self, second: &Second) -> u64 {
        let own = second.rows.iter().filter(|row| row.key.place.kind == RowKind::Iteration);
        let own = own.filter(|row| self.members.contains(&row.key.place.scenario));
        own.map(|row| row.stats.count).sum()
    }

    /// Whether it is a number of virtual users, and not a rate of arrivals.
    pub fn is_users(&self) -> bool {
        matches!(self.shape, Shape::Users(_))
    }

    /// How it is called.
    pub fn label(&self) -> &str {
        if self.scenario.is_empty() { "all scenarios" } else { &self.scenario }
    }

    /// When it begins after the load's start, in s, pauses left out; `None`: when others have ended, which is not yet.
    pub fn from_s(&self) -> Option<f64> {
        self.presence.from_s()
    }

    /// Users, or arrivals, that are planned for the second from a time on, in s after the load's start, pauses left out. Nothing
    /// is as long as nobody knows when it begins.
    pub fn planned(&self, at_s: f64) -> f64 {
        let Some((passed, until)) = self.presence.within(at_s, at_s + 1.0) else { return 0.0 };
        let until = self.length_s.map_or(until, |length| until.min(length));
        if passed >= until {
            return 0.0;
        }
        if let Some((_, level)) = self.scaled.iter().rev().find(|(from, _)| *from <= at_s) {
            return *level;
        }
        let at = |passed| nanos(Duration::from_secs_f64(passed));
        match &self.shape {
            Shape::Users(users) => users.users_at(at(passed)) as f64,
            Shape::Rate(rate) => rate.due_before(at(until)) - rate.due_before(at(passed)),
        }
    }

    /// Somebody wants another level from a time on.
    pub fn scale(&mut self, at_s: f64, level: f64) {
        self.scaled.push((at_s, level));
    }

    /// Notes what was there in the second that began at a time.
    pub fn note(&mut self, now: ScenarioLoad, at_s: f64) {
        self.presence.note(at_s, at_s + 1.0, now.users > 0 || now.iterations_started > 0);
        self.now = now;
    }

    /// How long it has lasted, in s.
    fn passed_s(&self, at_s: f64) -> f64 {
        self.from_s().map_or(0.0, |from| (at_s - from).max(0.0))
    }

    /// What part of it is over, of 1; `None`: nobody knows.
    pub fn part_done(&self, at_s: f64) -> Option<f64> {
        let passed = self.passed_s(at_s);
        let by_time = self.length_s.filter(|length| *length > 0.0).map(|length| passed / length);
        let of = self.iterations.filter(|of| *of > 0);
        let by_number = of.map(|of| self.done as f64 / of as f64);
        let part = match (by_time, by_number) {
            (Some(time), Some(number)) => Some(time.max(number)),
            (time, number) => time.or(number),
        };
        part.map(|part| part.min(1.0))
    }

    /// How long it will take yet, in s: by its end or, where that is by iterations, by their rate so far.
    pub fn left_s(&self, at_s: f64) -> Option<f64> {
        let passed = self.passed_s(at_s);
        let to_begin = self.from_s().map_or(0.0, |from| (from - at_s).max(0.0));
        let by_time = self.length_s.map(|length| to_begin + (length - passed).max(0.0));
        let by_number = self
            .iterations
            .filter(|_| self.done > 0 && passed > 0.0)
            .map(|of| of.saturating_sub(self.done) as f64 * passed / self.done as f64);
        match (by_time, by_number) {
            (Some(time), Some(number)) => Some(time.min(number)),
            (time, number) => time.or(number),
        }
    }
}

fn levels(stages: &[Stage]) -> Vec<(f64, u64)> {
    stages.iter().map(|stage| (stage.level, nanos(stage.over))).collect()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(squall_load::MAX_TIME)
}

#[cfg(test)]
mod tests {
    use squall_plan::yaml::load_str;

    use super::*;

    fn loads(scenarios: &str) -> Vec<LoadState> {
        let text = format!("target: builtin\nscenarios: {scenarios}\n");
        let plan = load_str("p", &text, "".as_ref(), &Default::default()).expect("a plan").plan;
        LoadState::of(&plan)
    }

    #[test]
    fn what_is_planned_follows_the_plan_and_then_the_person() {
        let mut own = loads(
            "{a: {load: {users: 10, ramp: 10s, for: 1m}, start_after: 5s, steps: [{get: /}]}, \
              b: {load: {stages: [{rate: 100/s, over: 10s}, {rate: 0/s, over: 10s}]}, steps: [{get: /}]}}",
        );
        let planned = |load: &LoadState| [0.0, 9.5, 15.0, 40.0, 70.0].map(|at| load.planned(at));
        assert_eq!(planned(&own[0]), [0.0, 5.0, 10.0, 10.0, 0.0]);
        assert_eq!(planned(&own[1]).map(f64::round), [5.0, 98.0, 45.0, 0.0, 0.0]);
        assert!(own[0].is_users() && !own[1].is_users());
        own[0].scale(30.0, 25.0);
        assert_eq!(planned(&own[0]), [0.0, 5.0, 10.0, 25.0, 0.0]);
    }

    #[test]
    fn a_load_that_comes_after_others_begins_with_its_first_user() {
        let mut own = loads(
            "{a: {load: {users: 1, iterations: 9}, steps: [{get: /}]}, \
              b: {after: [a], load: {users: 4, for: 10s}, steps: [{get: /}]}}",
        );
        let load = &mut own[1];
        let seen = |load: &LoadState, at| (load.planned(at), load.part_done(at), load.left_s(at));
        load.note(ScenarioLoad::default(), 6.0);
        assert_eq!(seen(load, 7.0), (0.0, Some(0.0), Some(10.0)));
        assert!(!load.can_change);
        load.note(ScenarioLoad { users: 4, ..ScenarioLoad::default() }, 20.0);
        load.note(ScenarioLoad { users: 4, ..ScenarioLoad::default() }, 21.0);
        assert_eq!(seen(load, 25.5), (4.0, Some(0.5), Some(5.0)));
        assert_eq!([29.0, 30.0, 31.0].map(|at| load.planned(at)), [4.0, 4.0, 0.0]);
        // The one before it, which ends when it is done, asks for nothing any more.
        let before = &mut own[0];
        before.note(ScenarioLoad { users: 1, ..ScenarioLoad::default() }, 18.0);
        before.note(ScenarioLoad::default(), 19.0);
        assert_eq!([18.0, 19.0].map(|at| before.planned(at)), [1.0, 0.0]);
    }

    #[test]
    fn progress_is_by_time_or_by_iterations() {
        let mut own = loads(
            "{a: {load: {users: 2, for: 20s}, start_after: 10s, steps: [{get: /}]}, \
              b: {load: {users: 4, iterations: 5}, steps: [{get: /}]}}",
        );
        assert_eq!((own[0].part_done(15.0), own[0].left_s(15.0)), (Some(0.25), Some(15.0)));
        assert_eq!((own[1].iterations, own[1].left_s(3.0)), (Some(20), None));
        own[1].done = 5;
        assert_eq!((own[1].part_done(3.0), own[1].left_s(3.0)), (Some(0.25), Some(9.0)));
    }
}
