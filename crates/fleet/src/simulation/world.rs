//! The world of a simulated fleet: processes, a network, a server, on virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::protocol::io::{
    Answer, Input, LoadCommand, LoadEvent, Output, RunCommand, RunEvent, Ticket, Wanted,
};
use crate::protocol::messages::{Change, Order};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::broker::{Broker, is_of};
use super::chance::Chance;
use super::load::Done;
use super::oracle::Oracle;
use super::process::{Clock, Process};
use super::scenario::{Fault, Scenario};

pub const RUN: &str = "r";
/// How long an answer that does not come is waited for.
const TIMEOUT: Nanos = 2 * SECOND;
/// By when a run must be over after its load, whatever happens.
const PATIENCE: Nanos = 400 * SECOND;
/// Most events of a run: more are a machine that does not rest.
const EVENTS: u64 = 3_000_000;

/// Something that happens.
enum Event {
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
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: std::collections::HashMap<u64, Event>,
    serial: u64,
    chance: Chance,
    scenario: Scenario,
    pub processes: Vec<Process>,
    pub broker: Broker,
    /// The next message that the controller gets, the round of reading, until when nothing comes, and when the last one comes.
    reading: (u64, u32, u64, u64),
    is_reading: bool,
    pub oracle: Oracle,
    forgotten_at: u64,
    down_until: u64,
    begun: bool,
    released: bool,
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
            oracle: Oracle::default(),
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

