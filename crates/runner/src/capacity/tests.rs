//! What plans need of machines whose resources are given.

use super::*;
use std::path::Path;

fn needs(plan: &str, has: &Available) -> Vec<Need> {
    let options = squall_plan::vars::LoadOptions::default();
    let loaded = squall_plan::yaml::load_str("p", plan, Path::new(""), &options);
    Demand::of(&loaded.expect("a good plan").plan, 1, false).needs(has, None)
}

pub(crate) const HAS: Available = Available {
    files: 1_024,
    files_hard: 4_096,
    tables: false,
    ports: (32_768, 60_999),
    time_wait: 0,
    memory: 1 << 30,
    cpus: 2,
    us_per_request: Some(10.0),
};

fn plan(load: &str, connections: &str) -> String {
    format!(
        "target: http://a\nconnections: {connections}\nscenarios: {{a: {{load: {load}, steps: [{{get: /}}, {{get: /}}]}}}}"
    )
}

pub(crate) fn workers_of(workers: u32, own_files: bool) -> RunOptions {
    RunOptions { workers, own_files, ..RunOptions::default() }
}

#[test]
fn a_modest_plan_needs_little() {
    let needs = needs(&plan("{users: 100, for: 1m}", "{}"), &HAS);
    assert!(needs.iter().all(|need| need.help.is_empty()), "{needs:?}");
    assert_eq!(needs[0].text, "140 open files if all users are busy, 1,024 allowed");
    assert_eq!(
        needs[3].text,
        "as many requests as the response times allow, at 10.0 µs each: up to 200,000/s"
    );
}

#[test]
fn what_is_missing_has_the_least_change_first() {
    let users = needs(&plan("{users: 2000, for: 1m}", "{}"), &HAS);
    assert!(users[0].help[0].contains("size: 984"), "{users:?}");
    assert!(users[0].help[1].contains("`ulimit -n 2040` (now 1024"), "{users:?}");
    let more = needs(&plan("{users: 9000, for: 1m}", "{}"), &HAS);
    assert!(more[0].help[1].contains("to 9040 (now 1024, at most 4096)"), "{more:?}");
    let closing = plan("{rate: 900/s, for: 1m, max_users: 10}", "{reuse: per_iteration}");
    let ports = needs(&closing, &HAS);
    assert!(ports[1].text.starts_with("54,010 local ports"), "{ports:?}");
    assert_eq!(ports[1].help.len(), 3);
    assert!(ports[1].help[1].contains("use 2 source addresses"), "{ports:?}");
    assert!(ports[1].help[2].contains("1024 65535"), "{ports:?}");
    let fast = needs(&plan("{rate: 90000/s, for: 1m, max_users: 10}", "{}"), &HAS);
    assert!(fast[3].text.starts_with("1.80 CPUs for 180,000/s requests"), "{fast:?}");
    assert_eq!(fast[3].help, ["use a lower rate, or 2 machines like this one"]);
}

/// Ten users, each with a file that it sends and one that it writes, or two of a form at the same time as one.
#[test]
fn files_that_requests_send_and_write_are_open_files_too() {
    let of = |step: &str| {
        let text = plan("{users: 10, for: 1m}", "{}").replacen("{get: /}", step, 1);
        needs(&text, &HAS)[0].text.clone()
    };
    let open = |files: u64| format!("{files} open files if all users are busy, 1,024 allowed");
    assert_eq!(of("{get: /}"), open(50));
    assert_eq!(of("{post: /, body: {file: a}, response_body: {file: b}}"), open(70));
    let form = "{post: /, multipart: {a: {file: a}, b: {file: b}, c: d}}";
    assert_eq!(of(form), open(70));
    assert_eq!(
        of(&format!("{{parallel: [{form}, {{put: /, body: {{file: a}}}}, {{think: 1s}}]}}")),
        open(90)
    );
    // With them less room is left for connections.
    let many =
        plan("{users: 900, for: 1m}", "{}").replacen("get: /", "post: /, body: {file: a}", 1);
    let help = &needs(&many, &HAS)[0].help;
    assert!(help[0].contains("pool_size: 84") && help[1].contains("ulimit -n 1840"), "{help:?}");
}

