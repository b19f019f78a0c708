//! A tree while it is read: nodes come in document order and stay where they are.

use std::collections::HashMap;
use std::ops::Range;

use super::chunks::Chunks;
use super::dialect::Dialect;
use super::limits::{NAMES_LIMIT, nodes_limit, too_many};
use super::tree::{Attribute, DOCUMENT, Kind, NO_NAME, NameId, Node, NodeId, Tree};
use crate::error::ExtractError;

/// How many names are looked for before the table of names is.
pub(super) const RECENT_NAMES: usize = 64;

/// Up to this length a text takes twice the room when it grows.
const SMALL_TEXT: usize = 64 << 10;

/// Appends to a text that may become as long as the body, without taking twice its size.
pub(super) fn append(text: &mut String, more: &str) {
    if text.capacity() - text.len() < more.len() {
        let room = if text.len() < SMALL_TEXT { text.len() } else { text.len() / 8 };
        text.reserve_exact(more.len().max(room).max(256));
    }
    text.push_str(more);
}

/// Builds a tree from events in document order.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) tree: Tree,
    ids: HashMap<Box<str>, NameId>,
    /// Names that came lately, which are most of those that come.
    recent_names: [NameId; RECENT_NAMES],
    /// The open elements and their last child so far (themselves, if none), below them the
    /// document.
    pub(super) open: Vec<(NodeId, NodeId)>,
    /// Where the text of the next node begins.
    text_end: u32,
    nodes_limit: usize,
}

impl Builder {
    /// A builder for a body of that many bytes.
    pub(super) fn new(dialect: Dialect, bytes: usize) -> Self {
        let tree = Tree {
            nodes: Chunks::new(),
            attributes: Chunks::new(),
            names: vec!["".into()],
            text: String::new(),
            asides: String::new(),
            dialect,
        };
        Builder::with_parts(tree, bytes)
    }

    /// The same, with names, attributes and texts that have been read before. The first name is
    /// empty.
    pub(super) fn with_parts(tree: Tree, bytes: usize) -> Self {
        let mut builder = Builder {
            tree,
            ids: HashMap::new(),
            recent_names: [NO_NAME; RECENT_NAMES],
            open: Vec::new(),
            text_end: 0,
            nodes_limit: nodes_limit(bytes),
        };
        builder.push(Kind::Document, NO_NAME, 0, 0);
        builder.open.push((DOCUMENT, DOCUMENT));
        builder
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    pub(super) fn open(&mut self, name: &str) {
        let name = self.name(name);
        self.open_with(name, self.tree.attributes.len() as u32, 0);
    }

    /// Opens an element whose attributes have been read before.
    pub(super) fn open_with(&mut self, name: NameId, attributes: u32, count: u16) {
        let id = self.push(Kind::Element, name, attributes, count);
        self.open.push((id, id));
    }

    /// Adds an attribute to the element opened last; must come before its content, and no more
    /// than `u16::MAX` times.
    pub(super) fn attribute(&mut self, name: &str, value: &str) {
        let name = self.name(name);
        self.attribute_named(name, value);
    }

    /// The same with the number of its name.
    pub(super) fn attribute_named(&mut self, name: NameId, value: &str) {
        let value = self.aside(value);
        self.tree.attributes.push(Attribute { name, value });
        if let Some((id, _)) = self.open.last() {
            self.tree.nodes[*id as usize].attribute_count += 1;
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        append(&mut self.tree.text, text);
        self.text_in_place(text.len());
    }

    /// Adds the next `bytes` bytes of the text, which is there already.
    pub(super) fn text_in_place(&mut self, bytes: usize) {
        if self.last_child().is_none_or(|id| self.tree.kind(id) != Kind::Text) {
            self.push(Kind::Text, NO_NAME, 0, 0);
        }
        self.text_end += bytes as u32;
    }

    pub(super) fn comment(&mut self, text: &str) {
        let aside = self.lone_aside(text);
        self.push(Kind::Comment, NO_NAME, aside, 0);
    }

    pub(super) fn instruction(&mut self, target: &str, data: &str) {
        let (name, aside) = (self.name(target), self.lone_aside(data));
        self.push(Kind::Instruction, name, aside, 0);
    }

    pub(super) fn close(&mut self) {
        // The document stays open until `finish`.
        if self.depth() > 0
            && let Some((id, _)) = self.open.pop()
        {
            self.tree.nodes[id as usize].end = self.tree.len();
        }
    }

    /// An error if there is more of something than is read.
    pub(super) fn check(&self) -> Result<(), ExtractError> {
        let (limit, tree) = (self.nodes_limit, &self.tree);
        if tree.nodes.len() > limit {
            return Err(too_many("nodes", limit));
        }
        if tree.attributes.len() > limit {
            return Err(too_many("attributes", limit));
        }
        if tree.names.len() > NAMES_LIMIT {
            return Err(too_many("different names", NAMES_LIMIT));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Tree, ExtractError> {
        while self.depth() > 0 {
            self.close();
        }
        self.check()?;
        let tree = &mut self.tree;
        tree.nodes[DOCUMENT as usize].end = tree.nodes.len() as NodeId;
        // Text is replaced by what takes three times its bytes at most, and `parse` refuses
        // bodies of a quarter of the numbers there are.
        Ok(self.tree)
    }

    fn last_child(&self) -> Option<NodeId> {
        self.open.last().and_then(|(id, last)| (id != last).then_some(*last))
    }

    pub(super) fn push(
        &mut self,
        kind: Kind,
        name: NameId,
        attributes: u32,
        attribute_count: u16,
    ) -> NodeId {
        let id = self.tree.len();
        let previous = self.last_child().unwrap_or(id);
        let parent = self.open.last_mut().map_or(DOCUMENT, |(parent, last)| {
            *last = id;
            *parent
        });
        let text = self.text_end;
        self.tree.nodes.push(Node {
            kind,
            name,
            parent,
            previous,
            end: id + 1,
            attributes,
            attribute_count,
            text,
        });
        id
    }

    fn aside(&mut self, text: &str) -> Range<u32> {
        let start = self.tree.asides.len() as u32;
        append(&mut self.tree.asides, text);
        start..self.tree.asides.len() as u32
    }

    /// Keeps what a comment or instruction says as the value of an attribute of no element.
    fn lone_aside(&mut self, text: &str) -> u32 {
        let value = self.aside(text);
        self.tree.attributes.push(Attribute { name: NO_NAME, value });
        self.tree.attributes.len() as u32 - 1
    }

    pub(super) fn name(&mut self, name: &str) -> NameId {
        // Any spread will do: names that meet in one place are found in the table. The empty name
        // is in all places that are free.
        let spread = name
            .bytes()
            .fold(name.len(), |all, byte| all.wrapping_mul(5).wrapping_add(byte.into()));
        let recent = spread % RECENT_NAMES;
        let known = self.recent_names[recent];
        if *self.tree.names[known as usize] == *name {
            return known;
        }
        let id = self.name_in_table(name);
        self.recent_names[recent] = id;
        id
    }

    fn name_in_table(&mut self, name: &str) -> NameId {
        if name.is_empty() {
            return NO_NAME;
        }
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.tree.names.len() as NameId;
        self.tree.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }
}
