//! The tree: nodes are numbers in document order, so that a subtree is a range and the text of an element is one slice.

use std::ops::Range;

use super::chunks::Chunks;
use super::dialect::Dialect;
use crate::error::ExtractError;
use crate::fuel::Fuel;

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
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The name of an element or the target of an instruction.
    pub(super) name: NameId,
    pub(super) parent: NodeId,
    /// The sibling before it, or itself if it is the first child.
    pub(super) previous: NodeId,
    pub(super) end: NodeId,
    /// Where the attributes of an element begin; what a comment or instruction says is kept as
    /// the value of one.
    pub(super) attributes: u32,
    pub(super) attribute_count: u16,
    /// Where its text begins in `Tree::text`; it ends where the text of node `end` begins.
    pub(super) text: u32,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: NameId,
    pub(super) value: Range<u32>,
}

/// The number of a name in its tree.
pub(crate) type NameId = u32;

/// The name of nodes that have none, which is the first that the builder notes.
pub(super) const NO_NAME: NameId = 0;

#[derive(Debug)]
pub(crate) struct Tree {
    pub(super) nodes: Chunks<Node>,
    pub(super) attributes: Chunks<Attribute>,
    pub(super) names: Vec<Box<str>>,
    /// All text nodes, one after the other.
    pub(super) text: String,
    /// Attribute values, comments and instructions: what is not part of the text of an element.
    pub(super) asides: String,
    pub(super) dialect: Dialect,
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
