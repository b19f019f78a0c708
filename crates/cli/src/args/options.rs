//! What several commands take: what generates the load, where a run's result goes, values for variables.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use squall_engine::Which;
use squall_feeds::FeedTarget;
use squall_runner::{MAX_WORKERS, Options};
use squall_wire::Io;

use super::values::{SampleFile, label, logged_size, samples, tag, which};
use crate::files::{Out, ResultFile, parse_out};

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
    /// I/O backend: io_uring (Linux 6.1 and later), epoll, or auto: io_uring where the machine has it.
    #[arg(long, value_enum, value_name = "BACKEND", default_value_t = IoBackend::Auto, env = "SQUALL_IO")]
    io: IoBackend,
}

impl RuntimeOptions {
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
    /// Write the result as JSON to FILE, or to the standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Where the result goes: DIR, in which the run's folder is made [default: squall-runs; none for a one-line
    /// command]; or KIND=FILE (`-`: the standard output), of kind html, json, csv, markdown, junit, github, gitlab,
    /// openmetrics or hlog. While the run goes on, jtl=FILE, a row for each request as JMeter writes it; or where its seconds go: jsonl=FILE, influxdb=URL, graphite=HOST:PORT,
    /// statsd=HOST:PORT, remote-write=URL (Prometheus), otlp=URL or otlp-grpc=URL (OpenTelemetry), or prometheus=[HOST:]PORT, to be
    /// scraped there. May be given more than once.
    #[arg(short = 'o', long, value_name = "DIR|KIND=TARGET", value_parser = parse_out)]
    pub out: Vec<Out>,
    /// A tag for everything that these send, such as env=staging; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = tag)]
    pub tag: Vec<(String, String)>,
    /// Write a line of JSON for each request to FILE.
    #[arg(long, value_name = "FILE")]
    pub log_requests: Option<PathBuf>,
    /// Which requests that log has: all, failed, or one in N, such as 1/100.
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = which, requires = "log_requests")]
    pub log_which: Which,
    /// Log heads and bodies too, at most so many bytes of each message, such as 4KiB; at most 16MiB.
    #[arg(long, value_name = "SIZE", value_parser = logged_size, requires = "log_requests")]
    pub log_bodies: Option<u64>,
    /// Write a row for each request to FILE, whose name ends in .csv, .jtl (the columns of JMeter's results) or .parquet.
    #[arg(long, value_name = "FILE", value_parser = samples)]
    pub samples: Option<SampleFile>,
    /// Say something of the run, such as branch=main, by which it is found again; may be given more than once. `commit`
    /// is taken from the environment of a CI job, or from git where the plan is.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,
    /// Exit with code 3 if the validity of the numbers is `invalid`.
    #[arg(long)]
    pub strict: bool,
    /// Say what the numbers mean.
    #[arg(long)]
    pub explain: bool,
    /// Serve a page that shows the run while it goes on, and lets control it: PORT of this machine alone, or HOST:PORT
    /// [default: a port that is free]. Its address, which is secret, is printed.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "0")]
    pub ui: Option<squall_ui::Address>,
    /// Print only the result, no progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
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
    pub fn samples(&self) -> impl Iterator<Item = &SampleFile> {
        let others = self.out.iter().filter_map(|out| match out {
            Out::Samples(file) => Some(file),
            Out::Folder(_) | Out::File(_) | Out::Feed(_) => None,
        });
        self.samples.iter().chain(others)
    }
}

/// Values for a plan's variables.
#[derive(Debug, Args, Clone, Default)]
pub struct Variables {
    /// Give a variable a value; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Give a property of JMeter a value, for a plan of JMeter; may be given more than once.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    pub property: Vec<String>,
    /// Read properties of JMeter from a file, as its own `-q`; those of `-J` go first. May be given more than once.
    #[arg(long, value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Leave out what is not supported of a plan of JMeter, say what that is, and run the rest.
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Read variables from a file of NAME=VALUE lines; may be given more than once.
    #[arg(long, value_name = "FILE")]
    pub env_file: Vec<PathBuf>,
    /// Base URL in place of the plan's target, or `builtin`.
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Seed of everything random, the built-in target's too, in place of the plan's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Let the plan run programs.
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
