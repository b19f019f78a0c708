//! What a user's flow calls later: timers by the time at which they are due. Pure: time is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use super::held::Held;
use super::thrown::Thrown;

/// Most timers of a call: more are a mistake.
const MOST: usize = 100_000;
/// The shortest time between two calls of one timer.
const SHORTEST: Duration = Duration::from_millis(1);

/// A function that is called later.
#[derive(Debug, Clone)]
pub(super) struct Timer<T = Held> {
    pub function: T,
    pub arguments: Vec<T>,
    /// The time between two calls; `None`: it is called once.
    pub every: Option<Duration>,
}

/// Timers by when they are due, and by their numbers.
#[derive(Debug)]
pub(super) struct Timers<T = Held> {
    last: u32,
    list: BTreeMap<(Duration, u32), Timer<T>>,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Timers { last: 0, list: BTreeMap::new() }
    }
}

impl<T: Clone> Timers<T> {
    /// Adds a timer, and returns its number, from 1.
    pub fn set(&mut self, due: Duration, timer: Timer<T>) -> Result<u32, Thrown> {
        if self.list.len() == MOST {
            return Err(Thrown::new(format!("RangeError: a call may have {MOST} timers at most")));
        }
        self.last = self.last.wrapping_add(1);
        self.list.insert((due, self.last), timer);
        Ok(self.last)
    }

    pub fn clear(&mut self, number: u32) {
        self.list.retain(|(_, own), _| *own != number);
    }

    /// When the first is due; `None`: there is none.
    pub fn next(&self) -> Option<Duration> {
        self.list.first_key_value().map(|((due, _), _)| *due)
    }

    /// The first that is due. One that is called again and again stays, so that its own function can clear it.
    pub fn take(&mut self, now: Duration) -> Option<Timer<T>> {
        let first = self.list.first_entry().filter(|own| own.key().0 <= now)?;
        let ((due, number), timer) = first.remove_entry();
        if let Some(every) = timer.every {
            // What was missed is not made up for.
            let next = (due + every.max(SHORTEST)).max(now);
            self.list.insert((next, number), timer.clone());
        }
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(own: u64) -> Duration {
        Duration::from_millis(own)
    }

    fn timer(name: &'static str, every: Option<Duration>) -> Timer<&'static str> {
        Timer { function: name, arguments: Vec::new(), every }
    }

    #[test]
    fn timers_come_when_they_are_due_and_in_the_order_in_which_they_were_set() {
        let mut timers = Timers::default();
        let numbers: Vec<u32> = [("b", 20), ("a", 10), ("c", 20), ("gone", 5)]
            .map(|(name, due)| timers.set(ms(due), timer(name, None)).expect("room"))
            .to_vec();
        timers.clear(numbers[3]);
        timers.clear(99);
        assert_eq!(timers.next(), Some(ms(10)));
        assert!(timers.take(ms(9)).is_none());
        let taken: Vec<_> =
            std::iter::from_fn(|| timers.take(ms(20))).map(|own| own.function).collect();
        assert_eq!(taken, ["a", "b", "c"]);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn one_that_is_called_again_stays_until_it_is_cleared() {
        let mut timers = Timers::default();
        let number = timers.set(ms(10), timer("a", Some(ms(10)))).expect("room");
        for (now, next) in [(10, 20), (25, 30), (95, 95), (95, 105)] {
            assert!(timers.take(ms(now)).is_some(), "{now}");
            assert_eq!(timers.next(), Some(ms(next)), "{now}");
        }
        timers.clear(number);
        assert_eq!(timers.next(), None);
        // Without a time between its calls there is a shortest one: others have their turn.
        timers.set(ms(0), timer("b", Some(ms(0)))).expect("room");
        timers.take(ms(0));
        assert_eq!(timers.next(), Some(ms(1)));
    }

    #[test]
    fn timers_are_bounded() {
        let mut timers = Timers::default();
        for _ in 0..MOST {
            timers.set(ms(1), timer("a", None)).expect("room");
        }
        assert!(timers.set(ms(1), timer("a", None)).is_err());
    }
}
