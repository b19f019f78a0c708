//! What an experiment shows, as people and programs read it. Its runs become an [`ExperimentResult`], of which every output
//! is made.

mod document;
mod made;

pub use document::{
    EXPERIMENT_SCHEMA, ExperimentAbout, ExperimentCell, ExperimentComparison, ExperimentContrast,
    ExperimentDifference, ExperimentEffect, ExperimentFactor, ExperimentMeasure, ExperimentResult,
    ExperimentRun, ExperimentServer, ExperimentVariant, experiment_schema,
};
