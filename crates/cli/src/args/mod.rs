//! What can be typed. What it means is decided by the commands.

mod arguments;
mod commands;
mod experiment;
mod fleet;
mod k6;
mod k6_flags;
mod mistakes;
mod nodes;
mod one_line;
mod options;
mod plans;
mod results;
mod url;
mod values;

pub use arguments::{Arguments, short_help};
pub use commands::{Command, Completions, Jmeter, Man, Target};
pub use experiment::Experiment;
pub use fleet::{
    Fleet, FleetCommand, FleetCommands, FleetManifest, FleetUp, ManifestKind, Node, OnLoss, Server,
    fleet, fleet_options,
};
pub use k6::{K6, K6Command, K6Fetch, K6Given, K6Inspect, K6New, K6Run};
pub use k6_flags::{K6Log, LogFormat, LogLevel, LogOutput};
pub use mistakes::{explained, masked};
pub use nodes::{Nodes, name};
pub use one_line::OneLine;
pub use options::{Output, RuntimeOptions, Values, Variables};
pub use plans::{Check, Convert, Doctor, Init, Limit, Raised, Run, Try};
pub use results::{Baseline, BaselineCommand, Compare, Export, History, Report, Runs, Trend, Ui};
pub use values::{nats_url, rate, weight};
