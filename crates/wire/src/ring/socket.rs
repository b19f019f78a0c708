//! A TCP socket of a ring, with the interface of the other streams.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use tokio::net::TcpSocket;

use super::arrivals::unread;
use super::outbox::{Address, SMALL};
use super::requests::{Kind, number};
use super::slots::Slot;
use super::worker::{MAX_BATCH, Ring};
use crate::arrivals::Looks;
use crate::socket_facts::{Idle, Read, Sent};
use crate::sys::{self, TcpInfo};

/// An open socket, or one that is being connected.
pub(crate) struct Socket {
    ring: Rc<Ring>,
    key: u32,
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, "the kernel takes no more requests from io_uring")
}

impl Socket {
    pub(crate) async fn connect(
        ring: &Rc<Ring>,
        socket: TcpSocket,
        to: SocketAddr,
    ) -> io::Result<Socket> {
        let fd = sys::blocking(socket)?;
        let socket = Socket { ring: ring.clone(), key: ring.adopt(fd) };
        let pushed = socket.request(|slot, fd| {
            let address = slot.address.insert(Address::new(to));
            let (address, length) = address.parts();
            (Kind::Connect, opcode::Connect::new(fd, address, length).build(), 0)
        });
        if !pushed {
            return Err(full());
        }
        // When it is handed over is noted, as it is of what is sent.
        ring.unsent.borrow_mut().push(socket.key);
        poll_fn(|cx| {
            socket.with(|slot| match slot.connected.take() {
                Some(result) => Poll::Ready(result.map_err(io::Error::from_raw_os_error)),
                None => {
                    slot.writer = Some(cx.waker().clone());
                    Poll::Pending
                }
            })
        })
        .await?;
        Ok(socket)
    }

    /// An exchange begins: what is sent next is its first byte.
    pub(crate) fn begin(&self) {
        self.with(|slot| (slot.sent_ns, slot.direct, slot.rests) = (0, false, false));
    }

    /// Nothing is to arrive before the next exchange begins: bytes that do, or have, are thrown away, and noted.
    pub(crate) fn rest(&self) {
        self.with(|slot| {
            slot.rests = true;
            if self.ring.give_back(slot) {
                slot.unsolicited = true;
                self.ring.attention.borrow_mut().push(self.key);
            }
        });
    }

    /// What is known of it between two exchanges, without a system call if it is received from.
    pub(crate) fn idle(&self, buffer: &mut [u8]) -> io::Result<Idle> {
        if self.with(|slot| slot.unsolicited) {
            return Ok(Idle::Unsolicited);
        }
        Ok(Idle::of(self.try_read(buffer).transpose()?))
    }

    /// When the exchange's first byte was sent.
    pub(crate) fn sent(&self) -> Option<Sent> {
        self.with(|slot| {
            let Slot { submitted_ns, sent_ns, .. } = *slot;
            (sent_ns > 0).then_some(Sent { submitted_ns, sent_ns })
        })
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        let receive = {
            let mut slots = self.ring.slots.borrow_mut();
            let slot = &mut slots[self.key as usize];
            if let Some(read) = self.take(slot, buffer) {
                return Poll::Ready(Ok(read));
            }
            if let Some(end) = slot.end() {
                return Poll::Ready(end.map(Read::unstamped));
            }
            slot.reader = Some(cx.waker().clone());
            let is_asked = slot.receiving || slot.starved;
            (!is_asked).then(|| self.ring.receive(self.key, slot))
        };
        let Some(entry) = receive else { return Poll::Pending };
        if self.ring.push(entry) {
            return Poll::Pending;
        }
        self.with(|slot| (slot.receiving, slot.pending) = (false, slot.pending - 1));
        Poll::Ready(Err(full()))
    }

    /// How many ns ago what was just read could have been read first; see [`crate::arrivals`].
    pub(crate) fn ago_ns(&self, read: Read, looks: &Looks) -> Option<u64> {
        let clock = &self.ring.clock;
        self.with(|slot| {
            let Slot { arrivals, fd, .. } = slot;
            let inflow = || TcpInfo::of(fd).map(|info| info.inflow());
            let recent_ns = || looks.recent_ns(clock.now());
            arrivals.ago_ns(read.stamp_ns, clock.system_ns(), recent_ns, inflow)
        })
    }

