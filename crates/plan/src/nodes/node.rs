//! YAML text to a tree of nodes with places. Bounded: depth, number of nodes, aliases included.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::quoting;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

const MAX_DEPTH: usize = 64;
/// Most of what a file may hold, what aliases stand for included: a node counts 1, and each 64 bytes
/// of its text.
const MAX_WEIGHT: usize = 400_000;

/// A piece of YAML.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(super) kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A text, and whether it stands without quotes (and so may be a number, a bool or null).
    Scalar(String, bool),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text, true) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    pub fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_))
    }

    /// Whether it is this text, quoted or not.
    pub fn is_text(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Scalar(text, _) if text == word)
    }

    /// The elements of a list.
    pub fn list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The elements of a list; anything else is a list of one.
    pub fn items(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::List(items) => items.iter().collect(),
            _ => vec![self],
        }
    }

    /// Where its text begins: behind the quote of a quoted one.
    pub fn text_span(&self) -> Span {
        self.span.later(usize::from(matches!(self.kind, Kind::Scalar(_, false))))
    }

    /// The name in `{name}` or `{{name}}` without quotes, which YAML takes for a mapping.
    pub fn braced_name(&self) -> Option<&str> {
        let Kind::Map(entries) = &self.kind else { return None };
        let [(key, value)] = entries.as_slice() else { return None };
        match &key.kind {
            _ if !value.is_null() => None,
            Kind::Scalar(name, _) => Some(name),
            _ => key.braced_name(),
        }
    }

    /// What it is, in words.
    pub fn describe(&self) -> String {
        match &self.kind {
            _ if self.is_null() => "nothing".to_owned(),
            Kind::Scalar(text, _) => format!("`{text}`"),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, value)| value)
    }

    /// What stands behind the keys of a mapping.
    pub fn values(&self) -> Vec<&Node> {
        let Kind::Map(entries) = &self.kind else { return Vec::new() };
        entries.iter().map(|(_, value)| value).collect()
    }

    /// Where a key stands.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|(key, _)| key.span)
    }

    fn entry(&self, key: &str) -> Option<&(Node, Node)> {
        let Kind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|(own, _)| own.is_text(key))
    }
}

pub(super) fn parse(text: &str, file: u16) -> Result<Node, Diagnostic> {
    let mut builder = Builder { file, text, anchors: HashMap::new(), left: MAX_WEIGHT };
    let mut parser = Parser::new_from_str(text);
    let mut root = None;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| builder.invalid(&error))?;
        let span = builder.place(span.start.line(), span.start.col());
        match event {
            Event::StreamStart
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::StreamEnd
            | Event::Nothing => {}
            _ if root.is_some() => {
                return Err(Diagnostic::error(
                    span,
                    "expected a single YAML document, found the start of a second one",
                ));
            }
            event => root = Some(builder.node(event, span, &mut parser, 0)?),
        }
    }
    root.ok_or_else(|| Diagnostic::error(builder.place(1, 0), "the file is empty"))
}

struct Builder<'t> {
    file: u16,
    text: &'t str,
    anchors: HashMap<usize, Node>,
    left: usize,
}

