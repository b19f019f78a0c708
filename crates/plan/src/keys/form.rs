//! A value's form, and what is done with the keys of a mapping: they are read, printed, described or named.

use std::any::TypeId;

use serde_json::{Map, Value};

use super::shape::{Entry, Key, KeyShape, Rule, Shape, Table};
use crate::diagnostic::{Diagnostic, listed};
use crate::json::Json;
use crate::nodes::{Node, Reader, Spelling};

/// How a value stands in a plan.
pub(crate) trait Form {
    /// What it is in the model.
    type Value: Clone;
    /// Whether nothing (`null`) is a value, and not the same as no key.
    const NULL: bool = false;
    /// What it is, for people and editors.
    fn shape() -> Shape;
    /// Reads it; `None`: errors have been noted.
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value>;
    /// As it is read again.
    fn print(value: &Self::Value) -> Value;
    /// Whether there is anything to print.
    fn is_given(_: &Self::Value) -> bool {
        true
    }
}

/// A type with a form of its own.
pub(crate) trait Plain: Sized {
    /// How it is written where nothing else is said.
    type Form: Form<Value = Self>;
}

/// Values that stand under keys of a mapping.
pub(crate) trait Record: Default + Clone {
    /// What messages call it, such as `a timeout`.
    const TITLE: &'static str;
    /// Shows its keys.
    fn keys(&mut self, keys: &mut Keys<'_>);
}

/// One of several ways to write something, each with its own keys within one mapping.
pub(crate) trait Union: Clone + 'static {
    /// One of each way, empty.
    fn variants() -> Vec<Self>;
    /// Shows the keys of this one. The first of them decides that it is this one.
    fn keys(&mut self, keys: &mut Keys<'_>);
}

/// What is done with keys.
pub(crate) struct Keys<'a>(Task<'a>);

