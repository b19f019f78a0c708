//! From a plan to a program: gathers what all steps share, then compiles scenario by scenario, and
//! notes every error it finds rather than the first.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use squall_metrics::{MAX_NAMES, MAX_NAMES_LIMIT, Names, RowKind};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BindError, BoundExpr, Expr, Slot};
use squall_plan::model::{
    Bandwidth, Defaults, HttpVersion, Load, OnError, Plan, ResponseBody, Session, Step, StepKind,
    Target, UserTime, Var,
};
use squall_plan::secrets::{Secrets, sounds_secret};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::{BoundTemplate, Template};
use squall_plan::value::{MAX_VARIABLES, Value};
use squall_wire::{Http, Origin, Proxy};

use super::flow::Flow;
use super::ops::JsonOp;
use super::scope::{Function, Place};
use super::{Feed, Feeds, Program, Scenario};
use crate::parts::{hosts::Hosts, url};
use crate::profile::{LoadProfile, Member, Shape};

/// How long what is in flight at the end may take, where the plan does not say.
pub const DEFAULT_GRACEFUL_STOP: Duration = Duration::from_secs(30);

/// Errors that come with the name that was most likely meant.
const MAX_HINTS: usize = 20;

/// What a compilation needs beside the plan.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// Base URL in place of the plan's target (the built-in target's address, or `--target`).
    pub target: Option<String>,
    /// Values found by the setup steps, by name.
    pub setup: Vec<(String, Value)>,
    /// The section that is compiled.
    pub section: Section,
    /// Whether steps may run programs.
    pub allow_exec: bool,
    /// Seed of everything random; the plan's own goes first.
    pub seed: u64,
    /// The plan's data files, shared by all programs that are compiled with clones of this.
    pub feeds: Feeds,
}

/// The section of a plan that is compiled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Section {
    /// The scenarios with their loads.
    #[default]
    Load,
    /// The setup steps, for one user and one iteration.
    Setup,
    /// The teardown steps, likewise.
    Teardown,
    /// The scenarios, for one user and one iteration each (`squall try`).
    Trial,
}

/// What the expressions compiled since it was last cleared look at.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Noticed {
    pub status: bool,
    pub body: bool,
}

/// State of a compilation.
pub(crate) struct Compiler<'p> {
    pub(super) options: &'p CompileOptions,
    pub(super) plan: &'p Plan,
    /// Defaults of the scenario being compiled, the plan's included.
    pub(super) defaults: &'p Defaults,
    pub(super) constants: HashMap<String, Value>,
    pub(super) variables: Vec<String>,
    /// The index of each variable that has a name.
    slots: HashMap<String, usize>,
    initial: Vec<Option<Value>>,
    /// The variables that setup has found.
    found_by_setup: HashSet<&'p str>,
    pub(super) feeds: Vec<Feed>,
    pub(super) names: Names,
    /// The scenario being compiled, ...
    pub(super) scenario: String,
    /// ... and the groups around the step at hand, the outermost first.
    pub(super) groups: Vec<String>,
    /// ... and their tags, by name.
    pub(super) tags: Vec<(String, String)>,
    pub(super) functions: Vec<Function>,
    pub(crate) origins: Vec<Origin>,
    /// Origin of the target and the path before every relative URL.
    pub(super) target: Option<(u32, String)>,
    pub(super) hosts: Hosts,
    /// The proxy that all connections go through.
    pub(crate) proxy: Option<Proxy>,
    /// The number of the step at hand.
    pub(super) step: String,
    pub(super) sees_response: bool,
    /// What becomes of the body of the response at hand.
    pub(super) response_body: Option<&'p ResponseBody>,
    pub(super) noticed: Noticed,
    pub(super) used: HashSet<String>,
    pub(super) secrets: Secrets,
    /// Bytes that further variables may come to.
    left: usize,
    used_feeds: Vec<u16>,
    errors: Vec<Diagnostic>,
}

/// What a variable of a scenario stands in place of.
struct Replaced {
    name: String,
    constant: Option<Value>,
    slot: Option<usize>,
}

