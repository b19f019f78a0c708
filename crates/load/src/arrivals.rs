//! Open workloads: when arrival number n is due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::rate::{Rate, RateCursor};
use crate::share::{POISSON_STREAMS, Share, gcd};
use crate::time::Nanos;
use squall_base::random::Random;

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Arrival n is due when the integral of the rate reaches n.
    Even,
    /// A Poisson process: the integral of the rate between two arrivals is exponentially distributed
    /// with mean 1 (the time-change theorem for point processes).
    ///
    /// It is the union of 840 streams, each a process of its own with one part in 840 of the rate (the superposition
    /// theorem); arrival n belongs to stream n mod 840. So a seed gives the same arrivals however the load is split, and
    /// who has a share draws the streams alone that arrivals of it are in: as many as it has, where the number of
    /// shards is a divisor or a multiple of 840, and more of them otherwise.
    Poisson {
        /// What it is drawn from, together with the stream.
        seed: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its number, from 0, unlike that of any other arrival of any share.
    pub index: u64,
    /// When it is due, since the start of the load.
    pub due: Nanos,
}

/// The arrivals of a share, by due time; those due at the same time by index. They follow from rate,
/// pattern and shards, so that the shares of any split of the same shards add up to the same arrivals.
#[derive(Debug, Clone)]
pub struct Arrivals {
    rate: Rate,
    streams: Streams,
    ahead: Option<Arrival>,
}

#[derive(Debug, Clone)]
enum Streams {
    Even {
        share: Share,
        /// Which of the share's arrivals comes next.
        next: u64,
        cursor: RateCursor,
    },
    /// Streams in which the share has arrivals, by what each has next.
    Poisson { share: Share, heap: BinaryHeap<Reverse<Ahead>> },
}

impl Arrivals {
    /// The arrivals of a share.
    pub fn new(rate: Rate, pattern: Pattern, share: &Share) -> Arrivals {
        let streams = match pattern {
            Pattern::Even => {
                Streams::Even { share: share.clone(), next: 0, cursor: RateCursor::default() }
            }
            Pattern::Poisson { seed } => {
                // Numbers of a shard and of a stream meet if both leave the same rest.
                let common = gcd(share.of(), POISSON_STREAMS);
                let rests: HashSet<u64> = share.shards().iter().map(|s| s % common).collect();
                let streams = (0..POISSON_STREAMS).filter(|s| rests.contains(&(s % common)));
                let ahead = |stream| Ahead::of(Stream::new(seed, stream), share, &rate);
                let heap = streams.filter_map(ahead).map(Reverse).collect();
                Streams::Poisson { share: share.clone(), heap }
            }
        };
        let mut arrivals = Arrivals { rate, streams, ahead: None };
        arrivals.ahead = arrivals.find();
        arrivals
    }

    /// The next arrival, which stays the next. `None`: there are no more.
    pub fn peek(&self) -> Option<Arrival> {
        self.ahead
    }

    /// Leaves out even arrivals that are due before a time, at most so many; how many they were. It costs the same however
    /// many they are. Those of a Poisson process are drawn one after the other: it leaves out none of them.
    pub fn skip_even_before(&mut self, time: Nanos, most: u64) -> u64 {
        let (Streams::Even { share, next, .. }, Some(_)) = (&mut self.streams, self.ahead) else {
            return 0;
        };
        let first = *next - 1; // that of `ahead`
        let is_early = |k: u64| {
            let index = share.nth(k);
            let due = index.and_then(|i| self.rate.time_of(&mut RateCursor::default(), i as f64));
            due.is_some_and(|due| due < time)
        };
        let (mut low, mut high) = (first, first.saturating_add(most));
        while low < high {
            let middle = low + (high - low) / 2;
            if is_early(middle) { low = middle + 1 } else { high = middle }
        }
        if low > first {
            *next = low;
            self.ahead = self.find();
        }
        low - first
    }

    fn find(&mut self) -> Option<Arrival> {
        match &mut self.streams {
            Streams::Even { share, next, cursor } => {
                let index = share.nth(*next)?;
                *next += 1;
                let due = self.rate.time_of(cursor, index as f64)?;
                Some(Arrival { index, due })
            }
            Streams::Poisson { share, heap } => {
                let Reverse(Ahead { due, index, stream }) = heap.pop()?;
                heap.extend(Ahead::of(stream, share, &self.rate).map(Reverse));
                Some(Arrival { index, due })
            }
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let found = self.ahead.take();
        if found.is_some() {
            self.ahead = self.find();
        }
        found
    }
}

/// One stream of a Poisson process.
#[derive(Debug, Clone)]
struct Stream {
    random: Random,
    /// Index of its next arrival: number n of stream s has n * 840 + s. `None`: above 2^64 - 1.
    index: Option<u64>,
    /// The integral of the whole load's rate up to its last arrival.
    sum: f64,
    /// No arrival of it is due earlier: two that fall into the same nanosecond are one apart.
    earliest: Nanos,
    cursor: RateCursor,
}

impl Stream {
    fn new(seed: u64, number: u64) -> Stream {
        let random = Random::of(seed, number, POISSON_STREAMS, 0);
        let (index, cursor) = (Some(number), RateCursor::default());
        Stream { random, index, sum: 0.0, earliest: 0, cursor }
    }

