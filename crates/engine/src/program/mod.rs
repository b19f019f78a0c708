//! The program: a plan compiled to a flat list of operations with jumps, immutable and shared by
//! all workers.
//!
//! What can be known before the run is done here: constants are folded, requests without variables
//! are rendered to their bytes, patterns and expressions are compiled, names get their numbers. No
//! network, no clock.

mod advise;
mod call;
mod compile;
mod cookies;
mod data;
mod exec;
mod flow;
mod inherited;
mod judged;
mod limits;
mod literals;
mod metric;
mod ops;
mod patterns;
mod post;
mod print;
mod request;
mod samples;
mod scenarios;
mod scope;
mod tags;
mod target;
mod times;
mod values;
mod variables;

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use squall_extract::Charset;
use squall_load::{Curve, Share};
use squall_metrics::{NameId, Names, PlaceId};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::model::{Bandwidth, ConnectionReuse, OnError, PacedBy, StopScope, Think};
use squall_plan::secrets::Secrets;
use squall_plan::span::Span;
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;
use squall_wire::{Destination, Http, KeyStore, Origin};

use crate::parts::hosts::Hosts;
use crate::parts::proxy::PlanProxy;
use crate::profile::{LoadProfile, Shape};
use crate::shared_values::Values;

pub use advise::advise;
pub(crate) use call::{
    Across, AuthOp, BodyOp, CallOp, ContentOp, FileOp, HeaderOp, MultipartKind, PartOp, Prepared,
    UrlOp, ViaOp, ViaUse,
};
pub(crate) use compile::Compiler;
pub use compile::{
    CompileOptions, DEFAULT_GRACEFUL_STOP, Refused, Section, compile, compile_or_refuse,
};
pub(crate) use data::Feed;
pub use data::Feeds;
pub use judged::{Judged, Subjects, misjudged};
pub(crate) use limits::{Limits, TimeoutsOp};
pub(crate) use ops::{
    CheckOp, CookieOp, CookiePlace, ExtractOp, FromOp, JsonOp, LookOp, MetricOp, NameOp, PostOp,
    RowOp, WriteOp,
};
pub(crate) use samples::{CaptureOp, ExecOp, Policy, RequestOp, ResourcesOp, TcpOp, TcpTo};
pub(crate) use scope::{Function, Intrinsic, Place};
pub(crate) use times::think;

/// Index of an operation within its scenario.
pub(crate) type Pc = u32;
/// Index of a number that a user keeps: a loop's counter or limit, a turn.
pub(crate) type Register = u16;

/// A compiled plan.
#[derive(Debug)]
pub struct Program {
    /// Name of the plan.
    pub name: String,
    /// The section of the plan that it is.
    pub(crate) section: Section,
    /// The kinds of users.
    pub(crate) scenarios: Vec<Scenario>,
    /// The loads, each of one scenario or of several by weight.
    pub(crate) loads: Vec<LoadProfile>,
    /// Names known before the run; the index is the number under which a worker records.
    pub(crate) names: Names,
    /// How many names are counted separately; at least those.
    pub(crate) max_names: usize,
    /// Names of the variables, by slot.
    pub(crate) variables: Vec<String>,
    /// What each variable holds when a session begins, if anything, by slot.
    pub(crate) initial: Arc<[Option<Value>]>,
    /// Names of the variables that all users have together.
    pub(crate) shared: Vec<String>,
    /// What they hold when the run begins.
    pub(crate) initial_shared: Values,
    /// The data files in use.
    pub(crate) feeds: Vec<Feed>,
    /// What expressions call beside the plan's own functions.
    pub(crate) functions: Vec<Function>,
    /// Where requests go, as far as it is known before the run.
    pub(crate) origins: Vec<Origin>,
    /// Where requests with a relative URL go, and the path before each.
    pub(crate) target: Option<(u32, String)>,
    /// Where requests may go.
    pub(crate) hosts: Hosts,
    /// Who uses a connection again.
    pub(crate) connections: ConnectionReuse,
    /// The version of HTTP that connections speak.
    pub(crate) http: Http,
    /// The plan's proxy.
    pub(crate) proxy: PlanProxy,
    /// Where connections go, as far as it is known before the run.
    pub(crate) destinations: Vec<Destination>,
    /// The source addresses that requests name, and where.
    pub(crate) source_addresses: Vec<(IpAddr, Span)>,
    /// The file of client certificates.
    pub(crate) key_store: Option<KeyStore>,
    /// What requests say of how their origins are reached.
    pub(crate) via_use: ViaUse,
    /// Whether something asks how many users are active.
    pub(crate) counts_active: bool,
    /// How many places users meet at.
    pub(crate) places: usize,
    /// How many lines users stand in together, ...
    pub(crate) lines: usize,
    /// ... and how many passes they count together.
    pub(crate) counts: usize,
    /// Names that expressions and templates look at.
    pub(crate) used: HashSet<String>,
    /// Texts that no output may show.
    pub secrets: Secrets,
    /// The encodings other than UTF-8 in which requests send texts, by their names in the plan.
    pub(crate) charsets: Vec<(String, Charset)>,
    /// Variables that hold such texts as soon as they are set.
    pub(crate) secrets_to_find: HashSet<String>,
    /// What cannot have been meant, though it can run.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Seed of everything random.
    pub seed: u64,
    /// How long what is in flight at the end may take.
    pub graceful_stop: Duration,
}

