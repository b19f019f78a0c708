//! What k6 says at the end of a run: its summary as data, as text, and as the file of `--summary-export`; and what a
//! script's `handleSummary` wants written. Pure: who has run the script gives the facts, and writes what is made of them.

mod built_in;
mod data;
mod export;
mod facts;
mod files;
mod group;
mod json;
mod lines;
mod machine;
mod mode;
mod number;
#[cfg(test)]
mod sample;
mod selector;
mod statistic;
mod text;

pub use built_in::BuiltIn;
pub use data::{Metric, ScenarioData, State, SummaryData, SummaryOptions, ThresholdState};
pub use export::export;
pub use facts::{
    CheckFacts, Contains, Distribution, MetricFacts, RunFacts, ScenarioFacts, ThresholdFacts,
    Values,
};
pub use files::{Destination, files_of};
pub use group::{Check, Group};
pub(crate) use json::{kind_label, whole_or_fraction};
pub use machine::{K6_VERSION, machine_readable};
pub use mode::SummaryMode;
pub use number::TimeUnit;
pub use selector::Selector;
pub use statistic::Statistic;
pub use text::{TextOptions, text};
