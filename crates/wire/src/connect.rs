//! Makes connections: looks up the name, connects, goes through the proxy, shakes hands.

mod allowed;
mod tunnel;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;

use tokio::net::{TcpSocket, UnixStream};

use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::exchange::Connection;
use crate::http2::Session;
use crate::link::{Link, Tcp, TokioIo};
use crate::origin::Origin;
use crate::progress::{Phase, Progress};
use crate::resolve::unique;
use crate::ring::Socket;
use crate::settings::{Http, plain_http2};
use crate::via::Via;
use crate::{sys, tls};

/// How long the parts of making a connection took, in nanoseconds; `None`: there was no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectTimes {
    /// When it was begun, in nanoseconds on the client's clock: with looking up the name, or else with
    /// the first connecting.
    pub begin_ns: u64,
    /// When the connecting that succeeded was begun: when `connect` was given to the kernel, and the SYN
    /// was sent.
    pub connect_begin_ns: u64,
    /// Looking up the name; none for names known before the run.
    pub dns_ns: Option<u64>,
    /// Connecting: until the kernel had the connection, whenever this program saw that; behind it a
    /// proxy's CONNECT.
    pub connect_ns: Option<u64>,
    /// From when the kernel had the connection until this program saw it: squall's own delay, which is
    /// in no other part.
    pub delay_ns: u64,
    pub tls_ns: Option<u64>,
}

/// A new connection, in the protocol that it speaks.
#[derive(Debug)]
pub enum Opened {
    /// HTTP/1.1: one request at a time.
    Exclusive(Connection),
    /// HTTP/2: as many as the other side takes.
    Multiplexed(Session),
}

/// A connection and what it took, or why there is none.
pub type Connected = Result<(Opened, ConnectTimes), Error>;

/// Makes a connection to an origin.
///
/// Where a name has several addresses they are used in turn, one a connection, and the next ones are
/// tried if the first refuses. The future is boxed, so that the caller's future stays small.
///
/// `window`: for a throttled user, the most unread bytes allowed in the
/// kernel, so that the other side gets to feel it.
///
/// # Errors
/// The name has no address, nothing listens there, the proxy refuses, or the handshake fails.
pub fn connect<'a>(
    client: &'a Client,
    (origin, via): (&'a Origin, &'a Via),
    progress: &'a Progress,
    window: Option<u32>,
) -> Pin<Box<dyn Future<Output = Connected> + 'a>> {
    Box::pin(async move {
        // Connections outside the ring need tokio to look at their sockets.
        let in_tokio = !client.has_ring() || window.is_some();
        let _in_tokio = in_tokio.then(|| client.in_tokio());
        let mut times = ConnectTimes::default();
        let http = client.shared.settings.http;
        let http2 = http == Http::V2 && origin.is_http();
        if http2 && via.proxy.is_some() && !origin.is_tls() {
            return Err(Error::new(ErrorKind::Proxy, plain_http2(origin)));
        }
        let link = reach(client, (origin, via), progress, window, &mut times).await?;
        if !origin.is_tls() {
            let opened = open(client, link, http2, window).await?;
            return Ok((opened, times));
        }
        progress.set(Phase::Tls);
        let begin = client.clock().now();
        let name = tls::server_name(&client.shared.settings.tls, origin)?;
        let stream = client
            .shared
            .tls
            .of(via.certificate, &origin.host)
            .connect(name, TokioIo::from(link))
            .await;
        let stream = stream.map_err(|error| tls::failed(&error, &client.shared.settings.tls))?;
        times.tls_ns = Some(client.clock().now() - begin);
        let agreed = stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2);
        if http == Http::V2 && !agreed {
            let why = format!("{origin} does not speak HTTP/2 (it chose no `h2` by ALPN)");
            return Err(Error::new(ErrorKind::Tls, why));
        }
        Ok((open(client, Link::Tls(Box::new(stream)), agreed, window).await?, times))
    })
}

async fn open(
    client: &Client,
    link: Link,
    http2: bool,
    window: Option<u32>,
) -> Result<Opened, Error> {
    Ok(match http2 {
        true => Opened::Multiplexed(Session::begin(client, link, window).await?),
        false => Opened::Exclusive(Connection::new(link)),
    })
}

