//! A JMeter plan as one of squall's. All of JMeter's scopes and merged defaults are resolved here, so that the rest
//! of squall knows nothing of JMeter; and whatever is active and has no exact equal becomes an [`Obstacle`]: nothing
//! is left out in silence.

mod action;
mod arrivals;
mod assertion;
mod assign;
mod backend;
mod body;
mod branches;
mod calls;
mod condition;
mod controller;
mod counters;
mod data;
mod dates;
mod decimal;
mod escapes;
mod extractor;
mod filled;
mod found;
mod group;
mod headers;
mod hidden;
mod hosts;
mod includes;
mod jmespath;
mod json;
mod json_path;
mod key_store;
mod links;
mod listeners;
mod looks;
mod made;
mod modules;
mod names;
mod passes;
mod pattern;
mod reached;
mod reader;
mod request;
mod rewriting;
mod rows;
mod sampler;
mod schedule;
mod script;
mod scripted;
mod search;
mod stores;
mod tcp;
mod texts;
mod timer;
mod told;
mod transaction;
mod transfer;
mod unused;
mod urls;
mod variables;
mod verdicts;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use squall_plan::expr::Expr;
use squall_plan::model::{
    DataSource, Defaults, HttpOptions, If, Json, KeyStore, Plan, Step, StepKind, Target, Think,
    Thinking, Timeouts, UserTime, Var,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use crate::constants::Constants;
use crate::elements::Role;
use crate::machine::Machine;
use crate::scope::Scopes;
use crate::tree::{ElementId, Tree};
use data::{Columns, Data};
use names::Names;
use reader::Reader;
use texts::TextPiece;

/// How long a request may take, and how long one in flight at the end is waited for: JMeter has no limit, and here
/// there must be one.
const NO_LIMIT: Duration = Duration::from_secs(3600);

/// So many milliseconds, or 292 years, which is the longest time that a plan can have.
fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number).min(Duration::from_nanos(i64::MAX as u64))
}

/// What keeps a plan from running as JMeter would run it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obstacle {
    pub element: ElementId,
    /// What of it has no equal, such as `embedded resources`.
    pub what: String,
}

/// A JMeter plan as one of squall's.
#[derive(Debug, Clone, PartialEq)]
pub struct Translation {
    /// The plan; it means the same only if there are no obstacles.
    pub plan: Plan,
    /// What has no equal, in the order of the file. Elements that are not supported at all are not listed here: the
    /// [inventory](crate::inventory()) has them.
    pub obstacles: Vec<Obstacle>,
    /// Listeners that send nothing, and why, likewise.
    pub idle: Vec<Obstacle>,
    /// Whether no thread group has anything to do: the plan is then one that ends at once.
    pub is_idle: bool,
}

/// What a plan is translated with, beside itself.
#[derive(Debug, Clone, Default)]
pub struct TranslationContext {
    /// JMeter's properties (`-J`).
    pub properties: BTreeMap<String, String>,
    /// What scripts may ask for that say where files are.
    pub machine: Machine,
    /// The folder that the plan's files are relative to. Of data files whose first line has the names, that is read.
    pub folder: PathBuf,
    /// The name of the plan's own file; empty if it is not known.
    pub file_name: String,
}

pub fn translate(tree: &Tree, given: TranslationContext) -> Translation {
    let included = includes::expand(tree, &given);
    let expanded = modules::expand(&included.tree).after(included);
    let tree = &expanded.tree;
    let constants = Constants::of(tree, &given);
    let columns = data::columns(tree, &constants, &given.folder);
    let key_store = key_store::of(&given);
    let of_all = reached::of_all(&given);
    let mut translator = Translator {
        tree,
        scopes: Scopes::of(tree),
        names: Names::of(tree, &columns),
        constants,
        columns,
        folder: given.folder,
        file_name: given.file_name,
        key_store,
        of_all,
        sampler: Cell::new(None),
        made: Vec::new(),
        data: Data::default(),
        any_host: Cell::new(false),
        in_main_thread: Cell::new(false),
        is_defining: Cell::new(false),
        is_judging: Cell::new(false),
        held: RefCell::default(),
        shared: RefCell::default(),
        passwords: RefCell::default(),
        look_ups: RefCell::default(),
        settings: RefCell::default(),
        made_sources: RefCell::default(),
        row_files: RefCell::default(),
        obstacles: RefCell::default(),
        idle: RefCell::default(),
    };
    translator.define();
    translator.find_data();
    let mut plan = translator.plan();
    let is_idle = plan.scenarios.is_empty();
    if is_idle {
        plan.scenarios.push(group::of_nothing());
    }
    // What is used in several places stands in one.
    let at_origins = |mut found: Vec<Obstacle>| {
        found.iter_mut().for_each(|Obstacle { element, what }| {
            let origin = expanded.origins[element.number()];
            // Of what another file has, this one's controller is named.
            if origin != *element && tree.element(origin).class == "IncludeController" {
                *what = format!("`{}`: {what}", tree.element(*element).name);
            }
            *element = origin;
        });
        found.sort();
        found.dedup();
        found
    };
    let mut obstacles = translator.obstacles.into_inner();
    obstacles.extend(expanded.obstacles.iter().cloned());
    let idle = at_origins(translator.idle.into_inner());
    Translation { plan, obstacles: at_origins(obstacles), idle, is_idle }
}

