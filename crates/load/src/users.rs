//! Closed workloads: how many users there should be at a time. In whole numbers throughout: a level
//! that was rounded would bring a user too early, too late, or twice.

use std::sync::Arc;

use crate::error::ShapeError;
use crate::share::Share;
use crate::time::{Nanos, ends_of};

/// Most users of a load.
pub const MAX_USERS: u64 = 1_000_000_000;

/// A number of users over time. User i (from 0) should be there while the number is above i, so that
/// the last to come are the first to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    /// Time and number of users, straight from point to point; the first is at 0, times ascend, and
    /// two at the same time are a jump. After the last point the number stays.
    points: Arc<[(Nanos, u64)]>,
}

impl Users {
    /// So many users, started evenly over `ramp`; the first one at once.
    ///
    /// # Errors
    /// The number is above [`MAX_USERS`], or the ramp longer than [`crate::MAX_TIME`].
    pub fn ramp(users: u64, ramp: Nanos) -> Result<Users, ShapeError> {
        Users::stages(0, &[(users as f64, ramp)])
    }

    /// From `start` users through stages of (users at the end, length). A length of 0 is a jump.
    ///
    /// # Errors
    /// A number is not a whole one from 0 to [`MAX_USERS`], or the stages are longer than
    /// [`crate::MAX_TIME`].
    pub fn stages(start: u64, stages: &[(f64, Nanos)]) -> Result<Users, ShapeError> {
        let ends = ends_of(stages.iter().map(|(_, length)| *length))?;
        let mut points = vec![(0, checked(start as f64)?)];
        for ((users, _), end) in stages.iter().zip(ends) {
            points.push((end, checked(*users)?));
        }
        Ok(Users { points: points.into() })
    }

    /// The number of users at a time. On the way up a user is there from the moment at which the
    /// line reaches its number, on the way down until the line has left it: the line, rounded up, but
    /// one more where a rising line has just reached a whole number below its end.
    pub fn users_at(&self, time: Nanos) -> u64 {
        self.after_point(self.points.partition_point(|(at, _)| *at <= time) - 1, time)
    }

    /// Time and number of users, straight from point to point; two at the same time are a jump. After the last
    /// one the number stays.
    pub fn points(&self) -> impl Iterator<Item = (Nanos, f64)> {
        self.points.iter().map(|(at, users)| (*at, *users as f64))
    }

    /// The most users at any time.
    pub fn most(&self) -> u64 {
        self.points.iter().map(|(_, users)| *users).max().unwrap_or(0)
    }

    /// The number at a time at or after point `index` and before the one after it.
    fn after_point(&self, index: usize, time: Nanos) -> u64 {
        let (begin, low) = self.points[index];
        let Some((end, high)) = self.points.get(index + 1) else { return low };
        let passed = |rise: u64| {
            // At most 10^9 x 500 years: below 2^94. The result is below the rise.
            (u128::from(rise) * u128::from(time - begin) / u128::from(end - begin)) as u64
        };
        match high.checked_sub(low) {
            Some(0) => low,
            Some(rise) => low + passed(rise) + 1,
            None => low - passed(low - high),
        }
    }

    /// When, between point `index` and the one after it, the line reaches a level between theirs.
    fn reaches(&self, index: usize, level: u64) -> Nanos {
        let ((begin, low), (end, high)) = (self.points[index], self.points[index + 1]);
        let part = u128::from(level.abs_diff(low)) * u128::from(end - begin);
        begin + part.div_ceil(u128::from(low.abs_diff(high)).max(1)) as Nanos
    }
}

fn checked(users: f64) -> Result<u64, ShapeError> {
    if (0.0..=MAX_USERS as f64).contains(&users) && users.fract() == 0.0 {
        return Ok(users as u64);
    }
    Err(ShapeError(format!(
        "{users} is not a number of users: expected a whole number from 0 to 1,000,000,000"
    )))
}

