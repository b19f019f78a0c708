//! JMeter's functions of dates as expressions: Java's patterns for them, and what follows where a text is no date.

use super::condition;
use super::texts::{TextPiece, expression, literal, quoted};
use crate::text::Call;

/// A part of a pattern of Java's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    /// What a pattern of `date()` says.
    Plain(String),
    /// The year of weeks, with two digits or all; they begin on Sundays.
    WeekYear(bool),
    /// The zone's offset: `Z` for none if the first is true, and so many letters.
    Offset(bool, usize),
}

/// A pattern of Java's for dates.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    parts: Vec<PatternPart>,
    /// Its letters, those within quotes left out.
    letters: String,
    has_choice: bool,
    /// Whether it has names of months or days, or halves of them, which differ from language to language.
    has_names: bool,
}

impl Pattern {
    /// `None`: it asks for something that is not known here.
    fn read(pattern: &str) -> Option<Pattern> {
        let mut found = Pattern {
            parts: Vec::new(),
            letters: String::new(),
            has_choice: false,
            has_names: false,
        };
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            if c == '\'' {
                found.plain(&quoted_text(&mut rest)?);
                continue;
            }
            if !c.is_ascii_alphabetic() {
                match c {
                    '[' | ']' => found.has_choice = true,
                    '{' | '}' | '#' => return None,
                    '%' => found.plain("%%"),
                    _ => found.plain(&c.to_string()),
                }
                continue;
            }
            let mut count = 1;
            while rest.next_if_eq(&c).is_some() {
                count += 1;
            }
            found.letters.push(c);
            found.has_names |= matches!((c, count), ('E' | 'a', _) | ('M' | 'L', 3..));
            match (c, count) {
                ('Y', _) => found.parts.push(PatternPart::WeekYear(count == 2)),
                ('X', 1..=3) => found.parts.push(PatternPart::Offset(true, count)),
                ('x', 1) => found.parts.push(PatternPart::Offset(false, 1)),
                ('Z', 5) => found.parts.push(PatternPart::Offset(true, 3)),
                ('S', 1..=9) => found.plain(&format!("%{count}N")),
                _ => found.plain(field(c, count)?),
            }
        }
        Some(found)
    }

    fn plain(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(PatternPart::Plain(last)) => last.push_str(text),
            _ => self.parts.push(PatternPart::Plain(text.to_owned())),
        }
    }

    fn has(&self, letters: &str) -> bool {
        self.letters.contains(|c| letters.contains(c))
    }

    /// A moment in this pattern, as an expression.
    fn shown(&self, moment: &str, zone: &str) -> String {
        const AT: &str = "each_1";
        let zone = if zone == "UTC" { String::new() } else { format!(", {}", quoted(zone)) };
        let date = |at: &str, pattern: &str| format!("date({at}, {}{zone})", quoted(pattern));
        let of = |part: &PatternPart, at: &str| match part {
            PatternPart::Plain(pattern) => date(at, pattern),
            PatternPart::WeekYear(is_short) => {
                let saturday = format!("{at} + (6 - int({})) * 86400000", date(at, "%w"));
                date(&saturday, if *is_short { "%y" } else { "%Y" })
            }
            PatternPart::Offset(says_z, letters) => {
                let (all, none) = (date(at, "%z"), quoted("+0000"));
                let whole = match letters {
                    1 => format!("({all}.endsWith(\"00\") ? substring({all}, 0, 3) : {all})"),
                    2 => all.clone(),
                    _ => date(at, "%:z"),
                };
                match says_z {
                    true => format!("({all} == {none} ? \"Z\" : {whole})"),
                    false => whole,
                }
            }
        };
        match self.parts.as_slice() {
            [] => quoted(""),
            [only @ PatternPart::Plain(_)] => of(only, moment),
            several => {
                let terms: Vec<String> = several.iter().map(|part| of(part, AT)).collect();
                format!("[{moment}].map({AT}, {})[0]", terms.join(" + "))
            }
        }
    }

    /// The moment of a text in this pattern, as an expression: null where it is no such date. `None` if that cannot be read.
    /// A year that the pattern does not have is this one.
    fn moment(&self, text: &str, zone: &str) -> Option<String> {
        let is_read = !self.has_choice && !self.has("Yz") && self.has("h") == self.has("a");
        let parts = self.parts.iter().map(|part| match part {
            PatternPart::Plain(pattern) => pattern.as_str(),
            _ => "%z",
        });
        let pattern: String = parts.collect();
        let zone = if zone == "UTC" { String::new() } else { format!(", {}", quoted(zone)) };
        is_read.then(|| match self.has("yu") {
            true => format!("date_ms({text}, {}{zone})", quoted(&pattern)),
            false => {
                let year = "date(now_ms(), \"%Y\", \"local\")";
                let pattern = quoted(&format!("%Y {pattern}"));
                format!("date_ms({year} + \" \" + {text}, {pattern}{zone})")
            }
        })
    }

    /// Whether names of a locale are those that are known here.
    fn speaks(&self, locale: &str) -> bool {
        let (language, country) = locale.split_once('_').unwrap_or((locale, "US"));
        let is_code =
            |code: &str, is: fn(&u8) -> bool| code.len() == 2 && code.bytes().all(|c| is(&c));
        let is_locale =
            is_code(language, u8::is_ascii_lowercase) && is_code(country, u8::is_ascii_uppercase);
        // Other English ones write AM, PM and September in another way.
        locale.is_empty()
            || is_locale && (!self.has_names || language == "en" && matches!(country, "US" | "EN"))
    }
}

