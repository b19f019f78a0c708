//! A TCP connection on virtual time: the client's socket, the network, and the other side, which is a script.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::arrivals::{Arrivals, Looks};
use crate::progress::Clock;
use crate::socket_facts::{Read, Sent};
use crate::sys::TcpInfo;
use crate::timeline::{EPOCH_NS, now, saw, wake_at};

/// The way between both sides.
pub struct Path {
    /// From one side to the other, in ns.
    pub delay_ns: u64,
    /// By how much the next segment is late because it was lost and sent again, in ns; 0: it was not lost.
    pub lost: Box<dyn FnMut() -> u64>,
    /// Most bytes that the client has on their way: for more it waits until some of them are acknowledged.
    pub window: usize,
    /// Whether the socket tells when its bytes were sent, as those of a ring do.
    pub is_in_ring: bool,
}

/// The other side of a connection.
pub trait Peer {
    /// Bytes have come from the client; what is to be done.
    fn on_bytes(&mut self, bytes: &[u8], out: &mut Outbound);
}

impl<F: FnMut(&[u8], &mut Outbound)> Peer for F {
    fn on_bytes(&mut self, bytes: &[u8], out: &mut Outbound) {
        self(bytes, out);
    }
}

/// What the other side does, so many ns after what made it do so, but in the order of the calls.
#[derive(Default)]
pub struct Outbound(Vec<(u64, Act)>);

enum Act {
    Send(Vec<u8>),
    Close,
    Reset,
}

impl Outbound {
    pub fn send(&mut self, after_ns: u64, bytes: &[u8]) {
        self.0.push((after_ns, Act::Send(bytes.to_vec())));
    }

    /// Closes in order: takes nothing more, and answers bytes that come with a reset.
    pub fn close(&mut self, after_ns: u64) {
        self.0.push((after_ns, Act::Close));
    }

    /// Breaks the connection off.
    pub fn reset(&mut self, after_ns: u64) {
        self.0.push((after_ns, Act::Reset));
    }
}

/// A segment on its way to the client; without bytes it is the end.
struct Segment {
    bytes: Vec<u8>,
    arrived_ns: u64,
    /// When all before it had arrived as well.
    readable_ns: u64,
}

impl Segment {
    fn is_out_of_order(&self) -> bool {
        self.arrived_ns < self.readable_ns
    }
}

struct State {
    path: Path,
    peer: Box<dyn Peer>,
    segments: Vec<Segment>,
    /// The first segment that was not read to its end, and how many of its bytes were.
    at: usize,
    offset: usize,
    /// When the other side takes no more, and when the client learns that the connection was broken off.
    closed_ns: u64,
    reset_ns: u64,
    /// When the client's last byte came to the other side, and when that does what it does last.
    came_ns: u64,
    acted_ns: u64,
    /// Bytes that were written, and those that are not yet acknowledged, each piece with the moment when it will be; `u64::MAX`: never.
    written: u64,
    acknowledged: u64,
    unacknowledged: VecDeque<(u64, u64)>,
    retransmitted: u32,
    arrivals: Arrivals,
    sent_ns: u64,
    reader: Option<Waker>,
}

/// What there is to read.
enum Next {
    Bytes,
    Closed,
    Reset,
    /// Nothing before a moment.
    Later(u64),
    Never,
}

impl State {
    /// The other side does something, because of what came at `from`.
    fn act(&mut self, from: u64, out: Outbound) {
        for (after, act) in out.0 {
            let act_ns = self.acted_ns.max(from + after);
            if act_ns >= self.closed_ns {
                continue;
            }
            self.acted_ns = act_ns;
            let bytes = match act {
                Act::Send(bytes) if bytes.is_empty() => continue,
                Act::Send(bytes) => bytes,
                Act::Close => {
                    self.closed_ns = act_ns;
                    Vec::new()
                }
                Act::Reset => {
                    self.closed_ns = act_ns;
                    self.break_off(act_ns + self.path.delay_ns);
                    continue;
                }
            };
            let arrived_ns = act_ns + self.path.delay_ns + (self.path.lost)();
            let before = self.segments.last().map_or(0, |before| before.readable_ns);
            let readable_ns = arrived_ns.max(before);
            self.segments.push(Segment { bytes, arrived_ns, readable_ns });
        }
        self.rouse();
    }

