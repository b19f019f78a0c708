//! The modules of the larger crates, from the top down: each imports only modules that stand behind it in its crate's row.
//! But for a few that are listed, no file of a crate imports another that imports it, by whatever way.
//! `docs/develop/design.md` prints the table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports::{self, Imports};

/// Production lines beyond which a crate has a row.
const LARGE: usize = 5_000;

/// Crates, and folders of crates, whose files may import each other in circles. The translator of JMeter's plans is one object
/// in many files. So is what wraps the interpreter of scripts: a value has a scope, a scope makes values, and an error is
/// a value that is taken from a scope.
const KNOTTED: [&str; 2] = ["jmeter", "script/engine"];

/// Where the table stands in `docs/develop/design.md`.
const BEGIN: &str = "<!-- modules -->\n";
const END: &str = "<!-- end of modules -->\n";

/// A large crate, and its modules from the top down.
const MODULES: [(&str, &[&str]); 13] = [
    (
        "analysis",
        &[
            "batches",
            "compare",
            "definitions",
            "outcome",
            "recent",
            "throughput_gap",
            "confidence",
            "row_numbers",
            "validity",
            "odd_nodes",
            "steady",
            "threshold",
            "censored",
            "change",
            "totals",
            "long_run",
            "series",
        ],
    ),
    (
        "cli",
        &[
            "as_jmeter",
            "baseline",
            "check",
            "convert",
            "doctor",
            "experiment",
            "init",
            "k6",
            "limit",
            "node",
            "one_line",
            "report",
            "shell",
            "target",
            "trend",
            "try_plan",
            "fleet",
            "history",
            "compare",
            "run",
            "generator",
            "ui",
            "signals",
            "plans",
            "plan_feeds",
            "plan_monitors",
            "plan_profile",
            "plan_samples",
            "script_parts",
            "labels",
            "args",
            "files",
            "exit",
            "out",
        ],
    ),
    (
        "engine",
        &[
            "behaviour",
            "fuzz",
            "run",
            "sample",
            "session",
            "long_body",
            "post",
            "worker",
            "scripts",
            "clock",
            "record",
            "rows",
            "scope",
            "scratch",
            "found",
            "follow",
            "messages",
            "together",
            "user",
            "net",
            "trace",
            "turns",
            "shared_rows",
            "program",
            "roster",
            "progress",
            "parts",
            "profile",
            "shared_values",
        ],
    ),
    (
        "extract",
        &[
            "extractor",
            "resources",
            "between",
            "cost",
            "css",
            "documents",
            "links",
            "regex",
            "xpath",
            "body",
            "json",
            "well_formed",
            "charset",
            "cursor",
            "found",
            "markup",
            "fuel",
            "media_type",
            "error",
            "limits",
        ],
    ),
    ("fleet", &["simulation", "controller", "node", "record", "seal", "transport", "protocol"]),
    ("k6", &["secrets", "plan", "script", "output", "options", "summary", "golden"]),
    (
        "metrics",
        &[
            "sampled",
            "row_counts",
            "quantities",
            "columns",
            "slice",
            "slice_set",
            "metrics",
            "monitored",
            "checks",
            "load",
            "time_account",
            "self_metrics",
            "request_stats",
            "times",
            "names",
            "histogram",
            "source",
            "host_metrics",
            "error_kind",
            "codec",
        ],
    ),
    (
        "plan",
        &[
            "hoist",
            "yaml",
            "plan_secrets",
            "plan_files",
            "validate",
            "monitors",
            "series_selector",
            "within_a_node",
            "model",
            "feed_target",
            "keys",
            "node_files",
            "nodes",
            "files",
            "vars",
            "json",
            "template",
            "expr",
            "diagnostic",
            "secrets",
            "span",
            "value",
        ],
    ),
    (
        "report",
        &[
            "evaluate",
            "files",
            "trend",
            "history",
            "limit",
            "live",
            "no_parquet",
            "samples",
            "annotations",
            "compare",
            "experiment",
            "load",
            "export",
            "markdown",
            "openmetrics",
            "csv",
            "families",
            "folder",
            "hlog",
            "junit",
            "parquet",
            "cell",
            "html",
            "json",
            "recording",
            "totals_file",
            "lines",
            "text",
            "tracks",
            "target",
            "group_path",
            "planned",
            "run",
            "profile",
            "markup",
            "output",
            "curves",
            "document",
            "distribution",
            "meta",
            "fleet",
            "node_report",
            "generator",
            "series",
            "schema",
        ],
    ),
    (
        "runner",
        &[
            "calibration",
            "check",
            "limit",
            "run",
            "trial",
            "collect",
            "describe",
            "sections",
            "guards",
            "prepared",
            "load_source",
            "handle",
            "process_usage",
            "stages",
            "builtin",
            "headroom",
            "kernel_settings",
            "sink",
            "capacity",
            "mask",
            "options",
            "phase",
            "available",
            "overrides",
            "plans",
            "known_metrics",
            "host_monitor",
            "source_addresses",
            "tls_files",
            "host_sampler",
            "monitor",
            "error",
            "network_interfaces",
            "proc",
        ],
    ),
    (
        "script",
        &[
            "fetch",
            "disk",
            "fuzz",
            "stage",
            "written",
            "graph",
            "host",
            "origin",
            "library",
            "module",
            "engine",
            "event",
            "files",
            "lock",
            "shared_data",
            "wait",
            "http",
        ],
    ),
    (
        "target",
        &[
            "server",
            "connections",
            "http2",
            "listener",
            "tls",
            "options",
            "serve",
            "routes",
            "exchange",
            "conn",
            "transport",
            "worker",
            "clock",
            "home",
            "site",
            "counters",
            "http",
            "random",
            "session",
            "watched",
        ],
    ),
    (
        "wire",
        &[
            "connect",
            "event_loop",
            "virtual_time",
            "exchange",
            "http2",
            "client",
            "link",
            "intake",
            "names",
            "shared",
            "virtual_network",
            "message",
            "resolve",
            "ring",
            "tls",
            "h1",
            "http2_fields",
            "progress",
            "sys",
            "throttle",
            "arrivals",
            "decompress",
            "socket_facts",
            "peer",
            "timeline",
            "error",
            "body",
            "tls_failure",
            "settings",
            "origin",
            "via",
        ],
    ),
];

