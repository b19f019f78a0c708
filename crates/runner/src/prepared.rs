//! A plan with all that it needs to run: compiled, its addresses looked up, the built-in target started.
//! Nothing was sent yet.

use std::sync::Arc;
use std::time::Duration;

use squall_engine::{CompileOptions, DEFAULT_GRACEFUL_STOP, Program, RunOptions, Section};
use squall_plan::model::Plan;
use squall_plan::yaml::Loaded;
use squall_wire::Shared;

use crate::available::available;
use crate::builtin::Destination;
use crate::capacity::Demand;
use crate::error::Error;
use crate::headroom::Headroom;
use crate::known_metrics::KnownMetrics;
use crate::load_source::LoadSource;
use crate::options::Options;
use crate::{builtin, capacity, plans};

/// A plan that is ready to run.
pub(crate) struct Prepared<'a> {
    pub loaded: &'a Loaded,
    pub options: &'a Options,
    /// How its sections are compiled; has what the setup has found, once that has run.
    pub compile: CompileOptions,
    /// The load, without what the setup will find.
    pub load: Arc<Program>,
    pub shared: Arc<Shared>,
    /// How many origins it talks to.
    hosts: usize,
    /// What may not mean what was meant, with its places.
    pub warnings: Vec<String>,
    _destination: Destination,
}

impl<'a> Prepared<'a> {
    /// Compiles a plan, whose thresholds may ask for these metrics of monitors, and makes what its connections need.
    ///
    /// # Errors
    /// The plan or an option is wrong, or the built-in target could not be started.
    pub(crate) fn new(
        loaded: &'a Loaded,
        options: &'a Options,
        monitored: &KnownMetrics,
    ) -> Result<Prepared<'a>, Error> {
        let (plan, sources) = (&loaded.plan, &loaded.sources);
        let seed = plans::seed(plan, options.seed);
        let destination = builtin::destination(plan, options, seed)?;
        let compile = options.compile(destination.url.clone(), seed);
        // Everything is compiled before anything is sent.
        let wanted = match options.given {
            Some(_) => &[Section::Load][..],
            None => &plans::SECTIONS,
        };
        let programs = plans::compile_all(loaded, wanted, &compile, monitored)?;
        let by = (options.io, options.allowed.clone());
        let shared = plans::network(plan, sources, &programs.all, by)?;
        let load = programs.load().clone();
        let hosts = plans::hosts(&programs.all);
        let mut warnings = programs.warnings;
        warnings.extend(shared.io_warning().map(|why| format!("warning: {why}\n")));
        Ok(Prepared {
            loaded,
            options,
            compile,
            load,
            shared,
            hosts,
            warnings,
            _destination: destination,
        })
    }

    pub(crate) fn plan(&self) -> &'a Plan {
        &self.loaded.plan
    }

    /// The program of a section, with what the setup has found.
    ///
    /// # Errors
    /// With that the plan is wrong.
    pub(crate) fn program(&self, section: Section) -> Result<Arc<Program>, Error> {
        plans::compile(self.plan(), &self.loaded.sources, section, &self.compile)
    }

    /// The same in the midst of a run, whose outcome says in one line what is wrong with the plan.
    pub(crate) fn program_in_run(&self, section: Section) -> Result<Arc<Program>, Error> {
        plans::compiled(self.plan(), section, &self.compile)
            .map_err(|errors| Error::plan(plans::in_one_line(&errors, &self.loaded.sources)))
    }

    /// The workers for a plan's load: its own, or that of a step of a search. A source elsewhere has its own.
    ///
    /// # Errors
    /// Its virtual users do not fit into this machine.
    pub(crate) fn workers(
        &self,
        plan: &Plan,
        source: &dyn LoadSource,
    ) -> Result<RunOptions, Error> {
        if !source.is_local() {
            return Ok(RunOptions::default());
        }
        let (builtin, asked) = (builtin::is_asked_for(plan, self.options), self.options.workers);
        // Where the setup ran elsewhere, so does the rest of the load: how much of it is here nobody knows yet.
        match self.options.given {
            Some(_) => Ok(Demand::of(plan, self.hosts, builtin).workers(&available(), asked)),
            None => capacity::workers(plan, self.hosts, builtin, asked),
        }
    }

    /// What there is for changes of the load while these workers run it.
    pub(crate) fn headroom(&self, workers: &RunOptions) -> Headroom {
        let workers = RunOptions {
            workers: workers.workers.min(self.load.most_workers()),
            ..workers.clone()
        };
        Headroom::new(&workers, self.hosts, builtin::is_asked_for(self.plan(), self.options))
    }

    /// How long requests in flight may take at the end.
    pub(crate) fn graceful_stop(&self) -> Duration {
        self.plan().graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP)
    }
}
