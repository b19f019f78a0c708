//! Files of client certificates with their private keys: PKCS #12, which Java makes too.

use p12_keystore::{KeyStore as Entries, KeyStoreEntry, Pkcs12ImportPolicy};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::{Identity, elliptic, pem, unreadable};
use crate::settings::{KeyStore, SetupError};

/// How files in the two forms begin that Java alone has: JKS and JCEKS.
const OF_JAVA: [[u8; 4]; 2] = [[0xFE, 0xED, 0xFE, 0xED], [0xCE, 0xCE, 0xCE, 0xCE]];

/// The certificates of a file by their aliases, in their alphabetical order.
pub(super) fn identities(store: &KeyStore) -> Result<Vec<(String, Identity)>, SetupError> {
    let KeyStore { file, password } = store;
    let bytes = pem(file)?;
    if OF_JAVA.iter().any(|begin| bytes.starts_with(begin)) {
        let shown = file.display();
        return Err(SetupError(format!(
            "{shown}: a key store in a form of Java's own, and PKCS #12 is expected; convert it with `keytool \
             -importkeystore -srckeystore {shown} -destkeystore {shown}.p12 -deststoretype PKCS12`"
        )));
    }
    let entries = Entries::from_pkcs12(&bytes, password, Pkcs12ImportPolicy::Strict);
    let entries = entries.map_err(|error| {
        unreadable(file, &format!("{error} (PKCS #12 is expected; is the password the right one?)"))
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
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Err(unreadable(file, &"there is no private key with a certificate in it"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{PrivateKeyDer, ServerName, UnixTime};
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

    #[test]
    fn certificates_are_known_by_their_aliases() {
        let expected = ["alice".to_owned(), "bob".to_owned()];
        assert_eq!(of(OF_KEYTOOL, PASSWORD).as_deref(), Ok(&expected[..]));
    }

    #[test]
    fn what_is_no_such_file_says_what_helps() {
        let java = [&OF_JAVA[0][..], &[0; 20]].concat();
        let cases: [(&[u8], &str, &str); 4] = [
            (OF_KEYTOOL, "wrong", "is the password the right one?"),
            (b"no store", "", "PKCS #12 is expected"),
            (b"", "", "the file is empty"),
            (&java, "", "keytool -importkeystore"),
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
        let config = connectors.of(certificate).config().clone();
        let mut client = ClientConnection::new(config, name).expect("a client");
        shake_hands(&mut client, &mut server).expect("a server");
        server.peer_certificates().and_then(|chain| chain.first().cloned())
    }

    #[test]
    fn a_server_is_shown_the_certificate_that_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), OF_KEYTOOL).expect("writable");
        let store = KeyStore { file: file.path().into(), password: PASSWORD.to_owned() };
        let of_store = identities(&store).map_err(|SetupError(why)| why).expect("two");
        let settings =
            TlsSettings { insecure: true, key_store: Some(store), ..TlsSettings::default() };
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
}
