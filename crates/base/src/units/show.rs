//! Numbers as people read them: the only formatter of squall. Reports, the command line and the reasons of validity
//! all print with it.

/// A time in microseconds, at most 8 characters wide: `212 µs`, `3.74 ms`, `1.25 s`.
pub fn time(us: f64) -> String {
    match us {
        _ if us < 999.5 => format!("{us:.0} µs"),
        _ if us < 9_995.0 => format!("{:.2} ms", us / 1e3),
        _ if us < 99_950.0 => format!("{:.1} ms", us / 1e3),
        _ if us < 999_500.0 => format!("{:.0} ms", us / 1e3),
        _ if us < 9.995e6 => format!("{:.2} s", us / 1e6),
        _ => format!("{:.1} s", us / 1e6),
    }
}

/// A whole number with a comma before each group of three digits: `28,232`.
pub fn count(number: u64) -> String {
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

/// A number of things, whose plural ends in `s`: `1 request`, `28,232 requests`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A rate per second: `7.75/s`, `77.0/s`, `1,967/s`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate < 9.995 => format!("{rate:.2}/s"),
        rate if rate < 99.95 => format!("{rate:.1}/s"),
        rate => format!("{}/s", count(rate.round() as u64)),
    }
}

/// A number of bytes: `512 B`, `12.3 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would print as 1024.0 belongs to the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A share from 0 to 1 as a percentage: `0.1%`, `2.49%`, `12.7%`, `80%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text =
        if percent.abs() < 9.995 { format!("{percent:.2}") } else { format!("{percent:.1}") };
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
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
        assert_eq!(
            [0, 1, 1_000].map(|number| counted(number, "check")),
            ["0 checks", "1 check", "1,000 checks"]
        );
        assert_eq!(
            [0.0, 7.749, 9.996, 77.0, 99.96, 1_967.4].map(rate),
            ["0.00/s", "7.75/s", "10.0/s", "77.0/s", "100/s", "1,967/s"]
        );
        assert_eq!(
            [0, 1_023, 1_024, 12_897_485, (1 << 30) - 1, 1 << 30, 1 << 50].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "12.3 MiB", "1.0 GiB", "1.0 GiB", "1024.0 TiB"]
        );
        assert_eq!(
            [0.0, 0.001, 0.024_88, 0.099_99, 0.127, 0.8, 1.0].map(percent),
            ["0%", "0.1%", "2.49%", "10%", "12.7%", "80%", "100%"]
        );
    }
}
