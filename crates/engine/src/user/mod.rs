//! A virtual user: plain data. While it waits it is nothing else; while it does something, a task of
//! its worker owns it.
//!
//! It is a [`Core`], which all that it does at the same time shares, a [`Strand`], the flow of its steps,
//! and a [`Cursor`], its place in what decides on them. A strand changes the core through cells, which are
//! never borrowed over a wait.

mod concurrency;
mod cursor;
mod script;
mod strand;

use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;

use squall_base::random::Random;
use squall_extract::PageResources;
use squall_metrics::UserState;
use squall_plan::expr::Slot;
use squall_plan::value::Value;
use squall_script::{Numbers, Tags};

use crate::net::bandwidth::Bandwidths;
use crate::net::pools::{Idle, Pools};
use crate::parts::auth::Challenges;
use crate::parts::cache::Cache;
use crate::parts::cookies::Jar;
use crate::parts::data::Row;
use crate::program::{Place, Program};
use crate::roster::{Seat, Seated};
use crate::shared_values::SharedValues;
pub(crate) use concurrency::Concurrency;
pub(crate) use cursor::Cursor;
use script::Instances;
pub(crate) use script::{Instance, ScriptCall};
pub(crate) use strand::{OpenGroup, Strand};

pub(crate) struct User {
    pub core: Core,
    pub strand: Strand,
    /// Where it stands in what it does.
    pub cursor: Cursor,
}

/// What everything that a user does shares.
pub(crate) struct Core {
    /// Its number, over all workers, follows everything random and every share.
    pub seat: Seat,
    /// What it does, for the time accounting; `None`: it belongs to an open workload, which has none.
    pub state: Cell<Option<UserState>>,
    /// Whether an iteration has begun and is not over.
    pub in_iteration: Cell<bool>,
    /// When the current iteration began, on the run's clock.
    pub began: Cell<u64>,
    /// It ends at the next step.
    pub stopped: Cell<bool>,
    /// Its iteration ends at the next step of each of its strands.
    pub iteration_over: Cell<bool>,
    /// What its strands do at the same time.
    pub concurrency: Concurrency,
    /// How long the run had lasted when it last went on, in nanoseconds.
    pub elapsed: Cell<u64>,
    /// Whether its last sample was no error; true before the first.
    pub last_ok: Cell<bool>,
    /// Iterations begun before this one.
    pub iteration: Cell<u64>,
    /// What its load has scheduled. Closed: when the current iteration was due; the next one follows by the pacing, see
    /// [`crate::roster::Roster::after`]. Open: the number of its arrival.
    pub scheduled: Cell<u64>,
    /// Chance of this iteration: it follows from the seed, the scenario, and the user and its iteration, or the arrival.
    random: Cell<Random>,
    /// Variables that steps set; empty until the first one is, and then as long as the program's.
    variables: RefCell<Box<[Option<Value>]>>,
    /// The variables that all users have together.
    pub shared: Arc<SharedValues>,
    /// What it has of each feed of the program; empty until an iteration gets a row.
    pub feeds: RefCell<Box<[UserFeed]>>,
    /// The jar without a name, see [`Core::jar`].
    jar: RefCell<Jar>,
    /// The cache without one, see [`Core::cache`].
    cache: RefCell<KnownPages>,
    /// Those with names. Until there is one it is one word: most users have none.
    named: OnceCell<Box<Named>>,
    /// What servers want to see of its digest credentials.
    pub challenges: RefCell<Challenges>,
    /// Connections of its own that are idle.
    pub connections: RefCell<Vec<Idle>>,
    /// Connections of its own that its requests share.
    pub pools: Pools,
    /// How fast its bytes may come and go, from its first request on, if there is a limit.
    pub bandwidths: OnceCell<Rc<Bandwidths>>,
}

/// What a user knows of what it has asked for.
type KnownPages = Cache<Option<Rc<PageResources>>>;

/// The jars and caches that have names, by their numbers from 1, and the user's own instances of scripts.
#[derive(Default)]
struct Named {
    jars: RefCell<Vec<Jar>>,
    caches: RefCell<Vec<KnownPages>>,
    scripts: RefCell<Instances>,
}

/// One by its number, made when it is first looked at; 0 is the one without a name.
fn by_number<'c, T: Default>(
    number: u16,
    unnamed: &'c RefCell<T>,
    named: impl FnOnce() -> &'c RefCell<Vec<T>>,
) -> RefMut<'c, T> {
    let Some(index) = usize::from(number).checked_sub(1) else { return unnamed.borrow_mut() };
    RefMut::map(named().borrow_mut(), |all| {
        if all.len() <= index {
            all.resize_with(index + 1, T::default);
        }
        &mut all[index]
    })
}

/// What a user has of a feed.
#[derive(Clone, Default)]
pub(crate) struct UserFeed {
    /// The row of this iteration.
    pub row: Option<Arc<Row>>,
    /// How many rows it took, if it does not share them.
    pub taken: u64,
}

impl Seated for Box<User> {
    fn seat(&self) -> Seat {
        self.core.seat
    }
}

