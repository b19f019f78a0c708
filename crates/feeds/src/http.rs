//! Requests of feeds over HTTP, one at a time, on the outbox's thread.

use std::io;

use squall_outbound::{Certificates, Endpoint, basic};
use squall_plan::feed_target::{FeedTarget, parts};
use squall_plan::secrets::Secrets;
use squall_runner::Trouble;

use crate::outbox::{ATTEMPT, DeliveryError};

/// Posts to one URL.
pub struct Poster {
    endpoint: Endpoint,
    headers: Vec<(String, String)>,
}

impl Poster {
    /// To the URL of a target, with its headers, for bodies of one type.
    ///
    /// # Errors
    /// The URL is none.
    pub fn new(target: &FeedTarget, content_type: &str) -> io::Result<Poster> {
        let certificates = match target.accepts_any_certificate {
            true => Certificates::Any,
            false => Certificates::Valid,
        };
        let endpoint = Endpoint::accepting(certificates, &target.to, ATTEMPT);
        let endpoint = endpoint.ok_or_else(|| io::Error::other("expected a URL"))?;
        let own = Poster { endpoint, headers: target.headers.clone() };
        Ok(own.with("content-type", content_type))
    }

    /// With one more header, unless it has one of that name.
    pub fn with(mut self, name: &str, value: &str) -> Poster {
        if self.headers.iter().all(|(own, _)| !own.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Authorized as a target says, or by the token of the environment, if there is one.
    pub fn authorized(self, target: &FeedTarget, scheme: &str) -> Poster {
        match authorization(target, scheme) {
            Some(own) => self.with("authorization", &own),
            None => self,
        }
    }

    /// Posts a body. What the server cannot take now (429, 500 and above), and what did not reach it, is worth another
    /// attempt; any other status than 200 to 299 is not. Returns the response's body, as far as it could be read.
    ///
    /// # Errors
    /// It was not taken.
    pub fn post(&self, body: &[u8]) -> Result<Vec<u8>, DeliveryError> {
        let start = self.endpoint.agent.post(&self.endpoint.url);
        let request = self.headers.iter().fold(start, |own, (name, value)| own.header(name, value));
        let mut response = request.send(body).map_err(DeliveryError::again)?;
        let status = response.status().as_u16();
        // To its end, so that the connection can be used again.
        let answer = response.body_mut().read_to_vec().unwrap_or_default();
        let refusal = || Trouble::new(format!("status {status}")).said(&answer);
        match status {
            200..=299 => Ok(answer),
            408 | 429 | 500.. => Err(DeliveryError::Again(refusal())),
            _ => Err(DeliveryError::Lost(refusal())),
        }
    }
}

/// What authorizes: the target's own token, or the user of its URL with its password, or the token of the environment, if there is
/// one.
pub fn authorization(target: &FeedTarget, scheme: &str) -> Option<String> {
    let own = target.token.clone();
    let user = parts(&target.to).and_then(|(_, user, _)| user).filter(|_| own.is_none());
    if let Some(user) = user {
        return Some(basic(user));
    }
    let of_environment = || std::env::var(target.kind.token_variable()?).ok();
    let token = own.or_else(of_environment).filter(|token| !token.is_empty())?;
    Some(format!("{scheme} {token}"))
}

/// What nothing that is said of a receiver may show: the secrets of the run, and what authorizes to it, as it is written and as it
/// is sent.
pub fn secrets(target: &FeedTarget, of_run: &Secrets) -> Secrets {
    let mut secrets = of_run.clone();
    target.secrets().iter().for_each(|own| secrets.add(own));
    let sent = authorization(target, "Bearer");
    let credentials = sent.as_deref().and_then(|sent| sent.split_once(' '));
    credentials.into_iter().for_each(|(_, own)| secrets.add(own));
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_before_the_user_of_the_url() {
        let of = |token: Option<&str>| {
            let to = "http://me:pass@h/write?db=a".to_owned();
            let target =
                FeedTarget { to, token: token.map(str::to_owned), ..FeedTarget::default() };
            authorization(&target, "Token")
        };
        assert_eq!(of(Some("abc")).as_deref(), Some("Token abc"));
        assert_eq!(of(None).as_deref(), Some("Basic bWU6cGFzcw=="));
    }
}
