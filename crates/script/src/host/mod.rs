//! The functions of the host that the modules in `library` call: one file for each module.

mod crypto;
mod data;
mod encoding;
mod execution;
mod http;
mod k6;
mod metrics;
mod open;
mod timers;
mod url;
mod user;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use crate::engine::{Scope, Thrown, Value};
use crate::event::{Event, ScriptMetric, Tags};
use crate::files::OpenFiles;
use crate::http::HttpOptions;
use crate::shared_data::SharedData;

/// The longest wait that is told apart from no end, in s.
const LONGEST_WAIT: f64 = 1e9;

pub(crate) use http::compress;

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
    pub(crate) users: RefCell<user::Users>,
    pub(crate) seed: u64,
    /// The options of the test, as JSON; `None`: not yet known.
    pub(crate) options: RefCell<Option<String>>,
    pub(crate) data: SharedData,
    pub(crate) files: OpenFiles,
    /// The folder that the script is in.
    pub(crate) folder: PathBuf,
    pub(crate) secrets: Vec<(String, String)>,
    /// The statuses that a user expects of its requests, by its number; a user without an entry expects 200 to 399.
    pub(crate) expected: RefCell<HashMap<u64, Vec<(u16, u16)>>>,
    pub(crate) jars: Rc<http::Jars>,
    /// How many forms with files were made.
    pub(crate) forms: Cell<u64>,
}

/// The numbers of the user that runs now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    /// From 1, and of one user of a stage at a time; 0: no user.
    pub user: u64,
    /// From 0.
    pub iteration: u64,
}

/// The functions of the host, as properties of one object.
pub(crate) fn make<'r>(scope: Scope<'r>, shared: &Rc<Shared>) -> Result<Value<'r>, Thrown> {
    let host = scope.object()?;
    http::add(&host, shared)?;
    k6::add(&host, shared)?;
    metrics::add(&host, shared)?;
    crypto::add(&host)?;
    data::add(&host, shared)?;
    encoding::add(&host)?;
    execution::add(&host, shared)?;
    open::add(&host, shared)?;
    timers::add(&host)?;
    url::add(&host)?;
    user::add(&host, shared)?;
    let share = scope.function("share", 1, |call| {
        call.argument(0).share()?;
        Ok(call.scope().undefined())
    });
    host.set(c"share", share?)?;
    host.set(c"hidden", scope.array(Vec::new())?)?;
    Ok(host)
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
}

/// Tags of an object, as text.
pub(crate) fn tags(object: &Value<'_>) -> Result<Tags, Thrown> {
    let entries = object.entries()?.into_iter();
    entries.map(|(name, value)| Ok((name, value.to_text()?))).collect()
}
