//! Values that a plan writes as they are.

use crate::template::Template;

/// A JSON-like value whose texts are templates: bodies, variables, lists.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A text. One that is a single `${...}` keeps the type of its value.
    Text(Template),
    List(Vec<Json>),
    /// An object, in the order of the file.
    Map(Vec<(Template, Json)>),
}
