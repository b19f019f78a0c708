//! How many and when.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::keys::{
    self, Bool, Form, Listed, Maybe, Of, Plain, Positive, Record, Rule, Shape, record, words,
};
use crate::nodes::{Node, Reader};

/// How many and when.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// A closed workload: a number of virtual users.
    Closed(Closed),
    /// An open workload: arrivals at a rate.
    Open(Open),
}

impl Load {
    /// Whether it may end before its time, as its iterations are done.
    pub fn ends_when_done(&self) -> bool {
        match self {
            Load::Closed(closed) => closed.iterations.or(closed.total_iterations).is_some(),
            Load::Open(open) => open.total_iterations.is_some(),
        }
    }
}

record! {
    /// A number of users, each starting its next iteration when the last is done.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Closed as "a closed workload" {
        /// Virtual users at the end of `ramp`, or before the first of `stages`.
        pub users: Option<u64>,
        /// Time over which they start, evenly.
        pub ramp: Duration,
        /// Users over time; from 0 (or `users`) to each stage's number in turn.
        #[key([Listed<StageOfUsers, 1>])]
        pub stages: Vec<Stage>,
        /// How long users that stages take away may take to finish their iteration, if `whole_iterations` are finished.
        #[key(default "no limit")]
        pub graceful_ramp_down: Option<Duration>,
        /// Time between the starts of a user's iterations.
        pub pacing: Option<Duration>,
        /// End: time since the load's start, ramp included.
        #[key("for")]
        pub duration: Option<Duration>,
        /// End: iterations of each user.
        pub iterations: Option<u64>,
        /// End: iterations of all users together.
        pub total_iterations: Option<u64>,
        /// Who ends when the first user has made its iterations.
        pub end: End,
        /// Whether it continues until it is stopped, if nothing else ends it.
        #[key([OnlyTrue] default "it ends")]
        pub endless: bool,
    }
    rules(_this, keys) {
        keys.rule(Rule::AnyOf(&["users", "stages"], "a load needs `users`, `rate` or `stages`", ""));
        keys.rule(Rule::Excludes("ramp", "stages", "make the ramp the first stage"));
        keys.rule(Rule::Above0Without { key: "users", other: "stages" });
        keys.rule(Rule::Needs("graceful_ramp_down", "stages", "add `stages`, or leave it out"));
        keys.rule(Rule::Needs("end", "iterations", "add `iterations`, or leave out `end`"));
        keys.rule(Rule::AnyOf(
            &["for", "iterations", "total_iterations", "stages", "endless"],
            "this load never ends",
            "add `for: 1m`, `iterations` or `total_iterations`, or say that it is meant: `endless: true`",
        ));
    }
}

impl Closed {
    /// The longest time over which users with a pacing and without a ramp start.
    const MAX_SPREAD: Duration = Duration::from_secs(1);

    /// The time over which users start, where there are no stages: the ramp. Without one, users that keep a pacing
    /// start over one pacing, or over a second if it is longer: if they all started at the same moment, they would be
    /// due at the same moment ever after, and all but the first of them would be sent late.
    pub fn start_time(&self) -> Duration {
        match self.pacing {
            Some(pacing) if self.ramp.is_zero() => pacing.min(Closed::MAX_SPREAD),
            _ => self.ramp,
        }
    }
}

words! {
    /// Whether users with a number of iterations wait for each other's end.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum End {
        /// Each user ends when its own iterations are done: at last only some are left.
        #[default]
        Each = "each",
        /// All end as soon as the first one has done its iterations: none works alone.
        Together = "together",
    }
}

record! {
    /// A rate of arrivals, each starting an iteration of a free user.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Open as "an open workload" {
        /// Arrivals per second at the end of `ramp`, or before the first of `stages`.
        #[key([Maybe<keys::Rate>])]
        pub rate: Option<f64>,
        /// Time over which the rate rises from 0.
        pub ramp: Duration,
        /// Rate over time; from 0 (or `rate`) to each stage's rate in turn.
        #[key([Listed<StageOfArrivals, 1>])]
        pub stages: Vec<Stage>,
        /// Whether arrivals are evenly spaced or random.
        pub arrivals: Arrivals,
        /// Maximum number of users at a time; an arrival that finds none free is dropped, and counted.
        #[key([Positive] default "10 seconds' worth of arrivals, at least 100")]
        pub max_users: u64,
        /// End: time since the load's start, ramp included.
        #[key("for")]
        pub duration: Option<Duration>,
        /// End: number of arrivals.
        pub total_iterations: Option<u64>,
    }
    rules(_this, keys) {
        keys.rule(Rule::AnyOf(&["rate", "stages"], "a load needs `users`, `rate` or `stages`", ""));
        keys.rule(Rule::Excludes("ramp", "stages", "make the ramp the first stage"));
        keys.rule(Rule::AnyOf(
            &["for", "total_iterations", "stages"],
            "this load never ends",
            "add `for: 1m` or `total_iterations`",
        ));
    }
}

/// Most users of an open load, where the plan does not say: enough for a second's arrivals that take
/// 10 seconds each.
const MAX_USERS_SECONDS: f64 = 10.0;

impl Open {
    /// The most users that it takes unless it says otherwise.
    fn usual_max_users(&self) -> u64 {
        let most = self.stages.iter().map(|stage| stage.level).chain(self.rate).fold(0.0, f64::max);
        ((most * MAX_USERS_SECONDS).ceil() as u64).clamp(100, 1_000_000)
    }
}

words! {
    /// The distances of arrivals.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Arrivals {
        /// Evenly spaced.
        #[default]
        Even = "even",
        /// A Poisson process: exponential distances.
        Poisson = "poisson",
    }
}

