//! What nodes' loads and the controller's run do, and whether they may.

use crate::protocol::io::{Input, LoadCommand, LoadEvent, RunCommand, RunEvent, Ticket};
use crate::protocol::messages::Change;
use crate::protocol::units::{MS, Nanos, SECOND};
use crate::protocol::{codec, keys};

use super::load::Done;
use super::world::{Event, RUN, World};

impl World {
    /// What renews a lease was stored: nobody may have sent when it was over.
    pub(super) fn acknowledge(&mut self, at: usize, ticket: Ticket) {
        self.check_lease(at);
        if let Some(&first) = self.processes[at].firsts.get(&format!("#{}", ticket.0)) {
            self.processes[at].lease_from = self.processes[at].lease_from.max(first);
        }
    }

    pub(super) fn check_lease(&mut self, at: usize) {
        let process = &self.processes[at];
        let end = process.lease_from + self.scenario.lease + self.scenario.lease / 1_000 + 5 * MS;
        if at != 0 && self.time > end && process.load.sends(process.now(self.time).steady) {
            self.oracle.fail(format!(
                "{} sends {} ms after its lease",
                self.processes[at].name,
                (self.time - end) / MS
            ));
        }
    }

    pub(super) fn load(&mut self, at: usize, command: &LoadCommand) {
        if self.verbose {
            self.say(at, &format!("load: {}", short(command)));
        }
        let mut done = Done::default();
        let now = self.processes[at].now(self.time).steady;
        if let LoadCommand::Prepare { .. } = command {
            let ready = self.chance.within(20, 800) * MS;
            let incarnation = self.processes[at].incarnation;
            self.at(self.time + ready, Event::Tell(at, incarnation, Input::Load(LoadEvent::Ready)));
        }
        self.check_lease(at);
        self.processes[at].load.command(now, command, &mut done);
        self.loaded(at, done);
        self.schedule_load(at);
    }

    pub(super) fn schedule_load(&mut self, at: usize) {
        let process = &self.processes[at];
        if let Some(wake) = process.load.wake_at() {
            let when = process.time_of(wake).max(self.time + 1_000);
            let incarnation = process.incarnation;
            self.at(when, Event::Load(at, incarnation));
        }
    }

    /// What a load has done: requests that were sent, events for the node a little later.
    pub(super) fn loaded(&mut self, at: usize, done: Done) {
        if let Some(wrong) = &done.wrong {
            self.oracle.fail(format!("{}: {wrong}", self.processes[at].name));
        }
        self.processes[at].recorded.extend(done.sent.iter().map(|sent| sent.cell));
        self.oracle.on_done(at, self.processes[at].incarnation, &done);
        let incarnation = self.processes[at].incarnation;
        let mut when = self.time.max(self.processes[at].told_until);
        for event in done.events {
            when += self.chance.within(1, 30) * MS / 2;
            if matches!(event, LoadEvent::Ended { .. }) {
                self.processes[at].load_ended = Some(self.time);
            }
            self.at(when, Event::Tell(at, incarnation, Input::Load(event)));
        }
        self.processes[at].told_until = when;
    }

    pub(super) fn on_run(&mut self, event: RunEvent) {
        if self.verbose && !matches!(event, RunEvent::Record { .. } | RunEvent::Whole { .. }) {
            self.say(0, &format!("{event:?}"));
        }
        let incarnation = self.processes[0].incarnation;
        let user = |world: &mut World, after: Nanos, command| {
            world.at(world.time + after, Event::User(incarnation, command))
        };
        match &event {
            RunEvent::Starts { .. } if !self.oracle.started => {
                let first = self.processes[0].incarnation == 1;
                for at in 0..self.scenario.faults.len() {
                    if first {
                        let when = self.scenario.faults[at].0;
                        self.at(self.time + when, Event::Fault(at));
                    }
                }
            }
            RunEvent::Whole { second } => {
                user(self, 10 * MS, RunCommand::Written { until: *second })
            }
            RunEvent::StopAsked => {
                user(self, MS, RunCommand::Change(Change::Stop { graceful: SECOND }))
            }
            RunEvent::Ended { .. } => {
                self.check_ended();
                user(self, 100 * MS, RunCommand::Release);
            }
            RunEvent::Refused(_) => {
                user(self, 10 * MS, RunCommand::Release);
            }
            _ => {}
        }
        if let (RunEvent::Ended { .. }, Some((_, changes))) =
            (&event, self.broker.keys.get(&keys::changes(RUN)))
        {
            self.oracle.changes = codec::read_json(changes).unwrap_or_default();
        }
        self.oracle.on_run(&event, self.time);
    }

    /// Nodes whose load had ended for a while, and that could be reached all the time, have had all merged.
    pub(super) fn check_ended(&mut self) {
        for at in 1..self.processes.len() {
            let process = &self.processes[at];
            let was_there = process.cut_up.max(process.cut_down).max(self.down_until)
                + 2 * self.scenario.lease
                < self.time;
            // One that leaves does not wait until what the server has forgotten is asked for: that is listed.
            let stays = process.machine.is_some() && !process.leaves;
            if stays && process.load_ended.is_some() && was_there {
                let recorded = process.recorded.clone();
                self.oracle.check_recorded(at, &recorded);
            }
        }
    }
}

fn short(command: &LoadCommand) -> String {
    match command {
        LoadCommand::Prepare { .. } => "prepare".into(),
        other => format!("{other:?}"),
    }
}
