//! Stacks of users: address space of which only the pages that are touched take memory. They are cut from large mappings,
//! since each mapping counts against the limit of the kernel (`vm.max_map_count`). They have no guard pages: the
//! interpreter checks how deep it is, and leaves room for functions of the host.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use corosensei::stack::{Stack, StackPointer};
use squall_quickjs as js;

/// How much larger frames are than they would be otherwise: with a sanitizer there is something around each variable
/// (`fuzz/sanitize.sh`).
pub(super) const LARGER: usize = if option_env!("SQUALL_SANITIZED").is_some() { 4 } else { 1 };
/// Bytes of a stack: some 350 frames of a script.
pub(super) const SIZE: usize = LARGER * (256 << 10);
/// Bytes at its end that scripts may not use: they are for functions in C and Rust that scripts call, of which the deepest
/// take a third.
pub(super) const RESERVE: usize = LARGER * (32 << 10);
/// Stacks of a mapping.
const OF_A_CHUNK: usize = 64;

/// Where stacks come from, and go back to.
#[derive(Debug, Clone, Default)]
pub(super) struct Stacks(Rc<RefCell<Pool>>);

#[derive(Debug, Default)]
struct Pool {
    chunks: Vec<Chunk>,
    /// The tops of those that are free.
    free: Vec<StackPointer>,
}

/// A mapping that many stacks are cut from.
#[derive(Debug)]
struct Chunk(*mut libc::c_void);

impl Chunk {
    const BYTES: usize = SIZE * OF_A_CHUNK;

    fn new() -> io::Result<Chunk> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of anybody.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), Chunk::BYTES, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Huge pages would fill a stack of which one page is used; without them it works as well.
        // SAFETY: the range is the mapping that was just made.
        unsafe { libc::madvise(start, Chunk::BYTES, libc::MADV_NOHUGEPAGE) };
        Ok(Chunk(start))
    }

    /// The tops of its stacks.
    fn tops(&self) -> impl Iterator<Item = StackPointer> {
        let start = self.0 as usize;
        (1..=OF_A_CHUNK).filter_map(move |number| StackPointer::new(start + number * SIZE))
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the mapping is this chunk's own, and whoever has a stack of it has the pool as well, so that nobody uses
        // it any more.
        unsafe { libc::munmap(self.0, Chunk::BYTES) };
    }
}

impl Stacks {
    /// A stack.
    ///
    /// # Errors
    /// There is no address space for it.
    pub fn take(&self) -> io::Result<OwnStack> {
        let mut pool = self.0.borrow_mut();
        if pool.free.is_empty() {
            let chunk = Chunk::new()?;
            pool.free.extend(chunk.tops());
            pool.chunks.push(chunk);
        }
        let top = pool.free.pop().ok_or_else(|| io::Error::other("a mapping without stacks"))?;
        drop(pool);
        Ok(OwnStack { top, stacks: self.clone() })
    }

    /// How much of every free stack has no memory, in bytes at its end: a whole number of pages.
    #[cfg(test)]
    pub fn unused(&self) -> usize {
        // SAFETY: it reads a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(SIZE);
        let unused = |top: &StackPointer| {
            let mut pages = vec![0; SIZE.div_ceil(page)];
            let start = (top.get() - SIZE) as *mut libc::c_void;
            // SAFETY: the stack is mapped, and there is room for what is said of each of its pages.
            assert_eq!(unsafe { libc::mincore(start, SIZE, pages.as_mut_ptr()) }, 0);
            pages.iter().position(|own| own & 1 != 0).map_or(SIZE, |at| at * page)
        };
        self.0.borrow().free.iter().map(unused).min().unwrap_or(SIZE)
    }
}

/// Gives back the memory of the stack that this runs on, as far as nothing in use lies there: what deeper calls have touched.
///
/// # Safety
/// This runs on a stack of [`Stacks`] that ends at `bottom`.
#[inline(never)]
pub(super) unsafe fn release_unused(bottom: usize) {
    /// More than what the call of the kernel has below what this function has.
    const IN_USE: usize = LARGER * 128;
    // SAFETY: both read numbers: the size of a page, and the stack pointer of a function that has returned, below all that is
    // in use here.
    let (page, here) = unsafe { (libc::sysconf(libc::_SC_PAGESIZE), js::squall_stack_pointer()) };
    let page = usize::try_from(page).unwrap_or(SIZE);
    let end = (here - IN_USE) & !(page - 1);
    // SAFETY: the range is of this stack, and below all that is in use on it, which its pages above keep.
    unsafe { forget(bottom, end) };
}

/// Gives memory back that nobody needs any more: it stays mapped, and is 0 when it is touched again.
///
/// # Safety
/// The range is of a stack, and nothing in it is in use.
unsafe fn forget(start: usize, end: usize) {
    // A failure leaves the memory where it is, and is no concern of anybody.
    // SAFETY: as the caller says.
    unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
}

/// A stack; it goes back when this is dropped.
#[derive(Debug)]
pub(super) struct OwnStack {
    top: StackPointer,
    stacks: Stacks,
}

impl OwnStack {
    /// Where it begins: the address above its first byte.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// The address of its last byte.
    pub fn bottom(&self) -> usize {
        self.top.get() - SIZE
    }

    /// Gives its memory back, and then the stack itself.
    pub fn release(self) {
        // SAFETY: nobody runs or waits on it: the coroutine would have it.
        unsafe { forget(self.bottom(), self.top()) };
    }

    /// How deep a script may go.
    pub fn limit(&self) -> usize {
        self.top.get() - SIZE + RESERVE
    }
}

impl Drop for OwnStack {
    fn drop(&mut self) {
        self.stacks.0.borrow_mut().free.push(self.top);
    }
}

// SAFETY: base and limit are those of memory that can be read and written, aligned to pages, and that nobody else uses until
// this is dropped. There is no guard page: code of scripts is stopped by the interpreter at `OwnStack::limit`, RESERVE bytes
// before the end, and functions of the host that scripts call need less than that.
unsafe impl Stack for OwnStack {
    fn base(&self) -> StackPointer {
        self.top
    }
    fn limit(&self) -> StackPointer {
        // A mapping does not begin at 0, so that this is above 0 too.
        StackPointer::new(self.top.get() - SIZE).unwrap_or(self.top)
    }
}