/// A byte stream to an origin, TLS not yet begun.
async fn reach(
    client: &Client,
    (origin, via): (&Origin, &Via),
    progress: &Progress,
    window: Option<u32>,
    times: &mut ConnectTimes,
) -> Result<Link, Error> {
    let settings = &client.shared.settings;
    // What is no HTTP goes where it says, past what is for HTTP alone.
    if let Some(path) = settings.unix.as_ref().filter(|_| origin.is_http()) {
        if via.proxy.is_some() || via.source.is_some() {
            return Err(Error::new(ErrorKind::ConnectFailed, past_unix(path)));
        }
        progress.set(Phase::Connect);
        let begin = client.clock().now();
        let _in_tokio = client.in_tokio();
        let stream = UnixStream::connect(path).await;
        (times.begin_ns, times.connect_begin_ns) = (begin, begin);
        times.connect_ns = Some(client.clock().now() - begin);
        return stream
            .map(Link::Unix)
            .map_err(|error| Error::connect(&error, &path.display().to_string()));
    }
    let proxy = via.proxy.as_deref().filter(|_| origin.is_http());
    let (host, port) = match proxy {
        Some(proxy) => (proxy.host.as_str(), proxy.port),
        None => (&*origin.host, origin.port),
    };
    allowed::unless_blocked(settings, &origin.host)?;
    let of_proxy = |error: Error| if proxy.is_some() { error.of_proxy() } else { error };
    if proxy.is_some() {
        // It is the proxy that looks the name up, and what it finds nobody sees here.
        allowed::by_name(settings, &origin.host)?;
    }
    let addresses = addresses(client, host, port, progress, times).await.map_err(of_proxy)?;
    let addresses = allowed::without_blocked(settings, addresses, host).map_err(of_proxy)?;
    progress.set(Phase::Connect);
    let dialled = dial(client, &addresses, via.source, window).await;
    let (mut stream, first_ns, handshake) = dialled.map_err(of_proxy)?;
    times.connect_begin_ns = handshake.begin_ns;
    if times.dns_ns.is_none() {
        times.begin_ns = first_ns;
    }
    times.delay_ns = handshake.delay_ns;
    // Addresses that were tried before are a part of the connecting.
    let mut connect_ns = handshake.end_ns() - first_ns;
    if let Some(proxy) = proxy.filter(|_| origin.is_tls()) {
        let begin = client.clock().now();
        tunnel::ask(&mut stream, proxy, origin).await?;
        connect_ns += client.clock().now() - begin;
    }
    times.connect_ns = Some(connect_ns);
    Ok(stream)
}

/// The addresses of a name: what the user gave, what was looked up before the run, or what is looked
/// up now, once or whenever that is too old: by one of those who need it.
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
        allowed::by_name(&client.shared.settings, host)?;
        return Ok(Rc::new([SocketAddr::new(address, port)]));
    }
    let narrowed = allowed::before_lookup(&client.shared.settings, host)?;
    let key = format!("{host}:{port}");
    let (names, begin) = (&client.names, client.clock().now());
    if names.is_new(&key)
        && let Some(found) = client.shared.addresses.get(&key)
    {
        names.note(&key, &found.as_slice().into(), begin);
    }
    let running = match names.known(&key, begin) {
        Ok(addresses) => return narrowed.of(addresses, host),
        Err(running) => running,
    };
    progress.set(Phase::Dns);
    let look_up = async || match tokio::net::lookup_host((host, port)).await {
        Ok(found) => Ok(unique(found).into()),
        Err(error) => Err(error.to_string().into()),
    };
    let found = names.look_up(&key, &running, client.clock(), look_up).await;
    (times.begin_ns, times.dns_ns) = (begin, Some(client.clock().now() - begin));
    let found = found.map_err(|error| Error::new(ErrorKind::Dns, format!("{host}: {error}")));
    narrowed.of(found?, host)
}

/// A TCP handshake as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Handshake {
    /// When `connect` was given to the kernel, in ns on the client's clock.
    begin_ns: u64,
    /// How long it took until the kernel had the connection.
    took_ns: u64,
    /// How long it took from then until this program saw it.
    delay_ns: u64,
}

impl Handshake {
    /// Of a connection that was begun at `begin_ns`, and seen to be there now.
    fn of(stream: &Link, begin_ns: u64, now: u64) -> Handshake {
        let elapsed = now.saturating_sub(begin_ns);
        let known = stream.tcp_info().map(|info| info.handshake_ns(elapsed));
        let took_ns = known.map_or(elapsed, |known| known.min(elapsed));
        Handshake { begin_ns, took_ns, delay_ns: elapsed - took_ns }
    }

    fn end_ns(&self) -> u64 {
        self.begin_ns + self.took_ns
    }
}

