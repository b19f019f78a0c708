//! What is counted of requests, checks, groups and iterations of scripts, in k6's metrics.

use std::borrow::Cow;

use squall_metrics::ErrorKind;
use squall_script::{HttpRequest, HttpResponse, Tags};

use super::call_site::CallSite;
use super::rows::Spot;
use crate::parts::script_errors;
use crate::parts::script_metrics::Builtin;
use crate::program::ScriptOp;
use crate::record::Recorder;

/// An exchange of a request of a script.
pub(crate) struct Exchanged<'e> {
    pub request: &'e HttpRequest,
    pub response: &'e HttpResponse,
    /// Why it failed, if it did.
    pub failure: Option<(ErrorKind, &'e str)>,
    /// Bytes received and sent.
    pub bytes: (u64, u64),
    pub spot: Spot,
    /// Where it went: a text that is seldom asked for.
    pub url: &'e dyn Fn() -> String,
    pub method: &'e str,
}

impl CallSite {
    /// Counts an exchange that ended at `now`.
    pub(crate) fn count_exchange(
        &self,
        recorder: &Recorder,
        op: &ScriptOp,
        own: &Exchanged<'_>,
        now: u64,
    ) {
        let tag = |tag: &str| own.tag(self, op, tag);
        let record = |metric, value| self.counted.builtin(recorder, metric, value, tag, now);
        let [blocked, _, connecting, tls, sending, waiting, receiving] = own.response.timings;
        record(Builtin::Requests, 1.0);
        record(Builtin::Failed, f64::from(u8::from(own.failure.is_some())));
        record(Builtin::Duration, sending + waiting + receiving);
        record(Builtin::Blocked, blocked);
        record(Builtin::Connecting, connecting);
        record(Builtin::TlsHandshaking, tls);
        record(Builtin::Sending, sending);
        record(Builtin::Waiting, waiting);
        record(Builtin::Receiving, receiving);
        let (received, sent) = own.bytes;
        record(Builtin::DataReceived, received as f64);
        record(Builtin::DataSent, sent as f64);
    }

    /// Counts a check that was made at `now`.
    pub(crate) fn count_check(
        &self,
        recorder: &Recorder,
        op: &ScriptOp,
        (spot, name, tags): (Spot, &str, &Tags),
        ok: bool,
        now: u64,
    ) {
        let tag = |tag: &str| match tag {
            "check" => Some(Cow::Owned(name.to_owned())),
            other => self.tag(op, spot, tags, other),
        };
        self.counted.builtin(recorder, Builtin::Checks, f64::from(u8::from(ok)), tag, now);
    }

    /// Counts something of the call that took so many nanoseconds, or happened so often, up to `now`.
    pub(crate) fn count_span(
        &self,
        recorder: &Recorder,
        op: &ScriptOp,
        spot: Spot,
        (metric, value): (Builtin, f64),
        now: u64,
    ) {
        let tag = |tag: &str| self.tag(op, spot, &Tags::new(), tag).map(Cow::into_owned);
        let tag = |own: &str| tag(own).map(Cow::Owned);
        self.counted.builtin(recorder, metric, value, tag, now);
    }

    /// A tag that what a script does at a place has: one that it gives itself, or one of its step.
    pub(crate) fn tag<'t>(
        &self,
        op: &'t ScriptOp,
        spot: Spot,
        own: &'t Tags,
        tag: &str,
    ) -> Option<Cow<'t, str>> {
        let of = |tags: &'t [(String, String)]| {
            let found = tags.iter().find(|(name, _)| name == tag);
            found.map(|(_, value)| Cow::Borrowed(value.as_str()))
        };
        of(own).or_else(|| of(&op.place.tags)).or_else(|| match tag {
            "scenario" => Some(Cow::Borrowed(op.place.scenario.as_str())),
            "group" => Some(Cow::Owned(self.rows.with_groups(spot, |groups| {
                groups.iter().map(|name| format!("::{name}")).collect()
            }))),
            _ => None,
        })
    }
}

impl Exchanged<'_> {
    /// A tag of it.
    fn tag<'t>(&'t self, site: &CallSite, op: &'t ScriptOp, tag: &str) -> Option<Cow<'t, str>> {
        let Exchanged { request, response, failure, .. } = self;
        let name = || request.name.as_deref().unwrap_or(&request.url);
        let kind = failure.map(|(kind, _)| kind);
        match tag {
            "name" | "url" if request.name.is_some() => Some(Cow::Borrowed(name())),
            "name" => Some(Cow::Borrowed(name())),
            "url" => Some(Cow::Owned((self.url)())),
            "method" => Some(Cow::Borrowed(self.method)),
            "status" => Some(Cow::Owned(response.status.to_string())),
            "proto" => Some(response.proto()),
            "expected_response" => Some(Cow::Owned(failure.is_none().to_string())),
            "error" => {
                let (kind, detail) = (*failure)?;
                let text = script_errors::text(kind, detail);
                (!text.is_empty()).then_some(Cow::Owned(text))
            }
            "error_code" => match script_errors::code(kind, response.status) {
                0 => None,
                code => Some(Cow::Owned(code.to_string())),
            },
            other => site.tag(op, self.spot, &request.params.tags, other),
        }
    }
}