    /// Has the reader woken when there is something to read.
    fn rouse(&mut self) {
        if let (Next::Later(at), Some(reader)) = (self.next(0), &self.reader) {
            wake_at(at, reader);
        }
    }

    fn break_off(&mut self, at: u64) {
        self.reset_ns = self.reset_ns.min(at);
    }

    /// What there is to read at a moment.
    fn next(&self, now: u64) -> Next {
        let readable = self.segments.get(self.at).map_or(u64::MAX, |next| next.readable_ns);
        let moment = readable.min(self.reset_ns);
        match () {
            () if moment == u64::MAX => Next::Never,
            () if moment > now => Next::Later(moment),
            () if self.reset_ns < readable => Next::Reset,
            () if self.segments[self.at].bytes.is_empty() => Next::Closed,
            () => Next::Bytes,
        }
    }

    /// Reads what there was at a moment.
    fn read(&mut self, moment: u64, buffer: &mut [u8]) -> io::Result<Read> {
        match self.next(moment) {
            Next::Bytes => {}
            Next::Closed => return Ok(Read::unstamped(0)),
            Next::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
            Next::Later(_) | Next::Never => return Err(io::ErrorKind::WouldBlock.into()),
        }
        let mut read = Read::unstamped(0);
        while let (true, Next::Bytes) = (read.bytes < buffer.len(), self.next(moment)) {
            let segment = &self.segments[self.at];
            let rest = &segment.bytes[self.offset..];
            let length = rest.len().min(buffer.len() - read.bytes);
            buffer[read.bytes..read.bytes + length].copy_from_slice(&rest[..length]);
            read = Read { bytes: read.bytes + length, stamp_ns: EPOCH_NS + segment.arrived_ns };
            self.offset += length;
            if self.offset == segment.bytes.len() {
                (self.at, self.offset) = (self.at + 1, 0);
            }
        }
        Ok(read)
    }

    /// Notes which bytes have been acknowledged up to now.
    fn acknowledge(&mut self) {
        while let Some((_, bytes)) = self.unacknowledged.pop_front_if(|(at, _)| *at <= now()) {
            self.acknowledged += bytes;
        }
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let now = now();
        if self.reset_ns <= now {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        self.acknowledge();
        let mut bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        let waiting: u64 = self.unacknowledged.iter().map(|(_, bytes)| bytes).sum();
        let room = self.path.window.saturating_sub(waiting as usize);
        if room == 0 && !bytes.is_empty() {
            let moment = self.unacknowledged.front().map_or(u64::MAX, |(at, _)| *at);
            let moment = moment.min(self.reset_ns);
            if moment < u64::MAX {
                wake_at(moment, cx.waker());
            }
            return Poll::Pending;
        }
        bytes.truncate(room);
        if self.sent_ns == 0 {
            self.sent_ns = now;
        }
        self.written += bytes.len() as u64;
        let late = (self.path.lost)();
        self.retransmitted += u32::from(late > 0);
        let came_ns = self.came_ns.max(now + self.path.delay_ns + late);
        self.came_ns = came_ns;
        let back_ns = came_ns + self.path.delay_ns;
        if came_ns >= self.closed_ns {
            self.unacknowledged.push_back((u64::MAX, bytes.len() as u64));
            self.break_off(back_ns);
            self.rouse();
        } else {
            self.unacknowledged.push_back((back_ns, bytes.len() as u64));
            let mut out = Outbound::default();
            self.peer.on_bytes(&bytes, &mut out);
            self.act(came_ns, out);
        }
        Poll::Ready(Ok(bytes.len()))
    }
}

/// The client's socket. Clones are the same one.
#[derive(Clone)]
pub struct VirtualSocket(Rc<RefCell<State>>);

impl VirtualSocket {
    /// A connection that was made just now.
    pub fn new(path: Path, peer: impl Peer + 'static) -> VirtualSocket {
        VirtualSocket(Rc::new(RefCell::new(State {
            path,
            peer: Box::new(peer),
            segments: Vec::new(),
            at: 0,
            offset: 0,
            closed_ns: u64::MAX,
            reset_ns: u64::MAX,
            came_ns: 0,
            acted_ns: 0,
            written: 0,
            acknowledged: 0,
            unacknowledged: VecDeque::new(),
            retransmitted: 0,
            arrivals: Arrivals::default(),
            sent_ns: 0,
            reader: None,
        })))
    }

