//! What becomes of a response to an HTTP request: it leads on, asks for credentials, or is the reply, which is
//! shown to the frame.

use std::pin::pin;

use squall_metrics::ErrorKind;
use squall_wire::{Phase, Response, Times};

use super::capture::Capture;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::page::{Within, content_type};
use super::route::{self, Route};
use crate::found::FoundAhead;
use crate::long_body;
use crate::parts::auth::Challenge;
use crate::program::{AuthOp, RequestOp};

/// What a response leads to.
pub(super) enum Received {
    /// It is the reply, and was processed.
    Reply,
    /// It is the reply, and its body is long: it is processed once another thread has searched it.
    Long(Box<LongReply>),
    /// It arrived, but later than it was allowed to.
    Late(Phase),
    Redirect {
        status: u16,
        location: Vec<u8>,
    },
    /// The server wants to see digest credentials, as it says here.
    Challenge(Box<Challenge>),
    /// It wants credentials, but none that squall knows; why.
    Unknown(&'static str),
}

/// How often a server has asked for credentials in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenged {
    Never,
    Once,
    /// The second time because the nonce was stale.
    Twice,
}

/// Looks at a response while it lies in the worker's buffer: cookies, then whether it leads on, then
/// extracts and checks.
pub(super) fn received(
    frame: &mut Frame<'_>,
    op: &RequestOp,
    route: &Route<'_, '_>,
    challenged: Challenged,
    response: &Response<'_>,
    times: &Times,
    capture: Option<&Capture>,
) -> Received {
    frame.origin = Some(route.origin.clone());
    if let Err(phase) = frame.received(response, times) {
        return Received::Late(phase);
    }
    let captured = capture.map(Capture::finish).unwrap_or_default();
    let digest = (op.sees_digest && response.body_bytes > 0).then_some(captured.as_bytes());
    let response = &Response {
        body: digest.unwrap_or(response.body),
        body_length: digest.map_or(response.body_length, |digest| digest.len() as u64),
        ..*response
    };
    let leads_on = match response.status {
        301 | 302 | 303 | 308 => op.limits.redirects > 0,
        307 if op.redirect_to_get => op.limits.redirects > 0 && route.is_get_or_head(),
        307 => op.limits.redirects > 0,
        _ => false,
    };
    let location = leads_on.then(|| response.header("location")).flatten();
    if response.sets_cookies && op.cookies && (location.is_none() || op.redirect_cookies) {
        keep_cookies(frame, op, route, response);
    }
    if let Some(location) = location {
        frame.led_on(response, op.seen_of_body(), &op.post);
        return Received::Redirect { status: response.status, location: location.to_vec() };
    }
    if response.status == 401
        && let Some(received) = challenge(op, route, challenged, response)
    {
        return received;
    }
    let within = frame.within(response);
    let besides = within.cost_estimate(response.body.len());
    if long_body::is_long(&op.post, besides, response.body.len()) {
        return Received::Long(Box::new(LongReply::copy(response, captured.clone(), within)));
    }
    frame.look_for_resources(op, route, response, within.read_response(response));
    reply(frame, op, response, &captured, FoundAhead::new());
    Received::Reply
}

/// What a server asks for that wants to see credentials; `None`: the response is the reply. It is asked
/// once, and once more where it says that its own nonce has become stale meanwhile.
fn challenge(
    op: &RequestOp,
    route: &Route<'_, '_>,
    challenged: Challenged,
    response: &Response<'_>,
) -> Option<Received> {
    let is_digest = matches!(op.auth, AuthOp::Digest { .. }) && (route.trusted || op.auth_follows);
    if !is_digest || challenged == Challenged::Twice {
        return None;
    }
    let lines =
        response.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"www-authenticate"));
    match (Challenge::strongest(lines.map(|(_, value)| value)), challenged) {
        (Ok(challenge), Challenged::Once) if !challenge.is_stale() => None,
        (Ok(challenge), _) => Some(Received::Challenge(Box::new(challenge))),
        (Err(reason), Challenged::Never) => Some(Received::Unknown(reason)),
        (Err(_), _) => None,
    }
}

/// Shows the reply to the frame. Its status is judged before what it holds.
fn reply(
    frame: &mut Frame<'_>,
    op: &RequestOp,
    response: &Response<'_>,
    captured: &str,
    ahead: FoundAhead,
) {
    if op.status_errors && response.status >= 400 {
        frame.fail(ErrorKind::Status, String::new);
    }
    frame.reply(response, op.seen_of_body(), captured, &op.post, ahead);
    // What looked at a compressed body found other bytes than those that were meant.
    if frame.has_failed_on_body() && !op.limits.compression {
        let coding = response.header("content-encoding").filter(|own| *own != b"identity");
        if let Some(coding) = coding {
            let coding = String::from_utf8_lossy(coding);
            frame.add_detail(&format!(
                "the body has the Content-Encoding {coding}, which is undone only with `compression: true`"
            ));
        }
    }
    frame.keep_excerpt(response);
}

/// A reply that does not lie in the worker's buffer any more.
pub(super) struct LongReply {
    status: u16,
    head: Vec<u8>,
    trailers: Vec<u8>,
    content_type: Vec<u8>,
    body: Vec<u8>,
    body_bytes: u64,
    body_length: u64,
    captured: String,
    /// In what resources are looked for.
    within: Within,
}

impl LongReply {
    fn copy(response: &Response<'_>, captured: String, within: Within) -> Self {
        LongReply {
            status: response.status,
            head: response.head.to_vec(),
            trailers: response.trailers.to_vec(),
            content_type: content_type(response).to_vec(),
            body: response.body.to_vec(),
            body_bytes: response.body_bytes,
            body_length: response.body_length,
            captured,
            within,
        }
    }

    /// Has its body searched, and shows it to the frame. The target has done its part: no deadline
    /// counts any more.
    pub(super) async fn reply(
        self,
        frame: &mut Frame<'_>,
        op: &RequestOp,
        route: &Route<'_, '_>,
    ) -> Result<(), SampleFailure> {
        frame.in_flight.lift_deadlines();
        let within = self.within;
        let search = pin!(long_body::search(
            &op.post,
            frame.user,
            self.body,
            self.content_type,
            move |body| within.read(body)
        ));
        let (body, ahead, resources) = match frame.in_flight.run(search).await {
            Ok(Some(found)) => found,
            Ok(None) => return Err(SampleFailure::new(ErrorKind::Extract, "the search broke off")),
            Err(cancel) => return Err(SampleFailure::cancelled(cancel, Phase::Body)),
        };
        let response = Response {
            status: self.status,
            head: &self.head,
            body: &body,
            body_bytes: self.body_bytes,
            body_length: self.body_length,
            bytes_in: 0,
            bytes_out: 0,
            trailers: &self.trailers,
            sets_cookies: false,
            unsolicited_bytes: 0,
        };
        frame.look_for_resources(op, route, &response, resources);
        reply(frame, op, &response, &self.captured, ahead);
        frame.catch_up();
        Ok(())
    }
}

fn keep_cookies(frame: &Frame<'_>, op: &RequestOp, route: &Route<'_, '_>, response: &Response<'_>) {
    let site = route::site(&route.origin.origin, route.path(op));
    let mut jar = frame.user.jar(op.jar);
    for (name, value) in response.headers() {
        if name.eq_ignore_ascii_case(b"set-cookie") {
            jar.set(value, site);
        }
    }
}
