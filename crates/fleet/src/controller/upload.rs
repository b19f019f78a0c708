//! Stores what nodes fetch before they are called.

use std::collections::VecDeque;

use squall_base::units::bytes;

use crate::protocol::io::{
    Answer, Bytes, Input, Machine, Nanos, Now, Output, RunCommand, RunEvent, Ticket,
};

/// Set in the tickets of objects: those of the machine within begin at 1.
const OWN: u64 = 1 << 63;
/// Objects that are stored at the same time.
const AT_ONCE: usize = 4;
/// How often it is tried to store one.
const ATTEMPTS: u32 = 5;

/// A machine that begins its run when these objects are stored.
#[derive(Debug)]
pub(crate) struct Upload<M> {
    machine: M,
    /// Those that are to be stored.
    waiting: VecDeque<usize>,
    objects: Vec<Object>,
    /// The command that waits for them.
    begin: Option<RunCommand>,
    stored: usize,
}

#[derive(Debug)]
struct Object {
    digest: String,
    /// Empty once it is stored.
    bytes: Bytes,
    size: u64,
    attempts: u32,
}

impl<M: Machine> Upload<M> {
    /// The machine of a controller, and objects by their digests.
    pub(crate) fn new(machine: M, objects: Vec<(String, Bytes)>) -> Upload<M> {
        let object = |(digest, bytes): (String, Bytes)| {
            let size = bytes.len() as u64;
            Object { digest, bytes, size, attempts: 0 }
        };
        let objects: Vec<Object> = objects.into_iter().map(object).collect();
        Upload { machine, waiting: (0..objects.len()).collect(), objects, begin: None, stored: 0 }
    }

    fn next(&mut self, out: &mut Vec<Output>) {
        if let Some(at) = self.waiting.pop_front() {
            let object = &mut self.objects[at];
            object.attempts += 1;
            let (digest, bytes) = (object.digest.clone(), object.bytes.clone());
            out.push(Output::PutObject { ticket: Ticket(OWN | at as u64), digest, bytes });
        }
    }

    fn done(&mut self, now: Now, at: usize, answer: Answer, out: &mut Vec<Output>) {
        let Some(object) = self.objects.get_mut(at) else { return };
        let why = match answer {
            Answer::Refused(why) => Some(why),
            Answer::Unknown if object.attempts >= ATTEMPTS => {
                Some("the server did not answer".to_owned())
            }
            Answer::Unknown => {
                self.waiting.push_back(at);
                return self.next(out);
            }
            _ => None,
        };
        if let Some(why) = why {
            // What was to wait for the others waits no more.
            if self.begin.take().is_some() {
                let why = format!("the plan cannot be sent to the nodes: {why}");
                out.push(Output::Run(RunEvent::Refused(why)));
            }
            return;
        }
        object.bytes = Bytes::default();
        self.stored += 1;
        if self.begin.is_some() {
            out.push(Output::Run(RunEvent::Waiting(self.progress())));
        }
        match self.stored == self.objects.len() {
            true => {
                if let Some(begin) = self.begin.take() {
                    self.machine.on(now, Input::Run(begin), out);
                }
            }
            false => self.next(out),
        }
    }

    fn progress(&self) -> String {
        let size = |objects: &mut dyn Iterator<Item = &Object>| objects.map(|own| own.size).sum();
        let all: u64 = size(&mut self.objects.iter());
        let stored: u64 = size(&mut self.objects.iter().filter(|own| own.bytes.is_empty()));
        format!("sent to the server: {} of {}", bytes(stored), bytes(all))
    }
}

impl<M: Machine> Machine for Upload<M> {
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Run(begin @ RunCommand::Begin { .. }) if self.stored < self.objects.len() => {
                self.begin = Some(begin);
                (0..AT_ONCE).for_each(|_| self.next(out));
            }
            Input::Done { ticket, answer } if ticket.0 & OWN != 0 => {
                self.done(now, (ticket.0 & !OWN) as usize, answer, out);
            }
            Input::Run(RunCommand::Release) if self.begin.take().is_some() => {
                self.machine.on(now, Input::Run(RunCommand::Release), out);
            }
            other => self.machine.on(now, other, out),
        }
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.machine.wake_at()
    }
}
