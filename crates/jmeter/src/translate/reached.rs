//! How requests reach their hosts: the proxy and the source address of a request, and those of all, which system
//! properties and properties of JMeter say.

use std::net::IpAddr;

use squall_plan::model::{Connections, Request, Tls};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::request::Options;
use super::texts::{TextPiece, expression, literal, merged, quoted};
use super::transfer::Client;
use super::{TranslationContext, Translator};
use crate::tree::ElementId;

/// The system property that says which port a proxy has.
const PORT: &str = "http.proxyPort";
/// Hosts that requests go to without it.
const EXCEPT: &str = "http.nonProxyHosts";

/// What system properties and properties of JMeter say of all requests.
#[derive(Debug, Default)]
pub(super) struct OfAll {
    proxy: Option<Template>,
    except: Vec<String>,
    source: Option<String>,
    /// What of it has no equal.
    pub refused: Vec<String>,
}

pub(super) fn of_all(given: &TranslationContext) -> OfAll {
    let system = |name: &str| given.machine.properties.get(name).map_or("", |text| text.trim());
    let own = |name: &str| given.properties.get(name).map_or("", String::as_str);
    let mut all = OfAll::default();
    let source = own("httpclient.localaddress").trim();
    if !source.is_empty() {
        let address = given.machine.address_of(source);
        if address.is_none() {
            all.refused.push(format!("the source address `{source}`, which is not an IP address"));
        }
        all.source = address;
    }
    let (host, port) = (system("http.proxyHost"), system(PORT));
    if host.is_empty() || matches!(port, "" | "0") {
        return all;
    }
    if port.parse::<u16>().is_err() {
        all.refused.push(format!("`{port}` as {PORT}"));
    }
    if !matches!(system("http.proxyScheme"), "" | "http") {
        all.refused.push("a proxy that is spoken to by TLS".to_owned());
    }
    let text = |text: &str| vec![TextPiece::Text(text.to_owned())];
    let credentials = (merged(text(own("http.proxyUser"))), text(own("http.proxyPass")));
    let url = url((&text(host), &text(port)), &credentials);
    all.proxy = literal(&url).map(Template::text);
    for pattern in system(EXCEPT).split('|').filter(|pattern| !pattern.is_empty()) {
        match pattern.strip_prefix('*') {
            Some("") => all.except.push("*".to_owned()),
            Some(suffix) if suffix.starts_with('.') => all.except.push(pattern.to_owned()),
            Some(_) => all.refused.push(format!("`{pattern}` in {EXCEPT}")),
            // Elsewhere a star stands for itself, which no host has.
            None if pattern.contains('*') => {}
            None => all.except.push(pattern.to_owned()),
        }
    }
    all
}

