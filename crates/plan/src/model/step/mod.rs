//! Steps: what a user does. Each kind is a row of one table ([`StepKind`]), from which its keys, its reader, its printer,
//! the schema and the reference follow. Blocks of steps stand here too, since a step and what holds steps are one type
//! that refers to itself; all other kinds have files of their own.

mod cookie;
mod exec;
mod forms;
pub(super) mod kind;
mod list;
mod look;
mod metric;
mod pace;
mod rendezvous;
mod script;
mod stop;
mod tcp;
mod think;
mod words;
mod write;

use std::sync::OnceLock;

use serde_json::{Value, json};

use self::forms::{AllOrNamed, ItemOf};
use self::kind::Kind;
use self::list::{Item, ListOf};
use self::think::Wait;
use crate::expr::Expr;
use crate::keys::{
    self, Any, At, Expression, Form, Identifier, Key, Keys, Listed, Maybe, Names, Of, Record, Rule,
    Shape, Short, ShortOr, Small, Table, Templated, Text, Union, Word, record,
};
use crate::model::Json;
use crate::model::http_options::{DEFAULT_PARALLEL, MAX_PARALLEL, Resources};
use crate::model::request::Request;
use crate::model::tags::{Tagged, Tags};
use crate::nodes::{Node, Reader};
use crate::span::{Span, Spanned};
use crate::template::Template;

pub use self::cookie::*;
pub use self::exec::*;
pub use self::kind::Needs;
pub use self::look::*;
pub use self::metric::*;
pub use self::pace::*;
pub use self::rendezvous::*;
pub use self::script::*;
pub use self::stop::*;
pub use self::tcp::{ByteForm, KeepOpen, Tcp, TcpEnd};
pub use self::think::{Think, Thinking};
pub use self::words::*;
pub use self::write::*;

/// One thing a user does, and where the plan says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What.
    pub kind: StepKind,
    /// Where.
    pub span: Span,
}

/// A list of steps, with at least `LEAST` of them.
pub(crate) type Steps<const LEAST: usize> = ListOf<Step, LEAST>;

