//! The timing wheel that everything of a worker waits in: users, arrivals, time limits.
//! Pure: no clock, no system call; time comes in as nanoseconds of the run's clock.
//!
//! A hierarchy of 64-slot wheels (Varghese and Lauck, 1987, scheme 6) with a slot of about 1 ms at
//! the lowest level; what is due within the current slot waits in a small heap, so that it comes
//! out at its exact time and in order. Inserting and taking out cost the same for ten timers and
//! for a million.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds of a slot at the lowest level, as a power of two: 1.05 ms.
const TICK_SHIFT: u32 = 20;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Seven levels reach 2^(20 + 7 * 6) ns = 146 years.
const LEVELS: usize = 7;

/// Timers of type `T`, each due at a nanosecond of the run's clock.
pub(crate) struct Wheel<T> {
    /// What is due in the current slot or before it, earliest first.
    near: BinaryHeap<Reverse<Entry<T>>>,
    /// What is due later: slot by level.
    slots: Vec<Vec<Entry<T>>>,
    /// One bit a slot that holds something, by level.
    occupied: [u64; LEVELS],
    /// The slot that time is in.
    tick: u64,
    /// Order among timers due at the same nanosecond: first in, first out.
    sequence: u64,
}

#[derive(Clone, Copy)]
struct Entry<T> {
    due: u64,
    sequence: u64,
    timer: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64) {
        (self.due, self.sequence)
    }
}

impl<T: Copy> Wheel<T> {
    /// An empty wheel at time 0.
    pub(crate) fn new() -> Self {
        Wheel {
            near: BinaryHeap::new(),
            slots: (0..LEVELS * SLOTS).map(|_| Vec::new()).collect(),
            occupied: [0; LEVELS],
            tick: 0,
            sequence: 0,
        }
    }

    /// Adds a timer. One that is due in the past comes out at the next [`Wheel::pop`].
    pub(crate) fn insert(&mut self, due: u64, timer: T) {
        self.sequence += 1;
        self.place(Entry { due, sequence: self.sequence, timer });
    }

    fn place(&mut self, entry: Entry<T>) {
        let tick = entry.due >> TICK_SHIFT;
        if tick <= self.tick {
            self.near.push(Reverse(entry));
            return;
        }
        // The highest digit in which the two ticks differ says how far away it is. Ticks have 44
        // bits, so that the level is at most 7; what is over 146 years away goes to the last one.
        let level = (63 - (tick ^ self.tick).leading_zeros()) / SLOT_BITS;
        let level = (level as usize).min(LEVELS - 1);
        let slot = digit(tick, level);
        self.occupied[level] |= 1 << slot;
        self.slots[level * SLOTS + slot].push(entry);
    }

    /// Takes out all timers but those that are kept.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        self.near.retain(|Reverse(entry)| is_kept(&entry.timer));
        for (at, slot) in self.slots.iter_mut().enumerate() {
            slot.retain(|entry| is_kept(&entry.timer));
            if slot.is_empty() {
                self.occupied[at / SLOTS] &= !(1 << (at % SLOTS));
            }
        }
    }

    /// How many timers there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.near.len() + self.slots.iter().map(Vec::len).sum::<usize>()
    }

    /// The earliest timer that is due at `now`, if any.
    pub(crate) fn pop(&mut self, now: u64) -> Option<(u64, T)> {
        self.advance(now >> TICK_SHIFT);
        let Reverse(first) = self.near.peek()?;
        if first.due > now {
            return None;
        }
        self.near.pop().map(|Reverse(entry)| (entry.due, entry.timer))
    }

    /// When to look again: the time of the earliest timer, or an earlier moment at which a slot has
    /// to be sorted into finer ones. `None` when the wheel is empty.
    pub(crate) fn next(&self) -> Option<u64> {
        match self.near.peek() {
            Some(Reverse(entry)) => Some(entry.due),
            None => self.next_occupied().map(|(tick, ..)| tick << TICK_SHIFT),
        }
    }

    /// Moves the current slot on to `to`, sorting what it passes.
    fn advance(&mut self, to: u64) {
        while self.tick < to {
            match self.next_occupied() {
                Some((tick, level, slot)) if tick <= to => {
                    self.tick = tick;
                    self.occupied[level] &= !(1 << slot);
                    let mut entries = std::mem::take(&mut self.slots[level * SLOTS + slot]);
                    for entry in entries.drain(..) {
                        self.place(entry);
                    }
                    // The slot's memory serves its next turn.
                    self.slots[level * SLOTS + slot] = entries;
                }
                _ => self.tick = to,
            }
        }
    }

    /// The first slot after the current one that holds something: its first tick, level, index.
    fn next_occupied(&self) -> Option<(u64, usize, usize)> {
        for level in 0..LEVELS {
            let here = digit(self.tick, level);
            // Bits above `here`; a shift by 64 would be an overflow.
            let later =
                if here == SLOTS - 1 { 0 } else { self.occupied[level] & (u64::MAX << (here + 1)) };
            if later != 0 {
                let slot = later.trailing_zeros() as usize;
                let shift = SLOT_BITS * level as u32;
                let above = self.tick >> (shift + SLOT_BITS) << (shift + SLOT_BITS);
                return Some((above | (slot as u64) << shift, level, slot));
            }
        }
        None
    }
}

