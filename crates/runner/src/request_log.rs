//! The request log: JSON lines, written by a thread of its own. A worker hands over a copy and continues; a
//! request that finds the queue full is dropped and counted, so that a slow disk cannot slow down users.
//! Setup, load and teardown write to the same log, each with the secrets that are known by then.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde_json::{Map, Value, json};
use squall_engine::{Exchange, Trace, Which};
use squall_plan::secrets::Secrets;

use crate::error::Error;
use crate::mask;
use crate::options::RequestLogOptions;

/// Most exchanges in the queue, and most bytes of their messages.
const MAX_QUEUED: usize = 16_384;
const MAX_QUEUED_BYTES: usize = 64 << 20;

/// A request log in progress.
pub struct RequestLog {
    which: Which,
    bytes: usize,
    sender: SyncSender<Entry>,
    writer: JoinHandle<std::io::Result<u64>>,
    waiting: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
}

/// An exchange, and what of it may not be shown.
struct Entry {
    exchange: Exchange,
    secrets: Arc<Secrets>,
}

/// The result of a request log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// Lines written.
    pub written: u64,
    /// Requests that found the queue full.
    pub dropped: u64,
}

impl RequestLog {
    /// Creates the file and starts its thread.
    ///
    /// # Errors
    /// The file cannot be created, or the thread cannot be started.
    pub fn start(asked: &RequestLogOptions) -> Result<RequestLog, Error> {
        RequestLog::write_to(File::create(&asked.path), asked)
    }

    /// Goes on with one that was finished.
    ///
    /// # Errors
    /// As [`RequestLog::start`].
    pub fn go_on(asked: &RequestLogOptions) -> Result<RequestLog, Error> {
        RequestLog::write_to(File::options().append(true).open(&asked.path), asked)
    }

    fn write_to(
        file: std::io::Result<File>,
        asked: &RequestLogOptions,
    ) -> Result<RequestLog, Error> {
        let path = &asked.path;
        let wrong = |error| Error::incomplete(format!("{}: {error}", path.display()));
        let file = file.map_err(wrong)?;
        let (sender, inbox) = sync_channel(MAX_QUEUED);
        let waiting = Arc::new(AtomicUsize::new(0));
        let taken = waiting.clone();
        let writer = std::thread::Builder::new()
            .name("request-log".to_owned())
            .spawn(move || write(file, &inbox, &taken))
            .map_err(wrong)?;
        let (which, bytes) = (asked.which, asked.bytes);
        Ok(RequestLog { which, bytes, sender, writer, waiting, dropped: Arc::default() })
    }

    /// The trace to which the workers of a section hand their copies.
    pub fn trace(&self, secrets: &Secrets) -> Trace {
        let secrets = Arc::new(secrets.clone());
        let (sender, waiting, dropped) =
            (self.sender.clone(), self.waiting.clone(), self.dropped.clone());
        Trace::new(self.which, self.bytes, move |exchange| {
            let size = size(&exchange);
            let room = waiting.load(Ordering::Relaxed) + size <= MAX_QUEUED_BYTES;
            if room {
                waiting.fetch_add(size, Ordering::Relaxed);
            }
            let entry = Entry { exchange, secrets: secrets.clone() };
            if !room || sender.try_send(entry).is_err() {
                dropped.fetch_add(1, Ordering::Relaxed);
                waiting.fetch_sub(if room { size } else { 0 }, Ordering::Relaxed);
            }
        })
    }

    /// Waits until everything is written. All traces must have been dropped.
    ///
    /// # Errors
    /// The file could not be written completely.
    pub fn finish(self) -> std::io::Result<Logged> {
        drop(self.sender);
        let written = self.writer.join().unwrap_or_else(|_| {
            Err(std::io::Error::other("its thread panicked: this is a bug in squall"))
        })?;
        Ok(Logged { written, dropped: self.dropped.load(Ordering::Relaxed) })
    }
}

fn size(exchange: &Exchange) -> usize {
    exchange.hops.iter().map(|hop| hop.request.len() + hop.head.len() + hop.body.len()).sum()
}

/// Writes until all senders are dropped. After an error it still empties the queue, so that nothing waits,
/// and reports the error at the end.
fn write(file: File, inbox: &Receiver<Entry>, waiting: &AtomicUsize) -> std::io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let (mut written, mut failed) = (0, Ok(()));
    for Entry { exchange, secrets } in inbox {
        waiting.fetch_sub(size(&exchange), Ordering::Relaxed);
        if failed.is_ok() {
            failed = writeln!(out, "{}", line(&exchange, &secrets));
            written += 1;
        }
    }
    failed?;
    out.flush()?;
    Ok(written)
}

/// An exchange as one line.
fn line(exchange: &Exchange, secrets: &Secrets) -> Value {
    let phases: Map<String, Value> =
        exchange.phases.named().map(|(name, us)| (name.to_owned(), json!(us))).collect();
    let last = exchange.last();
    let mut line = json!({
        "at_s": exchange.at_us as f64 / 1e6,
        "worker": exchange.worker,
        "section": exchange.section.label(),
        "scenario": exchange.scenario,
        "step": exchange.step,
        "user": exchange.user,
        "iteration": exchange.iteration,
        "name": secrets.mask(&exchange.name),
        "url": last.map(|hop| secrets.mask(&hop.url)),
        "redirects": exchange.hops.len().saturating_sub(1),
        "status": exchange.status,
        "latency_us": exchange.latency_ns as f64 / 1e3,
        "phases_us": phases,
        "bytes_in": exchange.bytes_in,
        "bytes_out": exchange.bytes_out,
        "reused": last.is_some_and(|hop| hop.reused),
        "error": exchange.error.as_ref().map(|(kind, _)| kind.label()),
    });
    if let Some((_, detail)) = exchange.error.as_ref().filter(|(_, detail)| !detail.is_empty()) {
        line["detail"] = json!(secrets.mask(detail));
    }
    if let Some(hop) = last {
        for (key, bytes) in
            [("request", &hop.request), ("response", &hop.head), ("body", &hop.body)]
        {
            if !bytes.is_empty() {
                line[key] = json!(mask::message(bytes, secrets));
            }
        }
    }
    line
}
