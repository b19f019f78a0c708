//! One load on several nodes of several workers each, whose shares change at whole seconds: what is done is what one process
//! does, but for what is lost with a node.

use std::collections::{BTreeMap, BTreeSet};

use squall_base::random::Random;

use super::*;
use crate::profile::LoadProfile;

/// Somebody who does one thing after the other, each for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Person {
    seat: Seat,
    iteration: u64,
    is_open: bool,
    paced: Nanos,
}

impl Seated for Person {
    fn seat(&self) -> Seat {
        self.seat
    }
}

/// What was begun: of a load, an arrival with its time, or a user's iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    Arrival { load: u16, number: u64, due: Nanos },
    Iteration { load: u16, user: u64, iteration: u64 },
}

/// The whole fleet's record.
#[derive(Default)]
struct Record {
    done: Vec<Done>,
    dropped: u64,
    progress: Progress,
}

struct Node {
    workers: Vec<Roster<Person>>,
    shards: BTreeSet<u64>,
    changes: usize,
}

const STEP: Nanos = 50 * MS;

impl Node {
    fn new(loads: &[LoadProfile], workers: u32, shards: BTreeSet<u64>, of: u64) -> Node {
        let share = share(&shards, of);
        let iterations = Iterations::new(loads, &share);
        let worker = |index| {
            let part = Part::new(share.clone(), index, workers);
            let mut roster = Roster::new(loads, part, &iterations, 0, 7);
            roster.stay();
            roster
        };
        Node { workers: (0..workers).map(worker).collect(), shards, changes: 0 }
    }

    /// Does what is due, worker by worker.
    fn advance(&mut self, now: Nanos, record: &mut Record) {
        for roster in &mut self.workers {
            while let Some(action) = roster.poll(now) {
                match action {
                    Action::Admit { seat, due, .. } => {
                        let paced = roster.first_iteration(due);
                        let person = Person { seat, iteration: 0, is_open: false, paced };
                        begin(roster, person, now, record);
                    }
                    Action::Arrive { number, seat, due, .. } => {
                        record.done.push(Done::Arrival { load: seat.load, number, due });
                        let person = Person { seat, iteration: 0, is_open: true, paced: 0 };
                        roster.park(person, now + lasts(seat, number), now);
                    }
                    Action::DropArrival { .. } => record.dropped += 1,
                    Action::Resume { user, .. } if user.is_open => roster.free(user),
                    Action::Resume { mut user, .. } => {
                        user.iteration += 1;
                        match roster.after(user.seat, &mut user.paced, now) {
                            After::Gone => roster.leave(user.seat),
                            _ => begin(roster, user, now, record),
                        }
                    }
                    // The load is over.
                    Action::Dismiss { user, at } if user.is_open && at == 9 * S => {}
                    other => panic!("what has begun is ended: {other:?}"),
                }
            }
            assert_eq!(roster.take_cut_off(), 0, "nobody was late");
        }
    }

    fn change(&mut self, at: Nanos, of: u64, progress: &Progress) {
        self.changes += 1;
        let (number, share) = (self.changes, share(&self.shards, of));
        let progress = Arc::new(progress.clone());
        for roster in &mut self.workers {
            let (share, progress) = (share.clone(), progress.clone());
            roster.change_at(at, Change::Share { number, share, progress });
        }
    }
}

fn share(shards: &BTreeSet<u64>, of: u64) -> Share {
    Share::new(&shards.iter().copied().collect::<Vec<_>>(), of).expect("shards that exist")
}

/// How long something takes: up to more than a second.
fn lasts(seat: Seat, number: u64) -> Nanos {
    Random::of(3, seat.number, number, 0).next_u64() % (1_300 * MS)
}

fn begin(roster: &mut Roster<Person>, mut person: Person, now: Nanos, record: &mut Record) {
    let seat = person.seat;
    person.iteration = roster.next_iteration(seat, person.iteration);
    if roster.begin(seat, person.iteration) != Begin::Yes {
        roster.leave(seat);
        return;
    }
    let (load, user, iteration) = (seat.load, seat.number, person.iteration);
    record.done.push(Done::Iteration { load, user, iteration });
    let counted = roster.counted(seat).expect("all loads here are counted");
    assert_eq!(counted.begun, iteration + 1);
    record.progress.users.insert((load, user), counted.begun);
    if let Some(shard) = counted.shard {
        *record.progress.totals.entry((load, shard)).or_default() += 1;
    }
    roster.park(person, now + lasts(seat, iteration), now);
}

