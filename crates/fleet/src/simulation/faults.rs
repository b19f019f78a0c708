//! What goes wrong.

use crate::protocol::io::{Input, LoadEvent, RunCommand};
use crate::protocol::messages::Change;
use crate::protocol::units::{MS, Nanos, SECOND};

use super::load::Done;
use super::scenario::Fault;
use super::world::{Event, World};

impl World {
    pub(super) fn fault(&mut self, at: usize) {
        let fault = self.scenario.faults[at].1.clone();
        if self.verbose {
            self.say(0, &format!("!! {fault:?}"));
        }
        let incarnation = self.processes[0].incarnation;
        match fault {
            Fault::Kill { process, back, disk } => self.kill(process, back, disk),
            Fault::Cut { process, up, down, length } => {
                let until = self.time + length;
                let cut = &mut self.processes[process];
                cut.cut_up = if up { until.max(cut.cut_up) } else { cut.cut_up };
                cut.cut_down = if down { until.max(cut.cut_down) } else { cut.cut_down };
                self.cut(process, until);
            }
            Fault::Down { length, forgets } => {
                self.broker.is_down = true;
                self.down_until = self.time + length;
                self.broker.lose_since(self.time - forgets.min(self.time));
                for process in 0..self.processes.len() {
                    self.cut(process, self.time + length);
                }
                self.at(self.time + length, Event::Up);
            }
            Fault::Stall { length } => {
                self.reading.2 = self.time + length;
                self.at(self.time + length, Event::Restore(0));
            }
            Fault::Forget => {
                let read = self.reading.0.saturating_sub(1) as usize;
                for message in self.broker.stream.iter_mut().take(read) {
                    *message = None;
                }
            }
            Fault::Pause => self.at(
                self.time,
                Event::User(incarnation, RunCommand::Change(Change::Pause { from: 0 })),
            ),
            Fault::GoOn => self.at(
                self.time,
                Event::User(incarnation, RunCommand::Change(Change::GoOn { from: 0 })),
            ),
            Fault::Stop => self.at(
                self.time,
                Event::User(incarnation, RunCommand::Change(Change::Stop { graceful: SECOND })),
            ),
            Fault::AskStop { process } => {
                let incarnation = self.processes[process].incarnation;
                self.at(
                    self.time,
                    Event::Tell(process, incarnation, Input::Load(LoadEvent::StopAsked)),
                );
            }
            Fault::Leave { process } => {
                self.processes[process].leaves = true;
                let incarnation = self.processes[process].incarnation;
                self.at(self.time, Event::Tell(process, incarnation, Input::Leave));
            }
        }
    }

    pub(super) fn kill(&mut self, at: usize, back: Option<Nanos>, disk: bool) {
        if self.processes[at].machine.is_none() || (at == 0 && self.released) {
            return;
        }
        let mut done = Done::default();
        let now = self.processes[at].now(self.time).steady;
        self.check_lease(at);
        self.processes[at].load.cut(now, &mut done);
        self.oracle.on_done(at, self.processes[at].incarnation, &done);
        self.processes[at].kill();
        if !disk {
            self.processes[at].disk.clear();
        }
        if let Some(back) = back {
            self.at(self.time + back, Event::Start(at));
        }
    }

    pub(super) fn cut(&mut self, at: usize, until: u64) {
        self.processes[at].was_cut = true;
        let incarnation = self.processes[at].incarnation;
        let noticed = self.chance.within(0, 2_000) * MS;
        self.at(self.time + noticed, Event::Tell(at, incarnation, Input::Disconnected));
        self.at(until + 1, Event::Restore(at));
    }

    /// A process can be reached again: its watches begin anew, sometimes late.
    pub(super) fn restore(&mut self, at: usize) {
        if !self.reaches(at) {
            return;
        }
        if at == 0 {
            let stall =
                if self.chance.of_1000(300) { self.chance.within(0, 6_000) * MS } else { 0 };
            self.reading.2 = self.reading.2.max(self.time).max(self.time + stall);
            let round = self.reading.1;
            self.at(self.reading.2, Event::Deliver(round, 0));
        }
        let process = &mut self.processes[at];
        if !std::mem::take(&mut process.was_cut) || process.machine.is_none() {
            return;
        }
        let incarnation = process.incarnation;
        let watches = process.watches.clone();
        self.at(self.time, Event::Tell(at, incarnation, Input::Connected));
        for pattern in watches {
            self.present(at, &pattern);
        }
    }

    pub(super) fn up(&mut self) {
        if self.time >= self.down_until {
            self.broker.is_down = false;
            for process in 0..self.processes.len() {
                self.restore(process);
            }
        }
    }
}
