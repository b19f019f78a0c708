//! One small request a second over HTTP, bounded in time and bytes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use squall_base::form::percent_decoded;
use squall_plan::feed_target::parts;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// How long it may take: what is later than its second would be lost.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(900);
/// Most bytes of a response.
const MAX_BYTES: u64 = 16 << 20;

/// Asks one URL.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    url: String,
    authorization: Option<String>,
}

impl Client {
    /// For a URL of a plan that was found good. The user in it, with a password, is sent as a header.
    pub(crate) fn new(url: &str) -> Client {
        let (scheme, user, rest) = parts(url).unwrap_or(("http", None, url));
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("squall/", env!("CARGO_PKG_VERSION")));
        let config = match scheme {
            "https" => config.tls_config(tls()),
            _ => config,
        };
        let encoded = |user: &str| STANDARD.encode(percent_decoded(user.as_bytes()));
        Client {
            agent: config.build().into(),
            url: format!("{scheme}://{rest}"),
            authorization: user.map(|user| format!("Basic {}", encoded(user))),
        }
    }

    /// The text that the URL leads to.
    ///
    /// # Errors
    /// It does not come in time, is too long, or has another status than 200.
    pub(crate) fn get(&self) -> io::Result<String> {
        let request = self.agent.get(&self.url);
        let request = match &self.authorization {
            Some(own) => request.header("authorization", own),
            None => request,
        };
        let mut response = request.call().map_err(told)?;
        match response.status().as_u16() {
            200 => {}
            401 | 403 => return Err(io::Error::other("it wants another user or password")),
            status => return Err(io::Error::other(format!("it replied with status {status}"))),
        }
        let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec();
        let body = body.map_err(told)?;
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

fn told(error: ureq::Error) -> io::Error {
    match error {
        ureq::Error::Timeout(_) => {
            io::Error::other(format!("no whole response within {} ms", TIMEOUT.as_millis()))
        }
        ureq::Error::BodyExceedsLimit(_) => {
            io::Error::other(format!("its response has more than {} MiB", MAX_BYTES >> 20))
        }
        error => io::Error::other(error.to_string()),
    }
}

/// The system's roots, and ring, as for load.
fn tls() -> TlsConfig {
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&roots))
        .build()
}
