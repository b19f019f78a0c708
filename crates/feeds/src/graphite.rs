//! Graphite: plain text over TCP, with tags (Graphite 1.1 and later). The protocol has no receipt but the orderly end of a
//! connection, so each second has a connection of its own: what was not read to its end is sent again, and takes the place
//! of what was, since Graphite keeps one value for a series and a second.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use crate::address::connect;
use crate::feed::Moment;
use crate::outbox::{ATTEMPT, DeliveryError, Receiver};
use crate::points::{Point, percent_encoded};
use crate::table::Number;

/// The points of a second: a line for each field.
pub fn encode(at: Moment, points: &[Point]) -> Vec<u8> {
    let mut out = String::new();
    // Graphite's times are whole seconds.
    let time = at.unix_s as u64;
    for point in points {
        let mut tags = String::new();
        for (name, value) in &point.tags {
            let _ = write!(tags, ";{}={}", escaped(name), escaped(value));
        }
        for (field, number) in &point.fields {
            let _ = write!(out, "{}.{field}{tags} ", point.measurement);
            let _ = match number {
                Number::Sum(number) => writeln!(out, "{number} {time}"),
                Number::Amount(number) | Number::Level(number) => {
                    writeln!(out, "{number} {time}")
                }
            };
        }
    }
    out.into_bytes()
}

/// A name or value of a tag: what Graphite gives a meaning to is percent-encoded, so that different ones stay different.
pub fn escaped(text: &str) -> String {
    percent_encoded(text, |index, c| {
        let has_meaning = matches!(c, ';' | '=' | '!' | '^' | '%') || index == 0 && c == '~';
        has_meaning || c.is_whitespace() || c.is_control()
    })
}

/// A receiver of the plain text protocol.
pub struct Carbon(String);

impl Carbon {
    /// At a host and port.
    pub fn new(address: &str) -> Carbon {
        Carbon(address.to_owned())
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = connect(&self.0, |address| TcpStream::connect_timeout(&address, ATTEMPT))?;
        stream.set_write_timeout(Some(ATTEMPT))?;
        stream.set_read_timeout(Some(ATTEMPT))?;
        stream.write_all(bytes)?;
        stream.shutdown(Shutdown::Write)?;
        // Who closes with something unread resets the connection. A read that a signal interrupts (squall was stopped, and goes
        // on) is begun again.
        io::copy(&mut stream, &mut io::sink()).map(drop)
    }
}

impl Receiver for Carbon {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        self.send(bytes).map_err(DeliveryError::again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{points, tests::example};

    #[test]
    fn a_number_is_a_line() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let text = encode(at, &points(&example(), &vec![("env".to_owned(), "a".to_owned())]));
        let text = String::from_utf8(text).expect("text");
        let row = "squall_requests.count;kind=request;scenario=buyer;group=shop%20/%20pay;name=GET%20/a%20b;\
                   team=a;tag_kind=x;env=a 3 1700000004\n";
        assert!(text.contains(row), "{text}");
        assert!(text.starts_with("squall_load.users_active;env=a 6 1700000004\n"), "{text}");
        assert!(text.lines().all(|line| line.split(' ').count() == 3), "{text}");
    }

    #[test]
    fn different_texts_stay_different() {
        assert_eq!(escaped("a b;c=d"), "a%20b%3Bc%3Dd");
        assert_eq!(escaped("~a~%20\n"), "%7Ea~%2520%0A");
    }
}
