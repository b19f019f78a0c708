//! Which slices have been added: each belongs to a worker and a second, and counts once.

use std::collections::BTreeMap;

/// Most gaps that are remembered of a worker. A worker that skipped more seconds than that cannot hand
/// over the earliest of them any more.
const MAX_GAPS: usize = 1_024;

/// Workers and seconds, in memory that does not grow with the length of a run: for each worker the
/// highest second and the ranges below it that are missing.
#[derive(Debug, Clone, Default)]
pub struct SliceSet {
    workers: BTreeMap<u32, Seconds>,
}

#[derive(Debug, Clone, Default)]
struct Seconds {
    /// One more than the highest second; as wide as that needs.
    end: u64,
    /// Missing seconds below `end`, as ranges without their end, in order.
    gaps: Vec<(u32, u32)>,
}

impl SliceSet {
    /// Adds a worker's second; `false`: it was there already.
    pub fn insert(&mut self, worker: u32, second: u32) -> bool {
        self.workers.entry(worker).or_default().insert(second)
    }
}

impl Seconds {
    fn insert(&mut self, second: u32) -> bool {
        if u64::from(second) >= self.end {
            // `end` is at most `second` here, so it fits.
            let missing = (self.end as u32, second);
            self.end = u64::from(second) + 1;
            if missing.0 < missing.1 {
                self.gaps.push(missing);
            }
        } else {
            let at = self.gaps.partition_point(|(_, end)| *end <= second);
            let Some((from, end)) = self.gaps.get(at).copied().filter(|gap| gap.0 <= second) else {
                return false;
            };
            let left = [(from, second), (second + 1, end)];
            self.gaps.splice(at..=at, left.into_iter().filter(|(from, end)| from < end));
        }
        if self.gaps.len() > MAX_GAPS {
            self.gaps.remove(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn it_is_a_set(added in prop::collection::vec((0u32..3, 0u32..40), 0..200)) {
            let (mut set, mut reference) = (SliceSet::default(), HashSet::new());
            for (worker, second) in added {
                prop_assert_eq!(set.insert(worker, second), reference.insert((worker, second)));
            }
        }
    }

    #[test]
    fn the_last_second_is_a_second() {
        let mut set = SliceSet::default();
        assert!(set.insert(0, u32::MAX) && !set.insert(0, u32::MAX));
        assert!(set.insert(0, u32::MAX - 1) && set.insert(0, 0) && !set.insert(0, 0));
    }

    #[test]
    fn it_stays_small() {
        let mut set = SliceSet::default();
        assert!((0..10_000).all(|second| set.insert(0, second)));
        assert!(set.workers[&0].gaps.is_empty());
        assert!((5_001..15_000).all(|number| set.insert(0, 2 * number)));
        assert_eq!(set.workers[&0].gaps.len(), MAX_GAPS);
        // Too old to be told from one that was there: it is refused rather than counted twice.
        assert!(!set.insert(0, 10_001) && set.insert(0, 29_997));
    }
}
