//! JSON Schema of what squall writes: [`document!`] defines a struct once and gives it its serde form and
//! its schema, with the doc comments as descriptions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use squall_metrics::Unit;

/// A type that has a JSON Schema (draft 2020-12).
pub trait Schema {
    /// The schema of its values; of a document, a reference to its definition.
    fn schema() -> Value;

    /// Adds the definitions of the documents that its schema refers to, by name.
    fn define(_definitions: &mut Map<String, Value>) {}
}

/// The schema of a document as a whole, with the definitions of all others.
pub fn schema_of<T: Schema>() -> Value {
    let mut definitions = Map::new();
    T::define(&mut definitions);
    let reference = T::schema();
    let name = reference["$ref"].as_str().and_then(|path| path.strip_prefix(DEFINITIONS));
    let own = name.and_then(|name| definitions.shift_remove(name));
    let mut schema = own.unwrap_or(reference);
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// Where a schema has its definitions.
pub const DEFINITIONS: &str = "#/$defs/";

macro_rules! plain {
    ($($type:ty => $schema:tt,)*) => {$(
        impl Schema for $type {
            fn schema() -> Value {
                json!($schema)
            }
        }
    )*};
}

plain! {
    u64 => {"type": "integer", "minimum": 0},
    i64 => {"type": "integer"},
    u32 => {"type": "integer", "minimum": 0},
    f64 => {"type": "number"},
    bool => {"type": "boolean"},
    String => {"type": "string"},
}

impl<T: Schema> Schema for Vec<T> {
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }

    fn define(definitions: &mut Map<String, Value>) {
        T::define(definitions);
    }
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn define(definitions: &mut Map<String, Value>) {
        T::define(definitions);
    }
}

impl<T: Schema> Schema for Option<T> {
    fn schema() -> Value {
        json!({"anyOf": [T::schema(), {"type": "null"}]})
    }

    fn define(definitions: &mut Map<String, Value>) {
        T::define(definitions);
    }
}

impl<A: Schema, B: Schema> Schema for (A, B) {
    fn schema() -> Value {
        json!({"type": "array", "prefixItems": [A::schema(), B::schema()]})
    }

    fn define(definitions: &mut Map<String, Value>) {
        A::define(definitions);
        B::define(definitions);
    }
}

/// The schema of an object: its fields, each with what it is. Later versions may add fields.
pub fn object(about: &str, fields: Vec<(&str, String, Value)>) -> Value {
    let names: Vec<Value> = fields.iter().map(|(name, ..)| json!(name)).collect();
    let mut properties = Map::new();
    for (name, about, schema) in fields {
        let mut property = schema;
        property["description"] = json!(about);
        properties.insert(name.to_owned(), property);
    }
    json!({"type": "object", "description": about, "properties": properties, "required": names})
}

/// Defines structs that are written as JSON and read again, with their schema.
/// What a field is, with its unit at the end of the sentence; a number of things has none, and bytes are named in it.
pub fn with_unit(about: &str, unit: Unit) -> String {
    match unit {
        Unit::Number | Unit::Bytes => about.to_owned(),
        Unit::Microseconds | Unit::Seconds => {
            format!("{}, in {}.", about.trim_end_matches('.'), unit.label())
        }
    }
}

macro_rules! document {
    ($(
        $(#[doc = $about:literal])*
        $name:ident {
            $( $(#[doc = $field_about:literal])* $field:ident: $type:ty $(=> $unit:expr)?, )*
        }
    )*) => {$(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name { $( $(#[doc = $field_about])* pub $field: $type, )* }

        impl $crate::schema::Schema for $name {
            fn schema() -> serde_json::Value {
                let path = format!("{}{}", $crate::schema::DEFINITIONS, stringify!($name));
                serde_json::json!({"$ref": path})
            }

            fn define(definitions: &mut serde_json::Map<String, serde_json::Value>) {
                if definitions.contains_key(stringify!($name)) {
                    return;
                }
                // Its place is taken, so that what refers to itself ends.
                definitions.insert(stringify!($name).to_owned(), serde_json::Value::Null);
                $(<$type as $crate::schema::Schema>::define(definitions);)*
                let about: &[&str] = &[$($about),*];
                let about = about.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                let fields = vec![$({
                    let about: &[&str] = &[$($field_about),*];
                    let about = about.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                    $(let about = $crate::schema::with_unit(&about, $unit);)?
                    (stringify!($field), about, <$type as $crate::schema::Schema>::schema())
                },)*];
                let object = $crate::schema::object(&about, fields);
                definitions.insert(stringify!($name).to_owned(), object);
            }
        }
    )*};
}
pub(crate) use document;
