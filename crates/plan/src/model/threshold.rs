//! Thresholds as a plan writes them: a text alone, or with what becomes of the run while it is violated.

use std::time::Duration;

use crate::keys::{At, Form, Like, Requirement, Rule, Short, ShortOr, Text, record};
use crate::span::Spanned;

record! {
    /// A requirement that judges the whole run. What its text means is known when the plan is compiled.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Threshold as "a threshold" {
        /// The requirement, such as `p99(login) < 300ms`, or for each window `p99(login) < 300ms over 10s`.
        #[key(required "threshold" [At<Like<Text, Requirement>>])]
        pub text: Spanned<String>,
        /// Whether the load stops gracefully as soon as what was recorded so far violates it, which is checked each
        /// second.
        pub abort_on_fail: bool,
        /// When checking begins, counted from the start of the load.
        pub after: Duration,
    }
    rules(this, keys) {
        let help = "add `abort_on_fail: true`, or leave `after` out";
        keys.rule(Rule::Needs("after", "abort_on_fail", help));
        if !this.abort_on_fail {
            this.after = Duration::ZERO;
        }
    }
}

/// The requirement alone.
impl Short for Threshold {
    type Form = At<Like<Text, Requirement>>;
    fn from_short(text: <Self::Form as Form>::Value) -> Threshold {
        Threshold { text, ..Threshold::default() }
    }
    fn short(&self) -> Option<Spanned<String>> {
        (!self.abort_on_fail).then(|| self.text.clone())
    }
}

/// The form of thresholds.
pub(crate) type Written = ShortOr<Threshold>;
