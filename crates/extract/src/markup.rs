//! HTML and XML as one compact tree, which CSS and XPath search. Nodes are numbers in document
//! order, so that a subtree is a range and the text of an element is one slice: neither needs
//! recursion, whatever the body looks like.

mod html;
mod xml;

use std::collections::HashMap;
use std::ops::Range;

use crate::ExtractError;

/// The deepest nesting of elements that is read, as browsers have it.
pub(crate) const DEPTH_LIMIT: usize = 512;
/// The most attributes that are read in one tag.
pub(crate) const ATTRIBUTES_LIMIT: usize = 4096;

/// How markup is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Html,
    Xml,
}

impl Dialect {
    /// XML if the body says so in its first bytes.
    pub(crate) fn of_body(body: &[u8]) -> Dialect {
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        match body.trim_ascii_start().starts_with(b"<?xml") {
            true => Dialect::Xml,
            false => Dialect::Html,
        }
    }

    /// What a `content-type` says, if it speaks of markup.
    pub(crate) fn of_content_type(content_type: &[u8]) -> Option<Dialect> {
        let mime = content_type.split(|byte| *byte == b';').next()?;
        let mime = mime.trim_ascii().to_ascii_lowercase();
        match mime.as_slice() {
            b"text/html" => Some(Dialect::Html),
            b"text/xml" | b"application/xml" => Some(Dialect::Xml),
            mime if mime.ends_with(b"+xml") => Some(Dialect::Xml),
            _ => None,
        }
    }
}

/// Reads a body as markup. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn parse(body: &[u8], dialect: Dialect) -> Result<Tree, ExtractError> {
    let text = String::from_utf8_lossy(body);
    if text.len() >= u32::MAX as usize {
        return Err(ExtractError::TooLarge { what: "bytes", limit: u32::MAX as usize });
    }
    match dialect {
        Dialect::Html => html::parse(&text),
        // Many pages claim to be XHTML that are not: browsers read them as HTML, and so do we.
        Dialect::Xml => xml::parse(&text).or_else(|error| match error {
            ExtractError::NotMarkup { .. } if text.contains("<html") => html::parse(&text),
            error => Err(error),
        }),
    }
}

/// A node: its number in document order. The document itself is node 0.
pub(crate) type NodeId = u32;

/// The document: the parent of the root element.
pub(crate) const DOCUMENT: NodeId = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Document,
    Element,
    Text,
    Comment,
    Instruction,
}

/// One node. `end` is the number behind its last descendant, so that the subtree of node n is
/// `n..end`, its first child n + 1 and its next sibling `end`.
#[derive(Debug)]
struct Node {
    kind: Kind,
    /// The name of an element or the target of an instruction.
    name: NameId,
    parent: NodeId,
    /// The sibling before it, or itself if it is the first child.
    previous: NodeId,
    end: NodeId,
    /// Where the attributes of an element begin; they end where those of the next node begin.
    attributes: u32,
    /// Where its text begins in `Tree::text`; it ends where the text of node `end` begins.
    text: u32,
    /// The text of a comment or instruction, in `Tree::asides`.
    aside: Range<u32>,
}

#[derive(Debug)]
struct Attribute {
    name: NameId,
    value: Range<u32>,
}

type NameId = u32;

/// The name of nodes that have none, which is the first that the builder notes.
const NO_NAME: NameId = 0;

/// A parsed page or XML document.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    names: Vec<Box<str>>,
    /// All text nodes, one after the other.
    text: String,
    /// Attribute values, comments and instructions: what is not part of the text of an element.
    asides: String,
    dialect: Dialect,
}

impl Tree {
    /// How many nodes there are; node numbers are below.
    pub(crate) fn len(&self) -> NodeId {
        // The builder refuses a tree whose numbers do not fit.
        self.nodes.len() as NodeId
    }

    pub(crate) fn is_html(&self) -> bool {
        self.dialect == Dialect::Html
    }

    fn node(&self, id: NodeId) -> &Node {
        // Node numbers come from this tree only, which never shrinks.
        &self.nodes[id as usize]
    }

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.node(id).kind
    }

    pub(crate) fn is_element(&self, id: NodeId) -> bool {
        self.kind(id) == Kind::Element
    }

    /// The name as written, with its prefix if it has one: of an element, or the target of an
    /// instruction; empty for others.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        &self.names[self.node(id).name as usize]
    }

    /// The name without its prefix.
    pub(crate) fn local_name(&self, id: NodeId) -> &str {
        local(self.name(id))
    }

    /// Whether a name is the one that a pattern speaks of: in HTML its case does not matter.
    pub(crate) fn same_name(&self, actual: &str, wanted: &str) -> bool {
        actual == wanted || (self.is_html() && actual.eq_ignore_ascii_case(wanted))
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id != DOCUMENT).then(|| self.node(id).parent)
    }

    /// All nodes below a node, in document order.
    pub(crate) fn descendants(&self, id: NodeId) -> Range<NodeId> {
        id + 1..self.node(id).end
    }

    pub(crate) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        (id + 1 < self.node(id).end).then_some(id + 1)
    }

    pub(crate) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        let next = self.node(id).end;
        (id != DOCUMENT && next < self.node(self.node(id).parent).end).then_some(next)
    }

    pub(crate) fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        let previous = self.node(id).previous;
        (previous != id).then_some(previous)
    }

    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// All elements, in document order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = NodeId> {
        self.descendants(DOCUMENT).filter(|id| self.is_element(*id))
    }

    /// The parent, its parent, and so on up to the document.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), |parent| self.parent(*parent))
    }

    /// The text of a node: of an element or the document, all text in it; of a comment or
    /// instruction, what it says.
    pub(crate) fn text(&self, id: NodeId) -> &str {
        let node = self.node(id);
        match node.kind {
            Kind::Comment | Kind::Instruction => slice(&self.asides, &node.aside),
            Kind::Document | Kind::Element | Kind::Text => {
                let end =
                    self.nodes.get(node.end as usize).map_or(self.text.len() as u32, |n| n.text);
                slice(&self.text, &(node.text..end))
            }
        }
    }

    /// The numbers of a node's attributes.
    pub(crate) fn attributes(&self, id: NodeId) -> Range<u32> {
        let end =
            self.nodes.get(id as usize + 1).map_or(self.attributes.len() as u32, |n| n.attributes);
        self.node(id).attributes..end
    }

    /// The name of an attribute as written.
    pub(crate) fn attribute_name(&self, attribute: u32) -> &str {
        &self.names[self.attributes[attribute as usize].name as usize]
    }

    /// The value of an attribute.
    pub(crate) fn attribute_value(&self, attribute: u32) -> &str {
        slice(&self.asides, &self.attributes[attribute as usize].value)
    }

    /// The value of an element's attribute of that name.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let attribute = self.attributes(id).find(|a| self.attribute_name(*a) == name)?;
        Some(self.attribute_value(attribute))
    }
}

