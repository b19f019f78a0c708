//! Keeps secrets out of everything that people or programs are shown.
//!
//! A secret of [`SHORTEST`] characters or more is masked wherever it stands, in each form that requests give
//! it: as it is, percent-encoded, in forms, in JSON, in HTML, in a header's line, in base64, and in the other
//! encodings that the plan sends. A shorter one is
//! found in half of all texts by chance, so it is masked only where it was put: as a whole value in a
//! request, and in the plan's own lines.

mod below_auth;
mod credentials;
mod foreign;
mod forms;
mod masking;
mod patterns;
mod source;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Printed;
use squall_base::hex::{hex, unhex};

use crate::diagnostic::Diagnostic;
use crate::feed_target::{FeedKind, masked};
use crate::model::{Auth, Json, Plan, Step, StepKind, Target, Var};
use crate::span::Span;
use crate::template::Template;
use crate::value::Value;
use forms::{Alphabet, Pattern};
use masking::{basic_credentials, is_whole_value, lossy, without};
use patterns::Patterns;

pub use credentials::is_credential;
pub(crate) use masking::replaced;
use source::credentials_of_proxy;
pub(crate) use source::{credentials_in_urls, in_source};

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// Characters from which on a secret is masked wherever it stands.
pub const SHORTEST: usize = 6;

/// Most secrets that a plan may have, and most bytes of them together: all of them are looked for in all that is shown.
pub const MAX_SECRETS: usize = 10_000;
const MAX_SECRET_BYTES: usize = 8 << 20;

/// Texts that no output may show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Those that are masked wherever they stand.
    long: Patterns,
    /// Those that are masked where they were put.
    short: Patterns,
    /// The long ones as they were added.
    texts: Vec<Arc<str>>,
    /// Bytes of all that were added, and how many they are.
    size: (usize, usize),
    /// Whether there were more than may be.
    is_full: bool,
}

/// A part of a message, as somebody who watches a run is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether more of it was there, which was cut off: what begins a secret at its end is masked too.
    pub is_cut: bool,
}

impl Secrets {
    /// Adds a text. One of white space alone is none.
    pub fn add(&mut self, secret: &str) {
        let pattern = Pattern::of_text(secret);
        if secret.trim().is_empty() || self.long.contains(&pattern) || self.short.contains(&pattern)
        {
            return;
        }
        let (bytes, number) = self.size;
        if number >= MAX_SECRETS || bytes + secret.len() > MAX_SECRET_BYTES {
            self.is_full = true;
            return;
        }
        self.size = (bytes + secret.len(), number + 1);
        if is_short(secret) {
            self.short.add(pattern);
            return;
        }
        self.texts.push(pattern.text().clone());
        self.long.add(pattern);
        for pattern in Pattern::in_base64(secret) {
            self.long.add(pattern);
        }
        // A `tcp` step has its bytes in hexadecimal, and they are shown as what they are, or the other way round.
        let in_hex = hex(secret.as_bytes());
        self.add_form(&in_hex.to_uppercase());
        self.add_form(&in_hex);
        let plain = unhex(secret.as_bytes()).and_then(|own| String::from_utf8(own).ok());
        if let Some(plain) = plain.filter(|own| !is_short(own)) {
            self.add_form(&plain);
        }
        // URLs have schemes and hosts in small letters. A word of letters alone is left: a name would look like it.
        let small = secret.to_lowercase();
        if small != secret && !secret.chars().all(char::is_alphabetic) {
            self.add_form(&small);
        }
    }

    /// Adds another form of a secret, which is masked wherever it stands.
    pub fn add_form(&mut self, form: &str) {
        self.long.add(Pattern::of_text(form));
    }

    /// Adds what the secrets from a number on, in the order of [`Secrets::texts`], are in an encoding of this name.
    pub fn add_encoded(&mut self, from: usize, label: &str, encode: &dyn Fn(&str) -> Vec<u8>) {
        let texts = self.texts.get(from..).unwrap_or_default();
        if texts.is_empty() {
            return;
        }
        let alphabet = Arc::new(Alphabet::new(label, encode, texts));
        for text in texts {
            self.long.add(Pattern::encoded(text, &alphabet));
        }
    }

    /// The secrets that are masked wherever they stand, in the order in which they were added.
    pub fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// What is wrong if there are more than may be.
    pub fn too_many(&self) -> Option<Diagnostic> {
        let most = squall_base::units::count(MAX_SECRETS as u64);
        let message = format!(
            "too many secrets: expected at most {most} that come to at most {} MiB",
            MAX_SECRET_BYTES >> 20
        );
        let help = "read credentials of many users from a file with `data`, or write `{value: …, secret: false}` for \
                    variables that are none";
        self.is_full.then(|| Diagnostic::error(Span::default(), message).with_help(help))
    }

