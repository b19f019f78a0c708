//! A run as people and programs read it: text, JSON, a folder on disk. A [`Run`] becomes a [`RunDocument`],
//! which is `run.json` and of which the text is made, one source file per format; only the folder and the [`Recording`] are written while the run
//! is in progress.

mod annotations;
mod cell;
mod compare;
mod csv;
mod curves;
mod distribution;
mod document;
mod evaluate;
mod experiment;
mod export;
pub mod families;
mod files;
mod fleet;
mod folder;
mod generator;
mod group_path;
mod history;
mod hlog;
pub mod html;
mod json;
mod junit;
mod limit;
mod lines;
mod live;
mod load;
mod markdown;
mod markup;
mod meta;
mod node_report;
mod openmetrics;
mod output;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod planned;
mod profile;
mod recording;
mod run;
mod samples;
mod schema;
mod series;
mod target;
mod text;
mod totals_file;
mod tracks;
mod trend;

/// What the fuzzer asks of parsers that are otherwise this crate's own. No part of the interface.
pub mod fuzz {
    /// Any bytes as the totals of a run.
    pub fn totals(bytes: &[u8]) {
        crate::totals_file::fuzz(bytes);
    }
}

pub use cell::{NO_PARQUET, WRITES_PARQUET};
pub use compare::{
    ComparedRow, ComparedRun, ComparedSide, ComparedTarget, ComparedValue, ComparisonDocument,
    Differing, GateRow, Pair, RunAbout, SampledMean, Side, compare_html, compare_markdown,
    compare_runs, compare_text, comparison_schema, decode_baseline, encode_baseline, read_baseline,
};
pub use curves::RunCurves;
pub use document::*;
pub use experiment::{
    EXPERIMENT_SCHEMA, ExperimentAbout, ExperimentCell, ExperimentComparison, ExperimentContrast,
    ExperimentDifference, ExperimentEffect, ExperimentFactor, ExperimentMeasure, ExperimentReason,
    ExperimentResult, ExperimentRun, ExperimentServer, ExperimentState, ExperimentVariant,
    experiment_csv, experiment_html, experiment_markdown, experiment_runs_csv, experiment_schema,
    experiment_text,
};
pub use export::{Format, export};
pub use files::{FileKind, Finished, file};
pub use fleet::{Coverage, Fleet, FleetEvent, Machine, Missing, ZoneReport};
pub use folder::{RunFolder, amend_result, new_folder};
pub use generator::{Generator, GeneratorDocument, PhaseTimes};
pub use group_path::group_path;
pub use history::{
    Extent, Filter, HistoryDocument, HistoryExperiment, HistoryRun, OUTCOMES, VALIDITIES, find_run,
    find_runs, history, history_experiment, history_run, history_text, last_runs,
};
pub use html::{Details, html};
pub use json::{document, request_rows, write_json};
pub use limit::{Around, LIMIT_SCHEMA, limit_html, limit_json, limit_text};
pub use live::{Live, live_line};
pub use load::{LoadError, load, load_folder, load_folder_to_draw, read_result};
pub use meta::{FeedReport, Mark, Meta, PlannedLoad, ScenarioMeta};
pub use node_report::{NodeReport, NodeTimes};
pub use output::{replace_file, rewrite_file};
pub use profile::{FlameFrame, HotFunction, Profile, ProfileView, Stacks};
pub use recording::Recording;
pub use run::Run;
pub use samples::{
    GroupPart, GroupSample, ListenedSample, LoadedPage, PlanAnswer, RequestSample, SampleFormat,
    SamplePart, SampleWriter,
};
pub use series::{
    CheckTrack, HostTrack, MetricTrack, RowTrack, SeriesDocument, SeriesPhase, SeriesScenario,
    SeriesTimes,
};
pub use squall_limit::level_text;
pub use text::{Show, paragraph, text};
pub use trend::{TrendDocument, TrendRun, trend, trend_text};
