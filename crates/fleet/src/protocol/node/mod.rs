//! A node: joins the fleet, waits for runs, drives its shards.

mod clock;
mod desk;
mod lease;
mod outbox;
mod parts;
mod run;

use std::collections::VecDeque;

use super::codec;
use super::io::{Answer, Input, Machine, Now, Output};
use super::keys;
use super::messages::{Call, Card, Heartbeat, Phase};
use super::units::{MS, Nanos, SECOND};

use desk::{Cx, Desk, Me, Purpose};
use run::{InRun, Over};

/// How often the heart beats in a run, and otherwise.
const BEAT: Nanos = 250 * MS;
const IDLE_BEAT: Nanos = SECOND;
/// How long a node listens for another one of its name: longer than a heart waits between two beats.
const LISTEN: Nanos = 2_500 * MS;
const AGAIN: Nanos = 500 * MS;
/// How often a node puts its card again: the server keeps it for a day, so that those of dead nodes go.
const CARD_AGAIN: Nanos = 3_600 * SECOND;
/// Most runs that a node remembers to have done.
const DONE: usize = 64;
/// How long a node that leaves waits for its card to be deleted.
const FAREWELL: Nanos = 2 * SECOND;

/// The machine of a node.
#[derive(Debug)]
pub struct Node {
    me: Me,
    once: bool,
    desk: Desk,
    member: Member,
    /// The revision of its card, and when it puts it again.
    card: (u64, Nanos),
    run: Option<InRun>,
    /// A run that it is called to, and does not take up while it is in another.
    called: Option<String>,
    done: VecDeque<String>,
    beat: Nanos,
    is_leaving: bool,
    is_connected: bool,
}

/// How far a node is in joining the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Member {
    /// Reads whether its name is free, from this time on.
    Reads(Nanos),
    /// Waits for an answer.
    Waits,
    /// The name was taken by the process of this boot: listens until then whether it lives.
    Listens { until: Nanos, revision: u64, boot: u64 },
    /// Is one.
    Joined,
    /// Has said farewell, and goes at this time at the latest.
    Leaves(Nanos),
    /// The process may end.
    Gone,
}

impl Node {
    /// A node with this card; `once`: it ends after one run.
    pub fn new(card: Card, once: bool) -> Node {
        Node {
            me: Me { card, former: Vec::new() },
            once,
            desk: Desk::default(),
            member: Member::Reads(0),
            card: (0, 0),
            run: None,
            called: None,
            done: VecDeque::new(),
            beat: 0,
            is_leaving: false,
            is_connected: false,
        }
    }

