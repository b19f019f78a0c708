//! Against real sockets of this process, driven by hand.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use io_uring::types::CancelBuilder;
use rustix::event::{PollFd, PollFlags};
use tokio::net::TcpSocket;

use super::requests::{Kind, number, parts};
use super::*;
use crate::progress::Clock;
use crate::socket_facts::Read;

/// A ring, or none where the system forbids it (containers often do): then there is nothing to test.
fn ring() -> Option<Rc<Ring>> {
    match Ring::new(Clock::new(Instant::now()), None) {
        Ok(ring) => Some(Rc::new(ring)),
        Err(error) => {
            println!("not tested: there is no io_uring here ({error})");
            None
        }
    }
}

fn socket() -> TcpSocket {
    TcpSocket::new_v4().expect("a socket")
}

/// Waits until something has arrived, for so many ns.
fn wait(ring: &Ring, ns: u64) {
    ring.flush();
    let now = ring.clock.now();
    ring.enter(now, now + ns);
    ring.dispatch();
}

/// Drives until something is ready. Whoever runs the tests ends one for which it never is.
fn drive<R>(ring: &Ring, mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = poll(&mut cx) {
            return result;
        }
        wait(ring, 20_000_000);
    }
}

pub(super) fn connect(ring: &Rc<Ring>, listener: &TcpListener) -> io::Result<Socket> {
    let to = listener.local_addr().expect("an address");
    let mut connecting = pin!(Socket::connect(ring, socket(), to));
    drive(ring, |cx| connecting.as_mut().poll(cx))
}

fn pair(ring: &Rc<Ring>) -> (Socket, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let socket = connect(ring, &listener).expect("a connection");
    (socket, listener.accept().expect("a connection").0)
}

fn read(ring: &Ring, socket: &Socket, most: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; most];
    let Read { bytes, .. } = drive(ring, |cx| socket.poll_read(cx, &mut buffer))?;
    buffer.truncate(bytes);
    Ok(buffer)
}

fn write(ring: &Ring, socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    drive(ring, |cx| socket.poll_write(cx, &[io::IoSlice::new(bytes)]))
}

/// Waits until all sockets that were dropped are really gone.
fn settle(ring: &Ring) {
    drive(ring, |_| match ring.slots.borrow().is_empty() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
}

/// What has arrived is there for one who does not wait.
#[test]
fn a_look_takes_what_has_arrived() {
    let Some(ring) = ring() else { return };
    let (socket, mut peer) = pair(&ring);
    let mut cx = Context::from_waker(Waker::noop());
    let mut buffer = [0; 10];
    assert!(socket.poll_read(&mut cx, &mut buffer).is_pending());
    ring.poll(ring.clock.now());
    peer.write_all(b"hello").expect("open");
    let mut looks = std::iter::repeat_with(|| {
        ring.poll(ring.clock.now());
        std::thread::sleep(Duration::from_millis(1));
        socket.poll_read(&mut cx, &mut buffer)
    });
    let read = looks.find(Poll::is_ready).expect("five bytes");
    assert!(matches!(read, Poll::Ready(Ok(Read { bytes: 5, .. }))), "{read:?}");
}

#[test]
fn many_sockets_are_dropped_together() {
    let Some(ring) = ring() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut cx = Context::from_waker(Waker::noop());
    let pairs: Vec<_> = (0..600)
        .map(|_| {
            let socket = connect(&ring, &listener).expect("a connection");
            assert!(socket.poll_read(&mut cx, &mut [0; 10]).is_pending());
            (socket, listener.accept().expect("a connection").0)
        })
        .collect();
    let (sockets, peers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    drop(sockets);
    drop(ring);
    for mut peer in peers {
        assert_eq!(peer.read(&mut [0; 10]).ok(), Some(0), "closed");
    }
}

#[test]
fn numbers_name_requests() {
    let of = number(Kind::Send, u32::MAX, 0xff_ffff);
    assert_eq!(parts(of), (Some(Kind::Send), u32::MAX, 0xff_ffff));
    assert_eq!(parts(number(Kind::Cancel, 7, 0)), (Some(Kind::Cancel), 7, 0));
    assert_eq!(parts(0).0, None);
}

#[test]
fn what_is_sent_comes_back() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    socket.begin();
    assert_eq!(write(&ring, &socket, b"ping").expect("open"), 4);
    assert_eq!(socket.sent(), None, "it is batched with others");
    ring.submit();
    assert!(socket.sent().is_some());
    let mut got = [0; 4];
    other.read_exact(&mut got).expect("open");
    assert_eq!(&got, b"ping");
    other.write_all(b"pong and more").expect("open");
    assert_eq!(read(&ring, &socket, 4).expect("open"), b"pong");
    assert_eq!(read(&ring, &socket, 64).expect("open"), b" and more");
    drop(other);
    assert_eq!(read(&ring, &socket, 64).expect("closed in order"), b"");
    drop(socket);
    settle(&ring);
}

#[test]
fn nobody_listens() {
    let Some(ring) = ring() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = listener.local_addr().expect("an address");
    drop(listener);
    let mut connecting = pin!(Socket::connect(&ring, socket(), to));
    let error = drive(&ring, |cx| connecting.as_mut().poll(cx)).err().expect("nobody there");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    settle(&ring);
}

#[test]
fn large_writes_wait_for_room() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    let sent: Vec<u8> = (0..20_000_000u32).map(|at| (at / 3) as u8).collect();
    let expected = sent.clone();
    let reader = std::thread::spawn(move || {
        let mut got = vec![0; expected.len()];
        other.read_exact(&mut got).expect("all of it");
        got == expected
    });
    let mut at = 0;
    while at < sent.len() {
        at += write(&ring, &socket, &sent[at..]).expect("open");
    }
    ring.submit();
    assert!(reader.join().expect("no panic"));
    assert!(socket.sent().is_some());
}

