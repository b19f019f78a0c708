//! The same quantities as patterns of JSON Schema (ECMA-262), for editors.

use super::read::{BITS, SIZES, TIMES};

const NUMBER: &str = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)";

/// One of these units; in capital or small letters where `any_case`.
fn of_units(units: &[(&str, u64)], any_case: bool) -> String {
    let letter = |c: char| match any_case && c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        false => c.to_string(),
    };
    let units: Vec<String> =
        units.iter().map(|(unit, _)| unit.chars().map(letter).collect()).collect();
    format!("({})", units.join("|"))
}

fn time() -> String {
    let times = of_units(&TIMES, false);
    format!(r"\s*(0|({NUMBER}\s*{times}\s*)+)\s*")
}

/// What [`super::parse_duration`] reads.
pub fn pattern_of_times() -> String {
    format!("^{}$", time())
}

/// Two times with `..` between.
pub fn pattern_of_ranges() -> String {
    format!(r"^{}\.\.{}$", time(), time())
}

/// What [`super::parse_size`] reads.
pub fn pattern_of_sizes() -> String {
    format!(r"^\s*{NUMBER}\s*{}\s*$", of_units(&SIZES, true))
}

/// What [`super::parse_rate`] reads.
pub fn pattern_of_rates() -> String {
    format!(r"^\s*{NUMBER}\s*/\s*{}\s*$", of_units(&TIMES, false))
}

/// What [`super::parse_bandwidth`] reads.
pub fn pattern_of_bandwidths() -> String {
    let (bits, sizes) = (of_units(&BITS, true), of_units(&SIZES[1..], true));
    format!(r"^\s*{NUMBER}\s*({bits}|{sizes})\s*/\s*s\s*$")
}
