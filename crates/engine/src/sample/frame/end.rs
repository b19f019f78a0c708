//! The end of a sample: what is said of its error, where its time went, and what is written into the record.

use squall_metrics::{ErrorKind, Fate, Phases, Sample};
use squall_wire::Response;

use super::{Frame, POOL};
use crate::post::AssertionResult;
use crate::sample::failure::SampleFailure;
use crate::sample::sampled::{Moment, Sampled};
use crate::sample::sampler::Sampler;
use crate::trace::Tally;
use crate::user::Strand;

impl Frame<'_> {
    /// Notes where an error happened, if there is one that will be written down.
    pub(in crate::sample) fn explain(
        &mut self,
        result: &Result<(), SampleFailure>,
        place: impl FnOnce() -> String,
    ) {
        let kind = result.as_ref().err().map(|failure| failure.kind).or(self.result.error);
        if let (Some(kind), Some(name)) = (kind, self.name)
            && self.worker.recorder.wants_detail(name, kind)
        {
            self.place = place();
        }
    }

    /// How much of a body an example of an error would show.
    pub(in crate::sample) fn example_bytes(&self) -> u64 {
        self.worker.recorder.example_bytes(self.name)
    }

    /// Keeps the beginning of a reply that is an error, if it will be written down.
    pub(in crate::sample) fn keep_excerpt(&mut self, response: &Response<'_>) {
        let recorder = &self.worker.recorder;
        if let (Some(kind), Some(name)) = (self.result.error, self.name)
            && !response.body.is_empty()
            && recorder.wants_detail(name, kind)
        {
            self.excerpt = recorder.excerpt(response.body, response.body_length);
        }
    }

    /// Whether an extract or a check made the sample an error.
    pub(in crate::sample) fn has_failed_on_body(&self) -> bool {
        matches!(self.result.error, Some(ErrorKind::Extract | ErrorKind::Check))
    }

    /// Adds to what is said of the sample's error.
    pub(in crate::sample) fn add_detail(&mut self, text: &str) {
        self.result.detail.push_str("; ");
        self.result.detail.push_str(text);
    }

    /// Something about the reply makes the sample an error, unless something else did before.
    pub(in crate::sample) fn fail(&mut self, kind: ErrorKind, detail: impl FnOnce() -> String) {
        self.result.fail(kind, detail);
    }

    /// Writes the sample into the record.
    pub(in crate::sample) fn close(
        mut self,
        sampler: &impl Sampler,
        strand: &mut Strand,
        result: Result<(), SampleFailure>,
    ) -> Sampled {
        let worker = self.worker;
        let name = self.name.unwrap_or_else(|| {
            worker.recorder.name(sampler.place(), &format!("{} (no URL)", sampler.kind()))
        });
        let complete = result.is_ok();
        if let Err(SampleFailure { kind, detail }) = result {
            self.end = worker.clock.now();
            // What assertions saw of a reply that then came to nothing is not asked for any more.
            self.result = AssertionResult { error: Some(kind), detail };
        }
        let load = &worker.program.loads[usize::from(self.user.seat.load)];
        let scheduled = sampler.is_scheduled() && load.has_schedule();
        let sample = Sample {
            latency_ns: self.latency(self.start + self.own_delay),
            corrected_latency_ns: scheduled.then(|| self.latency(self.due)),
            complete,
            status: u16::try_from(self.code).unwrap_or(0),
            error: self.result.error,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            retries: self.retries,
            phases: self.phases,
        };
        let fate = sample.fate();
        self.account(fate);
        if sampler.is_counted() {
            worker.recorder.request(name, &sample, self.end);
            // What squall itself cut off is no error.
            if fate != Fate::CutOff {
                self.count(name, complete);
            }
        }
        if let Some(mut copy) = self.copy.filter(|_| sampler.is_counted()) {
            let what = (name, sampler.step(), self.start);
            copy.traced(self.trace, strand.part_of(), self.wanted.is_of_page);
            strand.tally_mut().add(Tally {
                samples: 1,
                failed: u64::from(sample.error.is_some()),
                bytes_in: sample.bytes_in,
                bytes_out: sample.bytes_out,
                parts: 0,
            });
            copy.tell(worker, self.user, what, &sample, self.result);
        }
        strand.due = self.end;
        let end = Moment { ready: self.end, seen: self.end.max(self.exchange_from) };
        Sampled {
            failed: sample.error.is_some(),
            end,
            name,
            found: self.found,
            on_the_way: self.on_the_way,
        }
    }

    /// From a moment to the end, in ns.
    fn latency(&self, from: u64) -> u64 {
        self.end.saturating_sub(from)
    }

    /// Where the time went that was squall's own.
    fn account(&self, fate: Fate) {
        let recorder = &self.worker.recorder;
        let pooled = self.phases.0[POOL].unwrap_or(0);
        if self.waited {
            // What is due at the same moment is sent one after the other: that is the plan's doing.
            let late = self.burst_start.saturating_sub(self.due).saturating_sub(pooled);
            recorder.self_metrics(|own| own.send_delay.record_ns(late));
        }
        if self.user.state.get().is_some() && self.is_branch {
            // Requests at the same time take more time together than their user has.
            recorder.of_user(fate, &Phases::default(), 0);
        } else if self.user.state.get().is_some() {
            let delay = self.start.saturating_sub(self.ready).saturating_sub(pooled);
            recorder.of_user(fate, &self.phases, delay + self.own_delay);
        }
        if let Some(delay) = self.receive_delay {
            recorder.self_metrics(|own| own.receive_delay.record_ns(delay));
        }
    }

    /// The detail of an error, for the run's log: what was wrong, with which response, and where.
    fn detail(&self, complete: bool) -> String {
        let of_reply = || format!("status {}, {} bytes", self.code, self.body_bytes);
        let reply = (complete && !self.place.is_empty()).then(of_reply).unwrap_or_default();
        let trace = self.trace.map(|trace| format!("trace {trace}")).unwrap_or_default();
        let about = [&*reply, &*self.place, &*trace].into_iter().filter(|part| !part.is_empty());
        let about = about.collect::<Vec<_>>().join(", ");
        match (&*self.result.detail, &*about) {
            ("", about) => about.to_owned(),
            (detail, "") => detail.to_owned(),
            (detail, about) => format!("{detail} ({about})"),
        }
    }

    fn count(&mut self, name: u32, complete: bool) {
        let recorder = &self.worker.recorder;
        if let Some(kind) = self.result.error {
            let status = u16::try_from(self.code).unwrap_or(0);
            // What was read of a response that then came to nothing is not asked for any more.
            let excerpt = std::mem::take(&mut self.excerpt);
            let excerpt = if complete { excerpt } else { String::new() };
            recorder.detail(name, kind, status, || (self.detail(complete), excerpt));
        }
    }
}
