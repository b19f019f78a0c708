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
    /// The number of the client certificate that its connections are made with, if one was named.
    pub certificate: Option<u16>,
    /// The same origin with each certificate: its number, where it has one.
    with: RefCell<Vec<Option<u32>>>,
    /// Whether its connections speak HTTP/2, as far as is known: as the plan has it, and then as the last
    /// connection did.
    pub http2: Cell<bool>,
}

pub(super) struct Origins(RefCell<Vec<Rc<KnownOrigin>>>);

impl Origins {
    pub(super) fn new(origins: &[Origin], http: Http) -> Self {
        let known = origins.iter().cloned().map(|origin| KnownOrigin::new(origin, None, http));
        Origins(RefCell::new(known.collect()))
    }
}

impl KnownOrigin {
    fn new(origin: Origin, certificate: Option<u16>, http: Http) -> Rc<Self> {
        let http2 = match http {
            _ if !origin.is_http() => false,
            Http::V1 => false,
            Http::V2 => true,
            Http::Auto => origin.is_tls(),
        };
        let authority = origin.authority().into();
        let with = RefCell::default();
        Rc::new(KnownOrigin { origin, authority, certificate, with, http2: Cell::new(http2) })
    }
}

impl Worker {
    /// The origin of a number.
    pub(crate) fn origin(&self, number: u32) -> Rc<KnownOrigin> {
        self.origins.0.borrow()[number as usize].clone()
    }

    /// The number of an origin, which it gets now if it is new. Connections with a client certificate go to an origin of
    /// their own, so that no other request has them.
    pub(crate) fn origin_number(&self, origin: Origin, certificate: Option<u16>) -> u32 {
        let certificate = certificate.filter(|_| origin.is_tls());
        let mut origins = self.origins.0.borrow_mut();
        let is_known =
            |known: &Rc<KnownOrigin>| known.certificate == certificate && known.origin == origin;
        let index = origins.iter().position(is_known).unwrap_or_else(|| {
            origins.push(KnownOrigin::new(origin, certificate, self.program.http));
            origins.len() - 1
        });
        index as u32
    }

    /// The number of an origin with a client certificate.
    pub(crate) fn with_certificate(&self, number: u32, certificate: u16) -> u32 {
        let known = self.origin(number);
        if !known.origin.is_tls() || known.certificate == Some(certificate) {
            return number;
        }
        let place = usize::from(certificate);
        if let Some(number) = known.with.borrow().get(place).copied().flatten() {
            return number;
        }
        let new = self.origin_number(known.origin.clone(), Some(certificate));
        let mut with = known.with.borrow_mut();
        if with.len() <= place {
            with.resize(place + 1, None);
        }
        with[place] = Some(new);
        new
    }
}
