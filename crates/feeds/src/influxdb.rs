//! InfluxDB's line protocol over HTTP, of versions 1 and 2: a point is a line, a second is a request. A second that is
//! sent again takes the place of itself, since a point is identified by its measurement, tags and time.

use std::fmt::Write as _;
use std::io;

use squall_plan::feed_target::FeedTarget;

use crate::http::Poster;
use crate::outbox::{DeliveryError, Receiver};
use crate::points::{Point, percent_encoded};
use crate::table::Number;
use crate::timeline::Moment;

/// The points of a second; times in ns, as InfluxDB takes them if nothing else is said.
pub fn encode(at: Moment, points: &[Point]) -> Vec<u8> {
    let mut out = String::new();
    // Microseconds are what a float of this size still has.
    let time = (at.unix_s * 1e6).round() as u64 * 1_000;
    for point in points {
        let tags = point.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields = point.fields.iter().map(|(field, number)| match number {
            Number::Sum(number) => (*field, FieldValue::Count(*number)),
            Number::Amount(number) | Number::Level(number) => (*field, FieldValue::Float(*number)),
        });
        line(&mut out, point.measurement, tags, fields, time);
    }
    out.into_bytes()
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldValue<'f> {
    Count(u64),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(&'f str),
}

/// Adds a line: a point with at least one field, at a time in ns. Tags that are empty are left out, as the protocol has none such.
pub fn line<'l>(
    out: &mut String,
    measurement: &str,
    tags: impl Iterator<Item = (&'l str, &'l str)>,
    fields: impl Iterator<Item = (&'l str, FieldValue<'l>)>,
    time: u64,
) {
    out.push_str(measurement);
    for (name, value) in tags.filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, ",{}={}", escaped(name), escaped(value));
    }
    for (index, (field, value)) in fields.enumerate() {
        out.push(if index == 0 { ' ' } else { ',' });
        // Writing to a String cannot fail.
        let _ = write!(out, "{}=", escaped(field));
        let _ = match value {
            FieldValue::Count(number) => write!(out, "{number}i"),
            FieldValue::Integer(number) => write!(out, "{number}i"),
            FieldValue::Float(number) => write!(out, "{number}"),
            FieldValue::Bool(value) => write!(out, "{value}"),
            FieldValue::Text(text) => write!(out, "\"{}\"", quoted(text)),
        };
    }
    let _ = writeln!(out, " {time}");
}

/// A text within quotes. It stays one line.
fn quoted(text: &str) -> String {
    let text = percent_encoded(text, |_, c| c.is_ascii_control());
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A name or value of a tag. The protocol has no way to write a line end, or a backslash before one of its own
/// characters: these are percent-encoded.
fn escaped(text: &str) -> String {
    let mut out = percent_encoded(text, |_, c| c == '\\' || c.is_ascii_control());
    for c in [",", "=", " "] {
        out = out.replace(c, &format!("\\{c}"));
    }
    out
}

pub struct Writes {
    poster: Poster,
    /// What makes the database, until it was asked once.
    create: Option<Poster>,
}

impl Writes {
    /// To a URL that takes writes. Without a token of its own that of the environment is taken, if there is one.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn new(target: &FeedTarget) -> io::Result<Writes> {
        let poster = Poster::new(target, "text/plain; charset=utf-8")?;
        Ok(Writes { poster: poster.authorized(target, "Token"), create: None })
    }

    /// The same, to a database of version 1 that is made before the first write, if it is not there and may be made: `create`
    /// is the URL that does so.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn creating(target: &FeedTarget, create: &str) -> io::Result<Writes> {
        let create = FeedTarget { to: create.to_owned(), ..target.clone() };
        let poster = Poster::new(&create, "application/x-www-form-urlencoded")?;
        let create = Some(poster.authorized(&create, "Token"));
        Ok(Writes { create, ..Writes::new(target)? })
    }
}

impl Receiver for Writes {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        if let Some(create) = &self.create {
            // It is there already, or whoever writes may not make one: the write shows whether that matters.
            let asked = create.post(&[]);
            if !matches!(asked, Err(DeliveryError::Again(_))) {
                self.create = None;
            }
        }
        self.poster.post(bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{
        points,
        tests::{example, told_of_scraped},
    };

    #[test]
    fn a_point_is_a_line() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let text = String::from_utf8(encode(at, &points(&example(), &Vec::new()))).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert!(lines[0].starts_with("squall_load users_active=6,iterations_started=0i,"));
        let row = "squall_requests,kind=request,scenario=buyer,group=shop\\ /\\ pay,name=GET\\ /a\\ b,team=a,\
                   tag_kind=x count=3i,errors=1i,not_sent=0i,cut_off=0i,retries=0i,\
                   bytes_in=70i,bytes_out=7i,latency_mean_us=";
        assert!(lines[1].starts_with(row), "{}", lines[1]);
        assert!(lines.iter().all(|line| line.ends_with(" 1700000004250000000")), "{text}");
    }

    #[test]
    fn nothing_in_a_tag_or_a_text_ends_it() {
        assert_eq!(escaped("a,b=c d\\\n"), "a\\,b\\=c\\ d%5C%0A");
        let mut out = String::new();
        let tags = [("a", ""), ("b", "c")];
        let fields = [
            ("t", FieldValue::Text("a\"\\b\n")),
            ("i", FieldValue::Integer(-1)),
            ("b", FieldValue::Bool(true)),
            ("v", FieldValue::Float(1.5)),
        ];
        line(&mut out, "m", tags.into_iter(), fields.into_iter(), 7);
        assert_eq!(out, "m,b=c t=\"a\\\"\\\\b%0A\",i=-1i,b=true,v=1.5 7\n");
    }

    #[test]
    fn what_was_scraped_has_the_tag_of_its_monitor() {
        told_of_scraped(encode, |kind, value| {
            format!(
                "squall_metrics,kind=gauge,name=hits,tag_kind={kind},monitor=db,tag_name=n,tag_scenario=s count=1i,last={value},"
            )
        });
    }
}