/// What is between quotes of a pattern, behind the first of them; `None` if they do not end.
fn quoted_text(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    if rest.next_if_eq(&'\'').is_some() {
        return Some("'".to_owned());
    }
    let mut out = String::new();
    loop {
        match rest.next()? {
            '\'' if rest.next_if_eq(&'\'').is_some() => out.push('\''),
            '\'' => return Some(out),
            '%' => out.push_str("%%"),
            other => out.push(other),
        }
    }
}

/// So many letters of a pattern of Java's as a field of `date()`.
fn field(letter: char, count: usize) -> Option<&'static str> {
    Some(match (letter, count) {
        ('y' | 'u', 1 | 3 | 4) => "%Y",
        ('y' | 'u', 2) => "%y",
        ('M' | 'L', 1) => "%-m",
        ('M' | 'L', 2) => "%m",
        ('M' | 'L', 3) => "%b",
        ('M' | 'L', 4) => "%B",
        ('d', 1) => "%e",
        ('d', 2) => "%d",
        ('D', 1) => "%-j",
        ('D', 3) => "%j",
        ('H', 1) => "%-H",
        ('H', 2) => "%H",
        ('h', 1) => "%-I",
        ('h', 2) => "%I",
        ('m', 1) => "%-M",
        ('m', 2) => "%M",
        ('s', 1) => "%-S",
        ('s', 2) => "%S",
        ('E', 1..=3) => "%a",
        ('E', 4) => "%A",
        ('a', 1) => "%p",
        ('Z', 1..=3) | ('x', 2) => "%z",
        ('x', 3) => "%:z",
        ('z', 1..=3) => "%Z",
        _ => return None,
    })
}

/// Whether Java refuses a pattern for a letter that stands too often in a row.
fn has_too_many_letters(pattern: &str) -> bool {
    let mut is_text = false;
    let mut run = (' ', 0);
    pattern.chars().any(|c| {
        is_text ^= c == '\'';
        run = if c == run.0 { (c, run.1 + 1) } else { (c, 1) };
        !is_text && "dHhKkms".contains(c) && run.1 > 2
    })
}

/// The present moment in a format of Java's (`__time`): milliseconds since 1970 divided, or a pattern.
pub(super) fn time(format: &str) -> Option<String> {
    let format = match format {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        other => other,
    };
    if let Some(divisor) = format.strip_prefix('/') {
        let divisor: u32 = divisor.parse().ok().filter(|divisor| *divisor > 0)?;
        return Some(format!("now_ms() / {divisor}"));
    }
    if has_too_many_letters(format) {
        return Some(format!("fail({})", quoted(&format!("invalid date format `{format}`"))));
    }
    Some(Pattern::read(format)?.shown("now_ms()", "local"))
}

