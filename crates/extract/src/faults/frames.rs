//! What stands in framesets, and what is shown in their place.

use super::elements::{FRAMES, HEAD, Tag};
use super::lexer::Mode;
use super::page::{After, Page, Visit};
use super::token::{Kind, Token};

impl Page<'_> {
    pub(super) fn in_frameset(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Frameset) {
            return self.close_spaced(node);
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.tag.is_none() {
            self.discard();
            return Ok(());
        }
        if token.begins() && token.is(HEAD) {
            return self.move_to_head(token);
        }
        let mut token = *token;
        if token.tag == Some(Tag::Body) {
            self.give_back();
            token = self.lexer.inferred(Tag::Noframes);
            self.warn();
        }
        if !token.begins() || !token.is(FRAMES) {
            self.discard();
            return Ok(());
        }
        self.has_noframes |= token.tag == Some(Tag::Noframes);
        self.append_token(node, &token);
        if token.kind == Kind::StartEnd {
            return Ok(());
        }
        self.keeps_blocks_out = false;
        self.enter(node, &token, Mode::Mixed, After::Nothing)
    }

    pub(super) fn in_noframes(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Noframes) {
            return self.close_spaced(node);
        }
        if matches!(token.tag, Some(Tag::Frame | Tag::Frameset)) {
            self.trim_spaces(node);
            if token.kind == Kind::End {
                self.discard();
            } else {
                self.warn();
                self.give_back();
            }
            return self.close();
        }
        if token.tag == Some(Tag::Html) {
            if token.begins() {
                self.discard();
            }
            return Ok(());
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if token.is_start(Tag::Body) {
            self.append_token(node, token);
            let after = After::Noframes(self.body_has_ended);
            return self.enter(node, token, Mode::SkipSpace, after);
        }
        if token.kind != Kind::Text && (token.tag.is_none() || token.kind == Kind::End) {
            self.discard();
            return Ok(());
        }
        let mut child = *token;
        if self.body_has_ended {
            if token.kind == Kind::Text {
                self.give_back();
                child = self.lexer.inferred(Tag::P);
                self.warn();
            }
        } else {
            self.give_back();
            child = self.lexer.inferred(Tag::Body);
            if self.lexer.makes_xml {
                self.warn();
            }
        }
        self.enter_child(node, &child, Mode::SkipSpace)
    }
}
