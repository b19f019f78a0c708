//! A step that runs a program.

use super::kind::Kind;
use crate::keys::{CommandLine, Pairs, record};
use crate::model::response::{Check, Checks, Extract, Extracts, variables};
use crate::model::user_time::UserTime;
use crate::template::Template;

record! {
    /// A program run as a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Exec as "an exec step" {
        /// Program and arguments, no shell. A program with a `/` in it is relative to the folder of the plan; one without is
        /// sought on the PATH.
        #[key(required "exec" [CommandLine])]
        pub command: Vec<Template>,
        /// Name under which it is counted.
        #[key(default "the program's file name")]
        pub name: Option<Template>,
        /// Timeout.
        #[key(default "60s")]
        pub timeout: Option<UserTime>,
        /// What `status` is after a timeout, which is then not an error by itself; what was printed is discarded.
        #[key(default "an error, and nothing looks at it")]
        pub timeout_status: Option<u32>,
        /// What `reason` is; `status` is known in it.
        pub reason: Option<Template>,
        /// What `sent_body` is, as if that had been sent.
        pub sent: Option<Template>,
        /// Environment variables, in addition to squall's own.
        #[key([Pairs])]
        pub env: Vec<(Template, Template)>,
        /// Its working directory.
        #[key(default "where squall was started")]
        pub directory: Option<Template>,
        /// File that is its standard input.
        #[key(default "empty")]
        pub stdin: Option<Template>,
        /// File that its standard output is written to, overwritten each time; nothing can then be extracted from it.
        pub stdout: Option<Template>,
        /// File that its standard error is written to, overwritten each time.
        pub stderr: Option<Template>,
        /// Whether it counts; one that does not is left out of all rows and totals, whatever its outcome.
        #[key(default "true")]
        pub counted: Option<bool>,
        /// Values taken from its standard output (`status` is the exit code).
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions; without one, an exit code other than 0 is an error.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
}

impl<S> Kind<S> for Exec {
    fn writes<'s>(&'s self, into: &mut Vec<&'s str>) {
        into.extend(variables(&self.extract));
    }
}
