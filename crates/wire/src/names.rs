//! Addresses of names that are used during a run, by `host:port`. One of those who use a name looks it up, and others wait
//! for that, or go on with the addresses that were known.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use tokio::sync::OnceCell;

use crate::progress::Clock;

/// Fewer names than these are kept, however long ago they were used.
const FEW: usize = 1_024;

/// Addresses of a name.
pub(crate) type Addresses = Rc<[SocketAddr]>;

/// What a look-up comes to; an error is told in words.
pub(crate) type LookedUp = Result<Addresses, Rc<str>>;

/// A look-up, shared by all who wait for it: if the one that makes it gives up, the next one makes it.
pub(crate) type LookUp = OnceCell<LookedUp>;

/// The names that are known.
pub(crate) struct Names {
    names: RefCell<HashMap<String, Name>>,
    /// How many there may be before those are dropped that were not used since the last time.
    room: Cell<usize>,
    /// How long addresses hold, in nanoseconds.
    ttl_ns: u64,
}

#[derive(Default)]
struct Name {
    addresses: Option<Addresses>,
    /// Until when they hold, in nanoseconds on the client's clock.
    until_ns: u64,
    /// The look-up that somebody makes or waits for.
    running: Weak<LookUp>,
    is_used: bool,
}

impl Names {
    pub(crate) fn new(ttl_ns: u64) -> Self {
        Names { names: RefCell::default(), room: Cell::new(FEW), ttl_ns }
    }

    /// Whether nothing is known of a name.
    pub(crate) fn is_new(&self, key: &str) -> bool {
        !self.names.borrow().contains_key(key)
    }

    /// The addresses of a name to go on with, or else the look-up to make or to wait for: [`Names::look_up`].
    pub(crate) fn known(&self, key: &str, now: u64) -> Result<Addresses, Rc<LookUp>> {
        let mut names = self.names.borrow_mut();
        let name = self.entry(&mut names, key);
        let running = name.running.upgrade();
        match (&name.addresses, running) {
            (Some(known), running) if name.until_ns > now || running.is_some() => Ok(known.clone()),
            (_, Some(running)) => Err(running),
            _ => {
                let begun = Rc::new(LookUp::new());
                name.running = Rc::downgrade(&begun);
                Err(begun)
            }
        }
    }

    /// Waits for a look-up, or makes it if nobody does.
    pub(crate) async fn look_up(
        &self,
        key: &str,
        running: &LookUp,
        clock: &Clock,
        make: impl AsyncFnOnce() -> LookedUp,
    ) -> LookedUp {
        let make = || async {
            let found = make().await;
            match &found {
                Ok(addresses) => self.note(key, addresses, clock.now()),
                Err(_) => self.give_up(key),
            }
            found
        };
        running.get_or_init(make).await.clone()
    }

    /// Notes the addresses of a name as of a moment on the client's clock.
    pub(crate) fn note(&self, key: &str, addresses: &Addresses, now: u64) {
        let mut names = self.names.borrow_mut();
        let name = self.entry(&mut names, key);
        name.addresses = Some(addresses.clone());
        name.until_ns = now.saturating_add(self.ttl_ns);
        name.running = Weak::new();
    }

    /// A name could not be looked up: the next one who asks tries again.
    fn give_up(&self, key: &str) {
        if let Some(name) = self.names.borrow_mut().get_mut(key) {
            name.running = Weak::new();
        }
    }

