//! A load that sends nothing: request `i` of a shard in a second is due at (i + 1/2) / 4 of it, so that what was sent by a
//! moment is known.

use crate::protocol::io::{Bytes, LoadCommand, LoadEvent, Nanos};
use crate::protocol::messages::{Change, Second, Shards};
use crate::protocol::units::SECOND;

use super::iterations::{Begun, Counted, Iterations};

/// Requests of a shard in a second.
pub const REQUESTS: u64 = 4;
pub const ALL: u8 = 0b1111;

/// The load on a node.
#[derive(Debug, Default)]
pub struct Load {
    pub start: Option<Nanos>,
    parts: Vec<(u32, Shards)>,
    pauses: Vec<Pause>,
    pub is_fenced: bool,
    /// Seconds below are recorded, or were not driven.
    next: u32,
    length: u32,
    pub is_over: bool,
    /// Until when it was told that it may go on.
    valid_until: Nanos,
    iterations: Option<Iterations>,
    /// What was told last: since which second all is done.
    told_done: Option<u32>,
}

/// A pause, or its end.
#[derive(Debug, Clone, Copy)]
struct Pause {
    from: u32,
    is_paused: bool,
    /// From this second on it is obeyed: later, if the node heard of it late.
    obeyed: u32,
}

/// What was sent of a shard in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Shard and second.
    pub cell: (u32, u32),
    /// Which requests.
    pub mask: u8,
    /// The second of the load without pauses whose requests these are; `None`: the node heard of a pause late.
    pub place: Option<u32>,
    /// Of how many pauses and ends of pauses it had heard.
    pub heard: usize,
}

/// What the load has done.
#[derive(Debug, Default)]
pub struct Done {
    pub events: Vec<LoadEvent>,
    pub sent: Vec<Sent>,
    pub begun: Vec<Begun>,
    pub wrong: Option<String>,
}

impl Load {
    pub fn new(length: u32, counted: Option<Counted>) -> Load {
        Load { length, iterations: counted.map(Iterations::new), ..Load::default() }
    }

    /// Whether it sends at this time.
    pub fn sends(&self, now: Nanos) -> bool {
        let Some(start) = self.start else { return false };
        !self.is_over
            && !self.is_fenced
            && now >= start
            && !self.shards(second(start, now)).is_empty()
    }

    fn shards(&self, second: u32) -> Shards {
        self.parts
            .iter()
            .rev()
            .find(|part| part.0 <= second)
            .map_or_else(|| Shards::from([]), |part| part.1.clone())
    }

    fn is_paused(&self, second: u32) -> bool {
        let obeyed = self.pauses.iter().rev().find(|pause| pause.obeyed <= second);
        obeyed.is_some_and(|pause| pause.is_paused)
    }

    /// See [`Sent::place`].
    fn place(&self, second: u32) -> Option<u32> {
        let is_late = self.pauses.iter().any(|own| (own.from..own.obeyed).contains(&second));
        let pauses = self.pauses.iter().map(|own| (own.from, own.is_paused));
        (!is_late).then(|| without_pauses(pauses, second))
    }

    /// When the next second ends.
    pub fn wake_at(&self) -> Option<Nanos> {
        self.start
            .filter(|_| !self.is_over)
            .map(|start| start + (u64::from(self.next) + 1) * SECOND)
    }

    pub fn command(&mut self, now: Nanos, command: &LoadCommand, done: &mut Done) {
        let current = self.start.map_or(0, |start| second(start, now));
        match command {
            LoadCommand::Prepare { .. } => {}
            LoadCommand::Known(known) => {
                self.iterations.iter_mut().for_each(|own| own.know(known));
            }
            LoadCommand::Start { at, shards } => {
                if self.start.is_some() {
                    done.wrong = Some("started twice".into());
                }
                self.start = Some(*at);
                self.next = second(*at, now);
                if *at < now && !shards.is_empty() {
                    done.wrong = Some("started with shards after the start".into());
                }
                self.parts.push((0, shards.clone()));
            }
            LoadCommand::Reshare { from, shards } => self.reshare(now, *from, shards, done),
            LoadCommand::Resume { from, shards } => {
                if !self.is_fenced {
                    done.wrong = Some("resumed without a fence".into());
                }
                self.is_fenced = false;
                self.next = current.max(self.next);
                self.reshare(now, *from, shards, done);
            }
            LoadCommand::Change(Change::Pause { from }) => self.pause(now, *from, true),
            LoadCommand::Change(Change::GoOn { from }) => self.pause(now, *from, false),
            LoadCommand::Change(Change::Shape { .. }) => {}
            LoadCommand::Change(Change::Stop { .. } | Change::Done | Change::Abort) => {
                if !self.is_over {
                    self.cut(now, done);
                    self.is_over = true;
                    done.events.push(LoadEvent::Ended { failures: Vec::new() });
                }
            }
            LoadCommand::Valid { until } => {
                if *until < self.valid_until || *until <= now {
                    done.wrong = Some("told of a lease that is over".into());
                }
                self.valid_until = *until;
            }
            LoadCommand::Fence => {
                if now < self.valid_until || self.valid_until == 0 {
                    done.wrong = Some("fenced before its lease was over".into());
                }
                self.cut(now, done);
                self.is_fenced = true;
                self.parts.push((current + 1, Shards::from([])));
            }
            LoadCommand::Forget => {
                self.cut(now, done);
                done.events.clear();
                self.is_over = true;
            }
        }
    }

