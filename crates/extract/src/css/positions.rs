//! Which child an element is. The children of an element are numbered together, when one of them is
//! first asked for: one by one they would take quadratic time.

use std::cell::RefCell;

use super::selector::{Among, Complex};
use crate::markup::{NameId, NodeId};

/// The most tables that are kept: each takes eight bytes for each node, and more are rare.
const TABLES_LIMIT: usize = 4;

/// Which child an element is, from the start and from the end; both begin with 1. 0: it has not been
/// numbered.
#[derive(Clone, Copy, Default)]
pub(super) struct Position {
    pub(super) from_start: u32,
    pub(super) from_end: u32,
}

#[derive(Default)]
pub(super) struct Positions(RefCell<Vec<(Family, Vec<Position>)>>);

/// Who is counted together.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Family {
    All,
    SameName,
    Matching(*const Complex),
}

impl Family {
    pub(super) fn of(among: &Among) -> Family {
        match among {
            Among::All => Family::All,
            Among::SameName => Family::SameName,
            Among::Matching(list) => Family::Matching(list.as_ptr()),
        }
    }
}

impl Positions {
    pub(super) fn known(&self, family: Family, element: NodeId) -> Option<Position> {
        let tables = self.0.borrow();
        let (_, table) = tables.iter().find(|(own, _)| *own == family)?;
        Some(table[element as usize]).filter(|position| position.from_start > 0)
    }

    pub(super) fn take(&self, family: Family) -> Option<Vec<Position>> {
        let mut tables = self.0.borrow_mut();
        let at = tables.iter().position(|(own, _)| *own == family)?;
        Some(tables.remove(at).1)
    }

    pub(super) fn keep(&self, family: Family, table: Vec<Position>) {
        let mut tables = self.0.borrow_mut();
        if tables.len() == TABLES_LIMIT {
            tables.remove(0);
        }
        tables.push((family, table));
    }
}

pub(super) fn number(siblings: impl ExactSizeIterator<Item = NodeId>, table: &mut [Position]) {
    let count = siblings.len() as u32;
    for (id, before) in siblings.zip(0..) {
        table[id as usize] = Position { from_start: before + 1, from_end: count - before };
    }
}

/// Numbers siblings among those of the same name: in order of name and place, each name is a run.
pub(super) fn number_by_name(
    siblings: &[NodeId],
    name: impl Fn(NodeId) -> NameId,
    table: &mut [Position],
) {
    let mut sorted: Vec<(NameId, NodeId)> = siblings.iter().map(|id| (name(*id), *id)).collect();
    sorted.sort_unstable();
    for run in sorted.chunk_by(|(a, _), (b, _)| a == b) {
        number(run.iter().map(|(_, id)| *id), table);
    }
}
