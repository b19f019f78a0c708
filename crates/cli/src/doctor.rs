//! `squall doctor`: whether this machine can generate load, and a plan's load if one is given. It loads the
//! built-in target within its own process for one second and measures itself. Nothing leaves the machine,
//! and nothing is changed.

use std::path::Path;

use squall_base::units::{bytes, count, percent, time};
use squall_metrics::Histogram;
use squall_runner::{
    AdviceEffect, AdviceSource, Available, Calibration, Demand, KernelSettings, SettingReview,
    available, calibrate,
};

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
        let monitors = plan_monitors::of_plan(&loaded, &args.monitors.typed, options.allow_exec)?;
        let checked = squall_runner::check(&loaded, &options, &monitors)?;
        checked.warnings.iter().for_each(|warning| out::message(warning));
        demand = Some((loaded.plan.name, checked.demand));
    } else if !args.monitors.typed.is_empty() {
        let text = "--monitor goes with a plan, whose thresholds and profile may be about it: squall doctor PLAN --monitor ...";
        return Err(CommandError::bad_input(text));
    }
    if args.nodes.is_some() || !args.server.nats.is_empty() {
        return fleet(args, demand);
    }
    let calibration = calibrate(demand.as_ref().map(|(_, demand)| demand))?;
    let has = Available { us_per_request: Some(calibration.us_per_request), ..available() };
    out::print(&describe(&has, &calibration));
    let mut exit = Exit::Ok;
    if let Some((name, demand)) = &demand {
        let needs = demand.needs(&has, None);
        out::print(&format!("\n{name} needs\n"));
        needs.iter().for_each(|need| out::print(&format!("{need}\n")));
        if needs.iter().any(|need| !need.help.is_empty()) {
            exit = Exit::Failed;
        }
    }
    let kernel = KernelSettings::read(Path::new("/proc"));
    let demand = demand.as_ref().map(|(_, demand)| demand);
    let beyond = demand.and_then(|demand| kernel.beyond(demand));
    out::print(&settings(&kernel.review(demand, &has), beyond, args.settings));
    Ok(exit)
}

/// The kernel settings that have to change, or, with `all`, every one with its reasons.
fn settings(reviews: &[SettingReview], beyond: Option<String>, all: bool) -> String {
    let mut text = "\nkernel settings\n".to_owned();
    let is_shown = |own: &&SettingReview| all || own.change.is_some();
    for own in reviews.iter().filter(is_shown) {
        text += &setting(own, all);
    }
    text.extend(beyond.map(|beyond| format!("  {beyond}\n")));
    if reviews.iter().all(|own| own.change.is_none()) {
        text += &format!("  none of {} has to change\n", reviews.len());
    } else {
        text += "  Change one at a time, and run again before the next.\n";
    }
    let advice = reviews.iter().flat_map(|own| own.advice.iter().map(move |one| (own.name, one)));
    let lowering = advice.clone().filter(|(_, one)| one.effect == AdviceEffect::Lowers);
    let lowering: Vec<String> =
        lowering.map(|(name, one)| format!("{name} = {}", one.value)).collect();
    if !all && !lowering.is_empty() {
        let lowering = lowering.join(", ");
        text += &format!(
            "  Published advice that would LOWER a limit here: {lowering} (--settings says whose)\n"
        );
    }
    if all {
        let mut sources: Vec<AdviceSource> = Vec::new();
        for (_, one) in advice {
            if !sources.contains(&one.source) {
                sources.push(one.source);
            }
        }
        text += "sources of the advice\n";
        text.extend(sources.iter().map(|own| format!("  {:22} {}\n", own.name, own.url)));
    }
    text
}

/// A setting; `all`: with what it does, and what is advised.
fn setting(own: &SettingReview, all: bool) -> String {
    let here = own.here.as_deref().unwrap_or("not there");
    let mut text = format!("  {}: {here}\n", own.name);
    if all {
        text += &format!("    does    {}\n", own.about);
    }
    text += &format!("    needed  {}\n", own.need);
    if let Some(change) = &own.change {
        text += &format!("    change  {}\n    undo    {}\n", change.command, change.undo);
    }
    if all {
        for advice in &own.advice {
            let words = advice.effect.words(own.is_enough);
            text += &format!("    advice  {} ({}) {words}\n", advice.value, advice.source.name);
        }
    }
    text
}

/// Describes the nodes of a fleet, and what a plan needs of them.
fn fleet(args: &Doctor, plan: Option<(String, Demand)>) -> CommandResult {
    if args.settings {
        let text = "--settings: the kernel settings are those of this machine: run `squall doctor --settings` on a node";
        return Err(CommandError::bad_input(text));
    }
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
