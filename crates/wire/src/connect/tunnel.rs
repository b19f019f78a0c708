//! A tunnel through a proxy (RFC 9110, section 9.3.6): it is asked for, and what the proxy says is all that is read before
//! the other end is spoken to.

use std::future::poll_fn;
use std::io::{self, IoSlice};

use crate::error::{Error, ErrorKind};
use crate::h1::{Parsed, ResponseParser};
use crate::link::Link;
use crate::origin::Origin;
use crate::via::Proxy;

/// Largest head of a proxy's response.
const MAX_RESPONSE: usize = 64 << 10;

/// Asks a proxy for a tunnel to an origin.
///
/// # Errors
/// It refuses, says something else, or ends the connection: each is of kind [`ErrorKind::Proxy`], and says which.
pub(super) async fn ask(stream: &mut Link, proxy: &Proxy, origin: &Origin) -> Result<(), Error> {
    let to = origin.host_and_port();
    let failed = |what: &str| {
        Error::new(ErrorKind::Proxy, format!("the proxy {proxy}, CONNECT {to}: {what}"))
    };
    let broken = |error: io::Error| failed(&error.to_string());
    let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
    if let Some(value) = proxy.authorization() {
        request.push_str(&format!("Proxy-Authorization: {value}\r\n"));
    }
    request.push_str("\r\n");
    write_all(stream, request.as_bytes()).await.map_err(broken)?;
    let (mut held, mut parser) = (Vec::new(), ResponseParser::new(true));
    loop {
        let mut piece = [0; 1024];
        // The proxy is silent after its head until it is spoken to: nothing of the tunnel is lost.
        let read =
            poll_fn(|cx| stream.poll_read(cx, &mut piece, false)).await.map_err(broken)?.bytes;
        if read == 0 {
            return Err(failed("it closed the connection before the end of its response"));
        }
        held.extend_from_slice(&piece[..read]);
        let parsed = parser.feed(&held, &mut |_| ()).map_err(|malformed| failed(malformed.0))?;
        if let Parsed::Head { .. } = parsed {
            return match parser.head().map_or(0, |head| head.status) {
                200..300 => Ok(()),
                status => Err(failed(&refusal(status, proxy)).with_status(status)),
            };
        }
        if held.len() > MAX_RESPONSE {
            return Err(failed("the head of its response does not end"));
        }
    }
}

/// What a status other than 2xx means.
fn refusal(status: u16, proxy: &Proxy) -> String {
    let why = match (status, &proxy.credentials) {
        (407, None) => {
            ": its URL needs a user and a password, as in http://user:password@host:port"
        }
        (407, Some(_)) => ": it does not take the user and the password of its URL",
        _ => "",
    };
    format!("status {status}{why}")
}

async fn write_all(stream: &mut Link, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match poll_fn(|cx| stream.poll_write(cx, &[IoSlice::new(bytes)])).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