/// Arrivals of both patterns, iterations of each user, and of all users together.
fn loads() -> Vec<LoadProfile> {
    let mut poisson = open(61.0, 9_000, 10_000);
    if let Shape::Open(shape) = &mut poisson.shape {
        shape.pattern = model::Arrivals::Poisson;
        shape.total_iterations = Some(400);
    }
    let ramp = Duration::from_secs(4);
    vec![
        open(97.0, 9_000, 10_000),
        poisson,
        closed(model::Closed { users: Some(29), ramp, iterations: Some(5), ..Default::default() }),
        closed(model::Closed {
            users: Some(17),
            ramp,
            total_iterations: Some(103),
            ..Default::default()
        }),
    ]
}

fn run(
    nodes: &mut Vec<Node>,
    of: u64,
    mut at_second: impl FnMut(u64, &mut Vec<Node>, &mut Record),
) -> Record {
    let mut record = Record::default();
    for step in 0..=(40 * S / STEP) {
        let now = step * STEP;
        if now.is_multiple_of(S) && (1..9).contains(&(now / S)) {
            // Changes are told before they are due.
            nodes.iter_mut().for_each(|node| node.advance(now - 1, &mut record));
            at_second(now / S, nodes, &mut record);
        }
        nodes.iter_mut().for_each(|node| node.advance(now, &mut record));
    }
    assert!(nodes.iter().flat_map(|node| &node.workers).all(Roster::is_idle), "of {of}");
    record.done.sort_unstable();
    record
}

/// What one process does.
fn whole() -> Record {
    run(&mut vec![Node::new(&loads(), 1, BTreeSet::from([0]), 1)], 1, |_, _, _| {})
}

fn numbered(record: &Record) -> Vec<Done> {
    // Who takes the iterations that all have together depends on how long each of them takes.
    let own = |done: &&Done| !matches!(done, Done::Iteration { load: 3, .. });
    record.done.iter().filter(own).copied().collect()
}

/// What one list has and the other has not, or not as often: the first few.
fn difference(one: &[Done], other: &[Done]) -> Vec<(i32, Done)> {
    let mut counts = BTreeMap::new();
    one.iter().for_each(|done| *counts.entry(*done).or_insert(0) += 1);
    other.iter().for_each(|done| *counts.entry(*done).or_insert(0) -= 1);
    let apart = counts.into_iter().filter(|(_, count)| *count != 0);
    apart.map(|(done, count)| (count, done)).take(9).collect()
}

fn of_all_together(record: &Record) -> usize {
    record.done.len() - numbered(record).len()
}

