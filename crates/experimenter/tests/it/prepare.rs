//! What is found in the file of an experiment before anything is started.

use std::time::Duration;

use squall_experimenter::{Permissions, PlanFacts, prepare};
use squall_front::Values;

use crate::scripted::{prepared, text};

const PLAN: &str = "plan: {target: 'http://127.0.0.1:1', vars: {n: 5}, scenarios: {a: {load: {users: 1, for: 2s}, steps: [{get: '/'}]}}}";

fn plans(file: &str) -> Vec<serde_json::Value> {
    let own = prepared(file).unwrap_or_else(|error| panic!("{error}"));
    own.variants.into_iter().map(|own| own.plan).collect()
}

#[test]
fn each_variant_has_its_plan() {
    let file = format!(
        "{PLAN}
factors:
  users: {{load: users, values: [2, 3]}}
  reuse: {{plan: connections.reuse, values: [per_user, per_iteration]}}
warmup: 1s
target: 'http://127.0.0.1:2'
"
    );
    let own = prepared(&file).unwrap();
    assert_eq!(own.variants[1].name, "users 2, per_iteration");
    assert_eq!(
        own.variants[1].sets,
        ["load: users = 2", "plan: connections.reuse = per_iteration"]
    );
    assert_eq!(own.variants[1].length, Some(Duration::from_secs(2)));
    assert_eq!(own.block_length(), Some(Duration::from_secs(8)));
    let plans = plans(&file);
    let of = |pointer: &str| {
        plans.iter().map(|own| own.pointer(pointer).unwrap().clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("/scenarios/a/load/users"), [2, 2, 3, 3]);
    let reuse = ["per_user", "per_iteration"];
    assert_eq!(of("/connections/reuse"), [reuse, reuse].concat());
    assert_eq!(of("/warmup"), ["1s"; 4]);
    assert_eq!(of("/target"), ["http://127.0.0.1:2"; 4]);
}

#[test]
fn a_variable_is_known_in_the_plan_and_in_all_commands() {
    let file = "
plan: {target: 'http://127.0.0.1:${port}', scenarios: {a: {load: {users: '${n}', for: 2s}, steps: [{get: '/${kind}'}]}}}
variants:
  old: {vars: {port: 81, n: 3, kind: a, cpu: 0}}
  new: {vars: {port: 82, n: 4, kind: b, cpu: 1}}
prepare: [[sh, -c, 'build ${kind}']]
servers:
  web:
    command: ['${kind}-server', './x', '--port=${port}']
    env: {MODE: '${kind}'}
    directory: 'in/${kind}'
    cpus: '${cpu}'
    ready: {http: 'http://127.0.0.1:${port}/health'}
";
    let own = prepared(file).unwrap();
    let new = &own.variants[1];
    assert_eq!(new.programs.prepare, [["sh", "-c", "build b"]]);
    let web = &new.programs.servers[0];
    assert_eq!(web.command, ["b-server", "./x", "--port=82"]);
    assert_eq!(web.env, [("MODE".to_owned(), "b".to_owned())]);
    assert_eq!(web.directory.display().to_string(), "/folder/in/b");
    let plans = plans(file);
    assert_eq!(plans[1].pointer("/scenarios/a/load/users"), Some(&4.into()));
    assert_eq!(plans[1].pointer("/vars/port"), Some(&82.into()));
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    for (rest, place, said) in [
        ("factors: {kind: [a, b]}", "it.yaml:2:11", "nothing uses factor `kind`"),
        ("variants: {a: {vars: {x: 1}}, b: {}}", "it.yaml:2:23", "nothing uses the variable `x`"),
        ("factors: {kind: [a, a]}", "it.yaml:2:11", "has the value `a` twice"),
        (
            "factors: {r: {plan: connections.reus, values: [a, b]}}",
            "it.yaml:2:11",
            "did you mean `reuse`?",
        ),
        (
            "factors: {r: {plan: connections.reuse, values: [per_user, b]}}",
            "it.yaml:2:11",
            "factor `r`",
        ),
        ("factors: {r: {load: rate, values: [1, 2]}}", "it.yaml:2:11", "no load whose `rate`"),
        ("factors: {r: {load: users, values: [1, many]}}", "it.yaml:2:11", "factor `r`"),
        (
            "factors: {k: [a, b]}\nserver: {command: [x, '${j}']}",
            "it.yaml:3:26",
            "unknown variable `j`",
        ),
        (
            "variants: {a: {vars: {x: 1}}, b: {}}\nserver: {command: [x, '${x}']}",
            "it.yaml:3:26",
            "variant `b`",
        ),
        (
            "factors: {k: [a, b]}\nserver: {command: [x, '${k}'], ready: {http: 'https://a'}}",
            "it.yaml:3",
            "http://",
        ),
        (
            "factors: {k: [a, b]}\nserver: {command: [x, '${k}']}\nmeasure: [p99, speed]",
            "it.yaml:4:16",
            "measure `speed`",
        ),
        (
            "factors: {k: [a, b]}\nserver: {command: [x, '${k}']}\nmeasure: [p99, p99]",
            "it.yaml:4:16",
            "twice",
        ),
        ("factors: {k: [a, b]}\nserver: {command: [x, '${k}'], cpus: x}", "it.yaml:3", "cpus"),
        (
            "factors: {k: [a, b]}\nserver: {command: [x, '${k}']}\ncount_invalid: [ports, port]",
            "it.yaml:4:24",
            "unknown rule of validity `port`",
        ),
    ] {
        let error = prepared(&format!("{PLAN}\n{rest}")).expect_err(rest);
        assert!(error.contains(said) && error.contains(place), "{rest}:\n{error}");
    }
    let many = (0..17).map(|own| own.to_string()).collect::<Vec<_>>().join(", ");
    let factors =
        format!("{{a: {{load: users, values: [{many}]}}, b: {{plan: seed, values: [{many}]}}}}");
    let error = prepared(&format!("{PLAN}\nfactors: {factors}")).unwrap_err();
    assert!(error.contains("17 x 17 are more than 256"), "{error}");
}

#[test]
fn what_is_not_allowed_is_refused_before_anything_is_started() {
    let refused = |rest: &str, permissions: &Permissions| {
        let file = format!("{PLAN}\n{rest}");
        let error = prepare(text(&file), &Values::default(), permissions, None, &|_, _| {
            Ok(PlanFacts::default())
        });
        error.map(drop).unwrap_err()
    };
    let none = Permissions::default();
    for rest in [
        "factors: {k: [a, b]}\nserver: {command: [x, '${k}']}",
        "factors: {k: [a, b]}\nbefore: [[x, '${k}']]",
    ] {
        let error = refused(rest, &none);
        assert!(error.contains("--allow-exec") && error.contains("it.yaml:3:"), "{error}");
    }
    let rest = "factors: {k: {sysctl: net.ipv4.tcp_tw_reuse, values: [0, 1]}}";
    let exec = Permissions { exec: true, sysctl: false };
    let error = refused(rest, &exec);
    assert!(error.contains("--allow-sysctl") && error.contains("it.yaml:2:"), "{error}");
}

#[test]
fn the_same_file_has_the_same_digest_and_another_plan_another_one() {
    let file = |users: u32| {
        let plan = PLAN.replace("users: 1", &format!("users: {users}"));
        prepared(&format!("{plan}\nfactors: {{r: {{plan: seed, values: [1, 2]}}}}")).unwrap().digest
    };
    assert_eq!(file(1), file(1));
    assert_ne!(file(1), file(2));
}

#[test]
fn a_plan_is_given_only_the_variables_that_it_uses() {
    let file = "
plan: {target: 'http://127.0.0.1:1', vars: {own: 1}, scenarios: {a: {load: {users: '${n}', for: 2s}, steps: [{get: '/${kind}'}]}}}
factors: {kind: [a, b], n: [1, 2], jar: [x, y], own: [1, 2]}
server: {command: [run, '${jar}', '${own}']}
";
    let vars = plans(file)[7]["vars"].clone();
    assert_eq!(
        vars,
        serde_json::json!({"own": 2, "kind": "a"}),
        "n stands in the load, jar in a command alone"
    );
}

#[test]
fn what_would_be_done_is_told_without_a_seed_that_no_run_will_have() {
    let file = format!(
        "{PLAN}\nfactors: {{kind: [a, b]}}\nserver: {{command: [no-such-program, '${{kind}}']}}"
    );
    let checked = |file: &str| squall_experimenter::check(&prepared(file).unwrap());
    let drawn = checked(&file);
    assert!(drawn.contains("--seed N fixes it") && !drawn.contains("block 1:"), "{drawn}");
    assert!(drawn.contains("needs --allow-exec: it starts programs"), "{drawn}");
    assert!(drawn.contains("`no-such-program` (server `server`) was not found"), "{drawn}");
    assert!(!drawn.contains("--allow-sysctl"), "{drawn}");
    let given = checked(&format!("{file}\nseed: 7"));
    assert!(given.contains("(seed 7)") && given.contains("  block 5: variants "), "{given}");
    let long = "x".repeat(30);
    let command = vec![format!("'{long}'"); 9].join(", ");
    let long = checked(&file.replace("'${kind}'", &format!("'${{kind}}', {command}")));
    assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
}

#[test]
fn programs_that_are_not_there_are_named_together() {
    let plan = PLAN.replace("vars:", "monitor: {m: {command: [no-monitor, x]}}, vars:");
    let file = format!(
        "{plan}
factors: {{kind: [a, b]}}
prepare: [[no-build, '${{kind}}'], [./built-later]]
before: [[sh, -c, 'true']]
after: [[no-build]]
servers:
  web: {{command: [no-web], version: [no-version]}}
  db: {{command: [here], env: {{PATH: '/nowhere'}}}}
"
    );
    let missing = squall_experimenter::missing_programs(&prepared(&file).unwrap()).unwrap();
    assert_eq!(
        missing,
        "`no-build` (prepare), `no-build` (after), `no-web` (server `web`), `no-version` (version of server `web`), `here` \
         (server `db`), `no-monitor` (monitor `m`) were not found on the PATH: install them, or write their paths"
    );
    let there =
        format!("{PLAN}\nfactors: {{kind: [a, b]}}\nserver: {{command: [sh, '${{kind}}']}}");
    assert_eq!(squall_experimenter::missing_programs(&prepared(&there).unwrap()), None);
}
