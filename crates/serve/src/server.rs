//! The thread that accepts, and one for each connection. Nobody waits for them.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::connection::Connection;
use crate::places::Places;

/// Most connections at a time, with those that may ask, and those that had to leave and do not know it yet.
const MAX_CONNECTIONS: usize = 128;
/// How long the thread that accepts is called.
const CALL: Duration = Duration::from_secs(1);
/// Memory of a thread's stack.
const STACK: usize = 512 << 10;

/// Serves until it is closed or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

type Serve = dyn Fn(Connection) + Send + Sync;

impl Server {
    /// Serves who comes to a listener, each connection on a thread of its own, which has this name.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        listener: TcpListener,
        name: &'static str,
        serve: impl Fn(Connection) + Send + Sync + 'static,
    ) -> io::Result<Server> {
        let (address, is_closed) = (listener.local_addr()?, Arc::<AtomicBool>::default());
        let closed = is_closed.clone();
        let serve: Arc<Serve> = Arc::new(serve);
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.spawn(move || accept(&listener, name, &closed, &serve))?;
        Ok(Server { address, is_closed })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn close(&self) {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        // The thread that accepts looks up.
        let ip = match self.address.ip() {
            ip if ip.is_unspecified() && ip.is_ipv4() => Ipv4Addr::LOCALHOST.into(),
            ip if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let _ = TcpStream::connect_timeout(&SocketAddr::new(ip, self.address.port()), CALL);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

fn accept(listener: &TcpListener, name: &str, is_closed: &AtomicBool, serve: &Arc<Serve>) {
    let (places, connections) = (Places::default(), Arc::<AtomicUsize>::default());
    for stream in listener.incoming() {
        if is_closed.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            // No file is free: there may be one soon.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let Some(counted) = Counted::one(&connections) else {
            // One too many: its end says so.
            continue;
        };
        let Some(place) = places.take(&stream) else { continue };
        let (connection, serve) = (Connection::new(stream, place), serve.clone());
        let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
        // Where no thread can be had the connection ends.
        let _ = thread.spawn(move || {
            let _counted = counted;
            serve(connection);
        });
    }
}

/// One of a bounded number of connections; it is given back when this is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn one(of: &Arc<AtomicUsize>) -> Option<Counted> {
        let more = |number| (number < MAX_CONNECTIONS).then_some(number + 1);
        of.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Counted(of.clone()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc::channel;

    use super::*;
    use crate::places::{MAX_OF_CLIENT, MAX_PLACES};

    /// Answers with much more than a connection holds.
    fn start(bytes: usize) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let body = vec![b'x'; bytes];
        Server::start(listener, "test", move |mut connection| {
            if connection.request().is_ok() {
                let _ = connection.respond(&body);
            }
            connection.close();
        })
        .expect("a server")
    }

    fn ask(server: &Server) -> TcpStream {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("writable");
        stream
    }

    #[test]
    fn nobody_who_says_nothing_is_in_the_way() {
        let server = start(3);
        let connect = |_| TcpStream::connect(server.address()).expect("a connection");
        let mut idle: Vec<TcpStream> = (0..2 * MAX_PLACES).map(connect).collect();
        let mut text = String::new();
        ask(&server).read_to_string(&mut text).expect("a response");
        assert_eq!(text, "xxx");
        // The oldest had to leave.
        let mut read = |at: usize| idle[at].read(&mut [0; 1]).map_err(|error| error.kind());
        assert!((0..2 * MAX_PLACES - MAX_OF_CLIENT).all(|at| matches!(read(at), Ok(0) | Err(_))));
    }

    #[test]
    fn nobody_who_does_not_read_is_in_the_way() {
        let server = start(8 << 20);
        let slow: Vec<TcpStream> = (0..2 * MAX_PLACES).map(|_| ask(&server)).collect();
        let mut bytes = Vec::new();
        ask(&server).read_to_end(&mut bytes).expect("a response");
        assert_eq!(bytes.len(), 8 << 20);
        drop(slow);
    }

    #[test]
    fn a_server_that_is_closed_takes_nobody() {
        let (say, told) = channel();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = Server::start(listener, "test", move |_| say.send(()).expect("it listens"));
        let server = server.expect("a server");
        drop(ask(&server));
        told.recv().expect("it was served");
        server.close();
        // The thread that accepts has ended, and what it had with it.
        assert!(told.recv().is_err());
    }
}
