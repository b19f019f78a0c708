//! What a run is made with, besides its plan: plain data.

use std::collections::BTreeMap;
use std::sync::Arc;

use squall_base::AllowList;
use squall_engine::{CompileOptions, Feeds, Node, Section};
use squall_plan::value::Value;
use squall_wire::Io;

use crate::overrides::LoadOverrides;
use crate::plans::MetricTags;

/// How a plan is run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Base URL in place of the plan's target, or `builtin`.
    pub target: Option<String>,
    /// Seed of everything random, in place of the plan's.
    pub seed: Option<u64>,
    /// Whether the plan may run programs.
    pub allow_exec: bool,
    /// Threads that generate load; `None`: one per CPU, or more where open files require it.
    pub workers: Option<u32>,
    /// How connections are read and written.
    pub io: Io,
    /// What takes the place of the plan's loads, in a run.
    pub loads: LoadOverrides,
    /// The command line, for the result; secrets in it are masked.
    pub command: Vec<String>,
    /// What the tester says of the run, by name, for the result; secrets in it are masked.
    pub labels: BTreeMap<String, String>,
    /// Whether numbers that are invalid fail the run.
    pub strict: bool,
    /// What the setup has found, where it ran elsewhere: then neither setup nor teardown run here.
    pub given: Option<Vec<(String, Value)>>,
    /// Hosts that requests may go to, whatever the plan says; `None`: those of the plan.
    pub allowed: Option<Arc<AllowList>>,
    /// Which machine this is of those that run the plan together; `None`: the only one.
    pub node: Option<Node>,
    /// Tags of metrics that scripts keep in addition to those that the plan's thresholds ask for, see [`crate::metric_tags`].
    pub metric_tags: MetricTags,
}

impl Options {
    /// The options of a compilation for a target, if it is not the plan's.
    pub(crate) fn compile(&self, target: Option<String>, seed: u64) -> CompileOptions {
        CompileOptions {
            target,
            setup: self.given.clone().unwrap_or_default(),
            section: Section::Load,
            allow_exec: self.allow_exec,
            seed,
            node: self.node.clone().unwrap_or_default(),
            feeds: Feeds::default(),
            metric_tags: self.metric_tags.clone(),
            script_data: Default::default(),
            script_files: Default::default(),
        }
    }

    /// The URL that takes the place of the plan's target.
    pub(crate) fn target_url(&self) -> Option<String> {
        self.target.clone().filter(|target| target != "builtin")
    }
}
