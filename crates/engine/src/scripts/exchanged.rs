//! What is counted of requests, checks, groups and iterations of scripts, in k6's metrics.

use std::borrow::Cow;

use squall_metrics::{ErrorKind, MetricKind, WrongValue};
use squall_script::{HttpRequest, HttpResponse, Numbers, Tags};

use super::call_site::CallSite;
use super::rows::Spot;
use crate::parts::script_errors;
use crate::parts::script_metrics::{ALL, Builtin};
use crate::program::ScriptOp;
use crate::record::Recorder;
use crate::trace::Measured;
use crate::user::Core;

/// The tags that k6 gives a request, without those that it gives everything.
const OF_REQUEST: [&str; 10] = [
    "error",
    "error_code",
    "expected_response",
    "ip",
    "method",
    "name",
    "proto",
    "status",
    "tls_version",
    "url",
];

/// What has done something: a user, in a call, at a place within its groups.
#[derive(Clone, Copy)]
pub(crate) struct Doer<'d> {
    pub op: &'d ScriptOp,
    pub spot: Spot,
    pub user: &'d Core,
}

impl<'d> Doer<'d> {
    /// Its scenario, if it is not one of setup or teardown.
    fn scenario(self) -> Option<&'d str> {
        self.op.is_of_scenario.then_some(&*self.op.place.scenario)
    }
}

/// A tag with its value.
type Tag<'t> = (Cow<'static, str>, Cow<'t, str>);

/// An exchange of a request of a script.
pub(crate) struct Exchanged<'e> {
    pub request: &'e HttpRequest,
    pub response: &'e HttpResponse,
    /// Why it failed, if it did.
    pub failure: Option<(ErrorKind, &'e str)>,
    /// Bytes received and sent.
    pub bytes: (u64, u64),
    /// Where it went: a text that is seldom asked for.
    pub url: &'e dyn Fn() -> String,
    pub method: &'e str,
    /// Whether a redirect led there.
    pub is_redirected: bool,
}

impl CallSite {
    /// Counts an exchange that ended at `now`.
    pub(crate) fn count_exchange(
        &self,
        recorder: &Recorder,
        doer: Doer<'_>,
        own: &Exchanged<'_>,
        now: u64,
    ) {
        let [blocked, _, connecting, tls, sending, waiting, receiving] = own.response.timings;
        let (received, sent) = own.bytes;
        let values = [
            (Builtin::Requests, 1.0),
            (Builtin::Duration, sending + waiting + receiving),
            (Builtin::Blocked, blocked),
            (Builtin::Connecting, connecting),
            (Builtin::TlsHandshaking, tls),
            (Builtin::Sending, sending),
            (Builtin::Waiting, waiting),
            (Builtin::Receiving, receiving),
            (Builtin::Failed, f64::from(u8::from(own.failure.is_some()))),
            (Builtin::DataReceived, received as f64),
            (Builtin::DataSent, sent as f64),
        ];
        let tag = |tag: &str| own.tag(self, doer, tag);
        for (metric, value) in values {
            self.counted.builtin(recorder, metric, value, tag, now);
        }
        recorder.tell_measured(now, || {
            let known = OF_REQUEST.iter().filter_map(|name| {
                let value = own.known_tag(name)?;
                Some((Cow::Borrowed(*name), value))
            });
            self.measured(doer, &values, known, &own.request.params.tags)
        });
    }

    /// Counts a check that was made at `now`.
    pub(crate) fn count_check(
        &self,
        recorder: &Recorder,
        doer: Doer<'_>,
        (name, tags): (&str, &Tags),
        ok: bool,
        now: u64,
    ) {
        let tag = |tag: &str| match tag {
            "check" => Some(Cow::Owned(name.to_owned())),
            other => self.tag(doer, tags, other),
        };
        let value = (Builtin::Checks, f64::from(u8::from(ok)));
        self.counted.builtin(recorder, value.0, value.1, tag, now);
        recorder.tell_measured(now, || {
            let known = [(Cow::Borrowed("check"), Cow::Borrowed(name))];
            self.measured(doer, &[value], known.into_iter(), tags)
        });
    }

    /// Counts something of the call that took so many milliseconds, or happened so often, up to `now`.
    pub(crate) fn count_span(
        &self,
        recorder: &Recorder,
        doer: Doer<'_>,
        (metric, value): (Builtin, f64),
        now: u64,
    ) {
        let none = Tags::new();
        let tag = |tag: &str| self.tag(doer, &none, tag);
        self.counted.builtin(recorder, metric, value, tag, now);
        recorder.tell_measured(now, || {
            self.measured(doer, &[(metric, value)], std::iter::empty(), &none)
        });
    }

