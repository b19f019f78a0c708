//! An experiment: variants of a target, a plan or a machine, and how each is run.

mod factor;
mod invalid;
mod server;

pub(crate) use factor::FactorForm;
pub use factor::{Factor, FactorKind, FactorVariant, LoadKey};
pub use invalid::CountInvalid;
pub use server::{Ready, ReadyWhen, Server};

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::{Plan, Warmup};
use crate::keys::{
    At, ByName, CommandLine, Form, IntFrom, Like, Listed, Maybe, NotEmpty, Of, Path, Percent,
    Plain, Rule, Shape, Text, Time, record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// Which variant is better: what differs between them, what each run drives, what is measured, and how often.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Experiment as "an experiment" {
        /// Name of the experiment, used in reports.
        #[key(default "the file's name")]
        pub name: String,
        /// What each run drives: a plan's file (YAML, `.jmx`), or a plan.
        #[key(required)]
        pub plan: PlanSource,
        /// What differs between the variants, by name: every combination of the values is a variant.
        #[key([ByName<FactorForm>])]
        pub factors: Vec<Factor>,
        /// The variants one by one, in place of `factors`: for each its name, and what is set.
        #[key([ByName<Of<FactorVariant>>])]
        pub variants: Vec<FactorVariant>,
        /// What is compared, as thresholds write it: `p99`, `mean(login)`, `rate`, `cpu(server)`.
        #[key([Listed<At<Like<Text, NotEmpty>>>] default "mean, p99, rate, error_rate")]
        pub measure: Vec<Spanned<String>>,
        /// How often each variant is run.
        #[key([Maybe<At<IntFrom<1, 1_000>>>] default "5")]
        pub repeat: Option<Spanned<u64>>,
        /// Runs go on until the intervals are this narrow.
        #[key([Maybe<Of<Until>>])]
        pub until: Option<Until>,
        /// How often a run that failed, or whose numbers are invalid, is made again.
        #[key([Maybe<IntFrom<0, 100>>] default "2")]
        pub retries: Option<u64>,
        /// Which runs count although their numbers are invalid, and are not made again: `true`, or the rules that may say so, such as
        /// `[ports]`.
        #[key(default "none")]
        pub count_invalid: CountInvalid,
        /// How long a run may take, setup and teardown included, before it is ended and has failed.
        #[key([Maybe<Time>] default "three times its load, at least 1h")]
        pub run_within: Option<Duration>,
        /// The order of the runs.
        pub order: Order,
        /// Seed of the order.
        #[key(default "another each time")]
        pub seed: Option<u64>,
        /// URL that the plan's requests go to, in place of the plan's own `target`; may hold `${...}` over factors.
        pub target: Option<Template>,
        /// The target that is started before each run and stopped after it.
        #[key([Maybe<Of<Server>>])]
        pub server: Option<Server>,
        /// Several such, by name, started in the order of the file.
        #[key([ByName<Of<Server>>])]
        pub servers: Vec<Server>,
        /// Programs that run once for each variant, before its first run, such as a build.
        #[key([Commands])]
        pub prepare: Vec<Vec<Template>>,
        /// Programs that run before each run, before the servers are started.
        #[key([Commands])]
        pub before: Vec<Vec<Template>>,
        /// Programs that run after each run, when the servers have ended.
        #[key([Commands])]
        pub after: Vec<Vec<Template>>,
        /// Processors that squall itself is bound to, such as `0` or `0-2,5`.
        #[key([Maybe<At<Text>>] default "any")]
        pub cpus: Option<Spanned<String>>,
        /// What is cut off the beginning of each run, in place of what the plan says.
        #[key(default "as the plan says")]
        pub warmup: Option<Warmup>,
    }
    rules(this, keys) {
        keys.rule(Rule::Excludes("factors", "variants", "name the variants, or what differs between them"));
        keys.rule(Rule::Excludes("repeat", "until", "`until` has its own limits, `least` and `most`"));
        keys.rule(Rule::Excludes("server", "servers", "put it among the others, under a name"));
        let _ = this;
    }
}

words! {
    /// The order of the runs of an experiment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Order {
        /// Each variant once a block, in random order: what changes meanwhile falls on none in particular.
        #[default] Random = "random",
        /// Each variant once a block, in the order of the file: what changes meanwhile may look like a difference.
        File = "file",
    }
}

record! {
    /// How narrow the intervals have to be.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Until as "an end of repeats" {
        /// Half the width of each variant's interval, as a share of its value.
        #[key(required [At<Percent>])]
        pub relative_error: Spanned<f64>,
        /// Fewest repeats.
        #[key([Maybe<IntFrom<2, 1_000>>] default "3")]
        pub least: Option<u64>,
        /// Most repeats.
        #[key([Maybe<IntFrom<2, 1_000>>] default "20")]
        pub most: Option<u64>,
    }
}

/// What each run drives.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanSource {
    /// A plan's file.
    File(Spanned<PathBuf>),
    /// A plan in the file of the experiment.
    Inline(Box<Plan>),
}

impl Default for PlanSource {
    fn default() -> PlanSource {
        PlanSource::File(Spanned::default())
    }
}

/// The form of a plan: the path of a file, or a plan.
pub struct PathOrPlan;

impl Form for PathOrPlan {
    type Value = PlanSource;
    fn shape() -> Shape {
        Shape::Either(vec![Path::shape(), Of::<Plan>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<PlanSource> {
        if node.is_map() {
            return crate::model::read_plan(reader, node)
                .map(|plan| PlanSource::Inline(Box::new(plan)));
        }
        At::<Path>::read(reader, node).map(PlanSource::File)
    }
    fn print(value: &PlanSource) -> Value {
        match value {
            PlanSource::File(path) => At::<Path>::print(path),
            PlanSource::Inline(plan) => Of::<Plan>::print(plan),
        }
    }
}

impl Plain for PlanSource {
    type Form = PathOrPlan;
}

/// The form of programs that run one after the other: command lines, each a list of a program and its arguments.
type Commands = Listed<CommandLine>;
