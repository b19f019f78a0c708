//! Many secrets to look for at once. Pure.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::forms::{Pattern, Prefix};

/// Patterns, each once, in the order in which they became known.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    list: Vec<Pattern>,
    known: HashSet<Pattern>,
    /// By what a message may have where one begins, the numbers of those: where none begins, few of many are compared.
    by_prefix: HashMap<Prefix, Vec<u32>>,
    /// The same by the first byte; empty: there are none.
    by_first_byte: Vec<Vec<u32>>,
    /// The numbers of those that may be shorter than that.
    brief: Vec<u32>,
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.known == other.known
    }
}

impl Eq for Patterns {}

impl Patterns {
    /// Adds one; whether it was not known.
    pub(super) fn add(&mut self, pattern: Pattern) -> bool {
        if !self.known.insert(pattern.clone()) {
            return false;
        }
        self.by_first_byte.resize(256, Vec::new());
        let number = self.list.len() as u32;
        match pattern.prefixes() {
            None => self.brief.push(number),
            Some(prefixes) => {
                for prefix in &prefixes {
                    self.by_prefix.entry(*prefix).or_default().push(number);
                    let same = &mut self.by_first_byte[usize::from(prefix[0])];
                    if same.last() != Some(&number) {
                        same.push(number);
                    }
                }
            }
        }
        self.list.push(pattern);
        true
    }

    /// Adds all of others.
    pub(super) fn extend(&mut self, other: &Patterns) {
        for pattern in &other.list {
            self.add(pattern.clone());
        }
    }

    pub(super) fn contains(&self, pattern: &Pattern) -> bool {
        self.known.contains(pattern)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where they stand in a text. `is_cut`: the text went on.
    pub(super) fn hits(&self, text: &[u8], is_cut: bool) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        if self.is_empty() {
            return hits;
        }
        // Where those end that were found; within that they are not looked for again.
        let mut ends: HashMap<u32, usize> = HashMap::new();
        for begin in 0..text.len() {
            for number in self.at(&text[begin..]).iter().chain(&self.brief) {
                if !ends.is_empty() && ends.get(number).is_some_and(|end| *end > begin) {
                    continue;
                }
                if let Some(hit) = self.list[*number as usize].hit(text, begin, is_cut) {
                    ends.insert(*number, hit.end);
                    hits.push(hit);
                }
            }
        }
        hits
    }

    /// The numbers of those that may begin where the rest of a text does.
    fn at(&self, rest: &[u8]) -> &[u32] {
        let of_byte = rest.first().map_or(&[][..], |byte| &self.by_first_byte[usize::from(*byte)]);
        match rest.first_chunk() {
            Some(prefix) if !of_byte.is_empty() => {
                self.by_prefix.get::<Prefix>(prefix).map_or(&[], Vec::as_slice)
            }
            _ => of_byte,
        }
    }
}
