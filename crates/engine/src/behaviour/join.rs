//! Several futures in one task, each polled only when it was woken: of many requests at the same time
//! one that gets a response costs no look at the others.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Futures that are over when all are.
pub(super) struct Join<'f> {
    lanes: Vec<Lane<'f>>,
    /// How many are not over.
    left: usize,
    /// The waker of the task, as the lanes know it.
    task: Waker,
}

struct Lane<'f> {
    /// `None`: it is over.
    future: Option<Pin<Box<dyn Future<Output = ()> + 'f>>>,
    flag: Arc<Flag>,
    waker: Waker,
}

/// That a lane was woken.
struct Flag {
    woken: AtomicBool,
    task: Waker,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // The task looks at all flags after it was woken: one that is up has woken it already.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.task.wake_by_ref();
        }
    }
}

impl Flag {
    fn up(task: &Waker) -> Arc<Flag> {
        Arc::new(Flag { woken: AtomicBool::new(true), task: task.clone() })
    }
}

impl<'f> Join<'f> {
    pub(super) fn new<F: Future<Output = ()> + 'f>(futures: impl IntoIterator<Item = F>) -> Self {
        let task = Waker::noop();
        let lane = |future| {
            let flag = Flag::up(task);
            Lane { future: Some(Box::pin(future) as _), waker: flag.clone().into(), flag }
        };
        let lanes: Vec<Lane<'f>> = futures.into_iter().map(lane).collect();
        Join { left: lanes.len(), lanes, task: task.clone() }
    }

    /// Lets all look again.
    pub(super) fn wake_all(&mut self) {
        self.lanes.iter().for_each(|lane| lane.flag.woken.store(true, Ordering::Release));
    }

    /// Polls those that were woken.
    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        if !self.task.will_wake(cx.waker()) {
            // A task keeps its waker: this is the first poll, or all begin to wake another one.
            self.task = cx.waker().clone();
            for lane in &mut self.lanes {
                lane.flag = Flag::up(&self.task);
                lane.waker = lane.flag.clone().into();
            }
        }
        for lane in &mut self.lanes {
            let Some(future) = &mut lane.future else { continue };
            if lane.flag.woken.swap(false, Ordering::AcqRel)
                && future.as_mut().poll(&mut Context::from_waker(&lane.waker)).is_ready()
            {
                lane.future = None;
                self.left -= 1;
            }
        }
        if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::future::poll_fn;

    use super::*;

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Count(std::sync::atomic::AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_those_that_were_woken_are_polled() {
        let polls = [const { Cell::new(0) }; 3];
        let wakers = RefCell::new(Vec::new());
        let over = Cell::new(false);
        let lane = |lane: usize| {
            let (polls, wakers, over) = (&polls, &wakers, &over);
            poll_fn(move |cx| {
                polls[lane].set(polls[lane].get() + 1);
                wakers.borrow_mut().push(cx.waker().clone());
                if over.get() { Poll::Ready(()) } else { Poll::Pending }
            })
        };
        let mut join = Join::new((0..3).map(lane));
        let seen = || polls.each_ref().map(Cell::get);
        let count = Arc::new(Count::default());
        let woken = || count.0.load(Ordering::Relaxed);
        let task = Waker::from(count.clone());
        assert!(join.poll(&Context::from_waker(&task)).is_pending());
        assert!(join.poll(&Context::from_waker(&task)).is_pending());
        assert_eq!((seen(), woken()), ([1, 1, 1], 0));
        wakers.borrow()[1].wake_by_ref();
        wakers.borrow()[1].wake_by_ref();
        assert_eq!(woken(), 1, "one poll serves both");
        assert!(join.poll(&Context::from_waker(&task)).is_pending());
        assert_eq!(seen(), [1, 2, 1]);
        // Another task goes on with it.
        let other = Arc::new(Count::default());
        let task = Waker::from(other.clone());
        assert!(join.poll(&Context::from_waker(&task)).is_pending());
        assert_eq!(seen(), [2, 3, 2]);
        wakers.borrow().last().expect("polled").wake_by_ref();
        assert_eq!((woken(), other.0.load(Ordering::Relaxed)), (1, 1));
        over.set(true);
        assert!(join.poll(&Context::from_waker(&task)).is_pending());
        join.wake_all();
        assert!(join.poll(&Context::from_waker(&task)).is_ready());
        assert_eq!(seen(), [3, 4, 3], "what is over is not polled again");
    }

    #[test]
    fn nothing_is_over_at_once() {
        let none: [std::future::Ready<()>; 0] = [];
        assert!(Join::new(none).poll(&Context::from_waker(Waker::noop())).is_ready());
    }
}
