//! The origins that requests of a worker go to, by number: those that the plan names, and those that
//! are known only since the run began.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use squall_wire::{Http, Origin};

use super::Worker;

/// An origin, and what its requests say of it.
pub(crate) struct KnownOrigin {
    pub origin: Origin,
    /// `host` or `host:port`, see [`Origin::authority`].
    pub authority: Box<str>,
    /// Whether its connections speak HTTP/2, as far as is known: as the plan has it, and then as the last
    /// connection did.
    pub http2: Cell<bool>,
}

pub(super) struct Origins(RefCell<Vec<Rc<KnownOrigin>>>);

impl Origins {
    pub(super) fn new(origins: &[Origin], http: Http) -> Self {
        let known = origins.iter().cloned().map(|origin| KnownOrigin::new(origin, http));
        Origins(RefCell::new(known.collect()))
    }
}

impl KnownOrigin {
    fn new(origin: Origin, http: Http) -> Rc<Self> {
        let http2 = match http {
            _ if !origin.is_http() => false,
            Http::V1 => false,
            Http::V2 => true,
            Http::Auto => origin.is_tls(),
        };
        let authority = origin.authority().into();
        Rc::new(KnownOrigin { origin, authority, http2: Cell::new(http2) })
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
            origins.push(KnownOrigin::new(origin, self.program.http));
            origins.len() - 1
        });
        index as u32
    }
}