#[test]
fn files_are_sent_by_the_kernel_behind_what_was_written() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    let path = std::env::temp_dir().join(format!("squall-ring-{}", std::process::id()));
    let content: Vec<u8> = (0..5_000_000u32).map(|at| (at / 11) as u8).collect();
    std::fs::write(&path, &content).expect("writable");
    let file = std::fs::File::open(&path).expect("readable");
    std::fs::remove_file(&path).expect("there");
    let expected = [b"head".as_slice(), &content, b"tail"].concat();
    let reader = std::thread::spawn(move || {
        let mut got = vec![0; expected.len()];
        other.read_exact(&mut got).expect("all of it");
        got == expected
    });
    write(&ring, &socket, b"head").expect("open");
    let mut left = content.len() as u64;
    while left > 0 {
        left -= drive(&ring, |cx| socket.poll_send_file(cx, &file, left)).expect("open") as u64;
    }
    assert_eq!(drive(&ring, |cx| socket.poll_send_file(cx, &file, 10)).expect("open"), 0);
    write(&ring, &socket, b"tail").expect("open");
    ring.submit();
    assert!(reader.join().expect("no panic"));
}

#[test]
fn more_arrives_than_there_are_buffers() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    let sent: Vec<u8> = (0..10_000_000u32).map(|at| (at / 7) as u8).collect();
    let expected = sent.clone();
    let writer = std::thread::spawn(move || other.write_all(&sent));
    let mut got = Vec::new();
    loop {
        let piece = read(&ring, &socket, 64 << 10).expect("open");
        if piece.is_empty() {
            break;
        }
        got.extend_from_slice(&piece);
        // All buffers fill up while nothing is read.
        if got.len() % (1 << 20) < piece.len() {
            (0..20).for_each(|_| wait(&ring, 1_000_000));
        }
    }
    writer.join().expect("no panic").expect("open");
    assert!(got == expected);
}

#[test]
fn more_sockets_are_short_of_buffers_than_the_kernel_is_asked_for_at_a_time() {
    let sizes = super::buffers::Sizes { most: 16, block: 4, size: 256 };
    let Ok(ring) = Ring::with(Clock::new(Instant::now()), None, sizes) else { return };
    let ring = Rc::new(ring);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut cx = Context::from_waker(Waker::noop());
    let pairs: Vec<_> = (0..600)
        .map(|_| {
            let socket = connect(&ring, &listener).expect("a connection");
            assert!(socket.poll_read(&mut cx, &mut [0; 10]).is_pending());
            (socket, listener.accept().expect("a connection").0)
        })
        .collect();
    for (_, other) in &pairs {
        let mut other = other;
        other.write_all(&[7; 2_000]).expect("open");
    }
    for (socket, _) in &pairs {
        let mut left = 2_000;
        while left > 0 {
            left -= read(&ring, socket, left).expect("open").len();
        }
    }
}

