//! Load on one URL, without a plan.

use std::path::Path;
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
    /// HTTP proxy, such as http://user:password@host:3128; that of the environment is not looked at.
    #[arg(short = 'x', long, value_name = "URL")]
    pub proxy: Option<String>,
    /// IP address of this machine that connections are made from; several, with commas or given more than once, are used
    /// in turn.
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub source_address: Vec<std::net::IpAddr>,
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
    if is_file(text) {
        let hint = format!(
            "to run it as a plan, write `squall run {text}`; a host's URL begins with http://"
        );
        return Err(format!("this names a file, and is no URL: {hint}"));
    }
    if text == "localhost" || !text.chars().all(is_word) {
        return Ok(text.to_owned());
    }
    let command = <Arguments as clap::CommandFactory>::command();
    let known = command.get_subcommands().map(clap::Command::get_name).chain(["help", "version"]);
    let hint = match text {
        "start" | "exec" => "did you mean `run`?".to_owned(),
        "validate" | "lint" => "did you mean `check`?".to_owned(),
        "serve" | "server" => "did you mean `target`?".to_owned(),
        _ => match nearest(text, known) {
            Some("version") => "did you mean `--version`?".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("for a host of this name write http://{text}/"),
        },
    };
    Err(format!("no such command, and no URL: {hint}"))
}

/// Whether a text without a scheme names a file: one that is there, or what looks like the path of a plan.
fn is_file(text: &str) -> bool {
    if text.contains("://") || text == "localhost" {
        return false;
    }
    // What has a dot or a port before its first slash is a host, whatever its path ends in.
    let is_of_host = text
        .split_once('/')
        .is_some_and(|(host, _)| host == "localhost" || host.contains(['.', ':']));
    let ends_as_plan = [".yaml", ".yml", ".jmx", ".json"]
        .iter()
        .any(|end| text.to_ascii_lowercase().ends_with(end));
    text.starts_with(['.', '/']) || (ends_as_plan && !is_of_host) || Path::new(text).is_file()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_url() {
        for file in [
            "shop.yaml",
            "Shop.YML",
            "a.jmx",
            "plans/a.json",
            "./nofile",
            "../a",
            "/a/b",
            "Cargo.toml",
        ] {
            let error = url(file).expect_err(file);
            assert!(error.contains(&format!("`squall run {file}`")), "{error}");
        }
        let hosts = [
            "localhost",
            "a.example",
            "http://a/b.json",
            "127.0.0.1:80/b.json",
            "localhost/b.json",
            "[::1]:80/",
        ];
        for host in hosts {
            assert_eq!(url(host).as_deref(), Ok(host));
        }
    }

    #[test]
    fn a_word_is_a_command_that_was_mistyped() {
        for (word, meant) in [
            ("rnu", "`run`"),
            ("verison", "`--version`"),
            ("version", "`--version`"),
            ("lint", "`check`"),
        ] {
            let error = url(word).expect_err(word);
            assert!(error.contains(meant), "{error}");
        }
    }
}
