//! A user's cache of responses, as RFC 9111 has it for a private cache: what is fresh is not asked for
//! again, what is stale is asked for with conditions. It keeps no bodies, only what there is to know of
//! them. Pure: time is an argument, in seconds since 1970.

use std::collections::HashMap;

use super::cookie_date;

/// Most responses of a user; the least recently used makes room.
const MAX_ENTRIES: usize = 2_000;
/// Longest lifetime and age, in seconds (RFC 9111, section 1.2.2).
const MAX_SECONDS: i64 = 1 << 31;
/// Part of the time since the last change for which a response is fresh that does not say it, as a
/// divisor (RFC 9111, section 4.2.2).
const HEURISTIC_PART: i64 = 10;

/// Responses by URL; with each something that its user wants to know of it. Empty it is one word.
#[derive(Debug)]
pub(crate) struct Cache<T>(Option<Box<Stored<T>>>);

#[derive(Debug)]
struct Stored<T> {
    by_url: HashMap<Box<str>, Vec<Entry<T>>>,
    entries: usize,
    /// Counts uses.
    clock: u64,
}

#[derive(Debug)]
struct Entry<T> {
    fields: Fields,
    /// Values of the request's headers that the response varies with, by their names.
    varied: Box<[Box<[u8]>]>,
    /// From when on it is stale.
    stale_from: i64,
    used: u64,
    about: T,
}

