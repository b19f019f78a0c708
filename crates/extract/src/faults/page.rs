//! The structure of a page: the elements that are open, and the tokens that go into them. There is no tree: of what is
//! closed, each open element keeps only the first and the last few of its children.

use super::MarkupFormat;
use super::elements::{BLOCK, EMPTY, FIELD, INLINE, OPT, ROW, Rule, Tag};
use super::lexer::{Lexer, Mode};
use super::token::{Given, Kind, Token};
use crate::ExtractError;
use crate::fuel::Fuel;

/// The deepest nesting of elements that is followed.
pub(super) const DEPTH_LIMIT: usize = 4096;
/// How many children of an open element are kept before those in the middle are forgotten.
const CHILDREN: usize = 64;
/// How many are kept at each side then.
const KEPT_CHILDREN: usize = 8;

/// The document, the parent of the root element.
pub(super) const DOCUMENT: usize = 0;
/// The root element.
pub(super) const ROOT: usize = 1;
/// The head.
pub(super) const HEAD_NODE: usize = 2;

/// What has become of a step through the page.
pub(super) type Visit = Result<(), ExtractError>;

/// What an element has in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Child {
    Text { start: usize, end: usize },
    Element { id: u32, tag: Tag, is_empty: bool },
    Other,
}

/// An element that is open, or has one in it that is.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    pub(super) tag: Option<Tag>,
    /// The element that it was before it was taken for another.
    pub(super) was: Option<Tag>,
    pub(super) parent: usize,
    pub(super) children: Vec<Child>,
    pub(super) implicit: bool,
    pub(super) given: Given,
}

/// What is done when an element ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    /// It was put in front of a table.
    Exile,
    /// It is a cell: whether blocks were kept out of the row.
    Cell(bool),
    /// It is centered between two lists of definitions.
    Center,
    /// It is the body of a `noframes`: whether the body of the page had ended before.
    Noframes(bool),
}

/// An element whose content is being read.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) node: usize,
    pub(super) rule: Rule,
    pub(super) mode: Mode,
    /// What is open around it may go on in what comes next.
    pub(super) may_inherit: bool,
    /// From where on the open inline elements were its own, before an object or a table.
    pub(super) outer_base: usize,
    pub(super) after: After,
    /// How many nodes there were before it.
    nodes: usize,
    /// How far a page with frames is: see `document`.
    pub(super) step: u8,
    pub(super) titles: u32,
    pub(super) bases: u32,
}

/// An inline element that goes on in the next block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inherited {
    pub(super) tag: Tag,
    pub(super) given: Given,
}

pub(super) struct Page<'t> {
    pub(super) lexer: Lexer<'t>,
    pub(super) nodes: Vec<Node>,
    pub(super) frames: Vec<Frame>,
    pub(super) fuel: Fuel,
    /// The token that the tokenizer gave last, and whether it comes again.
    token: Option<Token>,
    is_pushed: bool,
    pub(super) inherited: Vec<Inherited>,
    /// From where on they go on in the element at hand.
    pub(super) base: usize,
    /// The next one that goes on.
    pub(super) insert: Option<usize>,
    /// What comes behind those that go on.
    pub(super) behind: Option<Token>,
    pub(super) keeps_blocks_out: bool,
    pub(super) is_exiled: bool,
    pub(super) body_has_ended: bool,
    pub(super) root_has_ended: bool,
    pub(super) has_doctype: bool,
    pub(super) has_root: bool,
    pub(super) has_title: bool,
    pub(super) has_frameset: bool,
    pub(super) has_noframes: bool,
}

impl<'t> Page<'t> {
    pub(super) fn new(text: &'t str, format: MarkupFormat, fuel: Fuel) -> Self {
        let mut page = Page {
            lexer: Lexer::new(text, format),
            nodes: Vec::new(),
            frames: Vec::new(),
            fuel,
            token: None,
            is_pushed: false,
            inherited: Vec::new(),
            base: 0,
            insert: None,
            behind: None,
            keeps_blocks_out: false,
            is_exiled: false,
            body_has_ended: false,
            root_has_ended: false,
            has_doctype: false,
            has_root: false,
            has_title: false,
            has_frameset: false,
            has_noframes: false,
        };
        let document = page.lexer.token(Kind::Misc);
        page.nodes.push(Node::of(&document, DOCUMENT));
        page
    }

