//! One attempt at an exchange, whatever is sent: a connection is borrowed or made, the message goes out, and what comes
//! is shown to the transfer, while it is in the worker's read buffer.

use std::pin::pin;
use std::rc::Rc;

use squall_metrics::ErrorKind;
use squall_plan::model::ConnectionReuse;
use squall_wire::{
    BodySink, BodySource, Delivery, Error, Expect, RequestBytes, RequestFields, Response, Times,
};

use super::capture::Capture;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::message::{Form, Outgoing};
use super::throttle::Throttled;
use crate::net::in_flight::Cancel;
use crate::net::origins::KnownOrigin;
use crate::net::pools::{Borrowed, Carrier, Permit};
use crate::program::{CaptureOp, Limits};
use crate::user::Core;
use crate::worker::Worker;

/// What is sent in an exchange, and what becomes of what comes back.
pub(super) trait Transfer {
    /// What a response comes to.
    type Received;

    fn terms(&self) -> Terms<'_>;

    /// Where it goes, for people.
    fn url(&self) -> String;

    /// What is sent, in the form that a connection takes.
    fn message<'m>(
        &'m self,
        worker: &'m Worker,
        user: &'m Core,
        http2: bool,
    ) -> Result<Outgoing<'m>, SampleFailure>;

    /// Is told what carries it, before it is sent.
    fn carried(&self, _by: &Borrowed) {}

    /// Looks at a response, given what was sent, and what was captured of its body.
    fn received(
        &self,
        frame: &mut Frame<'_>,
        response: &Response<'_>,
        times: &Times,
        sent: &Form<'_>,
        capture: Option<&Capture>,
    ) -> Self::Received;
}

/// How an exchange is made.
#[derive(Clone, Copy)]
pub(super) struct Terms<'x> {
    pub origin: &'x Rc<KnownOrigin>,
    /// The method, if it has one.
    pub method: &'x str,
    pub limits: &'x Limits,
    /// Where the response's body goes besides.
    pub capture: Option<&'x CaptureOp>,
    /// Whether it is repeated on a new connection where the target had closed the old one.
    pub retry_stale: bool,
    /// Whether a status of 400 and above is an error by itself.
    pub status_errors: bool,
    /// Whether the connection is kept for what comes next.
    pub keep_open: bool,
    /// Whether the connection's close is a reset.
    pub reset: bool,
}

/// Why an attempt gave nothing.
pub(super) enum NoResponse {
    /// The target had closed the connection before it was used again, and it may be tried on a new one; whether the
    /// message was sent all the same.
    Stale {
        sent: bool,
    },
    Failed(SampleFailure),
}

impl From<SampleFailure> for NoResponse {
    fn from(failure: SampleFailure) -> Self {
        NoResponse::Failed(failure)
    }
}

/// Makes an exchange, on a connection that is open or new. `fresh`: only a new one will do.
pub(super) async fn attempt<T: Transfer>(
    frame: &mut Frame<'_>,
    transfer: &T,
    fresh: bool,
) -> Result<T::Received, NoResponse> {
    let (worker, user, in_flight) = (frame.worker, frame.user, frame.in_flight);
    let terms = transfer.terms();
    let throttled = Throttled::of(worker, user, in_flight);
    // Whoever watches is told where it goes even if no connection comes about.
    if let Some(copy) = frame.copy() {
        copy.sent(transfer.url(), &[], false);
    }
    // Before the connection is there: that is no time of the target's.
    let mut message = transfer.message(worker, user, worker.speaks_http2(terms.origin))?;
    let window = throttled.as_ref().and_then(Throttled::window);
    let mut borrowed = borrow(frame, &terms, window, fresh).await?;
    if borrowed.is_http2() != message.form.is_http2() {
        // Only now the target has said what it speaks.
        message = transfer.message(worker, user, borrowed.is_http2())?;
    }
    // Taken apart by reference: a task has room for each of its locals.
    let Outgoing { form, stream } = &mut message;
    let form = &*form;
    if let Some(copy) = frame.copy() {
        form.with_slices(|slices| copy.sent(transfer.url(), slices, borrowed.used()));
        *stream = stream.take().map(|source| copy.streaming(source));
    }
    let stream = stream.as_mut().map(|stream| &mut **stream as &mut dyn BodySource);
    let capture = Capture::start(worker, user, terms.capture)?;
    let mut sink = capture.as_ref();
    let expect = Expect {
        keep: frame.kept(terms.limits.keep),
        sink: sink.as_mut().map(|sink| sink as &mut dyn BodySink),
        max_body: terms.limits.max_body,
        max_decompression_ratio: terms.limits.max_decompression_ratio,
        decompress: terms.limits.compression,
        throttle: throttled.as_ref().map(|throttled| throttled as &dyn squall_wire::Throttle),
    };
    let (client, progress) = (&worker.client, &in_flight.progress);
    progress.take_bytes();
    transfer.carried(&borrowed);
    let done = |response: &Response<'_>, times: Times| {
        transfer.received(frame, response, &times, form, capture.as_ref())
    };
    let exchanged = match (&mut borrowed.carrier, form) {
        (Carrier::Connection(connection), Form::Text(text)) => {
            let (is_head, slices) = (terms.method == "HEAD", text.slices());
            let request = RequestBytes { is_head, slices, stream };
            in_flight.run(pin!(connection.exchange(client, request, expect, progress, done))).await
        }
        (Carrier::Stream(on), Form::Fields(fields, body)) => {
            let request = RequestFields { fields, body: body.bytes(), stream };
            // Boxed, so that tasks of HTTP/1.1 stay small.
            let mut exchange = Box::pin(on.exchange(client, request, expect, progress, done));
            in_flight.run(exchange.as_mut()).await
        }
        (Carrier::Connection(connection), Form::Bytes(out)) => {
            if terms.reset {
                connection.reset_on_close();
            }
            let exchange = connection.exchange_bytes(client, *out, expect, progress, done);
            in_flight.run(pin!(exchange)).await
        }
        _ => return Err(SampleFailure::new(ErrorKind::Io, "the protocol has changed").into()),
    };
    conclude(frame, &terms, borrowed, exchanged, fresh)
}

