//! What an experiment shows, as people and programs read it. Its runs become an [`ExperimentResult`], of which every output
//! is made.

mod csv;
mod document;
mod html;
mod made;
mod markdown;
mod pictures;
mod text;
mod words;

pub use csv::{experiment_csv, experiment_runs_csv};
pub use document::{
    EXPERIMENT_SCHEMA, ExperimentAbout, ExperimentCell, ExperimentComparison, ExperimentContrast,
    ExperimentDifference, ExperimentEffect, ExperimentFactor, ExperimentMeasure, ExperimentReason,
    ExperimentResult, ExperimentRun, ExperimentServer, ExperimentState, ExperimentVariant,
    experiment_schema,
};
pub use html::experiment_html;
pub use markdown::experiment_markdown;
pub use text::experiment_text;
