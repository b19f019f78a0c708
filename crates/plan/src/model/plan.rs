//! The plan as a whole, its variables and scenarios.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::step::{Metric, Step, StepKind, Steps};
use super::tags::{Tagged, Tags};
use super::{
    Connections, DataSource, Defaults, Json, Load, Monitor, PlanFeed, Profile, SampleFile, Scripts,
    Threshold, threshold,
};
use crate::keys::{
    self, Any, ByName, Form, IntFrom, Named, Of, Plain, Positive, Shape, Short, ShortOr, Time,
    record, words,
};
use crate::nodes::{Node, Reader};
use crate::secrets::sounds_secret;
use crate::span::{Span, Spanned};
use crate::template::Template;

record! {
    /// A whole test: who does what, how often, against which target, and how it is judged.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Plan as "a plan" {
        /// Name of the test, used in reports.
        #[key(default "the file's name")]
        pub name: String,
        /// Base URL of relative URLs, or `builtin` for the built-in target, which is started for the run.
        pub target: Option<Target>,
        /// Variables known to every user at its start, in the order of the file.
        #[key([ByName<Variable>])]
        pub vars: Vec<Var>,
        /// Data files: each row is known to a user under the name of its source, as `${people.name}`.
        #[key([ByName<Of<DataSource>>])]
        pub data: Vec<DataSource>,
        /// What applies to every request that does not say otherwise.
        pub defaults: Defaults,
        /// How connections are made and kept.
        pub connections: Connections,
        /// Hosts (`host`, `host:port` or `*.suffix`) that requests may go to besides those that the plan names
        /// literally.
        #[key([keys::Listed<keys::At<keys::Like<keys::Text, keys::HostPattern>>>])]
        pub allow_hosts: Vec<Spanned<String>>,
        /// One load shared by all scenarios that have a `weight`.
        pub load: Option<Spanned<Load>>,
        /// The kinds of virtual users.
        #[key(required [ByName<Of<Scenario>, 1>])]
        pub scenarios: Vec<Scenario>,
        /// Steps that run once before the load, with one user; what they set or extract is known to all.
        #[key([Steps<0>])]
        pub setup: Vec<Step>,
        /// Steps that run once after the load.
        #[key([Steps<0>])]
        pub teardown: Vec<Step>,
        /// How long the setup may take before it is ended and has failed.
        pub setup_timeout: Option<Duration>,
        /// How long the teardown may take before it is ended and has failed.
        pub teardown_timeout: Option<Duration>,
        /// What a failed request does to its user, unless the scenario says otherwise.
        pub on_error: OnError,
        /// How long requests in flight at the end may take to finish.
        #[key(default "30s")]
        pub graceful_stop: Option<Duration>,
        /// Whether iterations are finished, within `graceful_stop`, when the time of their load is over or there are to be
        /// fewer users; otherwise they are cut between two steps.
        pub whole_iterations: bool,
        /// What is cut off the beginning of the run to get its steady part: found by a rule (`auto`), nothing
        /// (`none`), or a time.
        pub warmup: Warmup,
        /// Requirements that judge the whole run.
        #[key([keys::Listed<threshold::Written>])]
        pub thresholds: Vec<Threshold>,
        /// Sample files that a run writes in addition to those given on the command line.
        #[key([keys::Listed<Of<SampleFile>>])]
        pub samples: Vec<SampleFile>,
        /// Where the figures of each second are sent during the run, in addition to those given on the command line.
        #[key([keys::Listed<Of<PlanFeed>>])]
        pub feeds: Vec<PlanFeed>,
        /// What of the target and its hosts is sampled once a second during the load, by name.
        #[key([ByName<Of<Monitor>>])]
        pub monitor: Vec<Monitor>,
        /// A profile of the target's CPU time.
        #[key([keys::Maybe<Of<Profile>>])]
        pub profile: Option<Profile>,
        /// What holds for all scripts that steps call.
        pub scripts: Scripts,
        /// Seed of everything random.
        #[key(default "another each time")]
        pub seed: Option<u64>,
        /// Limits of a user's bytes per second, unless the scenario has its own.
        #[key([ShortOr<Bandwidth>])]
        pub bandwidth: Bandwidth,
        /// How long a session lasts, unless the scenario says otherwise: cookies, variables and the
        /// credentials that were negotiated.
        #[key(default "per_iteration for arrivals at a rate, per_user for users")]
        pub session: Option<Session>,
        /// How many names of requests, groups and programs are counted separately; those that are known
        /// before the run always are.
        #[key([keys::Maybe<keys::At<IntFrom<1, 100_000>>>] default "1000")]
        pub max_names: Option<Spanned<u64>>,
        /// Variables whose values stand in quantities: they are of use there, and nowhere in the model.
        #[key(no)]
        pub resolved: Resolved,
    }
}

