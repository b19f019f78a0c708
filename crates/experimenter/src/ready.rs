//! Whether a server is ready, asked from outside, with the least means: a server is to see nothing of it that a run would
//! not send.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;

use crate::logs::has_line;

/// How long one question may take: it is asked again.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most bytes of a response that are read: its first line.
const FIRST_LINE: usize = 256;

/// How it is seen that a server is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyCheck {
    /// It answers a GET with a status below 400.
    Http(Place),
    /// It accepts connections.
    Tcp(Place),
    /// It prints a line with this text in it.
    Output(String),
    /// So much time has passed.
    After(Duration),
}

impl ReadyCheck {
    /// Asks once, so long after the start of a server that prints to a log. `Err`: why it is not ready, in words.
    pub(crate) fn ask(&self, since: Duration, log: &Path) -> Result<(), String> {
        match self {
            ReadyCheck::After(time) if since >= *time => Ok(()),
            ReadyCheck::After(_) => Err("its time has not passed".to_owned()),
            ReadyCheck::Tcp(place) if place.accepts() => Ok(()),
            ReadyCheck::Tcp(place) => Err(format!("nothing listens at {}", place.host)),
            ReadyCheck::Http(place) => place.get(),
            ReadyCheck::Output(text) if has_line(log, text) => Ok(()),
            ReadyCheck::Output(text) => Err(format!("it has not printed `{text}`")),
        }
    }
}

/// Where a server listens, and what is asked for there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `host:port`.
    pub host: String,
    /// The path of a URL; empty: there is none.
    pub path: String,
}

impl Place {
    /// That of an `http://` URL.
    pub(crate) fn of_url(url: &str) -> Result<Place, String> {
        let Some(rest) = url.strip_prefix("http://") else {
            return Err(format!(
                "`{url}`: expected a URL that begins with http://; of a server with TLS, ask `tcp: host:port`"
            ));
        };
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = if has_port { host.to_owned() } else { format!("{host}:80") };
        match path.chars().any(|c| c.is_control() || c == ' ') {
            true => Err(format!("`{url}`: a URL has no spaces in it")),
            false => Ok(Place { host, path }),
        }
    }

    /// That of a `host:port`.
    pub(crate) fn of_host(text: &str) -> Result<Place, String> {
        match text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
            Some((host, Ok(_))) if !host.is_empty() => {
                Ok(Place { host: text.to_owned(), path: String::new() })
            }
            _ => Err(format!("`{text}`: expected host:port, such as 127.0.0.1:8080")),
        }
    }

    /// Whether somebody listens there.
    pub(crate) fn accepts(&self) -> bool {
        self.connect().is_ok()
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.host.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Asks once. `Err`: why it is not ready, in words.
    pub(crate) fn get(&self) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", self.host);
        let mut stream = self.connect().map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: squall\r\nConnection: close\r\n\r\n",
            self.path, self.host
        );
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let mut line = Vec::new();
        let mut buffer = [0; FIRST_LINE];
        while line.len() < FIRST_LINE && !line.contains(&b'\n') {
            match stream.read(&mut buffer).map_err(failed)? {
                0 => break,
                read => line.extend_from_slice(&buffer[..read]),
            }
        }
        // To the end, so that the server does not see a connection that is reset.
        let _ = io::copy(&mut stream.take(1 << 20), &mut io::sink());
        match status(&line) {
            Some(status) if status < 400 => Ok(()),
            Some(status) => Err(format!("GET {} was answered with status {status}", self.path)),
            None => Err(format!("{} does not speak HTTP", self.host)),
        }
    }
}

/// The status in the first line of a response.
fn status(line: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(line.split(|byte| *byte == b'\n').next()?).ok()?;
    let (version, rest) = text.split_once(' ')?;
    version.starts_with("HTTP/1.").then(|| rest.get(..3)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn places_are_read() {
        let place = |host: &str, path: &str| Ok(Place { host: host.into(), path: path.into() });
        assert_eq!(
            Place::of_url("http://127.0.0.1:30001/health"),
            place("127.0.0.1:30001", "/health")
        );
        assert_eq!(Place::of_url("http://shop"), place("shop:80", "/"));
        assert_eq!(Place::of_url("http://[::1]:81?a=b"), place("[::1]:81", "/?a=b"));
        assert!(Place::of_url("https://shop").is_err_and(|error| error.contains("tcp")));
        assert!(Place::of_url("http://shop/a b").is_err());
        assert_eq!(Place::of_host("db:5432"), place("db:5432", ""));
        assert!(Place::of_host("db").is_err_and(|error| error.contains("host:port")));
    }

    /// What a server that answers with these bytes is said to be.
    fn asked(answer: &'static str) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 1024];
            let read = stream.read(&mut buffer).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&buffer[..read]).into_owned()
        });
        let got = Place { host, path: "/health".into() }.get();
        assert!(server.join().unwrap().starts_with("GET /health HTTP/1.1\r\n"));
        got
    }

    #[test]
    fn a_status_below_400_is_ready() {
        assert_eq!(asked("HTTP/1.1 200 OK\r\n\r\n"), Ok(()));
        assert_eq!(asked("HTTP/1.0 302 Found\r\n\r\n"), Ok(()));
        assert!(asked("HTTP/1.1 503 No\r\n\r\n").is_err_and(|why| why.contains("503")));
        assert!(asked("SSH-2.0\r\n").is_err_and(|why| why.contains("does not speak HTTP")));
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        assert!(!Place { host: nobody.clone(), path: String::new() }.accepts());
        assert!(Place { host: nobody, path: "/".into() }.get().is_err());
    }
}
