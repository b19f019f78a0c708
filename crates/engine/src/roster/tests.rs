//! The roster on virtual time: no clock, no sleeping, to the microsecond.

mod nodes;
mod pauses;
mod ramp_down;
mod shares;
mod whole_iterations;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use squall_load::Share;
use squall_plan::model;

use super::*;
use crate::profile::{LoadProfile, Member};
use crate::progress::Progress;

const US: Nanos = 1_000;
const MS: Nanos = 1_000_000;
const S: Nanos = 1_000_000_000;

/// A user that knows no more than its seat.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Someone(Seat);

impl Seated for Someone {
    fn seat(&self) -> Seat {
        self.0
    }
}

fn profile(load: model::Load) -> LoadProfile {
    let members = vec![Member { scenario: 0, weight: 1.0 }];
    LoadProfile::new(&load, members, Duration::ZERO).expect("a good load")
}

fn stages(stages: &[(f64, u64)]) -> Vec<model::Stage> {
    let stage =
        |(level, ms): &(f64, u64)| model::Stage { level: *level, over: Duration::from_millis(*ms) };
    stages.iter().map(stage).collect()
}

fn closed(closed: model::Closed) -> LoadProfile {
    profile(model::Load::Closed(closed))
}

fn open(rate: f64, for_ms: u64, max_users: u64) -> LoadProfile {
    let duration = Some(Duration::from_millis(for_ms));
    profile(model::Load::Open(model::Open {
        rate: Some(rate),
        duration,
        max_users,
        ..model::Open::default()
    }))
}

fn roster(profiles: &[LoadProfile]) -> Roster<Someone> {
    part_of(profiles, Part::new(Share::all(), 0, 1))
}

/// What a worker has, of a process of its own.
fn part_of(profiles: &[LoadProfile], part: Part) -> Roster<Someone> {
    let iterations = Iterations::new(profiles, part.process());
    Roster::new(profiles, part, &iterations, 0, 7)
}

/// The process has another share, and nothing that it takes was begun elsewhere.
fn to(share: Share) -> Change {
    Change::Share { number: 1, share, progress: Arc::default() }
}

/// Everything that is due at a time.
fn due(roster: &mut Roster<Someone>, now: Nanos) -> Vec<Action<Someone>> {
    std::iter::from_fn(|| roster.poll(now)).collect()
}

/// Plays users that never wait: each that begins stays, each that may not is gone at its next look.
#[derive(Default)]
struct Players {
    busy: BTreeMap<u64, Seat>,
    most: usize,
}

impl Players {
    fn play(&mut self, roster: &mut Roster<Someone>, now: Nanos) {
        while let Some(action) = roster.poll(now) {
            match action {
                Action::Admit { seat, due, .. } => {
                    assert!(due <= now);
                    assert!(self.busy.insert(seat.number, seat).is_none(), "{seat:?} twice");
                }
                other => panic!("{other:?}"),
            }
        }
        let gone: Vec<Seat> =
            self.busy.values().copied().filter(|seat| roster.is_surplus(*seat)).collect();
        for seat in gone {
            self.busy.remove(&seat.number);
            roster.leave(seat);
        }
        self.most = self.most.max(self.busy.len());
    }
}