/// Gives what carried an exchange back if there was a response; otherwise says why there was none.
fn conclude<R>(
    frame: &mut Frame<'_>,
    terms: &Terms<'_>,
    mut borrowed: Borrowed,
    exchanged: Result<Result<R, Error>, Cancel>,
    fresh: bool,
) -> Result<R, NoResponse> {
    let (worker, user) = (frame.worker, frame.user);
    if !matches!(exchanged, Ok(Ok(_))) || frame.was_slow() {
        let again = borrowed.newly_retransmitted();
        worker.recorder.count(|counters| counters.segments_retransmitted += u64::from(again));
    }
    match exchanged {
        Ok(Ok(received)) => {
            if worker.program.connections == ConnectionReuse::PerRequest {
                user.pools.retain(|origin, _| origin != &**terms.origin);
            } else if terms.keep_open {
                borrowed.give_back(&user.connections, user.iteration.get());
            }
            Ok(received)
        }
        Ok(Err(error)) => Err(failed(frame, terms, error, fresh)),
        Err(cancel) => {
            frame.came_to_nothing();
            Err(SampleFailure::cancelled(cancel, frame.in_flight.progress.phase()).into())
        }
    }
}

/// What carries an exchange: open, or new within its deadline.
async fn borrow(
    frame: &mut Frame<'_>,
    terms: &Terms<'_>,
    window: Option<u32>,
    fresh: bool,
) -> Result<Borrowed, SampleFailure> {
    let Terms { origin, limits, .. } = *terms;
    let place = frame.place(origin, limits.pool).await?;
    frame.enter();
    match frame.worker.open_connection(frame.user, origin, place, fresh) {
        Ok(open) => {
            frame.set_deadlines(limits.first_byte, limits.total);
            Ok(open)
        }
        Err(permit) => connect(frame, terms, permit, window).await,
    }
}

/// A new connection, within its deadline; that of the first byte begins when it is there.
async fn connect(
    frame: &mut Frame<'_>,
    terms: &Terms<'_>,
    permit: Option<Permit>,
    window: Option<u32>,
) -> Result<Borrowed, SampleFailure> {
    let (worker, in_flight) = (frame.worker, frame.in_flight);
    let Limits { connect, first_byte, total, .. } = *terms.limits;
    frame.set_deadlines(connect, total);
    let made = worker.new_connection(frame.user, terms.origin, permit, in_flight, window).await;
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

/// An exchange broke off.
fn failed(frame: &mut Frame<'_>, terms: &Terms<'_>, error: Error, fresh: bool) -> NoResponse {
    frame.came_to_nothing();
    error.status().into_iter().for_each(|status| frame.answered(status));
    if error.is_unsolicited() {
        frame.worker.recorder.count(|counters| counters.unsolicited_responses += 1);
    }
    let (delivery, rested_ns) = (error.delivery(), error.rested_ns());
    let may_repeat = error.is_stale() && may_repeat(delivery, rested_ns, terms.method);
    if may_repeat && terms.retry_stale && !fresh {
        return NoResponse::Stale { sent: delivery != Delivery::NotSent };
    }
    SampleFailure::of_exchange(error, terms.status_errors).into()
}

/// A connection that has rested for less than this, in ns, was not idle: no server closes it for that. One that closes
/// or resets it with a request in flight fails that request, though its kernel, which may put an acknowledgement off
/// for 40 ms, has acknowledged nothing yet.
const IDLE_NS: u64 = 1_000_000_000;

/// Whether a message that failed may be repeated on a new connection: the target had closed the old one
/// before it was sent, or has acknowledged nothing of it, and the connection had rested for long enough. What it has
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
