//! Graphite: plain text over TCP, with tags (Graphite 1.1 and later). The protocol has no receipt but the orderly end of a
//! connection, so each second has a connection of its own: what its receiver resets is sent again, and takes the place of what
//! was, since Graphite keeps one value for a series and a second. A receiver that does not end the connection has taken what
//! could be sent; it is not waited for again.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::address::connect;
use crate::outbox::{ATTEMPT, DeliveryError, Receiver};
use crate::points::{Point, percent_encoded};
use crate::table::Number;
use crate::timeline::Moment;

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

/// How long a receiver may take to end the connection, and how long once one has not done so.
const PATIENCE: Duration = Duration::from_secs(2);
const IMPATIENCE: Duration = Duration::from_millis(20);

/// A receiver of the plain text protocol.
pub struct Carbon {
    address: String,
    patience: Duration,
}

impl Carbon {
    /// At a host and port.
    pub fn new(address: &str) -> Carbon {
        Carbon { address: address.to_owned(), patience: PATIENCE }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let to = |address| TcpStream::connect_timeout(&address, ATTEMPT);
        let mut stream = connect(&self.address, to)?;
        stream.set_write_timeout(Some(ATTEMPT))?;
        stream.write_all(bytes)?;
        stream.shutdown(Shutdown::Write)?;
        if !ends(&mut stream, self.patience)? {
            self.patience = IMPATIENCE;
        }
        Ok(())
    }
}

/// Whether the other side ends a connection in time; what it says is nothing to us.
///
/// # Errors
/// It resets the connection, as who closes with something unread does.
fn ends(stream: &mut TcpStream, patience: Duration) -> io::Result<bool> {
    let until = Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut [0; 512]) {
            Ok(0) => return Ok(true),
            Ok(_) => {}
            // Squall was stopped, and goes on; or the time is up.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
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
    use crate::points::{
        points,
        tests::{example, told_of_scraped},
    };

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

    #[test]
    fn what_was_scraped_has_the_tag_of_its_monitor() {
        told_of_scraped(encode, |kind, value| {
            format!(
                "squall_metrics.last;kind=gauge;name=hits;tag_kind={kind};monitor=db;tag_name=n;tag_scenario=s {value} 1700000004\n"
            )
        });
    }
}
