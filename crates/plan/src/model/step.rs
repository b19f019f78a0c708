//! Steps: what a user does.

use std::time::Duration;

use super::actions::{Cookie, Exec, Look, Metric, StopScope, Write};
use super::paced::{GroupSamples, Pace, Passes, Rendezvous, ThinkTime};
use super::step_list::{
    AllOrNamed, BranchSteps, Branches, Choice, DEFAULT_PARALLEL, ItemOf, Steps,
};
use super::tags::{Tagged, Tags};
use super::think::{Think, Thinking, Wait};
use super::{Json, Request, Tcp, request};
use crate::expr::Expr;
use crate::keys::{
    Any, At, Expression, Identifier, Key, Keys, Listed, Maybe, Names, Of, Record, ShortOr,
    Templated, Text, Union, Word,
};
use crate::span::{Span, Spanned};
use crate::template::Template;

/// One thing a user does, and where the plan says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What.
    pub kind: StepKind,
    /// Where.
    pub span: Span,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// One exchange with the target (and the redirects that follow).
    Request(Box<Request>),
    /// Wait.
    Think(Thinking),
    /// A named span of steps, timed as a whole.
    Group {
        /// Name under which it is counted.
        name: Template,
        /// Tags of its row and of all rows in it.
        tags: Tags,
        /// Whether the waits within it are part of its time.
        think_time: ThinkTime,
        /// What it is in files of samples.
        samples: GroupSamples,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps several times; `${index}`-like access is by `counter`, a variable from 0.
    Repeat {
        /// How many times: a number or an expression.
        times: Expr,
        /// Variable that holds the number of the pass, from 0.
        counter: Option<String>,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps while a condition holds.
    While {
        /// The condition, checked before each pass.
        condition: Expr,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps on a condition.
    If {
        /// The condition.
        condition: Expr,
        /// If it holds.
        then: Vec<Step>,
        /// If not.
        otherwise: Vec<Step>,
    },
    /// Steps for each element of a list.
    ForEach {
        /// Variable that holds the element.
        item: String,
        /// The list.
        list: Expr,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// One of several lists of steps, by weight, at random.
    Choose(Vec<Choice>),
    /// One of several lists of steps, the next one each time the user comes here.
    RoundRobin(Vec<Vec<Step>>),
    /// Steps in the first iteration of a user only.
    OncePerUser(Vec<Step>),
    /// Steps in some of the passes, by count.
    Passes(Box<Passes>),
    /// All of several lists of steps, in another order each time.
    Shuffle(Vec<Vec<Step>>),
    /// Each step at the same time as the others; the user goes on when all have ended.
    Parallel {
        /// Most that are made at the same time, from 1 to [`super::MAX_PARALLEL`].
        limit: u32,
        /// The steps, each with all that is in it.
        steps: Vec<Step>,
    },
    /// Steps in which only one user at a time is, over all scenarios.
    CriticalSection {
        /// Its name: those with the same one are the same.
        name: Template,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Wait for a rate.
    Pace(Box<Pace>),
    /// Wait for other users.
    Rendezvous(Box<Rendezvous>),
    /// Give variables values.
    Set(Vec<(Spanned<String>, Json)>),
    /// Go on to the next row of a data source that advances by steps.
    NextRow(Spanned<String>),
    /// Forget the user's cookies: those of the jar of a name, or else all.
    ClearCookies(Option<String>),
    /// Forget what the user's cache of a name knows, or else what all of them know.
    ClearCache(Option<String>),
    /// Give the user a cookie, as a response might.
    SetCookie(Box<Cookie>),
    /// Write a line to the run's log.
    Log(Template),
    /// End something, in order.
    Stop(StopScope),
    /// Record a value of a metric of the plan's own.
    Metric(Box<Metric>),
    /// Run a program; needs `--allow-exec`.
    Exec(Box<Exec>),
    /// Send bytes over TCP, and read what comes back.
    Tcp(Box<Tcp>),
    /// Look at a text as at a response.
    Look(Box<Look>),
    /// Write a text to a file.
    Write(Box<Write>),
}

impl Union for StepKind {
    fn variants() -> Vec<StepKind> {
        let (condition, steps) = (Expr::default, Vec::new);
        vec![
            StepKind::Request(Box::default()),
            StepKind::Group {
                name: Template::default(),
                tags: Tags::new(),
                think_time: ThinkTime::Included,
                samples: GroupSamples::Apart,
                steps: steps(),
            },
            StepKind::Think(Thinking::Known(Think::Fixed(Duration::ZERO))),
            StepKind::Repeat { times: condition(), counter: None, steps: steps() },
            StepKind::While { condition: condition(), steps: steps() },
            StepKind::If { condition: condition(), then: steps(), otherwise: steps() },
            StepKind::ForEach { item: String::new(), list: condition(), steps: steps() },
            StepKind::Choose(Vec::new()),
            StepKind::RoundRobin(Vec::new()),
            StepKind::OncePerUser(steps()),
            StepKind::Passes(Box::default()),
            StepKind::Shuffle(Vec::new()),
            StepKind::Parallel { limit: DEFAULT_PARALLEL, steps: steps() },
            StepKind::CriticalSection { name: Template::default(), steps: steps() },
            StepKind::Pace(Box::default()),
            StepKind::Rendezvous(Box::default()),
            StepKind::Set(Vec::new()),
            StepKind::NextRow(Spanned::default()),
            StepKind::ClearCookies(None),
            StepKind::ClearCache(None),
            StepKind::SetCookie(Box::default()),
            StepKind::Log(Template::default()),
            StepKind::Stop(StopScope::Iteration),
            StepKind::Metric(Box::default()),
            StepKind::Exec(Box::default()),
            StepKind::Tcp(Box::default()),
            StepKind::Look(Box::default()),
            StepKind::Write(Box::default()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            StepKind::Request(request) => request::keys(request, keys),
            StepKind::Think(think) => {
                keys.title("a think step", "A wait.");
                keys.key::<Wait>(
                    think,
                    Key::required(
                        "think",
                        "How long: a time, a range of times, or a distribution.",
                    ),
                );
            }
            StepKind::Pace(pace) => {
                keys.title("a pace step", "A wait for a rate.");
                keys.key::<Of<Pace>>(pace, Key::required("pace", "The rate, and who keeps it."));
            }
            StepKind::Rendezvous(rendezvous) => {
                keys.title("a rendezvous step", "A wait for other users.");
                let about = "How many users, and how long they wait.";
                keys.key::<Of<Rendezvous>>(rendezvous, Key::required("rendezvous", about));
            }
            StepKind::Set(values) => {
                keys.title("a set step", "Gives variables values.");
                keys.key::<Names<Any, true>>(
                    values,
                    Key::required("set", "Variables and their values."),
                );
            }
            StepKind::NextRow(source) => {
                keys.title("a next_row step", "Goes on to the next row of a data source.");
                let about = "The data source, one with `advance: step`.";
                keys.key::<At<Text>>(source, Key::required("next_row", about));
            }
            StepKind::ClearCookies(jar) => {
                keys.title("a clear_cookies step", "Forgets the user's cookies.");
                let about = "`true` for all, or the name of a jar.";
                keys.key::<AllOrNamed>(jar, Key::required("clear_cookies", about));
            }
            StepKind::ClearCache(cache) => {
                keys.title("a clear_cache step", "Forgets what the user's cache knows.");
                let about = "`true` for all, or the name of a cache.";
                keys.key::<AllOrNamed>(cache, Key::required("clear_cache", about));
            }
            StepKind::SetCookie(cookie) => {
                keys.title("a set_cookie step", "Gives the user a cookie, as a response might.");
                keys.key::<Of<Cookie>>(cookie, Key::required("set_cookie", "The cookie."));
            }
            StepKind::Log(text) => {
                keys.title("a log step", "Writes a line to the run's log.");
                keys.key::<Templated>(text, Key::required("log", "The line."));
            }
            StepKind::Stop(scope) => {
                keys.title("a stop step", "Ends something, in order.");
                keys.key::<Word<StopScope>>(scope, Key::required("stop", "What ends."));
            }
            StepKind::Metric(metric) => {
                keys.title("a metric step", "Records a value of a metric of the plan's own.");
                keys.key::<Of<Metric>>(
                    metric,
                    Key::required("metric", "The metric and its value."),
                );
            }
            StepKind::Exec(exec) => {
                keys.title(
                    Exec::TITLE,
                    "Runs a program, timed and judged like a request; needs `--allow-exec`.",
                );
                exec.keys(keys);
            }
            StepKind::Tcp(tcp) => {
                keys.title(Tcp::TITLE, "Bytes sent over TCP, and those that come back.");
                tcp.keys(keys);
            }
            StepKind::Look(look) => {
                keys.title(
                    Look::TITLE,
                    "Examines a text as if it were a response; sends nothing, and counts only in its checks.",
                );
                look.keys(keys);
            }
            StepKind::Write(write) => {
                keys.title(Write::TITLE, "Writes a text to a file.");
                write.keys(keys);
            }
            _ => self.block_keys(keys),
        }
    }
}

impl StepKind {
    /// The keys of a step that has others in it.
    fn block_keys(&mut self, keys: &mut Keys<'_>) {
        const STEPS: Key = Key::required("steps", "Its steps.");
        match self {
            StepKind::Group { name, tags, think_time, samples, steps } => {
                keys.title("a group", "Steps that are timed as a whole.");
                keys.key::<Templated>(
                    name,
                    Key::required("group", "Name under which it is counted."),
                );
                let about = "Tags of its row and of all rows in it, known before the run.";
                keys.key::<Tagged>(tags, Key::new("tags", about));
                let about = "Whether the waits within it are part of its time.";
                keys.key::<Word<ThinkTime>>(think_time, Key::new("think_time", about));
                let about = "What it is in files of samples that have groups (`.jtl`).";
                keys.key::<Word<GroupSamples>>(samples, Key::new("samples", about));
                keys.key::<Steps<1>>(steps, STEPS);
            }
            StepKind::Repeat { times, counter, steps } => {
                keys.title("a repeat step", "Steps several times.");
                keys.key::<Expression>(
                    times,
                    Key::required("repeat", "How many times: a number or an expression."),
                );
                let about = "Variable that holds the number of the pass, from 0.";
                keys.key::<Maybe<Identifier>>(counter, Key::new("counter", about));
                keys.key::<Steps<1>>(steps, STEPS);
            }
            StepKind::While { condition, steps } => {
                keys.title("a while step", "Steps while a condition holds.");
                keys.key::<Expression>(
                    condition,
                    Key::required("while", "The condition, checked before each pass."),
                );
                keys.key::<Steps<1>>(steps, STEPS);
            }
            StepKind::If { condition, then, otherwise } => {
                keys.title("an if step", "Steps on a condition.");
                keys.key::<Expression>(condition, Key::required("if", "The condition."));
                keys.key::<Steps<1>>(then, Key::required("then", "Steps if it holds."));
                keys.key::<Steps<1>>(otherwise, Key::new("else", "Steps if not."));
            }
            StepKind::ForEach { item, list, steps } => {
                keys.title("a for_each step", "Steps for each element of a list.");
                let mut both = (item.clone(), list.clone());
                keys.key::<ItemOf>(
                    &mut both,
                    Key::required("for_each", "A variable and the list: `{item: list}`."),
                );
                (*item, *list) = both;
                keys.key::<Steps<1>>(steps, STEPS);
            }
            StepKind::Choose(choices) => {
                keys.title("a choose step", "One of several lists of steps, by weight, at random.");
                keys.key::<Listed<Of<Choice>, 1>>(choices, Key::required("choose", "The choices."));
            }
            StepKind::RoundRobin(branches) => {
                let about =
                    "One of several lists of steps, the next one each time the user comes here.";
                keys.title("a round_robin step", about);
                keys.key::<Listed<BranchSteps, 1>>(
                    branches,
                    Key::required("round_robin", "The branches."),
                );
            }
            StepKind::OncePerUser(steps) => {
                keys.title("a once_per_user step", "Steps in a user's first iteration only.");
                keys.key::<Steps<1>>(steps, Key::required("once_per_user", "The steps."));
            }
            StepKind::Passes(passes) => {
                keys.title("a passes step", "Steps in some of the passes, by count.");
                let about = "In which passes, and the steps.";
                keys.key::<Of<Passes>>(passes, Key::required("passes", about));
            }
            StepKind::CriticalSection { name, steps } => {
                let about = "Steps in which only one user at a time is, over all scenarios; the others wait in line.";
                keys.title("a critical section", about);
                let about = "Its name. Sections with the same name are one.";
                keys.key::<Templated>(name, Key::required("critical_section", about));
                keys.key::<Steps<1>>(steps, STEPS);
            }
            StepKind::Shuffle(branches) => {
                let about = "All of several lists of steps, in another order each time, at random.";
                keys.title("a shuffle step", about);
                let key = Key::required("shuffle", "The branches.");
                keys.key::<Listed<BranchSteps, 1>>(branches, key);
            }
            StepKind::Parallel { limit, steps } => {
                keys.title(
                    "a parallel step",
                    "Steps at the same time; the user goes on when all have ended.",
                );
                let mut both = Branches { limit: *limit, steps: std::mem::take(steps) };
                let about = "The steps, each a separate flow.";
                keys.key::<ShortOr<Branches>>(&mut both, Key::required("parallel", about));
                (*limit, *steps) = (both.limit, both.steps);
            }
            _ => {}
        }
    }
}

impl super::Plan {
    /// The metrics that the steps of its scenarios record, in the order of the plan.
    pub fn metrics(&self) -> Vec<&Metric> {
        fn find<'p>(step: &'p Step, found: &mut Vec<&'p Metric>) {
            if let StepKind::Metric(metric) = &step.kind {
                found.push(metric);
            }
            step.inner().for_each(|step| find(step, found));
        }
        let mut found = Vec::new();
        let steps = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        steps.for_each(|step| find(step, &mut found));
        found
    }
}

impl Step {
    /// The steps directly within this one.
    pub fn inner(&self) -> impl Iterator<Item = &Step> {
        let lists: Vec<&[Step]> = match &self.kind {
            StepKind::Group { steps, .. }
            | StepKind::Repeat { steps, .. }
            | StepKind::While { steps, .. }
            | StepKind::ForEach { steps, .. }
            | StepKind::Parallel { steps, .. }
            | StepKind::CriticalSection { steps, .. }
            | StepKind::OncePerUser(steps) => vec![steps],
            StepKind::Passes(passes) => vec![&passes.steps],
            StepKind::If { then, otherwise, .. } => vec![then, otherwise],
            StepKind::Choose(choices) => {
                choices.iter().map(|choice| choice.steps.as_slice()).collect()
            }
            StepKind::RoundRobin(branches) | StepKind::Shuffle(branches) => {
                branches.iter().map(Vec::as_slice).collect()
            }
            _ => Vec::new(),
        };
        lists.into_iter().flatten()
    }

    /// The same, to be changed.
    pub fn inner_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        let lists: Vec<&mut [Step]> = match &mut self.kind {
            StepKind::Group { steps, .. }
            | StepKind::Repeat { steps, .. }
            | StepKind::While { steps, .. }
            | StepKind::ForEach { steps, .. }
            | StepKind::Parallel { steps, .. }
            | StepKind::CriticalSection { steps, .. }
            | StepKind::OncePerUser(steps) => vec![steps],
            StepKind::Passes(passes) => vec![&mut passes.steps],
            StepKind::If { then, otherwise, .. } => vec![then, otherwise],
            StepKind::Choose(choices) => {
                choices.iter_mut().map(|choice| choice.steps.as_mut_slice()).collect()
            }
            StepKind::RoundRobin(branches) | StepKind::Shuffle(branches) => {
                branches.iter_mut().map(Vec::as_mut_slice).collect()
            }
            _ => Vec::new(),
        };
        lists.into_iter().flatten()
    }
}
