//! Who may ask: the token in the path, the host that was meant, and the page that asks. Pure, but for the chance of a
//! token.

use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;

use squall_base::hex::hex;
use squall_serve::{Host, Request};

/// Bytes of chance in a token.
const TOKEN: usize = 16;

/// What a request must show.
#[derive(Debug, Clone)]
pub struct Access {
    token: String,
    host: Host,
}

impl Access {
    /// With a new token.
    ///
    /// # Errors
    /// The system has no chance to give.
    pub fn new(host: &str, port: u16) -> io::Result<Access> {
        let mut bytes = [0; TOKEN];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Access { token: hex(&bytes), host: Host { name: host.to_owned(), port } })
    }

    /// Where the page is, with the token.
    pub fn url(&self) -> String {
        // Who listens everywhere is reached here, too.
        let Host { name, port } = &self.host;
        let host = match name.parse::<IpAddr>() {
            Ok(ip) if ip.is_unspecified() && ip.is_ipv4() => "127.0.0.1".to_owned(),
            Ok(ip) if ip.is_unspecified() => "[::1]".to_owned(),
            Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
            _ => name.clone(),
        };
        format!("http://{host}:{port}/{}/", self.token)
    }

    /// What is asked for, below the token; `None`: who asks may not.
    ///
    /// The host must be this server's ([`Host::of`]). A page of another origin is refused whether it wants to read or to write.
    pub fn path<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let may = self.is_from_here(request, self.host.of(request)?);
        let rest = request.path.strip_prefix('/')?;
        let (token, rest) = rest.split_once('/')?;
        (may && is_same(token.as_bytes(), self.token.as_bytes())).then_some(rest)
    }

    /// Whether no other page is behind it. A browser names the origin of whatever changes something.
    fn is_from_here(&self, request: &Request, host: &str) -> bool {
        let is_same_origin = match request.field("origin") {
            Some(origin) => {
                origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host))
            }
            None => !request.has("origin") && request.method != "POST",
        };
        let site = request.field("sec-fetch-site");
        let is_same_site = match site {
            Some(site) => matches!(site, "same-origin" | "none"),
            None => !request.has("sec-fetch-site"),
        };
        is_same_origin && is_same_site
    }
}

/// Whether two texts are the same, in a time that does not say where they differ.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b));
    a.len() == b.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, path: &str, fields: &[(&str, &str)]) -> Request {
        let fields = fields.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let (method, path) = (method.to_owned(), path.to_owned());
        Request { method, path, fields: fields.collect(), body: Vec::new() }
    }

    fn access(host: &str) -> Access {
        Access { token: "secret".to_owned(), host: Host { name: host.to_owned(), port: 8089 } }
    }

    #[test]
    fn the_token_the_host_and_the_origin_must_be_right() {
        let own = access("127.0.0.1");
        let get = |path: &str, fields: &[(&str, &str)]| {
            own.path(&asked("GET", path, fields)).map(ToOwned::to_owned)
        };
        let host = ("host", "127.0.0.1:8089");
        assert_eq!(get("/secret/", &[host]).as_deref(), Some(""));
        assert_eq!(get("/secret/a/b", &[("host", "LocalHost:8089")]).as_deref(), Some("a/b"));
        assert_eq!(get("/secret/x", &[("host", "[::1]:8089")]).as_deref(), Some("x"));
        let good = [host, ("origin", "http://127.0.0.1:8089"), ("sec-fetch-site", "same-origin")];
        assert_eq!(get("/secret/", &good).as_deref(), Some(""));
        for path in [
            "/",
            "",
            "secret/",
            "/secret",
            "/secreT/",
            "/secre/",
            "/secret1/",
            "//secret/",
            "/%73ecret/",
        ] {
            assert_eq!(get(path, &[host]), None, "{path}");
        }
        for fields in [
            &[][..],
            &[host, host],
            &[("host", "evil.example:8089")],
            &[("host", "127.0.0.1")],
            &[("host", "127.0.0.1:80")],
            &[host, ("origin", "http://evil.example")],
            &[host, ("origin", "https://127.0.0.1:8089")],
            &[host, ("origin", "http://localhost:8089")],
            &[host, ("origin", "null")],
            &[host, ("origin", "http://127.0.0.1:8089"), ("origin", "http://127.0.0.1:8089")],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(get("/secret/", fields), None, "{fields:?}");
        }
    }

    #[test]
    fn what_changes_something_names_its_origin() {
        let own = access("load.example");
        let post =
            |fields: &[(&str, &str)]| own.path(&asked("POST", "/secret/control", fields)).is_some();
        let host = ("host", "load.example:8089");
        assert!(!post(&[host]));
        assert!(post(&[host, ("origin", "http://load.example:8089")]));
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let url = || Access::new("0.0.0.0", 80).expect("chance").url();
        let (first, second) = (url(), url());
        assert_ne!(first, second);
        assert!(first.starts_with("http://127.0.0.1:80/") && first.len() == 20 + 32 + 1, "{first}");
    }
}
