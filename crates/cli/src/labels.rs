//! What a run is labelled with: what was typed, and the commit of what is tested.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the jobs of CI systems find the commit: GitHub, GitLab, Jenkins, Bitbucket, CircleCI, Azure.
const COMMITS: [&str; 6] = [
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "GIT_COMMIT",
    "BITBUCKET_COMMIT",
    "CIRCLE_SHA1",
    "BUILD_SOURCEVERSION",
];

/// The labels that were typed, and the commit unless it is among them: that of the environment, or that of the
/// repository in which the plan is, if it is in one.
pub fn of(typed: &[(String, String)], folder: Option<&Path>) -> BTreeMap<String, String> {
    let commit =
        COMMITS.iter().find_map(|name| std::env::var(name).ok().filter(|own| !own.is_empty()));
    let commit = commit.or_else(|| git(folder?));
    let commit = commit.map(|commit| ("commit".to_owned(), commit));
    commit.into_iter().chain(typed.iter().cloned()).collect()
}

/// The commit of the repository that a folder is in; `None`: it is in none, or git is not there.
fn git(folder: &Path) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["rev-parse", "HEAD"]);
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    let is_commit = commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    (output.status.success() && is_commit).then_some(commit)
}