fn fleet(random: &mut Random, of: u64) -> Vec<Node> {
    let count = 1 + random.next_u64() % 4;
    let mut dealt: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); count as usize];
    (0..of).for_each(|shard| _ = dealt[(random.next_u64() % count) as usize].insert(shard));
    let workers = |random: &mut Random| 1 + (random.next_u64() % 3) as u32;
    dealt.into_iter().map(|own| Node::new(&loads(), workers(random), own, of)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Shards go from node to node at whole seconds, and a node may join.
    #[test]
    fn reshares_neither_lose_nor_double_anything(seed in any::<u64>(), of in prop::sample::select(vec![6u64, 8, 12, 16])) {
        let mut random = Random::new(seed);
        let mut nodes = fleet(&mut random, of);
        let record = run(&mut nodes, of, |second, nodes, record| {
            if random.next_u64().is_multiple_of(2) {
                return;
            }
            if random.next_u64().is_multiple_of(4) {
                nodes.push(Node::new(&loads(), 2, BTreeSet::new(), of));
                nodes.last_mut().into_iter().for_each(|node| node.advance(second * S, record));
            }
            // Each gives some away, and then takes what others gave, from the same moment on.
            let mut free = Vec::new();
            for node in nodes.iter_mut() {
                let given: Vec<u64> = node.shards.iter().copied().filter(|_| random.next_u64().is_multiple_of(3)).collect();
                given.iter().for_each(|shard| _ = node.shards.remove(shard));
                free.extend(given);
                node.change(second * S, of, &Progress::default());
                node.advance(second * S, record);
            }
            for shard in free {
                let taker = (random.next_u64() % nodes.len() as u64) as usize;
                nodes[taker].shards.insert(shard);
            }
            for node in nodes.iter_mut() {
                node.change(second * S, of, &record.progress);
                node.advance(second * S, record);
            }
        });
        let one = whole();
        prop_assert_eq!(difference(&numbered(&record), &numbered(&one)), []);
        prop_assert_eq!((of_all_together(&record), of_all_together(&one)), (103, 103));
        prop_assert!(record.done.windows(2).all(|pair| pair[0] != pair[1]), "nothing is done twice");
        prop_assert_eq!(record.dropped + one.dropped, 0);
    }

    /// A node is lost at a whole second, and others take over two seconds later: arrivals of its shards in between are
    /// missing, and nothing else.
    #[test]
    fn what_is_lost_with_a_node_is_all_that_is_missing(seed in any::<u64>(), lost in 1u64..6) {
        let (mut random, of) = (Random::new(seed), 12);
        let mut nodes = fleet(&mut random, of);
        nodes.push(Node::new(&loads(), 2, BTreeSet::new(), of));
        let mut gone = BTreeSet::new();
        let record = run(&mut nodes, of, |second, nodes, record| {
            if second == lost {
                // What it begins from then on is not known to anybody.
                gone = nodes.remove(0).shards;
            } else if second == lost + 2 {
                for shard in &gone {
                    let taker = (random.next_u64() % nodes.len() as u64) as usize;
                    nodes[taker].shards.insert(*shard);
                }
                for node in nodes.iter_mut() {
                    node.change(second * S, of, &record.progress);
                    node.advance(second * S, record);
                }
            }
        });
        let one = whole();
        let is_lost = |done: &Done| match done {
            Done::Arrival { number, due, .. } => {
                gone.contains(&(number % of)) && *due >= lost * S && *due < (lost + 2) * S
            }
            Done::Iteration { .. } => false,
        };
        let expected: Vec<Done> = numbered(&one).into_iter().filter(|done| !is_lost(done)).collect();
        prop_assert_eq!(difference(&numbered(&record), &expected), []);
        prop_assert_eq!(of_all_together(&record), 103);
    }
}

/// For a time: the users of one process at its times, each once.
#[test]
fn users_of_loads_that_last_for_a_time_are_those_of_one_process() {
    let load = || {
        closed(model::Closed {
            users: Some(23),
            ramp: Duration::from_secs(5),
            duration: Some(Duration::from_secs(9)),
            ..Default::default()
        })
    };
    let admitted = |shares: &[Share]| {
        let mut all: Vec<(u64, Nanos)> = Vec::new();
        for own in shares {
            for index in 0..2 {
                let mut roster = part_of(&[load()], Part::new(own.clone(), index, 2));
                let came = due(&mut roster, 8 * S).into_iter().map(|action| match action {
                    Action::Admit { seat, due, .. } => (seat.number, due),
                    other => panic!("{other:?}"),
                });
                all.extend(came);
            }
        }
        all.sort_unstable();
        all
    };
    let node = |shards: &[u64]| Share::new(shards, 10).expect("shards that exist");
    let split = [node(&[0, 3, 4]), node(&[1, 2, 5, 9]), node(&[6]), node(&[7, 8]), node(&[])];
    assert_eq!(admitted(&split), admitted(&[Share::all()]));
}

/// There are no more users than the plan allows, and all arrivals come to where they are.
#[test]
fn few_users_of_many_nodes_take_all_arrivals() {
    let mut numbers = BTreeMap::new();
    for shards in [&[0, 4][..], &[1, 2, 3], &[5, 6, 7]] {
        let node = Share::new(shards, 8).expect("shards that exist");
        for index in 0..2 {
            let mut roster = part_of(&[open(100.0, 1_000, 3)], Part::new(node.clone(), index, 2));
            while let Some(action) = roster.poll(2 * S) {
                let Action::Arrive { number, seat, .. } = action else { panic!("{action:?}") };
                assert!(seat.number < 3, "{seat:?}");
                *numbers.entry(number).or_insert(0) += 1;
                roster.free(Someone(seat));
            }
        }
    }
    assert_eq!((numbers.len(), numbers.values().max()), (100, Some(&1)));
}
