//! Closed loads: how many users there should be at a time.

use crate::line::Line;
use crate::{Nanos, Segment, ShapeError};

/// A number of users over time. User i (from 0) should be there while the number is above i, so that
/// the last to come are the first to go.
#[derive(Debug, Clone, PartialEq)]
pub struct Users {
    line: Line,
}

impl Users {
    /// So many users, started evenly over `ramp`; the first one at once.
    ///
    /// # Errors
    /// The number is out of bounds.
    pub fn ramp(users: u64, ramp: Nanos) -> Result<Users, ShapeError> {
        Users::stages(0, &[(users as f64, ramp)])
    }

    /// From `start` users through stages of (users at the end, length). A length of 0 is a jump.
    ///
    /// # Errors
    /// A number is out of bounds.
    pub fn stages(start: u64, stages: &[(f64, Nanos)]) -> Result<Users, ShapeError> {
        Ok(Users { line: Line::through(start as f64, stages)? })
    }

    /// The number of users at a time. On the way up a user is there from the moment at which the
    /// line reaches its number, on the way down until the line has left it: the line, rounded up, but
    /// one more where a rising line has just reached a whole number below its end.
    pub fn users_at(&self, time: Nanos) -> u64 {
        let level = self.line.at(time);
        let rising = self.rises_from(time);
        let whole = level.floor();
        // 1e-9: a level that was computed from times is not exact in its last digits.
        let near = (level - level.round()).abs() < 1e-9;
        let level_whole = if near { level.round() } else { whole };
        if near && !rising {
            return level_whole as u64;
        }
        level_whole as u64 + 1
    }

    /// Whether the line goes up right after a time.
    fn rises_from(&self, time: Nanos) -> bool {
        let points = self.line.points();
        let after = points.partition_point(|(at, _)| *at <= time);
        after > 0 && points.get(after).is_some_and(|(_, level)| *level > points[after - 1].1)
    }

    /// The most users at any time.
    pub fn most(&self) -> u64 {
        self.line.most().ceil() as u64
    }

    /// The next time after `after` at which the number of users within a segment may change.
    /// `None`: it stays as it is.
    pub fn next_change(&self, after: Nanos, segment: &Segment) -> Option<Nanos> {
        let points = self.line.points();
        let first = points.partition_point(|(at, _)| *at <= after);
        let now = segment.count_below(self.users_at(after));
        let mut from = after;
        for (index, (end, _)) in points.iter().enumerate().skip(first.max(1)) {
            if let Some(time) = self.change_within(from, index, segment) {
                return Some(time);
            }
            from = *end;
            if segment.count_below(self.users_at(from)) != now && from > after {
                return Some(from);
            }
        }
        None
    }

    /// The time of the next change after `from` on the line that ends at point `index`.
    fn change_within(&self, from: Nanos, index: usize, segment: &Segment) -> Option<Nanos> {
        let points = self.line.points();
        let ((begin, low), (end, high)) = (points[index - 1], points[index]);
        if begin == end || low == high {
            return None;
        }
        let users = self.users_at(from);
        // Up: user number n is there when the line reaches n. Down: it is gone when it reaches n.
        let level = if high > low {
            segment.next_step(users).saturating_sub(1) as f64
        } else {
            segment.last_step(users)? as f64
        };
        let inside = if high > low { level < high } else { level >= high };
        if !inside {
            return None;
        }
        let part = (level - low) / (high - low);
        let time = begin + (part * (end - begin) as f64).ceil().max(0.0) as Nanos;
        (time > from && time <= end).then_some(time).or_else(|| (from < end).then_some(from + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Nanos = 1_000_000_000;

    #[test]
    fn a_ramp_starts_users_evenly() {
        let users = Users::ramp(10, 10 * S).expect("a good shape");
        for (time, expected) in
            [(0, 1), (S - 1, 1), (S, 2), (9 * S - 1, 9), (9 * S, 10), (10 * S, 10), (99 * S, 10)]
        {
            assert_eq!(users.users_at(time), expected, "at {time}");
        }
        assert_eq!(users.next_change(0, &Segment::all()), Some(S));
        assert_eq!(users.next_change(9 * S, &Segment::all()), None);
    }

    #[test]
    fn without_a_ramp_all_are_there_at_once() {
        let users = Users::ramp(5, 0).expect("a good shape");
        assert_eq!((users.users_at(0), users.next_change(0, &Segment::all())), (5, None));
    }

    #[test]
    fn stages_go_up_jump_and_go_down() {
        let stages = [(4.0, 4 * S), (4.0, S), (10.0, 0), (10.0, S), (0.0, 10 * S)];
        let users = Users::stages(0, &stages).expect("a good shape");
        for (time, expected) in [
            (0, 1),
            (4 * S, 4),
            (5 * S - 1, 4),
            (5 * S, 10),
            (6 * S, 10),
            (7 * S, 9),
            (15 * S, 1),
            (16 * S, 0),
        ] {
            assert_eq!(users.users_at(time), expected, "at {time}");
        }
        assert_eq!(users.most(), 10);
    }

    #[test]
    fn a_shape_that_makes_no_sense_is_an_error() {
        assert!(Users::stages(0, &[(f64::NAN, 1)]).is_err());
        assert!(Users::stages(0, &[(-1.0, 1)]).is_err());
        assert!(Users::stages(0, &[(1.0, u64::MAX), (1.0, 1)]).is_err());
    }

    proptest! {
        #[test]
        fn segments_add_up_at_any_time(
            start in 0u64..50,
            stages in prop::collection::vec((0u32..200, 0u64..20), 0..6),
            time in 0u64..100 * S,
            of in 1u32..9,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(level, s)| (f64::from(level), s * S)).collect();
            let users = Users::stages(start, &stages).expect("a good shape");
            let all = users.users_at(time);
            let sum: u64 = (0..of).map(|w| Segment::worker(w, of).count_below(all)).sum();
            prop_assert_eq!(sum, all);
        }

        /// Going from change to change sees every number that a look at any time sees.
        #[test]
        fn no_change_is_missed(
            stages in prop::collection::vec((0u32..40, 0u64..5), 1..5),
            time in 0u64..25 * S,
            worker in 0u32..3,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(level, s)| (f64::from(level), s * S)).collect();
            let users = Users::stages(0, &stages).expect("a good shape");
            let segment = Segment::worker(worker, 3);
            let (mut at, mut count, mut steps) = (0, segment.count_below(users.users_at(0)), 0);
            while let Some(next) = users.next_change(at, &segment) {
                prop_assert!(next > at);
                if next > time {
                    break;
                }
                at = next;
                count = segment.count_below(users.users_at(at));
                steps += 1;
                prop_assert!(steps < 1_000, "too many changes");
            }
            prop_assert_eq!(count, segment.count_below(users.users_at(time)), "at {} (last change {})", time, at);
        }
    }
}
