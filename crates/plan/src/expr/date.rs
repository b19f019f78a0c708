//! Dates and times of day as text, in UTC. Pure.

use std::fmt::Write as _;

use squall_base::calendar;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    weekday: i64,
    day_of_year: i64,
    /// Milliseconds since midnight.
    of_day: i64,
}

impl Moment {
    /// From milliseconds since 1970.
    fn of(unix_ms: i64) -> Moment {
        const DAY: i64 = 86_400_000;
        let (days, of_day) = (unix_ms.div_euclid(DAY), unix_ms.rem_euclid(DAY));
        let (year, month, day) = calendar::date(days);
        let day_of_year = days - calendar::days_since_1970(year, 1, 1) + 1;
        Moment { year, month, day, weekday: (days + 4).rem_euclid(7), day_of_year, of_day }
    }
}

/// A moment, in milliseconds since 1970, as text: `%Y` year, `%y` its last two digits, `%m` month, `%d` day, `%e` day without a
/// zero, `%j` day of the year, `%H` hour, `%I` hour up to 12, `%M` minute, `%S` second, `%L` millisecond, `%p` AM or PM, `%a`
/// and `%A` day of the week, `%w` its number from Sunday, which is 0, `%b` and `%B` month by name, `%z` `+0000`, `%s` seconds since 1970, `%%` a percent sign.
///
/// # Errors
/// A `%` with another letter behind it.
pub(super) fn formatted(unix_ms: i64, pattern: &str) -> Result<String, String> {
    let at = Moment::of(unix_ms);
    let (hour, minute) = (at.of_day / 3_600_000, at.of_day / 60_000 % 60);
    let (second, milli) = (at.of_day / 1_000 % 60, at.of_day % 1_000);
    let name = |names: &[&str], index: i64| {
        names.get(index as usize).copied().unwrap_or_default().to_owned()
    };
    let mut out = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let (number, width) = match rest.next() {
            Some('Y') => (at.year, 4),
            Some('y') => (at.year.rem_euclid(100), 2),
            Some('m') => (at.month, 2),
            Some('d') => (at.day, 2),
            Some('e') => (at.day, 1),
            Some('j') => (at.day_of_year, 3),
            Some('H') => (hour, 2),
            Some('I') => ((hour + 11) % 12 + 1, 2),
            Some('M') => (minute, 2),
            Some('S') => (second, 2),
            Some('L') => (milli, 3),
            Some('w') => (at.weekday, 1),
            Some('s') => (unix_ms.div_euclid(1_000), 1),
            other => {
                let text = match other {
                    Some('p') => if hour < 12 { "AM" } else { "PM" }.to_owned(),
                    Some('a') => name(&DAYS, at.weekday)[..3].to_owned(),
                    Some('A') => name(&DAYS, at.weekday),
                    Some('b') => name(&MONTHS, at.month - 1)[..3].to_owned(),
                    Some('B') => name(&MONTHS, at.month - 1),
                    Some('z') => "+0000".to_owned(),
                    Some('%') => "%".to_owned(),
                    Some(other) => return Err(format!("`%{other}` is no part of a date")),
                    None => return Err("nothing follows the last `%`".to_owned()),
                };
                out.push_str(&text);
                continue;
            }
        };
        // Writing to a String cannot fail.
        let _ = write!(out, "{number:0width$}");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::formatted;

    #[test]
    fn moments_have_dates() {
        for (ms, expected) in [
            (0, "1970-01-01 00:00:00.000 Thu4 001"),
            (-1, "1969-12-31 23:59:59.999 Wed3 365"),
            (951_782_400_000, "2000-02-29 00:00:00.000 Tue2 060"),
            (1_709_251_199_999, "2024-02-29 23:59:59.999 Thu4 060"),
            (1_735_689_599_000, "2024-12-31 23:59:59.000 Tue2 366"),
            (4_107_542_400_000, "2100-03-01 00:00:00.000 Mon1 060"),
        ] {
            assert_eq!(formatted(ms, "%Y-%m-%d %H:%M:%S.%L %a%w %j").as_deref(), Ok(expected));
        }
        let noon = 1_709_208_000_000 + 61_000;
        let text = formatted(noon, "%I:%M %p, %A %e %B (%b) %y%% %z %s");
        assert_eq!(
            text.as_deref(),
            Ok("12:01 PM, Thursday 29 February (Feb) 24% +0000 1709208061")
        );
        assert!(formatted(0, "%q").is_err() && formatted(0, "%").is_err());
    }
}
