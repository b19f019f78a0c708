//! One exchange of an HTTP request, and what becomes of its response: it leads on, asks for credentials, or is the reply,
//! which is shown to the frame.

use std::pin::pin;

use squall_metrics::ErrorKind;
use squall_plan::expr::Slot;
use squall_wire::{Phase, Response, Times};

use super::attempt::{Terms, Transfer};
use super::call::Call;
use super::capture::Capture;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::message::{self, Form, Outgoing};
use super::page::{Found, Wanted, Within, content_type};
use super::reply::{Beside, OwnedReply};
use crate::found::FoundAhead;
use crate::long_body;
use crate::net::pools::Borrowed;
use crate::parts::auth::Challenge;
use crate::parts::sent::Sent;
use crate::post;
use crate::program::call::AuthOp;
use crate::program::{Limits, Policy};
use crate::scope::Reply;
use crate::user::Core;
use crate::worker::Worker;

/// What a response leads to.
pub(super) enum Received {
    /// It is the reply, and was processed; the resources that it names.
    Reply(Option<Box<Found>>),
    /// It is the reply, and its body is long: it is processed once another thread has searched it, for resources too.
    Long(Box<OwnedReply>, Within),
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

impl Challenged {
    /// A server has asked once more.
    pub(super) fn again(self) -> Self {
        match self {
            Challenged::Never => Challenged::Once,
            Challenged::Once | Challenged::Twice => Challenged::Twice,
        }
    }
}

/// An exchange of an HTTP request.
#[derive(Clone, Copy)]
pub(super) struct HttpExchange<'x> {
    pub call: &'x Call<'x, 'x>,
    pub policy: &'x Policy,
    /// The limits of the policy, or what its user makes of them.
    pub limits: &'x Limits,
    /// What is looked for in the reply.
    pub wanted: &'x Wanted<'x>,
    pub challenged: Challenged,
}

impl Transfer for HttpExchange<'_> {
    type Received = Received;

    fn terms(&self) -> Terms<'_> {
        Terms {
            origin: &self.call.origin,
            method: self.call.method,
            limits: self.limits,
            capture: self.policy.capture.as_ref(),
            retry_stale: self.policy.retry_stale,
            status_errors: self.policy.status_errors,
            keep_open: true,
            reset: false,
        }
    }

    fn url(&self) -> String {
        self.call.url()
    }

    fn carried(&self, by: &Borrowed) {
        if let Some(got) = self.wanted.got {
            got.peer.set(by.peer());
        }
    }

    fn message<'m>(
        &'m self,
        worker: &'m Worker,
        user: &'m Core,
        http2: bool,
    ) -> Result<Outgoing<'m>, SampleFailure> {
        message::message(worker, user, self.call, self.policy, http2)
    }

    /// Cookies come first, then whether it leads on, then extracts and checks.
    fn received(
        &self,
        frame: &mut Frame<'_>,
        response: &Response<'_>,
        times: &Times,
        sent: &Form<'_>,
        capture: Option<&Capture>,
    ) -> Received {
        if let Err(phase) = frame.received(response, times) {
            return Received::Late(phase);
        }
        let HttpExchange { call, policy, .. } = *self;
        let captured = capture.map(Capture::finish).unwrap_or_default();
        let digest = (policy.sees_digest && response.body_bytes > 0).then_some(captured.as_bytes());
        let response = &Response {
            body: digest.unwrap_or(response.body),
            body_length: digest.map_or(response.body_length, |digest| digest.len() as u64),
            ..*response
        };
        let follows = self.follows(response.status);
        let location = follows.then(|| response.header("location")).flatten();
        if response.sets_cookies
            && policy.cookies
            && (location.is_none() || policy.redirect_cookies)
        {
            self.keep_cookies(frame, response);
        }
        let sent = policy.reads_sent.then(|| {
            let bytes = sent.with_slices(|slices| slices.concat());
            Box::new(Sent::new(call.method, call.url(), &bytes))
        });
        if let Some(location) = location {
            if post::looks_on_the_way(&policy.post) {
                let beside = self.beside("", sent.as_deref());
                frame.with_reply(response, beside, |frame, reply| {
                    frame.look(reply, post::of_redirects(&policy.post));
                });
            }
            return Received::Redirect { status: response.status, location: location.to_vec() };
        }
        if response.status == 401
            && let Some(received) = self.challenge(response)
        {
            return received;
        }
        if let Some(got) = self.wanted.got {
            got.take(response);
        }
        let within = self.wanted.within(response);
        let besides = within.cost_estimate(response.body.len());
        if long_body::is_long(&policy.post, besides, response.body.len()) {
            return Received::Long(
                Box::new(OwnedReply::copy(response, captured.clone(), sent)),
                within,
            );
        }
        let (worker, user) = (frame.worker, frame.user);
        let read = within.read_response(response);
        let found = self.wanted.found(worker, user, (policy, call), response, read);
        let beside = self.beside(&captured, sent.as_deref());
        Received::Reply(self.reply(frame, response, beside, FoundAhead::new(), found))
    }
}

