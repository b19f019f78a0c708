//! What tests need of the kernel's stamps.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use super::{recv, stamp_arrivals};

/// A connection whose arrivals are stamped, and its other end. The kernel begins to stamp a moment after the first socket on
/// the machine asks for it, and does so as long as there is one.
pub(crate) fn stamped() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let reader = TcpStream::connect(listener.local_addr().expect("an address")).expect("open");
    stamp_arrivals(&reader).expect("an option of all TCP sockets");
    let (mut writer, _) = listener.accept().expect("a connection");
    let mut buffer = [0; 16];
    loop {
        writer.write_all(b"x").expect("open");
        reader.peek(&mut buffer).expect("open");
        if recv(&reader, &mut buffer).expect("open").stamp_ns > 0 {
            return (reader, writer);
        }
        sleep(Duration::from_millis(5));
    }
}