    /// Adds all texts and numbers of a value.
    pub fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::List(items) => items.iter().for_each(|item| self.add_value(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.add_value(value)),
            Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Bytes(_) => {
                self.add(&value.to_string());
            }
        }
    }

    /// Adds the values of a URL's query whose names sound like secrets, as far as they are written out.
    pub fn add_query(&mut self, url: &str) {
        credentials::of_query(url).into_iter().for_each(|hit| add_of_url(&url[hit], self));
    }

    /// Adds what other secrets hold.
    pub fn extend(&mut self, other: &Secrets) {
        let known: HashSet<Arc<str>> = self.texts.iter().cloned().collect();
        self.texts.extend(other.texts.iter().filter(|text| !known.contains(*text)).cloned());
        self.long.extend(&other.long);
        self.short.extend(&other.short);
    }

    /// A text with stars in place of each secret. Of one that ends with an ellipsis, or with the beginning of a
    /// secret before one, that is masked too: it was cut.
    pub fn mask(&self, text: &str) -> String {
        let (body, end) = match text.strip_suffix('\u{2026}') {
            Some(body) => (body, "\u{2026}"),
            None => (text, ""),
        };
        let mut masked = replaced(body, &self.hits(body, !end.is_empty()));
        masked.push_str(end);
        masked
    }

    /// A part of a request, or of what the plan wrote itself, with stars in place of each secret and of the
    /// credentials of Basic authentication.
    pub fn mask_request(&self, excerpt: Excerpt<'_>) -> String {
        let Excerpt { bytes, is_cut } = excerpt;
        let mut hits = self.long.hits(bytes, is_cut);
        let short = self.short.hits(bytes, is_cut).into_iter();
        hits.extend(short.filter(|hit| is_whole_value(bytes, hit)));
        hits.extend(basic_credentials(bytes));
        lossy(without(bytes, &hits))
    }

    /// A text that the plan itself makes (a line that it logs, what it would do), as [`Secrets::mask_request`].
    pub fn mask_own(&self, text: &str) -> String {
        self.mask_request(Excerpt { bytes: text.as_bytes(), is_cut: false })
    }

    /// A part of a response with stars in place of each secret and of the credentials of Basic authentication.
    pub fn mask_response(&self, excerpt: Excerpt<'_>) -> String {
        let Excerpt { bytes, is_cut } = excerpt;
        let mut hits = self.long.hits(bytes, is_cut);
        hits.extend(basic_credentials(bytes));
        lossy(without(bytes, &hits))
    }

    /// Where secrets stand that are masked everywhere: whole characters of a text.
    pub(crate) fn hits(&self, text: &str, is_cut: bool) -> Vec<Range<usize>> {
        let hits = self.long.hits(text.as_bytes(), is_cut).into_iter();
        let whole = |hit: Range<usize>| {
            text.floor_char_boundary(hit.start)..text.ceil_char_boundary(hit.end)
        };
        hits.map(whole).collect()
    }
}

/// A text as a URL's query holds it (RFC 3986, section 2.1).
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a variable of this name is taken for a secret.
pub fn sounds_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["password", "passwd", "secret", "token", "api_key", "apikey", "credential", "private_key"];
    let name = name.to_ascii_lowercase();
    // `password_prefix` and the like are about a secret, and are none.
    WORDS.iter().any(|word| name.ends_with(word) || name.ends_with(&format!("{word}s")))
}

