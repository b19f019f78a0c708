//! Steps: what a user does.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use super::response::{Checks, Extracts};
use super::{Check, Extract, Json, Request, request};
use crate::expr::Expr;
use crate::keys::{
    self, Any, At, Bool, Chosen, Expression, Form, Identifier, Key, Keys, Listed, Maybe, Names, Of,
    Quantity, Record, Rule, Shape, Short, ShortOr, Small, Table, Templated, Text, Time, Union,
    Word, record, words,
};
use crate::span::{Span, Spanned};
use crate::template::Template;
use crate::yaml::{Node, Reader};
use squall_base::units;

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
    Think(Think),
    /// A named span of steps, timed as a whole.
    Group {
        /// Name under which it is counted.
        name: String,
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
        /// The condition, looked at before each pass.
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
    /// Each step at the same time as the others; the user goes on when all have ended.
    Parallel {
        /// Most that are made at the same time, from 1 to [`MAX_PARALLEL`].
        limit: u32,
        /// The steps, each with all that is in it.
        steps: Vec<Step>,
    },
    /// Give variables values.
    Set(Vec<(Spanned<String>, Json)>),
    /// Forget all of the user's cookies.
    ClearCookies,
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
}

/// Most steps of [`StepKind::Parallel`] at the same time, where the plan does not say: so many
/// connections a browser opens to one host over HTTP/1.1.
pub const DEFAULT_PARALLEL: u32 = 6;
/// Most that a plan may ask for.
pub const MAX_PARALLEL: u32 = 1_000;

