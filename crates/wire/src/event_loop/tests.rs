//! How often a loop goes round, and for what, is counted: nothing here depends on how long it takes.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::*;
use crate::{Clock, Connection, Io, Opened, Origin, Progress, Scheme, Settings, Shared, Via};

/// Long enough for hundreds of looks of a loop that polls.
const QUIET: Duration = Duration::from_millis(300);
/// A loop that nobody wakes ends the test so late: never before one that a busy machine holds up.
const GIVE_UP_NS: u64 = 600_000_000_000;

#[derive(Default)]
struct Counter {
    iterations: Cell<u32>,
    gave_up: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

impl LoopOwner for Counter {
    fn next_deadline(&self) -> u64 {
        if self.gave_up.get() { u64::MAX } else { GIVE_UP_NS }
    }

    fn on_deadline(&self) {
        self.gave_up.set(true);
        self.waker.take().expect("it was polled").wake();
    }

    fn on_iteration(&self, _: u64) {
        self.iterations.set(self.iterations.get() + 1);
    }
}

/// Runs `work` in a loop with a ring; `None`: the system has none, and there is nothing to test.
fn run<F: Future>(
    counter: &Counter,
    work: impl FnOnce(Rc<Client>) -> F,
) -> Option<Option<F::Output>> {
    let settings = Settings { io: Io::Uring, ..Settings::default() };
    let shared = match Shared::new(settings, &[]) {
        Ok(shared) => shared,
        Err(error) => {
            println!("not tested: {error}");
            return None;
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("an event loop");
    let waker = LoopWaker::new().expect("a descriptor");
    let _within = runtime.enter();
    let client = Client::new(shared, Clock::new(Instant::now()), 0, &waker).expect("a ring");
    let work = work(client.clone());
    let mut work = Box::pin(work);
    let or_given_up = poll_fn(|cx| {
        counter.waker.set(Some(cx.waker().clone()));
        if counter.gave_up.get() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(cx).map(Some)
    });
    Some(run_loop(&runtime, &client, &waker, counter, or_given_up))
}

/// Gives its waker to another thread, and waits until that has woken it.
async fn told(wakers: mpsc::Sender<Waker>, done: mpsc::Receiver<()>) {
    let mut asked = false;
    poll_fn(|cx| {
        if !std::mem::replace(&mut asked, true) {
            wakers.send(cx.waker().clone()).expect("somebody takes it");
        }
        if done.try_recv().is_ok() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Another thread that wakes, after a while, who gives it a waker.
fn commander() -> (mpsc::Sender<Waker>, mpsc::Receiver<()>) {
    let (wakers, taken) = mpsc::channel::<Waker>();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let waker = taken.recv().expect("a waker");
        std::thread::sleep(QUIET);
        tell.send(()).expect("it waits");
        waker.wake();
    });
    (wakers, told)
}

#[test]
fn a_worker_that_sleeps_in_the_ring_is_woken_by_another_thread_and_by_nothing_else() {
    let counter = Counter::default();
    let (wakers, done) = commander();
    let Some(result) = run(&counter, |_| told(wakers, done)) else { return };
    assert!(result.is_some(), "the wake was lost");
    assert!(counter.iterations.get() <= 3, "{} iterations", counter.iterations.get());
}

#[test]
fn a_worker_that_sleeps_in_tokio_is_woken_by_another_thread_and_by_nothing_else() {
    let counter = Counter::default();
    let (wakers, done) = commander();
    let result = run(&counter, |client| async move {
        let _needs_tokio = client.in_tokio();
        told(wakers, done).await;
    });
    let Some(result) = result else { return };
    assert!(result.is_some(), "the wake was lost");
    assert!(counter.iterations.get() <= 4, "{} iterations", counter.iterations.get());
}

/// A server that answers so many requests, each after a while, and says how many there were.
fn server(requests: usize, wait: Duration) -> (Origin, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let origin = Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port };
    let server = std::thread::spawn(move || {
        let (mut peer, _): (TcpStream, _) = listener.accept().expect("a connection");
        for _ in 0..requests {
            let mut request = [0; 256];
            let read = peer.read(&mut request).expect("open");
            assert!(request[..read].ends_with(b"\r\n\r\n"));
            std::thread::sleep(wait);
            peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").expect("open");
        }
    });
    (origin, server)
}

async fn get(client: &Client, connection: &mut Connection) -> u16 {
    crate::exchange::tests::get(client, connection).await.expect("a response").0
}

#[test]
fn connections_in_the_ring_and_in_tokio_work_side_by_side() {
    const REQUESTS: usize = 50;
    let counter = Counter::default();
    let wait = Duration::from_millis(5);
    let (ring_origin, ring_server) = server(REQUESTS, wait);
    let (tokio_origin, tokio_server) = server(REQUESTS, wait);
    let result = run(&counter, |client| async move {
        let user = |origin: Origin, window| {
            let client = client.clone();
            async move {
                let progress = Progress::default();
                let connected =
                    crate::connect(&client, (&origin, &Via::default()), &progress, window).await;
                let (Opened::Exclusive(mut connection), _) = connected.expect("a connection")
                else {
                    panic!("nobody asked for HTTP/2");
                };
                for _ in 0..REQUESTS {
                    assert_eq!(get(&client, &mut connection).await, 200);
                }
            }
        };
        // One in the ring, one (with a window, as a throttled user has) in tokio.
        let mut users =
            [Box::pin(user(ring_origin, None)), Box::pin(user(tokio_origin, Some(64 << 10)))];
        let mut done = [false; 2];
        poll_fn(|cx| {
            for (user, done) in users.iter_mut().zip(&mut done) {
                *done = *done || user.as_mut().poll(cx).is_ready();
            }
            if done == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
    let Some(result) = result else { return };
    assert!(result.is_some(), "an event was lost");
    ring_server.join().expect("no panic");
    tokio_server.join().expect("no panic");
    // Each response wakes the loop, and each connection was made: it does not go round in between.
    let most = 3 * 2 * (REQUESTS as u32 + 2);
    assert!(counter.iterations.get() <= most, "{} iterations", counter.iterations.get());
}

/// tokio puts off tasks that yield until it has looked at its events; a worker in the ring does not
/// leave it to that.
#[test]
fn what_yields_goes_on() {
    let counter = Counter::default();
    let Some(result) = run(&counter, |_| async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }) else {
        return;
    };
    assert!(result.is_some(), "it was forgotten");
}

/// A name is looked up on a thread of tokio's, which wakes the worker in its ring.
#[test]
fn names_are_looked_up_while_the_worker_sleeps_in_the_ring() {
    let counter = Counter::default();
    let result = run(&counter, |client| async move {
        assert!(!client.waits_in_tokio());
        tokio::net::lookup_host(("localhost", 80)).await.map(Iterator::count)
    });
    let Some(result) = result else { return };
    assert!(result.expect("the wake was lost").expect("this machine") > 0);
}
