//! Lists of steps, and the files that they may stand in.

use std::marker::PhantomData;
use std::path::PathBuf;

use serde_json::Value;

use crate::keys::{self, Form, Of, Record, Shape, Table, Union, record};
use crate::nodes::{Node, Reader, UNINDENTED};
use crate::span::{Span, Spanned};

record! {
    /// The steps of another file, in place of this one.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Include as "an include" {
        /// The file: a list of steps, or a mapping with `steps`.
        #[key(required)]
        pub include: Spanned<PathBuf>,
    }
}

/// What a list of steps consists of.
pub(crate) trait Item: Clone {
    /// What a step does.
    type Kind: Union;
    /// Each kind of step, empty, with the keys that decide that a step is of that kind.
    fn kinds() -> &'static [(Self::Kind, Vec<&'static str>)];
    fn new(kind: Self::Kind, span: Span) -> Self;
    fn kind(&self) -> &Self::Kind;
}

/// The title and the keys of each kind of step, and of an include.
pub(super) fn tables<S: Item>() -> Vec<Table> {
    let describe = |mut kind: S::Kind| keys::describe("", |keys| kind.keys(keys));
    let include = keys::describe(Include::TITLE, |keys| {
        keys.title(Include::TITLE, "The steps of another file, in place of this one.");
        Include::default().keys(keys);
    });
    S::Kind::variants().into_iter().map(describe).chain([include]).collect()
}

/// A list of steps, with at least `LEAST` of them.
pub(crate) struct ListOf<S, const LEAST: usize>(PhantomData<S>);

impl<S: Item, const LEAST: usize> Form for ListOf<S, LEAST> {
    type Value = Vec<S>;
    // Where steps are needed, nothing is most often a list that is not indented.
    const NULL: bool = LEAST > 0;
    fn shape() -> Shape {
        Shape::Steps(LEAST)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<S>> {
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
                let included =
                    include.and_then(|own| reader.include(own.include, ListOf::<S, 1>::read));
                steps.extend(included.unwrap_or_default());
            } else if let Some(kind) = step::<S>(reader, node) {
                steps.push(S::new(kind, node.span));
            }
        }
        Some(steps)
    }
    fn print(value: &Vec<S>) -> Value {
        let step = |step: &S| {
            let kind = std::mem::discriminant(step.kind());
            let empty = S::kinds().iter().find(|(own, _)| std::mem::discriminant(own) == kind);
            let printed = keys::print(|keys| step.kind().clone().keys(keys));
            match empty {
                Some((empty, _)) => printed.unlike(&keys::print(|keys| empty.clone().keys(keys))),
                None => printed.all(),
            }
        };
        Value::Array(value.iter().map(step).collect())
    }
    fn is_given(value: &Vec<S>) -> bool {
        !value.is_empty()
    }
}

/// Reads a step: one known key of a mapping decides which kind it is.
fn step<S: Item>(reader: &mut Reader, node: &Node) -> Option<S::Kind> {
    let is_there = |name: &&str| node.get(name).is_some();
    let Some((kind, _)) = S::kinds().iter().find(|(_, names)| names.iter().any(is_there)) else {
        let known: Vec<&str> = S::kinds().iter().flat_map(|(_, names)| names).copied().collect();
        reader.unknown_step(node, &known);
        return None;
    };
    let mut kind = kind.clone();
    keys::read(reader, node, "a step", |keys| kind.keys(keys));
    Some(kind)
}
