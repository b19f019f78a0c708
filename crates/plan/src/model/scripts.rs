//! What holds for all scripts of a plan.

use std::time::Duration;

use serde_json::Value;

use crate::json::Json;
use crate::keys::{
    Any, ByName, Form, Maybe, Named, Pairs, Rate, Shape, Size, Small, record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

/// Most requests of a `batch` at the same time.
const MOST_AT_ONCE: u32 = 1_000;

record! {
    /// What holds for all scripts of a plan, and for the requests that they make.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Scripts as "scripts" {
        /// Whether `__ENV` has the environment variables of squall's own process.
        pub system_env: bool,
        /// Texts in `__ENV`; they are known before the run.
        #[key([Pairs])]
        pub env: Vec<(Template, Template)>,
        /// Secrets that `k6/secrets` gives, by the names of their sources; `secrets.get()` asks the one named `default`.
        /// They are known before the run, and masked in every output.
        #[key([ByName<SecretsOfSource>])]
        pub secrets: Vec<SecretSource>,
        /// Whether the bodies of responses are thrown away, unless a request says otherwise.
        pub discard_bodies: bool,
        /// How many requests of one `http.batch` are sent at the same time.
        #[key([Maybe<Small<1, MOST_AT_ONCE>>] default "20")]
        pub batch: Option<u32>,
        /// How many of them to one host.
        #[key([Maybe<Small<1, MOST_AT_ONCE>>] default "6")]
        pub batch_per_host: Option<u32>,
        /// Whether a request that fails throws an exception.
        pub throw: bool,
        /// How many redirects of a request are followed.
        #[key(default "10")]
        pub redirects: Option<u32>,
        /// How many requests a second all scripts begin at most; nodes divide it. Redirects do not count.
        #[key([Maybe<Rate>])]
        pub max_rate: Option<f64>,
        /// The `User-Agent` of requests that have no such header.
        #[key(default "squall/VERSION")]
        pub user_agent: Option<String>,
        /// What users of a script have in common.
        pub isolation: Isolation,
        /// What `exec.test.options` of `k6/execution` is; it is known before the run.
        #[key([Maybe<Any>])]
        pub options: Option<Json>,
        /// Memory that the scripts of one worker may use; with `isolation: vm`, those of one user.
        #[key([Maybe<Size>] default "1GiB")]
        pub memory: Option<u64>,
        /// How long a script may compute without waiting for anything.
        #[key(default "10s")]
        pub run_time: Option<Duration>,
    }
}

words! {
    /// What users of a script have in common.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Isolation {
        /// As `shared`, but as `vm` if the script writes to globals or to built-in objects, or calls `eval`.
        #[default]
        Auto = "auto",
        /// Users of one worker share an interpreter, whose globals and built-in objects cannot be changed.
        Shared = "shared",
        /// Each user has an interpreter of its own.
        Vm = "vm",
    }
}

/// Secrets that scripts may ask for, from one source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SecretSource {
    /// The name of the source.
    pub name: Spanned<String>,
    /// Its secrets, by their names.
    pub secrets: Vec<(Template, Template)>,
}

impl Named for SecretSource {
    fn set_name(&mut self, name: Spanned<String>, _: &mut Reader) {
        self.name = name;
    }

    fn name(&self) -> &str {
        &self.name.value
    }
}

/// The form of a source of secrets: their names and values.
pub(crate) struct SecretsOfSource;

impl Form for SecretsOfSource {
    type Value = SecretSource;
    fn shape() -> Shape {
        Pairs::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<SecretSource> {
        Some(SecretSource { secrets: Pairs::read(reader, node)?, ..SecretSource::default() })
    }
    fn print(value: &SecretSource) -> Value {
        Pairs::print(&value.secrets)
    }
}
