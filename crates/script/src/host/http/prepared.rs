//! A request while it is made, and one that is ready to be sent: plain data, and how headers are set.

use std::cell::RefCell;

use crate::engine::Thrown;
use crate::http::{HttpHead, HttpRequest};

/// A request that is being made.
pub(super) struct Draft {
    pub head: HttpHead,
    /// Whether a failure throws.
    pub throws: bool,
}

impl Draft {
    /// Adds a header, in place of one of the same name.
    pub fn header(&mut self, name: &str, value: String) -> Result<(), Thrown> {
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Thrown::new(format!(
                "TypeError: params.headers has the name {name:?}: expected letters, digits and `-`"
            )));
        }
        if value.contains(['\r', '\n', '\0']) {
            return Err(Thrown::new(format!(
                "TypeError: params.headers[{name:?}] has a line end: expected one line"
            )));
        }
        let headers = &mut self.head.headers;
        match headers.iter_mut().find(|(own, _)| own.eq_ignore_ascii_case(name)) {
            Some((_, own)) => *own = value,
            None => headers.push((name.to_owned(), value)),
        }
        Ok(())
    }

    /// Adds a header, if there is none of its name.
    pub fn default_header(&mut self, name: &str, value: impl FnOnce() -> String) {
        if !self.head.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            self.head.headers.push((name.to_owned(), value()));
        }
    }
}

/// A request that is ready to be sent.
pub(super) struct Prepared {
    pub request: HttpRequest,
    /// Whether a failure throws.
    pub throws: bool,
    /// Why it cannot be sent; empty: it can.
    pub refused: String,
}

/// A request that a script holds until it is sent.
pub(super) type Slot = RefCell<Option<Prepared>>;
