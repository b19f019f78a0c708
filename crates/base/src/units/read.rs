//! Quantities: durations, sizes, rates and bandwidths, from text and back without loss.
//!
//! One grammar for all, wherever a plan, an expression or a flag has one: a decimal number and a unit
//! (`1.5s`, `64KiB`), several of them in a row for a duration (`1m30s`), and `/` with a unit of time for
//! what is counted by time (`30/min`, `2Mbit/s`).

use std::time::Duration;

/// Text that is not such a quantity; says what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError(pub String);

impl std::fmt::Display for UnitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Units of time, in nanoseconds.
pub(super) const TIMES: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Units of size, in bytes. Capital or small letters are the same.
pub(super) const SIZES: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Units of network transfer, in bits. Powers of ten, as networks count.
pub(super) const BITS: [(&str, u64); 4] =
    [("bit", 1), ("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000)];

/// `300ms`, `1m30s`, `1.5s`, `2min`; `0` needs no unit.
///
/// # Errors
/// The text is not a duration, or one longer than 292 years.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let nanos = nanos(text).ok_or_else(|| {
        UnitError(format!(
            "invalid duration `{text}`: expected a number and a unit, such as 300ms, 5s or 1m30s"
        ))
    })?;
    Ok(Duration::from_nanos(nanos))
}

fn nanos(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(0);
    }
    let mut nanos = 0u64;
    loop {
        let (number, unit, after) = quantity(rest)?;
        let part = scaled(number, factor(&TIMES, unit)?)?;
        nanos = nanos.checked_add(part).filter(|sum| *sum <= i64::MAX as u64)?;
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(nanos);
        }
    }
}

/// `64KiB`, `1MB`, `500`: bytes.
///
/// # Errors
/// The text is not a size, or one of more than 64 bits.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    bytes(text).ok_or_else(|| {
        UnitError(format!(
            "invalid size `{text}`: expected a number and a unit, such as 500, 64KiB or 1MB"
        ))
    })
}

fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = whole_quantity(text)?;
    scaled(number, factor_of_any_case(&SIZES, unit)?)
}

/// `2Mbit/s`, `64kbit/s`, `1.5MB/s`: bytes a second, at least one.
///
/// # Errors
/// The text is not a bandwidth, or less than a byte a second.
pub fn parse_bandwidth(text: &str) -> Result<u64, UnitError> {
    bytes_per_second(text).filter(|bytes| *bytes > 0).ok_or_else(|| {
        UnitError(format!(
            "invalid bandwidth `{text}`: expected a number and a unit, such as 2Mbit/s or 1MB/s"
        ))
    })
}

fn bytes_per_second(text: &str) -> Option<u64> {
    let (amount, time) = text.rsplit_once('/')?;
    if time.trim() != "s" {
        return None;
    }
    let (number, unit) = whole_quantity(amount)?;
    if unit.is_empty() {
        return None;
    }
    match factor_of_any_case(&BITS, unit) {
        Some(bits) => Some(scaled(number, bits)? / 8),
        None => scaled(number, factor_of_any_case(&SIZES, unit)?),
    }
}

/// `500/s`, `30/min`, `2/h`: a second.
///
/// # Errors
/// The text is not a rate.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    per_second(text).ok_or_else(|| {
        UnitError(format!(
            "invalid rate `{text}`: expected a number and a unit, such as 500/s, 30/min or 2/h"
        ))
    })
}

fn per_second(text: &str) -> Option<f64> {
    let (number, time) = text.split_once('/')?;
    let nanos = factor(&TIMES, time.trim())?;
    let (number, "") = whole_quantity(number)? else { return None };
    let number: f64 = number.parse().ok()?;
    Some(number * 1e9 / nanos as f64).filter(|rate| rate.is_finite())
}

/// `5%`, `0.1%`, `0.05`: a share of one.
///
/// # Errors
/// The text is not a share.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    share(text).ok_or_else(|| {
        UnitError(format!(
            "invalid share `{text}`: expected a percentage or a number, such as 0.1% or 0.001"
        ))
    })
}

fn share(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, divisor) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let (number, "") = whole_quantity(number)? else { return None };
    Some(number.parse::<f64>().ok()? / divisor)
}

/// A number and a unit, and nothing behind them; without a unit, that is empty.
fn whole_quantity(text: &str) -> Option<(&str, &str)> {
    let (number, unit, "") = quantity(text.trim())? else { return None };
    Some((number, unit))
}

/// A number, the unit behind it (letters, after a space or at once), and the rest.
fn quantity(text: &str) -> Option<(&str, &str, &str)> {
    let (number, rest) = text.split_at(end(text, |c| c.is_ascii_digit() || c == '.'));
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(end(rest, char::is_alphabetic));
    number.contains(|c: char| c.is_ascii_digit()).then_some((number, unit, rest))
}

/// Where the characters of a kind end that a text begins with.
fn end(text: &str, kind: impl Fn(char) -> bool) -> usize {
    text.find(|c| !kind(c)).unwrap_or(text.len())
}

fn factor(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

fn factor_of_any_case(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, factor)| *factor)
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
            ("2min", 120_000),
            ("90 s", 90_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "ms", "-1s", "1x", "1..5s", "99999999999h", "1s,", "5 secs", "1 s 5"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_rates() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_size("2 TB"), Ok(2_000_000_000_000));
        assert_eq!(parse_rate("30/min"), Ok(0.5));
        assert_eq!(parse_rate("500 / s"), Ok(500.0));
        assert_eq!(parse_bandwidth("2Mbit/s"), Ok(250_000));
        assert_eq!(parse_bandwidth("1.5 kB/s"), Ok(1_500));
        assert_eq!(parse_bandwidth("1KiB/s"), Ok(1_024));
        assert_eq!(
            parse_duration("5 secs").expect_err("no unit").to_string(),
            "invalid duration `5 secs`: expected a number and a unit, such as 300ms, 5s or 1m30s"
        );
        for text in
            ["2", "2/s", "1MB/min", "2Mbit", "0bit/s", "7bit/s", "2Xbit/s", "bit/s", "-1kbit/s"]
        {
            assert!(parse_bandwidth(text).is_err(), "{text}");
        }
        assert_eq!(["5%", "0.1 %", "0.25"].map(parse_share), [Ok(0.05), Ok(0.001), Ok(0.25)]);
        for text in ["", "%", "5%%", "5ms", "-1%", "five"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
        assert!(
            parse_size("many").is_err() && parse_rate("5").is_err() && parse_rate("-1/s").is_err()
        );
        for text in ["5", "/s", "5/", "5/x", "inf/s", "1s/s", "1.2.3/s", "./s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
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
