//! Every experiment of `examples/experiment` can be run as it stands: its variants, what each sets, its plan and its measures.

use std::path::{Path, PathBuf};

use crate::common::squall;

const ENDING: &str = ".experiment.yaml";

/// How many variants each has.
const VARIANTS: [(&str, usize); 7] = [
    ("equal", 2),
    ("five-percent", 2),
    ("java-server/lab", 8),
    ("java-server/users", 8),
    ("keep-alive/keep-alive", 24),
    ("keep-alive/kernel", 8),
    ("twenty-percent", 2),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/experiment")
}

/// The files below a folder that end like experiments, without what a build has put there.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, found);
        } else if path.to_string_lossy().ends_with(ENDING) {
            found.push(path);
        }
    }
}

#[test]
fn every_example_is_one_that_can_be_run() {
    let (folder, mut found) = (folder(), Vec::new());
    files(&folder, &mut found);
    let mut names: Vec<String> = found
        .iter()
        .map(|path| path.strip_prefix(&folder).expect("below it").display().to_string())
        .collect();
    names.sort();
    let expected: Vec<String> =
        VARIANTS.iter().map(|(name, _)| format!("{name}{ENDING}")).collect();
    assert_eq!(names, expected, "name each example in this test, with its variants");
    for (name, (_, variants)) in names.iter().zip(VARIANTS) {
        let line = ["experiment", name, "--check", "--allow-exec", "--allow-sysctl"];
        let output = squall(&folder, &line);
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{name}: {errors}");
        assert!(errors.is_empty(), "{name}: {errors}");
        assert!(said.contains(&format!(": {variants} variants\n")), "{name}: {said}");
    }
}
