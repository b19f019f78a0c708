//! Users that stages take away finish their iteration, and have a time for that.

use super::*;

const GRACEFUL: Nanos = 3 * S;

fn ramping(users: u64, steps: &[(f64, u64)]) -> LoadProfile {
    let load = model::Closed {
        users: Some(users),
        stages: stages(steps),
        graceful_ramp_down: Some(Duration::from_nanos(GRACEFUL)),
        ..model::Closed::default()
    };
    let mut profile = closed(load);
    profile.whole_iterations = true;
    profile
}

fn seat(number: u64) -> Seat {
    Seat { number, load: 0, scenario: 0 }
}

/// Lets all users begin an iteration that never ends.
fn begin(roster: &mut Roster<Someone>, now: Nanos) -> Vec<u64> {
    let mut numbers = Vec::new();
    for action in due(roster, now) {
        let Action::Admit { seat, .. } = action else { panic!("{action:?}") };
        assert_eq!(roster.begin(seat, 0), Begin::Yes);
        numbers.push(seat.number);
    }
    numbers
}

#[test]
fn an_iteration_that_never_ends_is_cut_when_its_time_is_over() {
    let mut roster = roster(&[ramping(3, &[(3.0, 1_000), (1.0, 0), (1.0, 9_000)])]);
    assert_eq!(begin(&mut roster, 0), [0, 1, 2]);
    roster.park(Someone(seat(1)), 3_600 * S, 0);
    assert_eq!(due(&mut roster, 4 * S - 1), []);
    assert!(!roster.is_surplus(seat(2)));
    roster.take_shrunk();
    assert_eq!(due(&mut roster, 4 * S), [Action::Dismiss { user: Someone(seat(1)), at: 4 * S }]);
    assert!(roster.take_shrunk() && roster.is_surplus(seat(2)), "it finds out by itself");
    roster.leave(seat(2));
    assert_eq!((roster.active(), roster.is_surplus(seat(0))), (1, false));
}

#[test]
fn who_ends_its_iteration_in_time_leaves_and_begins_no_other() {
    let mut roster = roster(&[ramping(2, &[(1.0, 0), (1.0, 1_000), (2.0, 0), (1.0, 1_000)])]);
    assert_eq!(begin(&mut roster, S), [0, 1]);
    roster.park(Someone(seat(1)), 3 * S, S);
    assert_eq!(due(&mut roster, 3 * S), [Action::Resume { user: Someone(seat(1)), due: 3 * S }]);
    assert_eq!(roster.after(seat(1), &mut 0, 3 * S), After::Gone);
    assert_eq!(roster.begin(seat(1), 1), Begin::No);
    roster.leave(seat(1));
    assert_eq!(due(&mut roster, 60 * S), []);
}

/// A ramp up within the time takes the users that go on; their time begins anew with the next way down.
#[test]
fn who_is_wanted_again_in_time_is_not_cut() {
    let steps = [(2.0, 1_000), (0.0, 0), (0.0, 2_000), (2.0, 0), (2.0, 1_000), (1.0, 0)];
    let mut roster = roster(&[ramping(2, &[&steps[..], &[(1.0, 60_000)]].concat())]);
    assert_eq!(begin(&mut roster, 0), [0, 1]);
    assert_eq!(due(&mut roster, 2 * S), []);
    assert_eq!(roster.after(seat(0), &mut 0, 2 * S), After::Gone, "it would begin no other");
    assert_eq!(due(&mut roster, 3 * S), [], "nobody comes: they are still there");
    assert_eq!(roster.begin(seat(0), 1), Begin::Yes);
    assert_eq!(due(&mut roster, 7 * S - 1), []);
    assert!(!roster.is_surplus(seat(1)), "4 s would have been the end of the first way down");
    assert_eq!(due(&mut roster, 7 * S), []);
    assert!(roster.is_surplus(seat(1)) && !roster.is_surplus(seat(0)));
}

