//! What is wrong with the profile of a plan.

use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{Monitor, MonitorKind, Plan};

use crate::begin::Begin;

/// What is wrong with a plan's profile, if it has one. `typed` are the monitors of the command line.
pub fn problem(plan: &Plan, typed: &[Monitor], allow_exec: bool) -> Option<Diagnostic> {
    let profile = plan.profile.as_ref()?;
    if let (Some(when), Err(error)) = (&profile.when, Begin::of(profile)) {
        return Some(Diagnostic::error(when.span, error));
    }
    let (name, span) = (profile.process.value.as_str(), profile.process.span);
    let monitors = || typed.iter().chain(&plan.monitor);
    match monitors().find(|own| own.name.value == name) {
        Some(own) if !is_of_processes(&own.kind) => {
            let message = format!("monitor `{name}` samples something other than processes");
            let help = "a profile needs a monitor with `pid`, `port`, `process` or `cgroup`";
            Some(Diagnostic::error(span, message).with_help(help))
        }
        None => {
            let names: Vec<String> = monitors()
                .filter(|own| is_of_processes(&own.kind))
                .map(|own| format!("`{}`", own.name.value))
                .collect();
            let help = match names.is_empty() {
                true => {
                    format!("add `monitor: {{{name}: {{port: 8080}}}}`, with the target's port")
                }
                false => format!("monitors of processes: {}", names.join(", ")),
            };
            let message = format!("there is no monitor `{name}`");
            Some(Diagnostic::error(span, message).with_help(&help))
        }
        Some(_) => (!allow_exec).then(|| {
            Diagnostic::error(span, "a profile runs programs, which is not allowed")
                .with_help("add --allow-exec if you trust the plan")
        }),
    }
}

fn is_of_processes(kind: &MonitorKind) -> bool {
    matches!(
        kind,
        MonitorKind::Pid(_)
            | MonitorKind::Port(_)
            | MonitorKind::Process(_)
            | MonitorKind::Cgroup(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(profile: &str, allow_exec: bool) -> Option<String> {
        let text = format!(
            "target: http://127.0.0.1:8080\nprofile: {profile}\nmonitor: {{server: {{port: 8080}}, here: {{host: local}}}}\n\
             scenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}"
        );
        let loaded = squall_runner::load_str("plan.yaml", &text).expect("a plan");
        let found = problem(&loaded.plan, &[], allow_exec)?;
        Some(loaded.sources.render(&found))
    }

    #[test]
    fn each_problem_is_told_with_its_place() {
        assert_eq!(told("{process: server, at: 1s}", true), None);
        for (profile, allow_exec, said) in [
            ("{process: server, at: 1s}", false, "add --allow-exec"),
            ("{process: servre, at: 1s}", true, "monitors of processes: `server`"),
            ("{process: here, at: 1s}", true, "something other than processes"),
            ("{process: server, when: \"p99 > 1s over 5s\"}", true, "leave out `over`"),
        ] {
            let text = told(profile, allow_exec).expect(profile);
            assert!(text.contains(said) && text.contains("plan.yaml:2:"), "{profile}: {text}");
        }
    }
}