/// What a function of dates gives, whose parameters the run may decide; `None` if it has no equal. `call`: as it is written.
pub(super) fn of_call(call: &Call, parameters: &[Vec<TextPiece>]) -> Option<TextPiece> {
    let at = |index: usize| parameters.get(index).map_or(&[] as &[TextPiece], Vec::as_slice);
    let known = |index: usize| literal(at(index));
    match (call.name.as_str(), call.parameters.len()) {
        ("__timeShift", count @ (4 | 5)) => {
            // The last one names a variable: what is left of it was none.
            let locale = if count == 5 { known(3)?.trim() } else { "" };
            if !at(count - 1).is_empty() {
                return None;
            }
            shifted(known(0)?.trim(), at(1), at(2), locale)
        }
        ("__RandomDate", 3..=5) if at(4).is_empty() => {
            random(known(0)?.trim(), at(1), at(2), known(3)?.trim())
        }
        ("__dateTimeConvert", 3..=4) if at(3).is_empty() => converted(at(0), known(1)?, known(2)?),
        _ => None,
    }
}

/// A value that may be null, or another in its place.
fn or_else(value: &str, otherwise: &str, then: impl Fn(&str) -> String) -> String {
    const FOUND: &str = "each_2";
    format!("[{value}].map({FOUND}, {FOUND} == null ? {otherwise} : {})[0]", then(FOUND))
}

/// The expression of a text without the blanks around it.
fn trimmed(pieces: &[TextPiece]) -> String {
    match literal(pieces) {
        Some(text) => quoted(text.trim()),
        None => format!("trim({})", expression(pieces)),
    }
}

/// The number that a text is, or null.
fn epoch(text: &str) -> String {
    format!("({text}.matches(\"^[+-]?[0-9]{{1,15}}$\") ? int({text}) : null)")
}

/// A date, or now, later or earlier by a duration (`__timeShift`). What is no date is now, and what is no duration nothing.
fn shifted(
    format: &str,
    date: &[TextPiece],
    amount: &[TextPiece],
    locale: &str,
) -> Option<TextPiece> {
    if has_too_many_letters(format) {
        return Some(TextPiece::Text(String::new()));
    }
    let duration = format!("duration_ms({})", trimmed(amount));
    let shift = match (literal(amount), condition::known(&duration)) {
        (None, _) => format!(" + {}", or_else(&duration, "0", str::to_owned)),
        (Some(_), Some(found)) if found != "null" => format!(" + {duration}"),
        (Some(_), _) => String::new(),
    };
    let now = format!("now_ms(){shift}");
    let is_now = literal(date).is_some_and(|date| date.trim().is_empty());
    let text = trimmed(date);
    let later = |at: &str| format!("{at}{shift}");
    if format.is_empty() {
        return Some(TextPiece::Expr(match is_now {
            true => now,
            false => or_else(&epoch(&text), &now, later),
        }));
    }
    let pattern = Pattern::read(format).filter(|pattern| pattern.speaks(locale))?;
    if is_now {
        return Some(TextPiece::Expr(pattern.shown(&now, "local")));
    }
    // Its own offset stays; without one it is like a time of a place that never changes its clocks.
    let zone = match pattern.has("ZXxz") {
        true => offset_behind(literal(date)?.trim(), &pattern)?,
        false => "UTC".to_owned(),
    };
    let mut moment = pattern.moment(&text, &zone)?;
    if pattern.has("S") {
        // JMeter takes milliseconds to be 0 beside what the text says: with others it is no date.
        let own = "each_7";
        moment =
            format!("[{moment}].map({own}, {own} != null && {own} % 1000 != 0 ? null : {own})[0]");
    }
    match condition::known(&moment).as_deref() {
        Some("null") => Some(TextPiece::Expr(pattern.shown(&now, "local"))),
        Some(_) => Some(TextPiece::Expr(pattern.shown(&later(&moment), &zone))),
        None => {
            let later = |at: &str| pattern.shown(&later(at), &zone);
            Some(TextPiece::Expr(or_else(&moment, &pattern.shown(&now, "local"), later)))
        }
    }
}