    /// The next token: one that was given back, an element that goes on, or one of the page.
    pub(super) fn next(&mut self, mode: Mode) -> Result<Option<Token>, ExtractError> {
        self.fuel.burn(1)?;
        let inserts = self.insert.is_some() || self.behind.is_some();
        if self.is_pushed
            && let Some(token) = self.token
            && (token.kind != Kind::Text || !inserts)
        {
            self.is_pushed = false;
            return Ok(Some(token));
        }
        if !inserts {
            let token = self.lexer.next(mode)?;
            self.token = token.or(self.token);
            return Ok(token);
        }
        let Some(at) = self.insert else { return Ok(self.behind.take()) };
        let Some(Inherited { tag, given }) = self.inherited.get(at).copied() else {
            self.insert = None;
            return Ok(self.behind.take());
        };
        self.insert = Some(at + 1).filter(|next| *next < self.inherited.len());
        Ok(Some(Token { given, ..self.lexer.inferred(tag) }))
    }

    /// Has the last token of the page come again.
    pub(super) fn give_back(&mut self) {
        self.is_pushed = true;
    }

    /// Has a token that stands for an end tag come again as one.
    pub(super) fn give_back_as_end(&mut self, token: &Token) {
        if let Some(last) = &mut self.token
            && last.id == token.id
        {
            last.kind = Kind::End;
        }
        self.is_pushed = true;
    }

    pub(super) fn warn(&mut self) {
        self.lexer.warn();
    }

    /// A token that belongs nowhere. Behind a form that ended at a wrong place it does not count.
    pub(super) fn discard(&mut self) {
        if !self.lexer.has_bad_form {
            self.lexer.warn();
        }
    }

    /// A form ends where it does not belong.
    pub(super) fn bad_form(&mut self) {
        self.lexer.has_bad_form = true;
        self.lexer.error();
    }

