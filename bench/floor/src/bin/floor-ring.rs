//! A bare loop on io_uring: it sends the prepared request on each connection, takes what is received out of
//! buffers that the kernel chooses, and sends again. One system call hands over all that is due and waits.
//!
//! The clock is read once before requests are handed over and once when the kernel comes back, for all of
//! them: a loop cannot do with less. A receive stays armed for many responses (multishot), and a send that
//! succeeds is not reported.

use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use io_uring::types::{BufRingEntry, Fixed};
use io_uring::{IoUring, cqueue, opcode, squeue};
use squall_floor::{Histogram, Options, Response, print};

/// Marks the completion of a send; below it is the number of the connection.
const SEND: u64 = 1 << 32;
/// Size of a buffer, in bytes.
const BUFFER: usize = 4096;

struct Connection {
    stream: TcpStream,
    response: Response,
    sent: Instant,
}

fn main() -> Result<(), String> {
    let options = Options::from_args()?;
    if !(1..=1024).contains(&options.connections) {
        return Err("expected 1 to 1,024 connections".to_owned());
    }
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_cqsize(8192)
        .build(4096)
        .map_err(|error| format!("io_uring: {error}"))?;
    let mut load = Load::new(&ring, &options)?;
    ring.submitter().register_ring_fd().map_err(|error| error.to_string())?;
    load.run(&mut ring)?;
    print(&load.histogram, load.begin);
    Ok(())
}

struct Load<'a> {
    options: &'a Options,
    connections: Vec<Connection>,
    buffers: Buffers,
    histogram: Histogram,
    begin: Instant,
    /// Connections whose request is handed over next.
    sending: Vec<usize>,
    /// Connections that still send.
    active: usize,
}

