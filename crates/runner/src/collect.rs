//! Collects the workers' records into the totals and the run folder, tells of each second, and writes the
//! result at the end.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use squall_analysis::Totals;
use squall_engine::{Ended, Event, Program};
use squall_metrics::{HostMetrics, Slice};
use squall_plan::model::Warmup;
use squall_plan::secrets::Secrets;
use squall_report::{Generator, Live, Meta, Recording, Run, RunFolder, SectionResult};
use squall_wire::Shared;

use crate::error::Error;
use crate::host_sampler::{HostSampler, cores};
use crate::process_usage::process_usage;
use crate::request_log::Logged;
use crate::run::{Job, Notice, Outcome};

/// Most log lines in the result.
const MAX_LOG_LINES: usize = 20;

/// Where everything recorded goes.
enum Records {
    /// Into the run's folder.
    Folder(Box<RunFolder>),
    /// Into a file without a name: the run leaves nothing behind.
    Unnamed(Recording),
}

impl Records {
    fn new(job: &Job<'_>, meta: &Meta) -> Result<Records, Error> {
        let Some(base) = &job.options.folder else {
            let made = Recording::unnamed().map(Records::Unnamed);
            return made.map_err(|error| {
                let folder = std::env::temp_dir();
                Error::incomplete(format!("{}: {error}", folder.display()))
            });
        };
        let plan = squall_plan::yaml::print(job.plan, true);
        let made = RunFolder::create(base, meta, &plan);
        made.map(|folder| Records::Folder(Box::new(folder)))
            .map_err(|error| Error::incomplete(format!("{}: {error}", base.display())))
    }

    fn folder(&mut self) -> Option<&mut RunFolder> {
        match self {
            Records::Folder(folder) => Some(folder),
            Records::Unnamed(_) => None,
        }
    }

    fn slice(&mut self, slice: &Slice) {
        match self {
            Records::Folder(folder) => folder.slice(slice),
            Records::Unnamed(recording) => recording.append(slice),
        }
    }

    fn recording(&mut self) -> &mut Recording {
        match self {
            Records::Folder(folder) => folder.recording(),
            Records::Unnamed(recording) => recording,
        }
    }

    /// How many writes failed, and where to.
    fn failed(&self) -> (u64, &'static str) {
        match self {
            Records::Folder(folder) => (folder.failed(), "the run's folder"),
            Records::Unnamed(recording) => (recording.failed(), "a temporary file"),
        }
    }
}

/// Collects the records of a run.
pub struct Collector<'a> {
    meta: Meta,
    totals: Totals,
    log: Vec<String>,
    records: Records,
    tell: &'a mut dyn FnMut(Notice<'_>),
    length_s: Option<f64>,
    /// Seconds that were told of.
    shown: u32,
    secrets: Secrets,
    sampler: HostSampler,
    host: HostMetrics,
    began: Instant,
    requests_logged: Option<Logged>,
    /// Why a part of the result could not be written.
    unwritten: Vec<String>,
}

impl<'a> Collector<'a> {
    /// A collector; creates the run's folder if the job has one.
    pub fn new(
        job: &Job<'_>,
        program: &Program,
        shared: &Shared,
        workers: u32,
        tell: &'a mut dyn FnMut(Notice<'_>),
    ) -> Result<Collector<'a>, Error> {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let os = std::fs::read_to_string("/proc/version").unwrap_or_default();
        let meta = Meta {
            squall: env!("CARGO_PKG_VERSION").to_owned(),
            plan: job.plan.name.clone(),
            os: os.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
            cpus: cores(),
            started_unix: started.map_or(0.0, |time| time.as_secs_f64()),
            workers: u64::from(workers.min(program.most_workers())),
            io: shared.io().label().to_owned(),
            seed: program.seed,
            warmup: match job.plan.warmup {
                Warmup::Auto => "auto".to_owned(),
                Warmup::None => "none".to_owned(),
                Warmup::Fixed(time) => time.as_secs_f64().to_string(),
            },
            constant_s: program.constant_s(),
            thresholds: job.plan.thresholds.iter().map(|text| text.value.clone()).collect(),
        };
        let records = Records::new(job, &meta)?;
        let mut collector = Collector {
            meta,
            totals: Totals::new(),
            log: Vec::new(),
            records,
            tell,
            length_s: program.length_s(),
            shown: 0,
            secrets: program.secrets.clone(),
            sampler: HostSampler::new(shared.source_addresses(), &shared.destinations()),
            host: HostMetrics::default(),
            began: Instant::now(),
            requests_logged: None,
            unwritten: Vec::new(),
        };
        collector.sample_host();
        Ok(collector)
    }

    /// Takes a sample of the host.
    pub fn sample_host(&mut self) {
        let at_s = self.began.elapsed().as_secs_f64();
        let sample = self.sampler.sample();
        self.host.add(at_s, sample);
        if let Some(folder) = self.records.folder() {
            folder.host_sample(at_s, &sample);
        }
    }

    /// Adds what a worker handed over.
    pub fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Slice(slice) => {
                if self.totals.add(slice) {
                    self.records.slice(slice);
                }
                if slice.second + 1 > self.shown {
                    self.shown = slice.second + 1;
                    self.sample_host();
                    self.show();
                }
            }
            Event::Log(lines) => {
                for line in lines {
                    let text = self.secrets.mask(&line.text);
                    if let Some(folder) = self.records.folder() {
                        folder.log(line.second, line.worker, &text);
                    }
                    if self.log.len() < MAX_LOG_LINES && !self.log.contains(&text) {
                        self.log.push(text);
                    }
                }
            }
        }
    }

    /// Tells that a second is over.
    fn show(&mut self) {
        let live = Live {
            elapsed_s: f64::from(self.shown),
            length_s: self.length_s,
            totals: &self.totals,
        };
        (self.tell)(Notice::Second(live));
    }

    /// Takes the result of the request log.
    pub fn logged(&mut self, logged: std::io::Result<Logged>) {
        match logged {
            Ok(logged) => self.requests_logged = Some(logged),
            Err(error) => self.unwritten.push(format!("the request log is incomplete: {error}")),
        }
    }

    /// Evaluates the finished run and writes its result, that of its setup too.
    pub fn finish(
        mut self,
        ended: Ended,
        interrupted: bool,
        setup: Option<SectionResult>,
    ) -> Outcome {
        let mut run = Run {
            meta: self.meta,
            elapsed_s: ended.elapsed.as_secs_f64(),
            finished: true,
            interrupted,
            stopped_by_plan: ended.asked,
            setup,
            totals: self.totals,
            log: self.log,
            generator: Generator {
                requests_logged: self.requests_logged.map(|logged| logged.written),
                requests_not_logged: self.requests_logged.map(|logged| logged.dropped),
                ..process_usage()
            },
            host: self.host,
            warnings: self.unwritten.clone(),
            ..Run::default()
        };
        let mut failures = ended.failures;
        failures.append(&mut self.unwritten);
        if let Err(error) = run.evaluate(self.records.recording()) {
            failures.push(format!("the series of the run is incomplete: {error}"));
        }
        run.warn();
        let (failed, to) = self.records.failed();
        if failed > 0 {
            let text = format!("{to}: {failed} writes failed");
            run.warnings.push(text.clone());
            failures.push(text);
        }
        if let Some(folder) = self.records.folder()
            && let Err(error) = folder.finish(&run)
        {
            failures.push(format!("{}: {error}", folder.path().join("run.json").display()));
        }
        let folder = self.records.folder().map(|folder| folder.path().to_owned());
        Outcome { run, failures, folder, teardown: None }
    }
}
