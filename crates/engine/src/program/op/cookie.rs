//! A cookie to set.

use std::fmt::{Formatter, Result};

use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// A cookie to set.
#[derive(Debug)]
pub(crate) struct CookieOp {
    pub name: BoundTemplate,
    pub value: BoundTemplate,
    pub place: CookiePlace,
    /// Whether it goes over TLS alone.
    pub secure: bool,
    /// The number of the jar that it is put into.
    pub jar: u16,
}

/// Where a cookie goes.
#[derive(Debug)]
pub(crate) enum CookiePlace {
    /// Where one goes that the response of this URL sets.
    Url(BoundTemplate),
    /// To the target's host, or to a domain with what is below it; to a path with what is below it.
    Domain { domain: Option<BoundTemplate>, path: Option<BoundTemplate> },
}

impl Operation for CookieOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("set a cookie")
    }
}
