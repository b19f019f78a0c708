//! What can be typed. What it means is decided by the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use squall_engine::Which;
use squall_feeds::{FeedTarget, TAGS_TAKEN};
use squall_plan::diagnostic::nearest;
use squall_plan::model::HttpVersion;
use squall_report::Format;
use squall_runner::{LoadOverrides, MAX_WORKERS, Options};
use squall_wire::Io;

use crate::files::{Out, ResultFile, parse_file, parse_out};

/// Most bytes of a message in the request log.
const MAX_LOGGED_BYTES: u64 = 16 << 20;

/// A load-testing tool: generates load and reports what the target did.
#[derive(Debug, Parser)]
#[command(
    name = "squall",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  squall http://127.0.0.1:8080/ -c 64 -d 10s\n  \
                  squall http://127.0.0.1:8080/login -m POST -b 'user=a' -n 1000\n  \
                  squall run shop.yaml --users 500 --for 2m"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub one_line: OneLine,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a plan.
    Run(Run),
    /// Run one iteration of one virtual user, and show every request and response.
    Try(Try),
    /// Find the sustained maximum: the highest load at which the target meets its requirements.
    Limit(Limit),
    /// Check a plan and say what it would do; sends nothing.
    Check(Check),
    /// Check whether this machine can generate load, and a plan's load.
    Doctor(Doctor),
    /// Print the JSON Schema of plans, for editors, or of results.
    Schema(Schema),
    /// Print the result of a run from its folder.
    Report(Report),
    /// Write what was recorded in a run, second by second, for other programs.
    Export(Export),
    /// List the runs of a folder.
    History(History),
    /// Say what changed from one run to another, by more than chance.
    Compare(Compare),
    /// Show a measure over many runs, and where it stepped.
    Trend(Trend),
    /// Keep a run as a small file to compare others with.
    Baseline(Baseline),
    /// Run the built-in target.
    Target(Target),
    /// Print the completions of a shell: `source <(squall completions bash)`.
    Completions(Completions),
    /// Print the man page of squall or of one of its commands: `squall man | man -l -`.
    Man(Man),
}

/// Completions.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// A man page.
#[derive(Debug, Args)]
pub struct Man {
    /// The command, such as `run`; without it, squall's own page.
    pub command: Option<String>,
}

/// Load on one URL, without a plan.
#[derive(Debug, Args)]
pub struct OneLine {
    /// The URL to load.
    #[arg(required = true, value_parser = url)]
    pub url: Option<String>,
    /// Virtual users, each with a connection of its own.
    #[arg(short = 'c', long, value_name = "USERS", default_value_t = 10)]
    pub users: u64,
    /// How long, such as 30s or 5m [default: 10s unless -n is given].
    #[arg(short = 'd', long = "duration", alias = "for", value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How many requests in all.
    #[arg(short = 'n', long, value_name = "REQUESTS", conflicts_with = "duration")]
    pub requests: Option<u64>,
    /// Requests at this rate, such as 500/s, however long responses take; USERS is then the most
    /// requests in flight.
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<f64>,
    /// Method.
    #[arg(short = 'm', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Header, such as 'Accept: text/html'; may be given more than once.
    #[arg(short = 'H', long = "header", value_name = "K: V")]
    pub headers: Vec<String>,
    /// Body, or @FILE for a file's content. The method is then POST unless given.
    #[arg(short = 'b', long, value_name = "BODY|@FILE")]
    pub body: Option<String>,
    /// Limit of time of a request.
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Accept any certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Open a connection for each request.
    #[arg(long)]
    pub no_keepalive: bool,
    /// Version of HTTP: 1.1, 2 (without TLS by prior knowledge), or auto: what an https server prefers.
    #[arg(long, value_enum, value_name = "VERSION", default_value_t = HttpFlag::V1)]
    pub http: HttpFlag,
    /// Follow at most so many redirects.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub redirects: u32,
    #[command(flatten)]
    pub output: Output,
}

/// A URL, or a host. A bare word is more likely a command that was mistyped.
fn url(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if text == "localhost" || !text.chars().all(is_word) {
        return Ok(text.to_owned());
    }
    let command = <Arguments as clap::CommandFactory>::command();
    let known = command.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    let hint = match text {
        "version" => "did you mean `--version`?".to_owned(),
        "start" | "exec" => "did you mean `run`?".to_owned(),
        "validate" | "lint" => "did you mean `check`?".to_owned(),
        "serve" | "server" => "did you mean `target`?".to_owned(),
        _ => match nearest(text, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("for a host of this name write http://{text}/"),
        },
    };
    Err(format!("no such command, and no URL: {hint}"))
}

