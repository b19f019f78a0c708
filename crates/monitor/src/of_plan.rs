//! The monitors of a plan.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{self, MonitorKind, Plan};
use squall_runner::Monitor;

use crate::host::Host;
use crate::nginx::Nginx;
use crate::postgres::Postgres;
use crate::process::{Processes, Table, Target};
use crate::sampler::Sampler;
use crate::scrape::{Command, Scrape};

/// Monitors, each with its name.
pub type Monitors = Vec<(String, Box<dyn Monitor>)>;

/// The monitors of a plan, and those that are typed: of the same name, the typed one holds.
pub fn of_plan(plan: &Plan, typed: &[model::Monitor]) -> Monitors {
    let table = Arc::default();
    let of = |own: &model::Monitor| (own.name.value.clone(), monitor(own, &table));
    wanted(plan, typed).map(of).collect()
}

/// Those that are wanted, each as it is written.
pub fn wanted<'a>(
    plan: &'a Plan,
    typed: &'a [model::Monitor],
) -> impl Iterator<Item = &'a model::Monitor> {
    let is_replaced =
        |own: &model::Monitor| typed.iter().any(|typed| typed.name.value == own.name.value);
    plan.monitor.iter().filter(move |own| !is_replaced(own)).chain(typed)
}

/// What is wrong with a plan whose monitors run programs, if programs are not allowed. What is typed is.
pub fn refused(plan: &Plan, allow_exec: bool) -> Option<Diagnostic> {
    let own = plan.monitor.iter().find(|own| own.runs_a_program()).filter(|_| !allow_exec)?;
    let message = format!("monitor `{}` runs a program, which is not allowed", own.name.value);
    Some(
        Diagnostic::error(own.name.span, message)
            .with_help("add --allow-exec if you trust the plan"),
    )
}

/// What cannot be read now, each with its monitor's name. What another machine would have to be asked is not.
pub fn unreadable(plan: &Plan, typed: &[model::Monitor]) -> Vec<(String, io::Error)> {
    let table = Arc::default();
    let is_here = |own: &&model::Monitor| own.url().is_none() && !own.runs_a_program();
    let error = |own: &model::Monitor| {
        let mut monitor = monitor(own, &table);
        let read = monitor.sample(Duration::ZERO);
        let hidden = || monitor.remark().map(io::Error::other);
        Some((own.name.value.clone(), read.err().or_else(hidden)?))
    };
    wanted(plan, typed).filter(is_here).filter_map(error).collect()
}

/// The numbers of the processes that a monitor of processes means, with their descendants.
///
/// # Errors
/// There are none, or they cannot be seen, or it is a monitor of something else.
pub fn pids(monitor: &model::Monitor) -> io::Result<Vec<u32>> {
    match target(&monitor.kind) {
        Some(target) => Processes::new(target, Arc::default()).pids(),
        None => Err(io::Error::other(format!("{} is not a process", monitor.shown()))),
    }
}

fn target(kind: &MonitorKind) -> Option<Target> {
    match kind {
        MonitorKind::Pid(pid) => u32::try_from(*pid).ok().map(Target::Pid),
        MonitorKind::Port(port) => u16::try_from(*port).ok().map(Target::Port),
        MonitorKind::Process(name) => Some(Target::Name(name.clone())),
        MonitorKind::Cgroup(path) => Some(Target::Cgroup(path.clone())),
        _ => None,
    }
}

fn monitor(own: &model::Monitor, table: &Arc<Mutex<Table>>) -> Box<dyn Monitor> {
    let name = own.name.value.as_str();
    if let Some(target) = target(&own.kind) {
        return Box::new(Sampler::new(name, Processes::new(target, table.clone())));
    }
    match &own.kind {
        MonitorKind::Prometheus(own) => Box::new(Sampler::new(name, Scrape::of(own))),
        MonitorKind::Nginx(url) => Box::new(Sampler::new(name, Nginx::new(&url.value))),
        MonitorKind::Postgres(url) => Box::new(Sampler::new(name, Postgres::new(&url.value))),
        MonitorKind::Command(own) => {
            let command = Command::new(&own.line, own.timeout);
            Box::new(Sampler::new(name, Scrape::of_command(command)))
        }
        // The others are processes.
        _ => Box::new(Sampler::new(name, Host::default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> model::Monitor {
        model::Monitor::of_flag(text).expect("a monitor")
    }

    #[test]
    fn what_is_typed_holds() {
        let plan = Plan {
            monitor: vec![typed("server=port:1"), typed("here=host:local")],
            ..Plan::default()
        };
        let own = [typed("server=pid:1"), typed("db=command:true")];
        let shown: Vec<String> = wanted(&plan, &own).map(model::Monitor::shown).collect();
        assert_eq!(shown, ["host local", "process 1", "command true"]);
        assert_eq!(of_plan(&plan, &own).len(), 3);
        // Only those of the plan need to be allowed.
        assert!(refused(&plan, false).is_none());
        let plan = Plan { monitor: vec![typed("db=command:true")], ..Plan::default() };
        assert!(refused(&plan, false).is_some() && refused(&plan, true).is_none());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let plan = Plan { monitor: vec![typed("server=pid:4194304")], ..Plan::default() };
        let found =
            unreadable(&plan, &[typed("here=host:local"), typed("m=nginx:http://127.0.0.1:1/")]);
        let found: Vec<String> =
            found.into_iter().map(|(name, error)| format!("{name}: {error}")).collect();
        assert_eq!(found, ["server: there is no process 4194304"]);
        let own = std::process::id();
        assert_eq!(pids(&typed(&format!("a=pid:{own}"))).expect("it is there")[0..1].len(), 1);
        assert!(pids(&typed("a=host:local")).is_err());
    }
}
