//! Connections that end, stay silent or lead astray.

use std::time::Duration;

use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;
use crate::routes::call::Call;

/// A head that promises 1000 bytes, up to the middle of a field.
const HALF_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nServer: squall\r\nContent-Le";
/// A head that promises 1000 bytes.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nServer: squall\r\nContent-Length: 1000\r\n\r\n";

/// Between the last bytes and a reset, so that the client gets to see the bytes: a reset overtakes
/// what is still on its way.
const BEFORE_RESET: Duration = Duration::from_millis(20);

type Result = std::result::Result<(), Fault>;

/// Sends these bytes, then resets the connection.
async fn reset_after(exchange: &mut Exchange<'_>, data: &[u8]) -> Result {
    exchange.raw(data).await?;
    exchange.sleep(BEFORE_RESET).await?;
    exchange.reset_on_close()?;
    Err(Fault::HangUp)
}

/// Sends these bytes, then closes the connection.
async fn close_after(exchange: &mut Exchange<'_>, data: &[u8]) -> Result {
    exchange.raw(data).await?;
    Err(Fault::HangUp)
}

pub(super) async fn reset_before(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.reset_on_close()?;
    Err(Fault::HangUp)
}

pub(super) async fn reset_in_headers(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    reset_after(exchange, HALF_HEAD).await
}

pub(super) async fn reset_after_headers(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    reset_after(exchange, &[HEAD, &[b'x'; 100]].concat()).await
}

pub(super) async fn close_before(_: &Call<'_>, _: &mut Exchange<'_>) -> Result {
    Err(Fault::HangUp)
}

pub(super) async fn close_in_headers(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    close_after(exchange, HALF_HEAD).await
}

pub(super) async fn close_in_body(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    close_after(exchange, &[HEAD, &[b'x'; 100]].concat()).await
}

pub(super) async fn close_in_chunk(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabcd";
    close_after(exchange, data).await
}

pub(super) async fn close_after_keep_alive(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nok\n";
    close_after(exchange, data).await
}

pub(super) async fn never_answers(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.conn.discard(usize::MAX).await?;
    Err(Fault::HangUp)
}

pub(super) async fn early_response(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data =
        b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nno!\n";
    close_after(exchange, data).await
}

pub(super) async fn extra_bytes(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n\
                 HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nextra\n";
    exchange.raw(data).await
}

pub(super) fn redirect_loop(call: &Call<'_>, response: &mut Response) {
    response.redirect(302, call.head.path);
}

pub(super) fn redirect_away(_: &Call<'_>, response: &mut Response) {
    response.redirect(302, "http://elsewhere.invalid/");
}