/// The end of the load gives no more time to those that were taken away before, and no less.
#[test]
fn the_end_of_the_load_has_a_time_of_its_own() {
    for (graceful, cut) in [(Some(10 * S), [4 * S, 12 * S]), (Some(S), [3 * S, 3 * S])] {
        let mut load = ramping(2, &[(2.0, 1_000), (1.0, 0), (1.0, 1_000)]);
        load.graceful = graceful;
        let mut roster = roster(&[load]);
        assert_eq!(begin(&mut roster, 0), [0, 1]);
        roster.park(Someone(seat(0)), 3_600 * S, 0);
        roster.park(Someone(seat(1)), 3_600 * S, 0);
        let mut dismissed = [0; 2];
        for now in (0..20 * S).step_by(MS as usize * 500) {
            for action in due(&mut roster, now) {
                let Action::Dismiss { user, at } = action else { panic!("{action:?}") };
                dismissed[1 - user.0.number as usize] = at;
            }
        }
        assert_eq!(dismissed, cut);
        assert!(roster.is_done());
    }
}

#[test]
fn a_pause_puts_the_time_off() {
    let mut roster = roster(&[ramping(1, &[(1.0, 1_000), (0.0, 0), (0.0, 60_000)])]);
    assert_eq!(begin(&mut roster, 0), [0]);
    assert_eq!(due(&mut roster, 2 * S), []);
    roster.pause(3 * S);
    assert_eq!(due(&mut roster, 9 * S), []);
    roster.resume(10 * S);
    assert_eq!(due(&mut roster, 11 * S - 1), []);
    assert!(!roster.is_surplus(seat(0)));
    due(&mut roster, 11 * S);
    assert!(roster.is_surplus(seat(0)));
}

/// Who stays with its process has the time that it had, whatever share of the users the process has.
#[test]
fn another_share_changes_no_time() {
    let all = Share::new(&[0, 1], 2).expect("shards that exist");
    let odd = Share::new(&[1], 2).expect("a shard that exists");
    let load = ramping(6, &[(6.0, 1_000), (1.0, 0), (1.0, 60_000)]);
    let mut roster = part_of(&[load], Part::new(all, 0, 1));
    assert_eq!(begin(&mut roster, 0), [0, 1, 2, 3, 4, 5]);
    roster.change_at(2 * S, to(odd));
    assert_eq!(due(&mut roster, 4 * S - 1), []);
    let may_go_on = |roster: &Roster<Someone>| [1, 3, 5].map(|n| !roster.is_surplus(seat(n)));
    assert_eq!(may_go_on(&roster), [true; 3]);
    due(&mut roster, 4 * S);
    assert_eq!(may_go_on(&roster), [false; 3]);
}

proptest! {
    /// A user may go on as long as it was wanted at any time within the last while.
    #[test]
    fn users_are_cut_when_they_were_not_wanted_for_so_long(
        levels in prop::collection::vec((0u64..6, 0u64..4), 1..12),
    ) {
        let steps: Vec<(f64, u64)> = levels
            .iter()
            .flat_map(|(users, s)| [(*users as f64, 0), (*users as f64, s * 1_000)])
            .collect();
        let mut wanted = Vec::new();
        for (users, s) in &levels {
            wanted.extend((0..*s).map(|_| *users));
        }
        let mut roster = roster(&[ramping(0, &steps)]);
        let mut there = BTreeMap::new();
        for second in 0..wanted.len() {
            for action in due(&mut roster, second as Nanos * S + MS) {
                let Action::Admit { seat, .. } = action else { panic!("{action:?}") };
                prop_assert!(there.insert(seat.number, seat).is_none());
            }
            let since = second.saturating_sub((GRACEFUL / S) as usize);
            let most = wanted[since..=second].iter().copied().max().unwrap_or(0);
            there.retain(|number, seat| {
                let stays = !roster.is_surplus(*seat);
                assert_eq!(stays, *number < most, "user {number} at {second} of {wanted:?}");
                if !stays {
                    roster.leave(*seat);
                }
                stays
            });
        }
    }
}