/// The table. A row is what the kind of step does, its name, and what it holds: a record whose keys stand in the step
/// itself; or a value, with the step's title, its one key, the form of that and what it means.
macro_rules! steps {
    ($(
        $(#[doc = $about:literal])+
        $kind:ident($own:ty) $(as $title:literal: $key:literal [$form:ty] $means:literal)?,
    )+) => {
        /// What a step does.
        #[derive(Debug, Clone, PartialEq)]
        pub enum StepKind {
            $($(#[doc = $about])+ $kind(steps!(@held $own $(, $key)?)),)+
        }

        impl Union for StepKind {
            fn variants() -> Vec<StepKind> {
                vec![$(StepKind::$kind(Default::default())),+]
            }

            fn keys(&mut self, keys: &mut Keys<'_>) {
                match self {
                    $(StepKind::$kind(own) => {
                        let about = concat!($($about),+);
                        steps!(@keys own keys about $own $(, $title $key [$form] $means)?);
                    })+
                }
            }
        }

        impl StepKind {
            fn own(&self) -> &dyn Kind<Step> {
                match self {
                    $(StepKind::$kind(own) => own,)+
                }
            }

            fn own_mut(&mut self) -> &mut dyn Kind<Step> {
                match self {
                    $(StepKind::$kind(own) => own,)+
                }
            }
        }
    };
    (@held $own:ty) => { Box<$own> };
    (@held $own:ty, $key:literal) => { $own };
    (@keys $own:ident $keys:ident $about:ident $type:ty) => {
        $keys.title(<$type as Record>::TITLE, $about);
        $own.keys($keys);
    };
    (@keys $own:ident $keys:ident $about:ident $type:ty, $title:literal $key:literal [$form:ty] $means:literal) => {
        $keys.title($title, $about);
        $keys.key::<$form>($own, Key::required($key, $means));
    };
}

steps! {
    /// One exchange with the target, and the redirects that follow. What it does not say and `defaults` may, from
    /// `timeout` to `resources`, is as they say; the default is what holds where they do not either.
    Request(Request),
    /// Steps that are timed as a whole.
    Group(Group),
    /// A wait.
    Think(Thinking) as "a think step":
        "think" [Wait] "How long: a time, a range of times, or a distribution.",
    /// Steps several times.
    Repeat(Repeat),
    /// Steps while a condition holds.
    While(While),
    /// Steps on a condition.
    If(If),
    /// Steps for each element of a list.
    ForEach(ForEach),
    /// One of several lists of steps, by weight, at random.
    Choose(Vec<Choice>) as "a choose step": "choose" [Listed<Of<Choice>, 1>] "The choices.",
    /// One of several lists of steps, the next one each time the user comes here.
    RoundRobin(Vec<Vec<Step>>) as "a round_robin step":
        "round_robin" [Listed<BranchSteps, 1>] "The branches.",
    /// Steps in a user's first iteration only.
    OncePerUser(Vec<Step>) as "a once_per_user step": "once_per_user" [Steps<1>] "The steps.",
    /// Steps in some of the passes, by count.
    Passes(Box<Passes>) as "a passes step": "passes" [Of<Passes>] "In which passes, and the steps.",
    /// All of several lists of steps, in another order each time, at random.
    Shuffle(Vec<Vec<Step>>) as "a shuffle step":
        "shuffle" [Listed<BranchSteps, 1>] "The branches.",
    /// Steps at the same time; the user goes on when all have ended.
    Parallel(Box<Parallel>) as "a parallel step":
        "parallel" [ShortOr<Parallel>] "The steps, each a separate flow.",
    /// Steps in which only one user at a time is, over all scenarios; the others wait in line.
    CriticalSection(CriticalSection),
    /// A wait for a rate.
    Pace(Box<Pace>) as "a pace step": "pace" [Of<Pace>] "The rate, and who keeps it.",
    /// A wait for other users.
    Rendezvous(Box<Rendezvous>) as "a rendezvous step":
        "rendezvous" [Of<Rendezvous>] "How many users, and how long they wait.",
    /// Gives variables values.
    Set(Vec<(Spanned<String>, Json)>) as "a set step":
        "set" [Names<Any, true>] "Variables and their values.",
    /// Goes on to the next row of a data source.
    NextRow(Spanned<String>) as "a next_row step":
        "next_row" [At<Text>] "The data source, one with `advance: step`.",
    /// Forgets the user's cookies.
    ClearCookies(Option<String>) as "a clear_cookies step":
        "clear_cookies" [AllOrNamed] "`true` for all, or the name of a jar.",
    /// Forgets what the user's cache knows.
    ClearCache(Option<String>) as "a clear_cache step":
        "clear_cache" [AllOrNamed] "`true` for all, or the name of a cache.",
    /// Gives the user a cookie, as a response might.
    SetCookie(Box<Cookie>) as "a set_cookie step": "set_cookie" [Of<Cookie>] "The cookie.",
    /// Writes a line to the run's log.
    Log(Template) as "a log step": "log" [Templated] "The line.",
    /// Ends something, in order.
    Stop(StopScope) as "a stop step": "stop" [Word<StopScope>] "What ends.",
    /// Records a value of a metric of the plan's own.
    Metric(Box<Metric>) as "a metric step": "metric" [Of<Metric>] "The metric and its value.",
    /// Runs a program, timed and judged like a request; needs `--allow-exec`.
    Exec(Exec),
    /// Bytes sent over TCP, and those that come back.
    Tcp(Tcp),
    /// Examines a text as if it were a response; sends nothing, and counts only in its checks.
    Look(Look),
    /// Writes a text to a file.
    Write(Write),
    /// Calls a function of a script.
    Script(Box<Script>) as "a script step": "script" [Of<Script>] "The function, and what it is called with.",
}

impl Step {
    /// Whether it calls a script.
    pub fn is_script(&self) -> bool {
        matches!(self.kind, StepKind::Script(_))
    }

    /// The steps directly within this one.
    pub fn inner(&self) -> impl Iterator<Item = &Step> {
        let mut steps = Vec::new();
        self.kind.own().inner(&mut steps);
        steps.into_iter()
    }

    /// The same, to be changed.
    pub fn inner_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        let mut steps = Vec::new();
        self.kind.own_mut().inner_mut(&mut steps);
        steps.into_iter()
    }

    /// Adds the names of the variables that it sets, its inner steps included.
    pub fn written<'s>(&'s self, names: &mut Vec<&'s str>) {
        self.kind.own().writes(names);
        self.inner().for_each(|step| step.written(names));
    }

    /// What it needs of the machine while it is done, its inner steps left out. `inherited`: the resources that requests
    /// load which say nothing of that.
    pub fn needs(&self, inherited: Option<&Resources>) -> Needs {
        self.kind.own().needs(inherited)
    }
}

impl Item for Step {
    type Kind = StepKind;
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
    fn new(kind: StepKind, span: Span) -> Step {
        Step { kind, span }
    }
    fn kind(&self) -> &StepKind {
        &self.kind
    }
}

/// The title and the keys of each kind of step, and of an include.
pub(crate) fn step_tables() -> Vec<Table> {
    list::tables::<Step>()
}

/// The fields of a block that hold its steps, and what else it says of itself.
macro_rules! holds {
    ($type:ty: $($field:ident),+ $(; $($more:tt)+)?) => {
        impl Kind<Step> for $type {
            fn inner<'s>(&'s self, into: &mut Vec<&'s Step>) {
                $(self.$field.inner(into);)+
            }
            fn inner_mut<'s>(&'s mut self, into: &mut Vec<&'s mut Step>) {
                $(self.$field.inner_mut(into);)+
            }
            $($($more)+)?
        }
    };
}

