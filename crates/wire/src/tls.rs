//! TLS settings to a rustls configuration.

mod certificate;
mod elliptic;
mod identity;
mod key_store;
mod pem;
mod signatures;
#[cfg(test)]
mod tests;
mod trust;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, KeyLog, KeyLogFile, RootCertStore, SupportedCipherSuite,
    SupportedProtocolVersion, version,
};
use squall_base::AllowList;
use tokio_rustls::TlsConnector;

use self::identity::Identity;
use self::pem::{certificates, unreadable};
use self::trust::Trust;
use crate::error::{Error, ErrorKind};
use crate::origin::Origin;
use crate::settings::{ClientCert, Http, KeyStore, SetupError, TlsSettings, TlsVersion};
use crate::tls_failure;

/// Sessions kept for resumption, ...
const SESSIONS: usize = 1_024;
/// ... and with a client certificate that has a name, of which there may be many.
const SESSIONS_OF_ONE: usize = 16;

/// HTTP/2 as ALPN names it (RFC 9113, section 3.2).
pub(crate) const HTTP2: &[u8] = b"h2";

/// The variable of the environment that names the file which browsers and curl write the keys of their sessions to, for
/// Wireshark.
const KEY_LOG: &str = "SSLKEYLOGFILE";

pub(crate) struct Connectors {
    /// Where no client certificate is named, ...
    unnamed: TlsConnector,
    /// ... but for hosts that have one of their own.
    of_hosts: Vec<(AllowList, TlsConnector)>,
    /// With a client certificate each, in the order of their numbers.
    pub(crate) named: Vec<(String, TlsConnector)>,
    /// The numbers by the certificates' names: a request names one, and there may be one for each user.
    numbers: HashMap<String, u16>,
    /// Whether there is one where none is named.
    pub(crate) has_certificate: bool,
}

impl Connectors {
    /// That of a certificate, or for a host.
    pub(crate) fn of(&self, certificate: Option<u16>, host: &str) -> &TlsConnector {
        let named = certificate.and_then(|number| self.named.get(usize::from(number)));
        let own = || self.of_hosts.iter().find(|(hosts, _)| hosts.allows_host(host));
        named
            .map(|(_, connector)| connector)
            .or_else(|| own().map(|(_, connector)| connector))
            .unwrap_or(&self.unnamed)
    }

    /// The number of a certificate by its name; of several with one name that of the first.
    pub(crate) fn number(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }
}

/// Makes what shakes hands.
pub(crate) fn connectors(settings: &TlsSettings, http: Http) -> Result<Connectors, SetupError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = Arc::new(if settings.insecure {
        Trust::any(provider)
    } else {
        let (roots, named) = roots(settings)?;
        Trust::new(roots, named, provider)
    });
    let mut named = Vec::new();
    for ClientCert { name, cert, key } in &settings.client_certs {
        named.push((name.clone(), identity::of_files(cert, key)?));
    }
    let mut only = None;
    if let Some(store) = &settings.key_store {
        let found = key_store::identities(store)?;
        if let [(_, one)] = found.as_slice() {
            only = Some((one.0.clone(), one.1.clone_key()));
        }
        named.extend(found);
    }
    let own = match (&settings.cert, &settings.key) {
        (Some(cert), Some(key)) => Some(identity::of_files(cert, key)?),
        (None, None) => only,
        _ => return Err(SetupError("a client certificate needs both `cert` and `key`".to_owned())),
    };
    let log = key_log()?;
    let connector = |identity, sessions| {
        let config = config(settings, &trust, (identity, sessions))?;
        Ok(finish(config, http, log.clone()))
    };
    let has_certificate = own.is_some();
    let named = named.into_iter().map(|(name, identity)| {
        let made = connector(Some(identity), SESSIONS_OF_ONE);
        let made = made.map_err(|SetupError(why)| SetupError(format!("`{name}`: {why}")))?;
        Ok((name, made))
    });
    let named = named.collect::<Result<Vec<_>, SetupError>>()?;
    let of_hosts = settings.host_certs.iter().map(|own| {
        let shown = identity::of_texts(&own.cert, &own.key);
        let made = shown.and_then(|shown| connector(Some(shown), SESSIONS_OF_ONE));
        let made = made.map_err(|SetupError(why)| SetupError(format!("host_certs: {why}")))?;
        Ok((own.hosts.clone(), made))
    });
    let of_hosts = of_hosts.collect::<Result<Vec<_>, SetupError>>()?;
    let mut numbers = HashMap::new();
    for (number, (name, _)) in (0..=u16::MAX).zip(&named) {
        numbers.entry(name.clone()).or_insert(number);
    }
    let unnamed = connector(own, SESSIONS)?;
    Ok(Connectors { unnamed, of_hosts, named, numbers, has_certificate })
}

