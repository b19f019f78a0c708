//! What arrives at the sockets of a ring, and where it waits until it is read.
//!
//! The kernel puts it into buffers that all sockets share, so a reader that does not come (its connection is idle, or its user's
//! bandwidth is bounded) must not keep them: after [`Sizes::most`]` / 2` arrivals, or as soon as the kernel was short of buffers,
//! what nobody has read is copied aside. What nobody will read, as its connection rests between two exchanges, is not kept at
//! all. A socket with much unread is not received from, so that TCP slows its other side down.
//!
//! [`Sizes::most`]: super::buffers::Sizes::most

use std::os::fd::AsRawFd;
use std::task::Waker;

use io_uring::types::{Fd, RecvMsgOut};
use io_uring::{cqueue, opcode, squeue};

use super::buffers::{Buffers, GROUP};
use super::requests::{Kind, number};
use super::slots::{BufferSpan, End, Slot};
use super::worker::Ring;
use crate::sys;

impl Ring {
    /// Something has arrived on a socket, or nothing more will; whom to wake.
    pub(super) fn arrived(
        &self,
        key: u32,
        slot: &mut Slot,
        entry: &cqueue::Entry,
    ) -> Option<Waker> {
        let is_called_off = slot.cancelling;
        if !cqueue::more(entry.flags()) {
            (slot.receiving, slot.cancelling) = (false, false);
        }
        let result = entry.result();
        let Some(buffer) = cqueue::buffer_select(entry.flags()) else {
            match -result {
                // It is asked again when there is one, ...
                libc::ENOBUFS if !is_called_off => {
                    slot.starved = true;
                    self.attention.borrow_mut().push(key);
                    return None;
                }
                // ... and may be asked again if this program has called it off.
                libc::ENOBUFS | libc::ECANCELED | libc::EINTR => {}
                code if code > 0 => slot.end = slot.end.or(Some(End::Broken(code))),
                _ => slot.end = slot.end.or(Some(End::Closed)),
            }
            return slot.reader.take();
        };
        match self.piece(buffer, result.max(0) as usize) {
            Some(_) if slot.rests => {
                self.buffers.borrow_mut().give(buffer);
                slot.unsolicited = true;
                self.attention.borrow_mut().push(key);
            }
            Some(piece) => {
                slot.take_in(piece);
                self.unread.borrow_mut().push(key);
                if slot.is_full() {
                    self.attention.borrow_mut().push(key);
                }
            }
            None => {
                slot.end = slot.end.or(Some(End::Closed));
                self.buffers.borrow_mut().give(buffer);
            }
        }
        slot.reader.take()
    }

    /// Where the bytes are in a buffer of which the kernel has filled so much; `None`: there are none.
    fn piece(&self, buffer: u16, length: usize) -> Option<BufferSpan> {
        let buffers = self.buffers.borrow();
        // SAFETY: the completion says that the kernel has filled this buffer with so many bytes, and
        // it is given back when its piece has been read.
        let bytes = unsafe { buffers.filled(buffer, length) };
        let message = RecvMsgOut::parse(bytes, &self.message).ok()?;
        let payload = message.payload_data();
        let from = payload.as_ptr().addr() - bytes.as_ptr().addr();
        let stamp_ns = sys::in_control(message.control_data()).unwrap_or(0);
        let to = (from + payload.len()) as u16;
        (!payload.is_empty()).then_some(BufferSpan { buffer, from: from as u16, to, stamp_ns })
    }

    /// Asks for what arrives on a socket, from now on.
    pub(super) fn receive(&self, key: u32, slot: &mut Slot) -> squeue::Entry {
        (slot.receiving, slot.pending) = (true, slot.pending + 1);
        opcode::RecvMsgMulti::new(Fd(slot.fd.as_raw_fd()), &raw const *self.message, GROUP)
            .build()
            .user_data(number(Kind::Receive, key, 0))
    }

    /// Calls off what was asked for.
    pub(super) fn stop_receiving(&self, key: u32, slot: &mut Slot) -> squeue::Entry {
        (slot.cancelling, slot.pending) = (true, slot.pending + 1);
        opcode::AsyncCancel::new(number(Kind::Receive, key, 0)).build().user_data(number(
            Kind::Cancel,
            key,
            0,
        ))
    }

