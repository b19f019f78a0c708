//! Verifies what a server has signed in a handshake with the key of its certificate: as rustls does, and also with
//! certificates of a version below 3, which rustls does not read. Those are only ever trusted by themselves.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use webpki::RawPublicKeyEntity;

use super::certificate::{About, rsa_bytes};

/// How long the modulus of an RSA key is whose signatures can be verified, in bytes.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// Kinds of signatures that nothing here verifies: on P-521, with Ed448, with RSA keys for PSS alone, with SHA-1.
const UNVERIFIED: [SignatureScheme; 7] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    SignatureScheme::Unknown(0x0809),
    SignatureScheme::Unknown(0x080a),
    SignatureScheme::Unknown(0x080b),
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];

/// The algorithms with which signatures are verified.
#[derive(Debug)]
pub(super) struct Signatures(pub Arc<CryptoProvider>);

impl Signatures {
    pub(super) fn verify_tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        let verified = verify_tls12_signature(message, certificate, signature, algorithms);
        with_old_certificate(verified, certificate, |key| {
            self.verify_tls12_with_raw_key(message, key, signature)
        })
    }

    pub(super) fn verify_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        let verified = verify_tls13_signature(message, certificate, signature, algorithms);
        with_old_certificate(verified, certificate, |key| {
            verify_tls13_signature_with_raw_key(message, key, signature, algorithms)
        })
    }

    /// rustls has this for TLS 1.3 alone. More than one algorithm may go by the name of a scheme there (of several
    /// curves): one has to fit.
    fn verify_tls12_with_raw_key(
        &self,
        message: &[u8],
        key: &SubjectPublicKeyInfoDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = RawPublicKeyEntity::try_from(key).map_err(|_| CertificateError::BadEncoding)?;
        let known = self.0.signature_verification_algorithms.mapping.iter();
        let is_valid = known
            .filter(|(scheme, _)| *scheme == signature.scheme)
            .flat_map(|(_, algorithms)| algorithms.iter())
            .any(|one| key.verify_signature(*one, message, signature.signature()).is_ok());
        let valid = is_valid.then(HandshakeSignatureValid::assertion);
        valid.ok_or_else(|| CertificateError::BadSignature.into())
    }

    /// Verifies a signature as far as it can be verified, where any certificate will do: not if the certificate cannot be
    /// read, or its key is of a kind that nothing here verifies.
    pub(super) fn verify_if_possible(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        (scheme, signature): (SignatureScheme, &[u8]),
    ) -> Result<HandshakeSignatureValid, Error> {
        let valid = || Ok(HandshakeSignatureValid::assertion());
        let Some(About { public_key, .. }) = About::read(certificate) else { return valid() };
        let key = SubjectPublicKeyInfoDer::from(public_key);
        let Ok(key) = RawPublicKeyEntity::try_from(&key) else { return valid() };
        if rsa_bytes(public_key).is_some_and(|bytes| !RSA_BYTES.contains(&bytes)) {
            return valid();
        }
        let known = self.0.signature_verification_algorithms.mapping.iter();
        let of_scheme = known.filter(|(own, _)| *own == scheme);
        let mut is_wrong = false;
        for algorithm in of_scheme.flat_map(|(_, algorithms)| algorithms.iter()) {
            match key.verify_signature(*algorithm, message, signature) {
                Ok(()) => return valid(),
                Err(webpki::Error::InvalidSignatureForPublicKey) => is_wrong = true,
                // The algorithm is not for keys of this kind.
                Err(_) => {}
            }
        }
        if is_wrong { Err(CertificateError::BadSignature.into()) } else { valid() }
    }

    /// The kinds of signatures that are verified.
    pub(super) fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }

    /// Those that servers may use where any certificate will do, the verified ones first.
    pub(super) fn all_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes().into_iter().chain(UNVERIFIED).collect()
    }
}

/// What was found of a signature; or, if that is that rustls reads no certificate of version 1 or 2, what is found with its bare
/// key. `openssl req -x509` makes such certificates where its configuration names no extensions.
fn with_old_certificate(
    verified: Result<HandshakeSignatureValid, Error>,
    certificate: &CertificateDer<'_>,
    verify: impl FnOnce(&SubjectPublicKeyInfoDer<'_>) -> Result<HandshakeSignatureValid, Error>,
) -> Result<HandshakeSignatureValid, Error> {
    let is_old = match &verified {
        Err(Error::InvalidCertificate(CertificateError::Other(OtherError(why)))) => {
            why.downcast_ref() == Some(&webpki::Error::UnsupportedCertVersion)
        }
        _ => false,
    };
    let old = is_old.then(|| About::read(certificate)).flatten();
    match old.filter(|about| !about.has_extensions) {
        Some(about) => verify(&about.public_key.into()),
        None => verified,
    }
}
