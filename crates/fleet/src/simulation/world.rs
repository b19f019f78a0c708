//! The world of a simulated fleet: processes, a network, a server, on virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::protocol::io::{Answer, Input, Output, RunCommand, Wanted};
use crate::protocol::messages::Order;
use crate::protocol::units::{MS, Nanos, SECOND};

use super::broker::Broker;
use super::chance::Chance;
use super::load::Done;
use super::oracle::Oracle;
use super::process::{Clock, Process};
use super::scenario::Scenario;

pub const RUN: &str = "r";
/// By when a run must be over after its load, whatever happens.
const PATIENCE: Nanos = 400 * SECOND;
/// Most events of a run: more are a machine that does not rest.
const EVENTS: u64 = 3_000_000;

/// Something that happens.
pub(super) enum Event {
    /// A process (of this incarnation) is told something.
    Tell(usize, u32, Input),
    /// The server gets a request of a process.
    Server(usize, u32, Output),
    Wake(usize, u32),
    /// The load of a node has something to record.
    Load(usize, u32),
    /// A message of the stream comes to the controller; of this round of reading.
    Deliver(u32, u64),
    Fault(usize),
    Start(usize),
    /// A process can be reached again.
    Restore(usize),
    Up,
    /// What the controller's user does.
    User(u32, RunCommand),
}

pub struct World {
    pub time: u64,
    pub(super) queue: BinaryHeap<Reverse<(u64, u64)>>,
    pub(super) events: std::collections::HashMap<u64, Event>,
    pub(super) serial: u64,
    pub(super) chance: Chance,
    pub(super) scenario: Scenario,
    pub processes: Vec<Process>,
    pub broker: Broker,
    /// The next message that the controller gets, the round of reading, until when nothing comes, and when the last one comes.
    pub(super) reading: (u64, u32, u64, u64),
    pub(super) is_reading: bool,
    pub oracle: Oracle,
    pub(super) forgotten_at: u64,
    pub(super) down_until: u64,
    pub(super) begun: bool,
    pub(super) released: bool,
    pub verbose: bool,
}

impl World {
    pub fn new(seed: u64, scenario: Scenario, verbose: bool) -> World {
        let mut chance = Chance::new(seed ^ 0xabcd);
        let mut processes = Vec::new();
        for at in 0..=scenario.nodes + scenario.joins.len() {
            let name = if at == 0 { "controller".into() } else { format!("n{at}") };
            let hours = chance.within(0, 10) as i64 - 5;
            let drift = chance.within(0, 200) as i64 - 100;
            let clock = Clock {
                origin: chance.within(0, 1_000) * SECOND,
                unix: 1_700_000_000 * SECOND as i64 + hours * 3_600 * SECOND as i64,
                drift,
            };
            processes.push(Process::new(name, clock));
        }
        let mut world = World {
            time: 0,
            queue: BinaryHeap::new(),
            events: Default::default(),
            serial: 0,
            chance,
            processes,
            broker: Broker::default(),
            reading: (1, 0, 0, 0),
            is_reading: false,
            oracle: Oracle::of(&scenario),
            forgotten_at: 0,
            down_until: 0,
            begun: false,
            released: false,
            verbose,
            scenario,
        };
        for at in 0..=world.scenario.nodes {
            let when = world.chance.within(0, 500) * MS;
            world.at(when, Event::Start(at));
        }
        for (at, &when) in world.scenario.joins.clone().iter().enumerate() {
            world.at(4 * SECOND + when, Event::Start(world.scenario.nodes + 1 + at));
        }
        world
    }

    pub(super) fn at(&mut self, time: u64, event: Event) {
        self.serial += 1;
        self.events.insert(self.serial, event);
        self.queue.push(Reverse((time.max(self.time), self.serial)));
    }

