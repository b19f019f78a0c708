//! A worker's ring: requests to the kernel, and what it has completed of them.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use slab::Slab;

use super::buffers::{Buffers, Sizes};
use super::outbox::Outbox;
use super::requests::{Kind, number, parts};
use super::slots::{End, Slot};
use super::timer::Timer;
use super::waker::LoopWaker;
use crate::progress::Clock;
use crate::sys;

/// Requests to the kernel that fit into one system call.
const ENTRIES: u32 = 256;
/// Completions that fit into the ring; what comes beyond is kept by the kernel.
const COMPLETIONS: u32 = 4096;
/// Sends that are batched at most: the first of them waits for the last.
pub(super) const MAX_BATCH: usize = 16;
/// If something is due so soon, the worker sleeps until then whatever comes in.
pub(super) const SOON_NS: u64 = 50_000;
/// Times that the kernel is asked for what has arrived before anything is done with it: it brings 20 pieces at least.
const ASKED: u32 = COMPLETIONS / 40;

/// A worker's ring and its sockets. In an `Rc` of its own is the memory that is lent to the kernel.
pub(crate) struct Ring {
    /// Dropped first: with it the kernel lets go of all that the others own.
    pub(super) ring: RefCell<IoUring>,
    pub(super) buffers: Rc<RefCell<Buffers>>,
    pub(super) outbox: Rc<RefCell<Outbox>>,
    pub(super) slots: Rc<RefCell<Slab<Slot>>>,
    /// What is asked of each arrival: no address, and room for a stamp.
    pub(super) message: Rc<libc::msghdr>,
    /// Sockets that something is to be sent on with the next system call.
    pub(super) unsent: RefCell<Vec<u32>>,
    /// Sockets on which something has arrived since what was unread was last set aside; most of it has been read meanwhile.
    pub(super) unread: RefCell<Vec<u32>>,
    /// Sockets of which something is to be asked: they found no buffer, or hold too much.
    pub(super) attention: RefCell<Vec<u32>>,
    /// Completions on their way from the ring to the sockets; kept for its memory.
    done: RefCell<Vec<cqueue::Entry>>,
    /// Tasks that go on once the event loop has turned round.
    yielded: RefCell<Vec<Waker>>,
    /// Wakes the worker from other threads; `None`: none does.
    waker: Option<Arc<LoopWaker>>,
    /// Where the kernel puts the number of wakes that it has read.
    wakes: Rc<Cell<u64>>,
    /// Whether it is asked to read them.
    reads_wakes: Cell<bool>,
    pub(super) timer: Timer,
    pub(super) clock: Clock,
}

impl Ring {
    /// A ring for this thread, which others wake by `waker`.
    ///
    /// # Errors
    /// The system has no io_uring, an older one, or forbids it (containers often do). Of the kind `Other`: it can be made, and not
    /// be used.
    pub(crate) fn new(clock: Clock, waker: Option<Arc<LoopWaker>>) -> io::Result<Ring> {
        Ring::with(clock, waker, Sizes::WORKER)
    }

