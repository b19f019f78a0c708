//! What stands in tables. What does not belong into one is put in front of it.

use super::elements::*;
use super::lexer::Mode;
use super::page::{After, Child, DOCUMENT, Page, Visit};
use super::token::{Kind, Token};

impl Page<'_> {
    /// Ends a table: what was open around it goes on behind it.
    pub(super) fn close_table(&mut self) -> Visit {
        self.restore_base();
        self.close()
    }

    /// Puts something in front of a table.
    fn exile(&mut self, table: usize, token: &Token) -> Visit {
        self.insert_before(table, Child::of(token));
        self.warn();
        if token.kind == Kind::Text {
            self.is_exiled = false;
            return Ok(());
        }
        self.is_exiled = true;
        let outer = self.nodes[table].parent;
        self.enter(outer, token, Mode::SkipSpace, After::Exile)
    }

    /// Puts something in front of the table that this is in.
    fn exile_from(&mut self, node: usize, token: &Token) -> Visit {
        let mut table = self.nodes[node].parent;
        while table != DOCUMENT && self.nodes[table].tag != Some(Tag::Table) {
            self.fuel.burn(1)?;
            table = self.nodes[table].parent;
        }
        self.exile(table, token)
    }

    pub(super) fn in_table(&mut self, table: usize, mut token: Token) -> Visit {
        if token.is_end(Tag::Table) {
            self.restore_base();
            return self.close_empty(table);
        }
        if self.append_misc_or_discard(table, &token) {
            return Ok(());
        }
        if token.kind == Kind::End {
            let is_flow = Self::is_flow(&token);
            if is_flow {
                self.bad_form();
            }
            if is_flow || token.is(TABLE | ROW) {
                self.discard();
                return Ok(());
            }
            if self.is_in(table, token.tag)? {
                self.warn();
                self.give_back();
                self.restore_base();
                return self.close_empty(table);
            }
        } else if matches!(token.tag, Some(Tag::Td | Tag::Th | Tag::Table)) {
            self.give_back();
            token = self.lexer.inferred(Tag::Tr);
            self.warn();
        } else if token.kind == Kind::Text || Self::is_flow(&token) {
            return self.exile(table, &token);
        } else if token.is(HEAD) {
            return self.move_to_head(&token);
        }
        if !token.is(TABLE) {
            self.give_back();
            self.warn();
            self.restore_base();
            return self.close_empty(table);
        }
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        self.enter_child(table, &token, Mode::SkipSpace)
    }

    pub(super) fn in_colgroup(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Colgroup) {
            return self.close();
        }
        if token.kind == Kind::End {
            if token.tag == Some(Tag::Form) {
                self.bad_form();
                self.discard();
                return Ok(());
            }
            if self.is_in(node, token.tag)? {
                self.give_back();
                return self.close();
            }
        }
        if token.kind == Kind::Text {
            self.give_back();
            return self.close();
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.tag.is_some_and(|tag| tag != Tag::Col) {
            self.give_back();
            return self.close();
        }
        if token.tag.is_none() || token.kind == Kind::End {
            self.discard();
            return Ok(());
        }
        self.enter_child(node, token, Mode::SkipSpace)
    }

    pub(super) fn in_row_group(&mut self, group: usize, mut token: Token) -> Visit {
        if token.tag == self.nodes[group].tag {
            if token.kind == Kind::End {
                return self.close_empty(group);
            }
            self.give_back();
            return self.close();
        }
        if token.is_end(Tag::Table) {
            self.give_back();
            return self.close_empty(group);
        }
        if self.append_misc_or_discard(group, &token) {
            return Ok(());
        }
        if token.kind == Kind::End {
            let is_form = token.tag == Some(Tag::Form);
            if is_form {
                self.bad_form();
            }
            if is_form
                || Self::is_flow(&token)
                || matches!(token.tag, Some(Tag::Tr | Tag::Td | Tag::Th))
            {
                self.discard();
                return Ok(());
            }
            if self.is_in(group, token.tag)? {
                self.give_back();
                return self.close_empty(group);
            }
        } else if matches!(token.tag, Some(Tag::Td | Tag::Th)) {
            self.give_back();
            token = self.lexer.inferred(Tag::Tr);
            self.warn();
        } else if token.kind == Kind::Text || Self::is_flow(&token) {
            return self.exile_from(group, &token);
        } else if token.is(HEAD) {
            self.warn();
            return self.move_to_head(&token);
        }
        if token.is(ROWGRP) {
            if token.kind != Kind::End {
                self.give_back();
            }
            return self.close_empty(group);
        }
        if token.kind == Kind::End {
            self.discard();
            return Ok(());
        }
        if token.tag != Some(Tag::Tr) {
            token = self.lexer.inferred(Tag::Tr);
            self.warn();
            self.give_back();
        }
        self.enter_child(group, &token, Mode::SkipSpace)
    }

    /// Ends a row; one without cells is a fault.
    fn close_row(&mut self, row: usize) -> Visit {
        if self.nodes[row].children.is_empty() {
            self.warn();
        }
        self.close()
    }

    pub(super) fn in_row(&mut self, row: usize, token: Token) -> Visit {
        if token.tag == Some(Tag::Tr) {
            if token.kind != Kind::End {
                self.give_back();
            }
            return self.close_row(row);
        }
        if token.kind == Kind::End {
            if (token.is(HTML | TABLE) || token.tag == Some(Tag::Table))
                && self.is_in(row, token.tag)?
            {
                self.give_back();
                return self.close();
            }
            let is_form = token.tag == Some(Tag::Form);
            if is_form {
                self.bad_form();
            }
            let is_cell = matches!(token.tag, Some(Tag::Td | Tag::Th));
            if is_form || Self::is_flow(&token) || is_cell {
                self.discard();
                return Ok(());
            }
            if self.is_in(row, token.tag)? {
                self.give_back();
                return self.close_empty(row);
            }
        }
        if self.append_misc(row, &token) {
            return Ok(());
        }
        if token.tag.is_none() && token.kind != Kind::Text || token.tag == Some(Tag::Table) {
            self.discard();
            return Ok(());
        }
        if token.is(ROWGRP) {
            self.give_back();
            return self.close_empty(row);
        }
        if token.kind == Kind::End {
            self.discard();
            return Ok(());
        }
        self.child_of_row(row, token)
    }

    fn child_of_row(&mut self, row: usize, token: Token) -> Visit {
        let mut cell = token;
        if token.tag == Some(Tag::Form) {
            self.give_back();
            cell = self.lexer.inferred(Tag::Td);
            self.warn();
        } else if token.kind == Kind::Text || Self::is_flow(&token) {
            return self.exile_from(row, &token);
        } else if token.is(HEAD) {
            self.warn();
            return self.move_to_head(&token);
        }
        if !matches!(cell.tag, Some(Tag::Td | Tag::Th)) {
            self.warn();
            return Ok(());
        }
        self.append_token(row, &cell);
        let after = After::Cell(self.keeps_blocks_out);
        self.keeps_blocks_out = false;
        self.enter(row, &cell, Mode::SkipSpace, after)
    }
}
