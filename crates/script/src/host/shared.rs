//! What functions of the host share: what a script has told, what it was given, and what is kept of its users.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::jars::Jars;
use super::secrets::SecretSource;
use super::users::{Numbers, Users};
use crate::engine::{Thrown, Value};
use crate::event::{Event, ScriptMetric, Tags};
use crate::files::OpenFiles;
use crate::http::HttpOptions;
use crate::shared_data::SharedData;

/// The longest wait that is told apart from no end, in s.
pub(super) const LONGEST_WAIT: f64 = 1e9;

/// What functions of the host use.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) told: RefCell<Vec<Event>>,
    pub(crate) names: RefCell<HashMap<String, Rc<str>>>,
    pub(crate) metrics: RefCell<Vec<ScriptMetric>>,
    /// Whether users run already, so that no more metrics can be made.
    pub(crate) is_open: Cell<bool>,
    pub(crate) current: Cell<Numbers>,
    pub(crate) http: HttpOptions,
    pub(crate) users: Users,
    pub(crate) seed: u64,
    /// The options of the test, as JSON; `None`: not yet known.
    pub(crate) options: RefCell<Option<String>>,
    pub(crate) data: SharedData,
    pub(crate) files: OpenFiles,
    /// The folder that the script is in.
    pub(crate) folder: PathBuf,
    pub(crate) secrets: Vec<SecretSource>,
    /// The statuses that a user expects of its requests, by its number; a user without an entry expects 200 to 399.
    pub(crate) expected: RefCell<HashMap<u64, Vec<(u16, u16)>>>,
    pub(crate) jars: Rc<Jars>,
    /// How many forms with files were made.
    pub(crate) forms: Cell<u64>,
}

impl Shared {
    /// A name, kept once.
    pub(crate) fn name(&self, value: &Value<'_>) -> Result<Rc<str>, Thrown> {
        let text = value.to_text()?;
        let mut names = self.names.borrow_mut();
        if let Some(own) = names.get(&text) {
            return Ok(own.clone());
        }
        let own: Rc<str> = text.as_str().into();
        names.insert(text, own.clone());
        Ok(own)
    }

    /// Something happens, with the tags of the user to whom it does.
    pub(crate) fn tell(&self, mut event: Event) {
        if let Event::Check { tags, .. } | Event::Metric { tags, .. } = &mut event {
            self.with_user_tags(tags);
        }
        self.told.borrow_mut().push(event);
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
