//! What becomes of a profile of the target: a sink that takes one hands it over here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use squall_report::Profile;

/// A profile that a sink takes, and what went wrong with it: both become a part of the result. They must be final when the sink
/// was told that the load is [`super::EventKind::Evaluated`].
#[derive(Debug, Clone, Default)]
pub struct Profiled(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    profile: Option<Arc<Profile>>,
    warning: Option<String>,
}

impl Profiled {
    /// It was taken.
    pub fn took(&self, profile: Profile) {
        self.taken().profile = Some(Arc::new(profile));
    }

    /// It was not, for a reason, in a sentence.
    pub fn failed(&self, why: String) {
        self.taken().warning = Some(why);
    }

    /// The profile, if there is one.
    pub fn profile(&self) -> Option<Arc<Profile>> {
        self.taken().profile.clone()
    }

    /// What went wrong, if something did.
    pub fn warning(&self) -> Option<String> {
        self.taken().warning.clone()
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nothing that holds the lock can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
