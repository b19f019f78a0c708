//! Commands on a plan: run it, try it, find the limit of its target, check it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use squall_runner::LoadOverrides;

use super::fleet::{Fleet, Server};
use super::nodes::{Nodes, nodes};
use super::options::{Monitors, Output, RuntimeOptions, Variables};
use super::values::{at_least_one, duration, length, rate};

#[derive(Debug, Args)]
pub struct Run {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    /// Virtual users instead of the plan's, distributed over its closed workloads in the plan's proportions, each at
    /// least one.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub users: Option<u64>,
    /// Arrival rate instead of the plan's, such as 50/s, distributed over its open workloads in the plan's proportions.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<f64>,
    /// Ramp-up time of each load, instead of the plan's.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub ramp: Option<Duration>,
    /// Total iterations of each load, by all its users together, instead of the plan's own ends.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub iterations: Option<u64>,
    /// Length of the load, instead of the plan's own ends.
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    pub duration: Option<Duration>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub fleet: Fleet,
}

impl Run {
    /// What takes the place of the plan's loads.
    pub fn loads(&self) -> LoadOverrides {
        let Run { users, rate, ramp, iterations, duration, .. } = *self;
        LoadOverrides { users, rate, ramp, iterations, length: duration }
    }
}

#[derive(Debug, Args)]
pub struct Limit {
    /// The plan. Its loads are replaced, in their proportions.
    pub plan: PathBuf,
    /// A requirement, such as 'p99 < 200ms' or 'error_rate < 1%'; may be given more than once
    /// [default: the plan's thresholds].
    #[arg(long, value_name = "THRESHOLD")]
    pub require: Vec<String>,
    /// What to raise: iterations started per second, virtual users, or a factor of the plan's loads [default: whichever the
    /// plan's load has; a factor if it has both].
    #[arg(long, value_enum)]
    pub by: Option<Raised>,
    /// First load level [default: 10/s, 1 user, or 0.25 of the plan's loads].
    #[arg(long, value_name = "A")]
    pub from: Option<String>,
    /// Highest load level [default: as high as it takes].
    #[arg(long, value_name = "B")]
    pub to: Option<String>,
    /// Length of a step, of which the first fifth is not measured.
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "30s")]
    pub step: Duration,
    /// Maximum number of steps.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub steps: u32,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub monitors: Monitors,
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Folder in which a folder with plan.yaml, limit.json, limit.txt and limit.html is created.
    #[arg(short = 'o', long, value_name = "DIR", default_value = "squall-runs")]
    pub out: PathBuf,
    /// Print only the result, not the progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
    #[command(flatten)]
    pub fleet: Fleet,
}

/// What `squall limit` raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Raised {
    /// Iterations started per second.
    Rate,
    /// Virtual users.
    Users,
    /// The plan's loads, multiplied by a factor.
    Factor,
}

#[derive(Debug, Args)]
pub struct Try {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    /// Try only this scenario.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Show only the requests of this step, by its number, such as 3 or 3.1, or by a request's name. Steps
    /// before it are run; with a number, those after it are not.
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// Show all headers and whole bodies, files and forms too (at most 64MiB of each message).
    #[arg(long)]
    pub full: bool,
    /// Also write what --full shows to FILE.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub monitors: Monitors,
    /// Print the compiled program.
    #[arg(long)]
    pub program: bool,
}

#[derive(Debug, Args)]
pub struct Init {
    /// The file to write; one that is there is left alone.
    #[arg(value_name = "FILE", default_value = "plan.yaml")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// The JMeter plan, or the k6 script.
    pub plan: PathBuf,
    /// Set a JMeter property; may be given more than once.
    #[arg(short = 'J', long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Set a variable of a script's `__ENV`; may be given more than once.
    #[arg(short = 'e', long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Read JMeter properties from a file, like its own `-q`; those given with `-J` take precedence. May be given more than once.
    #[arg(long, value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Leave out what is not supported; without this it is an error, though the rest is still written.
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Keep JMeter's messages for failed assertions, and say everything where JMeter does. Without this the plan is
    /// one to maintain: it sends and judges the same, in fewer words.
    #[arg(long)]
    pub exact: bool,
    /// The file to write [default: standard output].
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// A plan, to check what it needs from the machine.
    pub plan: Option<PathBuf>,
    /// Explain each kernel setting that published advice names, also where nothing has to change.
    #[arg(long, conflicts_with = "nodes")]
    pub settings: bool,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub monitors: Monitors,
    /// Look at these nodes of a fleet instead of this machine: N, or eu=12,us=8 of these zones [default: all that are there].
    #[arg(long, help_heading = "Fleet", value_name = "N|ZONE=N", value_parser = nodes)]
    pub nodes: Option<Nodes>,
    #[command(flatten)]
    pub server: Server,
}
