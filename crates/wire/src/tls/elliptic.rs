//! Keys on elliptic curves as Java writes them: without the public key, which is optional (RFC 5915, section 3), and
//! without which the library that signs refuses them. It stands in the certificate. Pure.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use der::{Decode, Encode, Reader, Sequence, SliceReader};
use x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::certificate::{About, beginning};

const ELLIPTIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// A private key of any algorithm (PKCS #8: RFC 5208, section 5), without its attributes.
#[derive(Sequence)]
struct PrivateKeyInfo<'k> {
    version: u8,
    algorithm: AlgorithmIdentifierRef<'k>,
    key: &'k OctetStringRef,
}

/// One on an elliptic curve.
#[derive(Sequence)]
struct EllipticKey<'k> {
    version: u8,
    secret: &'k OctetStringRef,
    #[asn1(context_specific = "0", optional = "true")]
    curve: Option<AnyRef<'k>>,
    #[asn1(context_specific = "1", optional = "true")]
    public: Option<BitStringRef<'k>>,
}

/// A private key (PKCS #8) with the public key of its certificate in it; `None`: it is none on an elliptic curve, or
/// has it already.
pub(super) fn with_public_key(key: &[u8], certificate: &[u8]) -> Option<Vec<u8>> {
    let info = beginning(key, private_key).ok()?;
    if info.algorithm.oid != ELLIPTIC {
        return None;
    }
    let own = EllipticKey::from_der(info.key.as_bytes()).ok()?;
    if own.public.is_some() {
        return None;
    }
    let public_key = About::read(certificate)?.public_key;
    let public = SubjectPublicKeyInfoRef::from_der(public_key).ok()?.subject_public_key;
    let whole = EllipticKey { curve: None, public: Some(public), ..own }.to_der().ok()?;
    PrivateKeyInfo { key: OctetStringRef::new(&whole).ok()?, ..info }.to_der().ok()
}

fn private_key<'k>(reader: &mut SliceReader<'k>) -> der::Result<PrivateKeyInfo<'k>> {
    let (version, algorithm, key) = (reader.decode()?, reader.decode()?, reader.decode()?);
    Ok(PrivateKeyInfo { version, algorithm, key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gets_the_public_key_of_its_certificate() {
        let own = rcgen::generate_simple_self_signed(["shop.test".to_owned()]).expect("one");
        let (key, certificate) = (own.signing_key.serialize_der(), own.cert.der());
        assert_eq!(with_public_key(&key, certificate), None, "it has it");
        // As Java writes it: without the last field.
        let info = PrivateKeyInfo::from_der(&key).expect("a key");
        let whole = EllipticKey::from_der(info.key.as_bytes()).expect("a key on a curve");
        let short = EllipticKey { public: None, ..whole }.to_der().expect("memory");
        let short = OctetStringRef::new(&short).expect("bytes");
        let short = PrivateKeyInfo { key: short, ..info }.to_der().expect("memory");
        assert!(short.len() < key.len());
        assert_eq!(with_public_key(&short, certificate).as_ref(), Some(&key));
        // How it may be used, as an attribute.
        let attributes = b"\xa0\x0d\x30\x0b\x06\x03\x55\x1d\x0f\x31\x04\x03\x02\x00\x80";
        let mut longer = [&short[..], attributes].concat();
        longer[1] += attributes.len() as u8;
        assert!(longer[1] < 128, "the length has one byte");
        assert_eq!(with_public_key(&longer, certificate), Some(key));
        for other in [&b""[..], &short[..short.len() - 1], certificate] {
            assert_eq!(with_public_key(other, certificate), None);
        }
        assert_eq!(with_public_key(&short, b"none"), None);
    }
}