    pub(super) fn with(
        clock: Clock,
        waker: Option<Arc<LoopWaker>>,
        sizes: Sizes,
    ) -> io::Result<Ring> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)?;
        if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_nodrop() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // To make a ring and to use it are two permissions: this asks for nothing.
        ring.submit().map_err(|error| {
            io::Error::other(format!(
                "io_uring_setup is allowed here, io_uring_enter is not ({error})"
            ))
        })?;
        let buffers = Buffers::new(&ring, sizes)?;
        // SAFETY: all fields are integers and pointers, for which zero is a value.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        // The C libraries do not agree on its type: `size_t` or `socklen_t`.
        message.msg_controllen = sys::CONTROL as _;
        Ok(Ring {
            ring: RefCell::new(ring),
            buffers: Rc::new(RefCell::new(buffers)),
            outbox: Rc::default(),
            slots: Rc::default(),
            message: Rc::new(message),
            unsent: RefCell::default(),
            unread: RefCell::default(),
            attention: RefCell::default(),
            done: RefCell::default(),
            yielded: RefCell::default(),
            timer: Timer::new(),
            waker,
            wakes: Rc::default(),
            reads_wakes: Cell::new(false),
            clock,
        })
    }

    /// Queues a request for the next system call; `false`: the kernel takes none.
    pub(super) fn push(&self, entry: squeue::Entry) -> bool {
        for _ in 0..3 {
            // SAFETY: what entries point to lives until they are completed: bytes in the outbox,
            // addresses in their slot, the time, the message and the number of wakes in this ring; and their
            // descriptors stay open, as slots and the waker are not freed before.
            if unsafe { self.ring.borrow_mut().submission().push(&entry) }.is_ok() {
                return true;
            }
            // Full: the kernel has to take what is there, and to be rid of its own.
            self.submit();
            self.dispatch();
        }
        false
    }

    /// Hands over what is pending, without waiting.
    pub(crate) fn submit(&self) {
        let begin = self.clock.now();
        let ring = self.ring.borrow();
        // What has arrived is not brought to the ring here, which would count as a part of sending.
        // SAFETY: without flags the kernel reads entries alone, for which `push` answers.
        let taken = unsafe { ring.submitter().enter::<libc::sigset_t>(ENTRIES, 0, 0, None) };
        // What the kernel does not take now (it has no memory, or too many completions) stays.
        drop((ring, taken));
        self.stamp_sent(begin, self.clock.now());
    }

    /// What is batched is sent by the kernel one after the other, within the system call: each is
    /// taken to have been sent at its part of that time.
    fn stamp_sent(&self, begin: u64, end: u64) {
        let mut unsent = self.unsent.borrow_mut();
        if unsent.is_empty() {
            return;
        }
        let (count, mut slots) = (unsent.len() as u64, self.slots.borrow_mut());
        for (at, slot) in unsent.drain(..).enumerate() {
            if let Some(slot) = slots.get_mut(slot as usize).filter(|slot| slot.sent_ns == 0) {
                slot.submitted_ns = begin;
                slot.sent_ns = begin + (end - begin) * at as u64 / count;
            }
        }
    }

    /// Sends a batch of more than one by a system call of its own, whose time is shared among them,
    /// takes completions that are there (what is left does not keep the worker from sleeping), and sees to it that
    /// the kernel has buffers.
    pub(crate) fn flush(&self) {
        if self.unsent.borrow().len() > 1 {
            self.submit();
        }
        self.dispatch();
        self.tend();
    }

    /// Hands over what is pending, and sleeps until something has arrived, or until `until` on the
    /// client's clock, which is later; it is `now`. What has arrived waits for [`Ring::dispatch`].
    pub(crate) fn enter(&self, now: u64, until: u64) {
        let left = until.saturating_sub(now);
        let sends = self.unsent_unwatched();
        self.stamp_sent(now, now);
        let limit = Timespec::from(Duration::from_nanos(left));
        let mut args = SubmitArgs::new();
        let wanted = if left <= SOON_NS {
            args = args.timespec(&limit);
            COMPLETIONS as usize / 2
        } else {
            if !self.set_timer(now, until) {
                args = args.timespec(&limit);
            }
            1 + sends
        };
        // Its errors are that the time is over, or a signal: whatever it is, what is there is taken.
        let _ = self.ring.borrow().submitter().submit_with_args(wanted, &args);
    }

    /// Hands over what is pending, and brings what has arrived to the ring, without waiting; it is `now`. A wait for no time
    /// would have the kernel set a timer, which takes a virtual machine 25 µs.
    pub(crate) fn collect(&self, now: u64) {
        self.stamp_sent(now, now);
        for asked in 0..ASKED {
            let mut ring = self.ring.borrow_mut();
            let entries = ring.submission();
            // Where the ring was too small, the kernel puts into it once what it has kept.
            let has_kept = asked == 0 && entries.cq_overflow();
            if entries.is_empty() && !entries.taskrun() && !has_kept {
                return;
            }
            drop(entries);
            // What has arrived is brought as well, as the flag says that there is some.
            if ring.submit().is_err() {
                return;
            }
        }
    }

    /// How many of the pending sends no task waits for: the kernel completes a small send at once, and
    /// that is nothing to wake up for.
    fn unsent_unwatched(&self) -> usize {
        let slots = self.slots.borrow();
        let watched = |key: &u32| slots.get(*key as usize).is_none_or(|slot| slot.writer.is_some());
        self.unsent.borrow().iter().filter(|key| !watched(key)).count()
    }

    /// Hands over what is pending, and takes all that has arrived, without sleeping; returns the time.
    pub(crate) fn poll(&self, mut now: u64) -> u64 {
        self.flush();
        loop {
            self.collect(now);
            if !self.dispatch() {
                return now;
            }
            now = self.clock.now();
        }
    }

    /// Has the kernel wake the worker no later than `until`; `false`: it takes no request.
    pub(crate) fn set_timer(&self, now: u64, until: u64) -> bool {
        let Some(entry) = self.timer.request(now, until) else { return true };
        let pushed = self.push(entry);
        if pushed {
            self.timer.is_due_at(until);
        }
        pushed
    }

    /// Frees the descriptors of sockets that were dropped; `false`: there is none.
    pub(crate) fn release_closed(&self) -> bool {
        let closed = || self.slots.borrow().iter().filter(|(_, slot)| slot.dropped).count();
        let before = closed();
        if before > 0 {
            self.poll(self.clock.now());
        }
        closed() < before
    }

    /// Has the kernel signal each completion through a descriptor of an event. With deferred task work
    /// (IORING_SETUP_DEFER_TASKRUN) the ring's own descriptor would tell of nothing before the next call.
    pub(crate) fn signal_completions(&self, event: RawFd) -> io::Result<()> {
        self.ring.borrow().submitter().register_eventfd(event)
    }

    /// Whether other threads can wake the worker while it sleeps in the ring: has the kernel read what
    /// they write.
    pub(crate) fn can_be_woken(&self) -> bool {
        if self.reads_wakes.get() {
            return true;
        }
        let Some(waker) = &self.waker else { return false };
        let count = self.wakes.as_ptr().cast();
        let read = opcode::Read::new(Fd(waker.event().as_raw_fd()), count, size_of::<u64>() as u32);
        let pushed = self.push(read.build().user_data(number(Kind::Wake, 0, 0)));
        self.reads_wakes.set(pushed);
        pushed
    }

    /// Wakes a task when the event loop looks at its sockets next, and does not sleep before. One that wakes itself would be polled
    /// again at once, some dozens of times before anybody else.
    pub(crate) fn wake_next_turn(&self, waker: &Waker) {
        self.yielded.borrow_mut().push(waker.clone());
    }

    /// Takes all completions to their sockets, and wakes those who wait; `false`: there was none.
    pub(crate) fn dispatch(&self) -> bool {
        self.yielded.take().into_iter().for_each(Waker::wake);
        let mut done = self.done.take();
        done.extend(self.ring.borrow_mut().completion());
        let any = !done.is_empty();
        for entry in done.drain(..) {
            // A waker may use the ring: nothing of it is borrowed here.
            if let Some(waker) = self.complete(&entry) {
                waker.wake();
            }
        }
        self.done.replace(done);
        any
    }

    /// Takes one completion to its socket; whom to wake.
    fn complete(&self, entry: &cqueue::Entry) -> Option<Waker> {
        let (kind, key, place) = parts(entry.user_data());
        match kind? {
            Kind::Timer => self.timer.went_off(),
            Kind::Wake => self.reads_wakes.set(false),
            Kind::Moved => {}
            kind => return self.complete_for(kind, key, place, entry),
        }
        None
    }

    /// Takes one completion of a socket's to it; whom to wake.
    fn complete_for(
        &self,
        kind: Kind,
        key: u32,
        place: u32,
        entry: &cqueue::Entry,
    ) -> Option<Waker> {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(key as usize)?;
        slot.pending -= u16::from(!cqueue::more(entry.flags()));
        let result = entry.result();
        let waker = match kind {
            Kind::Receive => self.arrived(key, slot, entry),
            Kind::Send => {
                self.outbox.borrow_mut().free(place);
                slot.sending = None;
                match -result {
                    // The other side wants no more. It may have sent something before: that is for
                    // the reader, which sees the end too.
                    libc::EPIPE | libc::ECONNRESET => slot.refused = true,
                    code if code > 0 => slot.end = slot.end.or(Some(End::Broken(code))),
                    _ => {}
                }
                let reader = slot.end.and_then(|_| slot.reader.take());
                reader.or(slot.writer.take())
            }
            Kind::Connect => {
                slot.connected = Some(if result < 0 { Err(-result) } else { Ok(()) });
                slot.address = None;
                slot.writer.take()
            }
            Kind::PollIn => {
                slot.polling_in = false;
                slot.reader.take()
            }
            Kind::PollOut => {
                slot.polling_out = false;
                slot.writer.take()
            }
            Kind::Cancel | Kind::Timer | Kind::Moved | Kind::Wake => None,
        };
        drop(slots);
        self.free(key);
        waker
    }

    /// Frees the slot of a socket that was dropped and that the kernel is done with.
    pub(super) fn free(&self, key: u32) {
        let mut slots = self.slots.borrow_mut();
        if slots.get(key as usize).is_some_and(|slot| slot.dropped && slot.pending == 0) {
            let mut slot = slots.remove(key as usize);
            self.give_back(&mut slot);
        }
    }

    /// A socket of this ring.
    pub(super) fn adopt(&self, fd: OwnedFd) -> u32 {
        self.slots.borrow_mut().insert(Slot::new(fd)) as u32
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Cancelled requests are reaped first: the kernel searches the rest once for each of them.
        let mut left = usize::MAX;
        while (1..left).contains(&self.slots.borrow().len()) {
            left = self.slots.borrow().len();
            self.poll(self.clock.now());
        }
        // The kernel is to be done with what it was lent before that goes.
        let any = CancelBuilder::any();
        let cancelled = self.ring.borrow().submitter().register_sync_cancel(None, any);
        if cancelled.is_err_and(|error| error.raw_os_error() != Some(libc::ENOENT)) {
            self.leak();
        }
    }
}

impl Ring {
    /// Never frees the memory that is lent to the kernel, which may still write into it.
    pub(super) fn leak(&self) {
        std::mem::forget((
            (self.buffers.clone(), self.outbox.clone(), self.slots.clone()),
            (self.message.clone(), self.wakes.clone(), self.timer.lent()),
        ));
    }
}
