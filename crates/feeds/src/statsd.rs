//! StatsD: lines over UDP, with tags as DogStatsD writes them, which StatsD itself understands from version 0.9. There is no
//! receipt, and what is sent twice counts twice: nothing is sent again, and what the receiver's kernel drops is not known.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use crate::address::connect;
use crate::outbox::{DeliveryError, Receiver};
use crate::points::{Point, percent_encoded};
use crate::table::Number;
use crate::timeline::Moment;

/// Most bytes of a datagram: what fits into a packet of 1,500 bytes with room for tunnels.
const DATAGRAM: usize = 1_432;
/// So many datagrams are sent at once, since a socket's buffer at the other end holds about a hundred,
const BURST: usize = 4;
/// and then there is a pause.
const PAUSE: Duration = Duration::from_millis(1);

/// The points of a second: a line for each field. StatsD has no times: a line counts when it arrives.
pub fn encode(_: Moment, points: &[Point]) -> Vec<u8> {
    let mut out = String::new();
    for point in points {
        let tags: Vec<String> = point.tags.iter().map(|(name, value)| tag(name, value)).collect();
        let tags = if tags.is_empty() { String::new() } else { format!("|#{}", tags.join(",")) };
        for (field, number) in &point.fields {
            let _ = write!(out, "{}.{field}:", point.measurement);
            let _ = match number {
                Number::Sum(number) => writeln!(out, "{number}|c{tags}"),
                Number::Amount(number) => writeln!(out, "{number}|c{tags}"),
                // A sign would mean that much more or less than before.
                Number::Level(number) if *number < 0.0 => {
                    writeln!(out, "0|g{tags}\n{}.{field}:{number}|g{tags}", point.measurement)
                }
                Number::Level(number) => writeln!(out, "{number}|g{tags}"),
            };
        }
    }
    out.into_bytes()
}

fn tag(name: &str, value: &str) -> String {
    format!("{}:{}", escaped(name).replace(':', "%3A"), escaped(value))
}

/// A name or value of a tag: what StatsD gives a meaning to is percent-encoded.
fn escaped(text: &str) -> String {
    let has_meaning = |c| matches!(c, ',' | '|' | '#' | ';' | '=' | '%' | ' ');
    percent_encoded(text, |_, c| has_meaning(c) || c.is_ascii_control())
}

/// Whole lines of so many bytes at most, or one that is longer.
fn datagrams(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let fits = &bytes[..bytes.len().min(DATAGRAM)];
        let is_end = |byte: &u8| *byte == b'\n';
        let end = match fits.len() == bytes.len() {
            true => None,
            false => fits.iter().rposition(is_end).or_else(|| bytes.iter().position(is_end)),
        };
        let (head, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        bytes = rest;
        (!head.is_empty()).then_some(head)
    })
}

/// Where lines are sent.
pub struct Lines {
    address: String,
    /// Once the host was found.
    socket: Option<UdpSocket>,
}

impl Lines {
    /// To a host and port.
    pub fn new(address: &str) -> Lines {
        Lines { address: address.to_owned(), socket: None }
    }

    fn connected(&mut self) -> io::Result<&UdpSocket> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => connect(&self.address, socket)?,
        };
        Ok(self.socket.insert(socket))
    }
}

fn socket(to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(to).map(|()| socket)
}

/// Sends a datagram. The kernel says with the next one that nobody took one before: then this one is sent again.
fn send(socket: &UdpSocket, bytes: &[u8]) -> io::Result<()> {
    match socket.send(bytes) {
        Ok(_) => Ok(()),
        Err(error) => socket.send(bytes).and(Err(error)),
    }
}

/// Sends lines, so slowly that the other end can take them.
fn send_all(socket: &UdpSocket, bytes: &[u8]) -> io::Result<()> {
    let mut result = Ok(());
    for (index, datagram) in datagrams(bytes).enumerate() {
        if index % BURST == BURST - 1 {
            std::thread::sleep(PAUSE);
        }
        result = result.and(send(socket, datagram));
    }
    // On one machine it is known at once that nobody listens.
    let refused = socket.take_error().unwrap_or_else(Some);
    result.and(refused.map_or(Ok(()), Err))
}

impl Receiver for Lines {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        let sent = self.connected().and_then(|socket| send_all(socket, bytes));
        sent.map_err(DeliveryError::lost)
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
        let tags = "|#kind:request,scenario:buyer,group:shop%20/%20pay,name:GET%20/a%20b,team:a,tag_kind:x,env:a\n";
        assert!(text.contains(&format!("squall_requests.count:3|c{tags}")), "{text}");
        assert!(text.contains(&format!("squall_requests.latency_max_us:3000|g{tags}")), "{text}");
        assert!(text.starts_with("squall_load.users_active:6|g|#env:a\n"), "{text}");
        let text = encode(at, &points(&example(), &Vec::new()));
        assert!(text.starts_with(b"squall_load.users_active:6|g\n"));
    }

    #[test]
    fn nothing_in_a_tag_ends_it() {
        assert_eq!(tag("a:b", "c:d,e|#f;g=h i%\n"), "a%3Ab:c:d%2Ce%7C%23f%3Bg%3Dh%20i%25%0A");
    }

    #[test]
    fn datagrams_are_whole_lines() {
        let line = |bytes: usize| [vec![b'a'; bytes - 1], vec![b'\n']].concat();
        let text = [line(1_000), line(432), line(1), line(2_000), line(1_432), line(7)].concat();
        let sizes: Vec<usize> = datagrams(&text).map(<[u8]>::len).collect();
        assert_eq!(sizes, [1_432, 1, 2_000, 1_432, 7]);
        assert_eq!(datagrams(&text).collect::<Vec<_>>().concat(), text);
        assert_eq!(datagrams(b"").count(), 0);
    }

    #[test]
    fn what_was_scraped_has_the_tag_of_its_monitor() {
        told_of_scraped(encode, |kind, value| {
            format!(
                "squall_metrics.last:{value}|g|#kind:gauge,name:hits,tag_kind:{kind},monitor:db,tag_name:n,tag_scenario:s\n"
            )
        });
    }
}
