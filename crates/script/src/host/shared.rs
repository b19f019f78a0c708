//! What functions of the host share: what a script has told, what it was given, and what is kept of its users.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::heads::Heads;
use super::jars::Jars;
use super::users::{Numbers, Users};
use crate::engine::{Thrown, Value};
use crate::event::{Event, ScriptMetric, Tags};
use crate::files::OpenFiles;
use crate::http::HttpOptions;
use crate::shared_data::SharedData;

/// The longest wait that is told apart from no end, in s.
pub(super) const LONGEST_WAIT: f64 = 1e9;

/// Most names that are kept: a script may make a new one each time.
const MOST_NAMES: usize = 10_000;

/// Secrets that a script may ask for: names and values, from a source of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretSource {
    /// `default`: the one of `secrets.get()`.
    pub name: String,
    pub secrets: Vec<(String, String)>,
}

/// What functions of the host use.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) told: RefCell<Vec<Event>>,
    pub(crate) names: RefCell<HashSet<Rc<str>>>,
    pub(crate) metrics: RefCell<Vec<ScriptMetric>>,
    /// Whether users run already, so that no more metrics can be made.
    pub(crate) is_open: Cell<bool>,
    pub(crate) current: Cell<Numbers>,
    pub(crate) http: HttpOptions,
    pub(crate) users: Users,
    pub(crate) seed: u64,
    /// The options of the test, as JSON; `None`: they are not known.
    pub(crate) options: Option<String>,
    pub(crate) data: SharedData,
    pub(crate) files: OpenFiles,
    pub(crate) secrets: Vec<SecretSource>,
    /// The statuses that a user expects of its requests, by its number; a user without an entry expects 200 to 399.
    pub(crate) expected: RefCell<HashMap<u64, Vec<(u16, u16)>>>,
    pub(crate) jars: Rc<Jars>,
    /// What requests have said.
    pub(crate) heads: Heads,
    /// How many forms with files were made.
    pub(crate) forms: Cell<u64>,
}

impl Shared {
    /// A name, kept once.
    pub(crate) fn name(&self, value: &Value<'_>) -> Result<Rc<str>, Thrown> {
        value.with_text(|text| {
            let mut names = self.names.borrow_mut();
            if let Some(own) = names.get(text) {
                return own.clone();
            }
            let own: Rc<str> = text.into();
            if names.len() >= MOST_NAMES {
                names.clear();
            }
            names.insert(own.clone());
            own
        })
    }

    /// Something happens, with the tags of the user to whom it does.
    pub(crate) fn tell(&self, mut event: Event) {
        if let Event::Check { tags, .. } | Event::Metric { tags, .. } = &mut event {
            self.with_user_tags(tags);
        }
        self.told.borrow_mut().push(event);
    }

    /// Whether the user that runs has tags.
    pub(crate) fn has_user_tags(&self) -> bool {
        self.users.has_tags(self.current.get().user)
    }

    /// Adds the tags of the user that runs behind those that a script gives for something of its own.
    pub(crate) fn with_user_tags(&self, own: &mut Tags) {
        self.users.add_tags(self.current.get().user, own);
    }
}

/// Tags of an object, as text.
pub(super) fn tags(object: &Value<'_>) -> Result<Tags, Thrown> {
    let entries = object.entries()?.into_iter();
    entries.map(|(name, value)| Ok((name, value.to_text()?))).collect()
}
