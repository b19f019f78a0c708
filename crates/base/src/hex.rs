//! Hexadecimal digits.

use std::fmt;

/// Displays bytes as small hexadecimal digits, two each.
#[derive(Debug, Clone, Copy)]
pub struct Hex<'b>(pub &'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Bytes as small hexadecimal digits, two each.
pub fn hex(bytes: &[u8]) -> String {
    Hex(bytes).to_string()
}

/// Bytes that are written as hexadecimal digits, two each; `None`: the text is something else.
pub fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    };
    text.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_a_byte() {
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
        assert_eq!(hex(&[]), "");
        assert_eq!(unhex(b"00fF10"), Some(vec![0, 255, 16]));
        assert_eq!(unhex(b""), Some(Vec::new()));
        for bad in ["0", "000", "0g", "+1", "0 "] {
            assert_eq!(unhex(bad.as_bytes()), None, "{bad}");
        }
    }
}
