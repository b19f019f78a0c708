//! Dates and times of day as text, and such texts as moments.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::str::Chars;

use squall_base::calendar;

use super::zone::{self, Rule, Zone};

const DAY_MS: i64 = 86_400_000;
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

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPart {
    Text(char),
    /// `%Y`; whether it has no zeros before it, as in `%-d`.
    Field(char, bool),
    /// So many digits of the second's fraction.
    Fraction(usize),
}

/// The parts of a pattern.
///
/// # Errors
/// A `%` with something else behind it.
fn parts(pattern: &str) -> Result<Vec<PatternPart>, String> {
    let mut rest = pattern.chars();
    let mut found = Vec::new();
    while let Some(c) = rest.next() {
        found.push(if c == '%' { field(&mut rest)? } else { PatternPart::Text(c) });
    }
    Ok(found)
}

fn field(rest: &mut Chars<'_>) -> Result<PatternPart, String> {
    let none = || "nothing follows the last `%`".to_owned();
    let first = rest.next().ok_or_else(none)?;
    match first {
        '%' => Ok(PatternPart::Text('%')),
        '-' => match rest.next().ok_or_else(none)? {
            letter if "mdjHIMS".contains(letter) => Ok(PatternPart::Field(letter, true)),
            other => Err(format!("unknown date field `%-{other}`")),
        },
        ':' => match rest.next().ok_or_else(none)? {
            'z' => Ok(PatternPart::Field(':', false)),
            other => Err(format!("unknown date field `%:{other}`")),
        },
        '1'..='9' => match rest.next().ok_or_else(none)? {
            'N' => Ok(PatternPart::Fraction(first as usize - '0' as usize)),
            other => Err(format!("unknown date field `%{first}{other}`")),
        },
        'e' => Ok(PatternPart::Field('d', true)),
        'L' => Ok(PatternPart::Fraction(3)),
        letter if "YymdjHIMSpaAwbBzZs".contains(letter) => Ok(PatternPart::Field(letter, false)),
        other => Err(format!("unknown date field `%{other}`")),
    }
}

/// How many digits a field has.
fn width(letter: char) -> usize {
    match letter {
        'Y' => 4,
        'j' => 3,
        'w' => 1,
        _ => 2,
    }
}

/// A moment, in milliseconds since 1970, as text: `%Y` year, `%y` its last two digits, `%m` month, `%d` day, `%j` day of the
/// year, `%H` hour, `%I` hour up to 12, `%M` minute, `%S` second, each without zeros as `%-m` (`%e` is `%-d`), `%L`
/// millisecond, `%1N` to `%9N` so many digits of the second's fraction, `%p` AM or PM, `%a` and `%A` day of the week, `%w` its
/// number from Sunday, which is 0, `%b` and `%B` month by name, `%z` `+0000`, `%:z` `+00:00`, `%Z` the zone's name, `%s`
/// seconds since 1970, `%%` a percent sign.
///
/// # Errors
/// A `%` with another letter behind it.
pub(super) fn formatted(unix_ms: i64, pattern: &str, zone: Zone) -> Result<String, String> {
    let rule = zone.at(unix_ms.div_euclid(1_000));
    let shown = unix_ms.saturating_add(rule.offset * 1_000);
    let (days, of_day) = (shown.div_euclid(DAY_MS), shown.rem_euclid(DAY_MS));
    let (year, month, day) = calendar::date(days);
    let weekday = (days + 4).rem_euclid(7);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let mut out = String::new();
    for part in parts(pattern)? {
        let (letter, is_bare) = match part {
            PatternPart::Text(c) => {
                out.push(c);
                continue;
            }
            PatternPart::Fraction(digits) => {
                out.push_str(&format!("{:03}000000", of_day % 1_000)[..digits]);
                continue;
            }
            PatternPart::Field(letter, is_bare) => (letter, is_bare),
        };
        let number = match letter {
            'Y' => year,
            'y' => year.rem_euclid(100),
            'm' => month,
            'd' => day,
            'j' => days - calendar::days_since_1970(year, 1, 1) + 1,
            'H' => hour,
            'I' => (hour + 11) % 12 + 1,
            'M' => minute,
            'S' => of_day / 1_000 % 60,
            'w' => weekday,
            's' => {
                out.push_str(&unix_ms.div_euclid(1_000).to_string());
                continue;
            }
            _ => {
                out.push_str(&word(letter, (month, weekday, hour), &rule));
                continue;
            }
        };
        let width = if is_bare { 1 } else { width(letter) };
        // Writing to a String cannot fail.
        let _ = write!(out, "{number:0width$}");
    }
    Ok(out)
}