    /// Runs until all is over; whether it came to an end.
    pub fn run(&mut self) {
        let end = u64::from(self.scenario.length) * SECOND + PATIENCE;
        let mut count = 0u64;
        while let Some(Reverse((time, serial))) = self.queue.pop() {
            self.time = time;
            count += 1;
            let Some(event) = self.events.remove(&serial) else { continue };
            if time > end || count > EVENTS {
                let state = if count > EVENTS { "does not rest" } else { "does not end" };
                self.oracle.fail(format!("the run {state}: {count} events in {} s", time / SECOND));
                return;
            }
            self.happen(event);
            if self.released
                && self.processes[0].machine.is_none()
                && self.processes[1..]
                    .iter()
                    .all(|process| process.gone || process.machine.is_none())
            {
                return;
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tell(to, incarnation, input) => self.tell(to, incarnation, input),
            Event::Server(from, incarnation, output) => self.serve(from, incarnation, output),
            Event::Wake(process, incarnation) => {
                if self.is_alive(process, incarnation) {
                    self.processes[process].wakes = None;
                    self.step(process, Input::Tick);
                }
            }
            Event::Load(process, incarnation) => {
                if self.is_alive(process, incarnation) {
                    let mut done = Done::default();
                    let now = self.processes[process].now(self.time).steady;
                    self.check_lease(process);
                    self.processes[process].load.seconds(now, &mut done);
                    self.loaded(process, done);
                    self.schedule_load(process);
                }
            }
            Event::Deliver(round, sequence) => self.deliver(round, sequence),
            Event::Fault(at) => self.fault(at),
            Event::Start(process) => self.start(process),
            Event::Restore(process) => self.restore(process),
            Event::Up => self.up(),
            Event::User(incarnation, command) => {
                if self.is_alive(0, incarnation) {
                    self.step(0, Input::Run(command));
                }
            }
        }
    }

    pub(super) fn is_alive(&self, process: usize, incarnation: u32) -> bool {
        self.processes[process].machine.is_some()
            && self.processes[process].incarnation == incarnation
    }

    fn start(&mut self, at: usize) {
        if self.processes[at].machine.is_some() {
            return;
        }
        if at == 0 {
            self.processes[0].start_controller();
            self.is_reading = false;
            let command =
                if self.begun { RunCommand::Resume { run: RUN.into() } } else { self.begin() };
            if self.begun {
                self.oracle.restart();
            }
            self.begun = true;
            self.step(0, Input::Run(command));
        } else {
            let zone = if self.scenario.zones { ["eu", "us"][at % 2] } else { "" };
            self.processes[at].start_node(zone, self.scenario.length, self.scenario.counted);
            self.processes[at].lease_from = self.time;
            if self.released {
                let incarnation = self.processes[at].incarnation;
                self.at(self.time + 20 * SECOND, Event::Tell(at, incarnation, Input::Leave));
            }
            let former: Vec<(u64, u64)> = self.processes[at]
                .disk
                .iter()
                .map(|(boot, kept)| (*boot, kept.len() as u64))
                .collect();
            for (boot, numbers) in former {
                self.step(at, Input::Kept { run: RUN.into(), boot, numbers });
            }
        }
        if self.reaches(at) {
            self.step(at, Input::Connected);
        } else {
            self.processes[at].was_cut = true;
            let when =
                self.processes[at].cut_up.max(self.processes[at].cut_down).max(self.down_until);
            self.at(when + 1, Event::Restore(at));
        }
    }

    pub(super) fn begin(&self) -> RunCommand {
        let nodes = self.scenario.nodes as u32;
        let zones = if self.scenario.zones {
            vec![("eu".into(), nodes / 2), ("us".into(), nodes.div_ceil(2))]
        } else {
            vec![(String::new(), nodes)]
        };
        let order = Order {
            run: RUN.into(),
            version: "1".into(),
            shards: self.scenario.shards,
            lease: self.scenario.lease,
            on_loss: self.scenario.on_loss,
            job: String::new(),
            files: Vec::new(),
        };
        let zones = zones.into_iter().filter(|zone: &(String, u32)| zone.1 > 0).collect();
        RunCommand::Begin { order: Arc::new(order), wanted: Wanted { zones, wait: 60 * SECOND } }
    }

    fn tell(&mut self, to: usize, incarnation: u32, input: Input) {
        if !self.is_alive(to, incarnation) {
            return;
        }
        if let Input::Done { ticket, answer } = &input {
            self.processes[to].in_flight.remove(ticket);
            if !self.processes[to].pending.remove(ticket) {
                return;
            }
            if let Answer::Stored(_) = answer {
                self.acknowledge(to, *ticket);
            }
        }
        self.step(to, input);
    }

    /// A machine is told something, and what it wants is done.
    pub(super) fn step(&mut self, at: usize, input: Input) {
        let now = self.processes[at].now(self.time);
        let mut out = Vec::new();
        let Some(machine) = &mut self.processes[at].machine else { return };
        machine.on(now, input, &mut out);
        let incarnation = self.processes[at].incarnation;
        for output in out {
            if self.is_alive(at, incarnation) {
                self.perform(at, output);
            }
        }
        let process = &mut self.processes[at];
        let Some(wake) = process.machine.as_ref().and_then(|machine| machine.wake_at()) else {
            return;
        };
        let when = process.time_of(wake).max(self.time + 1_000);
        if process.wakes.is_none_or(|known| known > when) {
            process.wakes = Some(when);
            self.at(when, Event::Wake(at, incarnation));
        }
    }

    fn perform(&mut self, at: usize, output: Output) {
        let incarnation = self.processes[at].incarnation;
        match output {
            Output::Keep(kept) => {
                let disk = self.processes[at].disk.entry(kept.boot).or_default();
                if disk.len() as u64 != kept.number {
                    self.oracle.fail(format!(
                        "message {} was kept as the {}th",
                        kept.number,
                        disk.len()
                    ));
                }
                self.processes[at].disk.entry(kept.boot).or_default().push(kept.payload);
            }
            Output::Recall { ticket, boot, number, .. } => {
                let found = self.processes[at]
                    .disk
                    .get(&boot)
                    .and_then(|kept| kept.get(number as usize))
                    .cloned();
                let answer =
                    found.map_or_else(|| Answer::Refused("not there".into()), Answer::Object);
                self.processes[at].pending.insert(ticket);
                self.at(
                    self.time + MS,
                    Event::Tell(at, incarnation, Input::Done { ticket, answer }),
                );
            }
            Output::MayDrop { .. } => {}
            Output::Drop { .. } => self.processes[at].disk.clear(),
            Output::Load(command) => self.load(at, &command),
            Output::Run(event) => self.on_run(event),
            Output::Log(text) => self.say(at, &text),
            Output::End => {
                self.say(at, "ends");
                self.processes[at].gone = true;
                self.processes[at].machine = None;
                if at == 0 {
                    self.released = true;
                    for node in 1..self.processes.len() {
                        // What is not in the run waits for the next one, which does not come.
                        let incarnation = self.processes[node].incarnation;
                        self.at(
                            self.time + 20 * SECOND,
                            Event::Tell(node, incarnation, Input::Leave),
                        );
                    }
                }
            }
            Output::Unwatch { run } => {
                let (keys, subjects) = (format!("run.{run}."), format!("squall.{run}."));
                self.processes[at].watches.retain(|watch| !watch.starts_with(&keys));
                self.processes[at].listens.retain(|listen| !listen.starts_with(&subjects));
            }
            other => self.send(at, other),
        }
    }

    pub(super) fn say(&self, at: usize, text: &str) {
        if self.verbose {
            println!("{:9.3} {:10} {text}", self.time as f64 / 1e9, self.processes[at].name);
        }
    }
}
