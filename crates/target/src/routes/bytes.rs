//! Bodies of any size, both ways, in constant memory; and a compressed one.

use std::io::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA256};

use super::call::Call;
use super::delay::valid_ms;
use crate::exchange::{Exchange, Fault};
use crate::http::response::{Framing, Response};
use crate::http::text::size;
use crate::random::Random;
use squall_base::hex::Hex;

/// What bodies are made of, over and over: bytes that do not compress.
static BLOCK: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let random = Random::new(0);
    (0..BLOCK_SIZE / 8).flat_map(|_| random.bits().to_le_bytes()).collect()
});

const BLOCK_SIZE: usize = 256 * 1024;

/// Size of the chunks of `/bytes/{n}?chunked`.
const CHUNK: usize = 64 * 1024;

/// Most chunks of `/chunked`, and most bytes of each.
const CHUNK_LIMIT: u64 = 1_000_000;
const CHUNK_SIZE_LIMIT: usize = BLOCK_SIZE;

/// What a body starts with, `n` bytes of it; `n` up to [`BLOCK_SIZE`].
fn block(n: usize) -> &'static [u8] {
    &BLOCK[..n.min(BLOCK_SIZE)]
}

pub(super) async fn bytes(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let total = call.param(0).as_deref().and_then(size);
    let total = total
        .ok_or_else(|| "n must be a number of bytes, such as 100, 16k, 5m or 2g".to_owned())?;
    let mut response = Response::new(200);
    response.field("Content-Type", "application/octet-stream");
    let (framing, step) = match call.query("chunked") {
        Some(_) => (Framing::Chunked, CHUNK),
        None => (Framing::Length(total), BLOCK_SIZE),
    };
    exchange.start(&response, framing).await?;
    let mut left = if call.head.method == "HEAD" { 0 } else { total };
    while left > 0 {
        let piece = block(usize::try_from(left).map_or(step, |left| left.min(step)));
        exchange.write(piece).await?;
        left -= piece.len() as u64;
    }
    exchange.finish("").await
}

pub(super) async fn chunked(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let (count, size, delay) = chunk_options(call)?;
    let mut response = Response::new(200);
    response.field("Content-Type", "application/octet-stream");
    response.field("Trailer", "X-Chunks, X-Bytes");
    exchange.start(&response, Framing::Chunked).await?;
    let sent = if call.head.method == "HEAD" { 0 } else { count };
    for n in 0..sent {
        if n > 0 && !delay.is_zero() {
            exchange.flush().await?;
            exchange.sleep(delay).await?;
        }
        exchange.write(block(size)).await?;
    }
    let trailers = format!("X-Chunks: {count}\r\nX-Bytes: {}\r\n", count * size as u64);
    exchange.finish(&trailers).await
}

/// Number, size and distance of the chunks that the query asks for.
fn chunk_options(call: &Call<'_>) -> Result<(u64, usize, Duration), String> {
    let count = call.query_as("n", 5)?;
    let size = call.query_as("size", 100)?;
    let delay = call.query_as("delay", 0.0)?;
    if count > CHUNK_LIMIT || !(1..=CHUNK_SIZE_LIMIT).contains(&size) || !valid_ms(delay) {
        let limits = format!("n must be at most {CHUNK_LIMIT}, size from 1 to {CHUNK_SIZE_LIMIT}");
        return Err(format!("{limits}, delay from 0 to 3600000 ms"));
    }
    Ok((count, size, Duration::from_secs_f64(delay / 1e3)))
}

pub(super) async fn upload(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let mut hash = Context::new(&SHA256);
    let mut count = 0u64;
    exchange
        .read_body(|content| {
            hash.update(content);
            count += content.len() as u64;
            Ok(())
        })
        .await?;
    let mut response = Response::new(200);
    let hash = hash.finish();
    response.json(format_args!(r#"{{"bytes":{count},"sha256":"{}"}}"#, Hex(hash.as_ref())));
    exchange.respond(&response).await
}

/// The JSON that `/gzip` shows, plain and compressed.
static DOCUMENT: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let rows: Vec<_> = (1..=250)
        .map(|n| format!(r#"{{"row":{n},"text":"some text, {} times"}}"#, n * n))
        .collect();
    let plain = format!(r#"{{"gzip":true,"rows":[{}]}}"#, rows.join(",")).into_bytes();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to a vector does not fail.
    let _ = encoder.write_all(&plain);
    (plain, encoder.finish().unwrap_or_default())
});

pub(super) fn gzip(call: &Call<'_>, response: &mut Response) {
    let (plain, compressed) = &*DOCUMENT;
    response.field("Content-Type", "application/json");
    response.field("Vary", "Accept-Encoding");
    if call.head.field("accept-encoding").is_some_and(accepts_gzip) {
        response.field("Content-Encoding", "gzip");
        response.body.extend_from_slice(compressed);
    } else {
        response.body.extend_from_slice(plain);
    }
}

/// Whether an `Accept-Encoding` field allows gzip (RFC 9110, 12.5.3).
fn accepts_gzip(field: &str) -> bool {
    let weight = |name: &str| {
        field.split(',').find_map(|part| {
            let (coding, weight) = part.split_once(';').unwrap_or((part, "q=1"));
            let matches = coding.trim().eq_ignore_ascii_case(name);
            let weight = weight.trim().trim_start_matches(['q', 'Q']).trim_start_matches('=');
            matches.then(|| weight.parse().unwrap_or(0.0))
        })
    };
    weight("gzip").or_else(|| weight("*")).is_some_and(|q: f64| q > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        for (field, expected) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("*", true),
            ("", false),
            ("br", false),
            ("gzip;q=0, *", false),
            ("identity;q=1, *;q=0", false),
        ] {
            assert_eq!(accepts_gzip(field), expected, "{field}");
        }
    }
}
