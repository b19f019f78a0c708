//! What changed from one run to another, or from some runs of the same thing to others. A run becomes a [`Sketch`]: for
//! each row its distribution, and what was counted in blocks of whole seconds; several runs are one, too
//! ([`Measured::pool`]). [`compare`] makes a [`Comparison`] of two of them, which every output shows; gates and trends are
//! judged on the same. Pure.

mod advice;
mod comparison;
mod difference;
mod estimate;
mod gate;
mod measure;
mod percentiles;
mod probability;
mod sketch;
mod spread;
mod trend;

pub use comparison::{Comparison, Difference, DifferenceResult, Needed, RowComparison};
pub use difference::compare;
pub use estimate::{Estimate, Measured, RowValues};
pub use gate::{Gate, GateOutcome, GateResult, GatedRow, judge};
pub use measure::{GRID, MEASURES, Measure, MeasureOf, Scale};
pub use sketch::{Block, RowSketch, Sketch, SketchBuilder};
pub use trend::{TrendStep, steps};

#[cfg(test)]
mod tests;
