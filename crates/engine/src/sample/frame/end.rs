//! The end of a sample: what is said of its error, where its time went, and what is written into the record.

use squall_metrics::{ErrorKind, Fate, Phases, Sample};
use squall_wire::Response;

use super::Frame;
use crate::post::AssertionResult;
use crate::sample::failure::SampleFailure;
use crate::sample::page::Found;
use crate::sample::sampled::{SampleHead, Sampled};
use crate::trace::Tally;
use crate::user::Strand;

impl Frame<'_> {
    /// Notes where an error happened, if there is one that will be written down.
    pub(in crate::sample) fn explain<T>(
        &mut self,
        result: &Result<T, SampleFailure>,
        place: impl FnOnce() -> String,
    ) {
        let kind = result.as_ref().err().map(|failure| failure.kind).or(self.result.error);
        if let (Some(kind), Some(name)) = (kind, self.name)
            && self.worker.recorder.wants_detail(name, kind)
        {
            self.place = place();
        }
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
        head: SampleHead<'_>,
        strand: &mut Strand,
        result: Result<Option<Box<Found>>, SampleFailure>,
    ) -> Sampled {
        let worker = self.worker;
        let name = self.name.unwrap_or_else(|| {
            worker.recorder.name(head.place, &format!("{} (no URL)", head.kind))
        });
        let complete = result.is_ok();
        let found = result.unwrap_or_else(|SampleFailure { kind, detail }| {
            self.timing.ended(worker.clock.now());
            // What assertions saw of a reply that then came to nothing is not asked for any more.
            self.result = AssertionResult { error: Some(kind), detail };
            None
        });
        let sample = self.sample(head, complete);
        let (fate, end) = (sample.fate(), self.timing.end());
        self.account(fate);
        if head.is_counted {
            worker.recorder.request(name, &sample, end.ready);
            // What squall itself cut off is no error.
            if fate != Fate::CutOff {
                self.count(name, complete);
            }
        }
        if let Some(mut copy) = self.copy.filter(|_| head.is_counted) {
            let what = (name, head.step, self.timing.start());
            copy.traced(self.trace, strand.part_of(), head.is_of_page);
            strand.tally_mut().add(Tally {
                samples: 1,
                failed: u64::from(sample.error.is_some()),
                bytes_in: sample.bytes_in,
                bytes_out: sample.bytes_out,
                parts: 0,
            });
            copy.tell(worker, self.user, what, &sample, self.result);
        }
        strand.due = end.ready;
        let failed = sample.error.is_some();
        Sampled { failed, end, name, found, on_the_way: self.on_the_way }
    }

    fn sample(&self, head: SampleHead<'_>, complete: bool) -> Sample {
        let load = &self.worker.program.loads[usize::from(self.user.seat.load)];
        let is_scheduled = head.is_scheduled && load.has_schedule();
        Sample {
            latency_ns: self.timing.latency(),
            corrected_latency_ns: is_scheduled.then(|| self.timing.corrected_latency()),
            complete,
            status: u16::try_from(self.code).unwrap_or(0),
            error: self.result.error,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            retries: self.retries,
            phases: self.timing.phases,
        }
    }

    /// Where the time went that was squall's own.
    fn account(&self, fate: Fate) {
        let recorder = &self.worker.recorder;
        if let Some(delay) = self.timing.send_delay() {
            recorder.self_metrics(|own| own.send_delay.record_ns(delay));
        }
        if self.user.state.get().is_some() && self.is_branch {
            // Requests at the same time take more time together than their user has.
            recorder.of_user(fate, &Phases::default(), 0);
        } else if self.user.state.get().is_some() {
            recorder.of_user(fate, &self.timing.phases, self.timing.own_time());
        }
        if let Some(delay) = self.timing.receive_delay {
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
