//! What must hold of flows that wait, however they wait.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::{Answer, Wait};

/// A realm with `sleep(ms)`, which waits and returns what it was given, and `gc()`.
fn realm(limits: Limits) -> Realm {
    let realm = Realm::new(limits).expect("memory");
    let own = Rc::downgrade(&realm.0);
    {
        let scope = realm.scope();
        let sleep = scope.function("sleep", 1, |call| {
            let ms = call.argument(0).to_number()?;
            call.wait(Wait::Sleep(Duration::from_secs_f64((ms / 1e3).max(0.0))))?;
            Ok(call.argument(0))
        });
        scope.globals().set(c"sleep", sleep.unwrap()).unwrap();
        let gc = scope.function("gc", 0, move |call| {
            if let Some(inner) = own.upgrade() {
                Realm(inner).collect();
            }
            Ok(call.scope().undefined())
        });
        scope.globals().set(c"gc", gc.unwrap()).unwrap();
    }
    realm
}

fn function(realm: &Realm, text: &str) -> Held {
    let scope = realm.scope();
    let function = scope.evaluate("it.js", text).unwrap_or_else(|thrown| panic!("{thrown}"));
    scope.hold(&function)
}

fn fiber(realm: &Realm, function: &Held, number: f64) -> Fiber {
    let number = realm.scope().hold(&realm.scope().number(number));
    Fiber::new(realm, function, vec![number]).expect("a stack")
}

/// Runs flows in turn until all have ended.
fn in_turn(mut fibers: Vec<Fiber>) -> Vec<Result<String, Thrown>> {
    let mut results: Vec<Option<Result<String, Thrown>>> = fibers.iter().map(|_| None).collect();
    while results.iter().any(Option::is_none) {
        for (fiber, result) in fibers.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Step::Done(done) = fiber.resume(Answer::Ready)
            {
                *result = Some(done.map(|value| value.value().to_text().expect("a text")));
            }
        }
    }
    results.into_iter().flatten().collect()
}

/// Ways to wait inside what the interpreter itself calls. Each returns the number of its user.
const WAYS: [(&str, &str); 13] = [
    (
        "forEach",
        "(n) => { let s = 0; [1, 2, 3].forEach((x) => { sleep(n); s += x }); return s === 6 ? n : s }",
    ),
    (
        "sort",
        "(n) => { const s = [3, 1, 2].sort((a, b) => { sleep(n); return a - b }).join(); return s === '1,2,3' ? n : s }",
    ),
    ("getter", "(n) => ({ get v() { return sleep(n) } }).v"),
    ("toJSON", "(n) => JSON.parse(JSON.stringify({ a: { toJSON() { return sleep(n) } } })).a"),
    (
        "generator",
        "(n) => { function* g() { yield sleep(n); yield sleep(n) } const [a, b] = g(); return a === b ? a : -1 }",
    ),
    ("constructor", "(n) => { class A { constructor() { this.v = sleep(n) } } return new A().v }"),
    ("replace", "(n) => Number('a'.replace(/a/, () => sleep(n)))"),
    (
        "Map.forEach",
        "(n) => { let v; new Map([[1, 2]]).forEach(() => { v = sleep(n) }); return v }",
    ),
    (
        "finally",
        "(n) => { let v = 0; try { try { sleep(n); throw new Error('boom') } finally { v = sleep(n) } } catch (e) { sleep(n) } return v }",
    ),
    (
        "async",
        "async (n) => { const f = async () => { const a = sleep(n); await null; return a }; const [a, b] = await Promise.all([f(), f()]); return a === b ? a : -1 }",
    ),
    ("proxy", "(n) => new Proxy({}, { get() { return sleep(n) } }).v"),
    ("toPrimitive", "(n) => +{ [Symbol.toPrimitive]() { return sleep(n) } }"),
    (
        "garbage",
        "(n) => { const c = {}; c.self = c; c.f = () => c; sleep(n); gc(); return c.self.f() === c ? n : -1 }",
    ),
];

#[test]
fn a_flow_waits_wherever_it_is() {
    let realm = realm(Limits::default());
    for (what, text) in WAYS {
        let function = function(&realm, text);
        let fibers = (0..64).map(|number| fiber(&realm, &function, f64::from(number))).collect();
        for (number, result) in in_turn(fibers).into_iter().enumerate() {
            assert_eq!(result, Ok(number.to_string()), "{what}");
        }
    }
}

#[test]
fn a_stack_trace_is_that_of_its_own_flow() {
    let realm = realm(Limits::default());
    let text = "(n) => { const deep = (k) => k > 0 ? deep(k - 1) : (sleep(n), new Error('here').stack); return deep(n % 7).trim().split('\\n').length - n % 7 }";
    let function = function(&realm, text);
    let fibers = (0..64).map(|number| fiber(&realm, &function, f64::from(number))).collect();
    for result in in_turn(fibers) {
        assert_eq!(result, Ok("2".to_owned()));
    }
}

#[test]
fn endless_recursion_is_an_error_on_each_stack() {
    let realm = realm(Limits::default());
    let text = "(n) => { const f = (d) => f(d + 1) + 1; const deep = (k) => { if (k > 0) return deep(k - 1); sleep(n); try { f(0) } catch (e) { return e instanceof RangeError } }; return deep(n % 30) }";
    let function = function(&realm, text);
    let fibers = (0..64).map(|number| fiber(&realm, &function, f64::from(number))).collect();
    for result in in_turn(fibers) {
        assert_eq!(result, Ok("true".to_owned()));
    }
}