impl Kind<Step> for Step {
    fn inner<'s>(&'s self, into: &mut Vec<&'s Step>) {
        into.push(self);
    }
    fn inner_mut<'s>(&'s mut self, into: &mut Vec<&'s mut Step>) {
        into.push(self);
    }
}

record! {
    /// Steps that are timed as a whole.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Group as "a group" {
        /// Name under which it is counted.
        #[key(required "group")]
        pub name: Template,
        /// Tags of its row and of all rows in it, known before the run.
        #[key([Tagged])]
        pub tags: Tags,
        /// Whether the waits within it are part of its time.
        pub think_time: ThinkTime,
        /// What it is in files of samples that have groups (`.jtl`).
        pub samples: GroupSamples,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { Group: steps }

record! {
    /// Steps several times.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Repeat as "a repeat step" {
        /// How many times: a number or an expression.
        #[key(required "repeat" [Expression])]
        pub times: Expr,
        /// Variable that holds the number of the pass, from 0.
        #[key([Maybe<Identifier>])]
        pub counter: Option<String>,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { Repeat: steps; fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
    into.extend(self.counter.as_deref());
}}

record! {
    /// Steps while a condition holds.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct While as "a while step" {
        /// The condition, checked before each pass.
        #[key(required "while" [Expression])]
        pub condition: Expr,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { While: steps }

record! {
    /// Steps on a condition.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct If as "an if step" {
        /// The condition.
        #[key(required "if" [Expression])]
        pub condition: Expr,
        /// Steps if it holds.
        #[key(required [Steps<1>])]
        pub then: Vec<Step>,
        /// Steps if not.
        #[key("else" [Steps<1>])]
        pub otherwise: Vec<Step>,
    }
}

holds! { If: then, otherwise }

record! {
    /// Steps for each element of a list.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct ForEach as "a for_each step" {
        /// A variable and the list: `{item: list}`.
        #[key(required "for_each" [ItemOf])]
        pub item_of: (String, Expr),
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { ForEach: steps; fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
    into.push(&self.item_of.0);
}}

record! {
    /// Steps in which only one user at a time is.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct CriticalSection as "a critical section" {
        /// Its name. Sections with the same name are one.
        #[key(required "critical_section")]
        pub name: Template,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { CriticalSection: steps }

record! {
    /// In which passes steps are done.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Passes as "passes" {
        /// In the first so many passes: a number or an expression.
        pub first: Option<Expr>,
        /// In this percentage of the passes, evenly spread: a number or an expression.
        pub percent: Option<Expr>,
        /// Who counts.
        pub of: CountedBy,
        /// Its steps.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
    rules(_this, keys) {
        keys.rule(Rule::Excludes("first", "percent", "leave out one of them"));
        keys.rule(Rule::AnyOf(&["first", "percent"], "passes need `first` or `percent`", ""));
    }
}

holds! { Passes: steps }

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

holds! { Choice: steps }

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
pub(crate) struct BranchSteps;

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
    pub struct Parallel as "parallel" {
        /// Maximum number of steps at the same time.
        #[key([Small<1, MAX_PARALLEL>])]
        pub limit: u32,
        /// Its steps, each a separate flow.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

holds! { Parallel: steps }

impl Default for Parallel {
    fn default() -> Self {
        Parallel { limit: DEFAULT_PARALLEL, steps: Vec::new() }
    }
}

/// The steps alone.
impl Short for Parallel {
    type Form = Steps<1>;
    fn from_short(steps: Vec<Step>) -> Parallel {
        Parallel { steps, ..Parallel::default() }
    }
    fn short(&self) -> Option<Vec<Step>> {
        (self.limit == DEFAULT_PARALLEL).then(|| self.steps.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn each_row_has_a_section_of_the_reference_and_keys_of_its_own() {
        let reference = crate::yaml::reference();
        let steps = reference.split("\n## step\n\nOne of ").nth(1).expect("a list of steps");
        let listed = steps.lines().next().expect("a line").split(", ").count();
        let tables = step_tables();
        assert_eq!(listed, tables.len());
        assert_eq!(tables.len(), StepKind::variants().len() + 1, "all kinds, and an include");
        for table in &tables {
            let name = table.title.trim_start_matches("an ").trim_start_matches("a ");
            assert!(reference.contains(&format!("\n## {name}\n")), "{name}");
            assert!(!table.about.trim().is_empty(), "{name}");
        }
        let mut deciding = BTreeSet::new();
        for key in Step::kinds().iter().flat_map(|(_, keys)| keys) {
            assert!(deciding.insert(key), "`{key}` decides on two kinds");
        }
    }

    #[test]
    fn every_block_shows_its_steps_and_what_they_set() {
        let blocks = [
            "{group: g, steps: [S]}",
            "{repeat: 2, counter: n, steps: [S]}",
            "{while: 'false', steps: [S]}",
            "{if: 'true', then: [S], else: [S]}",
            "{for_each: {item: '[1]'}, steps: [S]}",
            "{choose: [{steps: [S]}, {steps: [S]}]}",
            "{round_robin: [{steps: [S]}, {steps: [S]}]}",
            "{once_per_user: [S]}",
            "{passes: {first: 1, steps: [S]}}",
            "{shuffle: [{steps: [S]}, {steps: [S]}]}",
            "{parallel: [S, S]}",
            "{critical_section: c, steps: [S]}",
        ];
        for block in blocks {
            let inner = block.matches('S').count();
            let step = block.replace('S', "{set: {x: 1}}");
            let text = format!(
                "scenarios: {{s: {{load: {{users: 1, iterations: 1}}, steps: [{step}]}}}}\n"
            );
            let options = crate::vars::LoadOptions::default();
            let loaded = crate::yaml::load_str("p", &text, Path::new(""), &options);
            let mut plan = loaded.unwrap_or_else(|error| panic!("{:?}", error.diagnostics)).plan;
            let step = &mut plan.scenarios[0].steps[0];
            assert_eq!(step.inner().count(), inner, "{block}");
            assert_eq!(step.inner_mut().count(), inner, "{block}");
            let mut written = Vec::new();
            step.written(&mut written);
            let own = written.iter().filter(|name| **name == "n" || **name == "item").count();
            let sets_own = usize::from(block.contains("counter") || block.contains("for_each"));
            assert_eq!((own, written.len()), (sets_own, inner + sets_own), "{block}");
        }
    }
}
