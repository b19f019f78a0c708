//! Controllers of several branches: one of them in each pass, all in another order, or all at the same time.

use squall_plan::model::{
    Choice, DEFAULT_PARALLEL, Group, GroupSamples, If, Json, MAX_PARALLEL, Parallel, Step,
    StepKind, Tags, ThinkTime,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::controller::PLAIN;
use super::group::Gathered;
use super::texts::{TextPiece, expression, literal};
use super::{Translator, of_one, step};
use crate::elements::Role;
use crate::tree::ElementId;

/// Most samples of a controller that is left after each of them.
const MOST_UNITS: usize = 1_000;
/// The condition of what is done in each pass.
const ALWAYS: &str = "true";

fn both(one: &str, other: &str) -> String {
    if other == ALWAYS { format!("({one})") } else { format!("({one} && {other})") }
}

impl Translator<'_> {
    /// Branches of which one is done in each pass, or all in another order.
    pub(super) fn branches(&self, id: ElementId, gathered: &mut Gathered) -> Vec<Step> {
        let class = self.class(id);
        if class == "SwitchController" {
            let children = self.children(id, gathered);
            return self.switch(id, children, gathered.guards.is_empty());
        }
        let reader = self.read(id);
        let is_random = class == "RandomController";
        let by_block = reader.number("InterleaveControl.style", 0).unwrap_or(0) == 1;
        // Each thread begins with another branch.
        let is_shifted = reader.flag("InterleaveControl.accrossThreads", false);
        reader.finish();
        if is_random && is_shifted {
            self.obstacle(id, "a first branch that its thread's number decides");
        }
        let chooses = class != "RandomOrderController";
        let mut conditions = Vec::new();
        let mut branches: Vec<Vec<Step>> = Vec::new();
        for child in self.tree.enabled_children(id) {
            let is_left = chooses && !by_block && self.has_several(child);
            let units = if is_left { self.units(id, child, gathered) } else { None };
            if is_left && units.is_none() {
                self.obstacle(child, "being left after each sample");
            }
            let steps = match units {
                Some(mut units) if units.len() == 1 => units.pop(),
                Some(units) => Some(vec![step(StepKind::RoundRobin(units))]),
                None => self.child(id, child, gathered),
            };
            let Some(steps) = steps else { continue };
            branches.push(steps);
            match self.runs_if(child) {
                Some(condition) => conditions.push(condition),
                None if chooses => {
                    self.obstacle(child, "being one of several, and perhaps nothing");
                }
                None => {}
            }
        }
        let is_plain = conditions.iter().all(|own| own == ALWAYS);
        if chooses
            && conditions.len() == branches.len()
            && !branches.is_empty()
            && (!is_plain || is_shifted && !is_random)
        {
            let steps = self.one_that_runs(id, (&conditions, is_shifted), branches);
            return self.steps_of(id, steps);
        }
        branches.retain(|steps| !steps.is_empty());
        if branches.is_empty() {
            return Vec::new();
        }
        let kind = match class {
            "RandomController" => StepKind::Choose(
                branches.into_iter().map(|steps| Choice { weight: 1.0, steps }).collect(),
            ),
            "InterleaveControl" => StepKind::RoundRobin(branches),
            _ => StepKind::Shuffle(branches),
        };
        self.steps_of(id, [kind])
    }

    /// One of several branches, of those that do something in this pass: any, or the next in turn.
    fn one_that_runs(
        &self,
        id: ElementId,
        (conditions, is_shifted): (&[String], bool),
        branches: Vec<Vec<Step>>,
    ) -> Vec<StepKind> {
        let (able, place) = (self.held("switch", id, 0), self.held("branch", id, 0));
        let all = |more: &dyn Fn(usize) -> String| {
            let one = |(number, own): (usize, &String)| {
                format!("({own}{} ? [{number}] : [])", more(number))
            };
            conditions.iter().enumerate().map(one).collect::<Vec<_>>().join(" + ")
        };
        let mut steps = vec![self.set(id, &able, &all(&|_| String::new()))];
        if self.class(id) == "RandomController" {
            // Where the first draw is one that does nothing, JMeter draws again, until there is one that does something,
            // or the first again: then nothing is done.
            let first = format!("random(0, {})", conditions.len() - 1);
            steps.push(self.set(id, &place, &first));
            let again = format!("({able} + [-1])[random(0, size({able}))]");
            steps.push(self.set(id, &place, &format!("{place} in {able} ? {place} : {again}")));
        } else {
            // Those from the one in turn on, then those before it.
            let turn = self.held("turn", id, 0);
            if is_shifted {
                let first = format!("{turn} == null ? user % {} : {turn}", branches.len());
                steps.push(self.set(id, &turn, &first));
            }
            let next = all(&|number| format!(" && {turn} != null && {number} >= {turn}"));
            steps.push(self.set(id, &place, &format!("({next}) + {able} + [-1]")));
            steps.push(self.set(id, &place, &format!("{place}[0]")));
            steps.push(self.set(id, &turn, &format!("{place} < 0 ? {turn} : {place} + 1")));
        }
        steps.extend(self.chosen(id, &place, branches));
        steps
    }

    /// When something below a sampler or controller, or itself, is sampled in a pass; `None` if that is not known at its
    /// beginning.
    fn runs_if(&self, id: ElementId) -> Option<String> {
        let properties = &self.tree.element(id).properties;
        match self.class(id) {
            "TestAction" => None,
            _ if self.role(id) == Some(Role::Sampler) => Some(ALWAYS.to_owned()),
            class if PLAIN.contains(&class) => self.something_runs_if(id),
            "TransactionController" | "RandomOrderController" => self.something_runs_if(id),
            "LoopController" if properties.flag("LoopController.continue_forever", true) => {
                let inner = self.something_runs_if(id)?;
                let loops = properties.text("LoopController.loops").unwrap_or_default();
                let loops = self.split(loops).ok()?;
                match literal(&loops).map(|text| text.trim().parse::<i64>()) {
                    Some(Ok(loops)) if loops != 0 => Some(inner),
                    Some(_) => Some("false".to_owned()),
                    None => Some(both(&format!("number({}) != 0", expression(&loops)), &inner)),
                }
            }
            "IfController" if !properties.flag("IfController.evaluateAll", false) => {
                let condition = properties.text("IfController.condition").unwrap_or_default();
                let is_expression = properties.flag("IfController.useExpression", false);
                let condition = self.holds(condition, is_expression).ok()?;
                Some(both(&condition, &self.something_runs_if(id)?))
            }
            _ => None,
        }
    }

    /// A controller that is left after each sample as what is done each time that it is come back to, which begins anew
    /// behind its end; `None` where that depends on more than how often it was.
    fn units(
        &self,
        around: ElementId,
        id: ElementId,
        gathered: &mut Gathered,
    ) -> Option<Vec<Vec<Step>>> {
        let properties = &self.tree.element(id).properties;
        match self.class(id) {
            _ if self.role(id) == Some(Role::Sampler) => {}
            class if PLAIN.contains(&class) => return self.units_below(id, gathered),
            "LoopController" if properties.flag("LoopController.continue_forever", true) => {
                let reader = self.read(id);
                reader.pass(&["LoopController.loops", "LoopController.continue_forever"]);
                reader.finish();
                if self.counts_passes(id) || self.index(id).is_some() {
                    return None;
                }
                let mut units = self.units_below(id, gathered)?;
                if self.chooses(around) {
                    // Each pass of what is around it begins it anew.
                    units.truncate(1);
                    return Some(units);
                }
                let loops = self.split(properties.text("LoopController.loops")?).ok()?;
                let loops = literal(&loops)?.trim().parse::<usize>().ok()?;
                let count = units.len().checked_mul(loops).filter(|count| *count <= MOST_UNITS)?;
                return Some(units.into_iter().cycle().take(count).collect());
            }
            // One sample each time.
            _ if self.chooses(id)
                && properties.text("InterleaveControl.style").unwrap_or("0") == "0" => {}
            _ => return None,
        }
        Some(vec![self.child(around, id, gathered)?])
    }

    /// What is below a controller, likewise.
    fn units_below(&self, id: ElementId, gathered: &mut Gathered) -> Option<Vec<Vec<Step>>> {
        let mut units = Vec::new();
        for child in self.tree.enabled_children(id) {
            let is_fragment = self.class(id) == "ModuleController";
            if !matches!(self.role(child), Some(Role::Sampler | Role::Controller)) && !is_fragment {
                continue;
            }
            let runs_if = match self.class(child) {
                _ if self.chooses(child) => self.something_runs_if(child),
                _ => self.runs_if(child),
            };
            runs_if.filter(|condition| condition == ALWAYS)?;
            units.extend(self.units(id, child, gathered)?);
        }
        let start = self.steps_of(id, self.iteration_start(id));
        if let Some(first) = units.first_mut() {
            first.splice(0..0, start);
        }
        Some(units)
    }

    /// Whether a controller does one of its branches in each pass.
    fn chooses(&self, id: ElementId) -> bool {
        matches!(self.class(id), "RandomController" | "InterleaveControl")
    }

    /// Whether there may be more between a controller's beginning and its end than one sample.
    fn has_several(&self, id: ElementId) -> bool {
        let is_one = |id: ElementId| match self.class(id) {
            "LoopController" => false,
            "TransactionController" => {
                !self.tree.element(id).properties.flag("TransactionController.parent", false)
            }
            _ => true,
        };
        let below = self.tree.enabled_children(id).any(|child| self.has_several(child));
        self.samplers(id) > 1 || !is_one(id) || below
    }

    /// When something below a controller is sampled.
    fn something_runs_if(&self, id: ElementId) -> Option<String> {
        let below = self.tree.enabled_children(id);
        let is_one =
            |id: &ElementId| matches!(self.role(*id), Some(Role::Sampler | Role::Controller));
        let all: Vec<Option<String>> =
            below.filter(is_one).map(|child| self.runs_if(child)).collect();
        if all.iter().flatten().any(|own| own == ALWAYS) {
            return Some(ALWAYS.to_owned());
        }
        let all: Vec<String> = all.into_iter().collect::<Option<_>>()?;
        Some(if all.is_empty() { "false".to_owned() } else { format!("({})", all.join(" || ")) })
    }

    /// Samplers below an element, itself included.
    fn samplers(&self, id: ElementId) -> usize {
        let below = self.tree.enabled_children(id).map(|child| self.samplers(child));
        below.sum::<usize>() + usize::from(self.role(id) == Some(Role::Sampler))
    }

    /// The child that a text says: by its number, or by its name. `may_set`: whether the text may set something.
    fn switch(
        &self,
        id: ElementId,
        children: Vec<(ElementId, Vec<Step>)>,
        may_set: bool,
    ) -> Vec<Step> {
        let reader = self.read(id);
        let value = || self.pieces(id, reader.source("SwitchController.value"));
        let (value, mut steps) =
            if may_set { self.with_settings(value) } else { (value(), Vec::new()) };
        reader.pass(&["SwitchController.continue"]);
        reader.finish();
        let names: Vec<String> =
            children.iter().map(|(child, _)| self.known_name(*child)).collect();
        let mut children: Vec<Vec<Step>> = children.into_iter().map(|(_, steps)| steps).collect();
        let default = names.iter().position(|name| name.eq_ignore_ascii_case("default"));
        if let Some(text) = literal(&value) {
            let chosen = match text.parse::<usize>() {
                Ok(number) => Some(if number < names.len() { number } else { 0 }),
                // One with a sign is a name.
                Err(_) if text.is_empty() => Some(0),
                Err(_) => names.iter().position(|name| name == text).or(default),
            };
            let chosen = chosen.filter(|chosen| *chosen < children.len());
            let chosen = chosen.map(|chosen| children.swap_remove(chosen)).unwrap_or_default();
            return self.steps_of(id, steps).into_iter().chain(chosen).collect();
        }
        let hidden = |purpose| self.names.hidden_of(purpose, id, 0);
        let (text, place) = (hidden("switch"), hidden("branch"));
        let mut places: Vec<(Template, Json)> = Vec::new();
        for (number, name) in names.into_iter().enumerate() {
            // The first of a name is the one.
            let name = self.template_of(id, &[TextPiece::Text(name)]);
            if !places.iter().any(|(other, _)| *other == name) {
                places.push((name, Json::Int(number as i64)));
            }
        }
        let default = default.map_or("-1".to_owned(), |default| default.to_string());
        let of_number = format!("(int({text}) < {} ? int({text}) : 0)", children.len());
        let of_name = format!("({text} in {place} ? {place}[{text}] : {default})");
        let choice = format!(
            "{text}.matches(\"^[0-9]{{1,9}}$\") ? {of_number} : {text} == \"\" ? 0 : {of_name}"
        );
        steps.push(self.set(id, &text, &expression(&value)));
        let name = Spanned::new(place.clone(), Span::default());
        steps.push(StepKind::Set(vec![(name, Json::Map(places))]));
        steps.push(self.set(id, &place, &choice));
        steps.extend(self.chosen(id, &place, children));
        self.steps_of(id, steps)
    }

    /// The branch whose number a variable holds. One after the other is asked for, so that there may be more of them than
    /// steps may be nested.
    fn chosen(&self, id: ElementId, place: &str, branches: Vec<Vec<Step>>) -> Vec<StepKind> {
        let branches = branches.into_iter().enumerate().filter(|(_, steps)| !steps.is_empty());
        let asked = branches.filter_map(|(number, then)| {
            let condition = self.expression(id, &format!("{place} == {number}"))?;
            Some(StepKind::If(Box::new(If { condition, then, otherwise: Vec::new() })))
        });
        asked.collect()
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
        let parallel = StepKind::Parallel(Box::new(Parallel { limit, steps }));
        if !is_parent {
            return vec![parallel];
        }
        let (name, tags) = (self.name(id), Tags::new());
        let think_time = ThinkTime::Included;
        let samples = GroupSamples::Apart;
        vec![StepKind::Group(Box::new(Group {
            name,
            tags,
            think_time,
            samples,
            steps: vec![step(parallel)],
        }))]
    }
}
