//! The address of a page, as it is typed. Pure.

use std::fmt;
use std::str::FromStr;

/// Where a page is served: a port on localhost only, or a host and a port; port 0: any free port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host: a name, or an address (of version 6 without brackets).
    pub host: String,
    pub port: u16,
}

impl Default for Address {
    fn default() -> Address {
        Address { host: "127.0.0.1".to_owned(), port: 0 }
    }
}

impl Address {
    /// Whether other machines may reach it.
    pub fn is_open(&self) -> bool {
        let is_loopback = self.host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        !is_loopback && !self.host.eq_ignore_ascii_case("localhost")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let wrong = || {
            format!(
                "`{text}` is not an address: expected PORT or HOST:PORT, such as 127.0.0.1:8089"
            )
        };
        if let Ok(port) = text.parse() {
            return Ok(Address { port, ..Address::default() });
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let bare = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(wrong)?,
            None if host.contains(':') => return Err(wrong()),
            None => host,
        };
        let is_good = |c: char| c.is_ascii_alphanumeric() || ".-:%".contains(c);
        match bare.is_empty() || !bare.chars().all(is_good) {
            true => Err(wrong()),
            false => Ok(Address { host: bare.to_owned(), port }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_or_a_host_and_a_port() {
        for (text, shown, is_open) in [
            ("0", "127.0.0.1:0", false),
            ("localhost:8089", "localhost:8089", false),
            ("[::1]:80", "[::1]:80", false),
            ("0.0.0.0:80", "0.0.0.0:80", true),
            ("load.example:80", "load.example:80", true),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!((address.to_string().as_str(), address.is_open()), (shown, is_open));
        }
        for text in
            ["", "plan.yaml", ":80", "a:b", "70000", "::1:80", "[::1:80", "http://a:80", "a b:1"]
        {
            assert!(
                text.parse::<Address>().is_err_and(|error| error.contains("HOST:PORT")),
                "{text}"
            );
        }
    }
}
