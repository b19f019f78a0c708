//! An HTTP request: sent, and followed where it leads. What becomes of responses is in `received`.

use std::pin::pin;
use std::rc::Rc;

use squall_metrics::{ErrorKind, PlaceId};
use squall_plan::model::CacheUse;
use squall_wire::{
    BodySink, BodySource, Delivery, Expect, RequestBytes, RequestFields, Response, Times,
};

use super::capture::Capture;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::page::Wanted;
use super::received::{Challenged, Received, received};
use super::resources::{self, Known};
use super::route::{self, Form, Message, Route};
use super::sampler::Sampler;
use super::throttle::Throttled;
use crate::net::origins::KnownOrigin;
use crate::net::pools::{Borrowed, Carrier, Permit};
use crate::parts::sent::Sent;
use crate::program::{Limits, RequestOp};
use crate::user::Core;
use crate::worker::Worker;

impl Sampler for RequestOp {
    fn name(&self) -> Option<u32> {
        self.name.known()
    }

    fn step(&self) -> &str {
        &self.step
    }

    fn kind(&self) -> &str {
        &self.method
    }

    fn place(&self) -> PlaceId {
        self.place
    }

    fn is_counted(&self) -> bool {
        self.counted
    }

    fn is_scheduled(&self) -> bool {
        true
    }

    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), SampleFailure> {
        let (mut route, name) = route::first(frame.worker, frame.user, self)?;
        frame.name = Some(name);
        if self.resources.is_some() {
            frame.wanted = Wanted::page();
        }
        if self.cache == CacheUse::Off {
            return follow(frame, self, route).await;
        }
        frame.wanted.keep(frame.worker.url(self, &route), resources::now());
        let conditions = match resources::look_up_request(frame.worker, frame.user, self, &route) {
            Known::Stale(conditions) => conditions,
            Known::Absent | Known::Fresh => Vec::new(),
        };
        route.conditions = &conditions;
        follow(frame, self, route).await
    }
}

/// Whether a user has a response fresh in its cache, so that nothing is asked for.
pub(crate) fn is_fresh(worker: &Worker, user: &Core, op: &RequestOp) -> bool {
    if op.cache != CacheUse::Full {
        return false;
    }
    // What has no route fails when it is sent.
    let Ok((route, _)) = route::first(worker, user, op) else { return false };
    matches!(resources::look_up_request(worker, user, op, &route), Known::Fresh)
}

/// Performs a request from its first exchange to where redirects and challenges lead.
pub(super) async fn follow<'p, 'w>(
    frame: &mut Frame<'w>,
    op: &'p RequestOp,
    mut route: Route<'p, 'w>,
) -> Result<(), SampleFailure> {
    frame.trace = route.trace;
    frame.jar = op.jar;
    let result = match frame.take_limits(op) {
        Ok(()) => lead(frame, op, &mut route).await,
        Err(failure) => Err(failure),
    };
    let worker = frame.worker;
    frame.explain(&result, || format!("{} {}", route.method, worker.url(op, &route)));
    result
}

/// As [`follow`]; `route` is where it has led so far.
async fn lead<'p, 'w>(
    frame: &mut Frame<'w>,
    op: &'p RequestOp,
    route: &mut Route<'p, 'w>,
) -> Result<(), SampleFailure> {
    let (mut redirects, mut challenged) = (0, Challenged::Never);
    loop {
        match exchange(frame, op, route, challenged).await? {
            Received::Reply => return Ok(()),
            Received::Long(long) => return long.reply(frame, op, route).await,
            Received::Late(phase) => return Err(SampleFailure::timeout(phase)),
            Received::Challenge(challenge) => {
                challenged = match challenged {
                    Challenged::Never => Challenged::Once,
                    _ => Challenged::Twice,
                };
                frame.user.challenges.borrow_mut().put(route.origin.number, *challenge);
            }
            Received::Unknown(reason) => return Err(SampleFailure::new(ErrorKind::Status, reason)),
            Received::Redirect { status, location } => {
                redirects += 1;
                if redirects > op.limits.redirects {
                    let most = format!("more than {}", op.limits.redirects);
                    return Err(SampleFailure::new(ErrorKind::TooManyRedirects, most));
                }
                *route = route::redirected(frame.worker, route, op, status, &location)?;
                frame.worker.recorder.count(|counters| counters.redirects += 1);
                challenged = Challenged::Never;
            }
        }
    }
}

/// Why an attempt gave no response.
enum Attempt {
    /// The target had closed the connection before it was used again; whether the request was sent all
    /// the same.
    Stale {
        sent: bool,
    },
    Failed(SampleFailure),
}

