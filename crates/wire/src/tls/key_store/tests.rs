//! Key stores: their forms, and which certificate a server is shown.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    ClientConnection, DigitallySignedStruct, DistinguishedName, ServerConfig, ServerConnection,
    SignatureScheme, client::danger::HandshakeSignatureValid,
};

use super::super::tests::shake_hands;
use super::super::{Connectors, connectors};
use super::*;
use crate::settings::{Http, TlsSettings};

fn of(bytes: &[u8], password: &str) -> Result<Vec<String>, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("writable");
    let store = KeyStore { file: file.path().into(), password: password.to_owned() };
    let found = identities(&store).map_err(|SetupError(why)| why)?;
    Ok(found.into_iter().map(|(alias, _)| alias).collect())
}

/// What `keytool` of Java 17 makes, with keys of two kinds for alice (RSA) and bob (EC).
const OF_KEYTOOL: &[u8] = include_bytes!("clients.p12");
const PASSWORD: &str = "secret-of-tests";
/// What `openssl pkcs12 -nodes` of openssl 3.0 makes of it.
const OF_OPENSSL: &str = include_str!("clients.pem");

#[cfg(feature = "pkcs12")]
#[test]
fn certificates_of_pkcs12_are_known_by_their_aliases() {
    let expected = ["alice".to_owned(), "bob".to_owned()];
    assert_eq!(of(OF_KEYTOOL, PASSWORD).as_deref(), Ok(&expected[..]));
    let why = of(OF_KEYTOOL, "wrong").expect_err("another password");
    assert!(why.contains("is the password the right one?"), "{why}");
}

/// What is said instead is what to do, and that it works the other tests show.
#[cfg(not(feature = "pkcs12"))]
#[test]
fn a_build_without_pkcs12_says_how_to_convert_it() {
    let why = of(OF_KEYTOOL, PASSWORD).expect_err("not in this build");
    assert!(why.contains("PKCS #12, which this build of squall does not read"), "{why}");
    assert!(why.contains("`openssl pkcs12 -in ") && why.contains(" -nodes -out "), "{why}");
}

/// Both forms hold the same.
#[cfg(feature = "pkcs12")]
#[test]
fn pem_is_what_pkcs12_is() {
    let pkcs12 = pkcs12::identities(OF_KEYTOOL, PASSWORD).expect("two");
    let pem = bags::identities(OF_OPENSSL.as_bytes()).expect("two");
    let shown = |(name, (chain, key)): &(String, Identity)| {
        (name.clone(), chain.clone(), key.secret_der().to_vec())
    };
    assert_eq!(
        pem.iter().map(shown).collect::<Vec<_>>(),
        pkcs12.iter().map(shown).collect::<Vec<_>>()
    );
}

#[test]
fn certificates_of_pem_are_known_by_their_aliases() {
    let expected = ["alice".to_owned(), "bob".to_owned()];
    assert_eq!(of(OF_OPENSSL.as_bytes(), "").as_deref(), Ok(&expected[..]));
    // Without attributes the only key has all certificates, and a name of its own.
    let blocks: Vec<&str> = OF_OPENSSL.split("Bag Attributes").collect();
    let without = |block: &str| block[block.find("-----BEGIN").expect("a block")..].to_owned();
    let (key, certificate) = (without(blocks[1]), without(blocks[3]));
    assert_eq!(
        of(format!("{key}{certificate}").as_bytes(), "").as_deref(),
        Ok(&["1".to_owned()][..])
    );
    // Two keys without attributes: nobody knows whose the certificates are.
    let both = format!("{key}{}{certificate}", without(blocks[2]));
    let why = of(both.as_bytes(), "").expect_err("whose?");
    assert!(why.contains("no certificate has the localKeyID of the private key `1`"), "{why}");
}

