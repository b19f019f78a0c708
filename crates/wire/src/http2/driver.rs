//! Who reads and writes an HTTP/2 connection. A request that is alone on it does so itself, so that it costs
//! one wake of one task, as over HTTP/1.1. While there are several, or none, a task of the connection's own
//! does, and each request is woken for what is its.
//!
//! The connection and the request that drives it are given wakers of their own ([`Signal`]), which pass on
//! to whoever drives at that time; what they say while it is being driven is looked at before it is left.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use h2::client::Connection;

use super::state::State;
use super::watched::Watched;

/// How often a request looks at its connection in one poll. Beyond that it is polled again: the runtime may
/// want others to have their turn.
const LOOKS: usize = 4;

/// Whom a connection's signals wake.
#[derive(Debug, Default)]
struct Target {
    wakers: Mutex<Wakers>,
    /// Whoever drives is at it: there is nobody to wake.
    awake: AtomicBool,
}

#[derive(Debug, Default)]
struct Wakers {
    /// The connection's task.
    task: Option<Waker>,
    /// The request that drives, if one does.
    request: Option<Waker>,
}

impl Target {
    fn wakers(&self) -> MutexGuard<'_, Wakers> {
        // A thread that panics leaves wakers here, or none: both are right.
        self.wakers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wake(&self) {
        if self.awake.load(Ordering::SeqCst) {
            return;
        }
        let wakers = self.wakers();
        if let Some(waker) = wakers.request.as_ref().or(wakers.task.as_ref()) {
            waker.wake_by_ref();
        }
    }
}

/// A waker that remembers that it was called.
#[derive(Debug, Default)]
struct Signal {
    called: AtomicBool,
    target: Arc<Target>,
}

impl Signal {
    fn call(&self) {
        self.called.store(true, Ordering::SeqCst);
    }

    fn is_called(&self) -> bool {
        self.called.load(Ordering::SeqCst)
    }

    /// Whether it was called since this was asked last.
    fn take(&self) -> bool {
        self.called.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.call();
        self.target.wake();
    }
}

/// A connection, and who drives it.
pub(super) struct Driver {
    connection: RefCell<Connection<Watched, Bytes>>,
    state: Rc<State>,
    target: Arc<Target>,
    /// What the connection calls when it has something to do, and its waker.
    work: Arc<Signal>,
    work_waker: Waker,
    /// What the request that drives hands out in place of its own waker.
    news: Arc<Signal>,
    news_waker: Waker,
    /// The stream of the request that drives; 0: the task does.
    by: Cell<u32>,
}

impl Driver {
    pub(super) fn new(connection: Connection<Watched, Bytes>, state: Rc<State>) -> Self {
        let target = Arc::<Target>::default();
        let signal = || Arc::new(Signal { target: target.clone(), ..Signal::default() });
        let (work, news) = (signal(), signal());
        Driver {
            connection: RefCell::new(connection),
            state,
            work_waker: Waker::from(work.clone()),
            work,
            news_waker: Waker::from(news.clone()),
            news,
            target,
            by: Cell::new(0),
        }
    }

    /// The connection's task: it ends with the connection, or when nobody has it any more.
    pub(super) fn poll_task(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.target.wakers().task = Some(cx.waker().clone());
        let abandoned = self.state.abandoned.get();
        if self.by.get() != 0 && !abandoned {
            return Poll::Pending;
        }
        let polled = self.poll_connection();
        // One look has said goodbye, if the other side listens.
        if abandoned { Poll::Ready(()) } else { polled }
    }

    /// Wakes the connection's task.
    pub(super) fn wake_task(&self) {
        if let Some(task) = &self.target.wakers().task {
            task.wake_by_ref();
        }
    }

    /// A request is about to begin beside `others`. If there are any, the task drives from now on.
    pub(super) fn admit(&self, others: usize) {
        if others == 0 || self.by.replace(0) == 0 {
            return;
        }
        // It has handed out wakers that are not its own: it is polled, to hand out those.
        if let Some(request) = self.target.wakers().request.take() {
            request.wake();
        }
        self.wake_task();
    }

    /// Does what makes the connection call its task, where a request will drive it at once.
    pub(super) fn quietly<R>(&self, act: impl FnOnce() -> R) -> R {
        let before = self.target.awake.swap(true, Ordering::SeqCst);
        let result = act();
        self.target.awake.store(before, Ordering::SeqCst);
        result
    }

    /// Polls a request, and the connection with it where `alone` says that there is no other.
    pub(super) fn poll_request<R>(
        &self,
        stream: u32,
        alone: bool,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        if !alone {
            return poll(cx);
        }
        if self.by.replace(stream) != stream {
            // It has just begun, or the others have gone: whoever was to look at the connection before may
            // not have done so.
            self.work.call();
        }
        {
            let request = &mut self.target.wakers().request;
            if !request.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                *request = Some(cx.waker().clone());
            }
        }
        let polled = self.quietly(|| self.look(&mut poll));
        if polled.is_pending() && (self.work.is_called() || self.news.is_called()) {
            cx.waker().wake_by_ref();
        }
        polled
    }

    /// Polls the connection and its request until neither has anything to do.
    fn look<R>(&self, poll: &mut impl FnMut(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
        for _ in 0..LOOKS {
            if self.work.take() {
                // What it comes to, the request is told by its stream.
                let _ = self.poll_connection();
            }
            self.news.take();
            let polled = poll(&mut Context::from_waker(&self.news_waker));
            if polled.is_ready() || !(self.work.is_called() || self.news.is_called()) {
                return polled;
            }
        }
        Poll::Pending
    }

    /// Whether it is this stream's request that drives.
    pub(super) fn is_driven_by(&self, stream: u32) -> bool {
        self.by.get() == stream
    }

    /// A request has ended, and has let go of its stream. If it drove, the task does from now on; it is
    /// woken unless the request was `complete`: then what is left to do has time until the next one.
    pub(super) fn release(&self, stream: u32, complete: bool) {
        if !self.is_driven_by(stream) {
            return;
        }
        self.by.set(0);
        self.target.wakers().request = None;
        if !complete {
            self.wake_task();
        }
    }

    /// Reads and writes what there is.
    fn poll_connection(&self) -> Poll<()> {
        if self.state.over.get() {
            return Poll::Ready(());
        }
        let mut connection = self.connection.borrow_mut();
        let polled = Pin::new(&mut *connection).poll(&mut Context::from_waker(&self.work_waker));
        // What broke the connection is told to each of its streams.
        self.state.over.set(polled.is_ready());
        if self.state.news.take() || polled.is_ready() {
            self.state.capacity.set(connection.max_concurrent_send_streams());
            drop(connection);
            self.state.changed();
        }
        polled.map(drop)
    }
}
