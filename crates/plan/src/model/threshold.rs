//! Thresholds as a plan writes them: a text alone, or with what becomes of the run while it is violated.

use std::time::Duration;

use crate::keys::{Form, Plain, Rule, Short, ShortOr, record};
use crate::span::Spanned;

record! {
    /// A requirement that judges the whole run. What its text means is known when the plan is compiled.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Threshold as "a threshold" {
        /// The requirement, such as `p99(login) < 300ms`.
        #[key(required "threshold")]
        pub text: Spanned<String>,
        /// Whether the load ends, in order, as soon as it is violated by what was recorded so far, which is
        /// looked at each second.
        pub abort_on_fail: bool,
        /// From when on that is looked at, counted from the start of the load.
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
    type Form = <Spanned<String> as Plain>::Form;
    fn from_short(text: <Self::Form as Form>::Value) -> Threshold {
        Threshold { text, ..Threshold::default() }
    }
    fn short(&self) -> Option<Spanned<String>> {
        (!self.abort_on_fail).then(|| self.text.clone())
    }
}

/// The form of thresholds.
pub(crate) type Written = ShortOr<Threshold>;