    fn pause(&mut self, now: Nanos, from: u32, is_paused: bool) {
        let has_begun = self.start.filter(|start| start + u64::from(from) * SECOND < now);
        let obeyed = has_begun.map_or(from, |start| from.max(second(start, now) + 1));
        self.pauses.push(Pause { from, is_paused, obeyed });
    }

    fn reshare(&mut self, now: Nanos, from: u32, shards: &Shards, done: &mut Done) {
        if self.start.is_some_and(|start| start + u64::from(from) * SECOND < now) {
            done.wrong = Some(format!("shards from second {from} on, which has begun"));
        }
        if self.parts.last().is_some_and(|last| last.0 > from) {
            self.parts.retain(|part| part.0 < from);
        }
        self.parts.push((from, shards.clone()));
    }

    /// What was sent of the second that goes on, which ends here; also when the process is killed.
    pub fn cut(&mut self, now: Nanos, done: &mut Done) {
        let Some(start) =
            self.start.filter(|start| now > *start && !self.is_over && !self.is_fenced)
        else {
            return;
        };
        self.seconds(now, done);
        if self.is_over || now < start + u64::from(self.next) * SECOND {
            return;
        }
        let elapsed = now - start - u64::from(self.next) * SECOND;
        let requests =
            (0..REQUESTS).filter(|request| (2 * request + 1) * SECOND / (2 * REQUESTS) < elapsed);
        let mask = requests.fold(0u8, |mask, request| mask | 1 << request);
        self.record(self.next, mask, false, done);
        self.next += 1;
    }

    /// Records the seconds that are over.
    pub fn seconds(&mut self, now: Nanos, done: &mut Done) {
        while let Some(end) = self.wake_at()
            && end <= now
        {
            if !self.is_fenced {
                self.record(self.next, ALL, true, done);
                self.tell_done(done);
            }
            self.next += 1;
            if self.next >= self.length {
                self.is_over = true;
                done.events.push(LoadEvent::Ended { failures: Vec::new() });
            }
        }
    }

    /// Tells whether its iterations are all done, if that has changed.
    fn tell_done(&mut self, done: &mut Done) {
        let (Some(iterations), Some((from, shards))) = (&self.iterations, self.parts.last()) else {
            return;
        };
        let since = (*from <= self.next && iterations.are_done(shards)).then_some(*from);
        if std::mem::replace(&mut self.told_done, since) != since {
            done.events.push(LoadEvent::Done { since });
        }
    }

    fn record(&mut self, second: u32, mask: u8, is_whole: bool, done: &mut Done) {
        let shards = self.shards(second);
        let mask = if self.is_paused(second) { 0 } else { mask };
        let place = self.place(second);
        let mut record = Vec::new();
        for &shard in shards.iter() {
            record.extend_from_slice(&shard.to_le_bytes());
            record.push(mask);
            done.sent.push(Sent { cell: (shard, second), mask, place, heard: self.pauses.len() });
        }
        if let Some(iterations) = &mut self.iterations {
            iterations.go_on(second, &shards, mask.count_ones(), &mut done.begun);
            done.events.extend(iterations.tell().map(LoadEvent::Progress));
        }
        let record = Bytes::from(record);
        let late = is_whole && second % 4 == 1 && !shards.is_empty();
        let again =
            Second { second, shards: shards.clone(), is_whole, late: 1, record: Bytes::from([]) };
        done.events.push(LoadEvent::Second(Second { second, shards, is_whole, late: 0, record }));
        if late {
            // Something of the second comes after it, such as what was still in flight.
            done.events.push(LoadEvent::Second(again));
        }
    }
}

/// How many seconds before this one were not in a pause. Of pauses and their ends, in their order.
pub fn without_pauses(pauses: impl Iterator<Item = (u32, bool)>, second: u32) -> u32 {
    let (mut since, mut stood) = (None, 0);
    for (from, is_paused) in pauses.filter(|(from, _)| *from <= second) {
        match (is_paused, since) {
            (true, None) => since = Some(from),
            (false, Some(at)) => {
                stood += from - at;
                since = None;
            }
            _ => {}
        }
    }
    since.unwrap_or(second) - stood
}

fn second(start: Nanos, now: Nanos) -> u32 {
    (now.saturating_sub(start) / SECOND) as u32
}