impl Translator<'_> {
    /// How connections are made, where requests do not say it.
    pub(super) fn connections(&self) -> Connections {
        let spanned = |text: &String| Spanned::new(text.clone(), Span::default());
        Connections {
            proxy: self.of_all.proxy.clone(),
            no_proxy: self.of_all.except.iter().map(spanned).collect(),
            source_addresses: self.of_all.source.iter().map(spanned).collect(),
            // JMeter trusts whatever certificate it is shown.
            tls: Tls { insecure: true, key_store: self.key_store.clone(), ..Tls::default() },
            ..Connections::default()
        }
    }

    /// Sets the proxy and the source address that a request has of its own.
    pub(super) fn reached(
        &self,
        id: ElementId,
        options: &Options<'_>,
        client: Client,
        request: &mut Request,
    ) {
        request.http.proxy = self.proxy(id, options);
        if client == Client::Java && self.of_all.proxy.is_some() && request.http.proxy.is_none() {
            self.obstacle(id, "the proxy of system properties with the client of Java");
        }
        let source = self.source(id, options);
        // Java's client has none.
        request.http.source_address = source.filter(|_| client == Client::Apache);
    }

    fn proxy(&self, id: ElementId, options: &Options<'_>) -> Option<Template> {
        let part = |name: &str| options.pieces(&format!("HTTPSampler.{name}"));
        let (host, port) = (part("proxyHost"), part("proxyPort"));
        let (credentials, scheme) = ((part("proxyUser"), part("proxyPass")), part("proxyScheme"));
        let is_blank = literal(&host).is_some_and(|text| text.trim().is_empty());
        // What is no number is 0, and then there is none.
        let is_port = |text: &str| text.trim().parse::<i32>().is_ok_and(|port| port > 0);
        if is_blank || literal(&port).is_some_and(|text| !is_port(text)) {
            return None;
        }
        if !matches!(literal(&scheme), Some("" | "http")) {
            self.obstacle(id, "a proxy that is spoken to by TLS");
        }
        let url = url((&host, &port), &self.hiding(credentials));
        if url.iter().any(|piece| matches!(piece, TextPiece::Expr(_))) {
            self.any_host.set(true);
        }
        if literal(&host).is_some() && literal(&port).is_some() {
            return Some(self.template_of(id, &url));
        }
        // Whether there is one is known when they are.
        let (host, port) = (expression(&host), expression(&port));
        let given =
            format!("{host} != {0} && ({port}).matches({1})", quoted(""), quoted("^[1-9][0-9]*$"));
        let choice = format!("{given} ? {} : {}", expression(&url), quoted(""));
        Some(self.template_of(id, &[TextPiece::Expr(choice)]))
    }

    /// A user and a password, of which one that is known stands in a variable where the user is not: within an expression
    /// nobody would see that it is one.
    fn hiding(
        &self,
        (user, password): (Vec<TextPiece>, Vec<TextPiece>),
    ) -> (Vec<TextPiece>, Vec<TextPiece>) {
        let known = literal(&password).filter(|text| !text.is_empty() && literal(&user).is_none());
        let hidden = known.map(|text| vec![TextPiece::Expr(self.password(text))]);
        (user, hidden.unwrap_or(password))
    }

    fn source(&self, id: ElementId, options: &Options<'_>) -> Option<Template> {
        let text = options.pieces("HTTPSampler.ipSource");
        let of_device = options.number("HTTPSampler.ipSourceType") != 0;
        let known = literal(&text);
        if known.is_some_and(|text| text.trim().is_empty()) {
            return None;
        }
        if of_device {
            self.obstacle(id, "the source address of a device");
        }
        let Some(known) = known.filter(|_| !of_device) else {
            return Some(self.template_of(id, &text));
        };
        let address = self.constants.machine().address_of(known);
        if address.is_none() {
            self.obstacle(id, format!("the source address `{known}`, which is not an IP address"));
        }
        address.map(|address| Template::text(&address))
    }
}

/// `http://user:password@host:port`. What is no text of a URL is encoded.
fn url(
    (host, port): (&[TextPiece], &[TextPiece]),
    (user, password): &(Vec<TextPiece>, Vec<TextPiece>),
) -> Vec<TextPiece> {
    let text = |text: &str| TextPiece::Text(text.to_owned());
    let mut pieces = vec![text("http://")];
    let encoded = |pieces: &[TextPiece]| format!("url_encode({})", expression(pieces));
    let credentials =
        |user: &str| format!("{user} + {} + {} + {}", quoted(":"), encoded(password), quoted("@"));
    match (literal(user), literal(password)) {
        (Some(""), _) => {}
        (Some(user), Some(password)) => {
            pieces.push(TextPiece::Text(format!(
                "{}:{}@",
                percent_encoded(user),
                percent_encoded(password)
            )));
        }
        (Some(_), None) => pieces.push(TextPiece::Expr(credentials(&encoded(user)))),
        (None, _) => {
            let given = format!("{} != {}", expression(user), quoted(""));
            pieces.push(TextPiece::Expr(format!(
                "{given} ? {} : {}",
                credentials(&encoded(user)),
                quoted("")
            )));
        }
    }
    match literal(host).is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok()) {
        true => pieces.extend([text("[")].into_iter().chain(host.to_vec()).chain([text("]")])),
        false => pieces.extend(host.to_vec()),
    }
    pieces.push(text(":"));
    pieces.extend(port.iter().map(|piece| match piece {
        TextPiece::Text(text) => TextPiece::Text(text.trim().to_owned()),
        TextPiece::Expr(own) => TextPiece::Expr(own.clone()),
    }));
    merged(pieces)
}

/// A text as a URL has it.
fn percent_encoded(text: &str) -> String {
    squall_base::form::encoded(text).replace('+', "%20")
}

impl crate::Machine {
    /// A source address: as it is given, or by a name that this machine has.
    fn address_of(&self, text: &str) -> Option<String> {
        if text.parse::<IpAddr>().is_ok() {
            return Some(text.to_owned());
        }
        match text {
            "localhost" => Some("127.0.0.1".to_owned()),
            _ => self.address.clone().filter(|_| self.name.as_deref() == Some(text)),
        }
    }
}
