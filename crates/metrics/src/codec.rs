//! Encodes numbers as LEB128 varints (seven bits a byte, the lowest first), and texts with their length: the form of slices
//! on disk and of records on a network.

use std::fmt;

/// Version of the encoding of slices. A new kind of section needs no new one.
pub(crate) const VERSION: u64 = 4;

/// Why bytes cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError(pub &'static str);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DecodeError {}

const TRUNCATED: DecodeError = DecodeError("the data is truncated");

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number. Most are below 128, and one byte; nearly all others, two.
///
/// # Errors
/// The bytes end within it, or it is longer than 64 bits.
#[inline(always)]
pub fn get(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    match *bytes {
        [byte, rest @ ..] if *byte < 0x80 => {
            *bytes = rest;
            Ok(u64::from(*byte))
        }
        [low, high, rest @ ..] if *high < 0x80 => {
            *bytes = rest;
            Ok(u64::from(low & 0x7f) | u64::from(*high) << 7)
        }
        _ => get_long(bytes),
    }
}

#[cold]
fn get_long(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(TRUNCATED)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(DecodeError("a number is longer than 64 bits"))
}

/// Appends a number that may be negative: 0, -1, 1, -2 are 0, 1, 2, 3.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// Takes a number that may be negative.
pub(crate) fn get_signed(bytes: &mut &[u8]) -> Result<i64, DecodeError> {
    let number = get(bytes)?;
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Takes `N` bytes.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], DecodeError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(TRUNCATED)?;
    *bytes = rest;
    Ok(*taken)
}

/// Appends bytes with their length before them.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes what [`put_bytes`] or [`put_block`] appended.
///
/// # Errors
/// The bytes end within it.
pub fn get_bytes<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], DecodeError> {
    let length = usize::try_from(get(bytes)?).map_err(|_| TRUNCATED)?;
    let (own, rest) = bytes.split_at_checked(length).ok_or(TRUNCATED)?;
    *bytes = rest;
    Ok(own)
}

/// Appends a text with its length before it.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Takes what [`put_text`] appended.
///
/// # Errors
/// The bytes end within it, or it is not UTF-8.
pub fn get_text(bytes: &mut &[u8]) -> Result<String, DecodeError> {
    let text = get_bytes(bytes)?.to_vec();
    String::from_utf8(text).map_err(|_| DecodeError("a text is not UTF-8"))
}

/// Takes a number of 32 bits.
///
/// # Errors
/// The bytes end within it, or it is larger.
pub fn get_u32(bytes: &mut &[u8]) -> Result<u32, DecodeError> {
    u32::try_from(get(bytes)?).map_err(|_| DecodeError("a number is out of range"))
}

/// Appends what `write` appends, with its length before it. Its end is the end of what is read from it: a later version may
/// add more to it.
pub(crate) fn put_block(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let mut length = Vec::with_capacity(4);
    put(&mut length, (out.len() - start) as u64);
    out.splice(start..start, length);
}