#[test]
fn requests_at_the_same_time_need_connections_of_their_own() {
    let steps = "{parallel: {limit: 2, steps: [{get: /}, {group: g, steps: [{parallel: [{get: /}, {get: /}, {get: /}]}]}, {get: /}]}}";
    let text = plan("{users: 100, for: 1m}", "{}").replacen("{get: /}", steps, 1);
    assert_eq!(needs(&text, &HAS)[0].text, "440 open files if all users are busy, 1,024 allowed");
    let text = plan("{users: 100, for: 1m}", "{}").replacen("get: /", "get: /, resources: true", 1);
    assert_eq!(needs(&text, &HAS)[0].text, "640 open files if all users are busy, 1,024 allowed");
}

/// With tables of their own, workers have room for the users of closed loads: there are as many as it
/// takes, unless their number is given.
#[test]
fn workers_have_tables_of_their_own_where_one_is_too_small() {
    let has = Available { tables: true, ..HAS };
    let demand = |load: &str, builtin| {
        let options = squall_plan::vars::LoadOptions::default();
        let plan = plan(load, "{}");
        let loaded = squall_plan::yaml::load_str("p", &plan, Path::new(""), &options);
        Demand::of(&loaded.expect("a good plan").plan, 1, builtin)
    };
    let few = demand("{users: 900, for: 1m}", false);
    assert_eq!(few.workers(&has, None), workers_of(2, false));
    let many = demand("{users: 9000, for: 1m}", false);
    assert_eq!(many.workers(&has, None), workers_of(10, true));
    assert_eq!(many.workers(&has, Some(3)), workers_of(3, true));
    assert_eq!(many.workers(&HAS, None), workers_of(2, false));
    let needs = many.needs(&has, None);
    assert!(needs[0].help.is_empty(), "{needs:?}");
    assert_eq!(
        needs[0].text,
        "9,104 open files if all users are busy, 1,024 allowed in the table of each of 10 workers"
    );
    let open = demand("{rate: 5/s, for: 1m, max_users: 9000}", false);
    assert_eq!(open.workers(&has, None), workers_of(2, true));
    assert!(open.needs(&has, None)[0].help[0].ends_with("`-w 10`"), "{:?}", open.needs(&has, None));
    let builtin = demand("{users: 9000, for: 1m}", true);
    assert_eq!(builtin.workers(&has, None), workers_of(2, true));
    let needs = builtin.needs(&has, None);
    assert!(needs[0].help[0].contains("size: 976"), "{needs:?}");
}

/// There is a most of workers, and what needs more is refused with what helps.
#[test]
fn what_no_number_of_workers_can_hold_is_hopeless() {
    let has = Available { tables: true, files_hard: 1 << 20, memory: 1 << 50, ..HAS };
    let demand = |users: u64, connections: &str| {
        let options = squall_plan::vars::LoadOptions::default();
        let plan = plan(&format!("{{users: {users}, for: 1m}}"), connections);
        let loaded = squall_plan::yaml::load_str("p", &plan, Path::new(""), &options);
        Demand::of(&loaded.expect("a good plan").plan, 1, false)
    };
    let many = demand(40_000, "{}");
    assert_eq!(many.hopeless(&has, None), []);
    let RunOptions { workers, .. } = many.workers(&has, None);
    assert!(workers < MAX_WORKERS && many.needs(&has, None)[0].help.is_empty(), "{workers}");
    let too_many = demand(1_000_000_000, "{}");
    assert_eq!(too_many.workers(&has, None), workers_of(MAX_WORKERS, true));
    let needs = too_many.hopeless(&has, None);
    assert_eq!((needs[0].what, needs[0].help.len()), ("files", 2), "{needs:?}");
    assert_eq!(too_many.workers(&has, Some(3)), workers_of(3, true));
    assert_eq!(too_many.hopeless(&has, Some(3)), []);
    let pooled = demand(1_000_000_000, "{reuse: pool, pool_size: 10}");
    assert_eq!(pooled.hopeless(&has, None), []);
    let needs = pooled.hopeless(&HAS, None);
    assert_eq!((needs[0].what, needs.len()), ("memory", 1), "{needs:?}");
}

/// Advice never asks for less than there is.
#[test]
fn nothing_is_made_smaller() {
    let wide = Available { ports: (1_024, 65_535), ..HAS };
    let closing = plan("{rate: 2000/s, for: 1m, max_users: 10}", "{reuse: per_iteration}");
    let ports = needs(&closing, &wide);
    assert!(!ports[1].help.iter().any(|help| help.contains("sysctl")), "{ports:?}");
    let shared = needs(&plan("{users: 5000, for: 1m}", "{reuse: pool, pool_size: 100}"), &HAS);
    assert!(shared[0].help.is_empty(), "{shared:?}");
}