/// What is known while a plan is translated.
struct Translator<'t> {
    tree: &'t Tree,
    /// What holds for which sampler.
    scopes: Scopes<'t>,
    constants: Constants,
    /// The variables that get values while the plan runs.
    names: Names,
    /// The variables of each data file.
    columns: Columns,
    /// The folder that files are relative to.
    folder: PathBuf,
    /// The name of the plan's own file.
    file_name: String,
    /// The file of client certificates that system properties name.
    key_store: Option<KeyStore>,
    /// How requests reach their hosts, where they do not say it.
    of_all: reached::OfAll,
    /// The sampler whose texts are read.
    sampler: Cell<Option<ElementId>>,
    /// User-defined variables that functions give a value at the start of the run, in the order of the file.
    made: Vec<(String, Vec<TextPiece>)>,
    data: Data,
    /// Whether a request may go to a host that is known only while the plan runs.
    any_host: Cell<bool>,
    /// Whether what is read is read by the main thread, as user-defined variables and the numbers of groups are: before
    /// there is a thread that could have others.
    in_main_thread: Cell<bool>,
    /// Whether it is user-defined variables that are read.
    is_defining: Cell<bool>,
    /// Whether what is read is read behind a sample, whose response is then the last one.
    is_judging: Cell<bool>,
    /// Hidden variables that are null until something is set.
    held: RefCell<BTreeSet<String>>,
    /// Hidden variables that all users have together, likewise.
    shared: RefCell<BTreeSet<String>>,
    /// Passwords that are known, each with the hidden variable that it stands in.
    passwords: RefCell<BTreeMap<String, String>>,
    /// Which managers look up the hosts of requests; `None`: JMeter itself does.
    look_ups: RefCell<BTreeSet<Option<ElementId>>>,
    /// What the texts of the step at hand set before it; none where nothing can be set.
    settings: RefCell<Option<Vec<StepKind>>>,
    /// Data sources that functions go through.
    made_sources: RefCell<Vec<DataSource>>,
    /// Files of whose rows each thread has one: with the data source that deals them out, and the hidden variable for it.
    row_files: RefCell<BTreeMap<String, (String, String)>>,
    obstacles: RefCell<Vec<Obstacle>>,
    /// Listeners that send nothing, and why.
    idle: RefCell<Vec<Obstacle>>,
}

