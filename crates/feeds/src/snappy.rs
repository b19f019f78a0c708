//! Snappy's block format, which remote write is in: the length, then literals, and copies of what came at most 64 KiB
//! before. Pure.

use crate::protobuf::varint;

/// Copies are found by a table of where four bytes last stood, with so many bits.
const TABLE_BITS: u32 = 14;
/// The farthest that a copy with two bytes of distance reaches.
const REACH: usize = 0xffff;
const LONGEST: usize = 64;

/// Compresses bytes, of which there are less than 4 GiB.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 4 + 16);
    varint(&mut out, bytes.len() as u64);
    // Positions plus one; 0: none.
    let mut table = vec![0usize; 1 << TABLE_BITS];
    let (mut at, mut literal) = (0, 0);
    while let Some(four) = bytes.get(at..at + 4) {
        let word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        // Knuth's multiplicative hash.
        let slot = (word.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_BITS)) as usize;
        let before = std::mem::replace(&mut table[slot], at + 1);
        let same = match before.checked_sub(1) {
            Some(from) if at - from <= REACH => same(bytes, from, at),
            _ => 0,
        };
        if same < 4 {
            at += 1;
            continue;
        }
        put_literal(&mut out, &bytes[literal..at]);
        out.push((same as u8 - 1) << 2 | 2);
        out.extend_from_slice(&((at + 1 - before) as u16).to_le_bytes());
        at += same;
        literal = at;
    }
    put_literal(&mut out, &bytes[literal..]);
    out
}

/// How many bytes are the same at two places, at most the longest copy.
fn same(bytes: &[u8], from: usize, at: usize) -> usize {
    let pairs = bytes[from..].iter().zip(&bytes[at..]).take(LONGEST);
    pairs.take_while(|(one, other)| one == other).count()
}

/// Bytes as they are.
fn put_literal(out: &mut Vec<u8>, bytes: &[u8]) {
    // At most as many as two bytes of length can say.
    for bytes in bytes.chunks(1 << 16) {
        match bytes.len() - 1 {
            length @ 0..60 => out.push((length as u8) << 2),
            length @ 60..256 => out.extend_from_slice(&[60 << 2, length as u8]),
            length => {
                out.push(61 << 2);
                out.extend_from_slice(&(length as u16).to_le_bytes());
            }
        }
        out.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decompress;

    #[test]
    fn what_was_compressed_comes_back() {
        // A generator of bytes without a pattern.
        let noise = |count: usize| -> Vec<u8> {
            let mut state = 1u64;
            let next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            };
            std::iter::repeat_with(next).take(count).collect()
        };
        let far =
            [b"once upon a time".to_vec(), noise(70_000), b"once upon a time".to_vec()].concat();
        for bytes in [
            Vec::new(),
            b"abc".to_vec(),
            vec![7; 100_000],
            noise(60),
            noise(61),
            noise(300),
            noise(200_000),
            far,
            b"squall_requests{name=\"a\"} squall_requests{name=\"b\"}".repeat(50),
        ] {
            assert_eq!(decompress(&compress(&bytes)), bytes);
        }
        assert!(compress(&[7; 100_000]).len() < 6_000);
        assert_eq!(compress(b"abcdabcdabcd"), b"\x0c\x0cabcd\x1e\x04\x00");
    }
}
