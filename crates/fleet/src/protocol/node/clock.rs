//! The fleet's time, by a node's own steady clock.

use crate::protocol::codec;
use crate::protocol::io::{Answer, Now, Output};
use crate::protocol::messages::Clock;
use crate::protocol::units::{FleetTime, MS, Nanos, SECOND};

use super::desk::{Cx, Purpose};

/// How often the time is asked for when a run is joined, and each minute.
const AT_JOINING: u32 = 40;
const EACH_MINUTE: u32 = 8;
const MINUTE: Nanos = 60 * SECOND;
/// How long an answer may take.
const WAIT: Nanos = 500 * MS;

/// What is known of the fleet's time.
#[derive(Debug)]
pub struct NodeClock {
    /// Fleet time less the steady clock, and how well it is known.
    best: Option<Sample>,
    /// The best of the questions that are being asked.
    round: Option<Sample>,
    /// How many questions are left.
    left: u32,
    /// When the next is asked.
    next: Nanos,
    is_out: bool,
    /// When the controller answered last, or was asked first.
    pub heard: Nanos,
    /// How many seconds the controller has written down.
    pub written: u32,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    ahead: i64,
    error: u64,
}

impl NodeClock {
    /// A clock that asks from now on.
    pub fn new(now: Nanos) -> NodeClock {
        NodeClock {
            best: None,
            round: None,
            left: AT_JOINING,
            next: now,
            is_out: false,
            heard: now,
            written: 0,
        }
    }

    /// Whether the time is known.
    pub fn is_set(&self) -> bool {
        self.best.is_some()
    }

    /// Fleet time; 0 if it is not known.
    pub fn time(&self, steady: Nanos) -> FleetTime {
        self.best.map_or(0, |best| best.ahead.saturating_add(steady as i64))
    }

    /// When it is this fleet time, by the steady clock.
    pub fn steady_at(&self, time: FleetTime) -> Option<Nanos> {
        let at = time.saturating_sub(self.best?.ahead);
        Some(at.max(0) as Nanos)
    }

    /// Fleet time less the time of the system's clock, and how well it is known.
    pub fn offset(&self, now: Now) -> (i64, u64) {
        self.best.map_or((0, 0), |best| {
            (best.ahead.saturating_add(now.steady as i64).saturating_sub(now.unix), best.error)
        })
    }

    /// When it has something to ask.
    pub fn wake_at(&self) -> Option<Nanos> {
        (!self.is_out).then_some(self.next)
    }

    /// Asks, if it is time.
    pub fn ask(&mut self, subject: &str, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        if self.is_out || now < self.next {
            return;
        }
        if self.left == 0 {
            self.left = EACH_MINUTE;
        }
        self.is_out = true;
        let ticket = cx.desk.ticket(Purpose::Time(now));
        cx.out.push(Output::Ask {
            ticket,
            subject: subject.into(),
            payload: crate::protocol::keys::nothing(),
            wait: WAIT,
        });
    }

    /// Takes an answer.
    pub fn on_answer(&mut self, sent: Nanos, now: Nanos, answer: &Answer) {
        self.is_out = false;
        let read = match answer {
            Answer::Reply(bytes) => codec::read_json::<Clock>(bytes).ok(),
            _ => None,
        };
        let Some(clock) = read else {
            self.next = now + WAIT;
            return;
        };
        self.heard = now;
        self.written = self.written.max(clock.written);
        let trip = now.saturating_sub(sent);
        let middle = (sent + trip / 2) as i64;
        let sample = Sample { ahead: clock.time.saturating_sub(middle), error: trip.div_ceil(2) };
        if self.round.is_none_or(|best| sample.error < best.error) {
            self.round = Some(sample);
        }
        self.left = self.left.saturating_sub(1);
        self.next = now;
        if self.left == 0 {
            self.best = self.round.take();
            self.next = now + MINUTE;
        } else if self.best.is_none_or(|best| self.left >= EACH_MINUTE && best.error > sample.error)
        {
            // While it asks for the first time, the best so far is what there is.
            self.best = self.round;
        }
    }
}
