//! The request log: JSON lines, one for each request that was picked.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use squall_base::escape_json;
use squall_engine::ExchangeFilter;
use squall_report::Run;

use super::event::{Event, EventKind, SeenExchange};
use super::interface::{Sink, Start, Wanted, WantedExchanges};
use super::second::Second;
use crate::mask;

/// Writes a line for each request, with its secrets masked.
#[derive(Debug)]
pub struct RequestLog {
    path: PathBuf,
    wanted: WantedExchanges,
    /// Once it was created.
    out: Option<BufWriter<File>>,
}

impl RequestLog {
    /// To this file, which is overwritten.
    pub fn new(path: impl Into<PathBuf>, which: ExchangeFilter, bytes: usize) -> RequestLog {
        RequestLog { path: path.into(), wanted: WantedExchanges { which, bytes }, out: None }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Sink for RequestLog {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        self.out = Some(BufWriter::with_capacity(1 << 20, File::create(&self.path)?));
        Ok(Wanted { exchanges: Some(self.wanted), ..Wanted::default() })
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match (&event.kind, &mut self.out) {
            (EventKind::Exchange(seen), Some(out)) => {
                writeln!(out, "{}", escape_json(&line(seen).to_string()))
            }
            // The teardown may be the end of it.
            (EventKind::Evaluated(_), _) => self.flush(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.flush()
    }
}

/// An exchange as one line.
fn line(SeenExchange { phase, exchange }: &SeenExchange) -> Value {
    let secrets = &*exchange.secrets;
    let phases: Map<String, Value> =
        exchange.phases.named().map(|(name, us)| (name.to_owned(), json!(us))).collect();
    let last = exchange.last();
    let mut line = json!({
        "run_phase": phase.label(),
        "at_s": exchange.at_us as f64 / 1e6,
        "worker": exchange.worker,
        "scenario": exchange.scenario,
        "step": exchange.step,
        "user": exchange.user,
        "iteration": exchange.iteration,
        "trace_id": exchange.trace.map(|trace| trace.to_string()),
        "name": secrets.mask(&exchange.name),
        "url": last.map(|hop| mask::url(hop, secrets)),
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
    let Some(hop) = last else { return line };
    for (key, text) in [
        ("request", mask::request(hop, secrets)),
        ("response", mask::head(hop, secrets)),
        ("body", mask::body(hop, secrets)),
    ] {
        if !text.is_empty() {
            line[key] = json!(text);
        }
    }
    line
}
