//! Collects what the workers of a load record: the totals, whole seconds for the sinks, samples of the host; and
//! evaluates it at the end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use squall_analysis::{Abort, Totals};
use squall_engine::{Ended, Event, LogLine};
use squall_metrics::{ErrorKind, HostMetrics, HostSample, RowKey, Slice, Source};
use squall_report::{Generator, Meta, Recording, Run};

use crate::error::Error;
use crate::guards::Guards;
use crate::host_monitor::HostMonitor;
use crate::host_sampler::HostSampler;
use crate::monitor::{Monitor, Monitors, Recorder};
use crate::phase::Phase;
use crate::prepared::Prepared;
use crate::process_usage::process_usage;
use crate::sink::{EventKind, Second, Seconds, Sinks, Start};
use crate::source_addresses;
use crate::stages::{StageStart, StageStarts};

/// The number of the host among monitors.
const HOST: u32 = 0;
/// Most log lines in the result.
const MAX_LOG_LINES: usize = 20;

/// Collects the records of a load.
pub(crate) struct Collector {
    meta: Meta,
    sinks: Arc<Sinks>,
    totals: Totals,
    seconds: Seconds,
    /// Everything recorded: what a sink keeps in its folder or, if none does, a file without a name, which leaves
    /// nothing behind.
    recording: Recording,
    /// Whether it is that of a sink, which writes it.
    is_kept: bool,
    log: Vec<String>,
    /// `None`: the load is generated elsewhere, and this machine says nothing of it.
    host_monitor: Option<HostMonitor>,
    host_recorder: Recorder,
    host: HostMetrics,
    monitors: Monitors,
    /// What the process had used before.
    used_before: Generator,
    began: Instant,
    /// Seconds that have begun to come from workers.
    latest: u32,
    stages: StageStarts,
    guards: Guards,
    /// Rows and kinds of errors that were told of.
    errors: HashSet<(Arc<RowKey>, ErrorKind)>,
}

impl Collector {
    /// For a load of so many workers, beside which there are monitors; `is_local`: which this machine generates.
    ///
    /// # Errors
    /// There can be no temporary file, or no thread for a monitor.
    pub(crate) fn new(
        start: &Start,
        prepared: &Prepared<'_>,
        workers: u32,
        is_local: bool,
        monitors: Vec<(String, Box<dyn Monitor>)>,
        sinks: &Arc<Sinks>,
    ) -> Result<Collector, Error> {
        let (recording, place) = match sinks.folder() {
            // It stays readable whatever becomes of the folder.
            Some(folder) => (Recording::open(&folder.join("slices.bin")), folder.to_owned()),
            None => (Recording::unnamed(), std::env::temp_dir()),
        };
        let wrong = |error| Error::incomplete(format!("{}: {error}", place.display()));
        let shared = &prepared.shared;
        Ok(Collector {
            meta: start.meta.clone(),
            sinks: sinks.clone(),
            totals: Totals::new(),
            seconds: Seconds::new(workers),
            recording: recording.map_err(wrong)?,
            is_kept: sinks.folder().is_some(),
            log: Vec::new(),
            host_monitor: is_local.then(|| {
                HostMonitor::new(HostSampler::new(
                    source_addresses::of_all(&start.program, shared),
                    &shared.destinations(),
                ))
            }),
            host_recorder: Recorder::new(Source::Monitor(HOST)),
            host: HostMetrics::default(),
            monitors: Monitors::start(HOST + 1, monitors)?,
            used_before: process_usage(),
            began: Instant::now(),
            latest: 0,
            stages: StageStarts::of(&start.plan),
            guards: Guards::of(&start.plan, &start.program.secrets),
            errors: HashSet::new(),
        })
    }

    /// Notes a sample of the host, which belongs to a second.
    fn note_host(&mut self, second: u32, sample: HostSample) {
        let at_s = self.began.elapsed().as_secs_f64();
        self.host.add(at_s, sample);
        self.seconds.note_host(second, at_s, sample);
    }