    pub(super) fn round_trip_ns(&self) -> u64 {
        2 * self.0.borrow().path.delay_ns
    }

    /// The other side does something of its own accord.
    pub fn act(&self, act: impl FnOnce(&mut Outbound)) {
        let mut out = Outbound::default();
        act(&mut out);
        self.0.borrow_mut().act(now(), out);
    }

    /// When the last byte of the first `bytes` of all that comes could be read.
    pub fn readable_ns(&self, bytes: usize) -> Option<u64> {
        let mut left = bytes;
        let state = self.0.borrow();
        let last = state.segments.iter().find(|segment| {
            let is_last = left > 0 && left <= segment.bytes.len();
            left = left.saturating_sub(segment.bytes.len());
            is_last
        });
        last.map(|segment| segment.readable_ns)
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        let mut state = self.0.borrow_mut();
        match state.read(now(), buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                state.reader = Some(cx.waker().clone());
                state.rouse();
                Poll::Pending
            }
            read => Poll::Ready(read),
        }
    }

    pub(crate) fn poll_discard(&self, cx: &mut Context<'_>, most: u64) -> Poll<io::Result<usize>> {
        let mut thrown = vec![0; most.min(1 << 20) as usize];
        self.poll_read(cx, &mut thrown).map_ok(|read| read.bytes)
    }

    /// Reads what the event loop has seen when it looked last.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(saw(), buffer).map(|read| read.bytes)
    }

    pub(crate) fn ago_ns(&self, read: Read, clock: &Clock, looks: &Looks) -> Option<u64> {
        let mut arrivals = std::mem::take(&mut self.0.borrow_mut().arrivals);
        let recent_ns = || looks.recent_ns(clock.now());
        let inflow = || Some(self.tcp_info().inflow());
        let ago = arrivals.ago_ns(read.stamp_ns, clock.system_ns(), recent_ns, inflow);
        self.0.borrow_mut().arrivals = arrivals;
        ago
    }

    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().poll_write(cx, pieces)
    }

    pub(crate) fn begin(&self) {
        self.0.borrow_mut().sent_ns = 0;
    }

    pub(crate) fn sent(&self) -> Option<Sent> {
        let state = self.0.borrow();
        let is_told = state.path.is_in_ring && state.sent_ns > 0;
        is_told.then_some(Sent { submitted_ns: state.sent_ns, sent_ns: state.sent_ns })
    }

    pub(crate) fn is_in_ring(&self) -> bool {
        self.0.borrow().path.is_in_ring
    }

    pub(crate) fn written(&self) -> u64 {
        self.0.borrow().written
    }

    pub(crate) fn tcp_info(&self) -> TcpInfo {
        let (now, mut state) = (now(), self.0.borrow_mut());
        state.acknowledge();
        let came = || state.segments.iter().filter(|segment| segment.arrived_ns <= now);
        let out_of_order = came().filter(|segment| segment.is_out_of_order()).count();
        let continued = came().map(|segment| segment.readable_ns).filter(|at| *at <= now).max();
        let last_ms = now / 1_000_000 - continued.unwrap_or(0) / 1_000_000;
        TcpInfo::made_up(
            last_ms as u32,
            state.acknowledged,
            state.retransmitted,
            out_of_order as u32,
        )
    }
}
