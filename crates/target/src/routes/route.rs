//! A route, and how it answers.

use std::future::Future;
use std::pin::Pin;

use super::call::{Call, PARAM_LIMIT};
use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;

/// A route of the target: where, how, and what it does.
#[derive(Clone, Copy)]
pub struct Route {
    /// The path; `{name}` stands for one segment.
    pub path: &'static str,
    /// The methods that it answers, `OPTIONS` aside, which every route does.
    pub methods: &'static [&'static str],
    /// What it does, in a sentence or two.
    pub about: &'static str,
    pub(super) handler: Handler,
    /// Length of the path's literal start.
    pub(super) literal: usize,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("path", &self.path).field("methods", &self.methods).finish()
    }
}

impl Route {
    /// The `{name}` segments of `path`, if it is one of this route's.
    pub(super) fn params<'p>(&self, path: &'p str) -> Option<[&'p str; PARAM_LIMIT]> {
        let (literal, pattern) = self.path.split_at(self.literal);
        let rest = path.strip_prefix(literal)?;
        let mut params = [""; PARAM_LIMIT];
        if pattern.is_empty() {
            return rest.is_empty().then_some(params);
        }
        // What follows the literal start is segments in braces only; a test holds the tables to it.
        let mut segments = rest.split('/');
        for place in params.iter_mut().take(pattern.split('/').count()) {
            *place = segments.next().filter(|segment| !segment.is_empty())?;
        }
        segments.next().is_none().then_some(params)
    }
}

/// What a handler that waits or streams returns.
type Work<'c> = Pin<Box<dyn Future<Output = Result<(), Fault>> + 'c>>;

type Streamer = for<'c> fn(&'c Call<'c>, &'c mut Exchange<'_>) -> Work<'c>;

#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// At once, from the head; a body is read and discarded.
    Head(fn(&Call<'_>, &mut Response)),
    /// At once, from head and body.
    Body(fn(&Call<'_>, &[u8], &mut Response)),
    /// In its own time, after a body has been read and discarded.
    Stream(Streamer),
    /// In its own time; the body is its own concern.
    Raw(Streamer),
}

/// Names an async function as a [`Streamer`].
macro_rules! work {
    ($function:path) => {
        |call, exchange| Box::pin($function(call, exchange))
    };
}
pub(super) use work;

pub(super) const fn route(
    path: &'static str,
    methods: &'static [&'static str],
    handler: Handler,
    about: &'static str,
) -> Route {
    let mut literal = 0;
    while literal < path.len() && path.as_bytes()[literal] != b'{' {
        literal += 1;
    }
    Route { path, methods, about, handler, literal }
}
