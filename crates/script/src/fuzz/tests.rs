//! Random scripts without a fuzzer: some in each run of the tests, and for as long as is asked for.

use std::time::{Duration, Instant};

use squall_base::random::Random;

use super::grammar::{self, Choices};
use super::{User, stage, step};

/// Runs one of the random inputs.
fn run(seed: u64) {
    let mut random = Random::new(seed);
    let mut byte = || (random.uniform() * 256.0) as u8;
    let length = 16 + 4 * usize::from(byte());
    let bytes: Vec<u8> = (0..length).map(|_| byte()).collect();
    super::script(&bytes);
}

#[test]
fn random_scripts_cross_nothing_and_leave_nothing() {
    (0..30).for_each(run);
}

#[test]
fn each_way_comes_to_a_number() {
    for way in 0..grammar::WAYS.len() {
        // One user, and one statement, which keeps what this way comes to.
        let text = grammar::script(&mut Choices(&[0, 0, way as u8]));
        let stage = stage(&text).expect("memory");
        let mut user = User::new(&stage, 1, &text);
        let ends = std::iter::repeat_with(|| step(&stage, &mut user, &text)).take(50);
        let end = ends.flatten().next().unwrap_or_else(|| panic!("it has no end\n{text}"));
        end.unwrap_or_else(|thrown| panic!("{thrown}\n{text}"));
    }
}

/// For `SQUALL_FUZZ_SECONDS`, with other inputs each time; the number of one that fails is said.
#[test]
#[ignore = "takes as long as SQUALL_FUZZ_SECONDS says"]
fn random_scripts_for_long() {
    let seconds = std::env::var("SQUALL_FUZZ_SECONDS").ok().and_then(|own| own.parse().ok());
    let (begin, long) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(60)));
    let mut seed = std::time::UNIX_EPOCH.elapsed().map_or(0, |own| own.as_nanos() as u64);
    let mut count = 0_u64;
    while begin.elapsed() < long {
        // Told before it runs: a fault of memory says nothing.
        println!("input {seed}");
        run(seed);
        (seed, count) = (seed.wrapping_add(1), count + 1);
    }
    println!("{count} inputs");
}
