//! Verifies what a server has signed in a handshake with the key of its certificate: as rustls does, and also with
//! certificates of a version below 3, which rustls does not read. Those are only ever trusted by themselves.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use webpki::RawPublicKeyEntity;

use super::certificate;

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
        match key_without_extensions(certificate) {
            Some(key) => self.verify_tls12_with_raw_key(message, &key, signature),
            None => {
                let algorithms = &self.0.signature_verification_algorithms;
                verify_tls12_signature(message, certificate, signature, algorithms)
            }
        }
    }

    pub(super) fn verify_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        match key_without_extensions(certificate) {
            Some(key) => verify_tls13_signature_with_raw_key(message, &key, signature, algorithms),
            None => verify_tls13_signature(message, certificate, signature, algorithms),
        }
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

    pub(super) fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The key of a certificate of version 1 or 2: `openssl req -x509` makes such where its configuration names no
/// extensions.
fn key_without_extensions<'c>(
    certificate: &'c CertificateDer<'_>,
) -> Option<SubjectPublicKeyInfoDer<'c>> {
    let about = certificate::read(certificate)?;
    (!about.has_extensions).then(|| about.public_key.into())
}