/// The configuration with one certificate of the client, or none, that keeps so many sessions.
fn config(
    settings: &TlsSettings,
    trust: &Arc<Trust>,
    (identity, sessions): (Option<Identity>, usize),
) -> Result<ClientConfig, SetupError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(provider(settings)?))
        .with_protocol_versions(&versions(settings))
        .map_err(|error| SetupError(format!("TLS: {error}")))?;
    let builder = builder.dangerous().with_custom_certificate_verifier(trust.clone());
    let mut config = match identity {
        Some(own) => builder.with_client_cert_resolver(identity::shown(&own)?),
        None => builder.with_no_client_auth(),
    };
    config.resumption = if settings.resume {
        rustls::client::Resumption::in_memory_sessions(sessions)
    } else {
        rustls::client::Resumption::disabled()
    };
    Ok(config)
}

/// What encrypts, with the cipher suites that are offered.
fn provider(settings: &TlsSettings) -> Result<CryptoProvider, SetupError> {
    let mut own = rustls::crypto::ring::default_provider();
    let name = |suite: &SupportedCipherSuite| format!("{:?}", suite.suite());
    let is_old = |suite: &SupportedCipherSuite| suite.tls13().is_none();
    let known: Vec<String> =
        own.cipher_suites.iter().filter(|suite| is_old(suite)).map(name).collect();
    let wanted = &settings.cipher_suites;
    if let Some(unknown) = wanted.iter().find(|suite| !known.contains(suite)) {
        let known = known.join(", ");
        return Err(SetupError(format!("cipher suite `{unknown}`: expected one of {known}")));
    }
    if !wanted.is_empty() {
        own.cipher_suites.retain(|suite| !is_old(suite) || wanted.contains(&name(suite)));
    }
    Ok(own)
}

/// Makes what shakes hands, and offers these versions of HTTP.
fn finish(mut config: ClientConfig, http: Http, log: Option<Arc<dyn KeyLog>>) -> TlsConnector {
    let protocols: &[&[u8]] = match http {
        Http::V1 => &[b"http/1.1"],
        Http::V2 => &[HTTP2],
        Http::Auto => &[HTTP2, b"http/1.1"],
    };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    if let Some(log) = log {
        config.key_log = log;
    }
    TlsConnector::from(Arc::new(config))
}

/// The versions that are offered.
fn versions(settings: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    [(TlsVersion::V13, &version::TLS13), (TlsVersion::V12, &version::TLS12)]
        .into_iter()
        .filter(|(version, _)| (settings.min..=settings.max).contains(version))
        .map(|(_, version)| version)
        .collect()
}

/// Where the keys of sessions are written, if the environment says so. rustls would go on without a word where that fails.
fn key_log() -> Result<Option<Arc<dyn KeyLog>>, SetupError> {
    let Some(path) = std::env::var_os(KEY_LOG).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    opened.map_err(|error| {
        SetupError(format!("{KEY_LOG}: {}: {error}", Path::new(&path).display()))
    })?;
    Ok(Some(Arc::new(KeyLogFile::new())))
}

/// The authorities that are trusted, and the certificates that `ca` names, which may be servers' own. The system's are read for
/// plain targets too: a redirect or a variable may lead to https.
fn roots(
    settings: &TlsSettings,
) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), SetupError> {
    let mut named = Vec::new();
    let mut roots = RootCertStore::empty();
    // A machine without any is fine as long as `ca` is given; otherwise each handshake says so.
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    for path in &settings.ca {
        for certificate in certificates(path)? {
            roots.add(certificate.clone()).map_err(|error| unreadable(path, &error))?;
            named.push(certificate);
        }
    }
    Ok((roots, named))
}

/// Whether a file of certificates can be used.
///
/// # Errors
/// It cannot be read, or holds none.
pub fn check_certificates(path: &Path) -> Result<(), SetupError> {
    certificates(path).map(drop)
}

/// Whether a file of a certificate and one of its private key can be used.
///
/// # Errors
/// One of them cannot be read, or holds none.
pub fn check_identity(cert: &Path, key: &Path) -> Result<(), SetupError> {
    identity::of_files(cert, key).map(drop)
}

/// Whether a file of client certificates can be used.
///
/// # Errors
/// It cannot be read, its password is another, or it holds none.
pub fn check_key_store(store: &KeyStore) -> Result<(), SetupError> {
    for (name, identity) in key_store::identities(store)? {
        identity::certified(&identity)
            .map_err(|SetupError(why)| unreadable(&store.file, &format!("`{name}`: {why}")))?;
    }
    Ok(())
}

/// The name that is sent and verified.
pub(crate) fn server_name(
    settings: &TlsSettings,
    origin: &Origin,
) -> Result<ServerName<'static>, Error> {
    let name = settings.server_name.as_deref().unwrap_or(&origin.host);
    ServerName::try_from(name.to_owned()).map_err(|_| {
        Error::new(
            ErrorKind::Tls,
            format!("invalid server name `{name}`: expected a DNS name or an IP address"),
        )
    })
}

/// A handshake that failed: by TLS, or by the transport below it.
pub(crate) fn failed(error: &io::Error, settings: &TlsSettings) -> Error {
    match tls_failure::of_handshake(error, (settings.min, settings.max)) {
        Some(why) => Error::new(ErrorKind::Tls, why),
        None => Error::io(error),
    }
}
