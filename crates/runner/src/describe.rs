//! What a run is, for its result: the plan, its scenarios and loads in words, the machine, digests.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use squall_base::hex::hex;
use squall_base::units::{self, counted};
use squall_engine::Program;
use squall_plan::model::{Closed, End, Load, Open, Plan, Scenario, Target, Warmup};
use squall_plan::node_files;
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_report::{Machine, Meta, PlannedLoad, ScenarioMeta};

use crate::mask;
use crate::prepared::Prepared;
use crate::proc::cores;

/// What is known before the run of a plan as it will run, by at most so many `workers`.
pub(crate) fn meta(prepared: &Prepared<'_>, plan: &Plan, workers: u32) -> Meta {
    let (program, options) = (&prepared.load, prepared.options);
    let mask = |text: &String| program.secrets.mask_own(text);
    let target = prepared.compile.target.clone().or_else(|| plan_target(plan));
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    Meta {
        squall: env!("CARGO_PKG_VERSION").to_owned(),
        file: prepared.loaded.sources.plan_file().map(str::to_owned),
        target: target.as_ref().map(mask),
        command: options.command.iter().map(mask).collect(),
        nodes: vec![machine(prepared, workers)],
        scenarios: scenarios(plan, program),
        digests: digests(plan),
        labels: options.labels.iter().map(|(name, value)| (name.clone(), mask(value))).collect(),
        strict: options.strict,
        plan: program.secrets.mask(&plan.name),
        started_unix: started.map_or(0.0, |time| time.as_secs_f64()),
        seed: program.seed,
        warmup: match plan.warmup {
            Warmup::Auto => "auto".to_owned(),
            Warmup::None => "none".to_owned(),
            Warmup::Fixed(time) => time.as_secs_f64().to_string(),
        },
        constant_s: program.constant_s(),
        thresholds: thresholds(plan, program),
    }
}

/// This machine, with so many workers.
fn machine(prepared: &Prepared<'_>, workers: u32) -> Machine {
    Machine {
        host: host_name(),
        os: system(),
        cpu: processor(),
        memory_bytes: memory_bytes(),
        cpus: cores(),
        workers: u64::from(workers),
        io: prepared.shared.io().label().to_owned(),
        ..Machine::default()
    }
}

fn thresholds(plan: &Plan, program: &Program) -> Vec<String> {
    let shown = |text: &str| mask::threshold(text, &program.secrets);
    plan.thresholds.iter().map(|own| shown(&own.text.value)).collect()
}

/// The plan's own target, as it was written.
fn plan_target(plan: &Plan) -> Option<String> {
    match plan.target.as_ref()? {
        Target::Builtin => Some("builtin".to_owned()),
        Target::Url(url) => Some(url.source().to_owned()),
    }
}

/// The scenarios of a plan with their loads.
fn scenarios(plan: &Plan, program: &Program) -> Vec<ScenarioMeta> {
    let shared = plan.load.as_ref().map(|load| describe_load(&load.value)).unwrap_or_default();
    let of = |scenario: &Scenario| ScenarioMeta {
        name: scenario.name.value.clone(),
        load: match (&scenario.load, &scenario.weight) {
            (Some(load), _) => describe_load(&load.value),
            (None, Some(weight)) => format!("weight {} of {shared}", weight.value),
            (None, None) => String::new(),
        },
        planned: planned(plan, program, scenario),
    };
    plan.scenarios.iter().map(of).collect()
}

/// What the plan asks for of a scenario over time.
fn planned(plan: &Plan, program: &Program, scenario: &Scenario) -> PlannedLoad {
    let planned = program.planned().find(|own| own.scenario == scenario.name.value);
    let load = scenario.load.as_ref().or(plan.load.as_ref());
    planned.map_or_else(PlannedLoad::default, |own| PlannedLoad {
        unit: if own.is_open { "arrivals" } else { "users" }.to_owned(),
        points: own.curve.points().to_vec(),
        after: scenario.after.iter().map(|name| name.value.clone()).collect(),
        until_done: load.is_some_and(|load| load.value.ends_when_done()),
    })
}

/// The plan as it is run: with the target that takes the place of its own.
pub(crate) fn as_run(plan: &Plan, target: Option<&str>) -> Plan {
    let mut plan = plan.clone();
    match target {
        Some("builtin") => plan.target = Some(Target::Builtin),
        // A text without expressions is a good template.
        Some(url) => {
            let literal = url.replace("${", "$${");
            let template = Template::parse(&literal, Span::default()).ok();
            plan.target = template.map(Target::Url).or(plan.target);
        }
        None => {}
    }
    plan
}

