//! A bare loop on tokio: a current-thread runtime, a task for each connection, one buffer for all of them.
//! Each task sends the prepared request, reads until the response ends, and records how long that took.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use squall_floor::{Histogram, Options, Response, print};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// What the tasks share. None of them keeps it while it waits.
struct Shared {
    histogram: Histogram,
    buffer: Box<[u8]>,
}

struct Load {
    address: SocketAddr,
    request: Vec<u8>,
    begin: Instant,
    length: Duration,
    shared: RefCell<Shared>,
}

fn main() -> Result<(), String> {
    let options = Options::from_args()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(|error| error.to_string())?;
    let shared = Shared { histogram: Histogram::new(), buffer: vec![0; 64 * 1024].into() };
    let load = Rc::new(Load {
        address: options.address,
        request: options.request,
        begin: Instant::now(),
        length: options.length,
        shared: RefCell::new(shared),
    });
    let tasks = LocalSet::new();
    let all = tasks.run_until(async {
        let each: Vec<_> = (0..options.connections)
            .map(|_| tokio::task::spawn_local(connection(load.clone())))
            .collect();
        for task in each {
            task.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    });
    runtime.block_on(all).map_err(|error: String| error)?;
    print(&load.shared.borrow().histogram, load.begin);
    Ok(())
}

async fn connection(load: Rc<Load>) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let mut stream = TcpStream::connect(load.address).await.map_err(text)?;
    stream.set_nodelay(true).map_err(text)?;
    let mut response = Response::default();
    loop {
        let sent = Instant::now();
        if sent - load.begin >= load.length {
            return Ok(());
        }
        let mut rest = load.request.as_slice();
        while !rest.is_empty() {
            let count = poll_fn(|context| Pin::new(&mut stream).poll_write(context, rest)).await;
            rest = &rest[count.map_err(text)?..];
        }
        poll_fn(|context| receive(&load, &mut stream, &mut response, sent, context)).await?;
    }
}

/// Reads what there is, and waits for more until the response has ended.
fn receive(
    load: &Load,
    stream: &mut TcpStream,
    response: &mut Response,
    sent: Instant,
    context: &mut Context<'_>,
) -> Poll<Result<(), String>> {
    let mut shared = load.shared.borrow_mut();
    let Shared { histogram, buffer } = &mut *shared;
    loop {
        let mut bytes = ReadBuf::new(buffer);
        ready!(Pin::new(&mut *stream).poll_read(context, &mut bytes))
            .map_err(|error| error.to_string())?;
        if bytes.filled().is_empty() {
            return Poll::Ready(Err("the target closed a connection".to_owned()));
        }
        if response.receive(bytes.filled())? {
            histogram.record(sent.elapsed());
            return Poll::Ready(Ok(()));
        }
    }
}