    fn take(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Kept { run, boot, numbers } => self.keep(run, boot, numbers),
            Input::Connected => self.is_connected = true,
            Input::Key { key, value: Some(value), .. } if key == keys::call(&self.me.card.node) => {
                if let Ok(call) = codec::read_json::<Call>(&value) {
                    self.called = Some(call.run).filter(|run| keys::is_name(run));
                }
            }
            Input::Heard { subject, payload } if subject == keys::heartbeat(&self.me.card.node) => {
                self.on_heart(&payload, out)
            }
            Input::Done { ticket, answer } => self.on_done(now, ticket, answer, out),
            Input::Leave => self.is_leaving = true,
            other => self.pass_on(now, other, out),
        }
    }

    /// What is the run's affair.
    fn pass_on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        let Some(run) = &mut self.run else { return };
        let mut cx = Cx { now, out, desk: &mut self.desk, me: &self.me };
        match input {
            Input::Key { key, revision, value } => {
                run.on_key(&key, revision, value.as_ref(), &mut cx)
            }
            Input::Heard { subject, payload } if subject == keys::resend(&run.run) => {
                run.on_resend(&payload, &mut cx)
            }
            Input::Load(event) => run.on_load(event, &mut cx),
            _ => {}
        }
    }

    fn keep(&mut self, run: String, boot: u64, numbers: u64) {
        // A sign names at most 64; the newest are the ones that matter.
        if boot != self.me.card.boot {
            self.me.former.push((run, boot, numbers));
            let extra = self.me.former.len().saturating_sub(64);
            self.me.former.drain(..extra);
        }
    }

    /// A heart beats under this name: another process has it, unless it is this one's own.
    fn on_heart(&mut self, payload: &[u8], out: &mut Vec<Output>) {
        let Member::Listens { boot, .. } = self.member else { return };
        let Ok(heart) = codec::read_json::<Heartbeat>(payload) else { return };
        if heart.boot == boot {
            out.push(Output::Log(format!(
                "the name {} is taken by another node of this fleet: give this one another by --name",
                self.me.card.node
            )));
            out.push(Output::End);
            self.member = Member::Gone;
        }
    }

    fn on_done(
        &mut self,
        now: Now,
        ticket: super::io::Ticket,
        answer: Answer,
        out: &mut Vec<Output>,
    ) {
        let Some(purpose) = self.desk.take(ticket) else { return };
        match purpose {
            Purpose::ReadCard => return self.on_card(now, answer, out),
            Purpose::PutCard => return self.on_put(now, answer, out),
            Purpose::PutCardAgain => return self.on_put_again(now, &answer),
            Purpose::Farewell => {
                self.member = Member::Gone;
                out.push(Output::End);
                return;
            }
            _ => {}
        }
        let Some(run) = &mut self.run else { return };
        let mut cx = Cx { now, out, desk: &mut self.desk, me: &self.me };
        match purpose {
            Purpose::Key(polled) => run.on_read(polled, &answer, &mut cx),
            Purpose::Publish(key) => run.on_published(key, &answer, &mut cx),
            Purpose::Again { boot, number, round } => {
                run.on_recalled((boot, number, round), answer, &mut cx)
            }
            Purpose::Time(sent) => run.on_time(sent, &answer, now.steady),
            Purpose::ReadCard | Purpose::PutCard | Purpose::PutCardAgain | Purpose::Farewell => {}
        }
    }

    /// The card under its name, as it stands.
    fn on_card(&mut self, now: Now, answer: Answer, out: &mut Vec<Output>) {
        let Answer::Value(value) = answer else {
            self.member = Member::Reads(now.steady + AGAIN);
            return;
        };
        let Some((revision, bytes)) = value else { return self.put_card(0, out) };
        match codec::read_json::<Card>(&bytes) {
            Ok(card) if card.boot == self.me.card.boot => self.join(now, revision, out),
            Ok(card) if !self.me.former.iter().any(|former| former.1 == card.boot) => {
                out.push(Output::Listen { subject: keys::heartbeat(&self.me.card.node) });
                self.member =
                    Member::Listens { until: now.steady + LISTEN, revision, boot: card.boot };
            }
            // A process that is dead, or what nobody can read.
            _ => self.put_card(revision, out),
        }
    }

    fn put_card(&mut self, revision: u64, out: &mut Vec<Output>) {
        self.member = Member::Waits;
        self.put(Purpose::PutCard, revision, out);
    }

    fn put(&mut self, purpose: Purpose, revision: u64, out: &mut Vec<Output>) {
        let ticket = self.desk.ticket(purpose);
        let (key, value) = (keys::card(&self.me.card.node), codec::json(&self.me.card));
        out.push(Output::Put { ticket, key, value, revision: Some(revision) });
    }

    fn on_put(&mut self, now: Now, answer: Answer, out: &mut Vec<Output>) {
        match answer {
            Answer::Stored(revision) => self.join(now, revision, out),
            Answer::Refused(why) => {
                out.push(Output::Log(format!(
                    "the server does not let {} join: {why}",
                    self.me.card.node
                )));
                self.member = Member::Reads(now.steady + 10 * AGAIN);
            }
            _ => self.member = Member::Reads(now.steady + AGAIN),
        }
    }

    /// Whether the card that was put again is there. One that the server had given up meanwhile is put anew.
    fn on_put_again(&mut self, now: Now, answer: &Answer) {
        match answer {
            Answer::Stored(revision) => self.card = (*revision, now.steady + CARD_AGAIN),
            Answer::Conflict if self.member == Member::Joined => {
                self.member = Member::Reads(now.steady)
            }
            _ => self.card.1 = now.steady + 10 * AGAIN,
        }
    }

    fn join(&mut self, now: Now, revision: u64, out: &mut Vec<Output>) {
        self.member = Member::Joined;
        let (before, _) = std::mem::replace(&mut self.card, (revision, now.steady + CARD_AGAIN));
        if before == 0 {
            out.push(Output::Watch { keys: keys::call(&self.me.card.node) });
            out.push(Output::Log(format!("joined as {}; waits for a run", self.me.card.node)));
        }
    }

    fn advance(&mut self, now: Now, out: &mut Vec<Output>) {
        match self.member {
            Member::Reads(at) if self.is_connected && now.steady >= at => {
                let ticket = self.desk.ticket(Purpose::ReadCard);
                self.member = Member::Waits;
                out.push(Output::Get { ticket, key: keys::card(&self.me.card.node) });
            }
            Member::Listens { until, revision, .. } if now.steady >= until => {
                self.put_card(revision, out)
            }
            Member::Leaves(at) if now.steady >= at => {
                self.member = Member::Gone;
                out.push(Output::End);
            }
            Member::Joined if now.steady >= self.card.1 && !self.is_leaving => {
                // Not once more before it is answered.
                self.card.1 = Nanos::MAX;
                self.put(Purpose::PutCardAgain, self.card.0, out);
            }
            _ => {}
        }
        self.enter(now, out);
        self.leave(now, out);
        self.advance_run(now, out);
        self.beat(now, out);
    }

    /// Takes up the run that it is called to.
    fn enter(&mut self, now: Now, out: &mut Vec<Output>) {
        if self.run.is_some() || self.member != Member::Joined || self.is_leaving {
            return;
        }
        let Some(called) = self.called.take() else { return };
        if self.done.contains(&called) {
            return;
        }
        out.push(Output::Log(format!("is called to run {called}")));
        self.run =
            Some(InRun::new(&called, &mut Cx { now, out, desk: &mut self.desk, me: &self.me }));
    }

    fn leave(&mut self, now: Now, out: &mut Vec<Output>) {
        if !self.is_leaving {
            return;
        }
        match (&mut self.run, &self.member) {
            (Some(run), _) => run.leave(now.steady),
            (None, Member::Leaves(_) | Member::Gone) => {}
            (None, _) => {
                let ticket = self.desk.ticket(Purpose::Farewell);
                out.push(Output::Delete { ticket, key: keys::card(&self.me.card.node) });
                self.member = Member::Leaves(now.steady + FAREWELL);
            }
        }
    }

    fn advance_run(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(run) = &mut self.run else { return };
        run.advance(&mut Cx { now, out, desk: &mut self.desk, me: &self.me });
        let Some(over) = run.over else { return };
        out.push(Output::Unwatch { run: run.run.clone() });
        if over == Over::Released {
            out.push(Output::Log(format!("is done with run {}", run.run)));
            self.me.former.retain(|former| former.0 != run.run);
        }
        self.done.push_back(run.run.clone());
        if self.done.len() > DONE {
            self.done.pop_front();
        }
        self.desk.retain(|purpose| !purpose.is_of_run());
        self.run = None;
        self.is_leaving |= self.once;
        self.leave(now, out);
    }

    fn beat(&mut self, now: Now, out: &mut Vec<Output>) {
        if now.steady < self.beat || self.member != Member::Joined {
            return;
        }
        self.beat = now.steady + if self.run.is_some() { BEAT } else { IDLE_BEAT };
        let mut heart = Heartbeat { boot: self.me.card.boot, ..Heartbeat::default() };
        if let Some(run) = &self.run {
            (heart.run, heart.phase) = (run.run.clone(), run.phase());
            heart.shards = run.shards(now.steady) as u32;
            heart.time = run.clock().time(now.steady);
            (heart.offset, heart.error) = run.clock().offset(now);
        } else {
            heart.phase = Phase::Idle;
        }
        out.push(Output::Say {
            subject: keys::heartbeat(&self.me.card.node),
            payload: codec::json(&heart),
        });
    }
}

