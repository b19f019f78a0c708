//! Controllers of several branches: one of them in each pass, all in another order, or all at the same time.

use squall_plan::model::{Choice, DEFAULT_PARALLEL, MAX_PARALLEL, Step, StepKind, Tags, ThinkTime};

use super::controller::PLAIN;
use super::group::Gathered;
use super::{Translator, of_one, step};
use crate::elements::Role;
use crate::tree::ElementId;

impl Translator<'_> {
    /// Branches of which one is done in each pass, or all in another order.
    pub(super) fn branches(&self, id: ElementId, gathered: &mut Gathered) -> Vec<StepKind> {
        let children = self.children(id, gathered);
        let class = self.class(id);
        if class == "SwitchController" {
            return self.switch(id, children);
        }
        let reader = self.read(id);
        let by_block = reader.number("InterleaveControl.style", 0).unwrap_or(0) == 1;
        reader.refuse("InterleaveControl.accrossThreads", "turns that threads take together");
        reader.finish();
        let mut branches = Vec::new();
        for (child, steps) in children {
            if class != "RandomOrderController" {
                if !self.always_runs(child) {
                    self.obstacle(child, "being one of several, and perhaps nothing");
                }
                if !by_block && self.samplers(child) > 1 {
                    self.obstacle(child, "being left after each sample");
                }
            }
            if !steps.is_empty() {
                branches.push(steps);
            }
        }
        if branches.is_empty() {
            return Vec::new();
        }
        vec![match class {
            "RandomController" => StepKind::Choose(
                branches.into_iter().map(|steps| Choice { weight: 1.0, steps }).collect(),
            ),
            "InterleaveControl" => StepKind::RoundRobin(branches),
            _ => StepKind::Shuffle(branches),
        }]
    }

    /// Whether something below a sampler or controller, or itself, is sampled in each pass.
    fn always_runs(&self, id: ElementId) -> bool {
        let below = || self.tree.enabled_children(id);
        match self.class(id) {
            _ if self.role(id) == Some(Role::Sampler) => self.class(id) != "TestAction",
            class if PLAIN.contains(&class) || class == "TransactionController" => {
                below().any(|child| self.always_runs(child))
            }
            "RandomOrderController" => below().any(|child| self.always_runs(child)),
            "LoopController" => {
                let loops = self.tree.element(id).properties.text("LoopController.loops");
                let loops = loops.unwrap_or_default();
                let known = self.constant(loops).ok().and_then(|loops| loops.trim().parse().ok());
                known.map_or_else(|| self.is_drawn_above_0(loops), |loops: i64| loops > 0)
                    && below().any(|child| self.always_runs(child))
            }
            _ => false,
        }
    }

    /// Whether a text is a variable that random variables draw from numbers above 0, and that nothing else names.
    fn is_drawn_above_0(&self, text: &str) -> bool {
        let name = text.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let Some(name) = name else { return false };
        let active = self.tree.iter().filter(|(id, _)| self.tree.takes_part(*id));
        let names = active.filter(|(_, element)| {
            let mut properties = element.properties.iter();
            properties.any(|own| own.value.says(name))
        });
        let mut lows = names.map(|(_, element)| {
            let low = element.properties.text("minimumValue").filter(|_| {
                element.class == "RandomVariableConfig"
                    && element.properties.text("variableName") == Some(name)
            });
            self.constant(low?).ok()?.trim().parse::<i64>().ok()
        });
        let mut is_there = false;
        let all = lows.all(|low| {
            is_there = true;
            low.is_some_and(|low| low > 0)
        });
        is_there && all
    }

    /// Samplers below an element, itself included.
    fn samplers(&self, id: ElementId) -> usize {
        let below = self.tree.enabled_children(id).map(|child| self.samplers(child));
        below.sum::<usize>() + usize::from(self.role(id) == Some(Role::Sampler))
    }

    /// The child that a text says: by its number, or by its name.
    fn switch(&self, id: ElementId, children: Vec<(ElementId, Vec<Step>)>) -> Vec<StepKind> {
        let reader = self.read(id);
        let value = self.pieces(id, reader.source("SwitchController.value"));
        reader.pass(&["SwitchController.continue"]);
        reader.finish();
        let names: Vec<String> = children.iter().map(|(child, _)| self.name(*child)).collect();
        let mut children: Vec<Vec<Step>> = children.into_iter().map(|(_, steps)| steps).collect();
        let default = names.iter().position(|name| name.eq_ignore_ascii_case("default"));
        if let Some(text) = super::texts::literal(&value) {
            let chosen = match text.parse::<usize>() {
                Ok(number) => Some(if number < names.len() { number } else { 0 }),
                // One with a sign is a name.
                Err(_) if text.is_empty() => Some(0),
                Err(_) => names.iter().position(|name| name == text).or(default),
            };
            let chosen = chosen.filter(|chosen| *chosen < children.len());
            let steps = chosen.map(|chosen| children.swap_remove(chosen)).unwrap_or_default();
            return steps.into_iter().map(|step| step.kind).collect();
        }
        let (text, place) = (format!("switch_{}", id.number()), format!("branch_{}", id.number()));
        let mut choice = default.map_or("-1".to_owned(), |default| default.to_string());
        for (number, name) in names.iter().enumerate().rev() {
            choice = format!("{text} == {} ? {number} : {choice}", super::texts::quoted(name));
        }
        let of_number = format!("(int({text}) in [{}] ? int({text}) : 0)", numbers(names.len()));
        let choice = format!(
            "{text}.matches(\"^[0-9]{{1,9}}$\") ? {of_number} : {text} == \"\" ? 0 : {choice}"
        );
        let mut steps = vec![
            self.set(id, &text, &super::texts::expression(&value)),
            self.set(id, &place, &choice),
        ];
        let mut rest: Vec<Step> = Vec::new();
        for (number, then) in children.into_iter().enumerate().rev().filter(|(_, s)| !s.is_empty())
        {
            let Some(condition) = self.expression(id, &format!("{place} == {number}")) else {
                continue;
            };
            rest = vec![step(StepKind::If { condition, then, otherwise: rest })];
        }
        steps.extend(rest.into_iter().map(|step| step.kind));
        steps
    }

    /// What is directly below it, all at the same time.
    pub(super) fn parallel(&self, id: ElementId, gathered: &mut Gathered) -> Vec<StepKind> {
        let children = self.children(id, gathered);
        let reader = self.read(id);
        let is_limited = reader.flag("LIMIT_MAX_THREAD_NUMBER", false);
        let most = reader.number("MAX_THREAD_NUMBER", i64::from(DEFAULT_PARALLEL)).unwrap_or(1);
        let is_parent = reader.flag("PARENT_SAMPLE", false);
        reader.finish();
        let steps: Vec<Step> =
            children.into_iter().filter_map(|(_, steps)| of_one(steps)).collect();
        if steps.is_empty() {
            return Vec::new();
        }
        let limit = match is_limited {
            true => u32::try_from(most).unwrap_or(1).clamp(1, MAX_PARALLEL),
            false => (steps.len() as u32).min(MAX_PARALLEL),
        };
        let parallel = StepKind::Parallel { limit, steps };
        if !is_parent {
            return vec![parallel];
        }
        let (name, tags) = (self.name(id), Tags::new());
        let think_time = ThinkTime::Included;
        vec![StepKind::Group { name, tags, think_time, steps: vec![step(parallel)] }]
    }
}

fn numbers(count: usize) -> String {
    (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}