impl<'a> Load<'a> {
    fn new(ring: &IoUring, options: &'a Options) -> Result<Load<'a>, String> {
        let connect = || {
            let stream = TcpStream::connect(options.address)?;
            stream.set_nodelay(true)?;
            Ok(Connection { stream, response: Response::default(), sent: Instant::now() })
        };
        let connections: Vec<Connection> = (0..options.connections)
            .map(|_| connect())
            .collect::<std::io::Result<_>>()
            .map_err(|error| format!("{}: {error}", options.address))?;
        let files: Vec<RawFd> = connections.iter().map(|one| one.stream.as_raw_fd()).collect();
        ring.submitter().register_files(&files).map_err(|error| error.to_string())?;
        Ok(Load {
            options,
            active: connections.len(),
            sending: (0..connections.len()).collect(),
            connections,
            buffers: Buffers::register(ring, options.connections)?,
            histogram: Histogram::new(),
            begin: Instant::now(),
        })
    }

    fn run(&mut self, ring: &mut IoUring) -> Result<(), String> {
        let (submitter, mut submissions, mut completions) = ring.split();
        for number in 0..self.connections.len() {
            push(&mut submissions, &receive(number))?;
        }
        while self.active > 0 {
            let now = Instant::now();
            for number in self.sending.drain(..) {
                self.connections[number].sent = now;
                push(&mut submissions, &send(number, &self.options.request))?;
            }
            submissions.sync();
            submitter.submit_and_wait(1).map_err(|error| error.to_string())?;
            submissions.sync();
            completions.sync();
            let now = Instant::now();
            for completion in &mut completions {
                self.completed(&completion, now, &mut submissions)?;
            }
            // The kernel must see what was taken, or it would not wait.
            completions.sync();
            self.buffers.publish();
        }
        Ok(())
    }

    fn completed(
        &mut self,
        completion: &cqueue::Entry,
        now: Instant,
        submissions: &mut squeue::SubmissionQueue<'_>,
    ) -> Result<(), String> {
        let result = completion.result();
        if completion.user_data() & SEND != 0 {
            return Err(format!("a send ended with {result}"));
        }
        let number = completion.user_data() as usize;
        if !cqueue::more(completion.flags()) {
            push(submissions, &receive(number))?;
        }
        if result == -libc::ENOBUFS {
            // Buffers come back when this round of completions is through; the receive is armed again.
            return Ok(());
        }
        let id = cqueue::buffer_select(completion.flags());
        let (Some(id), 1..) = (id, result) else {
            return Err(format!("a receive ended with {result}"));
        };
        let connection = &mut self.connections[number];
        let ended = connection.response.receive(self.buffers.received(id, result as usize))?;
        self.buffers.give_back(id);
        if ended {
            self.histogram.record(now - connection.sent);
            if now - self.begin < self.options.length {
                self.sending.push(number);
            } else {
                self.active -= 1;
            }
        }
        Ok(())
    }
}

fn receive(number: usize) -> squeue::Entry {
    opcode::RecvMulti::new(Fixed(number as u32), 0).build().user_data(number as u64)
}

fn send(number: usize, request: &[u8]) -> squeue::Entry {
    opcode::Send::new(Fixed(number as u32), request.as_ptr(), request.len() as u32)
        // All of it or an error: a small request fits into any socket's buffer, and nothing else is in it.
        .flags(libc::MSG_WAITALL)
        .build()
        .flags(squeue::Flags::SKIP_SUCCESS)
        .user_data(number as u64 | SEND)
}

fn push(queue: &mut squeue::SubmissionQueue<'_>, entry: &squeue::Entry) -> Result<(), String> {
    // SAFETY: a send points to the request in `Options`, which `main` owns beyond the ring's last use; a
    // receive points to no memory of its own, but to registered buffers.
    unsafe { queue.push(entry) }.map_err(|_| "the submission queue is full".to_owned())
}

/// Buffers that the kernel chooses from: a ring of them in shared memory.
struct Buffers {
    memory: Box<[u8]>,
    entries: *mut BufRingEntry,
    count: u16,
    tail: u16,
}

impl Buffers {
    /// Two for each connection, all of them given to the kernel.
    fn register(ring: &IoUring, connections: usize) -> Result<Buffers, String> {
        let count = (connections * 2).next_power_of_two().max(64) as u16;
        let size = usize::from(count) * size_of::<BufRingEntry>();
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_ANONYMOUS | libc::MAP_PRIVATE);
        // SAFETY: new memory is asked for, at no address in particular, which nothing else knows.
        let entries = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0) };
        if entries == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().to_string());
        }
        let memory = vec![0; usize::from(count) * BUFFER].into();
        let mut buffers = Buffers { memory, entries: entries.cast(), count, tail: 0 };
        for id in 0..count {
            buffers.give_back(id);
        }
        buffers.publish();
        // SAFETY: the entries are page-aligned, `count` of them, and never unmapped.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, count, 0, 0) }
            .map_err(|error| format!("buffer ring: {error}"))?;
        Ok(buffers)
    }

    /// What the kernel wrote into a buffer that it has not been given back.
    fn received(&self, id: u16, length: usize) -> &[u8] {
        let begin = usize::from(id) * BUFFER;
        &self.memory[begin..begin + length]
    }

    /// Puts a buffer back. The kernel sees it with the next [`Buffers::publish`].
    fn give_back(&mut self, id: u16) {
        let address = self.memory[usize::from(id) * BUFFER..].as_mut_ptr() as u64;
        // SAFETY: masked with the count, a power of two, the index is within the mapped entries; the
        // kernel reads an entry only once the tail is beyond it.
        let entry = unsafe { &mut *self.entries.add(usize::from(self.tail & (self.count - 1))) };
        entry.set_addr(address);
        entry.set_len(BUFFER as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see what was put back.
    fn publish(&self) {
        // SAFETY: the tail lies in the mapped entries, is aligned, and is written by this thread alone; the
        // kernel reads it atomically.
        let tail = unsafe { &*BufRingEntry::tail(self.entries).cast::<AtomicU16>() };
        tail.store(self.tail, Ordering::Release);
    }
}
