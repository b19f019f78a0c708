//! Which servers are trusted: those whose certificates the machine's authorities or the plan's vouch for,
//! and those whose very certificate the plan names, whatever it says that it may be used for; or any.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::certificate::{About, names};
use super::signatures::Signatures;

/// Verifies certificates of servers.
#[derive(Debug)]
pub(super) struct Trust {
    of: Trusted,
    signatures: Signatures,
}

/// Which servers are trusted.
#[derive(Debug)]
enum Trusted {
    /// Any. Only for `insecure`.
    Any,
    /// Those that somebody vouches for.
    Known {
        /// `None`: there are no authorities.
        authorities: Option<Arc<WebPkiServerVerifier>>,
        /// Certificates that the plan names.
        named: Vec<CertificateDer<'static>>,
    },
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
        let of = Trusted::Known { authorities: builder.build().ok(), named };
        Trust { of, signatures: Signatures(provider) }
    }

    pub(super) fn any(provider: Arc<CryptoProvider>) -> Trust {
        Trust { of: Trusted::Any, signatures: Signatures(provider) }
    }
}

/// A certificate that is trusted by itself: it has to be valid now, and to be the host's. One without any
/// alternative name is its common name's, as OpenSSL and curl have it.
fn by_itself(
    certificate: &CertificateDer<'_>,
    host: &ServerName<'_>,
    now: UnixTime,
) -> Result<(), Error> {
    let about = About::read(certificate).ok_or(CertificateError::BadEncoding)?;
    let now = now.as_secs();
    if now < about.valid.0 {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > about.valid.1 {
        return Err(CertificateError::Expired.into());
    }
    let is_common_name = about.common_name().is_some_and(|name| names(&name, &host.to_str()));
    if !about.has_extensions {
        let named = is_common_name.then_some(());
        return named.ok_or_else(|| CertificateError::NotValidForName.into());
    }
    match verify_server_name(&ParsedCertificate::try_from(certificate)?, host) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented,
            ..
        })) if presented.is_empty() && is_common_name => Ok(()),
        named => named,
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
        let Trusted::Known { authorities, named } = &self.of else {
            return Ok(ServerCertVerified::assertion());
        };
        if named.iter().any(|own| own == end_entity) {
            return by_itself(end_entity, host, now).map(|()| ServerCertVerified::assertion());
        }
        match authorities {
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
        let signed = (signature.scheme, signature.signature());
        match self.of {
            Trusted::Any => self.signatures.verify_if_possible(message, cert, signed),
            Trusted::Known { .. } => self.signatures.verify_tls12(message, cert, signature),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let signed = (signature.scheme, signature.signature());
        match self.of {
            Trusted::Any => self.signatures.verify_if_possible(message, cert, signed),
            Trusted::Known { .. } => self.signatures.verify_tls13(message, cert, signature),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self.of {
            Trusted::Any => self.signatures.all_schemes(),
            Trusted::Known { .. } => self.signatures.schemes(),
        }
    }
}
