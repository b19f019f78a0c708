//! `squall doctor`: whether this machine is fit to generate load, and a plan's load if one is given. For
//! one second it loads the built-in target within its own process, and measures itself; nothing leaves
//! the machine, and nothing is changed.

use std::path::Path;
use std::sync::Arc;

use squall_engine::{Event, RunOptions, Section, Stopper};
use squall_measure::{Histogram, Totals};
use squall_plan::diagnostic::Sources;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml;
use squall_wire::{Io, Shared};

use crate::args::{Doctor, Variables};
use crate::exit::{Exit, Failure, Outcome};
use crate::machine::has;
use crate::needs::{Demand, Has};
use crate::{builtin, out, plans};

/// Rate of the calibration where there is no plan, a second.
const RATE: f64 = 5_000.0;
/// Users of the calibration where a plan makes as many requests as the answers allow.
const USERS: u64 = 32;
/// Highest rate of the calibration: above it a worker sleeps no more, and a request costs no less.
const HIGHEST_RATE: f64 = 20_000.0;

/// What a worker needed for the requests of a second.
struct Calibration {
    /// Processor time a request, in µs.
    us_per_request: f64,
    /// What it was made with.
    load: String,
    totals: Totals,
}

/// Looks at the machine, and at what a plan needs of it.
pub fn command(args: &Doctor) -> Outcome {
    let mut demand = None;
    if let Some(path) = &args.plan {
        let loaded = plans::load(path, &args.variables)?;
        let options = plans::options(&args.variables, args.variables.target_url(), Vec::new());
        let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
        let builtin = builtin::is_asked_for(&loaded.plan, &args.variables);
        let name = loaded.plan.name.clone();
        demand = Some((name, Demand::of(&loaded.plan, plans::hosts(&programs), builtin)));
    }
    let load = match demand.as_ref().map_or(Some(RATE), |(_, demand)| demand.requests) {
        Some(rate) => format!("rate: {:.0}/s, max_users: 500", rate.clamp(100.0, HIGHEST_RATE)),
        None => format!("users: {USERS}"),
    };
    let calibration = calibrate(load)?;
    let has = Has { us_per_request: Some(calibration.us_per_request), ..has() };
    out::print(&describe(&has, &calibration));
    let Some((name, demand)) = demand else { return Ok(Exit::Ok) };
    let needs = demand.needs(&has);
    out::print(&format!("\n{name} needs\n"));
    needs.iter().for_each(|need| out::print(&format!("{need}\n")));
    Ok(if needs.iter().all(|need| need.help.is_empty()) { Exit::Ok } else { Exit::Failed })
}

/// Loads the built-in target for a second, with one worker.
fn calibrate(load: String) -> Result<Calibration, Failure> {
    let text = format!(
        "target: builtin\nscenarios: {{calibration: {{load: {{{load}, for: 1s}}, steps: [{{get: /}}]}}}}\n"
    );
    let loaded = yaml::load_str("calibration", &text, Path::new(""), &LoadOptions::default())
        .map_err(|_| Failure::incomplete("the calibration's plan is wrong: a bug in squall"))?;
    let destination = builtin::destination(&loaded.plan, &Variables::default())?;
    let options = plans::options(&Variables::default(), destination.url.clone(), Vec::new());
    let sources = Sources::default();
    let program = plans::compile(&loaded.plan, &sources, Section::Load, &options)?;
    let shared: Arc<Shared> =
        plans::network(&loaded.plan, &sources, std::slice::from_ref(&program), Io::Auto)?;
    let mut totals = Totals::new();
    let options = RunOptions::default();
    squall_engine::run(program, shared, &options, &Stopper::default(), None, |event| {
        if let Event::Slice(slice) = event {
            totals.add(slice);
        }
    })
    .map_err(Failure::incomplete)?;
    let requests = totals.all().count.max(1) as f64;
    Ok(Calibration { us_per_request: totals.own().cpu_ns as f64 / 1e3 / requests, load, totals })
}

fn describe(has: &Has, calibration: &Calibration) -> String {
    let own = calibration.totals.own();
    let late = |h: &Histogram<{ squall_measure::COARSE }>| match h.is_empty() {
        true => "not measured".to_owned(),
        false => format!("{} µs, p99 {} µs", h.percentile(50.0), h.percentile(99.0)),
    };
    let (low, high) = has.ports;
    format!(
        "this machine\n  processors {}\n  files      {} may be open, {} at most\n  ports      {low} to {high}, {} connections in TIME_WAIT\n  memory     {} MiB available\n\
         one second of the built-in target, one worker, {}\n  processor  {:.1} µs a request\n  sends late by {}\n  reads late by {}\n",
        has.processors,
        has.files,
        has.files_hard,
        has.time_wait,
        has.memory >> 20,
        calibration.load,
        calibration.us_per_request,
        late(&own.send_delay),
        late(&own.receive_delay),
    )
}
