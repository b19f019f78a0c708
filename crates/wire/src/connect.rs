//! Makes connections: looks up the name, connects, goes through the proxy, shakes hands.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, UnixStream};

use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::exchange::Connection;
use crate::h1::{Parsed, ResponseParser};
use crate::origin::Origin;
use crate::progress::{Phase, Progress};
#[cfg(target_os = "linux")]
use crate::ring::Socket;
use crate::settings::{Proxy, unique};
use crate::stream::{Plain, Stream, Tcp};
use crate::tls;

/// How long the parts of making a connection took, in nanoseconds; `None`: there was no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectTimes {
    /// When it was begun, in nanoseconds on the client's clock.
    pub begin_ns: u64,
    /// Looking up the name; none for names known before the run.
    pub dns_ns: Option<u64>,
    /// Connecting, a proxy's CONNECT included.
    pub connect_ns: Option<u64>,
    /// The TLS handshake.
    pub tls_ns: Option<u64>,
}

/// A connection and what it took, or why there is none.
pub type Connected = Result<(Connection, ConnectTimes), Error>;

/// Largest response of a proxy to CONNECT.
const MAX_PROXY_RESPONSE: usize = 64 << 10;

/// Makes a connection to an origin.
///
/// Where a name has several addresses they are used in turn, one a connection, and the next ones are
/// tried if the first refuses. The future is boxed, so that whoever waits for it stays small.
///
/// `window`: for one who reads slower than the network is, most bytes that may lie unread in the
/// kernel, so that the other side gets to feel it.
///
/// # Errors
/// The name has no address, nobody responses there, or the handshake fails.
pub fn connect<'a>(
    client: &'a Client,
    origin: &'a Origin,
    progress: &'a Progress,
    window: Option<u32>,
) -> Pin<Box<dyn Future<Output = Connected> + 'a>> {
    Box::pin(async move {
        // Connections outside the ring need tokio to look at their sockets.
        let in_tokio = !client.has_ring() || window.is_some();
        let _in_tokio = in_tokio.then(|| client.in_tokio());
        let begin_ns = client.clock().now();
        let mut times = ConnectTimes { begin_ns, ..ConnectTimes::default() };
        let plain = reach(client, origin, progress, window, &mut times).await?;
        if !origin.is_tls() {
            return Ok((Connection::new(Stream::from(plain)), times));
        }
        progress.set(Phase::Tls);
        let begin = client.clock().now();
        let name = tls::server_name(&client.shared.settings.tls, origin)?;
        let stream =
            client.shared.tls.connect(name, plain).await.map_err(|error| tls::failed(&error))?;
        times.tls_ns = Some(client.clock().now() - begin);
        Ok((Connection::new(Stream::Tls(Box::new(stream))), times))
    })
}

/// A byte stream to an origin, TLS not yet begun.
async fn reach(
    client: &Client,
    origin: &Origin,
    progress: &Progress,
    window: Option<u32>,
    times: &mut ConnectTimes,
) -> Result<Plain, Error> {
    let settings = &client.shared.settings;
    if let Some(path) = &settings.unix {
        progress.set(Phase::Connect);
        let begin = client.clock().now();
        let _in_tokio = client.in_tokio();
        let stream = UnixStream::connect(path).await;
        times.connect_ns = Some(client.clock().now() - begin);
        return stream
            .map(Plain::Unix)
            .map_err(|error| Error::connect(&error, &path.display().to_string()));
    }
    let (host, port) = match &settings.proxy {
        Some(proxy) => (proxy.host.as_str(), proxy.port),
        None => (&*origin.host, origin.port),
    };
    let addresses = addresses(client, host, port, progress, times).await?;
    progress.set(Phase::Connect);
    let begin = client.clock().now();
    let mut stream = dial(client, &addresses, window).await?;
    if let Some(proxy) = settings.proxy.as_ref().filter(|_| origin.is_tls()) {
        tunnel(&mut stream, proxy, origin).await?;
    }
    times.connect_ns = Some(client.clock().now() - begin);
    Ok(stream)
}

