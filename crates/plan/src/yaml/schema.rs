//! The JSON Schema of plans, made from the description of their keys.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::keys::{Entry, Form, KeyShape, Looks, Of, Quantity, Rule, Shape, Table};
use crate::model::{Experiment, Plan, step_tables};
use squall_base::units;

/// What expressions can call a variable. ECMA-262's `\w` is ASCII; other letters are let pass.
const IDENTIFIER: &str =
    r"^(?!(true|false|null|in|has)$)([A-Za-z_]|[^\x00-\x7f])([A-Za-z0-9_]|[^\x00-\x7f])*$";

/// JSON Schema (2020-12) of a plan, for editors.
pub fn schema() -> Value {
    of_file::<Of<Plan>>("squall plan")
}

/// JSON Schema (2020-12) of an experiment, for editors.
pub fn experiment_schema() -> Value {
    of_file::<Of<Experiment>>("squall experiment")
}

fn of_file<F: Form>(title: &str) -> Value {
    let mut schema = Definitions::default();
    let Shape::Record(file) = F::shape() else { return Value::Null };
    let mut file = schema.table(&file());
    let steps: Vec<Value> = step_tables().iter().map(|step| schema.named(step)).collect();
    schema.0.insert("step".to_owned(), json!({"anyOf": steps}));
    file["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    file["title"] = json!(title);
    file["$defs"] = json!(schema.0);
    file
}

/// The definitions, each made when it is first asked for.
#[derive(Default)]
struct Definitions(BTreeMap<String, Value>);

impl Definitions {
    fn named(&mut self, table: &Table) -> Value {
        let words = table.title.trim_start_matches("an ").trim_start_matches("a ");
        let key = words.replace(' ', "_");
        if !self.0.contains_key(&key) {
            self.0.insert(key.clone(), Value::Null);
            let definition = self.table(table);
            self.0.insert(key.clone(), definition);
        }
        json!({"$ref": format!("#/$defs/{key}")})
    }

    fn table(&mut self, table: &Table) -> Value {
        let mut properties = Map::new();
        let choices = table.choices();
        for key in table.all_keys() {
            // A key that may be left out may also have nothing behind it, and so may one of several.
            let may_be_empty = !key.key.required || choices.contains(&key.key.name);
            properties.insert(key.key.name.to_owned(), self.key(key, may_be_empty));
        }
        let mut schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !table.about.is_empty() {
            schema["description"] = json!(table.about.trim());
        }
        let mut required = Vec::new();
        let mut all: Vec<Value> = Vec::new();
        for entry in &table.entries {
            match entry {
                Entry::Key(key) if key.key.required => required.push(key.key.name),
                Entry::Key(_) => {}
                Entry::OneOf { required, tables } => one_of(tables, *required, &mut all),
            }
        }
        all.extend(table.rules.iter().map(rule));
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if !all.is_empty() {
            schema["allOf"] = json!(all);
        }
        schema
    }

    fn key(&mut self, key: &KeyShape, may_be_empty: bool) -> Value {
        let mut about = key.key.about.trim().to_owned();
        if let Some(default) = &key.default {
            about.push_str(&format!(" Default: {default}."));
        }
        let mut schema = self.value(&key.shape);
        if may_be_empty && !matches!(key.shape, Shape::Steps(1) | Shape::Any) {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        schema["description"] = json!(about);
        schema
    }

    /// A number with a variable in it, known before the run; it may begin with digits.
    fn variable(&mut self) -> Value {
        let text = || json!({"type": "string", "pattern": r"^\s*([-+.0-9][^$]*)?\$\{"});
        self.0.entry("variable_known_before".to_owned()).or_insert_with(text);
        json!({"$ref": "#/$defs/variable_known_before"})
    }

    fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Text | Shape::Path => scalar(),
            Shape::Expression => {
                json!({"type": ["string", "number", "boolean"], "pattern": r"\S"})
            }
            Shape::Pattern(looks) => pattern(looks),
            Shape::Identifier => json!({"type": "string", "pattern": IDENTIFIER}),
            Shape::Bool => json!({"type": "boolean"}),
            Shape::Int(least, most) => {
                let mut number = json!({"type": "integer", "minimum": least});
                if *most < u64::MAX {
                    number["maximum"] = json!(most);
                }
                let digits = if *least > 0 { "^0*[1-9][0-9_]*$" } else { "^[0-9][0-9_]*$" };
                let digits = json!({"type": "string", "pattern": digits});
                json!({"anyOf": [number, digits, self.variable()]})
            }
            Shape::Number { above_0 } => {
                let limit = if *above_0 { "exclusiveMinimum" } else { "minimum" };
                let number = json!({"type": "number", (limit): 0});
                let digits = json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]*)?$"});
                json!({"anyOf": [number, digits, self.variable()]})
            }
            Shape::Quantity(what) => {
                let (key, variable) = (format!("{}_quantity", what.name()), self.variable());
                let reference = json!({"$ref": format!("#/$defs/{key}")});
                self.0.entry(key).or_insert_with(|| quantity(*what, variable));
                reference
            }
            Shape::Any => json!({}),
            Shape::Words(words) => words_value(words),
            Shape::Record(table) => self.named(&table()),
            Shape::List(item, least, most) => {
                let item = self.value(item);
                let mut list = json!({"type": "array", "items": item, "minItems": least});
                if *most < usize::MAX {
                    list["maxItems"] = json!(most);
                }
                if *least > 1 { list } else { json!({"anyOf": [list, item]}) }
            }
            Shape::Names(item, naming) => {
                let mut names = json!({"type": "object", "additionalProperties": self.value(item)});
                names["minProperties"] = json!(naming.least);
                if naming.most < usize::MAX {
                    names["maxProperties"] = json!(naming.most);
                }
                let pattern = naming.pattern.or(naming.variables.then_some(IDENTIFIER));
                if let Some(pattern) = pattern {
                    names["propertyNames"] = json!({"pattern": pattern});
                }
                names
            }
            Shape::Either(shapes) => {
                let shapes: Vec<Value> = shapes.iter().map(|shape| self.value(shape)).collect();
                json!({"anyOf": shapes})
            }
            Shape::IfKey(key, shapes) => {
                let is_there = json!({"type": "object", "required": [key]});
                let (then, otherwise) = (self.value(&shapes.0), self.value(&shapes.1));
                json!({"if": is_there, "then": then, "else": otherwise})
            }
            Shape::Steps(least) => {
                let step = json!({"$ref": "#/$defs/step"});
                let list = json!({"type": "array", "items": step, "minItems": least});
                json!({"anyOf": [list, step]})
            }
        }
    }
}

