//! A response as the reply that extracts and checks look at, borrowed from the worker's buffer or owned.

use squall_extract::{Body, Documents, Limits};
use squall_wire::Response;

use super::frame::Frame;
use super::page::content_type;
use crate::parts::sent::Sent;
use crate::scope::Reply;

/// What goes with a response where it is looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// How many bytes of its body are the plan's to see.
    pub kept: u64,
    /// Hash of the body, or path of its file, where the request asked for one.
    pub captured: &'a str,
    /// The request, where something looks at that.
    pub sent: Option<&'a Sent>,
    /// The number of the jar that the request's cookies are in.
    pub jar: u16,
    /// The host that it came from.
    pub host: Option<&'a str>,
}

impl Frame<'_> {
    /// Shows a response as a reply.
    pub(super) fn with_reply<R>(
        &mut self,
        response: &Response<'_>,
        beside: Beside<'_>,
        look: impl FnOnce(&mut Self, &Reply<'_, '_>) -> R,
    ) -> R {
        let Beside { kept, captured, sent, jar, host } = beside;
        let kept = usize::try_from(kept).unwrap_or(usize::MAX).min(response.body.len());
        let body = Body::new(&response.body[..kept], content_type(response));
        let documents = Documents::of(&body, Limits::default());
        let reply = Reply {
            code: self.code(),
            body_bytes: response.body_bytes,
            duration_ms: self.duration_ms(),
            captured,
            response: Some(response),
            sent,
            jar,
            host,
            ..Reply::of(&documents)
        };
        look(self, &reply)
    }
}

/// A response that does not lie in the worker's buffer any more.
#[derive(Debug, Default)]
pub(super) struct OwnedReply {
    pub status: u16,
    pub head: Vec<u8>,
    pub trailers: Vec<u8>,
    pub body: Vec<u8>,
    /// Bytes of the body as sent.
    pub body_bytes: u64,
    /// Bytes of the whole body, however much of it was kept.
    pub body_length: u64,
    /// Hash of the body, or path of its file, where the request asked for one.
    pub captured: String,
    /// The request, where something looks at that.
    pub sent: Option<Box<Sent>>,
}

impl OwnedReply {
    /// A copy of a response.
    pub(super) fn copy(response: &Response<'_>, captured: String, sent: Option<Box<Sent>>) -> Self {
        OwnedReply {
            status: response.status,
            head: response.head.to_vec(),
            trailers: response.trailers.to_vec(),
            body: response.body.to_vec(),
            body_bytes: response.body_bytes,
            body_length: response.body_length,
            captured,
            sent,
        }
    }

    /// The response. What it took to get it was counted when it came.
    pub(super) fn response(&self) -> Response<'_> {
        Response {
            status: self.status,
            head: &self.head,
            body: &self.body,
            body_bytes: self.body_bytes,
            body_length: self.body_length,
            bytes_in: 0,
            bytes_out: 0,
            trailers: &self.trailers,
            sets_cookies: false,
            unsolicited_bytes: 0,
        }
    }
}
