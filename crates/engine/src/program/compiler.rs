//! From a plan to a program: gathers what all steps share, then compiles scenario by scenario, and
//! notes every error it finds rather than the first.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use squall_extract::Charset;
use squall_metrics::{MAX_NAMES, MAX_NAMES_LIMIT, Names, RowKind};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BindError, Budget, Slot};
use squall_plan::model::{Defaults, MetricKind, Plan, Rendezvous, ResponseBody, Step};
use squall_plan::secrets::Secrets;
use squall_plan::span::{Span, Spanned};
use squall_plan::value::{MAX_VARIABLES, Value};
use squall_script::SharedData;
use squall_wire::{Destination, KeyStore, Origin};

use super::call::ViaUse;
use super::feeds::{Feed, Feeds};
use super::inherited::Inherited;
use super::node::Node;
use super::patterns::Patterns;
use super::places::Function;
use super::scripts::{KnownScripts, Scripts};
use super::stores::Stores;
use crate::parts::hosts::Hosts;
use crate::parts::numbered::Numbered;
use crate::parts::proxy::PlanProxy;

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
    /// Seed of everything random, in the place of the plan's own.
    pub seed: u64,
    /// The machine that it is compiled for.
    pub node: Node,
    /// The tags by which thresholds tell values of a metric apart, by the name of the metric.
    pub metric_tags: BTreeMap<String, BTreeSet<String>>,
    /// Arrays that users of scripts share, over all programs that are compiled with clones of this.
    pub script_data: SharedData,
    /// The files of scripts, likewise.
    pub script_files: KnownScripts,
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

impl Section {
    /// Whether a plan has steps in it.
    pub fn has_steps(self, plan: &Plan) -> bool {
        match self {
            Section::Setup => !plan.setup.is_empty(),
            Section::Teardown => !plan.teardown.is_empty(),
            Section::Load | Section::Trial => true,
        }
    }

    /// Whether it is a setup or a teardown whose steps all call scripts. A script looks at its responses itself: it fails
    /// with an exception alone.
    pub fn is_of_scripts(self, plan: &Plan) -> bool {
        let steps = match self {
            Section::Setup => &plan.setup,
            Section::Teardown => &plan.teardown,
            Section::Load | Section::Trial => return false,
        };
        !steps.is_empty() && steps.iter().all(Step::is_script)
    }
}

/// What the expressions compiled since it was last cleared look at.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Noticed {
    pub status: bool,
    pub body: bool,
    pub sent: bool,
}

/// State of a compilation.
pub(crate) struct Compiler<'p> {
    pub(super) options: &'p CompileOptions,
    pub(super) plan: &'p Plan,
    /// Defaults of the scenario being compiled, the plan's included.
    pub(super) defaults: &'p Defaults,
    /// The headers that follow redirects by these defaults.
    pub(super) following: Rc<HashSet<String>>,
    pub(super) constants: HashMap<String, Value>,
    pub(super) variables: Vec<String>,
    /// The slot of each variable that has a name.
    pub(super) slots: HashMap<String, Slot>,
    pub(super) initial: Vec<Option<Value>>,
    /// Names of the variables that all users have together, ...
    pub(super) shared: Vec<String>,
    /// ... and what they hold at first.
    pub(super) initial_shared: Vec<Option<Value>>,
    /// Which variables of the plan are secret, by name.
    pub(super) are_secret: HashMap<&'p str, bool>,
    /// The variables that setup has found.
    pub(super) found_by_setup: HashSet<&'p str>,
    pub(super) feeds: Vec<Feed>,
    pub(super) names: Names,
    /// The scenario being compiled, ...
    pub(super) scenario: String,
    /// ... and the groups around the step at hand, the outermost first.
    pub(super) groups: Vec<String>,
    /// ... and their tags, by name.
    pub(super) tags: Vec<(String, String)>,
    pub(super) functions: Vec<Function>,
    pub(super) patterns: Patterns,
    /// What the constants may still cost that are evaluated now.
    pub(crate) budget: Rc<Budget>,
    /// What cannot have been meant, though it can run.
    pub(super) warnings: Vec<Diagnostic>,
    /// Whether something with an error would have had names that are not known.
    pub(super) lacks_names: bool,
    /// The tags of which a value has an error.
    pub(super) lost_tags: HashSet<String>,
    /// The metrics that the plan has so far, by name, and what kind each is.
    pub(super) metric_kinds: Option<HashMap<&'p str, MetricKind>>,
    pub(crate) origins: Numbered<Origin>,
    /// Origin of the target and the path before every relative URL.
    pub(super) target: Option<(u32, String)>,
    pub(super) hosts: Hosts,
    pub(crate) proxy: PlanProxy,
    /// Where connections go, as far as it is known.
    pub(super) destinations: Numbered<Destination>,
    /// The source addresses that requests name.
    pub(super) source_addresses: Vec<(IpAddr, Span)>,
    /// The file of client certificates.
    pub(super) key_store: Option<KeyStore>,
    /// What requests say of how their origins are reached.
    pub(super) via_use: ViaUse,
    /// The number of the step at hand.
    pub(super) step: String,
    pub(super) sees_response: bool,
    /// What becomes of the body of the response at hand.
    pub(super) response_body: Option<&'p ResponseBody>,
    pub(super) noticed: Noticed,
    pub(super) used: HashSet<String>,
    pub(super) secrets: Secrets,
    /// The encodings in which requests send texts.
    pub(super) charsets: Vec<(String, Charset)>,
    /// Bytes that further variables may come to.
    pub(super) left: usize,
    pub(super) used_feeds: Vec<u16>,
    /// Whether something asks how many users are active.
    pub(super) counts_active: bool,
    /// The lines that users stand in together: the scenario, if it has its own, and the clock.
    pub(super) lines: Numbered<(Option<String>, String)>,
    /// The places that users meet at by name: the number of each, and what its first step says of it.
    pub(super) places: HashMap<String, (usize, &'p Rendezvous)>,
    /// How many passes users count together.
    pub(super) counts: usize,
    /// The jars and caches that have names.
    pub(super) stores: Stores,
    /// The scripts that steps call.
    pub(super) scripts: Scripts,
    /// What further steps may inherit.
    pub(super) inherited: Inherited,
    pub(super) errors: Vec<Diagnostic>,
}

