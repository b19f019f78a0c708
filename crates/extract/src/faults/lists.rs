//! What stands in lists, and in the fields of forms.

use super::elements::*;
use super::lexer::Mode;
use super::page::{After, Node, Page, Visit};
use super::token::{Kind, Token};

impl Page<'_> {
    /// Begins an element in which what is open around it does not go on at once.
    pub(super) fn begin_deferred(&mut self, node: usize) {
        self.defer_inherited();
        let is_area = self.tag_of(node) == Tag::Textarea;
        if let Some(frame) = self.frames.last_mut()
            && frame.rule == Rule::Field
        {
            frame.mode = if is_area { Mode::Preformatted } else { Mode::Mixed };
        }
    }

    /// A list of a kind that HTML 4 has no longer is one that it has.
    pub(super) fn coerce_list(&mut self, list: usize) {
        if self.tag_of(list).is(OBSOLETE) {
            self.warn();
            self.nodes[list].tag = Some(Tag::Ul);
        }
    }

    pub(super) fn in_list(&mut self, list: usize, token: &Token) -> Visit {
        if token.is_end(self.tag_of(list)) {
            self.coerce_list(list);
            return self.close_empty(list);
        }
        if self.append_misc_or_discard(list, token) {
            return Ok(());
        }
        if token.kind == Kind::End {
            if token.tag == Some(Tag::Form) {
                self.bad_form();
            } else if token.is(INLINE) {
                self.discard();
                self.pop_inline(token.tag);
                return Ok(());
            } else if self.is_in(list, token.tag)? {
                self.warn();
                self.give_back();
                self.coerce_list(list);
                return self.close_empty(list);
            }
            self.discard();
            return Ok(());
        }
        let mut item = *token;
        if token.tag != Some(Tag::Li) {
            self.give_back();
            self.warn();
            if token.is(BLOCK) && self.keeps_blocks_out {
                return self.close_empty(list);
            }
            item = self.lexer.inferred(Tag::Li);
        }
        self.enter_child(list, &item, Mode::SkipSpace)
    }

    pub(super) fn in_definitions(&mut self, list: usize, mut token: Token) -> Visit {
        if token.is_end(Tag::Dl) {
            return self.close_empty(list);
        }
        if self.append_misc(list, &token) {
            return Ok(());
        }
        if token.kind == Kind::Text {
            self.give_back();
            token = self.lexer.inferred(Tag::Dt);
            self.warn();
        }
        let Some(tag) = token.tag else {
            self.discard();
            return Ok(());
        };
        if token.kind == Kind::End {
            if tag == Tag::Form {
                self.bad_form();
                self.discard();
                return Ok(());
            }
            if self.is_in(list, token.tag)? {
                self.warn();
                self.give_back();
                return self.close_empty(list);
            }
        }
        if tag == Tag::Center {
            return self.center_in_definitions(list, &token);
        }
        if !matches!(tag, Tag::Dt | Tag::Dd) {
            self.give_back();
            if !Self::is_flow(&token) {
                self.warn();
                return self.close_empty(list);
            }
            if !tag.is(INLINE) && self.keeps_blocks_out {
                return self.close_empty(list);
            }
            token = self.lexer.inferred(Tag::Dd);
            self.warn();
        }
        if token.kind == Kind::End {
            self.discard();
            return Ok(());
        }
        self.enter_child(list, &token, Mode::SkipSpace)
    }

    /// What is centered stands between two lists.
    fn center_in_definitions(&mut self, list: usize, token: &Token) -> Visit {
        let outer = self.nodes[list].parent;
        if self.nodes[list].children.is_empty() {
            self.remove(list);
        }
        self.append_token(outer, token);
        let rest = self.lexer.inferred(Tag::Dl);
        self.append_token(outer, &rest);
        let node = self.nodes.len();
        self.nodes.push(Node::of(&rest, outer));
        if let Some(frame) = self.frames.last_mut() {
            frame.node = node;
        }
        self.enter(outer, token, Mode::SkipSpace, After::Center)
    }

    pub(super) fn in_select(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Select) {
            return self.close_spaced(node);
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.kind == Kind::Start
            && matches!(token.tag, Some(Tag::Option | Tag::Optgroup | Tag::Script))
        {
            return self.enter_child(node, token, Mode::SkipSpace);
        }
        self.discard();
        Ok(())
    }

    pub(super) fn in_optgroup(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Optgroup) {
            return self.close_spaced(node);
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.kind == Kind::Start && matches!(token.tag, Some(Tag::Option | Tag::Optgroup)) {
            if token.tag == Some(Tag::Optgroup) {
                self.warn();
            }
            return self.enter_child(node, token, Mode::Mixed);
        }
        self.discard();
        Ok(())
    }

    pub(super) fn in_field(&mut self, node: usize, token: &Token) -> Visit {
        let tag = self.tag_of(node);
        if token.is_end(tag) {
            return self.close_spaced(node);
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.kind == Kind::Text {
            if token.start < token.end {
                self.append_token(node, token);
            }
            return Ok(());
        }
        if token.is(INLINE) && !token.is(FIELD) {
            self.discard();
            return Ok(());
        }
        if !tag.is(OPT) {
            self.warn();
        }
        self.give_back();
        self.close_spaced(node)
    }
}
