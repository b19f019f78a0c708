//! `squall doctor`: whether this machine can generate load, and a plan's load if one is given. It loads the
//! built-in target within its own process for one second and measures itself. Nothing leaves the machine,
//! and nothing is changed.

use squall_base::units::{bytes, count, percent, time};
use squall_metrics::Histogram;
use squall_runner::{Available, Calibration, Demand, available, calibrate};

use crate::args::{Doctor, Nodes};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::fleet::outlook;
use crate::{out, plan_monitors, plans};

/// Describes the machine, and what a plan needs of it.
pub fn command(args: &Doctor) -> CommandResult {
    let mut demand = None;
    if let Some(path) = &args.plan {
        let loaded = plans::load(path, &args.variables)?;
        let options = args.variables.options();
        let monitors = plan_monitors::of_plan(&loaded, &[], options.allow_exec)?;
        let monitored: Vec<String> = monitors.iter().flat_map(|(_, own)| own.names()).collect();
        let checked = squall_runner::check(&loaded, &options, &monitored)?;
        checked.warnings.iter().for_each(|warning| out::message(warning));
        demand = Some((loaded.plan.name, checked.demand));
    }
    if args.nodes.is_some() || !args.server.nats.is_empty() {
        return fleet(args, demand);
    }
    let calibration = calibrate(demand.as_ref().map(|(_, demand)| demand))?;
    let has = Available { us_per_request: Some(calibration.us_per_request), ..available() };
    out::print(&describe(&has, &calibration));
    let Some((name, demand)) = demand else { return Ok(Exit::Ok) };
    let needs = demand.needs(&has, None);
    out::print(&format!("\n{name} needs\n"));
    needs.iter().for_each(|need| out::print(&format!("{need}\n")));
    Ok(if needs.iter().all(|need| need.help.is_empty()) { Exit::Ok } else { Exit::Failed })
}

/// Describes the nodes of a fleet, and what a plan needs of them.
fn fleet(args: &Doctor, plan: Option<(String, Demand)>) -> CommandResult {
    let Some((name, demand)) = plan else {
        let text =
            "name a plan whose load the nodes are to carry; `squall fleet status` lists the nodes";
        return Err(CommandError::bad_input(text));
    };
    if let Some(Nodes::Local(count)) = args.nodes {
        let text =
            format!("local:{count} are processes of this machine: leave out --nodes to look at it");
        return Err(CommandError::bad_input(text));
    }
    let seen =
        outlook::of(&name, &demand, &crate::fleet::nodes(&args.server)?, args.nodes.as_ref());
    out::print(&seen.text);
    Ok(if seen.is_enough { Exit::Ok } else { Exit::Failed })
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
        "this machine\n  CPUs       {}\n  files      {} may be open (hard limit {})\n  ports      {low} to {high}, {} connections in TIME_WAIT\n  memory     {} available\n  busy       {} of the CPUs now, with other programs (load average {:.1})\n\
         one second of load on the built-in target, one worker, {}\n  CPU time       {:.1} µs per request\n  send delay     {}\n  receive delay  {}\n{}\n",
        has.cpus,
        count(has.files),
        count(has.files_hard),
        count(has.time_wait),
        bytes(has.memory),
        percent(calibration.cpu.others),
        calibration.load_average,
        calibration.load,
        calibration.us_per_request,
        delay(&metrics.send_delay),
        delay(&metrics.receive_delay),
        verdict(calibration),
    )
}

/// Whether the machine can generate load as it is now.
fn verdict(calibration: &Calibration) -> String {
    match calibration.unfit() {
        None => "This machine is fit to generate load now.".to_owned(),
        Some(why) => format!(
            "This machine is not fit to generate load now: {why}. Stop other programs, or use another machine."
        ),
    }
}
