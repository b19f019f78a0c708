//! A sample as it is copied for one who watches the run.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use squall_metrics::Sample;
use squall_wire::{BodySource, Response, Times};

use crate::parts::trace_context::TraceId;
use crate::post::{AssertionResult, Observation};
use crate::trace::{Exchange, ExchangeCopy, ExchangeFilter, Extracted, Trace};
use crate::user::Core;
use crate::worker::Worker;

/// Gathers what a watcher is told.
pub(super) struct Copy {
    /// Most bytes that are copied of a request and of a response's body.
    bytes: usize,
    /// Whether what is extracted and checked is wanted.
    observations: bool,
    /// Nobody else holds it until it is told.
    exchange: Arc<Exchange>,
    /// What was read of the body that is being sent.
    streamed: Option<Rc<RefCell<Streamed>>>,
}

impl Worker {
    /// A copy of the sample that begins now, if somebody wants one. It is boxed because hardly ever
    /// somebody does.
    pub(super) fn copy(&self) -> Option<Box<Copy>> {
        let trace = self.trace.as_ref()?;
        match trace.which {
            ExchangeFilter::None => return None,
            ExchangeFilter::OneIn(every) => {
                let number = self.samples_seen.get();
                self.samples_seen.set(number.wrapping_add(1));
                if !number.is_multiple_of(every.max(1)) {
                    return None;
                }
            }
            ExchangeFilter::All | ExchangeFilter::Failed => {}
        }
        let Trace { bytes, observations, .. } = *trace;
        let exchange = self.spare_exchange(trace);
        Some(Box::new(Copy { bytes, observations, exchange, streamed: None }))
    }

    /// An exchange to write: one that is written over, if there is such.
    fn spare_exchange(&self, trace: &Trace) -> Arc<Exchange> {
        let mut spares = self.spare_exchanges.borrow_mut();
        if spares.is_empty() {
            *spares = trace.spares.take();
        }
        let mut exchange = spares.pop().unwrap_or_default();
        Arc::make_mut(&mut exchange).clear();
        exchange
    }
}

/// Writes over a text.
fn write(text: &mut String, new: &str) {
    text.clear();
    text.push_str(new);
}

impl Copy {
    fn exchange(&mut self) -> &mut Exchange {
        Arc::make_mut(&mut self.exchange)
    }

