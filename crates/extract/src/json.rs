//! JSON paths as RFC 9535 defines them: the query, and the values it selects.

mod parse;
mod scan;
mod search;
#[cfg(test)]
mod tests;

use regex_automata::meta;
use serde_json::{Number, Value};

use crate::documents::{Documents, json_error};
use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, Item, Which};
use crate::fuel::Fuel;
use search::{Search, Stop};

/// A compiled path.
#[derive(Debug, Clone)]
pub(crate) struct JsonPath(Query);

impl JsonPath {
    pub(crate) fn compile(path: &str) -> Result<Self, CompileError> {
        parse::query(path).map(JsonPath)
    }

    /// Takes the values that the path selects in a body. A path of names and indexes alone is
    /// sought in the text, without building the values of all the rest.
    pub(crate) fn find_in<'b>(
        &self,
        documents: &Documents<'b>,
        which: Which,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        if scan::is_plain(&self.0)
            && let Some(json) = documents.json_to_scan()
        {
            let item = scan::find(&self.0, json).map_err(|error| json_error(json, &error))?;
            return Chosen::among(item.into_iter(), which, random).try_into_found(Ok);
        }
        self.find(documents.json()?, which, random)
    }

    /// Takes the values that the path selects in a document.
    fn find<'b>(
        &self,
        document: &Value,
        which: Which,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let fuel = Fuel::new();
        let search = Search { root: document, fuel: &fuel };
        let mut nodes = Vec::new();
        let enough = which.enough();
        let walked = search.walk(&self.0, document, &mut |node| {
            fuel.burn_result(0)?;
            nodes.push(node);
            if enough.is_some_and(|enough| nodes.len() >= enough) {
                Err(Stop::Enough)
            } else {
                Ok(())
            }
        });
        if let Err(Stop::Failed(error)) = walked {
            return Err(error);
        }
        Chosen::among(nodes.into_iter(), which, random).try_into_found(|node| item(node, &fuel))
    }
}

/// A value as an item; copying a large one costs fuel, since nested results overlap.
fn item<'b>(value: &Value, fuel: &Fuel) -> Result<Item<'b>, ExtractError> {
    match value {
        Value::String(text) => {
            fuel.burn_result(text.len())?;
            Ok(Item::text(text))
        }
        value => {
            search::burn_size(value, fuel)?;
            Ok(Item::Json(value.clone()))
        }
    }
}

/// A query: from the root (`$`) or from the value that a filter looks at (`@`).
#[derive(Debug, Clone)]
struct Query {
    from_root: bool,
    segments: Vec<Segment>,
}

impl Query {
    /// Whether it selects one value at most, whatever the document.
    fn is_singular(&self) -> bool {
        self.segments.iter().all(Segment::is_singular)
    }
}

/// One step down: what it selects of each value, or of each value and all that is in it (`..`).
#[derive(Debug, Clone)]
struct Segment {
    descendants: bool,
    selectors: Vec<Selector>,
}

impl Segment {
    fn is_singular(&self) -> bool {
        !self.descendants && matches!(&*self.selectors, [Selector::Name(_) | Selector::Index(_)])
    }
}

#[derive(Debug, Clone)]
enum Selector {
    Name(String),
    Wildcard,
    /// From the end if negative.
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Test),
}

/// What a filter asks of a value.
#[derive(Debug, Clone)]
enum Test {
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
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value in a comparison, or nothing.
#[derive(Debug, Clone)]
enum Operand {
    Literal(Value),
    /// A singular query.
    Query(Query),
    Length(Box<Operand>),
    Count(Query),
    /// The value of a query that selects exactly one.
    Value(Query),
}

/// The pattern of `match` and `search`.
#[derive(Debug, Clone)]
enum TextPattern {
    Fixed(meta::Regex),
    /// Taken from the document.
    Computed(Operand),
}

/// Compiles the pattern of `match` or `search`; `None` if it is not a regular expression.
fn text_pattern(pattern: &str, whole: bool) -> Option<meta::Regex> {
    // By itself, so that the brackets around it below cannot be closed from within.
    regex_syntax::parse(pattern).ok()?;
    let pattern = if whole { format!(r"\A(?:{pattern})\z") } else { pattern.to_owned() };
    // RFC 9485: a dot matches all but line feed and carriage return.
    let syntax = regex_automata::util::syntax::Config::new().crlf(true);
    let config = meta::Config::new().nfa_size_limit(Some(1 << 20));
    meta::Regex::builder().syntax(syntax).configure(config).build(&pattern).ok()
}

/// Compares numbers by what they are worth: 1 equals 1.0.
fn compare_numbers(a: &Number, b: &Number) -> Option<std::cmp::Ordering> {
    let integer = |n: &Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}
