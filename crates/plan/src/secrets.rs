//! Keeps secrets out of everything that people or programs are shown.
//!
//! A secret of [`SHORTEST`] characters or more is masked wherever it stands, in each form that requests give
//! it: as it is, percent-encoded, in forms, in JSON, in HTML, in a header's line, in base64. A shorter one is
//! found in half of all texts by chance, so it is masked only where it was put: as a whole value in a
//! request, and in the plan's own lines.

mod forms;
mod source;

use std::ops::Range;

use serde_json::Value as Printed;

use crate::diagnostic::Diagnostic;
use crate::feed_target::{FeedKind, masked};
use crate::model::{Auth, Json, Plan, Step, StepKind, Var};
use crate::span::Span;
use crate::template::Template;
use crate::value::Value;
use forms::Pattern;

use source::credentials_of_proxy;
pub(crate) use source::{credentials_in_urls, in_source};

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// Characters from which on a secret is masked wherever it stands.
pub const SHORTEST: usize = 6;

/// Texts that no output may show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Those that are masked wherever they stand.
    long: Vec<Pattern>,
    /// Those that are masked where they were put.
    short: Vec<Pattern>,
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
        if secret.chars().count() < SHORTEST {
            return self.short.push(pattern);
        }
        self.long.push(pattern);
        for pattern in Pattern::in_base64(secret) {
            if !self.long.contains(&pattern) {
                self.long.push(pattern);
            }
        }
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

    /// Adds what other secrets hold.
    pub fn extend(&mut self, other: &Secrets) {
        let new = |own: &[Pattern], more: &[Pattern]| -> Vec<Pattern> {
            more.iter().filter(|pattern| !own.contains(pattern)).cloned().collect()
        };
        let (long, short) = (new(&self.long, &other.long), new(&self.short, &other.short));
        self.long.extend(long);
        self.short.extend(short);
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
        let text = String::from_utf8_lossy(excerpt.bytes);
        let mut hits = self.hits(&text, excerpt.is_cut);
        for pattern in &self.short {
            hits.extend(
                pattern.hits(&text, excerpt.is_cut).filter(|hit| is_whole_value(&text, hit)),
            );
        }
        hits.extend(basic_credentials(&text));
        replaced(&text, &hits)
    }

    /// A text that the plan itself makes (a line that it logs, what it would do), as [`Secrets::mask_request`].
    pub fn mask_own(&self, text: &str) -> String {
        self.mask_request(Excerpt { bytes: text.as_bytes(), is_cut: false })
    }

    /// A part of a response with stars in place of each secret and of the credentials of Basic authentication.
    pub fn mask_response(&self, excerpt: Excerpt<'_>) -> String {
        let text = String::from_utf8_lossy(excerpt.bytes);
        let mut hits = self.hits(&text, excerpt.is_cut);
        hits.extend(basic_credentials(&text));
        replaced(&text, &hits)
    }

    /// Where secrets stand that are masked everywhere.
    pub(crate) fn hits(&self, text: &str, is_cut: bool) -> Vec<Range<usize>> {
        self.long.iter().flat_map(|pattern| pattern.hits(text, is_cut)).collect()
    }
}

/// A text with stars in place of some of its parts, which may overlap.
pub(crate) fn replaced(text: &str, hits: &[Range<usize>]) -> String {
    let mut hits = hits.to_vec();
    hits.sort_unstable_by_key(|hit| hit.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for hit in hits.into_iter().filter(|hit| !hit.is_empty()) {
        if hit.start >= at {
            out.push_str(&text[at..hit.start]);
            out.push_str(MASK);
        }
        at = at.max(hit.end);
    }
    out.push_str(&text[at..]);
    out
}

/// Whether a part of a text stands between what separates values from each other.
fn is_whole_value(text: &str, hit: &Range<usize>) -> bool {
    let separates =
        |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"-_.%+".contains(c));
    separates(text[..hit.start].chars().next_back()) && separates(text[hit.end..].chars().next())
}

/// Where the credentials of Basic authentication stand, which base64 hides: behind the scheme, in lines of
/// headers.
fn basic_credentials(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let Some((name, value)) = line.split_once(": ") else { continue };
        let is_named = ["authorization", "proxy-authorization"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own));
        if is_named && value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic ")) {
            found.push(begin + name.len() + 2 + 6..begin + line.trim_end().len());
        }
    }
    found.retain(|hit| hit.start < hit.end);
    found
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
                true => add_literals(&var.value, &mut secrets),
                false => add_urls(&var.value, &mut secrets),
            }
        }
        let defaults = self.scenarios.iter().map(|scenario| &scenario.defaults);
        for defaults in defaults.chain([&self.defaults]) {
            add_credentials(defaults.auth.as_ref(), &defaults.headers, &mut secrets);
            add_proxy(defaults.proxy.as_ref(), &mut secrets);
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
        let is_masked = |json: &Json| {
            let mut secrets = Secrets::default();
            add_literals(json, &mut secrets);
            secrets.short.contains(&mask)
        };
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
        let is_short = |json: &Json| {
            let mut secrets = Secrets::default();
            add_literals(json, &mut secrets);
            !secrets.short.is_empty()
        };
        let own = self.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let all = self.vars.iter().chain(own);
        let short = all.filter(|var| var.is_secret() && is_short(&var.value));
        short
            .map(|var| {
                let message = format!(
                    "`{}` is secret and shorter than {SHORTEST} characters: it is masked in requests alone, where \
                     it is a whole value",
                    var.name.value
                );
                let help = "in other texts so few characters stand by chance; use a longer secret";
                Diagnostic::warning(var.name.span, message).with_help(help)
            })
            .collect()
    }
}

/// What requests hold, whose keys are a server's words and no plan's.
const CONTENTS: [&str; 7] = ["json", "form", "multipart", "query", "headers", "extract", "set"];

/// Puts stars in place of the values of a printed plan's secrets where they are written: in `vars`, where `feeds` go, in the
/// URLs of proxies, in `auth` and in a `key_store`. Those that are masked everywhere need no place.
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
        add_credentials(request.auth.as_ref(), &request.headers, secrets);
        add_proxy(request.proxy.as_ref(), secrets);
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
        let name = name.to_ascii_lowercase().replace('-', "_");
        if name.ends_with("authorization") {
            // A scheme comes first: `Bearer TOKEN`.
            secrets.add(value.split_once(' ').map_or(value, |(_, credentials)| credentials));
        } else if sounds_secret(&name) {
            secrets.add(value);
        }
    }
}

fn add_literals(json: &Json, secrets: &mut Secrets) {
    each_literal(json, &mut |text| secrets.add(text));
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
