//! What changed from one run to another. A run becomes a [`Sketch`]: for each row its distribution, and what was
//! counted in blocks of whole seconds. [`compare`] makes a [`Comparison`] of two of them, which every output
//! shows; gates and trends are judged on the same. Pure.

mod difference;
mod estimate;
mod gate;
mod measure;
mod sketch;
mod trend;

pub use difference::{Comparison, Difference, DifferenceResult, RowComparison, compare};
pub use estimate::{Estimate, Measured, RowValues};
pub use gate::{Gate, GateResult, GatedRow, judge};
pub use measure::{GRID, MEASURES, Measure, MeasureOf, Scale};
pub use sketch::{Block, Counting, RowSketch, Sketch, SketchBuilder, quantile_ranks};
pub use trend::{TrendStep, steps};

#[cfg(test)]
mod tests;
