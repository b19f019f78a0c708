//! The guides are true: the command lines in them are run, one after the other, in a folder with the files that they
//! show, as shown but for times, against a target of their own; and every link in the documentation leads somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::target;

/// Where the guides expect the built-in target.
const ADDRESS: &str = "127.0.0.1:8080";
/// What stands before a block that takes too long to be run.
const NOT_RUN: &str = "<!-- not run by the tests";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A block of a Markdown text.
struct Block {
    language: String,
    /// What stands behind the language: the name of the file that the block shows, or nothing.
    name: String,
    text: String,
    is_run: bool,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    let mut before = "";
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let (language, name) = info.split_once(' ').unwrap_or((info, ""));
            let inner: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let is_run = !before.starts_with(NOT_RUN);
            let text = inner.join("\n") + "\n";
            let (language, name) = (language.to_owned(), name.to_owned());
            found.push(Block { language, name, text, is_run });
        }
        before = line;
    }
    found
}

/// The name of the file that a block shows: it stands behind the block's language, or in the comment that a plan begins
/// with. The file is the whole block.
fn file_name(block: &Block) -> Option<&str> {
    match (block.language.as_str(), block.name.as_str()) {
        ("yaml", "") => block.text.lines().next()?.strip_prefix("# "),
        (_, "") => None,
        (_, name) => Some(name),
    }
}

/// A command line or a plan whose load would take too long, in short: what a guide says of it holds all the same. Latencies may
/// be any, as this machine may be held up for longer than a target ever takes; the one that is to fail stays.
fn shortened(text: &str) -> String {
    let mut text = text.to_owned();
    for long in ["3s", "5s", "10s", "30s"] {
        text = text.replace(&format!(" -d {long}"), " -d 1s");
    }
    for long in ["5s", "6s", "8s", "10s", "60s"] {
        text = text.replace(&format!("for: {long}"), "for: 3s");
    }
    for limit in ["200ms", "300ms", "500ms"] {
        text = text.replace(&format!(" < {limit}"), " < 1h");
    }
    text
}

/// The exit code that a line says it has.
fn exit_code(line: &str) -> i32 {
    let said = line.split_once("# exit code ").map(|(_, code)| code.trim().parse());
    said.map_or(0, |code| code.expect("an exit code"))
}

/// Follows a guide; it must have so many command lines at least.
fn follow(guide: &str, least: usize) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let url = server.url();
    let address = url.trim_start_matches("http://");
    let program = Path::new(env!("CARGO_BIN_EXE_squall")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut ran = 0;
    for block in blocks(&read(&root().join(guide))) {
        if let Some(name) = file_name(&block) {
            let text = shortened(&block.text).replace(ADDRESS, address);
            std::fs::write(folder.path().join(name), text).expect("writable");
        }
        if block.language != "sh" || !block.is_run {
            continue;
        }
        for line in block.text.lines().filter(|line| *line != "squall target") {
            let output = Command::new("sh")
                .args(["-c", &shortened(line).replace(ADDRESS, address)])
                .env("PATH", &path)
                .current_dir(folder.path())
                .output()
                .expect("a shell");
            let (out, errors) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let code = output.status.code();
            assert_eq!(code, Some(exit_code(line)), "{guide}: {line}\n{out}\n{errors}");
            ran += 1;
        }
    }
    assert!(ran >= least, "{guide}: {ran} command lines");
}

#[test]
fn the_readme() {
    follow("README.md", 3);
}

#[test]
fn the_tutorial() {
    follow("docs/tutorial.md", 11);
}

#[test]
fn how_to_log_in() {
    follow("docs/howto/login.md", 4);
}

#[test]
fn how_to_use_data() {
    follow("docs/howto/data.md", 3);
}

#[test]
fn how_to_run_in_ci() {
    follow("docs/howto/ci.md", 5);
}

#[test]
fn what_a_questionable_run_means() {
    follow("docs/howto/questionable.md", 2);
}

#[test]
fn how_to_come_from_other_tools() {
    follow("docs/howto/coming-from.md", 6);
}

#[test]
fn how_to_go_from_k6_to_squall() {
    follow("docs/howto/k6-to-squall.md", 9);
}

#[test]
fn the_recipes() {
    follow("docs/recipes.md", 8);
}

#[test]
fn troubleshooting() {
    follow("docs/troubleshooting.md", 1);
}

#[test]
fn how_to_set_up_an_editor() {
    follow("docs/editor.md", 2);
}

/// Every Markdown file of the documentation.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/howto", "docs/develop"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
        let paths = entries.map(|entry| entry.expect("readable").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    assert!(found.len() >= 30, "{found:?}");
    found
}

/// The anchor of a heading, as code hosts make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    for document in documents() {
        let text = read(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            // What is in code is no link.
            if link.contains("://") || link.contains([' ', '\n', '`']) {
                continue;
            }
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let to = match path {
                "" => document.clone(),
                path => document.parent().expect("a folder").join(path),
            };
            assert!(to.exists(), "{}: {link}", document.display());
            if !fragment.is_empty() {
                let headings = read(&to);
                let mut anchors = headings.lines().filter(|line| line.starts_with('#')).map(anchor);
                assert!(anchors.any(|own| own == fragment), "{}: {link}", document.display());
            }
        }
    }
}
