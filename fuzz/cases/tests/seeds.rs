//! Each case over its seeds, and over what a short, repeatable run of mutations makes of them.

use std::path::Path;

use squall_fuzz_cases::{CASES, run};

/// Mutated inputs for each case.
const ROUNDS: usize = 10_000;
/// The same where each takes some milliseconds.
const FEW_ROUNDS: usize = 60;
/// Bytes that mean something to some parser.
const SIGNS: &[u8] = b"\0\r\n{}[]()<>\"'$*:;,.-0129azAZ \xff";

/// Numbers that are the same in every run (xorshift64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(name);
    let entries = std::fs::read_dir(&folder).expect("every case has a folder of seeds");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

/// Changes an input as a fuzzer would: bytes set, put in, taken out, parts of another one.
fn mutated(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut input = seeds[chance.below(seeds.len())].clone();
    for _ in 0..=chance.below(4) {
        let at = chance.below(input.len() + 1);
        match chance.below(5) {
            0 if at < input.len() => input[at] = chance.below(256) as u8,
            1 => input.insert(at, SIGNS[chance.below(SIGNS.len())]),
            2 => drop(input.drain(at..(at + chance.below(8)).min(input.len()))),
            3 => input.truncate(at),
            _ => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len() + 1);
                let to = (from + chance.below(64)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
    input
}

/// A test for each case, so that they run side by side.
macro_rules! cases {
    ($($name:ident)*) => {
        /// The cases that have a test.
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            holds(stringify!($name));
        })*
    };
}

cases! {
    response
    chunked
    decompress
    framing
    plan
    jmeter
    jmeter_element
    template
    expression
    env_file
    threshold
    gate
    measure
    baseline
    cookies
    digest
    url
    slice
    extract_text
    extract_json
    extract_css
    extract_xpath
    links
    resources
    charset
    request
    properties
    run_json
    cache
    csv
    connect
    http2_fields
    scrape
    perf_data
    grpc
    totals
    includes
    record
    script
}

/// A case holds over its seeds and their like.
fn holds(name: &str) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    seeds.iter().for_each(|seed| run(name, seed));
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let rounds = if name == "script" { FEW_ROUNDS } else { ROUNDS };
    for _ in 0..rounds {
        run(name, &mutated(&seeds, &mut chance));
    }
}

#[test]
fn every_case_has_its_test() {
    let cases: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(TESTED, cases);
}

/// A target without a case, or a case without a target, is never fuzzed.
#[test]
fn every_case_has_its_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz_targets");
    let entries = std::fs::read_dir(folder).expect("the fuzz targets");
    let mut targets: Vec<String> = entries
        .map(|entry| {
            let path = entry.expect("readable").path();
            path.file_stem().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    targets.sort();
    let mut cases: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    cases.sort_unstable();
    assert_eq!(targets, cases);
}
