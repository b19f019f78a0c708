//! What the functions of the core library of XPath 1.0 (section 4) give.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::expression::Expression;
use super::search::{Context, Search};
use super::signatures::Function;
use super::value::{Node, XPathValue, round, text_to_number};
use crate::error::ExtractError;
use crate::markup::NodeId;

impl<'t> Search<'t> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &'t [Expression],
        context: Context,
    ) -> Result<XPathValue<'t>, ExtractError> {
        // Left out, the argument is the context node.
        let value = |index: usize| match arguments.get(index) {
            Some(argument) => self.evaluate(argument, context),
            None => Ok(XPathValue::Nodes(vec![context.node])),
        };
        let number = |index| self.number(&value(index)?);
        let text = |index| -> Result<Cow<'t, str>, ExtractError> {
            let text = self.string(&value(index)?);
            self.fuel.burn_text(text.len())?;
            Ok(text)
        };
        let first = || -> Result<Option<Node>, ExtractError> {
            match value(0)? {
                XPathValue::Nodes(nodes) => Ok(nodes.first().copied()),
                _ => Ok(None),
            }
        };
        Ok(match function {
            Function::Last => XPathValue::Number(context.size as f64),
            Function::Position => XPathValue::Number(context.position as f64),
            Function::Count => match value(0)? {
                XPathValue::Nodes(nodes) => XPathValue::Number(nodes.len() as f64),
                _ => XPathValue::Number(f64::NAN),
            },
            Function::Sum => self.sum(value(0)?)?,
            Function::Id => XPathValue::Nodes(self.by_id(value(0)?)?),
            Function::Name => text_of(first()?.map(|node| self.name(node))),
            Function::LocalName => text_of(first()?.map(|node| self.local_name(node))),
            Function::NamespaceUri => {
                let namespace = first()?.map(|node| self.namespace(node)).transpose()?;
                text_of(namespace)
            }
            Function::Lang => XPathValue::Boolean(self.speaks(context.node, &text(0)?)?),
            Function::Boolean => XPathValue::Boolean(self.boolean(&value(0)?)),
            Function::Not => XPathValue::Boolean(!self.boolean(&value(0)?)),
            Function::True => XPathValue::Boolean(true),
            Function::False => XPathValue::Boolean(false),
            Function::Number => XPathValue::Number(number(0)?),
            Function::Floor => XPathValue::Number(number(0)?.floor()),
            Function::Ceiling => XPathValue::Number(number(0)?.ceil()),
            Function::Round => XPathValue::Number(round(number(0)?)),
            Function::String => XPathValue::Text(text(0)?),
            Function::StringLength => XPathValue::Number(text(0)?.chars().count() as f64),
            Function::Contains => XPathValue::Boolean(text(0)?.contains(&*text(1)?)),
            Function::StartsWith => XPathValue::Boolean(text(0)?.starts_with(&*text(1)?)),
            Function::SubstringBefore => {
                let (text, mark) = (text(0)?, text(1)?);
                owned(text.split_once(&*mark).map_or("", |(before, _)| before).into())
            }
            Function::SubstringAfter => {
                let (text, mark) = (text(0)?, text(1)?);
                owned(text.split_once(&*mark).map_or("", |(_, after)| after).into())
            }
            Function::Substring => {
                let length = if arguments.len() > 2 { Some(number(2)?) } else { None };
                owned(substring(&text(0)?, number(1)?, length))
            }
            Function::Translate => owned(translate(&text(0)?, &text(1)?, &text(2)?)),
            Function::NormalizeSpace => {
                let words = text(0)?;
                let words: Vec<&str> = words.split_ascii_whitespace().collect();
                owned(words.join(" "))
            }
            Function::Concat => {
                let mut all = String::new();
                for index in 0..arguments.len() {
                    let part = text(index)?;
                    self.fuel.burn_copy(part.len())?;
                    all.push_str(&part);
                }
                owned(all)
            }
        })
    }

    fn sum(&self, value: XPathValue<'t>) -> Result<XPathValue<'t>, ExtractError> {
        let XPathValue::Nodes(nodes) = value else { return Ok(XPathValue::Number(f64::NAN)) };
        let mut sum = 0.0;
        for node in nodes {
            self.fuel.burn_text(self.text(node).len())?;
            sum += text_to_number(self.text(node));
        }
        Ok(XPathValue::Number(sum))
    }

    /// The elements whose `id` is one of the words of a text, or of the texts of nodes.
    fn by_id(&self, value: XPathValue<'t>) -> Result<Vec<Node>, ExtractError> {
        let texts = match &value {
            XPathValue::Nodes(nodes) => nodes.iter().map(|node| self.text(*node).into()).collect(),
            value => vec![self.string(value)],
        };
        let mut wanted = HashSet::new();
        for text in &texts {
            self.fuel.burn_text(text.len())?;
            wanted.extend(text.split_ascii_whitespace());
        }
        let mut found = Vec::new();
        for element in self.tree.elements() {
            self.fuel.burn(1 + self.tree.attributes(element).len())?;
            if self.tree.attribute(element, "id").is_some_and(|id| wanted.contains(id)) {
                found.push(Node::of(element));
            }
        }
        Ok(found)
    }

    /// The namespace of an element or attribute, by the declarations around it.
    fn namespace(&self, node: Node) -> Result<&'t str, ExtractError> {
        match node.attribute {
            None => self.tree.namespace(node.id, self.fuel),
            Some(attribute) => match self.tree.attribute_name(attribute).split_once(':') {
                Some((prefix, _)) => self.tree.namespace_of_prefix(prefix, node.id, self.fuel),
                // An attribute without prefix is in no namespace.
                None => Ok(""),
            },
        }
    }

    /// Takes the price of looking for an attribute of an element.
    fn burn_attributes(&self, id: NodeId) -> Result<(), ExtractError> {
        self.fuel.burn(1 + self.tree.attributes(id).len())
    }

    /// Whether a node is in a language, or one of its dialects.
    fn speaks(&self, node: Node, language: &str) -> Result<bool, ExtractError> {
        let mut around = std::iter::once(node.id).chain(self.tree.ancestors(node.id));
        let spoken = around.find_map(|id| {
            if let Err(error) = self.burn_attributes(id) {
                return Some(Err(error));
            }
            let html = || if self.tree.is_html() { self.tree.attribute(id, "lang") } else { None };
            self.tree.attribute(id, "xml:lang").or_else(html).map(Ok)
        });
        let spoken = spoken.unwrap_or(Ok(""))?.to_ascii_lowercase();
        self.fuel.burn_text(spoken.len())?;
        let rest = spoken.strip_prefix(&language.to_ascii_lowercase());
        Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
    }
}

fn text_of(text: Option<&str>) -> XPathValue<'_> {
    XPathValue::Text(text.unwrap_or("").into())
}

fn owned<'t>(text: String) -> XPathValue<'t> {
    XPathValue::Text(Cow::Owned(text))
}

/// The characters from `start` (the first is 1), `length` of them if given; both are rounded.
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let start = round(start);
    let end = length.map_or(f64::INFINITY, |length| start + round(length));
    // Comparisons with NaN are false, so that nothing is taken.
    let taken = text.chars().zip(1u32..).filter(|(_, position)| {
        let position = f64::from(*position);
        position >= start && position < end
    });
    taken.map(|(character, _)| character).collect()
}

/// Replaces each character of `from` by the one at its place in `to`, or drops it.
fn translate(text: &str, from: &str, to: &str) -> String {
    let mut table = HashMap::new();
    let mut to = to.chars();
    for character in from.chars() {
        let replacement = to.next();
        table.entry(character).or_insert(replacement);
    }
    text.chars().filter_map(|c| table.get(&c).copied().unwrap_or(Some(c))).collect()
}
