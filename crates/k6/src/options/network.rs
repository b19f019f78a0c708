//! Options of requests and connections. Pure.

use std::net::IpAddr;
use std::time::Duration;

use super::hosts::{hosts, networks, patterns};
use super::layers::Layers;
use super::tls::{self, Tls};
use super::value::{At, OptionError};

/// Most requests of a batch at a time.
const MOST_AT_ONCE: u64 = 1_000;

/// Most addresses that connections are made from.
const MOST_ADDRESSES: u128 = 65_536;

/// What holds for the requests of a test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Http {
    pub max_redirects: Option<u64>,
    /// Most requests of a batch at a time.
    pub batch: Option<u64>,
    /// The same to one host.
    pub batch_per_host: Option<u64>,
    pub user_agent: Option<String>,
    /// Whether requests that fail throw.
    pub throws: bool,
    /// Whether bodies of responses are not kept.
    pub discards_bodies: bool,
    /// Whether users keep their cookies from one iteration to the next.
    pub keeps_cookies: bool,
    /// Most requests a second of all users together.
    pub rps: Option<u64>,
}

/// What holds for the connections of a test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// Addresses in place of DNS, by host or `host:port`; `*.suffix` is every name below it.
    pub hosts: Vec<(String, String)>,
    /// Hosts that no request may go to, by patterns.
    pub blocked_hosts: Vec<String>,
    /// Addresses and networks that no connection may be made to.
    pub blocked_addresses: Vec<String>,
    /// How long a resolved name is valid; `None`: 5 minutes.
    pub dns_ttl: Option<Duration>,
    /// Whether the first of several addresses is taken.
    pub takes_first: bool,
    /// Addresses that connections are made from.
    pub local: Vec<IpAddr>,
    pub tls: Tls,
    /// Whether connections end with each request, or with each iteration.
    pub reuse: Reuse,
}

/// How long a connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reuse {
    /// Over a user's iterations.
    #[default]
    Always,
    /// For an iteration.
    WithinIteration,
    /// For a request.
    Never,
}

/// Reads what holds for requests.
///
/// # Errors
/// An option is not what is expected.
pub fn http(layers: &Layers) -> Result<Http, OptionError> {
    Ok(Http {
        max_redirects: layers.read("maxRedirects", |own| own.count(0))?,
        batch: layers.read("batch", |own| at_once(own, 1))?,
        // 0 is any number.
        batch_per_host: layers
            .read("batchPerHost", |own| at_once(own, 0))?
            .map(|own| if own == 0 { MOST_AT_ONCE } else { own }),
        user_agent: layers.read("userAgent", |own| own.text().map(str::to_owned))?,
        throws: layers.is_on("throw")?,
        discards_bodies: layers.is_on("discardResponseBodies")?,
        keeps_cookies: layers.is_on("noCookiesReset")?,
        // 0 is any number.
        rps: layers.read("rps", |own| own.count(0))?.filter(|own| *own > 0),
    })
}

/// A number of requests at a time.
fn at_once(own: &At<'_>, least: u64) -> Result<u64, OptionError> {
    let number = own.count(least)?;
    match number > MOST_AT_ONCE {
        true => Err(own.expected(&format!("a whole number up to {MOST_AT_ONCE}"))),
        false => Ok(number),
    }
}

/// Reads what holds for connections.
///
/// # Errors
/// An option is not what is expected, or squall has nothing like it.
pub fn network(layers: &Layers) -> Result<Network, OptionError> {
    let (never, within) =
        (layers.is_on("noConnectionReuse")?, layers.is_on("noVUConnectionReuse")?);
    let (dns_ttl, takes_first) = layers.read("dns", dns)?.unwrap_or_default();
    Ok(Network {
        hosts: layers.read("hosts", hosts)?.unwrap_or_default(),
        blocked_hosts: layers.read("blockHostnames", patterns)?.unwrap_or_default(),
        blocked_addresses: layers.read("blacklistIPs", networks)?.unwrap_or_default(),
        dns_ttl,
        takes_first,
        local: layers.read("localIPs", local)?.unwrap_or_default(),
        tls: tls::tls(layers)?,
        reuse: match (never, within) {
            (true, _) => Reuse::Never,
            (false, true) => Reuse::WithinIteration,
            (false, false) => Reuse::Always,
        },
    })
}

/// The time that a name is valid, and whether the first address is taken.
fn dns(own: &At<'_>) -> Result<(Option<Duration>, bool), OptionError> {
    own.only(&["ttl", "select", "policy"])?;
    let ttl = match own.key("ttl") {
        None => None,
        // As long as any test.
        Some(ttl) if ttl.value == "inf" => Some(Duration::from_secs(365 * 86_400)),
        Some(ttl) => Some(ttl.time()?),
    };
    let words = [("random", false), ("roundRobin", false), ("first", true)];
    let select = own.key("select").map(|own| own.word(&words)).transpose()?.unwrap_or_default();
    if let Some(policy) = own.key("policy") {
        let words = [
            ("preferIPv4", true),
            ("any", true),
            ("preferIPv6", false),
            ("onlyIPv4", false),
            ("onlyIPv6", false),
        ];
        if !policy.word(&words)? {
            return Err(policy.refused(
                "squall takes addresses of both versions: name the host's address in `hosts`",
            ));
        }
    }
    Ok((ttl, select))
}