/// A straight line to a level. `over: 0s` is a jump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Users, or arrivals a second, at the end of the stage.
    pub level: f64,
    /// Its length.
    pub over: Duration,
}

record! {
    /// Users at the end of a stage.
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct UsersOver as "a stage of users" {
        /// Users at its end.
        #[key(required)]
        pub users: u64,
        /// Its length; 0 means a jump.
        pub over: Duration,
    }
}

record! {
    /// The rate at the end of a stage.
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct RateOver as "a stage of arrivals" {
        /// Arrivals per second at its end.
        #[key(required [keys::Rate])]
        pub rate: f64,
        /// Its length; 0 means a jump.
        pub over: Duration,
    }
}

/// A stage of a closed workload.
struct StageOfUsers;
/// A stage of an open workload.
struct StageOfArrivals;

impl Form for StageOfUsers {
    type Value = Stage;
    fn shape() -> Shape {
        Of::<UsersOver>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Stage> {
        Of::<UsersOver>::read(reader, node)
            .map(|UsersOver { users, over }| Stage { level: users as f64, over })
    }
    fn print(value: &Stage) -> Value {
        Of::<UsersOver>::print(&UsersOver { users: value.level as u64, over: value.over })
    }
}

impl Form for StageOfArrivals {
    type Value = Stage;
    fn shape() -> Shape {
        Of::<RateOver>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Stage> {
        Of::<RateOver>::read(reader, node)
            .map(|RateOver { rate, over }| Stage { level: rate, over })
    }
    fn print(value: &Stage) -> Value {
        Of::<RateOver>::print(&RateOver { rate: value.level, over: value.over })
    }
}

/// The form of a load: one with a `rate`, or stages of one, is an open workload.
pub(crate) struct Workload;

impl Form for Workload {
    type Value = Load;
    fn shape() -> Shape {
        Shape::Either(vec![Of::<Closed>::shape(), Of::<Open>::shape()])
    }

    fn read(reader: &mut Reader, node: &Node) -> Option<Load> {
        let stages = node.get("stages").map(Node::items).unwrap_or_default();
        let is_open = node.get("rate").is_some_and(|rate| !rate.is_null())
            || stages.iter().any(|stage| stage.get("rate").is_some());
        let (closed, open) = own_names();
        let (others, kind, help) = match is_open {
            true => (closed, Closed::TITLE, "replace `rate` by `users`, or leave it out"),
            false => (open, Open::TITLE, "add a `rate`, or leave it out"),
        };
        for name in others {
            if let Some(span) = node.key_span(name) {
                reader.error(span, format!("`{name}` only applies to {kind}"), help);
            }
        }
        if !node.is_map() {
            return if is_open { None } else { Of::<Closed>::read(reader, node).map(Load::Closed) };
        }
        let (mut closed, mut open) = (Closed::default(), Open::default());
        let title = if is_open { Open::TITLE } else { Closed::TITLE };
        keys::read(reader, node, title, |keys| {
            keys.passed_over(others);
            if is_open { open.keys(keys) } else { closed.keys(keys) }
        });
        if !is_open {
            warn_of_ramp(reader, node, closed.ramp, closed.duration);
            return Some(Load::Closed(closed));
        }
        warn_of_ramp(reader, node, open.ramp, open.duration);
        if open.max_users == 0 {
            open.max_users = open.usual_max_users();
        }
        Some(Load::Open(open))
    }

    fn print(value: &Load) -> Value {
        match value {
            Load::Closed(closed) => Of::<Closed>::print(closed),
            Load::Open(open) => Of::<Open>::print(open),
        }
    }
}

impl Plain for Load {
    type Form = Workload;
}

/// The keys that only a closed workload has, and those that only an open one has.
fn own_names() -> &'static (Vec<&'static str>, Vec<&'static str>) {
    static NAMES: OnceLock<(Vec<&'static str>, Vec<&'static str>)> = OnceLock::new();
    fn names<R: Record>() -> Vec<&'static str> {
        let table = keys::describe(R::TITLE, |keys| R::default().keys(keys));
        table.all_keys().into_iter().map(|key| key.key.name).collect()
    }
    NAMES.get_or_init(|| {
        let (mut closed, mut open) = (names::<Closed>(), names::<Open>());
        let both: Vec<&str> = closed.iter().filter(|name| open.contains(name)).copied().collect();
        closed.retain(|name| !both.contains(name));
        open.retain(|name| !both.contains(name));
        (closed, open)
    })
}

/// A load that ends before its ramp does never reaches what was asked for.
fn warn_of_ramp(reader: &mut Reader, node: &Node, ramp: Duration, length: Option<Duration>) {
    let Some(length) = length.filter(|length| *length < ramp) else { return };
    let print = squall_base::units::print_duration;
    let message = format!(
        "the ramp ({}) is longer than the load (`for: {}`), which never reaches its full size",
        print(ramp),
        print(length)
    );
    let help = "`for` includes the ramp: make it longer than the ramp";
    reader.warning(node.key_span("ramp").unwrap_or(node.span), message, help);
}

/// `true`, where the opposite is not to write anything.
pub(crate) struct OnlyTrue;

impl Form for OnlyTrue {
    type Value = bool;
    fn shape() -> Shape {
        Shape::Words(vec![("true", "")])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<bool> {
        if !Bool::read(reader, node)? {
            reader.error(node.span, "expected `true`", "leave out the key");
            return None;
        }
        Some(true)
    }
    fn print(value: &bool) -> Value {
        json!(value)
    }
    fn is_given(value: &bool) -> bool {
        *value
    }
}