/// The offset at the end of a text, where a pattern has one at its end and no other.
fn offset_behind(text: &str, pattern: &Pattern) -> Option<String> {
    let letters = pattern.letters.as_bytes();
    let (last, others) = letters.split_last()?;
    let is_one = |letter: &u8| b"ZXx".contains(letter);
    if !is_one(last) || others.iter().any(|letter| is_one(letter) || *letter == b'z') {
        return None;
    }
    if text.ends_with('Z') {
        return Some("+00:00".to_owned());
    }
    let offset = &text[text.rfind(['+', '-'])?..];
    let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
    let is_offset = matches!(digits.len(), 2 | 4) && digits.bytes().all(|c| c.is_ascii_digit());
    is_offset.then(|| format!("{}{}:{:0<2}", &offset[..1], &digits[..2], &digits[2..]))
}

/// A day from a first up to a last one, that left out (`__RandomDate`).
fn random(
    format: &str,
    first: &[TextPiece],
    last: &[TextPiece],
    locale: &str,
) -> Option<TextPiece> {
    const DAYS: &str = "each_3";
    const DAY: u32 = 86_400_000;
    let format = if format.is_empty() { "yyyy-MM-dd" } else { format };
    let pattern = Pattern::read(format).filter(|pattern| pattern.speaks(locale))?;
    if pattern.has("HhmsSaZXxz") {
        return None;
    }
    let day = |date: &[TextPiece]| {
        let moment = pattern.moment(&trimmed(date), "UTC")?;
        Some(or_else(&moment, "0", str::to_owned))
    };
    let first = match literal(first).map(str::trim) {
        Some("") => "date_ms(date(now_ms(), \"%Y-%m-%d\", \"local\"), \"%Y-%m-%d\")".to_owned(),
        _ => day(first)?,
    };
    let last = day(last)?;
    let shown =
        pattern.shown(&format!("random({DAYS}[0] / {DAY}, {DAYS}[1] / {DAY} - 1) * {DAY}"), "UTC");
    Some(TextPiece::Expr(format!(
        "[[{first}, {last}]].map({DAYS}, {DAYS}[1] < {DAYS}[0] ? \"\" : {shown})[0]"
    )))
}

