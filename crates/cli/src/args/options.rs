//! What several commands take: what generates the load, where a run's result goes, values for variables.

// Doc comments are the help, as it is printed.
#![allow(rustdoc::broken_intra_doc_links)]

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use squall_engine::ExchangeFilter;
use squall_feeds::{FeedKind, FeedTarget};
use squall_plan::model::{Isolation, Monitor};
use squall_runner::{MAX_WORKERS, Options};
use squall_wire::Io;

use super::values::{label, logged_size, tag, which};
use crate::files::{Out, RequestRows, ResultFile, RowForm, parse_out};

/// The I/O backend: how connections are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoBackend {
    /// io_uring where there is one, otherwise epoll.
    Auto,
    /// epoll.
    Epoll,
    /// io_uring.
    #[value(name = "io_uring")]
    IoUring,
}

impl From<IoBackend> for Io {
    fn from(backend: IoBackend) -> Io {
        match backend {
            IoBackend::Auto => Io::Auto,
            IoBackend::Epoll => Io::Epoll,
            IoBackend::IoUring => Io::Uring,
        }
    }
}

/// What generates the load.
#[derive(Debug, Args, Clone)]
pub struct RuntimeOptions {
    /// Threads that generate load [default: one per CPU].
    #[arg(short = 'w', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WORKERS)))]
    workers: Option<u32>,
    /// I/O backend: io_uring (Linux 6.1 and later), epoll, or auto: io_uring where the machine supports it.
    #[arg(long, hide_short_help = true, value_enum, value_name = "BACKEND", default_value_t = IoBackend::Auto, env = "SQUALL_IO")]
    io: IoBackend,
}

impl RuntimeOptions {
    /// Whether a number of threads was asked for.
    pub fn has_workers(&self) -> bool {
        self.workers.is_some()
    }

    /// Options of a run, with these.
    pub fn options(&self, options: Options) -> Options {
        Options { workers: self.workers, io: self.io.into(), ..options }
    }
}

/// How a run is made and where its result goes.
#[derive(Debug, Args, Clone)]
pub struct Output {
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Where the result goes: DIR for the run's folder, or KIND=FILE, such as html=report.html.
    ///
    /// DIR, in which the run's folder is created [default: squall-runs; none for a one-line
    /// command]; or KIND=FILE (`-`: standard output), of kind html, json, csv, markdown, junit, github, gitlab,
    /// openmetrics or hlog. During the run: samples=FILE, a row for each request, whose name ends in .csv, .jtl (as JMeter writes it), .parquet or .jsonl (a line of JSON); or where the figures of each second are sent: jsonl=FILE, influxdb=URL, graphite=HOST:PORT,
    /// statsd=HOST:PORT, remote-write=URL (Prometheus), otlp=URL or otlp-grpc=URL (OpenTelemetry), or prometheus=[HOST:]PORT, to be
    /// scraped there. May be given more than once.
    #[arg(short = 'o', long, value_name = "DIR|KIND=TARGET", value_parser = parse_out)]
    pub out: Vec<Out>,
    /// A tag on everything that these send, such as env=staging; may be given more than once.
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", value_parser = tag)]
    pub tag: Vec<(String, String)>,
    /// Which requests get a line in samples=FILE.jsonl: all, failed, or one in N, such as 1/100 [default: all].
    #[arg(long, hide_short_help = true, value_name = "WHICH", value_parser = which)]
    pub log_which: Option<ExchangeFilter>,
    /// Write heads and bodies to samples=FILE.jsonl too, up to SIZE bytes of each message, such as 4KiB; at most 16MiB.
    #[arg(long, hide_short_help = true, value_name = "SIZE", value_parser = logged_size)]
    pub log_bodies: Option<u64>,
    #[command(flatten)]
    pub monitors: Monitors,
    /// Label the run, such as branch=main, so that it can be found later; may be given more than once. `commit`
    /// is taken from the environment of a CI job, or from git where the plan is.
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,
    /// Exit with code 3 if the validity of the numbers is `invalid`.
    #[arg(long)]
    pub strict: bool,
    /// Print everything that is known of the run, not only what is asked first.
    #[arg(long)]
    pub full: bool,
    /// Print everything, and explain what the numbers mean.
    #[arg(long)]
    pub explain: bool,
    /// Serve a page that shows the run as it happens, and lets you control it.
    ///
    /// PORT on localhost only, or HOST:PORT [default: any free port]. Its address, which is secret, is printed.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "0")]
    pub ui: Option<squall_ui::Address>,
    /// Print only the result, not the progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
}

/// What of the target and its hosts is sampled.
#[derive(Debug, Args, Clone, Default)]
pub struct Monitors {
    /// Sample the target or its host once a second, such as server=port:8080; may be given more than once.
    ///
    /// KIND:VALUE is host:local, pid:N, port:N, process:NAME, cgroup:PATH, prometheus:URL, nginx:URL, postgres:URL or
    /// command:PROGRAM, whose output is lines of a name and a value.
    #[arg(long = "monitor", value_name = "NAME=KIND:VALUE", value_parser = Monitor::of_flag)]
    pub typed: Vec<Monitor>,
}

