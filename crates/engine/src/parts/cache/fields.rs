//! The headers of a response that caching depends on: whether it may be stored, how long it is fresh, and how
//! to ask whether it has changed. Pure.

use crate::parts::cookie_date;

/// Longest lifetime and age, in seconds (RFC 9111, section 1.2.2).
pub(super) const MAX_SECONDS: i64 = 1 << 31;
/// Part of the time since the last change for which a response is fresh that does not say it, as a
/// divisor (RFC 9111, section 4.2.2).
const HEURISTIC_PART: i64 = 10;

/// A header that makes a request a question whether something has changed: its name with `: `, and its
/// value as the response had it.
pub(crate) type Condition = (&'static [u8], Box<[u8]>);

/// When a response was asked for, and when it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub requested: i64,
    pub received: i64,
}

/// The headers of a response that caching depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    control: Option<Control>,
    /// `Some(None)`: it is there, but no date, which means that it is over.
    expires: Option<Option<i64>>,
    date: Option<i64>,
    age: i64,
    etag: Option<Box<[u8]>>,
    last_modified: Option<Box<[u8]>>,
    /// Names of headers, in small letters; `*` among them: nobody knows which.
    pub(super) vary: Vec<Box<str>>,
}

/// Cache-Control, as far as it concerns a private cache that never serves what is stale: so
/// `must-revalidate` asks for nothing more, and `private` and `s-maxage` are for others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Control {
    no_store: bool,
    no_cache: bool,
    max_age: Option<i64>,
}

impl Control {
    fn add(&mut self, line: &[u8]) {
        for directive in directives(line) {
            let (name, value) = match directive.iter().position(|byte| *byte == b'=') {
                Some(at) => (&directive[..at], Some(&directive[at + 1..])),
                None => (directive, None),
            };
            match name.trim_ascii().to_ascii_lowercase().as_slice() {
                b"no-store" => self.no_store = true,
                // Also where it names headers, which says less: asking is always allowed.
                b"no-cache" => self.no_cache = true,
                // What is no number is stale; of several the first counts (section 4.2.1).
                b"max-age" if self.max_age.is_none() => {
                    self.max_age = Some(value.and_then(seconds).unwrap_or(0));
                }
                _ => {}
            }
        }
    }
}

/// The parts of a list between commas, those in quotes aside.
fn directives(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    line.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    })
}

/// A number of seconds, as a token or in quotes; larger ones are the largest.
fn seconds(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(text);
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| (sum * 10 + i64::from(digit - b'0')).min(MAX_SECONDS);
    Some(text.iter().fold(0, add))
}

impl Fields {
    /// The fields of a response with these headers.
    pub(crate) fn of<'h>(headers: impl Iterator<Item = (&'h [u8], &'h [u8])>) -> Fields {
        let mut fields = Fields::default();
        let mut age = None;
        for (name, value) in headers {
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
            if is("cache-control") {
                fields.control.get_or_insert_default().add(value);
            } else if is("expires") {
                fields.expires.get_or_insert_with(|| cookie_date::parse(value));
            } else if is("date") {
                fields.date = fields.date.or_else(|| cookie_date::parse(value));
            } else if is("age") {
                age = age.or_else(|| seconds(value));
            } else if is("etag") {
                fields.etag = Some(value.into());
            } else if is("last-modified") {
                fields.last_modified = Some(value.into());
            } else if is("vary") {
                let names = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                let names = names.filter(|name| !name.is_empty());
                let name = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase().into();
                fields.vary.extend(names.map(name));
            }
        }
        fields.age = age.unwrap_or(0);
        fields
    }

    /// Whether a response to a GET may be kept (section 3).
    pub(super) fn may_be_stored(&self, status: u16) -> bool {
        let control = self.control.unwrap_or_default();
        let says_so = control.max_age.is_some() || self.expires.is_some();
        // RFC 9110, section 15.1; a 206 is a part of something.
        let by_default =
            matches!(status, 200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501);
        !control.no_store
            && status >= 200
            && !matches!(status, 206 | 304)
            && (says_so || by_default)
            && !self.vary.iter().any(|name| &**name == "*")
    }

    /// From when on it is stale (section 4.2); never later than allowed.
    pub(super) fn stale_from(&self, moments: Moments) -> i64 {
        let Moments { requested, received } = moments;
        let control = self.control.unwrap_or_default();
        if control.no_cache {
            return i64::MIN;
        }
        let date = self.date.unwrap_or(received);
        let modified = || cookie_date::parse(self.last_modified.as_deref()?);
        let lifetime = match (control.max_age, self.expires) {
            (Some(max_age), _) => max_age,
            (None, Some(expires)) => expires.map_or(0, |expires| expires.saturating_sub(date)),
            (None, None) => {
                modified().map_or(0, |modified| date.saturating_sub(modified) / HEURISTIC_PART)
            }
        };
        // Its age when it came (section 4.2.3).
        let apparent = received.saturating_sub(date).max(0);
        let said = self.age.saturating_add(received.saturating_sub(requested).max(0));
        let lifetime = lifetime.clamp(0, MAX_SECONDS);
        received.saturating_add(lifetime).saturating_sub(apparent.max(said))
    }

    /// Takes over what a 304 says anew (section 4.3.4).
    pub(super) fn update(&mut self, newer: Fields) {
        self.control = newer.control.or(self.control);
        self.expires = newer.expires.or(self.expires);
        self.date = newer.date;
        self.age = newer.age;
        if newer.etag.is_some() {
            self.etag = newer.etag;
        }
        if newer.last_modified.is_some() {
            self.last_modified = newer.last_modified;
        }
    }

    /// Whether it can be asked for whether something has changed.
    pub(super) fn has_condition(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// What a request has that asks whether it has changed (section 4.3.1).
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let pairs: [(&'static [u8], _); 2] =
            [(b"If-None-Match: ", &self.etag), (b"If-Modified-Since: ", &self.last_modified)];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }
}