impl From<SampleFailure> for Attempt {
    fn from(failure: SampleFailure) -> Self {
        Attempt::Failed(failure)
    }
}

/// One exchange, on a connection that is open or new; once more on a new one if the target had closed
/// the old one meanwhile.
async fn exchange(
    frame: &mut Frame<'_>,
    op: &RequestOp,
    route: &Route<'_, '_>,
    challenged: Challenged,
) -> Result<Received, SampleFailure> {
    let first = attempt(frame, op, route, challenged, false).await;
    let last = match first {
        Err(Attempt::Stale { sent }) => {
            frame.worker.recorder.count(|counters| counters.stale_retries += 1);
            frame.begin_again(sent);
            attempt(frame, op, route, challenged, true).await
        }
        first => first,
    };
    last.map_err(|attempt| match attempt {
        Attempt::Failed(failure) => failure,
        Attempt::Stale { .. } => {
            SampleFailure::new(ErrorKind::ClosedEarly, "closed before any response")
        }
    })
}

async fn attempt(
    frame: &mut Frame<'_>,
    op: &RequestOp,
    route: &Route<'_, '_>,
    challenged: Challenged,
    fresh: bool,
) -> Result<Received, Attempt> {
    let (worker, user, in_flight) = (frame.worker, frame.user, frame.in_flight);
    let throttled = Throttled::of(worker, user, in_flight);
    // Whoever watches is told where it goes even if no connection comes about.
    if let Some(copy) = frame.copy() {
        copy.sent(worker.url(op, route), &[], false);
    }
    let (mut borrowed, mut message) = begin(frame, op, route, throttled.as_ref(), fresh).await?;
    // Taken apart by reference: a task has room for each of its locals.
    let Message { form, stream } = &mut message;
    let used = borrowed.used();
    if let Some(copy) = frame.copy() {
        let url = worker.url(op, route);
        match form {
            Form::Text(bytes) => copy.sent(url, &bytes.slices(), used),
            Form::Fields(fields, body) => copy.sent(url, &[&fields.text(), body.bytes()], used),
        }
        *stream = stream.take().map(|source| copy.streaming(source));
    }
    if op.reads_sent {
        let bytes = match &*form {
            Form::Text(bytes) => bytes.slices().concat(),
            Form::Fields(fields, body) => [&fields.text(), body.bytes()].concat(),
        };
        frame.sent = Some(Box::new(Sent::new(route.method, worker.url(op, route), &bytes)));
    }
    let capture = Capture::start(worker, user, op)?;
    let mut sink = capture.as_ref();
    let stream = stream.as_mut().map(|stream| &mut **stream as &mut dyn BodySource);
    let expect = Expect {
        keep: op.limits.keep.max(frame.copied_body()).max(frame.example_bytes()),
        sink: sink.as_mut().map(|sink| sink as &mut dyn BodySink),
        max_body: op.limits.max_body,
        max_decompression_ratio: op.limits.max_decompression_ratio,
        decompress: op.limits.compression,
        throttle: throttled.as_ref().map(|throttled| throttled as &dyn squall_wire::Throttle),
    };
    let progress = &in_flight.progress;
    progress.take_bytes();
    let done = |response: &Response<'_>, times: Times| {
        received(frame, op, route, challenged, response, &times, capture.as_ref())
    };
    let client = &worker.client;
    let exchanged = match (&mut borrowed.carrier, &*form) {
        (Carrier::Connection(connection), Form::Text(bytes)) => {
            let slices = bytes.slices();
            let request = RequestBytes { is_head: route.method == "HEAD", slices, stream };
            in_flight.run(pin!(connection.exchange(client, request, expect, progress, done))).await
        }
        (Carrier::Stream(on), Form::Fields(fields, body)) => {
            let request = RequestFields { fields, body: body.bytes(), stream };
            // Boxed, so that tasks of HTTP/1.1 stay small.
            let mut exchange = Box::pin(on.exchange(client, request, expect, progress, done));
            in_flight.run(exchange.as_mut()).await
        }
        _ => return Err(SampleFailure::new(ErrorKind::Io, "the protocol has changed").into()),
    };
    if !matches!(exchanged, Ok(Ok(_))) || frame.was_slow() {
        let again = borrowed.newly_retransmitted();
        worker.recorder.count(|counters| counters.segments_retransmitted += u64::from(again));
    }
    match exchanged {
        Ok(Ok(received)) => {
            borrowed.give_back(&user.connections, user.iteration.get());
            Ok(received)
        }
        Ok(Err(error)) => {
            frame.came_to_nothing();
            if let Some(status) = error.status() {
                frame.answered(status);
            }
            if error.is_unsolicited() {
                worker.recorder.count(|counters| counters.unsolicited_responses += 1);
            }
            let may_repeat =
                error.is_stale() && may_repeat(error.delivery(), error.rested_ns(), route.method);
            if !fresh && op.retry_stale && may_repeat {
                return Err(Attempt::Stale { sent: error.delivery() != Delivery::NotSent });
            }
            Err(SampleFailure::of_exchange(error, op.status_errors).into())
        }
        Err(cancel) => {
            frame.came_to_nothing();
            Err(SampleFailure::cancelled(cancel, progress.phase()).into())
        }
    }
}

