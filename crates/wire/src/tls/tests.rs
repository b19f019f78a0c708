//! Handshakes in memory with servers whose certificates no library of ours makes.

use std::io::{Read as _, Write as _};

use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConnection, ServerConfig, ServerConnection, SupportedProtocolVersion, version};

use super::*;

/// What `openssl req -x509 -newkey ec` makes with a configuration that names no extensions: version 1, for
/// `shop.test` by its common name, valid for a hundred years from 2026.
const VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBJTCBywIUOorv8MnpaJjg6jNGnMKcT1k8iIUwCgYIKoZIzj0EAwIwFDESMBAG
A1UEAwwJc2hvcC50ZXN0MCAXDTI2MTEyMjIwMzY0NVoYDzIxMjYxMDI5MjAzNjQ1
WjAUMRIwEAYDVQQDDAlzaG9wLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AASRDjGmlNBeaKQzZfMGfrUaTWxPQm/A2DQIuNxYYiS1xRM7la3BOnFloxGibaSd
kZihISo9r8T+d2eG0emSMXPSMAoGCCqGSM49BAMCA0kAMEYCIQD5289TmyUG3KR9
0dazL+mdxar6BMKA0wHKVtWXuRxiDgIhAKPXI6J9bRRX4F6+DdOehbKsDQryEYJC
xgwv8kpFi3Iz
-----END CERTIFICATE-----
";
const ITS_KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIM6QHlaCbRp0S9jX
C/zFgMQ3s5rY8ZSIyDy38wpPX2ShRANCAASRDjGmlNBeaKQzZfMGfrUaTWxPQm/A
2DQIuNxYYiS1xRM7la3BOnFloxGibaSdkZihISo9r8T+d2eG0emSMXPS
-----END PRIVATE KEY-----
";

/// Takes both to the end of a handshake.
///
/// # Errors
/// Why the client breaks off.
pub(super) fn shake_hands(
    client: &mut ClientConnection,
    server: &mut ServerConnection,
) -> Result<(), rustls::Error> {
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).expect("memory");
        server.read_tls(&mut wire.as_slice()).expect("memory");
        server.process_new_packets().expect("a client that says what it wants");
        let mut wire = Vec::new();
        server.write_tls(&mut wire).expect("memory");
        client.read_tls(&mut wire.as_slice()).expect("memory");
        client.process_new_packets()?;
    }
    Ok(())
}

/// What a client with these settings has against a server with the certificate, or `None`: they shook hands.
fn refused(
    settings: &TlsSettings,
    host: &str,
    key: &str,
    version: &'static SupportedProtocolVersion,
) -> Option<String> {
    let chain = vec![CertificateDer::from_pem_slice(VERSION_1.as_bytes()).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let key = rustls::crypto::ring::sign::any_supported_type(&key).expect("a key");
    let own = SingleCertAndKey::from(CertifiedKey::new(chain, key));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("a version")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(own));
    let mut server = ServerConnection::new(Arc::new(server)).expect("a server");
    let connectors = connectors(settings, Http::Auto).expect("settings");
    let connector = connectors.of(None);
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let mut client = ClientConnection::new(connector.config().clone(), name).expect("a client");
    if let Err(error) = shake_hands(&mut client, &mut server) {
        return Some(error.to_string());
    }
    client.writer().write_all(b"hello").expect("memory");
    let mut wire = Vec::new();
    client.write_tls(&mut wire).expect("memory");
    server.read_tls(&mut wire.as_slice()).expect("memory");
    server.process_new_packets().expect("what the client sent");
    let mut heard = [0; 5];
    server.reader().read_exact(&mut heard).expect("what the client sent");
    assert_eq!(&heard, b"hello");
    None
}

#[test]
fn what_is_wrong_with_a_certificate_is_said_in_words() {
    let said = |error: webpki::Error| {
        let other = rustls::OtherError(Arc::new(error));
        explain(&rustls::CertificateError::Other(other).into())
    };
    let of_authority = said(webpki::Error::CaUsedAsEndEntity);
    assert!(of_authority.contains("self-signed, or that of an authority"), "{of_authority}");
    let other = said(webpki::Error::UnsupportedCertVersion);
    assert!(other.contains("certificate: unsupported cert version; trust it with"), "{other}");
    assert!(!other.contains("Other"), "{other}");
}

#[test]
fn only_files_that_end_are_read() {
    for (file, why) in [("/dev/zero", "a regular file"), ("/nowhere/ca.pem", "No such file")] {
        for settings in [
            TlsSettings { ca: vec![file.into()], ..TlsSettings::default() },
            TlsSettings {
                cert: Some(file.into()),
                key: Some(file.into()),
                ..TlsSettings::default()
            },
        ] {
            let SetupError(error) = connectors(&settings, Http::V1).err().expect("no file");
            assert!(error.contains(file) && error.contains(why), "{error}");
        }
    }
}

#[test]
fn a_certificate_of_version_1_is_trusted_where_the_plan_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, VERSION_1).expect("writable");
    let named = TlsSettings { ca: vec![ca], ..TlsSettings::default() };
    let any = TlsSettings { insecure: true, ..TlsSettings::default() };
    let another = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    for version in [&version::TLS12, &version::TLS13] {
        assert_eq!(refused(&named, "shop.test", ITS_KEY, version), None);
        let other = refused(&named, "other.test", ITS_KEY, version).expect("not that host's");
        assert!(other.contains("NotValidForName"), "{other}");
        assert_eq!(refused(&any, "other.test", ITS_KEY, version), None);
        // Who shows the certificate has to have its key, even where any certificate will do.
        for settings in [&named, &any] {
            let stolen = refused(settings, "shop.test", &another, version).expect("no key");
            assert!(stolen.contains("BadSignature"), "{stolen}");
        }
        let unknown = refused(&TlsSettings::default(), "shop.test", ITS_KEY, version);
        assert!(unknown.is_some(), "nobody vouches for it");
    }
}
