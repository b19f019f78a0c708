//! A bound expression.

use std::sync::Arc;

use super::functions::Call;
use super::operators::Op;
use super::scope::{FunctionId, Slot};
use crate::value::Value;

/// An expression bound to slots.
#[derive(Debug)]
pub(super) enum Tree {
    Constant(Value),
    /// A variable, and its name.
    Slot(Slot, Arc<str>),
    /// Whether a variable has a value.
    HasSlot(Slot),
    /// A parameter of the macros around, 0 the innermost one.
    Parameter(usize),
    Field(Box<Tree>, Arc<str>),
    Has(Box<Tree>, Arc<str>),
    Index(Box<Tree>, Box<Tree>),
    Call(Call, Vec<Tree>),
    Extern(FunctionId, Vec<Tree>),
    Not(Box<Tree>),
    Minus(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
    List(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
    Over(Macro, Box<Tree>, Box<Tree>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

impl Macro {
    pub(super) fn of(name: &str) -> Macro {
        match name {
            "all" => Macro::All,
            "exists" => Macro::Exists,
            "exists_one" => Macro::ExistsOne,
            "map" => Macro::Map,
            // The parser makes no other.
            _ => Macro::Filter,
        }
    }
}

impl Tree {
    /// Whether it has the same value wherever it is evaluated.
    pub(super) fn is_pure(&self) -> bool {
        match self {
            Tree::Constant(_) => true,
            Tree::Slot(..) | Tree::HasSlot(_) => false,
            Tree::Parameter(_) | Tree::Extern(..) | Tree::Over(..) => false,
            Tree::Field(inner, _) | Tree::Has(inner, _) | Tree::Not(inner) | Tree::Minus(inner) => {
                inner.is_pure()
            }
            Tree::Index(a, b) | Tree::Binary(_, a, b) => a.is_pure() && b.is_pure(),
            Tree::If(a, b, c) => a.is_pure() && b.is_pure() && c.is_pure(),
            Tree::Call(call, args) => call.is_pure() && args.iter().all(Tree::is_pure),
            Tree::List(items) => items.iter().all(Tree::is_pure),
            Tree::Map(entries) => {
                entries.iter().all(|(key, value)| key.is_pure() && value.is_pure())
            }
        }
    }

    /// Whether it is made of constants alone: one operation, or one call, over their values.
    pub(super) fn is_of_constants(&self) -> bool {
        let is_constant = |tree: &Tree| matches!(tree, Tree::Constant(_));
        match self {
            Tree::Constant(_) | Tree::Slot(..) | Tree::HasSlot(_) | Tree::Parameter(_) => false,
            Tree::Extern(..) | Tree::Over(..) => false,
            Tree::Field(inner, _) | Tree::Has(inner, _) | Tree::Not(inner) | Tree::Minus(inner) => {
                is_constant(inner)
            }
            Tree::Index(a, b) | Tree::Binary(_, a, b) => is_constant(a) && is_constant(b),
            Tree::If(a, b, c) => is_constant(a) && is_constant(b) && is_constant(c),
            Tree::Call(call, args) => call.is_pure() && args.iter().all(is_constant),
            Tree::List(items) => items.iter().all(is_constant),
            Tree::Map(entries) => {
                entries.iter().all(|(key, value)| is_constant(key) && is_constant(value))
            }
        }
    }

    /// The name of the first variable in it that is looked for.
    pub(super) fn find_slot(&self, is: &dyn Fn(Slot) -> bool) -> Option<&str> {
        match self {
            Tree::Slot(slot, name) => is(*slot).then_some(name),
            Tree::Constant(_) | Tree::HasSlot(_) | Tree::Parameter(_) => None,
            Tree::Field(inner, _) | Tree::Has(inner, _) | Tree::Not(inner) | Tree::Minus(inner) => {
                inner.find_slot(is)
            }
            Tree::Index(a, b) | Tree::Binary(_, a, b) | Tree::Over(_, a, b) => {
                a.find_slot(is).or_else(|| b.find_slot(is))
            }
            Tree::If(a, b, c) => [a, b, c].into_iter().find_map(|tree| tree.find_slot(is)),
            Tree::Call(_, trees) | Tree::Extern(_, trees) | Tree::List(trees) => {
                trees.iter().find_map(|tree| tree.find_slot(is))
            }
            Tree::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| key.find_slot(is).or_else(|| value.find_slot(is))),
        }
    }
}