/// The 6-bit digit of a tick at a level.
fn digit(tick: u64, level: usize) -> usize {
    (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gives_timers_in_order_of_time_then_of_insertion() {
        let mut wheel = Wheel::new();
        for (due, timer) in [(5_000_000_000, 'd'), (10, 'a'), (3_000_000, 'c'), (10, 'b')] {
            wheel.insert(due, timer);
        }
        assert_eq!(wheel.pop(9), None);
        assert_eq!(wheel.next(), Some(10));
        let all: String = std::iter::from_fn(|| wheel.pop(u64::MAX >> 2)).map(|(_, t)| t).collect();
        assert_eq!(all, "abcd");
        assert_eq!(wheel.next(), None);
    }

    #[test]
    fn what_is_taken_out_does_not_come_out() {
        let mut wheel = Wheel::new();
        (0..1_000).for_each(|n| wheel.insert(n * n * n * 1_000, n));
        wheel.retain(|n| n % 10 == 0);
        assert_eq!(wheel.len(), 100);
        let left: Vec<u64> =
            std::iter::from_fn(|| wheel.pop(u64::MAX >> 2)).map(|(_, n)| n).collect();
        assert_eq!(left, (0..100).map(|n| 10 * n).collect::<Vec<_>>());
        wheel.insert(u64::MAX >> 2, 1);
        wheel.retain(|_| false);
        assert_eq!(wheel.next(), None);
    }

    #[test]
    fn next_is_never_late() {
        let mut wheel = Wheel::new();
        wheel.insert(7_000_000_123, ());
        let mut now = 0;
        loop {
            let next = wheel.next().expect("a timer is in the wheel");
            assert!(next <= 7_000_000_123);
            assert!(next >= now);
            now = next;
            if let Some((due, ())) = wheel.pop(now) {
                assert_eq!((now, due), (7_000_000_123, 7_000_000_123));
                return;
            }
        }
    }

    proptest! {
        /// Whatever is put in at whatever time comes out once, not early, and not after a look at a
        /// time past its due time.
        #[test]
        fn nothing_is_lost_early_or_late(steps in prop::collection::vec((0u64..1 << 40, 0u64..1 << 36), 1..200)) {
            let mut wheel = Wheel::new();
            let mut waiting = std::collections::BTreeMap::new();
            let mut now = 0;
            for (n, (distance, pass)) in steps.into_iter().enumerate() {
                wheel.insert(now + distance, n);
                waiting.insert(n, now + distance);
                now += pass;
                while let Some((due, timer)) = wheel.pop(now) {
                    prop_assert_eq!(waiting.remove(&timer), Some(due));
                    prop_assert!(due <= now);
                }
                prop_assert!(waiting.values().all(|&due| due > now));
                if let Some(&first) = waiting.values().min() {
                    prop_assert!(wheel.next().is_some_and(|next| next <= first));
                }
            }
        }
    }
}