/// What carries a request, and the request as that sends it.
async fn begin<'p, 'w>(
    frame: &mut Frame<'w>,
    op: &'p RequestOp,
    route: &Route<'_, '_>,
    throttled: Option<&Throttled<'_>>,
    fresh: bool,
) -> Result<(Borrowed, Message<'p, 'w>), SampleFailure> {
    let (worker, user) = (frame.worker, frame.user);
    // Before the connection is there: that is no time of the target's.
    let message = worker.render(user, op, route, worker.speaks_http2(&route.origin))?;
    let place = frame.place(&route.origin, frame.limits(op).pool).await?;
    frame.enter();
    let borrowed = match worker.open_connection(user, &route.origin, place, fresh) {
        Ok(open) => {
            let limits = frame.limits(op);
            frame.set_deadlines(limits.first_byte, limits.total);
            open
        }
        Err(permit) => {
            let window = throttled.and_then(Throttled::window);
            let limits = *frame.limits(op);
            connect(frame, &limits, &route.origin, permit, window).await?
        }
    };
    if borrowed.is_http2() == matches!(message.form, Form::Fields(..)) {
        return Ok((borrowed, message));
    }
    // Only now the target has said what it speaks.
    let message = worker.render(user, op, route, borrowed.is_http2())?;
    Ok((borrowed, message))
}

/// A new connection, within its deadline; that of the first byte begins when it is there.
pub(super) async fn connect(
    frame: &mut Frame<'_>,
    limits: &Limits,
    origin: &Rc<KnownOrigin>,
    permit: Option<Permit>,
    window: Option<u32>,
) -> Result<Borrowed, SampleFailure> {
    let (worker, in_flight) = (frame.worker, frame.in_flight);
    let Limits { connect, first_byte, total, .. } = *limits;
    frame.set_deadlines(connect, total);
    let made = worker.new_connection(frame.user, origin, permit, in_flight, window).await;
    match made {
        Ok(Ok((borrowed, times))) => {
            let now = worker.clock.now();
            frame.connected(&times, now);
            frame.set_deadlines_from(now, first_byte, total);
            Ok(borrowed)
        }
        Ok(Err(error)) => {
            // It was the proxy that did.
            error.status().into_iter().for_each(|status| frame.answered(status));
            Err(SampleFailure::from(error))
        }
        Err(cancel) => Err(SampleFailure::cancelled(cancel, in_flight.progress.phase())),
    }
}

/// A connection that has rested for less than this, in ns, was not idle: no server closes it for that. One that closes or resets
/// it with a request in flight fails that request, though its kernel, which may put an acknowledgement off for 40 ms, has
/// acknowledged nothing yet.
const IDLE_NS: u64 = 1_000_000_000;

/// Whether a request that failed may be repeated on a new connection: the target had closed the old one
/// before the request was sent, or has acknowledged nothing of it, and the connection had rested for long enough. What it has
/// acknowledged it may have carried out, and its failure is the target's. Where that is not certain only methods are
/// repeated that may be carried out twice (RFC 9110, section 9.2.2).
fn may_repeat(delivery: Delivery, rested_ns: u64, method: &str) -> bool {
    match delivery {
        Delivery::NotSent => true,
        Delivery::Unacknowledged => {
            rested_ns >= IDLE_NS
                && matches!(method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE")
        }
        Delivery::Acknowledged => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_idle_connection_did_not_deliver_is_repeated() {
        for (delivery, rested_ms, method, repeated) in [
            (Delivery::NotSent, 0, "GET", true),
            (Delivery::NotSent, 0, "POST", true),
            // A target that crashes within the 40 ms of a delayed acknowledgement.
            (Delivery::Unacknowledged, 0, "GET", false),
            (Delivery::Unacknowledged, 999, "GET", false),
            (Delivery::Unacknowledged, 1_000, "GET", true),
            (Delivery::Unacknowledged, 60_000, "POST", false),
            (Delivery::Acknowledged, 60_000, "GET", false),
        ] {
            let found = may_repeat(delivery, rested_ms * 1_000_000, method);
            assert_eq!(found, repeated, "{delivery:?} after {rested_ms} ms, {method}");
        }
    }
}
