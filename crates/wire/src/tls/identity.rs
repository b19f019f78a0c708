//! The client's own certificates and their private keys. The server judges a certificate, whatever it is like; here it only
//! has to belong to its key.

use std::path::Path;
use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::certificate::About;
use super::elliptic;
use super::pem::{certificates, read_pem, unreadable};
use crate::settings::SetupError;

/// A chain of certificates, and the key of its first.
pub(super) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// What encrypted keys say of themselves: PKCS #8, and what OpenSSL wrote before.
const ENCRYPTED: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];

/// The keys that sign.
const KEYS: &str = "RSA of 2,048 to 4,096 bits, P-256, P-384 or Ed25519";

/// Reads a certificate and its key from their files.
pub(super) fn of_files(cert: &Path, key: &Path) -> Result<Identity, SetupError> {
    let chain = certificates(cert)?;
    let text = read_pem(key)?;
    if is_encrypted(&text) {
        let shown = key.display();
        let why = format!(
            "the private key is encrypted, and there is nothing to give its password with; decrypt it with \
             `openssl pkey -in {shown} -out {shown}.plain`, and name {shown}.plain"
        );
        return Err(unreadable(key, &why));
    }
    let found = PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        PemError::NoItemsFound => unreadable(key, &"no private key in it (PEM is expected)"),
        other => unreadable(key, &other),
    })?;
    let complete = complete(found, &chain[0]);
    let identity = (chain, complete);
    certified(&identity).map_err(|SetupError(why)| unreadable(key, &why))?;
    Ok(identity)
}

/// Reads a certificate and its key from texts in PEM.
pub(super) fn of_texts(cert: &str, key: &str) -> Result<Identity, SetupError> {
    let wrong = |what: &str, why: &dyn std::fmt::Display| SetupError(format!("`{what}`: {why}"));
    let chain = CertificateDer::pem_slice_iter(cert.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| wrong("cert", &error))?;
    let first = chain
        .first()
        .ok_or_else(|| wrong("cert", &"there is no certificate in it (PEM is expected)"))?;
    if is_encrypted(key.as_bytes()) {
        let why = "the private key is encrypted; give it as `openssl pkey -in FILE` prints it";
        return Err(wrong("key", &why));
    }
    let found = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| match error {
        PemError::NoItemsFound => wrong("key", &"there is no private key in it (PEM is expected)"),
        other => wrong("key", &other),
    })?;
    let complete = complete(found, first);
    let identity = (chain, complete);
    certified(&identity).map_err(|SetupError(why)| wrong("key", &why))?;
    Ok(identity)
}

/// Whether a key in PEM is encrypted.
pub(super) fn is_encrypted(text: &[u8]) -> bool {
    ENCRYPTED.iter().any(|mark| memchr::memmem::find(text, mark).is_some())
}

/// A key with what the library that signs wants to be in it.
pub(super) fn complete(key: PrivateKeyDer<'static>, certificate: &[u8]) -> PrivateKeyDer<'static> {
    let PrivateKeyDer::Pkcs8(own) = &key else { return key };
    match elliptic::with_public_key(own.secret_pkcs8_der(), certificate) {
        Some(der) => PrivatePkcs8KeyDer::from(der).into(),
        None => key,
    }
}

/// What shows a certificate to servers that ask for one.
pub(super) fn shown(identity: &Identity) -> Result<Arc<dyn ResolvesClientCert>, SetupError> {
    certified(identity).map(|key| Arc::new(SingleCertAndKey::from(key)) as _)
}

/// A certificate with what signs for it. rustls itself would refuse certificates that it would not trust a server by, such as
/// those of version 1.
pub(super) fn certified((chain, key): &Identity) -> Result<CertifiedKey, SetupError> {
    let provider: CryptoProvider = rustls::crypto::ring::default_provider();
    let key = provider.key_provider.load_private_key(key.clone_key()).map_err(|_| {
        SetupError(format!("the private key cannot be used: expected one of {KEYS}"))
    })?;
    let about = chain.first().and_then(|first| About::read(first));
    if let (Some(own), Some(about)) = (key.public_key(), about)
        && *own != *about.public_key
    {
        return Err(SetupError("the private key is not that of the certificate".to_owned()));
    }
    Ok(CertifiedKey::new(chain.clone(), key))
}
