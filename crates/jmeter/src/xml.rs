//! XML into a flat list of nodes, by quick-xml: bounded in size, number and depth, with the place of each.
//!
//! Nothing is expanded beyond character references and the five predefined entities, so that a file cannot
//! grow while it is read. References to control characters, which XML 1.0 forbids, are taken: JMeter writes
//! and reads them.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use squall_plan::span::Span;

use crate::error::ReadError;

/// Most bytes of a plan.
pub(crate) const BYTES_LIMIT: usize = squall_plan::files::MAX_TEXT as usize;
/// Most XML elements of a plan; the largest known has some 100,000.
const NODES_LIMIT: usize = 8_000_000;
/// Most XML elements one inside the other; the deepest known plan has 16.
const DEPTH_LIMIT: usize = 256;
/// Most attributes of an element; JMeter writes 5.
const ATTRIBUTES_LIMIT: usize = 64;

const VERSION: XmlVersion = XmlVersion::Implicit1_0;

/// The number of a node in its document.
pub(crate) type NodeId = usize;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) tag: String,
    /// Its attributes, in order.
    attributes: Vec<(String, String)>,
    /// Its own text, without that of its children.
    pub(crate) text: String,
    /// The element around it.
    parent: Option<NodeId>,
    /// The elements in it, in order.
    pub(crate) children: Vec<NodeId>,
    /// Where its tag begins.
    pub(crate) span: Span,
}

impl Node {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// An XML document: at least one node, of which the first is the root.
#[derive(Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not UTF-8, not well-formed, too large, or has a document type.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Document, ReadError> {
        let text = decoded(bytes)?;
        let mut reader = Reader::from_str(text);
        let mut builder = Builder::new(text);
        loop {
            builder.place.advance(reader.buffer_position() as usize);
            match reader.read_event() {
                Ok(Event::Eof) => break,
                Ok(event) => builder.take(event)?,
                Err(error) => {
                    builder.place.advance(reader.error_position() as usize);
                    return Err(builder.error(format!("malformed XML: {error}")));
                }
            }
        }
        builder.finish()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn root(&self) -> NodeId {
        0
    }

    /// An error at a node.
    pub(crate) fn error_at(&self, id: NodeId, message: impl Into<String>) -> ReadError {
        let mut around: Vec<&Node> = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            around.push(&self.nodes[id]);
            next = self.nodes[id].parent;
        }
        around.reverse();
        let path = path(around);
        ReadError { message: message.into(), span: self.nodes[id].span, path }
    }

    /// The node that a path such as `../../collectionProp/stringProp[3]` leads to, seen from a node: so XStream
    /// writes a value that it has written before. `None` if it leads nowhere.
    pub(crate) fn follow(&self, from: NodeId, path: &str) -> Option<NodeId> {
        path.split('/').try_fold(from, |at, step| {
            if step == ".." {
                return self.nodes[at].parent;
            }
            let (tag, nth) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
                Some((tag, nth)) => (tag, nth.parse::<usize>().ok()?.checked_sub(1)?),
                None => (step, 0),
            };
            let mut same = self.nodes[at].children.iter().filter(|id| self.nodes[**id].tag == tag);
            same.nth(nth).copied()
        })
    }
}

/// The text of a file.
fn decoded(bytes: &[u8]) -> Result<&str, ReadError> {
    let whole = |message: String| ReadError { message, span: Span::default(), path: String::new() };
    if bytes.len() > BYTES_LIMIT {
        return Err(whole(format!("a plan of {} bytes, more than {BYTES_LIMIT}", bytes.len())));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        // Up to there it is UTF-8.
        let before = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let mut place = Place::new(before);
        place.advance(before.len());
        ReadError { span: place.span(), ..whole("the file is not UTF-8".to_owned()) }
    })
}

/// Elements as a person reads them.
fn path<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> String {
    let mut path = String::new();
    for node in nodes {
        if !path.is_empty() {
            path.push_str(" > ");
        }
        path.push_str(&node.tag);
        if let Some(name) = node.attribute("testname").or_else(|| node.attribute("name")) {
            path.push_str(&format!(" \"{name}\""));
        }
    }
    path
}

