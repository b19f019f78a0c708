//! Lines of `--out csv`: a column for each tag that k6 has itself, and one for all others. Pure.

use std::borrow::Cow;

use super::point::Point;

/// The columns of tags, in order.
const TAGS: [&str; 13] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
];
/// The last column of a tag.
const URL: &str = "url";

/// The first line of the file, without its end.
pub(super) fn head() -> String {
    let tags = TAGS.join(",");
    format!("metric_name,timestamp,metric_value,{tags},{URL},extra_tags,metadata")
}

/// A value of a metric, without the end of the line. Times are whole seconds since 1970 (UTC).
pub(super) fn point(own: &Point<'_>) -> String {
    let Point { metric, unix_us, value, tags, metadata } = own;
    let mut line = format!("{},{},{value:.6}", quoted(metric.name), unix_us / 1_000_000);
    for column in TAGS.iter().chain([&URL]) {
        let own = tags.iter().find(|(tag, _)| tag == column);
        line.push(',');
        line += &own.map_or(Cow::Borrowed(""), |(_, value)| quoted(value));
    }
    let has_column = |tag: &str| TAGS.contains(&tag) || tag == URL;
    let rest = pairs(tags.iter().filter(|(tag, _)| !has_column(tag)));
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
