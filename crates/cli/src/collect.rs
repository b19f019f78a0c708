//! Takes what the workers hand over: into the totals, onto the disk, onto the terminal. And the end:
//! the result, where it was asked for.

use std::io::{IsTerminal, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use squall_engine::{Ended, Event, Program};
use squall_measure::{Surroundings, Totals, Trust};
use squall_plan::model::Warmup;
use squall_plan::secrets::Secrets;
use squall_report::{Generator, Live, Meta, Run, RunFolder, live_line};
use squall_wire::Shared;

use crate::exit::{Exit, Failure, Outcome};
use crate::machine::{Looker, cores};
use crate::out;
use crate::request_log::Logged;
use crate::run::Job;
use crate::usage::usage;

/// Seconds between lines where no terminal shows one that moves.
const PLAIN_EVERY: u32 = 5;
/// Lines of the log that the result shows.
const SHOWN_LOG: usize = 20;

/// Collects a run.
pub struct Collector {
    meta: Meta,
    totals: Totals,
    log: Vec<String>,
    folder: Option<RunFolder>,
    quiet: bool,
    terminal: bool,
    length_s: Option<f64>,
    /// The second up to which progress was shown.
    shown: u32,
    secrets: Secrets,
    looker: Looker,
    surroundings: Surroundings,
    began: Instant,
    requests_logged: Option<Logged>,
    warnings: Vec<String>,
}

impl Collector {
    /// A collector; makes the run's folder if there is to be one.
    pub fn new(
        job: &Job,
        program: &Program,
        shared: &Shared,
        workers: u32,
    ) -> Result<Collector, Failure> {
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
        let folder =
            match &job.folder {
                Some(base) => {
                    let plan = squall_plan::yaml::print(&job.plan, true);
                    let made = RunFolder::create(base, &meta, &plan);
                    Some(made.map_err(|error| {
                        Failure::incomplete(format!("{}: {error}", base.display()))
                    })?)
                }
                None => None,
            };
        let mut collector = Collector {
            meta,
            totals: Totals::new(),
            log: Vec::new(),
            folder,
            quiet: job.output.quiet,
            terminal: std::io::stderr().is_terminal(),
            length_s: program.length_s(),
            shown: 0,
            secrets: program.secrets.clone(),
            looker: Looker::new(job.plan.connections.source_addresses.len()),
            surroundings: Surroundings::default(),
            began: Instant::now(),
            requests_logged: None,
            warnings: Vec::new(),
        };
        collector.look();
        Ok(collector)
    }

    /// Looks at the machine.
    fn look(&mut self) {
        let at_s = self.began.elapsed().as_secs_f64();
        let machine = self.looker.look();
        self.surroundings.add(at_s, machine);
        if let Some(folder) = &mut self.folder {
            folder.machine(at_s, &machine);
        }
    }

    /// Takes what a worker handed over.
    pub fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Slice(slice) => {
                self.totals.add(slice);
                if let Some(folder) = &mut self.folder {
                    folder.slice(slice);
                }
                if slice.second + 1 > self.shown {
                    self.shown = slice.second + 1;
                    self.look();
                    self.show();
                }
            }
            Event::Log(lines) => {
                for line in lines {
                    let text = self.secrets.mask(&line.text);
                    if let Some(folder) = &mut self.folder {
                        folder.log(line.second, line.worker, &text);
                    }
                    if self.log.len() < SHOWN_LOG && !self.log.contains(&text) {
                        self.log.push(text);
                    }
                }
            }
        }
    }

    /// Shows how far the run is.
    fn show(&self) {
        if self.quiet || (!self.terminal && !self.shown.is_multiple_of(PLAIN_EVERY)) {
            return;
        }
        let live = Live {
            elapsed_s: f64::from(self.shown),
            length_s: self.length_s,
            totals: &self.totals,
        };
        let line = live_line(&live);
        let mut out = std::io::stderr().lock();
        // Progress that nobody can see is no reason to end a run.
        let _ = if self.terminal { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
    }

    /// The log of requests is written, or broke off.
    pub fn logged(&mut self, logged: std::io::Result<Logged>) {
        match logged {
            Ok(logged) => self.requests_logged = Some(logged),
            Err(error) => self.warnings.push(format!("the log of requests broke off: {error}")),
        }
    }

    /// The run is over.
    pub fn finish(mut self, ended: Ended, interrupted: bool) -> Finished {
        if self.terminal && !self.quiet && self.shown > 0 {
            eprint!("\r\x1b[K");
        }
        self.look();
        let mut run = Run {
            meta: self.meta,
            elapsed_s: ended.elapsed.as_secs_f64(),
            finished: true,
            interrupted,
            totals: self.totals,
            log: self.log,
            generator: Generator {
                requests_logged: self.requests_logged.map(|logged| logged.written),
                requests_not_logged: self.requests_logged.map(|logged| logged.dropped),
                ..usage()
            },
            surroundings: self.surroundings,
            warnings: self.warnings,
            ..Run::default()
        };
        run.judge();
        run.warn();
        if let Some(folder) = &mut self.folder {
            if folder.failed() > 0 {
                run.warnings
                    .push(format!("{} writes into the run's folder failed", folder.failed()));
            }
            if let Err(error) = folder.finish(&run) {
                run.warnings.push(format!("run.json: {error}"));
            }
        }
        Finished { run, failures: ended.failures, asked: ended.asked, folder: self.folder }
    }
}

/// A run that is over.
pub struct Finished {
    run: Run,
    failures: Vec<String>,
    asked: bool,
    folder: Option<RunFolder>,
}

/// Prints the result and says how it ended.
pub fn conclude(job: &Job, finished: Finished) -> Outcome {
    let Finished { run, failures, asked, folder } = finished;
    let to_stdout = job.output.json.as_deref() == Some("-");
    if let Some(target) = &job.output.json {
        write_json(&run, target)?;
    }
    if !to_stdout {
        out::print(&squall_report::text(&run, std::io::stdout().is_terminal()));
        if let Some(folder) = &folder {
            out::print(&format!(" run folder  {}\n", folder.path().display()));
        }
    }
    if !failures.is_empty() {
        return Err(Failure::incomplete(failures.join("; ")));
    }
    if run.interrupted {
        return Ok(Exit::Interrupted);
    }
    if job.output.strict && run.trust() == Trust::Invalid {
        return Ok(Exit::Incomplete);
    }
    let checks = run.totals.counters().checks_failed > 0;
    Ok(if run.passed() && !checks && !asked { Exit::Ok } else { Exit::Failed })
}

/// Writes the result as JSON to a file, or to the standard output for `-`.
pub fn write_json(run: &Run, target: &str) -> Result<(), Failure> {
    let mut text =
        serde_json::to_vec_pretty(&squall_report::json(run)).map_err(Failure::incomplete)?;
    text.push(b'\n');
    let written = match target {
        "-" => std::io::stdout().lock().write_all(&text),
        path => std::fs::write(path, &text),
    };
    written.map_err(|error| Failure::incomplete(format!("{target}: {error}")))
}
