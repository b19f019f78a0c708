//! One number for each row of a run: workers number their rows themselves, and say which is which when they
//! first record something in one.

use std::collections::HashMap;

use squall_metrics::{NameId, RowKey, Slice, Source};

/// The rows of slices, each with a number: 0 for the first that came, and so on.
#[derive(Debug)]
pub struct RowNumbers {
    keys: Vec<RowKey>,
    by_key: HashMap<RowKey, usize>,
    /// The number of each worker's own.
    numbers: HashMap<(Source, NameId), usize>,
    most: usize,
}

impl RowNumbers {
    /// For at most so many rows, those that come first.
    pub fn new(most: usize) -> RowNumbers {
        RowNumbers { keys: Vec::new(), by_key: HashMap::new(), numbers: HashMap::new(), most }
    }

    /// Learns the names in a slice.
    pub fn learn(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            let number = match self.by_key.get(key) {
                Some(number) => *number,
                None if self.keys.len() >= self.most => continue,
                None => {
                    self.by_key.insert(key.clone(), self.keys.len());
                    self.keys.push(key.clone());
                    self.keys.len() - 1
                }
            };
            self.numbers.insert((slice.source, *id), number);
        }
    }

    /// The number of a source's row; `None`: it is one too many, or the record that had its name was lost.
    pub fn get(&self, source: Source, id: NameId) -> Option<usize> {
        self.numbers.get(&(source, id)).copied()
    }

    /// The rows, by their numbers.
    pub fn keys(&self) -> &[RowKey] {
        &self.keys
    }

    /// The rows, by their numbers.
    pub fn into_keys(self) -> Vec<RowKey> {
        self.keys
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::RowKind;

    use super::*;

    #[test]
    fn a_row_has_one_number_whatever_workers_call_it() {
        let key = |name: &str| RowKey::new(RowKind::Request, "s", name);
        let named = |worker, names: &[(u32, &str)]| {
            let mut slice = Slice::new(worker, 0);
            names.iter().for_each(|(id, name)| slice.announce(NameId(*id), key(name)));
            slice
        };
        let mut numbers = RowNumbers::new(2);
        numbers.learn(&named(0, &[(0, "a"), (1, "b")]));
        numbers.learn(&named(1, &[(0, "b"), (1, "c")]));
        let of = |worker, id| numbers.get(Source::Worker(worker), NameId(id));
        assert_eq!([of(0, 0), of(0, 1), of(1, 0)], [Some(0), Some(1), Some(1)]);
        assert_eq!([of(1, 1), of(2, 0)], [None, None], "one too many, and one without a name");
        assert_eq!(numbers.into_keys(), [key("a"), key("b")]);
    }
}
