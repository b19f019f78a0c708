//! Values as they are typed.

use std::time::Duration;

use squall_base::AllowList;
use squall_engine::ExchangeFilter;
use squall_feeds::TAGS_TAKEN;
use squall_report::{Format, NO_PARQUET, WRITES_PARQUET};

/// Most bytes of a message in the request log.
const MAX_LOGGED_BYTES: u64 = 16 << 20;

pub fn duration(text: &str) -> Result<Duration, String> {
    squall_base::units::parse_duration(text).map_err(|error| error.to_string())
}

/// A whole number above 0.
pub fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number, at least 1".to_owned()),
    }
}

/// An address to listen on, as far as its shape goes: whether it is free is seen later.
pub fn listen(text: &str) -> Result<String, String> {
    let is_good = match text.strip_prefix("unix:") {
        Some(path) => !path.is_empty(),
        None => text
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()),
    };
    match is_good {
        true => Ok(text.to_owned()),
        false => {
            Err("expected host:port, [v6]:port or unix:/path, such as 127.0.0.1:8080".to_owned())
        }
    }
}

/// A length of load, in which something can happen.
pub fn length(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("a load needs a length above 0".to_owned()),
        length => Ok(length),
    }
}

/// The size of the copies in the request log: each is in memory until it is written.
pub fn logged_size(text: &str) -> Result<u64, String> {
    let size = squall_base::units::parse_size(text).map_err(|error| error.to_string())?;
    match size <= MAX_LOGGED_BYTES {
        true => Ok(size),
        false => Err("at most 16MiB of a message can be logged".to_owned()),
    }
}

/// Reads a label.
pub fn label(text: &str) -> Result<(String, String), String> {
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
pub fn tag(text: &str) -> Result<(String, String), String> {
    let (name, value) = label(text).map_err(|error| error.replace("label", "tag"))?;
    match TAGS_TAKEN.contains(&name.as_str()) {
        true => Err(format!("the tag `{name}` is one that squall gives itself")),
        false => Ok((name, value)),
    }
}

pub fn which(text: &str) -> Result<ExchangeFilter, String> {
    match (text, text.strip_prefix("1/").map(str::parse)) {
        ("all", _) => Ok(ExchangeFilter::All),
        ("failed", _) => Ok(ExchangeFilter::Failed),
        (_, Some(Ok(every))) if every > 0 => Ok(ExchangeFilter::OneIn(every)),
        _ => Err("write all, failed, or one in N, such as 1/100".to_owned()),
    }
}

pub fn format(text: &str) -> Result<Format, String> {
    match text {
        "csv" => Ok(Format::Csv),
        "jsonl" => Ok(Format::Jsonl),
        "hlog" => Ok(Format::Hlog),
        "parquet" if WRITES_PARQUET => Ok(Format::Parquet),
        "parquet" => Err(NO_PARQUET.to_owned()),
        _ => Err("write csv, jsonl, parquet or hlog".to_owned()),
    }
}

/// The address of a NATS server.
pub fn nats_url(text: &str) -> Result<String, String> {
    const FORM: &str = "expected a NATS server, such as nats://10.0.0.5:4222, or tls://... with TLS";
    let text = text.trim();
    let host = match text.split_once("://") {
        Some(("nats" | "tls", host)) => host,
        Some(_) => return Err(FORM.to_owned()),
        None => text,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let port = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((_, port)) => port.strip_prefix(':'),
        None => host.split_once(':').map(|(_, port)| port),
    };
    let is_good = !host.is_empty()
        && !host.starts_with(':')
        && !host.contains([' ', '/', '?'])
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    match is_good {
        true if text.contains("://") => Ok(text.to_owned()),
        true => Ok(format!("nats://{text}")),
        false => Err(FORM.to_owned()),
    }
}

/// Hosts that a node sends requests to.
pub fn allowed_host(text: &str) -> Result<String, String> {
    // A name in other letters is looked at when it has those of URLs.
    if text.is_ascii() {
        AllowList::read(&[text])?;
    }
    Ok(text.to_owned())
}

/// How long a node may be without the server. A shorter time would take a busy moment for a loss; after a longer one a run would
/// have thinned out before anybody takes over.
pub fn lease(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        lease if (2..=600).contains(&lease.as_secs()) => Ok(lease),
        _ => Err("expected from 2s to 10m".to_owned()),
    }
}

