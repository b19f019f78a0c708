//! Where requests go: the plan's target and its proxy, and the origins that the plan itself names.

use std::sync::Arc;

use squall_plan::model::{HttpVersion, Plan, Target};
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_wire::{Http, KeyStore, Origin};

use super::compiler::Compiler;
use crate::parts::{proxy, url};

impl Compiler<'_> {
    pub(super) fn find_target(&mut self) {
        let plan = self.plan;
        for host in &plan.allow_hosts {
            if let Err(message) = self.hosts.allow(&host.value) {
                self.error(
                    host.span,
                    message,
                    "it is a name or an address, without a scheme or a path",
                );
            }
        }
        let text = match (&self.options.target, &plan.target) {
            (Some(text), _) => text.clone(),
            (None, Some(Target::Url(template))) => {
                let Some(text) = self.known_text(template, "target") else { return };
                text
            }
            // The address of the built-in target is known when it has started.
            (None, Some(Target::Builtin)) => "http://builtin.invalid".to_owned(),
            (None, None) => return,
        };
        let (what, span) = match (&self.options.target, &plan.target) {
            (None, Some(Target::Url(template))) => ("target", template.span()),
            _ => ("--target", Span::default()),
        };
        match url::parse(&text) {
            Ok(url::Location { origin, path, .. }) => {
                let prefix =
                    path.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
                let origin = self.origin(origin);
                self.target = Some((origin, prefix));
            }
            Err(error) => self.error(
                span,
                format!("invalid {what} `{text}`: {error}"),
                "write it as http://host:port or https://host",
            ),
        }
    }

    /// Whether there is a target to go by; if it was not found then, what is wrong with it has been noted.
    pub(super) fn has_target(&self) -> bool {
        self.options.target.is_some() || self.plan.target.is_some()
    }

    /// Whether the plan's target is written just so.
    pub(super) fn is_target(&self, text: &str) -> bool {
        match (&self.options.target, &self.plan.target) {
            (Some(target), _) => target == text,
            (None, Some(Target::Url(template))) => template.source() == text,
            (None, _) => false,
        }
    }

    pub(super) fn find_proxy(&mut self) {
        for host in &self.plan.connections.no_proxy {
            if let Err(message) = self.proxy.except.allow(&host.value) {
                self.error(host.span, message, "it is a name or an address, without a scheme");
            }
        }
        let Some(template) = &self.plan.connections.proxy else { return };
        let Some(text) = self.known_text(template, "proxy") else { return };
        match proxy::read(&text) {
            Ok(proxy) => self.proxy.proxy = Some(Arc::new(proxy)),
            Err(message) => self.error(template.span(), message, ""),
        }
    }

    /// Finds the file of client certificates.
    pub(super) fn find_key_store(&mut self) {
        let Some(store) = &self.plan.connections.tls.key_store else { return };
        let Some(password) = self.known_text(&store.password, "password of the key store") else {
            return;
        };
        self.key_store = Some(KeyStore { file: store.file.value.clone(), password });
    }

    /// The text of a template that may hold only what is known before the run.
    fn known_text(&mut self, template: &Template, what: &str) -> Option<String> {
        let text = self.template(template)?.constant();
        if text.is_none() {
            self.error(
                template.span(),
                format!("the {what} must be known before the run"),
                "only variables of `vars`, --set, the environment and setup can be used here",
            );
        }
        text
    }

    /// The version of HTTP that connections speak.
    pub(crate) fn http(&self) -> Http {
        http(self.plan)
    }

    /// The number of an origin that the plan itself names: requests may go there.
    pub(super) fn origin(&mut self, origin: Origin) -> u32 {
        self.hosts.allow_origin(&origin.host, origin.port);
        self.origins.number(origin) as u32
    }
}

/// The version of HTTP that connections speak.
pub(super) fn http(plan: &Plan) -> Http {
    match plan.connections.http {
        HttpVersion::V1 => Http::V1,
        HttpVersion::V2 => Http::V2,
        HttpVersion::Auto => Http::Auto,
    }
}