impl HttpExchange<'_> {
    /// Whether a response of this status leads on, if it says where to.
    fn follows(&self, status: u16) -> bool {
        let leads_on = match status {
            301 | 302 | 303 | 308 => true,
            307 => !self.policy.redirect_to_get || self.call.is_get_or_head(),
            _ => false,
        };
        leads_on && self.limits.redirects > 0
    }

    fn keep_cookies(&self, frame: &Frame<'_>, response: &Response<'_>) {
        let mut jar = frame.user.jar(self.policy.jar);
        let site = self.call.site();
        for (name, value) in response.headers() {
            if name.eq_ignore_ascii_case(b"set-cookie") {
                jar.set(value, site);
            }
        }
    }

    /// What a server asks for that wants to see credentials; `None`: the response is the reply. It is asked
    /// once, and once more where it says that its own nonce has become stale meanwhile.
    fn challenge(&self, response: &Response<'_>) -> Option<Received> {
        let content = self.call.content;
        let is_digest = matches!(content.auth, AuthOp::Digest { .. })
            && (self.call.trusted || content.auth_follows);
        if !is_digest || self.challenged == Challenged::Twice {
            return None;
        }
        let lines =
            response.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"www-authenticate"));
        match (Challenge::strongest(lines.map(|(_, value)| value)), self.challenged) {
            (Ok(challenge), Challenged::Once) if !challenge.is_stale() => None,
            (Ok(challenge), _) => Some(Received::Challenge(Box::new(challenge))),
            (Err(reason), Challenged::Never) => Some(Received::Unknown(reason)),
            (Err(_), _) => None,
        }
    }

    fn beside<'b>(&'b self, captured: &'b str, sent: Option<&'b Sent>) -> Beside<'b> {
        let host = Some(&*self.call.origin.origin.host);
        Beside { kept: self.policy.seen_of_body(), captured, sent, jar: self.policy.jar, host }
    }

    /// Shows the reply to the frame. Its status is judged before what it holds. Gives the resources that were found in it,
    /// with what is also sought in those.
    fn reply(
        &self,
        frame: &mut Frame<'_>,
        response: &Response<'_>,
        beside: Beside<'_>,
        ahead: FoundAhead,
        mut found: Option<Box<Found>>,
    ) -> Option<Box<Found>> {
        if self.policy.status_errors && response.status >= 400 {
            frame.fail(ErrorKind::Status, String::new);
        }
        if !self.policy.post.is_empty() {
            let sought = frame
                .with_reply(response, beside, |frame, reply| self.process(frame, reply, ahead));
            found.iter_mut().for_each(|found| found.sought.clone_from(&sought));
        }
        // What looked at a compressed body found other bytes than those that were meant.
        if frame.has_failed_on_body() && !self.limits.compression {
            let coding = response.header("content-encoding").filter(|own| *own != b"identity");
            if let Some(coding) = coding {
                let coding = String::from_utf8_lossy(coding);
                frame.add_detail(&format!(
                    "the body has the Content-Encoding {coding}, which is undone only with `compression: true`"
                ));
            }
        }
        frame.keep_excerpt(response);
        found
    }

    /// Extracts and checks look at the reply. Those of a resource are the page's.
    fn process(
        &self,
        frame: &mut Frame<'_>,
        reply: &Reply<'_, '_>,
        ahead: FoundAhead,
    ) -> Vec<Slot> {
        let post = &self.policy.post;
        if !self.wanted.is_of_page {
            return frame.process(reply, post, ahead);
        }
        let mut ahead = ahead.into_iter();
        let all = post.iter().enumerate();
        frame.look(reply, all.map(|(place, op)| (place, op, ahead.next().flatten())));
        Vec::new()
    }

    /// Has the body of a reply searched, and shows it to the frame. The target has done its part: no deadline
    /// counts any more.
    pub(super) async fn search(
        &self,
        frame: &mut Frame<'_>,
        mut long: Box<OwnedReply>,
        within: Within,
    ) -> Result<Option<Box<Found>>, SampleFailure> {
        frame.in_flight.lift_deadlines();
        let content_type = content_type(&long.response()).to_vec();
        let body = std::mem::take(&mut long.body);
        let search = pin!(long_body::search(
            &self.policy.post,
            frame.user,
            body,
            content_type,
            move |body| within.read(body)
        ));
        let (body, ahead, read) = match frame.in_flight.run(search).await {
            Ok(Some(found)) => found,
            Ok(None) => return Err(SampleFailure::new(ErrorKind::Extract, "the search broke off")),
            Err(cancel) => return Err(SampleFailure::cancelled(cancel, Phase::Body)),
        };
        long.body = body;
        let (worker, user, response) = (frame.worker, frame.user, long.response());
        let about = (self.policy, self.call);
        let found = self.wanted.found(worker, user, about, &response, read);
        let beside = self.beside(&long.captured, long.sent.as_deref());
        let found = self.reply(frame, &response, beside, ahead, found);
        frame.catch_up();
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