/// A field that is no number: of a month, a day of the week and an hour, or of the zone.
fn word(letter: char, (month, weekday, hour): (i64, i64, i64), rule: &Rule) -> String {
    let name = |names: &[&str], index: i64, most: usize| {
        let name = names.get(index as usize).copied().unwrap_or_default();
        name.chars().take(most).collect::<String>()
    };
    match letter {
        'p' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        'a' => name(&DAYS, weekday, 3),
        'A' => name(&DAYS, weekday, usize::MAX),
        'b' => name(&MONTHS, month - 1, 3),
        'B' => name(&MONTHS, month - 1, usize::MAX),
        'z' => zone::written(rule.offset, ""),
        ':' => zone::written(rule.offset, ":"),
        _ => rule.name.clone(),
    }
}

/// What a text says of a moment.
#[derive(Debug, Default)]
struct Said {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    weekday: Option<i64>,
    hour: i64,
    is_afternoon: bool,
    minute: i64,
    second: i64,
    milli: i64,
    offset: Option<i64>,
    unix: Option<i64>,
}

/// The moment of a text as [`formatted`] writes it, in milliseconds since 1970: what the pattern does not name is the
/// beginning of 1970, `%y` is a year of 2000 to 2099, a day behind the end of its month is its last, and 24:00 is the next
/// day's beginning. `None` if the text is no such date.
///
/// # Errors
/// A `%` with something else behind it, or with what cannot be read: `%Z`, and `%I` without `%p`.
pub(super) fn parsed(text: &str, pattern: &str, zone: Zone) -> Result<Option<i64>, String> {
    let parts = parts(pattern)?;
    let has = |letter| {
        parts.iter().any(|part| matches!(part, PatternPart::Field(own, _) if *own == letter))
    };
    if has('Z') {
        return Err("`%Z` cannot be read: names of zones are not unique".to_owned());
    }
    if has('I') != has('p') {
        return Err("`%I` and `%p` are read together".to_owned());
    }
    Ok(Said::of(text, &parts).and_then(|said| said.moment(has('I'), zone)))
}

impl Said {
    fn of(text: &str, parts: &[PatternPart]) -> Option<Said> {
        let mut said = Said::default();
        let mut rest = text;
        for (index, part) in parts.iter().enumerate() {
            match part {
                PatternPart::Text(c) => rest = rest.strip_prefix(*c)?,
                PatternPart::Fraction(digits) => {
                    let number = number(&mut rest, *digits, *digits)?;
                    said.milli = match digits {
                        0..=3 => number * 10_i64.pow(3 - *digits as u32),
                        _ => number / 10_i64.pow(*digits as u32 - 3),
                    };
                }
                PatternPart::Field(letter, is_bare) => {
                    let least = if *is_bare { 1 } else { width(*letter) };
                    // Digits that belong to the fields behind it are left to them.
                    let most = match is_bare {
                        true => digits(rest).saturating_sub(reserved(&parts[index + 1..])),
                        false => least,
                    };
                    said.take(*letter, &mut rest, (least, most.min(9)))?;
                }
            }
        }
        rest.is_empty().then_some(said)
    }

    fn take(&mut self, letter: char, rest: &mut &str, (least, most): (usize, usize)) -> Option<()> {
        let one_of = |names: &[&str], length: Option<usize>, rest: &mut &str| {
            let own = |name: &str| name[..length.unwrap_or(name.len())].to_owned();
            let index = names.iter().position(|name| rest.starts_with(&own(name)))?;
            *rest = &rest[own(names[index]).len()..];
            Some(index as i64)
        };
        match letter {
            'a' => self.weekday = Some(one_of(&DAYS, Some(3), rest)?),
            'A' => self.weekday = Some(one_of(&DAYS, None, rest)?),
            'b' => self.month = Some(one_of(&MONTHS, Some(3), rest)? + 1),
            'B' => self.month = Some(one_of(&MONTHS, None, rest)? + 1),
            'p' => self.is_afternoon = one_of(&["AM", "PM"], None, rest)? == 1,
            'z' | ':' => {
                let (offset, behind) = zone::offset(rest)?;
                (self.offset, *rest) = (Some(offset), behind);
            }
            's' => {
                let sign = if rest.starts_with('-') { -1 } else { 1 };
                *rest = rest.strip_prefix('-').unwrap_or(rest);
                self.unix = Some(sign * number(rest, 1, 12)?);
            }
            _ => {
                let number = number(rest, least, most)?;
                match letter {
                    'Y' => self.year = Some(number),
                    'y' => self.year = Some(2_000 + number),
                    'm' => self.month = Some(within(number, 1..=12)?),
                    'd' => self.day = Some(within(number, 1..=31)?),
                    'j' => self.day_of_year = Some(within(number, 1..=366)?),
                    'H' => self.hour = within(number, 0..=24)?,
                    'I' => self.hour = within(number, 1..=12)?,
                    'M' => self.minute = within(number, 0..=59)?,
                    'S' => self.second = within(number, 0..=59)?,
                    _ => self.weekday = Some(within(number, 0..=6)?),
                }
            }
        }
        Some(())
    }

