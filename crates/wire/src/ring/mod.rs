//! TCP sockets by io_uring (io_uring(7)) in place of epoll: what many users send goes to the kernel in
//! one system call, and what has arrived for many comes back in one. Linux 6.1 and later.
//!
//! A worker has one ring, on its own thread. Sockets look to those who use them as the others do, as
//! futures that wait; whoever owns the thread's event loop calls [`Ring::wait`] where it would sleep.
//!
//! The kernel reads and writes memory of this program while it works: [`outbox`] and [`buffers`] own
//! it, and give nothing back to the system before the ring is gone.

mod buffers;
mod outbox;
mod slots;
mod socket;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::Waker;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use slab::Slab;

use crate::progress::Clock;
use crate::stamp;
use buffers::{Buffers, GROUP};
use outbox::{Address, Outbox};
use slots::{End, Piece, Slot};
pub(crate) use socket::Socket;

/// Requests to the kernel that fit into one system call.
const ENTRIES: u32 = 256;
/// Completions that fit into the ring; what comes beyond is kept by the kernel.
const COMPLETIONS: u32 = 4096;
/// Sends that are batched at most: the first of them waits for the last.
const MAX_BATCH: usize = 16;
/// If something is due so soon, the worker sleeps until then whatever comes in.
const SOON_NS: u64 = 50_000;

/// A worker's ring and its sockets.
pub(crate) struct Ring {
    /// Dropped first: with it the kernel lets go of all that the others own.
    ring: RefCell<IoUring>,
    buffers: RefCell<Buffers>,
    outbox: RefCell<Outbox>,
    slots: RefCell<Slab<Slot>>,
    /// What is asked of each arrival: no address, and room for a stamp.
    message: Box<libc::msghdr>,
    /// Sockets that something is to be sent on with the next system call.
    unsent: RefCell<Vec<u32>>,
    /// Completions on their way from the ring to the sockets; kept for its memory.
    done: RefCell<Vec<cqueue::Entry>>,
    /// Something was to be sent when a turn of the event loop had ended.
    pending_before: Cell<bool>,
    /// When the kernel's timer wakes the worker, on the client's clock; `u64::MAX`: it is not set. It is
    /// left alone while the worker wakes for other things: to set one costs more than to send.
    timer: Cell<u64>,
    /// What a timer is set to, until the kernel is done with it.
    times: RefCell<Slab<Box<Timespec>>>,
    clock: Clock,
}

/// What a completion is of: the lowest byte of the number that the kernel gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Receive = 1,
    Send,
    Connect,
    PollIn,
    PollOut,
    Cancel,
    Timer,
}

/// The number that names a request: its kind, its slot, and for a send the place of its bytes.
fn number(kind: Kind, slot: u32, place: u32) -> u64 {
    kind as u64 | u64::from(slot) << 8 | u64::from(place) << 40
}

fn parts(number: u64) -> (Option<Kind>, u32, u32) {
    const KINDS: [Kind; 7] = [
        Kind::Receive,
        Kind::Send,
        Kind::Connect,
        Kind::PollIn,
        Kind::PollOut,
        Kind::Cancel,
        Kind::Timer,
    ];
    let kind = KINDS.into_iter().find(|kind| *kind as u64 == number & 0xff);
    (kind, (number >> 8) as u32, (number >> 40) as u32)
}

