//! What the two bare loops share: their arguments, the least of an HTTP/1.1 response parser, and a
//! histogram. Touches nothing outside the process.
//!
//! They are a yardstick, not a client: a response must have a `Content-Length`, the target must keep
//! connections open, and anything else ends the program with a message.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// What to load, from the command line: `ADDRESS PATH CONNECTIONS SECONDS`.
pub struct Options {
    /// Address and port of the target.
    pub address: SocketAddr,
    /// Connections, each with one request in flight.
    pub connections: usize,
    /// For how long requests are sent.
    pub length: Duration,
    /// The request, as it is sent.
    pub request: Vec<u8>,
}

impl Options {
    /// Reads the arguments of this process.
    ///
    /// # Errors
    ///
    /// If one is missing or cannot be read.
    pub fn from_args() -> Result<Options, String> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let [address, path, connections, seconds] = args.as_slice() else {
            return Err("usage: floor-ring|floor-tokio ADDRESS PATH CONNECTIONS SECONDS".to_owned());
        };
        let wrong = |what: &str, text: &str| format!("invalid {what} `{text}`");
        let connections =
            connections.parse().map_err(|_| wrong("number of connections", connections))?;
        let seconds = seconds.parse().map_err(|_| wrong("number of seconds", seconds))?;
        Ok(Options {
            address: address.parse().map_err(|_| wrong("address", address))?,
            connections,
            length: Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?,
            request: format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
        })
    }
}

/// Where a connection is in its response.
#[derive(Default)]
pub struct Response {
    /// Bytes of the body that have not been received.
    missing: usize,
    /// The beginning of a head that did not come in one piece; mostly empty.
    head: Vec<u8>,
}

impl Response {
    /// Takes bytes that were received; true when they end the response.
    ///
    /// # Errors
    ///
    /// If they are no response of status 200 with a `Content-Length`, or go on after its end.
    #[inline]
    pub fn receive(&mut self, bytes: &[u8]) -> Result<bool, String> {
        if self.missing == 0 {
            return self.begin(bytes);
        }
        self.missing = self.missing.checked_sub(bytes.len()).ok_or("bytes after the response")?;
        Ok(self.missing == 0)
    }

    #[inline]
    fn begin(&mut self, bytes: &[u8]) -> Result<bool, String> {
        let received = if self.head.is_empty() {
            bytes
        } else {
            self.head.extend_from_slice(bytes);
            &self.head
        };
        let Some(length) = message_length(received)? else {
            if self.head.is_empty() {
                self.head.extend_from_slice(bytes);
            }
            return Ok(false);
        };
        self.missing = length.checked_sub(received.len()).ok_or("bytes after the response")?;
        self.head.clear();
        Ok(self.missing == 0)
    }
}

/// Bytes of a response, head and body; `None`: the head is not complete.
#[inline]
fn message_length(bytes: &[u8]) -> Result<Option<usize>, String> {
    if bytes.len() < 12 {
        return Ok(None);
    }
    if !bytes.starts_with(b"HTTP/1.1 200") {
        return Err(format!("not `HTTP/1.1 200`: {}", String::from_utf8_lossy(&bytes[..12])));
    }
    let mut body = None;
    let mut at = 0;
    while let Some(end) = bytes[at..].iter().position(|&byte| byte == b'\n') {
        let line = &bytes[at..at + end];
        at += end + 1;
        if line == b"\r" {
            return body.map(|body| Some(at + body)).ok_or_else(|| "no Content-Length".to_owned());
        }
        // Names of other lengths cannot be it: most lines end with this look.
        if line.get(14) == Some(&b':') && line[..14].eq_ignore_ascii_case(b"content-length") {
            let digits = line[15..].trim_ascii();
            let text = std::str::from_utf8(digits).map_err(|error| error.to_string())?;
            body = Some(text.parse::<usize>().map_err(|error| error.to_string())?);
        }
    }
    Ok(None)
}

/// Counts of latencies: 32 buckets for each power of two of nanoseconds, so that they are known to 3 %.
pub struct Histogram {
    counts: Box<[u64; 64 * 32]>,
    total: u64,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Histogram {
        Histogram { counts: Box::new([0; 64 * 32]), total: 0 }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX).max(32);
        // At least 5. The five bits below the highest are the bucket.
        let power = nanos.ilog2();
        let bucket = (nanos >> (power - 5)) & 31;
        self.counts[power as usize * 32 + bucket as usize] += 1;
        self.total += 1;
    }

    /// The lower edge of the bucket with this quantile, in µs; 0 if nothing was recorded.
    pub fn quantile_us(&self, share: f64) -> f64 {
        let rank = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank && *count > 0 {
                let (power, bucket) = (index / 32, index % 32);
                return ((32 + bucket) as f64) * 2f64.powi(power as i32 - 5) / 1e3;
            }
        }
        0.0
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// Prints what a loop has done, as one line of JSON.
pub fn print(histogram: &Histogram, begin: Instant) {
    println!(
        r#"{{"requests": {}, "seconds": {:.3}, "p50_us": {:.1}, "p99_us": {:.1}}}"#,
        histogram.total,
        begin.elapsed().as_secs_f64(),
        histogram.quantile_us(0.5),
        histogram.quantile_us(0.99),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_in_any_pieces_ends_once() {
        let message = b"HTTP/1.1 200 OK\r\nServer: x\r\nCONTENT-length: 5\r\n\r\nhello";
        for size in 1..=message.len() {
            let mut response = Response::default();
            for _ in 0..2 {
                let ends: Vec<bool> =
                    message.chunks(size).map(|piece| response.receive(piece).unwrap()).collect();
                assert_eq!(
                    ends.iter().position(|end| *end),
                    Some(ends.len() - 1),
                    "pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_plain_response_is_an_error() {
        for message in [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        ] {
            assert!(Response::default().receive(message.as_bytes()).is_err(), "{message}");
        }
    }

    #[test]
    fn quantiles_are_known_to_3_percent() {
        let mut histogram = Histogram::new();
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        for (share, truth) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = histogram.quantile_us(share);
            assert!((truth * 0.96..=truth).contains(&found), "{share}: {found}");
        }
    }
}
