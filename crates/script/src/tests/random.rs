//! `Math.random` and `randomSeed`.

use super::{Host, default, stage};
use crate::{Numbers, StageOptions};

/// What each of 2 users draws in each of 3 iterations.
fn drawn(script: &str, seed: u64) -> Vec<String> {
    let stage = stage(script, &StageOptions { seed, ..StageOptions::default() });
    let functions = [default(&stage, 1), default(&stage, 2)];
    let mut all = Vec::new();
    for iteration in 0..3 {
        for (user, function) in (1..).zip(&functions) {
            let fiber = stage.call(function, Vec::new()).expect("a stack");
            let own = Host::default().finish(&stage, fiber, Numbers { user, iteration });
            all.push(own.expect("no error").expect("numbers"));
        }
    }
    all
}

const DRAW: &str = "export default () => [Math.random(), Math.random()]";

#[test]
fn runs_with_a_seed_repeat_and_users_draw_their_own() {
    let (first, again, other) = (drawn(DRAW, 7), drawn(DRAW, 7), drawn(DRAW, 8));
    assert_eq!(first, again);
    let mut all = [first.clone(), other].concat();
    for own in &first {
        let numbers: Vec<f64> = serde_json::from_str(own).expect("numbers");
        assert!(numbers.iter().all(|own| (0.0..1.0).contains(own)), "{own}");
        assert_ne!(numbers[0], numbers[1]);
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 12, "each draws other numbers: {all:?}");
}

#[test]
fn an_iteration_draws_the_same_whatever_came_before_it() {
    let more = "export default () => { const own = [Math.random(), Math.random()]; if (__ITER === 0) Math.random(); return own }";
    assert_eq!(drawn(DRAW, 7), drawn(more, 7));
}

#[test]
fn a_seed_of_the_script_is_that_of_its_user() {
    let each = "import { randomSeed } from 'k6'; export default () => { randomSeed(5); return [Math.random()] }";
    let own = drawn(each, 1);
    assert!(own.iter().all(|other| *other == own[0]), "{own:?}");
    assert_eq!(own, drawn(each, 2), "whatever the test's");
    // Where it is set once, the numbers go on over iterations.
    let once =
        "import { randomSeed } from 'k6'; randomSeed(5); export default () => [Math.random()]";
    let other = drawn(once, 1);
    assert_eq!((&other[0], &other[1]), (&own[0], &own[0]));
    assert_ne!(other[0], other[2]);
    super::cases(
        "import { randomSeed } from 'k6';",
        &[("randomSeed('x')", "TypeError: randomSeed() takes a number")],
    );
}