/// Walks through the times at which the number of users within a share changes. What a whole walk
/// costs is proportional to changes and stages together, whatever the length of either.
#[derive(Debug, Clone)]
pub struct UserChanges {
    users: Users,
    share: Share,
    /// Users within the share since the last change, and the point that began the line it is on.
    count: u64,
    point: usize,
    next: Option<Change>,
}

#[derive(Debug, Clone, Copy)]
struct Change {
    time: Nanos,
    point: usize,
}

impl UserChanges {
    /// Begins at time 0, with the users that are there then.
    pub fn new(users: &Users, share: &Share) -> UserChanges {
        let mut changes = UserChanges {
            users: users.clone(),
            share: share.clone(),
            count: 0,
            point: 0,
            next: None,
        };
        changes.settle(0);
        changes
    }

    /// Users within the share, as of the last [`UserChanges::advance`].
    pub fn count(&self) -> u64 {
        self.count
    }

    /// When that number changes next. `None`: it stays as it is.
    pub fn peek(&self) -> Option<Nanos> {
        self.next.map(|change| change.time)
    }

    /// Goes to a time, past all changes up to it, and returns the number of users within the share
    /// then. A time before the last change leaves everything as it is.
    pub fn advance(&mut self, time: Nanos) -> u64 {
        if let Some(next) = self.next.filter(|next| next.time <= time) {
            self.point = next.point;
            self.settle(time);
        }
        self.count
    }

    /// Takes the number at a time and finds its next change.
    fn settle(&mut self, time: Nanos) {
        self.point = self.last_point(self.point, time);
        self.count = self.share.count_below(self.users.after_point(self.point, time));
        self.next = self.find();
    }

    /// The last point at or before a time, searched from one on.
    fn last_point(&self, mut point: usize, time: Nanos) -> usize {
        while self.users.points.get(point + 1).is_some_and(|(at, _)| *at <= time) {
            point += 1;
        }
        point
    }

    /// The next time at which the number is another than `count`, which it has been since the line
    /// that begins at `point` began, or since the last change on it.
    fn find(&self) -> Option<Change> {
        let mut point = self.point;
        loop {
            if let Some(time) = self.change_after(point) {
                return Some(Change { time, point: self.last_point(point, time) });
            }
            let (end, _) = *self.users.points.get(point + 1)?;
            point = self.last_point(point + 1, end);
            if self.share.count_below(self.users.after_point(point, end)) != self.count {
                return Some(Change { time: end, point });
            }
        }
    }

