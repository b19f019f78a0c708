//! What reading a plan knows and notes: its files, every error, and the nodes' texts.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::constants::Constants;
use super::node::{self, Kind, Node};
use super::suggest::{as_extract, as_mapping, as_text, as_variable, home, suggest, suggest_step};
use crate::diagnostic::{self, Diagnostic, Severity, Sources};
use crate::files;
use crate::json::Json;
use crate::span::{Span, Spanned};
use crate::template::Template;
use crate::vars::LoadOptions;

/// Deepest nesting of included files.
const MAX_INCLUDES: usize = 16;

/// Most errors that are noted, and most warnings.
const MAX_FOUND: usize = 100;
/// Most steps of a plan, those of its includes and within others counted.
const MAX_STEPS: usize = 50_000;

/// What helps where a list of steps or branches was to stand behind a key, and there is nothing.
pub(crate) const UNINDENTED: &str =
    "the list that follows belongs here if it is indented further than this key";
/// What helps where one of several lists of steps stands for a step.
const BRANCH: &str = "one of the lists of `choose`, `round_robin` or `shuffle` belongs to it if it is indented \
                      further than that key";

/// The names of one of several ways to write something.
pub(crate) struct Spelling {
    pub names: Vec<&'static str>,
    /// How many of the names, from the first, decide that it is this way.
    pub deciding: usize,
}

impl Spelling {
    pub fn deciding(&self) -> &[&'static str] {
        &self.names[..self.deciding]
    }
}

/// Reads one plan and its includes.
pub(crate) struct Reader {
    folder: PathBuf,
    sources: Sources,
    found: Vec<Diagnostic>,
    /// Files being included, outermost first.
    including: Vec<PathBuf>,
    /// Steps that have been read.
    steps: usize,
    /// Variables whose definitions are wrong.
    lost: Vec<Spanned<String>>,
    options: LoadOptions,
    /// The names of what can be written in several ways, since they are asked for often.
    ways: HashMap<TypeId, Rc<[Spelling]>>,
    /// Variables in quantities, those of the scenario at hand over those of the plan.
    constants: Constants,
}

impl Reader {
    /// Nothing has been read.
    pub fn new(folder: &Path, options: LoadOptions) -> Reader {
        Reader {
            folder: folder.to_owned(),
            sources: Sources::default(),
            found: Vec::new(),
            including: Vec::new(),
            steps: 0,
            lost: Vec::new(),
            options,
            ways: HashMap::new(),
            constants: Constants::default(),
        }
    }

    /// What was found, and the files.
    pub fn finish(self) -> (Vec<Diagnostic>, Sources) {
        (self.found, self.sources)
    }

    /// The nodes of a file.
    pub fn parse(&mut self, name: &str, text: &str) -> Option<Node> {
        let file = self.sources.add(name, text);
        self.good(node::parse(text, file))
    }

