//! Records and judges: histograms, slices, totals, thresholds. No I/O, no clock of its own; time
//! comes in as a value.
//!
//! A worker records into a [`Slice`] a second; slices merge exactly, over workers and time, into
//! [`Totals`], which [`Threshold`]s judge. Statistics never cross threads in another form: no
//! percentile is ever averaged.

mod codec;
mod confidence;
mod definitions;
mod deviation;
mod histogram;
pub mod hlog;
mod kind;
mod ledger;
mod machine;
mod names;
mod own;
mod row;
mod slice;
mod steady;
mod threshold;
mod totals;
mod verdict;

pub use codec::DecodeError;
pub use confidence::{Batches, Interval, Method, student};
pub use definitions::{DEFINITIONS, Definition, definition};
pub use deviation::{Cause, Deviation};
pub use histogram::{COARSE, FINE, HIGHEST, Histogram};
pub use kind::ErrorKind;
pub use ledger::{Book, Ledger, State};
pub use machine::{Machine, Surroundings};
pub use names::{MAX_NAMES, NameId, NameKind, Names, OTHER};
pub use own::Own;
pub use row::{PHASES, Phases, Row, Sample};
pub use slice::{Counters, Slice};
pub use steady::{Shape, Steady, Warmup, steady};
pub use threshold::{Judgement, SyntaxError, Threshold};
pub use totals::{SecondRow, Totals};
pub use verdict::{Facts, Reason, Trust, samples_needed, trust, verdict};
