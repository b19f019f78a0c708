//! A selector that has been read.

/// A sequence of compounds joined by combinators, such as `ul > li.new a`. In `:has(…)` the first
/// one is joined to the element that has it.
#[derive(Debug, Clone)]
pub(super) struct Complex(pub(super) Vec<Compound>);

/// What one element must be, and how it stands to the compound before.
#[derive(Debug, Clone)]
pub(super) struct Compound {
    pub(super) combinator: Combinator,
    pub(super) tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    NextSibling,
    LaterSibling,
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    Name(Name),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        value: Option<(Operator, String)>,
        case: Case,
    },
    Is(Vec<Complex>),
    Not(Vec<Complex>),
    Has(Vec<Complex>),
    /// It is number `step * n + offset`, for some n from 0.
    Nth {
        step: i64,
        offset: i64,
        from_end: bool,
        among: Among,
    },
    Root,
    Empty,
    /// It is of HTML, and not of another language.
    Html,
    /// One of the texts is in its text, or in that of its own text nodes.
    Contains {
        texts: Vec<String>,
        own: bool,
    },
    /// It is in one of the languages, as RFC 4647 compares them.
    Language(Vec<String>),
    Direction(Direction),
    /// Its value is between `min` and `max`, or not.
    InRange(bool),
    /// It is no element that only a script can define.
    Defined,
    /// The first button that sends its form.
    DefaultButton,
    /// A radio button of whose group none is checked.
    UncheckedGroup,
}

/// Among which of its siblings an element is counted.
#[derive(Debug, Clone)]
pub(super) enum Among {
    All,
    SameName,
    /// Those that match a selector, as it does itself.
    Matching(Vec<Complex>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    LeftToRight,
    RightToLeft,
}

/// Whether the case of an attribute's value matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    Ignored,
    IgnoredInHtml,
}

#[derive(Debug, Clone)]
pub(super) enum Name {
    Local(String),
    /// As written in the document, with or without a prefix.
    Full(String),
    Prefix(String),
}

/// How the value of an attribute is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equals,
    /// One of the words in it.
    Word,
    /// Itself, or followed by a hyphen.
    Language,
    Prefix,
    Suffix,
    Substring,
}
