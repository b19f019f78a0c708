//! Which seats of a load are taken, by their place in this worker's share.

use squall_load::Share;

use super::seat::Seat;

/// What is on a seat. Four bytes: a load may have a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    /// Nobody; nobody has been there yet.
    pub(super) const FRESH: Slot = Slot(u32::MAX);
    pub(super) const LEFT: Slot = Slot(u32::MAX - 1);
    /// A user that does something, or is free for an arrival.
    pub(super) const BUSY: Slot = Slot(u32::MAX - 2);
    /// Nobody any more, and nobody is to follow: its user has done all that it had to.
    pub(super) const DONE: Slot = Slot(u32::MAX - 3);

    /// A user that waits at a place of the roster.
    pub(super) fn waiting(place: u32) -> Slot {
        debug_assert!(place < Slot::DONE.0, "users are fewer than 2^32 - 4");
        Slot(place)
    }

    /// Where the user waits, if it does.
    pub(super) fn place(self) -> Option<u32> {
        (self.0 < Slot::DONE.0).then_some(self.0)
    }

    /// Whether a user may begin there.
    pub(super) fn is_open(self) -> bool {
        self == Slot::FRESH || self == Slot::LEFT
    }

    /// Whether somebody has the seat.
    pub(super) fn is_taken(self) -> bool {
        self == Slot::BUSY || self.place().is_some()
    }
}

/// The seats of one load that are in a share: seat k is that of the share's k-th number.
#[derive(Debug, Default)]
pub(super) struct Seats(Vec<Slot>);

impl Seats {
    /// How many seats have ever been taken.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn get(&self, k: u64) -> Slot {
        self.0.get(k as usize).copied().unwrap_or(Slot::FRESH)
    }

    pub(super) fn set(&mut self, k: u64, slot: Slot) {
        let k = k as usize;
        if k >= self.0.len() {
            self.0.resize(k + 1, Slot::FRESH);
        }
        self.0[k] = slot;
    }

    /// The same seats as another share numbers them. Returns the numbers of seats that are taken and which the new share
    /// does not have.
    pub(super) fn renumber(&mut self, before: &Share, after: &Share) -> Vec<(u64, Slot)> {
        let mut given_away = Vec::new();
        let seats = std::mem::take(&mut self.0);
        for (k, slot) in seats.into_iter().enumerate() {
            let Some(number) = before.nth(k as u64) else { break };
            if after.owns(number) {
                self.set(after.count_below(number), slot);
            } else if slot.is_taken() {
                given_away.push((number, slot));
            }
        }
        given_away
    }
}

/// How many iterations were begun on each seat, where they are counted: seat k is that of the share's k-th number.
#[derive(Debug, Default)]
pub(super) struct Begun(Vec<u32>);

impl Begun {
    pub(super) fn get(&self, k: u64) -> u64 {
        u64::from(self.0.get(k as usize).copied().unwrap_or(0))
    }

    /// At least so many were begun; four thousand million are not counted on.
    pub(super) fn raise(&mut self, k: u64, begun: u64) {
        let k = k as usize;
        if k >= self.0.len() {
            self.0.resize(k + 1, 0);
        }
        self.0[k] = self.0[k].max(u32::try_from(begun).unwrap_or(u32::MAX));
    }

    /// The same as another share numbers the seats.
    pub(super) fn renumber(&mut self, before: &Share, after: &Share) {
        for (k, begun) in std::mem::take(&mut self.0).into_iter().enumerate() {
            let number = before.nth(k as u64).filter(|number| begun > 0 && after.owns(*number));
            number.into_iter().for_each(|n| self.raise(after.count_below(n), u64::from(begun)));
        }
    }
}

/// The place of a seat among those of a share; `None`: the share does not have it.
pub(super) fn index(seat: Seat, share: &Share) -> Option<u64> {
    share.owns(seat.number).then(|| share.count_below(seat.number))
}
