//! What came to its end, as it waits to be told. Pure.

use std::sync::Arc;

use squall_engine::{Exchange, SeenGroup};

use crate::phase::Phase;

/// What came to its end, and the users that were active then: of its scenario, and of all.
#[derive(Debug)]
pub(super) struct Seen {
    pub phase: Phase,
    pub users: (u64, u64),
    pub what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Exchange(Arc<Exchange>),
    /// A page, how long it took with what it loaded, in ns, and that, in order.
    Page(Arc<Exchange>, u64, Vec<Seen>),
    /// A group, with its parts if it is one sample.
    Group(Arc<SeenGroup>, Option<Vec<Seen>>),
}

impl Seen {
    /// How many they are: itself, and what is in it.
    pub fn size(&self) -> usize {
        let parts = match &self.what {
            What::Exchange(_) | What::Group(_, None) => return 1,
            What::Page(_, _, parts) | What::Group(_, Some(parts)) => parts,
        };
        1 + parts.iter().map(Seen::size).sum::<usize>()
    }

    /// When it began, in µs after the start of its phase.
    pub fn at_us(&self) -> u64 {
        match &self.what {
            What::Exchange(exchange) | What::Page(exchange, ..) => exchange.at_us,
            What::Group(group, _) => group.at_us,
        }
    }
}
