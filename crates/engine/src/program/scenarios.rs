//! The scenarios of a plan and their loads, or the steps of its setup and teardown: which defaults, tags and
//! variables hold where, and who shares a load.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use squall_metrics::RowKind;
use squall_plan::model::{
    self, Bandwidth, ConnectionReuse, Defaults, Load, OnError, Session, Step,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::Scenario;
use super::compiler::{Compiler, Section, following};
use super::flow::Lowering;
use super::op::Op;
use crate::profile::{LoadProfile, Member, Shape, nanos};

impl<'p> Compiler<'p> {
    /// Setup or teardown: one user, one iteration. Setup ends with the first error, as what comes after it
    /// would not mean what the plan says; teardown goes on, as the other things are to be cleaned up too.
    pub(super) fn once(
        &mut self,
        name: &str,
        steps: &'p [Step],
        on_error: OnError,
    ) -> (Vec<Scenario>, Vec<LoadProfile>) {
        let scenario = self.scenario(name, &[], steps, on_error, None);
        (vec![scenario], vec![LoadProfile::once(0)])
    }

    pub(super) fn scenarios(
        &mut self,
        defaults: &'p [Cow<'p, Defaults>],
    ) -> (Vec<Scenario>, Vec<LoadProfile>) {
        let plan = self.plan;
        let mut scenarios = Vec::new();
        let mut loads = Vec::new();
        let mut shared = Vec::new();
        for (index, (scenario, defaults)) in plan.scenarios.iter().zip(defaults).enumerate() {
            self.defaults = defaults;
            self.following = Rc::new(following(&defaults.http.redirect_headers));
            let on_error = scenario.on_error.unwrap_or(plan.on_error);
            let bandwidth = Some(scenario.bandwidth.unwrap_or(plan.bandwidth));
            let (name, steps) = (&scenario.name.value, &scenario.steps);
            let replaced = self.enter(&scenario.vars);
            scenarios.push(self.scenario(name, &scenario.tags, steps, on_error, bandwidth));
            self.leave(replaced);
            if let Some(title) = &scenario.title {
                scenarios[index].title.clone_from(title);
            }
            scenarios[index].fresh_connections = self.has_fresh_connections(scenario);
            if self.options.section == Section::Trial {
                loads.push(LoadProfile::once(index));
                continue;
            }
            match (&scenario.load, &scenario.weight) {
                (Some(load), _) => {
                    let members = vec![Member { scenario: index, weight: 1.0 }];
                    self.load(&load.value, load.span, members, scenario.start_after, &mut loads);
                }
                (None, Some(weight)) => {
                    shared.push(Member { scenario: index, weight: weight.value })
                }
                // Validation has seen to it that a scenario has one or the other.
                (None, None) => {}
            }
        }
        if let Some(load) = &plan.load
            && !shared.is_empty()
        {
            self.load(&load.value, load.span, shared, Duration::ZERO, &mut loads);
        }
        self.after(&mut loads);
        for load in &loads {
            // An arrival is somebody who was not there before; a user is the same all the time.
            let default = match load.shape {
                Shape::Open(_) => Session::PerIteration,
                Shape::Closed(_) => Session::PerUser,
            };
            for member in &load.members {
                let session = plan.scenarios[member.scenario].session.or(plan.session);
                let is_fresh = session.unwrap_or(default) == Session::PerIteration;
                scenarios[member.scenario].fresh_sessions = is_fresh;
            }
        }
        (scenarios, loads)
    }

    /// The defaults of each scenario, the plan's included.
    pub(super) fn merged_defaults(&mut self) -> Vec<Cow<'p, Defaults>> {
        let plan = self.plan;
        let merged = plan.scenarios.iter().map(|scenario| {
            let is_plain = scenario.defaults == Defaults::default();
            match is_plain || self.inherit_defaults(&plan.defaults).is_none() {
                true => Cow::Borrowed(&plan.defaults),
                false => Cow::Owned(scenario.defaults.over(&plan.defaults)),
            }
        });
        merged.collect()
    }

    /// Whether the connections of a scenario's users end with each iteration.
    fn has_fresh_connections(&mut self, scenario: &model::Scenario) -> bool {
        let reuse = self.plan.connections.reuse;
        if let (Some(_), ConnectionReuse::Pool(_)) = (scenario.fresh_connections, reuse) {
            let message = "`fresh_connections` has no meaning where connections come from a pool";
            self.error(scenario.span, message.to_owned(), "leave it out");
        }
        scenario.fresh_connections.unwrap_or(ends_with_iteration(reuse))
    }

    /// Which loads each load waits for.
    fn after(&mut self, loads: &mut [LoadProfile]) {
        let plan = self.plan;
        // The load of its own that each scenario has, if any.
        let mut own_loads: HashMap<&str, Option<usize>> = HashMap::new();
        own_loads.extend(plan.scenarios.iter().map(|own| (own.name.value.as_str(), None)));
        for (number, load) in loads.iter().enumerate() {
            if let [only] = &*load.members {
                own_loads.insert(&plan.scenarios[only.scenario].name.value, Some(number));
            }
        }
        for scenario in plan.scenarios.iter().filter(|scenario| !scenario.after.is_empty()) {
            let Some(Some(own)) = own_loads.get(scenario.name.value.as_str()).copied() else {
                let message = "`after` needs a `load` of the scenario's own".to_owned();
                self.error(scenario.after[0].span, message, "");
                continue;
            };
            for name in &scenario.after {
                match own_loads.get(name.value.as_str()) {
                    Some(Some(other)) => loads[own].after.push(*other as u16),
                    Some(None) => {
                        let message =
                            format!("`{}` has no load of its own to wait for", name.value);
                        self.error(name.span, message, "");
                    }
                    None => {
                        let message = format!("there is no scenario `{}`", name.value);
                        self.error(name.span, message, "");
                    }
                }
            }
        }
        for load in loads.iter_mut() {
            load.whole_iterations = plan.whole_iterations;
            if let [only] = &*load.members {
                load.graceful = plan.scenarios[only.scenario].graceful_stop.map(nanos);
            }
        }
        if let Some(stuck) = first_stuck(loads) {
            let scenario = &plan.scenarios[loads[stuck].members[0].scenario];
            let message = format!("`{}` would wait for itself to end", scenario.name.value);
            self.error(scenario.span, message, "look at `after`");
        }
    }

    fn load(
        &mut self,
        load: &Load,
        span: Span,
        members: Vec<Member>,
        start_after: Duration,
        loads: &mut Vec<LoadProfile>,
    ) {
        match LoadProfile::new(load, members, start_after) {
            Ok(load) => loads.push(load),
            Err(message) => self.error(span, message, ""),
        }
    }

    fn scenario(
        &mut self,
        name: &str,
        tags: &'p [(Spanned<String>, Template)],
        steps: &'p [Step],
        on_error: OnError,
        bandwidth: Option<Bandwidth>,
    ) -> Scenario {
        self.used_feeds.clear();
        name.clone_into(&mut self.scenario);
        self.tags.clear();
        let defaults = self.defaults;
        self.put_on(&defaults.tags);
        self.put_on(tags);
        let iteration = self.name(RowKind::Iteration, "iteration");
        let mut flow = Lowering::new(self);
        flow.steps(steps);
        let registers = usize::from(flow.registers());
        let ops = flow.ops;
        let script = ops.iter().position(|op| matches!(op, Op::Script(_)));
        let feeds = std::mem::take(&mut self.used_feeds);
        let bandwidth = bandwidth.filter(|bandwidth| *bandwidth != Bandwidth::default());
        Scenario {
            name: name.to_owned(),
            title: name.to_owned(),
            iteration,
            ops,
            registers,
            feeds,
            on_error,
            fresh_sessions: false,
            script: script.and_then(|at| at.try_into().ok()),
            fresh_connections: ends_with_iteration(self.plan.connections.reuse),
            bandwidth,
        }
    }
}

