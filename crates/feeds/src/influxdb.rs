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
        out.push_str(point.measurement);
        for (name, value) in &point.tags {
            let _ = write!(out, ",{}={}", escaped(name), escaped(value));
        }
        for (index, (field, number)) in point.fields.iter().enumerate() {
            out.push(if index == 0 { ' ' } else { ',' });
            let _ = match number {
                Number::Sum(number) => write!(out, "{field}={number}i"),
                Number::Amount(number) | Number::Level(number) => {
                    write!(out, "{field}={number}")
                }
            };
        }
        let _ = writeln!(out, " {time}");
    }
    out.into_bytes()
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

pub struct Writes(Poster);

impl Writes {
    /// To a URL that takes writes. Without a token of its own that of the environment is taken, if there is one.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn new(target: &FeedTarget) -> io::Result<Writes> {
        let poster = Poster::new(&target.to, "text/plain; charset=utf-8")?;
        Ok(Writes(poster.authorized(target, "Token")))
    }
}

impl Receiver for Writes {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        self.0.post(bytes).map(drop)
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
    fn nothing_in_a_tag_ends_it() {
        assert_eq!(escaped("a,b=c d\\\n"), "a\\,b\\=c\\ d%5C%0A");
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
