//! The origins that requests of a worker go to, by number: those that the plan names, and those that
//! are known only since the run began. One that is reached in several ways has a number for each, so that connections are
//! used again for the same way alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use squall_wire::{Http, Origin, Via};

use super::Worker;
use crate::parts::proxy::ProxyChoice;
use crate::program::Program;

/// An origin, and what its requests say of it.
pub(crate) struct KnownOrigin {
    pub origin: Origin,
    /// `host` or `host:port`, see [`Origin::authority`].
    pub authority: Box<str>,
    /// What its requests ask for, ...
    pub asked: Asked,
    /// ... and what its connections are made by.
    pub via: Via,
    /// Whether its connections speak HTTP/2, as far as is known: as the plan has it, and then as the last
    /// connection did.
    pub http2: Cell<bool>,
}

/// What a request asks for of how its origin is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    /// The number of a client certificate. Where no TLS is spoken it is for where a redirect leads.
    pub certificate: Option<u16>,
    /// The number of what it says of a proxy.
    pub proxy: ProxyNumber,
    /// A source address.
    pub source: Option<IpAddr>,
    /// Whether some of this is known only to the user, who may ask for something else in each iteration.
    pub is_of_user: bool,
}

/// The number of what requests say of their proxies; 0 is what they say that say nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct ProxyNumber(u32);

#[derive(Default)]
pub(super) struct Origins {
    known: RefCell<Vec<Rc<KnownOrigin>>>,
    /// The numbers of origins for which nothing is asked, ...
    plain: RefCell<HashMap<Origin, u32>>,
    /// ... and by these numbers those of the same ones for which something is.
    asked: RefCell<HashMap<(u32, Asked), u32>>,
    /// What requests have said of their proxies, but for those that say nothing, and whether a proxy that the plan does not
    /// name may be used, ...
    choices: RefCell<Vec<(ProxyChoice, Result<(), String>)>>,
    /// ... and its numbers by the texts.
    proxies: RefCell<HashMap<Box<[u8]>, ProxyNumber>>,
}

impl Origins {
    pub(super) fn new(program: &Program) -> Self {
        let all = Origins::default();
        for origin in &program.origins {
            all.number(program, origin.clone(), Asked::default());
        }
        all
    }

    /// The number of an origin, which it gets now if it is new.
    fn number(&self, program: &Program, origin: Origin, asked: Asked) -> u32 {
        let plain = self.plain.borrow().get(&origin).copied();
        let plain = plain.unwrap_or_else(|| {
            let number = self.add(program, origin.clone(), Asked::default());
            self.plain.borrow_mut().insert(origin.clone(), number);
            number
        });
        if asked == Asked::default() {
            return plain;
        }
        let known = self.asked.borrow().get(&(plain, asked)).copied();
        known.unwrap_or_else(|| {
            let number = self.add(program, origin, asked);
            self.asked.borrow_mut().insert((plain, asked), number);
            number
        })
    }

    fn add(&self, program: &Program, origin: Origin, asked: Asked) -> u32 {
        let choices = self.choices.borrow();
        let index = asked.proxy.0.checked_sub(1);
        let choice = index.and_then(|index| choices.get(index as usize)).map(|(choice, _)| choice);
        let proxy = choice.unwrap_or(&ProxyChoice::OfPlan).toward(&origin, &program.proxy);
        let http2 = match program.http {
            _ if !origin.is_http() => false,
            Http::V1 => false,
            Http::V2 => true,
            Http::Auto => origin.is_tls(),
        };
        let certificate = asked.certificate.filter(|_| origin.is_tls());
        let mut known = self.known.borrow_mut();
        known.push(Rc::new(KnownOrigin {
            authority: origin.authority().into(),
            origin,
            asked,
            via: Via { certificate, proxy, source: asked.source },
            http2: Cell::new(http2),
        }));
        (known.len() - 1) as u32
    }
}

impl Worker {
    /// The origin of a number.
    pub(crate) fn origin(&self, number: u32) -> Rc<KnownOrigin> {
        self.origins.known.borrow()[number as usize].clone()
    }

    /// The number of an origin for a request that asks for this. Connections with a client certificate, through a proxy or
    /// from an address of their own go to an origin of their own, so that no other request has them.
    pub(crate) fn origin_number(&self, origin: Origin, asked: Asked) -> u32 {
        self.origins.number(&self.program, origin, asked)
    }

    /// The number of an origin for a request that asks for this, from that for one which asks for nothing.
    pub(crate) fn as_asked(&self, plain: u32, asked: Asked) -> u32 {
        let known = self.origins.asked.borrow().get(&(plain, asked)).copied();
        known.unwrap_or_else(|| self.origin_number(self.origin(plain).origin.clone(), asked))
    }

    /// The number of what a text says of a proxy.
    ///
    /// # Errors
    /// It says nothing of one.
    pub(crate) fn proxy_number(&self, text: &[u8]) -> Result<ProxyNumber, String> {
        if let Some(number) = self.origins.proxies.borrow().get(text) {
            return Ok(*number);
        }
        let mut choices = self.origins.choices.borrow_mut();
        let number = match ProxyChoice::read(&String::from_utf8_lossy(text))? {
            ProxyChoice::OfPlan => ProxyNumber::default(),
            choice => {
                let allowed = choice.is_allowed(&self.program.hosts);
                choices.push((choice, allowed));
                ProxyNumber(choices.len() as u32)
            }
        };
        self.origins.proxies.borrow_mut().insert(text.into(), number);
        Ok(number)
    }
    /// Whether requests may go through a proxy that the plan does not name.
    ///
    /// # Errors
    /// Why they may not.
    pub(crate) fn allows_proxy(&self, ProxyNumber(number): ProxyNumber) -> Result<(), String> {
        let choices = self.origins.choices.borrow();
        let choice = number.checked_sub(1).and_then(|index| choices.get(index as usize));
        choice.map_or(Ok(()), |(_, allowed)| allowed.clone())
    }
}