impl Ring {
    /// A ring for this thread.
    ///
    /// # Errors
    /// The system has no io_uring, an older one, or forbids it (containers often do).
    pub(crate) fn new(clock: Clock) -> io::Result<Ring> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)?;
        if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_nodrop() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let buffers = Buffers::new(&ring)?;
        // SAFETY: all fields are integers and pointers, for which zero is a value.
        let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        message.msg_controllen = stamp::CONTROL;
        Ok(Ring {
            ring: RefCell::new(ring),
            buffers: RefCell::new(buffers),
            outbox: RefCell::default(),
            slots: RefCell::default(),
            message,
            unsent: RefCell::default(),
            done: RefCell::default(),
            timer: Cell::new(u64::MAX),
            times: RefCell::default(),
            pending_before: Cell::new(false),
            clock,
        })
    }

    /// Queues a request for the next system call; `false`: the kernel takes none.
    fn push(&self, entry: squeue::Entry) -> bool {
        for _ in 0..3 {
            // SAFETY: what entries point to lives until they are completed: bytes in the outbox,
            // addresses in their slot, times and the message in this ring; and their descriptors stay open, as
            // slots are not freed before.
            if unsafe { self.ring.borrow_mut().submission().push(&entry) }.is_ok() {
                return true;
            }
            // Full: the kernel has to take what is there, and to be rid of its own.
            self.submit();
            self.dispatch();
        }
        false
    }

    /// Whether a socket is in it.
    pub(crate) fn holds_any(&self) -> bool {
        !self.slots.borrow().is_empty()
    }

    /// Hands over what was queued before the last call of this.
    pub(crate) fn submit_late(&self) {
        let pending = !self.unsent.borrow().is_empty();
        if pending && self.pending_before.get() {
            self.submit();
        }
        self.pending_before.set(pending);
    }

    /// Hands over what was queued, without waiting.
    pub(crate) fn submit(&self) {
        let begin = self.clock.now();
        // What the kernel does not take now (it has no memory, or too many completions) stays.
        let _ = self.ring.borrow().submit();
        self.stamp_sent(begin, self.clock.now());
    }

    /// What is batched is sent by the kernel one after the other, within the system call: each is
    /// taken to have been sent at its part of that time.
    fn stamp_sent(&self, begin: u64, end: u64) {
        let mut unsent = self.unsent.borrow_mut();
        let (count, mut slots) = (unsent.len() as u64, self.slots.borrow_mut());
        for (at, slot) in unsent.drain(..).enumerate() {
            if let Some(slot) = slots.get_mut(slot as usize).filter(|slot| slot.sent_ns == 0) {
                slot.sent_ns = begin + (end - begin) * at as u64 / count;
            }
        }
    }

    /// Hands over what was queued, and sleeps until something has arrived, or until `until` on the
    /// client's clock. Wakes whoever waited for it.
    pub(crate) fn wait(&self, until: u64) {
        if self.unsent.borrow().len() > 1 {
            self.submit();
        }
        if self.dispatch() {
            if !self.unsent.borrow().is_empty() {
                self.submit();
            }
            return;
        }
        let now = self.clock.now();
        let left = until.saturating_sub(now);
        // The kernel completes a small send at once: it is not what is waited for.
        let sends = self.unsent.borrow().len();
        self.stamp_sent(now, now);
        let limit = Timespec::from(Duration::from_nanos(left));
        let mut args = SubmitArgs::new();
        let wanted = if left == 0 {
            0
        } else if left <= SOON_NS {
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
        self.dispatch();
    }

    /// Hands over what was queued, and takes what has arrived. The kernel brings that to the ring only
    /// for one who waits: here, for no time.
    pub(crate) fn look(&self) {
        let now = self.clock.now();
        self.stamp_sent(now, now);
        let limit = Timespec::new();
        let args = SubmitArgs::new().timespec(&limit);
        let _ = self.ring.borrow().submitter().submit_with_args(1, &args);
        self.dispatch();
    }

    /// Has the kernel wake the worker no later than `until`; `false`: it takes no request.
    fn set_timer(&self, now: u64, until: u64) -> bool {
        if self.timer.get() <= until {
            return true;
        }
        let mut times = self.times.borrow_mut();
        let entry = times.vacant_entry();
        let key = entry.key() as u32;
        let time = entry.insert(Box::new(Timespec::from(Duration::from_nanos(until - now))));
        let timer = opcode::Timeout::new(&raw const **time).build();
        drop(times);
        let pushed = self.push(timer.user_data(number(Kind::Timer, key, 0)));
        if pushed {
            self.timer.set(until);
        } else {
            self.times.borrow_mut().remove(key as usize);
        }
        pushed
    }

    /// Takes all completions to their sockets; `false`: nobody was woken.
    pub(crate) fn dispatch(&self) -> bool {
        let mut done = self.done.take();
        done.extend(self.ring.borrow_mut().completion());
        let mut woken = false;
        for entry in done.drain(..) {
            // Whoever is woken may use the ring: nothing of it is borrowed here.
            if let Some(waker) = self.complete(&entry) {
                waker.wake();
                woken = true;
            }
        }
        self.done.replace(done);
        woken
    }

    /// Takes one completion to its socket; whom to wake.
    fn complete(&self, entry: &cqueue::Entry) -> Option<Waker> {
        let (kind, key, place) = parts(entry.user_data());
        if kind == Some(Kind::Timer) {
            self.times.borrow_mut().try_remove(key as usize);
            self.timer.set(u64::MAX);
            return None;
        }
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(key as usize)?;
        let last = !cqueue::more(entry.flags());
        slot.pending -= u16::from(last);
        let result = entry.result();
        let waker = match kind? {
            Kind::Receive => {
                self.arrived(slot, entry);
                slot.receiving &= !last;
                slot.reader.take()
            }
            Kind::Send => {
                self.outbox.borrow_mut().free(place);
                slot.sending = false;
                match -result {
                    // The other side wants no more. It may have said something before: that is for
                    // whoever reads, who sees the end too.
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
            Kind::Cancel | Kind::Timer => None,
        };
        drop(slots);
        self.free(key);
        waker
    }

    /// Frees the slot of a socket that nobody has any more, neither here nor in the kernel.
    fn free(&self, key: u32) {
        let mut slots = self.slots.borrow_mut();
        if slots.get(key as usize).is_some_and(|slot| slot.dropped && slot.pending == 0) {
            let slot = slots.remove(key as usize);
            let mut buffers = self.buffers.borrow_mut();
            slot.arrived.iter().for_each(|piece| buffers.give(piece.buffer));
        }
    }

    /// Something has arrived on a socket, or nothing more will.
    fn arrived(&self, slot: &mut Slot, entry: &cqueue::Entry) {
        let result = entry.result();
        let Some(buffer) = cqueue::buffer_select(entry.flags()) else {
            match -result {
                // No buffer was free, or this program has called it off: it may be asked again.
                libc::ENOBUFS | libc::ECANCELED | libc::EINTR => {}
                code if code > 0 => slot.end = slot.end.or(Some(End::Broken(code))),
                _ => slot.end = slot.end.or(Some(End::Closed)),
            }
            return;
        };
        let mut buffers = self.buffers.borrow_mut();
        // SAFETY: the completion says that the kernel has filled this buffer with so many bytes, and
        // it is given back when its piece has been read.
        let bytes = unsafe { buffers.filled(buffer, result.max(0) as usize) };
        let piece = RecvMsgOut::parse(bytes, &self.message).ok().map(|message| {
            let payload = message.payload_data();
            let from = payload.as_ptr().addr() - bytes.as_ptr().addr();
            let stamp_ns = stamp::in_control(message.control_data()).unwrap_or(0);
            Piece { buffer, from: from as u16, to: (from + payload.len()) as u16, stamp_ns }
        });
        match piece {
            Some(piece) if piece.to > piece.from => slot.arrived.push_back(piece),
            _ => {
                slot.end = slot.end.or(Some(End::Closed));
                buffers.give(buffer);
            }
        }
    }

    /// Asks for what arrives on a socket, from now on.
    fn receive(&self, key: u32, slot: &mut Slot) -> squeue::Entry {
        (slot.receiving, slot.pending) = (true, slot.pending + 1);
        opcode::RecvMsgMulti::new(Fd(slot.fd.as_raw_fd()), &raw const *self.message, GROUP)
            .build()
            .user_data(number(Kind::Receive, key, 0))
    }

    /// A socket of this ring.
    fn adopt(&self, fd: OwnedFd) -> u32 {
        self.slots.borrow_mut().insert(Slot::new(fd)) as u32
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // What was called off is taken first: what is left the kernel looks through for each of it.
        let mut left = usize::MAX;
        while (1..left).contains(&self.slots.borrow().len()) {
            left = self.slots.borrow().len();
            self.submit();
            self.look();
        }
        // The kernel is to be done with buffers and outbox before they go.
        let ring = self.ring.borrow();
        let _ = ring.submitter().register_sync_cancel(None, CancelBuilder::any());
    }
}
