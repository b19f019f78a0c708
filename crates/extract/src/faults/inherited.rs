//! Inline elements that are open where a block begins, or ends, and go on in the next one.

use super::elements::{INLINE, OBJECT, Tag};
use super::page::{Inherited, Node, Page};
use super::token::Token;

impl Page<'_> {
    /// Keeps an inline element in mind, which goes on in the blocks that it is broken by.
    pub(super) fn push_inline(&mut self, node: usize) {
        let Node { tag, implicit, given, .. } = self.nodes[node];
        let Some(tag) = tag else { return };
        if implicit || !tag.is(INLINE) || tag.is(OBJECT) {
            return;
        }
        if tag == Tag::Font || !self.is_inherited(tag) {
            self.inherited.push(Inherited { tag, given });
        }
    }

    /// Forgets the inline element that was kept in mind last, or all up to a link.
    pub(super) fn pop_inline(&mut self, tag: Option<Tag>) {
        if tag.is_none_or(|tag| !tag.is(INLINE) || tag.is(OBJECT)) {
            return;
        }
        if tag == Some(Tag::A) {
            while self.inherited.pop().is_some_and(|popped| popped.tag != Tag::A) {}
        } else if self.inherited.pop().is_none() {
            return;
        }
        self.forget_insert();
    }

    fn forget_insert(&mut self) {
        if self.insert.is_some_and(|next| next >= self.inherited.len()) {
            self.insert = None;
        }
    }

    /// Forgets the inline elements that were begun in an object or a table.
    pub(super) fn pop_to_base(&mut self) {
        if self.inherited.len() > self.base {
            self.inherited.truncate(self.base);
            self.forget_insert();
        }
    }

    pub(super) fn is_inherited(&self, tag: Tag) -> bool {
        self.inherited.iter().any(|inherited| inherited.tag == tag)
    }

    /// Has the inline elements that are kept in mind go on, and a token come behind them. Whether there are any.
    pub(super) fn inherit(&mut self, behind: Option<Token>) -> bool {
        let has_any = self.inherited.len() > self.base;
        if has_any {
            self.insert = Some(self.base);
            self.behind = behind;
        }
        has_any
    }

    pub(super) fn defer_inherited(&mut self) {
        self.insert = None;
    }

    pub(super) fn drop_inherited(&mut self) {
        self.insert = None;
        self.behind = None;
    }
}
