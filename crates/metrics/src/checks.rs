//! What checks came to, counted by check.

use crate::codec::{self, DecodeError};
use crate::names::{MAX_NUMBERS, NameId};

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckCounts {
    /// How often it passed.
    pub passed: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often it failed and was only to warn.
    pub warned: u64,
}

impl CheckCounts {
    /// How often it was evaluated.
    pub fn count(&self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.warned)
    }

    /// Adds what it came to elsewhere. Saturates: a file may contain anything.
    pub fn merge(&mut self, other: &CheckCounts) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.warned = self.warned.saturating_add(other.warned);
    }
}

/// What checks came to, by number.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Checks {
    counts: Vec<CheckCounts>,
    /// Numbers of the checks that were evaluated in this second, in the order of their first evaluation.
    touched: Vec<u32>,
}

impl Checks {
    pub(crate) fn of(&mut self, NameId(check): NameId) -> &mut CheckCounts {
        let index = check as usize;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, CheckCounts::default());
        }
        if self.counts[index].count() == 0 {
            self.touched.push(check);
        }
        &mut self.counts[index]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NameId, CheckCounts)> {
        self.touched
            .iter()
            .filter_map(|check| Some((NameId(*check), *self.counts.get(*check as usize)?)))
    }

    pub(crate) fn clear(&mut self) {
        for check in self.touched.drain(..) {
            self.counts[check as usize] = CheckCounts::default();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Heap memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<CheckCounts>() + self.touched.capacity() * 4
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.touched.len() as u64);
        for (NameId(id), counts) in self.iter() {
            codec::put(out, u64::from(id));
            codec::put_block(out, |out| {
                for count in [counts.passed, counts.failed, counts.warned] {
                    codec::put(out, count);
                }
            });
        }
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Checks, DecodeError> {
        let mut checks = Checks::default();
        for _ in 0..codec::get(bytes)? {
            let id = codec::get_u32(bytes)?;
            let mut block = codec::get_bytes(bytes)?;
            let mut count = || codec::get(&mut block);
            let counts = CheckCounts { passed: count()?, failed: count()?, warned: count()? };
            if id >= MAX_NUMBERS || counts.count() == 0 {
                return Err(DecodeError("the number of a check is out of range"));
            }
            *checks.of(NameId(id)) = counts;
        }
        Ok(checks)
    }
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    Passed,
    Failed,
    /// It failed and is only to warn.
    Warned,
}
