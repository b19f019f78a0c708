//! The origins that requests of a worker go to: those that the plan names, and those that are known only since the run
//! began, for as long as somebody holds them. One that is reached in several ways is there once for each, so that
//! connections are used again for the same way alone.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::rc::Rc;

use squall_wire::{Http, Origin, Via};

use super::held::Held;
use crate::parts::proxy::ProxyChoice;
use crate::program::Program;

/// An origin, and what its requests say of it.
#[derive(Debug)]
pub(crate) struct KnownOrigin {
    /// Tells it from all others of its worker, now and later.
    pub number: u64,
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
    /// The same one for which nothing is asked. Held, so that it keeps its number, by which this one is found.
    _plain: Option<Rc<KnownOrigin>>,
}

impl PartialEq for KnownOrigin {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// What a request asks for of how its origin is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    /// The number of a client certificate. Where no TLS is spoken it is for where a redirect leads.
    pub certificate: Option<u16>,
    /// What it says of a proxy.
    pub proxy: SaidProxy,
    pub source: Option<IpAddr>,
    /// Whether some of this is known only to the user, who may ask for something else in each iteration.
    pub is_of_user: bool,
}

/// What a request says of its proxy, if anything. Two are equal if they come from one text.
#[derive(Debug, Clone, Default)]
pub(crate) struct SaidProxy(Option<Rc<Said>>);

/// What a text says of a proxy.
#[derive(Debug)]
struct Said {
    choice: ProxyChoice,
    /// Whether a proxy that the plan does not name may be used.
    allowed: Result<(), String>,
}

impl SaidProxy {
    fn place(&self) -> Option<*const Said> {
        self.0.as_ref().map(Rc::as_ptr)
    }

    /// Whether requests may go through a proxy that the plan does not name.
    ///
    /// # Errors
    /// Why they may not.
    pub(crate) fn is_allowed(&self) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |said| said.allowed.clone())
    }
}

impl PartialEq for SaidProxy {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for SaidProxy {}

impl Hash for SaidProxy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}

#[derive(Default)]
pub(crate) struct Origins {
    /// Those that the plan names, by their numbers in the program.
    named: Vec<Rc<KnownOrigin>>,
    /// Origins for which nothing is asked, ...
    plain: RefCell<Held<Origin, KnownOrigin>>,
    /// ... and by their numbers the same ones for which something is.
    asked: RefCell<Held<(u64, Asked), KnownOrigin>>,
    /// What requests have said of their proxies, by the texts.
    proxies: RefCell<Held<Box<[u8]>, Said>>,
    /// The number that the next new one gets.
    next: Cell<u64>,
}

impl Origins {
    /// The origins that a program names.
    pub(crate) fn new(program: &Program) -> Self {
        let mut all = Origins::default();
        let named = program.origins.iter();
        all.named = named.map(|origin| all.plain(program, origin.clone())).collect();
        all
    }

    /// An origin that the plan names, by its number in the program.
    pub(crate) fn named(&self, number: u32) -> Rc<KnownOrigin> {
        self.named[number as usize].clone()
    }

    /// An origin for a request that asks for this.
    pub(crate) fn known(&self, program: &Program, origin: Origin, asked: Asked) -> Rc<KnownOrigin> {
        let plain = self.plain(program, origin);
        self.as_asked(program, &plain, asked)
    }

    /// What a text says of a proxy.
    ///
    /// # Errors
    /// It says nothing of one.
    pub(crate) fn said_proxy(&self, program: &Program, text: &[u8]) -> Result<SaidProxy, String> {
        if let Some(said) = self.proxies.borrow().get(text) {
            return Ok(SaidProxy(Some(said)));
        }
        let choice = match ProxyChoice::read(&String::from_utf8_lossy(text))? {
            ProxyChoice::OfPlan => return Ok(SaidProxy::default()),
            choice => choice,
        };
        let allowed = choice.is_allowed(&program.hosts);
        let said = Said { choice, allowed };
        Ok(SaidProxy(Some(self.proxies.borrow_mut().put(text.into(), said))))
    }

    /// An origin for which nothing is asked.
    fn plain(&self, program: &Program, origin: Origin) -> Rc<KnownOrigin> {
        let known = self.plain.borrow().get(&origin);
        known.unwrap_or_else(|| {
            let new = self.new_origin(program, origin.clone(), Asked::default(), None);
            self.plain.borrow_mut().put(origin, new)
        })
    }

    /// The same origin with something else asked for.
    pub(crate) fn as_asked(
        &self,
        program: &Program,
        plain: &Rc<KnownOrigin>,
        asked: Asked,
    ) -> Rc<KnownOrigin> {
        if asked == Asked::default() {
            return plain.clone();
        }
        let key = (plain.number, asked);
        let known = self.asked.borrow().get(&key);
        known.unwrap_or_else(|| {
            let (origin, asked) = (plain.origin.clone(), key.1.clone());
            let new = self.new_origin(program, origin, asked, Some(plain.clone()));
            self.asked.borrow_mut().put(key, new)
        })
    }

    fn new_origin(
        &self,
        program: &Program,
        origin: Origin,
        asked: Asked,
        plain: Option<Rc<KnownOrigin>>,
    ) -> KnownOrigin {
        let number = self.next.get();
        self.next.set(number + 1);
        let choice = asked.proxy.0.as_ref().map_or(&ProxyChoice::OfPlan, |said| &said.choice);
        let proxy = choice.toward(&origin, &program.proxy);
        let http2 = match program.http {
            _ if !origin.is_http() => false,
            Http::V1 => false,
            Http::V2 => true,
            Http::Auto => origin.is_tls(),
        };
        let certificate = asked.certificate.filter(|_| origin.is_tls());
        KnownOrigin {
            number,
            authority: origin.authority().into(),
            via: Via { certificate, proxy, source: asked.source },
            origin,
            asked,
            http2: Cell::new(http2),
            _plain: plain,
        }
    }
}
