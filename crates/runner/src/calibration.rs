//! Whether this machine can generate load: loads the built-in target within the own process for one second
//! and measures what that costs. Nothing leaves the machine, and nothing is changed.

use std::path::Path;
use std::sync::Arc;

use squall_analysis::Totals;
use squall_base::units::percent;
use squall_engine::{Control, Event, RunOptions, Section};
use squall_metrics::CpuShares;
use squall_plan::diagnostic::Sources;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml;
use squall_wire::{Io, Shared};

use crate::available::available;
use crate::capacity::Demand;
use crate::error::Error;
use crate::host_sampler::cpu_sample;
use crate::options::Options;
use crate::proc::load_average;
use crate::{builtin, plans};

/// Rate of the calibration without a plan, per second.
const DEFAULT_RATE: f64 = 5_000.0;
/// Users of the calibration for a plan without an arrival rate.
const CALIBRATION_USERS: u64 = 32;
/// Most users of a calibration with an arrival rate.
const MAX_CALIBRATION_USERS: u64 = 500;
/// Highest rate of the calibration: above it a worker never sleeps, and requests get no cheaper.
const MAX_RATE: f64 = 20_000.0;

/// What a worker used for one second of requests.
#[derive(Debug)]
pub struct Calibration {
    /// CPU time per request, in µs.
    pub us_per_request: f64,
    /// The load, as in a plan.
    pub load: String,
    /// What was measured.
    pub totals: Totals,
    /// Who had the CPUs of the machine meanwhile; all 0 where the system does not say.
    pub cpu: CpuShares,
    /// The share of its time for which the worker was ready to run and had no CPU.
    pub starved: f64,
    /// The machine's load average over the minute before.
    pub load_average: f64,
}

/// The share of the CPUs that others may have of a machine that is to generate load, ...
const MAX_OTHERS: f64 = 0.5;
/// ... and the share of its time for which a worker may wait for one.
const MAX_STARVED: f64 = 0.05;

impl Calibration {
    /// Why the machine is not fit to generate load now; `None`: it is.
    pub fn unfit(&self) -> Option<String> {
        let mut why = Vec::new();
        if self.cpu.others > MAX_OTHERS {
            why.push(format!(
                "other programs have {} of its CPUs (load average {:.1})",
                percent(self.cpu.others),
                self.load_average
            ));
        }
        if self.starved > MAX_STARVED {
            let share = percent(self.starved);
            why.push(format!("squall waited for a CPU for {share} of the time"));
        }
        (!why.is_empty()).then(|| why.join(", and "))
    }
}

/// Loads the built-in target for a second, with one worker, at the rate of a plan's demand or, without a plan,
/// at 5,000 requests a second.
///
/// # Errors
/// The target or the load could not be started.
pub fn calibrate(demand: Option<&Demand>) -> Result<Calibration, Error> {
    let load = match demand.map_or(Some(DEFAULT_RATE), |demand| demand.requests) {
        Some(rate) => {
            // Both ends of all connections are in this process, which may have few open files.
            let users = (available().files / 4).clamp(1, MAX_CALIBRATION_USERS);
            format!("rate: {:.0}/s, max_users: {users}", rate.clamp(100.0, MAX_RATE))
        }
        None => format!("users: {CALIBRATION_USERS}"),
    };
    let text = format!(
        "target: builtin\ngraceful_stop: 1s\nscenarios: {{calibration: {{load: {{{load}, for: 1s}}, steps: [{{get: /}}]}}}}\n"
    );
    let loaded = yaml::load_str("calibration", &text, Path::new(""), &LoadOptions::default())
        .map_err(|_| {
            Error::incomplete("the plan of the calibration is invalid: this is a bug in squall")
        })?;
    let options = Options::default();
    let seed = plans::seed(&loaded.plan, None);
    let destination = builtin::destination(&loaded.plan, &options, seed)?;
    let compile = options.compile(destination.url.clone(), seed);
    let sources = Sources::default();
    let program = plans::compile(&loaded.plan, &sources, Section::Load, &compile)?;
    let shared: Arc<Shared> =
        plans::network(&loaded.plan, &sources, std::slice::from_ref(&program), (Io::Auto, None))?;
    let mut totals = Totals::new();
    let run = RunOptions::default();
    let (load_average, before) = (load_average(), cpu_sample());
    let ended = squall_engine::run(program, shared, &run, &Control::default(), None, |event| {
        if let Event::Slice(slice) = event {
            totals.add(slice);
        }
    })
    .map_err(Error::incomplete)?;
    let requests = totals.all().count.max(1) as f64;
    let own = totals.self_metrics();
    let worked_ns = (ended.elapsed.as_nanos() as f64 * totals.workers() as f64).max(1.0);
    Ok(Calibration {
        us_per_request: own.cpu_ns as f64 / 1e3 / requests,
        cpu: cpu_sample().since(&before).cpu_shares().unwrap_or_default(),
        starved: own.starved_ns as f64 / worked_ns,
        load_average,
        load,
        totals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_others_fill_is_not_fit() {
        let unfit = |others: f64, starved: f64| {
            let calibration = Calibration {
                us_per_request: 5.0,
                load: String::new(),
                totals: Totals::new(),
                cpu: CpuShares { busy: others, others, ..CpuShares::default() },
                starved,
                load_average: 8.04,
            };
            calibration.unfit()
        };
        assert_eq!(unfit(0.3, 0.01), None);
        let others = "other programs have 93% of its CPUs (load average 8.0)";
        assert_eq!(unfit(0.93, 0.0).as_deref(), Some(others));
        let both = format!("{others}, and squall waited for a CPU for 12% of the time");
        assert_eq!(unfit(0.93, 0.12), Some(both));
    }
}
