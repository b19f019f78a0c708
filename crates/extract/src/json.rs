//! JSON paths as RFC 9535 defines them: the query, and the values it selects. Beside its filters
//! (`[?test]`) there are those of JsonPath for Java (`[??test]`), which test an object itself, and
//! beside its functions `string()`.

mod check;
mod compare;
mod document;
mod parse;
mod query;
mod repair;
mod search;
#[cfg(test)]
mod tests;

use serde_json::Value;

#[cfg(test)]
pub(crate) use check::DEPTH_LIMIT;
pub(crate) use document::Document;

use crate::error::{CompileError, ExtractError};
use crate::found::{Found, Item, MatchChoice, nth_of};
use crate::fuel::Fuel;
use document::{Kind, Node};
use query::Query;
use search::{Search, Stop, finished};

#[derive(Debug, Clone)]
pub(crate) struct JsonPath {
    query: Query,
    /// What the regular expressions in it take, in bytes.
    compiled: usize,
}

impl JsonPath {
    pub(crate) fn compile(path: &str) -> Result<Self, CompileError> {
        let (query, compiled) = parse::path(path)?;
        Ok(JsonPath { query, compiled })
    }

    /// What the regular expressions in it take, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.compiled
    }

    /// Takes the values that the path selects in a document.
    pub(crate) fn find<'b>(
        &self,
        document: &Document<'b>,
        fuel: &Fuel,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let search = Search::new(document, fuel);
        let which = match which {
            MatchChoice::Random => {
                let mut count = 0;
                self.visit(&search, document, |_| {
                    count += 1;
                    Ok(())
                })?;
                MatchChoice::Nth(nth_of(random, count))
            }
            which => which,
        };
        let mut seen = 0;
        let mut chosen = Vec::new();
        self.visit(&search, document, |node| {
            seen += 1;
            match which {
                MatchChoice::All if chosen.len() > fuel.results_left() => return Err(Stop::Enough),
                MatchChoice::All => chosen.push(node),
                MatchChoice::Last if chosen.is_empty() => chosen.push(node),
                MatchChoice::Last => chosen[0] = node,
                MatchChoice::First | MatchChoice::Nth(_) | MatchChoice::Random => {
                    if which.enough() == Some(seen) {
                        chosen.push(node);
                        return Err(Stop::Enough);
                    }
                }
            }
            Ok(())
        })?;
        let mut items = Vec::with_capacity(chosen.len());
        for node in chosen {
            items.push(item(document, node, fuel)?);
        }
        Ok(match which {
            MatchChoice::All if !items.is_empty() => Found::Many(items),
            _ => items.pop().map_or(Found::None, Found::One),
        })
    }

    /// Takes the values that the path selects in what can be read of a text that is nearly JSON.
    ///
    /// # Errors
    /// It selects nothing there: what keeps the text from being JSON, which is `flaw`.
    pub(crate) fn find_nearly(
        &self,
        repaired: Option<&str>,
        flaw: &ExtractError,
        fuel: &Fuel,
        (which, random): (MatchChoice, u64),
    ) -> Result<Found<'static>, ExtractError> {
        let document = repaired.and_then(|text| Document::new(text.as_bytes()).ok());
        let document = document.ok_or_else(|| flaw.clone())?;
        match self.find(&document, fuel, which, random)? {
            Found::None => Err(flaw.clone()),
            found => Ok(found.into_owned()),
        }
    }

    fn visit<'d>(
        &self,
        search: &Search<'d>,
        document: &'d Document<'_>,
        mut visit: impl FnMut(Node) -> Result<(), Stop>,
    ) -> Result<(), ExtractError> {
        finished(search.walk(&self.query, document.root(), &mut visit))
    }
}

/// What can be read of a body that is nearly JSON, as JSON.
pub(crate) fn repaired(body: &[u8]) -> Option<String> {
    let json = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    repair::repaired(&String::from_utf8_lossy(json))
}

/// The whole document as a value of its own.
pub(crate) fn whole_value(document: &Document<'_>, fuel: &Fuel) -> Result<Value, ExtractError> {
    let root = document.root();
    fuel.count_result(document.value_bytes(root))?;
    document.value(root)
}

/// A value as an item; a text without escapes is borrowed from the body.
fn item<'b>(document: &Document<'b>, node: Node, fuel: &Fuel) -> Result<Item<'b>, ExtractError> {
    match document.kind(node) {
        Kind::String => {
            let text = document.string(node).unwrap_or_default();
            fuel.count_result(text.len())?;
            Ok(Item::from_text(text))
        }
        _ => {
            fuel.count_result(document.value_bytes(node))?;
            document.value(node).map(Item::Json)
        }
    }
}
