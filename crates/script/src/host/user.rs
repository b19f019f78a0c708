//! What the host keeps of each user: its tags and its random numbers.

use std::collections::HashMap;
use std::rc::Rc;

use squall_base::random::Random;

use super::Shared;
use crate::engine::{Thrown, Value};
use crate::event::Tags;

/// Most tags of a user: more are a mistake.
const MOST_TAGS: usize = 1_000;

/// Users by their numbers.
pub(crate) type Users = HashMap<u64, User>;

/// What is kept of a user.
#[derive(Debug, Default)]
pub(crate) struct User {
    tags: Tags,
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

impl Shared {
    fn of_user<T>(&self, use_it: impl FnOnce(&mut User) -> T) -> T {
        use_it(self.users.borrow_mut().entry(self.current.get().user).or_default())
    }

    /// A new user begins, under a number that another one may have had.
    pub(crate) fn forget_user(&self) {
        self.users.borrow_mut().remove(&self.current.get().user);
    }

    /// The tags of the user that runs, in the order in which it has set them.
    pub(crate) fn user_tags(&self) -> Tags {
        let users = self.users.borrow();
        users.get(&self.current.get().user).map(|own| own.tags.clone()).unwrap_or_default()
    }

    pub(super) fn set_user_tag(&self, name: String, value: Option<String>) -> Result<(), Thrown> {
        self.of_user(|own| {
            own.tags.retain(|(known, _)| *known != name);
            if own.tags.len() == MOST_TAGS && value.is_some() {
                return Err(Thrown::new(format!("a user may have {MOST_TAGS} tags at most")));
            }
            own.tags.extend(value.map(|value| (name, value)));
            Ok(())
        })
    }

    /// The tags of the user that runs, and before them those that a script gives for something of its own.
    pub(crate) fn with_user_tags(&self, own: &mut Tags) {
        let users = self.users.borrow();
        let of_user = users.get(&self.current.get().user).into_iter().flat_map(|own| &own.tags);
        for (name, value) in of_user {
            if !own.iter().any(|(known, _)| known == name) {
                own.push((name.clone(), value.clone()));
            }
        }
    }

    /// Evenly from 0 up to, not including, 1.
    fn random(&self) -> f64 {
        let now = self.current.get();
        let seed = self.seed;
        self.of_user(|own| {
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

    fn set_seed(&self, seed: f64) {
        let random = Random::new(seed.to_bits());
        self.of_user(|own| own.random = Some(Numbered::Script(random)));
    }
}

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let random = scope.function("random", 0, move |call| Ok(call.scope().number(own.random())));
    host.set(c"random", random?)?;
    let own = shared.clone();
    let seed = scope.function("seed", 1, move |call| {
        let seed = call.argument(0).to_number()?;
        if !seed.is_finite() {
            return Err(Thrown::new("TypeError: randomSeed() takes a number"));
        }
        own.set_seed(seed);
        Ok(call.scope().undefined())
    });
    host.set(c"seed", seed?)?;
    Ok(())
}
