//! An exchange as it is copied for one who watches the run.

use squall_measure::Sample;
use squall_wire::Response;

use super::Worker;
use crate::judge::{Judgement, Note};
use crate::trace::{Exchange, Trace, Which};
use crate::user::User;

/// Gathers what a watcher is told.
pub(super) struct Watched {
    trace: Trace,
    exchange: Exchange,
}

impl Worker {
    /// A copy of the exchange that begins now, if somebody wants one. It is boxed because hardly ever
    /// somebody does, and what a request carries along is copied several times.
    pub(super) fn watch(&self) -> Option<Box<Watched>> {
        let trace = self.trace.as_ref()?;
        if let Which::OneIn(every) = trace.which {
            let number = self.watched.get();
            self.watched.set(number.wrapping_add(1));
            if !number.is_multiple_of(every.max(1)) {
                return None;
            }
        }
        Some(Box::new(Watched { trace: trace.clone(), exchange: Exchange::default() }))
    }
}

impl Watched {
    /// Whether it needs the answer's body.
    pub(super) fn wants_body(&self) -> bool {
        self.trace.bytes > 0
    }

    pub(super) fn sent(&mut self, origin: String, slices: &[&[u8]], reused: bool) {
        let request = &mut self.exchange.request;
        request.clear();
        for slice in slices {
            let room = self.trace.bytes.saturating_sub(request.len());
            request.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.exchange.origin = origin;
        self.exchange.reused = reused;
    }

    pub(super) fn answered(&mut self, response: &Response<'_>) {
        self.exchange.body_bytes = response.body_bytes;
        if self.wants_body() {
            let length = response.body.len().min(self.trace.bytes);
            self.exchange.head = response.head.to_vec();
            self.exchange.body = response.body[..length].to_vec();
        }
    }

    /// The output of a program.
    pub(super) fn printed(&mut self, command: String, output: &[u8]) {
        self.exchange.request = command.into_bytes();
        self.exchange.body = output[..output.len().min(self.trace.bytes)].to_vec();
        self.exchange.body_bytes = output.len() as u64;
    }

    pub(super) fn noted(&mut self, note: Note<'_>) {
        let exchange = &mut self.exchange;
        match note {
            Note::Extracted(name, value) => {
                exchange.extracted.push((name.to_owned(), Ok(value.to_string())));
            }
            Note::NotExtracted(name, reason) => {
                exchange.extracted.push((name.to_owned(), Err(reason.to_owned())));
            }
            Note::Checked(check, held) => {
                exchange.checks.push((check.text.to_string(), check.warn, held));
            }
        }
    }

    pub(super) fn tell(
        mut self,
        worker: &Worker,
        user: &User,
        name: u32,
        begin: u64,
        sample: &Sample,
        judgement: Judgement,
    ) {
        if self.trace.which == Which::Failed && judgement.error.is_none() {
            return;
        }
        self.exchange.at_us = begin.saturating_sub(worker.recorder.start()) / 1_000;
        self.exchange.worker = worker.index;
        self.exchange.scenario = worker.program.scenarios[user.scenario as usize].name.clone();
        (self.exchange.user, self.exchange.iteration) = (user.number, user.iteration);
        (self.exchange.bytes_in, self.exchange.bytes_out) = (sample.bytes_in, sample.bytes_out);
        self.exchange.name = worker.recorder.name_text(name);
        self.exchange.status = i64::from(sample.status);
        self.exchange.latency_us = sample.latency_us;
        self.exchange.phases = sample.phases;
        self.exchange.error = judgement.error.map(|kind| (kind, judgement.detail));
        self.trace.tell(self.exchange);
    }
}
