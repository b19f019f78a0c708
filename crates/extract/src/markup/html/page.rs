//! A page while it is built, when nodes still move: a list of nodes that know their neighbours.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::interface::NodeOrText;
use html5ever::{Attribute, LocalName, Namespace, QualName};

use super::super::builder::{RECENT_NAMES, append};
use super::super::chunks::Chunks;
use super::super::limits::{DEPTH_LIMIT, NAMES_LIMIT, nodes_limit, too_many};
use super::super::tree::{self, Kind};
use crate::error::ExtractError;

/// A node while the page is built, when nodes still move.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) mathml_integration_point: bool,
    /// How deep it was when it was put where it is.
    pub(super) depth: u16,
    pub(super) attribute_count: u16,
    /// Of an element its name; of a text, where it begins in the page's text.
    pub(super) name_or_start: u32,
    /// Of an element its first attribute, of a comment the attribute that keeps it; of a text, its
    /// length.
    pub(super) attributes_or_length: u32,
    pub(super) parent: u32,
    /// The sibling before it; of a first child, the last one.
    pub(super) previous: u32,
    pub(super) next: u32,
    pub(super) first_child: u32,
}

/// The number of no node.
const NONE: u32 = u32::MAX;

pub(super) fn some(id: u32) -> Option<usize> {
    (id != NONE).then_some(id as usize)
}

/// Steps that html5ever may take beyond those that the length of the page allows.
const BASE_STEPS: u64 = 4_000_000;
/// Steps for each byte of a page. Real pages take about four.
const STEPS_PER_BYTE: u64 = 16;

/// What a page has too many of if its tags are deep in others or have many attributes.
const COMPARISONS: &str = "comparisons of tags with those around them";

#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: usize,
    pub(super) nodes: RefCell<Chunks<Node>>,
    /// All names of elements and attributes; the first one is empty.
    pub(super) names: RefCell<Vec<QualName>>,
    pub(super) name_ids: RefCell<HashMap<QualName, u32>>,
    /// Names that came lately, which are most of those that come.
    pub(super) recent_names: RefCell<[Option<(QualName, u32)>; RECENT_NAMES]>,
    pub(super) attributes: RefCell<Chunks<tree::Attribute>>,
    /// All texts in the order in which they came.
    pub(super) text: RefCell<String>,
    /// The values of attributes, and comments.
    pub(super) asides: RefCell<String>,
    /// Misnested formatting elements are copied into each paragraph: without a limit, 1 MB of
    /// HTML can make a hundred million nodes.
    pub(super) nodes_limit: usize,
    /// How deep the node is that was put somewhere last.
    pub(super) depth: Cell<u16>,
    pub(super) steps: Cell<u64>,
    pub(super) failure: RefCell<Option<ExtractError>>,
}

impl Page {
    pub(super) fn new(bytes: usize) -> Self {
        let page = Page {
            bytes,
            nodes: RefCell::new(Chunks::new()),
            names: RefCell::default(),
            name_ids: RefCell::default(),
            recent_names: RefCell::new([const { None }; RECENT_NAMES]),
            attributes: RefCell::new(Chunks::new()),
            text: RefCell::default(),
            asides: RefCell::default(),
            nodes_limit: nodes_limit(bytes).min(1000 + bytes),
            depth: Cell::new(0),
            steps: Cell::new(BASE_STEPS + STEPS_PER_BYTE * bytes as u64),
            failure: RefCell::default(),
        };
        page.name(QualName::new(None, Namespace::default(), LocalName::default()));
        page.create(Kind::Document, 0, 0);
        page
    }

    /// The first thing that went beyond a limit, if anything did.
    pub(super) fn check(&self) -> Result<(), ExtractError> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    pub(super) fn fail(&self, error: ExtractError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// Takes the price of a tag: html5ever looks through the open elements, compares formatting
    /// elements with those that are open, and each attribute with all before it.
    pub(super) fn burn(&self, attributes: usize) {
        let (depth, attributes) = (u64::from(self.depth.get()), attributes as u64);
        let steps = (1 + depth) * (1 + attributes) + attributes * attributes / 8;
        match self.steps.get().checked_sub(steps) {
            Some(left) => self.steps.set(left),
            None => {
                let limit = BASE_STEPS + STEPS_PER_BYTE * self.bytes as u64;
                self.fail(too_many(COMPARISONS, limit as usize));
            }
        }
    }

    pub(super) fn name(&self, name: QualName) -> u32 {
        // Any spread will do: names that meet in one place are found in the table.
        let spread = name.local.unsafe_data().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut recent = self.recent_names.borrow_mut();
        let recent = &mut recent[spread as usize % RECENT_NAMES];
        if let Some((known, id)) = recent
            && *known == name
        {
            return *id;
        }
        let id = self.name_in_table(&name);
        *recent = Some((name, id));
        id
    }

    pub(super) fn name_in_table(&self, name: &QualName) -> u32 {
        let mut ids = self.name_ids.borrow_mut();
        if let Some(id) = ids.get(name) {
            return *id;
        }
        let mut names = self.names.borrow_mut();
        if names.len() >= NAMES_LIMIT {
            self.fail(too_many("different names", NAMES_LIMIT));
        }
        let id = names.len() as u32;
        names.push(name.clone());
        ids.insert(name.clone(), id);
        id
    }

    pub(super) fn create(
        &self,
        kind: Kind,
        name_or_start: u32,
        attributes_or_length: u32,
    ) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= self.nodes_limit {
            self.fail(too_many("nodes", self.nodes_limit));
        }
        nodes.push(Node {
            kind,
            mathml_integration_point: false,
            depth: 0,
            attribute_count: 0,
            name_or_start,
            attributes_or_length,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first_child: NONE,
        });
        nodes.len() - 1
    }

