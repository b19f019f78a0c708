//! A compiled plan: what all workers share.

use std::collections::HashSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use squall_extract::Charset;
use squall_load::{Curve, Share};
use squall_metrics::{NameId, Names, RowKey};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::Slot;
use squall_plan::model::{Bandwidth, ConnectionReuse, OnError};
use squall_plan::secrets::Secrets;
use squall_plan::span::Span;
use squall_plan::value::Value;
use squall_wire::{Destination, Http, KeyStore, Origin};

use super::call::ViaUse;
use super::compiler::Section;
use super::feeds::Feed;
use super::op::{Op, Pc};
use super::places::{Function, Place};
use super::scripts::{Alone, Script, ScriptParts};
use crate::parts::hosts::Hosts;
use crate::parts::proxy::PlanProxy;
use crate::profile::{LoadProfile, Shape};
use crate::shared_values::Values;

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
    /// The scripts that steps call.
    pub(crate) scripts: Vec<Script>,
    /// The line that their requests stand in, and how many leave it in a second; `None`: they need not.
    pub(crate) script_rate: Option<(usize, f64)>,
    /// How many jars steps name; those that scripts make come after them.
    pub(crate) named_jars: u16,
    /// Seed of everything random.
    pub seed: u64,
    /// How long what is in flight at the end may take.
    pub graceful_stop: Duration,
}

impl Program {
    /// Whether an expression or a template looks at a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.used.contains(variable)
    }

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
    /// The first step that calls a function of a script.
    pub script: Option<Pc>,
    /// Whether connections of its users end with each iteration.
    pub fresh_connections: bool,
    /// Limits of a user's bytes a second.
    pub bandwidth: Option<Bandwidth>,
}

/// What a plan asks for of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'p> {
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

    /// The rows that are known before the run, in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = RowKey> {
        self.names.keys()
    }

    /// How many rows are counted separately.
    pub fn max_names(&self) -> usize {
        self.max_names
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

    /// What each script was made of that steps call.
    pub fn scripts(&self) -> impl Iterator<Item = ScriptParts> {
        self.scripts.iter().map(ScriptParts::of)
    }

    /// The plan's scripts whose users have an interpreter each: their files, with why and what that takes.
    pub fn alone(&self) -> impl Iterator<Item = (&Path, &Alone)> {
        self.scripts.iter().filter_map(|own| Some((own.file.as_path(), own.alone.as_ref()?)))
    }

    /// The rows that are known before it runs, in their order.
    pub fn known_rows(&self) -> impl Iterator<Item = squall_metrics::RowKey> {
        self.names.keys()
    }

    /// How many rows are counted separately.
    pub fn most_rows(&self) -> usize {
        self.max_names
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
            ConnectionReuse::PerUser
            | ConnectionReuse::PerIteration
            | ConnectionReuse::PerRequest => users,
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