/// The size of a spool.
pub fn spool_size(text: &str) -> Result<u64, String> {
    match squall_base::units::parse_size(text).map_err(|error| error.to_string())? {
        size if size >= 1 << 20 => Ok(size),
        _ => Err("expected at least 1MiB".to_owned()),
    }
}

/// A node's part beside those of others.
pub fn weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(weight) if (0.01..=1_000.0).contains(&weight) => Ok(weight),
        _ => Err("expected a number from 0.01 to 1000, such as 2".to_owned()),
    }
}

/// Reads a rate, above 0.
pub fn rate(text: &str) -> Result<f64, String> {
    // People type `-r 500` as well as `-r 500/s`.
    let text = if text.contains('/') { text.to_owned() } else { format!("{text}/s") };
    match squall_base::units::parse_rate(&text).map_err(|error| error.to_string())? {
        rate if rate > 0.0 => Ok(rate),
        _ => Err("a load needs a rate above 0".to_owned()),
    }
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
    fn a_load_has_a_rate_and_a_length() {
        assert_eq!((rate("500"), rate("30/m")), (Ok(500.0), Ok(0.5)));
        assert_eq!(length("90s"), Ok(Duration::from_secs(90)));
        for refused in [rate("0").map(drop), rate("0/s").map(drop), length("0s").map(drop)] {
            assert!(refused.is_err_and(|error| error.contains("above 0")));
        }
    }

    #[test]
    fn numbers_and_addresses_say_what_was_expected() {
        assert_eq!(at_least_one("0"), Err("expected at least 1".to_owned()));
        assert!(at_least_one("-1").is_err_and(|error| error.contains("at least 1")));
        assert_eq!(at_least_one("7"), Ok(7));
        for good in ["127.0.0.1:0", "[::1]:8080", "localhost:1", "unix:/tmp/a"] {
            assert_eq!(listen(good).as_deref(), Ok(good));
        }
        for bad in ["1", "a", "a:b", ":80", "127.0.0.1:65536", "unix:"] {
            assert!(listen(bad).is_err_and(|error| error.contains("host:port")), "{bad}");
        }
    }

    #[test]
    fn a_server_is_a_host_with_or_without_a_port() {
        for (typed, url) in [
            ("nats://10.0.0.5:4222", "nats://10.0.0.5:4222"),
            ("tls://user:a%40b@nats.example.com", "tls://user:a%40b@nats.example.com"),
            ("127.0.0.1:4222", "nats://127.0.0.1:4222"),
            (" [::1]:4222", "nats://[::1]:4222"),
        ] {
            assert_eq!(nats_url(typed).as_deref(), Ok(url));
        }
        for bad in ["", "nats://", "http://a", "nats://a:b", "a:0", "a:70000", "nats://a/b", ":1"] {
            assert!(nats_url(bad).is_err_and(|error| error.contains("nats://")), "{bad}");
        }
    }

    #[test]
    fn leases_weights_and_spools_have_bounds() {
        assert_eq!(lease("15s"), Ok(Duration::from_secs(15)));
        assert!(lease("1s").is_err() && lease("11m").is_err() && lease("soon").is_err());
        assert_eq!((weight("2"), weight("0.5")), (Ok(2.0), Ok(0.5)));
        assert!(["0", "-1", "NaN", "inf", "x", ""].iter().all(|bad| weight(bad).is_err()));
        assert_eq!(spool_size("1GiB"), Ok(1 << 30));
        assert!(spool_size("1KiB").is_err());
    }

    #[test]
    fn tags_have_names_of_their_own() {
        assert_eq!(tag("env=a b"), Ok(("env".to_owned(), "a b".to_owned())));
        assert!(tag("scenario=a").is_err_and(|error| error.contains("gives itself")));
        assert!(tag("env=").is_err_and(|error| error.contains("tag `env`")));
    }
}
