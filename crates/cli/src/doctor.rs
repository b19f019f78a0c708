//! `squall doctor`: whether this machine can generate load, and a plan's load if one is given. It loads the
//! built-in target within its own process for one second and measures itself. Nothing leaves the machine,
//! and nothing is changed.

use std::path::Path;
use std::sync::Arc;

use squall_analysis::Totals;
use squall_base::units::{bytes, count, time};
use squall_engine::{Control, Event, RunOptions, Section};
use squall_metrics::Histogram;
use squall_plan::diagnostic::Sources;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml;
use squall_wire::{Io, Shared};

use crate::args::{Doctor, Variables};
use crate::capacity::{Available, Demand};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::host_sampler::available;
use crate::{builtin, out, plans};

/// Rate of the calibration without a plan, per second.
const DEFAULT_RATE: f64 = 5_000.0;
/// Users of the calibration for a plan without an arrival rate.
const CALIBRATION_USERS: u64 = 32;
/// Most users of a calibration with an arrival rate.
const MAX_CALIBRATION_USERS: u64 = 500;
/// Highest rate of the calibration: above it a worker never sleeps, and requests get no cheaper.
const MAX_RATE: f64 = 20_000.0;

/// What a worker used for one second of requests.
struct Calibration {
    /// CPU time per request, in µs.
    us_per_request: f64,
    /// The load, as in a plan.
    load: String,
    totals: Totals,
}

/// Describes the machine, and what a plan needs of it.
pub fn command(args: &Doctor) -> CommandResult {
    let mut demand = None;
    if let Some(path) = &args.plan {
        let loaded = plans::load(path, &args.variables)?;
        let options = plans::options(
            &args.variables,
            args.variables.target_url(),
            Vec::new(),
            plans::seed(&loaded.plan),
        );
        let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
        let builtin = builtin::is_asked_for(&loaded.plan, &args.variables);
        let name = loaded.plan.name.clone();
        demand = Some((name, Demand::of(&loaded.plan, plans::hosts(&programs), builtin)));
    }
    let load = match demand.as_ref().map_or(Some(DEFAULT_RATE), |(_, demand)| demand.requests) {
        Some(rate) => {
            // Both ends of all connections are in this process, which may have few open files.
            let users = (available().files / 4).clamp(1, MAX_CALIBRATION_USERS);
            format!("rate: {:.0}/s, max_users: {users}", rate.clamp(100.0, MAX_RATE))
        }
        None => format!("users: {CALIBRATION_USERS}"),
    };
    let calibration = calibrate(load)?;
    let has = Available { us_per_request: Some(calibration.us_per_request), ..available() };
    out::print(&describe(&has, &calibration));
    let Some((name, demand)) = demand else { return Ok(Exit::Ok) };
    let needs = demand.needs(&has, None);
    out::print(&format!("\n{name} needs\n"));
    needs.iter().for_each(|need| out::print(&format!("{need}\n")));
    Ok(if needs.iter().all(|need| need.help.is_empty()) { Exit::Ok } else { Exit::Failed })
}

/// Loads the built-in target for a second, with one worker.
fn calibrate(load: String) -> Result<Calibration, CommandError> {
    let text = format!(
        "target: builtin\ngraceful_stop: 1s\nscenarios: {{calibration: {{load: {{{load}, for: 1s}}, steps: [{{get: /}}]}}}}\n"
    );
    let loaded = yaml::load_str("calibration", &text, Path::new(""), &LoadOptions::default())
        .map_err(|_| {
            CommandError::incomplete(
                "the plan of the calibration is invalid: this is a bug in squall",
            )
        })?;
    let seed = plans::seed(&loaded.plan);
    let destination = builtin::destination(&loaded.plan, &Variables::default(), seed)?;
    let options = plans::options(&Variables::default(), destination.url.clone(), Vec::new(), seed);
    let sources = Sources::default();
    let program = plans::compile(&loaded.plan, &sources, Section::Load, &options)?;
    let shared: Arc<Shared> =
        plans::network(&loaded.plan, &sources, std::slice::from_ref(&program), Io::Auto)?;
    let mut totals = Totals::new();
    let options = RunOptions::default();
    squall_engine::run(program, shared, &options, &Control::default(), None, |event| {
        if let Event::Slice(slice) = event {
            totals.add(slice);
        }
    })
    .map_err(CommandError::incomplete)?;
    let requests = totals.all().count.max(1) as f64;
    Ok(Calibration {
        us_per_request: totals.self_metrics().cpu_ns as f64 / 1e3 / requests,
        load,
        totals,
    })
}

fn describe(has: &Available, calibration: &Calibration) -> String {
    let metrics = calibration.totals.self_metrics();
    let delay = |h: &Histogram<{ squall_metrics::COARSE }>| match h.is_empty() {
        true => "not measured".to_owned(),
        false => {
            format!("{} (p99 {})", time(h.percentile(50.0) as f64), time(h.percentile(99.0) as f64))
        }
    };
    let (low, high) = has.ports;
    format!(
        "this machine\n  CPUs       {}\n  files      {} may be open (hard limit {})\n  ports      {low} to {high}, {} connections in TIME_WAIT\n  memory     {} available\n\
         one second of load on the built-in target, one worker, {}\n  CPU time       {:.1} µs per request\n  send delay     {}\n  receive delay  {}\n",
        has.cpus,
        count(has.files),
        count(has.files_hard),
        count(has.time_wait),
        bytes(has.memory),
        calibration.load,
        calibration.us_per_request,
        delay(&metrics.send_delay),
        delay(&metrics.receive_delay),
    )
}
