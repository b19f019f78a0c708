//! HTML into a tree, by the algorithm that browsers follow, so that every text is a page. Pages that
//! need no repair are read by `quick`; all others by html5ever. Two things html5ever does not bound
//! are bounded here: nesting and attributes, in both of which it takes quadratic time.

mod flatten;
mod page;
mod quick;
mod sink;

use std::cell::Cell;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::limits::{ATTRIBUTES_LIMIT, too_many_attributes};
use super::tree::Tree;
use crate::error::ExtractError;
use page::Page;

/// The parser is fed in pieces of at most this size and looked at in between.
const PIECE: usize = 4096;

/// Reads a page. Without scripting, what is in `<noscript>` is part of it.
pub(super) fn parse(html: &str, scripting: bool) -> Result<Tree, ExtractError> {
    quick::parse(html, scripting).map_or_else(|| parse_any(html, scripting), Ok)
}

/// Reads a page, whatever is in it.
fn parse_any(html: &str, scripting: bool) -> Result<Tree, ExtractError> {
    let options = TreeBuilderOpts { scripting_enabled: scripting, ..Default::default() };
    let builder = TreeBuilder::new(Page::new(html.len()), options);
    let tokens = Counted { builder, count: Cell::new(0) };
    let tokenizer = Tokenizer::new(tokens, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut unfinished = Unfinished::default();
    for piece in pieces(html) {
        let before = tokenizer.sink.count.get();
        input.push_back(piece.clone());
        // It stops at scripts and at a <meta> that names an encoding, to let a browser act.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.sink.page().check()?;
        unfinished.check(&piece, tokenizer.sink.count.get() > before)?;
    }
    tokenizer.end();
    let page = tokenizer.sink.builder.sink;
    page.check()?;
    page.flatten()
}

/// Cuts a text before each `<` and after [`PIECE`] bytes, so that a token that spans pieces
/// begins with one.
fn pieces(html: &str) -> impl Iterator<Item = StrTendril> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let limit = rest.floor_char_boundary(PIECE);
        // The first byte may be the `<` at which the last piece ended.
        let after_first = rest.as_bytes().get(1..limit)?;
        let length = memchr::memchr(b'<', after_first).map_or(limit, |at| at + 1);
        let (piece, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(StrTendril::from_slice(piece))
    })
}

/// Counts the words of a tag whose end has not come. Each may be an attribute, which html5ever
/// compares with all attributes before it.
#[derive(Default)]
struct Unfinished {
    words: usize,
    kind: UnfinishedKind,
}

#[derive(Default, PartialEq)]
enum UnfinishedKind {
    #[default]
    Nothing,
    Tag,
    Comment,
}

impl Unfinished {
    /// Takes note of a piece, and whether a token ended in it.
    fn check(&mut self, piece: &str, ended: bool) -> Result<(), ExtractError> {
        if ended {
            *self = Unfinished::default();
            return Ok(());
        }
        if self.kind == UnfinishedKind::Nothing {
            let comment = piece.starts_with("<!") || piece.starts_with("<?");
            self.kind = if comment { UnfinishedKind::Comment } else { UnfinishedKind::Tag };
        }
        if self.kind == UnfinishedKind::Tag {
            let separators = piece.bytes().filter(|b| b" \n\r\t\x0C/\"'".contains(b));
            self.words += separators.count();
        }
        // A tag of usual attributes has two or three separators each, their values some more.
        if self.words > 8 * ATTRIBUTES_LIMIT {
            return Err(too_many_attributes());
        }
        Ok(())
    }
}

/// The tree builder, and how many tokens it was given.
struct Counted {
    builder: TreeBuilder<usize, Page>,
    count: Cell<u64>,
}

impl Counted {
    fn page(&self) -> &Page {
        &self.builder.sink
    }
}

impl TokenSink for Counted {
    type Handle = usize;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<usize> {
        match &token {
            Token::ParseError(_) => {}
            Token::TagToken(tag) if tag.attrs.len() > ATTRIBUTES_LIMIT => {
                self.page().fail(too_many_attributes());
            }
            Token::TagToken(tag) => {
                self.page().burn(tag.attrs.len());
                self.count.set(self.count.get() + 1);
            }
            _ => self.count.set(self.count.get() + 1),
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