/// What the cache knows of a URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup<T> {
    /// Nothing: it has to be asked for.
    Absent,
    /// It need not be asked for.
    Fresh(T),
    /// It is asked for with these.
    Stale(Vec<Condition>),
}

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
    vary: Vec<Box<str>>,
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
    fn may_be_stored(&self, status: u16) -> bool {
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
    fn stale_from(&self, moments: Moments) -> i64 {
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
    fn update(&mut self, newer: Fields) {
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

    /// What a request has that asks whether it has changed (section 4.3.1).
    fn conditions(&self) -> Vec<Condition> {
        let pairs: [(&'static [u8], _); 2] =
            [(b"If-None-Match: ", &self.etag), (b"If-Modified-Since: ", &self.last_modified)];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(None)
    }
}

impl<T: Clone> Cache<T> {
    /// What is known of a URL, asked for with headers whose values `header` gives.
    pub(crate) fn look_up(
        &mut self,
        url: &str,
        header: impl Fn(&str) -> Box<[u8]>,
        now: i64,
    ) -> Lookup<T> {
        let Some(stored) = &mut self.0 else { return Lookup::Absent };
        stored.clock += 1;
        let clock = stored.clock;
        let Some(entry) = stored.entry(url, header) else { return Lookup::Absent };
        entry.used = clock;
        if now < entry.stale_from {
            return Lookup::Fresh(entry.about.clone());
        }
        match entry.fields.conditions() {
            conditions if conditions.is_empty() => Lookup::Absent,
            conditions => Lookup::Stale(conditions),
        }
    }

    /// A response to a GET has come: it is kept, in place of the one before, if it may be.
    pub(crate) fn store(
        &mut self,
        url: &str,
        header: impl Fn(&str) -> Box<[u8]>,
        status: u16,
        fields: Fields,
        moments: Moments,
        about: T,
    ) {
        let stale_from = fields.stale_from(moments);
        let has_condition = fields.etag.is_some() || fields.last_modified.is_some();
        let is_of_use = has_condition || stale_from > moments.received;
        if !fields.may_be_stored(status) || !is_of_use {
            if let Some(stored) = &mut self.0 {
                stored.remove(url, header);
            }
            return;
        }
        let stored = self.0.get_or_insert_with(|| {
            Box::new(Stored { by_url: HashMap::new(), entries: 0, clock: 0 })
        });
        stored.remove(url, &header);
        stored.clock += 1;
        let varied = fields.vary.iter().map(|name| header(name)).collect();
        let entry = Entry { fields, varied, stale_from, used: stored.clock, about };
        stored.by_url.entry(url.into()).or_default().push(entry);
        stored.entries += 1;
        stored.shrink();
    }

    /// A 304 has come: what is kept is fresh again, as far as it says so. Returns what is known of it.
    pub(crate) fn revalidate(
        &mut self,
        url: &str,
        header: impl Fn(&str) -> Box<[u8]>,
        fields: Fields,
        moments: Moments,
    ) -> Option<T> {
        let stored = self.0.as_mut()?;
        let entry = stored.entry(url, &header)?;
        entry.fields.update(fields);
        entry.stale_from = entry.fields.stale_from(moments);
        let (about, keep) = (entry.about.clone(), entry.fields.may_be_stored(200));
        if !keep {
            stored.remove(url, header);
        }
        Some(about)
    }
}

impl<T> Stored<T> {
    fn entry(&mut self, url: &str, header: impl Fn(&str) -> Box<[u8]>) -> Option<&mut Entry<T>> {
        self.by_url.get_mut(url)?.iter_mut().find(|entry| entry.answers(&header))
    }

    fn remove(&mut self, url: &str, header: impl Fn(&str) -> Box<[u8]>) {
        let Some(entries) = self.by_url.get_mut(url) else { return };
        let before = entries.len();
        entries.retain(|entry| !entry.answers(&header));
        self.entries -= before - entries.len();
        if entries.is_empty() {
            self.by_url.remove(url);
        }
    }

    /// Removes the least recently used entry if there are too many.
    fn shrink(&mut self) {
        if self.entries <= MAX_ENTRIES {
            return;
        }
        let all = self
            .by_url
            .iter()
            .flat_map(|(url, entries)| entries.iter().map(move |entry| (entry.used, url)));
        let Some((used, url)) = all.min().map(|(used, url)| (used, url.clone())) else { return };
        if let Some(entries) = self.by_url.get_mut(&url) {
            entries.retain(|entry| entry.used != used);
            self.entries -= 1;
            if entries.is_empty() {
                self.by_url.remove(&url);
            }
        }
    }
}

impl<T> Entry<T> {
    /// Whether it is the response to a request with these headers (section 4.1).
    fn answers(&self, header: impl Fn(&str) -> Box<[u8]>) -> bool {
        self.fields.vary.iter().zip(&self.varied).all(|(name, value)| header(name) == *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
    const NOW: i64 = 784_111_777;
    const DATE: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT";

    fn fields(lines: &[&str]) -> Fields {
        let pairs = lines.iter().filter_map(|line| line.split_once(": "));
        Fields::of(pairs.map(|(name, value)| (name.as_bytes(), value.as_bytes())))
    }

    fn none(_: &str) -> Box<[u8]> {
        Box::default()
    }

    fn at(now: i64) -> Moments {
        Moments { requested: now, received: now }
    }

    fn cache_of(lines: &[&str]) -> Cache<&'static str> {
        let mut cache = Cache::default();
        cache.store("u", none, 200, fields(lines), at(NOW), "about");
        cache
    }

    /// Sections 4.2.1 and 4.2.2: for how many seconds a response is fresh.
    #[test]
    fn the_lifetime_of_a_response() {
        for (lines, lifetime) in [
            (&["Cache-Control: max-age=60"][..], 60),
            (&["cache-control: public, MAX-AGE=\"60\" , x"], 60),
            (&["Cache-Control: max-age=60", "Cache-Control: max-age=90"], 60),
            (&["Cache-Control: max-age=60, s-maxage=10, private, must-revalidate"], 60),
            (&["Cache-Control: x=\"a, max-age=5\", max-age=7"], 7),
            (&["Cache-Control: max-age=abc"], 0),
            (&["Cache-Control: max-age"], 0),
            (&["Cache-Control: max-age=99999999999999999999"], MAX_SECONDS),
            (&["Cache-Control: max-age=60", "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 60),
            (&[DATE, "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 3_600),
            (&["Expires: Sunday, 06-Nov-94 08:50:37 GMT"], 60),
            (&["Expires: Sun Nov  6 08:50:37 1994"], 60),
            (&["Expires: 0"], 0),
            (&["Expires: 0", "Expires: Sun, 06 Nov 1994 09:49:37 GMT"], 0),
            (&[DATE, "Expires: Sun, 06 Nov 1994 07:49:37 GMT"], 0),
            // A tenth of the time since the last change.
            (&[DATE, "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"], 60),
            (&[DATE, "Last-Modified: Sun, 06 Nov 1994 09:39:37 GMT"], 0),
            (&["ETag: \"x\""], 0),
            (&["Cache-Control: private", "ETag: \"x\""], 0),
        ] {
            assert_eq!(fields(lines).stale_from(at(NOW)) - NOW, lifetime, "{lines:?}");
        }
        let no_cache = fields(&["Cache-Control: no-cache=\"x\", max-age=60"]);
        assert!(no_cache.stale_from(at(NOW)) < NOW);
    }

    /// Section 4.2.3: how old it is when it comes.
    #[test]
    fn the_age_of_a_response() {
        for (lines, delay, left) in [
            (&[DATE][..], 0, 100),
            (&["Age: 30", DATE], 0, 70),
            (&["Age: 30", "Age: 50"], 5, 65),
            (&["Age: x"], 5, 95),
            (&["Date: Sun, 06 Nov 1994 08:49:27 GMT"], 0, 90),
            (&["Date: Sun, 06 Nov 1994 08:49:27 GMT", "Age: 4"], 2, 90),
            (&["Date: Sun, 06 Nov 1994 08:59:27 GMT"], 0, 100),
            (&["Age: 300"], 0, -200),
        ] {
            let lines = [lines, &["Cache-Control: max-age=100"]].concat();
            let moments = Moments { requested: NOW - delay, received: NOW };
            assert_eq!(fields(&lines).stale_from(moments) - NOW, left, "{lines:?}");
        }
    }

    /// Section 3.
    #[test]
    fn what_may_be_stored() {
        for (status, lines, stored) in [
            (200, &["ETag: \"x\""][..], true),
            (200, &["Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"], true),
            (200, &["Cache-Control: max-age=5"], true),
            (200, &["Cache-Control: no-cache", "ETag: \"x\""], true),
            (200, &["Cache-Control: private, max-age=5"], true),
            (200, &["Cache-Control: no-store, max-age=5", "ETag: \"x\""], false),
            (200, &["Vary: *", "Cache-Control: max-age=5"], false),
            (200, &["Vary: Accept, *", "Cache-Control: max-age=5"], false),
            (200, &[DATE], false),
            (404, &["Cache-Control: max-age=5"], true),
            (500, &["ETag: \"x\""], false),
            (500, &["Cache-Control: max-age=5"], true),
            (302, &["ETag: \"x\""], false),
            (206, &["Cache-Control: max-age=5"], false),
            (304, &["Cache-Control: max-age=5"], false),
        ] {
            let mut cache = Cache::default();
            cache.store("u", none, status, fields(lines), at(NOW), ());
            let known = cache.look_up("u", none, NOW) != Lookup::Absent;
            assert_eq!(known, stored, "{status} {lines:?}");
        }
    }

    fn tag(value: &str) -> Condition {
        (b"If-None-Match: ", value.as_bytes().into())
    }

    #[test]
    fn what_is_fresh_is_not_asked_for_and_what_is_stale_is_asked_for_with_conditions() {
        let modified = "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT";
        let mut cache = cache_of(&["Cache-Control: max-age=60", "ETag: W/\"x\"", modified]);
        assert_eq!(cache.look_up("u", none, NOW + 59), Lookup::Fresh("about"));
        let changed: Condition = (b"If-Modified-Since: ", modified.as_bytes()[15..].into());
        let conditions = vec![tag("W/\"x\""), changed];
        assert_eq!(cache.look_up("u", none, NOW + 60), Lookup::Stale(conditions));
        assert_eq!(cache.look_up("v", none, NOW), Lookup::Absent);
        let mut cache = cache_of(&["Cache-Control: max-age=60"]);
        assert_eq!(cache.look_up("u", none, NOW + 60), Lookup::Absent, "no condition");
        let mut cache = cache_of(&["Cache-Control: no-cache", "ETag: \"a\""]);
        assert_eq!(cache.look_up("u", none, NOW), Lookup::Stale(vec![tag("\"a\"")]));
    }

    #[test]
    fn a_304_makes_it_fresh_again() {
        let mut cache = cache_of(&["Cache-Control: max-age=60", "ETag: \"x\"", "Age: 50"]);
        assert!(matches!(cache.look_up("u", none, NOW + 10), Lookup::Stale(_)));
        let about = cache.revalidate("u", none, fields(&[]), at(NOW + 10));
        assert_eq!(about, Some("about"));
        assert_eq!(cache.look_up("u", none, NOW + 69), Lookup::Fresh("about"), "as it said before");
        let newer = fields(&["Cache-Control: max-age=5", "ETag: \"y\""]);
        cache.revalidate("u", none, newer, at(NOW + 70));
        assert_eq!(cache.look_up("u", none, NOW + 75), Lookup::Stale(vec![tag("\"y\"")]));
        cache.revalidate("u", none, fields(&["Cache-Control: no-store"]), at(NOW + 80));
        assert_eq!(cache.look_up("u", none, NOW + 80), Lookup::Absent);
        assert_eq!(cache.revalidate("u", none, fields(&[]), at(NOW)), None);
    }

    #[test]
    fn a_new_response_takes_the_place_of_the_one_before() {
        let mut cache = cache_of(&["Cache-Control: max-age=60"]);
        cache.store("u", none, 200, fields(&["Cache-Control: max-age=90"]), at(NOW), "new");
        assert_eq!(cache.look_up("u", none, NOW + 80), Lookup::Fresh("new"));
        cache.store("u", none, 200, fields(&["Cache-Control: no-store"]), at(NOW), "newer");
        assert_eq!(cache.look_up("u", none, NOW), Lookup::Absent);
    }

    /// Section 4.1.
    #[test]
    fn responses_are_told_apart_by_what_they_vary_with() {
        let language = |text: &'static str| {
            move |name: &str| match name {
                "accept-language" => text.as_bytes().into(),
                _ => Box::default(),
            }
        };
        let mut cache = Cache::default();
        let lines = ["Cache-Control: max-age=60", "Vary: Accept-Language", "Vary: Accept-Encoding"];
        for text in ["en", "fr"] {
            cache.store("u", language(text), 200, fields(&lines), at(NOW), text);
        }
        assert_eq!(cache.look_up("u", language("en"), NOW), Lookup::Fresh("en"));
        assert_eq!(cache.look_up("u", language("fr"), NOW), Lookup::Fresh("fr"));
        assert_eq!(cache.look_up("u", language("de"), NOW), Lookup::Absent);
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut cache = Cache::default();
        assert_eq!(size_of::<Cache<()>>(), 8);
        let lines = fields(&["Cache-Control: max-age=60"]);
        for n in 0..MAX_ENTRIES {
            cache.store(&format!("{n}"), none, 200, lines.clone(), at(NOW), n);
        }
        cache.look_up("0", none, NOW);
        cache.store("new", none, 200, lines.clone(), at(NOW), 0);
        let mut known = |url: &str| cache.look_up(url, none, NOW) != Lookup::Absent;
        assert_eq!((known("0"), known("1"), known("2"), known("new")), (true, false, true, true));
        assert_eq!(cache.0.as_ref().map(|stored| stored.entries), Some(MAX_ENTRIES));
    }

    #[test]
    fn any_headers_are_good_or_passed_over() {
        use proptest::prelude::*;
        let names = "(cache-control|expires|date|age|etag|last-modified|vary)";
        let headers =
            prop::collection::vec((names, prop::collection::vec(any::<u8>(), 0..30)), 0..9);
        proptest!(|(headers in headers, received: i64)| {
            let pairs = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()));
            let moments = Moments { requested: received, received };
            let mut cache = Cache::default();
            cache.store("u", none, 200, Fields::of(pairs), moments, ());
            if let Lookup::Stale(conditions) = cache.look_up("u", none, received) {
                prop_assert!(matches!(conditions.len(), 1 | 2));
            }
        });
    }
}