#[test]
fn files_do_not_import_each_other_in_circles() {
    for folder in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the crates")
    {
        let name = folder.expect("a readable entry").file_name().to_string_lossy().into_owned();
        let mut cycles = imports::cycles(&imports::of(&imports::folder(&name)));
        for knot in KNOTTED.into_iter().filter(|knot| Path::new(knot).starts_with(&name)) {
            let before = cycles.len();
            cycles.retain(|cycle| {
                !cycle.iter().all(|file| Path::new(&name).join(file).starts_with(knot))
            });
            assert!(
                cycles.len() < before,
                "{knot} has no circle any more: take it out of the list"
            );
        }
        assert!(cycles.is_empty(), "files of {name} that import each other: {cycles:#?}");
    }
}

#[test]
fn modules_import_only_what_is_below_them() {
    let rows: BTreeMap<&str, &[&str]> = MODULES.into_iter().collect();
    for folder in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the crates")
    {
        let name = folder.expect("a readable entry").file_name().to_string_lossy().into_owned();
        let row = rows.get(name.as_str());
        if KNOTTED.contains(&name.as_str()) || imports::lines(&imports::folder(&name)) <= LARGE {
            assert!(row.is_none(), "{name} needs no row");
            continue;
        }
        let row = row.unwrap_or_else(|| panic!("{name} has grown large: give it a row"));
        let imports = between_modules(&imports::of(&imports::folder(&name)));
        let all: BTreeSet<&str> = imports.keys().map(String::as_str).collect();
        assert_eq!(row.iter().copied().collect::<BTreeSet<_>>(), all, "the modules of {name}");
        for (module, imported) in &imports {
            let place = |module: &str| row.iter().position(|other| *other == module);
            for (other, names) in imported {
                assert!(
                    place(module) < place(other),
                    "{name}: {module} must not import {other} ({names:?})"
                );
            }
        }
    }
}

#[test]
fn the_design_prints_the_modules() {
    let mut table = String::from("| crate | modules |\n| --- | --- |\n");
    for (name, modules) in MODULES {
        let modules: Vec<String> = modules.iter().map(|module| format!("`{module}`")).collect();
        table += &format!("| `{name}` | {} |\n", modules.join(", "));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/develop/design.md");
    let text = std::fs::read_to_string(path).expect("design.md is readable");
    let (before, rest) = text.split_once(BEGIN).expect("design.md has a place for the table");
    let (stored, after) = rest.split_once(END).expect("the place has an end");
    if std::env::var_os("SQUALL_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("design.md is writable");
        return;
    }
    assert!(
        stored == table,
        "the table of modules in design.md is not current: set SQUALL_UPDATE_DOCS=1"
    );
}

/// The modules right below a crate's root, and what each imports of the others. The root only re-exports.
fn between_modules(imports: &Imports) -> Imports {
    let module = |path: &str| {
        let first = path.split('/').next().unwrap_or(path);
        first.trim_end_matches(".rs").to_owned()
    };
    let mut between = Imports::new();
    for (file, imported) in imports.iter().filter(|(file, _)| !is_root(file)) {
        let taken = between.entry(module(file)).or_default();
        for (other, names) in imported.iter().filter(|(other, _)| module(other) != module(file)) {
            taken.entry(module(other)).or_default().extend(names.iter().cloned());
        }
    }
    between
}

fn is_root(file: &str) -> bool {
    matches!(file, "lib.rs" | "main.rs")
}
