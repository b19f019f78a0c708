//! The reference of plans as Markdown, made from the description of their keys.

use std::fmt::Write as _;

use crate::diagnostic::listed;
use crate::keys::{Entry, Form, KeyShape, Of, Rule, Shape, Table};
use crate::model::{Plan, step_tables};

/// Every key of a plan: what it means, what may stand behind it, what holds without it.
pub fn reference() -> String {
    let mut reference = Reference::default();
    if let Shape::Record(plan) = Of::<Plan>::shape() {
        reference.section(&plan());
    }
    let steps = step_tables();
    let links: Vec<String> = steps.iter().map(link).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(reference.text, "## step\n\nOne of {}.\n", links.join(", "));
    steps.iter().for_each(|step| reference.section(step));
    reference.text
}

/// The text, and the titles of what is in it.
#[derive(Default)]
struct Reference {
    text: String,
    done: Vec<&'static str>,
}

impl Reference {
    /// The keys of a mapping, and after them the mappings that they name, if they have not been there.
    fn section(&mut self, table: &Table) {
        if self.done.contains(&table.title) {
            return;
        }
        self.done.push(table.title);
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "## {}\n", heading(table.title));
        if !table.about.is_empty() {
            let _ = writeln!(self.text, "{}\n", table.about.trim());
        }
        let _ = writeln!(self.text, "| key | value | default | |\n| --- | --- | --- | --- |");
        for key in table.all_keys() {
            self.row(key);
        }
        let _ = writeln!(self.text);
        for note in notes(table) {
            let _ = writeln!(self.text, "- {note}");
        }
        for key in table.all_keys() {
            for (word, about) in
                words(&key.shape).into_iter().filter(|(_, about)| !about.is_empty())
            {
                let _ = writeln!(self.text, "- `{}: {word}`: {}", key.key.name, about.trim());
            }
        }
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
        for key in table.all_keys() {
            tables(&key.shape, &mut |table| self.section(&table));
        }
    }

    fn row(&mut self, key: &KeyShape) {
        let default = match &key.default {
            _ if key.key.required => "",
            Some(default) => default,
            None => "-",
        };
        let about = key.key.about.trim().replace('|', "\\|");
        let name = key.key.name;
        let _ = writeln!(self.text, "| `{name}` | {} | {default} | {about} |", value(&key.shape));
    }
}

/// A title without its article.
fn heading(title: &str) -> &str {
    title.strip_prefix("an ").or_else(|| title.strip_prefix("a ")).unwrap_or(title)
}

/// A link to the section of a table.
fn link(table: &Table) -> String {
    let heading = heading(table.title);
    format!("[{heading}](#{})", heading.replace(' ', "-"))
}

/// What may stand behind a key.
fn value(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Pattern(looks) => looks.name.to_owned(),
        Shape::Expression => "expression".to_owned(),
        Shape::Identifier => "name of a variable".to_owned(),
        Shape::Path => "file".to_owned(),
        Shape::Bool => "`true`, `false`".to_owned(),
        Shape::Int(0, most) if *most >= u32::MAX.into() => "whole number".to_owned(),
        Shape::Int(1, most) if *most >= u32::MAX.into() => "whole number above 0".to_owned(),
        Shape::Int(least, most) => format!("{least} to {most}"),
        Shape::Number { above_0: true } => "number above 0".to_owned(),
        Shape::Number { above_0: false } => "number".to_owned(),
        Shape::Quantity(what) => format!("{}: `{}`", what.name(), what.examples()[0]),
        Shape::Any => "anything".to_owned(),
        Shape::Words(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            words.join(", ")
        }
        Shape::Record(table) => link(&table()),
        Shape::List(item, least, most) if least == most => {
            format!("list of {least}: {}", value(item))
        }
        Shape::List(item, ..) => format!("{}, or a list", value(item)),
        Shape::Names(item, ..) => format!("name: {}", value(item)),
        Shape::Either(shapes) => {
            let values: Vec<String> = shapes.iter().map(value).collect();
            listed(&values.iter().map(String::as_str).collect::<Vec<_>>(), "or")
        }
        Shape::IfKey(_, shapes) => format!("{} or {}", value(&shapes.0), value(&shapes.1)),
        Shape::Steps(_) => "[steps](#step)".to_owned(),
    }
}

/// How keys depend on each other.
fn notes(table: &Table) -> Vec<String> {
    let quoted = |keys: &[&str]| -> String {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        listed(&keys.iter().map(String::as_str).collect::<Vec<_>>(), "and")
    };
    let mut notes = Vec::new();
    for entry in &table.entries {
        let Entry::OneOf { required, tables } = entry else { continue };
        let deciding: Vec<&str> = tables.iter().flat_map(Table::deciding).collect();
        let count = if *required { "Exactly" } else { "At most" };
        notes.push(format!("{count} one of {}.", quoted(&deciding)));
        for table in tables {
            let first = table.deciding();
            let others = table.all_keys().into_iter().map(|key| key.key.name);
            let others: Vec<&str> = others.filter(|name| !first.contains(name)).collect();
            if !others.is_empty() {
                notes.push(format!("{} only with {}.", quoted(&others), quoted(&first)));
            }
        }
    }
    notes.extend(table.rules.iter().map(|rule| match rule {
        Rule::Excludes(a, b, _) => format!("`{a}` and `{b}` exclude each other."),
        Rule::Needs(key, other, _) => format!("`{key}` only together with `{other}`."),
        Rule::AnyOf(keys, ..) => format!("At least one of {}.", quoted(keys)),
        Rule::OnlyWith { key, other, word, .. } => {
            format!("`{key}` with `{other}: {word}`, and only then.")
        }
        Rule::OnlyWithOneOf { key, other, words, .. } => {
            format!("`{key}` only with `{other}: {}`.", words.join("` or `"))
        }
        Rule::LooksWith { key, other, word, .. } => {
            format!("With `{other}: {word}`, `{key}` is two hexadecimal digits for each byte.")
        }
        Rule::Above0Without { key, other } => {
            format!("Without `{other}`, `{key}` is above 0.")
        }
        Rule::NeededUnless { key, other, word } => {
            format!("`{key}` is needed unless `{other}` is `{word}`.")
        }
    }));
    notes
}

/// The words that may stand in a value, and what they mean.
fn words(shape: &Shape) -> Vec<(&'static str, &'static str)> {
    match shape {
        Shape::Words(all) => all.clone(),
        Shape::List(item, ..) | Shape::Names(item, ..) => words(item),
        Shape::Either(shapes) => shapes.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// The mappings that may stand in a value.
fn tables(shape: &Shape, show: &mut dyn FnMut(Table)) {
    match shape {
        Shape::Record(table) => show(table()),
        Shape::List(item, ..) | Shape::Names(item, ..) => tables(item, show),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| tables(shape, show)),
        Shape::IfKey(_, shapes) => tables(&shapes.0, show),
        _ => {}
    }
}