/// The version of HTTP that connections speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HttpFlag {
    /// HTTP/1.1.
    #[value(name = "1.1")]
    V1,
    /// HTTP/2.
    #[value(name = "2")]
    V2,
    /// What an https server prefers.
    Auto,
}

impl From<HttpFlag> for HttpVersion {
    fn from(flag: HttpFlag) -> HttpVersion {
        match flag {
            HttpFlag::V1 => HttpVersion::V1,
            HttpFlag::V2 => HttpVersion::V2,
            HttpFlag::Auto => HttpVersion::Auto,
        }
    }
}

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
    /// openmetrics or hlog. While the run goes on, where its seconds go: jsonl=FILE, influxdb=URL, graphite=HOST:PORT,
    /// statsd=HOST:PORT, remote-write=URL (Prometheus), otlp=URL (OpenTelemetry), or prometheus=[HOST:]PORT, to be
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
    /// Print only the result, no progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
}

impl Output {
    /// The folder in which run folders are made: the last one that is given.
    pub fn folder(&self) -> Option<PathBuf> {
        let mut folders = self.out.iter().filter_map(|out| match out {
            Out::Folder(folder) => Some(folder.clone()),
            Out::File(_) | Out::Feed(_) => None,
        });
        folders.next_back()
    }

    /// The files of other kinds.
    pub fn files(&self) -> Vec<ResultFile> {
        let files = self.out.iter().filter_map(|out| match out {
            Out::File(file) => Some(file.clone()),
            Out::Folder(_) | Out::Feed(_) => None,
        });
        files.collect()
    }

    /// Where its seconds go while it goes on.
    pub fn feeds(&self) -> impl Iterator<Item = &FeedTarget> {
        self.out.iter().filter_map(|out| match out {
            Out::Feed(feed) => Some(feed),
            Out::Folder(_) | Out::File(_) => None,
        })
    }
}

/// Values for a plan's variables.
#[derive(Debug, Args, Clone, Default)]
pub struct Variables {
    /// Give a variable a value; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
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

#[derive(Debug, Args)]
pub struct Run {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    /// Virtual users in place of the plan's, shared over its scenarios in the plan's proportions.
    #[arg(long, value_name = "N")]
    pub users: Option<u64>,
    /// Arrivals in place of the plan's, such as 50/s, shared over its open workloads in the plan's proportions.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<f64>,
    /// Over how long each load rises, in place of the plan's.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub ramp: Option<Duration>,
    /// Iterations of each load, of all its users together, in place of the plan's ends.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Length of the load in place of the plan's ends.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    #[command(flatten)]
    pub output: Output,
}

impl Run {
    /// What takes the place of the plan's loads.
    pub fn loads(&self) -> LoadOverrides {
        let Run { users, rate, ramp, iterations, duration, .. } = *self;
        LoadOverrides { users, rate, ramp, iterations, length: duration }
    }
}

#[derive(Debug, Args)]
pub struct Limit {
    /// The plan. Its loads are replaced, in their proportions.
    pub plan: PathBuf,
    /// A requirement, such as 'p99 < 200ms' or 'error_rate < 1%'; may be given more than once
    /// [default: the plan's thresholds].
    #[arg(long, value_name = "THRESHOLD")]
    pub require: Vec<String>,
    /// What is raised: iterations started per second, virtual users, or a factor of the plan's loads [default: as in
    /// the plan's load; a factor if it has both].
    #[arg(long, value_enum)]
    pub by: Option<Raised>,
    /// First load level [default: 10/s, 1 user, or 0.25 of the plan's loads].
    #[arg(long, value_name = "A")]
    pub from: Option<String>,
    /// Highest load level; required by the modes other than search.
    #[arg(long, value_name = "B")]
    pub to: Option<String>,
    /// Length of a step; its first fifth is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub step: Duration,
    /// Most steps.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub steps: u32,
    /// search: find the sustained maximum; stress: from A to B in even steps; spike: A, then B, then A
    /// again; soak: B for all steps.
    #[arg(long, value_enum, default_value_t = Mode::Search)]
    pub mode: Mode,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    /// Write the result as JSON to FILE, or to the standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Folder in which a folder with plan.yaml, limit.json and limit.txt is made.
    #[arg(short = 'o', long, value_name = "DIR", default_value = "squall-runs")]
    pub out: PathBuf,
    /// Print only the result, no progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
}

/// What `squall limit` raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Raised {
    /// Iterations started per second.
    Rate,
    /// Virtual users.
    Users,
    /// The plan's loads, multiplied by a factor.
    Factor,
}

