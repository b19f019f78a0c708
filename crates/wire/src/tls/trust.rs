//! Which servers are trusted: those whose certificates the machine's authorities or the plan's vouch for,
//! and those whose very certificate the plan names, whatever it says that it may be used for.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::certificate::{self, About};

/// Verifies certificates of servers.
#[derive(Debug)]
pub(super) struct Trust {
    /// `None`: there are no authorities.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that the plan names.
    named: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Trust {
    /// Trusts these authorities, and servers that show one of these certificates.
    pub(super) fn new(
        roots: RootCertStore,
        named: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Trust {
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        // It fails where there are no roots: nobody is trusted by them then.
        Trust { authorities: builder.build().ok(), named, provider }
    }
}

/// A certificate that is trusted by itself: it has to be valid now, and to be the host's. One without any
/// alternative name is its common name's, as OpenSSL and curl have it.
fn by_itself(
    certificate: &CertificateDer<'_>,
    host: &ServerName<'_>,
    now: UnixTime,
) -> Result<(), Error> {
    let About { valid: (begin, end), common_name } =
        certificate::read(certificate).ok_or(CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < begin {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > end {
        return Err(CertificateError::Expired.into());
    }
    let named = verify_server_name(&ParsedCertificate::try_from(certificate)?, host);
    match (named, common_name) {
        (
            Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                presented,
                ..
            })),
            Some(name),
        ) if presented.is_empty() && certificate::names(&name, &host.to_str()) => Ok(()),
        (named, _) => named,
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.named.iter().any(|own| own == end_entity) {
            return by_itself(end_entity, host, now).map(|()| ServerCertVerified::assertion());
        }
        match &self.authorities {
            Some(known) => {
                known.verify_server_cert(end_entity, intermediates, host, ocsp_response, now)
            }
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
