//! Handshakes in memory with servers whose certificates no library of ours makes.

use std::io::{Read as _, Write as _};

use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConnection, ServerConfig, ServerConnection, SupportedProtocolVersion, version};

use super::certificate::About;
use super::signatures::Signatures;
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
    let connector = connectors.of(None, "shop.test");
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
        tls_failure::explain(
            &rustls::CertificateError::Other(other).into(),
            (TlsVersion::V12, TlsVersion::V13),
        )
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

/// What `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:secp521r1` makes.
const P_521: &str = "\
-----BEGIN CERTIFICATE-----
MIICBjCCAWigAwIBAgIUNXOpCCuClNJGvmyUYXqgxMlzosAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2hvcC50ZXN0MCAXDTI2MTEyNzAwMzU0OVoYDzIxMjYxMTAz
MDAzNTQ5WjAUMRIwEAYDVQQDDAlzaG9wLnRlc3QwgZswEAYHKoZIzj0CAQYFK4EE
ACMDgYYABAFb+JiIGobv6/Sb9ze/d8TKp20GtOpLpsYAbM4rGlwn6wGFLLRUxwDY
U3YLs3WHyxntbpTKcVpHOd85rNy28Y1+NQFZ0nGTfrgaEZQgSl3V2q0YJ2dsO1bT
hhDq/mGXFl0DHEW25oN2udPV+dQXfR7SdR/wZbWZt90RQCRnI/5syn+Sv6NTMFEw
HQYDVR0OBBYEFBwEsYAh/ddNbVldTI5fsVy9P7bQMB8GA1UdIwQYMBaAFBwEsYAh
/ddNbVldTI5fsVy9P7bQMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDgYsA
MIGHAkEeT5Vc5Bc51z/2lmmE9e219ouS8RYdrhj5Qepd/JXA47dlsypMxFI1jchU
BIOfMWmgstBgYdzXjQ9MF/V3v90ZhQJCANcC6K3iquM+qDi2vcid8WjlAtIueAmj
ReZl3VrZSj7IJSiyK5yuAReq+KKM5/++BNP654FKjgBlWcQYggymPBS5
-----END CERTIFICATE-----
";

/// The same with `-newkey rsa:1024`.
const RSA_1024: &str = "\
-----BEGIN CERTIFICATE-----
MIICBjCCAW+gAwIBAgIUI3Pkwd7r+Tpx22rLgxUk0rOImt0wDQYJKoZIhvcNAQEL
BQAwFDESMBAGA1UEAwwJc2hvcC50ZXN0MCAXDTI2MTEyNzAwMzU0OVoYDzIxMjYx
MTAzMDAzNTQ5WjAUMRIwEAYDVQQDDAlzaG9wLnRlc3QwgZ8wDQYJKoZIhvcNAQEB
BQADgY0AMIGJAoGBANWc4FGrfzvnQWzD3/x5i9RJpYDMCzEC8ymDoq28PGevjY4F
Zrn1idAV4r4KhDzPlI8yGzak7i7SPrDb+x8ic0plCDg+snj7iEys8cAiBj65gfH1
48y2B4rxJfvjSMlj+a/S03ADEa6Vgo71mXKU+VDI3vZfn8+YbpG0cfllrB6/AgMB
AAGjUzBRMB0GA1UdDgQWBBRxqjgsuWfy2s/zbv1uPQxxuGz/WTAfBgNVHSMEGDAW
gBRxqjgsuWfy2s/zbv1uPQxxuGz/WTAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3
DQEBCwUAA4GBAEHua/CXKiqglxWl+QU/qWIQo/pScIfbOUWUNqRBM83EZMSh13jW
ugE0kHuUBTPVJOQTgdveuPJFxQIVaifJCwKbL8BNc2IiuimL7Nn9rCxGyXdiSSOu
48PlJmc04ExhEkkgV7Rsm6MMLpN1kCOZ392ID6KZXfrSmjNLL3QWGY46
-----END CERTIFICATE-----
";

