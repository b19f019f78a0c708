//! A list that grows piece by piece, so that it never takes twice its size while it is moved.

use std::ops::{Index, IndexMut};

/// Entries in one piece: a power of two.
const PIECE: usize = 1 << 12;

#[derive(Debug)]
pub(super) struct Chunks<T> {
    pieces: Vec<Vec<T>>,
    length: usize,
}

impl<T> Chunks<T> {
    pub(super) fn new() -> Self {
        Chunks { pieces: Vec::new(), length: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn push(&mut self, value: T) {
        match self.pieces.last_mut() {
            Some(last) if last.len() < PIECE => {
                // The first piece of a small page stays small.
                last.push(value);
            }
            _ => {
                let mut piece = Vec::with_capacity(if self.length == 0 { 64 } else { PIECE });
                piece.push(value);
                self.pieces.push(piece);
            }
        }
        self.length += 1;
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.pieces.get(index / PIECE)?.get(index % PIECE)
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.pieces[index / PIECE][index % PIECE]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.pieces[index / PIECE][index % PIECE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_all_entries_in_order() {
        let mut list = Chunks::new();
        (0..3 * PIECE + 1).for_each(|value| list.push(value));
        assert_eq!(list.len(), 3 * PIECE + 1);
        assert!(
            (0..list.len()).all(|index| list[index] == index && list.get(index) == Some(&index))
        );
        assert_eq!(list.get(list.len()), None);
        list[PIECE] = 7;
        assert_eq!(list[PIECE], 7);
    }
}
