//! Many users at once, who wait in every way there is: what is one's never comes to another.

use super::{Host, default, stage};
use crate::engine::{Fiber, Step};
use crate::{Answer, Numbers, StageOptions};

const SCRIPT: &str = "import { sleep, group } from 'k6';
import exec from 'k6/execution';
const wait = () => { sleep(__VU / 1000); return __VU };
const later = (ms, value) => new Promise((done) => setTimeout(() => done(value), ms));
class Made { constructor() { this.own = wait() } get slow() { return wait() } toJSON() { return wait() } }
function* each() { yield wait(); yield wait() }
const ways = {
  group: () => group('g', wait),
  forEach: () => { let own; [1, 2].forEach(() => { own = wait() }); return own },
  sort: () => { let own; [2, 1, 3].sort((a, b) => { own = wait(); return a - b }); return own },
  getter: () => new Made().slow,
  constructor: () => new Made().own,
  toJSON: () => Number(JSON.stringify(new Made())),
  generator: () => { const [a, b] = each(); return a === b ? a : -1 },
  replace: () => Number('x'.replace('x', wait)),
  finally: () => { let own; try { try { wait(); throw 1 } finally { own = wait() } } catch { wait() } return own },
  async: async () => { const own = async () => { const a = wait(); await null; wait(); return a }; const all = await Promise.all([own(), own()]); return all[0] === all[1] ? all[0] : -1 },
  timer: async () => { const own = __VU; const got = await later(__VU, own); return got === __VU ? got : -1 },
  timers: async () => { const all = await Promise.all([later(5, __VU), later(__VU, __VU), later(1, wait())]); return all.every((own) => own === __VU) ? __VU : -1 },
  tags: () => { exec.vu.tags.own = __VU; wait(); return Number(exec.vu.tags.own) },
  facts: () => exec.vu.idInTest,
  proxy: () => new Proxy({}, { get: wait }).any,
};
export default async function () {
  const seen = {};
  for (const [name, way] of Object.entries(ways)) seen[name] = await way();
  const wrong = Object.entries(seen).filter(([, own]) => own !== __VU);
  return wrong.length === 0 ? Object.keys(seen).length : [__VU, ...wrong];
}";

#[test]
fn users_never_cross() {
    let stage = stage(SCRIPT, &StageOptions::default());
    let functions: Vec<_> = (1..=64).map(|number| default(&stage, number)).collect();
    stage.open();
    for iteration in 0..3 {
        let mut users: Vec<Option<(Fiber, Host, Answer)>> = functions
            .iter()
            .map(|own| {
                Some((
                    stage.call(own, Vec::new()).expect("a stack"),
                    Host::default(),
                    Answer::Ready,
                ))
            })
            .collect();
        while users.iter().any(Option::is_some) {
            for (own, number) in users.iter_mut().zip(1..) {
                let Some((fiber, host, answer)) = own else { continue };
                host.facts.user_in_test = number;
                let numbers = Numbers { user: number, iteration };
                match stage.resume(fiber, numbers, std::mem::replace(answer, Answer::Ready)) {
                    Step::Wait(wait) => *answer = host.answer(&wait),
                    Step::Done(result) => {
                        let result = result.unwrap_or_else(|thrown| panic!("{number}: {thrown}"));
                        let result = stage.json_of(&result).expect("JSON");
                        assert_eq!(result.as_deref(), Some("15"), "user {number}");
                        *own = None;
                    }
                }
            }
        }
    }
}

#[test]
fn users_that_are_ended_leave_nothing() {
    let stage = stage(SCRIPT, &StageOptions::default());
    let functions: Vec<_> = (1..=20).map(|number| default(&stage, number)).collect();
    let mut before = 0;
    for round in 0..40 {
        for (function, number) in functions.iter().zip(1..) {
            let mut fiber = stage.call(function, Vec::new()).expect("a stack");
            let (mut host, mut answer) = (Host::default(), Answer::Ready);
            // Each is ended somewhere else.
            for _ in 0..round {
                match stage.resume(&mut fiber, Numbers { user: number, iteration: 0 }, answer) {
                    Step::Wait(wait) => answer = host.answer(&wait),
                    Step::Done(_) => break,
                }
            }
        }
        stage.told();
        stage.realm().collect();
        if round == 4 {
            before = stage.realm().memory();
        }
    }
    let after = stage.realm().memory();
    assert!(after <= before + 16_384, "{after} and not {before}");
}

/// An async generator takes no notice of an interrupt in what it calls last, so that nobody takes the exception. The interpreter
/// asks for interrupts once in 10 000 calls: rounds of different lengths have it do so everywhere.
#[test]
fn an_interrupt_that_nobody_has_noticed_is_of_no_other_flow() {
    let stage = stage(
        "import { sleep } from 'k6';
async function* waits() { sleep(1); sleep(1); yield 1 }
export default function () { for (let n = 0; n < __ITER; n++); waits().next() }",
        &StageOptions::default(),
    );
    let function = default(&stage, 1);
    let wait = |fiber: &mut Fiber, iteration| {
        let step = stage.resume(fiber, Numbers { user: 1, iteration }, Answer::Ready);
        assert!(matches!(step, Step::Wait(_)), "{iteration} {step:?}");
    };
    for round in 0..20_000 {
        let [mut ended, mut other] =
            [(); 2].map(|()| stage.call(&function, Vec::new()).expect("a stack"));
        wait(&mut ended, round % 7);
        wait(&mut other, 0);
        drop(ended);
        wait(&mut other, 0);
    }
}

#[test]
fn ten_thousand_flows_wait_at_once() {
    let stage = stage(
        "import { sleep } from 'k6';
export default function (number) {
  const all = [number, { valueOf() { sleep(1); return number } }].map((own) => { sleep(1); return +own });
  return all[0] === all[1] ? number : -1;
}",
        &StageOptions::default(),
    );
    let function = default(&stage, 1);
    let numbers = Numbers { user: 1, iteration: 0 };
    let mut fibers: Vec<Option<Fiber>> = (0..10_000)
        .map(|number: u32| {
            let number = stage.value_of(&number.to_string()).expect("a number");
            stage.call(&function, vec![number]).ok()
        })
        .collect();
    let mut ended = 0;
    for round in 0..4 {
        for (number, own) in fibers.iter_mut().enumerate() {
            let Some(fiber) = own else { continue };
            match stage.resume(fiber, numbers, Answer::Ready) {
                // Every third is ended, each somewhere else.
                Step::Wait(_) if number % 9 == 3 * round => *own = None,
                Step::Wait(_) => {}
                Step::Done(result) => {
                    let result = stage.json_of(&result.expect("no error")).expect("JSON");
                    assert_eq!(result, Some(number.to_string()));
                    ended += 1;
                    *own = None;
                }
            }
        }
        stage.realm().collect();
    }
    assert!(fibers.iter().all(Option::is_none));
    assert_eq!(ended, (0..10_000).filter(|number| number % 3 != 0).count());
}
