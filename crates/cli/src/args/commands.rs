//! The commands, and what small ones take.

// Doc comments are the help, as it is printed.
#![allow(rustdoc::broken_intra_doc_links)]

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::experiment::Experiment;
use super::fleet::{FleetCommands, Node};
use super::k6::K6;
use super::plans::{Check, Convert, Doctor, Init, Limit, Run, Try};
use super::results::{Baseline, Compare, Export, History, Report, Trend, Ui};
use super::values;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a plan.
    Run(Run),
    /// Run one iteration of one virtual user, and show every request and response.
    Try(Try),
    /// Find the highest load at which the target meets its requirements.
    Limit(Limit),
    /// Compare variants of a target, a plan or a setting: run each several times, and say which differences are real.
    Experiment(Experiment),
    /// Check a plan and say what it would do; sends nothing.
    Check(Check),
    /// Write a plan to start from.
    Init(Init),
    /// Convert a JMeter plan or a k6 script to a squall plan.
    Convert(Convert),
    /// Run a JMeter plan with JMeter's own command line: `-n -t plan.jmx -l out.jtl`.
    Jmeter(Jmeter),
    /// Run a k6 script with k6's own command line: `run script.js`.
    K6(K6),
    /// Check whether this machine can generate load, or a given plan's load.
    Doctor(Doctor),
    /// Print the JSON Schema of plans, for editors, or of results.
    Schema(Schema),
    /// Print the result of a run from its folder.
    Report(Report),
    /// Export the recorded seconds of a run for other programs.
    Export(Export),
    /// List the runs of a folder.
    History(History),
    /// Compare runs and report statistically significant changes.
    Compare(Compare),
    /// Show a measure over many runs, and where it changed.
    Trend(Trend),
    /// Serve a page with the runs of a folder and their reports.
    Ui(Ui),
    /// Save runs as a small file to compare others with.
    Baseline(Baseline),
    /// Run the built-in target.
    Target(Target),
    /// Lend this machine to a fleet: wait for runs, and drive a part of their load.
    Node(Node),
    /// See, start and stop the nodes and runs of a fleet.
    Fleet(FleetCommands),
    /// Print shell completions: `source <(squall completions bash)`.
    Completions(Completions),
    /// Print the man page of squall or of one of its commands: `squall man | man -l -`.
    Man(Man),
}

/// JMeter's command line.
#[derive(Debug, Args)]
#[command(after_help = "JMeter's options, and their long names:\n  \
        -n            without its GUI; required\n  \
        -t FILE       the plan\n  \
        -l FILE       samples (JTL, as CSV); an existing file is appended to\n  \
        -f            overwrite the file of samples, and write to a folder that is not empty\n  \
        -j FILE       the log\n  \
        -e -o DIR     a report at the end, DIR/index.html\n  \
        -JNAME=VALUE  a property; -G the same\n  \
        -DNAME=VALUE  a system property; -S FILE a file of them\n  \
        -q FILE       a file of properties; -p FILE JMeter's own\n  \
        -d DIR        JMeter's folder; the properties are read from its bin\n  \
        --skip-unsupported  leave out what squall does not support in the plan\n  \
        --nodes N --nats URL  run on a fleet, in place of -R and -r; with squall's other options for that\n\
        Any other option of JMeter is an error.")]
pub struct Jmeter {
    /// JMeter's options.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub words: Vec<String>,
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
    /// The command, such as `run` or `baseline save`; without it, squall's own page.
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Print the schema of run.json instead of that of plans.
    #[arg(long)]
    pub run: bool,
    /// Print the schema of `squall compare --json`.
    #[arg(long, conflicts_with = "run")]
    pub compare: bool,
    /// Print the schema of experiments' files, for editors.
    #[arg(long, conflicts_with_all = ["run", "compare"])]
    pub experiment: bool,
    /// Print the schema of `squall experiment --json`.
    #[arg(long, conflicts_with_all = ["run", "compare", "experiment"])]
    pub experiment_result: bool,
}

#[derive(Debug, Args)]
pub struct Target {
    /// Address to listen on: host:port, [v6]:port or unix:/path; may be given more than once.
    #[arg(short = 'l', long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = values::listen)]
    pub listen: Vec<String>,
    /// Use TLS with a self-signed certificate.
    #[arg(long)]
    pub tls: bool,
    /// PEM file of the certificate chain.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// PEM file of the private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Threads [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Seed of everything random [default: a new one each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// List the routes and exit.
    #[arg(long)]
    pub routes: bool,
}
