//! What a script is given of an exchange, taken while the response lies in the worker's buffer.

use std::cell::{Cell, RefCell};

use squall_metrics::ErrorKind;
use squall_script::{Cookie, HttpResponse};
use squall_wire::{Peer, Response};

use crate::parts::set_cookie::SetCookie;

/// What came of an exchange.
#[derive(Debug, Default)]
pub(crate) struct Got {
    pub response: RefCell<HttpResponse>,
    /// Why there was no response, or none that was expected.
    pub failure: RefCell<Option<(ErrorKind, String)>>,
    /// Who was at the other end.
    pub peer: Cell<Peer>,
    /// Bytes received and sent.
    pub bytes: Cell<(u64, u64)>,
}

impl Got {
    /// Takes what a script is given of a response, while it lies in the worker's buffer.
    pub(super) fn take(&self, response: &Response<'_>) {
        let mut own = self.response.borrow_mut();
        own.status = response.status;
        let peer = self.peer.get();
        own.remote = peer.address;
        (own.tls_version, own.tls_cipher_suite) = (peer.tls_version, peer.cipher_suite);
        own.head = response.head.to_vec();
        own.cookies = match response.sets_cookies {
            true => response
                .headers()
                .filter(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie"))
                .filter_map(|(_, line)| SetCookie::parse(line).map(|cookie| said(&cookie)))
                .collect(),
            false => Vec::new(),
        };
        own.body = Some(response.body.to_vec());
    }
}

/// What a server says of a cookie.
fn said(cookie: &SetCookie<'_>) -> Cookie {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Cookie {
        name: text(cookie.name),
        value: text(cookie.value),
        domain: cookie.domain.clone(),
        path: cookie.path.map(text).unwrap_or_default(),
        http_only: cookie.http_only,
        secure: cookie.secure,
        max_age: cookie.max_age.unwrap_or(0),
        expires: cookie.expires.map_or(0, |seconds| seconds.saturating_mul(1_000)),
    }
}
