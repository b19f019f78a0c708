//! Queues with c servers and known service times, against which measured times can be
//! held: M/M/c, or M/D/c with fixed ones.
//!
//! The queue is worked out on arrival, not acted out. Service is first come first served and a
//! service time is drawn when the request arrives, so its departure is known at once: it starts
//! when the earliest of the c servers is free (Kiefer and Wolfowitz 1955) and ends a service time
//! later. The answer leaves at that moment, by the fine timers. So a late wake-up delays one answer
//! and not those behind it, no thread has to wake another, and all threads share one queue by a
//! lock held for a few nanoseconds. A client that goes away keeps its place, as in the theory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use super::bounded::Shared;
use crate::random::{Random, mix};

/// Most queues: beyond it the one that has been empty for longest is forgotten, with the place in its service
/// times.
const QUEUE_LIMIT: usize = 256;

/// What makes two requests share a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) servers: usize,
    pub(crate) mean: Duration,
    pub(crate) fixed: bool,
}

impl Kind {
    /// Where the service times of such a queue start, in a site of this seed.
    fn seed(self, site: u64) -> u64 {
        mix(mix(site ^ self.servers as u64) ^ self.mean.as_nanos() as u64)
    }

    fn service(self, random: &Random) -> Duration {
        match self.fixed {
            true => self.mean,
            false => Duration::from_secs_f64(random.exponential(self.mean.as_secs_f64())),
        }
    }
}

pub(crate) struct Queues {
    seed: u64,
    all: Shared<HashMap<Kind, Queue>>,
}

/// One of them: what its service times are drawn from, so that the n-th request to it has the same one in
/// each run of the same seed, and its servers.
struct Queue {
    random: Random,
    servers: Servers,
    /// When the last of its requests departs.
    busy_until: Instant,
}

/// When each server of a queue will be free, earliest first; servers never used are not in it.
#[derive(Default)]
struct Servers(BinaryHeap<Reverse<Instant>>);

impl Servers {
    /// Lets a request join: the moment at which its service starts.
    fn join(&mut self, servers: usize, now: Instant, service: Duration) -> Instant {
        let free = if self.0.len() < servers { None } else { self.0.pop() };
        let start = free.map_or(now, |Reverse(free)| free.max(now));
        self.0.push(Reverse(start + service));
        start
    }
}

impl Queues {
    pub(crate) fn new(seed: u64) -> Self {
        Queues { seed, all: Shared::default() }
    }

    /// Lets a request join a queue: the moment at which its service starts, and how long it takes.
    pub(crate) fn join(&self, kind: Kind, now: Instant) -> Result<(Instant, Duration), String> {
        let mut queues = self.all.lock();
        if queues.len() >= QUEUE_LIMIT && !queues.contains_key(&kind) {
            let empty = queues.iter().filter(|(_, queue)| queue.busy_until <= now);
            let Some((&oldest, _)) = empty.min_by_key(|(_, queue)| queue.busy_until) else {
                return Err(format!("{QUEUE_LIMIT} other queues have requests in them"));
            };
            queues.remove(&oldest);
        }
        let new = || Queue {
            random: Random::new(kind.seed(self.seed)),
            servers: Servers::default(),
            busy_until: now,
        };
        let queue = queues.entry(kind).or_insert_with(new);
        let service = kind.service(&queue.random);
        let start = queue.servers.join(kind.servers, now, service);
        queue.busy_until = queue.busy_until.max(start + service);
        Ok((start, service))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_served_in_order_by_the_server_that_is_free_first() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut queue = Servers::default();
        let cases = [(0, 10, 0), (1, 4, 1), (2, 5, 5), (3, 1, 10), (30, 1, 30)];
        for (arrival, service, expected) in cases {
            let got = queue.join(2, at(arrival), Duration::from_millis(service));
            assert_eq!(got, at(expected), "arrival at {arrival}");
        }
    }

    /// The mean wait in M/M/c by Erlang's C formula, in units of the mean service time.
    fn erlang_wait(servers: u32, load: f64) -> f64 {
        let offered = load * f64::from(servers);
        let mut term = 1.0;
        let mut sum = 0.0;
        for n in 0..servers {
            sum += term;
            term *= offered / f64::from(n + 1);
        }
        let waiting = term / (1.0 - load) / (sum + term / (1.0 - load));
        waiting / (f64::from(servers) * (1.0 - load))
    }

    #[test]
    fn waits_are_those_of_theory() {
        for (servers, load) in [(1, 0.5), (2, 0.8), (8, 0.9)] {
            let random = Random::new(42);
            let mut queue = Servers::default();
            let mut now = Instant::now();
            let mut waited = 0.0;
            let count = 300_000;
            for _ in 0..count {
                now += Duration::from_secs_f64(random.exponential(1.0 / (load * servers as f64)));
                let service = Duration::from_secs_f64(random.exponential(1.0));
                waited += (queue.join(servers, now, service) - now).as_secs_f64();
            }
            let (got, want) = (waited / f64::from(count), erlang_wait(servers as u32, load));
            assert!((got / want - 1.0).abs() < 0.06, "M/M/{servers} at {load}: {got}, {want}");
        }
    }

    #[test]
    fn queues_that_are_empty_make_room_for_others() {
        let queues = Queues::new(0);
        let kind = |servers| Kind { servers, mean: Duration::from_secs(1), fixed: true };
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        for servers in 0..QUEUE_LIMIT {
            queues.join(kind(1 + servers), at(servers as u64)).unwrap();
        }
        assert!(queues.join(kind(1000), at(999)).is_err(), "all have a request in them");
        assert_eq!(queues.join(kind(1), at(500)).unwrap().0, at(1000), "the first is busy again");
        assert!(queues.join(kind(1000), at(1000)).is_err(), "and the second is not free yet");
        assert!(queues.join(kind(1000), at(1001)).is_ok());
        let all = queues.all.lock();
        assert_eq!((all.len(), all.contains_key(&kind(2))), (QUEUE_LIMIT, false));
        drop(all);
        for more in 0..10 * QUEUE_LIMIT {
            assert!(queues.join(kind(2000 + more), at(60_000 + 2_000 * more as u64)).is_ok());
        }
        assert_eq!(queues.all.lock().len(), QUEUE_LIMIT);
    }

    #[test]
    fn service_times_follow_from_seed_and_queue_whoever_else_asks() {
        let kind = |servers| Kind { servers, mean: Duration::from_millis(5), fixed: false };
        let draw = |queues: &Queues, servers| queues.join(kind(servers), Instant::now()).unwrap().1;
        let alone = Queues::new(7);
        let times: Vec<Duration> = (0..100).map(|_| draw(&alone, 1)).collect();
        let shared = Queues::new(7);
        let again: Vec<(Duration, Duration)> =
            (0..100).map(|_| (draw(&shared, 1), draw(&shared, 2))).collect();
        assert!(again.iter().map(|(first, _)| first).eq(&times));
        assert!(again.iter().all(|(first, second)| first != second));
        assert_ne!(draw(&Queues::new(8), 1), times[0]);
    }
}
