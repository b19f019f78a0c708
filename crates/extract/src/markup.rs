//! HTML and XML as one compact tree, which CSS and XPath search. Nodes are numbers in document
//! order, so that a subtree is a range and the text of an element is one slice: neither needs
//! recursion, whatever the body looks like.

mod builder;
mod chunks;
mod dialect;
mod html;
mod xml;

use std::borrow::Cow;
use std::ops::Range;

use crate::ExtractError;
use crate::fuel::Fuel;
use builder::{Builder, RECENT_NAMES, append};
use chunks::Chunks;
pub(crate) use dialect::{Dialect, is_html, is_xml};

/// The deepest nesting of elements that is read, as browsers have it.
pub(crate) const DEPTH_LIMIT: usize = 512;
/// The most attributes that are read in one tag.
pub(crate) const ATTRIBUTES_LIMIT: usize = 4096;
/// The most different names of elements and attributes that are read in one body.
pub(crate) const NAMES_LIMIT: usize = 1 << 16;

/// The most nodes that are read of a body, and the most attributes. Pages have a node for every
/// 20 to 40 bytes. With about 60 bytes for each node while a page is read, the limit bounds the
/// memory to 30 MB and about five times the body.
fn nodes_limit(bytes: usize) -> usize {
    500_000 + bytes / 20
}

/// Reads a body as markup. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn parse(body: &[u8], dialect: Dialect) -> Result<Tree, ExtractError> {
    read(body, dialect, false)
}

/// Reads a page as a browser does that runs scripts: what is in `<noscript>` is a text.
pub(crate) fn parse_scripted(body: &[u8]) -> Result<Tree, ExtractError> {
    read(body, Dialect::Html, true)
}

fn read(body: &[u8], dialect: Dialect, scripting: bool) -> Result<Tree, ExtractError> {
    if body.len() >= u32::MAX as usize / 4 {
        return Err(ExtractError::TooLarge { what: "bytes", limit: u32::MAX as usize / 4 });
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => with_replacements(body)?,
    };
    match dialect {
        Dialect::Html => html::parse(&text, scripting),
        // Many pages claim to be XHTML that are not: browsers read them as HTML, and so do we.
        Dialect::Xml => xml::parse(&text).or_else(|error| match error {
            ExtractError::NotMarkup { .. } if text.contains("<html") => {
                html::parse(&text, scripting)
            }
            error => Err(error),
        }),
    }
}

/// A body that is not UTF-8 everywhere. Each byte that is replaced takes three.
pub(crate) fn with_replacements(body: &[u8]) -> Result<Cow<'_, str>, ExtractError> {
    let replaced = body.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if replaced > 1000 + body.len() / 2 {
        return Err(ExtractError::NotMarkup { reason: "most of it is not UTF-8".into() });
    }
    Ok(String::from_utf8_lossy(body))
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
    /// Where the attributes of an element begin; what a comment or instruction says is kept as
    /// the value of one.
    attributes: u32,
    /// How many attributes it has.
    attribute_count: u16,
    /// Where its text begins in `Tree::text`; it ends where the text of node `end` begins.
    text: u32,
}

#[derive(Debug)]
struct Attribute {
    name: NameId,
    value: Range<u32>,
}

/// The number of a name in its tree.
pub(crate) type NameId = u32;

/// The name of nodes that have none, which is the first that the builder notes.
const NO_NAME: NameId = 0;

/// A parsed page or XML document.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Chunks<Node>,
    attributes: Chunks<Attribute>,
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

    /// The name without its prefix. In HTML elements have none: `o:p` is a name.
    pub(crate) fn local_name(&self, id: NodeId) -> &str {
        match self.dialect {
            Dialect::Html => self.name(id),
            Dialect::Xml => local(self.name(id)),
        }
    }

    /// The number of the name of a node.
    pub(crate) fn name_id(&self, id: NodeId) -> NameId {
        self.node(id).name
    }

    /// Whether a name is the one in a pattern: in HTML, case does not matter.
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
            Kind::Comment | Kind::Instruction => self.attribute_value(node.attributes),
            Kind::Document | Kind::Element | Kind::Text => {
                let end =
                    self.nodes.get(node.end as usize).map_or(self.text.len() as u32, |n| n.text);
                slice(&self.text, &(node.text..end))
            }
        }
    }

    /// The numbers of a node's attributes.
    pub(crate) fn attributes(&self, id: NodeId) -> Range<u32> {
        let Node { attributes, attribute_count, .. } = *self.node(id);
        attributes..attributes + u32::from(attribute_count)
    }

    /// The name of an attribute as written.
    pub(crate) fn attribute_name(&self, attribute: u32) -> &str {
        &self.names[self.attributes[attribute as usize].name as usize]
    }

    /// The value of an attribute.
    pub(crate) fn attribute_value(&self, attribute: u32) -> &str {
        slice(&self.asides, &self.attributes[attribute as usize].value)
    }

    /// The namespace of an element, by the declarations around it; empty if there is none.
    pub(crate) fn namespace(&self, id: NodeId, fuel: &Fuel) -> Result<&str, ExtractError> {
        let prefix = self.name(id).split_once(':').map_or("", |(prefix, _)| prefix);
        self.namespace_of_prefix(prefix, id, fuel)
    }

    /// What a prefix (empty: none) stands for within an element.
    pub(crate) fn namespace_of_prefix(
        &self,
        prefix: &str,
        id: NodeId,
        fuel: &Fuel,
    ) -> Result<&str, ExtractError> {
        let declares = |name: &str| match name.strip_prefix("xmlns") {
            Some("") => prefix.is_empty(),
            Some(rest) => rest.strip_prefix(':') == Some(prefix),
            None => false,
        };
        for id in std::iter::once(id).chain(self.ancestors(id)) {
            fuel.burn(1 + self.attributes(id).len())?;
            let declaration = self.attributes(id).find(|a| declares(self.attribute_name(*a)));
            if let Some(declaration) = declaration {
                return Ok(self.attribute_value(declaration));
            }
        }
        Ok("")
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

fn too_many(what: &'static str, limit: usize) -> ExtractError {
    ExtractError::TooLarge { what, limit }
}

#[cfg(test)]
mod tests;
