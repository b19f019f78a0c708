//! A step that waits for a rate.

use std::time::Duration;

use super::kind::Kind;
use crate::expr::Expr;
use crate::keys::{Identifier, Maybe, Rule, Small, record, words};

record! {
    /// A wait for a rate. The first pass waits for nothing; who comes late goes on at once, and what was
    /// missed is not made up for.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Pace as "a pace" {
        /// Passes per second: a number, or an expression that each user evaluates when it arrives, and again while it
        /// waits in line. 0 or less means no wait; a user in line waits until the expression is above 0.
        #[key(required)]
        pub rate: Expr,
        /// Who keeps it.
        pub by: PacedBy,
        /// Steps of a scenario with the same clock keep one rate together.
        #[key([Maybe<Identifier>] default "one of its own")]
        pub clock: Option<String>,
        /// For users waiting in line: exactly rate × time passes (rounded up) in each period of this length, at random
        /// moments. Periods count from the first pass, and missed passes are made up for.
        #[key(default "the passes follow each other at even distances")]
        pub exact_over: Option<Duration>,
        /// How many passes are due at each of these moments.
        #[key([Small<1, { u32::MAX }>])]
        pub batch: u32,
    }
    first(this, _keys) {
        this.batch = this.batch.max(1);
    }
    rules(_this, keys) {
        let words = &["scenario_in_line", "run_in_line"];
        let unless = r#"[0, "0", "0s"]"#;
        keys.rule(Rule::OnlyWithOneOf { key: "exact_over", other: "by", words, unless });
        keys.rule(Rule::OnlyWithOneOf { key: "batch", other: "by", words, unless: r#"[1, "1"]"# });
    }
}

words! {
    /// Who keeps a rate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PacedBy {
        /// Each user by itself.
        #[default]
        User = "user",
        /// The active users of the scenario, each an equal part of it.
        Scenario = "scenario",
        /// All active users, each an equal part of it.
        Run = "run",
        /// The users of the scenario, one after the other.
        ScenarioInLine = "scenario_in_line",
        /// All users, one after the other.
        RunInLine = "run_in_line",
    }
}

impl<S> Kind<S> for Pace {}
