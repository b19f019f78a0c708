//! Reads pages whose tags need no repair, which most pages are, straight into a tree: in one pass,
//! because none of their nodes moves once it is there. It does what the standard says (WHATWG
//! HTML, 13.2) and leaves to the full algorithm every page that it would have to do more for:
//! formatting elements that go on behind the end of their parent, content that a table does not
//! allow, tables and forms across templates, formulas, HTML in drawings, frames, tags that never end.

mod body;
mod kinds;
mod references;
mod rules;
mod svg;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::Range;

use memchr::memchr;

use super::super::builder::Builder;
use super::super::dialect::Dialect;
use super::super::limits::DEPTH_LIMIT;
use super::super::tree::{NameId, NodeId, Tree};
use kinds::{KINDS, Kind};

/// Looks at open elements that a page may take, beyond those that its length allows.
const BASE_STEPS: usize = 100_000;
/// The same for each byte of the page. Usual pages take a fraction of one.
const STEPS_PER_BYTE: usize = 4;

/// The page needs the full algorithm.
#[derive(Debug)]
struct Unusual;

/// Reads a page; `None` if it needs the full algorithm, or has more of something than is read.
pub(super) fn parse(html: &str, scripting: bool) -> Option<Tree> {
    let html = html.strip_prefix('\u{FEFF}').unwrap_or(html);
    if memchr(b'\0', html.as_bytes()).is_some() {
        return None;
    }
    let read = match memchr(b'\r', html.as_bytes()) {
        Some(_) => Reader::new(&with_line_feeds(html), scripting).read(),
        None => Reader::new(html, scripting).read(),
    };
    read.ok()
}

/// A text whose lines end with line feeds.
fn with_line_feeds(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((line, behind)) = rest.split_once('\r') {
        out.push_str(line);
        out.push('\n');
        rest = behind.strip_prefix('\n').unwrap_or(behind);
    }
    out.push_str(rest);
    out
}

/// What is expected next: the insertion mode (WHATWG HTML, 13.2.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    /// Where a template has no tag yet that says what it is a part of.
    InTemplate,
    AfterBody,
    AfterAfterBody,
}

/// Whether a table in a paragraph is within it, as it is in pages without a document type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirks {
    Yes,
    No,
    /// Where the document type is neither missing nor that of HTML today.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    name: NameId,
    kind: Kind,
}

/// A tag whose name has been read.
#[derive(Debug, Clone, Copy)]
struct Tag<'h> {
    /// The name as it is written.
    written: &'h str,
    name: NameId,
    kind: Kind,
}

/// A page, how far it has been read, and its tree so far.
struct Reader<'h> {
    html: &'h str,
    at: usize,
    scripting: bool,
    builder: Builder,
    /// The kinds of names, as far as they are known.
    kinds: Vec<Kind>,
    mode: Mode,
    quirks: Quirks,
    /// The open elements, without the document.
    stack: Vec<Open>,
    /// How many of each kind are open: most of them need not be looked for.
    counts: [u32; KINDS],
    /// The form that has begun and not ended, whether it is open or not.
    form: Option<NodeId>,
    /// What was expected where the templates that are open began.
    around_templates: Vec<Mode>,
    /// A line feed that comes next is no part of the text.
    skips_line_feed: bool,
    /// Comments behind the body, which come behind all that is still put into it, and those
    /// behind the document.
    after_body: Vec<Range<usize>>,
    after_html: Vec<Range<usize>>,
    /// A text whose references are being resolved.
    decoded: String,
    steps: usize,
}

impl<'h> Reader<'h> {
    fn new(html: &'h str, scripting: bool) -> Self {
        Reader {
            html,
            at: 0,
            scripting,
            builder: Builder::new(Dialect::Html, html.len()),
            kinds: Vec::new(),
            mode: Mode::Initial,
            quirks: Quirks::Yes,
            stack: Vec::with_capacity(32),
            counts: [0; KINDS],
            form: None,
            around_templates: Vec::new(),
            skips_line_feed: false,
            after_body: Vec::new(),
            after_html: Vec::new(),
            decoded: String::new(),
            steps: BASE_STEPS + STEPS_PER_BYTE * html.len(),
        }
    }

    fn read(mut self) -> Result<Tree, Unusual> {
        while self.at < self.html.len() {
            self.token()?;
            self.builder.check().map_err(|_| Unusual)?;
        }
        self.begin_body()?;
        if self.mode == Mode::InHeadNoscript || !self.around_templates.is_empty() {
            return Err(Unusual);
        }
        // The comments behind the body belong to <html>, which is open to the end.
        self.close_all_from(1);
        for comment in std::mem::take(&mut self.after_body) {
            self.builder.comment(&self.html[comment]);
        }
        self.close_all_from(0);
        for comment in std::mem::take(&mut self.after_html) {
            self.builder.comment(&self.html[comment]);
        }
        self.builder.finish().map_err(|_| Unusual)
    }

    /// The innermost open element. There is none before `<html>`.
    fn current(&self) -> Option<Open> {
        self.stack.last().copied()
    }

    /// Opens an element whose attributes, if it has any, come next.
    fn open(&mut self, name: NameId, kind: Kind) -> Result<(), Unusual> {
        self.open_empty(name)?;
        self.stack.push(Open { name, kind });
        self.counts[kind as usize] += 1;
        Ok(())
    }

    /// The same for an element that is closed before another one is opened.
    fn open_empty(&mut self, name: NameId) -> Result<(), Unusual> {
        if self.stack.len() >= DEPTH_LIMIT {
            return Err(Unusual);
        }
        self.builder.open_with(name, self.builder.tree.attributes.len() as u32, 0);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(closed) = self.stack.pop() {
            self.counts[closed.kind as usize] -= 1;
            self.builder.close();
        }
    }

    /// Closes an open element, by its place, and all in it.
    fn close_all_from(&mut self, place: usize) {
        while self.stack.len() > place {
            self.close();
        }
    }

    /// The same, where formatting elements in it would go on behind it.
    fn close_from(&mut self, place: usize) -> Result<(), Unusual> {
        let within = self.stack.get(place + 1..).unwrap_or_default();
        if within.iter().any(|open| open.kind.has(kinds::FORMATTING)) {
            return Err(Unusual);
        }
        self.close_all_from(place);
        Ok(())
    }

    /// The place of the innermost open element that is `wanted`, unless an element with one of the
    /// properties `bounds` is around all that is looked at.
    fn find(
        &mut self,
        bounds: u8,
        wanted: impl Fn(Open) -> bool,
    ) -> Result<Option<usize>, Unusual> {
        for (place, open) in self.stack.iter().enumerate().rev() {
            self.steps = self.steps.checked_sub(1).ok_or(Unusual)?;
            if wanted(*open) {
                return Ok(Some(place));
            }
            if open.kind.has(bounds) {
                break;
            }
        }
        Ok(None)
    }

    /// The same by kind. Most kinds are not open at all.
    fn find_kind(&mut self, bounds: u8, kind: Kind) -> Result<Option<usize>, Unusual> {
        match self.counts[kind as usize] {
            0 => Ok(None),
            _ => self.find(bounds, |open| open.kind == kind),
        }
    }
}
