//! Dates of cookies: the algorithm of RFC 6265, section 5.1.1, which takes what servers have ever
//! sent: parts in any order, two-digit years, most punctuation.

use squall_base::calendar::days_since_1970;

/// Seconds since 1970 of a cookie's date; `None`: it is not one.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    // Each token is taken as the first part that is still missing and that it can be.
    for token in text.split(|byte| is_delimiter(*byte)).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = hours_minutes_seconds(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2, 4)
        {
            year = Some(found);
        }
    }
    let ([hour, minute, second], day, month) = (time?, day?, month?);
    let year = match year? {
        year @ 70..=99 => year + 1_900,
        year @ 0..=69 => year + 2_000,
        year => year,
    };
    if year < 1_601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x2F | 0x3B..=0x40 | 0x5B..=0x60 | 0x7B..=0x7E)
}

/// A number of `least` to `most` digits that begins a token and ends with it or before a non-digit.
fn number(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fits = (least..=most).contains(&digits);
    fits.then(|| token[..digits].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// `1:02:03`, with anything but a digit after it.
fn hours_minutes_seconds(token: &[u8]) -> Option<[i64; 3]> {
    let mut fields = token.splitn(3, |byte| *byte == b':');
    let (hour, minute, rest) = (fields.next()?, fields.next()?, fields.next()?);
    let whole = |field: &[u8]| field.iter().all(u8::is_ascii_digit);
    if !whole(hour) || !whole(minute) {
        return None;
    }
    Some([number(hour, 1, 2)?, number(minute, 1, 2)?, number(rest, 1, 2)?])
}

/// From 1 to 12, by the first three letters.
fn month_of(token: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let begin = token.get(..3)?;
    (1..).zip(MONTHS).find(|(_, name)| name.eq_ignore_ascii_case(begin)).map(|(month, _)| month)
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06 08:49:37, in the forms of RFC 9110 and in others that the algorithm takes.
    #[test]
    fn a_date_in_any_dress() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "6 november 1994 8:49:37",
            "1994 Nov 06 08:49:37",
            "08:49:37 94 6 NOV", // the day is the first number that can be one: not this time
            "Nov;6@1994=08:49:37",
            "06\tNov\t1994\t08:49:37 PST",
            "6th Nov-1994 08:49:37.123",
            "Sun, 06 Nov 1994 08:49:37 +0100",
            "Sun, 06 Nov 1994a 08:49:37",
            "Sun, 06 Nov 1994 08:49:37, 07 Dec 1995 09:50:38",
        ] {
            let expected = if text.starts_with("08:49:37 94") { None } else { Some(784_111_777) };
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_date() {
        for text in [
            "",
            "06 Nov 1994",
            "06 Nov 08:49:37",
            "Nov 1994 08:49:37",
            "06 1994 08:49:37",
            "06 Nov 1994 24:00:00",
            "06 Nov 1994 08:60:37",
            "06 Nov 1994 08:49:60",
            "06 Nov 1600 08:49:37",
            "31 Nov 1994 08:49:37",
            "29 Feb 1900 08:49:37",
            "00 Nov 1994 08:49:37",
            "32 Nov 1994 08:49:37",
            "06 Nov 19945 08:49:37",
            "06 Nov 1994 008:49:37",
            "06 Nov 1994 08:49:371",
            "06 Nov 1994 08::37",
            "06 No 1994 08:49:37",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn years_of_two_digits_and_leap_days() {
        for (text, seconds) in [
            ("01 Jan 70 00:00:00", 0),
            ("31 Dec 99 23:59:59", 946_684_799),
            ("01 Jan 00 00:00:00", 946_684_800),
            ("01 Jan 69 00:00:00", 3_124_224_000),
            ("01 Jan 069 00:00:00", 3_124_224_000),
            ("29 Feb 2000 00:00:00", 951_782_400),
            ("01 Mar 2000 00:00:00", 951_868_800),
            ("01 Jan 1601 00:00:00", -11_644_473_600),
            ("31 Dec 9999 23:59:59", 253_402_300_799),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(seconds), "{text}");
        }
    }
}
