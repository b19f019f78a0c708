//! When bytes that were read could first have been read. Pure.
//!
//! The kernel's stamp of a read is that of the last segment in it. What arrived behind a gap has a stamp from before the gap
//! was closed by a segment that was sent again, and could not be read until then, which may be 200 ms and more later. The
//! stamp would make the response too early, and the difference this program's delay. So a stamp from before the event loop
//! last found nothing is held against what TCP knows of the connection: whether anything came out of order, and when the
//! stream was last continued. Where nothing did, a stamp is right however late the program looks.

use std::cell::Cell;

#[cfg(test)]
mod tests;

/// A stamp is taken as it is if it is older than the event loop's last look at its sockets by no more than this, as asking TCP
/// costs a system call. An event loop that waits reads a response sooner.
const RECENT_NS: u64 = 500_000;

/// When the event loop has looked at its sockets, in ns on the client's clock.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// When it had last seen all that had arrived, before what it reads now.
    before: Cell<u64>,
    /// The same of what it reads now.
    last: Cell<u64>,
}

impl Looks {
    /// It has looked, from one moment to another. It may have waited for something to arrive: then nothing had before.
    pub(crate) fn looked(&self, begin: u64, end: u64) {
        let (before, last) = match end.saturating_sub(begin) > RECENT_NS {
            true => (end, end),
            false => (self.last.get(), begin),
        };
        self.before.set(before);
        self.last.set(last);
    }

    /// Of what age a stamp may be at `now` without being held against anything.
    pub(crate) fn recent_ns(&self, now: u64) -> u64 {
        now.saturating_sub(self.before.get()) + RECENT_NS
    }
}

/// What TCP knows of what arrived on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inflow {
    /// Segments that arrived behind a gap, since the connection was begun.
    pub out_of_order: u32,
    /// How long ago the stream was last continued, in ns, to within a tick.
    pub last_ns: u64,
    /// A tick of the kernel's clock, in ns.
    pub tick_ns: u64,
}

/// What was read from a connection, as far as it says when what is read next can have been there.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// When what was read last had arrived, in ns since 1970. What is behind it in the stream cannot have been read before.
    latest_ns: u64,
    /// Segments that had arrived behind a gap when TCP was last asked.
    out_of_order: u32,
    /// When there were more of them than before, in ns since 1970.
    noticed_ns: u64,
}

impl Arrivals {
    /// How many ns ago the bytes could first have been read that were read just now, at `now_ns` (since 1970), with the
    /// kernel's stamp; 0: it gave none. `None`: it is not known, or in the future, which happens after a change of the system
    /// clock. `recent_ns`: up to which age a stamp is taken as it is ([`Looks`]), asked for only if it is old enough, as the answer
    /// costs a look at the clock.
    pub(crate) fn ago_ns(
        &mut self,
        stamp_ns: u64,
        now_ns: u64,
        recent_ns: impl FnOnce() -> u64,
        inflow: impl FnOnce() -> Option<Inflow>,
    ) -> Option<u64> {
        if stamp_ns == 0 {
            return None;
        }
        let age = now_ns.checked_sub(stamp_ns)?;
        let mut ago = age;
        // It is in the future after a change of the system clock.
        if let Some(latest) = now_ns.checked_sub(self.latest_ns) {
            ago = ago.min(latest);
        }
        if ago >= RECENT_NS
            && ago >= recent_ns()
            && let Some(inflow) = inflow()
        {
            ago = ago.min(self.behind_gaps(age, now_ns, &inflow));
        }
        self.latest_ns = now_ns - ago;
        Some(ago)
    }

    /// How long ago the bytes can have been read first, at most, if their stamp is of that age.
    fn behind_gaps(&mut self, age: u64, now_ns: u64, inflow: &Inflow) -> u64 {
        let Inflow { out_of_order, last_ns, tick_ns } = *inflow;
        if out_of_order != self.out_of_order {
            (self.out_of_order, self.noticed_ns) = (out_of_order, now_ns);
        }
        // Of a gap from before then, a stamp that is too old is older than TCP's time by more than a tick.
        let is_new = now_ns.saturating_sub(self.noticed_ns) < 2 * tick_ns;
        match out_of_order > 0 && (is_new || age >= last_ns + tick_ns) {
            // It was so long ago at least: an event loop that waited has read them at once.
            true => last_ns.saturating_sub(tick_ns),
            false => age,
        }
    }
}