/// `10.0.0.1,10.0.0.5-10.0.0.9,10.1.0.0/24`: addresses.
fn local(own: &At<'_>) -> Result<Vec<IpAddr>, OptionError> {
    let wrong = || own.expected("addresses such as 10.0.0.1,10.0.0.5-10.0.0.9,10.1.0.0/24");
    let mut all = Vec::new();
    for part in own.text()?.split(',').map(str::trim) {
        let (first, last) = range(part).ok_or_else(wrong)?;
        let (from, to) = (number(first), number(last));
        if from > to || first.is_ipv4() != last.is_ipv4() {
            return Err(wrong());
        }
        if to - from >= MOST_ADDRESSES - all.len() as u128 {
            return Err(own.refused(format!("these are more than {MOST_ADDRESSES} addresses")));
        }
        all.extend((from..=to).map(|own| address(own, first.is_ipv4())));
    }
    Ok(all)
}

/// The first and the last address.
fn range(text: &str) -> Option<(IpAddr, IpAddr)> {
    if let Some((first, last)) = text.split_once('-') {
        return Some((first.trim().parse().ok()?, last.trim().parse().ok()?));
    }
    let Some((base, bits)) = text.split_once('/') else {
        let one: IpAddr = text.parse().ok()?;
        return Some((one, one));
    };
    let base: IpAddr = base.parse().ok()?;
    let width: u32 = if base.is_ipv4() { 32 } else { 128 };
    let free = width.checked_sub(bits.parse().ok()?)?;
    let below = 1u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    let first = number(base) & !below;
    // The network's own address and, of version 4, its broadcast address are nobody's.
    let (skip, end) = if free > 1 && base.is_ipv4() { (1, 1) } else { (0, 0) };
    Some((address(first + skip, base.is_ipv4()), address(first + below - end, base.is_ipv4())))
}

fn number(own: IpAddr) -> u128 {
    match own {
        IpAddr::V4(own) => u128::from(own.to_bits()),
        IpAddr::V6(own) => own.to_bits(),
    }
}

fn address(number: u128, is_v4: bool) -> IpAddr {
    match is_v4 {
        true => IpAddr::V4((number as u32).into()),
        false => IpAddr::V6(number.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options::Source;
    use crate::options::TlsVersion::{V12, V13};

    fn read(options: &Value) -> Result<Network, String> {
        let mut layers = Layers::default();
        layers.add_map(&Source::Script, options).expect("options");
        network(&layers).map_err(|error| error.to_string())
    }

    #[test]
    fn connections_are_as_the_options_say() {
        let own = read(&json!({
            "hosts": {"*.a.example": "1.2.3.4", "b.example:443": "1.2.3.4:8443"},
            "blockHostnames": ["*.bad.example", "worse.example"], "blacklistIPs": ["10.0.0.0/8"],
            "dns": {"ttl": "1m", "select": "first", "policy": "preferIPv4"},
            "localIPs": "10.0.0.1,10.0.0.5-10.0.0.7,10.1.0.0/30,10.2.0.7/32",
            "insecureSkipTLSVerify": true,
            "tlsVersion": {"min": "tls1.0", "max": "tls1.2"},
            "noVUConnectionReuse": true,
        }))
        .expect("options");
        let local: Vec<String> = own.local.iter().map(ToString::to_string).collect();
        assert_eq!(
            local,
            ["10.0.0.1", "10.0.0.5", "10.0.0.6", "10.0.0.7", "10.1.0.1", "10.1.0.2", "10.2.0.7"]
        );
        assert_eq!((own.dns_ttl, own.takes_first), (Some(Duration::from_secs(60)), true));
        assert_eq!(own.tls.versions, Some((V12, V12)));
        assert_eq!((own.tls.is_insecure, own.reuse), (true, Reuse::WithinIteration));
        assert_eq!(own.hosts[1], ("b.example:443".to_owned(), "1.2.3.4:8443".to_owned()));
        assert_eq!(own.blocked_hosts, ["*.bad.example", "worse.example"]);
        assert_eq!(own.blocked_addresses, ["10.0.0.0/8"]);
        let both =
            json!({"noVUConnectionReuse": true, "noConnectionReuse": true, "tlsVersion": "tls1.3"});
        let own = read(&both).expect("options");
        assert_eq!((own.reuse, own.tls.versions), (Reuse::Never, Some((V13, V13))));
        assert_eq!(read(&json!({})), Ok(Network::default()));
    }

    #[test]
    fn what_squall_has_not_is_refused() {
        for (options, said) in [
            (
                json!({"hosts": {"*x.example": "1.2.3.4"}}),
                "`hosts.*x.example` (the script's options): a `*` stands for all before a dot",
            ),
            (json!({"blockHostnames": ["a.*.example"]}), "a `*` stands for all before a dot"),
            (json!({"blockHostnames": ["http://a"]}), "it is written without a scheme"),
            (json!({"blacklistIPs": ["a.example"]}), "expected a network such as 10.0.0.0/8"),
            (json!({"blacklistIPs": ["10.0.0.0/33"]}), "expected a network such as 10.0.0.0/8"),
            (json!({"dns": {"policy": "onlyIPv6"}}), "name the host's address in `hosts`"),
            (
                json!({"dns": {"select": "last"}}),
                "expected one of random, roundRobin, first, found \"last\"",
            ),
            (json!({"tlsVersion": "tls1.1"}), "squall speaks TLS 1.2 and 1.3"),
            (json!({"tlsVersion": {"min": "tls1.3", "max": "tls1.2"}}), "`min` not above `max`"),
            (json!({"localIPs": "10.0.0.0/8"}), "more than 65536 addresses"),
            (json!({"localIPs": "::/0"}), "more than 65536 addresses"),
            (json!({"localIPs": "10.0.0.9-10.0.0.1"}), "expected addresses such as"),
        ] {
            let error = read(&options).expect_err("refused");
            assert!(error.contains(said), "{options}: {error}");
        }
    }
}
