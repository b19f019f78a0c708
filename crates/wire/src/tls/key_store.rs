//! Files of client certificates with their private keys: PEM as openssl writes it, and PKCS #12 where the build has it.

mod bags;
#[cfg(feature = "pkcs12")]
mod pkcs12;
#[cfg(test)]
mod tests;

use super::identity::Identity;
use super::pem::{read_pem, unreadable};
use crate::settings::{KeyStore, SetupError};

/// How files in the two forms begin that Java alone has: JKS and JCEKS.
const OF_JAVA: [[u8; 4]; 2] = [[0xFE, 0xED, 0xFE, 0xED], [0xCE, 0xCE, 0xCE, 0xCE]];

/// What PKCS #12 begins with: a sequence of ASN.1 whose length takes bytes of its own.
#[cfg(not(feature = "pkcs12"))]
const PKCS12: &[u8] = &[0x30, 0x82];

/// The certificates of a file by their aliases, in their alphabetical order.
pub(super) fn identities(store: &KeyStore) -> Result<Vec<(String, Identity)>, SetupError> {
    let KeyStore { file, .. } = store;
    let bytes = read_pem(file)?;
    let shown = file.display();
    if OF_JAVA.iter().any(|begin| bytes.starts_with(begin)) {
        return Err(unreadable(
            file,
            &format!(
                "a key store in a form of Java's own; convert it with `keytool -importkeystore -srckeystore {shown} \
                 -destkeystore {shown}.p12 -deststoretype PKCS12`, and that with `openssl pkcs12 -in {shown}.p12 -nodes \
                 -out {shown}.pem`, and name {shown}.pem"
            ),
        ));
    }
    let mut found = match bags::is_pem(&bytes) {
        true => bags::identities(&bytes).map_err(|why| unreadable(file, &why))?,
        false => not_pem(store, &bytes)?,
    };
    if found.is_empty() {
        return Err(unreadable(file, &"there is no private key with a certificate in it"));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

#[cfg(feature = "pkcs12")]
fn not_pem(store: &KeyStore, bytes: &[u8]) -> Result<Vec<(String, Identity)>, SetupError> {
    pkcs12::identities(bytes, &store.password).map_err(|why| unreadable(&store.file, &why))
}

#[cfg(not(feature = "pkcs12"))]
fn not_pem(store: &KeyStore, bytes: &[u8]) -> Result<Vec<(String, Identity)>, SetupError> {
    let shown = store.file.display();
    let why = match bytes.starts_with(PKCS12) {
        true => "PKCS #12, which this build of squall does not read",
        false => "PEM is expected",
    };
    Err(unreadable(
        &store.file,
        &format!(
            "{why}; convert PKCS #12 with `openssl pkcs12 -in {shown} -nodes -out {shown}.pem`, and name {shown}.pem (or \
             build squall with `--features pkcs12`)"
        ),
    ))
}