impl Builder<'_> {
    fn charge(&mut self, weight: usize, span: Span) -> Result<(), Diagnostic> {
        let left = self.left.checked_sub(weight);
        self.left = left.ok_or_else(|| {
            let message = format!(
                "the file holds more than {MAX_WEIGHT} values, what its aliases stand for included"
            );
            Diagnostic::error(span, message)
        })?;
        Ok(())
    }

    /// What the parser finds wrong, with what to do.
    fn invalid(&self, error: &ScanError) -> Diagnostic {
        let at = self.place(error.marker().line(), error.marker().col());
        // What is not closed is noticed on the next line.
        let lines = self.text.lines().skip((at.line as usize).saturating_sub(2)).take(2);
        let help = lines.map(quoting::help).filter(|help| !help.is_empty()).last();
        // A bracket that is not closed may be noticed at the end of the file.
        let help = help.or_else(|| {
            let before = self.text.lines().take(at.line as usize);
            before.filter(|line| quoting::is_open(line)).last().map(quoting::help)
        });
        Diagnostic::error(at, format!("invalid YAML: {}", error.info()))
            .with_help(help.unwrap_or_default())
    }

    /// Refuses a tag: one such as `!x` is a text without quotes that begins with `!`, and what `!!str` would say, quotes do.
    fn untagged(&self, tag: Option<&Tag>, span: Span) -> Result<(), Diagnostic> {
        let Some(tag) = tag else { return Ok(()) };
        let (message, help) = match tag.is_yaml_core_schema() {
            true => (
                format!("unsupported YAML tag `!!{}`", tag.suffix),
                "leave it out: what stands in quotes is a text, and a number, a bool or null stands without",
            ),
            false => (
                format!("unknown YAML tag `{}{}`", tag.handle, tag.suffix),
                "put quotes around a text that begins with `!`",
            ),
        };
        Err(Diagnostic::error(span, message).with_help(help))
    }

    fn place(&self, line: usize, column: usize) -> Span {
        Span { file: self.file, line: line.max(1) as u32, column: column as u32 + 1 }
    }

    fn node<'i>(
        &mut self,
        event: Event<'i>,
        span: Span,
        parser: &mut Parser<'i, saphyr_parser::StrInput<'i>>,
        depth: usize,
    ) -> Result<Node, Diagnostic> {
        if depth > MAX_DEPTH {
            let message = format!("the file is nested more than {MAX_DEPTH} levels deep");
            return Err(Diagnostic::error(span, message));
        }
        let (kind, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.untagged(tag.as_deref(), span)?;
                self.charge(1 + text.len() / 64, span)?;
                (Kind::Scalar(text.into_owned(), style == ScalarStyle::Plain), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.untagged(tag.as_deref(), span)?;
                self.charge(1, span)?;
                let mut items = Vec::new();
                while let Some((event, span)) = self.next(parser, span)? {
                    items.push(self.node(event, span, parser, depth + 1)?);
                }
                (Kind::List(items), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.untagged(tag.as_deref(), span)?;
                self.charge(1, span)?;
                let mut entries = Vec::new();
                while let Some((event, place)) = self.next(parser, span)? {
                    let key = self.node(event, place, parser, depth + 1)?;
                    let Some((event, place)) = self.next(parser, span)? else { break };
                    let value = self.node(event, place, parser, depth + 1)?;
                    entries.push((key, value));
                }
                (Kind::Map(merged(entries)), anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(Diagnostic::error(
                        span,
                        "no anchor of this name precedes the alias",
                    ));
                };
                let node = node.clone();
                self.charge(weight(&node), span)?;
                return Ok(node);
            }
            _ => return Err(Diagnostic::error(span, "unsupported YAML")),
        };
        let node = Node { kind, span };
        if anchor > 0 {
            self.charge(weight(&node), span)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// The next event; `None` at the end of a list or map.
    fn next<'i>(
        &self,
        parser: &mut Parser<'i, saphyr_parser::StrInput<'i>>,
        around: Span,
    ) -> Result<Option<(Event<'i>, Span)>, Diagnostic> {
        match parser.next_event() {
            Some(Ok((Event::SequenceEnd | Event::MappingEnd, _))) => Ok(None),
            Some(Ok((event, span))) => {
                Ok(Some((event, self.place(span.start.line(), span.start.col()))))
            }
            Some(Err(error)) => Err(self.invalid(&error)),
            None => Err(Diagnostic::error(
                around,
                "unexpected end of file: this list or mapping is not closed",
            )),
        }
    }
}

/// Merge keys (`<<: *defaults`): entries of the other map that are not given here.
fn merged(entries: Vec<(Node, Node)>) -> Vec<(Node, Node)> {
    let text = |node: &Node| match &node.kind {
        Kind::Scalar(text, _) => text.clone(),
        _ => String::new(),
    };
    let (merges, mut own): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(key, _)| text(key) == "<<");
    if merges.is_empty() {
        return own;
    }
    let mut known: HashSet<String> = own.iter().map(|(key, _)| text(key)).collect();
    for (_, value) in merges {
        let maps = match value.kind {
            Kind::List(items) => items,
            _ => vec![value],
        };
        for map in maps {
            let Kind::Map(entries) = map.kind else { continue };
            own.extend(entries.into_iter().filter(|(key, _)| known.insert(text(key))));
        }
    }
    own
}

fn weight(node: &Node) -> usize {
    1 + match &node.kind {
        Kind::Scalar(text, _) => text.len() / 64,
        Kind::List(items) => items.iter().map(weight).sum(),
        Kind::Map(entries) => {
            entries.iter().map(|(key, value)| weight(key) + weight(value)).sum::<usize>()
        }
    }
}
