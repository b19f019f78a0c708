//! Lists of steps, and what holds them: branches, choices, files.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{Step, StepKind};
use crate::expr::Expr;
use crate::keys::{
    self, Bool, Expression, Form, Like, Naming, Of, OwnName, Record, Shape, Short, Small, Table,
    Text, Union, record,
};
use crate::span::Spanned;
use crate::yaml::{Node, Reader, UNINDENTED};

/// Most steps of [`StepKind::Parallel`] at the same time, where the plan does not say: so many
/// connections a browser opens to one host over HTTP/1.1.
pub const DEFAULT_PARALLEL: u32 = 6;
/// Most that a plan may ask for.
pub const MAX_PARALLEL: u32 = 1_000;

/// The title and the keys of each kind of step, and of an include.
pub(crate) fn step_tables() -> Vec<Table> {
    let describe = |mut kind: StepKind| keys::describe("", |keys| kind.keys(keys));
    let include = keys::describe(Include::TITLE, |keys| {
        keys.title(Include::TITLE, "The steps of another file, in place of this one.");
        Include::default().keys(keys);
    });
    StepKind::variants().into_iter().map(describe).chain([include]).collect()
}

record! {
    /// The steps of another file, in place of this one.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Include as "an include" {
        /// The file: a list of steps, or a mapping with `steps`.
        #[key(required)]
        pub include: Spanned<PathBuf>,
    }
}

/// A list of steps, with at least `LEAST` of them.
pub(crate) struct Steps<const LEAST: usize>;

/// Steps of a file of their own.
pub(crate) type StepList = Steps<1>;

impl<const LEAST: usize> Form for Steps<LEAST> {
    type Value = Vec<Step>;
    // Where steps are needed, nothing is most often a list that is not indented.
    const NULL: bool = LEAST > 0;
    fn shape() -> Shape {
        Shape::Steps(LEAST)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<Step>> {
        let items = if node.is_null() { Vec::new() } else { node.items() };
        if items.len() < LEAST {
            reader.error(node.span, "expected at least one step, found none", UNINDENTED);
            return None;
        }
        let mut steps = Vec::new();
        for node in items {
            if !reader.counts_step(node.span) {
                break;
            }
            if node.get("include").is_some() {
                let include = Of::<Include>::read(reader, node);
                steps.extend(
                    include.map(|include| reader.include(include.include)).unwrap_or_default(),
                );
            } else if let Some(kind) = step(reader, node) {
                steps.push(Step { kind, span: node.span });
            }
        }
        Some(steps)
    }
    fn print(value: &Vec<Step>) -> Value {
        let step = |step: &Step| {
            let kind = std::mem::discriminant(&step.kind);
            let empty = kinds().iter().find(|(own, _)| std::mem::discriminant(own) == kind);
            let printed = keys::print(|keys| step.kind.clone().keys(keys));
            match empty {
                Some((empty, _)) => printed.unlike(&keys::print(|keys| empty.clone().keys(keys))),
                None => printed.all(),
            }
        };
        Value::Array(value.iter().map(step).collect())
    }
    fn is_given(value: &Vec<Step>) -> bool {
        !value.is_empty()
    }
}

/// Each kind of step, empty, with the keys that decide that a step is of that kind.
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

/// Reads a step: one known key of a mapping decides which kind it is.
fn step(reader: &mut Reader, node: &Node) -> Option<StepKind> {
    let is_there = |name: &&str| node.get(name).is_some();
    let Some((kind, _)) = kinds().iter().find(|(_, names)| names.iter().any(is_there)) else {
        let known: Vec<&str> = kinds().iter().flat_map(|(_, names)| names).copied().collect();
        reader.unknown_step(node, &known);
        return None;
    };
    let mut kind = kind.clone();
    keys::read(reader, node, "a step", |keys| kind.keys(keys));
    Some(kind)
}

/// A variable and a list.
pub(crate) struct ItemOf;

impl Form for ItemOf {
    type Value = (String, Expr);
    fn shape() -> Shape {
        Shape::Names(Box::new(Shape::Expression), Naming { most: 1, ..Naming::from(1, true) })
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<(String, Expr)> {
        let names = reader.names(node);
        let [(item, list)] = names.as_slice() else {
            if node.is_map() {
                let help = "such as `for_each: {link: links}`";
                reader.error(node.span, "for_each takes one variable and a list", help);
            }
            return None;
        };
        reader.identifier(item);
        let list = Expression::read(reader, list);
        Some((item.value.clone(), list.unwrap_or_default()))
    }
    fn print((item, list): &(String, Expr)) -> Value {
        json!({item: list.source()})
    }
}

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
    pub struct Branches as "parallel" {
        /// Maximum number of steps at the same time.
        #[key([Small<1, MAX_PARALLEL>])]
        pub limit: u32,
        /// Its steps, each a separate flow.
        #[key(required [Steps<1>])]
        pub steps: Vec<Step>,
    }
}

impl Default for Branches {
    fn default() -> Self {
        Branches { limit: DEFAULT_PARALLEL, steps: Vec::new() }
    }
}

/// The steps alone.
impl Short for Branches {
    type Form = Steps<1>;
    fn from_short(steps: Vec<Step>) -> Branches {
        Branches { steps, ..Branches::default() }
    }
    fn short(&self) -> Option<Vec<Step>> {
        (self.limit == DEFAULT_PARALLEL).then(|| self.steps.clone())
    }
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

/// `true` for all of some, or the name of one.
pub(crate) struct AllOrNamed;

impl Form for AllOrNamed {
    type Value = Option<String>;
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Words(vec![("true", "")]), Like::<Text, OwnName>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Option<String>> {
        match node.core_bool() {
            Some(true) => Some(None),
            Some(false) => {
                reader.error(node.span, "expected `true`, or a name", "leave out the step");
                None
            }
            None => Text::read(reader, node).map(Some),
        }
    }
    fn print(value: &Option<String>) -> Value {
        value.as_ref().map_or(json!(true), Text::print)
    }
}