#[test]
fn bytes_are_thrown_away_and_reading_goes_on() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    other.write_all(b"head").expect("open");
    assert_eq!(read(&ring, &socket, 64).expect("open"), b"head");
    let total = 5_000_000;
    let writer = std::thread::spawn(move || {
        other.write_all(&vec![1; total])?;
        other.write_all(b"tail").map(|()| other)
    });
    let mut left = total;
    while left > 0 {
        let gone = drive(&ring, |cx| socket.poll_discard(cx, left as u64));
        left -= match gone {
            Some(gone) => gone.expect("open"),
            None => read(&ring, &socket, left.min(1 << 16)).expect("open").len(),
        };
    }
    let other = writer.join().expect("no panic").expect("open");
    assert_eq!(read(&ring, &socket, 64).expect("open"), b"tail");
    drop(other);
    assert_eq!(read(&ring, &socket, 64).expect("closed in order"), b"");
}

#[test]
fn large_bodies_are_read_past_the_ring_and_small_ones_again_through_it() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    let sent: Vec<u8> = (0..5_000_000u32).map(|at| (at / 5) as u8).collect();
    let expected = sent.clone();
    other.write_all(b"head").expect("open");
    assert_eq!(read(&ring, &socket, 64).expect("open"), b"head");
    let writer = std::thread::spawn(move || other.write_all(&sent).map(|()| other));
    let (mut got, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    while got.len() < expected.len() {
        let read = drive(&ring, |cx| socket.poll_read_large(cx, &mut buffer)).expect("open");
        got.extend_from_slice(&buffer[..read.bytes]);
    }
    assert!(got == expected);
    let mut other = writer.join().expect("no panic").expect("open");
    other.write_all(b"tail").expect("open");
    assert_eq!(read(&ring, &socket, 64).expect("open"), b"tail");
    drop(other);
    let read = drive(&ring, |cx| socket.poll_read_large(cx, &mut buffer)).expect("closed in order");
    assert_eq!(read.bytes, 0);
}