    /// How much it wants to see of a response's body.
    pub(super) fn body_bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// A request is sent, or is about to be: of what, nothing is known yet. One that got no response is repeated: that
    /// is not told.
    pub(super) fn sent(&mut self, url: String, slices: &[&[u8]], reused: bool) {
        let mut hop = ExchangeCopy { url, reused, ..ExchangeCopy::default() };
        for slice in slices {
            let room = self.bytes.saturating_sub(hop.request.len());
            hop.request.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        hop.request_bytes = slices.iter().map(|slice| slice.len() as u64).sum();
        let hops = &mut self.exchange().hops;
        hops.pop_if(|last| !last.is_answered);
        // Hardly any sample has more than one.
        hops.reserve_exact(1);
        hops.push(hop);
        self.streamed = None;
    }

    /// A body that is read while it is sent, read for the watcher too.
    pub(super) fn streaming(&mut self, source: Box<dyn BodySource>) -> Box<dyn BodySource> {
        let sent = self.exchange.hops.last().map_or(0, |hop| hop.request.len());
        let room = self.bytes.saturating_sub(sent);
        let copied = Rc::new(RefCell::new(Streamed { room, ..Streamed::default() }));
        self.streamed = Some(copied.clone());
        Box::new(CopiedBody { source, copied })
    }

    /// What was sent of a streamed body is part of its request.
    fn take_streamed(&mut self) {
        let Some(copied) = self.streamed.take() else { return };
        if let Some(hop) = self.exchange().hops.last_mut() {
            let copied = &mut *copied.borrow_mut();
            hop.request.append(&mut copied.bytes);
            hop.request_bytes += copied.total;
        }
    }

    /// A response came; its times are those of a clock on which the run began at `start`.
    pub(super) fn received(&mut self, response: &Response<'_>, times: &Times, start: u64) {
        self.take_streamed();
        let bytes = self.bytes;
        let Some(hop) = self.exchange().hops.last_mut() else { return };
        hop.is_answered = true;
        hop.status = response.status;
        hop.times_us = [times.sent_ns, times.first_byte_ns, times.end_ns]
            .map(|time| time.saturating_sub(start) / 1_000);
        hop.bytes = (response.bytes_in, response.bytes_out);
        hop.body_bytes = response.body_length;
        if bytes > 0 {
            let length = response.body.len().min(bytes);
            hop.head = response.head.to_vec();
            hop.body = response.body[..length].to_vec();
        }
    }

    /// The trace that the sample belongs to, and the group of which it is a part; and whether it is a resource of a page.
    pub(super) fn traced(
        &mut self,
        trace: Option<TraceId>,
        part_of: Option<u64>,
        is_of_page: bool,
    ) {
        let exchange = self.exchange();
        (exchange.trace, exchange.part_of, exchange.is_of_page) = (trace, part_of, is_of_page);
    }

    /// The output of a program.
    pub(super) fn printed(&mut self, command: String, output: &[u8]) {
        let body = output[..output.len().min(self.bytes)].to_vec();
        self.exchange().hops.push(ExchangeCopy {
            request_bytes: command.len() as u64,
            request: command.into_bytes(),
            is_answered: true,
            body,
            body_bytes: output.len() as u64,
            ..ExchangeCopy::default()
        });
    }

    /// What the plan says of its exit code.
    pub(super) fn said(&mut self, reason: &str) {
        self.exchange().reason = Some(reason.to_owned());
    }

    pub(super) fn observed(&mut self, observation: Observation<'_>) {
        if !self.observations {
            return;
        }
        let exchange = self.exchange();
        match observation {
            Observation::Extracted(name, value) => {
                exchange.extracted.push(Extracted::of(name, Some(value), None));
            }
            Observation::NotExtracted(name, reason) => {
                exchange.extracted.push(Extracted::of(name, None, Some(reason)));
            }
            Observation::Defaulted(name, value, reason) => {
                exchange.extracted.push(Extracted::of(name, Some(value), Some(reason)));
            }
            Observation::Checked(check, held) => {
                exchange.checks.push((check.text.to_string(), check.warn, held));
            }
        }
    }

    /// Tells of a sample that is over: that of a user, of this step of the plan, begun then.
    pub(super) fn tell(
        mut self,
        worker: &Worker,
        user: &Core,
        (name, step, begin): (u32, &str, u64),
        sample: &Sample,
        result: AssertionResult,
    ) {
        let Some(trace) = &worker.trace else { return };
        if trace.which == ExchangeFilter::Failed && result.error.is_none() {
            worker.spare_exchanges.borrow_mut().push(self.exchange);
            return;
        }
        self.take_streamed();
        let exchange = self.exchange();
        exchange.at_us = begin.saturating_sub(worker.recorder.start()) / 1_000;
        exchange.worker = worker.index;
        worker.recorder.share_secrets(&mut exchange.secrets);
        exchange.section = worker.program.section;
        write(&mut exchange.scenario, &worker.program.scenarios[user.scenario()].name);
        write(&mut exchange.step, step);
        (exchange.user, exchange.iteration) = (user.seat.number, user.iteration.get());
        (exchange.bytes_in, exchange.bytes_out) = (sample.bytes_in, sample.bytes_out);
        worker.recorder.with_name(name, |name| write(&mut exchange.name, name));
        exchange.status = i64::from(sample.status);
        exchange.latency_ns = sample.latency_ns;
        exchange.phases = sample.phases;
        exchange.error = result.error.map(|kind| (kind, result.detail));
        trace.tell(self.exchange);
    }
}

/// What was copied of a body that is read while it is sent.
#[derive(Debug, Default)]
struct Streamed {
    bytes: Vec<u8>,
    /// How much more is copied.
    room: usize,
    /// Bytes of all that was read.
    total: u64,
}

/// A body that is copied, up to some size, while it is read.
struct CopiedBody {
    source: Box<dyn BodySource>,
    copied: Rc<RefCell<Streamed>>,
}

impl BodySource for CopiedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let mut copied = self.copied.borrow_mut();
        let more = read.min(copied.room);
        copied.bytes.extend_from_slice(&buffer[..more]);
        copied.room -= more;
        copied.total += read as u64;
        Ok(read)
    }

    fn file(&mut self) -> Option<(&File, u64)> {
        // What the kernel sends by itself is seen by nobody.
        if self.copied.borrow().room > 0 { None } else { self.source.file() }
    }

    fn sent(&mut self, bytes: u64) {
        self.copied.borrow_mut().total += bytes;
        self.source.sent(bytes);
    }
}
