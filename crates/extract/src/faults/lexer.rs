//! A page as tokens, with the faults of each. What follows from the order of tokens is not looked at here.

use std::collections::HashMap;

use super::MarkupFormat;
use super::elements::{INLINE, Tag};
use super::input::{HALF, Input, is_name, is_white};
use super::token::{Given, Kind, Token};
use super::versions::{ALL, PROPRIETARY};
use crate::ExtractError;

/// How white space and tags in a text are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// White space in front of a text is left out.
    SkipSpace,
    /// All white space between two words is one space.
    Mixed,
    /// White space is kept.
    Preformatted,
}

/// What the tokenizer is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LexerState {
    Content,
    /// Behind `<`.
    Opened,
    EndTag,
    StartTag,
    Comment,
    DocType,
    Instruction,
    /// `<![CDATA[`.
    CData,
    /// `<![`.
    Section,
    /// `<%`, `<#`, `<?php`: the character that stands before `>` at its end.
    Server(char),
    /// `<?xml `.
    Declaration,
}

/// What goes on behind a character.
pub(super) enum LexerStep {
    On,
    Token(Token),
}

pub(super) struct Lexer<'t> {
    pub(super) input: Input<'t>,
    /// The texts of the page, and behind them what is being read.
    pub(super) kept: Vec<u8>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) state: LexerState,
    pub(super) was_white: bool,
    /// A space belongs before the next text: it was taken off the end of an element.
    pub(super) owes_space: bool,
    /// Names are as they are written, and no element is known.
    pub(super) is_xml: bool,
    /// What comes out is to be XML.
    pub(super) makes_xml: bool,
    /// The page says by its name space that it is XHTML.
    pub(super) is_xhtml: bool,
    pub(super) errors: u32,
    pub(super) warnings: u32,
    /// A form ended at a wrong place: what is discarded from here on does not count.
    pub(super) has_bad_form: bool,
    pub(super) comment_is_bad: bool,
    pub(super) in_subset: bool,
    /// The versions of HTML that the page can be.
    pub(super) versions: u16,
    /// The version that its document type names, or 0.
    pub(super) declared: u16,
    pub(super) declared_badly: bool,
    pub(super) anchors: HashMap<String, u32>,
    pub(super) names: HashMap<Vec<u8>, u32>,
    ids: u32,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, format: MarkupFormat) -> Self {
        Lexer {
            input: Input::new(text),
            kept: Vec::new(),
            start: 0,
            end: 0,
            state: LexerState::Content,
            was_white: false,
            owes_space: false,
            is_xml: format == MarkupFormat::Xml,
            makes_xml: format != MarkupFormat::Html,
            is_xhtml: false,
            errors: 0,
            warnings: 0,
            has_bad_form: false,
            comment_is_bad: false,
            in_subset: false,
            versions: ALL | PROPRIETARY,
            declared: 0,
            declared_badly: false,
            anchors: HashMap::new(),
            names: HashMap::new(),
            ids: 0,
        }
    }

    pub(super) fn error(&mut self) {
        self.errors = self.errors.saturating_add(1);
    }

    pub(super) fn warn(&mut self) {
        self.warnings = self.warnings.saturating_add(1);
    }

    /// Narrows the versions of HTML that the page can be.
    pub(super) fn narrow(&mut self, versions: u16) {
        self.versions &= versions | PROPRIETARY;
    }

    /// A byte of what is kept, or 0 behind it.
    pub(super) fn kept_at(&self, at: usize) -> u8 {
        self.kept.get(at).copied().unwrap_or(0)
    }

    pub(super) fn push(&mut self, c: char) {
        let is_xml = matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}');
        if !self.makes_xml || is_xml {
            self.kept.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Takes off what was kept last.
    pub(super) fn drop_last(&mut self, bytes: usize) {
        self.kept.truncate(self.kept.len().saturating_sub(bytes));
    }

    pub(super) fn token(&mut self, kind: Kind) -> Token {
        self.ids += 1;
        let (start, end) = (self.start, self.end);
        let given = Given::default();
        Token { kind, tag: None, start, end, implicit: false, id: self.ids, given, name: 0 }
    }

    /// A start tag that is not in the page.
    pub(super) fn inferred(&mut self, tag: Tag) -> Token {
        Token { tag: Some(tag), implicit: true, ..self.token(Kind::Start) }
    }

    /// The next token.
    pub(super) fn next(&mut self, mode: Mode) -> Result<Option<Token>, ExtractError> {
        let mut mode = mode;
        self.was_white = false;
        self.start = self.kept.len();
        self.end = self.start;
        self.comment_is_bad = false;
        self.in_subset = false;
        while let Some(c) = self.input.read() {
            if self.owes_space {
                if mode != Mode::SkipSpace {
                    self.push(' ');
                }
                self.was_white = true;
                self.owes_space = false;
            }
            self.push(c);
            let step = match self.state {
                LexerState::Content => self.in_content(c, &mut mode),
                LexerState::Opened => self.behind_opening(c, &mut mode),
                LexerState::EndTag => self.in_end_tag(),
                LexerState::StartTag => self.in_start_tag(mode)?,
                LexerState::Comment => self.in_comment(c),
                LexerState::DocType => self.in_doctype(c),
                LexerState::Instruction => self.in_instruction(c),
                LexerState::CData => self.in_cdata(c),
                LexerState::Section => self.in_section(c),
                LexerState::Server(mark) => self.in_server_code(c, mark),
                LexerState::Declaration => self.in_declaration(c)?,
            };
            if let LexerStep::Token(token) = step {
                return Ok(Some(token));
            }
        }
        Ok(self.at_end())
    }

    /// What is left at the end of the page.
    fn at_end(&mut self) -> Option<Token> {
        self.end = self.kept.len();
        match self.state {
            LexerState::Content if self.end > self.start => {
                self.input.put_back(None);
                if self.kept_at(self.end - 1) == b' ' {
                    self.drop_last(1);
                    self.end -= 1;
                }
                Some(self.token(Kind::Text))
            }
            LexerState::Comment => {
                self.warn();
                self.state = LexerState::Content;
                self.was_white = false;
                Some(self.token(Kind::Misc))
            }
            _ => None,
        }
    }

    fn in_content(&mut self, c: char, mode: &mut Mode) -> LexerStep {
        if is_white(c) && *mode == Mode::SkipSpace && self.kept.len() == self.start + 1 {
            self.drop_last(1);
            self.was_white = false;
            return LexerStep::On;
        }
        if c == '<' {
            self.state = LexerState::Opened;
            return LexerStep::On;
        }
        if is_white(c) {
            let keeps = *mode == Mode::Preformatted;
            if !self.was_white {
                self.was_white = true;
                if !keeps && let Some(last) = self.kept.last_mut() {
                    *last = b' ';
                }
            } else if !keeps {
                self.drop_last(1);
            }
            return LexerStep::On;
        }
        if c == '&' {
            self.entity(*mode == Mode::Preformatted);
        }
        if *mode == Mode::SkipSpace {
            *mode = Mode::Mixed;
        }
        self.was_white = false;
        LexerStep::On
    }

    /// Ends the text before a tag, whose first bytes are taken off what is kept.
    fn text_before(&mut self, bytes: usize, state: LexerState) -> LexerStep {
        self.drop_last(bytes);
        self.end = self.kept.len();
        self.state = state;
        if self.end > self.start {
            return LexerStep::Token(self.token(Kind::Text));
        }
        self.start = self.kept.len();
        LexerStep::On
    }

    fn behind_opening(&mut self, c: char, mode: &mut Mode) -> LexerStep {
        match c {
            '/' => return self.behind_slash(*mode),
            '!' => return self.behind_mark(mode),
            '?' => return self.text_before(2, LexerState::Instruction),
            '%' => return self.text_before(2, LexerState::Server('%')),
            '#' => return self.text_before(2, LexerState::Server('#')),
            c if c.is_ascii_alphabetic() => {
                self.input.put_back(Some(c));
                return self.text_before(2, LexerState::StartTag);
            }
            _ => {}
        }
        self.state = LexerState::Content;
        self.was_white = false;
        LexerStep::On
    }

    fn behind_slash(&mut self, mode: Mode) -> LexerStep {
        let Some(c) = self.input.read() else {
            self.input.put_back(None);
            return LexerStep::On;
        };
        self.push(c);
        if !c.is_ascii_alphabetic() {
            self.was_white = false;
            self.state = LexerState::Content;
            return LexerStep::On;
        }
        self.input.put_back(Some(c));
        self.drop_last(3);
        self.end = self.kept.len();
        self.state = LexerState::EndTag;
        if self.end == self.start {
            return LexerStep::On;
        }
        if mode == Mode::SkipSpace && self.kept_at(self.end - 1) == b' ' {
            self.drop_last(1);
            self.end -= 1;
        }
        LexerStep::Token(self.token(Kind::Text))
    }

    fn behind_mark(&mut self, mode: &mut Mode) -> LexerStep {
        match self.input.read() {
            Some('-') => {
                if self.input.take('-') {
                    return self.text_before(2, LexerState::Comment);
                }
                // The character behind the first `-` goes with it.
                self.input.read();
                self.warn();
            }
            Some('d' | 'D') => {
                *mode = Mode::SkipSpace;
                self.skip_doctype_word();
                return self.text_before(2, LexerState::DocType);
            }
            Some('[') => return self.text_before(2, LexerState::Section),
            _ => {}
        }
        while !matches!(self.input.read(), Some('>') | None) {}
        self.drop_last(2);
        self.state = LexerState::Content;
        LexerStep::On
    }

    /// Goes to what stands behind `DOCTYPE` and white space.
    fn skip_doctype_word(&mut self) {
        let mut is_behind = false;
        loop {
            match self.input.read() {
                end @ (None | Some('>')) => return self.input.put_back(end),
                Some(c) if is_white(c) => is_behind = true,
                other if is_behind => return self.input.put_back(other),
                _ => {}
            }
        }
    }

    /// The name of a tag, whose first letter is kept already. What stands behind it is read.
    fn tag_name(&mut self) -> Option<char> {
        if !self.is_xml
            && let Some(first) = self.kept.last_mut()
        {
            first.make_ascii_lowercase();
        }
        loop {
            let c = self.input.read();
            match c {
                Some(c) if is_name(c) => {
                    self.push(if self.is_xml { c } else { c.to_ascii_lowercase() });
                }
                c => {
                    self.end = self.kept.len();
                    return c;
                }
            }
        }
    }

    /// The tag whose name has just been read.
    fn tag(&mut self, kind: Kind) -> Token {
        let mut token = self.token(kind);
        let name = &self.kept[self.start..self.end];
        if self.is_xml {
            let number = self.names.len() as u32;
            let known = self.names.get(name).copied();
            token.name = known.unwrap_or_else(|| {
                self.names.insert(name.to_vec(), number);
                number
            });
            token.given.keeps_space = ["pre", "script", "style", "xsl:text"]
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
                || matches!(name, b"listing" | b"xmp" | b"plaintext");
        } else {
            token.tag = Tag::of(name);
        }
        token
    }

    fn in_end_tag(&mut self) -> LexerStep {
        self.start = self.kept.len() - 1;
        // Where the page ends right behind the name, there is a character that is none.
        let mut c = self.tag_name().or(Some(HALF));
        let token = self.tag(Kind::End);
        self.kept.truncate(self.start);
        self.end = self.start;
        while c.is_some_and(is_white) {
            c = self.input.read();
        }
        if c != Some('>') {
            self.input.put_back(c);
            self.error();
        }
        if c.is_none() {
            return LexerStep::On;
        }
        self.state = LexerState::Content;
        self.was_white = false;
        LexerStep::Token(token)
    }

    fn in_start_tag(&mut self, mode: Mode) -> Result<LexerStep, ExtractError> {
        self.start = self.kept.len() - 1;
        let c = self.tag_name();
        let mut token = self.tag(Kind::Start);
        let mut list = Vec::new();
        if c != Some('>') {
            if c == Some('/') {
                self.input.put_back(c);
            }
            let mut is_empty = false;
            list = self.attributes(&mut is_empty)?;
            if is_empty {
                token.kind = Kind::StartEnd;
            }
        }
        self.note(&mut token, &list);
        self.kept.truncate(self.start);
        self.end = self.start;
        self.was_white = false;
        if (mode != Mode::Preformatted || may_be_preformatted(&token))
            && (token.expects_content() || token.tag == Some(Tag::Br))
        {
            let c = self.input.read();
            if !matches!(c, Some('\n' | '\x0C')) {
                self.input.put_back(c);
            }
            self.was_white = true;
        }
        self.state = LexerState::Content;
        if !self.is_xml {
            self.judge(&token, &list);
        }
        Ok(LexerStep::Token(token))
    }
}

/// Whether an element may stand in a preformatted one.
pub(super) fn may_be_preformatted(token: &Token) -> bool {
    token.tag == Some(Tag::P) || token.is(INLINE)
}
