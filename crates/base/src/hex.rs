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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_a_byte() {
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
        assert_eq!(hex(&[]), "");
    }
}