/// Compiles a plan.
///
/// # Errors
/// Everything that was found wrong, each with its place: patterns, paths and selectors that do not
/// compile, names that do not exist, files that cannot be read, URLs that cannot be used.
pub fn compile(plan: &Plan, options: &CompileOptions) -> Result<Program, Vec<Diagnostic>> {
    let merged: Vec<Defaults> =
        plan.scenarios.iter().map(|scenario| inherit(&scenario.defaults, &plan.defaults)).collect();
    let mut compiler = Compiler::new(plan, options);
    compiler.open_feeds();
    compiler.declare();
    compiler.find_target();
    compiler.find_proxy();
    let (scenarios, loads) = match options.section {
        Section::Setup => compiler.once("setup", &plan.setup, OnError::StopRun),
        Section::Teardown => compiler.once("teardown", &plan.teardown, OnError::Continue),
        Section::Load | Section::Trial => compiler.scenarios(&merged),
    };
    let max_names = compiler.max_names();
    let secrets_to_find = compiler.secrets_to_find();
    if !compiler.errors.is_empty() {
        return Err(compiler.errors);
    }
    Ok(Program {
        name: plan.name.clone(),
        section: options.section,
        scenarios,
        loads,
        names: compiler.names,
        max_names,
        variables: compiler.variables,
        initial: compiler.initial.into(),
        feeds: compiler.feeds,
        functions: compiler.functions,
        origins: compiler.origins,
        target: compiler.target,
        hosts: compiler.hosts,
        connections: plan.connections.reuse,
        http: http(plan),
        proxy: compiler.proxy,
        used: compiler.used,
        secrets: compiler.secrets,
        secrets_to_find,
        seed: plan.seed.unwrap_or(options.seed),
        graceful_stop: plan.graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP),
    })
}

/// The version of HTTP that connections speak.
fn http(plan: &Plan) -> Http {
    match plan.connections.http {
        HttpVersion::V1 => Http::V1,
        HttpVersion::V2 => Http::V2,
        HttpVersion::Auto => Http::Auto,
    }
}

/// A scenario's defaults over the plan's.
fn inherit(own: &Defaults, plan: &Defaults) -> Defaults {
    let mut headers = own.headers.clone();
    for header in &plan.headers {
        if !own
            .headers
            .iter()
            .any(|(name, _)| name.source().eq_ignore_ascii_case(header.0.source()))
        {
            headers.push(header.clone());
        }
    }
    let either =
        |own: &Option<UserTime>, plan: &Option<UserTime>| own.as_ref().or(plan.as_ref()).cloned();
    Defaults {
        headers,
        timeout: squall_plan::model::Timeouts {
            pool: either(&own.timeout.pool, &plan.timeout.pool),
            connect: either(&own.timeout.connect, &plan.timeout.connect),
            first_byte: either(&own.timeout.first_byte, &plan.timeout.first_byte),
            total: either(&own.timeout.total, &plan.timeout.total),
        },
        redirects: own.redirects.or(plan.redirects),
        redirect_headers: own.redirect_headers.clone().or_else(|| plan.redirect_headers.clone()),
        default_headers: own.default_headers.or(plan.default_headers),
        cookies: own.cookies.or(plan.cookies),
        compression: own.compression.or(plan.compression),
        auth: own.auth.clone().or_else(|| plan.auth.clone()),
        max_body: own.max_body.or(plan.max_body),
        max_decompression_ratio: own.max_decompression_ratio.or(plan.max_decompression_ratio),
        status_errors: own.status_errors.or(plan.status_errors),
        retry_stale: own.retry_stale.or(plan.retry_stale),
        resources: own.resources.clone().or_else(|| plan.resources.clone()),
        tags: plan.tags.iter().chain(&own.tags).cloned().collect(),
    }
}

