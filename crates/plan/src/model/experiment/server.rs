//! A target that an experiment starts and stops.

use std::time::Duration;

use crate::keys::{
    At, CommandLine, Key, Keys, Like, Maybe, Pairs, Place, Short, ShortOr, TargetUrl, Templated,
    Time, Union, record,
};
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// A program that is the target, or a part of it: started before each run, stopped after it.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Server as "a server" {
        /// Its name in measures and messages.
        #[key(no)]
        pub name: Spanned<String>,
        /// Program and arguments, no shell; `${...}` over factors. A program with a `/` in it is relative to the folder of the
        /// file.
        #[key(required [CommandLine])]
        pub command: Vec<Template>,
        /// When the run may begin.
        #[key([Maybe<ShortOr<Ready>>] default "when it has started")]
        pub ready: Option<Ready>,
        /// Environment variables, in addition to squall's own.
        #[key([Pairs])]
        pub env: Vec<(Template, Template)>,
        /// A program that prints its version, such as `[java, -version]`: its first line of output is in the result.
        #[key([CommandLine])]
        pub version: Vec<Template>,
        /// Its working directory.
        #[key(default "the folder of the file")]
        pub directory: Option<Template>,
        /// Processors that it is bound to, such as `1` or `0-2,5`.
        #[key([Maybe<At<Templated>>] default "any")]
        pub cpus: Option<Spanned<Template>>,
        /// How long it may take to end after SIGTERM, before it is killed.
        #[key(default "10s")]
        pub stop_within: Option<Duration>,
    }
    named(name)
}

record! {
    /// How it is known that a server is ready.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Ready as "a condition" {
        /// The condition.
        #[key(no)]
        pub when: ReadyWhen,
        /// How long it may take.
        #[key(default "30s")]
        pub within: Option<Duration>,
    }
    first(this, keys) {
        keys.union(&mut this.when, true);
    }
}

/// A time alone.
impl Short for Ready {
    type Form = Time;
    fn from_short(time: Duration) -> Ready {
        Ready { when: ReadyWhen::After(time), within: None }
    }
    fn short(&self) -> Option<Duration> {
        match self.when {
            ReadyWhen::After(time) if self.within.is_none() => Some(time),
            _ => None,
        }
    }
}

/// What a server does when it is ready.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadyWhen {
    /// It answers a GET of this URL with a status below 400.
    Http(Template),
    /// It accepts connections at this `host:port`.
    Tcp(Template),
    /// It prints a line with this text in it.
    Output(Template),
    /// So much time has passed.
    After(Duration),
}

impl Default for ReadyWhen {
    fn default() -> ReadyWhen {
        ReadyWhen::After(Duration::ZERO)
    }
}

impl Union for ReadyWhen {
    fn variants() -> Vec<ReadyWhen> {
        vec![
            ReadyWhen::Http(Template::default()),
            ReadyWhen::Tcp(Template::default()),
            ReadyWhen::Output(Template::default()),
            ReadyWhen::After(Duration::ZERO),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            ReadyWhen::Http(url) => {
                let about = "A URL: ready is what answers a GET with a status below 400.";
                keys.key::<Like<Templated, TargetUrl>>(url, Key::required("http", about));
            }
            ReadyWhen::Tcp(place) => {
                let about = "A `host:port`: ready is what accepts connections.";
                keys.key::<Like<Templated, Place>>(place, Key::required("tcp", about));
            }
            ReadyWhen::Output(text) => {
                let about = "A text: ready is what prints a line with it.";
                keys.key::<Templated>(text, Key::required("output", about));
            }
            ReadyWhen::After(time) => {
                keys.key::<Time>(
                    time,
                    Key::required("after", "Ready is what has run for so long."),
                );
            }
        }
    }
}
