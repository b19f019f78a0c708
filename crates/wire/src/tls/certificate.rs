//! The few parts of a certificate that are looked at where it is trusted by itself: its version, how long it is
//! valid, the name of its subject and its key. Pure.

use der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use der::{Decode, Reader, Sequence, SliceReader, Tag, TagMode, TagNumber, Tagged};
use x509_cert::name::Name;
use x509_cert::spki::SubjectPublicKeyInfoRef;
use x509_cert::time::Time;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// How version 3 is written.
const VERSION_3: u8 = 2;

/// What a certificate says of itself. Nothing is copied: one is read in each handshake of `insecure`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About<'c> {
    /// First and last second of its validity, in seconds since 1970; 0: before.
    pub valid: (u64, u64),
    /// Whether it has version 3: only those have extensions, and with them alternative names.
    pub has_extensions: bool,
    /// The key of its subject: all of its SubjectPublicKeyInfo, in DER.
    pub public_key: &'c [u8],
    /// The name of its subject, in DER.
    subject: &'c [u8],
}

impl<'c> About<'c> {
    /// Reads a certificate as far as its key; `None`: it is none.
    pub(super) fn read(der: &'c [u8]) -> Option<About<'c>> {
        let signed = |signed: &mut SliceReader<'c>| {
            let version = signed.context_specific::<u8>(TagNumber(0), TagMode::Explicit)?;
            for _serial_algorithm_issuer in 0..3 {
                signed.tlv_bytes()?;
            }
            Ok(About {
                valid: signed.sequence(validity)?,
                has_extensions: version == Some(VERSION_3),
                subject: signed.tlv_bytes()?,
                public_key: signed.tlv_bytes()?,
            })
        };
        beginning(der, |certificate| beginning(certificate.tlv_bytes()?, signed)).ok()
    }

    /// The last common name of its subject, which stands for a host where nothing else does.
    pub(super) fn common_name(&self) -> Option<String> {
        let subject = Name::from_der(self.subject).ok()?;
        let name = subject.iter().filter(|name| name.oid == COMMON_NAME).last()?;
        std::str::from_utf8(name.value.value()).ok().map(str::to_owned)
    }
}

/// Reads what stands at the beginning of a sequence; what follows there is not looked at.
pub(super) fn beginning<'d, T>(
    der: &'d [u8],
    read: impl FnOnce(&mut SliceReader<'d>) -> der::Result<T>,
) -> der::Result<T> {
    SliceReader::new(der)?.sequence(|reader| {
        let found = read(reader)?;
        reader.read_slice(reader.remaining_len())?;
        Ok(found)
    })
}

fn validity(reader: &mut SliceReader<'_>) -> der::Result<(u64, u64)> {
    Ok((seconds(reader)?, seconds(reader)?))
}

/// A time in seconds since 1970, with which the times of `der` begin; 0: before.
fn seconds<'c>(reader: &mut SliceReader<'c>) -> der::Result<u64> {
    let time: AnyRef<'c> = reader.decode()?;
    let text = time.value();
    let is_before = match time.tag() {
        // Of two digits of a year those from 50 on are of the last century (RFC 5280, section 4.1.2.5.1).
        Tag::UtcTime => (&b"50"[..]..&b"70"[..]).contains(&text),
        _ => text < &b"1970"[..],
    };
    if is_before {
        return Ok(0);
    }
    Ok(time.decode_as::<Time>()?.to_unix_duration().as_secs())
}

/// The key of an RSA algorithm (RFC 8017, appendix A.1.1).
#[derive(Sequence)]
struct RsaKey<'k> {
    modulus: UintRef<'k>,
    exponent: UintRef<'k>,
}

/// How many bytes the modulus of a key has; `None`: it is no RSA key.
pub(super) fn rsa_bytes(public_key: &[u8]) -> Option<usize> {
    let info = SubjectPublicKeyInfoRef::from_der(public_key).ok()?;
    if info.algorithm.oid != RSA {
        return None;
    }
    let key = RsaKey::from_der(info.subject_public_key.as_bytes()?).ok()?;
    Some(key.modulus.as_bytes().len())
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
        let about = About::read(&der).expect("a certificate");
        assert_eq!(about.common_name().as_deref(), Some("shop.test"));
        assert_eq!(about.valid, (1_795_333_458, 4_948_933_458));
        assert!(about.has_extensions);
        assert!(about.public_key.starts_with(&[0x30, 42]) && about.public_key.len() == 44);
    }

    #[test]
    fn times_before_1970_are_the_first_second() {
        const NOT_BEFORE: &[u8] = b"261122074418Z";
        let mut der = der();
        let at = der.windows(NOT_BEFORE.len()).position(|part| part == NOT_BEFORE).expect("there");
        for (time, seconds) in [
            (b"500101000000Z", Some(0)),
            (b"691231235959Z", Some(0)),
            (b"700101000001Z", Some(1)),
            (b"490101000000Z", Some(2_493_072_000)),
            (b"701301000000Z", None),
        ] {
            der[at..at + time.len()].copy_from_slice(time);
            assert_eq!(About::read(&der).map(|about| about.valid.0), seconds, "{time:?}");
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
            let _ = About::read(&bytes);
            let mut der = der();
            let at = at % der.len();
            der[at] ^= flip;
            let _ = About::read(&der).and_then(|about| about.common_name());
            let _ = About::read(&der[..at]);
        }
    }
}
