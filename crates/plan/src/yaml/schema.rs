//! The JSON Schema of plans, made from the tables that the reader uses.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tables::{self, Form, METHODS, STEPS, Table};

/// JSON Schema (2020-12) of a plan, for editors.
pub fn schema() -> Value {
    let mut definitions = BTreeMap::new();
    let mut plan = table(&tables::PLAN, &mut definitions);
    let steps: Vec<Value> = STEPS.iter().map(|step| named(step, &mut definitions)).collect();
    definitions.insert("step".to_owned(), json!({"anyOf": steps}));
    if let Some(plan) = plan.as_object_mut() {
        plan.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        plan.insert("title".to_owned(), json!("squall plan"));
        plan.insert("required".to_owned(), json!(["scenarios"]));
        plan.insert("$defs".to_owned(), json!(definitions));
    }
    plan
}

fn key_of(table: &Table) -> String {
    table
        .name
        .split(' ')
        .skip(usize::from(table.name.starts_with("a ") || table.name.starts_with("an ")))
        .collect::<Vec<_>>()
        .join("_")
}

/// A reference to a table's definition, which is made when it is first asked for.
fn named(of: &'static Table, definitions: &mut BTreeMap<String, Value>) -> Value {
    let key = key_of(of);
    if !definitions.contains_key(&key) {
        definitions.insert(key.clone(), Value::Null);
        let definition = table(of, definitions);
        definitions.insert(key.clone(), definition);
    }
    json!({"$ref": format!("#/$defs/{key}")})
}

fn table(of: &'static Table, definitions: &mut BTreeMap<String, Value>) -> Value {
    let mut properties = Map::new();
    for tables::Key(name, form, about) in of.keys {
        let mut schema = value(form, definitions);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(about));
        }
        properties.insert((*name).to_owned(), schema);
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    let is_step = STEPS.iter().any(|step| std::ptr::eq(*step, of));
    if is_step && std::ptr::eq(of, &tables::REQUEST) {
        let needs: Vec<Value> = METHODS
            .iter()
            .chain(&["request"])
            .map(|method| json!({"required": [method]}))
            .collect();
        schema["anyOf"] = json!(needs);
    } else if is_step {
        schema["required"] = json!([of.keys[0].0]);
    }
    schema
}

fn value(form: &'static Form, definitions: &mut BTreeMap<String, Value>) -> Value {
    match form {
        Form::Text => json!({"type": ["string", "number", "boolean"]}),
        Form::Bool => json!({"type": "boolean"}),
        Form::Int => json!({"type": "integer", "minimum": 0}),
        Form::Number => json!({"type": "number", "minimum": 0}),
        Form::Duration => {
            json!({"type": ["string", "integer"], "examples": ["300ms", "2s", "1m30s"]})
        }
        Form::Size => json!({"type": ["string", "integer"], "examples": ["64KiB", "1MB"]}),
        Form::Bandwidth => json!({"type": "string", "examples": ["2Mbit/s", "64kbit/s", "1MB/s"]}),
        Form::Rate => json!({"type": "string", "examples": ["500/s", "30/min"]}),
        Form::Any => json!({}),
        Form::Think => {
            json!({"type": ["string", "object", "integer"], "examples": ["1s", "1s..3s"]})
        }
        Form::OneOf(words) => json!({"enum": words}),
        Form::Of(table) => named(table, definitions),
        Form::List(item) => {
            let item = value(item, definitions);
            json!({"anyOf": [{"type": "array", "items": item}, item]})
        }
        Form::Names(item) => {
            json!({"type": "object", "additionalProperties": value(item, definitions)})
        }
        Form::Either(forms) => {
            let forms: Vec<Value> = forms.iter().map(|form| value(form, definitions)).collect();
            json!({"anyOf": forms})
        }
        Form::Steps => json!({"type": "array", "items": {"$ref": "#/$defs/step"}}),
    }
}
