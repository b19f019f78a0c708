//! Timers, and promises that wait for them.

use std::time::Duration;

use super::once;

#[test]
fn timers_run_after_the_function_in_the_order_of_their_times() {
    let (host, result) = once(
        "import { sleep } from 'k6';
import { setTimeout as later } from 'k6/timers';
export default function () {
  setTimeout(() => console.log('b'), 200);
  later((x, y) => { console.log('a', x, y); setTimeout(() => console.log('inner'), 10) }, 100, 1, 'z');
  const gone = setTimeout(() => console.log('gone'), 50);
  clearTimeout(gone);
  setTimeout(() => console.log('now'));
  Promise.resolve().then(() => console.log('job'));
  sleep(0.15);
  console.log('end');
}",
    );
    result.expect("no error");
    assert_eq!(host.lines(), ["end", "job", "now", "a 1 z", "inner", "b"]);
    // The call sleeps, and then until each timer that is not late.
    let ms: Vec<u128> = host.slept.iter().map(Duration::as_millis).collect();
    assert_eq!(ms, [150, 10, 40]);
}

#[test]
fn intervals_run_until_they_are_cleared() {
    let (host, result) = once(
        "export default function () {
  let count = 0;
  const own = setInterval((step) => {
    count += step;
    console.log(count);
    if (count === 6) clearInterval(own);
  }, 1000, 2);
  clearInterval(undefined);
  clearTimeout(12345);
}",
    );
    result.expect("no error");
    assert_eq!(host.lines(), ["2", "4", "6"]);
    assert_eq!(host.now, Duration::from_secs(3));
}

#[test]
fn promises_wait_for_timers() {
    let (host, result) = once(
        "const later = (ms, value) => new Promise((done) => setTimeout(() => done(value), ms));
export default async function () {
  const first = await later(500, 'a');
  const both = await Promise.all([later(300, 'b'), later(100, 'c')]);
  const fastest = await Promise.race([later(900, 'slow'), later(50, 'fast')]);
  return [first, ...both, fastest];
}",
    );
    assert_eq!(result.expect("no error").as_deref(), Some(r#"["a","b","c","fast"]"#));
    // The slow one is waited for too: nothing of a call is left when it has ended.
    assert_eq!(host.now, Duration::from_millis(500 + 300 + 900));
}

#[test]
fn a_promise_that_nobody_fulfils_ends_with_the_call() {
    let (_, result) = once("export default async function () { await new Promise(() => {}) }");
    assert_eq!(result, Ok(None));
}

#[test]
fn what_nobody_catches_is_the_error_of_the_iteration() {
    for (body, message) in [
        ("setTimeout(() => { throw new Error('in a timer') }, 10)", "Error: in a timer"),
        ("Promise.reject(new Error('unhandled'))", "Error: unhandled"),
        ("Promise.reject('a text')", "a text"),
        ("(async () => { await null; null.x })()", "TypeError: cannot read property 'x' of null"),
        ("new Promise((_, no) => setTimeout(() => no(new Error('late')), 10))", "Error: late"),
        ("setTimeout(5, 10)", "TypeError: a timer takes a function as its first argument"),
    ] {
        let script = format!(
            "export default function () {{ {body}; setTimeout(() => console.log('later'), 1000) }}"
        );
        let (host, result) = once(&script);
        assert_eq!(result.expect_err(body).message, message);
        assert_eq!(host.lines(), [""; 0], "{body}: what comes later does not run");
    }
    // Whoever asks for it before the jobs have run has handled it.
    let (_, result) = once(
        "export default function () { const own = Promise.reject(new Error('handled')); own.catch(() => {}) }",
    );
    assert_eq!(result, Ok(None));
}

#[test]
fn no_timer_is_set_before_users_run() {
    let options = crate::StageOptions::default();
    let stage = super::stage("setTimeout(() => {}, 1); export default () => {}", &options);
    let thrown = super::user(&stage, 1).expect_err("no user");
    assert!(thrown.message.contains("no user runs yet"), "{thrown}");
    // A promise that is rejected there is an error too.
    let stage = super::stage("Promise.reject(new Error('at the top'))", &options);
    let thrown = super::user(&stage, 1).expect_err("a rejected promise");
    assert_eq!(thrown.message, "Error: at the top");
}
