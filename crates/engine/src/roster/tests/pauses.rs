//! Pauses at an instant: what is due in a second follows from them alone, whoever drives it and whenever it was told of them.

use super::*;

const STEP: Nanos = 50 * MS;

/// Ten arrivals a second.
fn load() -> [LoadProfile; 1] {
    [open(10.0, 10_000, 1_000)]
}

fn nobody() -> Roster<Someone> {
    let mut roster = part_of(&load(), Part::new(Share::all().none(), 0, 1));
    roster.stay();
    roster
}

/// When arrivals were due, in tenths of a second, from one time to another.
fn arrivals(roster: &mut Roster<Someone>, from: Nanos, to: Nanos) -> Vec<u64> {
    let mut times = Vec::new();
    for step in from / STEP..to / STEP {
        for action in due(roster, step * STEP) {
            match action {
                Action::Arrive { due, .. } => times.push(due / (100 * MS)),
                other => panic!("{other:?}"),
            }
        }
    }
    times
}

/// All of them, each from the first up to, not including, the second.
fn tenths(ranges: &[(u64, u64)]) -> Vec<u64> {
    ranges.iter().flat_map(|(from, to)| *from..*to).collect()
}

#[test]
fn a_pause_holds_from_its_instant_to_that_of_its_end() {
    let mut roster = roster(&load());
    roster.change_at(S, Change::Pause);
    roster.change_at(3 * S, Change::GoOn);
    let first = due(&mut roster, 0);
    let [Action::Arrive { seat, .. }] = first[..] else { panic!("{first:?}") };
    roster.park(Someone(seat), 1_500 * MS, 0);
    let mut woken = Vec::new();
    let mut times = vec![0];
    for step in 1..100 {
        for action in due(&mut roster, step * STEP) {
            match action {
                Action::Arrive { due, .. } => times.push(due / (100 * MS)),
                Action::Resume { due, .. } => woken.push(due),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(times, tenths(&[(0, 10), (30, 50)]));
    assert_eq!(woken, [3_500 * MS]);
}

#[test]
fn who_is_told_late_of_a_pause_goes_on_where_the_others_do() {
    let mut roster = roster(&load());
    assert_eq!(arrivals(&mut roster, 0, 2_550 * MS), tenths(&[(0, 26)]));
    roster.change_at(S, Change::Pause);
    roster.change_at(3 * S, Change::GoOn);
    // What was to come from 3 s to 4.6 s it has done already.
    assert_eq!(arrivals(&mut roster, 2_550 * MS, 6 * S), tenths(&[(46, 60)]));
}

#[test]
fn who_is_told_late_of_its_end_makes_up_for_nothing() {
    let mut roster = roster(&load());
    roster.change_at(S, Change::Pause);
    assert_eq!(arrivals(&mut roster, 0, 5_050 * MS), tenths(&[(0, 10)]));
    roster.change_at(3 * S, Change::GoOn);
    assert_eq!(arrivals(&mut roster, 5_050 * MS, 7 * S), tenths(&[(60, 70)]));
    assert_eq!(roster.take_cut_off(), 30);
}

#[test]
fn who_takes_a_share_over_in_a_pause_or_after_it_goes_on_where_it_stood() {
    for second in [2, 3, 5] {
        let (mut giver, mut taker) = (roster(&load()), nobody());
        giver.stay();
        for roster in [&mut giver, &mut taker] {
            roster.change_at(S, Change::Pause);
            roster.change_at(3 * S, Change::GoOn);
        }
        giver.change_at(second * S, to(Share::all().none()));
        taker.change_at(second * S, to(Share::all()));
        let mut times = arrivals(&mut giver, 0, 7 * S);
        times.extend(arrivals(&mut taker, 0, 7 * S));
        assert_eq!(times, tenths(&[(0, 10), (30, 70)]), "from second {second}");
    }
}

#[test]
fn a_change_of_the_load_in_a_pause_begins_with_its_end() {
    let mut roster = roster(&load());
    roster.change_at(S, Change::Pause);
    roster.change_at(2 * S, Change::Shape { load: 0, shape: open(5.0, 1_000, 1_000).shape });
    roster.change_at(3 * S, Change::GoOn);
    assert_eq!(
        arrivals(&mut roster, 0, 7 * S),
        [tenths(&[(0, 10)]), vec![30, 32, 34, 36, 38]].concat()
    );
}