/// Names of variables whose values were put in their place when the plan was read. Like places in the file
/// they are no part of a plan's meaning: all are equal.
#[derive(Debug, Clone, Default)]
pub struct Resolved(pub BTreeSet<String>);

impl PartialEq for Resolved {
    fn eq(&self, _: &Resolved) -> bool {
        true
    }
}

words! {
    /// How long a user's session lasts: its cookies, what steps have set its variables to, and the
    /// credentials that it has negotiated. Default: of an open workload, where each arrival is somebody
    /// else, an iteration; of a closed workload the user's whole life.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Session {
        /// Each iteration begins with a fresh one.
        PerIteration = "per_iteration",
        /// A user keeps it over all its iterations.
        PerUser = "per_user",
    }
}

record! {
    /// Limits of the bytes a second of one user, to be a phone.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Bandwidth as "a bandwidth" {
        /// Bytes per second of responses, above 0.
        #[key([keys::Maybe<keys::Bandwidth>] default "any")]
        pub down: Option<u64>,
        /// Bytes per second of requests, above 0.
        #[key([keys::Maybe<keys::Bandwidth>] default "any")]
        pub up: Option<u64>,
    }
}

/// One number for both directions.
impl Short for Bandwidth {
    type Form = keys::Bandwidth;
    fn from_short(both: u64) -> Bandwidth {
        Bandwidth { down: Some(both), up: Some(both) }
    }
    fn short(&self) -> Option<u64> {
        self.down.filter(|_| self.down == self.up)
    }
}

/// Where the requests go.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The built-in target, started for the run.
    Builtin,
    /// A base URL; may hold variables known before the run.
    Url(Template),
}

/// The form of a target.
pub(crate) struct Url;

impl Form for Url {
    type Value = Target;
    fn shape() -> Shape {
        keys::Like::<keys::Templated, keys::TargetUrl>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Target> {
        let url = keys::Templated::read(reader, node)?;
        Some(if url.literal() == Some("builtin") { Target::Builtin } else { Target::Url(url) })
    }
    fn print(value: &Target) -> Value {
        match value {
            Target::Builtin => json!("builtin"),
            Target::Url(url) => json!(url.source()),
        }
    }
}

impl Plain for Target {
    type Form = Url;
}

record! {
    /// A variable of the plan.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Var as "a variable" {
        /// Its name, an identifier.
        #[key(no)]
        pub name: Spanned<String>,
        /// Its value; texts in it may hold `${...}` over variables defined before it.
        #[key(required)]
        pub value: Json,
        /// Whether its value is masked in every output.
        #[key(default "true if its name ends with password, secret, token or the like")]
        pub secret: Option<bool>,
        /// Whether all users have it together: what a step of one of them sets, all of them see, in this session and the next.
        pub shared: bool,
        /// Values of the plan that others took the place of, from flags or the environment. A secret one stays secret.
        #[key(no)]
        pub replaced: Vec<Json>,
    }
    named(name variable)
}

impl Var {
    /// Its name and its value.
    pub(crate) fn definition(&self) -> (&str, &Json) {
        (&self.name.value, &self.value)
    }

    /// Whether its value is masked in every output.
    pub fn is_secret(&self) -> bool {
        self.secret.unwrap_or_else(|| sounds_secret(&self.name.value))
    }
}

/// The form of a variable: its value, or a mapping with `value`.
pub(crate) struct Variable;

impl Form for Variable {
    type Value = Var;
    const NULL: bool = true;
    fn shape() -> Shape {
        Shape::IfKey("value", Box::new((Of::<Var>::shape(), Shape::Any)))
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Var> {
        if node.is_map() && node.get("value").is_some() {
            return Of::<Var>::read(reader, node);
        }
        Some(Var { value: Any::read(reader, node)?, ..Var::default() })
    }
    fn print(value: &Var) -> Value {
        let said = Of::<Var>::print(value);
        // A mapping would be taken for more than the value.
        match said.as_object().filter(|said| said.len() == 1) {
            Some(alone) if !alone["value"].is_object() => alone["value"].clone(),
            _ => said,
        }
    }
}

words! {
    /// What a failed request (any error kind, a failed check included) does to its user.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum OnError {
        /// It goes on with the next step.
        #[default]
        Continue = "continue",
        /// It goes on with its next iteration.
        NextIteration = "next_iteration",
        /// It ends.
        StopUser = "stop_user",
        /// The run ends in order.
        StopRun = "stop_run",
        /// The run ends at once: what is in flight is cut off.
        AbortRun = "abort_run",
    }
}

