//! The architecture, as a test: which crate may import which, and which of its modules.

mod imports;
mod modules;

use std::collections::BTreeMap;
use std::process::Command;

/// A crate, and the crates of the workspace that it may import.
const MAY_IMPORT: [(&str, &[&str]); 31] = [
    (
        "squall",
        &[
            "squall-analysis",
            "squall-base",
            "squall-engine",
            "squall-experimenter",
            "squall-extract",
            "squall-feeds",
            "squall-fleet",
            "squall-front",
            "squall-k6",
            "squall-limit",
            "squall-live",
            "squall-load",
            "squall-metrics",
            "squall-monitor",
            "squall-outbound",
            "squall-plan",
            "squall-profiler",
            "squall-report",
            "squall-runner",
            "squall-script",
            "squall-serve",
            "squall-supervisor",
            "squall-target",
            "squall-ui",
            "squall-wire",
        ],
    ),
    (
        "squall-ui",
        &["squall-base", "squall-live", "squall-report", "squall-runner", "squall-serve"],
    ),
    (
        "squall-live",
        &[
            "squall-analysis",
            "squall-base",
            "squall-load",
            "squall-metrics",
            "squall-plan",
            "squall-report",
            "squall-runner",
        ],
    ),
    (
        "squall-monitor",
        &["squall-base", "squall-metrics", "squall-outbound", "squall-plan", "squall-runner"],
    ),
    ("squall-outbound", &["squall-base", "squall-plan"]),
    (
        "squall-feeds",
        &[
            "squall-base",
            "squall-metrics",
            "squall-outbound",
            "squall-plan",
            "squall-report",
            "squall-runner",
            "squall-serve",
        ],
    ),
    (
        "squall-fleet",
        &[
            "squall-base",
            "squall-engine",
            "squall-load",
            "squall-metrics",
            "squall-plan",
            "squall-report",
            "squall-runner",
        ],
    ),
    (
        "squall-profiler",
        &[
            "squall-analysis",
            "squall-metrics",
            "squall-plan",
            "squall-report",
            "squall-runner",
            "squall-supervisor",
        ],
    ),
    (
        "squall-runner",
        &[
            "squall-analysis",
            "squall-base",
            "squall-engine",
            "squall-front",
            "squall-limit",
            "squall-metrics",
            "squall-plan",
            "squall-report",
            "squall-target",
            "squall-wire",
        ],
    ),
    (
        "squall-fuzz-cases",
        &[
            "squall-analysis",
            "squall-engine",
            "squall-extract",
            "squall-feeds",
            "squall-fleet",
            "squall-jmeter",
            "squall-metrics",
            "squall-monitor",
            "squall-plan",
            "squall-report",
            "squall-script",
            "squall-serve",
            "squall-wire",
        ],
    ),
    (
        "squall-report",
        &[
            "squall-analysis",
            "squall-base",
            "squall-experiment",
            "squall-limit",
            "squall-load",
            "squall-metrics",
            "squall-plan",
        ],
    ),
    (
        "squall-engine",
        &[
            "squall-base",
            "squall-extract",
            "squall-load",
            "squall-metrics",
            "squall-plan",
            "squall-script",
            "squall-wire",
        ],
    ),
    (
        "squall-experimenter",
        &[
            "squall-analysis",
            "squall-base",
            "squall-experiment",
            "squall-front",
            "squall-plan",
            "squall-report",
            "squall-supervisor",
        ],
    ),
    ("squall-script", &["squall-base", "squall-quickjs"]),
    ("squall-quickjs", &[]),
    ("squall-supervisor", &[]),
    ("squall-wire", &["squall-base"]),
    ("squall-extract", &[]),
    ("squall-experiment", &["squall-base"]),
    ("squall-limit", &["squall-analysis", "squall-base", "squall-metrics"]),
    ("squall-load", &["squall-base"]),
    ("squall-analysis", &["squall-base", "squall-metrics"]),
    ("squall-metrics", &["squall-base"]),
    ("squall-front", &["squall-base", "squall-jmeter", "squall-k6", "squall-plan"]),
    ("squall-k6", &["squall-base", "squall-plan", "squall-script"]),
    ("squall-jmeter", &["squall-base", "squall-plan"]),
    ("squall-plan", &["squall-base"]),
    ("squall-target", &["squall-base"]),
    ("squall-serve", &[]),
    ("squall-base", &[]),
    ("squall-fuzz", &["squall-fuzz-cases"]),
];

#[test]
fn crates_import_only_what_the_design_allows() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.into_iter().collect();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert_eq!(packages.len(), allowed.len(), "a crate came or went: change the table too");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        for dependency in package["dependencies"].as_array().expect("a list") {
            let other = dependency["name"].as_str().expect("a name");
            // What only tests use may reach further: they hold two crates against each other.
            if other.starts_with("squall-") && dependency["kind"].is_null() {
                assert!(may.contains(&other), "{name} must not import {other}");
            }
        }
    }
}

/// Time comes into these as a value.
#[test]
fn what_is_pure_has_no_clock_and_no_io() {
    for name in ["analysis", "base", "load", "metrics"] {
        let folder = format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR"));
        let files = sources(folder.as_ref());
        assert!(!files.is_empty(), "{folder}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file is readable");
            for word in ["Instant::now", "SystemTime", "std::fs", "std::net", "std::thread"] {
                assert!(!text.contains(word), "{} says {word}", file.display());
            }
        }
    }
}

/// A run's folder may be of anybody's making: its files are opened by `squall_plan::files`, which waits for none.
#[test]
fn files_of_runs_are_opened_in_one_place() {
    let folder = format!("{}/../report/src", env!("CARGO_MANIFEST_DIR"));
    let files = sources(folder.as_ref());
    assert!(!files.is_empty(), "{folder}");
    for file in files {
        if file.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source file is readable");
        let own = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for word in ["File::open(", "fs::read(", "fs::read_to_string("] {
            assert!(!own.contains(word), "{} says {word}", file.display());
        }
    }
}

fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the crate has a src folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
