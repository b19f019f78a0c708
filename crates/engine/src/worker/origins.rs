//! The origins that requests of a worker go to, by number: those that the plan names, and those that
//! are known only since the run began.

use std::cell::RefCell;
use std::rc::Rc;

use squall_wire::Origin;

use super::Worker;

/// An origin, and what its requests say of it.
pub(crate) struct KnownOrigin {
    pub origin: Origin,
    /// `host` or `host:port`, see [`Origin::authority`].
    pub authority: Box<str>,
}

pub(super) struct Origins(RefCell<Vec<Rc<KnownOrigin>>>);

impl Origins {
    pub(super) fn new(origins: &[Origin]) -> Self {
        Origins(RefCell::new(origins.iter().cloned().map(KnownOrigin::new).collect()))
    }
}

impl KnownOrigin {
    fn new(origin: Origin) -> Rc<Self> {
        Rc::new(KnownOrigin { authority: origin.authority().into(), origin })
    }
}

impl Worker {
    /// The origin of a number.
    pub(crate) fn origin(&self, number: u32) -> Rc<KnownOrigin> {
        self.origins.0.borrow()[number as usize].clone()
    }

    /// The number of an origin, which it gets now if it is new.
    pub(crate) fn origin_number(&self, origin: Origin) -> u32 {
        let mut origins = self.origins.0.borrow_mut();
        let found = origins.iter().position(|known| known.origin == origin);
        let index = found.unwrap_or_else(|| {
            origins.push(KnownOrigin::new(origin));
            origins.len() - 1
        });
        index as u32
    }
}
