//! What a user has: variables, rows of data, cookies and caches.

use std::fmt::{Formatter, Result};

use squall_plan::expr::Slot;

use super::operation::{Legend, Operation};
use crate::program::ops::JsonOp;

/// Gives a variable a value.
#[derive(Debug)]
pub(crate) struct SetOp {
    pub slot: Slot,
    pub value: JsonOp,
}

/// The next row of a feed.
#[derive(Debug)]
pub(crate) struct NextRowOp(pub u16);

/// Forgets the cookies of a jar, or of all.
#[derive(Debug)]
pub(crate) struct ClearCookiesOp(pub Option<u16>);

/// Forgets what is in a cache, or in all.
#[derive(Debug)]
pub(crate) struct ClearCacheOp(pub Option<u16>);

impl Operation for SetOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        write!(f, "set {}", names.variable(self.slot))
    }
}

impl Operation for NextRowOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        write!(f, "next row of {}", names.feed(self.0))
    }
}

impl Operation for ClearCookiesOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        match self.0 {
            None => f.write_str("clear cookies"),
            Some(jar) => write!(f, "clear cookies of jar {jar}"),
        }
    }
}

impl Operation for ClearCacheOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        match self.0 {
            None => f.write_str("clear the cache"),
            Some(cache) => write!(f, "clear cache {cache}"),
        }
    }
}
