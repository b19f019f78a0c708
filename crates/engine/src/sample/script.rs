//! A request of a script: one exchange, whose response the script is given. What a redirect leads to is a sample of its
//! own.

use squall_metrics::{ErrorKind, PHASES, Phases};
use squall_script::HttpResponse;

use super::call::{Call, Target};
use super::failure::SampleFailure;
use super::frame::Frame;
use super::got::Got;
use super::http::follow;
use super::page::{Found, Wanted};
use super::sampled::SampleHead;
use super::sampler::Sampler;
use crate::scripts::{Hop, Made, Route};

/// An exchange of a request of a script.
pub(crate) struct ScriptSampler<'p> {
    pub head: SampleHead<'p>,
    /// Where it goes, and what it carries; or why it cannot be sent.
    pub sent: Result<(&'p Hop, &'p Route), SampleFailure>,
    pub body: &'p [u8],
    /// Statuses that are no failure; `None`: 200 to 399.
    pub expected: Option<&'p [(u16, u16)]>,
    pub got: &'p Got,
}

impl<'p> Sampler<'p> for ScriptSampler<'p> {
    fn head(&self) -> SampleHead<'p> {
        self.head
    }

    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure> {
        let result = match self.sent {
            Err(failure) => Err(failure),
            Ok((hop, Route { made: Made { content, policy }, prepared, .. })) => {
                let as_before = self.body.is_empty() && !hop.is_redirected;
                let target = match prepared.as_ref().filter(|_| as_before) {
                    Some(prepared) => Target::Prepared(prepared),
                    None => Target::Rendered(frame.worker.buffer(hop.path.as_bytes())),
                };
                let call = Call {
                    script_body: self.body,
                    with_body: hop.with_body,
                    trusted: hop.trusted,
                    is_redirected: hop.is_redirected,
                    ..Call::to(frame.worker, (&*hop.method, hop.origin.clone(), target), content)
                };
                let wanted = Wanted { got: Some(self.got), ..Wanted::default() };
                let result = follow(frame, call, policy, wanted).await;
                self.got.judge(frame, self.expected, &result);
                frame.explain(&result, || format!("{} {}", hop.method, hop.url));
                result
            }
        };
        self.got.conclude(frame, result.as_ref().err());
        result
    }
}

impl Got {
    /// A response of a status that was not expected is a failure.
    fn judge<T>(
        &self,
        frame: &mut Frame<'_>,
        expected: Option<&[(u16, u16)]>,
        result: &Result<T, SampleFailure>,
    ) {
        let status = self.response.borrow().status;
        let expected = expected.unwrap_or(&[(200, 399)]);
        let is_expected = expected.iter().any(|(from, to)| (*from..=*to).contains(&status));
        if result.is_ok() && !is_expected {
            frame.fail(ErrorKind::Status, String::new);
            self.failure.replace(Some((ErrorKind::Status, String::new())));
        }
    }

    /// Its times, and why there is no response.
    fn conclude(&self, frame: &Frame<'_>, failure: Option<&SampleFailure>) {
        let mut own = self.response.borrow_mut();
        own.timings = timings(&frame.phases(), frame.sending());
        self.bytes.set(frame.bytes());
        if let Some(SampleFailure { kind, detail }) = failure {
            *own = HttpResponse { timings: own.timings, ..HttpResponse::default() };
            self.failure.replace(Some((*kind, detail.clone())));
        }
    }
}

/// `blocked`, `looking_up`, `connecting`, `tls_handshaking`, `sending`, `waiting` and `receiving`, in ms. `sending` is given in ns: 0
/// where one write took the whole request.
fn timings(phases: &Phases, sending: u64) -> [f64; 7] {
    let of = |name: &str| {
        let at = PHASES.iter().position(|own| *own == name);
        at.and_then(|at| phases.0[at]).unwrap_or(0) as f64 / 1e6
    };
    let (dns, connect, tls) = (of("dns"), of("connect"), of("tls"));
    let sending = sending as f64 / 1e6;
    let waiting = (of("first_byte") - sending).max(0.0);
    [of("pool") + dns + connect + tls, dns, connect, tls, sending, waiting, of("body")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_is_a_part_of_the_time_to_the_first_byte() {
        let mut phases = Phases::default();
        let at = |name: &str| PHASES.iter().position(|own| *own == name).expect("a phase");
        phases.add(at("connect"), 2_000_000);
        phases.add(at("first_byte"), 5_000_000);
        phases.add(at("body"), 1_000_000);
        assert_eq!(timings(&phases, 3_000_000), [2.0, 0.0, 2.0, 0.0, 3.0, 2.0, 1.0]);
        assert_eq!(timings(&phases, 0)[4..], [0.0, 5.0, 1.0]);
    }
}
