//! What a search gives: which of the matches is wanted, and the values taken out of the body.

use std::borrow::Cow;

use serde_json::Value;

use crate::error::ExtractError;
use crate::fuel::Fuel;

/// Which of the matches is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchChoice {
    First,
    /// The n-th one, from 1. There is no match number 0.
    Nth(u32),
    Last,
    /// All of them, in their order in the body.
    All,
    /// One of them, each as likely as the others.
    Random,
}

impl MatchChoice {
    /// How many matches settle the question; `None`: all of them must be seen.
    pub(crate) fn enough(self) -> Option<usize> {
        match self {
            MatchChoice::First => Some(1),
            MatchChoice::Nth(n) => Some(n as usize),
            MatchChoice::Last | MatchChoice::All | MatchChoice::Random => None,
        }
    }
}

/// One value taken out of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<'b> {
    /// Text: what a regex or a boundary matched, text of a page, a JSON string (without its
    /// quotes). Borrowed from the body where it stands there as it is.
    Bytes(Cow<'b, [u8]>),
    /// A value that is not text: a number, boolean, null, array or object from JSON, or the number
    /// or boolean that an XPath expression computes. Never a JSON string.
    Json(Value),
}

impl<'b> Item<'b> {
    pub(crate) fn text(text: &str) -> Item<'b> {
        Item::Bytes(Cow::Owned(text.as_bytes().to_vec()))
    }

    pub(crate) fn from_text(text: Cow<'b, str>) -> Item<'b> {
        Item::Bytes(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }

    /// The value as text: text as it is, everything else as compact JSON.
    pub fn to_text(&self) -> Cow<'_, [u8]> {
        match self {
            Item::Bytes(bytes) => Cow::Borrowed(bytes),
            Item::Json(value) => Cow::Owned(value.to_string().into_bytes()),
        }
    }

    /// The same value, no longer borrowed from the body.
    pub fn into_owned(self) -> Item<'static> {
        match self {
            Item::Bytes(bytes) => Item::Bytes(Cow::Owned(bytes.into_owned())),
            Item::Json(value) => Item::Json(value),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Found<'b> {
    /// Nothing matched, or fewer than the n-th that was asked for.
    None,
    /// The match asked for.
    One(Item<'b>),
    /// All matches, at least one ([`MatchChoice::All`]).
    Many(Vec<Item<'b>>),
}

impl<'b> Found<'b> {
    /// All that was found, in order.
    pub fn into_items(self) -> Vec<Item<'b>> {
        match self {
            Found::None => Vec::new(),
            Found::One(item) => vec![item],
            Found::Many(items) => items,
        }
    }

    /// The same values, no longer borrowed from the body, to be handed to another thread.
    pub fn into_owned(self) -> Found<'static> {
        match self {
            Found::None => Found::None,
            Found::One(item) => Found::One(item.into_owned()),
            Found::Many(items) => Found::Many(items.into_iter().map(Item::into_owned).collect()),
        }
    }
}

/// The matches chosen by a [`MatchChoice`], before they are made into items.
pub(crate) enum Chosen<T> {
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> Chosen<T> {
    /// Chooses among `matches`; goes over them twice for [`MatchChoice::Random`], so as not to keep them.
    /// Of all matches, it takes one more than `most` at most, for the error that follows.
    pub(crate) fn among<I, E>(
        mut matches: I,
        which: MatchChoice,
        random: u64,
        most: usize,
    ) -> Result<Chosen<T>, E>
    where
        I: Iterator<Item = Result<T, E>> + Clone,
    {
        let nth = match which {
            MatchChoice::First => 1,
            MatchChoice::Nth(n) => n,
            MatchChoice::Random => {
                let counted = matches.clone().try_fold(0, |count, one| one.map(|_| count + 1));
                nth_of(random, counted?)
            }
            MatchChoice::Last => {
                let last = matches.try_fold(None, |_, one| one.map(Some))?;
                return Ok(last.map_or(Chosen::None, Chosen::One));
            }
            MatchChoice::All => {
                let all = matches.take(most.saturating_add(1)).collect::<Result<Vec<T>, E>>()?;
                return Ok(if all.is_empty() { Chosen::None } else { Chosen::Many(all) });
            }
        };
        for at in 1..=nth {
            match matches.next() {
                Some(one) if at == nth => return one.map(Chosen::One),
                Some(one) => drop(one?),
                None => break,
            }
        }
        Ok(Chosen::None)
    }

    pub(crate) fn try_into_found<'b, E>(
        self,
        mut item: impl FnMut(T) -> Result<Item<'b>, E>,
    ) -> Result<Found<'b>, E> {
        Ok(match self {
            Chosen::None => Found::None,
            Chosen::One(one) => Found::One(item(one)?),
            Chosen::Many(all) => Found::Many(all.into_iter().map(item).collect::<Result<_, E>>()?),
        })
    }
}

impl<'b> Chosen<&'b [u8]> {
    /// Parts of the body, which the items borrow.
    pub(crate) fn into_found(self, fuel: &Fuel) -> Result<Found<'b>, ExtractError> {
        self.try_into_found(|bytes| {
            fuel.count_result(0)?;
            Ok(Item::Bytes(Cow::Borrowed(bytes)))
        })
    }
}

/// A uniformly random number as one of `count` matches, from 1 (1 if there are none).
pub(crate) fn nth_of(random: u64, count: usize) -> u32 {
    u32::try_from(scale(random, count) + 1).unwrap_or(u32::MAX)
}

/// A uniformly random number as an index below `count` (0 if `count` is 0).
fn scale(random: u64, count: usize) -> usize {
    ((u128::from(random) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(which: MatchChoice, random: u64) -> Vec<i32> {
        let matches = [1, 2, 3].into_iter().map(Ok::<_, ExtractError>);
        match Chosen::among(matches, which, random, 3).unwrap() {
            Chosen::None => vec![],
            Chosen::One(one) => vec![one],
            Chosen::Many(all) => all,
        }
    }

    #[test]
    fn chooses() {
        for (which, expected) in [
            (MatchChoice::First, vec![1]),
            (MatchChoice::Nth(0), vec![]),
            (MatchChoice::Nth(1), vec![1]),
            (MatchChoice::Nth(3), vec![3]),
            (MatchChoice::Nth(4), vec![]),
            (MatchChoice::Last, vec![3]),
            (MatchChoice::All, vec![1, 2, 3]),
        ] {
            assert_eq!(choose(which, 0), expected, "{which:?}");
        }
    }

    #[test]
    fn random_covers_all_matches_evenly() {
        let third = u64::MAX / 3;
        for (random, expected) in
            [(0, 1), (third - 1, 1), (third + 1, 2), (2 * third + 2, 3), (u64::MAX, 3)]
        {
            assert_eq!(choose(MatchChoice::Random, random), [expected], "{random}");
        }
    }

    #[test]
    fn nothing_to_choose_from() {
        for which in [
            MatchChoice::First,
            MatchChoice::Nth(1),
            MatchChoice::Last,
            MatchChoice::All,
            MatchChoice::Random,
        ] {
            let none =
                Chosen::among([0u8; 0].iter().map(Ok::<_, ExtractError>), which, u64::MAX, 3);
            assert!(matches!(none, Ok(Chosen::None)), "{which:?}");
        }
    }
}