    fn at(&mut self, time: u64, event: Event) {
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

    fn is_alive(&self, process: usize, incarnation: u32) -> bool {
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
            self.processes[at].start_node(zone, self.scenario.length);
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

    fn begin(&self) -> RunCommand {
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

    fn reaches(&self, process: usize) -> bool {
        self.processes[process].cut_up <= self.time
            && self.processes[process].cut_down <= self.time
            && !self.broker.is_down
    }

    /// A delay on the way; `None`: it is lost.
    fn delay(&mut self) -> Option<u64> {
        if self.chance.of_1000(self.scenario.lost) {
            return None;
        }
        let most = if self.chance.of_1000(self.scenario.late) { 400 } else { 3 };
        Some(self.chance.within(50_000, most * MS))
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
    fn step(&mut self, at: usize, input: Input) {
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

    /// Sends a request to the server.
    fn send(&mut self, at: usize, output: Output) {
        let incarnation = self.processes[at].incarnation;
        let ticket = ticket_of(&output);
        if let Some(ticket) = ticket {
            self.processes[at].pending.insert(ticket);
        }
        if let Output::Publish { id, ticket, .. } = &output
            && id.matches('/').count() == 3
        {
            let time = self.time;
            let process = &mut self.processes[at];
            process.in_flight.insert(*ticket);
            process.most_in_flight = process.most_in_flight.max(process.in_flight.len());
            process.firsts.entry(id.clone()).or_insert(time);
            process.firsts.insert(format!("#{}", ticket.0), process.firsts[id]);
        }
        if let Output::Ask { ticket, wait, .. } = &output {
            let (ticket, answer) = (*ticket, Answer::Unknown);
            self.at(self.time + wait, Event::Tell(at, incarnation, Input::Done { ticket, answer }));
        }
        let lasting = matches!(
            output,
            Output::Watch { .. }
                | Output::Listen { .. }
                | Output::Consume { .. }
                | Output::Forget { .. }
        );
        let cut = self.processes[at].cut_up > self.time || self.broker.is_down;
        let delay = if lasting { Some(MS) } else { self.delay() };
        match delay {
            Some(delay) if !cut || lasting => {
                let again = !lasting && self.chance.of_1000(self.scenario.twice);
                let mut first = output;
                if again {
                    // A get or put that comes twice has one answer for its process.
                    let later = delay + self.chance.within(0, 500) * MS;
                    self.at(self.time + later, Event::Server(at, incarnation, first.clone()));
                }
                if let Output::Publish { .. } = &mut first {}
                self.at(self.time + delay, Event::Server(at, incarnation, first));
            }
            _ => self.unknown(at, incarnation, ticket),
        }
    }

    fn unknown(&mut self, at: usize, incarnation: u32, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            let soon = if self.broker.is_down { 10 * MS } else { TIMEOUT };
            self.at(
                self.time + soon,
                Event::Tell(at, incarnation, Input::Done { ticket, answer: Answer::Unknown }),
            );
        }
    }

    /// The server does what a process wants.
    fn serve(&mut self, from: usize, incarnation: u32, output: Output) {
        let ticket = ticket_of(&output);
        let lasting = matches!(
            output,
            Output::Watch { .. }
                | Output::Listen { .. }
                | Output::Consume { .. }
                | Output::Forget { .. }
        );
        if self.broker.is_down && !lasting {
            return self.unknown(from, incarnation, ticket);
        }
        let answer = match output {
            Output::Put { key, value, revision, .. } => {
                let answer = self.broker.put(&key, value.clone(), revision);
                if let Answer::Stored(revision) = answer {
                    self.changed(&key, revision, Some(value));
                }
                Some(answer)
            }
            Output::Get { key, .. } => Some(Answer::Value(self.broker.keys.get(&key).cloned())),
            Output::Delete { key, .. } => {
                let answer = self.broker.delete(&key);
                if let Answer::Stored(revision) = answer {
                    self.changed(&key, revision, None);
                }
                Some(answer)
            }
            Output::Publish { subject, id, payload, .. } => Some(self.store(subject, id, payload)),
            Output::Say { subject, payload } => {
                self.spread(&subject, |subject| Input::Heard { subject, payload: payload.clone() });
                None
            }
            Output::Ask { ticket, subject, payload, .. } => {
                let reply = format!("{from} {incarnation} {}", ticket.0);
                self.spread(&subject, |subject| Input::Asked {
                    subject,
                    payload: payload.clone(),
                    reply: reply.clone(),
                });
                None
            }
            Output::Reply { reply, payload } => {
                let mut words = reply.split(' ').map(|word| word.parse::<u64>().unwrap_or(0));
                let (Some(to), Some(incarnation), Some(ticket)) =
                    (words.next(), words.next(), words.next())
                else {
                    return;
                };
                self.answer(
                    to as usize,
                    incarnation as u32,
                    Ticket(ticket),
                    Answer::Reply(payload),
                );
                None
            }
            Output::Watch { keys } => {
                if self.is_alive(from, incarnation) {
                    self.present(from, &keys);
                    self.processes[from].watches.push(keys);
                }
                None
            }
            Output::Listen { subject } => {
                if self.is_alive(from, incarnation) {
                    self.processes[from].listens.push(subject);
                }
                None
            }
            Output::Consume { .. } => {
                if self.is_alive(from, incarnation) {
                    self.is_reading = true;
                    self.reading = (1, self.reading.1 + 1, self.time, self.time);
                    self.pump();
                }
                None
            }
            Output::Forget { run } => {
                self.broker.forget(&run);
                None
            }
            _ => None,
        };
        if let (Some(answer), Some(ticket)) = (answer, ticket) {
            self.answer(from, incarnation, ticket, answer);
        }
    }

    fn answer(&mut self, to: usize, incarnation: u32, ticket: Ticket, answer: Answer) {
        let delay = self.delay();
        let cut = self.processes[to].cut_down > self.time;
        match delay {
            Some(delay) if !cut => self.at(
                self.time + delay,
                Event::Tell(to, incarnation, Input::Done { ticket, answer }),
            ),
            _ => self.unknown(to, incarnation, Some(ticket)),
        }
    }

    /// Tells all who listen.
    fn spread(&mut self, subject: &str, input: impl Fn(String) -> Input) {
        for to in 0..self.processes.len() {
            let process = &self.processes[to];
            let listens = process.machine.is_some()
                && process.cut_down <= self.time
                && process.listens.iter().any(|listen| is_of(listen, subject));
            if listens && let Some(delay) = self.delay() {
                let incarnation = self.processes[to].incarnation;
                self.at(self.time + delay, Event::Tell(to, incarnation, input(subject.into())));
            }
        }
    }

    /// A key has changed: watches are told, some of them late.
    fn changed(&mut self, key: &str, revision: u64, value: Option<Bytes>) {
        for to in 0..self.processes.len() {
            let process = &self.processes[to];
            let watches =
                process.machine.is_some() && process.watches.iter().any(|watch| is_of(watch, key));
            if !watches || process.cut_down > self.time {
                continue;
            }
            let late = if self.chance.of_1000(self.scenario.late_watch) {
                self.chance.within(0, 6_000) * MS
            } else {
                0
            };
            let delay = self.delay().unwrap_or(SECOND) + late;
            let incarnation = self.processes[to].incarnation;
            let input = Input::Key { key: key.into(), revision, value: value.clone() };
            self.at(self.time + delay, Event::Tell(to, incarnation, input));
        }
    }

    /// The present values of a pattern.
    fn present(&mut self, to: usize, pattern: &str) {
        let found: Vec<(String, (u64, Bytes))> = self
            .broker
            .keys
            .iter()
            .filter(|(key, _)| is_of(pattern, key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let incarnation = self.processes[to].incarnation;
        for (key, (revision, value)) in found {
            let delay = self.delay().unwrap_or(SECOND);
            self.at(
                self.time + delay,
                Event::Tell(to, incarnation, Input::Key { key, revision, value: Some(value) }),
            );
        }
    }

    fn store(&mut self, subject: String, id: String, payload: Bytes) -> Answer {
        let (sequence, is_new) = self.broker.store(self.time, subject, id, payload);
        // Not two within a few seconds: a node of which the server forgets everything cannot be told from one that is silent.
        if is_new
            && self.chance.of_1000(self.scenario.forgotten)
            && self.time > self.forgotten_at + 4 * SECOND
        {
            self.forgotten_at = self.time;
            self.broker.stream[sequence as usize - 1] = None;
        }
        self.pump();
        Answer::Stored(sequence)
    }

    /// Sends the controller what it has not got of the stream.
    fn pump(&mut self) {
        if !self.is_reading || !self.reaches(0) || self.time < self.reading.2 {
            return;
        }
        while self.reading.0 <= self.broker.stream.len() as u64 {
            let delay = self.delay().unwrap_or(300 * MS);
            let when = self.reading.3.max(self.time + delay);
            let (sequence, round) = (self.reading.0, self.reading.1);
            self.reading.0 += 1;
            self.reading.3 = when;
            self.at(when, Event::Deliver(round, sequence));
        }
    }

    fn deliver(&mut self, round: u32, sequence: u64) {
        if round != self.reading.1 || !self.is_reading {
            return;
        }
        if sequence == 0 {
            return self.pump();
        }
        if !self.reaches(0) || self.time < self.reading.2 {
            // It reads from here again, some time after it can be reached.
            self.reading.1 += 1;
            self.reading.0 = sequence;
            self.reading.3 = self.time;
            return;
        }
        let Some(Some((subject, payload))) = self.broker.stream.get(sequence as usize - 1).cloned()
        else {
            return;
        };
        self.step(0, Input::Message { sequence, subject, payload });
    }

    /// What renews a lease was stored: nobody may have sent when it was over.
    fn acknowledge(&mut self, at: usize, ticket: Ticket) {
        self.check_lease(at);
        if let Some(&first) = self.processes[at].firsts.get(&format!("#{}", ticket.0)) {
            self.processes[at].lease_from = self.processes[at].lease_from.max(first);
        }
    }

    fn check_lease(&mut self, at: usize) {
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

    fn load(&mut self, at: usize, command: &LoadCommand) {
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

    fn schedule_load(&mut self, at: usize) {
        let process = &self.processes[at];
        if let Some(wake) = process.load.wake_at() {
            let when = process.time_of(wake).max(self.time + 1_000);
            let incarnation = process.incarnation;
            self.at(when, Event::Load(at, incarnation));
        }
    }

    /// What a load has done: requests that were sent, events for the node a little later.
    fn loaded(&mut self, at: usize, done: Done) {
        if let Some(wrong) = done.wrong {
            self.oracle.fail(format!("{}: {wrong}", self.processes[at].name));
        }
        for (cell, mask) in done.sent {
            self.oracle.on_sent(at, cell, mask);
            self.processes[at].recorded.push(cell);
        }
        let incarnation = self.processes[at].incarnation;
        let mut when = self.time;
        for event in done.events {
            when += self.chance.within(1, 30) * MS / 2;
            if matches!(event, LoadEvent::Ended { .. }) {
                self.processes[at].load_ended = Some(self.time);
            }
            self.at(when, Event::Tell(at, incarnation, Input::Load(event)));
        }
    }

    fn on_run(&mut self, event: RunEvent) {
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
        self.oracle.on_run(&event);
    }

    /// Nodes whose load had ended for a while, and that could be reached all the time, have had all merged.
    fn check_ended(&mut self) {
        for at in 1..self.processes.len() {
            let process = &self.processes[at];
            let was_there = process.cut_up.max(process.cut_down).max(self.down_until)
                + 2 * self.scenario.lease
                < self.time;
            if process.machine.is_some() && process.load_ended.is_some() && was_there {
                let recorded = process.recorded.clone();
                self.oracle.check_recorded(at, &recorded);
            }
        }
    }

    fn fault(&mut self, at: usize) {
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
            Fault::Pause => {
                self.at(self.time, Event::User(incarnation, RunCommand::Change(Change::Pause)))
            }
            Fault::GoOn => {
                self.at(self.time, Event::User(incarnation, RunCommand::Change(Change::GoOn)))
            }
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
                let incarnation = self.processes[process].incarnation;
                self.at(self.time, Event::Tell(process, incarnation, Input::Leave));
            }
        }
    }

    fn kill(&mut self, at: usize, back: Option<Nanos>, disk: bool) {
        if self.processes[at].machine.is_none() || (at == 0 && self.released) {
            return;
        }
        let mut done = Done::default();
        let now = self.processes[at].now(self.time).steady;
        self.check_lease(at);
        self.processes[at].load.cut(now, &mut done);
        for (cell, mask) in done.sent {
            self.oracle.on_sent(at, cell, mask);
        }
        self.processes[at].kill();
        if !disk {
            self.processes[at].disk.clear();
        }
        if let Some(back) = back {
            self.at(self.time + back, Event::Start(at));
        }
    }

    fn cut(&mut self, at: usize, until: u64) {
        self.processes[at].was_cut = true;
        let incarnation = self.processes[at].incarnation;
        let noticed = self.chance.within(0, 2_000) * MS;
        self.at(self.time + noticed, Event::Tell(at, incarnation, Input::Disconnected));
        self.at(until + 1, Event::Restore(at));
    }

    /// A process can be reached again: its watches begin anew, sometimes late.
    fn restore(&mut self, at: usize) {
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

    fn up(&mut self) {
        if self.time >= self.down_until {
            self.broker.is_down = false;
            for process in 0..self.processes.len() {
                self.restore(process);
            }
        }
    }

    fn say(&self, at: usize, text: &str) {
        if self.verbose {
            println!("{:9.3} {:10} {text}", self.time as f64 / 1e9, self.processes[at].name);
        }
    }
}

fn ticket_of(output: &Output) -> Option<Ticket> {
    match output {
        Output::Put { ticket, .. }
        | Output::Get { ticket, .. }
        | Output::Delete { ticket, .. }
        | Output::Publish { ticket, .. }
        | Output::Ask { ticket, .. }
        | Output::Recall { ticket, .. }
        | Output::PutObject { ticket, .. }
        | Output::GetObject { ticket, .. } => Some(*ticket),
        _ => None,
    }
}

fn short(command: &LoadCommand) -> String {
    match command {
        LoadCommand::Prepare { .. } => "prepare".into(),
        other => format!("{other:?}"),
    }
}