/// A date in another pattern (`__dateTimeConvert`); what is none is nothing.
fn converted(date: &[TextPiece], from: &str, to: &str) -> Option<TextPiece> {
    const DATE: &str = "yuMLdDEY";
    const TIME: &str = "HhmsSa";
    const ZONE: &str = "ZXxz";
    let nothing = Some(TextPiece::Text(String::new()));
    if has_too_many_letters(from) || has_too_many_letters(to) {
        return nothing;
    }
    let target = Pattern::read(to)?;
    let text = expression(date);
    if from.is_empty() {
        let shown = |at: &str| target.shown(at, "local");
        return Some(TextPiece::Expr(or_else(&epoch(&text), "\"\"", shown)));
    }
    let source = Pattern::read(from)?;
    // What the text does not say cannot be written.
    if [DATE, TIME, ZONE].iter().any(|kind| target.has(kind) && !source.has(kind)) {
        return nothing;
    }
    let has_date = source.has("yu") && (source.has("D") || source.has("ML") && source.has("d"));
    let has_time = source.has("Hh") && (!source.has("s") || source.has("m"));
    if target.has(DATE) && !has_date || target.has(TIME) && !has_time {
        return None;
    }
    let zone = match source.has(ZONE) {
        true => offset_behind(literal(date)?, &source)?,
        false => "UTC".to_owned(),
    };
    let moment = source.moment(&text, &zone)?;
    let shown = |at: &str| target.shown(at, &zone);
    Some(TextPiece::Expr(or_else(&moment, "\"\"", shown)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pattern: &str) -> Option<String> {
        match Pattern::read(pattern)?.parts.as_slice() {
            [PatternPart::Plain(only)] => Some(only.clone()),
            _ => None,
        }
    }

    #[test]
    fn patterns_of_dates() {
        for (pattern, expected) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Some("%Y-%m-%dT%H:%M:%S.%3N")),
            ("EEE, d MMM yy hh 'o''clock' a", Some("%a, %e %b %y %I o'clock %p")),
            ("H:m:s", Some("%-H:%-M:%-S")),
            ("''%", Some("'%%")),
            ("sss", None),
            ("'open", None),
            ("{", None),
        ] {
            let expected = expected.map(|own| match pattern.ends_with("'Z'") {
                true => format!("{own}Z"),
                false => own.to_owned(),
            });
            assert_eq!(plain(pattern), expected, "{pattern}");
        }
        let week = Pattern::read("YYYY-MM'Y'YY").expect("a pattern");
        let plain = |text: &str| PatternPart::Plain(text.to_owned());
        assert_eq!(
            week.parts,
            [PatternPart::WeekYear(false), plain("-%mY"), PatternPart::WeekYear(true)]
        );
        assert_eq!(time("/60").as_deref(), Some("now_ms() / 60"));
        assert!(time("HH:mm:sss").is_some_and(|source| source.starts_with("fail(")));
        assert!(!has_too_many_letters("yyyy-MMM-dd 'sss' HH:mm:ss.SSS"));
        assert_eq!(time("YMD").as_deref(), Some(r#"date(now_ms(), "%Y%m%d", "local")"#));
    }

    #[test]
    fn languages_differ_in_names_alone() {
        let speaks = |pattern, locale| Pattern::read(pattern).expect("a pattern").speaks(locale);
        assert!(speaks("dd/MM/yyyy", "fr_FR") && speaks("dd/MM", "de"));
        assert!(speaks("dd MMM", "en_US") && speaks("dd MMM", ""));
        assert!(!speaks("dd MMM", "fr_FR") && !speaks("dd/MM", "French"));
    }

    /// The value of an expression that is the same in every run.
    fn value(piece: Option<TextPiece>) -> Option<String> {
        match piece? {
            TextPiece::Text(text) => Some(text),
            TextPiece::Expr(source) => Some(source),
        }
    }

    #[test]
    fn dates_are_shifted_and_converted() {
        let text = |text: &str| match text {
            "" => Vec::new(),
            text => vec![TextPiece::Text(text.to_owned())],
        };
        let moved = |format, date, by| value(shifted(format, &text(date), &text(by), ""));
        assert_eq!(
            moved("dd/MM/yyyy", "21/01/2018", "P2D").as_deref(),
            Some(r#"date(date_ms("21/01/2018", "%d/%m/%Y") + duration_ms("P2D"), "%d/%m/%Y")"#)
        );
        assert_eq!(moved("", "", "nothing").as_deref(), Some("now_ms()"));
        assert_eq!(moved("HH", "", "").as_deref(), Some(r#"date(now_ms(), "%H", "local")"#));
        assert_eq!(moved("yyyy", "x", ""), moved("yyyy", "", ""));
        assert_eq!(moved("ddd", "", "").as_deref(), Some(""));
        let of_seconds = moved("ss.SSS", "07.089", "").expect("an expression");
        assert!(of_seconds.contains("% 1000 != 0 ? null"), "{of_seconds}");
        let with_offset = Pattern::read("yyyy HH X").expect("a pattern");
        assert_eq!(offset_behind("2021 05 -0130", &with_offset).as_deref(), Some("-01:30"));
        assert_eq!(offset_behind("2021 05 +02", &with_offset).as_deref(), Some("+02:00"));
        assert_eq!(offset_behind("2021 05 Z", &with_offset).as_deref(), Some("+00:00"));
        assert_eq!(
            offset_behind("2021-05", &Pattern::read("yyyy-X").expect("one")),
            Some("-05:00".into())
        );
        let other = |date, from, to| value(converted(&text(date), from, to));
        assert_eq!(other("05:06", "HH:mm", "yyyy").as_deref(), Some(""));
        assert_eq!(other("2021-05", "yyyy-MM", "MM"), None);
        assert!(other("0", "", "yyyy").is_some_and(|source| source.contains("local")));
    }
}
