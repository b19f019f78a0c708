//! Buffers that the kernel fills with what arrives on any socket of a ring (io_uring's provided buffer
//! rings, io_uring_register_buf_ring(3)): a connection that waits owns none.

use std::alloc::{self, Layout};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The group by which requests name them: a ring has no other.
pub(super) const GROUP: u16 = 0;

/// How many buffers there are, and how large.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Most of them; a power of two.
    pub most: u16,
    /// How many are allocated at a time: as many as a worker starts with, and more when they were all in use. A part of `most`.
    pub block: u16,
    /// Bytes of each, of which some are the kernel's own head and stamp.
    pub size: u16,
}

impl Sizes {
    /// Those of a worker. Most responses fit into one buffer, and each touches a page of its own.
    pub(super) const WORKER: Sizes = Sizes { most: 1024, block: 128, size: 4096 };

    /// Of the entries, and of a block.
    fn layouts(self) -> (Layout, Layout) {
        let page = rustix::param::page_size();
        let entries = Layout::array::<BufRingEntry>(usize::from(self.most));
        let block = Layout::from_size_align(usize::from(self.block) * usize::from(self.size), page);
        match (entries.and_then(|layout| layout.align_to(page)), block) {
            (Ok(entries), Ok(block)) => (entries, block),
            // Sizes are of 16 bits, their products far below `isize::MAX`, and pages are powers of two.
            _ => unreachable!("small layouts"),
        }
    }
}

/// Some buffers, of which each belongs to the kernel or to this program.
pub(super) struct Buffers {
    sizes: Sizes,
    /// What is given to the kernel: `most` entries, and their end in the first one's spare field.
    entries: NonNull<BufRingEntry>,
    /// Each of `block` times `size` bytes.
    blocks: Vec<NonNull<u8>>,
    tail: u16,
}

impl Buffers {
    /// Gives a first block to the kernel. They must not be dropped before it has let go of them.
    pub(super) fn new(ring: &IoUring, sizes: Sizes) -> io::Result<Buffers> {
        let (entries, _) = sizes.layouts();
        // SAFETY: the layout is not of size zero.
        let entries = NonNull::new(unsafe { alloc::alloc_zeroed(entries) }.cast())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let mut buffers = Buffers { sizes, entries, blocks: Vec::new(), tail: 0 };
        // SAFETY: the address is that of `most` entries, which live until `buffers` is dropped; the
        // caller sees to it that the kernel is done with them by then.
        unsafe {
            let address = entries.as_ptr().addr() as u64;
            ring.submitter().register_buf_ring_with_flags(address, sizes.most, GROUP, 0)?;
        }
        match buffers.grow() {
            true => Ok(buffers),
            false => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }

    /// Gives another block to the kernel; `false`: there are as many as there may be, or there is no memory.
    pub(super) fn grow(&mut self) -> bool {
        let Sizes { most, block: count, .. } = self.sizes;
        let first = self.blocks.len() as u16 * count;
        if first >= most {
            return false;
        }
        // The bytes are zero for `filled`: the kernel says how many it has written, so nothing relies
        // on that for memory to be initialised.
        // SAFETY: the layout is not of size zero.
        let Some(block) = NonNull::new(unsafe { alloc::alloc_zeroed(self.sizes.layouts().1) })
        else {
            return false;
        };
        self.blocks.push(block);
        (first..first + count).for_each(|id| self.give(id));
        true
    }

    /// Half as many as there may be.
    pub(super) fn half(&self) -> usize {
        usize::from(self.sizes.most / 2)
    }

    /// Where a buffer begins.
    fn at(&self, id: u16) -> *mut u8 {
        let Sizes { block: count, size, .. } = self.sizes;
        let block = self.blocks[usize::from(id / count)];
        // SAFETY: the block has `count` buffers of `size` bytes.
        unsafe { block.as_ptr().add(usize::from(id % count) * usize::from(size)) }
    }

    /// What the kernel has put into a buffer: its first `length` bytes.
    ///
    /// # Safety
    /// The kernel has said, in a completion, that it has filled the buffer with so many bytes, and the
    /// buffer has not been given back since.
    pub(super) unsafe fn filled(&self, id: u16, length: usize) -> &[u8] {
        // SAFETY: the range lies within a block, which was zeroed, and the kernel, which has filled it, does
        // not touch it until it is given back, for which `self` would have to be borrowed for writing.
        unsafe { std::slice::from_raw_parts(self.at(id), length.min(usize::from(self.sizes.size))) }
    }

    /// Gives a buffer back to the kernel.
    pub(super) fn give(&mut self, id: u16) {
        let at = usize::from(self.tail % self.sizes.most);
        let address = self.at(id).addr() as u64;
        // SAFETY: the entry lies within what was allocated, and so does the buffer. The kernel reads an entry
        // only once the tail, which is written after it (release), has gone beyond it. The tail lies
        // in the first entry, is aligned, and written by nobody else.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(at);
            entry.set_addr(address);
            entry.set_len(u32::from(self.sizes.size));
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let (entries, block) = self.sizes.layouts();
        // SAFETY: allocated with these layouts, and dropped once.
        unsafe {
            alloc::dealloc(self.entries.as_ptr().cast(), entries);
            self.blocks.iter().for_each(|own| alloc::dealloc(own.as_ptr(), block));
        }
    }
}
