//! Nodes to values: the tools of the readers, which note every error and go on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::node::{self, Kind, Node};
use super::suggest::suggest;
use super::tables::Table;
use crate::diagnostic::{Diagnostic, Sources};
use crate::expr::Expr;
use crate::model::{Json, Plan};
use crate::span::{Span, Spanned};
use crate::template::Template;
use squall_base::units::{self, UnitError};

/// Reads one plan and its includes.
pub(super) struct Reader {
    folder: PathBuf,
    sources: Sources,
    errors: Vec<Diagnostic>,
    /// Files being included, outermost first.
    pub(super) including: Vec<PathBuf>,
}

/// A map whose keys are those of a table.
pub(super) struct Fields<'n> {
    pub node: &'n Node,
}

impl<'n> Fields<'n> {
    /// The value of a key; one that is null is as if it were not there.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.node.get(key).filter(|node| !node.is_null())
    }

    /// Whether a key is none of the table's.
    pub(super) fn has_unknown(&self, table: &Table) -> bool {
        let Kind::Map(entries) = &self.node.kind else { return false };
        entries.iter().any(|(key, _)| match &key.kind {
            Kind::Scalar(name, _) => !table.keys.iter().any(|known| known.0 == name),
            _ => true,
        })
    }
}

impl Reader {
    pub(super) fn new(folder: &Path) -> Reader {
        Reader {
            folder: folder.to_owned(),
            sources: Sources::default(),
            errors: Vec::new(),
            including: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> (Vec<Diagnostic>, Sources) {
        (self.errors, self.sources)
    }

    pub(super) fn plan(&mut self, name: &str, text: &str) -> Option<Plan> {
        let root = self.parse(name, text)?;
        Some(self.read_plan(&root))
    }

    pub(super) fn parse(&mut self, name: &str, text: &str) -> Option<Node> {
        let file = self.sources.add(name, text);
        match node::parse(text, file) {
            Ok(node) => Some(node),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
    }

    pub(super) fn report(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    fn wrong(&mut self, node: &Node, expected: &str) {
        self.error(node.span, format!("expected {expected}, found {}", node.describe()), "");
    }

    /// A map with the keys of a table.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, table: &Table) -> Option<Fields<'n>> {
        let Kind::Map(entries) = &node.kind else {
            let keys: Vec<&str> = table.keys.iter().map(|key| key.0).collect();
            let message = format!("expected a mapping, found {}", node.describe());
            self.error(node.span, message, &format!("{} has {}", table.name, keys.join(", ")));
            return None;
        };
        let mut seen: Vec<&str> = Vec::new();
        for (key, _) in entries {
            let Kind::Scalar(name, _) = &key.kind else {
                self.wrong(key, "a name");
                continue;
            };
            let known = table.keys.iter().map(|key| key.0);
            if seen.contains(&name.as_str()) {
                self.error(key.span, format!("duplicate key `{name}`"), "");
            } else if !known.clone().any(|own| own == name) {
                let help = match suggest(name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("{} has {}", table.name, known.collect::<Vec<_>>().join(", ")),
                };
                self.error(key.span, format!("unknown key `{name}` in {}", table.name), &help);
            }
            seen.push(name);
        }
        Some(Fields { node })
    }

    /// A map of the user's own names, in its order.
    pub(super) fn names<'n>(&mut self, node: &'n Node) -> Vec<(Spanned<String>, &'n Node)> {
        let Kind::Map(entries) = &node.kind else {
            self.wrong(node, "a mapping");
            return Vec::new();
        };
        let mut names: Vec<(Spanned<String>, &Node)> = Vec::new();
        for (key, value) in entries {
            let Kind::Scalar(name, _) = &key.kind else {
                self.wrong(key, "a name");
                continue;
            };
            if names.iter().any(|(own, _)| own.value == *name) {
                self.error(key.span, format!("duplicate key `{name}`"), "");
            }
            names.push((Spanned::new(name.clone(), key.span), value));
        }
        names
    }

    /// A name that expressions can use.
    pub(super) fn identifier(&mut self, name: &Spanned<String>) {
        let mut chars = name.value.chars();
        let good = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_')
            && !matches!(name.value.as_str(), "true" | "false" | "null" | "in" | "has");
        if !good {
            let message = format!("invalid variable name `{}`", name.value);
            self.error(name.span, message, "use letters, digits and `_`, beginning with a letter");
        }
    }

    /// The items of a list; anything else is a list of one.
    pub(super) fn items<'n>(&self, node: Option<&'n Node>) -> Vec<&'n Node> {
        match node.map(|node| (node, &node.kind)) {
            None => Vec::new(),
            Some((_, Kind::List(items))) => items.iter().collect(),
            Some((node, _)) => vec![node],
        }
    }

    pub(super) fn text(&mut self, node: Option<&Node>) -> Option<Spanned<String>> {
        let node = node?;
        match &node.kind {
            Kind::Scalar(text, plain) => {
                // A quoted text begins behind its quote.
                let span = node.span.later(usize::from(!plain));
                Some(Spanned::new(text.clone(), span))
            }
            _ => {
                self.wrong(node, "a string");
                None
            }
        }
    }

    pub(super) fn string(&mut self, node: Option<&Node>) -> Option<String> {
        self.text(node).map(|text| text.value)
    }

