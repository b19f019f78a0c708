//! A second behaviour, to hold the interface: a list of things that a user asks for, without a program and a cursor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use squall_metrics::RowKind;

use crate::behaviour::drive::run;
use crate::behaviour::next::{Answer, Behaviour, Env, Next, Task};
use crate::behaviour::start::rest;
use crate::program::Op;
use crate::testing::{Bench, MS, S, scenario};
use crate::user::User;
use crate::worker::Worker;

/// What a script asks for.
#[derive(Clone)]
enum Ask {
    /// The request of the scenario.
    Request,
    Think(u64),
    Join(usize, Vec<Vec<Ask>>),
    Yield,
    Gone,
}

/// What a user goes through in each iteration, and what is left of the present one.
#[derive(Clone, Default)]
struct Script {
    each: Vec<Ask>,
    left: Vec<Ask>,
    /// The branches that have ended since it was told so.
    joined: Vec<usize>,
    /// What it was told, and when.
    told: Rc<RefCell<Vec<(String, u64)>>>,
}

impl Script {
    fn new(asks: &[Ask]) -> Script {
        Script { each: asks.to_vec(), ..Script::default() }
    }

    fn begin(&mut self) {
        self.left = self.each.iter().rev().cloned().collect();
    }
}

impl Behaviour for Script {
    fn resume<'p>(&mut self, env: Env<'_, 'p>, answer: Answer) -> Next<'p, Script> {
        let answer = match answer {
            Answer::Begin => {
                self.begin();
                "begin".to_owned()
            }
            Answer::Ready if self.joined.is_empty() => format!("ready, {}", env.core.last_ok.get()),
            Answer::Ready => {
                let mut joined = std::mem::take(&mut self.joined);
                joined.sort_unstable();
                format!("joined {joined:?}")
            }
            Answer::Responses(_) => "responses".to_owned(),
        };
        self.told.borrow_mut().push((answer, env.now / MS));
        match self.left.pop() {
            None => Next::Over,
            Some(Ask::Gone) => Next::Gone,
            Some(Ask::Yield) => Next::Go(Task::Yield),
            Some(Ask::Think(time)) => Next::Wait(env.now + time),
            Some(Ask::Request) => {
                let ops = &env.worker.program.scenarios[env.core.scenario()].ops;
                let request = ops.iter().find_map(|op| match op {
                    Op::Request(request) => Some(&**request),
                    _ => None,
                });
                Next::Go(Task::Request(request.expect("a request")))
            }
            Some(Ask::Join(limit, branches)) => {
                let mut branches: Vec<Script> =
                    branches.iter().map(|asks| Script::new(asks)).collect();
                branches.iter_mut().for_each(Script::begin);
                Next::Go(Task::Join { branches, limit })
            }
        }
    }

    fn join(&mut self, number: usize, _: Script) {
        self.joined.push(number);
    }
}

thread_local! {
    /// The scripts of users that are not at work, by their numbers.
    static SCRIPTS: RefCell<HashMap<u64, Script>> = RefCell::default();
}

fn start(worker: &Rc<Worker>, mut user: Box<User>) {
    let number = user.core.seat.number;
    let script = SCRIPTS.with_borrow_mut(|scripts| scripts.remove(&number));
    let (own, mut script) = (worker.clone(), script.expect("a script"));
    worker.spawn(async move {
        let (how, since) = run(&own, &user.core, &mut user.strand, &mut script).await;
        SCRIPTS.with_borrow_mut(|scripts| scripts.insert(number, script));
        rest(&own, user, how, since);
    });
}

/// Runs scripts, one for each user, for some iterations, up to a time.
fn bench(scripts: &[Script], load: &str, on_error: &str, until: u64) -> Bench {
    let numbered = (0..).zip(scripts.iter().cloned());
    SCRIPTS.with_borrow_mut(|known| *known = numbered.collect());
    // The variable has no value, which is no URL.
    let steps = "{set: {bad: ''}}, {get: '${bad}', name: bad}";
    let program = scenario(load, steps, &format!("on_error: {on_error}"));
    let bench = Bench::with(program, start, None);
    bench.run_to(until);
    bench
}

/// What a script was told, and when.
fn told(script: &Script) -> Vec<(String, u64)> {
    script.told.take()
}

fn at(told: &[(&str, u64)]) -> Vec<(String, u64)> {
    told.iter().map(|(what, when)| ((*what).to_owned(), *when)).collect()
}

#[test]
fn a_behaviour_is_told_what_its_requests_came_to() {
    let branch = |time| vec![Ask::Think(time), Ask::Yield, Ask::Think(time)];
    let asks = [
        Ask::Think(S),
        Ask::Request,
        Ask::Yield,
        Ask::Join(2, vec![branch(S), branch(2 * S), vec![], branch(S)]),
    ];
    let script = Script::new(&asks);
    let bench = bench(std::slice::from_ref(&script), "users: 1, iterations: 2", "continue", 30 * S);
    let iteration = |from| {
        let told = [
            ("begin", from),
            ("ready, true", from + 1_000),
            ("ready, false", from + 1_000),
            ("ready, false", from + 1_000),
            ("joined [0, 1, 2, 3]", from + 5_000),
        ];
        at(&told)
    };
    let mut second = iteration(5_000);
    second[1].0 = "ready, false".to_owned();
    assert_eq!(told(&script), [iteration(0), second].concat());
    let handed = bench.finish();
    assert_eq!(handed.failed("bad"), 2);
    assert_eq!(handed.totals.counters().iterations_done, 2);
}

#[test]
fn the_driver_ends_what_on_error_ends() {
    let failing = vec![Ask::Think(S), Ask::Request, Ask::Think(S)];
    let alone = failing.clone();
    let in_branches = vec![Ask::Join(2, vec![failing, vec![Ask::Think(9 * S)]]), Ask::Think(S)];
    for asks in [alone, in_branches] {
        let run = |on_error: &str| {
            let script = Script::new(&asks);
            let handed =
                bench(std::slice::from_ref(&script), "users: 1, iterations: 2", on_error, 60 * S)
                    .finish();
            let counters = handed.totals.counters();
            let begins: Vec<u64> = told(&script)
                .iter()
                .filter(|(what, _)| what == "begin")
                .map(|told| told.1)
                .collect();
            (begins, counters.iterations_done, handed.stop_asked.is_some())
        };
        assert_eq!(run("next_iteration"), (vec![0, 1_000], 2, false));
        assert_eq!(run("stop_user"), (vec![0], 0, false));
        assert_eq!(run("stop_run"), (vec![0], 0, true));
    }
}

#[test]
fn a_user_goes_when_its_behaviour_says_so() {
    for asks in [
        vec![Ask::Think(S), Ask::Gone],
        vec![Ask::Join(1, vec![vec![Ask::Gone], vec![Ask::Think(S)]])],
    ] {
        let other = Script::new(&[Ask::Think(2 * S)]);
        let scripts = [Script::new(&asks), other];
        let bench = bench(&scripts, "users: 2, iterations: 3", "continue", 30 * S);
        assert!(bench.worker.roster.borrow().is_done());
        let handed = bench.finish();
        assert_eq!(handed.spans(RowKind::Iteration, "iteration"), (3, 0, 1));
    }
}
