//! Arrays that all users of a process share: each is made once, by the first worker whose users ask for it, and kept as the
//! JSON of its elements, outside of every realm.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Most bytes of an array's JSON.
const LARGEST: usize = 1 << 30;

/// The arrays of a process. Each of its workers has a clone.
#[derive(Debug, Clone, Default)]
pub struct SharedData(Arc<Common>);

#[derive(Debug, Default)]
struct Common {
    state: Mutex<State>,
    /// Told when a thread has made its arrays.
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrays: HashMap<String, Arc<Rows>>,
    /// The thread that makes arrays now, and their names: one may be made by another's function. There is one such thread
    /// at a time, so that no two wait for each other.
    makes: Option<ThreadId>,
    names: Vec<String>,
}

/// The elements of an array, as JSON.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    text: String,
    /// Where each element ends.
    ends: Vec<usize>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// An element; `None`: there are fewer.
    pub fn row(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).and_then(|own| self.ends.get(own)).copied().unwrap_or(0);
        self.text.get(start..end)
    }
}

/// An array, or the turn to make it.
pub(crate) enum Found {
    There(Arc<Rows>),
    Absent(Making),
}

/// An array that is being made. When it is dropped, others may make theirs.
#[derive(Debug)]
pub(crate) struct Making {
    common: Arc<Common>,
    name: String,
    rows: Rows,
}

impl SharedData {
    /// The array of a name. While another thread makes arrays, this waits.
    ///
    /// # Errors
    /// This thread makes it already.
    pub(crate) fn find(&self, name: &str) -> Result<Found, String> {
        let own = thread::current().id();
        let mut state = self.0.lock();
        while state.makes.is_some_and(|other| other != own) && !state.arrays.contains_key(name) {
            state = self.0.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(rows) = state.arrays.get(name) {
            return Ok(Found::There(rows.clone()));
        }
        if state.names.iter().any(|known| known == name) {
            return Err(format!("the function of SharedArray `{name}` makes the same array again"));
        }
        state.makes = Some(own);
        state.names.push(name.to_owned());
        drop(state);
        let (common, name) = (self.0.clone(), name.to_owned());
        Ok(Found::Absent(Making { common, name, rows: Rows::default() }))
    }
}

impl Common {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever has panicked with the lock has left the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Making {
    /// Adds an element.
    ///
    /// # Errors
    /// The array would be too large.
    pub fn push(&mut self, json: &str) -> Result<(), String> {
        if self.rows.text.len() + json.len() > LARGEST {
            return Err(format!(
                "SharedArray `{}` is larger than {} MiB",
                self.name,
                LARGEST >> 20
            ));
        }
        self.rows.text.push_str(json);
        self.rows.ends.push(self.rows.text.len());
        Ok(())
    }

    /// It is whole: all users have it from now on.
    pub fn finish(&mut self) -> Arc<Rows> {
        self.rows.text.shrink_to_fit();
        let rows = Arc::new(std::mem::take(&mut self.rows));
        self.common.lock().arrays.insert(self.name.clone(), rows.clone());
        rows
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let mut state = self.common.lock();
        state.names.retain(|own| *own != self.name);
        if state.names.is_empty() {
            state.makes = None;
            self.common.free.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn make(data: &SharedData, name: &str, rows: &[&str]) -> Arc<Rows> {
        match data.find(name).expect("its turn") {
            Found::There(own) => own,
            Found::Absent(mut making) => {
                rows.iter().for_each(|own| making.push(own).expect("room"));
                making.finish()
            }
        }
    }

    #[test]
    fn elements_are_found_by_their_numbers() {
        let rows = make(&SharedData::default(), "a", &["1", "{\"b\":2}", "\"\""]);
        let all: Vec<_> = (0..4).map(|number| rows.row(number)).collect();
        assert_eq!(all, [Some("1"), Some("{\"b\":2}"), Some("\"\""), None]);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn threads_make_an_array_once() {
        let (data, made) = (SharedData::default(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| match data.find("a").expect("its turn") {
                    Found::There(rows) => assert_eq!(rows.row(0), Some("1")),
                    Found::Absent(mut making) => {
                        made.fetch_add(1, Ordering::Relaxed);
                        // Another array within it.
                        make(&data, "b", &["2"]);
                        making.push("1").expect("room");
                        making.finish();
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn what_fails_leaves_the_turn_to_others_and_no_array_needs_itself() {
        let data = SharedData::default();
        let Ok(Found::Absent(making)) = data.find("a") else { panic!("its turn") };
        let error = data.find("a").err().expect("the same array");
        assert!(error.contains("`a`"), "{error}");
        drop(making);
        let rows = std::thread::scope(|scope| scope.spawn(|| make(&data, "a", &["3"])).join());
        assert_eq!(rows.expect("no panic").row(0), Some("3"));
    }
}