/// Files with these texts, in a folder that goes when it is dropped.
fn files(cert: &str, key: &str) -> (tempfile::TempDir, TlsSettings) {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert_file, key_file) = (folder.path().join("own.pem"), folder.path().join("own.key"));
    std::fs::write(&cert_file, cert).expect("writable");
    std::fs::write(&key_file, key).expect("writable");
    let settings =
        TlsSettings { cert: Some(cert_file), key: Some(key_file), ..TlsSettings::default() };
    (folder, settings)
}

/// Whether a client's certificate will do is the server's to say.
#[test]
fn a_client_certificate_has_to_belong_to_its_key_and_no_more() {
    let (_folder, settings) = files(VERSION_1, ITS_KEY);
    assert!(connectors(&settings, Http::V1).is_ok());
    let another = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let encrypted = ITS_KEY.replace(" PRIVATE", " ENCRYPTED PRIVATE");
    let of_old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n\
                  -----END RSA PRIVATE KEY-----\n";
    let useless = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (key, why) in [
        (another.as_str(), "the private key is not that of the certificate"),
        (&encrypted, "the private key is encrypted"),
        (of_old, "decrypt it with `openssl pkey -in"),
        (useless, "expected one of RSA of 2,048 to 4,096 bits, P-256, P-384 or Ed25519"),
        (VERSION_1, "no private key in it (PEM is expected)"),
    ] {
        let (_folder, settings) = files(VERSION_1, key);
        let SetupError(error) = connectors(&settings, Http::V1).err().expect(why);
        assert!(error.contains("own.key: ") && error.contains(why), "{why}: {error}");
    }
}

/// Where any certificate will do, so will one whose key is of a kind that nothing here can verify a signature with.
#[test]
fn signatures_are_verified_as_far_as_they_can_be() {
    let signatures = Signatures(Arc::new(rustls::crypto::ring::default_provider()));
    let of_pem =
        |text: &str| CertificateDer::from_pem_slice(text.as_bytes()).expect("a certificate");
    let p_256 = of_pem(VERSION_1);
    for (certificate, scheme, is_valid) in [
        (of_pem(P_521), 0x0603, true),
        (of_pem(RSA_1024), 0x0804, true),
        (CertificateDer::from(b"none".to_vec()), 0x0403, true),
        (p_256.clone(), 0x0203, true),
        (p_256, 0x0403, false),
    ] {
        let verified = signatures.verify_if_possible(b"x", &certificate, (scheme.into(), b"abc"));
        assert_eq!(verified.is_ok(), is_valid, "{scheme:x}");
    }
    assert_eq!(
        certificate::rsa_bytes(About::read(&of_pem(RSA_1024)).expect("one").public_key),
        Some(128)
    );
}

#[test]
fn what_is_offered_is_said_where_it_is_not_enough() {
    use rustls::AlertDescription::{
        CertificateRequired, HandshakeFailure, ProtocolVersion, UnknownCA,
    };
    let both = (TlsVersion::V12, TlsVersion::V13);
    for (alert, versions, words) in [
        (HandshakeFailure, both, "TLS 1.3, and TLS 1.2 with ECDHE"),
        (HandshakeFailure, both, "put a proxy before it"),
        (
            ProtocolVersion,
            (TlsVersion::V13, TlsVersion::V13),
            "squall offers TLS 1.3 (`tls: {min: 1.3}`)",
        ),
        (ProtocolVersion, (TlsVersion::V12, TlsVersion::V12), "TLS 1.2 (`tls: {max: 1.2}`) with"),
        (CertificateRequired, both, "the server wants a client certificate"),
        (UnknownCA, both, "does not accept the client certificate"),
    ] {
        let said = tls_failure::explain(&rustls::Error::AlertReceived(alert), versions);
        assert!(said.contains(words), "{words}: {said}");
    }
    for (min, max, count) in
        [(TlsVersion::V12, TlsVersion::V13, 2), (TlsVersion::V13, TlsVersion::V13, 1)]
    {
        let settings = TlsSettings { min, max, ..TlsSettings::default() };
        assert_eq!(versions(&settings).len(), count);
    }
}
