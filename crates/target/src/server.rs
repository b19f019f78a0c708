//! The server: starts the workers' threads and ends them.

use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_rustls::TlsAcceptor;

use crate::connections;
use crate::counters::{self, Stats};
use crate::listener::{self, Address, Dealer, Listener, Order};
use crate::options::Options;
use crate::site::Site;
use crate::tls;
use crate::worker::Worker;

/// A running target. It ends when it is dropped.
pub struct Server {
    addresses: Vec<Address>,
    ca_pem: Option<String>,
    site: Arc<Site>,
    orders: Vec<UnboundedSender<Order>>,
    threads: Vec<JoinHandle<()>>,
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// There is nothing to listen on.
    NoAddress,
    /// One of the addresses cannot be listened on.
    Listen {
        /// The address as given.
        address: String,
        source: io::Error,
    },
    /// The TLS options do not work.
    Tls(String),
    /// A thread or its event loop cannot be made.
    Worker(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NoAddress => {
                f.write_str("no address to listen on: expected one, such as 127.0.0.1:8080")
            }
            StartError::Listen { address, source } => {
                write!(f, "cannot listen on '{address}': {source}")
            }
            StartError::Tls(why) => write!(f, "cannot use TLS: {why}"),
            StartError::Worker(why) => write!(f, "cannot start a thread of the target: {why}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Listen { source, .. } | StartError::Worker(source) => Some(source),
            StartError::NoAddress | StartError::Tls(_) => None,
        }
    }
}

/// What a thread needs to become a worker.
struct Job {
    index: usize,
    site: Arc<Site>,
    tls: Option<TlsAcceptor>,
    orders: UnboundedReceiver<Order>,
    /// The first worker accepts for all.
    accepting: Option<(Vec<Listener>, Vec<UnboundedSender<Order>>)>,
}

impl Server {
    /// Starts a server; when this returns it is listening.
    pub fn start(options: Options) -> Result<Server, StartError> {
        let (config, ca_pem) = match &options.tls {
            None => (None, None),
            Some(tls) => {
                let (config, ca_pem) = tls::configure(tls).map_err(StartError::Tls)?;
                (Some(TlsAcceptor::from(config)), ca_pem)
            }
        };
        let listeners = bind_all(&options)?;
        let addresses = listeners.iter().map(|listener| listener.address().clone()).collect();
        let count = match options.threads {
            0 => thread::available_parallelism().map_err(StartError::Worker)?.get(),
            n => n,
        };
        let site = Site::new(count, options.seed).map_err(|_| {
            StartError::Worker(io::Error::other("the system provides no random numbers"))
        })?;
        let (orders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded_channel()).unzip();
        let mut server =
            Server { addresses, ca_pem, site: Arc::new(site), orders, threads: Vec::new() };
        let mut accepting = Some((listeners, server.orders.clone()));
        for (index, orders) in receivers.into_iter().enumerate() {
            let (site, tls) = (server.site.clone(), config.clone());
            let job = Job { index, site, tls, orders, accepting: accepting.take() };
            // On an error the server is dropped, which ends the threads started so far.
            server.threads.push(start_thread(job).map_err(StartError::Worker)?);
        }
        Ok(server)
    }

    /// Where the server listens, with real ports, in the order of [`Options::listen`].
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// The base URL of the first address; see [`Address::url`].
    pub fn url(&self) -> String {
        self.addresses.first().map(Address::url).unwrap_or_default()
    }

    /// The certificate authority that a client has to trust, as PEM, when the certificate is
    /// self-signed.
    pub fn ca_pem(&self) -> Option<String> {
        self.ca_pem.clone()
    }

    /// What the server has done up to now. Cheap.
    pub fn stats(&self) -> Stats {
        counters::sum(&self.site.counters)
    }

    /// Closes all connections and ends the threads; so does dropping the server.
    pub fn stop(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        for worker in &self.orders {
            // A worker that is gone already needs no order.
            let _ = worker.send(Order::Stop);
        }
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so on stderr.
            let _ = thread.join();
        }
    }
}

fn bind_all(options: &Options) -> Result<Vec<Listener>, StartError> {
    if options.listen.is_empty() {
        return Err(StartError::NoAddress);
    }
    let bind = |address: &String| {
        Listener::bind(address, options.tls.is_some())
            .map_err(|source| StartError::Listen { address: address.clone(), source })
    };
    options.listen.iter().map(bind).collect()
}

/// Starts a worker's thread, and waits until it is ready to serve.
fn start_thread(job: Job) -> io::Result<JoinHandle<()>> {
    let (ready, is_ready) = std_mpsc::channel();
    let name = format!("target-{}", job.index);
    let thread = thread::Builder::new().name(name).spawn(move || match prepare(&job) {
        Ok((runtime, worker)) => {
            let _ = ready.send(Ok(()));
            runtime.block_on(work(job, worker));
        }
        Err(error) => {
            let _ = ready.send(Err(error));
        }
    })?;
    is_ready.recv().map_err(io::Error::other)??;
    Ok(thread)
}

fn prepare(job: &Job) -> io::Result<(LocalRuntime, Rc<Worker>)> {
    let runtime = Builder::new_current_thread().enable_io().build_local(LocalOptions::default())?;
    let guard = runtime.enter();
    let worker = Worker::new(job.index, job.site.clone());
    drop(guard);
    Ok((runtime, Rc::new(worker?)))
}

async fn work(job: Job, worker: Rc<Worker>) {
    if let Some((listeners, senders)) = job.accepting {
        let dealer = Rc::new(Dealer::new(senders));
        for listener in listeners {
            let (worker, dealer) = (worker.clone(), dealer.clone());
            tokio::task::spawn_local(async move {
                listener::accept(listener, dealer, &worker.timers).await
            });
        }
    }
    connections::run(worker, job.tls, job.orders).await;
}