impl Program {
    /// The name of the variable of a slot, for messages; empty where it is none, or has none.
    pub(crate) fn variable_name(&self, slot: Slot) -> &str {
        let name = match Place::of(slot) {
            Place::Variable(index) => self.variables.get(index),
            Place::Shared(index) => self.shared.get(index),
            Place::Cell { .. } | Place::Intrinsic(_) => None,
        };
        name.map_or("", String::as_str)
    }
}

/// A kind of user, compiled.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub name: String,
    /// What its users see as its name.
    pub title: String,
    /// The row of its iterations.
    pub iteration: u32,
    pub ops: Vec<Op>,
    /// How many registers a user needs.
    pub registers: usize,
    /// The feeds that its steps look at, of which each iteration takes a row.
    pub feeds: Vec<u16>,
    pub on_error: OnError,
    /// Whether each iteration begins with a fresh session.
    pub fresh_sessions: bool,
    /// Whether connections of its users end with each iteration.
    pub fresh_connections: bool,
    /// Limits of a user's bytes a second.
    pub bandwidth: Option<Bandwidth>,
}

/// The name under which a group is counted.
#[derive(Debug)]
pub(crate) enum GroupName {
    Known(u32),
    /// Made each time; where it counts then.
    Made(BoundTemplate, PlaceId),
}

