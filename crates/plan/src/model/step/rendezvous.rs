//! A step that waits for other users.

use std::time::Duration;

use super::kind::Kind;
use crate::keys::{Identifier, Maybe, Small, record};

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

impl<S> Kind<S> for Rendezvous {}
