//! What stands in the body of a page, and in blocks.

use super::elements::*;
use super::lexer::Mode;
use super::page::{After, Child, Page, Visit};
use super::token::{Kind, Token};
use super::versions::{HTML20, STRICT};
use crate::ExtractError;

/// What is done with a token that has been looked at.
pub(super) enum Next {
    /// It has been dealt with.
    Done,
    /// It, or one that belongs before it, begins an element.
    Child(Token),
    /// The element that it stands in ends.
    Close,
}

impl Page<'_> {
    fn mode(&mut self, mode: Mode) {
        if let Some(frame) = self.frames.last_mut() {
            frame.mode = mode;
        }
    }

    /// Whether what is open around goes on in front of this token. It may do so once for each block.
    fn inherits(&mut self, token: &Token) -> bool {
        let Some(frame) = self.frames.last_mut() else { return false };
        std::mem::take(&mut frame.may_inherit) && self.inherit(Some(*token))
    }

    pub(super) fn in_body(&mut self, body: usize, mut token: Token) -> Visit {
        if token.tag == Some(Tag::Html) {
            if token.begins() || self.root_has_ended {
                self.discard();
            } else {
                self.root_has_ended = true;
            }
            return Ok(());
        }
        let is_tag = token.begins() || token.kind == Kind::End;
        if self.body_has_ended && is_tag {
            self.warn();
        }
        let outer = self.nodes[body].parent;
        let in_noframes = self.nodes[outer].tag == Some(Tag::Noframes);
        if token.is_end(Tag::Body) {
            self.trim_spaces(body);
            self.body_has_ended = true;
            self.mode(Mode::SkipSpace);
            return if in_noframes { self.close() } else { Ok(()) };
        }
        if token.is_start(Tag::Noframes) {
            self.append_token(body, &token);
            let mode = self.frames.last().map_or(Mode::SkipSpace, |frame| frame.mode);
            return self.enter_as_block(body, &token, mode);
        }
        if in_noframes
            && (token.is_end(Tag::Noframes)
                || matches!(token.tag, Some(Tag::Frame | Tag::Frameset)))
        {
            self.trim_spaces(body);
            self.give_back();
            return self.close();
        }
        if self.append_misc(body, &token) {
            return Ok(());
        }
        if token.kind == Kind::Text {
            return self.text_in_body(body, &token);
        }
        if token.kind == Kind::DocType {
            self.warn();
            return Ok(());
        }
        if matches!(token.tag, None | Some(Tag::Param)) {
            self.discard();
            return Ok(());
        }
        self.keeps_blocks_out = false;
        if !Self::is_flow(&token) || token.tag == Some(Tag::Input) {
            match self.stranger_in_body(&token)? {
                Next::Done => return Ok(()),
                Next::Close => return self.close(),
                Next::Child(child) => token = child,
            }
        }
        if token.kind == Kind::End {
            self.end_in_block(body, &mut token);
        }
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        self.child_of_body(body, &token)
    }

    /// Reads an element as a block, whatever it is.
    fn enter_as_block(&mut self, parent: usize, token: &Token, mode: Mode) -> Visit {
        let nodes = self.nodes.len();
        self.nodes.push(super::page::Node::of(token, parent));
        self.open(nodes, Rule::Block, mode, After::Nothing, nodes)
    }

    fn text_in_body(&mut self, body: usize, token: &Token) -> Visit {
        let is_white = token.end <= token.start + 1 && self.lexer.kept_at(token.start) == b' ';
        let mode = self.frames.last().map_or(Mode::SkipSpace, |frame| frame.mode);
        if is_white && mode == Mode::SkipSpace {
            return Ok(());
        }
        self.lexer.narrow(!(STRICT | HTML20));
        if self.inherits(token) {
            return Ok(());
        }
        self.append_token(body, token);
        self.mode(Mode::Mixed);
        Ok(())
    }

    /// What belongs neither into a block nor among inline elements, and input that stands in no form.
    fn stranger_in_body(&mut self, token: &Token) -> Result<Next, ExtractError> {
        if !token.is(HEAD) {
            self.warn();
        }
        if token.is(HTML) {
            return Ok(Next::Done);
        }
        if token.is(HEAD) {
            self.move_to_head(token)?;
            return Ok(Next::Done);
        }
        let (wrapper, gives_back) = if token.is(LIST) {
            (Tag::Ul, true)
        } else if token.is(DEFLIST) {
            (Tag::Dl, true)
        } else if token.is(TABLE | ROWGRP | ROW) {
            (Tag::Table, token.kind != Kind::End)
        } else if token.tag == Some(Tag::Input) {
            (Tag::Form, true)
        } else if token.is(ROW | FIELD) {
            return Ok(Next::Done);
        } else {
            self.give_back();
            return Ok(Next::Close);
        };
        self.keeps_blocks_out = true;
        if !gives_back {
            return Ok(Next::Child(*token));
        }
        self.give_back();
        Ok(Next::Child(self.lexer.inferred(wrapper)))
    }

    /// An end tag that stands for an element, or for the end of an inline one.
    fn end_in_block(&mut self, node: usize, token: &mut Token) {
        match token.tag {
            Some(Tag::Br) => token.kind = Kind::Start,
            Some(Tag::P) => {
                self.warn();
                self.append(node, Child::Other);
                *token = self.lexer.inferred(Tag::Br);
            }
            _ => self.pop_inline_tag(token),
        }
    }

    fn child_of_body(&mut self, body: usize, token: &Token) -> Visit {
        let mut mode = Mode::SkipSpace;
        if token.is(INLINE) && !token.is(MIXED) {
            let is_image = token.tag == Some(Tag::Img);
            self.lexer.narrow(!(STRICT | if is_image { 0 } else { HTML20 }));
            if !token.implicit && self.inherits(token) {
                return Ok(());
            }
            mode = Mode::Mixed;
        } else if let Some(frame) = self.frames.last_mut() {
            frame.may_inherit = true;
        }
        self.mode(mode);
        if token.implicit {
            self.warn();
        }
        self.enter_child(body, token, mode)
    }

    pub(super) fn begin_block(&mut self, node: usize) -> Visit {
        let tag = self.tag_of(node);
        if tag == Tag::Form && self.is_in(node, Some(tag))? {
            self.warn();
        }
        if tag.is(OBJECT) {
            self.base = self.inherited.len();
        }
        if !tag.is(MIXED) {
            self.inherit(None);
        }
        Ok(())
    }

    /// Has the inline elements around an object go on behind it.
    pub(super) fn end_object(&mut self, node: usize) {
        if self.tag_of(node).is(OBJECT) {
            self.pop_to_base();
            self.restore_base();
        }
    }

    pub(super) fn restore_base(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.base = frame.outer_base;
        }
    }

    pub(super) fn in_block(&mut self, node: usize, mut token: Token) -> Visit {
        let tag = self.tag_of(node);
        let own = [Some(tag), self.nodes[node].was];
        if token.kind == Kind::End && token.tag.is_some() && own.contains(&token.tag) {
            self.end_object(node);
            return self.close_trimmed(node);
        }
        if matches!(token.tag, Some(Tag::Html | Tag::Head | Tag::Body)) {
            if token.begins() {
                self.discard();
            }
            return Ok(());
        }
        if token.kind == Kind::End {
            match self.other_end_in_block(node, tag, &mut token)? {
                Next::Done => return Ok(()),
                Next::Close => return self.close_trimmed(node),
                Next::Child(_) => {}
            }
        }
        if token.kind == Kind::Text {
            return self.text_in_block(node, tag, &token);
        }
        if self.append_misc(node, &token) {
            return Ok(());
        }
        let is_child = match token.tag {
            Some(Tag::Param) => Some(tag.is(PARAM)),
            Some(Tag::Area) => Some(tag == Tag::Map),
            None => Some(false),
            _ => None,
        };
        if let Some(is_child) = is_child {
            if is_child && token.begins() {
                self.append_token(node, &token);
            } else {
                self.discard();
            }
            return Ok(());
        }
        if !token.is(INLINE) {
            match self.block_in_block(node, tag, &token)? {
                Next::Done => return Ok(()),
                Next::Close => return self.close_trimmed(node),
                Next::Child(child) => token = child,
            }
        }
        if !token.begins() {
            if token.kind == Kind::End {
                self.pop_inline(token.tag);
            }
            self.discard();
            return Ok(());
        }
        self.child_of_block(node, tag, &token)
    }

    /// An end tag in a block that is not its own.
    fn other_end_in_block(
        &mut self,
        node: usize,
        tag: Tag,
        token: &mut Token,
    ) -> Result<Next, ExtractError> {
        match token.tag {
            None => {
                self.discard();
                return Ok(Next::Done);
            }
            Some(Tag::Br | Tag::P) => {
                self.end_in_block(node, token);
                return Ok(Next::Child(*token));
            }
            _ => {}
        }
        if self.is_in(node, token.tag)? {
            if !tag.is(OPT) {
                self.warn();
            }
            self.give_back();
            self.end_object(node);
            return Ok(Next::Close);
        }
        if self.is_exiled && token.is(TABLE) {
            self.give_back();
            return Ok(Next::Close);
        }
        Ok(Next::Child(*token))
    }

    fn text_in_block(&mut self, node: usize, tag: Tag, token: &Token) -> Visit {
        if tag.is(MIXED) {
            if let Some(frame) = self.frames.last_mut() {
                frame.may_inherit = false;
            }
        } else if self.inherits(token) {
            return Ok(());
        }
        self.append_token(node, token);
        self.mode(Mode::Mixed);
        if matches!(tag, Tag::Body | Tag::Map | Tag::Blockquote | Tag::Form | Tag::Noscript) {
            self.lexer.narrow(!STRICT);
        }
        Ok(())
    }

    /// What is not inline in a block.
    fn block_in_block(
        &mut self,
        node: usize,
        tag: Tag,
        token: &Token,
    ) -> Result<Next, ExtractError> {
        if !token.begins() {
            if token.tag == Some(Tag::Form) {
                self.bad_form();
            }
            self.discard();
            return Ok(Next::Done);
        }
        let is_of_others =
            matches!(token.tag, Some(Tag::Frame | Tag::Frameset | Tag::Optgroup | Tag::Option));
        if tag == Tag::Li && is_of_others {
            self.discard();
            return Ok(Next::Done);
        }
        if matches!(tag, Tag::Td | Tag::Th) {
            return self.block_in_cell(token);
        }
        if token.is(BLOCK) {
            if !self.keeps_blocks_out {
                return Ok(Next::Child(*token));
            }
            if !tag.is(OPT) {
                self.warn();
            }
            self.give_back();
            if tag.is(OBJECT) {
                self.restore_base();
            }
            return Ok(Next::Close);
        }
        if token.is(HEAD) {
            self.move_to_head(token)?;
            return Ok(Next::Done);
        }
        self.stranger_in_block(node, tag, token)
    }

    fn block_in_cell(&mut self, token: &Token) -> Result<Next, ExtractError> {
        if token.is(HEAD) {
            self.move_to_head(token)?;
            return Ok(Next::Done);
        }
        let list = match () {
            () if token.is(LIST) => Tag::Ul,
            () if token.is(DEFLIST) => Tag::Dl,
            () if token.is(BLOCK) => return Ok(Next::Child(*token)),
            () => {
                self.give_back();
                return Ok(Next::Close);
            }
        };
        self.give_back();
        self.keeps_blocks_out = true;
        Ok(Next::Child(self.lexer.inferred(list)))
    }

    /// What is neither inline nor a block in a block: items of lists, rows and cells of tables, fields.
    fn stranger_in_block(
        &mut self,
        node: usize,
        tag: Tag,
        token: &Token,
    ) -> Result<Next, ExtractError> {
        let outer = self.nodes[node].parent;
        let outer_tag = self.nodes[outer].tag;
        if tag == Tag::Form && outer_tag == Some(Tag::Td) && self.nodes[outer].implicit {
            match token.tag {
                Some(Tag::Td) => {
                    self.discard();
                    return Ok(Next::Done);
                }
                Some(Tag::Th) => {
                    self.discard();
                    self.nodes[outer].tag = Some(Tag::Th);
                    return Ok(Next::Done);
                }
                _ => {}
            }
        }
        if !tag.is(OPT) && !self.nodes[node].implicit {
            self.warn();
        }
        self.give_back();
        let wrapper = if token.is(LIST) {
            let in_list = outer_tag.is_some_and(|tag| tag.element().rule == Rule::List);
            Some(Tag::Ul).filter(|_| !in_list)
        } else if token.is(DEFLIST) {
            Some(Tag::Dl).filter(|_| outer_tag != Some(Tag::Dl))
        } else if token.is(TABLE | ROW) {
            Some(Tag::Table)
        } else {
            self.end_object(node);
            None
        };
        match wrapper {
            Some(wrapper) => Ok(Next::Child(self.lexer.inferred(wrapper))),
            None => Ok(Next::Close),
        }
    }

    fn child_of_block(&mut self, node: usize, tag: Tag, token: &Token) -> Visit {
        if token.is(INLINE) {
            if !token.implicit {
                if tag.is(MIXED) {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.may_inherit = false;
                    }
                } else if self.inherits(token) {
                    return Ok(());
                }
            }
            self.mode(Mode::Mixed);
        } else {
            if let Some(frame) = self.frames.last_mut() {
                frame.may_inherit = true;
            }
            self.mode(Mode::SkipSpace);
        }
        if token.tag == Some(Tag::Br) {
            self.trim_spaces(node);
        }
        self.append_token(node, token);
        if token.implicit {
            self.warn();
        }
        self.enter(node, token, Mode::SkipSpace, After::Nothing)
    }
}
