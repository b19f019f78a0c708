//! A page that has been read, as the tree that is searched: in document order, with all texts in one.

use std::cell::{Cell, RefCell};

use html5ever::QualName;

use super::super::builder::Builder;
use super::super::chunks::Chunks;
use super::super::dialect::Dialect;
use super::super::limits::DEPTH_LIMIT;
use super::super::tree::{Kind, NO_NAME, Tree};
use super::page::{Node, Page, some};
use crate::error::ExtractError;

impl Page {
    /// Calls `enter` for each node below the document in document order, and `leave` behind the
    /// last descendant of each element.
    fn traverse(&self, mut enter: impl FnMut(&Node), mut leave: impl FnMut()) {
        let nodes = self.nodes.borrow();
        let mut next = some(nodes[0].first_child);
        while let Some(id) = next {
            enter(&nodes[id]);
            next = some(nodes[id].first_child);
            let mut up = Some(id);
            while let (None, Some(id)) = (next, up) {
                if nodes[id].kind == Kind::Element {
                    leave();
                }
                next = some(nodes[id].next);
                up = some(nodes[id].parent);
            }
        }
    }

    /// The finished page in document order.
    pub(super) fn flatten(self) -> Result<Tree, ExtractError> {
        let (mut length, mut in_order, mut deepest) = (0, true, 0);
        let level = Cell::new(0);
        self.traverse(
            |node| match node.kind {
                Kind::Text => {
                    in_order &= node.name_or_start == length;
                    length += node.attributes_or_length;
                }
                Kind::Element => {
                    level.set(level.get() + 1);
                    deepest = deepest.max(level.get());
                }
                _ => {}
            },
            || level.set(level.get() - 1),
        );
        if deepest > DEPTH_LIMIT {
            return Err(ExtractError::TooDeep { limit: DEPTH_LIMIT });
        }
        let mut all = self.text.take();
        in_order &= all.len() == length as usize;
        if !in_order {
            all = self.text_in_order(&all, length as usize);
        }
        let tree = Tree {
            nodes: Chunks::new(),
            attributes: self.attributes.replace(Chunks::new()),
            names: self.names.take().iter().map(written).collect(),
            text: all,
            asides: self.asides.take(),
            dialect: Dialect::Html,
        };
        let builder = RefCell::new(Builder::with_parts(tree, self.bytes));
        self.traverse(
            |node| {
                let mut builder = builder.borrow_mut();
                match node.kind {
                    Kind::Element => builder.open_with(
                        node.name_or_start,
                        node.attributes_or_length,
                        node.attribute_count,
                    ),
                    Kind::Text => builder.text_in_place(node.attributes_or_length as usize),
                    _ => {
                        builder.push(Kind::Comment, NO_NAME, node.attributes_or_length, 0);
                    }
                }
            },
            || builder.borrow_mut().close(),
        );
        builder.into_inner().finish()
    }

    /// The texts in document order, if some came in another one.
    fn text_in_order(&self, all: &str, length: usize) -> String {
        let mut text = String::with_capacity(length);
        self.traverse(
            |node| {
                if node.kind == Kind::Text {
                    let start = node.name_or_start as usize;
                    let end = start + node.attributes_or_length as usize;
                    text.push_str(all.get(start..end).unwrap_or_default());
                }
            },
            || (),
        );
        text
    }
}

/// A name as it is written in a document.
fn written(name: &QualName) -> Box<str> {
    match &name.prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", name.local).into(),
        _ => (*name.local).into(),
    }
}
