//! Values that a plan writes as they are.

use std::fmt;

use serde_json::{Value, json};

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

/// As a person would write it: a text as it is, all else as JSON.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Text(text) => f.write_str(text.literal().unwrap_or(text.source())),
            other => write!(f, "{}", other.written()),
        }
    }
}

impl Json {
    /// A value whose texts are taken as they stand.
    pub fn of(value: &Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(value) => match value.as_i64() {
                Some(value) => Json::Int(value),
                // Numbers of JSON are numbers of 64 bits.
                None => Json::Float(value.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Json::Text(Template::text(text)),
            Value::Array(items) => Json::List(items.iter().map(Json::of).collect()),
            Value::Object(entries) => {
                let entry =
                    |(key, value): (&String, &Value)| (Template::text(key), Json::of(value));
                Json::Map(entries.iter().map(entry).collect())
            }
        }
    }

    /// As a plan writes it.
    pub fn written(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => json!(value),
            Json::Int(value) => json!(value),
            Json::Float(value) => json!(value),
            Json::Text(text) => json!(text.source()),
            Json::List(items) => Value::Array(items.iter().map(Json::written).collect()),
            Json::Map(entries) => {
                let entry =
                    |(key, value): &(Template, Json)| (key.source().to_owned(), value.written());
                Value::Object(entries.iter().map(entry).collect())
            }
        }
    }
}