#[test]
fn a_ramp_admits_users_to_the_microsecond() {
    let load = closed(model::Closed {
        users: Some(4),
        ramp: Duration::from_millis(4),
        duration: Some(Duration::from_millis(10)),
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    for (now, admitted) in [(0, 1), (999 * US, 0), (MS, 1), (2 * MS, 1), (3 * MS, 1), (4 * MS, 0)] {
        let actions = due(&mut roster, now);
        assert_eq!(actions.len(), admitted, "at {now}: {actions:?}");
        for action in actions {
            assert!(matches!(action, Action::Admit { due, again: false, .. } if due == now));
        }
    }
    assert_eq!((roster.active(), roster.is_done()), (4, false));
    assert!(roster.next().is_some_and(|next| next <= 10 * MS), "the end is due");
}

/// The way down costs what the way up costs, in memory too: no waiting user is touched that stays.
#[test]
fn a_hundred_thousand_users_go_up_and_down() {
    let count = 100_000u64;
    let load = closed(model::Closed {
        stages: stages(&[(count as f64, 20_000), (0.0, 20_000)]),
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    let (mut dismissed, mut steps) = (0u64, 0u64);
    for now in (0..=41 * S).step_by(5 * MS as usize) {
        while let Some(action) = roster.poll(now) {
            steps += 1;
            match action {
                Action::Admit { seat, due, .. } => {
                    let planned = (seat.number as f64 / count as f64 * 20e9) as Nanos;
                    assert!(due.abs_diff(planned) <= US, "{seat:?} at {due}, not {planned}");
                    roster.park(Someone(seat), now + 3_600 * S, now);
                }
                Action::Dismiss { user, at } => {
                    let left = (user.0.number as f64 / count as f64) * 20e9;
                    let planned = 40 * S - left as Nanos;
                    assert!(at.abs_diff(planned) <= US, "{user:?} at {at}, not {planned}");
                    dismissed += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((dismissed, roster.active(), roster.is_done()), (count, 0, true));
    assert_eq!(steps, 2 * count, "each user comes once and goes once");
    assert_eq!(roster.waiting.len(), 0);
    assert!(roster.waiting.capacity() <= 1 << 18, "{}", roster.waiting.capacity());
}

#[test]
fn users_who_are_busy_when_the_number_falls_and_rises_again_are_not_doubled() {
    let load = closed(model::Closed {
        stages: stages(&[(3.0, 0), (3.0, 10), (1.0, 0), (1.0, 10), (3.0, 0), (3.0, 10)]),
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    let first = due(&mut roster, 0);
    assert_eq!(first.len(), 3);
    assert!(due(&mut roster, 10 * MS).is_empty(), "who is busy finds out by itself");
    let seats: Vec<Seat> = (0..3).map(|number| Seat { number, load: 0, scenario: 0 }).collect();
    assert_eq!(seats.iter().filter(|seat| roster.is_surplus(**seat)).count(), 2);
    roster.leave(seats[2]); // one has found out
    let again = due(&mut roster, 20 * MS);
    let expected = Action::Admit { seat: seats[2], due: 20 * MS, again: true };
    assert_eq!(again, [expected], "the other one is still there");
    assert_eq!(roster.active(), 3);
}

#[test]
fn who_has_done_all_its_iterations_does_not_come_back() {
    let load =
        closed(model::Closed { users: Some(2), iterations: Some(1), ..model::Closed::default() });
    let mut roster = roster(&[load]);
    assert_eq!(due(&mut roster, 0).len(), 2);
    let seat = Seat { number: 0, load: 0, scenario: 0 };
    assert_eq!(roster.begin(seat, 0), Begin::Yes);
    assert_eq!(roster.begin(seat, 1), Begin::No);
    roster.leave(seat);
    roster.change_at(S, to(Share::all()));
    assert!(due(&mut roster, 2 * S).is_empty());
    roster.leave(Seat { number: 1, ..seat });
    assert!(roster.is_done());
}

#[test]
fn a_load_that_ends_together_ends_with_its_first_user() {
    let load = closed(model::Closed {
        users: Some(3),
        iterations: Some(2),
        end: model::End::Together,
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    due(&mut roster, 0);
    let seat = |number| Seat { number, load: 0, scenario: 0 };
    roster.park(Someone(seat(2)), 5 * S, MS);
    assert_eq!(roster.begin(seat(0), 2), Begin::LoadIsDone);
    roster.end_load(0, 2 * MS);
    assert_eq!(due(&mut roster, 2 * MS), [Action::Dismiss { user: Someone(seat(2)), at: 2 * MS }]);
    assert_eq!(roster.begin(seat(1), 0), Begin::No);
    roster.leave(seat(0));
    roster.leave(seat(1));
    assert!(roster.is_done());
}

/// Three arrivals of one a second for 3 s come in 2 s: it would seem to be a rate of 1.5 a second.
#[test]
fn an_open_load_lasts_for_its_time() {
    let mut roster = roster(&[open(1.0, 3_000, 10)]);
    let seat = Seat { number: 0, load: 0, scenario: 0 };
    for second in 0..3 {
        let arrived = due(&mut roster, second * S);
        assert!(matches!(arrived[..], [Action::Arrive { .. }]), "{arrived:?}");
        roster.free(Someone(seat));
        assert!(!roster.is_done(), "second {second}");
    }
    assert!(due(&mut roster, 3 * S - 1).is_empty() && !roster.is_done());
    assert_eq!(roster.next(), Some(3 * S));
    assert!(due(&mut roster, 3 * S).is_empty() && roster.is_done());
}

/// A number of arrivals is done when they are.
#[test]
fn an_open_load_with_a_number_of_arrivals_ends_with_the_last() {
    let load = model::Open {
        rate: Some(1.0),
        duration: Some(Duration::from_secs(60)),
        total_iterations: Some(1),
        max_users: 10,
        ..model::Open::default()
    };
    let mut roster = roster(&[profile(model::Load::Open(load))]);
    assert_eq!(due(&mut roster, 0).len(), 1);
    roster.free(Someone(Seat { number: 0, load: 0, scenario: 0 }));
    assert!(roster.is_done());
}

#[test]
fn pacing_is_kept_from_the_beginning_not_from_the_end() {
    let load = closed(model::Closed {
        users: Some(1),
        pacing: Some(Duration::from_millis(10)),
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    let Some(Action::Admit { seat, due, .. }) = roster.poll(300 * US) else { panic!("a user") };
    assert_eq!(due, 0, "it was due at 0, whenever anybody asks");
    let mut paced = roster.first_iteration(due);
    assert_eq!(roster.after(seat, &mut paced, 4 * MS), After::At(10 * MS));
    assert_eq!(roster.after(seat, &mut paced, 25 * MS), After::Now(20 * MS), "5 ms late");
    assert_eq!(roster.after(seat, &mut paced, 26 * MS), After::At(30 * MS), "and back in step");
}

/// A thousand users that were due at the same moment would be sent one after another, each later than the one before.
#[test]
fn users_with_a_pacing_do_not_start_at_the_same_moment() {
    let starts = |pacing_ms, ramp_ms| {
        let load = closed(model::Closed {
            users: Some(4),
            pacing: Some(Duration::from_millis(pacing_ms)),
            ramp: Duration::from_millis(ramp_ms),
            ..model::Closed::default()
        });
        let begins = |action: &Action<Someone>| match action {
            Action::Admit { due, .. } => Some(*due),
            _ => None,
        };
        due(&mut roster(&[load]), 10_000 * MS).iter().filter_map(begins).collect::<Vec<Nanos>>()
    };
    assert_eq!(starts(400, 0), [0, 100 * MS, 200 * MS, 300 * MS]);
    assert_eq!(starts(60_000, 0), [0, 250 * MS, 500 * MS, 750 * MS], "over a second at most");
    assert_eq!(starts(400, 40), [0, 10 * MS, 20 * MS, 30 * MS], "a ramp is a ramp");
}

#[test]
fn arrivals_are_even_and_end_before_the_end() {
    let mut roster = roster(&[open(1_000.0, 10, 100)]);
    let actions = due(&mut roster, 100 * MS);
    let times: Vec<Nanos> = actions
        .iter()
        .map(|action| match action {
            Action::Arrive { due, .. } => *due,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, (0..10).map(|n| n * MS).collect::<Vec<_>>(), "whenever anybody asks");
    assert_eq!((roster.active(), roster.all_ended(), roster.is_done()), (10, true, false));
}

#[test]
fn arrivals_without_a_free_user_are_dropped_and_users_are_used_again() {
    let mut roster = roster(&[open(1_000.0, 10, 2)]);
    let mut numbers = Vec::new();
    for now in 0..3 {
        match roster.poll(now * MS) {
            Some(Action::Arrive { seat, user: None, .. }) => numbers.push(seat.number),
            Some(Action::DropArrival { scenario: 0 }) => numbers.push(u64::MAX),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(numbers, [0, 1, u64::MAX]);
    let back = Someone(Seat { number: 1, load: 0, scenario: 0 });
    roster.free(back.clone());
    let next = roster.poll(3 * MS);
    assert_eq!(
        next,
        Some(Action::Arrive { number: 3, seat: back.0, due: 3 * MS, user: Some(back.clone()) })
    );
    roster.leave(back.0);
    let fresh = roster.poll(4 * MS);
    assert_eq!(
        fresh,
        Some(Action::Arrive { number: 4, seat: back.0, due: 4 * MS, user: None }),
        "its seat is free"
    );
}

#[test]
fn what_was_due_and_never_began_is_counted_when_the_run_is_stopped() {
    let mut roster = roster(&[open(1_000.0, 60_000, 100)]);
    assert!(matches!(roster.poll(0), Some(Action::Arrive { .. })));
    // squall stands still for 70 ms, and is then told to stop.
    assert_eq!(roster.stop(70 * MS), 69, "those of 1 to 69 ms");
    assert!(due(&mut roster, 80 * MS).is_empty());
    assert_eq!(roster.begin(Seat { number: 0, load: 0, scenario: 0 }, 0), Begin::No);
}

#[test]
fn a_timer_keeps_its_time_and_what_is_in_flight_has_its_own() {
    let mut roster = roster(&[open(1.0, 1_000, 1)]);
    roster.set_timer(42, 1_500 * US);
    roster.cancel_at(2 * MS);
    assert!(matches!(roster.poll(MS), Some(Action::Arrive { .. })));
    assert_eq!(roster.poll(1_499 * US), None);
    assert!(roster.next().is_some_and(|next| next <= 1_500 * US));
    assert_eq!(roster.poll(9 * MS), Some(Action::Timer { id: 42, due: 1_500 * US }));
    assert_eq!(roster.poll(9 * MS), Some(Action::Cancel));
}

#[test]
fn a_pause_puts_everything_off_by_its_length_and_nothing_is_lost() {
    let users = closed(model::Closed {
        users: Some(2),
        ramp: Duration::from_millis(20),
        duration: Some(Duration::from_millis(100)),
        pacing: Some(Duration::from_millis(10)),
        ..model::Closed::default()
    });
    let mut roster = roster(&[users, open(1_000.0, 4, 100)]);
    let first = due(&mut roster, 1_500 * US);
    assert_eq!(first.len(), 3, "a user and two arrivals: {first:?}");
    let seat = Seat { number: 0, load: 0, scenario: 0 };
    roster.park(Someone(seat), 5 * MS, 1_500 * US);
    roster.pause(1_500 * US);
    roster.pause(MS); // once is enough
    assert!(due(&mut roster, 51_499 * US).is_empty());
    // A user that begins to wait during the pause waits from when it ends.
    let other = Seat { number: 0, load: 1, scenario: 0 };
    roster.park(Someone(other), 50 * MS + 300 * US, 50 * MS);
    // One that ends an iteration during the pause waits too, with or without a pacing.
    let mut late = 0;
    assert_eq!(roster.after(seat, &mut late, 50 * MS), After::At(10 * MS));
    roster.resume(51_500 * US);
    let after = due(&mut roster, 51_500 * US);
    assert!(after.is_empty(), "{after:?}");
    let times: Vec<Nanos> = due(&mut roster, 59 * MS)
        .into_iter()
        .map(|action| match action {
            Action::Arrive { due, .. } | Action::Resume { due, .. } => due,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, [51_800 * US, 52 * MS, 53 * MS, 55 * MS]);
    let mut paced = 0;
    assert_eq!(roster.after(seat, &mut paced, 56 * MS), After::At(60 * MS), "its pacing too");
    assert!(matches!(due(&mut roster, 60 * MS)[..], [Action::Admit { due, .. }] if due == 60 * MS));
    assert!(!roster.all_ended());
    due(&mut roster, 150 * MS);
    assert!(roster.all_ended(), "50 ms later");
}

#[test]
fn pauses_leave_no_timers_behind() {
    let users = closed(model::Closed {
        users: Some(1_000),
        duration: Some(Duration::from_secs(3_600)),
        ..model::Closed::default()
    });
    let mut roster = roster(&[users, open(0.001, 3_600_000, 10)]);
    for action in due(&mut roster, 0) {
        match action {
            Action::Admit { seat, .. } | Action::Arrive { seat, .. } => {
                roster.park(Someone(seat), 1_000 * S, 0);
            }
            other => panic!("{other:?}"),
        }
    }
    roster.set_timer(7, 2 * MS);
    let timers = roster.wheel.len();
    for turn in 0..100 {
        roster.pause(turn * US);
        roster.resume(turn * US + US);
        assert_eq!(roster.wheel.len(), timers, "{turn}");
    }
    assert_eq!(due(&mut roster, 2 * MS), [Action::Timer { id: 7, due: 2 * MS }]);
    let woken = due(&mut roster, 1_000 * S + 100 * US);
    assert!(woken.iter().filter(|action| matches!(action, Action::Resume { .. })).count() == 1_001);
}

#[test]
fn a_load_can_be_given_another_shape() {
    let flat = |users| {
        closed(model::Closed {
            users: Some(users),
            duration: Some(Duration::from_secs(10)),
            ..model::Closed::default()
        })
    };
    let mut roster = roster(&[flat(2), open(1_000.0, 1_000, 100)]);
    due(&mut roster, 0);
    for number in 0..2 {
        roster.park(Someone(Seat { number, load: 0, scenario: 0 }), 60 * S, 0);
    }
    roster.change_at(2 * MS, Change::Shape { load: 0, shape: flat(1).shape });
    roster.change_at(3 * MS, Change::Shape { load: 1, shape: open(500.0, 4, 100).shape });
    // A closed workload stays closed.
    roster.change_at(3 * MS, Change::Shape { load: 0, shape: open(1.0, 1, 1).shape });
    let mut seen = Vec::new();
    for action in due(&mut roster, 20 * MS) {
        match action {
            Action::Arrive { due, .. } => seen.push(('a', due)),
            Action::Dismiss { user, at } => {
                seen.push((if user.0.number == 1 { 'd' } else { '?' }, at))
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, [('a', MS), ('a', 2 * MS), ('d', 2 * MS), ('a', 3 * MS), ('a', 5 * MS)]);
}

/// A million arrivals a second are more than the worker can take: it is told of a lower rate long before it has come as
/// far, and no arrival of those seconds is forgotten.
#[test]
fn a_change_does_not_wait_for_arrivals_in_arrears() {
    let mut roster = roster(&[open(1e6, 10_000, 1), open(10.0, 10_000, 1)]);
    let taken = (0..256).filter(|_| roster.poll(3 * S).is_some()).count() as u64;
    let of_other = 1; // the one at 0
    roster.change_at(S, Change::Shape { load: 0, shape: open(10.0, 9_000, 1).shape });
    assert_eq!(roster.change_overdue(S + 100 * MS), 0, "it may still catch up");
    let cut_off = roster.change_overdue(3 * S);
    assert_eq!(taken - of_other + cut_off, 1_000_000);
    assert_eq!(roster.change_overdue(3 * S), 0, "once is enough");
    let mut times = Vec::new();
    for action in due(&mut roster, 3 * S) {
        match action {
            Action::DropArrival { .. } => times.push(()),
            other => panic!("{other:?}"),
        }
    }
    // From 1 s to 3 s of the changed load, from 0.1 s to 3 s of the other one.
    assert_eq!(times.len(), 21 + 30);
}

proptest! {
    /// Whatever the stages, the split and the moments at which somebody looks: the users that are there
    /// are those of the plan, each once, and in the end nobody is.
    #[test]
    fn the_users_that_are_there_are_those_of_the_plan(
        levels in prop::collection::vec((0u32..40, 0u64..50), 1..6),
        of in 1u32..4,
        looks in prop::collection::vec(1u64..20_000, 1..40),
    ) {
        let levels: Vec<_> = levels.into_iter().map(|(level, ms)| (f64::from(level), ms)).collect();
        let length: Nanos = levels.iter().map(|(_, ms)| ms * MS).sum();
        let load = closed(model::Closed { stages: stages(&levels), ..model::Closed::default() });
        let Shape::Closed(shape) = &load.shape else { panic!("a closed load") };
        for index in 0..of {
            let part = Part::new(Share::all(), index, of);
            let share = part.users().clone();
            let mut roster = part_of(std::slice::from_ref(&load), part);
            let (mut players, mut now) = (Players::default(), 0);
            for look in &looks {
                players.play(&mut roster, now);
                let wanted = if now >= length { 0 } else { share.count_below(shape.users.users_at(now)) };
                prop_assert_eq!(players.busy.len() as u64, wanted, "at {}", now);
                prop_assert_eq!(roster.active(), wanted);
                now += look * US;
            }
            players.play(&mut roster, now.max(length));
            prop_assert!(players.busy.is_empty() && roster.is_done());
        }
    }
}

#[test]
fn a_load_waits_for_those_that_it_comes_after() {
    let once =
        |users| model::Closed { users: Some(users), iterations: Some(1), ..Default::default() };
    let first = closed(once(2));
    let mut then = closed(model::Closed {
        users: Some(1),
        duration: Some(Duration::from_secs(5)),
        ..Default::default()
    });
    then.after = vec![0];
    then.start = S;
    let mut roster = roster(&[first, then]);
    let admitted = due(&mut roster, 0);
    assert_eq!(admitted.len(), 2, "{admitted:?}");
    assert!(!roster.is_load_done(0) && !roster.is_load_done(1));
    for action in admitted {
        let Action::Admit { seat, .. } = action else { panic!("{action:?}") };
        assert_eq!(seat.load, 0);
        roster.leave(seat);
    }
    assert!(roster.is_load_done(0) && !roster.is_done(), "the other is still to come");
    assert_eq!(due(&mut roster, 60 * S), []);
    roster.release(1, 60 * S);
    assert_eq!(due(&mut roster, 61 * S - 1), [], "its own delay counts from there");
    roster.release(1, 60 * S + 1);
    let [Action::Admit { seat, due: 61_000_000_000, .. }] = due(&mut roster, 61 * S)[..] else {
        panic!("one user")
    };
    assert!(due(&mut roster, 66 * S - 1).is_empty() && !roster.is_surplus(seat));
    assert!(due(&mut roster, 66 * S).is_empty() && roster.is_surplus(seat), "its end too");
    roster.leave(seat);
    assert!(roster.is_done());
}

#[test]
fn a_load_that_never_got_its_turn_ends_with_the_run() {
    let mut waits = open(100.0, 1_000, 10);
    waits.after = vec![0];
    let endless = closed(model::Closed { users: Some(0), endless: true, ..Default::default() });
    let mut roster = roster(&[endless, waits]);
    assert!(due(&mut roster, 0).is_empty() && !roster.is_done());
    assert_eq!(roster.stop(5 * S), 0, "no arrival of it was due");
    assert!(due(&mut roster, 5 * S).is_empty() && roster.is_done());
}
