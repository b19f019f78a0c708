//! What the strands of a user do at the same time, for time accounting: a user is in one state at a
//! time, and with several strands it is in a request as long as one of them is. Pure.

use std::cell::Cell;

/// The requests that strands of a user have in flight at the same time.
#[derive(Debug, Default)]
pub(crate) struct Concurrency {
    requests: Cell<u32>,
    /// The latest moment that is known: what becomes known later, of an earlier one, counts from then.
    latest: Cell<u64>,
}

impl Concurrency {
    /// A strand begins a request. Returns when the user's state changes, if it does.
    pub(crate) fn begin(&self, at: u64) -> Option<u64> {
        let before = self.requests.replace(self.requests.get() + 1);
        (before == 0).then(|| self.advance(at))
    }

    /// A strand's request is over. Returns when the user's state changes, if it does.
    pub(crate) fn end(&self, at: u64) -> Option<u64> {
        let latest = self.advance(at);
        self.requests.set(self.requests.get() - 1);
        (self.requests.get() == 0).then_some(latest)
    }

    /// Time has come to `at`, if it was not later already.
    pub(crate) fn advance(&self, at: u64) -> u64 {
        self.latest.set(self.latest.get().max(at));
        self.latest.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_in_a_request_as_long_as_one_strand_is() {
        let strands = Concurrency::default();
        assert_eq!(strands.begin(10), Some(10));
        assert_eq!(strands.begin(15), None);
        assert_eq!(strands.end(30), None);
        assert_eq!(strands.begin(30), None);
        assert_eq!(strands.end(40), None);
        assert_eq!(strands.end(50), Some(50));
        assert_eq!(strands.begin(60), Some(60));
    }

    #[test]
    fn what_becomes_known_late_does_not_turn_time_back() {
        let strands = Concurrency::default();
        strands.begin(10);
        strands.begin(10);
        assert_eq!(strands.end(130), None);
        assert_eq!(strands.end(100), Some(130), "the other one was in flight until then");
        assert_eq!(strands.begin(100), Some(130));
        assert_eq!(strands.advance(90), 130);
    }
}
