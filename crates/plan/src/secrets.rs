//! Keeps secrets out of everything that people or programs are shown.
//!
//! A secret of [`SHORTEST`] characters or more is masked wherever it stands, in each form that requests give
//! it: as it is, percent-encoded, in forms, in JSON, in HTML, in a header's line, in base64, and in the other
//! encodings that the plan sends. A shorter one is
//! found in half of all texts by chance, so it is masked only where it was put: as a whole value in a
//! request, and in the plan's own lines.

mod below_auth;
pub(crate) mod credentials;
mod foreign;
mod forms;
mod lines;
mod masking;
mod patterns;
mod source;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use squall_base::hex::{hex, unhex};

use self::forms::{Alphabet, Pattern};
use self::masking::{basic_credentials, is_whole_value, lossy, without};
use self::patterns::Patterns;
use crate::value::Value;

pub use self::credentials::{env_sounds_secret, is_credential, sounds_secret};
pub(crate) use self::masking::{MASK, replaced};
pub(crate) use self::source::{credentials_in_urls, credentials_of_proxy, in_source};

/// Characters from which on a secret is masked wherever it stands.
pub const SHORTEST: usize = 6;

/// Most secrets that a plan may have, and most bytes of them together: all of them are looked for in all that is shown.
pub const MAX_SECRETS: usize = 10_000;
pub(crate) const MAX_SECRET_BYTES: usize = 8 << 20;

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

    /// Whether there were more than may be.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether one of them is only the stars that stand for one.
    pub(crate) fn has_mask(&self) -> bool {
        self.short.contains(&Pattern::of_text(MASK))
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

/// Adds a part of a URL: as it stands there, and as it was before it was encoded.
pub(crate) fn add_of_url(part: &str, secrets: &mut Secrets) {
    secrets.add(part);
    let decoded = squall_base::form::decode(part.replace('+', "%2B").as_bytes());
    decoded.into_iter().for_each(|own| secrets.add(&String::from_utf8_lossy(&own)));
}

/// Whether a secret is too short to be looked for everywhere.
pub(crate) fn is_short(secret: &str) -> bool {
    secret.chars().nth(SHORTEST - 1).is_none()
}

#[cfg(test)]
mod tests;