/// A place that only goes forward, so that all places of a file cost one pass over it.
struct Place<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'t> Place<'t> {
    fn new(text: &'t str) -> Place<'t> {
        Place { text, offset: 0, line: 1, column: 1 }
    }

    /// Goes on to a byte; one that was passed, or that is inside a character, leaves the place as it is.
    fn advance(&mut self, offset: usize) {
        let Some(passed) = self.text.get(self.offset..offset) else { return };
        for character in passed.chars() {
            if character == '\n' {
                (self.line, self.column) = (self.line.saturating_add(1), 1);
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        self.offset = offset;
    }

    fn span(&self) -> Span {
        Span { file: 0, line: self.line, column: self.column }
    }
}

/// A document that is being read.
struct Builder<'t> {
    nodes: Vec<Node>,
    /// The elements that are open, the outermost first.
    open: Vec<NodeId>,
    place: Place<'t>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Builder<'t> {
        Builder { nodes: Vec::new(), open: Vec::new(), place: Place::new(text) }
    }

    fn error(&self, message: impl Into<String>) -> ReadError {
        let path = path(self.open.iter().map(|id| &self.nodes[*id]));
        ReadError { message: message.into(), span: self.place.span(), path }
    }

    fn take(&mut self, event: Event<'_>) -> Result<(), ReadError> {
        match event {
            Event::Start(start) => self.start(&start),
            Event::Empty(start) => {
                self.start(&start)?;
                self.open.pop();
                Ok(())
            }
            // That the names match is checked by the reader.
            Event::End(_) => {
                self.open.pop();
                Ok(())
            }
            Event::Text(text) => self.text(&text.xml_content(VERSION)),
            Event::CData(text) => self.text(&text.xml_content(VERSION)),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4])),
                Ok(None) => match quick_xml::escape::resolve_predefined_entity(&reference) {
                    Some(text) => self.text(text),
                    None => Err(self.error(format!("unknown entity `&{};`", &*reference))),
                },
                Err(_) => Err(self.error(format!("`&{};` stands for no character", &*reference))),
            },
            Event::DocType(_) => Err(self.error("a plan cannot have a document type")),
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::Eof => Ok(()),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), ReadError> {
        let parent = self.open.last().copied();
        if parent.is_none() && !self.nodes.is_empty() {
            return Err(self.error("there is a second root element"));
        }
        if self.nodes.len() == NODES_LIMIT {
            return Err(self.error(format!("more than {NODES_LIMIT} XML elements")));
        }
        if self.open.len() == DEPTH_LIMIT {
            return Err(
                self.error(format!("more than {DEPTH_LIMIT} XML elements inside each other"))
            );
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            if attributes.len() == ATTRIBUTES_LIMIT {
                return Err(self.error(format!("more than {ATTRIBUTES_LIMIT} attributes")));
            }
            let attribute =
                attribute.map_err(|error| self.error(format!("malformed XML: {error}")))?;
            let value = attribute
                .normalized_value(VERSION)
                .map_err(|error| self.error(format!("malformed XML: {error}")))?;
            attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        let id = self.nodes.len();
        self.nodes.push(Node {
            tag: start.name().as_ref().to_owned(),
            attributes,
            text: String::new(),
            parent,
            children: Vec::new(),
            span: self.place.span(),
        });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        self.open.push(id);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ReadError> {
        match self.open.last() {
            Some(id) => self.nodes[*id].text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(self.error("there is text outside of the root element")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Document, ReadError> {
        if !self.open.is_empty() {
            return Err(self.error("the file ends before this element does"));
        }
        if self.nodes.is_empty() {
            return Err(self.error("there is no XML element in the file"));
        }
        Ok(Document { nodes: self.nodes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Document::parse(text.as_bytes()).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_document_is_nodes_with_places() {
        let text = "\u{feff}<?xml version=\"1.0\"?>\n<a>\n  é<b name=\"x&amp;y\">1 &lt; <![CDATA[<2>]]>&#x1f;</b>\n</a>";
        let document = Document::parse(text.as_bytes()).expect("well-formed");
        let root = document.node(document.root());
        assert_eq!((root.tag.as_str(), root.span.line, root.span.column), ("a", 2, 1));
        let b = document.node(root.children[0]);
        assert_eq!(b.attribute("name"), Some("x&y"));
        assert_eq!(b.text, "1 < <2>\u{1f}");
        assert_eq!((b.span.line, b.span.column), (3, 4));
    }

    #[test]
    fn what_is_no_document_is_refused_at_its_place() {
        assert_eq!(refused(""), "1:1: there is no XML element in the file");
        assert_eq!(
            refused("<a>\n <b name=\"n\">"),
            "2:14: the file ends before this element does (in a > b \"n\")"
        );
        assert_eq!(refused("<a>&own;</a>"), "1:4: unknown entity `&own;` (in a)");
        assert_eq!(
            refused("<!DOCTYPE a [<!ENTITY e \"x\">]><a>&e;</a>"),
            "1:1: a plan cannot have a document type"
        );
        assert_eq!(refused("<a/><b/>"), "1:5: there is a second root element");
        assert!(
            refused("<a><b></a>").starts_with("1:7: malformed XML: "),
            "{}",
            refused("<a><b></a>")
        );
        assert!(refused("<a>&#xd800;</a>").contains("stands for no character"));
        let deep = "<a>".repeat(DEPTH_LIMIT + 1);
        assert!(refused(&deep).contains("more than 256 XML elements inside each other"));
        let binary = Document::parse(b"<a>\n\xff</a>").expect_err("a refusal");
        assert_eq!(binary.to_string(), "2:1: the file is not UTF-8");
    }

    #[test]
    fn a_reference_leads_to_what_was_written_before() {
        let text = "<c><l><s>1</s><s>2</s></l><m><s reference=\"x\"/></m></c>";
        let document = Document::parse(text.as_bytes()).expect("well-formed");
        let m = document.node(document.root()).children[1];
        let s = document.node(m).children[0];
        let text = |path| document.follow(s, path).map(|id| document.node(id).text.as_str());
        assert_eq!(text("../../l/s[2]"), Some("2"));
        assert_eq!(text("../../l/s"), Some("1"));
        assert_eq!(text("../../l/s[3]"), None);
        assert_eq!(text("../../../../l"), None);
        assert_eq!(text("../../l/s[0]"), None);
    }
}
