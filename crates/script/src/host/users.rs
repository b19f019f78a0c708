//! What the host keeps of each user: its tags, what it tells beside them, and its random numbers. It imports nothing of the host.

use std::cell::RefCell;
use std::collections::HashMap;

use squall_base::random::Random;

use crate::engine::Thrown;
use crate::event::Tags;

/// Most tags of a user, and most metadata: more are a mistake.
const MOST: usize = 1_000;

/// What a user may set by names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept {
    Tags,
    /// What outputs are told of a value beside its tags.
    Metadata,
}

/// The numbers of the user that runs now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    /// From 1, and of one user of a stage at a time; 0: no user.
    pub user: u64,
    /// From 0.
    pub iteration: u64,
}

/// Users by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Users(RefCell<HashMap<u64, User>>);

/// What is kept of a user.
#[derive(Debug, Default)]
struct User {
    tags: Tags,
    metadata: Tags,
    random: Option<Numbered>,
}

/// Where its random numbers come from.
#[derive(Debug)]
enum Numbered {
    /// A seed that the script has given.
    Script(Random),
    /// The seed of the test, and this iteration, so that an iteration draws the same whatever came before it.
    Test { iteration: u64, random: Random },
}

impl Users {
    fn change<T>(&self, user: u64, change: impl FnOnce(&mut User) -> T) -> T {
        change(self.0.borrow_mut().entry(user).or_default())
    }

    /// A new user begins, under a number that another one may have had.
    pub(crate) fn forget(&self, user: u64) {
        self.0.borrow_mut().remove(&user);
    }

    /// What a user has set, in the order in which it did.
    pub(super) fn kept(&self, user: u64, of: Kept) -> Tags {
        let users = self.0.borrow();
        let own = users.get(&user).map(|own| match of {
            Kept::Tags => &own.tags,
            Kept::Metadata => &own.metadata,
        });
        own.cloned().unwrap_or_default()
    }

    /// What a user has its values told with, beside their tags.
    pub(crate) fn metadata(&self, user: u64) -> Tags {
        self.kept(user, Kept::Metadata)
    }

    /// Sets something of a user; `None` takes it away.
    ///
    /// # Errors
    /// The user has too many.
    pub(super) fn set(
        &self,
        user: u64,
        of: Kept,
        name: String,
        value: Option<String>,
    ) -> Result<(), Thrown> {
        self.change(user, |own| {
            let (all, called) = match of {
                Kept::Tags => (&mut own.tags, "tags"),
                Kept::Metadata => (&mut own.metadata, "metadata"),
            };
            all.retain(|(known, _)| *known != name);
            if all.len() == MOST && value.is_some() {
                return Err(Thrown::new(format!("a user may have {MOST} {called} at most")));
            }
            all.extend(value.map(|value| (name, value)));
            Ok(())
        })
    }

    /// Whether a user has tags.
    pub(super) fn has_tags(&self, user: u64) -> bool {
        self.0.borrow().get(&user).is_some_and(|own| !own.tags.is_empty())
    }

    /// Adds the tags of a user to others, which come first: of two with one name, theirs stays.
    pub(super) fn add_tags(&self, user: u64, others: &mut Tags) {
        let users = self.0.borrow();
        for (name, value) in users.get(&user).into_iter().flat_map(|own| &own.tags) {
            if !others.iter().any(|(known, _)| known == name) {
                others.push((name.clone(), value.clone()));
            }
        }
    }

    /// Evenly from 0 up to, not including, 1. `seed` is that of the test.
    pub(super) fn random(&self, now: Numbers, seed: u64) -> f64 {
        self.change(now.user, |own| {
            let drawn = match &mut own.random {
                Some(Numbered::Script(random)) => return random.uniform(),
                Some(Numbered::Test { iteration, random }) if *iteration == now.iteration => random,
                other => {
                    let random = Random::of(seed, 0, now.user, now.iteration);
                    let fresh = Numbered::Test { iteration: now.iteration, random };
                    match other.insert(fresh) {
                        Numbered::Script(random) | Numbered::Test { random, .. } => random,
                    }
                }
            };
            drawn.uniform()
        })
    }

    /// A user's random numbers come of a seed that its script has given.
    pub(super) fn set_seed(&self, user: u64, seed: f64) {
        let random = Random::new(seed.to_bits());
        self.change(user, |own| own.random = Some(Numbered::Script(random)));
    }
}