/// The first of the loads that wait for themselves: those that are left when all have gone whose turn comes (Kahn, 1962).
fn first_stuck(loads: &[LoadProfile]) -> Option<usize> {
    let mut waiting: Vec<usize> = loads.iter().map(|load| load.after.len()).collect();
    let mut followers = vec![Vec::new(); loads.len()];
    for (number, load) in loads.iter().enumerate() {
        load.after.iter().for_each(|other| followers[usize::from(*other)].push(number));
    }
    let mut free: Vec<usize> = (0..loads.len()).filter(|load| waiting[*load] == 0).collect();
    while let Some(done) = free.pop() {
        for follower in &followers[done] {
            waiting[*follower] -= 1;
            if waiting[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    waiting.iter().position(|waiting| *waiting > 0)
}

/// Whether users keep no connection over the end of an iteration.
fn ends_with_iteration(reuse: ConnectionReuse) -> bool {
    matches!(reuse, ConnectionReuse::PerIteration | ConnectionReuse::PerRequest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads that wait for those of these numbers.
    fn loads(after: impl Iterator<Item = Vec<u16>>) -> Vec<LoadProfile> {
        let load = |after| {
            let mut load = LoadProfile::once(0);
            load.after = after;
            load
        };
        after.map(load).collect()
    }

    #[test]
    fn loads_that_wait_for_themselves_are_found() {
        let chain = |n: u16| if n == 0 { vec![] } else { vec![n - 1] };
        let backwards = |n: u16| if n == 39_999 { vec![] } else { vec![n + 1] };
        assert_eq!(first_stuck(&loads((0..40_000).map(chain))), None);
        assert_eq!(first_stuck(&loads((0..40_000).map(backwards))), None);
        let circle = |n: u16| vec![if n == 0 { 39_999 } else { n - 1 }];
        assert_eq!(first_stuck(&loads((0..40_000).map(circle))), Some(0));
        let some = [vec![], vec![0, 0], vec![2], vec![1, 2]];
        assert_eq!(first_stuck(&loads(some.into_iter())), Some(2));
        assert_eq!(first_stuck(&[]), None);
    }
}
