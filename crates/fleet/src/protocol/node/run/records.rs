//! What a node recorded: published, kept until it is written down, and published again when it is asked for.

use crate::protocol::codec::{self, Numbered, Stored};
use crate::protocol::io::{Answer, Kept, Output};
use crate::protocol::messages::{Resend, Second};
use crate::protocol::node::desk::{Cx, Purpose};
use crate::protocol::node::outbox::Kind;

use super::{InRun, spread};

/// Most messages that are sent again for one request.
const AGAIN: usize = 1_000;
/// Seconds that are remembered until the controller says that they are written down: a day.
const REMEMBERED: usize = 86_400;

impl InRun {
    pub(super) fn publish(&mut self, second: Second, cx: &mut Cx<'_>) {
        let number = self.numbered.next;
        self.numbered.next += 1;
        self.numbered.seconds.push_back((second.second, number));
        if self.numbered.seconds.len() > REMEMBERED {
            self.numbered.seconds.pop_front();
        }
        let boot = cx.me.card.boot;
        let epoch = self.parts.at(second.second).map_or(0, |taken| taken.epoch);
        let progress = self.progress.take_next();
        let numbered = Numbered { boot, number, epoch, progress, second };
        let payload = codec::encode(&Stored::Record(numbered));
        let id = format!("{}/{}/{boot}/{number}", self.run, cx.me.card.node);
        let (run, subject) = (self.run.clone(), self.subject.clone());
        cx.out.push(Output::Keep(Kept {
            run,
            boot,
            number,
            subject,
            id: id.clone(),
            payload: payload.clone(),
        }));
        self.outbox.push(id, payload, cx.now.steady + spread(&cx.me.card.node), Kind::Record);
    }

    /// What became of a message.
    pub fn on_published(&mut self, key: u64, answer: &Answer, cx: &mut Cx<'_>) {
        if let Some(first) = self.outbox.on_answer(key, answer, cx) {
            self.lease.renew(first);
        }
    }

    /// The controller asks for messages again.
    pub fn on_resend(&mut self, payload: &[u8], cx: &mut Cx<'_>) {
        let Ok(resend) = codec::read_json::<Resend>(payload) else { return };
        if resend.node != cx.me.card.node {
            return;
        }
        // What a former process has recorded is gone if its disk is: that is said as well.
        let (boot, round) = (resend.boot, resend.round);
        let numbers =
            resend.numbers.iter().flat_map(|&(first, last)| (first..=last).take(AGAIN)).take(AGAIN);
        for number in numbers {
            let ticket = cx.desk.ticket(Purpose::Again { boot, number, round });
            cx.out.push(Output::Recall { ticket, run: self.run.clone(), boot, number });
        }
    }

    /// A kept message was read again, or is there no more.
    pub fn on_recalled(
        &mut self,
        (boot, number, round): (u64, u64, u64),
        answer: Answer,
        cx: &mut Cx<'_>,
    ) {
        let payload = match answer {
            Answer::Object(payload) => payload,
            Answer::Refused(_) => codec::encode(&Stored::Gone { boot, number }),
            _ => return,
        };
        let id = format!("{}/{}/{boot}/{number}/{round}", self.run, cx.me.card.node);
        self.outbox.push(id, payload, cx.now.steady, Kind::Other);
    }

    /// Tells the disk what is written down by the controller.
    pub(super) fn drop_written(&mut self, cx: &mut Cx<'_>) {
        if self.numbered.dropped >= self.clock.written {
            return;
        }
        self.numbered.dropped = self.clock.written;
        let mut below = None;
        while let Some(&(second, number)) = self.numbered.seconds.front()
            && second < self.clock.written
        {
            below = Some(number + 1);
            self.numbered.seconds.pop_front();
        }
        if let Some(below) = below {
            cx.out.push(Output::MayDrop { run: self.run.clone(), boot: cx.me.card.boot, below });
        }
    }
}
