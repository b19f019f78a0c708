//! Bodies that are longer, shorter, larger or other than they should be.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::head::{flood, pace};
use crate::exchange::{Exchange, Fault};
use crate::http::response::{Framing, Response};
use crate::http::text::size;
use crate::routes::call::Call;

type Result = std::result::Result<(), Fault>;

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

pub(super) async fn length_short(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n0123456789").await
}

pub(super) async fn length_long(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234").await?;
    Err(Fault::HangUp)
}

pub(super) async fn bad_chunk_size(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.raw(&[CHUNKED, b"3\r\nok\n\r\nxyz\r\nabc\r\n0\r\n\r\n"].concat()).await
}

pub(super) async fn huge_chunk_size(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.raw(&[CHUNKED, b"ffffffffffffffffff\r\nabc\r\n0\r\n\r\n"].concat()).await
}

pub(super) async fn no_chunk_crlf(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    exchange.raw(&[CHUNKED, b"3\r\nok\n3\r\nok\n0\r\n\r\n"].concat()).await
}

pub(super) async fn endless_trailers(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let start = [CHUNKED, b"3\r\nok\n\r\n0\r\n"].concat();
    flood(exchange, &start, b"X-More: and more\r\n").await
}

pub(super) async fn endless(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    flood(exchange, CHUNKED, b"20\r\nthis is the song that never ends\r\n").await
}

pub(super) async fn slow(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let (bytes, pause) = pace(call)?;
    let mut response = Response::new(200);
    response.field("Content-Type", "text/plain");
    exchange.start(&response, Framing::Length(bytes as u64)).await?;
    for _ in 0..bytes {
        exchange.flush().await?;
        exchange.sleep(pause).await?;
        exchange.write(b"s").await?;
    }
    exchange.finish("").await
}

/// Zero bytes that one segment of the bomb unpacks to.
const SEGMENT: u64 = 1 << 20;

/// Most zero bytes of a bomb.
const BOMB_LIMIT: u64 = 1_000_000 << 30;

/// A MiB of zeros in whole deflate blocks that refer to nothing before them, so that they can be
/// repeated, and its checksum.
static ZEROS: LazyLock<(Vec<u8>, Crc)> = LazyLock::new(|| {
    let zeros = vec![0; SEGMENT as usize];
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to a vector does not fail.
    let _ = encoder.write_all(&zeros);
    let _ = encoder.flush();
    let mut crc = Crc::new();
    crc.update(&zeros);
    (encoder.get_ref().clone(), crc)
});

pub(super) async fn gzip_bomb(call: &Call<'_>, exchange: &mut Exchange<'_>) -> Result {
    let total = size(&call.query("size").unwrap_or("16g".into()));
    let total = total
        .filter(|total| *total <= BOMB_LIMIT)
        .ok_or_else(|| "size must be a number of bytes up to 1000000g, as in 16g".to_owned())?;
    let mut response = Response::new(200);
    let segments = total.div_ceil(SEGMENT);
    response.field("Content-Type", "text/plain");
    response.field("Content-Encoding", "gzip");
    exchange.start(&response, Framing::Chunked).await?;
    // Magic number, deflate, no flags, no time, no system (RFC 1952, 2.3).
    exchange.write(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]).await?;
    for _ in 0..segments {
        exchange.write(&ZEROS.0).await?;
    }
    // An empty last block; then checksum and size of what was packed.
    exchange.write(&[3, 0]).await?;
    exchange.write(&checksum(&ZEROS.1, segments).to_le_bytes()).await?;
    exchange.write(&((segments * SEGMENT) as u32).to_le_bytes()).await?;
    exchange.finish("").await
}

/// The checksum of `count` segments, by doubling.
fn checksum(segment: &Crc, mut count: u64) -> u32 {
    let mut sum = Crc::new();
    let mut power = Crc::new();
    power.combine(segment);
    while count > 0 {
        if count & 1 == 1 {
            sum.combine(&power);
        }
        let mut same = Crc::new();
        same.combine(&power);
        power.combine(&same);
        count >>= 1;
    }
    sum.sum()
}

pub(super) fn bad_gzip(_: &Call<'_>, response: &mut Response) {
    response.field("Content-Encoding", "gzip");
    response.text(format_args!("this is not gzip\n"));
}

pub(super) fn truncated_gzip(_: &Call<'_>, response: &mut Response) {
    response.field("Content-Encoding", "gzip");
    response.field("Content-Type", "text/plain");
    response.body.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    let half = &ZEROS.0[..ZEROS.0.len() / 2];
    response.body.extend_from_slice(half);
}
