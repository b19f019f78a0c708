//! Marks in the stream, by which a controller knows how far it has read: what was stored before a mark has come when the mark
//! has. Otherwise its own reading that is behind would look like silence of all nodes.

use std::collections::VecDeque;

use crate::protocol::codec::{self, Stored};
use crate::protocol::io::Output;
use crate::protocol::keys;
use crate::protocol::units::{MS, Nanos, SECOND};

use super::desk::{Cx, Purpose};

const EACH: Nanos = 250 * MS;
/// Most marks that are on their way: those beyond are forgotten, the oldest first.
const MOST: usize = 64;
/// Marks that are further apart leave a gap in what is known of the stream: between them the controller was cut off, or the
/// server has forgotten what it had stored.
const GAP: Nanos = 2 * SECOND;

/// Marks that were sent, and until when the stream was read.
#[derive(Debug, Default)]
pub struct Marks {
    serial: u64,
    sent: VecDeque<(u64, Nanos)>,
    next: Nanos,
    /// All that was stored until then has been read; `None`: no mark has come yet.
    pub read_until: Option<Nanos>,
    /// Since when it has been read without a gap.
    read_since: Nanos,
}

impl Marks {
    /// Sends one, if it is time.
    pub fn send(&mut self, run: &str, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        if now < self.next {
            return;
        }
        self.next = now + EACH;
        self.serial += 1;
        self.sent.push_back((self.serial, now));
        if self.sent.len() > MOST {
            self.sent.pop_front();
        }
        let (nonce, serial) = (cx.lead.nonce, self.serial);
        let ticket = cx.desk.ticket(Purpose::Mark);
        let payload = codec::encode(&Stored::Mark { nonce, serial });
        cx.out.push(Output::Publish {
            ticket,
            subject: keys::second(run, keys::MARK),
            id: format!("{run}/~/{nonce}/{serial}"),
            payload,
        });
    }

    /// One of this controller has come.
    pub fn on_mark(&mut self, serial: u64) {
        while let Some(&(first, at)) = self.sent.front()
            && first <= serial
        {
            self.sent.pop_front();
            if first == serial {
                if self.read_until.is_none_or(|until| until + GAP < at) {
                    self.read_since = at;
                }
                self.read_until = self.read_until.max(Some(at));
            }
        }
    }

    /// For how long nothing has come of somebody who was heard of then. What was stored in a gap may be forgotten, so nobody
    /// is silent before its end.
    pub fn silence(&self, heard: Nanos) -> Nanos {
        self.read_until.unwrap_or(0).saturating_sub(heard.max(self.read_since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_in_a_gap_may_be_forgotten_and_is_nobodys_silence() {
        let mut marks = Marks::default();
        let heard = 9 * SECOND;
        assert_eq!(marks.silence(heard), 0, "nothing was read");
        for (serial, at) in [(1, 10), (2, 12), (3, 14), (4, 23), (5, 24)] {
            marks.sent.push_back((serial, at * SECOND));
        }
        let silences = (1..=5).map(|serial| {
            marks.on_mark(serial);
            marks.silence(heard) / SECOND
        });
        assert_eq!(Vec::from_iter(silences), [0, 2, 4, 0, 1]);
        assert_eq!(marks.silence(25 * SECOND), 0, "it was heard after the last mark");
    }
}
