//! A value to record.

use std::fmt::{Formatter, Result};

use squall_metrics::MetricKey;
use squall_plan::expr::BoundExpr;
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// A value to record.
#[derive(Debug)]
pub(crate) struct MetricOp {
    /// Name and kind, with the tags where all of them are known before the run.
    pub key: MetricKey,
    pub value: BoundExpr,
    /// All tags, where one of them depends on the user.
    pub tags: Vec<(Box<str>, BoundTemplate)>,
}

impl Operation for MetricOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "{} {}", self.key.kind.label(), self.key.label())
    }
}
