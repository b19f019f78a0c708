//! Durations, sizes, rates: from text and back, without loss.

use std::time::Duration;

/// A text that is no such quantity: says what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError(pub String);

impl std::fmt::Display for UnitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

const TIMES: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// `300ms`, `1m30s`, `1.5s`; `0` needs no unit.
///
/// # Errors
/// The text is no duration, or longer than 292 years.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let bad = || UnitError(format!("`{text}` is no duration: write it as 300ms, 2s, 1m30s or 1h"));
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(bad());
    }
    let mut nanos = 0u64;
    while !rest.is_empty() {
        let (number, unit, after) = quantity(rest).ok_or_else(bad)?;
        let factor = TIMES.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1;
        let part = scaled(number, factor).ok_or_else(bad)?;
        nanos = nanos.checked_add(part).filter(|sum| *sum <= i64::MAX as u64).ok_or_else(bad)?;
        rest = after.trim_start();
    }
    Ok(Duration::from_nanos(nanos))
}

/// A number, the letters behind it, and the rest.
fn quantity(text: &str) -> Option<(&str, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(digits);
    let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    (!number.is_empty()).then_some((number, unit, rest))
}

/// A decimal number times a factor, exactly where it is whole.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    if fraction.is_empty() {
        return whole.checked_mul(factor);
    }
    if fraction.len() > 18 {
        return None;
    }
    let part: u64 = fraction.parse().ok()?;
    let scale = 10u128.pow(fraction.len() as u32);
    let part = (u128::from(part) * u128::from(factor) + scale / 2) / scale;
    whole.checked_mul(factor)?.checked_add(u64::try_from(part).ok()?)
}

/// The shortest text that [`parse_duration`] reads as the same: `1m30s`.
pub fn print_duration(duration: Duration) -> String {
    let mut nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if nanos == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, factor) in [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ] {
        if nanos >= factor {
            text.push_str(&format!("{}{unit}", nanos / factor));
            nanos %= factor;
        }
    }
    text
}

const SIZES: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// `64KiB`, `1MB`, `500`: bytes.
///
/// # Errors
/// The text is no size.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let bad = || UnitError(format!("`{text}` is no size: write it as 500, 64KiB or 1MB"));
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let known = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    if number.is_empty() {
        return Err(bad());
    }
    scaled(number, known.ok_or_else(bad)?.1).ok_or_else(bad)
}

/// What stands before `bit/s` and `B/s` in a bandwidth. Powers of ten, as networks count.
const PREFIXES: [(&str, u64); 4] = [("", 1), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

/// `2Mbit/s`, `64kbit/s`, `1.5MB/s`: bytes a second.
///
/// # Errors
/// The text is no bandwidth, or less than a byte a second.
pub fn parse_bandwidth(text: &str) -> Result<u64, UnitError> {
    let bad =
        || UnitError(format!("`{text}` is no bandwidth: write it as 2Mbit/s, 64kbit/s or 1MB/s"));
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim();
    let (prefix, per_byte) = match (unit.strip_suffix("bit/s"), unit.strip_suffix("B/s")) {
        (Some(prefix), _) => (prefix, 8),
        (_, Some(prefix)) => (prefix, 1),
        _ => return Err(bad()),
    };
    let factor = PREFIXES.iter().find(|(name, _)| name.eq_ignore_ascii_case(prefix));
    let given = scaled(number, factor.ok_or_else(bad)?.1).ok_or_else(bad)?;
    let bytes = given / per_byte;
    if number.is_empty() || bytes == 0 { Err(bad()) } else { Ok(bytes) }
}

/// `500/s`, `30/min`, `2/h`: a second.
///
/// # Errors
/// The text is no rate.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let bad = || UnitError(format!("`{text}` is no rate: write it as 500/s, 30/min or 2/h"));
    let (number, unit) = text.trim().split_once('/').ok_or_else(bad)?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3_600.0,
        _ => return Err(bad()),
    };
    let number: f64 = number.trim().parse().map_err(|_| bad())?;
    let plain = number.is_finite() && number >= 0.0;
    if plain { Ok(number / seconds) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("300ms", 300),
            ("1m30s", 90_000),
            ("1.5s", 1_500),
            ("2h", 7_200_000),
            ("0", 0),
            ("1s 5ms", 1_005),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "ms", "-1s", "1x", "1..5s", "99999999999h", "1s,"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_rates() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_rate("30/min"), Ok(0.5));
        assert_eq!(parse_bandwidth("2Mbit/s"), Ok(250_000));
        assert_eq!(parse_bandwidth("1.5 kB/s"), Ok(1_500));
        for text in ["2", "2Mbit", "0bit/s", "7bit/s", "2Xbit/s", "bit/s", "-1kbit/s"] {
            assert!(parse_bandwidth(text).is_err(), "{text}");
        }
        assert!(
            parse_size("many").is_err() && parse_rate("5").is_err() && parse_rate("-1/s").is_err()
        );
    }

    proptest! {
        #[test]
        fn a_duration_is_printed_without_loss(nanos in 0..i64::MAX as u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&print_duration(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in ".{0,30}") {
            let _ = (parse_duration(&text), parse_size(&text), parse_rate(&text), parse_bandwidth(&text));
        }
    }
}