impl<'p> Compiler<'p> {
    fn new(plan: &'p Plan, options: &'p CompileOptions) -> Self {
        Compiler {
            options,
            plan,
            defaults: &plan.defaults,
            constants: HashMap::new(),
            variables: Vec::new(),
            slots: HashMap::new(),
            initial: Vec::new(),
            found_by_setup: options.setup.iter().map(|(name, _)| name.as_str()).collect(),
            feeds: Vec::new(),
            names: Names::new(usize::MAX),
            scenario: String::new(),
            groups: Vec::new(),
            tags: Vec::new(),
            functions: Vec::new(),
            origins: Vec::new(),
            target: None,
            hosts: Hosts::default(),
            proxy: None,
            step: String::new(),
            sees_response: false,
            response_body: None,
            noticed: Noticed::default(),
            used: HashSet::new(),
            secrets: plan.secrets(),
            left: MAX_VARIABLES,
            used_feeds: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn open_feeds(&mut self) {
        if let Some(feeds) = self.options.feeds.0.get() {
            self.feeds = feeds.clone();
            return;
        }
        let mut opened = Vec::new();
        for data in &self.plan.data {
            match Feed::open(data) {
                Ok(feed) => opened.push(feed),
                Err(message) => self.error(
                    data.file.span,
                    message,
                    "paths are relative to the folder of the plan",
                ),
            }
        }
        // Files that cannot be opened are errors, and end here.
        if self.errors.is_empty() {
            self.feeds = self.options.feeds.0.get_or_init(|| opened).clone();
        } else {
            self.feeds = opened;
        }
    }

    /// Gives a slot to every variable that a step sets, and folds all others to constants.
    fn declare(&mut self) {
        let plan = self.plan;
        let mut set = Vec::new();
        for step in plan.scenarios.iter().flat_map(|scenario| &scenario.steps) {
            written(step, &mut set);
        }
        if self.options.section == Section::Teardown {
            plan.teardown.iter().for_each(|step| written(step, &mut set));
        }
        // What setup found is a constant of the load and of teardown. To setup itself it is a variable;
        // so it is to the others while setup has not run, or if it found nothing.
        let mut of_setup = Vec::new();
        plan.setup.iter().for_each(|step| written(step, &mut of_setup));
        let is_setup = self.options.section == Section::Setup;
        set.extend(of_setup.into_iter().filter(|name| is_setup || !self.is_of_setup(name)));
        for (name, value) in &self.options.setup {
            if self.is_secret(name) {
                self.secrets.add_value(value);
            }
            self.constants.insert(name.clone(), value.clone());
        }
        for var in &plan.vars {
            if self.constants.contains_key(&var.name.value) {
                continue;
            }
            if let Some(value) = self.evaluate(var) {
                self.constants.insert(var.name.value.clone(), value);
            }
        }
        for name in set {
            if self.known_slot(&name).is_none() {
                let initial = self.constants.remove(&name);
                self.new_slot(name, initial);
            }
        }
    }

    /// Whether what a variable holds is secret: the plan says so, or its name does.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        let own = self.plan.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let mut known =
            self.plan.vars.iter().chain(own).filter(|var| var.name.value == name).peekable();
        match known.peek() {
            Some(_) => known.any(|var| var.is_secret()),
            None => sounds_secret(name),
        }
    }

    /// The secret variables that setup or teardown itself sets: what they hold is secret as soon as it is
    /// found. Those that users of a load set are not looked at, which would cost every request.
    fn secrets_to_find(&self) -> HashSet<String> {
        let steps = match self.options.section {
            Section::Setup => &self.plan.setup,
            Section::Teardown => &self.plan.teardown,
            Section::Load | Section::Trial => return HashSet::new(),
        };
        let mut names = Vec::new();
        steps.iter().for_each(|step| written(step, &mut names));
        names.into_iter().filter(|name| self.is_secret(name)).collect()
    }

    /// What a variable comes to before the run; `None`: that is an error.
    fn evaluate(&mut self, var: &'p Var) -> Option<Value> {
        let value = self.json(&var.value)?;
        let value = self.fold(&value, var.name.span)?;
        let Some(left) = value.left_of(self.left) else {
            // One that doubles others has more that double it.
            if std::mem::take(&mut self.left) > 0 {
                let (most, name) = (MAX_VARIABLES >> 20, &var.name.value);
                let message = format!("the variables come to more than {most} MiB with `{name}`");
                self.error(var.name.span, message, "");
            }
            return None;
        };
        self.left = left;
        if var.is_secret() {
            self.secrets.add_value(&value);
        }
        self.allow_urls(&value);
        Some(value)
    }

    /// Puts the variables of a scenario in place of those of the plan, and gives what they replace. One that
    /// a step sets has a slot of its own, with this value at first.
    fn enter(&mut self, vars: &'p [Var]) -> Vec<Replaced> {
        let mut replaced = Vec::new();
        for var in vars {
            let Some(value) = self.evaluate(var) else { continue };
            let name = var.name.value.clone();
            let (constant, slot) = (self.constants.remove(&name), self.slots.remove(&name));
            if slot.is_some() {
                self.new_slot(name.clone(), Some(value));
            } else {
                self.constants.insert(name.clone(), value);
            }
            replaced.push(Replaced { name, constant, slot });
        }
        replaced
    }

    /// Undoes [`Compiler::enter`].
    fn leave(&mut self, replaced: Vec<Replaced>) {
        for Replaced { name, constant, slot } in replaced.into_iter().rev() {
            self.slots.remove(&name);
            self.constants.remove(&name);
            self.slots.extend(slot.map(|slot| (name.clone(), slot)));
            self.constants.extend(constant.map(|value| (name, value)));
        }
    }

    /// A URL in a variable of the plan names its host, whatever becomes of the variable.
    fn allow_urls(&mut self, value: &Value) {
        match value {
            Value::Text(text) => {
                if let Ok(url::Location { origin, .. }) = url::parse(text) {
                    self.hosts.allow_origin(&origin.host, origin.port);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.allow_urls(item)),
            Value::Map(map) => map.values().for_each(|value| self.allow_urls(value)),
            _ => {}
        }
    }

    /// Whether a variable's value is one that setup has found.
    pub(super) fn is_of_setup(&self, name: &str) -> bool {
        self.found_by_setup.contains(name)
    }

    /// The value of something that may only depend on what is known before the run.
    fn fold(&mut self, json: &JsonOp, span: Span) -> Option<Value> {
        match json.value(&crate::scope::Before::new(self.options.seed)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(
                    span,
                    error.to_string(),
                    "variables of the plan are evaluated before the run",
                );
                None
            }
        }
    }

    fn find_target(&mut self) {
        let plan = self.plan;
        for host in &plan.allow_hosts {
            if let Err(message) = self.hosts.allow(&host.value) {
                self.error(
                    host.span,
                    message,
                    "it is a name or an address, without a scheme or a path",
                );
            }
        }
        let text = match (&self.options.target, &plan.target) {
            (Some(text), _) => text.clone(),
            (None, Some(Target::Url(template))) => {
                let Some(text) = self.known_text(template, "target") else { return };
                text
            }
            // The address of the built-in target is known when it has started.
            (None, Some(Target::Builtin)) => "http://builtin.invalid".to_owned(),
            (None, None) => return,
        };
        let span = match &plan.target {
            Some(Target::Url(template)) => template.span(),
            _ => Span::default(),
        };
        match url::parse(&text) {
            Ok(url::Location { origin, path, .. }) => {
                let prefix =
                    path.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
                let origin = self.origin(origin);
                self.target = Some((origin, prefix));
            }
            Err(error) => self.error(
                span,
                format!("invalid target `{text}`: {error}"),
                "write it as http://host:port or https://host",
            ),
        }
    }

    fn find_proxy(&mut self) {
        let Some(template) = &self.plan.connections.proxy else { return };
        let Some(text) = self.known_text(template, "proxy") else { return };
        match url::proxy(&text) {
            Ok(proxy) => self.proxy = Some(proxy),
            Err(message) => self.error(template.span(), message, ""),
        }
    }

    /// The text of a template that may hold only what is known before the run.
    fn known_text(&mut self, template: &Template, what: &str) -> Option<String> {
        let text = self.template(template)?.constant();
        if text.is_none() {
            self.error(
                template.span(),
                format!("the {what} must be known before the run"),
                "only variables of `vars`, --set, the environment and setup can be used here",
            );
        }
        text
    }

    /// The version of HTTP that connections speak.
    pub(crate) fn http(&self) -> Http {
        http(self.plan)
    }

    /// The number of an origin that the plan itself names: requests may go there.
    pub(super) fn origin(&mut self, origin: Origin) -> u32 {
        self.hosts.allow_origin(&origin.host, origin.port);
        let found = self.origins.iter().position(|known| *known == origin);
        let index = found.unwrap_or_else(|| {
            self.origins.push(origin);
            self.origins.len() - 1
        });
        index as u32
    }

    /// How many names are counted separately.
    fn max_names(&mut self) -> usize {
        let (known, most) = (self.names.len(), MAX_NAMES_LIMIT as u64);
        if let Some(number) = self.plan.max_names.as_ref().filter(|number| number.value > most) {
            let message = format!("`max_names` is {}: expected at most {most}", number.value);
            self.error(number.span, message, "");
        }
        if known > MAX_NAMES_LIMIT {
            let message =
                format!("the plan has {known} names of requests: expected at most {most}");
            self.error(Span::default(), message, "give similar requests one `name`");
        }
        let number = self.plan.max_names.as_ref().map_or(MAX_NAMES as u64, |number| number.value);
        // Checks and iterations are no requests whose names could be too many.
        let others = self.names.keys().filter(|key| !counts_as_name(key.place.kind)).count();
        (number.min(most) as usize).max(known - others) + others
    }

    /// Setup or teardown: one user, one iteration. Setup ends with the first error, as what comes after it
    /// would not mean what the plan says; teardown goes on, as the other things are to be cleaned up too.
    fn once(
        &mut self,
        name: &str,
        steps: &'p [Step],
        on_error: OnError,
    ) -> (Vec<Scenario>, Vec<LoadProfile>) {
        let scenario = self.scenario(name, &[], steps, on_error, None);
        (vec![scenario], vec![LoadProfile::once(0)])
    }

    fn scenarios(&mut self, defaults: &'p [Defaults]) -> (Vec<Scenario>, Vec<LoadProfile>) {
        let plan = self.plan;
        let mut scenarios = Vec::new();
        let mut loads = Vec::new();
        let mut shared = Vec::new();
        for (index, (scenario, defaults)) in plan.scenarios.iter().zip(defaults).enumerate() {
            self.defaults = defaults;
            let on_error = scenario.on_error.unwrap_or(plan.on_error);
            let bandwidth = Some(scenario.bandwidth.unwrap_or(plan.bandwidth));
            let (name, steps) = (&scenario.name.value, &scenario.steps);
            let replaced = self.enter(&scenario.vars);
            scenarios.push(self.scenario(name, &scenario.tags, steps, on_error, bandwidth));
            self.leave(replaced);
            if self.options.section == Section::Trial {
                loads.push(LoadProfile::once(index));
                continue;
            }
            match (&scenario.load, &scenario.weight) {
                (Some(load), _) => {
                    let members = vec![Member { scenario: index, weight: 1.0 }];
                    self.load(&load.value, load.span, members, scenario.start_after, &mut loads);
                }
                (None, Some(weight)) => {
                    shared.push(Member { scenario: index, weight: weight.value })
                }
                // Validation has seen to it that a scenario has one or the other.
                (None, None) => {}
            }
        }
        if let Some(load) = &plan.load
            && !shared.is_empty()
        {
            self.load(&load.value, load.span, shared, Duration::ZERO, &mut loads);
        }
        for load in &loads {
            // An arrival is somebody who was not there before; a user is the same all the time.
            let default = match load.shape {
                Shape::Open(_) => Session::PerIteration,
                Shape::Closed(_) => Session::PerUser,
            };
            for member in &load.members {
                let session = plan.scenarios[member.scenario].session.or(plan.session);
                let is_fresh = session.unwrap_or(default) == Session::PerIteration;
                scenarios[member.scenario].fresh_sessions = is_fresh;
            }
        }
        (scenarios, loads)
    }

    fn load(
        &mut self,
        load: &Load,
        span: Span,
        members: Vec<Member>,
        start_after: Duration,
        loads: &mut Vec<LoadProfile>,
    ) {
        match LoadProfile::new(load, members, start_after) {
            Ok(load) => loads.push(load),
            Err(message) => self.error(span, message, ""),
        }
    }

    fn scenario(
        &mut self,
        name: &str,
        tags: &'p [(Spanned<String>, Template)],
        steps: &'p [Step],
        on_error: OnError,
        bandwidth: Option<Bandwidth>,
    ) -> Scenario {
        self.used_feeds.clear();
        name.clone_into(&mut self.scenario);
        self.tags.clear();
        let defaults = self.defaults;
        self.put_on(&defaults.tags);
        self.put_on(tags);
        let iteration = self.name(RowKind::Iteration, "iteration");
        let mut flow = Flow::new(self);
        flow.steps(steps);
        let registers = flow.registers();
        let ops = flow.ops;
        let feeds = std::mem::take(&mut self.used_feeds);
        let bandwidth = bandwidth.filter(|bandwidth| *bandwidth != Bandwidth::default());
        Scenario {
            name: name.to_owned(),
            iteration,
            ops,
            registers,
            feeds,
            on_error,
            fresh_sessions: false,
            bandwidth,
        }
    }

    pub(super) fn template(&mut self, template: &Template) -> Option<BoundTemplate> {
        match template.bind(self) {
            Ok(bound) => Some(bound),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    pub(super) fn formula(&mut self, expr: &Expr) -> Option<BoundExpr> {
        match expr.bind(self) {
            Ok(bound) => Some(bound),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    pub(super) fn error(&mut self, span: Span, message: String, help: &str) {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
    }

    pub(super) fn error_at(&mut self, error: BindError, span: Span) {
        self.errors.push(error.at(span));
    }

    /// The slot of a variable; [`Compiler::declare`] has seen all that steps set.
    pub(super) fn slot(&mut self, name: &str) -> Slot {
        self.known_slot(name).unwrap_or_else(|| self.new_slot(name.to_owned(), None))
    }

    /// A slot for a loop's own use.
    pub(super) fn hidden_slot(&mut self) -> Slot {
        self.new_slot(String::new(), None)
    }

    fn new_slot(&mut self, name: String, initial: Option<Value>) -> Slot {
        let index = self.variables.len();
        if !name.is_empty() {
            self.slots.insert(name.clone(), index);
        }
        self.variables.push(name);
        self.initial.push(initial);
        Place::Variable(index).slot()
    }

    pub(super) fn known_slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).map(|index| Place::Variable(*index).slot())
    }

    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.known_slot(name).is_some() || self.constants.contains_key(name)
    }

    pub(super) fn feed(&self, name: &str) -> Option<usize> {
        self.feeds.iter().position(|feed| feed.name == name)
    }

    pub(super) fn use_feed(&mut self, feed: usize) {
        let feed = feed as u16;
        if !self.used_feeds.contains(&feed) {
            self.used_feeds.push(feed);
        }
    }

    /// Whether another error gets a hint at a name that was meant: to find it takes a look at all.
    pub(super) fn hints(&self) -> bool {
        self.errors.len() < MAX_HINTS
    }

    /// Names of everything that a plan defines.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .chain(self.constants.keys())
            .chain(self.feeds.iter().map(|feed| &feed.name))
            .map(String::as_str)
    }
}

/// Whether rows of a kind count towards the plan's `max_names`.
fn counts_as_name(kind: RowKind) -> bool {
    !matches!(kind, RowKind::Check | RowKind::Iteration)
}

/// Names of the variables that a step sets, its inner steps included.
fn written(step: &Step, names: &mut Vec<String>) {
    match &step.kind {
        StepKind::Request(request) => {
            names.extend(request.extract.iter().map(|extract| extract.variable.value.clone()));
        }
        StepKind::Exec(exec) => {
            names.extend(exec.extract.iter().map(|extract| extract.variable.value.clone()));
        }
        StepKind::Repeat { counter, .. } => names.extend(counter.clone()),
        StepKind::ForEach { item, .. } => names.push(item.clone()),
        StepKind::Set(values) => names.extend(values.iter().map(|(name, _)| name.value.clone())),
        _ => {}
    }
    step.inner().for_each(|step| written(step, names));
}