    /// Reads what is known to have arrived; `None`: nothing.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let mut slots = self.ring.slots.borrow_mut();
        let slot = &mut slots[self.key as usize];
        if let Some(read) = self.take(slot, buffer) {
            return Some(Ok(read.bytes));
        }
        // A large body was read past the ring: what came behind it the kernel has alone.
        let is_unseen = !slot.receiving && slot.end.is_none() && slot.written > 0;
        if !is_unseen {
            return slot.end();
        }
        match sys::recv(&slot.fd, buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            read => Some(read.map(|read| read.bytes)),
        }
    }

    pub(crate) fn written(&self) -> u64 {
        self.with(|slot| slot.written)
    }

    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        self.with(|slot| TcpInfo::of(&slot.fd))
    }

    /// Takes from what has arrived.
    fn take(&self, slot: &mut Slot, buffer: &mut [u8]) -> Option<Read> {
        if let Some(aside) = &mut slot.aside {
            let (bytes, stamp_ns) = aside.take(buffer);
            if aside.left() == 0 {
                slot.aside = None;
            }
            return Some(Read { bytes, stamp_ns });
        }
        let piece = slot.arrived.front_mut()?;
        let mut buffers = self.ring.buffers.borrow_mut();
        let bytes = unread(&buffers, piece);
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        let stamp_ns = piece.stamp_ns;
        piece.from += length as u16;
        if piece.from == piece.to {
            buffers.give(piece.buffer);
            slot.arrived.pop_front();
        }
        Some(Read { bytes: length, stamp_ns })
    }

    /// Writes as much as it takes. What is small is copied, and sent with what others send; what comes
    /// of that is seen when the response is read.
    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let busy = self.with(|slot| {
            if slot.refused {
                return Some(Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())));
            }
            (slot.sending.is_some() || slot.polling_out).then(|| {
                slot.writer = Some(cx.waker().clone());
                Poll::Pending
            })
        });
        if let Some(result) = busy {
            return result;
        }
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        if total > SMALL || self.with(|slot| slot.direct) {
            return self.poll_write_large(cx, pieces);
        }
        let (place, bytes, length) = self.ring.outbox.borrow_mut().put(pieces);
        let pushed = self.request(|slot, fd| {
            slot.sending = Some(place);
            let flags = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
            (Kind::Send, opcode::Send::new(fd, bytes, length).flags(flags).build(), place)
        });
        if !pushed {
            self.ring.outbox.borrow_mut().free(place);
            self.with(|slot| slot.sending = None);
            return Poll::Ready(Err(full()));
        }
        let batched = {
            let mut unsent = self.ring.unsent.borrow_mut();
            unsent.push(self.key);
            unsent.len()
        };
        self.with(|slot| slot.written += total as u64);
        if batched >= MAX_BATCH {
            self.ring.submit();
        }
        Poll::Ready(Ok(total))
    }

    /// By a system call of its own; waits for room by a poll in the ring.
    fn poll_write_large(
        &self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Some(piece) = pieces.iter().find(|piece| !piece.is_empty()) else {
            return Poll::Ready(Ok(0));
        };
        let now = self.ring.clock.now();
        let sent = self.with(|slot| {
            slot.direct = true;
            if slot.sent_ns == 0 {
                (slot.submitted_ns, slot.sent_ns) = (now, now);
            }
            let sent = send(&slot.fd, piece, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
            slot.written += sent as u64;
            Ok(sent)
        });
        match sent {
            Err(rustix::io::Errno::AGAIN) => self.poll_out(cx),
            result => Poll::Ready(Ok(result?)),
        }
    }

    /// Lets the kernel send up to `most` bytes of a file from where it stands.
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        most: u64,
    ) -> Poll<io::Result<usize>> {
        let now = self.ring.clock.now();
        let busy = self.with(|slot| slot.sending.is_some());
        if busy {
            self.with(|slot| slot.writer = Some(cx.waker().clone()));
            return Poll::Pending;
        }
        let sent = self.with(|slot| {
            slot.direct = true;
            if slot.sent_ns == 0 {
                (slot.submitted_ns, slot.sent_ns) = (now, now);
            }
            // The kernel knows no flag for this one call, and the ring wants a socket that blocks.
            rustix::io::ioctl_fionbio(&slot.fd, true)?;
            let sent = sys::send_file(&slot.fd, file, most);
            rustix::io::ioctl_fionbio(&slot.fd, false)?;
            slot.written += *sent.as_ref().unwrap_or(&0) as u64;
            sent
        });
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.poll_out(cx),
            result => Poll::Ready(result),
        }
    }

    /// Reads what there is of a large body: by a system call of its own, which copies it once.
    pub(crate) fn poll_read_large(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        if !ready!(self.poll_direct(cx))? {
            return self.poll_read(cx, buffer);
        }
        match self.with(|slot| sys::recv(&slot.fd, buffer)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.poll_in(cx),
            result => Poll::Ready(result),
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: they have to be read,
    /// because they are in buffers already.
    pub(crate) fn poll_discard(
        &self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match ready!(self.poll_direct(cx)) {
            Ok(true) => {}
            Ok(false) => return Poll::Ready(None),
            Err(error) => return Poll::Ready(Some(Err(error))),
        }
        match self.with(|slot| sys::discard(&slot.fd, most)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.poll_in(cx).map(Some),
            result => Poll::Ready(Some(result)),
        }
    }

    /// Stops receiving through the ring, to read the socket by system calls. `false`:
    /// something is in the ring's buffers, or nothing more will come.
    fn poll_direct(&self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let cancel = {
            let mut slots = self.ring.slots.borrow_mut();
            let slot = &mut slots[self.key as usize];
            slot.starved = false;
            if slot.holds_bytes() || slot.end.is_some() {
                return Poll::Ready(Ok(false));
            }
            if !slot.receiving {
                return Poll::Ready(Ok(true));
            }
            slot.reader = Some(cx.waker().clone());
            (!slot.cancelling).then(|| self.ring.stop_receiving(self.key, slot))
        };
        if cancel.is_none_or(|entry| self.ring.push(entry)) {
            return Poll::Pending;
        }
        self.with(|slot| (slot.cancelling, slot.pending) = (false, slot.pending - 1));
        Poll::Ready(Err(full()))
    }

    /// Waits until there is something to read.
    fn poll_in<R>(&self, cx: &mut Context<'_>) -> Poll<io::Result<R>> {
        self.poll_for(cx, Kind::PollIn, libc::POLLIN, |slot| {
            (&mut slot.reader, &mut slot.polling_in)
        })
    }

    /// Waits until there is room to send.
    fn poll_out<R>(&self, cx: &mut Context<'_>) -> Poll<io::Result<R>> {
        self.poll_for(cx, Kind::PollOut, libc::POLLOUT, |slot| {
            (&mut slot.writer, &mut slot.polling_out)
        })
    }

    /// Arms a poll for an event, unless it is armed already.
    fn poll_for<R>(
        &self,
        cx: &mut Context<'_>,
        kind: Kind,
        event: libc::c_short,
        state: impl FnOnce(&mut Slot) -> (&mut Option<Waker>, &mut bool),
    ) -> Poll<io::Result<R>> {
        let polling = self.with(|slot| {
            let (waiting, polling) = state(slot);
            *waiting = Some(cx.waker().clone());
            std::mem::replace(polling, true)
        });
        let pushed = polling
            || self.request(|_, fd| (kind, opcode::PollAdd::new(fd, event as u32).build(), 0));
        if pushed { Poll::Pending } else { Poll::Ready(Err(full())) }
    }

    /// Whether the other side takes nothing more.
    #[cfg(test)]
    pub(super) fn is_refused(&self) -> bool {
        self.with(|slot| slot.refused)
    }

    /// Waits until there is something to read in the kernel.
    #[cfg(test)]
    pub(crate) fn await_arrival(&self) {
        use rustix::event::{PollFd, PollFlags, poll};
        self.with(|slot| {
            let mut arrivals = [PollFd::new(&slot.fd, PollFlags::IN)];
            poll(&mut arrivals, None).expect("it arrives");
        });
    }

    /// Whether something small is on its way out.
    #[cfg(test)]
    pub(super) fn is_sending(&self) -> bool {
        self.with(|slot| slot.sending.is_some())
    }

    /// Its own address, if the kernel tells.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.with(|slot| rustix::net::getsockname(&slot.fd)).ok()?.try_into().ok()
    }

    /// That of the other side, if the kernel tells.
    pub(crate) fn peer_address(&self) -> Option<SocketAddr> {
        self.with(|slot| rustix::net::getpeername(&slot.fd)).ok()??.try_into().ok()
    }

    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        let at_once = Some(std::time::Duration::ZERO);
        Ok(self.with(|slot| rustix::net::sockopt::set_socket_linger(&slot.fd, at_once))?)
    }

    /// Sends no more than it has taken.
    pub(crate) fn shutdown(&self) -> io::Result<()> {
        if self.with(|slot| slot.sending.is_some()) {
            // It waits for the next system call, which would come too late.
            self.ring.submit();
        }
        Ok(self.with(|slot| shutdown(&slot.fd, Shutdown::Write))?)
    }

    /// Queues a request, which makes the slot wait for its completion.
    fn request(&self, make: impl FnOnce(&mut Slot, Fd) -> (Kind, squeue::Entry, u32)) -> bool {
        let entry = self.with(|slot| {
            slot.pending += 1;
            let fd = Fd(slot.fd.as_raw_fd());
            let (kind, entry, place) = make(slot, fd);
            entry.user_data(number(kind, self.key, place))
        });
        let pushed = self.ring.push(entry);
        if !pushed {
            self.with(|slot| slot.pending -= 1);
        }
        pushed
    }

    /// Cancels a request that the kernel has.
    fn cancel(&self, kind: Kind, place: u32) {
        let of = number(kind, self.key, place);
        self.request(|_, _| (Kind::Cancel, opcode::AsyncCancel::new(of).build(), 0));
    }

    fn with<R>(&self, act: impl FnOnce(&mut Slot) -> R) -> R {
        // The key is of a slot that is there as long as this socket is.
        act(&mut self.ring.slots.borrow_mut()[self.key as usize])
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let under_way = self.with(|slot| {
            (slot.reader, slot.writer) = (None, None);
            (slot.rests, slot.starved) = (true, false);
            self.ring.give_back(slot);
            [
                (slot.receiving && !slot.cancelling).then_some((Kind::Receive, 0)),
                slot.address.is_some().then_some((Kind::Connect, 0)),
                slot.polling_in.then_some((Kind::PollIn, 0)),
                slot.polling_out.then_some((Kind::PollOut, 0)),
                slot.sending.map(|place| (Kind::Send, place)),
            ]
        });
        for (kind, place) in under_way.into_iter().flatten() {
            self.cancel(kind, place);
        }
        self.with(|slot| slot.dropped = true);
        self.ring.free(self.key);
    }
}
