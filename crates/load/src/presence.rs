//! From when to when a load asks for something, where its plan alone does not say so.

/// When a load begins and ends, in seconds: as the plan says, or as it is seen. One that comes after others begins with its first
/// user, and one that ends when its iterations are done ends with its last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presence {
    from_s: Option<f64>,
    to_s: Option<f64>,
    until_done: bool,
    has_begun: bool,
}

impl Presence {
    /// Of a load that begins at a time; `None`: when others have ended. `until_done`: it may end before its shape does,
    /// when its iterations are done.
    pub fn new(from_s: Option<f64>, until_done: bool) -> Presence {
        Presence { from_s, to_s: None, until_done, has_begun: false }
    }

    /// Notes whether it had users in an interval, which is not before those that were noted already. When in the first of them it
    /// began, is not seen: in the middle.
    pub fn note(&mut self, from_s: f64, to_s: f64, is_there: bool) {
        if is_there {
            self.from_s.get_or_insert((from_s + to_s) / 2.0);
            (self.has_begun, self.to_s) = (true, None);
        } else if self.until_done && self.has_begun {
            self.to_s.get_or_insert(from_s);
        }
    }

    /// When it begins; `None`: nobody knows yet.
    pub fn from_s(&self) -> Option<f64> {
        self.from_s
    }

    /// The part of an interval in which it is there, counted from its begin.
    pub fn within(&self, from_s: f64, to_s: f64) -> Option<(f64, f64)> {
        let begin = self.from_s?;
        let (from, to) = (from_s.max(begin), self.to_s.map_or(to_s, |end| end.min(to_s)));
        (from < to).then_some((from - begin, to - begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(mut own: Presence, seconds: &[(f64, bool)]) -> Presence {
        seconds.iter().for_each(|(at, is_there)| own.note(*at, at + 1.0, *is_there));
        own
    }

    #[test]
    fn one_that_comes_after_others_begins_when_it_is_seen() {
        let own = seen(Presence::new(None, false), &[(0.0, false), (1.0, false)]);
        assert_eq!((own.from_s(), own.within(0.0, 9.0)), (None, None));
        let own = seen(own, &[(2.0, true), (3.0, true), (4.0, false)]);
        assert_eq!(own.from_s(), Some(2.5));
        assert_eq!((own.within(1.0, 2.0), own.within(2.0, 3.0)), (None, Some((0.0, 0.5))));
        assert_eq!(own.within(8.0, 9.0), Some((5.5, 6.5)), "when it ends, its shape says");
    }

    #[test]
    fn one_that_ends_when_it_is_done_ends_with_its_last_user() {
        let own = Presence::new(Some(1.0), true);
        let early = seen(own, &[(0.0, false), (1.0, false)]);
        assert_eq!(early.within(0.0, 2.0), Some((0.0, 1.0)), "it was to begin, with users or not");
        let own = seen(early, &[(2.0, true), (3.0, false), (4.0, false)]);
        assert_eq!((own.within(0.0, 9.0), own.within(3.0, 9.0)), (Some((0.0, 2.0)), None));
        let own = seen(own, &[(5.0, true)]);
        assert_eq!(own.within(6.0, 7.0), Some((5.0, 6.0)), "it is only seldom there");
    }
}
