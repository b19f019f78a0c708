//! Load on one URL, without a plan.

use std::time::Duration;

use clap::{Args, ValueEnum};
use squall_plan::diagnostic::nearest;
use squall_plan::model::HttpVersion;

use super::Arguments;
use super::options::Output;
use super::values::{duration, length, rate};

/// Load on one URL, without a plan.
#[derive(Debug, Args)]
pub struct OneLine {
    /// The URL to load.
    #[arg(required = true, value_parser = url)]
    pub url: Option<String>,
    /// Virtual users, each with a connection of its own.
    #[arg(short = 'c', long, value_name = "USERS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub users: u64,
    /// How long, such as 30s or 5m [default: 10s unless -n is given].
    #[arg(short = 'd', long = "duration", alias = "for", value_name = "TIME", value_parser = length)]
    pub duration: Option<Duration>,
    /// How many requests in all.
    #[arg(short = 'n', long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "duration")]
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
