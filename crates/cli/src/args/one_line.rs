//! Load on one URL, without a plan.

use std::time::Duration;

use clap::{Args, ValueEnum};
use squall_plan::model::HttpVersion;

use super::fleet::Fleet;
use super::options::Output;
use super::url::url;
use super::values::{at_least_one, duration, length, rate};

/// Load on one URL, without a plan.
#[derive(Debug, Args)]
pub struct OneLine {
    /// The URL to load.
    #[arg(required = true, value_parser = url)]
    pub url: Option<String>,
    /// Virtual users, each with its own connection.
    #[arg(short = 'c', long, value_name = "USERS", default_value_t = 10, value_parser = at_least_one)]
    pub users: u64,
    /// How long to run, such as 30s or 5m [default: 10s unless -n is given].
    #[arg(short = 'd', long = "duration", alias = "for", value_name = "TIME", value_parser = length)]
    pub duration: Option<Duration>,
    /// How many requests to send in total.
    #[arg(short = 'n', long, value_name = "REQUESTS", value_parser = at_least_one, conflicts_with = "duration")]
    pub requests: Option<u64>,
    /// Requests at this rate, such as 500/s, however long responses take; USERS is then the most
    /// requests in flight.
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<f64>,
    /// HTTP method [default: GET, or POST with a body].
    #[arg(short = 'm', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Header, such as 'Accept: text/html'; may be given more than once.
    #[arg(short = 'H', long = "header", value_name = "K: V")]
    pub headers: Vec<String>,
    /// Request body, or @FILE to send the content of a file.
    #[arg(short = 'b', long, value_name = "BODY|@FILE")]
    pub body: Option<String>,
    /// Request timeout.
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Accept any TLS certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// HTTP proxy, such as http://user:password@host:3128.
    ///
    /// The environment (HTTP_PROXY) is ignored.
    #[arg(short = 'x', long, value_name = "URL")]
    pub proxy: Option<String>,
    /// Local IP address to connect from; several, separated by commas or given more than once, are used in turn.
    #[arg(long, hide_short_help = true, value_name = "ADDR", value_delimiter = ',')]
    pub source_address: Vec<std::net::IpAddr>,
    /// Open a new connection for each request.
    #[arg(long)]
    pub no_keepalive: bool,
    /// HTTP version.
    ///
    /// 1.1, 2 (without TLS: by prior knowledge), or auto: whichever an https server prefers.
    #[arg(long, value_enum, value_name = "VERSION", default_value_t = HttpFlag::V1)]
    pub http: HttpFlag,
    /// Follow at most N redirects.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub redirects: u32,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub fleet: Fleet,
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
    /// Whichever an https server prefers.
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