/// One operation. A user is a program counter over these.
#[derive(Debug)]
pub(crate) enum Op {
    Request(Box<RequestOp>),
    Exec(Box<ExecOp>),
    Tcp(Box<TcpOp>),
    Look(Box<LookOp>),
    Write(Box<WriteOp>),
    Think(Think),
    /// A wait that the user's variables decide.
    ThinkOfUser(BoundTemplate),
    /// A wait for a rate.
    Pace(Box<PaceOp>),
    /// A wait for other users.
    Rendezvous(Box<RendezvousOp>),
    /// A critical section begins; [`Op::LeaveSection`] ends the innermost one.
    EnterSection(Box<BoundTemplate>),
    LeaveSection,
    /// A group begins; [`Op::Leave`] ends the innermost one.
    Enter {
        name: GroupName,
        /// Whether the waits within it are left out of its time.
        without_thinks: bool,
        /// Whether what is in it are parts of one sample.
        is_one_sample: bool,
    },
    Leave {
        /// Whether that is before its end, by a jump out of it.
        early: bool,
    },
    Set {
        slot: Slot,
        value: JsonOp,
    },
    /// Evaluates `times` into `limit`, sets `counter` to 0.
    Repeat {
        times: BoundExpr,
        counter: Register,
        limit: Register,
    },
    /// Goes to `end` when `counter` has reached `limit`; otherwise shows it in `variable`, adds 1.
    Pass {
        counter: Register,
        limit: Register,
        variable: Option<Slot>,
        end: Pc,
    },
    /// Evaluates a list into the hidden variable `list`, sets `index` to 0.
    Each {
        of: BoundExpr,
        list: Slot,
        index: Register,
    },
    /// Goes to `end` after the last element; otherwise puts the next one into `item`.
    Element {
        list: Slot,
        index: Register,
        item: Slot,
        end: Pc,
    },
    Unless {
        condition: BoundExpr,
        to: Pc,
    },
    Jump(Pc),
    /// By weight: the first target whose cumulative share is above a random number.
    Choose {
        cumulative: Box<[f64]>,
        targets: Box<[Pc]>,
    },
    /// The next target each time.
    RoundRobin {
        turn: Register,
        targets: Box<[Pc]>,
    },
    /// Goes on in a user's first iteration, to the target in all others.
    OncePerUser {
        otherwise: Pc,
    },
    /// Goes on in some of the passes, to another place in all others.
    Passes(Box<PassesOp>),
    /// Draws an order for [`Op::Shuffled`]: its number into `order`, 0 into `turn`.
    Shuffle {
        order: Register,
        turn: Register,
    },
    /// The next target in that order; to `end` after the last.
    Shuffled {
        order: Register,
        turn: Register,
        targets: Box<[Pc]>,
        end: Pc,
    },
    /// Several flows at the same time; then on at their end.
    Parallel(Box<ParallelOp>),
    /// The next row of a feed.
    NextRow(u16),
    /// The cookies of a jar, or of all.
    ClearCookies(Option<u16>),
    /// A cache, or all.
    ClearCache(Option<u16>),
    SetCookie(Box<CookieOp>),
    Log(BoundTemplate),
    Stop(StopScope),
    Metric(Box<MetricOp>),
}

/// A wait for a rate.
#[derive(Debug)]
pub(crate) struct PaceOp {
    /// Passes a second.
    pub rate: BoundExpr,
    pub by: PacedBy,
    pub clock: PaceClock,
    /// Passes at random moments, of which the number is exact.
    pub exact: Option<ExactOp>,
}

/// An exact number of passes in a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactOp {
    /// The time, in nanoseconds.
    pub over: u64,
    /// How many passes are due at each moment.
    pub batch: u32,
}

/// Where it is kept when the last pass was due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PaceClock {
    /// With each user.
    User(Register),
    /// In a line of all users.
    Line(usize),
}

/// A wait for other users.
#[derive(Debug)]
pub(crate) struct RendezvousOp {
    /// The number of the place.
    pub place: usize,
    /// How many users have to be there.
    pub users: u32,
    /// How long the first of them waits at most, in nanoseconds.
    pub timeout: Option<u64>,
}

/// In which passes steps are done.
#[derive(Debug)]
pub(crate) struct PassesOp {
    pub count: PassCount,
    pub part: PassPart,
    /// Where a user goes on in the others.
    pub otherwise: Pc,
}

/// Where passes are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PassCount {
    /// With each user.
    User(Register),
    /// By all users together.
    Together(usize),
}

/// In how many passes steps are done.
#[derive(Debug)]
pub(crate) enum PassPart {
    /// In so many at first.
    First(BoundExpr),
    /// In so many of a hundred.
    Percent(BoundExpr),
}

/// Flows at the same time.
#[derive(Debug)]
pub(crate) struct ParallelOp {
    /// Most at the same time, at least 1.
    pub limit: usize,
    pub branches: Box<[Branch]>,
    /// Where the user goes on.
    pub end: Pc,
}

/// The operations of one flow of several.
#[derive(Debug)]
pub(crate) struct Branch {
    pub ops: Range<Pc>,
    /// The registers that these operations use, and no others do.
    pub registers: Range<Register>,
}

/// A time in nanoseconds; `u64::MAX`: for ever.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What a plan asks for of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'p> {
    /// The scenario.
    pub scenario: &'p str,
    /// Whether the curve is of arrivals a second; otherwise it is of users.
    pub is_open: bool,
    /// How many, over the time of the run; of one that comes after others over the time from its first user on.
    pub curve: Curve,
}

impl Program {
    /// Whether it does nothing: the plan has no steps for this part.
    pub fn is_empty(&self) -> bool {
        self.scenarios.iter().all(|scenario| scenario.ops.is_empty())
    }

