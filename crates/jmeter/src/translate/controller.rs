//! Controllers as steps that have others in them, and samplers with what goes before and after each.

use squall_plan::expr::Expr;
use squall_plan::model::{
    CountedBy, CriticalSection, ForEach, If, Passes, Repeat, Step, StepKind, While,
};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::Translator;
use super::group::Gathered;
use super::step;
use crate::elements::Role;
use crate::scope::Scope;
use crate::tree::ElementId;

/// Controllers that do nothing but to hold others.
pub(super) const PLAIN: [&str; 5] = [
    "GenericController",
    "RecordingController",
    "TestFragmentController",
    "ModuleController",
    "IncludeController",
];

impl Translator<'_> {
    /// What is directly below a group or a controller, as steps.
    pub(super) fn steps(&self, around: ElementId, gathered: &mut Gathered) -> Vec<Step> {
        let mut steps = self.steps_of(around, self.iteration_start(around));
        steps.extend(self.children(around, gathered).into_iter().flat_map(|(_, steps)| steps));
        steps
    }

    /// The samplers and controllers directly below an element, each with its steps.
    pub(super) fn children(
        &self,
        around: ElementId,
        gathered: &mut Gathered,
    ) -> Vec<(ElementId, Vec<Step>)> {
        let of_child = |child| Some((child, self.child(around, child, gathered)?));
        self.tree.enabled_children(around).filter_map(of_child).collect()
    }

    /// An element directly below another as steps, if it is a sampler or a controller.
    pub(super) fn child(
        &self,
        around: ElementId,
        child: ElementId,
        gathered: &mut Gathered,
    ) -> Option<Vec<Step>> {
        match self.role(child) {
            Some(Role::Sampler) => Some(self.steps_of(child, self.sampler(child, gathered))),
            Some(Role::Controller) => Some(self.controller(child, gathered)),
            // A fragment does nothing where it stands, but in the place of a module.
            _ if self.class(child) == "TestFragmentController"
                && self.class(around) == "ModuleController" =>
            {
                Some(self.controller(child, gathered))
            }
            _ => None,
        }
    }

    /// A sampler with the waits before it; only if all conditions hold that are looked at before each.
    fn sampler(&self, id: ElementId, gathered: &mut Gathered) -> Vec<StepKind> {
        let held = self.scopes.of_sampler(id);
        let (kinds, settings) = self.with_settings(|| self.of_sampler(id, &held, gathered));
        let Some(kinds) = kinds else { return Vec::new() };
        let (of_variables, mut steps) = self.with_settings(|| self.before_sampler(&held));
        steps.extend(of_variables);
        steps.extend(self.waits_before(&held.timers));
        steps.extend(settings);
        steps.extend(kinds);
        match gathered.guards.join(" && ") {
            guards if guards.is_empty() => steps,
            guards => self.only_if(id, &guards, steps.into_iter().map(step).collect()),
        }
    }

    /// What a sampler does itself, and what follows from its sample; `None` if it is not supported.
    fn of_sampler(
        &self,
        id: ElementId,
        held: &Scope,
        gathered: &mut Gathered,
    ) -> Option<Vec<StepKind>> {
        self.sampler.set(Some(id));
        Some(match self.class(id) {
            "HTTPSamplerProxy" | "GraphQL HTTP Request" => {
                let (request, after) = self.request(id, held, gathered);
                let mut kinds: Vec<StepKind> = Self::before_facts(&request).into_iter().collect();
                kinds.push(StepKind::Request(Box::new(request)));
                kinds.extend(after);
                kinds.extend(self.after_sample(held));
                kinds
            }
            "TestAction" => self.action(id, held),
            class => {
                let kinds = match class {
                    "DebugSampler" => self.debug_sample(id, held),
                    "kg.apc.jmeter.samplers.DummySampler" => self.dummy(id, held),
                    "JavaSampler" => self.java(id, held),
                    "SystemSampler" => self.program(id, held),
                    "TCPSampler" => self.tcp(id, held),
                    "JSR223Sampler" | "BeanShellSampler" | "BSFSampler" => {
                        self.script_sample(id, held)
                    }
                    // The inventory says that it is not supported.
                    _ => return None,
                };
                kinds.into_iter().chain(self.after_sample(held)).collect()
            }
        })
    }

    /// Steps on a condition.
    pub(super) fn only_if(&self, id: ElementId, condition: &str, then: Vec<Step>) -> Vec<StepKind> {
        let condition = self.expression(id, condition);
        let kind = condition.filter(|_| !then.is_empty());
        kind.map(|condition| StepKind::If(Box::new(If { condition, then, otherwise: Vec::new() })))
            .into_iter()
            .collect()
    }

    /// A controller: what is in it, or steps that have that in them.
    fn controller(&self, id: ElementId, gathered: &mut Gathered) -> Vec<Step> {
        let class = self.class(id);
        match class {
            "IfController" => return self.if_controller(id, gathered),
            "RunTime" => return self.steps_of(id, self.runtime(id, gathered)),
            "RandomController"
            | "InterleaveControl"
            | "RandomOrderController"
            | "SwitchController" => {
                let mut steps = self.steps_of(id, self.iteration_start(id));
                steps.extend(self.branches(id, gathered));
                return steps;
            }
            "com.blazemeter.jmeter.controller.ParallelSampler" => {
                let start = self.iteration_start(id).into_iter();
                return self.steps_of(id, start.chain(self.parallel(id, gathered)));
            }
            _ => {}
        }
        let inner = self.steps(id, gathered);
        let kinds = match class {
            _ if PLAIN.contains(&class) => {
                let reader = self.read(id);
                reader.pass(&["ModuleController.node_path", "IncludeController.includepath"]);
                reader.finish();
                return inner;
            }
            "LoopController" | "WhileController" | "ForeachController" => {
                let inner = self.counted_pass(id, inner);
                let steps = match class {
                    "LoopController" => self.repeat(id, inner, &gathered.guards),
                    "WhileController" => self.while_controller(id, inner, &gathered.guards),
                    _ => self.for_each(id, inner),
                };
                self.counted_loop(id, steps)
            }
            "TransactionController" => vec![self.transaction(id, inner)],
            "OnceOnlyController" => self.once(id, inner).into_iter().collect(),
            "ThroughputController" => self.throughput(id, inner).into_iter().collect(),
            "CriticalSectionController" => return self.critical_section(id, inner),
            // The inventory says that it is not supported; what is in it was looked at.
            _ => Vec::new(),
        };
        self.steps_of(id, kinds)
    }

    fn if_controller(&self, id: ElementId, gathered: &mut Gathered) -> Vec<Step> {
        let reader = self.read(id);
        let condition = reader.source("IfController.condition");
        let is_expression = reader.flag("IfController.useExpression", false);
        let for_all = reader.flag("IfController.evaluateAll", false);
        reader.finish();
        let holds = || self.holds(condition, is_expression);
        // What is evaluated before each sample stands where nothing can be set.
        let (holds, mut before) = match for_all || !gathered.guards.is_empty() {
            true => (holds(), Vec::new()),
            false => self.with_settings(holds),
        };
        let condition = match holds {
            Ok(condition) => condition,
            Err(what) => {
                self.obstacle(id, what);
                self.steps(id, gathered);
                return Vec::new();
            }
        };
        if !for_all {
            let inner = self.steps(id, gathered);
            before.extend(self.only_if(id, &condition, inner));
            return self.steps_of(id, before);
        }
        if let Some(looping) = self.below(id, &["WhileController", "RunTime"]) {
            self.obstacle(looping, "a loop in a condition that is evaluated for all children");
        }
        gathered.guards.push(format!("({condition})"));
        let inner = self.steps(id, gathered);
        gathered.guards.pop();
        inner
    }

    /// The first active controller of some classes below an element.
    fn below(&self, id: ElementId, classes: &[&str]) -> Option<ElementId> {
        self.tree.enabled_children(id).find_map(|child| {
            let is_one = classes.contains(&self.class(child));
            if is_one { Some(child) } else { self.below(child, classes) }
        })
    }

    /// Steps again and again for a time, which is looked at before each sampler.
    fn runtime(&self, id: ElementId, gathered: &mut Gathered) -> Vec<StepKind> {
        let reader = self.read(id);
        let seconds = self.pieces(id, reader.source("RunTime.seconds"));
        reader.finish();
        let seconds = super::texts::expression(&seconds);
        let until = self.names.hidden_of("until", id, 0);
        let goes_on = format!("now_ms() < {until}");
        gathered.guards.push(goes_on.clone());
        let steps = self.steps(id, gathered);
        gathered.guards.pop();
        let Some(condition) = self.expression(id, &goes_on).filter(|_| !steps.is_empty()) else {
            return Vec::new();
        };
        let end = format!("now_ms() + int(double({seconds}) * 1000)");
        vec![self.set(id, &until, &end), StepKind::While(Box::new(While { condition, steps }))]
    }

    fn repeat(&self, id: ElementId, steps: Vec<Step>, guards: &[String]) -> Vec<StepKind> {
        let reader = self.read(id);
        let loops = self.pieces(id, reader.source("LoopController.loops"));
        let again = reader.flag("LoopController.continue_forever", true);
        reader.finish();
        if steps.is_empty() {
            return Vec::new();
        }
        let kind = match super::texts::literal(&loops).map(|text| text.trim().parse::<i64>()) {
            // What is no number is 0.
            Some(Err(_)) | Some(Ok(0)) => return Vec::new(),
            Some(Ok(loops)) if loops > 0 => {
                let counter = self.counts_passes(id).then(|| self.pass_of(id));
                let times = Expr::number(loops, Span::default());
                StepKind::Repeat(Box::new(Repeat { times, counter, steps }))
            }
            Some(Ok(_)) => {
                let goes_on =
                    if guards.is_empty() { "true".to_owned() } else { guards.join(" && ") };
                let Some(condition) = self.expression(id, &goes_on) else { return Vec::new() };
                StepKind::While(Box::new(While { condition, steps }))
            }
            None => {
                let times = format!("int({})", super::texts::expression(&loops));
                let Some(times) = self.expression(id, &times) else { return Vec::new() };
                let counter = self.counts_passes(id).then(|| self.pass_of(id));
                StepKind::Repeat(Box::new(Repeat { times, counter, steps }))
            }
        };
        if again {
            return vec![kind];
        }
        vec![first_passes(Expr::number(1, Span::default()), CountedBy::User, vec![step(kind)])]
    }

    /// Whether something directly below a loop asks for the number of its pass.
    pub(super) fn counts_passes(&self, id: ElementId) -> bool {
        self.tree.enabled_children(id).any(|child| self.class(child) == "OnceOnlyController")
    }

    fn while_controller(
        &self,
        id: ElementId,
        steps: Vec<Step>,
        guards: &[String],
    ) -> Vec<StepKind> {
        let reader = self.read(id);
        let written = reader.source("WhileController.condition").trim();
        reader.finish();
        // An empty text is looked at behind each pass alone: the last sample then decides.
        let of_nothing = || format!("({} || last_ok)", self.pass_of(id));
        let mut counts = written.is_empty();
        let goes_on = match written {
            "" => Ok(of_nothing()),
            last if last.eq_ignore_ascii_case("LAST") => Ok("last_ok".to_owned()),
            condition => self.goes_on(condition).map(|own| {
                let own = self.for_next_pass(id, own);
                match self.unread(condition) {
                    Some(unread) => {
                        counts = true;
                        format!("({unread}) ? {} : {own}", of_nothing())
                    }
                    None => own,
                }
            }),
        };
        let condition = goes_on.map(|own| {
            let all = guards.iter().cloned().chain([format!("({own})")]);
            all.collect::<Vec<_>>().join(" && ")
        });
        let condition = condition.map_err(|what| self.obstacle(id, what)).ok();
        let condition = condition.and_then(|condition| self.expression(id, &condition));
        let Some(condition) = condition.filter(|_| !steps.is_empty()) else { return Vec::new() };
        if !counts {
            return vec![StepKind::While(Box::new(While { condition, steps }))];
        }
        let mut within = vec![step(self.set(id, &self.pass_of(id), "false"))];
        within.extend(steps);
        vec![
            self.set(id, &self.pass_of(id), "true"),
            StepKind::While(Box::new(While { condition, steps: within })),
        ]
    }

    /// The values of variables with numbers, up to the first that is not set.
    fn for_each(&self, id: ElementId, steps: Vec<Step>) -> Vec<StepKind> {
        let reader = self.read(id);
        let (input, item) = (
            reader.constant("ForeachController.inputVal").unwrap_or_default(),
            reader.constant("ForeachController.returnVal").unwrap_or_default(),
        );
        let separator = if reader.flag("ForeachController.useSeparator", true) { "_" } else { "" };
        let (from, to) = (
            reader.number_or_0("ForeachController.startIndex", 0).unwrap_or(0).max(0),
            reader.number_or_0("ForeachController.endIndex", i64::MAX).unwrap_or(0),
        );
        reader.finish();
        let found = self.names.matches(&input).filter(|_| separator == "_");
        if let Some(found) = found {
            return self.for_each_match(id, (&item, found), (from, to), steps);
        }
        let mut list = String::from("[]");
        let mut values = Vec::new();
        for number in from + 1..=to {
            let name = format!("{input}{separator}{number}");
            let unset = super::texts::quoted(&format!("${{{name}}}"));
            match (self.names.variable(&name), self.constants.known(&name)) {
                (Some(variable), _) => values.push((variable.to_owned(), unset)),
                (None, Some(Some(value))) => values.push((super::texts::quoted(value), unset)),
                _ => break,
            }
        }
        if self.names.is_made_beside(&format!("{input}{separator}{}", from + 1)) {
            self.obstacle(id, format!("`{input}`, of which the number of values is not known"));
        }
        for (value, unset) in values.iter().rev() {
            list = format!("({value} == {unset} ? [] : [{value}] + {list})");
        }
        let (Some(item), Some(list)) = (self.names.variable(&item), self.expression(id, &list))
        else {
            return Vec::new();
        };
        let is_something = !values.is_empty() && !steps.is_empty();
        let item = item.to_owned();
        is_something
            .then_some(StepKind::ForEach(Box::new(ForEach { item_of: (item, list), steps })))
            .into_iter()
            .collect()
    }

    /// The values that an extractor has found.
    fn for_each_match(
        &self,
        id: ElementId,
        (item, found): (&str, &str),
        (from, to): (i64, i64),
        steps: Vec<Step>,
    ) -> Vec<StepKind> {
        const MOST: i64 = 100;
        let list = match (from, to) {
            (0, i64::MAX) => format!("{found} == null ? [] : {found}"),
            (_, to) if to.saturating_sub(from) <= MOST => {
                let one = |place| {
                    format!(
                        "({found} != null && size({found}) > {place} ? [{found}[{place}]] : [])"
                    )
                };
                let all: Vec<String> = (from..to).map(one).collect();
                if all.is_empty() { "[]".to_owned() } else { all.join(" + ") }
            }
            _ => {
                self.obstacle(id, "a range of values without an end");
                return Vec::new();
            }
        };
        let (Some(item), Some(list)) = (self.names.variable(item), self.expression(id, &list))
        else {
            return Vec::new();
        };
        let item = item.to_owned();
        (!steps.is_empty())
            .then_some(StepKind::ForEach(Box::new(ForEach { item_of: (item, list), steps })))
            .into_iter()
            .collect()
    }

    /// Steps in the first pass of what is around them.
    fn once(&self, id: ElementId, steps: Vec<Step>) -> Option<StepKind> {
        self.read(id).finish();
        let around = self.tree.around(id).next().filter(|_| !steps.is_empty())?;
        match self.class(around) {
            "LoopController" => {
                let condition = self.expression(id, &format!("{} == 0", self.pass_of(around)))?;
                Some(StepKind::If(Box::new(If { condition, then: steps, otherwise: Vec::new() })))
            }
            _ if self.role(around) == Some(Role::ThreadGroup) => Some(StepKind::OncePerUser(steps)),
            class if PLAIN.contains(&class) || class == "TransactionController" => {
                let once = Expr::number(1, Span::default());
                Some(first_passes(once, CountedBy::User, steps))
            }
            _ => {
                self.obstacle(id, "once within a controller that counts by itself");
                None
            }
        }
    }

    /// Steps in some of the passes of what is around them.
    fn throughput(&self, id: ElementId, steps: Vec<Step>) -> Option<StepKind> {
        let reader = self.read(id);
        let is_percent = reader.number("ThroughputController.style", 0)? == 1;
        let of = match reader.flag("ThroughputController.perThread", true) {
            true => CountedBy::User,
            false => CountedBy::Scenario,
        };
        let (total, percent) = (
            self.pieces(id, reader.source("ThroughputController.maxThroughput")),
            self.pieces(id, reader.source("ThroughputController.percentThroughput")),
        );
        reader.finish();
        self.look_at_passes(id);
        let pieces = if is_percent { percent } else { total };
        let part = match super::texts::literal(&pieces).map(str::trim) {
            None => format!("double({})", super::texts::expression(&pieces)),
            // What is no number is 0.
            Some(text) => text.parse::<f64>().unwrap_or(0.0).to_string(),
        };
        let part = self.expression(id, &part).filter(|_| !steps.is_empty())?;
        if !is_percent {
            return Some(first_passes(part, of, steps));
        }
        Some(StepKind::Passes(Box::new(Passes { first: None, percent: Some(part), of, steps })))
    }

    /// A controller that counts the passes of the one around it counts them even where it is not come to.
    fn look_at_passes(&self, id: ElementId) {
        let around = self.tree.around(id).next();
        let chooses = ["RandomController", "InterleaveControl", "SwitchController"];
        if around.is_some_and(|around| chooses.contains(&self.class(around))) {
            self.obstacle(id, "counting the passes of a controller that chooses");
        }
    }

    /// One thread at a time over all groups: with one thread it holds nobody up.
    fn critical_section(&self, id: ElementId, steps: Vec<Step>) -> Vec<Step> {
        let reader = self.read(id);
        let lock = reader.source("CriticalSectionController.lockName");
        reader.finish();
        let same = |other: &ElementId| {
            let properties = &self.tree.element(*other).properties;
            *other != id && properties.text("CriticalSectionController.lockName") == Some(lock)
        };
        let others = self.scopes.of_class("CriticalSectionController");
        let is_alone = self.threads_of(id) == Some(1) && !others.iter().any(same);
        // Without a name JMeter locks nothing, and says so in its log.
        if lock.is_empty() || steps.is_empty() || is_alone {
            return steps;
        }
        let parallel = "com.blazemeter.jmeter.controller.ParallelSampler";
        if self.tree.around(id).any(|around| self.class(around) == parallel) {
            self.obstacle(id, "flows of one thread that wait for each other");
        }
        self.steps_of(
            id,
            [StepKind::CriticalSection(Box::new(CriticalSection {
                name: self.template(id, lock),
                steps,
            }))],
        )
    }

    pub(super) fn name(&self, id: ElementId) -> Template {
        self.template(id, &self.tree.element(id).name)
    }

    /// The variable that holds the number of a loop's pass, or whether it is the first.
    fn pass_of(&self, id: ElementId) -> String {
        self.names.hidden_of("pass", id, 0)
    }

    /// An element's name where it has to be known before the run.
    pub(super) fn known_name(&self, id: ElementId) -> String {
        let written = &self.tree.element(id).name;
        self.constant(written).unwrap_or_else(|what| {
            self.obstacle(id, format!("{what} in its name"));
            written.clone()
        })
    }
}

pub(super) fn first_passes(first: Expr, of: CountedBy, steps: Vec<Step>) -> StepKind {
    StepKind::Passes(Box::new(Passes { first: Some(first), percent: None, of, steps }))
}
