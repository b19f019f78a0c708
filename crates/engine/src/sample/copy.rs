//! A sample as it is copied for one who watches the run.

use squall_metrics::Sample;
use squall_wire::Response;

use crate::post::{AssertionResult, Observation};
use crate::trace::{Exchange, Trace, Which};
use crate::user::Core;
use crate::worker::Worker;

/// Gathers what a watcher is told.
pub(super) struct Copy {
    trace: Trace,
    exchange: Exchange,
}

impl Worker {
    /// A copy of the sample that begins now, if somebody wants one. It is boxed because hardly ever
    /// somebody does.
    pub(super) fn copy(&self) -> Option<Box<Copy>> {
        let trace = self.trace.as_ref()?;
        if let Which::OneIn(every) = trace.which {
            let number = self.samples_seen.get();
            self.samples_seen.set(number.wrapping_add(1));
            if !number.is_multiple_of(every.max(1)) {
                return None;
            }
        }
        Some(Box::new(Copy { trace: trace.clone(), exchange: Exchange::default() }))
    }
}

impl Copy {
    /// How much it wants to see of a response's body.
    pub(super) fn body_bytes(&self) -> u64 {
        self.trace.bytes as u64
    }

    pub(super) fn sent(&mut self, origin: String, slices: &[&[u8]], reused: bool) {
        let request = &mut self.exchange.request;
        request.clear();
        for slice in slices {
            let room = self.trace.bytes.saturating_sub(request.len());
            request.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.exchange.request_bytes = slices.iter().map(|slice| slice.len()).sum();
        self.exchange.origin = origin;
        self.exchange.reused = reused;
    }

    pub(super) fn received(&mut self, response: &Response<'_>) {
        self.exchange.body_bytes = response.body_bytes;
        if self.trace.bytes > 0 {
            let length = response.body.len().min(self.trace.bytes);
            self.exchange.head = response.head.to_vec();
            self.exchange.body = response.body[..length].to_vec();
        }
    }

    /// The output of a program.
    pub(super) fn printed(&mut self, command: String, output: &[u8]) {
        self.exchange.request_bytes = command.len();
        self.exchange.request = command.into_bytes();
        self.exchange.body = output[..output.len().min(self.trace.bytes)].to_vec();
        self.exchange.body_bytes = output.len() as u64;
    }

    pub(super) fn observed(&mut self, observation: Observation<'_>) {
        let exchange = &mut self.exchange;
        match observation {
            Observation::Extracted(name, value) => {
                exchange.extracted.push((name.to_owned(), Ok(value.to_string())));
            }
            Observation::NotExtracted(name, reason) => {
                exchange.extracted.push((name.to_owned(), Err(reason.to_owned())));
            }
            Observation::Checked(check, held) => {
                exchange.checks.push((check.text.to_string(), check.warn, held));
            }
        }
    }

    pub(super) fn tell(
        mut self,
        worker: &Worker,
        user: &Core,
        name: u32,
        begin: u64,
        sample: &Sample,
        result: AssertionResult,
    ) {
        if self.trace.which == Which::Failed && result.error.is_none() {
            return;
        }
        self.exchange.at_us = begin.saturating_sub(worker.recorder.start()) / 1_000;
        self.exchange.worker = worker.index;
        self.exchange.scenario = worker.program.scenarios[user.scenario()].name.clone();
        (self.exchange.user, self.exchange.iteration) = (user.seat.number, user.iteration.get());
        (self.exchange.bytes_in, self.exchange.bytes_out) = (sample.bytes_in, sample.bytes_out);
        self.exchange.name = worker.recorder.name_text(name);
        self.exchange.status = i64::from(sample.status);
        self.exchange.latency_ns = sample.latency_ns;
        self.exchange.phases = sample.phases;
        self.exchange.error = result.error.map(|kind| (kind, result.detail));
        self.trace.tell(self.exchange);
    }
}
