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

/// Two processes of two workers each hand a load over to three at a whole second: every arrival comes out once.
#[test]
fn a_share_that_is_handed_over_loses_nothing_and_doubles_nothing() {
    let profiles = [open(997.0, 3_000, 10_000)];
    let share = |shards: &[u64]| Share::new(shards, 6).expect("shards that exist");
    let before = [share(&[0, 1, 2]), share(&[3, 4, 5]), share(&[])];
    let after = [share(&[0, 1]), share(&[3, 4]), share(&[2, 5])];
    let mut all = BTreeMap::new();
    let parts = before.iter().flat_map(|own| (0..2).map(|index| Part::new(own.clone(), index, 2)));
    let mut rosters: Vec<_> = parts.map(|part| part_of(&profiles, part)).collect();
    for (index, roster) in rosters.iter_mut().enumerate() {
        roster.change_at(S, to(after[index / 2].clone()));
    }
    // They look at different times, one of them only after it stood still over the second.
    for roster in rosters.iter_mut().rev() {
        for now in [400 * MS, 1_450 * MS, 2_100 * MS, 4 * S] {
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
    let process = |shard| Share::new(&[shard], 2).expect("a shard that exists");
    let mut roster = part_of(&[load], Part::new(process(0), 0, 1));
    assert_eq!(due(&mut roster, 0).len(), 2, "users 0 and 2");
    let seat = |number| Seat { number, load: 0, scenario: 0 };
    roster.park(Someone(seat(0)), 60 * S, 0);
    roster.change_at(S, to(process(1)));
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

/// What an arrival has begun is ended by who began it, though its seat is another's by then.
#[test]
fn an_arrival_ends_where_it_began() {
    let share = |shard| Share::new(&[shard], 2).expect("a shard that exists");
    let mut roster = part_of(&[open(2.0, 9_000, 100)], Part::new(share(0), 0, 1));
    let arrived = due(&mut roster, 0);
    let [Action::Arrive { seat, .. }] = arrived[..] else { panic!("{arrived:?}") };
    roster.park(Someone(seat), 3 * S, 0);
    roster.change_at(S, to(share(1)));
    let mut due_at = |now| due(&mut roster, now);
    assert!(
        matches!(due_at(S + 500 * MS)[..], [Action::Arrive { due, .. }] if due == S + 500 * MS)
    );
    let later = due_at(3 * S);
    assert!(later.contains(&Action::Resume { user: Someone(seat), due: 3 * S }), "{later:?}");
    assert!(!roster.is_surplus(seat));
    let active = roster.active();
    roster.park(Someone(seat), 60 * S, 3 * S);
    assert!(due(&mut roster, 3 * S).is_empty());
    // When the load ends it has to go like all others.
    let last = due(&mut roster, 9 * S);
    assert!(last.contains(&Action::Dismiss { user: Someone(seat), at: 9 * S }), "{last:?}");
    assert!(roster.active() >= active - 1);
}

/// One who joins has nothing at first, and is not done before the load is.
#[test]
fn who_may_get_a_share_stays_until_the_load_is_over() {
    let timed = || {
        closed(model::Closed {
            users: Some(4),
            duration: Some(Duration::from_secs(9)),
            ..model::Closed::default()
        })
    };
    let nothing = Share::new(&[], 4).expect("no shard");
    let part = || Part::new(nothing.clone(), 0, 1);
    let mut leaves = part_of(&[timed()], part());
    assert!(due(&mut leaves, 5 * S).is_empty() && leaves.is_done());
    let mut roster = part_of(&[timed(), open(4.0, 9_000, 100)], part());
    roster.stay();
    assert!(due(&mut roster, 4 * S + 200 * MS).is_empty());
    assert!(roster.is_idle() && !roster.is_done() && !roster.is_load_done(0));
    let taken = Share::new(&[1], 4).expect("a shard that exists");
    roster.change_at(5 * S, to(taken.clone()));
    let mut actions = due(&mut roster, 5 * S + 250 * MS);
    let seat = |number, load| Seat { number, load, scenario: 0 };
    assert_eq!(actions.remove(0), Action::Admit { seat: seat(1, 0), due: 5 * S, again: false });
    assert_eq!(
        actions,
        [Action::Arrive { number: 21, seat: seat(1, 1), due: 5 * S + 250 * MS, user: None }]
    );
    assert!(!roster.is_idle());
    roster.leave(seat(1, 0));
    roster.free(Someone(seat(1, 1)));
    // It stood still meanwhile: nothing is made up for.
    roster.change_at(6 * S, to(nothing));
    roster.change_at(7 * S, to(taken));
    let actions = due(&mut roster, 8 * S + 300 * MS);
    let arrivals = actions.iter().filter(|action| matches!(action, Action::Arrive { .. })).count();
    assert_eq!((arrivals, roster.take_cut_off()), (0, 2), "those of 7.25 and 8.25 s");
    roster.stop(9 * S);
    due(&mut roster, 9 * S);
    assert!(!roster.is_done(), "a user of it is there");
    roster.leave(seat(1, 0));
    assert!(roster.is_done());
}

/// A process that begins late leaves out what was due before the next whole second.
#[test]
fn nothing_is_made_up_for_by_who_begins_late() {
    let mut roster = part_of(&[open(4.0, 9_000, 100)], Part::new(Share::all(), 0, 1));
    assert_eq!(roster.begin_late(S, S + 400 * MS), 0, "it is only a little late");
    assert_eq!(roster.begin_late(0, 2 * S + 100 * MS), 12);
    let actions = due(&mut roster, 3 * S);
    assert!(matches!(actions[..], [Action::Arrive { due, .. }] if due == 3 * S), "{actions:?}");
}

/// A share that is told of a little late: what was kept is not begun twice, and what was taken is made up for.
#[test]
fn a_share_that_is_told_of_late_doubles_nothing() {
    let share = |shards: &[u64]| Share::new(shards, 4).expect("shards that exist");
    let mut roster = part_of(&[open(20.0, 9_000, 100)], Part::new(share(&[0, 1]), 0, 1));
    let number = |action| match action {
        Action::Arrive { number, seat, .. } => (number, seat),
        other => panic!("{other:?}"),
    };
    let mut begun: Vec<u64> = due(&mut roster, 1_200 * MS).into_iter().map(|a| number(a).0).collect();
    roster.change_at(S, to(share(&[1, 2])));
    begun.extend(due(&mut roster, 1_450 * MS).into_iter().map(|a| number(a).0));
    begun.sort_unstable();
    let expected = (0..30).filter(|n| match n % 4 {
        0 => *n <= 24, // it was too late to leave them to others
        1 => true,
        2 => *n >= 20,
        _ => false,
    });
    assert_eq!(begun, expected.collect::<Vec<_>>());
}