    /// Whether an element is in one of this kind. What is not known counts as being in the document.
    pub(super) fn is_in(&self, node: usize, tag: Option<Tag>) -> Result<bool, ExtractError> {
        let mut at = node;
        while at != DOCUMENT {
            self.fuel.burn(1)?;
            at = self.nodes[at].parent;
            if self.nodes[at].tag == tag {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The tag of the element that is being read.
    pub(super) fn tag_of(&self, node: usize) -> Tag {
        // Only the document has none, and what it has in it is not read by rules that ask.
        self.nodes[node].tag.unwrap_or(Tag::Html)
    }

    /// Adds a child at the end of an element.
    pub(super) fn append(&mut self, node: usize, child: Child) {
        let children = &mut self.nodes[node].children;
        children.push(child);
        if children.len() > CHILDREN {
            children.drain(KEPT_CHILDREN..CHILDREN - KEPT_CHILDREN);
        }
    }

    pub(super) fn append_token(&mut self, node: usize, token: &Token) {
        self.append(node, Child::of(token));
    }

    /// Adds what may stand anywhere. Whether it was that.
    pub(super) fn append_misc(&mut self, node: usize, token: &Token) -> bool {
        let is_misc = token.kind == Kind::Misc;
        if is_misc {
            self.append(node, Child::Other);
        }
        is_misc
    }

    /// Adds what may stand anywhere, and leaves out what else is neither text nor an element that is known. Whether it was
    /// one of these.
    pub(super) fn append_misc_or_discard(&mut self, node: usize, token: &Token) -> bool {
        if self.append_misc(node, token) {
            return true;
        }
        let is_unknown = token.tag.is_none() && token.kind != Kind::Text;
        if is_unknown {
            self.discard();
        }
        is_unknown
    }

    /// Puts a child in front of an element.
    pub(super) fn insert_before(&mut self, node: usize, child: Child) {
        let Node { id, parent, .. } = self.nodes[node];
        let at = self.place_of(parent, id).unwrap_or(self.nodes[parent].children.len());
        self.nodes[parent].children.insert(at, child);
    }

    /// Where an element stands among the children of another.
    pub(super) fn place_of(&self, parent: usize, wanted: u32) -> Option<usize> {
        self.nodes[parent]
            .children
            .iter()
            .rposition(|child| matches!(child, Child::Element { id, .. } if *id == wanted))
    }

    pub(super) fn remove(&mut self, node: usize) {
        let Node { id, parent, .. } = self.nodes[node];
        if let Some(at) = self.place_of(parent, id) {
            self.nodes[parent].children.remove(at);
        }
    }

    /// Begins to read the content of an element that is a child already.
    pub(super) fn enter(
        &mut self,
        parent: usize,
        token: &Token,
        mode: Mode,
        after: After,
    ) -> Visit {
        let Some(tag) = token.tag else { return Ok(()) };
        if tag.is(EMPTY) {
            self.lexer.was_white = false;
        } else if !tag.is(INLINE) {
            self.lexer.owes_space = false;
        }
        let nodes = self.nodes.len();
        self.nodes.push(Node::of(token, parent));
        let rule = tag.element().rule;
        if token.kind == Kind::StartEnd {
            self.trim_if_empty(nodes);
            self.nodes.truncate(nodes);
            return self.leave(after);
        }
        self.open(nodes, rule, mode, after, nodes)
    }

    /// Adds a child at the end of an element, and begins to read its content.
    pub(super) fn enter_child(&mut self, parent: usize, token: &Token, mode: Mode) -> Visit {
        self.append_token(parent, token);
        self.enter(parent, token, mode, After::Nothing)
    }

    /// Begins to read the content of a node.
    pub(super) fn open(
        &mut self,
        node: usize,
        rule: Rule,
        mode: Mode,
        after: After,
        nodes: usize,
    ) -> Visit {
        if self.frames.len() >= DEPTH_LIMIT {
            return Err(ExtractError::TooDeep { limit: DEPTH_LIMIT });
        }
        let frame = Frame {
            node,
            rule,
            mode,
            may_inherit: true,
            outer_base: self.base,
            after,
            nodes,
            step: 0,
            titles: 0,
            bases: 0,
        };
        self.frames.push(frame);
        self.begin()
    }

    /// Ends the element that is being read.
    pub(super) fn close(&mut self) -> Visit {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let Node { id, parent, ref children, .. } = self.nodes[frame.node];
        let has_children = !children.is_empty();
        let place = self.place_of(parent, id);
        if has_children
            && let Some(at) = place
            && let Child::Element { is_empty, .. } = &mut self.nodes[parent].children[at]
        {
            *is_empty = false;
        }
        if place.is_none()
            && frame.after == After::Center
            && let Some(list) = self.frames.last()
        {
            // What it was put behind is not there any more, and so is in nothing.
            self.nodes[list.node].parent = DOCUMENT;
        }
        self.nodes.truncate(frame.nodes);
        self.leave(frame.after)
    }

    fn leave(&mut self, after: After) -> Visit {
        match after {
            After::Nothing | After::Center => {}
            After::Exile => self.is_exiled = false,
            After::Cell(keeps_blocks_out) => {
                self.keeps_blocks_out = keeps_blocks_out;
                self.pop_to_base();
            }
            After::Noframes(body_had_ended) => {
                if body_had_ended {
                    self.warn();
                }
            }
        }
        Ok(())
    }

    /// Takes an element out that has nothing in it, if it may not be so.
    pub(super) fn trim_if_empty(&mut self, node: usize) {
        if !self.nodes[node].children.is_empty() {
            return;
        }
        let Node { tag: Some(tag), given, id, .. } = self.nodes[node] else { return };
        let stays = tag == Tag::A && given.any
            || tag.is(ROW | EMPTY)
            || matches!(tag, Tag::Applet | Tag::Object | Tag::Title | Tag::Iframe)
            || tag == Tag::Script && given.src
            || given.id_or_name;
        if !stays {
            self.warn();
            self.remove(node);
        } else if tag == Tag::P {
            // It becomes two breaks.
            self.warn();
            let parent = self.nodes[node].parent;
            if let Some(at) = self.place_of(parent, id) {
                self.nodes[parent].children.insert(at + 1, Child::Other);
            }
        }
    }

    /// Takes the spaces off the text that an element begins and ends with.
    pub(super) fn trim_spaces(&mut self, node: usize) {
        if self.nodes[node].tag != Some(Tag::Pre)
            && let Some(Child::Text { start, end }) = self.nodes[node].children.first().copied()
            && let Some(text) = self.without_first_space(node, start, end)
        {
            self.nodes[node].children[0] = text;
        }
        let Some(Child::Text { start, mut end }) = self.nodes[node].children.last().copied() else {
            return;
        };
        if end > start && self.lexer.kept_at(end - 1) == b' ' {
            end -= 1;
            if self.tag_of(node).is(INLINE) && !self.tag_of(node).is(FIELD) {
                self.lexer.owes_space = true;
            }
        }
        let children = &mut self.nodes[node].children;
        children.pop();
        if start < end {
            children.push(Child::Text { start, end });
        }
    }

    /// A text without the space that it begins with, if it does. That of an inline element goes in front of it.
    fn without_first_space(&mut self, node: usize, start: usize, end: usize) -> Option<Child> {
        if start >= end || self.lexer.kept_at(start) != b' ' {
            return None;
        }
        let tag = self.tag_of(node);
        let Node { id, parent, .. } = self.nodes[node];
        if tag.is(INLINE)
            && !tag.is(FIELD)
            && let Some(at) = self.place_of(parent, id).filter(|at| *at > 0)
        {
            match self.nodes[parent].children[at - 1] {
                Child::Text { start, end } => {
                    if end > start && self.lexer.kept_at(end - 1) != b' ' {
                        if let Some(byte) = self.lexer.kept.get_mut(end) {
                            *byte = b' ';
                        }
                        self.nodes[parent].children[at - 1] = Child::Text { start, end: end + 1 };
                    }
                }
                _ => {
                    let space = Child::Text { start, end: start + 1 };
                    self.nodes[parent].children.insert(at, space);
                }
            }
        }
        Some(Child::Text { start: start + 1, end })
    }

    /// Ends an element, which is taken out if it has nothing in it.
    pub(super) fn close_empty(&mut self, node: usize) -> Visit {
        self.trim_if_empty(node);
        self.close()
    }

    /// Ends an element, of which spaces are taken off.
    pub(super) fn close_spaced(&mut self, node: usize) -> Visit {
        self.trim_spaces(node);
        self.close()
    }

    /// Ends an element by a tag that is not its own: spaces are taken off, and it is taken out if nothing is left.
    pub(super) fn close_trimmed(&mut self, node: usize) -> Visit {
        self.trim_spaces(node);
        self.close_empty(node)
    }

    /// Whether an element needs its end tag.
    pub(super) fn needs_end(&self, node: usize) -> bool {
        !self.tag_of(node).is(OPT)
    }

    /// Whether a token is of an element that is inline, or a block.
    pub(super) fn is_flow(token: &Token) -> bool {
        token.is(BLOCK | INLINE)
    }
}

impl Child {
    pub(super) fn of(token: &Token) -> Child {
        match (token.kind, token.tag) {
            (Kind::Text, _) => Child::Text { start: token.start, end: token.end },
            (_, Some(tag)) => Child::Element { id: token.id, tag, is_empty: true },
            _ => Child::Other,
        }
    }
}

impl Node {
    pub(super) fn of(token: &Token, parent: usize) -> Node {
        let Token { tag, implicit, given, id, .. } = *token;
        Node { id, tag, was: None, parent, children: Vec::new(), implicit, given }
    }
}