/// How the beginning of a run is told from its steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warmup {
    /// By a rule, from what was recorded.
    #[default]
    Auto,
    /// There is none.
    None,
    /// It is so long.
    Fixed(Duration),
}

/// The form of a warm-up.
pub(crate) struct WarmupTime;

impl Form for WarmupTime {
    type Value = Warmup;
    fn shape() -> Shape {
        let words =
            vec![("auto", "By a rule, from what was recorded."), ("none", "There is none.")];
        Shape::Either(vec![Shape::Words(words), Time::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Warmup> {
        match reader.constant(node)?.value.as_str() {
            "auto" => Some(Warmup::Auto),
            "none" => Some(Warmup::None),
            _ => Time::read(reader, node).map(Warmup::Fixed),
        }
    }
    fn print(value: &Warmup) -> Value {
        match value {
            Warmup::Auto => json!("auto"),
            Warmup::None => json!("none"),
            Warmup::Fixed(time) => Time::print(time),
        }
    }
}

impl Plain for Warmup {
    type Form = WarmupTime;
}

record! {
    /// A kind of virtual user.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Scenario as "a scenario" {
        /// Its name.
        #[key(no)]
        pub name: Spanned<String>,
        /// What `scenario` is in expressions, and in files of samples; other scenarios may have the same.
        #[key(default "its name")]
        pub title: Option<String>,
        /// Its number, from 1, in the names of its users' threads in files of samples (`.jtl`).
        #[key([keys::Maybe<Positive>] default "that of its place in the plan")]
        pub number: Option<u64>,
        /// Variables of its users, which replace the plan's of the same name.
        #[key(no)]
        pub vars: Vec<Var>,
        /// Its own load.
        pub load: Option<Spanned<Load>>,
        /// Its share of the plan's shared load.
        #[key([keys::Maybe<keys::At<keys::Share>>])]
        pub weight: Option<Spanned<f64>>,
        /// When its load starts, counted from the start of the run, or from the end of those that it comes after.
        pub start_after: Duration,
        /// Scenarios that must have ended before its load starts; each must have its own load, as must this one.
        pub after: Vec<Spanned<String>>,
        /// How long iterations may go on after the end of its load, of its own, if `whole_iterations` are finished; at most the
        /// plan's.
        #[key(default "the plan's")]
        pub graceful_stop: Option<Duration>,
        /// Whether its connections end with each iteration.
        #[key([keys::Maybe<keys::Bool>] default "as `connections.reuse` says")]
        pub fresh_connections: Option<bool>,
        /// Tags of all its rows, known before the run.
        #[key([Tagged])]
        pub tags: Tags,
        /// Defaults of its requests, before the plan's.
        pub defaults: Defaults,
        /// What a failed request does.
        #[key(default "as the plan says")]
        pub on_error: Option<OnError>,
        /// Limits of a user's bytes per second.
        #[key([keys::Maybe<ShortOr<Bandwidth>>] default "the plan's")]
        pub bandwidth: Option<Bandwidth>,
        /// How long a session lasts.
        #[key(default "as the plan says")]
        pub session: Option<Session>,
        /// What a user does in one iteration.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
        /// Where it stands.
        #[key(no)]
        pub span: Span,
    }
    first(this, keys) {
        let about = "Variables of its users, which replace the plan's of the same name.";
        keys.key::<ByName<Variable>>(&mut this.vars, keys::Key::new("vars", about));
        keys.enter(this.vars.iter().map(Var::definition));
    }
    rules(_this, keys) {
        keys.leave();
        keys.rule(keys::Rule::Excludes("load", "weight", "leave out one of them"));
        let help = "add `load: {users: 10, for: 1m}`, or a `weight` and a `load` for the plan";
        keys.rule(keys::Rule::AnyOf(&["load", "weight"], "this scenario has no load", help));
    }
}

impl Scenario {
    /// When its load begins after the start of the run; `None`: when others have ended, which nobody knows before.
    pub fn begins(&self) -> Option<Duration> {
        self.after.is_empty().then_some(self.start_after)
    }
}

impl Named for Scenario {
    fn set_name(&mut self, name: Spanned<String>, _: &mut Reader) {
        self.span = name.span;
        self.name = name;
    }
    fn name(&self) -> &str {
        &self.name.value
    }
}

impl Plan {
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