impl Translator<'_> {
    /// A hidden variable of an element, which is null until it is set; `part`: which of those that it has for one purpose.
    fn held(&self, purpose: &'static str, element: ElementId, part: usize) -> String {
        let name = self.names.hidden_of(purpose, element, part);
        self.hold(&name);
        name
    }

    /// A hidden variable of a function's call, likewise.
    fn held_by_call(&self, purpose: &'static str) -> String {
        let name = self.names.hidden(purpose);
        self.hold(&name);
        name
    }

    /// A hidden variable is null until it is set.
    fn hold(&self, name: &str) {
        self.held.borrow_mut().insert(name.to_owned());
    }

    /// The hidden variable that a password stands in.
    fn password(&self, known: &str) -> String {
        let mut all = self.passwords.borrow_mut();
        let name = all
            .entry(known.to_owned())
            .or_insert_with(|| format!("{}_password", self.names.hidden("constant")));
        name.clone()
    }

    fn obstacle(&self, element: ElementId, what: impl Into<String>) {
        self.obstacles.borrow_mut().push(Obstacle { element, what: what.into() });
    }

    /// The properties of an element, each of which is to be read.
    fn read(&self, element: ElementId) -> Reader<'_> {
        Reader::new(self, element, &self.tree.element(element).properties)
    }

    fn role(&self, element: ElementId) -> Option<Role> {
        self.tree.element(element).known().map(|known| known.role)
    }

    /// Where an element stands in the file.
    fn place(&self, element: ElementId) -> Span {
        self.tree.element(element).span
    }

    /// What an element does, as steps that stand where it does.
    fn steps_of(&self, element: ElementId, kinds: impl IntoIterator<Item = StepKind>) -> Vec<Step> {
        let span = self.place(element);
        kinds.into_iter().map(|kind| Step { kind, span }).collect()
    }

    fn class(&self, element: ElementId) -> &str {
        &self.tree.element(element).class
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan {
            defaults: Defaults {
                headers: headers::defaults(),
                http: HttpOptions {
                    default_headers: Some(false),
                    cookies: Some(false),
                    client_cert: self.client_certificate(),
                    timeout: Timeouts {
                        connect: Some(UserTime::Known(NO_LIMIT)),
                        total: Some(UserTime::Known(NO_LIMIT)),
                        ..Timeouts::default()
                    },
                    ..HttpOptions::default()
                },
                ..Defaults::default()
            },
            graceful_stop: Some(NO_LIMIT),
            connections: self.connections(),
            ..Plan::default()
        };
        let active = |id: &ElementId| self.tree.element(*id).enabled;
        let mut groups = Vec::new();
        for root in self.tree.roots.iter().copied().filter(active) {
            if self.class(root) == "TestPlan" {
                plan.name = self.tree.element(root).name.clone();
                self.of_all.refused.iter().for_each(|what| self.obstacle(root, what.clone()));
                self.test_plan(root);
                self.sample_files(root, None, &mut plan.samples);
                self.feeds(root, None, &mut plan.feeds);
            }
            let inner = self.tree.enabled_children(root);
            groups.extend(inner.filter(|id| self.role(*id) == Some(Role::ThreadGroup)));
            self.look_at_variables();
        }
        self.groups(&groups, &mut plan);
        self.look_up(&mut plan.connections);
        self.idle_listeners();
        plan.vars = self.variables();
        plan.data = self.data.sources.clone();
        plan.data.extend(self.made_sources.borrow().iter().cloned());
        if self.any_host.get() {
            plan.allow_hosts.push(Spanned::new("*".to_owned(), Span::default()));
        }
        plan.target = request::common_origin(&mut plan.scenarios).map(Target::Url);
        plan
    }

    /// What the test plan itself says.
    fn test_plan(&self, id: ElementId) {
        let reader = self.read(id);
        // Variables are known to `Constants`; what responses were is kept for listeners alone.
        reader.pass(&["TestPlan.user_defined_variables", "TestPlan.functional_mode"]);
        // It is about groups that there are not.
        reader.pass(&["TestPlan.tearDown_on_shutdown", "TestPlan.thread_groups"]);
        // What would need its classes is refused by itself.
        reader.pass(&["TestPlan.user_define_classpath"]);
        for child in self.tree.enabled_children(id) {
            if matches!(self.role(child), Some(Role::Sampler | Role::Controller)) {
                self.obstacle(child, "being outside of a thread group");
            }
        }
        reader.pass(&["TestPlan.serialize_threadgroups"]);
        reader.finish();
    }

    /// Reads something as the main thread does, before there is a thread that could have variables of its own.
    fn as_main_thread<T>(&self, read: impl FnOnce() -> T) -> T {
        self.in_main_thread.set(true);
        let found = read();
        self.in_main_thread.set(false);
        found
    }

    /// Finds the user-defined variables that functions give a value: they are as good as any that is set later.
    fn define(&mut self) {
        self.in_main_thread.set(true);
        self.is_defining.set(true);
        for of_element in self.constants.made().to_vec() {
            let pieces: Vec<(String, Vec<TextPiece>)> = of_element
                .into_iter()
                .filter_map(|(name, source)| Some((name, self.split(&source).ok()?)))
                // No thread runs yet that would have a number.
                .filter(|(_, pieces)| !pieces.contains(&TextPiece::Expr(texts::THREAD.to_owned())))
                .collect();
            pieces.iter().for_each(|(name, _)| self.names.add(name));
            self.made.extend(pieces);
        }
        self.in_main_thread.set(false);
        self.is_defining.set(false);
    }

    /// The plan's variables: those that get values while it runs, with what they are before.
    fn variables(&self) -> Vec<Var> {
        let var = |name: &str, value: Template| Var {
            name: Spanned::new(name.to_owned(), Span::default()),
            value: Json::Text(value),
            ..Var::default()
        };
        let is_made = |name: &str| self.made.iter().any(|(made, _)| made == name);
        let unused = unused::unused(self.tree, &self.columns);
        let vars = self.names.iter().filter(|(name, _)| !is_made(name)).map(|(name, variable)| {
            // JMeter leaves a variable that has no value as it was written.
            let written = format!("${{{name}}}");
            let value = Template::text(self.constants.variable(name).unwrap_or(&written));
            let mut var = var(variable, value);
            var.name.span = unused.get(name).copied().unwrap_or_default();
            var
        });
        // Of a name that stands twice the last value counts.
        let mut made: Vec<Var> = Vec::new();
        for (name, pieces) in &self.made {
            let (Some(root), Some(name)) = (self.tree.roots.first(), self.names.variable(name))
            else {
                continue;
            };
            let own = var(name, self.template_of(*root, pieces));
            match made.iter_mut().find(|before| before.name.value == name) {
                Some(before) => *before = own,
                None => made.push(own),
            }
        }
        let vars = vars.chain(made);
        let held = self.held.borrow();
        let hidden = held.iter().map(String::as_str).chain(self.names.all_matches());
        let hidden = hidden.map(|name| Var {
            name: Spanned::new(name.to_owned(), Span::default()),
            value: Json::Null,
            ..Var::default()
        });
        let properties = self.names.properties().map(|(name, variable)| Var {
            name: Spanned::new(variable.to_owned(), Span::default()),
            value: match self.constants.property_value(name) {
                Some(value) => Json::Text(Template::text(value)),
                None => Json::Null,
            },
            shared: true,
            ..Var::default()
        });
        let shared = self.shared.borrow();
        let shared = shared.iter().map(|name| Var {
            name: Spanned::new(name.clone(), Span::default()),
            value: Json::Null,
            shared: true,
            ..Var::default()
        });
        let mut vars: Vec<Var> = vars.chain(hidden).chain(properties).chain(shared).collect();
        // Constants stand in requests as text: for these alone the plan says what is masked wherever it shows.
        for (name, value) in self.constants.secrets() {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let name = name.chars().map(plain).collect::<String>();
            vars.push(secret(&format!("{}_{name}", self.names.hidden("constant")), value));
        }
        vars.extend(self.passwords.borrow().iter().map(|(value, name)| secret(name, value)));
        vars
    }

    /// The elements "User Defined Variables", whose values are known to `Constants`, and those that set properties of
    /// samplers, wherever they stand.
    fn look_at_variables(&self) {
        for (id, element) in self.tree.iter() {
            if !self.tree.takes_part(id) {
                continue;
            }
            match element.class.as_str() {
                "Arguments" => {
                    let reader = self.read(id);
                    reader.pass(&["Arguments.arguments"]);
                    reader.finish();
                }
                // Its properties become those of samplers, of which most look at none with such a name.
                "Simple Config Element" => {
                    let names = element.properties.iter().map(|own| own.name.as_str());
                    for name in names.filter(|name| name.contains("Sampler.")) {
                        self.obstacle(id, format!("the property `{name}` of samplers"));
                    }
                }
                _ => {}
            }
        }
    }
}

/// A variable that is masked wherever it shows.
fn secret(name: &str, value: &str) -> Var {
    Var {
        name: Spanned::new(name.to_owned(), Span::default()),
        value: Json::Text(Template::text(value)),
        secret: Some(true),
        ..Var::default()
    }
}

/// A step without a place of its own: what is wrong with it stands where the step around it does.
fn step(kind: StepKind) -> Step {
    Step { kind, span: Span::default() }
}

/// A step that takes no time: a group has one at least.
fn no_time() -> Step {
    step(StepKind::Think(Thinking::Known(Think::Fixed(Duration::ZERO))))
}

/// Steps as one; none if there are none.
fn of_one(mut steps: Vec<Step>) -> Option<Step> {
    match steps.len() {
        0 | 1 => steps.pop(),
        _ => {
            let condition = Expr::parse("true", Span::default()).ok()?;
            Some(step(StepKind::If(Box::new(If { condition, then: steps, otherwise: Vec::new() }))))
        }
    }
}

#[cfg(test)]
mod tests;
