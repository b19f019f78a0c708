//! Experiments: which variant is better, and what is chance. Pure: no clock, no processes, no runs; those are the
//! caller's part.
//!
//! A [`Design`] says which variants there are and in which order their runs are made. [`Statistics`] are what follows
//! from one measure of all runs: effects of the factors, comparisons of the variants, drift.

mod design;
mod measure;
mod schedule;
mod statistics;
mod words;

pub use design::{Design, Factor, MAX_VARIANTS, TooLarge};
pub use measure::{Measure, Unit};
pub use schedule::{Demand, Next, Repeats, Run, Schedule};
pub use statistics::{
    Assumes, Cell, Contrast, Drift, Effect, LevelContrast, PairContrast, Sample, Scale, Shares,
    Statistics,
};
pub use words::sentences;