    /// Takes note of the start of the load, and of what workers hand over.
    pub(crate) fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Started => {
                self.began = Instant::now();
                if let Some(sample) = self.host_monitor.as_mut().map(HostMonitor::begin) {
                    self.note_host(0, sample);
                }
                self.monitors.ask(0);
            }
            Event::Slice(slice) => self.slice(slice),
            Event::Log(lines) => lines.iter().for_each(|line| self.log(line)),
            Event::Notice { node, text } => {
                let (node, text) = (node.to_owned(), text.to_owned());
                self.sinks.event(EventKind::Notice { node, text });
            }
            // Whoever shares the load out asks for it.
            Event::Idle(_) | Event::Progress { .. } => {}
        }
    }

    /// Adds a slice; `false`: it came before.
    fn add(&mut self, slice: &Slice) -> bool {
        let is_new = self.totals.add(slice);
        if is_new && !self.is_kept {
            self.recording.append(slice);
        }
        if is_new {
            self.seconds.add(slice);
        }
        is_new
    }

    fn slice(&mut self, slice: &Slice) {
        if !self.add(slice) {
            return;
        }
        let begins = slice.source.is_worker() && slice.second >= self.latest;
        if begins {
            self.latest = slice.second + 1;
            self.sample_host(slice.second);
            for StageStart { at_s, scenario, stage, stages } in self.stages.until(self.latest) {
                self.sinks.event(EventKind::Stage { scenario, stage, stages, starts_s: at_s });
            }
        }
        for sampled in self.monitors.take(self.latest, &|second| self.seconds.is_open(second)) {
            self.add(&sampled);
        }
        if begins {
            self.monitors.ask(self.latest);
        }
        for second in self.seconds.whole(slice.second) {
            self.guards.look(&self.totals, second.second, &second.slices);
            self.tell(second);
        }
    }

    /// Samples the host at the end of a second.
    fn sample_host(&mut self, second: u32) {
        let Some(monitor) = &mut self.host_monitor else { return };
        let (sampled, last) = (monitor.sample(self.began.elapsed()), monitor.last());
        self.note_host(second, last);
        // What cannot be read of the host is left out of its sample: nothing is lost that could be counted.
        let recorded = sampled.ok().and_then(|own| self.host_recorder.slice(second, own).ok());
        if let Some(slice) = recorded {
            self.add(&slice);
        }
    }

    /// The threshold that ends the load from now on; the first time that it is asked for.
    pub(crate) fn aborts(&mut self) -> Option<&Abort> {
        self.guards.news()
    }

    /// The threshold that has ended the load.
    pub(crate) fn aborted(&self) -> Option<&Abort> {
        self.guards.aborted()
    }

    /// Tells the sinks of a second, and of what is new in it.
    fn tell(&mut self, second: Second) {
        for row in second.rows.iter().filter(|row| row.key.place.kind.is_request()) {
            for (kind, _) in &row.stats.error_kinds {
                if self.errors.insert((row.key.clone(), *kind)) {
                    let (key, kind) = (row.key.clone(), kind.label());
                    self.sinks.event(EventKind::FirstError { key, kind });
                }
            }
        }
        self.sinks.second(second);
    }

    fn log(&mut self, line: &LogLine) {
        let text = line.text.clone();
        if self.log.len() < MAX_LOG_LINES && !self.log.contains(&text) {
            self.log.push(text.clone());
        }
        let (worker, second) = (line.worker, line.second);
        let example = line.example.clone();
        self.sinks.event(EventKind::Log { phase: Phase::Load, worker, second, text, example });
    }

    /// The load is over: tells the sinks of its last seconds.
    pub(crate) fn end(&mut self) {
        if let Some(sample) = self.host_monitor.as_mut().map(HostMonitor::end) {
            self.note_host(self.latest.saturating_sub(1), sample);
        }
        let rest = self.seconds.rest();
        rest.into_iter().for_each(|second| self.tell(second));
    }

    /// Requests and programs so far, and errors among them.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let all = self.totals.all();
        (all.count, all.errors)
    }

    /// Makes the result, to which `complete` adds what others know. What of it is lost is added to `failures`; without
    /// a load (`None`) there is nothing to evaluate.
    pub(crate) fn evaluate(
        mut self,
        ended: Option<&Ended>,
        interrupted: bool,
        complete: impl FnOnce(&mut Run),
        failures: &mut Vec<String>,
    ) -> Run {
        self.sinks.settle();
        let mut run = Run {
            meta: self.meta.clone(),
            elapsed_s: ended.map_or(0.0, |ended| ended.elapsed.as_secs_f64()),
            finished: true,
            interrupted,
            aborted: self.guards.aborted().cloned(),
            stopped_by_plan: ended.is_some_and(|ended| ended.asked),
            totals: Arc::new(std::mem::take(&mut self.totals)),
            log: std::mem::take(&mut self.log),
            generator: match self.host_monitor {
                Some(_) => used_since(&self.used_before),
                None => Generator::default(),
            },
            host: std::mem::take(&mut self.host),
            ..Run::default()
        };
        run.generator.count_logged(self.sinks.exchanges());
        complete(&mut run);
        if ended.is_some() {
            failures.extend(self.evaluate_series(&mut run));
        }
        run.warn();
        run.warnings.extend(self.monitors.losses());
        run
    }

    /// Computes what needs everything recorded. `Some`: why it is incomplete.
    fn evaluate_series(&mut self, run: &mut Run) -> Option<String> {
        let wrong = |error: std::io::Error| format!("the series of the run is incomplete: {error}");
        let evaluated = run.evaluate_to_draw(&mut self.recording);
        let failed = self.recording.failed();
        let lost = (failed > 0).then(|| format!("a temporary file: {failed} writes failed"));
        evaluated.err().map(wrong).or(lost)
    }
}

/// What the process has used since then.
fn used_since(before: &Generator) -> Generator {
    let now = process_usage();
    Generator {
        cpu_user_s: (now.cpu_user_s - before.cpu_user_s).max(0.0),
        cpu_sys_s: (now.cpu_sys_s - before.cpu_sys_s).max(0.0),
        ..now
    }
}
