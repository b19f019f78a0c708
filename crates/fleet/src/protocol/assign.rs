//! Which shards a node gets: a pure function of the nodes, their zones and weights, and what they have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::messages::Card;

/// A node that may have shards.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Where it is.
    pub zone: String,
    /// Its part of the whole load, beside the others' weights.
    pub weight: f64,
    /// How many shards it has.
    pub has: usize,
}

/// The weight of each node in the whole load: a zone's part is by the number of nodes that were wanted of it, a node's part of
/// its zone by its own weight. `zones` as in [`Wanted`](super::io::Wanted).
pub fn weights(zones: &[(String, u32)], cards: &[&Card]) -> Vec<f64> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for card in cards {
        *sums.entry(&card.zone).or_default() += weight(card);
    }
    let wanted =
        |zone: &str| zones.iter().find(|entry| entry.0 == zone).map(|entry| f64::from(entry.1));
    cards
        .iter()
        .map(|card| match wanted(&card.zone) {
            Some(part) if !card.zone.is_empty() => part * weight(card) / sums[card.zone.as_str()],
            _ => weight(card),
        })
        .collect()
}

/// A node's weight, which is above 0 whatever its card says.
fn weight(card: &Card) -> f64 {
    if card.weight.is_finite() && card.weight > 0.0 { card.weight.clamp(1e-3, 1e6) } else { 1.0 }
}

/// How many of `total` shards each place should have: by weight, the largest remainders rounded up; all together have all.
pub fn targets(total: usize, places: &[Place]) -> Vec<usize> {
    let sum: f64 = places.iter().map(|place| place.weight).sum();
    if places.is_empty() || sum <= 0.0 {
        return vec![0; places.len()];
    }
    let exact: Vec<f64> = places.iter().map(|place| total as f64 * place.weight / sum).collect();
    let mut targets: Vec<usize> = exact.iter().map(|part| part.floor() as usize).collect();
    let mut order: Vec<usize> = (0..places.len()).collect();
    // Among equal remainders, who has more already keeps it: nothing moves without need.
    order.sort_by(|&a, &b| {
        let remainder = |at: usize| exact[at] - exact[at].floor();
        remainder(b)
            .total_cmp(&remainder(a))
            .then(places[b].has.cmp(&places[a].has))
            .then(a.cmp(&b))
    });
    let given: usize = targets.iter().sum();
    for &at in order.iter().cycle().take(total.saturating_sub(given)) {
        targets[at] += 1;
    }
    targets
}

/// Gives free shards of a zone to places: for each shard the place. Those of the same zone come first, as long as there are
/// any, then all; always the one that is farthest below its part.
pub fn place(free: usize, zone: &str, places: &[Place]) -> Vec<usize> {
    let same = !zone.is_empty() && places.iter().any(|place| place.zone == zone);
    // Fills are positive, so their bits are in their order.
    let fill = |at: usize, has: usize| Reverse(((has as f64 + 1.0) / places[at].weight).to_bits());
    let mut may: BinaryHeap<(Reverse<u64>, Reverse<usize>, usize)> = (0..places.len())
        .filter(|&at| !same || places[at].zone == zone)
        .map(|at| (fill(at, places[at].has), Reverse(at), places[at].has))
        .collect();
    let mut chosen = Vec::with_capacity(free);
    for _ in 0..free {
        let Some((_, Reverse(at), has)) = may.pop() else { break };
        chosen.push(at);
        may.push((fill(at, has + 1), Reverse(at), has + 1));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(zone: &str, weight: f64, has: usize) -> Place {
        Place { zone: zone.into(), weight, has }
    }

    #[test]
    fn shares_are_by_weight_and_sum_to_all() {
        let places = [place_of("", 1.0, 0), place_of("", 2.0, 0), place_of("", 1.0, 0)];
        assert_eq!(targets(8, &places), [2, 4, 2]);
        assert_eq!(targets(9, &places), [2, 5, 2]);
        assert_eq!(targets(0, &places), [0, 0, 0]);
        for total in 0..50 {
            assert_eq!(targets(total, &places).iter().sum::<usize>(), total);
        }
    }

    #[test]
    fn what_is_free_stays_in_its_zone_while_one_is_there() {
        let places = [place_of("eu", 1.0, 4), place_of("us", 1.0, 0), place_of("eu", 1.0, 2)];
        assert_eq!(place(3, "eu", &places), [2, 2, 0]);
        assert_eq!(place(2, "ap", &places), [1, 1]);
        assert!(place(2, "eu", &[]).is_empty());
    }

    #[test]
    fn a_zone_has_its_part_whatever_its_nodes_weigh() {
        let card = |zone: &str, weight| Card { zone: zone.into(), weight, ..Card::default() };
        let cards = [card("eu", 1.0), card("eu", 3.0), card("us", 9.0), card("us", f64::NAN)];
        let weights =
            weights(&[("eu".into(), 3), ("us".into(), 1)], &cards.iter().collect::<Vec<_>>());
        assert_eq!(weights, [0.75, 2.25, 0.9, 0.1]);
    }
}
