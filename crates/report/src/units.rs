//! Numbers as people read them.

/// Microseconds in a width of at most 8 characters: `212 µs`, `4.1 ms`, `1.25 s`.
pub(crate) fn time(us: f64) -> String {
    match us {
        _ if us < 999.5 => format!("{us:.0} µs"),
        _ if us < 9_995.0 => format!("{:.2} ms", us / 1e3),
        _ if us < 99_950.0 => format!("{:.1} ms", us / 1e3),
        _ if us < 999_500.0 => format!("{:.0} ms", us / 1e3),
        _ if us < 9.995e6 => format!("{:.2} s", us / 1e6),
        _ => format!("{:.1} s", us / 1e6),
    }
}

/// A whole number with commas.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate a second.
pub(crate) fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.2}") } else { count(rate.round() as u64) }
}

/// Bytes: `12.3 MB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes < 1e3 => format!("{bytes:.0} B"),
        _ if bytes < 1e6 => format!("{:.1} kB", bytes / 1e3),
        _ if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.2} GB", bytes / 1e9),
    }
}

/// A text in at most so many characters, shortened in its middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.len() <= width {
        return chars.into_iter().collect();
    }
    let left = (width - 1) / 2;
    let right = width - 1 - left;
    chars[..left].iter().chain(&['…']).chain(&chars[chars.len() - right..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(
            [212.4, 4_123.0, 41_230.0, 412_300.0, 1.25e6, 75e6].map(time),
            ["212 µs", "4.12 ms", "41.2 ms", "412 ms", "1.25 s", "75.0 s"]
        );
        assert_eq!([5, 999, 1_000, 1_234_567].map(count), ["5", "999", "1,000", "1,234,567"]);
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
    }
}
