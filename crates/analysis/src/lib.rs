//! What follows from what was recorded: totals, statistics, the steady part, confidence intervals, validity,
//! thresholds, comparison of runs. No I/O and no clock: time comes in as a value.
//!
//! [`Totals`] are the slices of all workers and seconds, merged, on which [`Threshold`]s are evaluated. No
//! percentile is ever averaged.

mod batches;
mod censored;
mod change;
mod compare;
mod confidence;
mod definitions;
mod long_run;
mod odd_nodes;
mod outcome;
mod recent;
mod row_numbers;
mod series;
mod steady;
mod threshold;
mod throughput_gap;
mod totals;
mod validity;

pub use batches::{Batches, RowLatencies};
pub use censored::{Bounded, Durations};
pub use compare::{
    Block, Comparison, Difference, DifferenceResult, Estimate, GRID, Gate, GateOutcome, GateResult,
    GatedRow, MEASURES, Measure, MeasureOf, Measured, Needed, RowComparison, RowSketch, RowValues,
    Scale, Sketch, SketchBuilder, TrendStep, compare, judge, steps,
};
pub use confidence::{Interval, Latencies, Unknown};
pub use definitions::{DEFINITIONS, Definition, definition};
pub use long_run::student;
pub use odd_nodes::{NodeFacts, OddNode, odd_nodes};
pub use outcome::{Abort, Evidence, FailureKind, FailureReason, Outcome, outcome};
pub use recent::Recent;
pub use row_numbers::RowNumbers;
pub use series::{
    CheckPoint, CompleteRow, MetricPoint, PhaseTimes, RowPoint, ScenarioRow, Series, SeriesBuilder,
    SeriesRow, Track,
};
pub use steady::{Shape, Steady, Unsteady, Warmup, steady, whole_seconds};
pub use threshold::parse::SyntaxError;
pub use threshold::{
    MovingWindow, RunMeasure, Statistic, Threshold, ThresholdResult, Windows, apdex_index,
};
pub use throughput_gap::{GapCause, ThroughputGap};
pub use totals::Totals;
pub use totals::summary::Summary;
pub use validity::{
    Effect, Facts, FleetFacts, Reason, VALIDITY_RULES, Validity, assess, samples_needed, worst,
};
