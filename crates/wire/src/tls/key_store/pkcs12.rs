//! PKCS #12, as Java and openssl write it.

use p12_keystore::{KeyStore as Entries, KeyStoreEntry, Pkcs12ImportPolicy};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::super::elliptic;
use super::super::identity::Identity;

/// The certificates with a private key, by their aliases.
///
/// # Errors
/// Why they cannot be read.
pub(super) fn identities(bytes: &[u8], password: &str) -> Result<Vec<(String, Identity)>, String> {
    let entries = Entries::from_pkcs12(bytes, password, Pkcs12ImportPolicy::Strict);
    let entries = entries.map_err(|error| {
        format!("{error} (PKCS #12 or PEM is expected; is the password the right one?)")
    })?;
    let found = entries.entries().filter_map(|(alias, entry)| {
        let KeyStoreEntry::PrivateKeyChain(chain) = entry else { return None };
        let certificates = chain.certs().iter();
        let certificates = certificates.map(|own| CertificateDer::from(own.as_der().to_vec()));
        let key = chain.key().as_der();
        let first = chain.certs().first()?.as_der();
        let key = elliptic::with_public_key(key, first).unwrap_or_else(|| key.to_vec());
        Some((alias.clone(), (certificates.collect(), PrivatePkcs8KeyDer::from(key).into())))
    });
    Ok(found.collect())
}