    /// Counts a value of a metric that the script makes, by its number among those.
    ///
    /// # Errors
    /// The metric cannot take the value.
    pub(crate) fn count_own(
        &self,
        recorder: &Recorder,
        doer: Doer<'_>,
        (metric, value, tags): (usize, f64, &Tags),
        now: u64,
    ) -> Result<(), WrongValue> {
        let tag = |tag: &str| self.tag(doer, tags, tag);
        self.counted.own(recorder, metric, value, tag, now)?;
        recorder.tell_measured(now, || {
            let (kind, name) = self.counted.own_metric(metric);
            let values = vec![(Cow::Owned(name.to_owned()), kind, value)];
            Measured { values, ..self.measured(doer, &[], std::iter::empty(), tags) }
        });
        Ok(())
    }

    /// What who watches is told of values: `known` are tags that k6 gives, `own` those of the script.
    fn measured<'t>(
        &self,
        doer: Doer<'t>,
        values: &[(Builtin, f64)],
        known: impl Iterator<Item = Tag<'t>>,
        own: &'t Tags,
    ) -> Measured {
        let mut tags: Vec<(Cow<'static, str>, String)> =
            known.map(|(name, value)| (name, value.into_owned())).collect();
        let place = &doer.op.place;
        for (name, value) in own.iter().chain(&place.tags) {
            if tags.iter().all(|(other, _)| other != name) {
                tags.push((Cow::Owned(name.clone()), value.clone()));
            }
        }
        let scenario = doer.scenario().map(|own| ("scenario", own.to_owned()));
        for (name, value) in scenario.into_iter().chain([("group", self.group_path(doer.spot))]) {
            if tags.iter().all(|(other, _)| other != name) {
                tags.push((Cow::Borrowed(name), value));
            }
        }
        let value = |(metric, value): &(Builtin, f64)| {
            let (name, kind): (&'static str, MetricKind) = ALL[*metric as usize];
            (Cow::Borrowed(name), kind, *value)
        };
        let Numbers { user, iteration } = doer.user.numbers();
        let values = values.iter().map(value).collect();
        let metadata = doer.user.metadata(doer.op.kind);
        Measured { values, tags, metadata, user, iteration, ..Measured::default() }
    }

    /// A tag that what a script does at a place has: one that it gives itself, or one of its step.
    fn tag<'t>(&self, doer: Doer<'t>, own: &'t Tags, tag: &str) -> Option<Cow<'t, str>> {
        let place = &doer.op.place;
        let of = |tags: &'t [(String, String)]| {
            let found = tags.iter().find(|(name, _)| name == tag);
            found.map(|(_, value)| Cow::Borrowed(value.as_str()))
        };
        of(own).or_else(|| of(&place.tags)).or_else(|| match tag {
            "scenario" => doer.scenario().map(Cow::Borrowed),
            "group" => Some(Cow::Owned(self.group_path(doer.spot))),
            _ => None,
        })
    }

    /// The groups around a spot, as k6 writes them: `::shop::pay`; empty outside of all.
    fn group_path(&self, spot: Spot) -> String {
        self.rows.with_groups(spot, |groups| groups.iter().map(|own| format!("::{own}")).collect())
    }
}

impl Exchanged<'_> {
    /// A tag of it.
    fn tag<'t>(&'t self, site: &CallSite, doer: Doer<'t>, tag: &str) -> Option<Cow<'t, str>> {
        match OF_REQUEST.contains(&tag) {
            true => self.known_tag(tag),
            false => site.tag(doer, &self.request.params.tags, tag),
        }
    }

    /// A tag of [`OF_REQUEST`]; `None`: it has none.
    fn known_tag(&self, tag: &str) -> Option<Cow<'_, str>> {
        let Exchanged { request, response, failure, .. } = self;
        let kind = failure.map(|(kind, _)| kind);
        let said = |text: &'_ str| (!text.is_empty()).then(|| Cow::Owned(text.to_owned()));
        match tag {
            "name" | "url" => Some(match &request.name {
                Some(name) => Cow::Borrowed(&**name),
                None if tag == "name" && !self.is_redirected => Cow::Borrowed(&*request.url),
                None => Cow::Owned((self.url)()),
            }),
            "method" => Some(Cow::Borrowed(self.method)),
            "status" => Some(Cow::Owned(response.status.to_string())),
            "proto" => Some(response.proto()).filter(|own| !own.is_empty()),
            "ip" => {
                let ip = response.remote?.ip().to_canonical();
                Some(Cow::Owned(ip.to_string()))
            }
            "tls_version" => said(response.tls_version),
            "expected_response" => Some(Cow::Owned(failure.is_none().to_string())),
            "error" => {
                let (kind, detail) = (*failure)?;
                said(&script_errors::text(kind, detail))
            }
            "error_code" => match script_errors::code(kind, response.status) {
                0 => None,
                code => Some(Cow::Owned(code.to_string())),
            },
            _ => None,
        }
    }
}
