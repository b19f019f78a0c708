//! Values by keys, for as long as somebody holds them.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// Fewer values than these are kept, whoever holds them.
const FEW: usize = 256;

/// A table of values. Those that it alone holds are dropped when it is full; it then has room for as many again as were
/// left, so that what a new key costs does not depend on how many there are.
#[derive(Debug)]
pub(super) struct Held<K, V> {
    values: HashMap<K, Rc<V>>,
    /// How many values there may be before the table is looked through.
    room: usize,
}

impl<K, V> Default for Held<K, V> {
    fn default() -> Self {
        Held { values: HashMap::new(), room: FEW }
    }
}

impl<K: Hash + Eq, V> Held<K, V> {
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<Rc<V>>
    where
        K: Borrow<Q>,
    {
        self.values.get(key).cloned()
    }

    /// Adds a value in the place of the last one of its key.
    pub(super) fn put(&mut self, key: K, value: V) -> Rc<V> {
        if self.values.len() >= self.room {
            self.values.retain(|_, value| Rc::strong_count(value) > 1);
            self.room = FEW.max(2 * self.values.len());
            self.values.shrink_to(self.room);
        }
        let value = Rc::new(value);
        self.values.insert(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rotating proxies look so: each request has a text of its own, and an origin that holds what the text says.
    #[test]
    fn ten_million_keys_that_nobody_holds_take_no_memory() {
        let (mut texts, mut origins) = (Held::default(), Held::default());
        let kept: Vec<Rc<u64>> = (0..1_000).map(|key| texts.put(key, key)).collect();
        let mut most = 0;
        for key in 1_000..10_000_000 {
            let text = texts.put(key, key);
            origins.put(key, text);
            most = most.max(texts.values.capacity() + origins.values.capacity());
        }
        assert!(most < 16_384, "{most}");
        for (key, value) in (0..).zip(&kept) {
            assert!(
                texts.get(&key).is_some_and(|known| Rc::ptr_eq(&known, value)),
                "{key} is held"
            );
        }
    }

    #[test]
    fn a_key_has_the_value_that_it_got_last() {
        let mut held = Held::default();
        let (first, second) = (held.put("a", 1), held.put("a", 2));
        assert_eq!((*first, *second, held.get("a").map(|value| *value)), (1, 2, Some(2)));
        assert_eq!(held.get("b"), None);
    }
}
