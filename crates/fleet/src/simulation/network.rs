//! The way to the server, and what it does.

use crate::protocol::io::{Answer, Input, Output, Ticket};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::broker::is_of;
use super::world::{Event, World};

/// How long an answer that does not come is waited for.
const TIMEOUT: Nanos = 2 * SECOND;

impl World {
    pub(super) fn reaches(&self, process: usize) -> bool {
        self.processes[process].cut_up <= self.time
            && self.processes[process].cut_down <= self.time
            && !self.broker.is_down
    }

    /// A delay on the way; `None`: it is lost.
    pub(super) fn delay(&mut self) -> Option<u64> {
        if self.chance.of_1000(self.scenario.lost) {
            return None;
        }
        let most = if self.chance.of_1000(self.scenario.late) { 400 } else { 3 };
        Some(self.chance.within(50_000, most * MS))
    }

    /// Sends a request to the server.
    pub(super) fn send(&mut self, at: usize, output: Output) {
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
        let lasting = output.is_lasting();
        let cut = self.processes[at].cut_up > self.time || self.broker.is_down;
        let delay = if lasting { Some(MS) } else { self.delay() };
        match delay {
            Some(delay) if !cut || lasting => {
                let again = !lasting && self.chance.of_1000(self.scenario.twice);
                if again {
                    // A get or put that comes twice has one answer for its process.
                    let later = delay + self.chance.within(0, 500) * MS;
                    self.at(self.time + later, Event::Server(at, incarnation, output.clone()));
                }
                self.at(self.time + delay, Event::Server(at, incarnation, output));
            }
            _ => self.unknown(at, incarnation, ticket),
        }
    }

    pub(super) fn unknown(&mut self, at: usize, incarnation: u32, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            let soon = if self.broker.is_down { 10 * MS } else { TIMEOUT };
            self.at(
                self.time + soon,
                Event::Tell(at, incarnation, Input::Done { ticket, answer: Answer::Unknown }),
            );
        }
    }

    /// The server does what a process wants.
    pub(super) fn serve(&mut self, from: usize, incarnation: u32, output: Output) {
        let ticket = ticket_of(&output);
        let lasting = output.is_lasting();
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
            other => {
                self.pass_on(from, incarnation, other);
                None
            }
        };
        if let (Some(answer), Some(ticket)) = (answer, ticket) {
            self.answer(from, incarnation, ticket, answer);
        }
    }

    /// The server does what has no answer of its own, or one of another process.
    fn pass_on(&mut self, from: usize, incarnation: u32, output: Output) {
        match output {
            Output::Say { subject, payload } => {
                self.spread(&subject, |subject| Input::Heard { subject, payload: payload.clone() });
            }
            Output::Ask { ticket, subject, payload, .. } => {
                let reply = format!("{from} {incarnation} {}", ticket.0);
                self.spread(&subject, |subject| Input::Asked {
                    subject,
                    payload: payload.clone(),
                    reply: reply.clone(),
                });
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
            }
            Output::Forget { run } => self.broker.forget(&run),
            _ if !self.is_alive(from, incarnation) => {}
            Output::Watch { keys } => {
                self.present(from, &keys);
                self.processes[from].watches.push(keys);
            }
            Output::Listen { subject } => self.processes[from].listens.push(subject),
            Output::Consume { .. } => {
                self.is_reading = true;
                self.reading = (1, self.reading.1 + 1, self.time, self.time);
                self.pump();
            }
            _ => {}
        }
    }

    pub(super) fn answer(&mut self, to: usize, incarnation: u32, ticket: Ticket, answer: Answer) {
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
    pub(super) fn spread(&mut self, subject: &str, input: impl Fn(String) -> Input) {
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
    pub(super) fn changed(&mut self, key: &str, revision: u64, value: Option<Bytes>) {
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
    pub(super) fn present(&mut self, to: usize, pattern: &str) {
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

    pub(super) fn store(&mut self, subject: String, id: String, payload: Bytes) -> Answer {
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
    pub(super) fn pump(&mut self) {
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

    pub(super) fn deliver(&mut self, round: u32, sequence: u64) {
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
