//! Heads that are slow, endless or wrong.

use std::time::Duration;

use crate::exchange::{Exchange, Fault};
use crate::random::Random;
use crate::routes::call::Call;
use crate::routes::delay::valid_ms;

type Result = std::result::Result<(), Fault>;

/// How slowly a slow response comes: so many bytes, so long apart.
pub(super) fn pace(call: &Call<'_>) -> std::result::Result<(usize, Duration), String> {
    let bytes = call.query_as("bytes", 50)?;
    let ms = call.query_as("ms", 100.0)?;
    if bytes > 1_000_000 || !valid_ms(ms) {
        return Err("bytes is at most 1000000, ms at most 3600000".to_owned());
    }
    Ok((bytes, Duration::from_secs_f64(ms / 1e3)))
}

pub(super) async fn slow(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let (bytes, pause) = pace(call)?;
    let start = "HTTP/1.1 200 OK\r\nX-Slow: ";
    let filler = "s".repeat(bytes.saturating_sub(start.len()));
    for byte in format!("{start}{filler}").bytes().take(bytes) {
        exchange.raw(&[byte]).await?;
        exchange.sleep(pause).await?;
    }
    let rest = start.get(bytes..).unwrap_or_default();
    exchange.raw(format!("{rest}\r\nContent-Length: 5\r\n\r\nslow\n").as_bytes()).await
}

/// Sends `start`, then `more` again and again until the client has gone.
pub(super) async fn flood(exchange: &mut Exchange<'_>, start: &[u8], more: &[u8]) -> Result {
    exchange.raw(start).await?;
    let block = more.repeat((16 * 1024 / more.len()).max(1));
    loop {
        exchange.raw(&block).await?;
    }
}

pub(super) async fn endless_fields(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    flood(exchange, b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n").await
}

pub(super) async fn endless_line(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    flood(exchange, b"HTTP/1.1 200 OK\r\nX-Long: ", b"long").await
}

pub(super) async fn endless_interim(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    flood(exchange, b"", b"HTTP/1.1 102 Processing\r\n\r\n").await
}

/// Sends a whole wrong response and keeps the connection open, so that it is the client who has to
/// see that it is wrong.
async fn wrong(exchange: &mut Exchange<'_>, data: &[u8]) -> Result {
    exchange.raw(data).await
}

pub(super) async fn bad_status_line(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    wrong(exchange, b"HTTP/1.1 abc OK\r\nContent-Length: 3\r\n\r\nok\n").await
}

pub(super) async fn invalid_bytes(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let random = Random::new(1);
    let garbage: Vec<u8> = (0..128).flat_map(|_| random.bits().to_le_bytes()).collect();
    wrong(exchange, &garbage).await?;
    Err(Fault::HangUp)
}

pub(super) async fn nul_in_field(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    wrong(exchange, b"HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 3\r\n\r\nok\n").await
}

pub(super) async fn no_colon(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    wrong(exchange, b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 3\r\n\r\nok\n").await
}

pub(super) async fn two_lengths(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nfive\n\n";
    wrong(exchange, data).await
}

pub(super) async fn length_and_chunked(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nTransfer-Encoding: chunked\r\n\r\n\
                 3\r\nok\n\r\n0\r\n\r\n";
    wrong(exchange, data).await
}

pub(super) async fn negative_length(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    wrong(exchange, b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nfive\n").await
}

pub(super) async fn overflow_length(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let data = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nfive\n";
    wrong(exchange, data).await
}