    /// What is known of a name, which is used. If there are many, those are dropped that were not used since this was done
    /// last.
    fn entry<'n>(&self, names: &'n mut HashMap<String, Name>, key: &str) -> &'n mut Name {
        if names.len() >= self.room.get() && !names.contains_key(key) {
            let is_kept = |name: &mut Name| {
                std::mem::take(&mut name.is_used) || name.running.strong_count() > 0
            };
            names.retain(|_, name| is_kept(name));
            self.room.set(FEW.max(2 * names.len()));
        }
        let name = names.entry(key.to_owned()).or_default();
        name.is_used = true;
        name
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    use super::*;

    const TTL: u64 = 10;

    fn address(number: u32) -> Addresses {
        Rc::new([SocketAddr::from((number.to_be_bytes(), 80))])
    }

    fn poll<T>(future: &mut Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A name server that answers when it is told to, and counts what it is asked for.
    #[derive(Default)]
    struct Server {
        asked: Cell<u32>,
        answer: RefCell<Option<LookedUp>>,
    }

    impl Server {
        async fn answer(&self) -> LookedUp {
            self.asked.set(self.asked.get() + 1);
            std::future::poll_fn(|_| match &*self.answer.borrow() {
                Some(answer) => Poll::Ready(answer.clone()),
                None => Poll::Pending,
            })
            .await
        }

        /// What somebody gets who uses the name at a moment.
        async fn ask(&self, names: &Names, now: u64) -> LookedUp {
            let running = match names.known("a:1", now) {
                Ok(known) => return Ok(known),
                Err(running) => running,
            };
            let clock = Clock::new(Instant::now() + Duration::from_secs(3600));
            names.look_up("a:1", &running, &clock, async || self.answer().await).await
        }
    }

    #[test]
    fn a_new_name_is_looked_up_once_for_all_who_use_it() {
        for answer in [Ok(address(1)), Err(Rc::from("no such name"))] {
            let (names, server) = (Names::new(TTL), Server::default());
            let mut users: Vec<_> = (0..100).map(|_| Box::pin(server.ask(&names, 0))).collect();
            let mut all =
                || -> Vec<_> { users.iter_mut().map(|user| poll(&mut user.as_mut())).collect() };
            assert!(all().iter().all(Poll::is_pending));
            *server.answer.borrow_mut() = Some(answer.clone());
            // All but the first wait for it, who may be polled before they are woken.
            assert!(all().iter().all(|got| *got == Poll::Ready(answer.clone())));
            assert_eq!(server.asked.get(), 1);
            // What has failed is tried again by the next one.
            let again = poll(&mut pin!(server.ask(&names, 0)));
            assert_eq!(
                (again, server.asked.get()),
                (Poll::Ready(answer.clone()), 1 + u32::from(answer.is_err()))
            );
        }
    }

    #[test]
    fn a_new_name_is_looked_up_by_the_next_one_if_the_first_gives_up() {
        let (names, server) = (Names::new(TTL), Server::default());
        let mut first = Box::pin(server.ask(&names, 0));
        let mut second = pin!(server.ask(&names, 0));
        assert!(poll(&mut first.as_mut()).is_pending() && poll(&mut second).is_pending());
        assert_eq!(server.asked.get(), 1);
        drop(first);
        assert!(poll(&mut second).is_pending());
        assert_eq!(server.asked.get(), 2);
        *server.answer.borrow_mut() = Some(Ok(address(1)));
        assert_eq!(poll(&mut second), Poll::Ready(Ok(address(1))));
    }

    #[test]
    fn one_looks_a_name_up_again_while_others_go_on_with_what_was_known() {
        let (names, server) = (Names::new(TTL), Server::default());
        names.note("a:1", &address(1), 0);
        let old = Poll::Ready(Ok(address(1)));
        let at = |now| poll(&mut pin!(server.ask(&names, now)));
        assert_eq!((at(TTL - 1), server.asked.get()), (old.clone(), 0));
        let mut first = Box::pin(server.ask(&names, TTL));
        assert!(poll(&mut first.as_mut()).is_pending());
        assert_eq!((at(TTL), server.asked.get()), (old.clone(), 1));
        // It is given up: the next one looks it up, and not only after another TTL.
        drop(first);
        let mut next = pin!(server.ask(&names, TTL));
        assert!(poll(&mut next).is_pending());
        assert_eq!((at(TTL), server.asked.get()), (old, 2));
        *server.answer.borrow_mut() = Some(Err("no answer".into()));
        assert!(matches!(poll(&mut next), Poll::Ready(Err(_))));
        // It failed: so does the next one.
        *server.answer.borrow_mut() = Some(Ok(address(2)));
        assert_eq!((at(TTL), server.asked.get()), (Poll::Ready(Ok(address(2))), 3));
    }

    #[test]
    fn a_million_names_take_no_memory() {
        let names = Names::new(u64::MAX);
        names.note("used", &address(0), 0);
        let mut most = 0;
        for number in 0..1_000_000 {
            names.note(&number.to_string(), &address(number), 0);
            assert!(names.known("used", 0).is_ok());
            most = most.max(names.names.borrow().len());
        }
        assert!(most <= 4 * FEW, "{most}");
    }
}