/// SHA-256 of a plan as it is stored, without its seed, so that a stored plan, which has that of its run, counts as the plan
/// that it was made of; and of its data files by name; those that cannot be read are left out.
fn digests(plan: &Plan) -> BTreeMap<String, String> {
    let text = squall_plan::yaml::print(&Plan { seed: None, ..plan.clone() }, true);
    let data = plan.data.iter().filter_map(|data| {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
        for path in node_files::all(&data.file.value) {
            let mut file = File::open(path).ok()?;
            loop {
                match file.read(&mut buffer).ok()? {
                    0 => break,
                    read => hash.update(&buffer[..read]),
                }
            }
        }
        Some((format!("data {}", data.name.value), hex(&hash.finalize())))
    });
    [("plan".to_owned(), hex(&Sha256::digest(text.as_bytes())))].into_iter().chain(data).collect()
}

/// The name of the machine.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Operating system and kernel of this machine.
pub fn system() -> String {
    let os = fs::read_to_string("/proc/version").unwrap_or_default();
    os.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// The processor, as the system names it; empty if it does not.
pub fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or(String::new(), |(_, model)| model.trim().to_owned())
}

/// Memory of the machine, in bytes.
fn memory_bytes() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1_024)
}

/// A load in words.
pub fn describe_load(load: &Load) -> String {
    match load {
        Load::Closed(closed) => say_closed(closed),
        Load::Open(open) => say_open(open),
    }
}

fn say_closed(closed: &Closed) -> String {
    let mut words = Vec::new();
    if let Some(users) = closed.users {
        words.push(counted(users, "virtual user"));
    }
    for stage in &closed.stages {
        let users = counted(stage.level as u64, "user");
        words.push(format!("to {users} over {}", say(stage.over)));
    }
    let start = closed.start_time();
    if closed.stages.is_empty() && !start.is_zero() {
        words.push(format!("started over {}", say(start)));
    }
    if let Some(pacing) = closed.pacing {
        words.push(format!("an iteration every {}", say(pacing)));
    }
    if let Some(iterations) = closed.iterations {
        let end = if closed.end == End::Together { ", all end with the first" } else { "" };
        words.push(format!("{} each{end}", counted(iterations, "iteration")));
    }
    if let Some(iterations) = closed.total_iterations {
        words.push(format!("{} in total", counted(iterations, "iteration")));
    }
    words.extend(closed.duration.map(|length| format!("for {}", say(length))));
    words.join(", ")
}

fn say_open(open: &Open) -> String {
    let mut words = Vec::new();
    if let Some(rate) = open.rate {
        words.push(format!("{} arrivals", units::rate(rate)));
    }
    for stage in &open.stages {
        words.push(format!("to {} over {}", units::rate(stage.level), say(stage.over)));
    }
    if !open.ramp.is_zero() {
        words.push(format!("reached over {}", say(open.ramp)));
    }
    words.push(format!("at most {}", counted(open.max_users, "virtual user")));
    if let Some(iterations) = open.total_iterations {
        words.push(format!("{} in total", counted(iterations, "arrival")));
    }
    words.extend(open.duration.map(|length| format!("for {}", say(length))));
    words.join(", ")
}

fn say(time: Duration) -> String {
    units::print_duration(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_in_words_have_separators_and_plurals() {
        let said = |load: &str| {
            let text = format!(
                "target: builtin\nscenarios: {{a: {{load: {load}, steps: [{{get: /}}]}}}}\n"
            );
            let plan = crate::load_str("plan", &text).expect("a plan").plan;
            describe_load(&plan.scenarios[0].load.as_ref().expect("a load").value)
        };
        assert_eq!(said("{users: 2000, for: 1m}"), "2,000 virtual users, for 1m");
        assert_eq!(said("{users: 1, iterations: 1}"), "1 virtual user, 1 iteration each");
        assert_eq!(
            said("{stages: [{users: 1, over: 1s}, {users: 1500, over: 1s}]}"),
            "to 1 user over 1s, to 1,500 users over 1s"
        );
        assert_eq!(
            said("{rate: 5000/s, max_users: 3000, for: 1m}"),
            "5,000/s arrivals, at most 3,000 virtual users, for 1m"
        );
    }
}
