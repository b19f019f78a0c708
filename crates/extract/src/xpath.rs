//! XPath 1.0 over HTML and XML: all of its axes but `namespace`, all of its operators and its core
//! functions. Two things are other than in the specification, because a plan cannot bind prefixes:
//! `name` selects what has that local name, whatever its prefix and namespace, and `p:name` what
//! is written just so in the document. In HTML the case of names does not matter.

mod axes;
mod expression;
mod functions;
mod parse;
mod search;
mod signatures;
#[cfg(test)]
mod tests;
mod value;

use serde_json::Number;

use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, Item, MatchChoice};
use crate::fuel::Fuel;
use crate::markup::Tree;
use expression::Expression;
use search::{Context, Search};
use value::{XPathValue, number_to_text};

#[derive(Debug, Clone)]
pub(crate) struct XPath(Expression);

impl XPath {
    pub(crate) fn compile(expression: &str) -> Result<Self, CompileError> {
        parse::expression(expression).map(XPath)
    }

    /// Takes what the expression gives: the text of each node, or the one value that it computes.
    pub(crate) fn find<'b>(
        &self,
        tree: &Tree,
        fuel: &Fuel,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let search = Search { tree, fuel };
        let item = match search.evaluate(&self.0, Context::document())? {
            XPathValue::Nodes(nodes) => {
                let nodes = nodes.into_iter().map(Ok);
                let chosen = Chosen::among(nodes, which, random, fuel.results_left())?;
                return chosen.try_into_found(|node| {
                    let text = search.text(node);
                    fuel.count_result(text.len())?;
                    Ok(Item::text(text))
                });
            }
            XPathValue::Number(number) => number_item(number),
            XPathValue::Text(text) => Item::text(&text),
            XPathValue::Boolean(boolean) => Item::Json(boolean.into()),
        };
        Chosen::among(std::iter::once(Ok::<_, ExtractError>(item)), which, random, 1)?
            .try_into_found(Ok)
    }
}

/// A number as JSON, whole numbers without a fraction; what JSON cannot say as text.
fn number_item<'b>(number: f64) -> Item<'b> {
    if number.fract() == 0.0 && number.abs() < 2f64.powi(53) {
        return Item::Json((number as i64).into());
    }
    match Number::from_f64(number) {
        Some(number) => Item::Json(number.into()),
        None => Item::text(&number_to_text(number)),
    }
}
