//! Sockets of a ring with few and small buffers, on which things happen in random order, against a model: what has arrived is
//! read as it was sent, or its connection is known to be spent; the kernel always has buffers again; and what is quiet is not
//! turned round for. Each seed is a story; those that have failed are told each time.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use squall_base::random::Random;

use super::buffers::Sizes;
use super::tests::connect;
use super::worker::SOON_NS;
use super::*;
use crate::progress::Clock;
use crate::socket_facts::{Idle, Read};

const SIZES: Sizes = Sizes { most: 16, block: 4, size: 256 };
/// More turns than this without an end are a loop without one.
const MANY: usize = 20_000;
/// Seeds that have failed, with what they found.
const FAILED: [u64; 1] = [5981];

/// How the other side has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    No,
    InOrder,
    Reset,
}

/// A task that has been woken, or not.
struct Task(AtomicBool);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection: its socket, the other side, and the model.
struct Pair {
    socket: Socket,
    peer: TcpStream,
    /// Bytes that the other side has sent, and those that were read: byte `n` is `n % 251`.
    sent: usize,
    read: usize,
    ended: Ended,
    rests: bool,
    task: Arc<Task>,
    waker: Waker,
}

fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

impl Pair {
    fn new(ring: &Rc<Ring>, listener: &TcpListener) -> Pair {
        let socket = connect(ring, listener).expect("a connection");
        let (peer, _) = listener.accept().expect("a connection");
        peer.set_nonblocking(true).expect("an option of all sockets");
        let task = Arc::new(Task(AtomicBool::new(false)));
        let waker = Waker::from(task.clone());
        let (ended, rests) = (Ended::No, false);
        let mut pair = Pair { socket, peer, sent: 0, read: 0, ended, rests, task, waker };
        // The first exchange has begun.
        pair.write();
        pair.poll_read(1, false);
        pair
    }

    /// The other side sends up to so many bytes.
    fn send(&mut self, most: usize) {
        if self.ended != Ended::No {
            return;
        }
        let bytes: Vec<u8> = (self.sent..self.sent + most).map(byte).collect();
        match self.peer.write(&bytes) {
            Ok(sent) => self.sent += sent,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }

    fn end(&mut self, how: Ended) {
        if self.ended != Ended::No {
            return;
        }
        if how == Ended::Reset {
            let at_once = Some(std::time::Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&self.peer, at_once).expect("an option");
            // A socket in its place, which nobody has the other end of.
            let other = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = other.local_addr().expect("an address");
            self.peer = TcpStream::connect(address).expect("a connection");
        } else {
            // What the socket was sent and has not read would make it a reset.
            while self.peer.read(&mut [0; 1 << 12]).is_ok_and(|read| read > 0) {}
            self.peer.shutdown(std::net::Shutdown::Write).expect("open");
        }
        self.ended = how;
    }

    /// Reads once; whether anything came of it. What is read is what was sent.
    fn poll_read(&mut self, room: usize, large: bool) -> bool {
        let mut cx = Context::from_waker(&self.waker);
        let mut buffer = vec![0; room];
        let read = match large {
            true => self.socket.poll_read_large(&mut cx, &mut buffer),
            false => self.socket.poll_read(&mut cx, &mut buffer),
        };
        match read {
            Poll::Pending => return false,
            // A reset is told once, be it to who writes.
            Poll::Ready(Ok(Read { bytes: 0, .. })) if self.ended == Ended::Reset => {
                self.read = self.sent;
                return false;
            }
            Poll::Ready(Ok(Read { bytes: 0, .. })) => {
                assert_eq!(self.ended, Ended::InOrder);
                assert_eq!(self.read, self.sent, "closed before all was read");
                return false;
            }
            Poll::Ready(Ok(Read { bytes, .. })) => {
                for (at, got) in buffer[..bytes].iter().enumerate() {
                    assert_eq!(*got, byte(self.read + at), "byte {}", self.read + at);
                }
                self.read += bytes;
            }
            Poll::Ready(Err(error)) => {
                assert_eq!(self.ended, Ended::Reset, "{error}");
                // What had arrived before may be lost with it.
                self.read = self.sent;
                return false;
            }
        }
        assert!(self.read <= self.sent);
        true
    }

    fn poll_discard(&mut self, most: usize) {
        let mut cx = Context::from_waker(&self.waker);
        match self.socket.poll_discard(&mut cx, most as u64) {
            Poll::Ready(Some(Ok(bytes))) => self.read += bytes,
            Poll::Ready(Some(Err(error))) => assert_eq!(self.ended, Ended::Reset, "{error}"),
            Poll::Ready(None) | Poll::Pending => {}
        }
        assert!(self.read <= self.sent);
    }

    fn write(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let written = self.socket.poll_write(&mut cx, &[io::IoSlice::new(b"request")]);
        if let Poll::Ready(Err(error)) = written {
            assert_ne!(self.ended, Ended::No, "{error}");
        }
    }

    fn rest(&mut self) {
        self.socket.rest();
        self.rests = true;
    }
}

/// A ring and its connections.
struct Story {
    ring: Rc<Ring>,
    listener: TcpListener,
    pairs: Vec<Pair>,
    random: Random,
}

impl Story {
    /// One turn of the event loop; whether anything had arrived.
    fn turn(&self) -> bool {
        self.ring.flush();
        let held: usize = self.ring.slots.borrow().iter().map(|(_, slot)| slot.arrived.len()).sum();
        assert!(held < usize::from(SIZES.most / 2), "{held} buffers are held");
        for (_, slot) in self.ring.slots.borrow().iter() {
            assert!(!slot.starved, "it waits for a buffer that nobody will give it");
            let aside = slot.aside.as_ref().map_or(0, |aside| aside.left());
            assert!(aside <= (16 << 10) + usize::from(SIZES.most) * usize::from(SIZES.size));
            assert!(!slot.rests || !slot.holds_bytes(), "it holds what nobody will read");
        }
        let now = self.ring.clock.now();
        self.ring.enter(now, now + SOON_NS);
        self.ring.dispatch()
    }

