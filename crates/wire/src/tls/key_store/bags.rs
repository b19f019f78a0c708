//! PEM as `openssl pkcs12 -nodes` writes it: before each key and certificate stand the attributes of its bag, of which
//! `friendlyName` is its alias and `localKeyID` says which certificate belongs to which key. Pure.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::super::identity::{Identity, complete, is_encrypted};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// The attributes before a block, and the block's lines.
#[derive(Default)]
struct Bag<'t> {
    alias: Option<&'t str>,
    /// The same for a key and its certificate.
    key_id: Option<&'t str>,
    /// What the block is: `CERTIFICATE`, `PRIVATE KEY`, ...
    label: &'t str,
    block: String,
}

/// A certificate, and what its bag says of it.
struct Certificate<'t> {
    key_id: Option<&'t str>,
    der: CertificateDer<'static>,
}

/// Whether a file is PEM at all.
pub(super) fn is_pem(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, BEGIN.as_bytes()).is_some()
}

/// The certificates with a private key, by their aliases; one without an alias goes by its place among the keys, from 1 on.
///
/// # Errors
/// Why a key or a certificate cannot be read, or belongs to nothing.
pub(super) fn identities(bytes: &[u8]) -> Result<Vec<(String, Identity)>, String> {
    let text = String::from_utf8_lossy(bytes);
    let (mut keys, mut certificates) = (Vec::new(), Vec::new());
    for bag in bags(&text) {
        let place = || format!("{} {}", bag.label, bag.alias.unwrap_or_default());
        let wrong = |error: rustls::pki_types::pem::Error| format!("{}: {error}", place().trim());
        match bag.label {
            "CERTIFICATE" => {
                let der = CertificateDer::from_pem_slice(bag.block.as_bytes()).map_err(wrong)?;
                certificates.push(Certificate { key_id: bag.key_id, der });
            }
            label if label.ends_with("PRIVATE KEY") && is_encrypted(bag.block.as_bytes()) => {
                return Err(
                    "a private key is encrypted; write the file with `openssl pkcs12 -nodes`"
                        .to_owned(),
                );
            }
            label if label.ends_with("PRIVATE KEY") => {
                let key = PrivateKeyDer::from_pem_slice(bag.block.as_bytes()).map_err(wrong)?;
                keys.push((bag.alias, bag.key_id, key));
            }
            _ => {}
        }
    }
    let is_only = keys.len() == 1;
    let found = keys.into_iter().enumerate().map(|(place, (alias, key_id, key))| {
        let name = alias.map_or_else(|| (place + 1).to_string(), str::to_owned);
        let chain = chain(&certificates, key_id, is_only);
        match chain.first() {
            Some(first) => Ok((name, (chain.clone(), complete(key, first)))),
            None => Err(format!("no certificate has the localKeyID of the private key `{name}`")),
        }
    });
    found.collect()
}

/// The certificate of a key, and those behind it that belong to no key: openssl writes authorities behind what they
/// vouch for. The only key of a file without such attributes has all of them.
fn chain(
    certificates: &[Certificate<'_>],
    key_id: Option<&str>,
    is_only: bool,
) -> Vec<CertificateDer<'static>> {
    let own = |certificate: &Certificate<'_>| match key_id {
        Some(_) => certificate.key_id == key_id,
        None => is_only,
    };
    let first = certificates.iter().position(own).unwrap_or(certificates.len());
    let (own, behind) = certificates[first..].split_at(1.min(certificates.len() - first));
    let authorities = behind.iter().take_while(|certificate| certificate.key_id.is_none());
    own.iter().chain(authorities).map(|certificate| certificate.der.clone()).collect()
}

/// The blocks of a file with what stands before them; one without an end is none.
fn bags(text: &str) -> Vec<Bag<'_>> {
    let mut bags = Vec::new();
    let mut bag = Bag::default();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(label) = trimmed.strip_prefix(BEGIN) {
            bag.label = label.trim_end_matches('-');
        }
        if !bag.label.is_empty() {
            bag.block.push_str(trimmed);
            bag.block.push('\n');
            if trimmed.starts_with(END) {
                bags.push(std::mem::take(&mut bag));
            }
        } else if let Some(alias) = trimmed.strip_prefix("friendlyName:") {
            bag.alias = Some(alias.trim());
        } else if let Some(key_id) = trimmed.strip_prefix("localKeyID:") {
            bag.key_id = Some(key_id.trim());
        }
    }
    bags
}
