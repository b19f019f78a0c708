//! A profile of the target's CPU time, taken while it is under load.

use std::time::Duration;

use crate::keys::{At, Identifier, Like, Maybe, Requirement, Rule, Text, record};
use crate::span::Spanned;

record! {
    /// A profile of the CPU time of a process of the target.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Profile as "a profile" {
        /// The process: the name of a monitor that samples processes.
        #[key(required [At<Identifier>])]
        pub process: Spanned<String>,
        /// It begins when what was recorded in the last second violates or meets this, such as `p99 > 500ms`.
        #[key([Maybe<At<Like<Text, Requirement>>>])]
        pub when: Option<Spanned<String>>,
        /// It begins so long after the start of the load.
        pub at: Option<Duration>,
        /// How long it takes.
        #[key("for" default "10s")]
        pub lasts: Option<Duration>,
    }
    rules(this, keys) {
        let _ = this;
        keys.rule(Rule::AnyOf(&["when", "at"], "a profile begins at a time, or when something happens", "add `at: 30s`, or `when: p99 > 500ms`"));
        keys.rule(Rule::Excludes("when", "at", "one beginning suffices"));
    }
}
