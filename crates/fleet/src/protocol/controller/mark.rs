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
    pub fn silence_since(&self, heard: Nanos) -> Nanos {
        self.read_until.unwrap_or(0).saturating_sub(heard.max(self.read_since))
    }
}
