//! Lines of `--out csv`: a column for each tag that k6 has itself, and one for all others. Pure.

use std::borrow::Cow;

use super::point::{Point, rfc_3339};

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

impl TimeFormat {
    /// # Errors
    /// There is none of that name, in a sentence.
    pub(super) fn parse(text: &str) -> Result<TimeFormat, String> {
        Ok(match text {
            "unix" => TimeFormat::Unix,
            "unix_milli" => TimeFormat::UnixMilli,
            "unix_micro" => TimeFormat::UnixMicro,
            "unix_nano" => TimeFormat::UnixNano,
            "rfc3339" => TimeFormat::Rfc3339,
            "rfc3339_nano" => TimeFormat::Rfc3339Nano,
            other => {
                return Err(format!(
                    "expected unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano, found `{other}`"
                ));
            }
        })
    }

    /// A time in µs since 1970 (UTC).
    fn write(self, unix_us: u64) -> String {
        match self {
            TimeFormat::Unix => (unix_us / 1_000_000).to_string(),
            TimeFormat::UnixMilli => (unix_us / 1_000).to_string(),
            TimeFormat::UnixMicro => unix_us.to_string(),
            TimeFormat::UnixNano => (unix_us * 1_000).to_string(),
            TimeFormat::Rfc3339 => rfc_3339(unix_us - unix_us % 1_000_000).replace(".000000", ""),
            TimeFormat::Rfc3339Nano => rfc_3339(unix_us),
        }
    }
}

/// The first line of the file, without its end. `columns` are the tags that have one.
pub(super) fn head(columns: &[&str]) -> String {
    format!(
        "metric_name,timestamp,metric_value,{}extra_tags,metadata",
        columns.iter().map(|own| format!("{own},")).collect::<String>()
    )
}

/// A value of a metric, without the end of the line.
pub(super) fn point(own: &Point<'_>, columns: &[&str], format: TimeFormat) -> String {
    let Point { metric, unix_us, value, tags, metadata } = own;
    let mut line = format!("{},{},{value:.6}", quoted(metric.name), format.write(*unix_us));
    for column in columns {
        let own = tags.iter().find(|(tag, _)| tag == column);
        line.push(',');
        line += &own.map_or(Cow::Borrowed(""), |(_, value)| quoted(value));
    }
    let rest = pairs(tags.iter().filter(|(tag, _)| !columns.contains(tag)));
    let metadata = pairs(metadata.iter());
    line + "," + &quoted(&rest) + "," + &quoted(&metadata)
}

/// Keys with their values, as in `team=a&zone=b`.
fn pairs<'p>(all: impl Iterator<Item = &'p (&'p str, Cow<'p, str>)>) -> String {
    all.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
}

/// A cell (RFC 4180), in which control characters are escaped: a point is one line.
fn quoted(text: &str) -> Cow<'_, str> {
    let text = squall_base::escape_control(text);
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_format() {
        let at = 951_827_696_123_456;
        for (name, expected) in [
            ("unix", "951827696"),
            ("unix_milli", "951827696123"),
            ("unix_micro", "951827696123456"),
            ("unix_nano", "951827696123456000"),
            ("rfc3339", "2000-02-29T12:34:56Z"),
            ("rfc3339_nano", "2000-02-29T12:34:56.123456Z"),
        ] {
            assert_eq!(TimeFormat::parse(name).expect(name).write(at), expected);
        }
    }
}
