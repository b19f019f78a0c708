//! Values that are numbered in the order in which they come, each of them once. Pure.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Index;

/// Values by their numbers, which count from 0.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The number of a value, given now if it is new.
    pub(crate) fn number(&mut self, value: T) -> usize {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them in the order of their numbers.
    pub(crate) fn into_all(self) -> Vec<T> {
        self.all
    }
}

impl<T> Index<usize> for Numbered<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.all[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_has_one_number() {
        let mut all = Numbered::default();
        assert_eq!(["a", "b", "a", "c"].map(|value| all.number(value)), [0, 1, 0, 2]);
        assert_eq!((all.len(), all[1]), (3, "b"));
        assert_eq!(all.into_all(), ["a", "b", "c"]);
    }
}
