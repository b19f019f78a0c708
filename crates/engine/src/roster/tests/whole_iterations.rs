//! Users that are one too many finish their iteration, if the plan says so.

use std::time::Duration;

use squall_plan::model;

use super::*;

fn whole(mut profile: LoadProfile) -> Roster<Someone> {
    profile.whole_iterations = true;
    roster(&[profile])
}

fn users(roster: &mut Roster<Someone>, now: Nanos) -> Vec<Seat> {
    let admitted = |action| match action {
        Action::Admit { seat, .. } | Action::Arrive { seat, .. } => Some(seat),
        _ => None,
    };
    due(roster, now).into_iter().filter_map(admitted).collect()
}

fn two_for_10_s() -> LoadProfile {
    let duration = Some(Duration::from_secs(10));
    closed(model::Closed { users: Some(2), duration, ..model::Closed::default() })
}

#[test]
fn who_waits_or_works_at_the_end_goes_on_to_the_end_of_its_iteration() {
    let mut roster = whole(two_for_10_s());
    let seats = users(&mut roster, 0);
    for seat in &seats {
        assert_eq!(roster.begin(*seat, 0), Begin::Yes);
    }
    roster.park(Someone(seats[0]), 15 * S, S);
    assert_eq!(due(&mut roster, 12 * S), []);
    assert!(roster.all_ended() && !roster.is_done());
    assert!(!roster.is_surplus(seats[0]) && !roster.is_surplus(seats[1]));
    // It may wait once more, and nobody begins anything.
    roster.park(Someone(seats[1]), 14 * S, 12 * S);
    let woken = Action::Resume { user: Someone(seats[1]), due: 14 * S };
    assert_eq!(due(&mut roster, 14 * S), [woken]);
    assert_eq!(roster.after(seats[1], &mut 0, 14 * S), After::Gone);
    roster.leave(seats[1]);
    assert_eq!(roster.begin(seats[0], 1), Begin::No);
    assert_eq!(due(&mut roster, 15 * S), [Action::Resume { user: Someone(seats[0]), due: 15 * S }]);
    roster.leave(seats[0]);
    assert!(roster.is_done());
}

#[test]
fn a_load_may_have_a_time_of_its_own_for_that() {
    let mut profile = two_for_10_s();
    profile.graceful = Some(3 * S);
    let mut roster = whole(profile);
    let seats = users(&mut roster, 0);
    seats.iter().for_each(|seat| assert_eq!(roster.begin(*seat, 0), Begin::Yes));
    roster.park(Someone(seats[0]), 50 * S, S);
    assert_eq!(due(&mut roster, 13 * S - 1), []);
    assert!(!roster.is_surplus(seats[1]));
    let gone = Action::Dismiss { user: Someone(seats[0]), at: 13 * S };
    assert_eq!(due(&mut roster, 13 * S), [gone]);
    assert!(roster.is_surplus(seats[1]), "it finds out by itself");
    roster.leave(seats[1]);
    assert!(roster.is_done());
}

#[test]
fn a_run_that_stops_waits_for_nobody() {
    let mut roster = whole(two_for_10_s());
    let seats = users(&mut roster, 0);
    roster.park(Someone(seats[0]), 50 * S, S);
    assert_eq!(due(&mut roster, 10 * S), []);
    roster.stop(11 * S);
    assert!(roster.is_surplus(seats[1]), "it finds out by itself");
    let gone = Action::Dismiss { user: Someone(seats[0]), at: 11 * S };
    assert_eq!(due(&mut roster, 11 * S), [gone]);
    roster.leave(seats[1]);
    assert!(roster.is_done());
}

#[test]
fn who_is_one_too_many_on_the_way_down_finishes_too_and_its_seat_is_taken_again() {
    let load = model::Closed {
        users: Some(2),
        stages: stages(&[(1.0, 0), (1.0, 5_000), (2.0, 0), (2.0, 5_000)]),
        ..model::Closed::default()
    };
    let mut roster = whole(closed(load));
    let seats = users(&mut roster, 0);
    // A jump at the very beginning leaves one; the other comes later.
    assert_eq!(seats.len(), 1);
    let second = users(&mut roster, 5 * S);
    assert_eq!(second.len(), 1);
    assert_eq!(roster.begin(second[0], 0), Begin::Yes);
    roster.park(Someone(second[0]), 30 * S, 6 * S);
    assert_eq!(due(&mut roster, 10 * S), []);
    assert_eq!(due(&mut roster, 30 * S).len(), 1);
}

#[test]
fn arrivals_that_have_begun_are_finished() {
    let mut roster = whole(open(1.0, 2_000, 5));
    let seats = users(&mut roster, S);
    assert_eq!(seats.len(), 2);
    assert_eq!(users(&mut roster, 3 * S), [], "there are none after the end");
    roster.park(Someone(seats[0]), 9 * S, 3 * S);
    assert!(!roster.is_surplus(seats[1]) && !roster.is_done());
    assert_eq!(due(&mut roster, 9 * S).len(), 1);
    for seat in seats {
        assert_eq!(roster.after(seat, &mut 0, 9 * S), After::Free);
        roster.free(Someone(seat));
    }
    assert!(roster.is_done());
}