    /// The loads that others wait for.
    pub(crate) fn awaited_loads(&self) -> Vec<u16> {
        let awaited: HashSet<u16> =
            self.loads.iter().flat_map(|load| &load.after).copied().collect();
        (0..self.loads.len() as u16).filter(|number| awaited.contains(number)).collect()
    }

    /// The name of a row that is known before the run.
    pub(crate) fn row_name(&self, row: u32) -> &str {
        self.names.get(NameId(row)).map_or("", |(_, name)| name)
    }

    /// Where requests go, as far as it is known before the run.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The file of client certificates.
    pub fn key_store(&self) -> Option<&KeyStore> {
        self.key_store.as_ref()
    }

    /// Whether requests name client certificates.
    pub fn names_certificates(&self) -> bool {
        self.via_use.certificates
    }

    /// Where connections go, as far as it is known before the run: with the proxies in between.
    pub fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    /// The source addresses that requests themselves name, each with its place in the plan.
    pub fn source_addresses(&self) -> &[(IpAddr, Span)] {
        &self.source_addresses
    }

    /// Whether requests have source addresses of their own.
    pub fn has_source_addresses(&self) -> bool {
        self.via_use.source_addresses
    }

    /// The version of HTTP that connections speak.
    pub fn http(&self) -> Http {
        self.http
    }

    /// The plan's data sources: the name of each, how many rows it has, and its columns.
    pub fn data(&self) -> impl Iterator<Item = (&str, u64, &[String])> {
        let feeds = self.feeds.iter();
        feeds.map(|feed| (feed.name.as_str(), feed.source.rows(), feed.source.columns()))
    }

    /// Length of the run in seconds, if all its loads end by time.
    pub fn length_s(&self) -> Option<f64> {
        let ends: Option<Vec<u64>> = self.loads.iter().map(LoadProfile::end).collect();
        ends?.into_iter().max().map(|end| end as f64 / 1e9)
    }

    /// The part of the run, in seconds, in which its loads stay as they are, as far as the plan says;
    /// its end is `None` where that is the end of the run. `None`: they never do.
    pub fn constant_s(&self) -> Option<(f64, Option<f64>)> {
        let starts: Option<Vec<u64>> = self.loads.iter().map(LoadProfile::constant_from).collect();
        let from = starts?.into_iter().max()?;
        let to = self.loads.iter().filter_map(LoadProfile::end).min();
        let seconds = |ns: u64| ns as f64 / 1e9;
        to.is_none_or(|to| to > from).then(|| (seconds(from), to.map(seconds)))
    }

    /// What the plan asks for of each scenario.
    pub fn planned(&self) -> impl Iterator<Item = Planned<'_>> {
        self.loads.iter().flat_map(|load| {
            load.members.iter().map(|member| Planned {
                scenario: &self.scenarios[member.scenario].name,
                is_open: matches!(load.shape, Shape::Open(_)),
                curve: load.curve(member.scenario),
            })
        })
    }

    /// Most workers that find a user to drive, and a connection where these are shared.
    pub fn most_workers(&self) -> u32 {
        let users = self.most_users();
        match self.connections {
            ConnectionReuse::Pool(size) => users.min(size).max(1),
            ConnectionReuse::PerUser | ConnectionReuse::PerIteration => users,
        }
    }

    /// Most users of closed workloads that a share ever has.
    pub(crate) fn most_closed_users(&self, share: &Share) -> u64 {
        let closed = self.loads.iter().filter(|load| matches!(load.shape, Shape::Closed(_)));
        closed.map(|load| share.count_below(load.most_users())).sum()
    }

    /// Most users of all loads at a time.
    pub(crate) fn users_of_loads(&self) -> u64 {
        self.loads.iter().fold(0, |sum, load| sum.saturating_add(load.most_users()))
    }

    /// Most users of a load at a time; at least 1.
    pub(crate) fn most_users(&self) -> u32 {
        let most = self.loads.iter().map(LoadProfile::most_users).max().unwrap_or(1);
        u32::try_from(most).unwrap_or(u32::MAX).max(1)
    }
}
