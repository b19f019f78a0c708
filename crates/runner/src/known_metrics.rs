//! What thresholds may ask for besides what the plan records itself: metrics of monitors, and of the source of the load.

use squall_analysis::Threshold;
use squall_metrics::{Monitored, MonitoredKind};
use squall_plan::model::{self, MonitorKind, Plan};

use crate::monitor::Monitor;

/// The metrics that monitors and the source of the load have.
#[derive(Debug, Default)]
pub(crate) struct KnownMetrics {
    /// Those of the source of the load.
    of_source: Vec<String>,
    /// The monitors that are started, each with its metrics; none: nobody knows them before it samples them.
    monitors: Vec<(String, Vec<String>)>,
}

impl KnownMetrics {
    pub(crate) fn new(
        of_source: Vec<String>,
        monitors: &[(String, Box<dyn Monitor>)],
    ) -> KnownMetrics {
        let monitors = monitors.iter().map(|(name, own)| (name.clone(), own.names()));
        KnownMetrics { of_source, monitors: monitors.collect() }
    }

    /// The names of all.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let of_monitors = self.monitors.iter().flat_map(|(_, names)| names);
        self.of_source.iter().chain(of_monitors).map(String::as_str)
    }

    /// What is wrong with what a threshold asks of a monitor, and what to do; `None`: nothing, or it asks for something else.
    pub(crate) fn refused(&self, plan: &Plan, threshold: &Threshold) -> Option<(String, String)> {
        let (metric, monitor) = threshold.monitored()?;
        let text = threshold.text();
        let started = self.monitors.iter().find(|(name, _)| name == monitor);
        let planned = plan.monitor.iter().find(|own| own.name.value == monitor);
        if started.is_none() && planned.is_none() {
            return Some((
                format!("`{text}`: the run has no monitor `{monitor}`"),
                self.help(plan),
            ));
        }
        // What a monitor names when it is started is what it samples.
        let names = started.map(|(_, names)| names.clone());
        let names = names.or_else(|| planned.map(sampled)).unwrap_or_default();
        let is_open = names.is_empty() || planned.is_some_and(|own| depends(&own.kind));
        (!is_open && !names.iter().any(|name| name == metric)).then(|| {
            let what = format!("`{text}`: the monitor `{monitor}` does not sample `{metric}`");
            (what, format!("it samples {}", names.join(", ")))
        })
    }

    /// Which monitors there are, or how to have one.
    fn help(&self, plan: &Plan) -> String {
        let planned = plan.monitor.iter().map(|own| own.name.value.as_str());
        let started = self.monitors.iter().map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = started.chain(planned).collect();
        names.sort_unstable();
        names.dedup();
        match names.is_empty() {
            true => "name what it watches under `monitor:`, as in server: {port: 8080}".to_owned(),
            false => format!("its monitors are {}", names.join(", ")),
        }
    }
}

/// Whether what a monitor samples depends on what it finds.
fn depends(kind: &MonitorKind) -> bool {
    match kind {
        MonitorKind::Prometheus(own) => own.metrics.is_empty(),
        MonitorKind::Command(_) => true,
        _ => false,
    }
}

/// The names of what a monitor of a plan samples; none: only the monitor knows them, or that depends on what it finds.
fn sampled(own: &model::Monitor) -> Vec<String> {
    use MonitoredKind::{Cgroup, Host, Jvm, Nginx, Postgres, Process};
    Monitored::names(match own.kind {
        MonitorKind::Host(_) => &[Host],
        MonitorKind::Pid(_)
        | MonitorKind::Port(_)
        | MonitorKind::Process(_)
        | MonitorKind::Cgroup(_) => &[Process, Jvm, Cgroup],
        MonitorKind::Nginx(_) => &[Nginx],
        MonitorKind::Postgres(_) => &[Postgres],
        MonitorKind::Prometheus(_) | MonitorKind::Command(_) => &[],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(monitors: &str) -> Plan {
        let text = format!(
            "target: builtin\nmonitor: {monitors}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}"
        );
        crate::load_str("plan", &text).expect("a plan").plan
    }

    #[test]
    fn a_threshold_asks_a_monitor_for_what_it_samples() {
        let plan = plan("{server: {port: 8080}, app: {command: [cat, /dev/null]}}");
        let started = vec![("db".to_owned(), vec!["active".to_owned()])];
        let known = KnownMetrics { monitors: started, ..KnownMetrics::default() };
        for (text, said) in [
            ("cpu(server) < 80%", None),
            ("max(heap_used, monitor: server) < 1GiB", None),
            ("last(whatever, monitor: app) < 5", None),
            ("active(db) < 20", None),
            ("p99 < 1s", None),
            ("active(server) < 20", Some(("does not sample `active`", "it samples cpu, "))),
            ("cpu(db) < 80%", Some(("does not sample `cpu`", "it samples active"))),
            ("cpu(web) < 80%", Some(("has no monitor `web`", "its monitors are app, db, server"))),
        ] {
            let threshold = Threshold::parse(text).expect(text);
            let found = known.refused(&plan, &threshold);
            let is_said = match (&found, said) {
                (None, None) => true,
                (Some((message, help)), Some((one, other))) => {
                    message.contains(one) && help.starts_with(other)
                }
                _ => false,
            };
            assert!(is_said, "{text}: {found:?}");
        }
    }
}