impl Output {
    /// The folder in which run folders are made: the last one that is given.
    pub fn folder(&self) -> Option<PathBuf> {
        let mut folders = self.out.iter().filter_map(|out| match out {
            Out::Folder(folder) => Some(folder.clone()),
            Out::File(_) | Out::Samples(_) | Out::Feed(_) => None,
        });
        folders.next_back()
    }

    /// The files of other kinds.
    pub fn files(&self) -> Vec<ResultFile> {
        let files = self.out.iter().filter_map(|out| match out {
            Out::File(file) => Some(file.clone()),
            Out::Folder(_) | Out::Samples(_) | Out::Feed(_) => None,
        });
        files.collect()
    }

    /// Where its seconds go while it goes on.
    pub fn feeds(&self) -> impl Iterator<Item = &FeedTarget> {
        self.out.iter().filter_map(|out| match out {
            Out::Feed(feed) => Some(feed),
            Out::Folder(_) | Out::File(_) | Out::Samples(_) => None,
        })
    }

    /// The files that get a row for each request.
    pub fn samples(&self) -> impl Iterator<Item = &RequestRows> {
        self.out.iter().filter_map(|out| match out {
            Out::Samples(file) => Some(file),
            Out::Folder(_) | Out::File(_) | Out::Feed(_) => None,
        })
    }

    /// Which of the options about lines of JSON is there without such a file.
    pub fn without_lines(&self) -> Option<&'static str> {
        let has_lines = self.samples().any(|file| file.form == RowForm::Lines);
        let which = self.log_which.map(|_| "--log-which");
        which.or(self.log_bodies.map(|_| "--log-bodies")).filter(|_| !has_lines)
    }

    /// The files into which anything goes, each with the flag that asks for it.
    pub fn paths(&self) -> Vec<(String, PathBuf)> {
        let flag = |flag: &str, path: &Path| (flag.to_owned(), path.to_owned());
        let json = self.json.iter().map(|path| flag("--json", path.as_ref()));
        let outs = self.out.iter().filter_map(|out| match out {
            Out::File(ResultFile { kind, path }) => {
                Some(flag(&format!("--out {}", kind.label()), path.as_ref()))
            }
            Out::Samples(own) => Some(flag("--out samples", &own.path)),
            Out::Feed(feed) if feed.kind == FeedKind::JsonLines => {
                Some(flag("--out jsonl", feed.to.as_ref()))
            }
            Out::Folder(_) | Out::Feed(_) => None,
        });
        json.chain(outs).filter(|(_, path)| path != Path::new("-")).collect()
    }
}

/// Values for a plan's variables, and for properties of a JMeter plan.
#[derive(Debug, Args, Clone, Default)]
pub struct Values {
    /// Set a variable, or a property of a JMeter plan; may be given more than once.
    #[arg(short = 'J', long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Read variables or properties from a file as JMeter's own `-q` does; `--set` takes precedence. May be given more than once.
    #[arg(long, value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Leave out what is not supported in a JMeter plan, say what that is, and run the rest.
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Read variables or properties from a file of NAME=VALUE lines; may be given more than once.
    #[arg(long, value_name = "FILE")]
    pub env_file: Vec<PathBuf>,
    /// Set a variable of a script's `__ENV`; may be given more than once.
    #[arg(short = 'e', long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Secrets for scripts, as k6 has them: mock=NAME=VALUE,... or file=PATH; may be given more than once.
    #[arg(long, hide_short_help = true, value_name = "SOURCE")]
    pub secret_source: Vec<String>,
    /// What users of a script have in common.
    #[arg(long, hide_short_help = true, value_enum, value_name = "KIND")]
    pub isolation: Option<IsolationKind>,
}

/// What users of a script have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationKind {
    /// As `shared`, but as `vm` for a script that changes globals or built-in objects, or calls `eval`.
    Auto,
    /// Users of one worker share an interpreter, whose globals and built-in objects cannot be changed.
    Shared,
    /// Each user has an interpreter of its own; `check` says how much memory it takes.
    Vm,
}

impl From<IsolationKind> for Isolation {
    fn from(kind: IsolationKind) -> Isolation {
        match kind {
            IsolationKind::Auto => Isolation::Auto,
            IsolationKind::Shared => Isolation::Shared,
            IsolationKind::Vm => Isolation::Vm,
        }
    }
}

/// What a plan is given: values, and what else stands in place of its own.
#[derive(Debug, Args, Clone, Default)]
pub struct Variables {
    #[command(flatten)]
    pub values: Values,
    /// Base URL to use instead of the plan's target, or `builtin`.
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Seed of everything random, including the built-in target, instead of the plan's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Allow the plan to run programs.
    #[arg(long)]
    pub allow_exec: bool,
}

impl Variables {
    /// Options of a run, with these.
    pub fn options(&self) -> Options {
        let (target, seed) = (self.target.clone(), self.seed);
        Options { target, seed, allow_exec: self.allow_exec, ..Options::default() }
    }
}
