//! Sessions without a store: the cookie carries the session's number and user, signed, so that any
//! number of sessions cost the server nothing.

use ring::hmac;

use squall_base::hex::{Hex, unhex};

pub(crate) const COOKIE: &str = "sid";

/// Longest name that a user may have, in bytes.
pub(crate) const USER_LIMIT: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) id: u64,
    /// Who is logged in; empty before the login.
    pub(crate) user: String,
}

/// Signs what the server hands out and wants to know again.
pub(crate) struct Signer(hmac::Key);

impl Signer {
    pub(crate) fn new(secret: &[u8]) -> Self {
        Signer(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The first 16 bytes of HMAC-SHA-256 over purpose and text, in hexadecimal.
    pub(crate) fn sign(&self, purpose: &str, text: &str) -> String {
        let tag = hmac::sign(&self.0, format!("{purpose}\0{text}").as_bytes());
        let short = tag.as_ref().first_chunk::<16>().map_or(&[][..], |tag| tag.as_slice());
        Hex(short).to_string()
    }

    /// Whether `signature` is that of the text. Not in constant time: nothing here is secret from
    /// the one who tests with it.
    pub(crate) fn verify(&self, purpose: &str, text: &str, signature: &str) -> bool {
        self.sign(purpose, text) == signature
    }
}

impl Session {
    /// The cookie's value: number, user, signature.
    pub(crate) fn cookie_value(&self, signer: &Signer) -> String {
        let text = format!("{:016x}.{}", self.id, Hex(self.user.as_bytes()));
        let signature = signer.sign("session", &text);
        format!("{text}.{signature}")
    }

    /// The session of a cookie's value, if the signature is ours.
    pub(crate) fn from_cookie_value(value: &str, signer: &Signer) -> Option<Session> {
        let (text, signature) = value.rsplit_once('.')?;
        if !signer.verify("session", text, signature) {
            return None;
        }
        let (id, user) = text.split_once('.')?;
        let id = u64::from_str_radix(id, 16).ok()?;
        Some(Session { id, user: String::from_utf8(unhex(user.as_bytes())?).ok()? })
    }

    /// The token that a form of this session carries against forgery.
    pub(crate) fn csrf_token(&self, signer: &Signer) -> String {
        signer.sign("csrf", &format!("{:016x}", self.id))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cookie_comes_back_as_its_session(id: u64, user in ".{0,20}") {
            let signer = Signer::new(b"secret");
            let session = Session { id, user };
            let value = session.cookie_value(&signer);
            prop_assert_eq!(Session::from_cookie_value(&value, &signer), Some(session));
            prop_assert_eq!(Session::from_cookie_value(&value, &Signer::new(b"other")), None);
            prop_assert_eq!(Session::from_cookie_value(&value[1..], &signer), None);
        }

        #[test]
        fn any_cookie_is_survived(value in ".{0,60}") {
            prop_assert_eq!(Session::from_cookie_value(&value, &Signer::new(b"secret")), None);
        }
    }

    #[test]
    fn a_form_token_belongs_to_one_session() {
        let signer = Signer::new(b"secret");
        let token = |id| Session { id, user: String::new() }.csrf_token(&signer);
        assert_eq!(token(1), token(1));
        assert_ne!(token(1), token(2));
    }
}
