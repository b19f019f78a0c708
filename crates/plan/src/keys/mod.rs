//! How the keys of a plan are described: each once, in the model.
//!
//! A [`Record`] shows its keys to [`Keys`], one after the other, each with its [`Key`] and the field of
//! the model that it stands for. `Keys` reads the field, prints it, or notes what it is; so reader,
//! printer, JSON Schema and reference know the same keys. How a value is written is its [`Form`].
//! [`record!`] makes the struct and the [`Record`] from one list, [`words!`] likewise an enum of words.

mod compose;
mod form;
mod forms;
mod looks;
mod macros;
mod shape;
mod texts;

pub(crate) use self::compose::{
    At, ByName, Choice, Chosen, InTurn, Listed, Maybe, Named, Names, Of, Short, ShortOr, Unless,
};
pub(crate) use self::form::{Form, Keys, Plain, Record, Union, describe, names, print, read};
pub(crate) use self::forms::{
    Bandwidth, Bool, Int, IntFrom, Percent, Positive, Rate, Share, Size, Small, Time, Word, Words,
};
pub(crate) use self::looks::{
    Endpoint, HEX, HostPattern, Like, NotEmpty, OwnName, OwnProxy, Place, ProxyUrl, ReceiverUrl,
    RequestUrl, Requirement, TargetUrl,
};
pub(crate) use self::macros::{record, words};
pub(crate) use self::shape::{Entry, Key, KeyShape, Looks, Naming, Quantity, Rule, Shape, Table};
pub(crate) use self::texts::{
    Any, CommandLine, Expression, Headers, Identifier, Known, KnownCommand, NodePath, Pairs, Path,
    Templated, TemplatedPath, Text, repeat,
};