#[test]
fn jobs_of_promises_run_in_the_flow_that_made_them() {
    let realm = realm(Limits::default());
    // Each waits in a job, while others have jobs as well.
    let text = "async (n) => { let s = ''; for (let i = 0; i < 5; i++) { await null; s += sleep(n) + ',' } return s }";
    let function = function(&realm, text);
    let fibers = (0..64).map(|number| fiber(&realm, &function, f64::from(number))).collect();
    for (number, result) in in_turn(fibers).into_iter().enumerate() {
        assert_eq!(result, Ok(format!("{number},").repeat(5)));
    }
}

#[test]
fn what_is_thrown_is_told_with_its_place() {
    let realm = realm(Limits::default());
    let function = function(&realm, "(n) => {\n  sleep(n);\n  null.x;\n}");
    let result = in_turn(vec![fiber(&realm, &function, 1.0)]).remove(0);
    let thrown = result.expect_err("an error");
    assert!(thrown.message.starts_with("TypeError"), "{thrown}");
    assert!(thrown.stack.contains("it.js:3"), "{thrown}");
}

#[test]
fn a_flow_that_is_ended_runs_nothing_more_and_leaves_nothing() {
    end_flows(20);
}

/// The same a hundred times as often.
#[test]
#[ignore = "takes a minute"]
fn a_million_flows_that_are_ended_leave_nothing() {
    end_flows(2_000);
}

/// Begins so many times 500 flows, and ends them where they wait, but for one of them, which has not begun.
fn end_flows(rounds: usize) {
    let realm = realm(Limits::default());
    let ran = Rc::new(Cell::new(0));
    let counted = ran.clone();
    {
        let scope = realm.scope();
        let note = scope.function("note", 0, move |call| {
            counted.set(counted.get() + 1);
            Ok(call.scope().undefined())
        });
        scope.globals().set(c"note", note.unwrap()).unwrap();
    }
    let text = "(n) => { const big = new Array(100).fill(n); try { [1].forEach(() => { try { sleep(n) } catch (e) { note() } finally { note() } }) } catch (e) { note() } finally { note(); sleep(n) } return big }";
    let function = function(&realm, text);
    let step = |fiber: &mut Fiber| assert!(matches!(fiber.resume(Answer::Ready), Step::Wait(_)));
    let mut before = 0;
    for round in 0..rounds {
        let mut fibers: Vec<Fiber> =
            (0..500).map(|number| fiber(&realm, &function, f64::from(number))).collect();
        fibers.iter_mut().skip(1).for_each(step);
        drop(fibers);
        realm.collect();
        if round == 1 {
            before = realm.memory();
        }
    }
    assert_eq!(ran.get(), 0);
    assert!(realm.memory() <= before + 4096, "{} {before}", realm.memory());
}

#[test]
fn an_endless_loop_is_ended_and_others_go_on() {
    let realm = realm(Limits { run: Duration::from_millis(20), ..Limits::default() });
    let text = "(n) => { sleep(n); if (n === 1) { try { for (;;) {} } catch (e) {} finally { for (;;) {} } } sleep(n); return n }";
    let function = function(&realm, text);
    let fibers = (0..3).map(|number| fiber(&realm, &function, f64::from(number))).collect();
    let results = in_turn(fibers);
    assert_eq!((&results[0], &results[2]), (&Ok("0".to_owned()), &Ok("2".to_owned())));
    let thrown = results[1].as_ref().expect_err("ended");
    assert_eq!(thrown.cause, thrown::Cause::TooLong, "{thrown}");
}

#[test]
fn memory_is_bounded() {
    let realm = realm(Limits { memory: 8 << 20, ..Limits::default() });
    let function =
        function(&realm, "(n) => { const a = []; for (;;) a.push('x'.repeat(1000) + a.length) }");
    let result = in_turn(vec![fiber(&realm, &function, 1.0)]).remove(0);
    assert!(result.expect_err("no memory").message.contains("memory"));
    // And what comes after has it again.
    let after = self::function(&realm, "(n) => n");
    assert_eq!(in_turn(vec![fiber(&realm, &after, 7.0)]), [Ok("7".to_owned())]);
}

#[test]
fn nothing_waits_outside_of_a_flow() {
    let realm = realm(Limits::default());
    let thrown = realm.scope().evaluate("init.js", "sleep(1)").expect_err("no user");
    assert!(thrown.message.contains("not for the top level"), "{thrown}");
}

const DEEP: &str = "(function deep(n) { return n === 0 ? 0 : 1 + deep(n - 1) })(100)";

#[test]
fn a_long_wait_gives_back_what_deeper_calls_have_used() {
    let used_after = |ms: u32| {
        let realm = realm(Limits::default());
        let function = function(&realm, &format!("() => {{ {DEEP}; sleep({ms}); return 0 }}"));
        let mut fiber = fiber(&realm, &function, 0.0);
        assert!(matches!(fiber.resume(Answer::Ready), Step::Wait(Wait::Sleep(_))));
        assert!(matches!(fiber.resume(Answer::Ready), Step::Done(Ok(_))));
        stack::SIZE - realm.unused_stack()
    };
    let (short, long) = (used_after(1), used_after(60_000));
    // With optimisation the flow itself needs a page, without it three.
    assert!(short > 32 << 10 && long <= stack::LARGER * (12 << 10), "{short} {long}");
}

#[test]
fn a_flow_that_is_ended_gives_back_all_memory_of_its_stack() {
    let realm = realm(Limits::default());
    let function = function(&realm, &format!("() => {{ {DEEP}; sleep(1); return 0 }}"));
    let mut fiber = fiber(&realm, &function, 0.0);
    assert!(matches!(fiber.resume(Answer::Ready), Step::Wait(Wait::Sleep(_))));
    drop(fiber);
    assert_eq!(realm.unused_stack(), stack::SIZE);
}