    fn next(&mut self, rate: &Rate) -> Option<Arrival> {
        // In units of the whole rate, of which this stream has its part.
        self.sum += self.random.exponential(POISSON_STREAMS as f64);
        let due = rate.time_of(&mut self.cursor, self.sum)?.max(self.earliest);
        self.earliest = due + 1;
        let index = self.index?;
        self.index = index.checked_add(POISSON_STREAMS);
        Some(Arrival { index, due })
    }
}

/// A stream and the arrival that it has next. Ordered by due time, then by index, which no two
/// streams share.
#[derive(Debug, Clone)]
struct Ahead {
    due: Nanos,
    index: u64,
    stream: Stream,
}

impl Ahead {
    /// The next arrival of a stream that is in a share, which has one in every few of them.
    fn of(mut stream: Stream, share: &Share, rate: &Rate) -> Option<Ahead> {
        loop {
            let Arrival { index, due } = stream.next(rate)?;
            if share.owns(index) {
                return Some(Ahead { due, index, stream });
            }
        }
    }
}

impl Ord for Ahead {
    fn cmp(&self, other: &Ahead) -> std::cmp::Ordering {
        (self.due, self.index).cmp(&(other.due, other.index))
    }
}

impl PartialEq for Ahead {
    fn eq(&self, other: &Ahead) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ahead {}

impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Ahead) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_RATE, MAX_TIME, MIN_RATE};
    use proptest::prelude::*;

    const S: Nanos = 1_000_000_000;

    fn due(rate: &Rate, pattern: Pattern, share: &Share, most: usize) -> Vec<Arrival> {
        Arrivals::new(rate.clone(), pattern, share).take(most).collect()
    }

    /// The arrivals of several shares before a time, in one order.
    fn union(rate: &Rate, pattern: Pattern, shares: &[Share], before: Nanos) -> Vec<Arrival> {
        let arrivals = |share| Arrivals::new(rate.clone(), pattern, share);
        let early = |share| arrivals(share).take_while(|arrival| arrival.due < before);
        let mut all: Vec<Arrival> = shares.iter().flat_map(early).collect();
        all.sort_by_key(|arrival| (arrival.due, arrival.index));
        all
    }

    fn workers(of: u32) -> Vec<Share> {
        (0..of).map(|worker| Share::all().worker_of(worker, of)).collect()
    }

    #[test]
    fn even_arrivals_at_a_constant_rate() {
        let rate = Rate::ramp(4.0, 0).expect("a good shape");
        let all = due(&rate, Pattern::Even, &Share::all(), 5);
        let times: Vec<_> = all.iter().map(|arrival| arrival.due).collect();
        assert_eq!(times, [0, S / 4, S / 2, 3 * S / 4, S]);
    }

    #[test]
    fn a_rate_that_falls_to_nothing_has_a_last_arrival() {
        let rate = Rate::stages(10.0, &[(0.0, 2 * S)]).expect("a good shape");
        let all = due(&rate, Pattern::Even, &Share::all(), 100);
        assert_eq!(all.len(), 10);
        assert!(all.iter().all(|arrival| arrival.due <= 2 * S));
    }

    #[test]
    fn the_lowest_rate_ends_with_time_and_the_highest_has_times_of_their_own() {
        let lowest = Rate::ramp(MIN_RATE, 0).expect("a good shape");
        for pattern in [Pattern::Even, Pattern::Poisson { seed: 1 }] {
            let all = due(&lowest, pattern, &Share::all(), 1_000);
            assert!((1..100).contains(&all.len()), "{}", all.len());
            assert!(all.iter().all(|arrival| arrival.due <= MAX_TIME));
            let highest = Rate::ramp(MAX_RATE, 0).expect("a good shape");
            // By index, so that arrivals of one shard follow each other.
            let mut all = due(&highest, pattern, &Share::all(), 100_000);
            let of = if pattern == Pattern::Even { 1 } else { POISSON_STREAMS };
            all.sort_by_key(|arrival| (arrival.index % of, arrival.index));
            let follows = |pair: &[Arrival]| pair[1].index == pair[0].index + of;
            let mut pairs = all.windows(2).filter(|pair| follows(pair));
            assert!(pairs.all(|pair| pair[0].due < pair[1].due));
        }
    }

    /// For one stream and for the union of many: as many arrivals a second as the rate has, with a
    /// variance that is the mean, and gaps of which 1/e are longer than the mean.
    #[test]
    fn poisson_arrivals_are_a_poisson_process_whatever_the_number_of_shards() {
        let rate = Rate::ramp(1_000.0, 0).expect("a good shape");
        for of in [1, 7, 50] {
            let all = union(&rate, Pattern::Poisson { seed: 7 }, &workers(of), 200 * S);
            let mut counts = [0f64; 200];
            all.iter().for_each(|arrival| counts[(arrival.due / S) as usize] += 1.0);
            let mean = counts.iter().sum::<f64>() / 200.0;
            let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 199.0;
            let long = all.windows(2).filter(|pair| pair[1].due - pair[0].due > S / 1_000).count();
            let long = long as f64 / all.len() as f64;
            // Five standard deviations of each estimate: sqrt(1000 / 200), sqrt(2 / 199), and
            // sqrt(p (1 - p) / 200,000).
            assert!((mean - 1_000.0).abs() < 11.2, "{of} shards: mean {mean}");
            assert!((variance / mean - 1.0).abs() < 0.5, "{of} shards: variance {variance}");
            assert!((long - (-1f64).exp()).abs() < 0.0055, "{of} shards: {long} long gaps");
        }
    }

    #[test]
    fn a_seed_gives_the_same_arrivals_on_many_numbers_of_workers() {
        let rate = Rate::ramp(300.0, S).expect("a good shape");
        let of = |number| union(&rate, Pattern::Poisson { seed: 5 }, &workers(number), 3 * S);
        let one = of(1);
        for number in [2, 3, 7, 9, 11, 13, 16, 64] {
            assert_eq!(of(number), one, "{number} workers");
        }
        assert!(union(&rate, Pattern::Poisson { seed: 6 }, &workers(1), 3 * S) != one);
    }

    /// A worker among many draws its own arrivals only.
    #[test]
    fn a_worker_among_many_draws_its_share_only() {
        let rate = Rate::ramp(200_000.0, 0).expect("a good shape");
        let share = Share::all().worker_of(17, 50);
        let all = due(&rate, Pattern::Poisson { seed: 3 }, &share, 4_000);
        assert!(all.iter().all(|arrival| share.owns(arrival.index)));
        let seconds = all[3_999].due as f64 / S as f64;
        assert!((seconds - 1.0).abs() < 0.1, "4,000 arrivals of a shard take {seconds} s");
    }

    /// Stages with pauses, jumps, and slopes that are next to nothing.
    fn stages() -> impl Strategy<Value = Vec<(f64, Nanos)>> {
        let rate = prop_oneof![Just(0.0), Just(MIN_RATE), 0.001f64..200.0, Just(200.0)];
        let length =
            prop_oneof![Just(0), Just(1), (0u64..10).prop_map(|s| s * S), 0..MAX_TIME / 10];
        prop::collection::vec((rate, length), 1..6)
    }

    proptest! {
        #[test]
        fn what_is_skipped_at_once_is_what_would_be_passed(
            stages in stages(),
            time in 0..MAX_TIME / 5,
            most in 0u64..400,
            worker in 0u32..3,
        ) {
            let rate = Rate::stages(3.0, &stages).expect("a good shape");
            let share = Share::all().worker_of(worker, 3);
            let mut one = Arrivals::new(rate.clone(), Pattern::Even, &share);
            let mut other = one.clone();
            let mut passed = 0;
            while passed < most && one.peek().is_some_and(|next| next.due < time) {
                one.next();
                passed += 1;
            }
            prop_assert_eq!(other.skip_even_before(time, most), passed);
            prop_assert_eq!(other.take(5).collect::<Vec<_>>(), one.take(5).collect::<Vec<_>>());
        }

        #[test]
        fn even_shares_add_up_to_the_whole(stages in stages(), of in 1u32..6) {
            let rate = Rate::stages(0.0, &stages).expect("a good shape");
            let whole = due(&rate, Pattern::Even, &Share::all(), 300);
            let shares = workers(of);
            let mut parts: Vec<_> =
                shares.iter().flat_map(|share| due(&rate, Pattern::Even, share, 300)).collect();
            parts.sort_by_key(|arrival| arrival.index);
            parts.truncate(whole.len());
            prop_assert_eq!(&parts, &whole);
            prop_assert!(whole.windows(2).all(|pair| pair[0].due < pair[1].due));
        }

        /// Eight shards, dealt to workers in any way, give the same arrivals.
        #[test]
        fn poisson_arrivals_do_not_depend_on_who_has_the_shards(
            stages in stages(),
            owner in prop::collection::vec(0usize..4, 8),
            seed in any::<u64>(),
        ) {
            let rate = Rate::stages(5.0, &stages).expect("a good shape");
            let pattern = Pattern::Poisson { seed };
            let shares: Vec<_> = (0..4)
                .map(|worker| (0..8).filter(|shard| owner[*shard as usize] == worker).collect::<Vec<_>>())
                .map(|shards| Share::new(&shards, 8).expect("shards that exist"))
                .collect();
            let every = Share::new(&[0, 1, 2, 3, 4, 5, 6, 7], 8).expect("shards that exist");
            let whole = due(&rate, pattern, &every, 300);
            let before = whole.last().map_or(1, |arrival| arrival.due + 1);
            let mut parts = union(&rate, pattern, &shares, before);
            parts.truncate(whole.len());
            prop_assert_eq!(&parts, &whole);
            let keys: Vec<_> = whole.iter().map(|arrival| (arrival.due, arrival.index)).collect();
            prop_assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
