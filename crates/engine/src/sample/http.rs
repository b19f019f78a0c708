//! An HTTP request: sent, and followed where it leads.

use squall_metrics::ErrorKind;
use squall_plan::model::CacheUse;

use super::attempt::{NoResponse, attempt};
use super::call::Call;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::page::{Found, Wanted};
use super::received::{Challenged, HttpExchange, Received};
use super::rendered;
use super::resources::{look_up, now};
use super::sampled::SampleHead;
use super::sampler::Sampler;
use crate::parts::cache::Lookup;
use crate::parts::names;
use crate::program::{Limits, Policy, RequestOp};
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

/// A request that is made of values.
pub(crate) struct CallSampler<'p, 'w> {
    pub head: SampleHead<'p>,
    pub call: Call<'p, 'w>,
    pub policy: &'p Policy,
    /// What is looked for in the reply.
    pub wanted: Wanted<'p>,
}

impl<'p> Sampler<'p> for CallSampler<'p, '_> {
    fn head(&self) -> SampleHead<'p> {
        self.head
    }

    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure> {
        follow(frame, self.call, self.policy, self.wanted).await
    }
}

impl<'p> Sampler<'p> for &'p RequestOp {
    fn head(&self) -> SampleHead<'p> {
        SampleHead::of(&self.policy.row, &self.call.method, true)
    }

    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure> {
        let (call, wanted) = self.begin(frame)?;
        follow(frame, call, &self.policy, wanted).await
    }
}

impl RequestOp {
    /// What is sent at first, and what is looked for in the reply.
    fn begin<'p, 'w>(
        &'p self,
        frame: &mut Frame<'w>,
    ) -> Result<(Call<'p, 'w>, Wanted<'p>), SampleFailure> {
        let RequestOp { call, policy } = self;
        let (worker, user) = (frame.worker, frame.user);
        let scope = UserScope::new(&worker.program, user);
        let mut call = Call::of(worker, call, &scope)?;
        frame.name = Some(rendered::name(worker, &policy.row, &scope, || {
            let path = String::from_utf8_lossy(call.target());
            let path = worker.recorder.secrets().mask_own(&path);
            format!("{} {}", call.method, names::collapse(&path))
        })?);
        let mut wanted = Wanted::default();
        if policy.resources.is_some() {
            wanted = Wanted::page();
        }
        if policy.cache != CacheUse::Off {
            let url = call.url();
            if let Lookup::Stale(conditions) = look_up(worker, user, policy, &call, &url) {
                call.conditions = conditions;
            }
            wanted.keep(url, now());
        }
        Ok((call, wanted))
    }
}

/// Whether a user has a response fresh in its cache, so that nothing is asked for. The request's name is not rendered:
/// what is not sent has no row, and a name of every such URL would fill the registry.
pub(crate) fn is_fresh(worker: &Worker, user: &Core, op: &RequestOp) -> bool {
    if op.policy.cache != CacheUse::Full {
        return false;
    }
    // What leads nowhere fails when it is sent.
    let call = Call::of(worker, &op.call, &UserScope::new(&worker.program, user));
    call.is_ok_and(|call| {
        matches!(look_up(worker, user, &op.policy, &call, &call.url()), Lookup::Fresh(_))
    })
}

/// Performs a request from its first exchange to where redirects and challenges lead.
pub(super) async fn follow(
    frame: &mut Frame<'_>,
    call: Call<'_, '_>,
    policy: &Policy,
    wanted: Wanted<'_>,
) -> Result<Option<Box<Found>>, SampleFailure> {
    let worker = frame.worker;
    let mut call = call;
    frame.trace = call.trace;
    let result = 'followed: {
        let own = match rendered::limits(frame, &policy.limits, policy.timeouts.as_deref()) {
            Ok(own) => own,
            Err(failure) => break 'followed Err(failure),
        };
        let limits = own.as_deref().unwrap_or(&policy.limits);
        frame.bound(limits.all);
        let (mut redirects, mut challenged, mut fresh) = (0, Challenged::Never, false);
        loop {
            let wanted = &wanted;
            let exchange = HttpExchange { call: &call, policy, limits, wanted, challenged };
            let received = match attempt(frame, &exchange, fresh).await {
                Ok(received) => received,
                Err(NoResponse::Stale { sent }) => {
                    frame.begin_again(sent);
                    fresh = true;
                    continue;
                }
                Err(NoResponse::Failed(failure)) => break Err(failure),
            };
            fresh = false;
            match received {
                Received::Reply(found) => break Ok(found),
                Received::Long(long, within) => break exchange.search(frame, long, within).await,
                Received::Late(phase) => break Err(SampleFailure::timeout(phase)),
                Received::Unknown(why) => break Err(SampleFailure::new(ErrorKind::Status, why)),
                Received::Challenge(challenge) => {
                    challenged = challenged.again();
                    frame.user.challenges.borrow_mut().put(call.origin.number, *challenge);
                }
                Received::Redirect { status, location } => {
                    redirects += 1;
                    challenged = Challenged::Never;
                    match redirect(worker, &call, (policy, limits, redirects), status, &location) {
                        Ok(next) => call = next,
                        Err(failure) => break Err(failure),
                    }
                }
            }
        }
    };
    frame.explain(&result, || format!("{} {}", call.method, call.url()));
    result
}

/// The call that a redirect asks for, which is one of so many of its request.
fn redirect<'p, 'w>(
    worker: &'w Worker,
    call: &Call<'p, 'w>,
    (policy, limits, redirects): (&Policy, &Limits, u32),
    status: u16,
    location: &[u8],
) -> Result<Call<'p, 'w>, SampleFailure> {
    if redirects > limits.redirects {
        let most = format!("more than {}", limits.redirects);
        return Err(SampleFailure::new(ErrorKind::TooManyRedirects, most));
    }
    let next = call.redirected(worker, policy, status, location)?;
    worker.recorder.count(|counters| counters.redirects += 1);
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::testing::Bench;

    #[test]
    fn redirects_are_followed_as_often_as_the_plan_says() {
        let bench = Bench::with("[{get: /, redirects: 2}]", "");
        let (worker, op) = (&bench.worker, bench.request());
        let scope = UserScope::new(&worker.program, bench.core());
        let call = Call::of(worker, &op.call, &scope).expect("a call");
        for (number, followed) in [(1, true), (2, true), (3, false)] {
            let about = (&op.policy, &op.policy.limits, number);
            let next = redirect(worker, &call, about, 302, b"/");
            let kind = next.as_ref().err().map(|failure| failure.kind);
            assert_eq!(kind, (!followed).then_some(ErrorKind::TooManyRedirects), "{number}");
        }
        assert_eq!(bench.finish().slice().counters.redirects, 2);
    }

    #[test]
    fn a_request_named_by_its_url_has_neither_numbers_nor_query_in_its_name() {
        let bench = Bench::with("[{set: {u: ''}}, {get: '${u}', query: {t: x}}]", "");
        bench.set("u", "http://a.test/item/17");
        let (worker, op) = (&bench.worker, bench.request());
        let in_flight = worker.in_flight.enter();
        let mut strand = crate::user::Strand::default();
        let now = crate::sample::testing::NOW;
        let mut frame = Frame::new(worker, bench.core(), &in_flight, &mut strand, now);
        let (call, _) = op.begin(&mut frame).expect("a call");
        assert_eq!(call.url(), "http://a.test/item/17?t=x");
        let name = frame.name.map(|name| worker.recorder.name_text(name));
        assert_eq!(name.as_deref(), Some("GET /item/{id}"));
    }
}
