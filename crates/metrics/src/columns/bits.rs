//! Numbers of a few bits each, one after the other, the lowest bit first.

use crate::codec::DecodeError;

/// Writes them.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    /// What does not fill a byte yet.
    open: u64,
    /// How many bits that is.
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest bits of a number, at most 32.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, number: u64, bits: u32) {
        self.open |= (number & ((1 << bits) - 1)) << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            out.push(self.open as u8);
            self.open >>= 8;
            self.bits -= 8;
        }
    }

    /// Appends what is left, in a byte of its own.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        if self.bits > 0 {
            out.push(self.open as u8);
        }
    }
}

/// Reads them.
#[derive(Debug)]
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    open: u64,
    bits: u32,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> BitReader<'b> {
        BitReader { bytes, open: 0, bits: 0 }
    }

    /// Takes a number of so many bits, at most 32.
    #[inline(always)]
    pub(super) fn get(&mut self, bits: u32) -> Result<u64, DecodeError> {
        if self.bits < bits {
            self.fill(bits)?;
        }
        let number = self.open & ((1 << bits) - 1);
        self.open >>= bits;
        self.bits -= bits;
        Ok(number)
    }

    /// Takes bytes until there are so many bits: four at a time where there are.
    fn fill(&mut self, bits: u32) -> Result<(), DecodeError> {
        if let Some((four, rest)) = self.bytes.split_first_chunk() {
            self.open |= u64::from(u32::from_le_bytes(*four)) << self.bits;
            (self.bytes, self.bits) = (rest, self.bits + 32);
            return Ok(());
        }
        while self.bits < bits {
            let (byte, rest) =
                self.bytes.split_first().ok_or(DecodeError("the data is truncated"))?;
            self.open |= u64::from(*byte) << self.bits;
            (self.bytes, self.bits) = (rest, self.bits + 8);
        }
        Ok(())
    }
}
