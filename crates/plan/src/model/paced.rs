//! Steps that hold a user back or leave it out by count: waits for a rate or for other users, and steps in some of the
//! passes.

use std::time::Duration;

use super::Step;
use super::step_list::StepList;
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

record! {
    /// A wait until so many users are there; then all of them go on at once.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Rendezvous as "a rendezvous" {
        /// How many users, over all scenarios that arrive there. A single user (`squall try`, setup, teardown) does
        /// not wait.
        #[key(required [Small<1, { u32::MAX }>])]
        pub users: u32,
        /// How long the first of them waits at most; then those who have arrived continue.
        #[key(default "until the run ends")]
        pub timeout: Option<Duration>,
        /// Steps with the same name are one meeting point, across all scenarios.
        #[key([Maybe<Identifier>] default "a place of its own")]
        pub name: Option<String>,
    }
}

record! {
    /// In which passes steps are done.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Passes as "passes" {
        /// In the first so many passes: a number or an expression.
        pub first: Option<Expr>,
        /// In this percentage of the passes, evenly spread: a number or an expression.
        pub percent: Option<Expr>,
        /// Who counts.
        pub of: CountedBy,
        /// Its steps.
        #[key(required [StepList])]
        pub steps: Vec<Step>,
    }
    rules(_this, keys) {
        keys.rule(Rule::Excludes("first", "percent", "leave out one of them"));
        keys.rule(Rule::AnyOf(&["first", "percent"], "passes need `first` or `percent`", ""));
    }
}

words! {
    /// Who counts passes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum CountedBy {
        /// Each user its own.
        #[default]
        User = "user",
        /// The users of the scenario together.
        Scenario = "scenario",
    }
}

words! {
    /// What a group is in files of samples that have groups.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum GroupSamples {
        /// A row behind those of what is in it.
        #[default]
        Apart = "apart",
        /// One sample, of which what is in it are the parts.
        Parts = "parts",
    }
}

words! {
    /// Whether the waits within a group are part of its time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ThinkTime {
        /// They are.
        #[default]
        Included = "included",
        /// They are left out.
        Excluded = "excluded",
    }
}
