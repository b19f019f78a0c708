//! The server's TLS configuration, and a certificate made on the spot.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::crypto::ring as provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::options::{TlsCertificate, TlsOptions};

/// HTTP/2 as ALPN names it (RFC 9113, 3.2).
pub(crate) const HTTP2: &[u8] = b"h2";

/// A certificate chain and its key, and the authority to trust if we made it.
struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    authority_pem: Option<String>,
}

/// The configuration, and the PEM of the authority to trust when the certificate is our own.
pub(crate) fn configure(
    options: &TlsOptions,
) -> Result<(Arc<ServerConfig>, Option<String>), String> {
    let identity = match &options.certificate {
        TlsCertificate::SelfSigned { names } => {
            make_identity(names).map_err(|e| format!("cannot generate a certificate: {e}"))?
        }
        TlsCertificate::Pem { cert, key } => read_identity(cert, key)?,
    };
    let crypto = Arc::new(provider::default_provider());
    let builder = ServerConfig::builder_with_provider(crypto.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let builder = match &options.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => builder.with_client_cert_verifier(client_verifier(path, crypto)?),
    };
    let mut config = builder
        .with_single_cert(identity.chain, identity.key)
        .map_err(|e| format!("the certificate and the key do not match: {e}"))?;
    let http2 = options.http2.then(|| HTTP2.to_vec());
    config.alpn_protocols = http2.into_iter().chain([b"http/1.1".to_vec()]).collect();
    // Sessions resume by ticket, so that any number of clients cost no memory.
    config.ticketer = provider::Ticketer::new().map_err(|e| e.to_string())?;
    Ok((Arc::new(config), identity.authority_pem))
}

fn make_identity(names: &[String]) -> Result<Identity, rcgen::Error> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "squall built-in target CA");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let names = match names {
        [] => ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
        names => names.to_vec(),
    };
    let mut leaf = CertificateParams::new(names)?;
    leaf.distinguished_name.push(DnType::CommonName, "squall built-in target");
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = leaf.signed_by(&key, &authority)?;
    Ok(Identity {
        chain: vec![certificate.der().clone()],
        key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        authority_pem: Some(authority.pem()),
    })
}

fn read_identity(cert: &Path, key: &Path) -> Result<Identity, String> {
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|e| format!("cannot read the private key in {}: {e}", key.display()))?;
    Ok(Identity { chain: read_certificates(cert)?, key: private, authority_pem: None })
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |e| format!("cannot read the certificates in {}: {e}", path.display());
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(wrong)?
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    if certificates.is_empty() {
        return Err(format!("{} contains no PEM certificate", path.display()));
    }
    Ok(certificates)
}

fn client_verifier(
    path: &Path,
    crypto: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let wrong = |e: &dyn std::fmt::Display| {
        format!("cannot use the client certificate authorities in {}: {e}", path.display())
    };
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(path)? {
        roots.add(certificate).map_err(|e| wrong(&e))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), crypto)
        .build()
        .map_err(|e| wrong(&e))
}
