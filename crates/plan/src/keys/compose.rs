//! Forms made of other forms: optional ones, lists, names, records, short ways to write a record.

use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::form::{self, Form, Plain, Record, Union};
use super::shape::{Naming, Shape, Table};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;

/// A value that may be missing.
pub(crate) struct Maybe<F>(PhantomData<F>);

impl<F: Form> Form for Maybe<F> {
    type Value = Option<F::Value>;
    const NULL: bool = F::NULL;
    fn shape() -> Shape {
        F::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Option<F::Value>> {
        F::read(reader, node).map(Some)
    }
    fn print(value: &Option<F::Value>) -> Value {
        value.as_ref().map_or(Value::Null, F::print)
    }
    fn is_given(value: &Option<F::Value>) -> bool {
        value.is_some()
    }
}

impl<T: Plain> Plain for Option<T>
where
    T::Form: Form<Value = T>,
    T: Clone,
{
    type Form = Maybe<T::Form>;
}

/// A value that goes without saying if it is the default.
pub(crate) struct Unless<F>(PhantomData<F>);

impl<F: Form> Form for Unless<F>
where
    F::Value: Default + PartialEq,
{
    type Value = F::Value;
    fn shape() -> Shape {
        F::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<F::Value> {
        F::read(reader, node)
    }
    fn print(value: &F::Value) -> Value {
        F::print(value)
    }
    fn is_given(value: &F::Value) -> bool {
        *value != F::Value::default()
    }
}

/// A value and where it stands; a quoted text begins behind its quote.
pub(crate) struct At<F>(PhantomData<F>);

impl<F: Form> Form for At<F> {
    type Value = Spanned<F::Value>;
    fn shape() -> Shape {
        F::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Spanned<F::Value>> {
        F::read(reader, node).map(|value| Spanned::new(value, node.text_span()))
    }
    fn print(value: &Spanned<F::Value>) -> Value {
        F::print(&value.value)
    }
}

impl<T: Plain> Plain for Spanned<T>
where
    T: Clone,
{
    type Form = At<T::Form>;
}

/// A list, or a single element alone; with at least `LEAST` elements.
pub(crate) struct Listed<F, const LEAST: usize = 0>(PhantomData<F>);

impl<F: Form, const LEAST: usize> Form for Listed<F, LEAST> {
    type Value = Vec<F::Value>;
    fn shape() -> Shape {
        Shape::List(Box::new(F::shape()), LEAST, usize::MAX)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<F::Value>> {
        let items = node.items();
        if items.len() < LEAST {
            reader.error(node.span, "this list is empty", "");
        }
        Some(items.into_iter().filter_map(|item| F::read(reader, item)).collect())
    }
    fn print(value: &Vec<F::Value>) -> Value {
        Value::Array(value.iter().map(F::print).collect())
    }
    fn is_given(value: &Vec<F::Value>) -> bool {
        !value.is_empty()
    }
}

impl<T: Plain + Clone> Plain for Vec<T> {
    type Form = Listed<T::Form>;
}

/// Names of the user's choice, each with a value. `VARIABLES`: the names are those of variables.
pub(crate) struct Names<F, const VARIABLES: bool>(PhantomData<F>);

impl<F: Form, const VARIABLES: bool> Form for Names<F, VARIABLES> {
    type Value = Vec<(Spanned<String>, F::Value)>;
    fn shape() -> Shape {
        Shape::Names(Box::new(F::shape()), Naming::from(0, VARIABLES))
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value> {
        let mut values = Vec::new();
        for (name, node) in reader.names(node) {
            if VARIABLES {
                reader.identifier(&name);
            }
            match F::read(reader, node) {
                Some(value) => values.push((name, value)),
                None if VARIABLES => reader.lost(&name),
                None => {}
            }
        }
        Some(values)
    }
    fn print(value: &Self::Value) -> Value {
        let entry =
            |(name, value): &(Spanned<String>, F::Value)| (name.value.clone(), F::print(value));
        Value::Object(value.iter().map(entry).collect::<Map<_, _>>())
    }
    fn is_given(value: &Self::Value) -> bool {
        !value.is_empty()
    }
}

/// The keys of a record.
pub(crate) struct Of<R>(PhantomData<R>);

/// The keys of a record, described.
pub(crate) fn table<R: Record>() -> Table {
    form::describe(R::TITLE, |keys| R::default().keys(keys))
}

/// Notes that this is none of a table's mappings.
fn no_mapping(reader: &mut Reader, node: &Node, table: fn() -> Table) {
    reader.no_mapping(node, || {
        let table = table();
        (table.title, table.all_keys().into_iter().map(|key| key.key.name).collect())
    });
}

impl<R: Record> Form for Of<R> {
    type Value = R;
    fn shape() -> Shape {
        Shape::Record(table::<R>)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<R> {
        let mut record = R::default();
        if !node.is_map() {
            no_mapping(reader, node, table::<R>);
            return None;
        }
        form::read(reader, node, R::TITLE, |keys| record.keys(keys));
        Some(record)
    }
    fn print(value: &R) -> Value {
        let default = form::print(|keys| R::default().keys(keys));
        form::print(|keys| value.clone().keys(keys)).unlike(&default)
    }
}

impl<R: Record> Form for Box<Of<R>> {
    type Value = Box<R>;
    fn shape() -> Shape {
        Of::<R>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Box<R>> {
        Of::<R>::read(reader, node).map(Box::new)
    }
    fn print(value: &Box<R>) -> Value {
        Of::<R>::print(value)
    }
}

/// One of several ways, each with keys of its own, as the whole of a mapping.
pub(crate) trait Choice: Union {
    /// What messages call it.
    const TITLE: &'static str;
}

/// One of several ways.
pub(crate) struct Chosen<U>(PhantomData<U>);

fn choices<U: Choice>() -> Table {
    form::describe(U::TITLE, |keys| {
        U::variants().into_iter().take(1).for_each(|mut first| keys.union(&mut first, true));
    })
}

impl<U: Choice> Form for Chosen<U> {
    type Value = U;
    fn shape() -> Shape {
        Shape::Record(choices::<U>)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<U> {
        if !node.is_map() {
            no_mapping(reader, node, choices::<U>);
            return None;
        }
        let mut read = None;
        form::read(reader, node, U::TITLE, |keys| read = keys.chosen::<U>());
        read
    }
    fn print(value: &U) -> Value {
        form::print(|keys| value.clone().keys(keys)).all()
    }
}

/// A value that has a name in its model, and stands under that name in a plan.
pub(crate) trait Named {
    /// Takes the name. Whether it is one of a variable.
    fn set_name(&mut self, name: Spanned<String>, reader: &mut Reader);
    /// The name.
    fn name(&self) -> &str;
    /// Whether the names are those of variables.
    const VARIABLES: bool = false;
}

/// Values that stand under their names; at least `LEAST`.
pub(crate) struct ByName<F, const LEAST: usize = 0>(PhantomData<F>);

impl<F: Form, const LEAST: usize> Form for ByName<F, LEAST>
where
    F::Value: Named + Default,
{
    type Value = Vec<F::Value>;
    fn shape() -> Shape {
        Shape::Names(Box::new(F::shape()), Naming::from(LEAST, F::Value::VARIABLES))
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<F::Value>> {
        let mut values: Vec<F::Value> = Vec::new();
        for (name, node) in reader.names(node) {
            if F::Value::VARIABLES {
                reader.identifier(&name);
            }
            match F::read(reader, node) {
                Some(mut value) => {
                    value.set_name(name, reader);
                    values.push(value);
                }
                None if F::Value::VARIABLES => reader.lost(&name),
                None => {}
            }
        }
        if node.is_map() && node.values().len() < LEAST {
            reader.error(node.span, "this mapping is empty: expected at least one name", "");
        }
        Some(values)
    }
    fn print(value: &Vec<F::Value>) -> Value {
        let mut map: Map<String, Value> = Map::new();
        for value in value {
            map.insert(value.name().to_owned(), F::print(value));
        }
        Value::Object(map)
    }
    fn is_given(value: &Vec<F::Value>) -> bool {
        !value.is_empty()
    }
}

/// Values that stand under their names, or a list of such mappings: in a later one a name may come again.
pub(crate) struct InTurn<F>(PhantomData<F>);

impl<F: Form> Form for InTurn<F>
where
    F::Value: Named + Default,
{
    type Value = Vec<F::Value>;
    fn shape() -> Shape {
        Shape::List(Box::new(ByName::<F>::shape()), 0, usize::MAX)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<F::Value>> {
        let maps = node.items().into_iter().filter_map(|node| ByName::<F>::read(reader, node));
        Some(maps.flatten().collect())
    }
    fn print(value: &Vec<F::Value>) -> Value {
        let mut maps: Vec<Vec<F::Value>> = vec![Vec::new()];
        for value in value {
            match maps.last_mut() {
                Some(map) if map.iter().all(|own| own.name() != value.name()) => {
                    map.push(value.clone());
                }
                _ => maps.push(vec![value.clone()]),
            }
        }
        match maps.as_slice() {
            [map] => ByName::<F>::print(map),
            maps => maps.iter().map(ByName::<F>::print).collect(),
        }
    }
    fn is_given(value: &Vec<F::Value>) -> bool {
        !value.is_empty()
    }
}

/// A record that can be written short, as something that is no mapping.
pub(crate) trait Short: Record {
    /// The form of the short way.
    type Form: Form;
    /// What the short way means.
    fn from_short(value: <Self::Form as Form>::Value) -> Self;
    /// The short way, if it says all.
    fn short(&self) -> Option<<Self::Form as Form>::Value>;
}

/// A record, or the short way to write it.
pub(crate) struct ShortOr<R>(PhantomData<R>);

impl<R: Short> Form for ShortOr<R> {
    type Value = R;
    fn shape() -> Shape {
        Shape::Either(vec![<R::Form as Form>::shape(), Of::<R>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<R> {
        if node.is_map() {
            return Of::<R>::read(reader, node);
        }
        R::Form::read(reader, node).map(R::from_short)
    }
    fn print(value: &R) -> Value {
        match value.short() {
            Some(short) => R::Form::print(&short),
            None => Of::<R>::print(value),
        }
    }
}
