//! Numbers as k6's summary writes them: times, bytes, shares, and others. Pure.

use super::facts::Contains;

/// A unit that all times of a summary have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
}

impl TimeUnit {
    /// All, with their names in k6's options, and how they are written.
    const NAMES: [(TimeUnit, &'static str, &'static str); 3] = [
        (TimeUnit::Seconds, "s", "s"),
        (TimeUnit::Milliseconds, "ms", "ms"),
        (TimeUnit::Microseconds, "us", "µs"),
    ];

    /// The unit of a name in k6's options.
    ///
    /// # Errors
    /// The name is unknown, in a sentence that says what was expected.
    pub fn parse(name: &str) -> Result<TimeUnit, String> {
        let known = TimeUnit::NAMES.iter().find(|(_, own, _)| *own == name);
        known
            .map(|(unit, ..)| *unit)
            .ok_or_else(|| format!("unknown unit `{name}`: expected s, ms or us"))
    }

    /// Its name in k6's options, and how it is written.
    fn names(self) -> (&'static str, &'static str) {
        let mut all = TimeUnit::NAMES.iter();
        all.find(|(own, ..)| *own == self).map_or(("", ""), |(_, name, sign)| (name, sign))
    }

    /// Its name in k6's options.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// A time in ms in this unit.
    fn show(self, ms: f64) -> String {
        let value = match self {
            TimeUnit::Seconds => ms / 1e3,
            TimeUnit::Milliseconds => ms,
            TimeUnit::Microseconds => ms * 1e3,
        };
        format!("{value:.2}{}", self.names().1)
    }
}

/// A value of a metric. `unit` is that of times; without one each has the one that fits it best.
pub(super) fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match (contains, unit) {
        (Contains::Default, _) => plain(value),
        (Contains::Data, _) => bytes(value),
        (Contains::Time, Some(unit)) => unit.show(value),
        (Contains::Time, None) => time(value),
    }
}

/// At most six digits behind the point, and none that say nothing.
pub(super) fn plain(value: f64) -> String {
    trimmed(format!("{value:.6}"))
}

/// A share of 1 in percent. It is cut off and not rounded: only all is 100%.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", cut(share * 100.0))
}

/// Bytes, in units of 1000.
fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut number, mut at) = (bytes, 0);
    while number >= 1_000.0 && at + 1 < units.len() {
        number /= 1_000.0;
        at += 1;
    }
    match at > 0 && number < 10.0 {
        true => format!("{number:.1} {}", units[at]),
        false => format!("{number:.0} {}", units[at]),
    }
}

/// A time in ms.
fn time(ms: f64) -> String {
    let with = |number: f64, unit: &str| trimmed(format!("{:.2}", cut(number))) + unit;
    let seconds = ms / 1e3;
    match ms {
        0.0 => "0s".to_owned(),
        _ if ms < 0.0 => format!("-{}", time(-ms)),
        _ if ms < 1e-3 => with(ms * 1e6, "ns"),
        _ if ms < 1.0 => with(ms * 1e3, "µs"),
        _ if ms < 1e3 => with(ms, "ms"),
        _ if seconds < 60.0 => with(seconds, "s"),
        _ => {
            let whole = seconds.round() as u64;
            let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60);
            let hours = if hours > 0 { format!("{hours}h") } else { String::new() };
            format!("{hours}{minutes}m{rest}s")
        }
    }
}

/// Two digits behind the point; further ones are cut off, but for errors of the last binary digits.
fn cut(number: f64) -> f64 {
    (number * 100.0 + 1e-6).floor() / 100.0
}

/// A number without zeros at its end that say nothing.
fn trimmed(number: String) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        for (ms, shown) in [
            (0.0, "0s"),
            (0.000_25, "250ns"),
            (0.123_456, "123.45µs"),
            (1.0, "1ms"),
            (117.559, "117.55ms"),
            (999.999, "999.99ms"),
            (1_230.0, "1.23s"),
            (60_000.0, "1m0s"),
            (59_999.9, "59.99s"),
            (3_723_400.0, "1h2m3s"),
            (-1.5, "-1.5ms"),
        ] {
            assert_eq!(value(ms, Contains::Time, None), shown);
        }
        for (name, shown) in [("s", "0.12s"), ("ms", "117.56ms"), ("us", "117559.00µs")] {
            let unit = TimeUnit::parse(name).expect(name);
            assert_eq!(
                (value(117.559, Contains::Time, Some(unit)), unit.name()),
                (shown.to_owned(), name)
            );
        }
        assert!(TimeUnit::parse("m").expect_err("none").contains("expected s, ms or us"));
    }

    #[test]
    fn bytes_have_units_of_1000() {
        for (bytes, shown) in [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1_250.0, "1.2 kB"),
            (35_400.0, "35 kB"),
            (2.5e15, "2.5 PB"),
            (5e18, "5000 PB"),
        ] {
            assert_eq!(value(bytes, Contains::Data, None), shown);
        }
    }

    #[test]
    fn shares_are_not_rounded_up_to_all() {
        for (share, shown) in
            [(1.0, "100.00%"), (0.999_99, "99.99%"), (0.29, "29.00%"), (0.0, "0.00%")]
        {
            assert_eq!(percent(share), shown);
        }
    }

    #[test]
    fn plain_numbers_end_where_they_say_something() {
        for (number, shown) in [
            (120.0, "120"),
            (152.355_555_6, "152.355556"),
            (0.5, "0.5"),
            (-2.0, "-2"),
            (100.0, "100"),
        ] {
            assert_eq!(value(number, Contains::Default, None), shown);
        }
    }
}
