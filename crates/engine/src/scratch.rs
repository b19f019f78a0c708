//! Buffers that a worker's requests borrow: what a request renders needs memory for as long as it is
//! in flight, and the next one uses the same.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Larger buffers go back to the system.
const KEPT_BYTES: usize = 64 << 10;
/// So many are kept.
const KEPT: usize = 1_024;

/// Empty buffers of a worker.
#[derive(Default)]
pub(crate) struct Buffers(RefCell<Vec<Vec<u8>>>);

impl Buffers {
    /// An empty buffer; it goes back when it is dropped.
    pub(crate) fn take(&self) -> Buffer<'_> {
        let bytes = self.0.borrow_mut().pop().unwrap_or_default();
        Buffer { bytes, home: self }
    }
}

/// A buffer that was borrowed.
pub(crate) struct Buffer<'b> {
    bytes: Vec<u8>,
    home: &'b Buffers,
}

impl Deref for Buffer<'_> {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        let mut kept = self.home.0.borrow_mut();
        if (1..=KEPT_BYTES).contains(&self.bytes.capacity()) && kept.len() < KEPT {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            kept.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_unless_it_is_large() {
        let buffers = Buffers::default();
        let at = {
            let mut buffer = buffers.take();
            buffer.extend_from_slice(b"hello");
            buffer.as_ptr()
        };
        let again = buffers.take();
        assert!(again.is_empty());
        assert_eq!(again.as_ptr(), at);
        buffers.take().reserve(KEPT_BYTES + 1);
        assert_eq!(buffers.0.borrow().len(), 0);
    }
}
