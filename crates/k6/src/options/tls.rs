//! Options of TLS. Pure.

use super::hosts::patterns;
use super::layers::Layers;
use super::value::{At, OptionError};

/// What holds for TLS.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tls {
    /// Whether any certificate is accepted.
    pub is_insecure: bool,
    /// The least and the greatest version.
    pub versions: Option<(TlsVersion, TlsVersion)>,
    /// Certificates of the client.
    pub auth: Vec<ClientCert>,
    /// The cipher suites of TLS 1.2 that are offered; empty: all that squall has.
    pub cipher_suites: Vec<String>,
}

/// A version of TLS that squall speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    V12,
    V13,
}

/// A certificate of the client.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClientCert {
    /// PEM: the chain, and the private key.
    pub cert: String,
    pub key: String,
    /// Hosts that are shown it, by patterns; empty: all.
    pub hosts: Vec<String>,
}

/// The cipher suites of TLS 1.2 that squall has. Go leaves out the end of two names.
const SUITES: [&str; 6] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/// What keys say of themselves that are encrypted.
const ENCRYPTED: [&str; 2] = ["BEGIN ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"];

/// Reads what holds for TLS.
///
/// # Errors
/// An option is not what is expected, or squall has nothing like it.
pub(super) fn tls(layers: &Layers) -> Result<Tls, OptionError> {
    Ok(Tls {
        is_insecure: layers.is_on("insecureSkipTLSVerify")?,
        versions: layers.read("tlsVersion", versions)?,
        auth: layers.read("tlsAuth", auth)?.unwrap_or_default(),
        cipher_suites: layers.read("tlsCipherSuites", cipher_suites)?.unwrap_or_default(),
    })
}

fn auth(all: &At<'_>) -> Result<Vec<ClientCert>, OptionError> {
    all.list()?.iter().map(client_cert).collect()
}

fn client_cert(own: &At<'_>) -> Result<ClientCert, OptionError> {
    own.only(&["cert", "key", "password", "domains"])?;
    let text = |key: &str| {
        let at = own.key(key).ok_or_else(|| own.refused(format!("`{key}` is missing")))?;
        let text = at.text()?;
        // The key is not shown, nor what may be one.
        match text.contains("-----BEGIN ") {
            true => Ok((text.to_owned(), at)),
            false => Err(at.refused("expected PEM: a text with a line -----BEGIN ...-----")),
        }
    };
    let ((cert, _), (key, at)) = (text("cert")?, text("key")?);
    if ENCRYPTED.iter().any(|mark| key.contains(mark)) {
        return Err(at.refused(
            "squall reads no encrypted keys: give it as `openssl pkey -in FILE` prints it, and keep the file where only you can read it",
        ));
    }
    let hosts = own.key("domains").map(|own| patterns(&own)).transpose()?;
    Ok(ClientCert { cert, key, hosts: hosts.unwrap_or_default() })
}

/// The suites of TLS 1.2 of a list. As in Go, those of TLS 1.3 are all offered.
fn cipher_suites(all: &At<'_>) -> Result<Vec<String>, OptionError> {
    let one = |at: At<'_>| {
        let name = at.text()?;
        let full = if name.ends_with("_CHACHA20_POLY1305") {
            format!("{name}_SHA256")
        } else {
            name.to_owned()
        };
        let is_of_13 = name.starts_with("TLS_AES_") || name.starts_with("TLS_CHACHA20_");
        match SUITES.contains(&full.as_str()) || is_of_13 {
            true => Ok((!is_of_13).then_some(full)),
            false => Err(at.refused(format!(
                "squall's TLS has no suites with CBC, RC4 or without forward secrecy: expected one of {}",
                SUITES.join(", ")
            ))),
        }
    };
    let all: Vec<Option<String>> = all.list()?.into_iter().map(one).collect::<Result<_, _>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// One version for both ends, or a mapping with `min` and `max`.
fn versions(own: &At<'_>) -> Result<(TlsVersion, TlsVersion), OptionError> {
    let (old, v12, v13) = (None, Some(TlsVersion::V12), Some(TlsVersion::V13));
    let words =
        [("tls1.0", old), ("tls1.1", old), ("tls1.2", v12), ("tls1.3", v13), ("ssl3.0", old)];
    let version = |at: &At<'_>| {
        at.word(&words)?.ok_or_else(|| {
            at.refused("squall speaks TLS 1.2 and 1.3: expected \"tls1.2\" or \"tls1.3\"")
        })
    };
    if own.value.is_string() {
        return version(own).map(|both| (both, both));
    }
    own.only(&["min", "max"])?;
    // A lower end below what squall speaks leaves out nothing that the target has to offer beside it.
    let min =
        own.key("min").map(|at| at.word(&words)).transpose()?.flatten().unwrap_or(TlsVersion::V12);
    let max = own.key("max").map(|at| version(&at)).transpose()?.unwrap_or(TlsVersion::V13);
    match min > max {
        true => Err(own.expected("`min` not above `max`")),
        false => Ok((min, max)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options::Source;

    fn read(options: &Value) -> Result<Tls, String> {
        let mut layers = Layers::default();
        layers.add_map(&Source::Script, options).expect("options");
        tls(&layers).map_err(|error| error.to_string())
    }

    #[test]
    fn certificates_and_suites_are_read() {
        let own = read(&json!({
            "tlsAuth": [{"cert": "-----BEGIN CERTIFICATE-----", "key": "-----BEGIN KEY-----", "domains": ["*.a.test"]}],
            "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_AES_128_GCM_SHA256"],
        }))
        .expect("options");
        assert_eq!(own.auth[0].hosts, ["*.a.test"]);
        assert_eq!(own.cipher_suites, ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"]);
    }

    #[test]
    fn what_squall_has_not_is_refused() {
        let begin = "-----BEGIN CERTIFICATE-----";
        let key = |key: &str| json!({"tlsAuth": [{"cert": begin, "key": key}]});
        for (options, said) in [
            (
                json!({"tlsAuth": [{"cert": begin}]}),
                "`tlsAuth[0]` (the script's options): `key` is missing",
            ),
            (key("secret"), "`tlsAuth[0].key` (the script's options): expected PEM"),
            (key("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "squall reads no encrypted keys"),
            (
                json!({"tlsCipherSuites": ["TLS_RSA_WITH_AES_128_CBC_SHA"]}),
                "`tlsCipherSuites[0]` (the script's options): squall's TLS has no suites with CBC",
            ),
        ] {
            let error = read(&options).expect_err("refused");
            assert!(error.contains(said) && !error.contains("secret"), "{options}: {error}");
        }
    }
}
