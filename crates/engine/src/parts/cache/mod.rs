//! A user's cache of responses, as RFC 9111 has it for a private cache: what is fresh is not asked for
//! again, what is stale is asked for with conditions. It keeps no bodies, only what there is to know of
//! them. Pure: time is an argument, in seconds since 1970.

mod fields;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub(crate) use fields::{Condition, Fields, Moments};

/// Most responses of a user; the least recently used makes room.
const MAX_ENTRIES: usize = 2_000;

/// Responses by URL; with each something that its user wants to know of it. Empty it is one word.
#[derive(Debug)]
pub(crate) struct Cache<T>(Option<Box<Stored<T>>>);

#[derive(Debug)]
struct Stored<T> {
    by_url: HashMap<Box<str>, Vec<Entry<T>>>,
    entries: usize,
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

    /// As [`Cache::look_up`], but what is fresh is asked for with conditions too.
    pub(crate) fn look_up_stale(
        &mut self,
        url: &str,
        header: impl Fn(&str) -> Box<[u8]>,
    ) -> Lookup<T> {
        self.look_up(url, header, i64::MAX)
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
        let is_of_use = fields.has_condition() || stale_from > moments.received;
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
