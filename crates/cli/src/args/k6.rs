//! k6's command line: `squall k6 run`. Its options are rows of one table, which `squall_k6` has.

// Doc comments are the help, as it is printed.
#![allow(rustdoc::broken_intra_doc_links)]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use squall_k6::options::{Kind, Known, OPTIONS};

use super::k6_flags::{FLAG, K6Accepted, K6Log, K6Summary, switch};

use super::options::IsolationKind;

/// k6's command line.
#[derive(Debug, Args)]
pub struct K6 {
    #[command(subcommand)]
    pub command: K6Command,
}

/// A command of k6.
#[derive(Debug, Subcommand)]
pub enum K6Command {
    /// Run a script.
    Run(Box<K6Run>),
    /// Download the modules that scripts import from URLs, and lock them by their hashes.
    Fetch(K6Fetch),
    /// Print the options of a script, as JSON.
    Inspect(K6Inspect),
    /// Write a script to start from.
    New(K6New),
    /// Print the version.
    Version,
    /// What k6 does besides, which squall does in another way.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// `squall k6 fetch`, which k6 does not have.
#[derive(Debug, Args)]
pub struct K6Fetch {
    /// The scripts.
    #[arg(required = true)]
    pub scripts: Vec<PathBuf>,
    /// Download all modules anew, and lock what the URLs give now.
    #[arg(long)]
    pub update: bool,
}

/// `k6 inspect`.
#[derive(Debug, Args)]
pub struct K6Inspect {
    /// The script, in JavaScript or TypeScript.
    pub script: PathBuf,
    /// Add how long the test takes at most, and with how many virtual users.
    #[arg(long)]
    pub execution_requirements: bool,
    #[command(flatten)]
    pub given: K6Given,
}

/// `k6 new`.
#[derive(Debug, Args)]
pub struct K6New {
    /// The file to write.
    #[arg(value_name = "FILE", default_value = "script.js")]
    pub file: PathBuf,
    /// Overwrite a file that is there.
    #[arg(short = 'f', long)]
    pub force: bool,
}

/// What a script is given beside its options.
#[derive(Debug, Args)]
pub struct K6Given {
    /// A variable of `__ENV`; may be given more than once.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// Whether `__ENV` has the environment.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        default_value_t = true, action = FLAG, value_parser = switch(), env = "K6_INCLUDE_SYSTEM_ENV_VARS")]
    pub include_system_env_vars: bool,
    /// Secrets that the script may ask for: mock=NAME=VALUE,... or file=PATH; may be given more than once.
    #[arg(long, value_name = "SOURCE", env = "K6_SECRET_SOURCE", hide_env_values = true)]
    pub secret_source: Vec<String>,
    /// A file of options, in JSON.
    #[arg(short = 'c', long, value_name = "FILE", env = "K6_CONFIG")]
    pub config: Option<PathBuf>,
}

/// `k6 run`.
#[derive(Debug, Args)]
pub struct K6Run {
    /// The script, in JavaScript or TypeScript.
    pub script: PathBuf,
    #[command(flatten)]
    pub options: K6Options,
    #[command(flatten)]
    pub given: K6Given,
    /// What users have in common; not an option of k6.
    #[arg(long, value_enum, value_name = "KIND", default_value = "auto")]
    pub isolation: IsolationKind,
    /// Where what is measured goes: json=FILE, csv=FILE, influxdb=URL, experimental-prometheus-rw or opentelemetry; may be given
    /// more than once. Without it: those of K6_OUT, with commas between them.
    #[arg(short = 'o', long, value_name = "KIND=WHERE")]
    pub out: Vec<String>,
    #[command(flatten)]
    pub summary: K6Summary,
    #[command(flatten)]
    pub log: K6Log,
    #[command(flatten)]
    pub accepted: K6Accepted,
    /// What the file is: only scripts are run.
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = script_type, env = "K6_TYPE")]
    pub kind: Option<String>,
}

/// A name and its value; a name alone has that of the environment, as in k6.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None => (text, std::env::var(text).unwrap_or_default()),
    };
    match name.is_empty() {
        true => Err("expected NAME=VALUE".to_owned()),
        false => Ok((name.to_owned(), value)),
    }
}

