//! The frame of a page: its document type, its root element, its head, and scripts. And the documents of XML.

use super::elements::{HEAD, INLINE, Rule, Tag};
use super::lexer::Mode;
use super::page::{After, Child, DEPTH_LIMIT, DOCUMENT, HEAD_NODE, Node, Page, ROOT, Visit};
use super::token::{Kind, Token};
use super::versions::*;
use crate::ExtractError;

/// Of a root element: its head is not there yet.
const BEFORE_HEAD: u8 = 0;
/// Its head has been read.
const BEHIND_HEAD: u8 = 1;
/// Its body has been read.
const BEHIND_BODY: u8 = 2;

impl Page<'_> {
    /// Reads a page of HTML.
    pub(super) fn read_html(&mut self) -> Visit {
        while !self.has_root {
            let Some(token) = self.next(Mode::SkipSpace)? else { break };
            if token.kind == Kind::Misc {
                continue;
            }
            match token.kind {
                Kind::DocType if !self.has_doctype => self.has_doctype = true,
                Kind::DocType | Kind::End => self.discard(),
                _ => {
                    let root = if token.is_start(Tag::Html) {
                        token
                    } else {
                        self.give_back();
                        self.lexer.inferred(Tag::Html)
                    };
                    if !self.has_doctype {
                        self.warn();
                    }
                    self.begin_root(&root)?;
                }
            }
        }
        if !self.has_root {
            let root = self.lexer.inferred(Tag::Html);
            self.begin_root(&root)?;
        }
        while let Some(frame) = self.frames.last() {
            // What of a page an element ends at is read by another rule.
            let (mode, rule) = (frame.mode, frame.rule);
            if rule == Rule::Html && frame.step == BEHIND_BODY {
                self.frames.clear();
                break;
            }
            let token = self.next(mode)?;
            self.step(rule, token)?;
        }
        if !self.has_title {
            self.warn();
        }
        self.judge_version();
        Ok(())
    }

    fn begin_root(&mut self, root: &Token) -> Visit {
        self.has_root = true;
        self.nodes.push(Node::of(root, DOCUMENT));
        let head = self.lexer.inferred(Tag::Head);
        self.nodes.push(Node::of(&head, ROOT));
        self.open(ROOT, Rule::Html, Mode::SkipSpace, After::Nothing, HEAD_NODE + 1)
    }

    /// Judges the page as a whole: whether it is of the version of HTML that it says it is.
    fn judge_version(&mut self) {
        if self.lexer.makes_xml {
            if self.nodes[ROOT].given.other_namespace {
                self.warn();
            }
        } else if self.lexer.declared_badly {
            self.warn();
        }
        let declared = self.lexer.declared;
        if declared != 0 && self.lexer.versions & declared == 0 {
            self.warn();
        }
    }

    /// Begins to read an element.
    pub(super) fn begin(&mut self) -> Visit {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let node = frame.node;
        frame.mode = match frame.rule {
            // They have their own, or that of what they are in.
            Rule::Inline | Rule::Pre | Rule::Field | Rule::Empty => frame.mode,
            Rule::Title => Mode::Mixed,
            _ => Mode::SkipSpace,
        };
        match frame.rule {
            Rule::Inline => self.begin_inline(node),
            Rule::Block => return self.begin_block(node),
            Rule::Pre => self.begin_pre(node),
            Rule::List | Rule::Definitions | Rule::Select | Rule::OptGroup | Rule::Field => {
                self.begin_deferred(node);
            }
            Rule::Table => {
                self.drop_inherited();
                self.base = self.inherited.len();
            }
            Rule::Raw => return self.read_raw(node),
            Rule::Empty if !self.lexer.is_xhtml => return self.close(),
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self, rule: Rule, token: Option<Token>) -> Visit {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let node = frame.node;
        let Some(token) = token else { return self.end_of_page(rule, node) };
        match rule {
            Rule::Html => self.in_root(&token),
            Rule::Head => self.in_head(node, &token),
            Rule::Title => self.in_title(node, &token),
            Rule::Body => self.in_body(node, token),
            Rule::Frameset => self.in_frameset(node, &token),
            Rule::NoFrames => self.in_noframes(node, &token),
            Rule::Inline => self.in_inline(node, token),
            Rule::Block => self.in_block(node, token),
            Rule::List => self.in_list(node, &token),
            Rule::Definitions => self.in_definitions(node, token),
            Rule::Pre => self.in_pre(node, &token),
            Rule::Table => self.in_table(node, token),
            Rule::ColGroup => self.in_colgroup(node, &token),
            Rule::RowGroup => self.in_row_group(node, token),
            Rule::Row => self.in_row(node, token),
            Rule::Select => self.in_select(node, &token),
            Rule::OptGroup => self.in_optgroup(node, &token),
            Rule::Field => self.in_field(node, &token),
            Rule::Empty => self.in_empty(node, &token),
            // It has been read as it began.
            Rule::Raw => self.close(),
        }
    }

    /// An element that is open where the page ends.
    fn end_of_page(&mut self, rule: Rule, node: usize) -> Visit {
        match rule {
            Rule::Html => return self.root_at_end(),
            Rule::Title | Rule::Frameset | Rule::NoFrames | Rule::Select => self.warn(),
            Rule::Inline | Rule::Block | Rule::Field if self.needs_end(node) => self.warn(),
            Rule::List | Rule::Definitions | Rule::Pre | Rule::Table => {
                if rule == Rule::List {
                    self.coerce_list(node);
                }
                self.warn();
            }
            _ => {}
        }
        match rule {
            Rule::Block => {
                self.end_object(node);
                return self.close_trimmed(node);
            }
            Rule::Table => {
                self.trim_if_empty(node);
                return self.close_table();
            }
            Rule::Inline
            | Rule::List
            | Rule::Definitions
            | Rule::Pre
            | Rule::RowGroup
            | Rule::Row => self.trim_if_empty(node),
            _ => {}
        }
        self.close()
    }

    fn root_at_end(&mut self) -> Visit {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.step == BEFORE_HEAD {
            frame.step = BEHIND_HEAD;
            return self.begin_head();
        }
        frame.step = BEHIND_BODY;
        if self.has_frameset {
            return Ok(());
        }
        let body = self.lexer.inferred(Tag::Body);
        self.enter_child(ROOT, &body, Mode::SkipSpace)
    }

    fn begin_head(&mut self) -> Visit {
        let id = self.nodes[HEAD_NODE].id;
        self.append(ROOT, Child::Element { id, tag: Tag::Head, is_empty: true });
        let nodes = self.nodes.len();
        self.open(HEAD_NODE, Rule::Head, Mode::SkipSpace, After::Nothing, nodes)
    }

    fn in_root(&mut self, token: &Token) -> Visit {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.step == BEHIND_HEAD {
            return self.behind_head(token);
        }
        if token.tag != Some(Tag::Head) {
            if token.is_end(Tag::Html) {
                self.discard();
                return Ok(());
            }
            if self.append_misc(ROOT, token) {
                return Ok(());
            }
            self.give_back();
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.step = BEHIND_HEAD;
        }
        self.begin_head()
    }

    fn behind_head(&mut self, token: &Token) -> Visit {
        if token.tag == Some(Tag::Html) {
            if token.kind != Kind::Start && !self.has_frameset {
                self.discard();
            } else if token.kind == Kind::End {
                self.root_has_ended = true;
            }
            return Ok(());
        }
        if self.append_misc(ROOT, token) {
            return Ok(());
        }
        let is_start = token.kind == Kind::Start;
        match token.tag {
            Some(Tag::Body | Tag::Frameset | Tag::Noframes) if !is_start => {
                self.discard();
                return Ok(());
            }
            Some(Tag::Body) if !self.has_frameset => return self.begin_body(*token),
            Some(Tag::Body) => {
                self.give_back();
                if !self.has_noframes {
                    self.warn();
                }
                return self.begin_noframes(None);
            }
            Some(Tag::Frameset) => {
                if self.has_frameset {
                    self.lexer.error();
                }
                self.has_frameset = true;
                return self.enter_child(ROOT, token, Mode::SkipSpace);
            }
            Some(Tag::Noframes) if self.has_frameset => return self.begin_noframes(Some(*token)),
            Some(Tag::Noframes) => {
                self.discard();
                let body = self.lexer.inferred(Tag::Body);
                return self.begin_page_body(body);
            }
            _ => {}
        }
        if token.begins() {
            if token.is(HEAD) {
                return self.move_to_head(token);
            }
            if self.has_frameset && token.tag == Some(Tag::Frame) {
                self.discard();
                return Ok(());
            }
        }
        self.give_back();
        if self.has_frameset {
            if self.has_noframes {
                self.warn();
            }
            self.lexer.narrow(FRAMESET);
            return self.begin_noframes(None);
        }
        let body = self.lexer.inferred(Tag::Body);
        self.begin_body(body)
    }

    fn begin_body(&mut self, body: Token) -> Visit {
        self.lexer.narrow(!FRAMESET);
        self.begin_page_body(body)
    }

    fn begin_page_body(&mut self, body: Token) -> Visit {
        if let Some(frame) = self.frames.last_mut() {
            frame.step = BEHIND_BODY;
        }
        self.enter_child(ROOT, &body, Mode::SkipSpace)
    }

    /// Begins what is shown where there are no frames, or goes on with it.
    fn begin_noframes(&mut self, token: Option<Token>) -> Visit {
        self.has_noframes = true;
        let noframes = token.unwrap_or_else(|| self.lexer.inferred(Tag::Noframes));
        // It stands in the frameset, which has ended.
        let frameset = self.lexer.inferred(Tag::Frameset);
        let nodes = self.nodes.len();
        self.nodes.push(Node::of(&frameset, ROOT));
        self.nodes.push(Node::of(&noframes, nodes));
        self.open(nodes + 1, Rule::NoFrames, Mode::SkipSpace, After::Nothing, nodes)
    }

    /// Has something that belongs into the head be read there.
    pub(super) fn move_to_head(&mut self, token: &Token) -> Visit {
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        self.warn();
        self.has_title |= token.tag == Some(Tag::Title);
        self.enter_child(HEAD_NODE, token, Mode::SkipSpace)
    }

    fn in_head(&mut self, head: usize, token: &Token) -> Visit {
        if token.is_end(Tag::Head) {
            return self.close();
        }
        if token.kind == Kind::Text {
            self.warn();
            self.give_back();
            return self.close();
        }
        if self.append_misc(head, token) {
            return Ok(());
        }
        if token.kind == Kind::DocType {
            self.warn();
            return Ok(());
        }
        let Some(tag) = token.tag else {
            self.discard();
            return Ok(());
        };
        if !tag.is(HEAD) {
            if self.lexer.is_xhtml {
                self.warn();
            }
            self.give_back();
            return self.close();
        }
        if !token.begins() {
            self.discard();
            return Ok(());
        }
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        match tag {
            Tag::Title => frame.titles += 1,
            Tag::Base => frame.bases += 1,
            _ => {}
        }
        let is_second =
            tag == Tag::Title && frame.titles > 1 || tag == Tag::Base && frame.bases > 1;
        if is_second || tag == Tag::Noscript {
            self.warn();
        }
        self.has_title |= tag == Tag::Title;
        self.enter_child(head, token, Mode::SkipSpace)
    }

    fn in_title(&mut self, title: usize, token: &Token) -> Visit {
        if token.is_start(Tag::Title) {
            self.warn();
            return Ok(());
        }
        if token.is_end(Tag::Title) {
            return self.close_spaced(title);
        }
        if token.kind == Kind::Text {
            if token.start < token.end {
                self.append_token(title, token);
            }
            return Ok(());
        }
        if self.append_misc(title, token) {
            return Ok(());
        }
        if token.tag.is_none() {
            self.discard();
            return Ok(());
        }
        self.warn();
        self.give_back();
        self.close_spaced(title)
    }

    /// Reads a script or a style sheet.
    fn read_raw(&mut self, node: usize) -> Visit {
        let tag = self.tag_of(node);
        let has_source = self.nodes[node].given.src;
        let Some(text) = self.lexer.raw_text(tag, has_source) else {
            self.lexer.error();
            return self.close();
        };
        self.append_token(node, &text);
        let end = self.next(Mode::SkipSpace)?;
        if !end.is_some_and(|end| end.is_end(tag)) {
            self.lexer.error();
            if end.is_some() {
                self.give_back();
            }
        }
        self.close()
    }

    /// In XHTML, an element that has no content is ended at once.
    fn in_empty(&mut self, node: usize, token: &Token) -> Visit {
        if !token.is_end(self.tag_of(node)) {
            self.warn();
            self.give_back();
        }
        self.close()
    }

    /// Reads a document of XML: what is open is a name, and whether white space is kept in it.
    pub(super) fn read_xml(&mut self) -> Visit {
        let mut open: Vec<(u32, Mode)> = Vec::new();
        let mut doctype: Option<Token> = None;
        loop {
            let mode = open.last().map_or(Mode::SkipSpace, |(_, mode)| *mode);
            let Some(token) = self.next(mode)? else {
                // What is open at the end is no fault; the document goes on behind each of them.
                break;
            };
            match (token.kind, open.last()) {
                (Kind::End, Some((name, _))) if *name == token.name => {
                    open.pop();
                }
                (Kind::End, Some(_)) => self.lexer.error(),
                (Kind::End, None) => self.warn(),
                (Kind::DocType, None) if doctype.is_some() => self.discard(),
                (Kind::DocType, None) => doctype = Some(token),
                (Kind::Start, _) => {
                    if open.len() >= DEPTH_LIMIT {
                        return Err(ExtractError::TooDeep { limit: DEPTH_LIMIT });
                    }
                    let keeps = token.given.keeps_space;
                    open.push((token.name, if keeps { Mode::Preformatted } else { mode }));
                }
                _ => {}
            }
        }
        if doctype.is_some_and(|doctype| !self.lexer.doctype_words_are_good(&doctype)) {
            self.warn();
        }
        Ok(())
    }

    /// What a tag of an inline element ends that it does not fit: it is one that is open.
    pub(super) fn pop_inline_tag(&mut self, token: &Token) {
        if token.is(INLINE) {
            self.pop_inline(token.tag);
        }
    }
}
