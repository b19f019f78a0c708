//! The few parts of a certificate that are looked at where it is trusted by itself: its version, how long it is
//! valid, the name of its subject and its key. Pure; reads DER (ITU-T X.690) as far as RFC 5280, section 4.1, needs it.

use squall_base::calendar::days_since_1970;

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About<'c> {
    /// First and last second of its validity, in seconds since 1970.
    pub valid: (i64, i64),
    /// The last common name of its subject, which stands for a host where nothing else does.
    pub common_name: Option<&'c str>,
    /// Whether it has version 3: only those have extensions, and with them alternative names.
    pub has_extensions: bool,
    /// The key of its subject: all of its SubjectPublicKeyInfo, in DER.
    pub public_key: &'c [u8],
}

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
const VERSION: u8 = 0xa0;
/// The content of the field of a certificate of version 3: the integer 2.
const VERSION_3: &[u8] = &[0x02, 0x01, 0x02];
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// What the algorithm of RSA keys begins with: rsaEncryption (1.2.840.113549.1.1.1).
const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// The attribute commonName (2.5.4.3) as an object identifier.
const COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];

/// Reads a certificate; `None`: it is none.
pub(super) fn read(der: &[u8]) -> Option<About<'_>> {
    let (_, certificate, _) = element(der, Some(SEQUENCE))?;
    let (_, signed, _) = element(certificate, Some(SEQUENCE))?;
    let (version, rest) = match element(signed, Some(VERSION)) {
        Some((_, version, rest)) => (version, rest),
        // Version 1 is not written.
        None => (&[][..], signed),
    };
    // Serial number, algorithm of the signature, issuer.
    let rest = (0..3).try_fold(rest, |rest, _| element(rest, None).map(|(_, _, rest)| rest))?;
    let (_, validity, rest) = element(rest, Some(SEQUENCE))?;
    let (tag, begin, end) = element(validity, None)?;
    let begin = time(tag, begin)?;
    let (tag, end, _) = element(end, None)?;
    let end = time(tag, end)?;
    let (_, subject, from_key) = element(rest, Some(SEQUENCE))?;
    let (_, _, after_key) = element(from_key, Some(SEQUENCE))?;
    Some(About {
        valid: (begin, end),
        common_name: common_name(subject),
        has_extensions: version == VERSION_3,
        public_key: &from_key[..from_key.len() - after_key.len()],
    })
}

/// How many bytes the modulus of a key has (RFC 8017, appendix A.1.1); `None`: it is no RSA key.
pub(super) fn rsa_bytes(public_key: &[u8]) -> Option<usize> {
    let (_, info, _) = element(public_key, Some(SEQUENCE))?;
    let (_, algorithm, key) = element(info, Some(SEQUENCE))?;
    if !algorithm.starts_with(RSA) {
        return None;
    }
    let (_, bits, _) = element(key, Some(BIT_STRING))?;
    let (_, numbers, _) = element(bits.strip_prefix(&[0])?, Some(SEQUENCE))?;
    let (_, modulus, _) = element(numbers, Some(INTEGER))?;
    Some(modulus.strip_prefix(&[0]).unwrap_or(modulus).len())
}

/// The first element of some bytes: its tag, its content, and what follows it.
pub(super) fn element(bytes: &[u8], wanted: Option<u8>) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    if wanted.is_some_and(|wanted| wanted != tag) {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // Two, three or four bytes of length: no certificate is larger.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// A time (RFC 5280, section 4.1.2.5): `YYMMDDHHMMSSZ` from 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b"Z")?;
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        Some(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    };
    let (year, at) = match (tag, text.len()) {
        (UTC_TIME, 12) => (number(0, 2).map(|year| year + if year < 50 { 2000 } else { 1900 })?, 2),
        (GENERALIZED_TIME, 14) => (number(0, 4)?, 4),
        _ => return None,
    };
    let part = |index: usize| number(at + 2 * index, at + 2 * index + 2);
    let (month, day) = (part(0)?, part(1)?);
    if !(1..=12).contains(&month) || year == 0 {
        return None;
    }
    let hours = days_since_1970(year, month, day) * 24 + part(2)?;
    Some((hours * 60 + part(3)?) * 60 + part(4)?)
}

