//! What several workers or processes divide: nothing is left over, and nothing is done twice.

use super::*;

#[test]
fn iterations_of_all_users_together_are_shared_exactly() {
    let load = closed(model::Closed {
        users: Some(5),
        total_iterations: Some(101),
        ..model::Closed::default()
    });
    let iterations = Iterations::new(std::slice::from_ref(&load), &Share::all());
    let mut rosters: Vec<Roster<Someone>> = (0..3)
        .map(|index| {
            let part = Part::new(Share::all(), index, 3);
            Roster::new(std::slice::from_ref(&load), part, &iterations, 0, 7)
        })
        .collect();
    rosters.iter_mut().for_each(|roster| drop(due(roster, 0)));
    let mut begin = |worker: u64| {
        let seat = Seat { number: worker, load: 0, scenario: 0 };
        rosters[worker as usize].begin(seat, 0) == Begin::Yes
    };
    // Two workers are slow: what they do not take is left to the third.
    assert!(begin(0) && begin(1));
    let mut begun = 2;
    while begin(2) {
        begun += 1;
    }
    assert_eq!(begun, 101);
    assert!(!begin(0) && !begin(1));
}

/// Processes without users have no iterations either, whatever they are divided into.
#[test]
fn iterations_are_where_users_are() {
    let [even, one, three] = [(&[0][..], 2), (&[1], 4), (&[3], 4)]
        .map(|(shards, of)| Share::new(shards, of).expect("shards that exist"));
    for (users, expected) in [(1, [20, 0, 0]), (2, [10, 10, 0]), (3, [13, 7, 0]), (4, [10, 5, 5])] {
        let load = closed(model::Closed {
            users: Some(users),
            total_iterations: Some(20),
            ..model::Closed::default()
        });
        let begun = [&even, &one, &three].map(|process| {
            let mut roster = part_of(std::slice::from_ref(&load), Part::new(process.clone(), 0, 1));
            due(&mut roster, 0);
            let number = process.nth(0).expect("a first number");
            let seat = Seat { number, load: 0, scenario: 0 };
            (0..100).take_while(|_| roster.begin(seat, 0) == Begin::Yes).count()
        });
        assert_eq!(begun, expected, "{users} users");
    }
}

#[test]
fn users_that_would_have_no_iteration_are_not_waited_for() {
    let load = closed(model::Closed {
        users: Some(100),
        ramp: Duration::from_secs(60),
        total_iterations: Some(1),
        ..model::Closed::default()
    });
    let mut roster = roster(&[load]);
    let admitted = due(&mut roster, MS);
    let [Action::Admit { seat, .. }] = admitted[..] else { panic!("{admitted:?}") };
    assert_eq!(roster.begin(seat, 0), Begin::Yes);
    assert_eq!(roster.begin(seat, 1), Begin::No);
    roster.leave(seat);
    assert!(roster.is_done());
}

/// A worker without a user would drop what arrives.
#[test]
fn arrivals_go_to_the_workers_that_have_users() {
    for (max_users, workers) in [(1, 2), (1, 4), (3, 4), (2, 8), (9, 4)] {
        let load = open(100.0, 1_000, max_users);
        let mut arrived = BTreeMap::new();
        for index in 0..workers {
            let part = Part::new(Share::all(), index, workers);
            let mut roster = part_of(std::slice::from_ref(&load), part);
            while let Some(action) = roster.poll(2 * S) {
                let Action::Arrive { due, seat, .. } = action else { panic!("{action:?}") };
                *arrived.entry(due).or_insert(0) += 1;
                roster.free(Someone(seat));
            }
        }
        assert_eq!((arrived.len(), arrived.values().max()), (100, Some(&1)), "{max_users}");
    }
}

/// Two workers of one share hand it over to three at a whole second: every arrival comes out once.
#[test]
fn a_share_that_is_handed_over_loses_nothing_and_doubles_nothing() {
    let profiles = [open(997.0, 3_000, 10_000)];
    let part = |index, of| Part::new(Share::all(), index, of);
    let mut all = BTreeMap::new();
    let mut rosters: Vec<Roster<Someone>> = (0..3)
        .map(|index| {
            let nothing = part(9, 3);
            let part = if index < 2 { part(index, 2) } else { nothing };
            part_of(&profiles, part)
        })
        .collect();
    for (index, roster) in rosters.iter_mut().enumerate() {
        roster.change_at(S, Change::Part(part(index as u32, 3)));
    }
    // They look at different times, one of them only after it stood still over the second.
    for roster in rosters.iter_mut().rev() {
        for now in [400 * MS, 1_700 * MS, 2_100 * MS, 4 * S] {
            while let Some(action) = roster.poll(now) {
                let Action::Arrive { due, seat, .. } = action else { panic!("{action:?}") };
                *all.entry(due).or_insert(0) += 1;
                roster.free(Someone(seat));
            }
        }
    }
    assert_eq!((all.len(), all.values().max()), (2_991, Some(&1)));
}

#[test]
fn users_of_a_seat_that_is_given_away_go_and_others_come() {
    let load = closed(model::Closed {
        users: Some(4),
        duration: Some(Duration::from_secs(9)),
        ..model::Closed::default()
    });
    let mut roster = part_of(&[load], Part::new(Share::all(), 0, 2));
    assert_eq!(due(&mut roster, 0).len(), 2, "users 0 and 2");
    let seat = |number| Seat { number, load: 0, scenario: 0 };
    roster.park(Someone(seat(0)), 60 * S, 0);
    roster.change_at(S, Change::Part(Part::new(Share::all(), 1, 2)));
    let mut actions = due(&mut roster, S);
    assert_eq!(actions.remove(0), Action::Dismiss { user: Someone(seat(0)), at: S });
    let came = |action: &Action<Someone>| match action {
        Action::Admit { seat, .. } => seat.number,
        other => panic!("{other:?}"),
    };
    assert_eq!(actions.iter().map(came).collect::<Vec<_>>(), [1, 3]);
    assert!(roster.is_surplus(seat(2)), "it finds out by itself");
    roster.park(Someone(seat(2)), 60 * S, S);
    assert_eq!(due(&mut roster, S), [Action::Dismiss { user: Someone(seat(2)), at: S }]);
    assert_eq!(roster.active(), 2);
}
