//! What stands in front of a controller's machine: it stores what nodes fetch before they are called, and takes requests of
//! others to end the run.

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

/// Where a controller can be asked to end its run in order.
pub(crate) fn stop_subject(run: &str) -> String {
    format!("squall.{run}.stop")
}

/// A machine that begins its run when these objects are stored, and whose run others may ask to end.
#[derive(Debug)]
pub(crate) struct Front<M> {
    machine: M,
    /// Those that are to be stored.
    waiting: VecDeque<usize>,
    objects: Vec<Object>,
    /// The command that waits for them.
    begin: Option<RunCommand>,
    /// Where it listens, once it knows its run.
    stop: Option<String>,
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

impl<M: Machine> Front<M> {
    /// The machine of a controller, and objects by their digests.
    pub(crate) fn new(machine: M, objects: Vec<(String, Bytes)>) -> Front<M> {
        let object = |(digest, bytes): (String, Bytes)| {
            let size = bytes.len() as u64;
            Object { digest, bytes, size, attempts: 0 }
        };
        let objects: Vec<Object> = objects.into_iter().map(object).collect();
        let (begin, stop, waiting) = (None, None, (0..objects.len()).collect());
        Front { machine, waiting, objects, begin, stop, stored: 0 }
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

impl<M: Machine> Machine for Front<M> {
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Asked { subject, reply, .. } if Some(&subject) == self.stop.as_ref() => {
                out.push(Output::Reply { reply, payload: Bytes::from(&b"stops"[..]) });
                out.push(Output::Run(RunEvent::Interrupted));
            }
            Input::Run(command) if self.stop.is_none() && run_of(&command).is_some() => {
                let subject = run_of(&command).map(stop_subject).unwrap_or_default();
                out.push(Output::Listen { subject: subject.clone() });
                self.stop = Some(subject);
                self.on(now, Input::Run(command), out);
            }
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

/// The run that a command begins, or goes on with.
fn run_of(command: &RunCommand) -> Option<&str> {
    match command {
        RunCommand::Begin { order, .. } => Some(&order.run),
        RunCommand::Resume { run } => Some(run),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::io::Wanted;
    use crate::protocol::messages::{OnLoss, Order};

    /// Notes what it is told.
    #[derive(Debug, Default)]
    struct Within(Vec<String>);

    impl Machine for Within {
        fn on(&mut self, _: Now, input: Input, _: &mut Vec<Output>) {
            self.0.push(match input {
                Input::Run(RunCommand::Begin { .. }) => "begin".to_owned(),
                Input::Run(RunCommand::Release) => "release".to_owned(),
                other => format!("{other:?}"),
            });
        }

        fn wake_at(&self) -> Option<Nanos> {
            Some(7)
        }
    }

    const NOW: Now = Now { steady: 0, unix: 0 };

    fn begin() -> Input {
        let order = Order {
            run: "r".to_owned(),
            version: String::new(),
            shards: 0,
            lease: 1,
            on_loss: OnLoss::Abort,
            job: String::new(),
            files: Vec::new(),
        };
        Input::Run(RunCommand::Begin { order: Arc::new(order), wanted: Wanted::default() })
    }

    fn front(objects: usize) -> Front<Within> {
        let object = |at: usize| (format!("{at}"), Bytes::from(vec![0; 1024]));
        Front::new(Within::default(), (0..objects).map(object).collect())
    }

    /// What was put, by digest, with its tickets; what else was said is noted in words.
    fn put(out: Vec<Output>, said: &mut Vec<String>) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        for output in out {
            match output {
                Output::PutObject { ticket, .. } => tickets.push(ticket),
                Output::Run(event) => said.push(format!("{event:?}")),
                Output::Listen { subject } => said.push(format!("listens to {subject}")),
                other => panic!("{other:?}"),
            }
        }
        tickets
    }

    #[test]
    fn a_run_begins_when_its_objects_are_stored() {
        let (mut front, mut said, mut out) = (front(6), Vec::new(), Vec::new());
        front.on(NOW, begin(), &mut out);
        let mut open = put(std::mem::take(&mut out), &mut said);
        assert_eq!(
            (open.len(), said.as_slice()),
            (AT_ONCE, &["listens to squall.r.stop".to_owned()][..])
        );
        // One takes two attempts.
        let first = open.remove(0);
        front.on(NOW, Input::Done { ticket: first, answer: Answer::Unknown }, &mut out);
        open.extend(put(std::mem::take(&mut out), &mut said));
        while let Some(ticket) = open.pop() {
            assert!(front.machine.0.is_empty(), "not before all are stored");
            front.on(NOW, Input::Done { ticket, answer: Answer::Stored(1) }, &mut out);
            open.extend(put(std::mem::take(&mut out), &mut said));
        }
        assert_eq!(front.machine.0, ["begin"]);
        assert_eq!(
            said.last().map(String::as_str),
            Some("Waiting(\"sent to the server: 6.0 KiB of 6.0 KiB\")")
        );
        assert_eq!(front.wake_at(), Some(7));
    }

    #[test]
    fn what_the_server_does_not_take_ends_the_run() {
        for answers in
            [vec![Answer::Refused("its disk is full".to_owned())], vec![Answer::Unknown; 9]]
        {
            let (mut front, mut said, mut out) = (front(1), Vec::new(), Vec::new());
            front.on(NOW, begin(), &mut out);
            for answer in answers {
                let Some(ticket) = put(std::mem::take(&mut out), &mut said).pop() else { break };
                front.on(NOW, Input::Done { ticket, answer }, &mut out);
            }
            put(out, &mut said);
            let said = said.last().expect("it was refused");
            assert!(said.starts_with("Refused(\"the plan cannot be sent to the nodes: "), "{said}");
            front.on(NOW, Input::Run(RunCommand::Release), &mut Vec::new());
            assert_eq!(front.machine.0, ["release"]);
        }
    }

    #[test]
    fn somebody_else_may_ask_for_the_end() {
        let (mut front, mut out) = (front(0), Vec::new());
        front.on(NOW, begin(), &mut out);
        let asked = |subject: &str| Input::Asked {
            subject: subject.to_owned(),
            payload: Bytes::default(),
            reply: "there".to_owned(),
        };
        out.clear();
        front.on(NOW, asked("squall.r.stop"), &mut out);
        let [Output::Reply { reply, .. }, Output::Run(RunEvent::Interrupted)] = &out[..] else {
            panic!("{out:?}")
        };
        assert_eq!(reply, "there");
        front.on(NOW, asked("squall.r.clock"), &mut out);
        assert_eq!(front.machine.0.len(), 2, "that is for the machine");
    }
}
