//! Time zones of dates: UTC, an offset from it, or the machine's, for which the system is asked.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// So many seconds before UTC's clocks.
    Offset(i64),
    /// That of the machine.
    Local,
}

/// What a zone is at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// So many seconds its clocks are before those of UTC.
    pub offset: i64,
    /// What it is called then, such as `CEST`.
    pub name: String,
}

impl Zone {
    pub(super) const UTC: Zone = Zone::Offset(0);

    /// The zone of a name: `UTC`, `local`, or an offset, such as `+02:00`.
    ///
    /// # Errors
    /// It is none of these.
    pub(super) fn of(name: &str) -> Result<Zone, String> {
        match name {
            "UTC" => Ok(Zone::UTC),
            "local" => Ok(Zone::Local),
            _ => match offset(name) {
                Some((offset, "")) => Ok(Zone::Offset(offset)),
                _ => Err(format!(
                    "`{name}` is not a time zone: expected \"UTC\", \"local\" or an offset, such as \"+02:00\""
                )),
            },
        }
    }

    /// What it is at a moment, in seconds since 1970.
    pub(super) fn at(self, unix: i64) -> Rule {
        let offset = match self {
            Zone::Local => match local(unix) {
                Some(rule) => return rule,
                // No clock shows a year of so many digits.
                None => 0,
            },
            Zone::Offset(offset) => offset,
        };
        let name = if offset == 0 { "UTC".to_owned() } else { written(offset, ":") };
        Rule { offset, name }
    }

    /// When its clocks show a time, in seconds since 1970 as if they were those of UTC. Of two moments it is the first; a
    /// time that clocks pass over is as much later as they do.
    pub(super) fn moment(self, shown: i64) -> i64 {
        const DAY: i64 = 86_400;
        let (before, after) =
            (self.at(shown.saturating_sub(DAY)).offset, self.at(shown.saturating_add(DAY)).offset);
        let fits = |offset: &i64| self.at(shown.saturating_sub(*offset)).offset == *offset;
        let offset = [before, after].into_iter().find(fits).unwrap_or(before);
        shown.saturating_sub(offset)
    }
}

/// An offset at the beginning of a text (`Z`, `+02`, `+0200`, `+02:00`), in seconds, and what is behind it.
pub(super) fn offset(text: &str) -> Option<(i64, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((0, rest));
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |text: &str| {
        let digits = text.get(..2).filter(|own| own.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse::<i64>().ok())
    };
    let hours = two(&text[1..]).filter(|hours| *hours <= 18)?;
    let behind = &text[3..];
    let minutes = behind.strip_prefix(':').unwrap_or(behind);
    match two(minutes).filter(|minutes| *minutes < 60) {
        Some(own) => Some((sign * (hours * 3_600 + own * 60), &minutes[2..])),
        None => Some((sign * hours * 3_600, behind)),
    }
}

/// An offset as text: `+0200`, with something between hours and minutes.
pub(super) fn written(offset: i64, between: &str) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
}

/// What the machine's zone is at a moment; `None` if the system has no date for it.
fn local(unix: i64) -> Option<Rule> {
    let mut found = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both point to values that live over the call, of the types that it reads and writes. The zone itself it reads
    // from the environment, once and behind a lock of its own; nothing in squall writes to that.
    let result = unsafe { libc::localtime_r(&raw const unix, found.as_mut_ptr()) };
    if result.is_null() {
        return None;
    }
    // SAFETY: the call has filled it, as it gave no null; before that it was zeroed, which is a value of each field.
    let found = unsafe { found.assume_init() };
    let name = match found.tm_zone.is_null() {
        true => String::new(),
        // SAFETY: it points to a text that ends with a zero, which the system keeps: zones are read only once.
        false => unsafe { std::ffi::CStr::from_ptr(found.tm_zone) }.to_string_lossy().into_owned(),
    };
    Some(Rule { offset: found.tm_gmtoff, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_names_and_offsets() {
        assert_eq!(Zone::of("UTC"), Ok(Zone::UTC));
        assert_eq!(Zone::of("-03:30"), Ok(Zone::Offset(-12_600)));
        assert_eq!(Zone::of("local"), Ok(Zone::Local));
        for bad in ["", "Berlin", "+1", "+25:00", "+02:00x", "+02:75"] {
            assert!(Zone::of(bad).is_err(), "{bad}");
        }
        assert_eq!(offset("+0530 x"), Some((19_800, " x")));
        assert_eq!(offset("+05é"), Some((18_000, "é")));
        assert_eq!(offset("+é"), None);
        assert_eq!(written(-12_600, ":"), "-03:30");
        assert_eq!(Zone::Offset(3_600).moment(0), -3_600);
        assert_eq!(Zone::Offset(3_600).at(0).name, "+01:00");
        // Wherever the test runs.
        let here = Zone::Local.at(0);
        assert!(here.offset.abs() <= 18 * 3_600 && !here.name.is_empty());
        assert_eq!(Zone::Local.moment(here.offset), 0);
        assert_eq!(Zone::Local.at(i64::MAX), Zone::UTC.at(0));
    }
}
