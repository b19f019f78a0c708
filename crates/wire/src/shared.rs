//! What is made of the settings once before the run, and read by all workers.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use crate::progress::Clock;
use crate::resolve::{self, unique};
use crate::ring::Ring;
use crate::settings::{
    Between, Destination, Http, Io, Settings, SetupError, Substitute, plain_http2,
};
use crate::tls::{self, Connectors};

/// What all workers share, read-only while they run.
pub struct Shared {
    pub(crate) settings: Settings,
    pub(crate) tls: Connectors,
    /// Addresses that the user gave, by `host` or `host:port`.
    given: HashMap<String, Vec<SocketAddr>>,
    /// Addresses by `host:port`, of the names known before the run.
    pub(crate) addresses: HashMap<String, Vec<SocketAddr>>,
    /// Where connections go that go elsewhere than their names say.
    elsewhere: Vec<SocketAddr>,
    io: Io,
    /// Why it is not the backend that it could be.
    io_warning: Option<String>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Shared {
    /// Reads certificates, and looks up the names of where connections go (this blocks, for at most 10 s).
    ///
    /// A name that has no address is no error here: each request to it will fail and say so.
    ///
    /// # Errors
    /// A certificate or key cannot be read; no name server answers; there is no io_uring, and nothing
    /// else may be used; HTTP/2 without TLS is to go through a proxy.
    pub fn new(settings: Settings, to: &[Destination]) -> Result<Arc<Shared>, SetupError> {
        let is_proxied = |to: &&Destination| matches!(to.between, Between::Proxy(_));
        let plain = || to.iter().filter(|to| !to.origin.is_tls());
        if let Some(to) = plain().find(is_proxied).filter(|_| settings.http == Http::V2) {
            return Err(SetupError(plain_http2(&to.origin)));
        }
        if let (Some(path), Some(to)) = (&settings.unix, to.iter().find(is_proxied)) {
            let (to, path) = (&to.origin, path.display());
            return Err(SetupError(format!(
                "requests to {to} cannot go both through a proxy and through the Unix socket {path}: leave out one of them"
            )));
        }
        check_allowed(&settings, to)?;
        let tls = tls::connectors(&settings.tls, settings.http)?;
        let (io, io_warning) = choose(settings.io)?;
        let given = resolve::substitutes(&settings.resolve)?;
        let (addresses, elsewhere) = (HashMap::new(), Vec::new());
        let mut shared = Shared { settings, tls, given, addresses, elsewhere, io, io_warning };
        if shared.settings.unix.is_some() {
            return Ok(Arc::new(shared));
        }
        let mut names = Vec::new();
        for name in to.iter().filter_map(Destination::peer) {
            match shared.overridden(&name.0, name.1) {
                Some(given) => shared.elsewhere.extend(given.iter()),
                None if names.contains(&name) => {}
                None => names.push(name),
            }
        }
        let found = resolve::lookup_all(names.clone())?;
        for ((host, port), found) in names.into_iter().zip(found) {
            if let Some(addresses) = found {
                shared.check_addresses(&host, &addresses)?;
                shared.addresses.insert(format!("{host}:{port}"), addresses);
            }
        }
        Ok(Arc::new(shared))
    }

    /// Whether a name that is not allowed by itself has an address that is.
    fn check_addresses(&self, host: &str, addresses: &[SocketAddr]) -> Result<(), SetupError> {
        let Some(list) = &self.settings.allowed else { return Ok(()) };
        let is_any = addresses.iter().any(|address| list.allows_address(address.ip()));
        match list.allows_host(host) || is_any {
            true => Ok(()),
            false => Err(SetupError(list.explain(host))),
        }
    }

    /// The source addresses of connections; none: the system chooses.
    pub fn source_addresses(&self) -> &[IpAddr] {
        &self.settings.source_addresses
    }

    /// Where connections go, as far as is known before the run: the addresses of the origins, or of the proxy.
    pub fn destinations(&self) -> Vec<SocketAddr> {
        unique(self.addresses.values().flatten().chain(&self.elsewhere).copied())
    }

    /// The names of the client certificates that requests may name.
    pub fn certificates(&self) -> impl Iterator<Item = &str> {
        self.tls.named.iter().map(|(name, _)| name.as_str())
    }

    /// Whether connections have a client certificate where none is named.
    pub fn has_certificate(&self) -> bool {
        self.tls.has_certificate
    }

    /// The I/O backend in use: never [`Io::Auto`].
    pub fn io(&self) -> Io {
        self.io
    }

    /// Why the backend is epoll on a machine that has io_uring and seems to allow it.
    pub fn io_warning(&self) -> Option<&str> {
        self.io_warning.as_deref()
    }

    /// The addresses that the user gave for a name.
    pub(crate) fn overridden(&self, host: &str, port: u16) -> Option<Rc<[SocketAddr]>> {
        if self.given.is_empty() {
            return None;
        }
        let given = of_host(&self.given, host, port)?;
        let with_port = |address: &SocketAddr| match address.port() {
            0 => SocketAddr::new(address.ip(), port),
            _ => *address,
        };
        Some(given.iter().map(with_port).collect())
    }
}

/// What was given for a host and a port: with the port before without it, by its own name before `*.suffix`, of which the
/// longest counts.
fn of_host<'g, T>(given: &'g HashMap<String, T>, host: &str, port: u16) -> Option<&'g T> {
    let below = |name: &str| {
        let mut suffixes = name.match_indices('.').filter(|(at, _)| *at > 0);
        suffixes.find_map(|(at, _)| given.get(&format!("*{}", &name[at..])))
    };
    let names = [format!("{host}:{port}"), host.to_owned()];
    names.iter().find_map(|name| given.get(name).or_else(|| below(name)))
}