/// A name without its prefix.
pub(crate) fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// A part of a text, by the bounds that the builder noted.
fn slice<'t>(text: &'t str, range: &Range<u32>) -> &'t str {
    // The bounds were lengths of this text at some time, which only grows: always within it and
    // between characters.
    &text[range.start as usize..range.end as usize]
}

/// Builds a tree from events in document order.
#[derive(Debug)]
struct Builder {
    tree: Tree,
    ids: HashMap<Box<str>, NameId>,
    /// The open elements and their last child so far (themselves, if none), below them the
    /// document.
    open: Vec<(NodeId, NodeId)>,
}

impl Builder {
    fn new(dialect: Dialect) -> Self {
        let mut builder = Builder {
            tree: Tree {
                nodes: Vec::new(),
                attributes: Vec::new(),
                names: Vec::new(),
                text: String::new(),
                asides: String::new(),
                dialect,
            },
            ids: HashMap::new(),
            open: Vec::new(),
        };
        builder.name("");
        builder.push(Kind::Document, NO_NAME, 0..0);
        builder.open.push((DOCUMENT, DOCUMENT));
        builder
    }

    /// How many elements are open.
    fn depth(&self) -> usize {
        self.open.len() - 1
    }

    fn open(&mut self, name: &str) {
        let name = self.name(name);
        let id = self.push(Kind::Element, name, 0..0);
        self.open.push((id, id));
    }

    /// Adds an attribute to the element opened last; must come before its content.
    fn attribute(&mut self, name: &str, value: &str) {
        let name = self.name(name);
        let value = self.aside(value);
        self.tree.attributes.push(Attribute { name, value });
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.last_child().is_none_or(|id| self.tree.kind(id) != Kind::Text) {
            self.push(Kind::Text, NO_NAME, 0..0);
        }
        self.tree.text.push_str(text);
    }

    fn comment(&mut self, text: &str) {
        let aside = self.aside(text);
        self.push(Kind::Comment, NO_NAME, aside);
    }

    fn instruction(&mut self, target: &str, data: &str) {
        let (name, aside) = (self.name(target), self.aside(data));
        self.push(Kind::Instruction, name, aside);
    }

    fn close(&mut self) {
        // The document stays open until `finish`.
        if self.depth() > 0
            && let Some((id, _)) = self.open.pop()
        {
            self.tree.nodes[id as usize].end = self.tree.len();
        }
    }

    fn finish(mut self) -> Result<Tree, ExtractError> {
        while self.depth() > 0 {
            self.close();
        }
        let tree = &mut self.tree;
        tree.nodes[DOCUMENT as usize].end = tree.nodes.len() as NodeId;
        let largest = tree.nodes.len().max(tree.text.len()).max(tree.asides.len());
        if largest >= u32::MAX as usize {
            return Err(ExtractError::TooLarge { what: "bytes", limit: u32::MAX as usize });
        }
        Ok(self.tree)
    }

    fn last_child(&self) -> Option<NodeId> {
        self.open.last().and_then(|(id, last)| (id != last).then_some(*last))
    }

    fn push(&mut self, kind: Kind, name: NameId, aside: Range<u32>) -> NodeId {
        let id = self.tree.len();
        let previous = self.last_child().unwrap_or(id);
        let parent = self.open.last_mut().map_or(DOCUMENT, |(parent, last)| {
            *last = id;
            *parent
        });
        self.tree.nodes.push(Node {
            kind,
            name,
            parent,
            previous,
            end: id + 1,
            attributes: self.tree.attributes.len() as u32,
            text: self.tree.text.len() as u32,
            aside,
        });
        id
    }

    fn aside(&mut self, text: &str) -> Range<u32> {
        let start = self.tree.asides.len() as u32;
        self.tree.asides.push_str(text);
        start..self.tree.asides.len() as u32
    }

    fn name(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.tree.names.len() as NameId;
        self.tree.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }
}

#[cfg(test)]
mod tests;