impl User {
    pub(crate) fn new(seat: Seat, shared: Arc<SharedValues>) -> Self {
        User {
            core: Core {
                seat,
                state: Cell::new(None),
                in_iteration: Cell::new(false),
                began: Cell::new(0),
                stopped: Cell::new(false),
                iteration_over: Cell::new(false),
                concurrency: Concurrency::default(),
                elapsed: Cell::new(0),
                last_ok: Cell::new(true),
                iteration: Cell::new(0),
                scheduled: Cell::new(0),
                random: Cell::new(Random::new(0)),
                variables: RefCell::default(),
                shared,
                feeds: RefCell::default(),
                jar: RefCell::default(),
                cache: RefCell::default(),
                named: OnceCell::new(),
                challenges: RefCell::default(),
                connections: RefCell::default(),
                pools: Pools::default(),
                bandwidths: OnceCell::new(),
            },
            strand: Strand::default(),
            cursor: Cursor::default(),
        }
    }
}

impl Core {
    /// Its number, and that of its iteration, as scripts are told.
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers { user: self.seat.number + 1, iteration: self.iteration.get() }
    }

    /// The index of its scenario.
    pub(crate) fn scenario(&self) -> usize {
        usize::from(self.seat.scenario)
    }

    /// Everything random of this iteration follows from `random`.
    pub(crate) fn draw_from(&self, random: Random) {
        self.random.set(random);
    }

    /// Draws something at random.
    pub(crate) fn draw<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        let mut random = self.random.get();
        let drawn = draw(&mut random);
        self.random.set(random);
        drawn
    }

    /// Puts another source of chance in the place of the present one, which it returns.
    pub(crate) fn swap_chance(&self, random: Random) -> Random {
        self.random.replace(random)
    }

    /// Whether no strand may begin anything more in this iteration.
    pub(crate) fn is_ending(&self) -> bool {
        self.stopped.get() || self.iteration_over.get()
    }

    /// A random number of this iteration.
    pub(crate) fn chance(&self) -> u64 {
        self.draw(Random::next_u64)
    }

    /// The variables that steps set; none while no step has.
    pub(crate) fn variables(&self) -> Ref<'_, Box<[Option<Value>]>> {
        self.variables.borrow()
    }

    /// A variable's value, if it has one; what the plan gives it until a step sets it.
    pub(crate) fn variable(&self, program: &Program, index: usize) -> Option<Value> {
        self.variables.borrow().get(index).unwrap_or(&program.initial[index]).clone()
    }

    /// Gives a variable a value; `None`: takes it away.
    pub(crate) fn set(&self, program: &Program, slot: Slot, value: Option<Value>) {
        match Place::of(slot) {
            Place::Variable(index) => self.set_own(program, index, value),
            Place::Shared(index) => self.shared.set(index, value),
            // Compilation sets variables alone.
            Place::Cell { .. } | Place::Intrinsic(_) => {}
        }
    }

    fn set_own(&self, program: &Program, index: usize, value: Option<Value>) {
        let mut variables = self.variables.borrow_mut();
        if variables.is_empty() {
            *variables = program.initial.iter().cloned().collect();
        }
        variables[index] = value;
    }

    /// A jar by its number; 0 is the one without a name.
    pub(crate) fn jar(&self, number: u16) -> RefMut<'_, Jar> {
        by_number(number, &self.jar, || &self.named.get_or_init(Box::default).jars)
    }

    /// A cache by its number; 0 is the one without a name.
    pub(crate) fn cache(&self, number: u16) -> RefMut<'_, KnownPages> {
        by_number(number, &self.cache, || &self.named.get_or_init(Box::default).caches)
    }

    /// Its own instance of a script for users of a kind, made when it is first looked at. It lasts as long as the user.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn script<E>(
        &self,
        kind: u32,
        make: impl FnOnce() -> Result<Instance, E>,
    ) -> Result<Rc<Instance>, E> {
        let scripts = &self.named.get_or_init(Box::default).scripts;
        if let Some(Some(own)) = scripts.borrow().get(kind as usize) {
            return Ok(own.clone());
        }
        let own = Rc::new(make()?);
        let mut scripts = scripts.borrow_mut();
        if scripts.len() <= kind as usize {
            scripts.resize_with(kind as usize + 1, || None);
        }
        scripts[kind as usize] = Some(own.clone());
        Ok(own)
    }

    /// What its script has its values told with, beside their tags, for users of a kind.
    pub(crate) fn metadata(&self, kind: u32) -> Tags {
        let named = self.named.get();
        let own = named.and_then(|own| own.scripts.borrow().get(kind as usize)?.clone());
        own.map(|own| own.stage.metadata(self.numbers().user)).unwrap_or_default()
    }

    /// Forgets the cookies of a jar, or all of them.
    pub(crate) fn clear_cookies(&self, kind: Option<u16>) {
        match kind {
            Some(kind) => *self.jar(kind) = Jar::default(),
            None => {
                self.jar.take();
                self.named.get().into_iter().for_each(|named| drop(named.jars.take()));
            }
        }
    }

    /// Forgets what a cache knows, or what all of them know.
    pub(crate) fn clear_cache(&self, kind: Option<u16>) {
        match kind {
            Some(kind) => *self.cache(kind) = KnownPages::default(),
            None => {
                self.cache.take();
                self.named.get().into_iter().for_each(|named| drop(named.caches.take()));
            }
        }
    }

    /// What it knows of the target is as at its beginning: no cookies, no credentials found out, no
    /// variables. Its connections are the plan's `connections.reuse` to decide.
    pub(crate) fn begin_session(&self) {
        self.variables.take();
        self.clear_cookies(None);
        self.clear_cache(None);
        self.challenges.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be a million of them: what few users have is behind one word.
    #[test]
    fn a_user_is_small() {
        assert!(size_of::<User>() <= 336, "{}", size_of::<User>());
    }
}