impl Union for StepKind {
    fn variants() -> Vec<StepKind> {
        let (condition, steps) = (Expr::default, Vec::new);
        vec![
            StepKind::Request(Box::default()),
            StepKind::Group { name: String::new(), steps: steps() },
            StepKind::Think(Think::Fixed(Duration::ZERO)),
            StepKind::Repeat { times: condition(), counter: None, steps: steps() },
            StepKind::While { condition: condition(), steps: steps() },
            StepKind::If { condition: condition(), then: steps(), otherwise: steps() },
            StepKind::ForEach { item: String::new(), list: condition(), steps: steps() },
            StepKind::Choose(Vec::new()),
            StepKind::RoundRobin(Vec::new()),
            StepKind::OncePerUser(steps()),
            StepKind::Parallel { limit: DEFAULT_PARALLEL, steps: steps() },
            StepKind::Set(Vec::new()),
            StepKind::ClearCookies,
            StepKind::SetCookie(Box::default()),
            StepKind::Log(Template::default()),
            StepKind::Stop(StopScope::Iteration),
            StepKind::Metric(Box::default()),
            StepKind::Exec(Box::default()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        const STEPS: Key = Key::required("steps", "Its steps.");
        match self {
            StepKind::Request(request) => request::keys(request, keys),
            StepKind::Group { name, steps } => {
                keys.title("a group", "Steps that are timed as a whole.");
                keys.key::<Text>(name, Key::required("group", "Name under which it is counted."));
                keys.key::<Steps<1>>(steps, STEPS);
            }
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
                    Key::required("while", "The condition, looked at before each pass."),
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
            StepKind::Parallel { limit, steps } => {
                keys.title(
                    "a parallel step",
                    "Steps at the same time; the user goes on when all have ended.",
                );
                let mut both = Branches { limit: *limit, steps: std::mem::take(steps) };
                let about = "The steps, each a flow of its own.";
                keys.key::<ShortOr<Branches>>(&mut both, Key::required("parallel", about));
                (*limit, *steps) = (both.limit, both.steps);
            }
            StepKind::Set(values) => {
                keys.title("a set step", "Gives variables values.");
                keys.key::<Names<Any, true>>(
                    values,
                    Key::required("set", "Variables and their values."),
                );
            }
            StepKind::ClearCookies => {
                keys.title("a clear_cookies step", "Forgets all of the user's cookies.");
                keys.key::<True>(&mut (), Key::required("clear_cookies", "`true`."));
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
        }
    }
}

/// The title and the keys of each kind of step, and of an include.
pub(crate) fn step_tables() -> Vec<Table> {
    let describe = |mut kind: StepKind| keys::describe("", |keys| kind.keys(keys));
    let include = keys::describe(Include::TITLE, |keys| {
        keys.title(Include::TITLE, "The steps of another file, in place of this one.");
        Include::default().keys(keys);
    });
    StepKind::variants().into_iter().map(describe).chain([include]).collect()
}

record! {
    /// The steps of another file, in place of this one.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Include as "an include" {
        /// The file: a list of steps, or a mapping with `steps`.
        #[key(required)]
        pub include: Spanned<std::path::PathBuf>,
    }
}

/// A list of steps, with at least `LEAST` of them.
pub(crate) struct Steps<const LEAST: usize>;

/// Steps of a file of their own.
pub(crate) type StepList = Steps<1>;

impl<const LEAST: usize> Form for Steps<LEAST> {
    type Value = Vec<Step>;
    // Where steps are needed, nothing is most often a list that is not indented.
    const NULL: bool = LEAST > 0;
    fn shape() -> Shape {
        Shape::Steps(LEAST)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<Step>> {
        let items = if node.is_null() { Vec::new() } else { node.items() };
        if items.len() < LEAST {
            let help = "the list that follows belongs here if it is indented further than this key";
            reader.error(node.span, "expected at least one step, found none", help);
            return None;
        }
        let mut steps = Vec::new();
        for node in items {
            if !reader.counts_step(node.span) {
                break;
            }
            if node.get("include").is_some() {
                let include = Of::<Include>::read(reader, node);
                steps.extend(
                    include.map(|include| reader.include(include.include)).unwrap_or_default(),
                );
            } else if let Some(kind) = step(reader, node) {
                steps.push(Step { kind, span: node.span });
            }
        }
        Some(steps)
    }
    fn print(value: &Vec<Step>) -> Value {
        let step = |step: &Step| {
            let kind = std::mem::discriminant(&step.kind);
            let empty = kinds().iter().find(|(own, _)| std::mem::discriminant(own) == kind);
            let printed = keys::print(|keys| step.kind.clone().keys(keys));
            match empty {
                Some((empty, _)) => printed.unlike(&keys::print(|keys| empty.clone().keys(keys))),
                None => printed.all(),
            }
        };
        Value::Array(value.iter().map(step).collect())
    }
    fn is_given(value: &Vec<Step>) -> bool {
        !value.is_empty()
    }
}

/// Each kind of step, empty, with the keys that decide that a step is of that kind.
fn kinds() -> &'static [(StepKind, Vec<&'static str>)] {
    static KINDS: OnceLock<Vec<(StepKind, Vec<&'static str>)>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let kinds = StepKind::variants().into_iter().map(|mut kind| {
            let (names, deciding) = keys::names(&mut kind);
            (kind, names[..deciding].to_vec())
        });
        kinds.collect()
    })
}

/// Reads a step: one known key of a mapping decides which kind it is.
fn step(reader: &mut Reader, node: &Node) -> Option<StepKind> {
    let is_there = |name: &&str| node.get(name).is_some();
    let Some((kind, _)) = kinds().iter().find(|(_, names)| names.iter().any(is_there)) else {
        let known: Vec<&str> = kinds().iter().flat_map(|(_, names)| names).copied().collect();
        reader.unknown_step(node, &known);
        return None;
    };
    let mut kind = kind.clone();
    keys::read(reader, node, "a step", |keys| kind.keys(keys));
    Some(kind)
}

/// A variable and a list.
struct ItemOf;

