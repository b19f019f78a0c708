//! What a run was that is compared.

use super::means::SampledMean;
use crate::meta::Meta;
use crate::schema::document;

document! {
    /// What a run was, as far as a comparison needs it.
    RunAbout {
        /// What was tested, and with what.
        meta: Meta,
        /// Length of the run, in seconds.
        elapsed_s: f64,
        /// Whether it ended in an orderly way.
        finished: bool,
        /// Whether the tester interrupted it.
        interrupted: bool,
        /// Whether it passed.
        passed: bool,
        /// How far its numbers can be trusted: `valid`, `questionable` or `invalid`.
        validity: String,
        /// Why not further, the most severe first.
        reasons: Vec<String>,
        /// The share of its machine's CPU time that programs other than squall and the target took, as far as squall could
        /// tell them apart; null: unknown.
        cpu_of_others: Option<f64>,
        /// The seconds that are compared: the first, and the one after the last.
        seconds: (u64, u64),
        /// Whether these are a part in which it was steady.
        is_steady: bool,
        /// `recording`, or `result` where that alone is left.
        source: String,
        /// What monitors sampled of its target, in the mean.
        target: Vec<SampledMean>,
    }
}
