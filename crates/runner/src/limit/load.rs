//! Puts the load of a plan on its target and hands over what comes of it: for real, or, in tests, in virtual time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use squall_engine::{Control, Event, ExchangeFilter, Section, Trace};
use squall_limit::RecoveryDetector;
use squall_metrics::{HostMetrics, HostSample, Slice};
use squall_plan::model::Plan;

use crate::error::Error;
use crate::handle::Handle;
use crate::host_sampler::HostSampler;
use crate::load_source::{LoadOrder, LoadSource};
use crate::phase::Phase;
use crate::plans;
use crate::prepared::Prepared;
use crate::source_addresses;

/// Is given each second of each worker as soon as it is over.
pub(super) type Take<'a> = &'a mut dyn FnMut(&Slice);

/// What is known of a load that is over, besides what it recorded.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub host: HostMetrics,
    /// How long after its end the last of its requests was over.
    pub tail: Duration,
}

/// What a search asks for. A load that was stopped is no error: it is just shorter.
pub(super) trait Load {
    /// Runs a plan's load for this long, and lets the requests that are in flight then end within the plan's
    /// `graceful_stop`: what is left in the target would meet the next load.
    ///
    /// # Errors
    /// The plan cannot run, or a worker broke off.
    fn measure(&self, plan: &Plan, length: Duration, take: Take<'_>) -> Result<Ran, Error>;

    /// Runs a plan's load until the detector has seen the target recover, but no longer than this. Seconds until it
    /// was well; `None`: it was not.
    ///
    /// # Errors
    /// See [`Load::measure`].
    fn watch(
        &self,
        plan: &Plan,
        length: Duration,
        detector: RecoveryDetector,
    ) -> Result<Option<f64>, Error>;
}

/// The real one: workers that send requests, here or elsewhere.
pub(super) struct RealLoad<'a> {
    pub prepared: &'a Prepared<'a>,
    pub source: &'a dyn LoadSource,
    pub handle: &'a Handle,
}

impl Load for RealLoad<'_> {
    fn measure(&self, plan: &Plan, length: Duration, take: Take<'_>) -> Result<Ran, Error> {
        self.run(plan, length, |_| None, take)
    }

    fn watch(
        &self,
        plan: &Plan,
        length: Duration,
        detector: RecoveryDetector,
    ) -> Result<Option<f64>, Error> {
        let detector = Arc::new(Mutex::new(detector));
        let trace = |control| Some(until_recovered(detector.clone(), control));
        self.run(plan, length, trace, &mut |_| ())?;
        Ok(detector.lock().unwrap_or_else(PoisonError::into_inner).recovered())
    }
}

impl RealLoad<'_> {
    fn run(
        &self,
        plan: &Plan,
        length: Duration,
        trace: impl FnOnce(Control) -> Option<Trace>,
        take: Take<'_>,
    ) -> Result<Ran, Error> {
        let mut host = HostMetrics::default();
        let (sources, shared) = (&self.prepared.loaded.sources, &self.prepared.shared);
        let program = plans::compile(plan, sources, Section::Load, &self.prepared.compile)?;
        let workers = self.prepared.workers(plan, self.source)?;
        let Some(control) = self.handle.begin(Phase::Load, Duration::ZERO) else {
            return Ok(Ran::default());
        };
        let mut began = Instant::now();
        let sources = source_addresses::of_all(&program, shared);
        // What this machine does says nothing of a load that others generate.
        let is_local = self.source.is_local();
        let mut sampler = is_local.then(|| HostSampler::new(sources, &shared.destinations()));
        let order = LoadOrder {
            program: program.clone(),
            network: shared.clone(),
            options: &workers,
            handle: self.handle,
            control: &control,
            trace: trace(control.clone()),
            plan,
            compile: &self.prepared.compile,
            asked: self.prepared.options,
            folder: None,
        };
        let mut note = |began: Instant, sample: fn(&mut HostSampler) -> HostSample| {
            let sample = sampler.as_mut().map(sample);
            sample.into_iter().for_each(|own| host.add(began.elapsed().as_secs_f64(), own));
        };
        let ended = self.source.run(order, &mut |event| {
            if let Event::Started = event {
                began = Instant::now();
                note(began, HostSampler::sample);
            }
            let Event::Slice(slice) = event else { return };
            note(began, HostSampler::sample);
            take(slice);
        });
        note(began, HostSampler::last_sample);
        let released = self.source.release();
        let ended = ended.map_err(Error::incomplete)?;
        if !released.is_empty() {
            return Err(Error::incomplete(released.join("; ")));
        }
        match ended.failures.is_empty() {
            true => Ok(Ran { host, tail: ended.elapsed.saturating_sub(length) }),
            false => Err(Error::incomplete(ended.failures.join("; "))),
        }
    }
}

/// Watches each response, and ends the run as soon as the target has recovered.
fn until_recovered(detector: Arc<Mutex<RecoveryDetector>>, control: Control) -> Trace {
    Trace::new(ExchangeFilter::All, 0, move |exchange| {
        let latency_us = exchange.latency_ns as f64 / 1e3;
        let ended_s = (exchange.at_us as f64 + latency_us) / 1e6;
        let mut detector = detector.lock().unwrap_or_else(PoisonError::into_inner);
        if detector.add(ended_s, latency_us, exchange.error.is_some()) {
            control.stop(Duration::ZERO);
        }
    })
}

#[cfg(test)]
mod tests {
    use squall_limit::{LevelKind, LoadStep, Records};

    use super::*;
    use crate::known_metrics::KnownMetrics;
    use crate::limit::level;
    use crate::load_source::LocalEngine;
    use crate::options::Options;

    /// Any response is as fast as this target ever was.
    #[test]
    fn a_watch_ends_when_the_target_has_recovered() {
        let text = "target: builtin\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}, {think: 10ms}]}}\n";
        let loaded = crate::load_str("plan", text).expect("a plan");
        let options = Options::default();
        let prepared =
            Prepared::new(&loaded, &options, &KnownMetrics::default()).expect("a good plan");
        let (load, hour) = (
            RealLoad { prepared: &prepared, source: &LocalEngine, handle: &Handle::default() },
            Duration::from_secs(3600),
        );
        let normal = LoadStep { mean_us: 1e12, ..Records::new(0, 1).step(1.0, None, &[]) };
        let plan = level::at(prepared.plan(), LevelKind::Users, 1.0, hour, Duration::ZERO);
        let after = load.watch(&plan, hour, RecoveryDetector::new(&normal)).expect("a watch");
        assert!(after.is_some(), "and not after an hour");
    }
}
