//! An experiment, as far as a list of runs needs it.

use std::io::Read;

use super::beginning;
use crate::experiment::{EXPERIMENT_SCHEMA, ExperimentAbout, ExperimentMeasure, ExperimentVariant};
use crate::load::MAX_RESULT;
use crate::schema::document;

document! {
    /// An experiment, as far as a list needs it: the beginning of its `experiment.json`.
    HistoryExperiment {
        /// Version of its schema.
        schema: u64,
        /// What was done, when and with what.
        about: ExperimentAbout,
        /// What was measured, and what is to be said of it.
        measures: Vec<ExperimentMeasure>,
        /// The variants.
        variants: Vec<ExperimentVariant>,
    }
}

/// An experiment of its `experiment.json`, of which no more is read than is wanted.
///
/// # Errors
/// It is no result of an experiment that this version can read, in a sentence.
pub fn history_experiment(experiment_json: impl Read) -> Result<HistoryExperiment, String> {
    let own: HistoryExperiment =
        beginning::read_until("variants", experiment_json.take(MAX_RESULT))?;
    match own.schema {
        EXPERIMENT_SCHEMA => Ok(own),
        _ => Err("another version of squall wrote it".to_owned()),
    }
}
