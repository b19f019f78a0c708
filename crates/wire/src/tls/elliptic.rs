//! Keys on elliptic curves as Java writes them: without the public key, which is optional (RFC 5915, section 3), and
//! without which the library that signs refuses them. It stands in the certificate. Pure.

use super::certificate::{self, BIT_STRING, INTEGER, SEQUENCE, element};

const OCTET_STRING: u8 = 0x04;
/// The fields of a key that may be left out: its curve, and its public key.
const CURVE: u8 = 0xa0;
const PUBLIC_KEY: u8 = 0xa1;
/// What algorithms of elliptic curves begin with: id-ecPublicKey (1.2.840.10045.2.1).
const ELLIPTIC: &[u8] = &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// A private key (PKCS #8) with the public key of its certificate in it; `None`: it is none on an elliptic curve, or
/// has it already.
pub(super) fn with_public_key(key: &[u8], certificate: &[u8]) -> Option<Vec<u8>> {
    let (_, info, _) = element(key, Some(SEQUENCE))?;
    let (_, _, from_algorithm) = element(info, Some(INTEGER))?;
    let (_, named, after) = element(from_algorithm, Some(SEQUENCE))?;
    if !named.starts_with(ELLIPTIC) {
        return None;
    }
    let algorithm = &from_algorithm[..from_algorithm.len() - after.len()];
    let (_, inner, _) = element(after, Some(OCTET_STRING))?;
    let (_, fields, _) = element(inner, Some(SEQUENCE))?;
    let (_, _, fields) = element(fields, Some(INTEGER))?;
    let (_, secret, fields) = element(fields, Some(OCTET_STRING))?;
    let fields = element(fields, Some(CURVE)).map_or(fields, |(_, _, rest)| rest);
    if element(fields, Some(PUBLIC_KEY)).is_some() {
        return None;
    }
    let (_, public, _) = element(certificate::read(certificate)?.public_key, Some(SEQUENCE))?;
    let (_, _, public) = element(public, Some(SEQUENCE))?;
    let (_, _, behind) = element(public, Some(BIT_STRING))?;
    let public = &public[..public.len() - behind.len()];
    let fields =
        [written(INTEGER, &[1]), written(OCTET_STRING, secret), written(PUBLIC_KEY, public)];
    let inner = written(OCTET_STRING, &written(SEQUENCE, &fields.concat()));
    Some(written(SEQUENCE, &[&written(INTEGER, &[0]), algorithm, &inner].concat()))
}

/// An element in DER. Keys have less than 65,536 bytes.
fn written(tag: u8, content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let mut out = match (high, low) {
        (0, 0..=0x7f) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    out.extend_from_slice(content);
    out
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
        let (_, info, _) = element(&key, Some(SEQUENCE)).expect("a key");
        let (_, _, rest) = element(info, Some(INTEGER)).expect("a version");
        let (_, _, after) = element(rest, None).expect("an algorithm");
        let (_, inner, _) = element(after, None).expect("a key");
        let (_, fields, _) = element(inner, None).expect("fields");
        let (_, _, from_secret) = element(fields, None).expect("a version");
        let (_, _, behind) = element(from_secret, None).expect("a secret");
        let short = written(SEQUENCE, &fields[..fields.len() - behind.len()]);
        let algorithm = &rest[..rest.len() - after.len()];
        let short = [&[INTEGER, 1, 0], algorithm, &written(OCTET_STRING, &short)].concat();
        let short = written(SEQUENCE, &short);
        assert!(short.len() < key.len());
        assert_eq!(with_public_key(&short, certificate), Some(key));
        for other in [&b""[..], &short[..short.len() - 1], certificate] {
            assert_eq!(with_public_key(other, certificate), None);
        }
        assert_eq!(with_public_key(&short, b"none"), None);
    }

    #[test]
    fn lengths_are_written_as_der_has_them() {
        assert_eq!(written(4, &[7; 127])[..2], [4, 127]);
        assert_eq!(written(4, &[7; 128])[..3], [4, 0x81, 128]);
        assert_eq!(written(4, &[7; 256])[..4], [4, 0x82, 1, 0]);
    }
}
