//! The few parts of a certificate that are looked at where it is trusted by itself: its version, how long it is
//! valid, the name of its subject and its key. Pure.

use der::asn1::{ObjectIdentifier, UintRef};
use der::{Decode, Encode, Sequence};
use x509_cert::Version;
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::spki::SubjectPublicKeyInfoRef;

/// The attribute commonName.
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// The algorithm rsaEncryption.
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    /// First and last second of its validity, in seconds since 1970.
    pub valid: (u64, u64),
    /// The last common name of its subject, which stands for a host where nothing else does.
    pub common_name: Option<String>,
    /// Whether it has version 3: only those have extensions, and with them alternative names.
    pub has_extensions: bool,
    /// The key of its subject: all of its SubjectPublicKeyInfo, in DER.
    pub public_key: Vec<u8>,
}

impl About {
    /// Reads a certificate; `None`: it is none.
    pub(super) fn read(der: &[u8]) -> Option<About> {
        let certificate = CertificateInner::<Raw>::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        let validity = signed.validity();
        let names = signed.subject().iter().filter(|name| name.oid == COMMON_NAME);
        let text = names.last().and_then(|name| std::str::from_utf8(name.value.value()).ok());
        Some(About {
            valid: (
                validity.not_before.to_unix_duration().as_secs(),
                validity.not_after.to_unix_duration().as_secs(),
            ),
            common_name: text.map(str::to_owned),
            has_extensions: signed.version() == Version::V3,
            public_key: signed.subject_public_key_info().to_der().ok()?,
        })
    }
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
        assert_eq!(about.common_name.as_deref(), Some("shop.test"));
        assert_eq!(about.valid, (1_795_333_458, 4_948_933_458));
        assert!(about.has_extensions);
        assert!(about.public_key.starts_with(&[0x30, 42]) && about.public_key.len() == 44);
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
            let _ = About::read(&der);
            let _ = About::read(&der[..at]);
        }
    }
}
