//! The controller of a run: calls nodes, starts them at one instant, watches over them, and knows what became of each cell.

mod barrier;
mod candidates;
mod desk;
mod mark;
mod member;
mod progress;
mod resume;
mod run;
mod seconds;
mod sharing;
mod stages;
mod writer;

use std::collections::BTreeMap;

pub use desk::{Lead, Seal};

use super::codec;
use super::io::{Answer, Input, Machine, Now, Output, RunCommand, RunEvent, Ticket, Wanted};
use super::keys;
use super::messages::{Card, Change, Clock, Heartbeat, Order};
use super::units::{Bytes, MS, Nanos, SECOND};

use candidates::Candidates;
use desk::{Cx, Desk, FleetClock, Purpose};
use resume::Resume;
use run::Run;
use writer::Fate;

/// How often it looks after its nodes.
const LOOK: Nanos = 100 * MS;
/// How often it renews its lock.
const RENEWAL: Nanos = 2 * SECOND;
/// How long it waits for nodes to say that they have forgotten the run.
const FORGETTING: Nanos = 5 * SECOND;
/// What nodes record and marks, as people are told of it.
const MESSAGES: &str = "messages of the run";

/// The machine of a controller, of one run.
#[derive(Debug)]
pub struct Controller {
    lead: Lead,
    desk: Desk,
    clock: FleetClock,
    candidates: Candidates,
    stage: Stage,
    run: Option<Run>,
    resume: Option<Resume>,
    /// Changes that were asked for while the run was read.
    pending: Vec<Change>,
    next_look: Nanos,
    renewal: (u64, Nanos),
    standing: String,
    /// What the server refuses to store, and why.
    refusals: BTreeMap<String, String>,
    /// How many virtual users the nodes carry, as the run was told last.
    carries: Option<u64>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// Nothing was asked of it.
    Idle,
    /// Takes the lock.
    Locks,
    /// Waits until there are enough nodes, until this time.
    Gathers(Nanos),
    /// Writes the order for these nodes.
    Orders(Vec<Card>, Nanos),
    /// Waits until they are ready.
    Prepares(Nanos),
    /// Reads what another controller has left.
    Resumes,
    /// Has taken the run over, and writes all anew.
    TakesOver,
    /// Reads the stream from its first message, after a mark of this time.
    Replays(Nanos),
    /// The load runs.
    Runs,
    /// It is over, and was told.
    Ended,
    /// Nodes are let go, until this time at the latest.
    Releases(Nanos),
    /// Nothing more is done.
    Over,
}

impl Controller {
    /// A controller.
    pub fn new(lead: Lead) -> Controller {
        Controller {
            lead,
            desk: Desk::default(),
            clock: FleetClock::default(),
            candidates: Candidates::default(),
            stage: Stage::Idle,
            run: None,
            resume: None,
            pending: Vec::new(),
            next_look: 0,
            renewal: (0, 0),
            standing: String::new(),
            refusals: BTreeMap::new(),
            carries: None,
        }
    }

    /// Does something with the run, if there is one.
    fn with<T>(
        &mut self,
        now: Now,
        out: &mut Vec<Output>,
        act: impl FnOnce(&mut Run, &mut Cx<'_>) -> T,
    ) -> Option<T> {
        let time = self.clock.time(now.steady);
        let mut cx = Cx { now, out, desk: &mut self.desk, time, lead: &self.lead };
        self.run.as_mut().map(|run| act(run, &mut cx))
    }

    fn take(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Run(command) => self.on_command(now, command, out),
            Input::Done { ticket, answer } => self.on_done(now, ticket, answer, out),
            Input::Key { key, revision, value } => self.on_key(&key, revision, value.as_ref()),
            Input::Heard { subject, payload } => self.on_heard(now, &subject, &payload),
            Input::Asked { subject, reply, .. } => self.on_asked(now, &subject, reply, out),
            Input::Message { sequence, subject, payload } => {
                self.with(now, out, |run, cx| {
                    // It comes again from the first after a break.
                    if sequence > run.sequence {
                        run.sequence = sequence;
                        run.on_stored(&subject, &payload, cx);
                    }
                });
            }
            _ => {}
        }
    }