proptest::proptest! {
    /// Whatever a file holds, it is read or refused.
    #[test]
    fn no_pem_panics(cut in 0..OF_OPENSSL.len(), skipped in 0..400_usize, put in "[-A-Za-z: \n]{0,24}") {
        let behind = OF_OPENSSL.get(cut + skipped..).unwrap_or_default();
        let text = format!("{}{put}{behind}", &OF_OPENSSL[..cut]);
        let _ = bags::identities(text.as_bytes());
    }
}

/// Authorities stand behind the certificate that they vouch for.
#[test]
fn a_chain_ends_where_the_next_certificate_of_a_key_begins() {
    let blocks: Vec<&str> = OF_OPENSSL.split("Bag Attributes").collect();
    let authority = &blocks[4][blocks[4].find("-----BEGIN").expect("a block")..];
    let text = [blocks[1], blocks[2], blocks[3], authority, blocks[4]].join("Bag Attributes\n");
    let found = bags::identities(text.as_bytes()).expect("two");
    let lengths: Vec<_> =
        found.iter().map(|(name, (chain, _))| (name.as_str(), chain.len())).collect();
    assert_eq!(lengths, [("alice", 2), ("bob", 1)]);
}

#[test]
fn what_is_no_such_file_says_what_helps() {
    let java = [&OF_JAVA[0][..], &[0; 20]].concat();
    let encrypted = OF_OPENSSL.replace(" PRIVATE KEY", " ENCRYPTED PRIVATE KEY");
    let cases: [(&[u8], &str, &str); 5] = [
        (
            b"no store",
            "",
            if cfg!(feature = "pkcs12") {
                "PKCS #12 or PEM is expected"
            } else {
                "PEM is expected"
            },
        ),
        (b"", "", "the file is empty"),
        (&java, "", "keytool -importkeystore"),
        (encrypted.as_bytes(), "", "a private key is encrypted"),
        (b"-----BEGIN X-----\n-----END X-----\n", "", "no private key with a certificate"),
    ];
    for (bytes, password, expected) in cases {
        let why = of(bytes, password).expect_err("no store");
        assert!(why.contains(expected), "{why}");
    }
}

/// A server's part that takes whatever certificate it is shown, or none.
#[derive(Debug)]
struct Anybody;

impl ClientCertVerifier for Anybody {
    fn client_auth_mandatory(&self) -> bool {
        false
    }
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The certificate that a server is shown.
fn shown(connectors: &Connectors, certificate: Option<u16>) -> Option<CertificateDer<'static>> {
    let own = rcgen::generate_simple_self_signed(["shop.test".to_owned()]).expect("one");
    let key = PrivateKeyDer::from_pem_slice(own.signing_key.serialize_pem().as_bytes());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(Arc::new(Anybody))
        .with_single_cert(vec![own.cert.der().clone()], key.expect("a key"))
        .expect("a server's certificate");
    let mut server = ServerConnection::new(Arc::new(server)).expect("a server");
    let name = ServerName::try_from("shop.test").expect("a name");
    let config = connectors.of(certificate, "shop.test").config().clone();
    let mut client = ClientConnection::new(config, name).expect("a client");
    shake_hands(&mut client, &mut server).expect("a server");
    server.peer_certificates().and_then(|chain| chain.first().cloned())
}

#[test]
fn a_server_is_shown_the_certificate_that_is_named() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), OF_OPENSSL).expect("writable");
    let store = KeyStore { file: file.path().into(), password: PASSWORD.to_owned() };
    let of_store = identities(&store).map_err(|SetupError(why)| why).expect("two");
    let settings = TlsSettings { insecure: true, key_store: Some(store), ..TlsSettings::default() };
    let connectors = connectors(&settings, Http::V1);
    let connectors = connectors.map_err(|SetupError(why)| why).expect("settings");
    // Of several none is taken unless it is named.
    assert!(!connectors.has_certificate && shown(&connectors, None).is_none());
    for (number, (alias, (chain, _))) in (0..).zip(&of_store) {
        assert_eq!(connectors.named[usize::from(number)].0, *alias);
        assert_eq!(connectors.number(alias), Some(number));
        assert_eq!(shown(&connectors, Some(number)).as_ref(), chain.first(), "{alias}");
    }
}
