//! A connection: its request, and how it is written to within a time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::places::Place;
use crate::request::{Request, Unread, read};

/// How long a single write may wait for a client that does not read.
const STALLED: Duration = Duration::from_secs(5);
/// How long a response with an end may take.
const LONGEST: Duration = Duration::from_secs(60);
/// Most that is written at a time.
const PART: usize = 64 << 10;
/// How long, and how much, what a refused client still sends is read: without that its kernel would throw away the response.
const DRAIN: Duration = Duration::from_millis(500);
const MAX_DRAINED: usize = 1 << 20;

/// A connection with one request.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    place: Option<Place>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, place: Place) -> Connection {
        Connection { stream, place: Some(place) }
    }

    /// Reads the request.
    ///
    /// # Errors
    /// It is not whole in time, too long, or not HTTP/1.
    pub fn request(&mut self) -> Result<Request, Unread> {
        read(&mut self.stream)
    }

    /// The client has shown that it may ask: it has to leave for nobody.
    pub fn admit(&mut self) {
        self.place = None;
    }

    /// Writes a response with an end.
    ///
    /// # Errors
    /// The client has gone away, or does not read.
    pub fn respond(&mut self, bytes: &[u8]) -> io::Result<()> {
        let began = Instant::now();
        for part in bytes.chunks(PART) {
            if began.elapsed() > LONGEST {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.write_all(part)?;
        }
        Ok(())
    }

    /// Writes bytes to a client that may not read.
    ///
    /// # Errors
    /// It has gone away, or has not read for some time.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(STALLED))?;
        let until = Instant::now() + STALLED;
        let mut left = bytes;
        while !left.is_empty() {
            // A client that takes a byte now and then does not read either.
            if Instant::now() > until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.write(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the client ends the connection within a time; what it says is nothing to us.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn ends_within(&mut self, time: Duration) -> io::Result<bool> {
        self.stream.set_read_timeout(Some(time))?;
        match self.stream.read(&mut [0; 64]) {
            Ok(read) => Ok(read == 0),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                Ok(false)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Ends the connection so that the client gets what was written, even if it has sent more than was read.
    pub fn close(mut self) {
        let until = Instant::now() + DRAIN;
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut drained = 0;
        let mut bytes = [0; 4 << 10];
        while drained < MAX_DRAINED {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return;
            }
            match self.stream.read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(read) => drained += read,
            }
        }
    }
}