/// The headers that follow redirects, in small letters.
pub(super) fn following(headers: &Option<Vec<Spanned<String>>>) -> HashSet<String> {
    headers.iter().flatten().map(|header| header.value.to_ascii_lowercase()).collect()
}

/// The secrets of a plan, and of the target in the place of its own.
fn secrets(plan: &Plan, options: &CompileOptions) -> Secrets {
    let mut secrets = plan.secrets();
    options.target.iter().for_each(|url| secrets.add_query(url));
    secrets
}

impl<'p> Compiler<'p> {
    pub(super) fn new(plan: &'p Plan, options: &'p CompileOptions) -> Self {
        Compiler {
            options,
            plan,
            defaults: &plan.defaults,
            following: Rc::new(following(&plan.defaults.http.redirect_headers)),
            constants: HashMap::new(),
            variables: Vec::new(),
            slots: HashMap::new(),
            initial: Vec::new(),
            shared: Vec::new(),
            initial_shared: Vec::new(),
            are_secret: Compiler::are_secret(plan),
            found_by_setup: options.setup.iter().map(|(name, _)| name.as_str()).collect(),
            feeds: Vec::new(),
            names: Names::new(usize::MAX),
            scenario: String::new(),
            groups: Vec::new(),
            tags: Vec::new(),
            functions: Vec::new(),
            patterns: Patterns::default(),
            budget: Rc::new(Budget::of_constants()),
            warnings: Vec::new(),
            lacks_names: false,
            lost_tags: HashSet::new(),
            metric_kinds: None,
            origins: Numbered::default(),
            target: None,
            hosts: Hosts::default(),
            proxy: PlanProxy::default(),
            destinations: Numbered::default(),
            source_addresses: Vec::new(),
            key_store: None,
            via_use: ViaUse::default(),
            step: String::new(),
            sees_response: false,
            response_body: None,
            noticed: Noticed::default(),
            used: HashSet::new(),
            secrets: secrets(plan, options),
            charsets: Vec::new(),
            left: MAX_VARIABLES,
            used_feeds: Vec::new(),
            counts_active: false,
            places: HashMap::new(),
            lines: Numbered::default(),
            counts: 0,
            stores: Stores::default(),
            scripts: Scripts::default(),
            inherited: Inherited::default(),
            errors: Vec::new(),
        }
    }

    /// How many names are counted separately.
    pub(super) fn max_names(&mut self) -> usize {
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

    /// How many errors and warnings there are so far.
    pub(super) fn reported(&self) -> (usize, usize) {
        (self.errors.len(), self.warnings.len())
    }

    /// What was found since, and has no place of its own, stands here.
    pub(super) fn place(&mut self, (errors, warnings): (usize, usize), span: Span) {
        let found = self.errors[errors..].iter_mut().chain(&mut self.warnings[warnings..]);
        found.for_each(|own| own.span = own.span.or(span));
    }

    pub(super) fn error(&mut self, span: Span, message: String, help: &str) {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
    }

    pub(super) fn note(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    pub(super) fn error_at(&mut self, error: BindError, span: Span) {
        self.errors.push(error.at(span));
    }

    /// What is wrong, without what only follows from a data file that could not be read.
    pub(super) fn into_errors(self) -> Vec<Diagnostic> {
        let lost = self.plan.data.iter().filter(|data| self.feed(&data.name.value).is_none());
        let follow: Vec<String> = lost
            .flat_map(|data| {
                let name = &data.name.value;
                [format!("unknown variable `{name}`"), format!("there is no data source `{name}`")]
            })
            .collect();
        let mut errors = self.errors;
        errors.retain(|error| !follow.contains(&error.message));
        // What setup has found, and what variables come to, is known to nobody else who shows them.
        for Diagnostic { message, help, .. } in &mut errors {
            *message = self.secrets.mask(message);
            *help = help.take().map(|help| self.secrets.mask(&help));
        }
        errors
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether another error gets a hint at a name that was meant: to find it takes a look at all.
    pub(super) fn hints(&self) -> bool {
        self.errors.len() < MAX_HINTS
    }
}

/// Whether rows of a kind count towards the plan's `max_names`.
fn counts_as_name(kind: RowKind) -> bool {
    !matches!(kind, RowKind::Check | RowKind::Iteration)
}
