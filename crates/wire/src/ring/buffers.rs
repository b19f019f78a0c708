//! Buffers that the kernel fills with what arrives on any socket of a ring (io_uring's provided buffer
//! rings, io_uring_register_buf_ring(3)): a connection that waits owns none.

use std::alloc::{self, Layout};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// How many; a power of two. Each use touches the next of them, so all of them are resident soon; a worker takes
/// what has arrived long before so many connections have something.
const COUNT: u16 = 256;
/// Bytes of each. Most responses fit into one, and each touches a page of its own.
const SIZE: usize = 4096;
/// The group by which requests name them: a ring has no other.
pub(super) const GROUP: u16 = 0;

/// Some buffers, of which each belongs to the kernel or to this program.
pub(super) struct Buffers {
    /// What is given to the kernel: `COUNT` entries, and their end in the first one's spare field.
    entries: NonNull<BufRingEntry>,
    /// `COUNT` times `SIZE` bytes.
    bytes: NonNull<u8>,
    tail: u16,
}

fn layouts() -> (Layout, Layout) {
    let page = rustix::param::page_size();
    let entries = Layout::array::<BufRingEntry>(usize::from(COUNT));
    let bytes = Layout::from_size_align(usize::from(COUNT) * SIZE, page);
    match (entries.and_then(|layout| layout.align_to(page)), bytes) {
        (Ok(entries), Ok(bytes)) => (entries, bytes),
        // Sizes are constants far below `isize::MAX`, and pages are powers of two.
        _ => unreachable!("constant layouts"),
    }
}

impl Buffers {
    /// Gives all to the kernel. They must not be dropped before it has let go of them.
    pub(super) fn new(ring: &IoUring) -> io::Result<Buffers> {
        let (entries, bytes) = layouts();
        // The bytes are zero for `filled`: the kernel says how many it has written, so nothing relies
        // on that for memory to be initialised. Pages that are never used stay untouched.
        // SAFETY: neither layout is of size zero.
        let (entries, bytes) =
            unsafe { (alloc::alloc_zeroed(entries), alloc::alloc_zeroed(bytes)) };
        let (Some(entries), Some(bytes)) = (NonNull::new(entries.cast()), NonNull::new(bytes))
        else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let mut buffers = Buffers { entries, bytes, tail: 0 };
        // SAFETY: the address is that of `COUNT` entries, which live until `buffers` is dropped; the
        // caller sees to it that the kernel is done with them by then.
        unsafe {
            let address = entries.as_ptr().addr() as u64;
            ring.submitter().register_buf_ring_with_flags(address, COUNT, GROUP, 0)?;
        }
        (0..COUNT).for_each(|id| buffers.give(id));
        Ok(buffers)
    }

    /// What the kernel has put into a buffer: its first `length` bytes.
    ///
    /// # Safety
    /// The kernel has said, in a completion, that it has filled the buffer with so many bytes, and the
    /// buffer has not been given back since.
    pub(super) unsafe fn filled(&self, id: u16, length: usize) -> &[u8] {
        let from = usize::from(id % COUNT) * SIZE;
        // SAFETY: the range lies within the bytes, which were zeroed, and the kernel, which has filled
        // it, does not touch it until it is given back, for which `self` would have to be borrowed for
        // writing.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(from), length.min(SIZE)) }
    }

    /// Gives a buffer back to the kernel.
    pub(super) fn give(&mut self, id: u16) {
        let id = id % COUNT;
        let at = usize::from(self.tail % COUNT);
        // SAFETY: the entry and the buffer lie within what was allocated. The kernel reads an entry
        // only once the tail, which is written after it (release), has gone beyond it. The tail lies
        // in the first entry, is aligned, and written by nobody else.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(at);
            entry.set_addr(self.bytes.as_ptr().add(usize::from(id) * SIZE).addr() as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let (entries, bytes) = layouts();
        // SAFETY: allocated in `new` with these layouts, and dropped once.
        unsafe {
            alloc::dealloc(self.entries.as_ptr().cast(), entries);
            alloc::dealloc(self.bytes.as_ptr(), bytes);
        }
    }
}