    fn act(&mut self) {
        let at = self.random.below(self.pairs.len());
        let (kind, size) = (self.random.below(100), self.random.below(3_000) + 1);
        let pair = &mut self.pairs[at];
        match kind {
            0..25 => pair.send(size),
            25..29 => pair.send(200_000),
            29..45 if !pair.rests => drop(pair.poll_read(size, false)),
            45..55 if !pair.rests => while pair.poll_read(size, false) {},
            55..58 if !pair.rests => drop(pair.poll_read(size, true)),
            58..61 if !pair.rests => pair.poll_discard(size),
            61..66 if !pair.rests => pair.write(),
            66..72 => pair.rest(),
            72..76 => pair.end(Ended::InOrder),
            76..78 => pair.end(Ended::Reset),
            78..82 => self.pairs[at] = Pair::new(&self.ring, &self.listener),
            82..86 => self.begin(at),
            _ => drop(self.turn()),
        }
    }

    /// The next exchange begins on a connection that rests: what came meanwhile is known.
    fn begin(&mut self, at: usize) {
        if !self.pairs[at].rests {
            return;
        }
        let pair = &self.pairs[at];
        let (came, ended) = (pair.sent > pair.read, pair.ended);
        let mut buffer = [0; 4096];
        let found = (0..MANY).find_map(|_| match pair.socket.idle(&mut buffer) {
            Ok(Idle::Quiet) if came || ended != Ended::No => {
                self.turn();
                None
            }
            found => Some(found),
        });
        match found.expect("what has happened is seen in the end") {
            Ok(Idle::Quiet) => {}
            Ok(Idle::Unsolicited) => assert!(came),
            // What had come before a reset goes with it.
            Ok(Idle::Closed) => assert!(ended == Ended::Reset || ended == Ended::InOrder && !came),
            Err(error) => assert_eq!(ended, Ended::Reset, "{error}"),
        }
        match came || ended != Ended::No {
            // It is spent.
            true => self.pairs[at] = Pair::new(&self.ring, &self.listener),
            false => {
                self.pairs[at].socket.begin();
                self.pairs[at].rests = false;
            }
        }
    }

    /// Everybody reads to the end of what was sent, each time that it is woken.
    fn settle(&mut self) {
        for turn in 0.. {
            assert!(turn < MANY, "what has arrived is never read: {:?}", self.left());
            for pair in self.pairs.iter_mut().filter(|pair| !pair.rests) {
                let is_woken = pair.task.0.swap(false, Ordering::Relaxed);
                while (turn == 0 || is_woken) && pair.poll_read(1_000, false) {}
            }
            if self.left().is_empty() {
                break;
            }
            self.turn();
        }
        let quiet = (0..MANY).any(|_| !self.turn());
        assert!(quiet, "nothing happens, and it turns round all the same");
    }

    /// What was sent and not read, by connection.
    fn left(&self) -> Vec<usize> {
        let left = self.pairs.iter().filter(|pair| !pair.rests).map(|pair| pair.sent - pair.read);
        left.filter(|left| *left > 0).collect()
    }
}

fn tell(seed: u64) {
    let Ok(ring) = Ring::with(Clock::new(Instant::now()), None, SIZES) else {
        return println!("not tested: there is no io_uring here");
    };
    let ring = Rc::new(ring);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut random = Random::new(seed);
    let pairs = (0..=random.below(24)).map(|_| Pair::new(&ring, &listener)).collect();
    let mut story = Story { ring, listener, pairs, random };
    for _ in 0..150 {
        story.act();
    }
    story.settle();
    story.pairs.clear();
    let gone = (0..MANY).any(|_| {
        story.turn();
        story.ring.slots.borrow().is_empty()
    });
    assert!(gone, "sockets that were dropped are still there");
}

/// Tells the stories of some seeds, and says which one failed.
fn tell_all(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let told = std::panic::catch_unwind(|| tell(seed));
        assert!(told.is_ok(), "seed {seed} failed");
    }
}

#[test]
fn what_arrives_is_read_or_known_and_buffers_come_back() {
    tell_all(FAILED.into_iter().chain(0..500));
}

#[test]
fn what_arrives_is_read_or_known_and_buffers_come_back_in_other_stories() {
    // For a longer look: `SQUALL_SEEDS=100000`.
    let most = std::env::var("SQUALL_SEEDS").ok().and_then(|most| most.parse().ok());
    tell_all(500..most.unwrap_or(1_000));
}
