//! Monitors: what of the target and its hosts is sampled while the load runs.

use std::time::Duration;

use crate::keys::{
    At, IntFrom, Key, Keys, Known, KnownCommand, Like, Listed, Maybe, NotEmpty, ReceiverUrl, Text,
    Union, Word, record, words,
};
use crate::span::Spanned;

record! {
    /// Something that belongs to the target, sampled once a second while the load runs.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Monitor as "a monitor" {
        /// Its name, a tag of its metrics.
        #[key(no)]
        pub name: Spanned<String>,
        /// Its kind, and where it is.
        #[key(no)]
        pub kind: MonitorKind,
    }
    named(name)
    first(this, keys) {
        keys.union(&mut this.kind, true);
    }
}

/// What is sampled, and how.
#[derive(Debug, Clone, PartialEq)]
pub enum MonitorKind {
    /// The host that squall runs on.
    Host(HostWord),
    /// A process of this host, and its descendants, by its number.
    Pid(u64),
    /// The processes that listen at this TCP port, and their descendants.
    Port(u64),
    /// The processes with this name, and their descendants.
    Process(String),
    /// A control group, by its path below `/sys/fs/cgroup`.
    Cgroup(String),
    /// An endpoint that Prometheus could scrape.
    Prometheus(Prometheus),
    /// nginx's `stub_status`.
    Nginx(Spanned<String>),
    /// A PostgreSQL server.
    Postgres(Spanned<String>),
    /// A program that prints lines of a name and a value.
    Command(Command),
}

impl Default for MonitorKind {
    fn default() -> MonitorKind {
        MonitorKind::Host(HostWord::default())
    }
}

words! {
    /// Which host.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HostWord {
        /// The one that squall runs on.
        #[default] Local = "local",
    }
}

/// What is scraped.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prometheus {
    /// Where.
    pub url: Spanned<String>,
    /// Which metrics, each a name, or a name with matches of labels as Prometheus writes them; none: all.
    pub metrics: Vec<Spanned<String>>,
}

/// A program that is started for each sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Command {
    /// Program and arguments, no shell.
    pub line: Vec<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl Union for MonitorKind {
    fn variants() -> Vec<MonitorKind> {
        vec![
            MonitorKind::Host(HostWord::default()),
            MonitorKind::Pid(1),
            MonitorKind::Port(1),
            MonitorKind::Process(String::new()),
            MonitorKind::Cgroup(String::new()),
            MonitorKind::Prometheus(Prometheus::default()),
            MonitorKind::Nginx(Spanned::default()),
            MonitorKind::Postgres(Spanned::default()),
            MonitorKind::Command(Command::default()),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            MonitorKind::Host(which) => {
                let about = "The host that squall runs on: `local`.";
                keys.key::<Word<HostWord>>(which, Key::required("host", about));
            }
            MonitorKind::Pid(pid) => {
                let about = "The number of a process of this host; its descendants count with it.";
                keys.key::<IntFrom<1, 4_194_304>>(pid, Key::required("pid", about));
            }
            MonitorKind::Port(port) => {
                let about = "A TCP port: the processes of this host that listen there, and their descendants.";
                keys.key::<IntFrom<1, 65_535>>(port, Key::required("port", about));
            }
            MonitorKind::Process(name) => {
                let about =
                    "The name of a program: its processes on this host, and their descendants.";
                keys.key::<Like<Known, NotEmpty>>(name, Key::required("process", about));
            }
            MonitorKind::Cgroup(path) => {
                let about = "A control group of this host, by its path below `/sys/fs/cgroup`.";
                keys.key::<Like<Known, NotEmpty>>(path, Key::required("cgroup", about));
            }
            MonitorKind::Prometheus(own) => {
                let about = "The URL of an endpoint that Prometheus could scrape.";
                let key = Key::required("prometheus", about);
                keys.key::<At<Like<Known, ReceiverUrl>>>(&mut own.url, key);
                let about = "The metrics, each a name, or a name with matches of labels, as in \
                             `requests_total{code=~\"5..\"}`.";
                let key = Key { default: Some("all"), ..Key::new("metrics", about) };
                keys.key::<Listed<At<Text>>>(&mut own.metrics, key);
            }
            MonitorKind::Nginx(url) => {
                let about = "The URL of nginx's `stub_status`.";
                keys.key::<At<Like<Known, ReceiverUrl>>>(url, Key::required("nginx", about));
            }
            MonitorKind::Postgres(url) => {
                let about =
                    "A PostgreSQL server, as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.";
                keys.key::<At<Like<Known, NotEmpty>>>(url, Key::required("postgres", about));
            }
            MonitorKind::Command(own) => {
                let about = "Program and arguments, no shell: it prints lines of a name and a value. Needs `--allow-exec`.";
                keys.key::<KnownCommand>(&mut own.line, Key::required("command", about));
                let about = "How long it may take before it is ended. What takes longer than a second is a gap.";
                let key = Key { default: Some("1s"), ..Key::new("timeout", about) };
                keys.key::<Maybe<crate::keys::Time>>(&mut own.timeout, key);
            }
        }
    }
}