/// The addresses of a name: what the user gave, what was looked up before the run, or what is looked
/// up now, once.
async fn addresses(
    client: &Client,
    host: &str,
    port: u16,
    progress: &Progress,
    times: &mut ConnectTimes,
) -> Result<Rc<[SocketAddr]>, Error> {
    if let Some(given) = client.shared.overridden(host, port) {
        return Ok(given);
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(Rc::new([SocketAddr::new(address, port)]));
    }
    let key = format!("{host}:{port}");
    if let Some(found) = client.late.borrow().get(&key) {
        return Ok(found.clone());
    }
    if let Some(found) = client.shared.addresses.get(&key) {
        let found: Rc<[SocketAddr]> = found.as_slice().into();
        client.late.borrow_mut().insert(key, found.clone());
        return Ok(found);
    }
    progress.set(Phase::Dns);
    let begin = client.clock().now();
    let found = tokio::net::lookup_host((host, port)).await;
    times.dns_ns = Some(client.clock().now() - begin);
    let found = found.map_err(|error| Error::new(ErrorKind::Dns, format!("{host}: {error}")))?;
    let found: Rc<[SocketAddr]> = unique(found).into();
    client.late.borrow_mut().insert(key, found.clone());
    Ok(found)
}

/// Connects to one of several addresses: the next one in turn first.
async fn dial(
    client: &Client,
    addresses: &[SocketAddr],
    window: Option<u32>,
) -> Result<Plain, Error> {
    let number = client.next_connection_number();
    let mut last = Error::new(ErrorKind::Dns, "the name has no address");
    for at in 0..addresses.len() {
        let to = addresses[(number + at) % addresses.len()];
        match dial_one(client, to, client.source(to, number), window).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Error::connect(&error, &to.to_string()),
        }
    }
    Err(last)
}

async fn dial_one(
    client: &Client,
    to: SocketAddr,
    from: Option<IpAddr>,
    window: Option<u32>,
) -> io::Result<Plain> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Requests are sent whole: there is nothing that Nagle's algorithm could gather.
    socket.set_nodelay(true)?;
    // A socket that cannot be stamped is as good as any: its delays just stay unknown.
    #[cfg(target_os = "linux")]
    let _ = crate::sys::stamp_arrivals(&socket);
    // Where the kernel does not know this it goes its own way.
    #[cfg(target_os = "linux")]
    let _ = client.shared.settings.ports.map(|range| crate::sys::ports_in_turn(&socket, range));
    if let Some(from) = from {
        bind(&socket, from)?;
    }
    if let Some(window) = window {
        #[cfg(target_os = "linux")]
        crate::sys::clamp_window(&socket, window)?;
        #[cfg(not(target_os = "linux"))]
        socket.set_recv_buffer_size(window)?;
    }
    // A ring takes all that arrives, whoever reads it or not: that is nothing for one who reads slowly.
    #[cfg(target_os = "linux")]
    if let Some(ring) = client.ring().filter(|_| window.is_none()) {
        let socket = Socket::connect(ring, crate::sys::blocking(socket)?, to).await?;
        return Ok(Plain::Ring(socket, None));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = client;
    Ok(Plain::Tcp(Tcp::new(socket.connect(to).await?)))
}

/// Binds to a source address. The port is left to `connect`, which can use one toward each
/// destination, and not just one a source address (ip(7), IP_BIND_ADDRESS_NO_PORT).
fn bind(socket: &TcpSocket, from: IpAddr) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    crate::sys::leave_port_to_connect(socket)?;
    socket.bind(SocketAddr::new(from, 0))
}

/// Asks a proxy for a tunnel to an origin (RFC 9110, section 9.3.6).
async fn tunnel(stream: &mut Plain, proxy: &Proxy, origin: &Origin) -> Result<(), Error> {
    let to = origin.host_and_port();
    let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
    if let Some(value) = proxy.authorization() {
        request.push_str(&format!("Proxy-Authorization: {value}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| Error::io(&error))?;
    let (mut held, mut parser) = (Vec::new(), ResponseParser::new(true));
    loop {
        let mut piece = [0; 1024];
        // The proxy is silent after its head until it is spoken to: nothing of the tunnel is lost.
        let read = stream.read(&mut piece).await.map_err(|error| Error::io(&error))?;
        if read == 0 || held.len() > MAX_PROXY_RESPONSE {
            return Err(Error::new(ErrorKind::Proxy, "the proxy gave no response to CONNECT"));
        }
        held.extend_from_slice(&piece[..read]);
        if let Parsed::Head { .. } = parser.feed(&held, &mut |_| ()).map_err(Error::malformed)? {
            return match parser.head().map_or(0, |head| head.status) {
                200..=299 => Ok(()),
                status => Err(Error::new(
                    ErrorKind::Proxy,
                    format!("the proxy says {status} to CONNECT {to}"),
                )),
            };
        }
    }
}