/// What a file is: a script.
fn script_type(text: &str) -> Result<String, String> {
    match text {
        "js" => Ok(text.to_owned()),
        "archive" => Err("squall reads no archives: give it the script".to_owned()),
        _ => Err("expected js".to_owned()),
    }
}

/// Options of a test, with the texts that were typed for each.
#[derive(Debug, Clone, Default)]
pub struct K6Options(pub Vec<(&'static Known, Vec<String>)>);

impl Args for K6Options {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().filter(|own| !own.flag.is_empty()).map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        K6Options::augment_args(command)
    }
}

/// The flag of an option.
fn argument(own: &Known) -> Arg {
    let flag = Arg::new(own.flag).long(own.flag).help(own.about);
    let flag = own.short.into_iter().fold(flag, Arg::short);
    match own.kind {
        Kind::Switch => flag
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL")
            .action(ArgAction::Set),
        Kind::Debug => flag
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("headers")
            .value_name(value_name(own.kind))
            .action(ArgAction::Set),
        Kind::List | Kind::Stages | Kind::Pairs => {
            flag.value_name(value_name(own.kind)).action(ArgAction::Append)
        }
        Kind::Number | Kind::Text | Kind::Json => {
            flag.value_name(value_name(own.kind)).action(ArgAction::Set)
        }
    }
}

fn value_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "N",
        Kind::Switch => "BOOL",
        Kind::Text | Kind::Debug => "TEXT",
        Kind::List => "LIST",
        Kind::Stages => "TIME:N",
        Kind::Pairs => "NAME=VALUE",
        Kind::Json => "JSON",
    }
}

impl FromArgMatches for K6Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<K6Options, clap::Error> {
        let with_flag = OPTIONS.iter().filter(|own| !own.flag.is_empty());
        let typed = with_flag.filter_map(|own| {
            let texts = matches.get_many::<String>(own.flag)?;
            Some((own, texts.cloned().collect()))
        });
        Ok(K6Options(typed.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = K6Options::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Arguments, Command};

    fn parsed(words: &[&str]) -> K6Run {
        let all = ["squall", "k6", "run"].iter().chain(words);
        let arguments = Arguments::try_parse_from(all).unwrap_or_else(|error| panic!("{error}"));
        match arguments.command {
            Some(Command::K6(K6 { command: K6Command::Run(run) })) => *run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_of_k6_is_understood() {
        let words = "-u 5 -d 10s --stage 1s:1,2s:2 -s 3s:3 -w --no-setup=false --tag a=b --tag c=d -e X=1 --env Y=2=3 \
                     --include-system-env-vars=false -q -t js --rps 3 -v --no-color --linger --paused -a localhost:6565 \
                     --compatibility-mode base --no-usage-report --features a,b --profiling-enabled a.js";
        let run = parsed(&words.split_whitespace().collect::<Vec<_>>());
        let typed: Vec<(&str, Vec<String>)> =
            run.options.0.iter().map(|(own, texts)| (own.name, texts.clone())).collect();
        let list = |texts: &[&str]| texts.iter().map(|own| (*own).to_owned()).collect::<Vec<_>>();
        let expected = [
            ("vus", list(&["5"])),
            ("duration", list(&["10s"])),
            ("stages", list(&["1s:1,2s:2", "3s:3"])),
            ("tags", list(&["a=b", "c=d"])),
            ("rps", list(&["3"])),
            ("throw", list(&["true"])),
            ("noSetup", list(&["false"])),
            ("paused", list(&["true"])),
            ("linger", list(&["true"])),
            ("noUsageReport", list(&["true"])),
        ];
        assert_eq!(typed, expected);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(run.given.env, [pair("X", "1"), pair("Y", "2=3")]);
        assert_eq!((run.given.include_system_env_vars, run.log.quiet), (false, true));
        assert_eq!((run.log.verbose, run.log.no_color), (true, true));
        assert_eq!(run.accepted.warnings().len(), 3, "{:?}", run.accepted);
        assert!(parsed(&["a.js"]).accepted.warnings().is_empty());
        assert!(parsed(&["a.js"]).given.include_system_env_vars);
    }
}
