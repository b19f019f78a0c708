//! Targets, and what tests look at in results. The binary's tests share it.

use serde_json::Value;
use squall_target::{Options, Server, TlsOptions};

/// A target on a port of its own.
pub fn target() -> Server {
    target_at("127.0.0.1:0", None)
}

/// A target that listens on an address (`unix:/path` too), with TLS or without.
pub fn target_at(listen: &str, tls: Option<TlsOptions>) -> Server {
    Server::start(Options { listen: vec![listen.to_owned()], tls, threads: 1, seed: None })
        .expect("a target")
}

/// The errors of a run, by kind.
pub fn kinds(result: &Value) -> String {
    result["totals"]["error_kinds"].to_string()
}

/// A counter of a run.
pub fn counter(result: &Value, name: &str) -> u64 {
    result["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}: {result}"))
}

/// Checks that a run made so many requests, each with a good response.
pub fn all_good(result: &Value, count: u64) {
    assert_eq!(kinds(result), "{}", "{}", result["log"]);
    assert_eq!(result["totals"]["count"].as_u64(), Some(count), "{result}");
}
