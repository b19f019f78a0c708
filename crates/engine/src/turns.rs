//! Where users of all workers wait for each other: critical sections, in which only one of them is at a time, and places
//! at which so many of them meet. Plain lists behind locks, which are held for no longer than one look; who waits has a
//! [`Pass`], by which another thread wakes it. Pure but for that: time is an argument.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::roster::Seat;

/// What a pass holds while its user waits, ...
const WAITS: u64 = 0;
/// ... and when it goes on, but nobody noted since when.
const UNKNOWN: u64 = u64::MAX;

/// What lets a user go on that waits for others.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// Since when the user may go on, in nanoseconds of the run's clock.
    since: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Pass {
    /// Lets the user go on.
    fn grant(&self, since: u64) {
        self.since.store(since.max(WAITS + 1), Ordering::Release);
        let waker = lock(&self.waker).take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether the user may go on.
    pub(crate) fn is_granted(&self) -> bool {
        self.since.load(Ordering::Acquire) != WAITS
    }

    /// Since when the user may go on; `now` if nobody noted it. `None`: not yet, and `waker` is woken when it may.
    pub(crate) fn poll(&self, waker: &Waker, now: u64) -> Option<u64> {
        // It is put there before the look: who grants looks for it after that.
        *lock(&self.waker) = Some(waker.clone());
        match self.since.load(Ordering::Acquire) {
            WAITS => None,
            UNKNOWN => Some(now),
            since => Some(since),
        }
    }
}

/// What is behind a lock. A thread that panicked has left it whole: it is changed by calls that do not panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Critical sections that somebody is in, by name.
#[derive(Debug, Default)]
pub(crate) struct Sections(Mutex<HashMap<String, Section>>);

#[derive(Debug)]
struct Section {
    /// The user that is in it, ...
    user: Seat,
    /// ... as often as it has come in, or more of its flows have.
    inside: Vec<Arc<Pass>>,
    /// Who waits, in the order in which they came.
    line: VecDeque<(Seat, Arc<Pass>)>,
}

impl Sections {
    /// A user comes to a section at `now`. It is in it at once if nobody is, or it is already.
    pub(crate) fn enter(self: &Arc<Self>, name: String, user: Seat, now: u64) -> Turn {
        let pass = Arc::new(Pass::default());
        let turn = Turn { sections: self.clone(), name, pass: pass.clone(), left: UNKNOWN };
        match lock(&self.0).entry(turn.name.clone()) {
            Entry::Vacant(free) => {
                pass.grant(now);
                free.insert(Section { user, inside: vec![pass], line: VecDeque::new() });
            }
            Entry::Occupied(mut section) if section.get().user == user => {
                pass.grant(now);
                section.get_mut().inside.push(pass);
            }
            Entry::Occupied(mut section) => section.get_mut().line.push_back((user, pass)),
        }
        turn
    }

    /// Takes a pass out of a section. Returns those whose turn has come.
    fn leave(&self, name: &str, pass: &Arc<Pass>) -> Vec<Arc<Pass>> {
        let mut sections = lock(&self.0);
        let Some(section) = sections.get_mut(name) else { return Vec::new() };
        let Some(place) = section.inside.iter().position(|own| Arc::ptr_eq(own, pass)) else {
            section.line.retain(|(_, own)| !Arc::ptr_eq(own, pass));
            return Vec::new();
        };
        section.inside.swap_remove(place);
        if !section.inside.is_empty() {
            return Vec::new();
        }
        let Some((next, _)) = section.line.front() else {
            sections.remove(name);
            return Vec::new();
        };
        section.user = *next;
        // All flows of one user have the same turn.
        for (user, pass) in std::mem::take(&mut section.line) {
            if user == section.user {
                section.inside.push(pass);
            } else {
                section.line.push_back((user, pass));
            }
        }
        section.inside.clone()
    }
}

/// A user's turn in a critical section: it waits for it, or is in it. Whoever drops it leaves the section.
#[derive(Debug)]
pub(crate) struct Turn {
    sections: Arc<Sections>,
    name: String,
    pass: Arc<Pass>,
    /// When it was left.
    left: u64,
}

impl Turn {
    /// What says when it has come.
    pub(crate) fn pass(&self) -> &Pass {
        &self.pass
    }

    /// It is over at `now`.
    pub(crate) fn leave(mut self, now: u64) {
        self.left = now;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Woken when the lock is free again.
        let next = self.sections.leave(&self.name, &self.pass);
        next.iter().for_each(|pass| pass.grant(self.left));
    }
}

/// Places at which users meet, by number: those who wait there.
#[derive(Debug, Default)]
pub(crate) struct Places(Box<[Mutex<Vec<Arc<Pass>>>]>);

impl Places {
    pub(crate) fn new(count: usize) -> Places {
        Places((0..count).map(|_| Mutex::default()).collect())
    }

    /// A user comes to a place at `now`, at which `users` meet.
    pub(crate) fn come(self: &Arc<Self>, place: usize, users: u32, now: u64) -> Visit {
        let pass = Arc::new(Pass::default());
        let visit = Visit { places: self.clone(), place, pass: pass.clone() };
        let mut waiting = lock(&self.0[place]);
        waiting.push(pass);
        let all_there = waiting.len() >= users as usize;
        let met = if all_there { std::mem::take(&mut *waiting) } else { Vec::new() };
        drop(waiting);
        met.iter().for_each(|pass| pass.grant(now));
        visit
    }
}

/// That a user is at a place. Whoever drops it before all are there is counted no more.
#[derive(Debug)]
pub(crate) struct Visit {
    places: Arc<Places>,
    place: usize,
    pass: Arc<Pass>,
}

impl Visit {
    /// What says when all are there.
    pub(crate) fn pass(&self) -> &Pass {
        &self.pass
    }

    /// The user has waited long enough: all who are there go on, since `at`.
    pub(crate) fn give_up(&self, at: u64) {
        let mut waiting = lock(&self.places.0[self.place]);
        let is_there = waiting.iter().any(|own| Arc::ptr_eq(own, &self.pass));
        let gone = if is_there { std::mem::take(&mut *waiting) } else { Vec::new() };
        drop(waiting);
        gone.iter().for_each(|pass| pass.grant(at));
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.pass.is_granted() {
            lock(&self.places.0[self.place]).retain(|own| !Arc::ptr_eq(own, &self.pass));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: u64) -> Seat {
        Seat { number, load: 0, scenario: 0 }
    }

    /// Since when a pass is granted, if it is.
    fn since(pass: &Pass) -> Option<u64> {
        pass.poll(Waker::noop(), 999)
    }

    #[test]
    fn one_user_at_a_time_in_the_order_in_which_they_came() {
        let sections = Arc::new(Sections::default());
        let enter = |user, now| sections.enter("a".to_owned(), seat(user), now);
        let (first, second, third) = (enter(1, 10), enter(2, 11), enter(3, 12));
        let elsewhere = sections.enter("b".to_owned(), seat(2), 12);
        assert_eq!(since(first.pass()), Some(10));
        assert_eq!(since(elsewhere.pass()), Some(12), "another section is free");
        assert_eq!([since(second.pass()), since(third.pass())], [None, None]);
        first.leave(20);
        assert_eq!([since(second.pass()), since(third.pass())], [Some(20), None]);
        drop(second);
        assert_eq!(
            since(third.pass()),
            Some(999),
            "nobody noted when: it is known when it is seen"
        );
        drop((third, elsewhere));
        assert!(lock(&sections.0).is_empty(), "what nobody is in takes no memory");
    }

    #[test]
    fn who_goes_away_is_waited_for_no_more() {
        let sections = Arc::new(Sections::default());
        let enter = |user, now| sections.enter("a".to_owned(), seat(user), now);
        let (first, second, third) = (enter(1, 1), enter(2, 2), enter(3, 3));
        drop(second);
        first.leave(5);
        assert_eq!(since(third.pass()), Some(5));
        // Its turn has come, and it is gone before it has seen that.
        let fourth = enter(4, 6);
        third.leave(7);
        let fifth = enter(5, 8);
        fourth.leave(9);
        assert_eq!(since(fifth.pass()), Some(9));
    }

    #[test]
    fn a_user_never_waits_for_itself() {
        let sections = Arc::new(Sections::default());
        let enter = |user, now| sections.enter("a".to_owned(), seat(user), now);
        let (outer, other) = (enter(1, 1), enter(2, 2));
        let inner = enter(1, 3);
        assert_eq!(since(inner.pass()), Some(3));
        let beside = enter(2, 3);
        inner.leave(4);
        assert_eq!(since(other.pass()), None, "it came in twice, and left once");
        let last = enter(3, 4);
        outer.leave(5);
        let all = [&other, &beside, &last].map(|turn| since(turn.pass()));
        assert_eq!(all, [Some(5), Some(5), None], "both flows of one user");
    }

    #[test]
    fn users_go_on_when_so_many_are_there() {
        let places = Arc::new(Places::new(2));
        let (first, second) = (places.come(0, 3, 1), places.come(0, 3, 2));
        let elsewhere = places.come(1, 3, 2);
        assert_eq!([since(first.pass()), since(second.pass())], [None, None]);
        let third = places.come(0, 3, 7);
        for visit in [&first, &second, &third] {
            assert_eq!(since(visit.pass()), Some(7));
        }
        assert_eq!(since(elsewhere.pass()), None);
        let next = places.come(0, 3, 8);
        assert_eq!(since(next.pass()), None, "the next three meet anew");
        drop((first, second, third));
        assert_eq!(lock(&places.0[0]).len(), 1, "those who have met take nobody along");
        assert_eq!(since(places.come(1, 1, 9).pass()), Some(9), "nobody waits for itself");
    }

    #[test]
    fn those_who_are_there_go_on_when_the_first_has_waited_long_enough() {
        let places = Arc::new(Places::new(1));
        let (first, second) = (places.come(0, 3, 1), places.come(0, 3, 2));
        first.give_up(11);
        assert_eq!([since(first.pass()), since(second.pass())], [Some(11), Some(11)]);
        let third = places.come(0, 3, 12);
        second.give_up(13);
        assert_eq!(since(third.pass()), None, "who has gone on ends no other wait");
        drop(third);
        assert!(lock(&places.0[0]).is_empty(), "who is stopped is counted no more");
    }

    /// Users of several threads: none is in the section with another, and none is forgotten.
    #[test]
    fn threads_take_turns() {
        let sections = Arc::new(Sections::default());
        let (busy, done) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for user in 0..8 {
                let (sections, busy, done) = (&sections, &busy, &done);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let turn = sections.enter("a".to_owned(), seat(user), 1);
                        let thread = Waker::from(Arc::new(Unpark(std::thread::current())));
                        while turn.pass().poll(&thread, 1).is_none() {
                            std::thread::park();
                        }
                        assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0);
                        busy.fetch_sub(1, Ordering::SeqCst);
                        turn.leave(1);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 1_600);
    }

    struct Unpark(std::thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
}
