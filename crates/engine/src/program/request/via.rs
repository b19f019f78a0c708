//! How the origin of a request is reached: what the plan says of it, and what of that is known before the run.

use std::net::IpAddr;
use std::sync::Arc;

use squall_plan::model::HttpOptions;
use squall_plan::template::{Template, TemplatePart};
use squall_wire::{Between, Destination, Origin, Proxy};

use crate::parts::proxy::ProxyChoice;
use crate::parts::url;
use crate::program::call::{UrlOp, ViaOp};
use crate::program::compiler::Compiler;

impl Compiler<'_> {
    /// What a request says of how its origin is reached; the outer `None` after an error was noted.
    pub(super) fn via(&mut self, http: &HttpOptions) -> Option<Option<Box<ViaOp>>> {
        let (cert, proxy) = (http.client_cert.as_ref(), http.proxy.as_ref());
        self.via_op(cert, proxy, http.source_address.as_ref())
    }

    /// The same for bytes over TCP, which know neither certificates nor proxies.
    pub(in crate::program) fn via_of_tcp(&mut self) -> Option<Option<Box<ViaOp>>> {
        self.via_op(None, None, self.defaults.http.source_address.as_ref())
    }

    fn via_op(
        &mut self,
        client_cert: Option<&Template>,
        proxy: Option<&Template>,
        source: Option<&Template>,
    ) -> Option<Option<Box<ViaOp>>> {
        let mut via = ViaOp {
            client_cert: self.optional(client_cert)?,
            proxy: self.optional(proxy)?,
            names_proxy: proxy.is_none_or(|proxy| self.names_proxy(proxy)),
            source_address: self.optional(source)?,
            is_of_user: false,
        };
        let all = [&via.client_cert, &via.proxy, &via.source_address];
        if all.iter().all(|part| part.is_none()) {
            return Some(None);
        }
        via.is_of_user = all.into_iter().flatten().any(|template| template.constant().is_none());
        self.via_use.certificates |= via.client_cert.is_some();
        self.via_use.source_addresses |= via.source_address.is_some();
        self.via_use.of_users |= via.is_of_user;
        let span = |template: Option<&Template>| template.map(Template::span).unwrap_or_default();
        let mut is_said = |template: Option<&Template>| {
            template.is_none_or(|template| self.said_by_plan(template).1)
        };
        let (says_proxy, says_source) = (is_said(proxy), is_said(source));
        // What setup has found, and is none, fails its requests alone.
        if let Some(Err(error)) = via.choice().filter(|_| says_proxy) {
            self.error(span(proxy), error, "`none` means without a proxy");
            return None;
        }
        match via.source() {
            Some(Err(_)) if !says_source => {}
            Some(Err(error)) => {
                self.error(span(source), error, "");
                return None;
            }
            Some(Ok(Some(address))) => self.source_addresses.push((address, span(source))),
            Some(Ok(None)) | None => {}
        }
        Some(Some(Box::new(via)))
    }

    /// Whether the plan itself names the host of a proxy: it writes all that stands behind an `@`, or nothing in the text is
    /// found by a step.
    fn names_proxy(&self, proxy: &Template) -> bool {
        let ends_with_host =
            matches!(proxy.parts().last(), Some(TemplatePart::Text(text)) if text.contains('@'));
        let is_found = |name: &str| self.known_slot(name).is_some() || self.is_of_setup(name);
        let finds = |part: &TemplatePart| match part {
            TemplatePart::Text(_) => false,
            TemplatePart::Expr(expr) => expr.names().iter().any(|(path, _)| is_found(&path[0])),
        };
        ends_with_host || !proxy.parts().iter().any(finds)
    }

    /// The proxy in between, if that is known before the run.
    pub(crate) fn proxy_toward(
        &self,
        origin: &Origin,
        via: Option<&ViaOp>,
    ) -> Option<Option<Arc<Proxy>>> {
        let choice = match via {
            Some(via) => via.choice()?.ok()?,
            None => ProxyChoice::OfPlan,
        };
        Some(choice.toward(origin, &self.proxy))
    }

    /// Notes where connections go.
    pub(in crate::program) fn note_destination(&mut self, to: Destination) {
        self.destinations.number(to);
    }

    /// Notes where a request's connections go, as far as it is known.
    pub(super) fn note_destination_of(&mut self, to: &UrlOp, via: Option<&ViaOp>) {
        let number = match (to, &self.target) {
            (UrlOp::Static { origin, .. } | UrlOp::Path { origin, .. }, _) => *origin,
            // It may be a path.
            (UrlOp::Any(_), Some((origin, _))) => *origin,
            (UrlOp::Any(_), None) => return,
        };
        let origin = self.origins[number as usize].clone();
        let between = match self.proxy_toward(&origin, via) {
            Some(Some(proxy)) => Between::Proxy(proxy),
            Some(None) => Between::Nothing,
            None => Between::Unknown,
        };
        self.note_destination(Destination { origin, between });
    }
}

impl ViaOp {
    /// What it says of a proxy; `None`: only its user knows.
    fn choice(&self) -> Option<Result<ProxyChoice, String>> {
        let Some(template) = &self.proxy else { return Some(Ok(ProxyChoice::OfPlan)) };
        Some(ProxyChoice::read(&template.constant()?))
    }

    /// Its source address, if it has one of its own; `None`: only its user knows.
    fn source(&self) -> Option<Result<Option<IpAddr>, String>> {
        let Some(template) = &self.source_address else { return Some(Ok(None)) };
        Some(url::source_address(&template.constant()?))
    }
}
