//! Which cells of a run were driven, as its result has it.

use squall_report::{Coverage, Missing};

use crate::protocol::messages::Cells;

/// Most entries of shards that were not driven; the counts say all.
const MOST: usize = 20_000;

/// The cells of a run.
pub(crate) fn coverage(cells: &Cells) -> Coverage {
    let one = |own: &crate::protocol::messages::Missing, shard: u32| Missing {
        shard: u64::from(shard),
        from_s: u64::from(own.from),
        to_s: u64::from(own.to),
        node: own.node.clone(),
        why: own.why.clone(),
    };
    let each =
        cells.missing.iter().flat_map(|own| own.shards.iter().map(move |shard| (own, *shard)));
    let missing: Vec<Missing> = each.take(MOST).map(|(own, shard)| one(own, shard)).collect();
    let not_driven = cells.missing.iter().map(|own| {
        u64::from(own.to.saturating_sub(own.from) + 1).saturating_mul(own.shards.len() as u64)
    });
    let not_driven: u64 = not_driven.fold(0, u64::saturating_add);
    Coverage { cells: cells.driven.saturating_add(not_driven), driven: cells.driven, missing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::Missing as Gap;

    #[test]
    fn what_was_not_driven_stands_beside_what_was() {
        let gap = Gap {
            shards: [2, 5].into(),
            from: 6,
            to: 12,
            node: "eu-3".to_owned(),
            why: "node eu-3 was lost".to_owned(),
        };
        let cells = Cells { shards: 8, seconds: 25, driven: 186, missing: vec![gap] };
        let own = coverage(&cells);
        assert_eq!((own.cells, own.driven, own.missing.len()), (200, 186, 2));
        let text =
            "186 of 200 cells; not driven: shards 2, 5, seconds 6 to 12 (node eu-3 was lost)";
        assert_eq!(own.text(3), text);
    }
}
