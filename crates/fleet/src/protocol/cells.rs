//! The matrix of a run: what became of each shard in each second.

use std::collections::BTreeMap;

use super::messages::{Cells, Missing, Shards};
use super::ranges::Ranges;

/// Most entries of what is missing; beyond, entries of the same shards are told as one.
const MOST: usize = 100_000;

/// Shards that a node had for some seconds.
#[derive(Debug, Clone)]
pub struct Block<'m> {
    /// The node.
    pub node: &'m str,
    /// Its shards.
    pub shards: Shards,
    /// The first second.
    pub from: u32,
    /// The first second after it.
    pub to: u32,
    /// Seconds of which its record came.
    pub seconds: Ranges,
    /// Of them those that were not driven from beginning to end.
    pub in_part: Ranges,
    /// The last second of a load that ended in order: as long as it is, it is whole.
    pub ended: Option<u32>,
    /// Why a record did not come.
    pub why: &'m str,
    /// Why nobody had the shards afterwards.
    pub after: &'m str,
}

/// What became of each cell of a run of so many shards and seconds.
pub fn of(shards: u32, seconds: u32, blocks: &[Block<'_>]) -> Cells {
    let mut missing = Vec::new();
    let mut owned: Vec<Vec<(u32, u32, usize)>> = vec![Vec::new(); shards as usize];
    for (at, block) in blocks.iter().enumerate() {
        within(block, &mut missing);
        for &shard in block.shards.iter() {
            if let Some(owned) = owned.get_mut(shard as usize) {
                owned.push((block.from, block.to, at));
            }
        }
    }
    between(&mut owned, seconds, blocks, &mut missing);
    missing.sort_by(|a: &Missing, b| {
        (a.from, a.shards.first(), a.to).cmp(&(b.from, b.shards.first(), b.to))
    });
    let lost: u64 = missing
        .iter()
        .map(|entry| u64::from(entry.to - entry.from + 1) * entry.shards.len() as u64)
        .sum();
    missing.truncate(MOST);
    Cells {
        shards,
        seconds,
        driven: (u64::from(shards) * u64::from(seconds)).saturating_sub(lost),
        missing,
    }
}

/// What is missing while a node had the shards.
fn within(block: &Block<'_>, missing: &mut Vec<Missing>) {
    let entry = |from: u32, to: u32, why: &str| Missing {
        shards: block.shards.clone(),
        from,
        to,
        node: block.node.into(),
        why: why.into(),
    };
    for (from, to) in block.seconds.gaps(block.from.into(), block.to.into()) {
        missing.push(entry(from as u32, to as u32, block.why));
    }
    let mut at = u64::from(block.from);
    // What is between the gaps is in the set.
    for (from, to) in block
        .in_part
        .gaps(block.from.into(), block.to.into())
        .into_iter()
        .chain([(u64::from(block.to), 0)])
    {
        for second in at..from {
            if block.ended != Some(second as u32) {
                missing.push(entry(
                    second as u32,
                    second as u32,
                    "driven in part of the second only",
                ));
            }
        }
        at = to + 1;
    }
}

/// What is missing while nobody had a shard.
fn between(
    owned: &mut [Vec<(u32, u32, usize)>],
    seconds: u32,
    blocks: &[Block<'_>],
    missing: &mut Vec<Missing>,
) {
    let mut gaps: BTreeMap<(u32, u32, Option<usize>), Vec<u32>> = BTreeMap::new();
    for (shard, owned) in owned.iter_mut().enumerate() {
        owned.sort_unstable();
        let mut at = 0;
        let mut before = None;
        for &(from, to, block) in owned.iter().chain([&(seconds, seconds, usize::MAX)]) {
            if from > at {
                gaps.entry((at, from - 1, before)).or_default().push(shard as u32);
            }
            at = at.max(to);
            before = Some(block);
        }
    }
    for ((from, to, before), shards) in gaps {
        let block = before.and_then(|at| blocks.get(at));
        let (node, why) = block.map_or(("", "nobody had them"), |block| (block.node, block.after));
        let why = if why.is_empty() { "nobody had them" } else { why };
        missing.push(Missing {
            shards: shards.into(),
            from,
            to,
            node: node.into(),
            why: why.into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(seconds: &[u64]) -> Ranges {
        let mut ranges = Ranges::default();
        seconds.iter().for_each(|&second| assert!(ranges.insert(second)));
        ranges
    }

    #[test]
    fn what_did_not_come_and_what_nobody_had_is_missing() {
        let (came, part, other) = (ranges(&[0, 1, 2]), ranges(&[2]), ranges(&[6, 7]));
        let block = |node, shards: &[u32], from, to| Block {
            node,
            shards: shards.into(),
            from,
            to,
            seconds: Ranges::default(),
            in_part: Ranges::default(),
            ended: None,
            why: "lost",
            after: "gap",
        };
        let cells = of(
            3,
            8,
            &[
                Block { seconds: came, in_part: part, ..block("a", &[0, 1], 0, 4) },
                Block { seconds: other, ..block("b", &[0], 6, 8) },
            ],
        );
        let told: Vec<_> = cells
            .missing
            .iter()
            .map(|m| (m.shards.to_vec(), m.from, m.to, m.node.as_str(), m.why.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (vec![2], 0, 7, "", "nobody had them"),
                (vec![0, 1], 2, 2, "a", "driven in part of the second only"),
                (vec![0, 1], 3, 3, "a", "lost"),
                (vec![0], 4, 5, "a", "gap"),
                (vec![1], 4, 7, "a", "gap"),
            ]
        );
        assert_eq!(cells.driven, 24 - 8 - 2 - 2 - 2 - 4);
    }

    #[test]
    fn the_last_second_of_a_load_that_ended_is_whole() {
        let (came, part) = (ranges(&[0, 1]), ranges(&[1]));
        let block = Block {
            node: "a",
            shards: [0].as_slice().into(),
            from: 0,
            to: 2,
            seconds: came,
            in_part: part,
            ended: Some(1),
            why: "",
            after: "",
        };
        assert_eq!(
            of(1, 2, &[block]),
            Cells { shards: 1, seconds: 2, driven: 2, missing: Vec::new() }
        );
    }
}