/// Connects to one of several addresses, the next one round robin first, or else in their order: the connection, when the first
/// of them was begun to be tried, and the handshake with the one that took it. From a source address of its own it goes to
/// addresses of that one's family alone.
async fn dial(
    client: &Client,
    addresses: &[SocketAddr],
    source: Option<IpAddr>,
    window: Option<u32>,
) -> Result<(Link, u64, Handshake), Error> {
    let number = client.next_connection_number();
    // Where connections begin, and how many of them begin somewhere else before one begins there again.
    let (first, places) = match client.shared.settings.dns.in_order {
        true => (0, 1),
        false => (number, addresses.len()),
    };
    let mut last = Error::new(ErrorKind::Dns, "the name has no address");
    let mut first_ns = None;
    for at in 0..addresses.len() {
        let to = addresses[(first + at) % addresses.len()];
        if let Some(from) = source.filter(|from| from.is_ipv4() != to.is_ipv4()) {
            let error = io::Error::other(format!("it is of another family than {from}"));
            last = Error::connect(&error, &to.to_string());
            continue;
        }
        let begin = client.clock().now();
        // All addresses have their turn before the next source address has, so that each meets each.
        let from = source.or_else(|| client.source(to, number / places));
        match dial_one(client, to, from, window).await {
            Ok((stream, handshake)) => {
                return Ok((stream, first_ns.unwrap_or(handshake.begin_ns), handshake));
            }
            Err(error) => {
                first_ns = first_ns.or(Some(begin));
                last = Error::connect(&error, &to.to_string());
            }
        }
    }
    Err(last)
}

/// A new socket. A connection of the ring that was closed gives its descriptor back once the ring has
/// released it: if no other is left, the ring releases closed ones now.
fn new_socket(client: &Client, to: SocketAddr) -> io::Result<TcpSocket> {
    let socket = || if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    if let Some(ring) = client.ring() {
        return socket().or_else(|error| match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) if ring.release_closed() => socket(),
            _ => Err(error),
        });
    }
    socket()
}

/// How often a connection that met itself is made again.
const MEETINGS: u32 = 3;

/// Connects to an address.
///
/// Toward an address of this machine and a port that nobody listens on, the kernel may take that very port
/// for the near end too: the socket is then connected to itself (simultaneous open, RFC 9293, section 3.5),
/// and what it sends comes back. Such a one is closed, without keeping its port, and made again.
async fn dial_one(
    client: &Client,
    to: SocketAddr,
    from: Option<IpAddr>,
    window: Option<u32>,
) -> io::Result<(Link, Handshake)> {
    for _ in 0..MEETINGS {
        let (stream, handshake) = dial_once(client, to, from, window).await?;
        if stream.local_address() != Some(to) {
            return Ok((stream, handshake));
        }
        stream.reset_on_close();
    }
    let text = "nothing listens there: the connection met itself";
    Err(io::Error::new(io::ErrorKind::ConnectionRefused, text))
}

async fn dial_once(
    client: &Client,
    to: SocketAddr,
    from: Option<IpAddr>,
    window: Option<u32>,
) -> io::Result<(Link, Handshake)> {
    #[cfg(test)]
    {
        let begin_ns = client.clock().now();
        if let Some(socket) = crate::virtual_network::dial(to).await {
            let took_ns = client.clock().now() - begin_ns;
            return Ok((Link::Virtual(socket?), Handshake { begin_ns, took_ns, delay_ns: 0 }));
        }
    }
    let socket = new_socket(client, to)?;
    // Requests are sent whole: there is nothing that Nagle's algorithm could gather.
    socket.set_nodelay(true)?;
    // A socket that cannot be stamped is as good as any: its delays just stay unknown.
    let _ = sys::stamp_arrivals(&socket);
    // Where the kernel does not know this it goes its own way.
    let _ = client.shared.settings.ports.map(|range| sys::ports_in_turn(&socket, range));
    if let Some(from) = from {
        // The port is left to `connect`, which can use one toward each destination, and not just one a
        // source address.
        sys::leave_port_to_connect(&socket)?;
        socket.bind(SocketAddr::new(from, 0)).map_err(|error| not_own(error, from))?;
    }
    if let Some(window) = window {
        sys::bound_window(&socket, window)?;
    }
    // A ring receives everything that arrives, so it cannot serve a throttled user.
    if let Some(ring) = client.ring().filter(|_| window.is_none()) {
        let socket = Socket::connect(ring, socket, to).await?;
        let now = client.clock().now();
        let begin_ns = socket.sent().map_or(now, |sent| sent.sent_ns);
        let stream = Link::Ring(socket);
        let handshake = Handshake::of(&stream, begin_ns, now);
        return Ok((stream, handshake));
    }
    let begin_ns = client.clock().now();
    let stream = Link::Tcp(Tcp::new(socket.connect(to).await?));
    let handshake = Handshake::of(&stream, begin_ns, client.clock().now());
    Ok((stream, handshake))
}

/// Why a request is not sent by a Unix socket that has a proxy, or an address of its own to come from.
fn past_unix(path: &Path) -> String {
    let path = path.display();
    format!("`unix: {path}` leaves no room for a proxy or a source address: leave out one of them")
}

/// Why a source address cannot be taken: the system says the same of one that is not this machine's, and of one that has
/// no port left.
fn not_own(error: io::Error, from: IpAddr) -> io::Error {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            io::Error::other(format!("{from} is not an address of this machine"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
