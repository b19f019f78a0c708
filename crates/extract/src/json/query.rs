//! A JSON path that has been read: its segments, selectors and filters.

use regex_automata::meta;
use serde_json::Value;

/// A query: from the root (`$`) or from the value that a filter looks at (`@`).
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) from_root: bool,
    pub(super) segments: Vec<Segment>,
}

impl Query {
    /// Whether it selects one value at most, whatever the document.
    pub(super) fn is_singular(&self) -> bool {
        self.segments.iter().all(Segment::is_singular)
    }
}

/// One step down: what it selects of each value, or of each value and all that is in it (`..`).
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) descendants: bool,
    pub(super) selectors: Vec<Selector>,
}

impl Segment {
    pub(super) fn is_singular(&self) -> bool {
        !self.descendants && matches!(&*self.selectors, [Selector::Name(_) | Selector::Index(_)])
    }
}

#[derive(Debug, Clone)]
pub(super) enum Selector {
    Name(String),
    Wildcard,
    /// From the end if negative.
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Test, Tested),
}

/// Which values a filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tested {
    /// What is in an array or object: `[?test]`.
    Children,
    /// The elements of an array, or an object itself: `[??test]`.
    Items,
    /// An object itself, which is what `..[??test]` comes to, as it looks at each value once.
    Objects,
}

/// What a filter asks of a value.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Any(Vec<Test>),
    All(Vec<Test>),
    Not(Box<Test>),
    Exists(Query),
    Compare(Operand, Comparison, Operand),
    /// `match` (the whole text) and `search` (a part of it).
    Matches {
        text: Operand,
        pattern: TextPattern,
        whole: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value in a comparison, or nothing.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Literal(Value),
    Query(Query),
    Length(Box<Operand>),
    /// A text, or that of a number or boolean.
    Text(Box<Operand>),
    Count(Query),
    /// The value of a query that selects exactly one.
    Value(Query),
}

#[derive(Debug, Clone)]
pub(super) enum TextPattern {
    Fixed(meta::Regex),
    /// Taken from the document.
    Computed(Operand),
}

/// Compiles the pattern of `match` or `search`; `None` if it is not a regular expression.
pub(super) fn text_pattern(pattern: &str, whole: bool) -> Option<meta::Regex> {
    // By itself, so that the brackets around it below cannot be closed from within.
    regex_syntax::parse(pattern).ok()?;
    let pattern = if whole { format!(r"\A(?:{pattern})\z") } else { pattern.to_owned() };
    // RFC 9485: a dot matches all but line feed and carriage return.
    let syntax = regex_automata::util::syntax::Config::new().crlf(true);
    let config = meta::Config::new().nfa_size_limit(Some(1 << 20));
    meta::Regex::builder().syntax(syntax).configure(config).build(&pattern).ok()
}