impl Form for ItemOf {
    type Value = (String, Expr);
    fn shape() -> Shape {
        Shape::Names(Box::new(Shape::Expression), true, 1)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<(String, Expr)> {
        let names = reader.names(node);
        let [(item, list)] = names.as_slice() else {
            if node.is_map() {
                let help = "such as `for_each: {link: links}`";
                reader.error(node.span, "for_each takes one variable and a list", help);
            }
            return None;
        };
        reader.identifier(item);
        let list = Expression::read(reader, list);
        Some((item.value.clone(), list.unwrap_or_default()))
    }
    fn print((item, list): &(String, Expr)) -> Value {
        json!({item: list.source()})
    }
}

record! {
    /// One of the branches of `choose`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Choice as "a choice" {
        /// Its weight, above 0.
        #[key([keys::Share])]
        pub weight: f64,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

impl Default for Choice {
    fn default() -> Self {
        Choice { weight: 1.0, steps: Vec::new() }
    }
}

record! {
    /// One of the branches of `round_robin`.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Branch as "a branch" {
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

/// The steps of a branch.
struct BranchSteps;

impl Form for BranchSteps {
    type Value = Vec<Step>;
    fn shape() -> Shape {
        Of::<Branch>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<Step>> {
        Of::<Branch>::read(reader, node).map(|branch| branch.steps)
    }
    fn print(value: &Vec<Step>) -> Value {
        json!({"steps": Steps::<1>::print(value)})
    }
}

record! {
    /// Steps at the same time, and how many of them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Branches as "parallel" {
        /// Most steps at the same time.
        #[key([Small<1, MAX_PARALLEL>])]
        pub limit: u32,
        /// Its steps, each a flow of its own.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

impl Default for Branches {
    fn default() -> Self {
        Branches { limit: DEFAULT_PARALLEL, steps: Vec::new() }
    }
}

/// The steps alone.
impl Short for Branches {
    type Form = Steps<1>;
    fn from_short(steps: Vec<Step>) -> Branches {
        Branches { steps, ..Branches::default() }
    }
    fn short(&self) -> Option<Vec<Step>> {
        (self.limit == DEFAULT_PARALLEL).then(|| self.steps.clone())
    }
}

/// `true` and nothing else.
struct True;

impl Form for True {
    type Value = ();
    fn shape() -> Shape {
        Shape::Words(vec![("true", "")])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<()> {
        if !Bool::read(reader, node)? {
            reader.error(node.span, "`clear_cookies` takes `true`", "leave out the step");
        }
        Some(())
    }
    fn print(_: &()) -> Value {
        json!(true)
    }
}

record! {
    /// A cookie that a step sets. It obeys what those of servers obey, see RFC 6265bis.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Cookie as "a cookie" {
        /// Its name, not empty.
        #[key(required)]
        pub name: Template,
        /// Its value.
        #[key(required)]
        pub value: Template,
        /// The page whose response would have set it.
        pub url: Option<Template>,
        /// The host that it goes to, with those below it.
        #[key(default "the target's host alone")]
        pub domain: Option<Template>,
        /// The path that it goes to, with those below it.
        #[key(default "/")]
        pub path: Option<Template>,
    }
    rules(_this, keys) {
        let help = "a cookie has either `url`, or `domain` and `path`";
        keys.rule(Rule::Excludes("url", "domain", help));
        keys.rule(Rule::Excludes("url", "path", help));
    }
}

record! {
    /// A value recorded by a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Metric as "a metric" {
        /// The metric, as thresholds call it.
        #[key(required [At<Identifier>])]
        pub name: Spanned<String>,
        /// What becomes of its values.
        #[key(required)]
        pub kind: MetricKind,
        /// The value: a number, or for a rate also true or false.
        #[key(default "1 for a counter")]
        pub value: Expr,
        /// Values under different tags are recorded separately.
        #[key([Names<Templated, true>])]
        pub tags: Vec<(Spanned<String>, Template)>,
    }
    first(this, _keys) {
        if this.value == Expr::default() {
            this.value = Expr::number(1, Span::default());
        }
    }
    rules(_this, keys) {
        keys.rule(Rule::NeededUnless { key: "value", other: "kind", word: "counter" });
    }
}

words! {
    /// What becomes of the values of a metric.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MetricKind {
        /// They are added up.
        #[default]
        Counter = "counter",
        /// The last, the smallest and the largest are kept.
        Gauge = "gauge",
        /// The share of those that are true, or not 0, is kept.
        Rate = "rate",
        /// Their distribution is kept.
        Trend = "trend",
    }
}

words! {
    /// What `stop` ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StopScope {
        /// This iteration.
        Iteration = "iteration",
        /// This user.
        User = "user",
        /// The run.
        Run = "run",
    }
}

/// A wait between steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Think {
    /// Always the same.
    Fixed(Duration),
    /// Evenly between two times.
    Uniform(Duration, Duration),
    /// Normal distribution, cut at 0.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

record! {
    /// A normal distribution, cut at 0.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Normal as "a normal distribution" {
        /// Mean.
        #[key(required)]
        pub mean: Duration,
        /// Standard deviation.
        #[key(required)]
        pub sd: Duration,
    }
}

impl Union for Think {
    fn variants() -> Vec<Think> {
        let zero = Duration::ZERO;
        vec![Think::Normal { mean: zero, sd: zero }, Think::Exponential { mean: zero }]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            Think::Normal { mean, sd } => {
                let mut normal = Normal { mean: *mean, sd: *sd };
                let about = "Times of a normal distribution, cut at 0.";
                keys.key::<Of<Normal>>(&mut normal, Key::required("normal", about));
                (*mean, *sd) = (normal.mean, normal.sd);
            }
            Think::Exponential { mean } => {
                let about = "Times of an exponential distribution with this mean.";
                keys.key::<Time>(mean, Key::required("exponential", about));
            }
            // These are written as a text: see `Wait`.
            Think::Fixed(_) | Think::Uniform(..) => {}
        }
    }
}

