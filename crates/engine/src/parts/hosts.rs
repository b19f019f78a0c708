//! Where requests may go: nobody loads a third party by accident.

use std::collections::{HashMap, HashSet};

use super::url;

/// Hosts that a plan names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    /// The ports of each host as URLs have it; `None`: any port.
    exact: HashMap<String, HashSet<Option<u16>>>,
    /// What a host must end with, beginning with the dot.
    suffixes: HashSet<String>,
    /// Whether all hosts are allowed.
    all: bool,
}

impl Hosts {
    /// Allows `host`, `host:port`, `*.suffix` (any name below it) or `*` (every host).
    ///
    /// # Errors
    /// It is none of these.
    pub(crate) fn allow(&mut self, text: &str) -> Result<(), String> {
        let bad = |reason: &str| {
            format!("invalid host `{text}`: {reason}; expected host, host:port or *.suffix")
        };
        let text = text.trim();
        if text == "*" {
            self.all = true;
            return Ok(());
        }
        if text.contains("://") {
            return Err(bad("it is written without a scheme"));
        }
        if text.contains('/') {
            return Err(bad("it is written without a path"));
        }
        let below = text.strip_prefix("*.");
        if below.unwrap_or(text).contains('*') {
            return Err(bad("a `*` stands for everything before a dot, at the beginning"));
        }
        if let Some(suffix) = below {
            let suffix = url::host(suffix).map_err(|error| bad(&error.to_string()))?;
            self.suffixes.insert(format!(".{suffix}"));
            return Ok(());
        }
        let is_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
        let (host, port) = match text.rsplit_once(':').filter(|_| !is_v6 && !text.ends_with(']')) {
            Some((host, port)) => {
                let port =
                    port.parse().map_err(|_| bad("its port must be a number up to 65535"))?;
                (host, Some(port))
            }
            None => (text, None),
        };
        let host = if is_v6 { url::host(&format!("[{host}]")) } else { url::host(host) };
        let host = host.map_err(|error| bad(&error.to_string()))?;
        self.exact.entry(host).or_default().insert(port);
        Ok(())
    }

    /// Allows an origin that the plan names literally.
    pub(crate) fn allow_origin(&mut self, host: &str, port: u16) {
        self.exact.entry(host.to_ascii_lowercase()).or_default().insert(Some(port));
    }

    /// Whether requests may go to a host, as URLs have it, and a port.
    pub(crate) fn allows(&self, host: &str, port: u16) -> bool {
        let is_exact =
            |ports: &HashSet<Option<u16>>| ports.contains(&None) || ports.contains(&Some(port));
        // A name below a suffix has something before its dot.
        let mut dots = host.match_indices('.').map(|(at, _)| at).filter(|at| *at > 0);
        self.all
            || self.exact.get(host).is_some_and(is_exact)
            || dots.any(|at| self.suffixes.contains(&host[at..]))
    }

    /// Why requests may not go to a host and a port, and what to do. `hidden`: what was written there, without the secrets
    /// that it has; the host may have them in other letters.
    pub(crate) fn explain(&self, host: &str, port: u16, hidden: Option<&str>) -> String {
        let place = match hidden {
            None if host.contains(':') => format!("[{host}]:{port}"),
            None => format!("{host}:{port}"),
            Some(written) => format!("the host of `{written}`"),
        };
        format!(
            "the plan does not name {place}, and a host that only setup or a response names has to be \
             allowed: if it is yours to load, add it to `allow_hosts`"
        )
    }
}

#[cfg(test)]
mod tests;
