//! Which host was meant. Pure.

use std::net::IpAddr;

use crate::request::Request;

/// The host by which a server is reached.
#[derive(Debug, Clone)]
pub struct Host {
    /// A name of the user's, or an address.
    pub name: String,
    pub port: u16,
}

impl Host {
    /// The host of a request, if it is meant for this server: an address, or a name of this machine's own, so that a name that
    /// somebody else has pointed here (DNS rebinding) is refused.
    pub fn of<'r>(&self, request: &'r Request) -> Option<&'r str> {
        request.field("host").filter(|host| self.is_own(host))
    }

    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_address = bare.parse::<IpAddr>().is_ok();
        let is_name =
            [self.name.as_str(), "localhost"].iter().any(|own| own.eq_ignore_ascii_case(name));
        port == Some(self.port) && (is_address || is_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address_or_a_name_of_ones_own_with_the_port() {
        let own = Host { name: "load.example".to_owned(), port: 8089 };
        let is_own = |hosts: &[&str]| {
            let fields = hosts.iter().map(|host| ("host".to_owned(), (*host).to_owned()));
            own.of(&Request { fields: fields.collect(), ..Request::default() }).is_some()
        };
        for host in ["127.0.0.1:8089", "[::1]:8089", "LocalHost:8089", "Load.Example:8089"] {
            assert!(is_own(&[host]), "{host}");
        }
        for host in ["", "x", "evil.example:8089", "127.0.0.1", "127.0.0.1:80", "load.example:8o89"]
        {
            assert!(!is_own(&[host]), "{host}");
        }
        assert!(!is_own(&[]) && !is_own(&["127.0.0.1:8089", "127.0.0.1:8089"]));
    }
}