impl Plan {
    /// What the plan itself says of its secrets: variables, and the credentials that it writes out. What
    /// variables come to is known to whoever evaluates them.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        for var in self.vars.iter().chain(own) {
            match var.is_secret() {
                true => {
                    add_literals(&var.value, &mut secrets);
                    var.replaced.iter().for_each(|own| add_replaced(own, &mut secrets));
                }
                false => add_urls(&var.value, &mut secrets),
            }
        }
        if let Some(Target::Url(url)) = &self.target {
            secrets.add_query(url.source());
        }
        let defaults = self.scenarios.iter().map(|scenario| &scenario.defaults);
        for defaults in defaults.chain([&self.defaults]) {
            add_credentials(defaults.http.auth.as_ref(), &defaults.headers, &mut secrets);
            add_proxy(defaults.http.proxy.as_ref(), &mut secrets);
        }
        let steps = self.scenarios.iter().flat_map(|scenario| &scenario.steps);
        for step in steps.chain(&self.setup).chain(&self.teardown) {
            add_requests(step, &mut secrets);
        }
        add_proxy(self.connections.proxy.as_ref(), &mut secrets);
        let store = self.connections.tls.key_store.as_ref();
        if let Some(password) = store.and_then(|store| store.password.literal()) {
            secrets.add(password);
        }
        for feed in &self.feeds {
            feed.target.value.secrets().iter().for_each(|secret| secrets.add(secret));
        }
        secrets
    }

    /// Errors about secrets that are only stars: they were masked when the plan was stored, and are to be given again.
    pub(crate) fn masked_secrets(&self) -> Vec<Diagnostic> {
        let mask = Pattern::of_text(MASK);
        let is_masked = |json: &Json| has_literal(json, &|text| text == MASK);
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let all = self.vars.iter().chain(own);
        let masked = all.filter(|var| var.is_secret() && is_masked(&var.value));
        let mut found: Vec<Diagnostic> = masked
            .map(|Var { name, .. }| {
                let message =
                    format!("the value of `{}` was masked when this plan was stored", name.value);
                let help =
                    format!("give it again with `--set {0}=…` or in SQUALL_VAR_{0}", name.value);
                Diagnostic::error(name.span, message).with_help(&help)
            })
            .collect();
        if found.is_empty() && self.secrets().short.contains(&mask) {
            let message = "a password of this plan was masked when it was stored";
            let help = "write it, or better a variable, in place of each `***`";
            found.push(Diagnostic::error(Span::default(), message).with_help(help));
        }
        found
    }

    /// Warnings about secrets that are too short to be masked everywhere.
    pub(crate) fn short_secrets(&self) -> Vec<Diagnostic> {
        let is_short =
            |json: &Json| has_literal(json, &|text| !text.trim().is_empty() && is_short(text));
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let all = self.vars.iter().chain(own);
        // What has no place no person wrote.
        let all = all.filter(|var| var.name.span.is_known());
        let short = all.filter(|var| var.is_secret() && is_short(&var.value));
        short
            .map(|var| {
                let message = format!(
                    "`{}` is secret and shorter than {SHORTEST} characters: it is masked only where a \
                     request uses it as a whole value",
                    var.name.value
                );
                let help = "so short a text may occur elsewhere by chance: use a longer secret";
                Diagnostic::warning(var.name.span, message).with_help(help)
            })
            .collect()
    }
}

/// What requests hold, whose keys are a server's words and no plan's.
const CONTENTS: [&str; 6] = ["json", "form", "multipart", "query", "extract", "set"];

/// Puts stars in place of the values of a printed plan's secrets where they are written: in `vars`, where `feeds` go, in the
/// URLs of proxies, in `auth`, in headers and in a `key_store`. Those that are masked everywhere need no place.
pub(crate) fn hide_in_place(printed: &mut Printed) {
    match printed {
        Printed::Array(items) => items.iter_mut().for_each(hide_in_place),
        Printed::Object(map) => map.iter_mut().for_each(|(key, value)| hide_behind(key, value)),
        _ => {}
    }
}

/// The same of what stands behind a key.
fn hide_behind(key: &str, value: &mut Printed) {
    match (key, value) {
        ("feeds", value) => hide_receivers(value),
        ("vars", Printed::Object(vars)) => {
            vars.iter_mut().for_each(|(name, var)| hide_value(name, var));
        }
        ("auth" | "key_store", value) => hide_passwords(value),
        ("headers", value) => hide_headers(value),
        ("proxy", Printed::String(url)) => *url = proxy_masked(url),
        (key, _) if CONTENTS.contains(&key) => {}
        (_, value) => hide_in_place(value),
    }
}

/// Puts stars in place of what is written behind `password` and `bearer`.
fn hide_passwords(printed: &mut Printed) {
    for (key, value) in printed.as_object_mut().into_iter().flatten() {
        let is_written = value.as_str().is_some_and(|text| !text.contains("${"));
        match is_written && matches!(key.as_str(), "password" | "bearer") {
            true => *value = MASK.into(),
            false => hide_passwords(value),
        }
    }
}

/// Puts stars in place of the credentials of headers, behind their scheme.
fn hide_headers(printed: &mut Printed) {
    for (name, value) in printed.as_object_mut().into_iter().flatten() {
        let Some(text) = value.as_str().filter(|text| !text.contains("${")) else { continue };
        // The first has all others in it, and stands at the end.
        let Some(own) = credentials::of_header(name, text).first().map(|own| own.len()) else {
            continue;
        };
        *value = format!("{}{MASK}", &text[..text.len() - own]).into();
    }
}

