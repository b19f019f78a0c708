//! How a request asks for its origin to be reached: with which client certificate, through which proxy, from which address.

use std::net::IpAddr;
use std::rc::Rc;

use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;

use super::failure::SampleFailure;
use super::rendered::rendered;
use crate::net::origins::{Asked, KnownOrigin};
use crate::parts::{names, url};
use crate::program::call::ViaOp;
use crate::scope::UserScope;
use crate::worker::Worker;

/// An origin as a request asks for it, if it says anything of that.
pub(super) fn asked(
    worker: &Worker,
    origin: Rc<KnownOrigin>,
    via: Option<&ViaOp>,
    scope: &UserScope<'_, '_>,
) -> Result<Rc<KnownOrigin>, SampleFailure> {
    let Some(via) = via else { return Ok(origin) };
    let mut asked = Asked::default();
    if let Some(name) = &via.client_cert {
        let number = rendered(worker, name, scope).and_then(|name| certificate(worker, &name));
        // Where no TLS is spoken it is for where a redirect may lead.
        match number {
            Err(failure) if origin.origin.is_tls() => return Err(failure),
            number => asked.certificate = number.ok(),
        }
    }
    if let Some(proxy) = &via.proxy {
        let said = worker.said_proxy(&rendered(worker, proxy, scope)?);
        asked.proxy = said.map_err(|error| refused(worker, &error))?;
        if !via.names_proxy {
            let allowed = asked.proxy.is_allowed();
            allowed.map_err(|reason| SampleFailure {
                kind: ErrorKind::HostNotAllowed,
                ..refused(worker, &reason)
            })?;
        }
    }
    if let Some(address) = &via.source_address {
        asked.source = source(worker, address, scope)?;
    }
    // What comes to nothing is as if it were not given.
    asked.is_of_user = via.is_of_user && asked != Asked::default();
    Ok(worker.as_asked(&origin, asked))
}

fn source(
    worker: &Worker,
    template: &BoundTemplate,
    scope: &UserScope<'_, '_>,
) -> Result<Option<IpAddr>, SampleFailure> {
    let text = rendered(worker, template, scope)?;
    url::source_address(&String::from_utf8_lossy(&text)).map_err(|error| refused(worker, &error))
}

/// What a text of the plan's comes to cannot be used.
fn refused(worker: &Worker, error: &str) -> SampleFailure {
    let shown = names::limited(&worker.recorder.secrets().mask(error)).into_owned();
    SampleFailure::new(ErrorKind::Render, shown)
}

/// The number of a client certificate.
fn certificate(worker: &Worker, name: &[u8]) -> Result<u16, SampleFailure> {
    let name = String::from_utf8_lossy(name);
    if let Some(certificate) = worker.client.certificate(&name) {
        return Ok(certificate);
    }
    let shown = names::limited(&worker.recorder.secrets().mask(&name)).into_owned();
    let known: Vec<&str> = worker.client.certificates().take(10).collect();
    let known = match known.as_slice() {
        [] => "`tls` of `connections` has none".to_owned(),
        known => format!("there are {}", known.join(", ")),
    };
    let reason = format!("no client certificate is called `{shown}`: {known}");
    Err(SampleFailure::new(ErrorKind::Tls, reason))
}
