//! The words of messages, as a test: "is no X" is not English ("invalid X `...`: expected ...", "is not an X").

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder that are part of programs.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// What stands in quotes on a line of code, roughly: a text that goes over several lines is looked at in each of them.
fn quoted(line: &str) -> String {
    let line = line.trim();
    let is_comment = line.starts_with("//");
    match line.find('"') {
        Some(begin) if !is_comment => line[begin..].to_owned(),
        _ => String::new(),
    }
}

/// Whether a text says that something "is no" other thing; "there is no X" and "is no longer" are English.
fn says_is_no(text: &str) -> bool {
    let text = text.to_lowercase();
    ["is", "are", "was", "were"].iter().any(|verb| {
        let phrase = format!(" {verb} no ");
        text.match_indices(&phrase).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + phrase.len()..]);
            !before.ends_with("there")
                && !behind.starts_with("longer")
                && !behind.starts_with("more")
        })
    })
}

#[test]
fn no_message_says_that_something_is_no_other_thing() {
    assert!(says_is_no("\"`{text}` is no URL\"") && !says_is_no("there is no URL"));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for own in fs::read_dir(crates).expect("the crates") {
        let source = own.expect("a crate").path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 100, "{}", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        // What follows is for tests.
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (index, line) in code.lines().enumerate() {
            if says_is_no(&quoted(line)) {
                found.push(format!("{}:{}: {}", file.display(), index + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