/// The URL of a proxy with stars in place of what authorizes.
fn proxy_masked(text: &str) -> String {
    replaced(text, credentials_of_proxy(text).as_slice())
}

/// The same of feeds, behind the names of their kinds.
fn hide_receivers(printed: &mut Printed) {
    hide_in_place(printed);
    for feed in printed.as_array_mut().into_iter().flatten().filter_map(Printed::as_object_mut) {
        for (key, value) in feed.iter_mut() {
            let Some(text) = value.as_str() else { continue };
            if FeedKind::from_label(key).is_some() {
                *value = masked(text).into();
            } else if key == "token" && !text.contains("${") {
                *value = MASK.into();
            }
        }
    }
}

/// The same of a variable, which is a value or `{value, secret}`.
fn hide_value(name: &str, var: &mut Printed) {
    let marked = var.get("secret").and_then(Printed::as_bool);
    if !marked.unwrap_or_else(|| sounds_secret(name)) {
        return hide_urls(var);
    }
    match var.get_mut("value").filter(|_| marked.is_some()) {
        Some(value) => *value = MASK.into(),
        None => *var = MASK.into(),
    }
}

/// Puts stars in place of the passwords of URLs.
fn hide_urls(value: &mut Printed) {
    match value {
        Printed::String(text) => *text = replaced(text, &credentials_in_urls(text)),
        Printed::Array(items) => items.iter_mut().for_each(hide_urls),
        Printed::Object(map) => map.values_mut().for_each(hide_urls),
        _ => {}
    }
}

/// Adds the credentials of a step's requests.
fn add_requests(step: &Step, secrets: &mut Secrets) {
    if let StepKind::Request(request) = &step.kind {
        add_credentials(request.http.auth.as_ref(), &request.headers, secrets);
        secrets.add_query(request.url.source());
        add_proxy(request.http.proxy.as_ref(), secrets);
    }
    step.inner().for_each(|step| add_requests(step, secrets));
}

/// Adds what authorizes in the URL of a proxy, where it is written out.
fn add_proxy(proxy: Option<&Template>, secrets: &mut Secrets) {
    let source = proxy.map_or("", Template::source);
    credentials_of_proxy(source).into_iter().for_each(|hit| add_of_url(&source[hit], secrets));
}

/// Adds a part of a URL: as it stands there, and as it was before it was encoded.
fn add_of_url(part: &str, secrets: &mut Secrets) {
    secrets.add(part);
    let decoded = squall_base::form::decode(part.replace('+', "%2B").as_bytes());
    decoded.into_iter().for_each(|own| secrets.add(&String::from_utf8_lossy(&own)));
}

/// Adds the passwords of URLs among a variable's texts: it may be that of a proxy.
fn add_urls(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| {
        credentials_in_urls(text).into_iter().for_each(|hit| add_of_url(&text[hit], secrets));
    });
}

/// Adds the credentials that are written out in `auth` and in headers.
fn add_credentials(auth: Option<&Auth>, headers: &[(Template, Template)], secrets: &mut Secrets) {
    if let Some(
        Auth::Basic { password: text, .. }
        | Auth::Digest { password: text, .. }
        | Auth::Bearer(text),
    ) = auth
    {
        text.literal().into_iter().for_each(|text| secrets.add(text));
    }
    for (name, value) in headers {
        let (Some(name), Some(value)) = (name.literal(), value.literal()) else { continue };
        credentials::of_header(name, value).into_iter().for_each(|own| secrets.add(own));
    }
}

fn add_literals(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| secrets.add(text));
}

/// Adds what another value took the place of: it may stand elsewhere in the plan. A short one is most likely a word that
/// only held the place.
fn add_replaced(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| {
        if !is_short(text) {
            secrets.add(text);
        }
    });
}

/// Whether any of them is such a one.
fn has_literal(json: &Json, is_such: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    each_literal(json, &mut |text| found |= is_such(text));
    found
}

/// Whether a secret is too short to be looked for everywhere.
fn is_short(secret: &str) -> bool {
    secret.chars().nth(SHORTEST - 1).is_none()
}

/// Looks at each text and number that is written out in a value.
fn each_literal(json: &Json, look: &mut dyn FnMut(&str)) {
    match json {
        Json::Text(text) => text.literal().into_iter().for_each(look),
        Json::List(items) => items.iter().for_each(|item| each_literal(item, look)),
        Json::Map(entries) => entries.iter().for_each(|(_, value)| each_literal(value, look)),
        Json::Int(number) => look(&number.to_string()),
        Json::Float(number) => look(&number.to_string()),
        Json::Null | Json::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests;
