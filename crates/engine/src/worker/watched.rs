//! An exchange as it is copied for one who watches the run (`squall try`).

use squall_measure::Sample;
use squall_wire::Response;

use super::Worker;
use crate::judge::{Judgement, Note};
use crate::trace::{Exchange, SHOWN_BODY, Trace};

/// Gathers what a watcher is told.
pub(super) struct Watched {
    trace: Trace,
    exchange: Exchange,
}

impl Watched {
    pub(super) fn new(trace: Trace) -> Self {
        Watched { trace, exchange: Exchange::default() }
    }

    pub(super) fn sent(&mut self, origin: String, slices: &[&[u8]], reused: bool) {
        let request = &mut self.exchange.request;
        request.clear();
        for slice in slices {
            let room = SHOWN_BODY.saturating_sub(request.len());
            request.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.exchange.origin = origin;
        self.exchange.reused = reused;
    }

    pub(super) fn answered(&mut self, response: &Response<'_>) {
        self.exchange.head = response.head.to_vec();
        self.exchange.body = response.body[..response.body.len().min(SHOWN_BODY)].to_vec();
        self.exchange.body_bytes = response.body_bytes;
    }

    /// The output of a program.
    pub(super) fn printed(&mut self, command: String, output: &[u8]) {
        self.exchange.request = command.into_bytes();
        self.exchange.body = output[..output.len().min(SHOWN_BODY)].to_vec();
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
        name: u32,
        sample: &Sample,
        judgement: Judgement,
    ) {
        self.exchange.name = worker.recorder.name_text(name);
        self.exchange.status = i64::from(sample.status);
        self.exchange.latency_us = sample.latency_us;
        self.exchange.phases = sample.phases;
        self.exchange.error = judgement.error.map(|kind| (kind, judgement.detail));
        self.trace.tell(self.exchange);
    }
}
