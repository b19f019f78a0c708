//! What changed from one run to another, as people and programs read it. A run, or several of the same thing, are a
//! [`Side`]; [`compare_runs`] makes one [`ComparisonDocument`] of several, of which every output is made.

mod about;
mod baseline;
mod compared;
mod differs;
mod document;
mod gate_words;
mod html;
mod markdown;
mod means;
mod plot;
mod side;
mod target;
mod text;
mod words;

pub use about::RunAbout;
pub use baseline::{decode_baseline, encode_baseline, read_baseline};
pub use compared::compare_runs;
pub use document::{
    ComparedRow, ComparedRun, ComparedSide, ComparedValue, ComparisonDocument, Differing, GateRow,
    Pair, comparison_schema,
};
pub use html::compare_html;
pub use markdown::compare_markdown;
pub use means::SampledMean;
pub use side::Side;
pub(crate) use side::{key, run_name};
pub use target::ComparedTarget;
pub use text::compare_text;
