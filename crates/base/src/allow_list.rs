//! Hosts that a machine may send requests to which lends itself to others: names and addresses, whatever a plan says.
//! Pure.

use core::net::IpAddr;
use std::fmt;

/// Most patterns of a list.
const MAX_PATTERNS: usize = 10_000;
/// Most bytes of a pattern: as long as a name may be, with what stands before it.
const MAX_PATTERN: usize = 260;

/// A list of hosts, by patterns: `shop.example.com`, `*.example.com` (every name below it), `10.0.0.5`, `10.0.0.0/8`,
/// `fd00::/8`, or `*` (every host).
///
/// A name is allowed by its own pattern, whatever its addresses are; one that no pattern names is allowed at those of its
/// addresses that are. An empty list allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// Every host.
    All,
    /// This name.
    Name(String),
    /// Every name that ends so; with the dot.
    Below(String),
    /// Addresses that begin with so many bits of this one.
    Network(IpAddr, u8),
}

impl AllowList {
    /// Reads patterns.
    ///
    /// # Errors
    /// One of them is none, in a sentence; or there are too many.
    pub fn read<T: AsRef<str>>(patterns: &[T]) -> Result<AllowList, String> {
        if patterns.len() > MAX_PATTERNS {
            return Err(format!("{} hosts are more than {MAX_PATTERNS}", patterns.len()));
        }
        let patterns: Result<Vec<_>, _> = patterns.iter().map(|one| read(one.as_ref())).collect();
        Ok(AllowList { patterns: patterns? })
    }

    /// Whether it allows nothing.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a host is allowed by what it is called. Of an address that is all there is to know.
    pub fn allows_host(&self, host: &str) -> bool {
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return self.allows_address(address);
        }
        let host = plain(host);
        self.patterns.iter().any(|pattern| match pattern {
            Pattern::All => true,
            Pattern::Name(name) => *name == host,
            Pattern::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            Pattern::Network(..) => false,
        })
    }

    /// Whether an address is allowed, whatever it is called.
    pub fn allows_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.patterns.iter().any(|pattern| match pattern {
            Pattern::All => true,
            Pattern::Network(network, bits) => is_within(address, *network, *bits),
            Pattern::Name(_) | Pattern::Below(_) => false,
        })
    }

    /// Whether a host that it does not allow by its name may have an address that it allows.
    pub fn has_networks(&self) -> bool {
        self.patterns.iter().any(|pattern| matches!(pattern, Pattern::Network(..)))
    }

    /// Why requests may not go to a host, and what to do.
    pub fn explain(&self, host: &str) -> String {
        let allowed = match self.patterns.as_slice() {
            [] => "it allows no host at all".to_owned(),
            some => {
                let first: Vec<String> = some.iter().take(5).map(ToString::to_string).collect();
                let more = if some.len() > 5 { ", ..." } else { "" };
                format!("it allows {}{more}", first.join(", "))
            }
        };
        format!(
            "this node may not send requests to {host}: {allowed}; if {host} is yours to load, start the node with \
             `--allow-hosts {host}`"
        )
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::All => f.write_str("*"),
            Pattern::Name(name) => f.write_str(name),
            Pattern::Below(suffix) => write!(f, "*{suffix}"),
            Pattern::Network(address, bits) if *bits == width(*address) => write!(f, "{address}"),
            Pattern::Network(address, bits) => write!(f, "{address}/{bits}"),
        }
    }
}

/// Bits of an address.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// A name as it is compared: in small letters, without the dot of the root.
fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn read(text: &str) -> Result<Pattern, String> {
    const EXPECTED: &str =
        "expected a name, `*.example.com`, an address, a network such as 10.0.0.0/8, or `*`";
    let shown: String = text.chars().take(80).collect();
    let bad = |reason: &str| {
        format!("invalid host `{}`: {reason}; {EXPECTED}", crate::escape_control(&shown))
    };
    let text = text.trim();
    if text.len() > MAX_PATTERN {
        return Err(bad("it is too long"));
    }
    if text == "*" {
        return Ok(Pattern::All);
    }
    if text.contains("://") {
        return Err(bad("it is written without a scheme"));
    }
    if let Some((address, bits)) = text.split_once('/') {
        return network(address, bits).ok_or_else(|| bad("it is not a network"));
    }
    if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        let address = address.to_canonical();
        return Ok(Pattern::Network(address, width(address)));
    }
    if text.contains(':') {
        return Err(bad("all ports of a host are allowed: leave out the port"));
    }
    let (name, is_below) = match text.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let name = plain(name);
    let is_label = |label: &str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !label.is_empty() && label.chars().all(is_good)
    };
    if name.contains('*') {
        return Err(bad("a `*` stands for everything before a dot, at the beginning"));
    }
    if !name.split('.').all(is_label) {
        return Err(bad("it is not the name of a host"));
    }
    Ok(if is_below { Pattern::Below(format!(".{name}")) } else { Pattern::Name(name) })
}

fn network(address: &str, bits: &str) -> Option<Pattern> {
    let address: IpAddr = address.trim_matches(['[', ']']).parse().ok()?;
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u8 = bits.parse().ok().filter(|_| is_number)?;
    // An IPv4 network that is written as one of IPv6.
    let plain = address.to_canonical();
    let bits = match plain.is_ipv4() && address.is_ipv6() {
        true => bits.checked_sub(96)?,
        false => bits,
    };
    (bits <= width(plain)).then_some(Pattern::Network(plain, bits))
}