/// What `squall limit` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Find the sustained maximum.
    Search,
    /// From A to B in even steps, whatever is violated.
    Stress,
    /// A, then B, then A again.
    Spike,
    /// B, for all steps.
    Soak,
}

impl From<Mode> for squall_runner::Mode {
    fn from(mode: Mode) -> squall_runner::Mode {
        match mode {
            Mode::Search => squall_runner::Mode::Search,
            Mode::Stress => squall_runner::Mode::Stress,
            Mode::Spike => squall_runner::Mode::Spike,
            Mode::Soak => squall_runner::Mode::Soak,
        }
    }
}

#[derive(Debug, Args)]
pub struct Try {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    /// Only this scenario.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Show only the requests of this step, by its number, such as 3 or 3.1, or by a request's name. Steps
    /// before it are run, those after a number are not.
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// Show all headers and whole bodies, files and forms too (at most 64MiB of each message).
    #[arg(long)]
    pub full: bool,
    /// Write what --full shows to FILE, too.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// The plan.
    pub plan: PathBuf,
    #[command(flatten)]
    pub variables: Variables,
    /// Print the compiled program.
    #[arg(long)]
    pub program: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// A plan, to check what it needs of the machine.
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub variables: Variables,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// That of run.json, in place of that of plans.
    #[arg(long)]
    pub run: bool,
    /// That of `squall compare --json`.
    #[arg(long, conflicts_with = "run")]
    pub compare: bool,
}

/// Which of the runs of a folder are meant.
#[derive(Debug, Args)]
pub struct Runs {
    /// The folder in which run folders are made.
    #[arg(value_name = "FOLDER", default_value = "squall-runs")]
    pub folder: PathBuf,
    /// Only runs of the plan of this name.
    #[arg(long, value_name = "NAME")]
    pub plan: Option<String>,
    /// Only runs with this label; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,
    /// Only runs of the commit that begins so.
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Only runs that passed, or that failed.
    #[arg(long, value_enum)]
    pub outcome: Option<PassedOrFailed>,
    /// Write the result as JSON to FILE, or to the standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PassedOrFailed {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    pub runs: Runs,
}

#[derive(Debug, Args)]
pub struct Trend {
    #[command(flatten)]
    pub runs: Runs,
    /// What is shown, such as 'p95(login)', rate or error_rate.
    #[arg(long, value_name = "MEASURE", default_value = "p95")]
    pub measure: String,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The run that the others are compared with: its folder, its run.json, a baseline, or a label (a value, NAME=VALUE,
    /// or the beginning of a commit) of a run in squall-runs.
    #[arg(value_name = "RUN")]
    pub before: String,
    /// The runs that are compared with it.
    #[arg(value_name = "RUN", required = true)]
    pub after: Vec<String>,
    /// Fail (exit code 1) if a measure changed by more than that, and by more than chance: 'p95 +10%', 'p99(login) +5%',
    /// 'error_rate +0.5%' (percentage points), 'rate -5%'; may be given more than once.
    #[arg(long, value_name = "CHANGE", allow_hyphen_values = true)]
    pub fail_if: Vec<String>,
    /// Where runs are looked for by their labels.
    #[arg(long = "in", value_name = "FOLDER", default_value = "squall-runs")]
    pub folder: PathBuf,
    /// Write the result as JSON to FILE, or to the standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Write it as Markdown, for a pull request.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub markdown: Option<String>,
    /// Write it as a page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
}

#[derive(Debug, Args)]
pub struct Baseline {
    #[command(subcommand)]
    pub command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Write what `squall compare` needs of a run to a file that may be kept beside the code.
    Save {
        /// The run's folder, or a label of it.
        run: String,
        /// The file.
        file: PathBuf,
        /// Where the run is looked for by its label.
        #[arg(long = "in", value_name = "FOLDER", default_value = "squall-runs")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct Export {
    /// The run's folder.
    pub run: PathBuf,
    /// csv, jsonl, parquet, or hlog (HdrHistogram's interval log).
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = format)]
    pub format: Format,
    /// The file to write [default: the standard output].
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The run's folder, or its run.json.
    pub run: PathBuf,
    /// Say what the numbers mean.
    #[arg(long)]
    pub explain: bool,
    /// Write the result as JSON to FILE, or to the standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Write the result to FILE (`-`: the standard output), of kind html, json, csv, markdown, junit, github,
    /// gitlab, openmetrics or hlog; may be given more than once.
    #[arg(short = 'o', long, value_name = "KIND=FILE", value_parser = parse_file)]
    pub out: Vec<ResultFile>,
}