    /// Keeps a value and gives the number of its attribute.
    pub(super) fn keep(&self, name: u32, value: &str) -> u32 {
        let mut asides = self.asides.borrow_mut();
        let start = asides.len() as u32;
        append(&mut asides, value);
        let mut attributes = self.attributes.borrow_mut();
        if attributes.len() >= self.nodes_limit {
            self.fail(too_many("attributes", self.nodes_limit));
        }
        attributes.push(tree::Attribute { name, value: start..asides.len() as u32 });
        attributes.len() as u32 - 1
    }

    /// Keeps the attributes of a tag and gives the number of the first.
    pub(super) fn keep_all(&self, attributes: Vec<Attribute>) -> u32 {
        let first = self.attributes.borrow().len() as u32;
        for attribute in attributes {
            let name = self.name(attribute.name);
            self.keep(name, &attribute.value);
        }
        first
    }

    pub(super) fn detach(&self, id: usize) {
        let mut nodes = self.nodes.borrow_mut();
        let Node { parent, previous, next, .. } = nodes[id];
        let Some(parent) = some(parent) else { return };
        let first = nodes[parent].first_child as usize;
        let is_first = first == id;
        match some(next) {
            Some(next) => nodes[next].previous = previous,
            // The first child knows the last one.
            None if !is_first => nodes[first].previous = previous,
            None => {}
        }
        match is_first {
            true => nodes[parent].first_child = next,
            false => nodes[previous as usize].next = next,
        }
        let node = &mut nodes[id];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    pub(super) fn parent(&self, id: usize) -> Option<usize> {
        some(self.nodes.borrow()[id].parent)
    }

    pub(super) fn last_child(&self, parent: usize) -> Option<usize> {
        let nodes = self.nodes.borrow();
        some(nodes[parent].first_child).map(|first| nodes[first].previous as usize)
    }

    /// The sibling before a node that has a parent.
    pub(super) fn previous(&self, id: usize) -> Option<usize> {
        let nodes = self.nodes.borrow();
        let is_first = some(nodes[id].parent).map(|parent| nodes[parent].first_child as usize);
        (is_first != Some(id)).then(|| some(nodes[id].previous)).flatten()
    }

    /// Puts a node without parent into `parent`, before `next` or as the last child.
    pub(super) fn insert(&self, id: usize, parent: usize, next: Option<usize>) {
        let before = match next {
            Some(next) => self.previous(next),
            None => self.last_child(parent),
        };
        let mut nodes = self.nodes.borrow_mut();
        let first = some(nodes[parent].first_child);
        // The first child knows the last one.
        let last = first.map_or(id, |first| nodes[first].previous as usize);
        let depth = nodes[parent].depth + 1;
        let node = &mut nodes[id];
        node.parent = parent as u32;
        node.next = next.map_or(NONE, |next| next as u32);
        node.depth = depth;
        match before {
            Some(before) => {
                nodes[id].previous = before as u32;
                nodes[before].next = id as u32;
            }
            None => {
                nodes[id].previous = last as u32;
                nodes[parent].first_child = id as u32;
            }
        }
        match (next, first) {
            (Some(next), _) => nodes[next].previous = id as u32,
            (None, Some(first)) => nodes[first].previous = id as u32,
            (None, None) => {}
        }
        if nodes[id].kind == Kind::Element {
            self.depth.set(depth);
            if usize::from(depth) > DEPTH_LIMIT {
                // Never near the end of the numbers: after each piece, errors are looked for.
                self.fail(ExtractError::TooDeep { limit: DEPTH_LIMIT });
                nodes[id].depth = DEPTH_LIMIT as u16;
            }
        }
    }

    pub(super) fn place(&self, child: NodeOrText<usize>, parent: usize, next: Option<usize>) {
        let text = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                return self.insert(id, parent, next);
            }
            NodeOrText::AppendText(text) => text,
        };
        let previous = match next {
            Some(next) => self.previous(next),
            None => self.last_child(parent),
        };
        let mut all = self.text.borrow_mut();
        let (start, length) = (all.len() as u32, text.len32());
        append(&mut all, &text);
        // A text that is not the last of the page is not moved to grow: it gets a sibling, and
        // both become one in the finished page.
        if let Some(id) = previous {
            let node = &mut self.nodes.borrow_mut()[id];
            let end = node.name_or_start.wrapping_add(node.attributes_or_length);
            if node.kind == Kind::Text && end == start {
                node.attributes_or_length += length;
                return;
            }
        }
        let id = self.create(Kind::Text, start, length);
        self.insert(id, parent, next);
    }
}
