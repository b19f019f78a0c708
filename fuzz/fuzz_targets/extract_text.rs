//! Fuzzes regular expressions and boundaries: a pattern, a zero byte, a body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_extract::{Documents, Extractor, Spec, Which};

fuzz_target!(|input: &[u8]| {
    let split = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (pattern, body) = input.split_at(split);
    let body = body.get(1..).unwrap_or_default();
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    let documents = Documents::new(body);
    let (left, right) = pattern.split_at(pattern.floor_char_boundary(pattern.len() / 2));
    for spec in [Spec::Regex { pattern, group: None }, Spec::Between { left, right }] {
        let Ok(extractor) = Extractor::compile(&spec) else { continue };
        for which in [Which::First, Which::Nth(2), Which::Last, Which::All, Which::Random] {
            let _ = extractor.find_in(&documents, which, u64::MAX / 3);
        }
    }
});