    /// The folder that paths are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Notes an error; an empty help adds nothing.
    pub fn error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.report(Diagnostic::error(span, message).with_help(help));
    }

    /// Notes what may not mean what was meant.
    pub fn warning(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.report(Diagnostic::warning(span, message).with_help(help));
    }

    pub fn report(&mut self, found: Diagnostic) {
        if self.count(found.severity) < MAX_FOUND {
            self.found.push(found);
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|found| found.severity == severity).count()
    }

    /// Whether so much is wrong that no more is noted.
    fn is_full(&self) -> bool {
        self.count(Severity::Error) >= MAX_FOUND
    }

    /// What is good; of what is not, the error is noted.
    pub fn good<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|error| self.report(error)).ok()
    }

    /// A variable that exists, but whose definition is wrong.
    pub fn lost(&mut self, name: &Spanned<String>) {
        self.lost.push(name.clone());
    }

    /// Those variables, and the names of those whose values stand in quantities.
    pub fn take_variables(&mut self) -> (Vec<Spanned<String>>, BTreeSet<String>) {
        (std::mem::take(&mut self.lost), std::mem::take(&mut self.constants.used))
    }

    /// Notes that something else was expected.
    pub fn wrong(&mut self, node: &Node, expected: &str) {
        self.error(node.span, format!("expected {expected}, found {}", node.describe()), "");
    }

    /// The names of what can be written in several ways.
    pub fn ways(&mut self, of: TypeId, find: fn() -> Vec<Spelling>) -> Rc<[Spelling]> {
        Rc::clone(self.ways.entry(of).or_insert_with(|| find().into()))
    }

    /// Notes that this is no mapping. `expected`: its title and its keys.
    pub fn no_mapping(
        &mut self,
        node: &Node,
        expected: impl FnOnce() -> (&'static str, Vec<&'static str>),
    ) {
        if self.is_full() {
            return;
        }
        let (title, names) = expected();
        let message = format!("expected a mapping, found {}", node.describe());
        let meant = match &node.kind {
            Kind::Scalar(text, _) if !text.is_empty() => as_mapping(title, text),
            _ => None,
        };
        let help = meant.unwrap_or_else(|| format!("{title} has {}", names.join(", ")));
        self.error(node.span, message, &help);
    }

    /// Notes keys that are not known, or stand twice. Whether there are unknown ones.
    pub fn unknown_keys(&mut self, node: &Node, title: &str, known: &[&'static str]) -> bool {
        let Kind::Map(entries) = &node.kind else { return false };
        let (mut seen, mut any) = (HashSet::new(), false);
        for (key, value) in entries {
            let Kind::Scalar(name, _) = &key.kind else {
                self.wrong(key, "a name");
                continue;
            };
            if !seen.insert(name.as_str()) {
                self.error(key.span, format!("duplicate key `{name}`"), "");
            } else if !known.contains(&name.as_str()) {
                any = true;
                if self.is_full() {
                    break;
                }
                let near = || {
                    let near = suggest(name, known.iter().copied())?;
                    Some(format!("did you mean `{near}`?"))
                };
                let help = as_text(title, name, value)
                    .or_else(near)
                    .or_else(|| home(name))
                    .unwrap_or_else(|| format!("{title} has {}", listed(known)));
                self.error(key.span, format!("unknown key `{name}` in {title}"), &help);
            }
        }
        any
    }

    /// Notes that keys are missing, or have nothing behind them.
    pub fn missing(&mut self, node: &Node, title: &str, missing: &[&str]) {
        let quoted = |names: Vec<&&str>| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            diagnostic::listed(&names.iter().map(String::as_str).collect::<Vec<_>>(), "and")
        };
        let (given, absent): (Vec<_>, Vec<_>) =
            missing.iter().partition(|name| node.key_span(name).is_some());
        let message = match (given.len(), absent.len()) {
            (0, _) => format!("{title} needs {}", quoted(absent)),
            (1, 0) => format!("{} is empty", quoted(given)),
            (_, 0) => format!("{} are empty", quoted(given)),
            (_, _) => format!("{title} needs {}, and {} is empty", quoted(absent), quoted(given)),
        };
        let empty = missing.iter().find_map(|name| node.key_span(name));
        let begins = |span: Span| {
            let line =
                self.sources.line(span)?.chars().skip(span.column.saturating_sub(1) as usize);
            line.skip_while(|c| *c != ':').skip(1).find(|c| !c.is_whitespace())
        };
        let help = match missing {
            _ if empty.and_then(begins).is_some_and(|c| matches!(c, '&' | '#')) => {
                "put quotes around a text that begins with `&` or `#`"
            }
            ["choose" | "parallel" | "round_robin" | "shuffle", ..] => UNINDENTED,
            [.., "steps" | "then"] => {
                "a list of steps belongs to the step before it if it is indented further"
            }
            ["scenarios"] => "add `scenarios:` with a name, a load and steps",
            _ => "",
        };
        let span = empty.unwrap_or(node.span);
        self.error(span, message, help);
    }

    /// Notes that a word is none of those that are known.
    pub fn unknown_word(&mut self, text: &Spanned<String>, known: &[&'static str]) {
        let help = match suggest(&text.value, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            // The facts that an extract may be.
            None if known.contains(&"body_hash") => as_extract(&text.value),
            None => String::new(),
        };
        let message =
            format!("invalid value `{}`: expected one of {}", text.value, known.join(", "));
        self.error(text.span, message, &help);
    }

    /// Notes that no key says which step this is.
    pub fn unknown_step(&mut self, node: &Node, known: &[&'static str]) {
        if self.is_full() {
            return;
        }
        let Kind::Map(entries) = &node.kind else {
            let message = format!("expected a step, found {}", node.describe());
            return self.error(node.span, message, "such as `- get: /`");
        };
        let name = |(key, _): &'_ (Node, Node)| match &key.kind {
            Kind::Scalar(name, _) => Some((key.span, name.clone())),
            _ => None,
        };
        let names: Vec<(Span, String)> = entries.iter().filter_map(name).collect();
        let find = |help: &dyn Fn(&str) -> Option<String>| {
            names.iter().find_map(|(span, name)| Some((*span, name, help(name)?)))
        };
        let is_branch = node.get("steps").is_some();
        let near = |name: &str| {
            suggest_step(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"))
        };
        let home = |name: &str| home(name).filter(|_| !is_branch);
        let otherwise = match is_branch {
            true => BRANCH.to_owned(),
            false => format!("steps are {}", known.join(", ")),
        };
        let found = find(&near).or_else(|| find(&home));
        match found.or_else(|| find(&|_| Some(otherwise.clone()))) {
            Some((span, name, help)) => self.error(span, format!("unknown step `{name}`"), &help),
            None => {
                self.error(node.span, "expected a step, found an empty mapping", &otherwise);
            }
        }
    }

    /// A map of the user's own names, in its order.
    pub fn names<'n>(&mut self, node: &'n Node) -> Vec<(Spanned<String>, &'n Node)> {
        let Kind::Map(entries) = &node.kind else {
            self.wrong(node, "a mapping");
            return Vec::new();
        };
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for (key, value) in entries {
            let Kind::Scalar(name, _) = &key.kind else {
                self.wrong(key, "a name");
                continue;
            };
            if !seen.insert(name.as_str()) {
                self.error(key.span, format!("duplicate key `{name}`"), "");
            }
            names.push((Spanned::new(name.clone(), key.span), value));
        }
        names
    }

    /// Whether a name is one that expressions can use.
    pub fn identifier(&mut self, name: &Spanned<String>) {
        let mut chars = name.value.chars();
        let good = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_')
            && !matches!(name.value.as_str(), "true" | "false" | "null" | "in" | "has");
        if !good {
            let message = format!("invalid variable name `{}`", name.value);
            self.error(name.span, message, "use letters, digits and `_`, beginning with a letter");
        }
    }

    /// A text; a quoted one begins behind its quote.
    pub fn text(&mut self, node: &Node) -> Option<Spanned<String>> {
        match &node.kind {
            _ if node.is_null() => {
                let help = "write \"\" for an empty one";
                self.error(node.span, "expected a text, found nothing", help);
                None
            }
            Kind::Scalar(text, _) => Some(Spanned::new(text.clone(), node.text_span())),
            _ => {
                let help = match node.braced_name() {
                    Some(name) => {
                        format!("a variable is written \"${{{}}}\", in quotes", as_variable(name))
                    }
                    None => String::new(),
                };
                let message = format!("expected a string, found {}", node.describe());
                self.error(node.span, message, &help);
                None
            }
        }
    }

    /// A text that is known before the run.
    pub fn constant(&mut self, node: &Node) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        if !text.value.contains("${") {
            return Some(text);
        }
        let template = self.good(Template::parse(&text.value, text.span))?;
        let value = self.constants.text(&template);
        self.good(value).map(|value| Spanned::new(value, text.span))
    }

    /// What a reading comes to, whatever is wrong with it.
    pub fn quietly<T>(&mut self, read: impl FnOnce(&mut Reader) -> T) -> T {
        let (found, lost) = (self.found.len(), self.lost.len());
        let value = read(self);
        self.found.truncate(found);
        self.lost.truncate(lost);
        value
    }

    /// The variables that an experiment gives its plan.
    pub fn factors(&self) -> &[(String, Json)] {
        &self.options.factors
    }

    /// Gives the plan these, unless it was given some.
    pub fn give_factors(&mut self, factors: Vec<(String, Json)>) {
        if self.options.factors.is_empty() {
            self.options.factors = factors;
        }
    }

    /// From here on quantities may hold these variables too, each with the value that was given for it, or else its own.
    pub fn enter<'v>(&mut self, vars: impl Iterator<Item = (&'v str, &'v Json)>) {
        let options = &self.options;
        self.constants.enter(vars.map(|(name, own)| {
            (name, options.given(name).last().map_or(Cow::Borrowed(own), Cow::Owned))
        }));
    }

    /// Undoes [`Reader::enter`].
    pub fn leave(&mut self) {
        self.constants.leave();
    }

    /// Counts a step; `false`: there are too many, which has been said.
    pub fn counts_step(&mut self, span: Span) -> bool {
        self.steps += 1;
        if self.steps == MAX_STEPS + 1 {
            let message = format!("the plan has more than {MAX_STEPS} steps");
            self.error(span, message, "steps that are alike can be a `repeat` over `data`");
        }
        self.steps <= MAX_STEPS
    }

    /// The steps of another file.
    pub fn include<T>(
        &mut self,
        path: Spanned<PathBuf>,
        read: impl FnOnce(&mut Reader, &Node) -> Option<T>,
    ) -> Option<T> {
        if self.options.alone {
            self.error(path.span, "this plan comes from elsewhere: it cannot include files", "");
            return None;
        }
        if self.including.contains(&path.value) {
            self.error(path.span, "this file includes itself", "");
            return None;
        }
        if self.including.len() >= MAX_INCLUDES {
            let message = format!("includes are nested more than {MAX_INCLUDES} levels deep");
            self.error(path.span, message, "");
            return None;
        }
        let text = match files::text(&path.value) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.value.display());
                self.error(path.span, message, "paths are relative to the folder of the plan");
                return None;
            }
        };
        let name = path.value.display().to_string();
        self.including.push(path.value);
        let root = self.parse(&name, &text);
        let steps = root.and_then(|root| {
            let steps = root.get("steps").unwrap_or(&root);
            read(self, steps)
        });
        self.including.pop();
        steps
    }
}

/// Names in their order, each once: a key that decides what a mapping is stands with its further keys, too.
fn listed(names: &[&'static str]) -> String {
    let mut seen = HashSet::new();
    let once: Vec<&str> = names.iter().copied().filter(|name| seen.insert(*name)).collect();
    once.join(", ")
}
