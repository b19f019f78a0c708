//! Where requests of a script go and what they carry: made when the first of those that say the same is sent, and kept for
//! the others. Plain data.

use std::collections::HashMap;
use std::rc::Rc;

use squall_script::HttpHead;

use super::made::Made;
use crate::net::origins::KnownOrigin;
use crate::program::call::{AuthOp, Prepared};
use crate::program::render::{self, Destination};

/// Most that are kept for one place: a script may ask for a new URL each time.
const MOST_KEPT: usize = 1_000;

/// Where a request of a script goes.
#[derive(Debug)]
pub(crate) struct Hop {
    pub method: String,
    pub origin: Rc<KnownOrigin>,
    /// Path with query.
    pub path: String,
    /// The whole URL.
    pub url: Rc<str>,
    /// Whether the body goes along.
    pub with_body: bool,
    /// Whether credentials go along.
    pub trusted: bool,
    /// Whether a redirect led there.
    pub is_redirected: bool,
}

/// Where requests go that say the same, and what they carry.
#[derive(Debug)]
pub(crate) struct Route {
    /// The row under which they count.
    pub row: u32,
    pub hop: Hop,
    pub made: Made,
    /// What is sent over HTTP/1.1 where there is no body.
    pub prepared: Option<Prepared>,
}

impl Route {
    /// Of requests under a row. `has_body`: they have bodies, so that each is rendered by itself.
    pub(crate) fn new(row: u32, hop: Hop, made: Made, has_body: bool) -> Route {
        let origin = &hop.origin;
        let destination = Destination {
            method: &hop.method,
            authority: &origin.authority,
            path: hop.path.as_bytes(),
            tls: origin.origin.is_tls(),
            proxy: origin.via.proxy.as_deref().filter(|_| !origin.origin.is_tls()),
            with_body: true,
            withheld: None,
        };
        let is_constant = !matches!(made.content.auth, AuthOp::Digest { .. });
        let prepared = match is_constant && !has_body && !origin.http2.get() {
            true => render::prepared(&made.content, &destination).ok(),
            false => None,
        };
        Route { row, hop, made, prepared }
    }
}

/// The routes of a place, by what the requests say. That is held, so that nothing else gets its address.
#[derive(Debug, Default)]
pub(super) struct Routes(HashMap<*const HttpHead, (Rc<HttpHead>, Rc<Route>)>);

impl Routes {
    pub(super) fn get(&self, head: &Rc<HttpHead>) -> Option<Rc<Route>> {
        self.0.get(&Rc::as_ptr(head)).map(|(_, route)| route.clone())
    }

    pub(super) fn keep(&mut self, head: &Rc<HttpHead>, route: &Rc<Route>) {
        if self.0.len() >= MOST_KEPT {
            self.0.clear();
        }
        self.0.insert(Rc::as_ptr(head), (head.clone(), route.clone()));
    }
}