/// Whether connections may go where they are known to go before the run, and to what takes the place of hosts.
fn check_allowed(settings: &Settings, to: &[Destination]) -> Result<(), SetupError> {
    let Some(list) = &settings.allowed else { return Ok(()) };
    let refused = |host: &str| Err(SetupError(list.explain(host)));
    for substitute in settings.resolve.values().flatten() {
        match substitute {
            Substitute::Address(address) if !list.allows_address(address.ip()) => {
                return refused(&address.ip().to_string());
            }
            // Its addresses are not looked at: it has to be allowed by its name.
            Substitute::Host(host, _) if !list.allows_host(host) => return refused(host),
            Substitute::Address(_) | Substitute::Host(..) => {}
        }
    }
    for one in to {
        let is_proxied = matches!(one.between, Between::Proxy(_));
        if is_proxied && !list.allows_host(&one.origin.host) {
            return refused(&one.origin.host);
        }
        let Some((host, port)) = one.peer() else { continue };
        let is_unix = settings.unix.is_some() && one.origin.is_http();
        let is_given = of_host(&settings.resolve, &host, port).is_some();
        let is_address = host.parse::<IpAddr>().is_ok();
        let may_be = list.has_networks() && !is_address;
        if !is_unix && !is_given && !may_be && !list.allows_host(&host) {
            return refused(&host);
        }
    }
    Ok(())
}

