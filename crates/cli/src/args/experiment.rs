//! What `squall experiment` takes.

use std::path::PathBuf;

use clap::Args;

use super::options::Values;

#[derive(Debug, Args)]
pub struct Experiment {
    /// The experiment's file [default: with --resume, the one that it began with].
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// Say what would be done: the variants and what each sets, the order of the runs, the time. Starts nothing.
    #[arg(long, conflicts_with_all = ["resume", "json", "out"])]
    pub check: bool,
    /// Go on with the experiment of this folder, which was interrupted or killed.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// Allow the experiment, and its plan, to start programs.
    #[arg(long)]
    pub allow_exec: bool,
    /// Allow the experiment to change settings of the kernel; they are put back after each run.
    #[arg(long)]
    pub allow_sysctl: bool,
    /// Seed of the order of the runs, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub values: Values,
    /// Folder in which the experiment's folder is created.
    #[arg(short = 'o', long, value_name = "DIR", default_value = "squall-runs")]
    pub out: PathBuf,
    /// Write the result as JSON to FILE, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<String>,
    /// Print only the result, not the progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// After `--`: options of `squall run` for each run, such as `--workers 2`, or `--nodes 4 --nats URL` for a fleet.
    #[arg(last = true, value_name = "RUN OPTIONS")]
    pub run: Vec<String>,
}