    pub(super) fn template(&mut self, node: Option<&Node>) -> Option<Template> {
        let text = self.text(node)?;
        match Template::parse(&text.value, text.span) {
            Ok(template) => Some(template),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// An expression; `${...}` around it is taken off.
    pub(super) fn expr(&mut self, node: Option<&Node>) -> Option<Expr> {
        let text = self.text(node)?;
        let trimmed = text.value.trim();
        let inner = trimmed.strip_prefix("${").and_then(|inner| inner.strip_suffix('}'));
        let (source, span) = match inner.filter(|inner| !inner.contains("${")) {
            Some(inner) => (inner, text.span.later(2)),
            None => (trimmed, text.span),
        };
        match Expr::parse(source, span) {
            Ok(expr) => Some(expr),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// A path, joined to the folder of the plan.
    pub(super) fn path(&mut self, node: Option<&Node>) -> Option<Spanned<PathBuf>> {
        let text = self.text(node)?;
        Some(Spanned::new(self.folder.join(&text.value), text.span))
    }

    pub(super) fn bool(&mut self, node: Option<&Node>) -> Option<bool> {
        let node = node?;
        match &node.kind {
            Kind::Scalar(text, true) if matches!(text.as_str(), "true" | "false") => {
                Some(text == "true")
            }
            _ => {
                self.wrong(node, "true or false");
                None
            }
        }
    }

    pub(super) fn int(&mut self, node: Option<&Node>) -> Option<u64> {
        let node = node?;
        let number = match &node.kind {
            Kind::Scalar(text, _) => text.replace('_', "").parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong(node, "a whole number, 0 or more");
        }
        number
    }

    /// A whole number that has to fit into 32 bits.
    pub(super) fn small_int(&mut self, node: Option<&Node>) -> Option<u32> {
        let number = self.int(node)?;
        let small = u32::try_from(number).ok();
        if let (Some(node), None) = (node, small) {
            self.wrong(node, "a whole number up to 4294967295");
        }
        small
    }

    /// A whole number above 0.
    pub(super) fn positive(&mut self, node: Option<&Node>) -> Option<u64> {
        let number = self.int(node);
        if let (Some(node), Some(0)) = (node, number) {
            self.wrong(node, "a whole number above 0");
        }
        number.filter(|number| *number > 0)
    }

    pub(super) fn number(&mut self, node: Option<&Node>) -> Option<f64> {
        let node = node?;
        let number: Option<f64> = match &node.kind {
            Kind::Scalar(text, _) => text.parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.wrong(node, "a number, 0 or more");
        }
        number
    }

    fn quantity<T>(
        &mut self,
        node: Option<&Node>,
        parse: fn(&str) -> Result<T, UnitError>,
    ) -> Option<T> {
        let text = self.text(node)?;
        match parse(&text.value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(text.span, error.0, "");
                None
            }
        }
    }

    pub(super) fn duration(&mut self, node: Option<&Node>) -> Option<Duration> {
        self.quantity(node, units::parse_duration)
    }

    pub(super) fn size(&mut self, node: Option<&Node>) -> Option<u64> {
        self.quantity(node, units::parse_size)
    }

    /// Bytes a second.
    pub(super) fn bandwidth(&mut self, node: Option<&Node>) -> Option<u64> {
        self.quantity(node, units::parse_bandwidth)
    }

    pub(super) fn rate(&mut self, node: Option<&Node>) -> Option<f64> {
        self.quantity(node, units::parse_rate)
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&mut self, node: Option<&Node>, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node)?;
        let found = words.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            let help = match suggest(&text.value, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => String::new(),
            };
            let all = known.collect::<Vec<_>>().join(", ");
            self.error(
                text.span,
                format!("invalid value `{}`: expected one of {all}", text.value),
                &help,
            );
        }
        found.map(|(_, value)| *value)
    }

    /// Names and texts, in order.
    pub(super) fn pairs(&mut self, node: Option<&Node>) -> Vec<(Template, Template)> {
        let Some(node) = node else { return Vec::new() };
        let mut pairs = Vec::new();
        for (name, value) in self.names(node) {
            let name = match Template::parse(&name.value, name.span) {
                Ok(name) => name,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            if let Some(value) = self.template(Some(value)) {
                pairs.push((name, value));
            }
        }
        pairs
    }

    /// A JSON-like value. What stands without quotes may be a number, a bool or null.
    pub(super) fn json(&mut self, node: &Node) -> Option<Json> {
        Some(match &node.kind {
            _ if node.is_null() => Json::Null,
            Kind::Scalar(text, true) if text == "true" || text == "false" => {
                Json::Bool(text == "true")
            }
            Kind::Scalar(text, true) => match (text.parse::<i64>(), number(text)) {
                (Ok(number), _) => Json::Int(number),
                (_, Some(number)) => Json::Float(number),
                _ => Json::Text(self.template(Some(node))?),
            },
            Kind::Scalar(..) => Json::Text(self.template(Some(node))?),
            Kind::List(items) => {
                Json::List(items.iter().filter_map(|item| self.json(item)).collect())
            }
            Kind::Map(_) => {
                let mut entries = Vec::new();
                for (name, value) in self.names(node) {
                    match Template::parse(&name.value, name.span) {
                        Ok(name) => entries.extend(self.json(value).map(|value| (name, value))),
                        Err(error) => self.errors.push(error),
                    }
                }
                Json::Map(entries)
            }
        })
    }
}

/// A number with a fraction or exponent, and nothing else that Rust would take for one.
fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    text.parse().ok().filter(|number: &f64| plain && number.is_finite())
}
