//! Controllers as steps that have others in them, and timers as waits before each request in their scope.

use std::time::Duration;

use squall_plan::expr::Expr;
use squall_plan::model::{Step, StepKind, Tags, Think, Thinking};
use squall_plan::span::Span;

use super::Translator;
use super::group::Gathered;
use super::texts::{Piece, literal};
use crate::elements::Role;
use crate::scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// What is directly below a group or a controller, as steps.
    pub(super) fn steps(&self, around: ElementId, gathered: &mut Gathered) -> Vec<Step> {
        let mut steps = self.iteration_start(around);
        for child in self.tree.enabled_children(around) {
            match (self.role(child), self.class(child)) {
                (Some(Role::Sampler), "HTTPSamplerProxy") => {
                    let held = scope::of_sampler(self.tree, child);
                    steps.extend(self.before_sampler(&held));
                    steps.extend(held.timers.iter().filter_map(|timer| self.timer(*timer)));
                    let request = self.request(child, &held, gathered);
                    steps.push(StepKind::Request(Box::new(request)));
                }
                (Some(Role::Sampler), "DebugSampler") => steps.extend(self.debug_sample(child)),
                (Some(Role::Controller), _) => steps.extend(self.controller(child, gathered)),
                _ => {}
            }
        }
        steps.into_iter().map(|kind| Step { kind, span: Span::default() }).collect()
    }

    /// A controller: what is in it, or one step that has that in it.
    fn controller(&self, id: ElementId, gathered: &mut Gathered) -> Vec<StepKind> {
        let inner = self.steps(id, gathered);
        let kind = match self.class(id) {
            "GenericController" | "RecordingController" => {
                self.read(id).finish();
                return inner.into_iter().map(|step| step.kind).collect();
            }
            "LoopController" => self.repeat(id, inner),
            "TransactionController" => self.transaction(id, inner),
            "OnceOnlyController" => self.once(id, inner),
            // The inventory says that it is not supported; what is in it was looked at.
            _ => None,
        };
        kind.into_iter().collect()
    }

    fn repeat(&self, id: ElementId, steps: Vec<Step>) -> Option<StepKind> {
        let reader = self.read(id);
        let loops = reader.number("LoopController.loops", 0);
        if !reader.flag("LoopController.continue_forever", true) {
            self.obstacle(id, "a loop that is done once for all");
        }
        reader.finish();
        let loops = loops?;
        if loops < 0 {
            self.obstacle(id, "a loop without end");
        }
        let is_something = loops > 0 && !steps.is_empty();
        let times = Expr::number(loops, Span::default());
        is_something.then_some(StepKind::Repeat { times, counter: None, steps })
    }

    fn transaction(&self, id: ElementId, steps: Vec<Step>) -> Option<StepKind> {
        let reader = self.read(id);
        let is_parent = reader.flag("TransactionController.parent", false);
        if is_parent && !scope::assertions_of_transaction(self.tree, id).is_empty() {
            self.obstacle(id, "assertions about a transaction's own sample");
        }
        let with_timers = reader.flag("TransactionController.includeTimers", true);
        if !with_timers && self.waits(id) {
            self.obstacle(id, "a time without that of its timers");
        }
        reader.finish();
        let name = self.name(id);
        (!steps.is_empty()).then_some(StepKind::Group { name, tags: Tags::new(), steps })
    }

    /// Whether a timer holds for a sampler somewhere below an element.
    fn waits(&self, id: ElementId) -> bool {
        self.tree.enabled_children(id).any(|child| match self.role(child) {
            Some(Role::Sampler) => !scope::of_sampler(self.tree, child).timers.is_empty(),
            Some(Role::Controller) => self.waits(child),
            _ => false,
        })
    }

    fn once(&self, id: ElementId, steps: Vec<Step>) -> Option<StepKind> {
        self.read(id).finish();
        let counts = |id: &ElementId| {
            let plain = ["GenericController", "RecordingController", "TransactionController"];
            self.role(*id) == Some(Role::Controller) && !plain.contains(&self.class(*id))
        };
        if self.tree.around(id).any(|around| counts(&around)) {
            self.obstacle(id, "once within a controller that counts by itself");
        }
        (!steps.is_empty()).then_some(StepKind::OncePerUser(steps))
    }

    /// An element's name, which has to be known before the run.
    pub(super) fn name(&self, id: ElementId) -> String {
        let written = &self.tree.element(id).name;
        self.constant(written).unwrap_or_else(|what| {
            self.obstacle(id, format!("{what} in its name"));
            written.clone()
        })
    }

    /// A timer as a wait; nothing if it does not wait, or is not supported.
    pub(super) fn timer(&self, id: ElementId) -> Option<StepKind> {
        let class = self.class(id);
        if !matches!(class, "ConstantTimer" | "UniformRandomTimer") {
            return None;
        }
        let reader = self.read(id);
        let delay = self.pieces(id, reader.source("ConstantTimer.delay"));
        let range = match class {
            "ConstantTimer" => Some(String::new()),
            _ => reader.constant("RandomTimer.range"),
        };
        reader.finish();
        let range = self.milliseconds(id, &range?)?;
        if let [Piece::Expr(delay)] = delay.as_slice()
            && range == 0.0
        {
            let pieces = [Piece::Expr(delay.clone()), Piece::Text("ms".to_owned())];
            return Some(StepKind::Think(Thinking::OfUser(self.template_of(id, &pieces))));
        }
        let Some(delay) = literal(&delay) else {
            self.obstacle(id, "a wait that is known only while the plan runs");
            return None;
        };
        let delay = self.milliseconds(id, delay)?;
        let time = |milliseconds: f64| Duration::from_secs_f64(milliseconds / 1e3);
        let think = match (delay, range) {
            (0.0, 0.0) => return None,
            (delay, 0.0) => Think::Fixed(time(delay)),
            (delay, range) => Think::Uniform(time(delay), time(delay + range)),
        };
        Some(StepKind::Think(Thinking::Known(think)))
    }

    /// A time in milliseconds, from 0 to a year.
    fn milliseconds(&self, id: ElementId, text: &str) -> Option<f64> {
        const YEAR: f64 = 365.0 * 86_400.0 * 1e3;
        let number = if text.trim().is_empty() { Some(0.0) } else { text.trim().parse().ok() };
        let number = number.filter(|number| (0.0..=YEAR).contains(number));
        if number.is_none() {
            self.obstacle(id, format!("`{text}` as a time"));
        }
        number
    }
}