    fn on_command(&mut self, now: Now, command: RunCommand, out: &mut Vec<Output>) {
        match (command, &self.stage) {
            (RunCommand::Begin { order, wanted }, Stage::Idle) => {
                self.on_begin(now, (*order).clone(), wanted, out)
            }
            (RunCommand::Resume { run }, Stage::Idle) => {
                out.push(Output::Watch { keys: keys::CARDS.into() });
                out.push(Output::Listen { subject: keys::HEARTBEATS.into() });
                self.resume = Some(Resume::new(run));
                self.stage = Stage::Resumes;
            }
            (RunCommand::Change(change), Stage::Resumes) if self.pending.len() < 1_000 => {
                self.pending.push(change)
            }
            (RunCommand::Change(change), Stage::Runs | Stage::Replays(_) | Stage::TakesOver) => {
                self.with(now, out, |run, cx| run.change(change, cx));
            }
            (
                RunCommand::Change(Change::Stop { .. } | Change::Abort),
                Stage::Ended | Stage::Releases(_) | Stage::Over,
            ) => {}
            (RunCommand::Change(Change::Stop { .. } | Change::Abort), _) => {
                self.refuse(now, "stopped before the load began", out)
            }
            (RunCommand::Change(change), _) => {
                // Before the load: nodes read it when they start.
                self.with(now, out, |run, cx| run.change(change, cx));
            }
            (RunCommand::Written { until }, _) => {
                self.with(now, out, |run, _| {
                    run.written = run.written.max(until.saturating_add(1))
                });
            }
            (RunCommand::Release, Stage::Over) => out.push(Output::End),
            (RunCommand::Release, Stage::Releases(_)) => {}
            (RunCommand::Release, _) => self.release(now, out),
            (RunCommand::Begin { .. } | RunCommand::Resume { .. }, _) => {
                out.push(Output::Log("this controller leads a run already".into()));
            }
        }
    }

    fn on_begin(&mut self, now: Now, order: Order, wanted: Wanted, out: &mut Vec<Output>) {
        let count: u64 = wanted.zones.iter().map(|zone| u64::from(zone.1)).sum();
        if !keys::is_name(&order.run) || count == 0 || count > run::NODES as u64 {
            let text = format!(
                "a run wants from 1 to {} nodes, and a name of letters, digits, - and _: {count} nodes, {:?}",
                run::NODES,
                order.run
            );
            out.push(Output::Run(RunEvent::Refused(text)));
            self.stage = Stage::Over;
            return;
        }
        self.clock.set(now);
        out.push(Output::Watch { keys: keys::CARDS.into() });
        out.push(Output::Listen { subject: keys::HEARTBEATS.into() });
        self.run = Some(Run::new(order, wanted));
        self.stage = Stage::Locks;
        self.renewal = (1, now.steady + RENEWAL);
        self.with(now, out, |run, cx| run.write_leader(1, cx));
    }

    fn on_key(&mut self, key: &str, revision: u64, value: Option<&Bytes>) {
        let is_late = matches!(self.stage, Stage::Runs);
        let Some(card) = self.candidates.on_card(key, revision, value, is_late) else { return };
        if let Some(member) = self.run.as_mut().and_then(|run| run.members.get_mut(&card.node)) {
            member.card = card;
        }
    }

    fn on_heard(&mut self, now: Now, subject: &str, payload: &[u8]) {
        let (Some(node), Ok(heart)) =
            (keys::heart_of(subject), codec::read_json::<Heartbeat>(payload))
        else {
            return;
        };
        let run = self
            .run
            .as_ref()
            .map(|run| &run.order.run)
            .or(self.resume.as_ref().map(|resume| &resume.run));
        let is_of_run = run.is_some_and(|run| *run == heart.run);
        // A controller that goes on with a run learns its time from those who keep it.
        if is_of_run && heart.time != 0 && matches!(self.stage, Stage::Resumes | Stage::TakesOver) {
            self.clock.learn(heart.time, now.steady);
        }
        if let Some(member) =
            self.run.as_mut().and_then(|run| run.members.get_mut(node)).filter(|_| is_of_run)
            && member.assignment.boot == heart.boot
        {
            member.beat = now.steady;
        }
        self.candidates.on_heart(node, heart, now.steady);
    }

    fn on_asked(&mut self, now: Now, subject: &str, reply: String, out: &mut Vec<Output>) {
        let Some(run) = self.run.as_ref().filter(|run| subject == keys::clock(&run.order.run))
        else {
            return;
        };
        if self.clock.is_set() {
            let clock = Clock { time: self.clock.time(now.steady), written: run.written };
            out.push(Output::Reply { reply, payload: codec::json(&clock) });
        }
    }