enum Task<'a> {
    Read(Reading<'a>),
    Print(&'a mut Printed),
    Describe(&'a mut Table),
    /// The names, and how many of the first decide which of several ways it is.
    Names(&'a mut Vec<&'static str>, &'a mut Option<usize>),
}

/// A mapping being read.
struct Reading<'a> {
    reader: &'a mut Reader,
    node: &'a Node,
    title: &'static str,
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
    /// Errors that an unknown key would explain.
    explained: Vec<Diagnostic>,
}

/// Entries that were printed.
#[derive(Default)]
pub(crate) struct Printed {
    entries: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Keys<'_> {
    /// A key, and the field that it stands for.
    pub fn key<F: Form>(&mut self, value: &mut F::Value, key: Key) {
        match &mut self.0 {
            Task::Read(reading) => reading.key::<F>(value, key),
            Task::Print(printed) => {
                if key.required {
                    printed.required.push(key.name);
                }
                if key.required || F::is_given(value) {
                    printed.entries.insert(key.name.to_owned(), F::print(value));
                }
            }
            Task::Describe(table) => table.entries.push(Entry::Key(KeyShape {
                key,
                shape: F::shape(),
                default: default_of::<F>(value, key),
            })),
            Task::Names(names, deciding) => {
                names.push(key.name);
                deciding.get_or_insert(1);
            }
        }
    }

    /// Names what the keys belong to; for variants, which have no record of their own.
    pub fn title(&mut self, title: &'static str, about: &'static str) {
        match &mut self.0 {
            Task::Read(reading) => reading.title = title,
            Task::Describe(table) => (table.title, table.about) = (title, about),
            Task::Print(_) | Task::Names(..) => {}
        }
    }

    /// Notes how keys depend on each other.
    pub fn rule(&mut self, rule: Rule) {
        match &mut self.0 {
            Task::Read(reading) => reading.rule(&rule),
            Task::Describe(table) => table.rules.push(rule),
            Task::Print(printed) => {
                // Whether it is needed does not follow from it alone: it is printed, whatever it is.
                if let Rule::NeededUnless { key, .. } = rule {
                    printed.required.push(key);
                }
            }
            Task::Names(..) => {}
        }
    }

    /// Keys of which one way is chosen; `required`: one has to be.
    pub fn union<U: Union>(&mut self, value: &mut U, required: bool) {
        match &mut self.0 {
            Task::Read(reading) => reading.union(value, required),
            Task::Print(printed) => {
                printed.required.extend(names(value).0.first());
                value.keys(&mut Keys(Task::Print(printed)));
            }
            Task::Describe(table) => {
                let tables = U::variants().into_iter().map(|mut variant| {
                    let mut table = Table::default();
                    variant.keys(&mut Keys(Task::Describe(&mut table)));
                    table
                });
                let tables = tables.collect();
                table.entries.push(Entry::OneOf { required, tables });
            }
            Task::Names(all, deciding) => {
                let mut first = Vec::new();
                let mut others = Vec::new();
                for mut variant in U::variants() {
                    let (names, deciding) = names(&mut variant);
                    first.extend_from_slice(&names[..deciding]);
                    others.extend_from_slice(&names[deciding..]);
                }
                deciding.get_or_insert(first.len());
                all.extend(first.into_iter().chain(others));
            }
        }
    }

    /// One of several ways, which is all that a mapping holds; `None` if none could be read.
    pub fn chosen<U: Union>(&mut self) -> Option<U> {
        let Task::Read(reading) = &mut self.0 else { return None };
        reading.choose(true)
    }

    /// From here on quantities may hold these variables too.
    pub fn enter<'v>(&mut self, vars: impl Iterator<Item = (&'v str, &'v Json)>) {
        if let Task::Read(reading) = &mut self.0 {
            reading.reader.enter(vars);
        }
    }

    /// Undoes [`Keys::enter`].
    pub fn leave(&mut self) {
        if let Task::Read(reading) = &mut self.0 {
            reading.reader.leave();
        }
    }

    /// Keys that are known, and of no use here.
    pub fn passed_over(&mut self, names: &[&'static str]) {
        if let Task::Read(reading) = &mut self.0 {
            reading.known.extend(names);
        }
    }
}

/// The names of a way to write something, and how many of the first decide that it is this one.
pub(crate) fn names<U: Union>(variant: &mut U) -> (Vec<&'static str>, usize) {
    let (mut names, mut deciding) = (Vec::new(), None);
    variant.keys(&mut Keys(Task::Names(&mut names, &mut deciding)));
    (names, deciding.unwrap_or(0))
}

/// Reads the keys of a mapping. `show` is given them.
pub(crate) fn read(
    reader: &mut Reader,
    node: &Node,
    title: &'static str,
    show: impl FnOnce(&mut Keys<'_>),
) {
    let (known, missing, explained) = (Vec::new(), Vec::new(), Vec::new());
    let mut keys = Keys(Task::Read(Reading { reader, node, title, known, missing, explained }));
    show(&mut keys);
    if let Task::Read(reading) = keys.0 {
        reading.finish();
    }
}

/// Describes the keys of something.
pub(crate) fn describe(title: &'static str, show: impl FnOnce(&mut Keys<'_>)) -> Table {
    let mut table = Table { title, ..Table::default() };
    show(&mut Keys(Task::Describe(&mut table)));
    table
}

/// The keys of something, as they are read again.
pub(crate) fn print(show: impl FnOnce(&mut Keys<'_>)) -> Printed {
    let mut printed = Printed::default();
    show(&mut Keys(Task::Print(&mut printed)));
    printed
}

impl Printed {
    /// All entries.
    pub fn all(self) -> Value {
        Value::Object(self.entries)
    }

    /// Those that say something else than others do, and those that have to be there.
    pub fn unlike(mut self, other: &Printed) -> Value {
        self.entries.retain(|name, value| {
            self.required.contains(&name.as_str()) || other.entries.get(name) != Some(value)
        });
        self.all()
    }
}

/// What holds without a key, in words.
fn default_of<F: Form>(value: &F::Value, key: Key) -> Option<String> {
    if key.required || key.default.is_some() {
        return key.default.map(str::to_owned);
    }
    match F::print(value) {
        _ if !F::is_given(value) => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text),
        Value::Bool(_) | Value::Number(_) => Some(F::print(value).to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Reading<'_> {
    fn key<F: Form>(&mut self, value: &mut F::Value, key: Key) {
        self.known.push(key.name);
        match self.node.get(key.name).filter(|node| F::NULL || !node.is_null()) {
            Some(node) => {
                if let Some(read) = F::read(self.reader, node) {
                    *value = read;
                }
            }
            None if key.required => self.missing.push(key.name),
            None => {}
        }
    }

    fn union<U: Union>(&mut self, value: &mut U, required: bool) {
        if let Some(chosen) = self.choose(required) {
            *value = chosen;
        }
    }

    /// Chooses one of several ways by the key that is there, and reads it.
    fn choose<U: Union>(&mut self, required: bool) -> Option<U> {
        let ways = self.reader.ways(TypeId::of::<U>(), ways::<U>);
        let node = self.node;
        let mut found =
            deciding(&ways, |name| node.get(name).is_some_and(|value| !value.is_null()));
        if found.is_empty() && required {
            found = deciding(&ways, |name| node.get(name).is_some());
        }
        if found.len() > 1 || (found.is_empty() && required) {
            let given: Vec<&str> = found.iter().map(|(_, name)| *name).collect();
            let all: Vec<&str> = ways.iter().flat_map(Spelling::deciding).copied().collect();
            self.not_one(required, &all, &given);
        }
        self.known.extend(ways.iter().flat_map(|way| &way.names));
        let (at, decides) = *found.first()?;
        for way in ways.iter() {
            let others = way.names[way.deciding..].iter();
            for name in others.filter(|name| !ways[at].names.contains(name)) {
                if let Some(span) = self.node.key_span(name) {
                    let message = format!("`{name}` only applies to `{}`", way.names[0]);
                    let help =
                        format!("leave it out, or replace `{decides}` by `{}`", way.names[0]);
                    self.reader.error(span, message, &help);
                }
            }
        }
        let mut variant = U::variants().swap_remove(at);
        self.show(|keys| variant.keys(keys));
        Some(variant)
    }

    /// Reads further keys of the same mapping.
    fn show(&mut self, show: impl FnOnce(&mut Keys<'_>)) {
        let mut keys = Keys(Task::Read(Reading {
            reader: self.reader,
            node: self.node,
            title: self.title,
            known: std::mem::take(&mut self.known),
            missing: std::mem::take(&mut self.missing),
            explained: std::mem::take(&mut self.explained),
        }));
        show(&mut keys);
        if let Task::Read(reading) = keys.0 {
            (self.title, self.known) = (reading.title, reading.known);
            (self.missing, self.explained) = (reading.missing, reading.explained);
        }
    }

    /// Notes that none or several of what excludes each other are given.
    fn not_one(&mut self, required: bool, all: &[&str], given: &[&str]) {
        let count = if required { "exactly" } else { "at most" };
        let mut message = format!("{} takes {count} one of {}", self.title, listed(all, "and"));
        if given.is_empty() {
            // A word that is no key may be meant for one of them.
            return self.explained.push(Diagnostic::error(self.node.span, message));
        }
        message.push_str(&format!(", and this one has {}", listed(given, "and")));
        self.reader.error(self.node.span, message, "");
    }

    fn rule(&mut self, rule: &Rule) {
        let has = |name: &str| self.node.get(name).filter(|node| !node.is_null());
        let is_word = |name: &str, word: &str| has(name).is_some_and(|node| node.is_text(word));
        let at = |name: &str| self.node.key_span(name).unwrap_or(self.node.span);
        let (span, message, help) = match *rule {
            Rule::Excludes(a, b, help) if has(a).is_some() && has(b).is_some() => {
                (at(b), format!("`{a}` and `{b}` cannot be combined"), help)
            }
            Rule::Needs(key, other, help) if has(key).is_some() && has(other).is_none() => {
                (at(key), format!("`{key}` only applies together with `{other}`"), help)
            }
            Rule::AnyOf(keys, message, help) if !keys.iter().any(|key| has(key).is_some()) => {
                let empty = keys.iter().find_map(|key| Some((key, self.node.key_span(key)?)));
                let diagnostic = match empty {
                    Some((key, span)) => Diagnostic::error(span, format!("`{key}` is empty")),
                    None => Diagnostic::error(self.node.span, message),
                };
                return self.explained.push(diagnostic.with_help(help));
            }
            Rule::OnlyWith { key, other, word, help }
                if has(key).is_some() && !is_word(other, word) =>
            {
                (at(key), format!("`{key}` only applies to `{other}: {word}`"), help)
            }
            Rule::OnlyWith { key, other, word, help }
                if has(key).is_none() && is_word(other, word) =>
            {
                (at(other), format!("`{other}: {word}` needs `{key}`"), help)
            }
            Rule::NeededUnless { key, other, word }
                if has(key).is_none() && has(other).is_some() && !is_word(other, word) =>
            {
                return self.missing.push(key);
            }
            _ => return,
        };
        self.reader.error(span, message, help);
    }

    fn finish(self) {
        if self.reader.unknown_keys(self.node, self.title, &self.known) {
            return;
        }
        self.explained.into_iter().for_each(|error| self.reader.report(error));
        if !self.missing.is_empty() {
            self.reader.missing(self.node, self.title, &self.missing);
        }
    }
}

/// The names of all ways of something.
fn ways<U: Union>() -> Vec<Spelling> {
    let way = |mut variant: U| {
        let (names, deciding) = names(&mut variant);
        Spelling { names, deciding }
    };
    U::variants().into_iter().map(way).collect()
}

/// The ways of which a deciding name `is` there, and that name.
fn deciding(ways: &[Spelling], is: impl Fn(&str) -> bool) -> Vec<(usize, &'static str)> {
    let named = |way: &Spelling| way.deciding().iter().find(|name| is(name)).copied();
    ways.iter().enumerate().filter_map(|(at, way)| Some((at, named(way)?))).collect()
}
