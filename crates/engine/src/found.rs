//! What extractors find, as values of the plan's expressions.

use squall_extract::{ExtractError, Found, Item, MatchChoice};
use squall_plan::model::Match;
use squall_plan::value::Value;

/// What was found ahead of post-processing: an entry for each operation, `None` for those that do not
/// search the body.
pub(crate) type FoundAhead = Vec<Option<Result<Found<'static>, ExtractError>>>;

/// Which of several matches an extract takes.
pub(crate) fn which(which: Match) -> MatchChoice {
    match which {
        Match::First => MatchChoice::First,
        Match::Nth(n) => MatchChoice::Nth(n),
        Match::Last => MatchChoice::Last,
        Match::All => MatchChoice::All,
        Match::Random => MatchChoice::Random,
    }
}

/// An extracted item as a value of the plan's expressions.
pub(crate) fn item_value(item: &Item<'_>) -> Value {
    match item {
        Item::Bytes(bytes) => text_value(bytes),
        Item::Json(json) => Value::from_json(json),
    }
}

/// Bytes as a text, with what is not UTF-8 replaced.
pub(crate) fn text_value(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.into()),
        Err(_) => Value::Text(String::from_utf8_lossy(bytes).into()),
    }
}