#[derive(Debug, Args)]
pub struct Target {
    /// Address to listen on: host:port, [v6]:port or unix:/path; may be given more than once.
    #[arg(short = 'l', long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: Vec<String>,
    /// Speak TLS, with a certificate made for the occasion.
    #[arg(long)]
    pub tls: bool,
    /// PEM file of the certificate chain.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// PEM file of the private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Threads [default: one a core].
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Seed of everything random that it does [default: another each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print what can be asked for, and end.
    #[arg(long)]
    pub routes: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    squall_base::units::parse_duration(text).map_err(|error| error.to_string())
}

/// The size of the copies in the request log: each is in memory until it is written.
fn logged_size(text: &str) -> Result<u64, String> {
    let size = squall_base::units::parse_size(text).map_err(|error| error.to_string())?;
    match size <= MAX_LOGGED_BYTES {
        true => Ok(size),
        false => Err("at most 16MiB of a message can be logged".to_owned()),
    }
}

/// Reads a label.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or("write it as NAME=VALUE, such as branch=main")?;
    let is_good = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    match name.is_empty() || !name.chars().all(is_good) {
        true => Err(format!("the name `{name}` may have letters, digits, `_`, `-` and `.`")),
        false if value.is_empty() => Err(format!("the label `{name}` has no value")),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}

/// Reads a tag of what feeds send.
fn tag(text: &str) -> Result<(String, String), String> {
    let (name, value) = label(text).map_err(|error| error.replace("label", "tag"))?;
    match TAGS_TAKEN.contains(&name.as_str()) {
        true => Err(format!("the tag `{name}` is one that squall gives itself")),
        false => Ok((name, value)),
    }
}

fn which(text: &str) -> Result<Which, String> {
    match (text, text.strip_prefix("1/").map(str::parse)) {
        ("all", _) => Ok(Which::All),
        ("failed", _) => Ok(Which::Failed),
        (_, Some(Ok(every))) if every > 0 => Ok(Which::OneIn(every)),
        _ => Err("write all, failed, or one in N, such as 1/100".to_owned()),
    }
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "csv" => Ok(Format::Csv),
        "jsonl" => Ok(Format::Jsonl),
        "hlog" => Ok(Format::Hlog),
        "parquet" => Ok(Format::Parquet),
        _ => Err("write csv, jsonl, parquet or hlog".to_owned()),
    }
}

/// Reads a rate.
pub fn rate(text: &str) -> Result<f64, String> {
    // People type `-r 500` as well as `-r 500/s`.
    let text = if text.contains('/') { text.to_owned() } else { format!("{text}/s") };
    squall_base::units::parse_rate(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_name_and_a_value() {
        let read = |text: &str| label(text);
        assert_eq!(read("a.b-c=d=e"), Ok(("a.b-c".to_owned(), "d=e".to_owned())));
        for (text, word) in
            [("main", "NAME=VALUE"), ("=x", "may have"), ("a b=x", "may have"), ("a=", "no value")]
        {
            assert!(read(text).is_err_and(|error| error.contains(word)), "{text}");
        }
    }

    #[test]
    fn tags_have_names_of_their_own() {
        assert_eq!(tag("env=a b"), Ok(("env".to_owned(), "a b".to_owned())));
        assert!(tag("scenario=a").is_err_and(|error| error.contains("gives itself")));
        assert!(tag("env=").is_err_and(|error| error.contains("tag `env`")));
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
