//! One small request a second over HTTP, bounded in time and bytes.

use std::io;
use std::time::Duration;

use squall_outbound::Endpoint;

/// How long it may take: what is later than its second would be lost.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(900);
/// Most bytes of a response.
const MAX_BYTES: u64 = 16 << 20;

/// Asks one URL.
#[derive(Debug)]
pub(crate) struct Client(Option<Endpoint>);

impl Client {
    /// For a URL of a plan that was found good. The user in it, with a password, is sent as a header.
    pub(crate) fn new(url: &str) -> Client {
        Client(Endpoint::new(url, TIMEOUT))
    }

    /// The text that the URL leads to.
    ///
    /// # Errors
    /// It does not come in time, is too long, or has another status than 200.
    pub(crate) fn get(&self) -> io::Result<String> {
        let endpoint = self.0.as_ref().ok_or_else(|| io::Error::other("expected a URL"))?;
        let request = endpoint.agent.get(&endpoint.url);
        let request = match &endpoint.authorization {
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
