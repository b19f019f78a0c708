//! Which slices have been added: each belongs to a source and a second, and counts once.

use std::collections::BTreeMap;

use crate::source::Source;

/// Most gaps that are remembered of a source. One that skipped more seconds than that cannot hand
/// over the earliest of them any more.
const MAX_GAPS: usize = 1_024;

/// Sources and seconds, in memory that does not grow with the length of a run: for each source the
/// highest second and the ranges below it that are missing.
#[derive(Debug, Clone, Default)]
pub struct SliceSet {
    sources: BTreeMap<Source, Seconds>,
}

#[derive(Debug, Clone, Default)]
struct Seconds {
    /// One more than the highest second; as wide as that needs.
    end: u64,
    /// Missing seconds below `end`, as ranges without their end, in order.
    gaps: Vec<(u32, u32)>,
}

impl SliceSet {
    /// Adds a source's second; `false`: it was there already.
    pub fn insert(&mut self, source: Source, second: u32) -> bool {
        self.sources.entry(source).or_default().insert(second)
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

    const ZERO: Source = Source::Worker(0);

    proptest! {
        #[test]
        fn it_is_a_set(added in prop::collection::vec((0u32..3, 0u32..40), 0..200)) {
            let (mut set, mut reference) = (SliceSet::default(), HashSet::new());
            for (worker, second) in added {
                prop_assert_eq!(set.insert(worker.into(), second), reference.insert((worker, second)));
            }
        }
    }

    #[test]
    fn the_last_second_is_a_second() {
        let mut set = SliceSet::default();
        assert!(set.insert(ZERO, u32::MAX) && !set.insert(ZERO, u32::MAX));
        assert!(set.insert(ZERO, u32::MAX - 1) && set.insert(ZERO, 0) && !set.insert(ZERO, 0));
    }

    #[test]
    fn it_stays_small() {
        let mut set = SliceSet::default();
        assert!((0..10_000).all(|second| set.insert(ZERO, second)));
        assert!(set.sources[&ZERO].gaps.is_empty());
        assert!((5_001..15_000).all(|number| set.insert(ZERO, 2 * number)));
        assert_eq!(set.sources[&ZERO].gaps.len(), MAX_GAPS);
        // Too old to be told from one that was there: it is refused rather than counted twice.
        assert!(!set.insert(ZERO, 10_001) && set.insert(ZERO, 29_997));
    }
}
