//! What is judged as a response: requests, printed (their data stand in a file of their own), and texts.

use std::fmt::{Display, Formatter, Result};

use squall_base::units::counted;
use squall_plan::expr::BoundExpr;
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};
use crate::program::call::UrlOp;
use crate::program::ops::{NameOp, PostOp};
use crate::program::samples::RequestOp;

/// A text that is looked at as a response is.
#[derive(Debug)]
pub(crate) struct LookOp {
    pub text: BoundTemplate,
    pub status: BoundExpr,
    /// `None`: that it is OK.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// What is done with it, in the plan's order.
    pub post: Vec<PostOp>,
}

impl Operation for LookOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "look, {}", Counted(&self.post))
    }
}

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

/// How many extracts and checks there are.
struct Counted<'a>(&'a [PostOp]);

impl Display for Counted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let checks = self.0.iter().filter(|op| matches!(op, PostOp::Check(_))).count();
        let counts = [(self.0.len() - checks, "extract"), (checks, "check")];
        let said = counts.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(number, what)| counted(*number as u64, what)).collect();
        f.write_str(&said.join(", "))
    }
}
