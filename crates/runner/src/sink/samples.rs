//! Samples: a row for each request, in a file of the form that its name says.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use squall_engine::Which;
use squall_report::{RequestSample, Run, SampleFormat, SampleWriter};

use super::{
    Event, EventKind, LatestLoad, Second, SeenExchange, Sink, Start, Wanted, WantedExchanges,
};
use crate::handle::Phase;
use crate::mask;

/// Writes a row for each request, with its secrets masked.
#[derive(Debug)]
pub struct Samples {
    path: PathBuf,
    format: SampleFormat,
    /// Once it was created, until it is whole.
    out: Option<SampleWriter<BufWriter<File>>>,
    /// When the run began, and each of its phases, in seconds since 1970.
    run_unix_s: f64,
    phases_unix_s: BTreeMap<Phase, f64>,
    /// Users that were active in the last whole second.
    users: LatestLoad,
}

impl Samples {
    /// To this file, which is overwritten.
    pub fn new(path: impl Into<PathBuf>, format: SampleFormat) -> Samples {
        Samples {
            path: path.into(),
            format,
            out: None,
            run_unix_s: 0.0,
            phases_unix_s: BTreeMap::new(),
            users: LatestLoad::default(),
        }
    }

    fn write(&mut self, SeenExchange { phase, exchange }: &SeenExchange) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let secrets = &*exchange.secrets;
        let began = self.phases_unix_s.get(phase).copied().unwrap_or(self.run_unix_s);
        let last = exchange.last();
        let error = exchange.error.as_ref();
        let load = self.users.load();
        out.write(&RequestSample {
            unix_us: (began * 1e6) as u64 + exchange.at_us,
            run_phase: phase.label(),
            scenario: &exchange.scenario,
            step: &exchange.step,
            worker: exchange.worker,
            user: exchange.user,
            iteration: exchange.iteration,
            trace_id: exchange.trace.map(|trace| trace.to_string()).unwrap_or_default(),
            name: secrets.mask(&exchange.name).into(),
            url: last.map(|hop| mask::url(hop, secrets)).unwrap_or_default(),
            redirects: exchange.hops.len().saturating_sub(1) as u64,
            status: exchange.status,
            error: error.map(|(kind, detail)| (kind.label(), secrets.mask(detail).into())),
            latency_ns: exchange.latency_ns,
            phases: exchange.phases,
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out,
            reused: last.is_some_and(|hop| hop.reused),
            users: (
                load.scenarios.get(&exchange.scenario).map_or(0, |own| own.users),
                load.users(),
            ),
        })
    }
}

impl Sink for Samples {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let file = BufWriter::with_capacity(1 << 20, File::create(&self.path)?);
        self.out = Some(SampleWriter::new(self.format, file)?);
        self.run_unix_s = start.meta.started_unix;
        let exchanges = Some(WantedExchanges { which: Which::All, bytes: 0 });
        Ok(Wanted { exchanges, ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.users.note(second);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Exchange(seen) => self.write(seen),
            EventKind::PhaseBegan(phase) => {
                self.phases_unix_s.insert(*phase, self.run_unix_s + event.at_s);
                Ok(())
            }
            EventKind::Evaluated(_) => self.out.as_mut().map_or(Ok(()), SampleWriter::flush),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.out.take().map_or(Ok(()), SampleWriter::finish)
    }
}
