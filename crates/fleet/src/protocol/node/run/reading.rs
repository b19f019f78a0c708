//! The keys of a run that a node reads: told by watches, and read directly from time to time, as a watch may be late.

use std::sync::Arc;

use crate::protocol::codec;
use crate::protocol::io::{Answer, Output};
use crate::protocol::keys;
use crate::protocol::messages::{Assignment, Changes, Order};
use crate::protocol::node::desk::{Cx, Polled, Purpose};
use crate::protocol::units::{Bytes, Nanos, SECOND};

use super::{InRun, Over, SOON};

/// How often a key is read that the node does not wait for.
const NOW_AND_THEN: Nanos = 5 * SECOND;

impl InRun {
    /// Takes the value of a key, if it is one of this run's.
    pub fn on_key(&mut self, key: &str, revision: u64, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        match key {
            key if key == keys::share(&self.run, &cx.me.card.node) => {
                self.take_share(revision, value, cx)
            }
            key if key == keys::changes(&self.run) => self.take_changes(value, cx),
            key if key == keys::release(&self.run) && value.is_some() => {
                self.over = Some(Over::Released)
            }
            _ => {}
        }
    }

    /// Takes the answer to a read of a key.
    pub fn on_read(&mut self, polled: Polled, answer: &Answer, cx: &mut Cx<'_>) {
        let poll = &mut self.polls[polled as usize];
        poll.is_out = false;
        poll.next = cx.now.steady + SOON;
        let Answer::Value(value) = answer else { return };
        let (revision, bytes) = match value {
            Some((revision, bytes)) => (*revision, Some(bytes)),
            None => (0, None),
        };
        match polled {
            Polled::Order => self.take_order(bytes, cx),
            Polled::Share => self.take_share(revision, bytes, cx),
            Polled::Changes => self.take_changes(bytes, cx),
            Polled::Release if bytes.is_some() => self.over = Some(Over::Released),
            Polled::Release => {}
        }
        if self.is_settled(polled) {
            self.polls[polled as usize].next = cx.now.steady + NOW_AND_THEN;
        }
    }

    /// Whether a key need not be read again soon.
    fn is_settled(&self, polled: Polled) -> bool {
        match polled {
            Polled::Order => self.order.is_some(),
            Polled::Share => self.load.start.is_some() && !self.parts.is_fenced,
            Polled::Changes | Polled::Release => true,
        }
    }

    fn take_order(&mut self, bytes: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = bytes else {
            self.over = Some(if self.order.is_some() { Over::Released } else { Over::Void });
            return;
        };
        if self.order.is_some() {
            return;
        }
        match codec::read_json::<Order>(bytes) {
            Ok(order) if order.run == self.run && order.version == cx.me.card.version => {
                self.lease.set_length(order.lease.clamp(SECOND, 3_600 * SECOND));
                self.order = Some(Arc::new(order));
            }
            Ok(order) => self.refuse(
                format!(
                    "the run wants squall {}, and this node is {}: install the same version on all machines",
                    order.version, cx.me.card.version
                ),
                cx,
            ),
            Err(error) => self.refuse(format!("the run's order cannot be read: {error}"), cx),
        }
    }

    fn take_share(&mut self, revision: u64, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = value else { return };
        if self.assignment.as_ref().is_some_and(|known| known.0 >= revision) {
            return;
        }
        match codec::read_json::<Assignment>(bytes) {
            // One of another process of this name: this one has none until the controller knows of it.
            Ok(assignment) if assignment.boot == cx.me.card.boot => {
                self.assignment = Some((revision, assignment))
            }
            Ok(_) => {}
            Err(error) => cx
                .log(format!("the share of this node in run {} cannot be read: {error}", self.run)),
        }
    }

    fn take_changes(&mut self, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = value else { return };
        match codec::read_json::<Changes>(bytes) {
            Ok(changes) if changes.0.len() > self.changes.1.len() => self.changes.1 = changes.0,
            Ok(_) => {}
            Err(error) => {
                cx.log(format!("the changes of run {} cannot be read: {error}", self.run))
            }
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        for polled in [Polled::Order, Polled::Share, Polled::Changes, Polled::Release] {
            let poll = &mut self.polls[polled as usize];
            if poll.is_out || now < poll.next {
                continue;
            }
            poll.is_out = true;
            let key = match polled {
                Polled::Order => keys::order(&self.run),
                Polled::Share => keys::share(&self.run, &cx.me.card.node),
                Polled::Changes => keys::changes(&self.run),
                Polled::Release => keys::release(&self.run),
            };
            let ticket = cx.desk.ticket(Purpose::Key(polled));
            cx.out.push(Output::Get { ticket, key });
        }
    }
}