    fn on_done(&mut self, now: Now, ticket: Ticket, answer: Answer, out: &mut Vec<Output>) {
        let Some(purpose) = self.desk.take(ticket) else { return };
        let is_stored = matches!(answer, Answer::Stored(_));
        let fate = match purpose {
            Purpose::Mark => {
                // What nodes record is not stored either, and the run waits for it.
                match answer {
                    Answer::Refused(why) => self.on_refusal(now, MESSAGES, &why, out),
                    _ if is_stored => _ = self.refusals.remove(MESSAGES),
                    _ => {}
                }
                return;
            }
            Purpose::Put(key, _) => {
                if is_stored {
                    self.refusals.remove(&key);
                }
                (self.with(now, out, |run, cx| run.writer.on_put(&key, answer, cx)), key)
            }
            Purpose::Get(key) if key.starts_with("node.") && self.stage != Stage::Resumes => {
                // The card of a process that the watch has not told of yet.
                if let Answer::Value(Some((revision, value))) = answer {
                    self.on_key(&key, revision, Some(&value));
                }
                return;
            }
            Purpose::Get(key) => match &mut self.resume {
                Some(resume) if self.stage == Stage::Resumes && resume.reads(&key) => {
                    let time = self.clock.time(now.steady);
                    resume.on_read(
                        &key,
                        &answer,
                        &mut Cx { now, out, desk: &mut self.desk, time, lead: &self.lead },
                    );
                    return;
                }
                _ => (self.with(now, out, |run, cx| run.writer.on_get(&key, &answer, cx)), key),
            },
        };
        match fate {
            (Some(Fate::Foreign(value)), key) => self.on_foreign(now, &key, value, out),
            (Some(Fate::Refused(why)), key) => self.on_refusal(now, &key, &why, out),
            _ => {}
        }
    }

    /// The server refuses to store something, which is tried again. A reason is told once, until all that was refused for it
    /// is stored.
    fn on_refusal(&mut self, now: Now, what: &str, why: &str, out: &mut Vec<Output>) {
        let is_known = self.refusals.values().any(|known| known == why);
        self.refusals.insert(what.into(), why.into());
        if !is_known {
            self.with(now, out, |_, cx| {
                cx.tell("", format!("the server does not store {what}: {why}; it is tried again"))
            });
        }
    }

    /// Somebody else has written a key of this run.
    fn on_foreign(
        &mut self,
        now: Now,
        key: &str,
        value: Option<(u64, Bytes)>,
        out: &mut Vec<Output>,
    ) {
        let run = self.run.as_ref().map(|run| run.order.run.clone()).unwrap_or_default();
        match (&self.stage, value) {
            (Stage::Locks, _) => {
                let text = format!(
                    "a run {run} is on the server already, led by another controller: squall fleet resume goes on with it if that one is dead"
                );
                out.push(Output::Run(RunEvent::Refused(text)));
                self.stage = Stage::Over;
            }
            (Stage::TakesOver, Some((revision, value))) if key != keys::leader(&run) => {
                self.with(now, out, |run, cx| run.adopt(key, revision, &value, cx));
            }
            (_, value) => {
                let who = value
                    .and_then(|value| codec::read_json::<super::messages::Leader>(&value.1).ok());
                let who = who.map_or_else(String::new, |leader| format!(" on {}", leader.host));
                let why = format!(
                    "another controller{who} has taken the run over, or the server has lost it: {key} is not as it was"
                );
                self.give_up(now, &why, out);
            }
        }
    }

