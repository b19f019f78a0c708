//! Listening sockets: bind them, accept from them, deal the connections out to the workers.
//!
//! One listener serves all workers, and its connections are dealt out in turn. The alternative, a
//! listener a thread with `SO_REUSEPORT`, lets the kernel choose by hash: 64 connections on two
//! threads then split like coin tosses, often 38 to 26, and a target that is busy on one side
//! bends what is measured. Dealing costs one queue entry a connection, and accepting is far from
//! the limit of the one worker that does it.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream as StdTcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rustix::net::{SocketFlags, accept_with};
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::mpsc::UnboundedSender;

use crate::clock::Timers;
use crate::transport::Plain;
use crate::watched::Watched;

/// Connections that the kernel holds until they are accepted (it may allow fewer).
const BACKLOG: i32 = 8192;

/// Connections accepted in a row before other work has its turn.
const ACCEPT_BATCH: usize = 64;

/// The wait after an accept failed for want of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Where a server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and port of TCP.
    Tcp {
        /// The address, with its real port.
        socket: SocketAddr,
        /// Whether TLS is spoken here.
        tls: bool,
    },
    Unix {
        path: PathBuf,
        /// Whether TLS is spoken here.
        tls: bool,
    },
}

impl Address {
    /// The base URL, without a slash at its end: `http://127.0.0.1:8080`, `https://[::1]:8443`,
    /// `unix:/path`. An address that means "any" is given as the loopback address.
    pub fn url(&self) -> String {
        match self {
            Address::Tcp { socket, tls } => {
                let mut socket = *socket;
                match socket {
                    SocketAddr::V4(v4) if v4.ip().is_unspecified() => {
                        socket.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
                    }
                    SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
                        socket.set_ip(std::net::Ipv6Addr::LOCALHOST.into());
                    }
                    _ => {}
                }
                format!("{}://{socket}", if *tls { "https" } else { "http" })
            }
            Address::Unix { path, .. } => format!("unix:{}", path.display()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url())
    }
}

pub(crate) struct Listener {
    fd: OwnedFd,
    address: Address,
    file: Option<SocketFile>,
}

/// The file of a Unix socket, removed when nobody listens on it any more.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have removed it, which is as well.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Listens on `text`: `host:port` or `unix:/path`.
    pub(crate) fn bind(text: &str, tls: bool) -> io::Result<Self> {
        match text.strip_prefix("unix:") {
            Some(path) => Self::bind_unix(Path::new(path), tls),
            None => Self::bind_tcp(text, tls),
        }
    }

    fn bind_tcp(text: &str, tls: bool) -> io::Result<Self> {
        let shape = "expected 'host:port', such as 127.0.0.1:0 or [::1]:8080, or 'unix:/path'";
        let wrong = |why: &dyn fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{shape} ({why})"))
        };
        let mut addresses = text.to_socket_addrs().map_err(|e| wrong(&e))?;
        let address = addresses.next().ok_or_else(|| wrong(&"the name could not be resolved"))?;
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        // Inherited by the accepted sockets, on Linux.
        socket.set_tcp_nodelay(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let socket: std::net::TcpListener = socket.into();
        let address = Address::Tcp { socket: socket.local_addr()?, tls };
        Ok(Listener { fd: socket.into(), address, file: None })
    }

    fn bind_unix(path: &Path, tls: bool) -> io::Result<Self> {
        remove_dead_socket(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SockAddr::unix(path)?)?;
        socket.listen(BACKLOG)?;
        let address = Address::Unix { path: path.into(), tls };
        let file = Some(SocketFile(path.into()));
        Ok(Listener { fd: socket.into(), address, file })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }
}

/// Removes the file of a Unix socket on which nobody listens any more. Whatever else is there
/// stays, and `bind` will say that the address is in use.
fn remove_dead_socket(path: &Path) -> io::Result<()> {
    let is_socket = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    if is_socket && StdUnixStream::connect(path).is_err() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// A connection on its way to a worker.
pub(crate) struct Accepted {
    fd: OwnedFd,
    is_unix: bool,
    pub(crate) id: u64,
}

impl Accepted {
    /// Registers the socket with this thread's event loop.
    pub(crate) fn into_plain(self) -> io::Result<Plain> {
        if self.is_unix {
            return Ok(Plain::Unix(UnixStream::from_std(StdUnixStream::from(self.fd))?));
        }
        Ok(Plain::Tcp(TcpStream::from_std(StdTcpStream::from(self.fd))?))
    }
}

pub(crate) enum Order {
    Serve(Accepted),
    Stop,
}

/// Deals connections out to the workers, in turn.
pub(crate) struct Dealer {
    workers: Vec<UnboundedSender<Order>>,
    dealt: Cell<u64>,
}

impl Dealer {
    pub(crate) fn new(workers: Vec<UnboundedSender<Order>>) -> Self {
        Dealer { workers, dealt: Cell::new(0) }
    }

    fn deal(&self, fd: OwnedFd, is_unix: bool) {
        let id = self.dealt.get() + 1;
        self.dealt.set(id);
        let turn = (id % self.workers.len() as u64) as usize;
        // A worker that has stopped takes no more; the socket closes.
        let _ = self.workers[turn].send(Order::Serve(Accepted { fd, is_unix, id }));
    }
}

/// Accepts connections for ever. One task for each listener, all on the first worker.
pub(crate) async fn accept(
    listener: Listener,
    dealer: Rc<Dealer>,
    timers: &Timers,
) -> io::Result<()> {
    let Listener { fd, file, .. } = listener;
    let watched = Watched::new(fd)?;
    loop {
        let mut ready = watched.readable().await?;
        for _ in 0..ACCEPT_BATCH {
            match accept_with(&watched, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(fd) => dealer.deal(fd, file.is_some()),
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    ready.clear_ready();
                    break;
                }
                // The client went away before it was accepted.
                Err(rustix::io::Errno::CONNABORTED | rustix::io::Errno::INTR) => {}
                Err(_) => {
                    let later = std::time::Instant::now() + ACCEPT_PAUSE;
                    timers.sleep_until(later).await?;
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (socket, tls, url) in [
            ("127.0.0.1:80", false, "http://127.0.0.1:80"),
            ("0.0.0.0:81", false, "http://127.0.0.1:81"),
            ("[::]:82", true, "https://[::1]:82"),
        ] {
            let address = Address::Tcp { socket: socket.parse().unwrap(), tls };
            assert_eq!(address.url(), url);
        }
        let address = Address::Unix { path: "/tmp/x".into(), tls: false };
        assert_eq!(address.to_string(), "unix:/tmp/x");
    }

    #[test]
    fn a_wrong_address_says_what_is_expected() {
        let Err(error) = Listener::bind("nonsense", false) else { panic!("bound") };
        assert!(error.to_string().contains("host:port"), "{error}");
    }

    #[test]
    fn connections_are_dealt_in_turn() {
        let (senders, mut receivers): (Vec<_>, Vec<_>) =
            (0..3).map(|_| tokio::sync::mpsc::unbounded_channel()).unzip();
        let dealer = Dealer::new(senders);
        for _ in 0..30 {
            dealer.deal(std::fs::File::open("/dev/null").unwrap().into(), false);
        }
        for receiver in &mut receivers {
            receiver.close();
            assert_eq!(std::iter::from_fn(|| receiver.blocking_recv()).count(), 10);
        }
    }
}
