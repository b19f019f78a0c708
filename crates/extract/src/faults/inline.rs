//! What stands in inline elements, paragraphs and headings.

use super::elements::*;
use super::lexer::Mode;
use super::page::{After, Child, Node, Page, Visit};
use super::token::{Kind, Token};
use crate::ExtractError;

impl Page<'_> {
    pub(super) fn begin_inline(&mut self, node: usize) {
        let tag = self.tag_of(node);
        if tag.is(BLOCK) || tag == Tag::Dt {
            self.inherit(None);
        } else if tag.is(INLINE) && !matches!(tag, Tag::A | Tag::Span) {
            self.push_inline(node);
        }
        if let Some(frame) = self.frames.last_mut()
            && frame.mode != Mode::Preformatted
        {
            frame.mode = Mode::Mixed;
        }
    }

    fn is_preformatted(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.mode == Mode::Preformatted)
    }

    /// Takes the spaces off an element whose white space is not kept.
    fn trim_unless_preformatted(&mut self, node: usize) {
        if !self.is_preformatted() {
            self.trim_spaces(node);
        }
    }

    /// Ends an inline element by something that is not its end tag.
    fn close_inline(&mut self, node: usize) -> Visit {
        self.trim_unless_preformatted(node);
        self.close_empty(node)
    }

    /// The same, by something that is looked at again behind it, and is a fault.
    fn close_inline_before(&mut self, node: usize) -> Visit {
        self.warn();
        self.give_back();
        self.close_inline(node)
    }

    pub(super) fn in_inline(&mut self, node: usize, token: Token) -> Visit {
        let tag = self.tag_of(node);
        if token.is_end(tag) {
            return self.end_inline(node, tag, &token);
        }
        if self.is_nested_emphasis(node, tag, &token) {
            if !self.nodes[node].children.is_empty() && !token.given.any {
                self.warn();
                self.give_back_as_end(&token);
                return Ok(());
            }
            self.warn();
        } else if token.is_start(Tag::Q) && self.is_inherited(Tag::Q) {
            self.warn();
        }
        if token.kind == Kind::Text {
            if token.start < token.end {
                self.append_token(node, &token);
            }
            return Ok(());
        }
        if self.append_misc(node, &token) {
            return Ok(());
        }
        if token.tag == Some(Tag::Html) {
            if token.begins() {
                self.discard();
                return Ok(());
            }
            self.give_back();
            return self.close_inline(node);
        }
        if token.is_start(Tag::P)
            && (self.is_preformatted() || tag == Tag::Dt || self.is_in(node, Some(Tag::Dt))?)
        {
            self.trim_spaces(node);
            self.append(node, Child::Other);
            return Ok(());
        }
        match token.tag {
            None | Some(Tag::Param) => {
                self.discard();
                Ok(())
            }
            Some(inner) => self.tag_in_inline(node, tag, token, inner),
        }
    }

    fn end_inline(&mut self, node: usize, tag: Tag, token: &Token) -> Visit {
        self.pop_inline_tag(token);
        self.trim_unless_preformatted(node);
        if tag == Tag::Font
            && let [Child::Element { tag: Tag::A, is_empty, .. }] = self.nodes[node].children[..]
        {
            // The link changes places with the font, which then has in it what the link had.
            if is_empty {
                self.warn();
            }
            return self.close();
        }
        self.trim_spaces(node);
        self.close_empty(node)
    }

    /// Whether a tag begins an element in one of its own kind, which makes no difference there.
    fn is_nested_emphasis(&self, node: usize, tag: Tag, token: &Token) -> bool {
        token.is_start(tag)
            && self.is_inherited(tag)
            && !token.implicit
            && !self.nodes[node].implicit
            && tag.is(INLINE)
            && !matches!(tag, Tag::A | Tag::Font | Tag::Big | Tag::Small | Tag::Q)
    }

    fn tag_in_inline(&mut self, node: usize, tag: Tag, mut token: Token, inner: Tag) -> Visit {
        if inner == Tag::Br && token.kind == Kind::End {
            token.kind = Kind::Start;
        }
        if token.kind == Kind::End
            && let Some(outcome) = self.end_in_inline(node, tag, &token, inner)?
        {
            return if outcome { self.close() } else { Ok(()) };
        }
        if inner.is(HEADING) && tag.is(HEADING) {
            self.warn();
            if inner != tag {
                self.give_back();
            }
            return self.close_inline(node);
        }
        if inner == Tag::A
            && !token.implicit
            && (tag == Tag::A || self.is_in(node, Some(Tag::A))?)
        {
            if token.kind != Kind::End && !token.given.any {
                self.warn();
                self.give_back_as_end(&token);
                return Ok(());
            }
            return self.close_inline_before(node);
        }
        let splits = tag.is(HEADING) && matches!(inner, Tag::Center | Tag::Div | Tag::Hr)
            || tag == Tag::Dt && inner == Tag::Hr;
        if splits {
            if token.begins() {
                self.warn();
                self.split(node, tag, &token);
            } else {
                self.discard();
            }
            return Ok(());
        }
        if token.kind == Kind::End && self.is_in(node, token.tag)? {
            if !tag.is(OPT) && !self.nodes[node].implicit {
                self.warn();
            }
            if tag == Tag::A {
                self.pop_inline(Some(tag));
            }
            self.give_back();
            return self.close_inline(node);
        }
        if !inner.is(INLINE) {
            return self.block_in_inline(node, tag, &token, inner);
        }
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        if token.implicit {
            self.warn();
        }
        if inner == Tag::Br {
            self.trim_spaces(node);
        }
        self.append_token(node, &token);
        let mode = self.frames.last().map_or(Mode::Mixed, |frame| frame.mode);
        self.enter(node, &token, mode, After::Nothing)
    }

    /// An end tag in an inline element that is not its own. `Some(true)`: the element ends, and what was to be done
    /// with it is; `Some(false)`: the tag has been dealt with.
    fn end_in_inline(
        &mut self,
        node: usize,
        tag: Tag,
        token: &Token,
        inner: Tag,
    ) -> Result<Option<bool>, ExtractError> {
        if inner == Tag::P {
            if self.is_in(node, Some(Tag::P))? {
                return Ok(None);
            }
            self.warn();
            self.trim_spaces(node);
            self.append(node, Child::Other);
            return Ok(Some(false));
        }
        if inner.is(INLINE) && inner != Tag::A && !inner.is(OBJECT) && tag.is(INLINE) {
            self.pop_inline(Some(tag));
            if tag == Tag::A {
                self.discard();
                return Ok(Some(false));
            }
            self.warn();
            self.trim_unless_preformatted(node);
            self.trim_if_empty(node);
            return Ok(Some(true));
        }
        if self.is_exiled && token.is(TABLE) {
            self.give_back();
            self.trim_spaces(node);
            self.trim_if_empty(node);
            return Ok(Some(true));
        }
        Ok(None)
    }

    /// A block that breaks a heading, or a term, in two: what follows stands in a new one.
    fn split(&mut self, node: usize, tag: Tag, token: &Token) {
        let outer = self.nodes[node].parent;
        let is_wrapper = matches!(token.tag, Some(Tag::Center | Tag::Div));
        let is_dt = tag == Tag::Dt;
        let between = if is_dt { self.lexer.inferred(Tag::Dd) } else { *token };
        let id = self.nodes[node].id;
        let place = self.place_of(outer, id);
        if self.nodes[node].children.is_empty() {
            let Some(at) = place else { return };
            if is_wrapper {
                // It stands around the heading.
                let wrapper = self.nodes.len();
                self.nodes.push(Node::of(&between, outer));
                let child =
                    std::mem::replace(&mut self.nodes[outer].children[at], Child::of(&between));
                self.nodes[wrapper].children.push(child);
                self.nodes[node].parent = wrapper;
            } else {
                self.nodes[outer].children.insert(at, Child::of(&between));
            }
            return;
        }
        if let Some(at) = place {
            self.nodes[outer].children.insert(at + 1, Child::of(&between));
        }
        self.trim_unless_preformatted(node);
        let copy = Token { implicit: self.nodes[node].implicit, ..self.lexer.inferred(tag) };
        let copy = Token { given: self.nodes[node].given, ..copy };
        let mut parent = outer;
        if is_wrapper {
            parent = self.nodes.len();
            self.nodes.push(Node::of(&between, outer));
        }
        let half = self.nodes.len();
        self.nodes.push(Node::of(&copy, parent));
        match place {
            Some(at) if !is_wrapper => {
                self.nodes[outer].children.insert(at + 2, Child::of(&copy));
            }
            _ => self.append_token(parent, &copy),
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.node = half;
        }
    }

    /// A block in an inline element, which ends there.
    fn block_in_inline(&mut self, node: usize, tag: Tag, token: &Token, inner: Tag) -> Visit {
        if token.kind != Kind::Start {
            self.discard();
            return Ok(());
        }
        if !tag.is(OPT) {
            self.warn();
        }
        if inner.is(HEAD) && !inner.is(BLOCK) {
            return self.move_to_head(token);
        }
        if tag == Tag::A {
            if !inner.is(HEADING) {
                self.pop_inline(Some(tag));
            } else if self.nodes[node].children.is_empty() {
                self.remove(node);
                self.give_back();
                return self.close();
            }
        }
        self.give_back();
        self.close_inline(node)
    }

    pub(super) fn begin_pre(&mut self, node: usize) {
        if self.tag_of(node).is(OBSOLETE) {
            self.warn();
            self.nodes[node].was = self.nodes[node].tag;
            self.nodes[node].tag = Some(Tag::Pre);
            self.nodes[node].implicit = true;
        }
        self.inherit(None);
        if let Some(frame) = self.frames.last_mut() {
            frame.mode = Mode::Preformatted;
        }
    }

    pub(super) fn in_pre(&mut self, node: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Pre) {
            return self.close_trimmed(node);
        }
        if token.tag == Some(Tag::Html) {
            if token.begins() {
                self.discard();
            }
            return Ok(());
        }
        if token.kind == Kind::Text {
            let is_first = self.nodes[node].children.is_empty();
            let skips = is_first && self.lexer.kept_at(token.start) == b'\n';
            let text = Child::Text { start: token.start + usize::from(skips), end: token.end };
            if !is_first || token.start + usize::from(skips) < token.end {
                self.append(node, text);
            }
            return Ok(());
        }
        if self.append_misc(node, token) {
            return Ok(());
        }
        if !super::lexer::may_be_preformatted(token) {
            self.warn();
            self.append(node, Child::Other);
            return Ok(());
        }
        if token.tag == Some(Tag::P) {
            if token.kind == Kind::Start {
                // It becomes a break.
                self.warn();
                self.warn();
                self.trim_spaces(node);
                self.append(node, Child::Other);
            } else {
                self.discard();
            }
            return Ok(());
        }
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        if token.tag == Some(Tag::Br) {
            self.trim_spaces(node);
        }
        self.enter_child(node, token, Mode::Preformatted)
    }
}
