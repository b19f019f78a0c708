//! Forms of texts, expressions, names, files and values of any kind.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::compose::Listed;
use super::form::{Form, Plain};
use super::looks::HEADER_NAME;
use super::shape::{Naming, Shape};
use crate::expr::Expr;
use crate::json::Json;
use crate::node_files::NODE;
use crate::nodes::{Node, Reader, as_variable};
use crate::span::Spanned;
use crate::template::Template;

/// A text as it stands.
pub(crate) struct Text;

impl Form for Text {
    type Value = String;
    fn shape() -> Shape {
        Shape::Text
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<String> {
        reader.text(node).map(|text| text.value)
    }
    fn print(value: &String) -> Value {
        json!(value)
    }
}

impl Plain for String {
    type Form = Text;
}

/// A text that is known before the run: variables in it have the values that they have then.
pub(crate) struct Known;

impl Form for Known {
    type Value = String;
    fn shape() -> Shape {
        Shape::Text
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<String> {
        reader.constant(node).map(|text| text.value)
    }
    fn print(value: &String) -> Value {
        json!(value.replace("${", "$${"))
    }
}

/// The name in `{{name}}`, as other tools write variables.
fn in_double_braces(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("{{")?;
    let (name, _) = rest.split_once("}}")?;
    let name = name.trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// The first name that stands in `#{...}`, as in plans of Gatling.
fn in_hash_braces(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("#{")?;
    let name = rest.split_once('}')?.0;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// A text with `${...}` in it.
pub(crate) struct Templated;

impl Form for Templated {
    type Value = Template;
    fn shape() -> Shape {
        Shape::Text
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Template> {
        let text = reader.text(node)?;
        if let Some(name) = in_double_braces(&text.value) {
            let message = format!("`{{{{{name}}}}}` is not a variable: it stays as it is");
            let mut help = format!("a variable is written \"${{{}}}\"", as_variable(name));
            if name.contains('-') {
                help.push_str(", and its name has letters, digits and `_`");
            }
            reader.warning(text.span, message, &help);
        }
        if let Some(name) = in_hash_braces(&text.value) {
            let message = format!("`#{{{name}}}` is not a variable: it stays as it is");
            let help = format!("a variable is written \"${{{}}}\"", as_variable(name));
            reader.warning(text.span, message, &help);
        }
        reader.good(Template::parse(&text.value, text.span))
    }
    fn print(value: &Template) -> Value {
        json!(value.source())
    }
}

impl Plain for Template {
    type Form = Templated;
}

/// Names and texts, both with `${...}`; a list gives a name several times.
pub(crate) struct Pairs;

impl Form for Pairs {
    type Value = Vec<(Template, Template)>;
    fn shape() -> Shape {
        named_texts(Naming::ANY)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value> {
        let mut pairs = Vec::new();
        for (name, node) in reader.names(node) {
            let name = reader.good(Template::parse(&name.value, name.span));
            for item in node.items() {
                let value = Templated::read(reader, item);
                pairs.extend(name.clone().zip(value));
            }
        }
        Some(pairs)
    }
    fn print(value: &Self::Value) -> Value {
        let mut map: Map<String, Value> = Map::new();
        for (name, value) in value {
            repeat(&mut map, name.source(), json!(value.source()));
        }
        Value::Object(map)
    }
    fn is_given(value: &Self::Value) -> bool {
        !value.is_empty()
    }
}

/// Names, each with a text or several.
fn named_texts(naming: Naming) -> Shape {
    Shape::Names(Box::new(Shape::List(Box::new(Shape::Text), 0, usize::MAX)), naming)
}

/// The same of headers.
pub(crate) struct Headers;

impl Form for Headers {
    type Value = Vec<(Template, Template)>;
    fn shape() -> Shape {
        named_texts(Naming { pattern: Some(HEADER_NAME), ..Naming::ANY })
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value> {
        Pairs::read(reader, node)
    }
    fn print(value: &Self::Value) -> Value {
        Pairs::print(value)
    }
    fn is_given(value: &Self::Value) -> bool {
        Pairs::is_given(value)
    }
}

/// Puts a value under a name; several of one name are a list.
pub(crate) fn repeat(map: &mut Map<String, Value>, name: &str, value: Value) {
    match map.get_mut(name) {
        Some(Value::Array(items)) => items.push(value),
        Some(first) => *first = json!([first.take(), value]),
        None => {
            map.insert(name.to_owned(), value);
        }
    }
}

/// An expression; `${...}` around it is taken off.
pub(crate) struct Expression;

impl Form for Expression {
    type Value = Expr;
    fn shape() -> Shape {
        Shape::Expression
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Expr> {
        let text = reader.text(node)?;
        let trimmed = text.value.trim();
        let inner = trimmed.strip_prefix("${").and_then(|inner| inner.strip_suffix('}'));
        let (source, span) = match inner.filter(|inner| !inner.contains("${")) {
            Some(inner) => (inner, text.span.later(2)),
            None => (trimmed, text.span),
        };
        reader.good(Expr::parse(source, span))
    }
    fn print(value: &Expr) -> Value {
        json!(value.source())
    }
}

impl Plain for Expr {
    type Form = Expression;
}

/// The name of a variable.
pub(crate) struct Identifier;

impl Form for Identifier {
    type Value = String;
    fn shape() -> Shape {
        Shape::Identifier
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<String> {
        let text = reader.text(node)?;
        reader.identifier(&text);
        Some(text.value)
    }
    fn print(value: &String) -> Value {
        json!(value)
    }
}

/// A file, joined to the folder of the plan.
pub(crate) struct Path;

impl Form for Path {
    type Value = PathBuf;
    fn shape() -> Shape {
        Shape::Path
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<PathBuf> {
        read_path(reader, node, &[])
    }
    fn print(value: &PathBuf) -> Value {
        json!(value.display().to_string())
    }
}

/// A file, joined to the folder of the plan, of which each node of a fleet may have its own, with `${node}` in its path.
pub(crate) struct NodePath;

impl Form for NodePath {
    type Value = PathBuf;
    fn shape() -> Shape {
        Shape::Path
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<PathBuf> {
        read_path(reader, node, &[NODE])
    }
    fn print(value: &PathBuf) -> Value {
        json!(value.display().to_string())
    }
}

/// A path without variables but these.
fn read_path(reader: &mut Reader, node: &Node, known: &[&str]) -> Option<PathBuf> {
    let text = reader.text(node)?;
    let others = known.iter().fold(text.value.clone(), |text, known| text.replace(known, ""));
    if others.contains("${") {
        let message = format!("a path without variables is expected here, found `{}`", text.value);
        let but = known.first().map_or(String::new(), |known| {
            format!(" (only `{known}` may stand in it, the number of a node of a fleet)")
        });
        let help = format!(
            "the file is opened before any variable has a value: write its path itself{but}"
        );
        reader.error(text.span, message, &help);
        return None;
    }
    Some(reader.folder().join(text.value))
}

impl Plain for PathBuf {
    type Form = Path;
}

/// A file, joined to the folder of the plan, with `${...}` in its path.
pub(crate) struct TemplatedPath;

impl Form for TemplatedPath {
    type Value = Template;
    fn shape() -> Shape {
        Shape::Path
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Template> {
        let text = reader.text(node)?;
        let path = reader.good(Template::parse(&text.value, text.span))?;
        Some(path.within(reader.folder()))
    }
    fn print(value: &Template) -> Value {
        json!(value.source())
    }
}

/// A program and its arguments. A program that is named by a path is joined to the folder of the plan.
pub(crate) struct CommandLine;

impl Form for CommandLine {
    type Value = Vec<Template>;
    fn shape() -> Shape {
        Listed::<Templated, 1>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<Template>> {
        let mut command = Listed::<Templated, 1>::read(reader, node)?;
        if let Some(program) = command.first_mut() {
            *program = std::mem::take(program).program_within(reader.folder());
        }
        Some(command)
    }
    fn print(value: &Vec<Template>) -> Value {
        Listed::<Templated, 1>::print(value)
    }
    fn is_given(value: &Vec<Template>) -> bool {
        Listed::<Templated, 1>::is_given(value)
    }
}

/// The same, of a program that is started before any user has variables of its own.
pub(crate) struct KnownCommand;

impl Form for KnownCommand {
    type Value = Vec<String>;
    fn shape() -> Shape {
        Listed::<Known, 1>::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Vec<String>> {
        let mut command = Listed::<Known, 1>::read(reader, node)?;
        if let Some(program) = command.first_mut() {
            let within = Template::text(program).program_within(reader.folder());
            *program = within.literal().unwrap_or(program).to_owned();
        }
        Some(command)
    }
    fn print(value: &Vec<String>) -> Value {
        Listed::<Known, 1>::print(value)
    }
    fn is_given(value: &Vec<String>) -> bool {
        Listed::<Known, 1>::is_given(value)
    }
}

/// A JSON-like value. What stands without quotes may be a number, a bool or null.
pub(crate) struct Any;

impl Form for Any {
    type Value = Json;
    const NULL: bool = true;
    fn shape() -> Shape {
        Shape::Any
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Json> {
        reader.json(node)
    }
    fn print(value: &Json) -> Value {
        value.written()
    }
}

impl Plain for Json {
    type Form = Any;
}

impl Reader {
    /// A JSON-like value.
    fn json(&mut self, node: &Node) -> Option<Json> {
        if node.is_huge_int() {
            let message = format!(
                "expected a whole number from {} to {}, found {}",
                i64::MIN,
                i64::MAX,
                node.describe()
            );
            let help = "put quotes around it for a text that keeps its digits; a `body` can have it in JSON as a number";
            self.error(node.span, message, help);
            return None;
        }
        if let Some(scalar) = node.core_scalar() {
            return Some(scalar);
        }
        if let Some(items) = node.list() {
            return Some(Json::List(items.iter().filter_map(|item| self.json(item)).collect()));
        }
        if node.is_map() {
            let entries = self.names(node).into_iter().filter_map(|(name, value)| {
                let Spanned { value: name, span } = name;
                Some((self.good(Template::parse(&name, span))?, self.json(value)?))
            });
            return Some(Json::Map(entries.collect()));
        }
        Templated::read(self, node).map(Json::Text)
    }
}