    /// The next change on the line that begins at a point, its end left out.
    fn change_after(&self, point: usize) -> Option<Nanos> {
        let (_, low) = self.users.points[point];
        let (end, high) = *self.users.points.get(point + 1)?;
        let level = if high > low {
            // One more is there when the line reaches the number of the next user of the share.
            self.share.nth(self.count).filter(|number| (low..high).contains(number))?
        } else {
            // One fewer is there when it reaches the number of the last one.
            let last = self.share.nth(self.count.checked_sub(1)?)?;
            Some(last).filter(|number| (high..low).contains(number))?
        };
        Some(self.users.reaches(point, level)).filter(|time| *time < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_TIME;
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
        let mut changes = UserChanges::new(&users, &Share::all());
        assert_eq!((changes.count(), changes.peek()), (1, Some(S)));
        assert_eq!((changes.advance(9 * S), changes.peek()), (10, None));
    }

    #[test]
    fn without_a_ramp_all_are_there_at_once() {
        let users = Users::ramp(5, 0).expect("a good shape");
        let changes = UserChanges::new(&users, &Share::all());
        assert_eq!((users.users_at(0), changes.count(), changes.peek()), (5, 5, None));
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
        for level in [f64::NAN, -1.0, 2.5, 1e9 + 1.0] {
            let error = Users::stages(0, &[(level, 1)]).expect_err("no number of users");
            assert!(error.0.contains("expected a whole number from 0 to 1,000,000,000"), "{error}");
        }
        assert!(Users::stages(u64::MAX, &[]).is_err());
        assert!(Users::stages(0, &[(1.0, u64::MAX), (1.0, 1)]).is_err());
    }

    /// One call, one change, on the way up and on the way down; 100,000 users, as many as one machine
    /// has.
    #[test]
    fn a_hundred_thousand_users_come_and_go_one_by_one() {
        let stages = [(100_000.0, 20 * S), (0.0, 20 * S)];
        let users = Users::stages(0, &stages).expect("a good shape");
        let mut changes = UserChanges::new(&users, &Share::all());
        for n in 1..100_000 {
            assert_eq!(changes.peek(), Some(n * 200_000));
            assert_eq!(changes.advance(n * 200_000), n + 1);
        }
        for n in 1..=100_000 {
            assert_eq!(changes.peek(), Some(20 * S + n * 200_000));
            assert_eq!(changes.advance(20 * S + n * 200_000), 100_000 - n);
        }
        assert_eq!(changes.peek(), None);
    }

    /// Millions of stages that change nothing are passed once, not once a change.
    #[test]
    fn many_stages_are_passed_once() {
        let mut stages = vec![(5.0, S); 1_000_000];
        stages.push((9.0, 4 * S));
        let users = Users::stages(5, &stages).expect("a good shape");
        let mut changes = UserChanges::new(&users, &Share::all());
        let begin = 1_000_000 * S;
        let seen: Vec<_> = std::iter::from_fn(|| {
            let time = changes.peek()?;
            Some((time - begin, changes.advance(time)))
        })
        .collect();
        assert_eq!(seen, [(0, 6), (S, 7), (2 * S, 8), (3 * S, 9)]);
    }

    /// Levels and lengths of any size, 0 among them.
    fn stages() -> impl Strategy<Value = Vec<(f64, Nanos)>> {
        let level = prop_oneof![(0u32..40).prop_map(f64::from), Just(0.0), Just(MAX_USERS as f64)];
        let length = prop_oneof![Just(0), Just(1), 0..5 * S, 0..MAX_TIME / 10];
        prop::collection::vec((level, length), 0..6)
    }

    proptest! {
        #[test]
        fn shares_add_up_at_any_time(start in 0u64..50, stages in stages(), time in 0..MAX_TIME, of in 1u32..9) {
            let users = Users::stages(start, &stages).expect("a good shape");
            let all = users.users_at(time);
            prop_assert!(all <= users.most());
            let sum: u64 = (0..of).map(|w| Share::all().worker_of(w, of).count_below(all)).sum();
            prop_assert_eq!(sum, all);
        }

        /// Each change is one, at the first moment at which it is one, and none is missed.
        #[test]
        fn changes_are_exact(stages in stages(), start in 0u64..5, worker in 0u32..3) {
            let users = Users::stages(start, &stages).expect("a good shape");
            let share = Share::all().worker_of(worker, 3);
            let at = |time| share.count_below(users.users_at(time));
            let mut changes = UserChanges::new(&users, &share);
            prop_assert_eq!(changes.count(), at(0));
            let mut last = 0;
            // A billion users are more than a test has time for.
            for _ in 0..300 {
                let Some(time) = changes.peek() else {
                    prop_assert_eq!(changes.count(), at(MAX_TIME));
                    break;
                };
                let before = changes.count();
                prop_assert!(time > last);
                prop_assert_eq!(at(time - 1), before);
                prop_assert_eq!(at(last + (time - last) / 2), before);
                prop_assert_eq!(changes.advance(time), at(time));
                prop_assert_ne!(changes.count(), before);
                last = time;
            }
        }

        /// Changes that are skipped make no difference to where a walk arrives.
        #[test]
        fn a_walk_in_strides_sees_what_is_there(stages in stages(), times in prop::collection::vec(0..20 * S, 1..20)) {
            let users = Users::stages(3, &stages).expect("a good shape");
            let share = Share::new(&[1, 2], 5).expect("shards that exist");
            let mut changes = UserChanges::new(&users, &share);
            let mut times = times;
            times.sort_unstable();
            for time in times {
                prop_assert_eq!(changes.advance(time), share.count_below(users.users_at(time)));
                prop_assert!(changes.peek().is_none_or(|next| next > time));
            }
        }
    }
}