    fn moment(&self, of_twelve: bool, zone: Zone) -> Option<i64> {
        if let Some(unix) = self.unix {
            return Some(unix * 1_000 + self.milli);
        }
        let year = self.year.unwrap_or(1970);
        let month = self.month.unwrap_or(1);
        let first = calendar::days_since_1970(year, month, 1);
        let next = match month {
            12 => calendar::days_since_1970(year + 1, 1, 1),
            _ => calendar::days_since_1970(year, month + 1, 1),
        };
        let days = match self.day_of_year {
            Some(day) => {
                let days = calendar::days_since_1970(year, 1, 1) + day - 1;
                // Of a year that has fewer days it is none.
                (days < calendar::days_since_1970(year + 1, 1, 1)).then_some(days)?
            }
            None => (first + self.day.unwrap_or(1) - 1).min(next - 1),
        };
        if self.weekday.is_some_and(|weekday| weekday != (days + 4).rem_euclid(7)) {
            return None;
        }
        let hour = match of_twelve {
            true => self.hour % 12 + if self.is_afternoon { 12 } else { 0 },
            false => self.hour,
        };
        if hour == 24 && (self.minute, self.second, self.milli) != (0, 0, 0) {
            return None;
        }
        let shown = days * 86_400 + hour * 3_600 + self.minute * 60 + self.second;
        let unix = match self.offset {
            Some(offset) => shown - offset,
            None => zone.moment(shown),
        };
        Some(unix * 1_000 + self.milli)
    }
}

fn within(number: i64, range: RangeInclusive<i64>) -> Option<i64> {
    range.contains(&number).then_some(number)
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// How many digits the fields have that follow at once, up to the first that may have more or fewer.
fn reserved(parts: &[PatternPart]) -> usize {
    let widths = parts.iter().map_while(|part| match part {
        PatternPart::Field(letter, false) if "YymdjHIMSw".contains(*letter) => Some(width(*letter)),
        PatternPart::Fraction(digits) => Some(*digits),
        _ => None,
    });
    widths.sum()
}

/// A number of so many digits at the beginning of a text, which is then taken off it.
fn number(rest: &mut &str, least: usize, most: usize) -> Option<i64> {
    let count = digits(rest).min(most);
    let (own, behind) = rest.split_at_checked(count).filter(|_| count >= least)?;
    *rest = behind;
    own.parse().ok()
}

/// The milliseconds of a duration as ISO 8601 has it, of days, hours, minutes and seconds: `P1DT2H`, `-PT0.5S`, `PT-90M`. A
/// day has 24 hours. `None` if the text is none.
pub(super) fn duration(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let (is_negative, rest) = signed(&text);
    let (days, time) = match rest.strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((days, time)) => (days, time),
        None => (rest.strip_prefix('P').filter(|days| !days.is_empty())?, ""),
    };
    let mut nanos = i128::from(amount(&mut &*days, 'D', true)?) * 86_400_000_000_000;
    let mut time = time;
    for (letter, unit) in [('H', 3_600_000_000_000), ('M', 60_000_000_000)] {
        nanos += i128::from(amount(&mut time, letter, false)?) * unit;
    }
    let (is_below, seconds) = signed(time);
    let sign = if is_below { -1 } else { 1 };
    if let Some(seconds) = seconds.strip_suffix('S') {
        let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
            return None;
        }
        let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
        nanos += sign * (i128::from(whole.parse::<i64>().ok()?) * 1_000_000_000 + fraction);
    } else if !time.is_empty() {
        return None;
    }
    let nanos = if is_negative { -nanos } else { nanos };
    i64::try_from(nanos.div_euclid(1_000_000)).ok()
}

