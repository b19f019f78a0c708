//! A call of a function of a script.

use std::fmt::{Formatter, Result};
use std::sync::Arc;

use squall_extract::Extractor;
use squall_metrics::{MetricKind, Place};
use squall_plan::expr::Slot;

use super::operation::{Legend, Operation};
use crate::program::OwnEnv;
use crate::program::ops::JsonOp;

/// A call of a function of a script.
#[derive(Debug)]
pub(crate) struct ScriptOp {
    /// The script, by its number in the program.
    pub script: u32,
    /// The kind of its users, by its number over all scripts: a user has one instance of the script for each.
    pub kind: u32,
    /// What `__ENV` of this kind has beside that of all users, or in place of it.
    pub env: OwnEnv,
    pub function: Box<str>,
    pub args: Vec<JsonOp>,
    pub returns: Vec<ReturnOp>,
    /// Where its requests count; what else it does counts there too, in places of its own kind.
    pub place: Place,
    /// Whether it is a scenario's; else it is one of setup or teardown.
    pub is_of_scenario: bool,
    /// The number of its step, such as `3.1`.
    pub step: Box<str>,
    /// The metrics that it may record.
    pub metrics: Vec<ScriptMetricOp>,
    /// Its number among the calls of the program.
    pub number: u32,
}

/// A metric that a script may record.
#[derive(Debug)]
pub(crate) struct ScriptMetricOp {
    pub kind: MetricKind,
    pub name: Box<str>,
    /// The tags by which thresholds tell its values apart; no others are kept.
    pub tags: Vec<String>,
}

/// A variable that is set from what a function returns.
#[derive(Debug)]
pub(crate) struct ReturnOp {
    pub slot: Slot,
    pub variable: Box<str>,
    /// The JSONPath, as the plan has it.
    pub path: Box<str>,
    /// What looks for it; `None`: it is all of what was returned.
    pub extractor: Option<Arc<Extractor>>,
}

impl Operation for ScriptOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "script {}, {}()", self.script, self.function)
    }

    fn is_name_known(&self) -> bool {
        false
    }
}
