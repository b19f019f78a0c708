//! How squall connects to other systems than the target, those that monitors ask, feeds send to and modules of scripts come from: an
//! agent for HTTP, TLS with the system's roots, and who asks.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ClientConfig, RootCertStore};
use squall_base::form::percent_decoded;
use squall_plan::feed_target::parts;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// Who asks.
const AGENT: &str = concat!("squall/", env!("CARGO_PKG_VERSION"));

/// Asks one URL over HTTP, one request at a time. It follows no redirects, and uses no proxy.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// What asks; a response of any status is one.
    pub agent: Agent,
    /// The URL without its user.
    pub url: String,
    /// What its user, with a password, sends as `authorization`; `None`: the URL has no user.
    pub authorization: Option<String>,
}

/// Whose certificates are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificates {
    /// Those that the system's roots have signed, for the host.
    Valid,
    Any,
}

impl Endpoint {
    /// For a URL of http or https; `within` bounds each request, with its response. `None`: it is not a URL.
    pub fn new(url: &str, within: Duration) -> Option<Endpoint> {
        Endpoint::accepting(Certificates::Valid, url, within)
    }

    /// The same, for a server that may have one of these certificates.
    pub fn accepting(certificates: Certificates, url: &str, within: Duration) -> Option<Endpoint> {
        let (scheme, user, rest) = parts(url)?;
        let config = Agent::config_builder()
            .timeout_global(Some(within))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(AGENT);
        let config = match scheme {
            "https" => config.tls_config(agent_tls(certificates)),
            _ => config,
        };
        Some(Endpoint {
            agent: config.build().into(),
            url: format!("{scheme}://{rest}"),
            authorization: user.map(basic),
        })
    }
}

/// How long a download may take, and how often it may be sent elsewhere.
const DOWNLOAD: Duration = Duration::from_secs(60);
const REDIRECTS: u32 = 10;

/// Downloads what a URL gives, if it has not more than `most` bytes. It follows redirects, from https to https alone; https goes
/// through the proxy that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
///
/// # Errors
/// No response came within a minute, its status is not 200, or it is larger; in a sentence.
pub fn download(url: &str, most: u64) -> Result<Vec<u8>, String> {
    let config = Agent::config_builder()
        .timeout_global(Some(DOWNLOAD))
        .http_status_as_error(false)
        .max_redirects(REDIRECTS)
        .user_agent(AGENT);
    let config = match url.starts_with("https:") {
        true => config.https_only(true).tls_config(agent_tls(Certificates::Valid)),
        false => config.proxy(None),
    };
    let agent: Agent = config.build().into();
    let told = |error| match error {
        ureq::Error::BodyExceedsLimit(_) => format!("it has more than {most} bytes"),
        ureq::Error::RequireHttpsOnly(to) => format!("it redirects to {to}, which is not https"),
        ureq::Error::Timeout(_) => format!("it did not come within {} s", DOWNLOAD.as_secs()),
        other => other.to_string(),
    };
    let mut response = agent.get(url).call().map_err(told)?;
    if response.status() != 200 {
        return Err(format!("the server responded {}", response.status()));
    }
    response.body_mut().with_config().limit(most).read_to_vec().map_err(told)
}

/// What a user and a password, as they stand in a URL, send as `authorization`.
pub fn basic(user: &str) -> String {
    format!("Basic {}", STANDARD.encode(percent_decoded(user.as_bytes())))
}

/// TLS with the system's roots, and ring, as for load.
///
/// # Errors
/// ring has no version of TLS that is safe.
pub fn tls() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The same for an agent, which makes its own of it.
fn agent_tls(certificates: Certificates) -> TlsConfig {
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&roots))
        .disable_verification(certificates == Certificates::Any)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_a_url_becomes_a_header() {
        let of = |url: &str| Endpoint::new(url, Duration::from_secs(1));
        let own = of("http://me:p%40ss@h:1/write?db=a").expect("a URL");
        assert_eq!(own.url, "http://h:1/write?db=a");
        // me:p@ss
        assert_eq!(own.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        assert_eq!(of("https://h/").expect("a URL").authorization, None);
        assert!(of("h:1").is_none());
    }
}
