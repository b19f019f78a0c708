//! Samples: a row for each request, in a file of the form that its name says.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use squall_engine::Which;
use squall_metrics::{NameId, RowKind};
use squall_report::{RequestSample, Run, SampleFormat, SampleWriter};

use super::{Event, EventKind, Second, SeenExchange, Sink, Start, Wanted, WantedExchanges};
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
    users: Users,
}

/// Users that were active in the last whole second.
#[derive(Debug, Default)]
struct Users {
    /// The scenario of each worker's row of iterations.
    scenarios: HashMap<(u32, NameId), String>,
    by_scenario: HashMap<String, u64>,
    all: u64,
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
            users: Users::default(),
        }
    }

    fn write(&mut self, SeenExchange { phase, exchange }: &SeenExchange) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let secrets = &*exchange.secrets;
        let began = self.phases_unix_s.get(phase).copied().unwrap_or(self.run_unix_s);
        let last = exchange.last();
        let error = exchange.error.as_ref();
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
            users: self.users.of(&exchange.scenario),
        })
    }
}

impl Users {
    fn note(&mut self, second: &Second) {
        self.by_scenario.clear();
        for slice in &second.slices {
            let iterations =
                slice.names.iter().filter(|(_, key)| key.place.kind == RowKind::Iteration);
            for (id, key) in iterations {
                self.scenarios.insert((slice.worker, *id), key.place.scenario.clone());
            }
            for (id, load) in &slice.load.scenarios {
                if let Some(scenario) = self.scenarios.get(&(slice.worker, *id)) {
                    *self.by_scenario.entry(scenario.clone()).or_default() += load.users;
                }
            }
        }
        self.all = self.by_scenario.values().sum();
    }

    /// Of a scenario, and of all.
    fn of(&self, scenario: &str) -> (u64, u64) {
        (self.by_scenario.get(scenario).copied().unwrap_or(0), self.all)
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