impl keys::Choice for Think {
    const TITLE: &'static str = "think";
}

/// A time, a range of times, or a distribution.
struct Wait;

impl Form for Wait {
    type Value = Think;
    fn shape() -> Shape {
        let range = Shape::Quantity(Quantity::Range);
        Shape::Either(vec![Time::shape(), range, Chosen::<Think>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Think> {
        if node.is_map() {
            return Chosen::<Think>::read(reader, node);
        }
        let text = reader.constant(node)?;
        let Some((from, to)) = text.value.split_once("..") else {
            return Time::read(reader, node).map(Think::Fixed);
        };
        let parse = |text: &str| units::parse_duration(text.trim());
        let (message, help) = match (parse(from), parse(to)) {
            (Ok(from), Ok(to)) if from <= to => return Some(Think::Uniform(from, to)),
            (Ok(_), Ok(_)) => {
                (format!("invalid range `{}`", text.value), "write the shorter time first: 1s..3s")
            }
            (Err(error), _) | (_, Err(error)) => (error.0, "write a range as 1s..3s"),
        };
        reader.error(text.span, message, help);
        None
    }
    fn print(value: &Think) -> Value {
        match value {
            Think::Fixed(time) => Time::print(time),
            Think::Uniform(from, to) => {
                json!(format!("{}..{}", units::print_duration(*from), units::print_duration(*to)))
            }
            other => Chosen::<Think>::print(other),
        }
    }
}

record! {
    /// A program run as a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Exec as "an exec step" {
        /// Program and arguments, no shell.
        #[key(required "exec" [Listed<Templated, 1>])]
        pub command: Vec<Template>,
        /// Name under which it is counted.
        #[key(default "the program's file name")]
        pub name: Option<String>,
        /// Limit of time.
        #[key(default "60s")]
        pub timeout: Option<Duration>,
        /// Values taken from its standard output (`status` is the exit code).
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions; without one, an exit code other than 0 is an error.
        #[key([Checks])]
        pub check: Vec<Check>,
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
            | StepKind::OncePerUser(steps) => vec![steps],
            StepKind::If { then, otherwise, .. } => vec![then, otherwise],
            StepKind::Choose(choices) => {
                choices.iter().map(|choice| choice.steps.as_slice()).collect()
            }
            StepKind::RoundRobin(branches) => branches.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        };
        lists.into_iter().flatten()
    }
}