/// A text that looks like something.
fn pattern(looks: &Looks) -> Value {
    let text = json!({"type": "string", "pattern": looks.pattern});
    let Some((least, most)) = looks.numbers else { return text };
    let mut number = json!({"type": "integer", "minimum": least});
    if most < u64::MAX {
        number["maximum"] = json!(most);
    }
    json!({"anyOf": [text, number]})
}

/// What may stand as a text.
fn scalar() -> Value {
    json!({"type": ["string", "number", "boolean"]})
}

/// A number with a unit.
fn quantity(what: Quantity, variable: Value) -> Value {
    let (pattern, bare) = match what {
        Quantity::Time => (units::pattern_of_times(), Some(json!({"type": "number", "const": 0}))),
        Quantity::Range => (units::pattern_of_ranges(), None),
        Quantity::Size => {
            (units::pattern_of_sizes(), Some(json!({"type": "number", "minimum": 0})))
        }
        Quantity::Rate => (units::pattern_of_rates(), None),
        // Units have no digits in them.
        Quantity::Bandwidth => {
            (units::pattern_of_bandwidths().replacen('^', "^(?=.*[1-9])", 1), None)
        }
        Quantity::Percent => {
            let bare = json!({"type": "number", "exclusiveMinimum": 0});
            (r"^\s*(?=.*[1-9])[0-9]*\.?[0-9]+\s*%?\s*$".to_owned(), Some(bare))
        }
    };
    let text = json!({"type": "string", "pattern": pattern, "examples": what.examples()});
    let forms: Vec<Value> = [text].into_iter().chain(bare).chain([variable]).collect();
    json!({"anyOf": forms})
}

/// Words; one that looks like a number or a bool may be written as such.
fn words_value(words: &[(&str, &str)]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for (word, _) in words {
        match word.parse::<serde_json::Number>() {
            Ok(number) => all.extend([json!(word), json!(number)]),
            Err(_) if *word == "true" => all.push(json!(true)),
            Err(_) => all.push(json!(word)),
        }
    }
    json!({"enum": all})
}

/// That a key is there, with something behind it.
fn given(key: &str) -> Value {
    json!({"required": [key], "properties": {(key): {"not": {"type": "null"}}}})
}

/// That the keys of one of these tables are there, or of at most one.
fn one_of(tables: &[Table], required: bool, all: &mut Vec<Value>) {
    let deciding: Vec<&str> = tables.iter().flat_map(Table::deciding).collect();
    let mut ways: Vec<Value> = deciding.iter().map(|key| given(key)).collect();
    if !required {
        let any: Vec<Value> = ways.clone();
        ways.push(json!({"not": {"anyOf": any}}));
    }
    all.push(json!({"oneOf": ways}));
    for table in tables {
        let first = table.deciding();
        for key in table.all_keys().into_iter().filter(|key| !first.contains(&key.key.name)) {
            let decided: Vec<Value> =
                first.iter().map(|first| json!({"required": [first]})).collect();
            all.push(json!({"if": {"required": [key.key.name]}, "then": {"anyOf": decided}}));
        }
    }
}

/// How keys depend on each other.
fn rule(rule: &Rule) -> Value {
    match rule {
        Rule::Excludes(a, b, _) => json!({"not": {"allOf": [given(a), given(b)]}}),
        Rule::Needs(key, other, _) => json!({"if": given(key), "then": given(other)}),
        Rule::AnyOf(keys, ..) => {
            let keys: Vec<Value> = keys.iter().map(|key| given(key)).collect();
            json!({"anyOf": keys})
        }
        Rule::OnlyWith { key, other, word, .. } => {
            let is_word = json!({"required": [other], "properties": {(*other): {"const": word}}});
            json!({"if": given(key), "then": is_word, "else": {"not": is_word}})
        }
        Rule::OnlyWithOneOf { key, other, words, unless } => {
            let unless: Value = serde_json::from_str(unless).unwrap_or_default();
            let is_word = json!({"required": [other], "properties": {(*other): {"enum": words}}});
            let says_nothing = json!({"properties": {(*key): {"enum": unless}}});
            json!({"if": given(key), "then": {"anyOf": [is_word, says_nothing]}})
        }
        Rule::LooksWith { key, pattern, other, word } => {
            let is_word = json!({"required": [other], "properties": {(*other): {"const": word}}});
            json!({"if": is_word, "then": {"properties": {(*key): {"pattern": pattern}}}})
        }
        Rule::Above0Without { key, other } => {
            let above_0 = json!({"properties": {(*key): {"not": {"enum": [0, "0"]}}}});
            json!({"anyOf": [given(other), above_0]})
        }
        Rule::NeededUnless { key, other, word } => {
            let is_word = json!({"required": [other], "properties": {(*other): {"const": word}}});
            json!({"anyOf": [is_word, given(key)]})
        }
    }
}
