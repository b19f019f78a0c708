//! Commands on results: report and export one, list, compare and keep many.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use squall_report::{Format, OUTCOMES, VALIDITIES};

use super::values::{format, label};
use crate::files::{ResultFile, parse_file};

/// Which of the runs of a folder are meant.
#[derive(Debug, Args)]
pub struct Runs {
    /// The folder that holds the run folders.
    #[arg(value_name = "FOLDER", default_value = "squall-runs")]
    pub folder: PathBuf,
    /// Only runs of the plan with this name.
    #[arg(long, value_name = "NAME")]
    pub plan: Option<String>,
    /// Only runs with this label; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,
    /// Only runs of the commit that begins with this.
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Only runs with this outcome; may be given more than once.
    #[arg(long, value_parser = OUTCOMES)]
    pub outcome: Vec<String>,
    /// Only runs with this validity; may be given more than once.
    #[arg(long, value_parser = VALIDITIES)]
    pub validity: Vec<String>,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
}

#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    pub runs: Runs,
}

#[derive(Debug, Args)]
pub struct Ui {
    /// The folder that holds the run folders.
    #[arg(value_name = "FOLDER", default_value = "squall-runs")]
    pub folder: PathBuf,
    /// Where to serve it: PORT on localhost only, or HOST:PORT; port 0 means any free port.
    #[arg(short = 'l', long, value_name = "ADDR", default_value = "0")]
    pub listen: squall_ui::Address,
}

#[derive(Debug, Args)]
pub struct Trend {
    #[command(flatten)]
    pub runs: Runs,
    /// What to show, such as 'p95(login)', rate or error_rate.
    #[arg(long, value_name = "MEASURE", default_value = "p95")]
    pub measure: String,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The run to compare with, then the run to compare; more are each compared with the first. A run is a folder, a
    /// run.json, a baseline, or a label (a value, NAME=VALUE, or the beginning of a commit) of a run in squall-runs.
    #[arg(value_name = "RUN", required_unless_present_any = ["before", "after"])]
    pub runs: Vec<String>,
    /// Compare with these runs, taken together as repeats of the same thing.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "runs", requires = "after")]
    pub before: Vec<String>,
    /// Compare these runs, taken together.
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub after: Vec<String>,
    /// Let each label mean the last N runs that have it, taken together. With one RUN alone, compare the last N other
    /// runs of the folder with it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub last: Option<u64>,
    /// Fail (exit code 1) if a measure got worse by more than this, and by more than random variation: 'p95 +10%',
    /// 'p99(login) +5%', 'error_rate +0.5%' (percentage points), 'rate -5%'; may be given more than once.
    #[arg(long, value_name = "CHANGE", allow_hyphen_values = true)]
    pub fail_if: Vec<String>,
    /// Exit with code 3 where a --fail-if cannot tell: too little data, or invalid numbers.
    #[arg(long, requires = "fail_if")]
    pub strict: bool,
    /// Where to look for runs by their labels.
    #[arg(long = "in", value_name = "FOLDER", default_value = "squall-runs")]
    pub folder: PathBuf,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Write the comparison as Markdown, for a pull request.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub markdown: Option<String>,
    /// Write the comparison as an HTML page.
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
    /// Write what `squall compare` needs to know of a run to a file that can be kept beside the code.
    Save {
        /// The run's folder, or one of its labels; several runs are taken together as repeats of the same thing.
        #[arg(value_name = "RUN", required = true)]
        run: Vec<String>,
        /// The file to write.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Let each label mean the last N runs that have it.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
        last: Option<u64>,
        /// Where to look for the run by its label.
        #[arg(long = "in", value_name = "FOLDER", default_value = "squall-runs")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct Export {
    /// The run's folder.
    pub run: PathBuf,
    /// Format: csv, jsonl, parquet, or hlog (HdrHistogram's interval log).
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = format)]
    pub format: Format,
    /// The file to write [default: standard output].
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The run's folder, or its run.json.
    pub run: PathBuf,
    /// Print everything that is known of the run, not only what is asked first.
    #[arg(long)]
    pub full: bool,
    /// Print everything, and explain what the numbers mean.
    #[arg(long)]
    pub explain: bool,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Write the result to FILE (`-`: standard output), of kind html, json, csv, markdown, junit, github,
    /// gitlab, openmetrics or hlog; may be given more than once.
    #[arg(short = 'o', long, value_name = "KIND=FILE", value_parser = parse_file)]
    pub out: Vec<ResultFile>,
}