    /// After the readers had their turn: gives the kernel the buffers of those that did not come, and then arms again who
    /// found none, and calls off who holds too much. Every sleep comes after it.
    pub(super) fn tend(&self) {
        loop {
            self.make_room();
            // To ask for more than the kernel takes at a time brings completions. Who is short of buffers again by then has to wait
            // until there is room again: now it would find none, as often as it is asked.
            let keys = self.attention.take();
            if keys.is_empty() {
                return;
            }
            for key in keys {
                let entry = match self.slots.borrow_mut().get_mut(key as usize) {
                    Some(slot) => self.attend(key, slot),
                    None => None,
                };
                if let Some((entry, kind)) = entry
                    && !self.push(entry)
                {
                    self.not_taken(key, kind);
                }
            }
        }
    }

    /// Sees to it that the kernel has buffers for those who found none.
    fn make_room(&self) {
        let is_short = self.attention.borrow().iter().any(|key| self.is_starved(*key));
        let is_grown = is_short && self.buffers.borrow_mut().grow();
        let are_many = self.unread.borrow().len() >= self.buffers.borrow().half();
        if are_many || (is_short && !is_grown) {
            self.set_aside();
        }
    }

    fn is_starved(&self, key: u32) -> bool {
        self.slots.borrow().get(key as usize).is_some_and(|slot| slot.starved)
    }

    /// What is to be asked of the kernel for a socket.
    fn attend(&self, key: u32, slot: &mut Slot) -> Option<(squeue::Entry, Kind)> {
        let is_wanted = !slot.dropped && !slot.unsolicited && !slot.is_full();
        let is_starved = std::mem::take(&mut slot.starved);
        if is_starved && is_wanted && !slot.receiving {
            return Some((self.receive(key, slot), Kind::Receive));
        }
        // That of a dropped socket has been called off.
        let is_too_much = !is_wanted && !slot.dropped && slot.receiving && !slot.cancelling;
        is_too_much.then(|| (self.stop_receiving(key, slot), Kind::Cancel))
    }

    /// The kernel takes no request for a socket.
    fn not_taken(&self, key: u32, kind: Kind) {
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.get_mut(key as usize) else { return };
        slot.pending -= 1;
        let reader = match kind {
            Kind::Receive => {
                slot.receiving = false;
                slot.end = slot.end.or(Some(End::Broken(libc::ENOMEM)));
                slot.reader.take()
            }
            _ => {
                slot.cancelling = false;
                None
            }
        };
        drop(slots);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Copies aside what was not read.
    fn set_aside(&self) {
        let mut slots = self.slots.borrow_mut();
        for key in self.unread.borrow_mut().drain(..) {
            let Some(slot) = slots.get_mut(key as usize) else { continue };
            let mut buffers = self.buffers.borrow_mut();
            for piece in slot.arrived.drain(..) {
                let aside = slot.aside.get_or_insert_default();
                aside.put(unread(&buffers, &piece), piece.stamp_ns);
                buffers.give(piece.buffer);
            }
            if slot.is_full() {
                self.attention.borrow_mut().push(key);
            }
        }
    }

    /// Gives back all that a socket holds, unread; `false`: that is nothing.
    pub(super) fn give_back(&self, slot: &mut Slot) -> bool {
        let held = slot.holds_bytes();
        slot.aside = None;
        let mut buffers = self.buffers.borrow_mut();
        slot.arrived.drain(..).for_each(|piece| buffers.give(piece.buffer));
        held
    }
}

/// What a socket that holds a piece has not read of it.
pub(super) fn unread<'b>(buffers: &'b Buffers, piece: &BufferSpan) -> &'b [u8] {
    // SAFETY: the kernel has filled the buffer up to the piece's end, and who takes the piece from its socket gives the buffer back only
    // then.
    let bytes = unsafe { buffers.filled(piece.buffer, usize::from(piece.to)) };
    &bytes[usize::from(piece.from)..]
}
