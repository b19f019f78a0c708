//! Flags of `squall k6` that are about its log and its summary, and those that change nothing in squall.

// Doc comments are the help, as it is printed.
#![allow(rustdoc::broken_intra_doc_links)]

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use squall_k6::summary::SummaryMode;

/// How a switch is read that may have a value.
pub(super) const FLAG: ArgAction = ArgAction::Set;

/// What a switch may be: `true`, `1` and the like.
pub(super) fn switch() -> clap::builder::BoolishValueParser {
    clap::builder::BoolishValueParser::new()
}

/// What is printed, and where the log goes.
#[derive(Debug, Clone, Args)]
pub struct K6Log {
    /// Where the log goes: stderr, stdout, none, or file=PATH, with `,level=LEVEL` behind it for those lines alone.
    #[arg(long, value_name = "OUTPUT", default_value = "stderr", env = "K6_LOG_OUTPUT", value_parser = LogOutput::parse)]
    pub log_output: LogOutput,
    /// The form of a line of the log: text, json, or raw, which is the message alone.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        env = "K6_LOG_FORMAT"
    )]
    pub log_format: LogFormat,
    /// Write what the script logs with `console` to FILE.
    #[arg(long, value_name = "FILE", env = "K6_CONSOLE_OUTPUT")]
    pub console_output: Option<PathBuf>,
    /// Log what is for debugging too, such as `console.debug()`.
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// Print only the result, not the progress.
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Print the summary without colours.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false,
        value_name = "BOOL", action = FLAG, value_parser = switch(), env = "K6_NO_COLOR")]
    pub no_color: bool,
}

/// Where the log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogOutput {
    Stderr,
    Stdout,
    None,
    /// A file, to which lines of this level and above are added.
    File(PathBuf, LogLevel),
}

/// How important a line of the log is; the least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Warning,
    Error,
}

impl LogLevel {
    /// Its name in the log.
    pub fn label(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        }
    }
}

/// The form of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
    Raw,
}

impl LogOutput {
    /// What a text names.
    ///
    /// # Errors
    /// It is nothing that squall writes to.
    fn parse(text: &str) -> Result<LogOutput, String> {
        match text {
            "stderr" => return Ok(LogOutput::Stderr),
            "stdout" => return Ok(LogOutput::Stdout),
            "none" => return Ok(LogOutput::None),
            _ if text.starts_with("loki") => {
                return Err(
                    "squall sends no logs to Loki: write them with file=PATH, and send that file"
                        .to_owned(),
                );
            }
            _ => {}
        }
        let expected = || "expected stderr, stdout, none or file=PATH".to_owned();
        let rest = text.strip_prefix("file=").ok_or_else(expected)?;
        let (path, level) = rest.split_once(',').unwrap_or((rest, "level=debug"));
        let level = match level {
            "level=debug" | "level=trace" => LogLevel::Debug,
            "level=info" => LogLevel::Info,
            "level=warning" | "level=warn" => LogLevel::Warning,
            "level=error" => LogLevel::Error,
            _ => return Err("expected file=PATH,level=debug (or info, warning, error)".to_owned()),
        };
        match path.is_empty() {
            true => Err(expected()),
            false => Ok(LogOutput::File(path.into(), level)),
        }
    }
}

/// The summary at the end.
#[derive(Debug, Clone, Args)]
pub struct K6Summary {
    /// What the summary at the end shows: compact, full, or disabled.
    #[arg(long, value_name = "MODE", value_parser = SummaryMode::parse, default_value = "compact", env = "K6_SUMMARY_MODE")]
    pub summary_mode: SummaryMode,
    /// Write the summary as JSON to FILE.
    #[arg(long, value_name = "FILE", env = "K6_SUMMARY_EXPORT")]
    pub summary_export: Option<PathBuf>,
    /// Write that file, and give handleSummary() its data, in k6's newer form.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false,
        value_name = "BOOL", action = FLAG, value_parser = switch(), env = "K6_NEW_MACHINE_READABLE_SUMMARY")]
    pub new_machine_readable_summary: bool,
}

/// Flags that squall takes from builds that call k6, and that change nothing here.
#[derive(Debug, Clone, Args)]
pub struct K6Accepted {
    /// Without effect: there is one mode, which has `global`.
    #[arg(long, hide_short_help = true, value_name = "MODE", value_parser = ["base", "extended"], hide_possible_values = true,
        env = "K6_COMPATIBILITY_MODE")]
    pub compatibility_mode: Option<String>,
    /// Without effect: squall has no REST API.
    #[arg(short = 'a', long, hide_short_help = true, value_name = "ADDR", env = "K6_ADDRESS")]
    pub address: Option<String>,
    /// Without effect: squall has no profiling endpoints.
    #[arg(long, hide_short_help = true, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        default_value_t = false, value_name = "BOOL", action = FLAG, value_parser = switch(), env = "K6_PROFILING_ENABLED")]
    pub profiling_enabled: bool,
    /// Without effect: squall has none of k6's experimental features.
    #[arg(long, hide_short_help = true, value_name = "NAMES", env = "K6_FEATURES")]
    pub features: Vec<String>,
    /// Only `none`: squall sends no traces.
    #[arg(long, hide_short_help = true, value_name = "OUTPUT", value_parser = traces, env = "K6_TRACES_OUTPUT")]
    pub traces_output: Option<String>,
}

impl K6Accepted {
    /// Those that were given and have no effect, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let given = [
            (
                "--address",
                self.address.is_some(),
                "squall has no REST API; `squall run --ui` shows and controls a run",
            ),
            ("--profiling-enabled", self.profiling_enabled, "squall has no profiling endpoints"),
            (
                "--features",
                !self.features.is_empty(),
                "squall has none of k6's experimental features",
            ),
        ];
        let given = given.into_iter().filter(|(_, is_given, _)| *is_given);
        given.map(|(flag, _, why)| format!("{flag} has no effect: {why}")).collect()
    }
}

/// Where traces go: nowhere.
fn traces(text: &str) -> Result<String, String> {
    match text {
        "none" => Ok(text.to_owned()),
        _ => Err("squall sends no traces: leave it out".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_the_log_have_names() {
        let file = |level| Ok(LogOutput::File("a.log".into(), level));
        assert_eq!(LogOutput::parse("none"), Ok(LogOutput::None));
        assert_eq!(LogOutput::parse("file=a.log"), file(LogLevel::Debug));
        assert_eq!(LogOutput::parse("file=a.log,level=warning"), file(LogLevel::Warning));
        for (text, said) in [
            ("loki=http://a", "no logs to Loki"),
            ("syslog", "expected stderr, stdout, none or file=PATH"),
            ("file=", "file=PATH"),
            ("file=a,level=high", "level=debug"),
        ] {
            assert!(LogOutput::parse(text).is_err_and(|why| why.contains(said)), "{text}");
        }
    }
}
