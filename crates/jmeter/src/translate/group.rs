//! Thread groups as scenarios: who starts when, how often, and what an error does.

use std::time::Duration;

use squall_plan::model::{
    Closed, ConnectionReuse, Connections, Load, OnError, Plan, Scenario, Session, StepKind,
    StopScope,
};
use squall_plan::span::{Span, Spanned};

use super::reader::Reader;
use super::{Translator, milliseconds, names, step};
use crate::elements::Role;
use crate::tree::ElementId;

/// What is gathered while the steps of a group are translated.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The cookie managers that hold for one of its requests.
    pub cookie_managers: Vec<ElementId>,
    /// Conditions that are looked at before each sampler, the outer first.
    pub guards: Vec<String>,
    /// The cache managers that hold for one of them.
    pub cache_managers: Vec<ElementId>,
}

impl Translator<'_> {
    /// All thread groups as scenarios. Those of a set-up come before all others, those of a tear-down after them; within
    /// each of the three, one after the other if the plan says so. Each of the three is numbered from 1, with the groups
    /// that have nothing to do.
    pub(super) fn groups(&self, groups: &[ElementId], plan: &mut Plan) {
        let in_turn = self.are_in_turn();
        let mut phases: [Vec<String>; 3] = Default::default();
        let mut numbers = [0; 3];
        for group in groups {
            let phase = match self.class(*group) {
                "SetupThreadGroup" => 0,
                "PostThreadGroup" => 2,
                _ => 1,
            };
            let Some(mut scenario) = self.group(*group, &plan.scenarios, &mut plan.connections)
            else {
                continue;
            };
            numbers[phase] += 1;
            scenario.number = Some(numbers[phase]);
            if !scenario.steps.is_empty() {
                let name = &scenario.name.value;
                phases[phase].push(name.clone());
                self.sample_files(*group, Some(name), &mut plan.samples);
                self.feeds(*group, Some(name), &mut plan.feeds);
            }
            plan.scenarios.push(scenario);
        }
        plan.scenarios.retain(|scenario| !scenario.steps.is_empty());
        // That of their place in the plan is theirs without being said.
        for (scenario, place) in plan.scenarios.iter_mut().zip(1..) {
            scenario.number.take_if(|number| *number == place);
        }
        for phase in 0..phases.len() {
            for (index, name) in phases[phase].iter().enumerate() {
                let before = match index.checked_sub(1).filter(|_| in_turn) {
                    Some(previous) => std::slice::from_ref(&phases[phase][previous]),
                    None => phases[..phase]
                        .iter()
                        .rev()
                        .find(|before| !before.is_empty())
                        .map_or(&[] as &[String], Vec::as_slice),
                };
                let scenario = plan.scenarios.iter_mut().find(|own| own.name.value == *name);
                if let Some(own) = scenario {
                    let named = |name: &String| Spanned::new(name.clone(), own.span);
                    own.after = before.iter().map(named).collect();
                }
            }
        }
    }

    /// Whether groups come one after the other.
    fn are_in_turn(&self) -> bool {
        let flag = "TestPlan.serialize_threadgroups";
        let active = self.tree.roots.iter().map(|root| self.tree.element(*root));
        active.filter(|root| root.enabled).any(|root| root.properties.flag(flag, false))
    }

    /// How many threads the group around an element has, where that is known before the run.
    pub(super) fn threads_of(&self, id: ElementId) -> Option<u64> {
        let group = self.tree.around(id).find(|id| self.role(*id) == Some(Role::ThreadGroup))?;
        let text = self.tree.element(group).properties.text("ThreadGroup.num_threads")?;
        self.constant(text).ok()?.trim().parse().ok()
    }

    /// A thread group; `before` are the scenarios of those before it. `None` if it is not supported.
    fn group(
        &self,
        id: ElementId,
        before: &[Scenario],
        connections: &mut Connections,
    ) -> Option<Scenario> {
        let reader = self.read(id);
        let mut start_after = Duration::ZERO;
        let load = match self.class(id) {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
                let (load, after) = self.load(id, &reader);
                start_after = after;
                Load::Closed(load)
            }
            "kg.apc.jmeter.threads.UltimateThreadGroup" => Load::Closed(self.ultimate(id, &reader)),
            "kg.apc.jmeter.threads.SteppingThreadGroup" => Load::Closed(self.stepping(id, &reader)),
            "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" => {
                Load::Closed(self.concurrency(id, &reader))
            }
            "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup" => {
                Load::Open(self.arrivals(id, &reader))
            }
            "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup" => {
                Load::Open(self.free_form(id, &reader))
            }
            "OpenModelThreadGroup" => Load::Open(self.open_model(id, &reader)),
            _ => return None,
        };
        // Each of its threads goes through its steps once.
        let is_new_each_time = self.class(id) == "OpenModelThreadGroup";
        // JMeter itself does not look at these times any more; threads that are made late are the same threads.
        reader.pass(&[
            "ThreadGroup.start_time",
            "ThreadGroup.end_time",
            "ThreadGroup.delayedStart",
        ]);
        let same_user =
            reader.flag("ThreadGroup.same_user_on_next_iteration", true) && !is_new_each_time;
        let on_error = self.on_error(id, &reader);
        reader.finish();
        if before.is_empty() && !same_user {
            connections.reuse = ConnectionReuse::PerIteration;
        }
        let plans = connections.reuse == ConnectionReuse::PerIteration;
        let mut gathered = Gathered::default();
        let mut steps = self.steps(id, &mut gathered);
        let start = self.stores(&gathered, &mut steps, same_user);
        steps.splice(0..0, start);
        let span = self.place(id);
        let mut steps = self.counted_iteration(id, steps);
        steps.iter_mut().for_each(|step| step.span = step.span.or(span));
        let nobody = match &load {
            Load::Closed(load) => load.users == Some(0) && load.stages.is_empty(),
            Load::Open(_) => false,
        };
        let title = &self.tree.element(id).name;
        let name = unique(title, before);
        Some(Scenario {
            title: (name != *title && !title.is_empty()).then(|| title.clone()),
            name: Spanned::new(name, span),
            span,
            steps: if nobody { Vec::new() } else { steps },
            load: Some(Spanned::new(load, span)),
            start_after,
            fresh_connections: (plans == same_user).then_some(!same_user),
            on_error,
            // JMeter's threads keep their variables; what becomes of cookies their manager says.
            session: Some(if is_new_each_time { Session::PerIteration } else { Session::PerUser }),
            ..Scenario::default()
        })
    }

    /// How many, how often and how long; and when it starts.
    fn load(&self, id: ElementId, reader: &Reader<'_>) -> (Closed, Duration) {
        let natural = |name, without| self.as_main_thread(|| self.natural(reader, name, without));
        let seconds = |name| milliseconds(natural(name, 0).saturating_mul(1_000));
        let mut load = Closed {
            users: Some(natural("ThreadGroup.num_threads", 0)),
            ramp: seconds("ThreadGroup.ramp_time"),
            iterations: self.loops(id, reader),
            ..Closed::default()
        };
        let (duration, delay) = (seconds("ThreadGroup.duration"), seconds("ThreadGroup.delay"));
        let mut start_after = Duration::ZERO;
        if reader.flag("ThreadGroup.scheduler", false) {
            // With a duration of 0 JMeter does not start it.
            if duration.is_zero() {
                load.users = Some(0);
            }
            load.duration = Some(duration);
            start_after = delay;
        }
        load.endless = load.duration.is_none() && load.iterations.is_none();
        if load.iterations == Some(0) {
            load.users = Some(0);
        }
        (load, start_after)
    }

    /// A whole number of a group, from 0. What is no number is 0.
    pub(super) fn natural(&self, reader: &Reader<'_>, name: &str, without: i64) -> u64 {
        let number = reader.number_or_0(name, without).unwrap_or_default();
        u64::try_from(number).unwrap_or_else(|_| {
            self.obstacle(reader.element, format!("{number} as {name}"));
            0
        })
    }

    /// How often each thread of a group loops; `None`: without end.
    pub(super) fn loops(&self, id: ElementId, reader: &Reader<'_>) -> Option<u64> {
        let Some(control) = reader.inner("ThreadGroup.main_controller") else {
            self.obstacle(id, "a group without its loop");
            return None;
        };
        let loops = control.number_or_0("LoopController.loops", 0).unwrap_or_default();
        let is_endless = control.flag("LoopController.continue_forever", true);
        control.finish();
        u64::try_from(loops).ok().filter(|_| !is_endless)
    }

    fn on_error(&self, id: ElementId, reader: &Reader<'_>) -> Option<OnError> {
        let text = reader.constant("ThreadGroup.on_sample_error")?;
        Some(match text.as_str() {
            "" | "continue" => OnError::Continue,
            "startnextloop" => OnError::NextIteration,
            "stopthread" => OnError::StopUser,
            "stoptest" => OnError::StopRun,
            "stoptestnow" => OnError::AbortRun,
            other => {
                self.obstacle(id, format!("`{other}` as what an error does"));
                OnError::Continue
            }
        })
    }
}

/// A scenario that ends at once: of a plan without threads or samplers JMeter makes an empty result.
pub(super) fn of_nothing() -> Scenario {
    let load = Closed { users: Some(1), iterations: Some(1), ..Closed::default() };
    Scenario {
        name: Spanned::new("nothing".to_owned(), Span::default()),
        steps: vec![step(StepKind::Stop(StopScope::User))],
        load: Some(Spanned::new(Load::Closed(load), Span::default())),
        ..Scenario::default()
    }
}

/// A scenario's name that no other has.
fn unique(name: &str, before: &[Scenario]) -> String {
    let name = if name.is_empty() { "Thread Group" } else { name };
    names::numbered(name, |name| before.iter().any(|other| other.name.value == name))
}