impl Machine for Node {
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        if self.member == Member::Gone {
            return;
        }
        self.take(now, input, out);
        self.advance(now, out);
    }

    fn wake_at(&self) -> Option<Nanos> {
        let mut wake = match self.member {
            Member::Reads(at) if self.is_connected => at,
            Member::Listens { until, .. } => until,
            Member::Leaves(at) => at,
            Member::Joined => self.beat,
            Member::Reads(_) | Member::Waits => Nanos::MAX,
            Member::Gone => return None,
        };
        if let Some(run) = &self.run {
            wake = wake.min(run.wake_at());
        }
        (wake != Nanos::MAX).then_some(wake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a node wants to have put or read of its card.
    fn about_card(out: Vec<Output>) -> Vec<(super::super::io::Ticket, Option<u64>)> {
        let about = out.into_iter().filter_map(|output| match output {
            Output::Put { ticket, revision, key, .. } if key == "node.eu-1" => {
                Some((ticket, revision))
            }
            Output::Get { ticket, key } if key == "node.eu-1" => Some((ticket, None)),
            _ => None,
        });
        about.collect()
    }

    /// Cards of nodes that are dead go from the server by themselves.
    #[test]
    fn a_node_puts_its_card_again_as_long_as_it_lives() {
        let card = Card { node: "eu-1".into(), boot: 7, ..Card::default() };
        let mut node = Node::new(card, false);
        let mut on = |steady: Nanos, input: Input| {
            let mut out = Vec::new();
            node.on(Now { steady, unix: 0 }, input, &mut out);
            about_card(out)
        };
        let done = |ticket, answer| Input::Done { ticket, answer };
        let read = on(0, Input::Connected)[0];
        let put = on(0, done(read.0, Answer::Value(None)))[0];
        assert_eq!((read.1, put.1), (None, Some(0)));
        assert_eq!(on(0, done(put.0, Answer::Stored(3))), []);
        assert_eq!(on(CARD_AGAIN - 1, Input::Tick), []);
        let again = on(CARD_AGAIN, Input::Tick)[0];
        assert_eq!(again.1, Some(3));
        assert_eq!(on(CARD_AGAIN + SECOND, Input::Tick), [], "it waits for the answer");
        assert_eq!(on(CARD_AGAIN + SECOND, done(again.0, Answer::Stored(9))), []);
        let again = on(3 * CARD_AGAIN, Input::Tick)[0];
        assert_eq!(again.1, Some(9));
        // It was away for so long that the server has its card no more.
        let read = on(3 * CARD_AGAIN, done(again.0, Answer::Conflict))[0];
        let put = on(3 * CARD_AGAIN, done(read.0, Answer::Value(None)))[0];
        assert_eq!((read.1, put.1), (None, Some(0)));
    }
}