/// The last common name of a name: sets of attributes, each an identifier and a text.
fn common_name(mut sets: &[u8]) -> Option<&str> {
    let mut found = None;
    while let Some((_, mut attributes, rest)) = element(sets, None) {
        sets = rest;
        while let Some((_, attribute, rest)) = element(attributes, Some(SEQUENCE)) {
            attributes = rest;
            if let Some((_, text, _)) =
                attribute.strip_prefix(COMMON_NAME).and_then(|text| element(text, None))
            {
                found = std::str::from_utf8(text).ok();
            }
        }
    }
    found
}

/// Whether a common name stands for a host: the same name, or `*.` and all of it but its first label.
pub(super) fn names(common_name: &str, host: &str) -> bool {
    let below = common_name.strip_prefix("*.").and_then(|name| {
        let (first, rest) = host.split_once('.')?;
        Some(!first.is_empty() && rest.contains('.') && rest.eq_ignore_ascii_case(name))
    });
    common_name.eq_ignore_ascii_case(host) || below == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What `openssl req -x509 -newkey ed25519 -nodes -subj "/O=x/CN=shop.test" -days 36500` made.
    const OPENSSL: &str = "MIIBVzCCAQmgAwIBAgIUPuRiYV/UwsEzoOG/4uPY3Xzfv10wBQYDK2VwMCAxCjAI \
        BgNVBAoMAXgxEjAQBgNVBAMMCXNob3AudGVzdDAgFw0yNjExMjIwNzQ0MThaGA8y \
        MTI2MTAyOTA3NDQxOFowIDEKMAgGA1UECgwBeDESMBAGA1UEAwwJc2hvcC50ZXN0 \
        MCowBQYDK2VwAyEAZbX4ajnBH/2riAUXDUHc2lFTp+e2LZDe5Ifh5jUBj3ijUzBR \
        MB0GA1UdDgQWBBSHjEWDfLLcYqtzm60UaNStlbRnMTAfBgNVHSMEGDAWgBSHjEWD \
        fLLcYqtzm60UaNStlbRnMTAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBAIajVC1Q \
        yMSDqa5omDhj4JVpqoA0eMr4LuXKtKIIWMkfsg17QMYQk6DGOKsjIs7LRRdX7MpI \
        du5YSmBwcoGJoAc=";

    fn der() -> Vec<u8> {
        use base64::Engine as _;
        let lines: String = OPENSSL.split_whitespace().collect();
        base64::engine::general_purpose::STANDARD.decode(lines).expect("base64")
    }

    #[test]
    fn a_certificate_of_openssl_is_read() {
        let der = der();
        let about = read(&der).expect("a certificate");
        assert_eq!(about.common_name, Some("shop.test"));
        assert_eq!(about.valid, (1_795_333_458, 4_948_933_458));
        assert!(about.has_extensions);
        assert!(about.public_key.starts_with(&[SEQUENCE, 42]) && about.public_key.len() == 44);
    }

    #[test]
    fn times_of_both_kinds() {
        for (tag, text, seconds) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (UTC_TIME, "500101000000Z", Some(-631_152_000)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799)),
            (UTC_TIME, "20500101000000Z", None),
            (UTC_TIME, "7001010000Z", None),
            (UTC_TIME, "701301000000Z", None),
            (UTC_TIME, "70010100000xZ", None),
            (UTC_TIME, "700101000000", None),
        ] {
            assert_eq!(time(tag, text.as_bytes()), seconds, "{text}");
        }
    }

    #[test]
    fn names_of_hosts() {
        for (name, host, is) in [
            ("Shop.test", "shop.TEST", true),
            ("*.shop.test", "a.shop.test", true),
            ("*.shop.test", "shop.test", false),
            ("*.shop.test", "a.b.shop.test", false),
            ("*.test", "shop.test", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("", "", true),
            ("shop", "shop.test", false),
        ] {
            assert_eq!(names(name, host), is, "{name} {host}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..80), at in 0..400usize, flip: u8) {
            let _ = read(&bytes);
            let mut der = der();
            let at = at % der.len();
            der[at] ^= flip;
            let _ = read(&der);
            let _ = read(&der[..at]);
        }
    }
}
