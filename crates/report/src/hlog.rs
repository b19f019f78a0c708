//! HdrHistogram's interval log, version 1.3 (HistogramLogProcessor and others read it): a line an
//! interval, with a compressed V2 encoding of its histogram. Values are µs.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use squall_metrics::{HIGHEST, Histogram};

const V2_COOKIE: i32 = 0x1c84_9303 | 0x10;
const V2_COMPRESSED_COOKIE: i32 = 0x1c84_9304 | 0x10;

/// The lines before the first interval. `started` is in seconds since 1970.
pub fn header(started: f64) -> String {
    format!(
        "#[Histogram log format version 1.3]\n#[StartTime: {started:.3} (seconds since epoch)]\n\
         #[Values are latencies in microseconds; MaxValueDivisor: 1000.0]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    )
}

/// Appends the line of an interval of a row, which these parts identify; times in seconds, `start` since the start of the log.
pub fn line(row: &[&str], start: f64, length: f64, histogram: &Histogram, out: &mut String) {
    let tag = row.iter().map(|part| tag_part(part)).collect::<Vec<_>>().join("/");
    let max = histogram.max() as f64 / 1_000.0;
    // Writing to a String cannot fail.
    let _ = write!(out, "Tag={tag},{start:.3},{length:.3},{max:.3},");
    STANDARD.encode_string(compressed(histogram), out);
    out.push('\n');
}

/// A part of a tag, percent-encoded where the tag would end (at a comma or white space) or the part would (at a slash): different
/// rows have different tags.
fn tag_part(part: &str) -> String {
    let mut out = Vec::with_capacity(part.len());
    for c in part.chars() {
        let mut bytes = [0; 4];
        let bytes = c.encode_utf8(&mut bytes).as_bytes();
        match matches!(c, ',' | '/' | '%') || c.is_whitespace() || c.is_control() {
            true => bytes.iter().for_each(|byte| squall_base::form::percent(*byte, &mut out)),
            false => out.extend_from_slice(bytes),
        }
    }
    // Only whole characters were put in.
    String::from_utf8(out).unwrap_or_default()
}

/// The compressed V2 encoding. Most histograms of a second are a few hundred bytes: to leave them
/// stored costs less than to make them smaller.
fn compressed(histogram: &Histogram) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![0; 8], Compression::none());
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(&encoded(histogram));
    let mut bytes = encoder.finish().unwrap_or_default();
    let length = bytes.len().saturating_sub(8) as i32;
    if let Some(head) = bytes.first_chunk_mut::<8>() {
        head[..4].copy_from_slice(&V2_COMPRESSED_COOKIE.to_be_bytes());
        head[4..].copy_from_slice(&length.to_be_bytes());
    }
    bytes
}

/// The V2 encoding: a head of 40 bytes, then counts as ZigZag LEB128, runs of zeros as their negative
/// length.
fn encoded(histogram: &Histogram) -> Vec<u8> {
    let mut counts = Vec::new();
    let mut next = 0;
    for (index, count) in histogram.touched() {
        if index > next {
            zigzag(&mut counts, -((index - next) as i64));
        }
        zigzag(&mut counts, i64::try_from(count).unwrap_or(i64::MAX));
        next = index + 1;
    }
    let mut bytes = Vec::with_capacity(40 + counts.len());
    bytes.extend_from_slice(&V2_COOKIE.to_be_bytes());
    bytes.extend_from_slice(&(counts.len() as i32).to_be_bytes());
    bytes.extend_from_slice(&0i32.to_be_bytes()); // normalizing index offset
    bytes.extend_from_slice(&3i32.to_be_bytes()); // significant digits
    bytes.extend_from_slice(&1i64.to_be_bytes()); // lowest value
    bytes.extend_from_slice(&(HIGHEST as i64).to_be_bytes());
    bytes.extend_from_slice(&1f64.to_be_bytes()); // conversion ratio
    bytes.extend_from_slice(&counts);
    bytes
}

/// HdrHistogram's variant of LEB128: nine bytes at the most, the ninth a whole one.
fn zigzag(out: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            out.push(rest as u8);
            return;
        }
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use proptest::prelude::*;

    #[test]
    fn different_rows_have_different_tags() {
        let tag = |row: &[&str]| {
            let mut text = String::new();
            line(row, 0.0, 1.0, &Histogram::new(), &mut text);
            text.split(',').next().unwrap_or_default().to_owned()
        };
        assert_eq!(tag(&["request", "s", "G", "x"]), "Tag=request/s/G/x");
        let rows: [&[&str]; 8] = [
            &["s", "G", "x"],
            &["s", "G/x"],
            &["s/G", "x"],
            &["s", "G%2Fx"],
            &["s", "a b"],
            &["s", "a_b"],
            &["s", "a,b"],
            &["s", "a\u{a0}b"],
        ];
        let tags: std::collections::HashSet<String> = rows.iter().map(|row| tag(row)).collect();
        assert_eq!(tags.len(), rows.len(), "{tags:?}");
    }

    proptest! {
        /// Another implementation reads what is written.
        #[test]
        fn hdrhistogram_reads_it(values in prop::collection::vec(prop_oneof![1u64..3_000, 1u64..HIGHEST], 1..200)) {
            let mut ours = Histogram::new();
            values.iter().for_each(|value| ours.record_n(*value, *value % 70_000 + 1));
            let mut text = header(1_700_000_000.0);
            line(&["request", "GET /a b,c"], 3.0, 1.0, &ours, &mut text);
            let entries: Vec<_> = IntervalLogIterator::new(text.as_bytes()).filter_map(Result::ok).collect();
            let interval = entries.iter().find_map(|entry| match entry {
                LogEntry::Interval(interval) => Some(interval),
                _ => None,
            });
            let interval = interval.expect("an interval");
            let tag = interval.tag().map(|tag| tag.as_str().to_owned());
            prop_assert_eq!(tag.as_deref(), Some("request/GET%20%2Fa%20b%2Cc"));
            let bytes = STANDARD.decode(interval.encoded_histogram()).expect("base64");
            let theirs: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a V2 histogram");
            prop_assert_eq!(theirs.len(), ours.count());
            for p in [1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
                prop_assert_eq!(theirs.value_at_percentile(p).min(ours.max()), ours.percentile(p));
            }
        }
    }
}