    /// Another controller leads: this one does nothing more.
    fn give_up(&mut self, now: Now, why: &str, out: &mut Vec<Output>) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        if stage == Stage::Over {
            return;
        }
        self.with(now, out, |run, cx| {
            if matches!(stage, Stage::Ended | Stage::Releases(_)) {
                cx.tell("", why);
            } else if run.start.is_some() {
                let mut failures = std::mem::take(&mut run.failures);
                failures.push(why.into());
                cx.run(RunEvent::Ended { cells: run.cells(0), failures });
            } else {
                cx.run(RunEvent::Refused(why.into()));
            }
        });
        if matches!(stage, Stage::Releases(_)) {
            // It had been let go: nobody asks for its end again.
            out.push(Output::End);
        }
    }

    /// The run cannot begin: the nodes are let go.
    fn refuse(&mut self, now: Now, why: &str, out: &mut Vec<Output>) {
        out.push(Output::Run(RunEvent::Refused(why.into())));
        if self.run.is_some() && !matches!(self.stage, Stage::Locks) {
            self.release(now, out);
        } else {
            self.stage = Stage::Over;
        }
    }

    fn release(&mut self, now: Now, out: &mut Vec<Output>) {
        self.stage = Stage::Releases(now.steady + FORGETTING);
        self.with(now, out, |run, _| {
            run.writer.set_over(keys::release(&run.order.run), codec::json(&true))
        });
    }

    fn advance(&mut self, now: Now, out: &mut Vec<Output>) {
        if now.steady >= self.next_look {
            self.next_look = now.steady + LOOK;
            self.look(now, out);
        }
        if matches!(self.stage, Stage::Idle | Stage::Over) {
            return;
        }
        if now.steady >= self.renewal.1 && self.run.is_some() {
            self.renewal = (self.renewal.0 + 1, now.steady + RENEWAL);
            let renewal = self.renewal.0;
            self.with(now, out, |run, cx| run.write_leader(renewal, cx));
        }
        self.with(now, out, |run, cx| {
            run.make_calls();
            let mut writer = std::mem::take(&mut run.writer);
            writer.flush(cx);
            run.writer = writer;
        });
    }
}

/// An order of which nothing is known yet.
fn blank(run: &str) -> Order {
    Order {
        run: run.into(),
        version: String::new(),
        shards: 0,
        lease: 15 * SECOND,
        on_loss: super::messages::OnLoss::default(),
        job: String::new(),
        files: Vec::new(),
    }
}

impl Machine for Controller {
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        let is_command = matches!(input, Input::Run(_));
        self.take(now, input, out);
        if is_command {
            self.next_look = now.steady;
        }
        self.advance(now, out);
    }

    fn wake_at(&self) -> Option<Nanos> {
        (!matches!(self.stage, Stage::Idle | Stage::Over)).then_some(self.next_look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::io::RunEvent;

    fn controller() -> Controller {
        let seal: Seal = Box::new(|_| Ok(Vec::new()));
        let lead = Lead { nonce: 1, host: String::new(), version: String::new(), seal };
        let mut controller = Controller::new(lead);
        controller.run = Some(Run::new(blank("r"), Wanted::default()));
        controller
    }

    /// A result of a part of the run must not pass for that of the whole.
    #[test]
    fn a_run_that_was_stopped_while_nobody_led_it_was_interrupted() {
        let is_interrupted = |changes: Vec<Change>| {
            let mut controller = controller();
            controller.stage = Stage::TakesOver;
            if let Some(run) = &mut controller.run {
                (run.start, run.changes.0) = (Some(1), changes);
            }
            let mut out = Vec::new();
            controller.look(Now { steady: 0, unix: 0 }, &mut out);
            assert!(matches!(controller.stage, Stage::Replays(_)));
            out.iter().any(|own| matches!(own, Output::Run(RunEvent::Interrupted)))
        };
        assert!(is_interrupted(vec![Change::Pause { from: 2 }, Change::Stop { graceful: 5 }]));
        assert!(!is_interrupted(vec![Change::Pause { from: 2 }, Change::GoOn { from: 5 }]));
        assert!(!is_interrupted(vec![Change::Done]), "all was done");
    }

    /// What nodes record finds no room either: a run that seems to hang says why, and says so again if it does again.
    #[test]
    fn a_server_without_room_is_told_of_once_each_time() {
        let mut controller = controller();
        let mut told = Vec::new();
        let full = || Answer::Refused("it has no room left".into());
        for answer in [full(), full(), Answer::Unknown, full(), Answer::Stored(7), full()] {
            let ticket = controller.desk.ticket(Purpose::Mark);
            controller.on_done(Now { steady: 0, unix: 0 }, ticket, answer, &mut told);
        }
        let expected =
            "the server does not store messages of the run: it has no room left; it is tried again";
        let texts = told.iter().map(|own| match own {
            Output::Run(RunEvent::Told { text, .. }) => text.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(Vec::from_iter(texts), [expected; 2]);
    }

    /// A server without room refuses the keys of all nodes for the same reason.
    #[test]
    fn a_reason_is_told_once_for_all_that_is_refused_for_it() {
        let (mut controller, mut told) = (controller(), Vec::new());
        let now = Now { steady: 0, unix: 0 };
        for what in ["a", "b", MESSAGES] {
            controller.on_refusal(now, what, "it has no room left", &mut told);
        }
        controller.on_refusal(now, "a", "it is too large", &mut told);
        assert_eq!(told.len(), 2, "{told:?}");
    }
}