#[test]
fn a_reset_is_an_error_after_what_came_before() {
    let Some(ring) = ring() else { return };
    let (socket, mut other) = pair(&ring);
    other.write_all(b"last words").expect("open");
    assert_eq!(read(&ring, &socket, 4).expect("open"), b"last");
    // What was sent and not read makes the kernel reset when it is closed.
    write(&ring, &socket, b"unread").expect("open");
    ring.submit();
    assert_eq!(other.peek(&mut [0; 16]).expect("open"), 6, "all of it is there");
    drop(other);
    assert_eq!(read(&ring, &socket, 64).expect("open"), b" words");
    let error = read(&ring, &socket, 64).expect_err("broken");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    write(&ring, &socket, b"x").expect("it is only seen later");
    drive(&ring, |_| match socket.is_refused() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let error = write(&ring, &socket, b"x").expect_err("refused");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn sockets_that_are_dropped_leave_nothing_behind() {
    let Some(ring) = ring() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let before = std::fs::read_dir("/proc/self/fd").expect("proc").count();
    for _ in 0..200 {
        let socket = connect(&ring, &listener).expect("a connection");
        let mut cx = Context::from_waker(Waker::noop());
        let mut buffer = [0; 16];
        assert!(socket.poll_read(&mut cx, &mut buffer).is_pending());
        let (mut other, _) = listener.accept().expect("a connection");
        other.write_all(b"too late").expect("open");
    }
    settle(&ring);
    let after = std::fs::read_dir("/proc/self/fd").expect("proc").count();
    assert!(after < before + 100, "{before} {after}");
}

/// Whoever waits for a small send to be over is woken by that alone.
#[test]
fn a_send_that_is_waited_for_wakes() {
    let Some(ring) = ring() else { return };
    let (socket, _other) = pair(&ring);
    let mut cx = Context::from_waker(Waker::noop());
    let piece = [io::IoSlice::new(b"small")];
    assert!(socket.poll_write(&mut cx, &piece).is_ready());
    assert!(socket.poll_write(&mut cx, &piece).is_pending(), "the first one is on its way");
    ring.flush();
    let now = ring.clock.now();
    ring.enter(now, now + 20_000_000_000);
    ring.dispatch();
    assert!(ring.timer.is_set(), "it slept until its time was over");
    assert!(socket.poll_write(&mut cx, &piece).is_ready());
}

/// Users that close a connection and open the next one need no more descriptors than connections.
#[test]
fn closed_sockets_give_their_descriptors_back_at_once_if_they_are_needed() {
    let Some(ring) = ring() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let sockets: Vec<_> = (0..20)
        .map(|_| {
            let socket = connect(&ring, &listener).expect("a connection");
            let mut cx = Context::from_waker(Waker::noop());
            assert!(socket.poll_read(&mut cx, &mut [0; 16]).is_pending());
            (socket, listener.accept().expect("a connection"))
        })
        .collect();
    wait(&ring, 1_000_000);
    assert!(!ring.release_closed(), "all are in use");
    drop(sockets);
    assert_eq!(ring.slots.borrow().len(), 20, "the kernel still waits on them");
    assert!(ring.release_closed());
    assert!(ring.slots.borrow().is_empty());
}

/// What has arrived is all there without a wait, be it more than the kernel brings at a time.
#[test]
fn all_that_has_arrived_is_brought_without_a_wait() {
    let Some(ring) = ring() else { return };
    let mut pairs: Vec<_> = (0..100).map(|_| pair(&ring)).collect();
    let mut cx = Context::from_waker(Waker::noop());
    for (socket, _) in &pairs {
        assert!(socket.poll_read(&mut cx, &mut [0; 16]).is_pending());
    }
    wait(&ring, 1_000_000);
    for (_, other) in &mut pairs {
        other.write_all(b"arrived").expect("sent");
    }
    // On a busy machine it may be on its way for a while.
    for (_, slot) in ring.slots.borrow().iter() {
        let mut arrivals = [PollFd::new(&slot.fd, PollFlags::IN)];
        rustix::event::poll(&mut arrivals, None).expect("it arrives");
    }
    ring.collect(ring.clock.now());
    ring.dispatch();
    for (socket, _) in &pairs {
        let mut bytes = [0; 16];
        let read = socket.poll_read(&mut cx, &mut bytes);
        assert!(matches!(read, Poll::Ready(Ok(Read { bytes: 7, .. }))), "{read:?}");
    }
    assert!(ring.ring.borrow_mut().submission().is_empty());
}

/// Short waits do not each leave a timer behind, to go off later for nothing.
#[test]
fn one_timer_is_moved() {
    let Some(ring) = ring() else { return };
    let now = ring.clock.now();
    for sooner in 0..100 {
        assert!(ring.set_timer(now, now + (100 - sooner) * 3_600_000_000_000));
        ring.submit();
    }
    assert!(ring.set_timer(now, now));
    drive(&ring, |_| if ring.timer.is_set() { Poll::Pending } else { Poll::Ready(()) });
    let timer = CancelBuilder::user_data(number(Kind::Timer, 0, 0));
    let others = ring.ring.borrow().submitter().register_sync_cancel(None, timer);
    assert_eq!(others.expect_err("there is none").raw_os_error(), Some(libc::ENOENT));
}

/// What could not be sent is called off when its socket goes, and gives its descriptor back.
#[test]
fn a_small_send_that_finds_no_room_goes_with_its_socket() {
    let Some(ring) = ring() else { return };
    let (socket, _other) = pair(&ring);
    let mut cx = Context::from_waker(Waker::noop());
    let piece = [0; super::outbox::SMALL];
    // The kernel completes one at once, unless there is no room for it.
    while !socket.is_sending() {
        assert!(socket.poll_write(&mut cx, &[io::IoSlice::new(&piece)]).is_ready());
        wait(&ring, 1_000_000);
    }
    drop(socket);
    settle(&ring);
}

#[test]
fn what_the_kernel_may_still_write_into_is_not_freed() {
    let Some(ring) = ring() else { return };
    let ring = Rc::try_unwrap(ring).ok().expect("nobody else has it");
    let (kept, other) = (Rc::downgrade(&ring.buffers), self::ring().expect("as the first one"));
    ring.leak();
    drop(ring);
    assert!(kept.upgrade().is_some());
    let gone = Rc::downgrade(&other.buffers);
    drop(other);
    assert!(gone.upgrade().is_none());
}