/// Whether an address begins with so many bits of another of its family.
fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let rest = |address: IpAddr| match address {
        IpAddr::V4(own) => u128::from(own.to_bits()).checked_shr(32 - u32::from(bits)),
        IpAddr::V6(own) => own.to_bits().checked_shr(128 - u32::from(bits)),
    };
    // With no bits to compare, every address of the family is within.
    address.is_ipv4() == network.is_ipv4() && rest(address) == rest(network)
}

#[cfg(test)]
mod tests {
    use core::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    fn list(patterns: &[&str]) -> AllowList {
        AllowList::read(patterns).expect("patterns")
    }

    #[test]
    fn names_and_what_is_below_them() {
        let list = list(&["shop.example.com", "*.test.example", "Upper.Example."]);
        for (host, allowed) in [
            ("shop.example.com", true),
            ("SHOP.example.com", true),
            ("shop.example.com.", true),
            ("a.shop.example.com", false),
            ("example.com", false),
            ("a.test.example", true),
            ("b.a.test.example", true),
            ("test.example", false),
            ("attest.example", false),
            (".test.example", false),
            ("upper.example", true),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(list.allows_host(host), allowed, "{host}");
        }
        assert!(!list.has_networks());
        assert!(!list.allows_address(Ipv4Addr::LOCALHOST.into()));
    }

    #[test]
    fn addresses_and_networks() {
        let list = list(&["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::ffff:198.51.100.0/120"]);
        for (host, allowed) in [
            ("10.255.0.1", true),
            ("11.0.0.1", false),
            ("::ffff:10.1.2.3", true),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("fd12::1", true),
            ("[fd12::1]", true),
            ("fe80::1", false),
            ("198.51.100.9", true),
            ("198.51.101.9", false),
            ("ten.example", false),
        ] {
            assert_eq!(list.allows_host(host), allowed, "{host}");
        }
        assert!(list.has_networks());
        assert!(!AllowList::read(&["0.0.0.0/0"]).expect("a network").allows_host("::1"));
    }

    #[test]
    fn all_and_nothing() {
        for host in ["a.example", "127.0.0.1", "::1"] {
            assert!(list(&["*"]).allows_host(host));
            assert!(!AllowList::default().allows_host(host));
        }
        let why = AllowList::default().explain("a.example");
        assert!(why.contains("no host at all") && why.contains("--allow-hosts a.example"), "{why}");
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (text, reason) in [
            ("", "not the name"),
            ("http://a.example", "without a scheme"),
            ("a.example:80", "leave out the port"),
            ("a.*.example", "a `*` stands"),
            ("*.", "not the name"),
            ("a..example", "not the name"),
            ("10.0.0.0/33", "not a network"),
            ("10.0.0.0/+8", "not a network"),
            ("a.example/8", "not a network"),
            ("::ffff:10.0.0.0/8", "not a network"),
            ("a b", "not the name"),
        ] {
            let error = AllowList::read(&[text]).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        /// A network holds exactly the addresses whose first bits are its own.
        #[test]
        fn networks_are_those_of_their_bits(address: u32, other: u32, bits in 0u32..=32) {
            let pattern = format!("{}/{bits}", Ipv4Addr::from_bits(address));
            let list = AllowList::read(&[pattern]).expect("a network");
            let mask = if bits == 0 { 0 } else { u32::MAX << (32 - bits) };
            for other in [other, address ^ (other & !mask), address ^ (other & 0x8000_0001)] {
                let expected = address & mask == other & mask;
                let host = Ipv4Addr::from_bits(other);
                prop_assert_eq!(list.allows_host(&host.to_string()), expected);
                prop_assert_eq!(list.allows_address(host.to_ipv6_mapped().into()), expected);
            }
        }

        #[test]
        fn networks_of_ipv6_likewise(address: u128, other: u128, bits in 0u32..=128) {
            let network = Ipv6Addr::from_bits(address);
            prop_assume!(network.to_ipv4_mapped().is_none());
            let list = AllowList::read(&[format!("{network}/{bits}")]).expect("a network");
            let mask = if bits == 0 { 0 } else { u128::MAX << (128 - bits) };
            for other in [other, address ^ (other & !mask)] {
                let host = Ipv6Addr::from_bits(other);
                prop_assume!(host.to_ipv4_mapped().is_none());
                prop_assert_eq!(list.allows_address(host.into()), address & mask == other & mask);
            }
        }

        /// Whatever it is given it does not break, and what it reads prints as what reads the same.
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}|[a-z0-9.*/:\\[\\]]{0,40}", host in "[a-zA-Z0-9.:\\[\\]-]{0,40}") {
            let Ok(list) = AllowList::read(&[&text]) else { return Ok(()) };
            let again = AllowList::read(&[list.patterns[0].to_string()]).expect("what was read");
            prop_assert_eq!(&again, &list);
            prop_assert_eq!(again.allows_host(&host), list.allows_host(&host));
        }

        /// Letters' case and the root's dot make no difference; a name below is not the name.
        #[test]
        fn names_are_those_of_dns(name in "[a-z]{1,5}(\\.[a-z]{1,5}){1,3}", other in "[a-z]{1,5}(\\.[a-z]{1,5}){1,3}") {
            let (exact, below) = (list(&[&name]), AllowList::read(&[format!("*.{name}")]).expect("a pattern"));
            let shouted = name.to_uppercase() + ".";
            prop_assert!(exact.allows_host(&shouted));
            prop_assert_eq!(exact.allows_host(&other), name == other);
            let longer = format!("{other}.{name}");
            prop_assert!(below.allows_host(&longer) && !exact.allows_host(&longer));
            let glued = format!("{other}{name}");
            let is_below = glued.ends_with(&format!(".{name}"));
            prop_assert_eq!((below.allows_host(&name), below.allows_host(&glued)), (false, is_below));
        }
    }
}