/// What [`Io::Auto`] means on this machine, with a warning where that is a surprise: that a container forbids io_uring, or that the
/// kernel is older, is none.
fn choose(wanted: Io) -> Result<(Io, Option<String>), SetupError> {
    let tried = match wanted {
        Io::Epoll => return Ok((Io::Epoll, None)),
        _ => Ring::new(Clock::new(Instant::now()), None).map(drop),
    };
    match (tried, wanted) {
        (Ok(()), _) => Ok((Io::Uring, None)),
        (Err(error), Io::Auto | Io::Epoll) => {
            let is_surprise = error.kind() == io::ErrorKind::Other;
            let warning = || format!("epoll in place of io_uring, which costs more CPU: {error}");
            Ok((Io::Epoll, is_surprise.then(warning)))
        }
        (Err(error), Io::Uring) => Err(SetupError(format!(
            "there is no io_uring here ({error}): it needs Linux 6.1 or later, and containers often forbid it; `--io auto` takes epoll where it is missing"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use squall_base::AllowList;

    use super::*;
    use crate::origin::{Origin, Scheme};
    use crate::via::Proxy;

    #[test]
    fn a_run_goes_to_allowed_hosts_alone() {
        let to = |host: &str, between: Between| Destination {
            origin: Origin { scheme: Scheme::Http, host: host.into(), port: 80 },
            between,
        };
        let proxy = Between::Proxy(Arc::new(Proxy {
            host: "127.0.0.3".to_owned(),
            port: 3128,
            credentials: None,
        }));
        let made = |allowed: &[&str], given: Option<Substitute>, to: &[Destination]| {
            let settings = Settings {
                allowed: Some(Arc::new(AllowList::read(allowed).expect("patterns"))),
                resolve: given.map(|own| ("shop.test".to_owned(), vec![own])).into_iter().collect(),
                ..Settings::default()
            };
            Shared::new(settings, to).map(drop).map_err(|error| error.to_string())
        };
        let plain = [to("127.0.0.1", Between::Nothing)];
        assert_eq!(made(&["127.0.0.0/8"], None, &plain), Ok(()));
        let error = made(&["10.0.0.0/8"], None, &plain).expect_err("another network");
        assert!(error.contains("--allow-hosts 127.0.0.1"), "{error}");
        assert!(made(&[], None, &plain).expect_err("nothing").contains("no host at all"));
        // A name of which only the addresses are allowed is looked up.
        let named = [to("localhost", Between::Nothing)];
        assert_eq!(made(&["127.0.0.1", "::1"], None, &named), Ok(()));
        assert!(made(&["10.0.0.0/8"], None, &named).is_err());
        assert!(made(&["other.test"], None, &named).is_err());
        // A proxy and what is behind it.
        let proxied = [to("shop.example", proxy)];
        assert_eq!(made(&["127.0.0.3", "shop.example"], None, &proxied), Ok(()));
        assert!(made(&["shop.example"], None, &proxied).is_err());
        assert!(made(&["127.0.0.3"], None, &proxied).is_err());
        // What a plan puts in the place of a host.
        let given = || Some(Substitute::Address(SocketAddr::from(([127, 0, 0, 9], 0))));
        let named = [to("shop.test", Between::Nothing)];
        assert_eq!(made(&["127.0.0.9"], given(), &named), Ok(()));
        let error = made(&["shop.test"], given(), &named).expect_err("another address");
        assert!(error.contains("--allow-hosts 127.0.0.9"), "{error}");
        let other = || Some(Substitute::Host("localhost".to_owned(), 80));
        assert_eq!(made(&["localhost"], other(), &named), Ok(()));
        assert!(made(&["shop.test"], other(), &named).is_err());
    }

    #[test]
    fn the_nearest_name_of_a_host_counts() {
        let given: HashMap<String, u32> = [
            ("*.test", 1),
            ("*.shop.test", 2),
            ("a.shop.test", 3),
            ("*.shop.test:81", 4),
            ("a.shop.test:82", 5),
        ]
        .map(|(name, number)| (name.to_owned(), number))
        .into();
        for (host, port, number) in [
            ("a.shop.test", 80, Some(3)),
            ("a.shop.test", 81, Some(4)),
            ("a.shop.test", 82, Some(5)),
            ("b.c.shop.test", 80, Some(2)),
            ("shop.test", 80, Some(1)),
            ("test", 80, None),
            (".test", 80, None),
        ] {
            assert_eq!(of_host(&given, host, port).copied(), number, "{host}:{port}");
        }
    }

    #[test]
    fn what_takes_the_place_of_a_host_is_a_destination_with_its_port() {
        let given = [Substitute::Address(SocketAddr::from(([127, 0, 0, 1], 0)))];
        let settings = Settings {
            resolve: [("shop.test".to_owned(), given.to_vec())].into(),
            ..Settings::default()
        };
        let to = |host: &str, port| Destination {
            origin: Origin { scheme: Scheme::Http, host: host.into(), port },
            between: Between::Nothing,
        };
        let to = [to("shop.test", 8080), to("shop.test", 81), to("127.0.0.2", 82)];
        let shared = Shared::new(settings, &to).expect("a network");
        let mut found = shared.destinations();
        found.sort_unstable();
        let expected = [("127.0.0.1", 81), ("127.0.0.1", 8080), ("127.0.0.2", 82)];
        let expected =
            expected.map(|(host, port)| SocketAddr::new(host.parse().expect("an address"), port));
        assert_eq!(found, expected);
    }
}
