//! What a page is made of, as its tokenizer gives it.

use super::elements::{EMPTY, Tag};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Start,
    End,
    /// A start tag that ends with `/>`.
    StartEnd,
    DocType,
    /// A comment, an instruction, a section: it may stand anywhere.
    Misc,
}

/// What of the attributes of a tag the structure of a page depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Given {
    pub(super) any: bool,
    pub(super) id_or_name: bool,
    pub(super) src: bool,
    /// There is an `xmlns`, and it is not that of XHTML.
    pub(super) other_namespace: bool,
    /// In XML: white space is kept.
    pub(super) keeps_space: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The element of a tag, if it is known. In XML none is.
    pub(super) tag: Option<Tag>,
    /// Of a text: where it stands in what the tokenizer keeps. Of a tag: where its name stood.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is not in the page, but follows from what is.
    pub(super) implicit: bool,
    /// The number of the token.
    pub(super) id: u32,
    pub(super) given: Given,
    /// In XML: the number of the name of a tag.
    pub(super) name: u32,
}

impl Token {
    pub(super) fn is_start(&self, tag: Tag) -> bool {
        self.kind == Kind::Start && self.tag == Some(tag)
    }

    pub(super) fn is_end(&self, tag: Tag) -> bool {
        self.kind == Kind::End && self.tag == Some(tag)
    }

    /// Whether it begins an element, which may be ended at once.
    pub(super) fn begins(&self) -> bool {
        matches!(self.kind, Kind::Start | Kind::StartEnd)
    }

    /// Whether its element is of one of these kinds.
    pub(super) fn is(&self, kinds: u32) -> bool {
        self.tag.is_some_and(|tag| tag.is(kinds))
    }

    /// Whether something stands between it and its end tag.
    pub(super) fn expects_content(&self) -> bool {
        self.kind == Kind::Start && !self.is(EMPTY)
    }
}
