//! Reads Protocol Buffers and Snappy's blocks, by their descriptions, as receivers do: for the unit tests of what writes them,
//! and for the receivers of the integration tests. It panics on what is wrong.

// Each of the two uses a part.
#![allow(dead_code)]

/// A field as it was read: a number, or the bytes of the other forms.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    Varint(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

impl Read {
    pub fn text(&self) -> String {
        let Read::Bytes(bytes) = self else { panic!("{self:?}") };
        String::from_utf8(bytes.clone()).expect("text")
    }

    pub fn number(&self) -> u64 {
        let (Read::Varint(number) | Read::Fixed(number)) = self else { panic!("{self:?}") };
        *number
    }

    pub fn fields(&self) -> Vec<(u32, Read)> {
        let Read::Bytes(bytes) = self else { panic!("{self:?}") };
        read(bytes)
    }

    pub fn varints(&self) -> Vec<u64> {
        let Read::Bytes(bytes) = self else { panic!("{self:?}") };
        let mut rest = &bytes[..];
        std::iter::from_fn(|| (!rest.is_empty()).then(|| read_varint(&mut rest))).collect()
    }
}

pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

pub fn read_varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().expect("a byte");
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return number;
        }
    }
}

/// The fields of a message.
pub fn read(mut bytes: &[u8]) -> Vec<(u32, Read)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = read_varint(&mut bytes);
        let value = match key & 7 {
            0 => Read::Varint(read_varint(&mut bytes)),
            1 => {
                let (head, rest) = bytes.split_at(8);
                bytes = rest;
                Read::Fixed(u64::from_le_bytes(head.try_into().expect("8 bytes")))
            }
            2 => {
                let length = read_varint(&mut bytes) as usize;
                let (head, rest) = bytes.split_at(length);
                bytes = rest;
                Read::Bytes(head.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.push(((key >> 3) as u32, value));
    }
    fields
}

/// Undoes it, by the description of the format.
pub fn decompress(mut bytes: &[u8]) -> Vec<u8> {
    let length = read_varint(&mut bytes) as usize;
    let mut out = Vec::new();
    let little =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    while let Some((tag, rest)) = bytes.split_first() {
        let high = usize::from(tag >> 2);
        bytes = match (tag & 3, high) {
            (0, 0..60) => literal(&mut out, rest, high + 1),
            (0, _) => {
                let (size, rest) = rest.split_at(high - 59);
                literal(&mut out, rest, little(size) + 1)
            }
            (2, _) => {
                let (distance, rest) = rest.split_at(2);
                for _ in 0..=high {
                    out.push(out[out.len() - little(distance)]);
                }
                rest
            }
            other => panic!("{other:?} is not what is written"),
        };
    }
    assert_eq!(out.len(), length);
    out
}

fn literal<'a>(out: &mut Vec<u8>, bytes: &'a [u8], length: usize) -> &'a [u8] {
    out.extend_from_slice(&bytes[..length]);
    &bytes[length..]
}