/// Whether a text begins with a minus, and what is behind its sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A number with a letter behind it at the beginning of a text, which is then taken off it; 0 if there is none. `None` if
/// the number is none, or, where that is all, something else is there.
fn amount(rest: &mut &str, letter: char, is_all: bool) -> Option<i64> {
    let Some((own, behind)) = rest.split_once(letter).filter(|_| !rest.is_empty()) else {
        return (!is_all || rest.is_empty()).then_some(0);
    };
    let (is_negative, digits) = signed(own);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || is_all && !behind.is_empty() {
        return None;
    }
    *rest = behind;
    let number: i64 = digits.parse().ok()?;
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_dates() {
        let formatted = |ms, pattern| formatted(ms, pattern, Zone::UTC);
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
        for bad in ["%q", "%", "%-Y", "%-", "%:x", "%3L", "%0N"] {
            assert!(formatted(0, bad).is_err(), "{bad}");
        }
        let text =
            super::formatted(61_450, "%-d/%-m %-H:%-M:%-S.%1N %6N %:z %Z", Zone::Offset(-5_400));
        assert_eq!(text.as_deref(), Ok("31/12 22:31:1.4 450000 -01:30 -01:30"));
    }

    #[test]
    fn texts_are_moments() {
        let ms = |text, pattern| parsed(text, pattern, Zone::UTC).expect("a pattern");
        let shown =
            |text, pattern| formatted(ms(text, pattern)?, "%Y-%m-%d %H:%M:%S.%L", Zone::UTC).ok();
        for (text, pattern, expected) in [
            ("21/01/2018", "%d/%m/%Y", Some("2018-01-21 00:00:00.000")),
            ("1/2/21", "%-d/%-m/%y", Some("2021-02-01 00:00:00.000")),
            ("31/02/2021", "%d/%m/%Y", Some("2021-02-28 00:00:00.000")),
            ("32/01/2021", "%d/%m/%Y", None),
            ("2021-1-01", "%Y-%m-%d", None),
            ("2021-01-01x", "%Y-%m-%d", None),
            ("20210304050607089", "%Y%m%d%H%M%S%L", Some("2021-03-04 05:06:07.089")),
            ("4032021", "%-d%m%Y", Some("2021-03-04 00:00:00.000")),
            ("5:06 PM", "%-I:%M %p", Some("1970-01-01 17:06:00.000")),
            ("12:06 AM", "%I:%M %p", Some("1970-01-01 00:06:00.000")),
            ("24:00 2021-01-01", "%H:%M %Y-%m-%d", Some("2021-01-02 00:00:00.000")),
            ("24:01", "%H:%M", None),
            ("Thu 04 Mar 2021", "%a %d %b %Y", Some("2021-03-04 00:00:00.000")),
            ("Mon 04 March 2021", "%a %d %B %Y", None),
            ("04 mar 2021", "%d %b %Y", None),
            ("2021 063", "%Y %j", Some("2021-03-04 00:00:00.000")),
            ("2021 366", "%Y %j", None),
            ("2021-03-04T05:06:07+03:00", "%Y-%m-%dT%H:%M:%S%z", Some("2021-03-04 02:06:07.000")),
            ("12.5", "%S.%1N", Some("1970-01-01 00:00:12.500")),
            ("12.123456", "%S.%6N", Some("1970-01-01 00:00:12.123")),
            ("-1", "%s", Some("1969-12-31 23:59:59.000")),
            ("é", "%e", None),
            ("", "%Y", None),
        ] {
            assert_eq!(shown(text, pattern).as_deref(), expected, "{text} {pattern}");
        }
        assert_eq!(parsed("00:00", "%H:%M", Zone::Offset(3_600)), Ok(Some(-3_600_000)));
        for bad in ["%I", "%p", "%Z", "%q"] {
            assert!(parsed("1", bad, Zone::UTC).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_milliseconds() {
        for (text, expected) in [
            ("P1DT2H", Some(93_600_000)),
            ("-PT1M", Some(-60_000)),
            ("p1d", Some(86_400_000)),
            ("PT1.5S", Some(1_500)),
            ("PT-1M", Some(-60_000)),
            ("-P1DT-1H", Some(-82_800_000)),
            ("+P1D", Some(86_400_000)),
            ("PT1H2M3S", Some(3_723_000)),
            ("PT1,5S", Some(1_500)),
            ("PT1.S", Some(1_000)),
            ("PT-0.5S", Some(-500)),
            ("PT36H", Some(129_600_000)),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("P1W", None),
            ("1D", None),
            ("PT.5S", None),
            ("PT1H1H", None),
            ("PT1M1H", None),
            ("P1H", None),
            ("P 1D", None),
            ("P1D1D", None),
            ("PT1", None),
            ("", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }
}
