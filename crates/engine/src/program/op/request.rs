//! Requests, printed. Their data stand in a file of their own.

use std::fmt::{Formatter, Result};

use super::counted::Counted;
use super::operation::{Legend, Operation};
use crate::program::call::UrlOp;
use crate::program::ops::NameOp;
use crate::program::samples::RequestOp;

impl Operation for RequestOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        let RequestOp { call, policy } = self;
        match &policy.row.name {
            NameOp::Static(name) => write!(f, "request {}", names.row(*name))?,
            NameOp::Rendered(_) => f.write_str("request (named when it runs)")?,
            NameOp::FromUrl => write!(f, "request {} (named by its URL)", call.method)?,
        }
        match (&call.prepared, &call.url) {
            (Some(prepared), _) => write!(f, ", {} bytes rendered", prepared.bytes.len())?,
            (None, UrlOp::Any(_)) => f.write_str(", URL known when it runs")?,
            (None, _) => f.write_str(", rendered each time")?,
        }
        if !policy.post.is_empty() {
            write!(f, ", {}", Counted(&policy.post))?;
        }
        match policy.limits.keep {
            0 => Ok(()),
            u64::MAX => f.write_str(", body kept"),
            bytes => write!(f, ", first {bytes} bytes of the body kept"),
        }
    }

    fn is_name_known(&self) -> bool {
        self.policy.row.name.known().is_some()
    }
}
