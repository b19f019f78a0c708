//! Why handshakes fail, in words, and what helps. Pure.

use std::io;

use rustls::{AlertDescription as Alert, CertificateError as Certificate};

use crate::settings::TlsVersion;

const INSECURE: &str = "`connections: {tls: {insecure: true}}` in the plan (`-k` of `squall URL`)";

/// What is offered of TLS 1.2.
const SUITES: &str = "ECDHE and AES-GCM or ChaCha20-Poly1305 (no RSA key exchange, DHE or CBC)";
/// The keys that certificates of servers may have.
const KEYS: &str = "RSA from 2,048 bits, P-256, P-384 and Ed25519";

/// Why a handshake failed; `None`: because of the transport below TLS. `versions`: the least and the greatest that are offered.
pub(crate) fn of_handshake(
    error: &io::Error,
    versions: (TlsVersion, TlsVersion),
) -> Option<String> {
    match of_tls(error) {
        Some(inner) => Some(explain(inner, versions)),
        None if error.kind() == io::ErrorKind::UnexpectedEof => Some(
            "the other side closed in the handshake: it may not speak TLS on this port".to_owned(),
        ),
        None => None,
    }
}

/// What TLS has against what came after the handshake: with TLS 1.3, a server judges the client's certificate only then.
pub(crate) fn reason(error: &io::Error) -> Option<String> {
    of_tls(error).map(|error| explain(error, (TlsVersion::V12, TlsVersion::V13)))
}

fn of_tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// What a handshake failed of, and what helps. `versions`: the least and the greatest that are offered.
pub(crate) fn explain(error: &rustls::Error, versions: (TlsVersion, TlsVersion)) -> String {
    use rustls::Error as Tls;
    match error {
        Tls::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => {
            "the other side does not speak TLS on this port: is it meant to be http://?".to_owned()
        }
        Tls::InvalidCertificate(reason) => of_certificate(error, reason),
        Tls::AlertReceived(alert) => of_alert(error, *alert, versions),
        Tls::PeerIncompatible(_) => nothing_in_common(error, versions),
        other => other.to_string(),
    }
}

/// Why the server's certificate is not accepted.
fn of_certificate(error: &rustls::Error, reason: &Certificate) -> String {
    match reason {
        Certificate::Other(reason) => format!(
            "invalid peer certificate: {}; trust it with `connections: {{tls: {{ca: FILE}}}}`, or every certificate with {INSECURE}",
            in_words(reason.0.as_ref())
        ),
        Certificate::UnknownIssuer => {
            format!(
                "{error}: it is self-signed, or its issuer is unknown to this machine; trust it, or \
                 its authority, with `connections: {{tls: {{ca: FILE}}}}`, or every certificate with {INSECURE}"
            )
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => format!(
            "{error}; verify another name with `tls: {{server_name: NAME}}`, or nothing with {INSECURE}"
        ),
        Certificate::BadSignature => {
            format!(
                "{error}: the server, or who vouches for it, did not sign with the key of the certificate"
            )
        }
        _ => format!("{error}; {INSECURE} accepts it all the same"),
    }
}

/// What the server's last word means.
fn of_alert(error: &rustls::Error, alert: Alert, versions: (TlsVersion, TlsVersion)) -> String {
    match alert {
        Alert::HandshakeFailure | Alert::InsufficientSecurity => format!(
            "{}; or it wants a client certificate (`tls: {{cert: FILE, key: FILE}}`)",
            nothing_in_common(error, versions)
        ),
        Alert::ProtocolVersion => nothing_in_common(error, versions),
        Alert::CertificateRequired => format!(
            "{error}: the server wants a client certificate, which `connections: {{tls: {{cert: FILE, key: FILE}}}}` names"
        ),
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied => format!(
            "{error}: the server does not accept the client certificate, or that there is none; see `cert` and `key` of \
             `connections: {{tls: ...}}`"
        ),
        Alert::UnrecognisedName => format!(
            "{error}: the server knows no host of this name; send another with `connections: {{tls: {{server_name: NAME}}}}`"
        ),
        Alert::NoApplicationProtocol => format!(
            "{error}: the server speaks no version of HTTP that `connections: {{http: ...}}` allows"
        ),
        _ => error.to_string(),
    }
}

/// What squall offers, where that is not enough.
fn nothing_in_common(error: &rustls::Error, (min, max): (TlsVersion, TlsVersion)) -> String {
    let offered = match (min, max) {
        (TlsVersion::V13, _) => "TLS 1.3 (`tls: {min: 1.3}`)".to_owned(),
        (_, TlsVersion::V12) => format!("TLS 1.2 (`tls: {{max: 1.2}}`) with {SUITES}"),
        _ => format!("TLS 1.3, and TLS 1.2 with {SUITES}"),
    };
    format!(
        "{error}: squall offers {offered}, for certificates with keys of {KEYS}; let the server offer one of these, or put a \
         proxy before it that speaks TLS to both"
    )
}

/// What has no name in TLS, and is told as the checker's own word for it, such as `CaUsedAsEndEntity`.
fn in_words(reason: &(dyn std::error::Error + 'static)) -> String {
    if let Some(webpki::Error::CaUsedAsEndEntity) = reason.downcast_ref() {
        return "it is self-signed, or that of an authority, which only vouches for others"
            .to_owned();
    }
    let mut words = String::new();
    for c in reason.to_string().chars() {
        if c.is_ascii_uppercase() && words.ends_with(|before: char| before.is_ascii_lowercase()) {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}
