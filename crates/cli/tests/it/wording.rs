//! The words of messages and pages, as tests: "is no X" is not English ("invalid X `...`: expected ...", "is not an X"), and
//! what users read has short sentences.

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

/// The most words of a sentence, and of a cell of a table, on the pages that users read. Code is one word.
const MOST_WORDS: usize = 40;

/// The pages that users read from their beginning, besides the how-tos.
const PAGES: [&str; 17] = [
    "README.md",
    "docs/README.md",
    "docs/containers.md",
    "docs/editor.md",
    "docs/feeds.md",
    "docs/fleet.md",
    "docs/glossary.md",
    "docs/install.md",
    "docs/k6.md",
    "docs/limit.md",
    "docs/monitors.md",
    "docs/plan.md",
    "docs/recipes.md",
    "docs/report.md",
    "docs/run.md",
    "docs/troubleshooting.md",
    "docs/tutorial.md",
];

/// A Markdown text with `code` in place of each piece of code, and without the addresses of links.
fn plain(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let without_code: String =
        parts.map(|(index, part)| if index % 2 == 1 { "code" } else { part }).collect();
    let mut parts = without_code.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once(')').map_or(part, |(_, behind)| behind);
    }
    plain
}

/// Where an item of a list begins, what stands behind its mark.
fn item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(". ")).flatten();
    ["- ", "> "].iter().find_map(|mark| line.strip_prefix(mark)).or(numbered)
}

/// The sentences of a passage: each ends with a full stop, a question or an exclamation mark before a space.
fn sentences(passage: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for word in passage.split_whitespace() {
        let open = found.last_mut().expect("there is always one");
        *open += word;
        open.push(' ');
        if word.trim_end_matches([')', '"', '*']).ends_with(['.', '?', '!']) {
            found.push(String::new());
        }
    }
    found
}

/// The sentences of a Markdown text (those of a paragraph or an item of a list) and the cells of its tables, without
/// headings and blocks of code.
fn sentences_and_cells(text: &str) -> Vec<String> {
    let (mut found, mut open, mut is_code) = (Vec::new(), String::new(), false);
    for line in text.lines().map(str::trim).chain([""]) {
        let (is_fence, is_row, begins) =
            (line.starts_with("```"), line.starts_with('|'), item(line));
        let is_other =
            is_code || is_fence || is_row || line.is_empty() || line.starts_with(['#', '<']);
        if is_other || begins.is_some() {
            found.extend(sentences(&plain(&std::mem::take(&mut open))));
        }
        if is_row && !is_code {
            found.extend(plain(line).split('|').map(str::to_owned));
        } else if !is_other {
            open += begins.unwrap_or(line);
            open.push(' ');
        }
        is_code ^= is_fence;
    }
    found
}

/// Those of them that have too many words.
fn too_long(text: &str) -> Vec<String> {
    let units = sentences_and_cells(text).into_iter();
    units.filter(|unit| unit.split_whitespace().count() > MOST_WORDS).collect()
}

#[test]
fn a_long_sentence_and_a_long_cell_are_found() {
    let words = |count: usize| vec!["word"; count].join(" ");
    let (short, long) = (words(MOST_WORDS), words(MOST_WORDS + 1));
    for text in [
        format!("{long}."),
        format!("# Heading\n\nShort.\n- {long}"),
        format!("1. {short}\n   word"),
        format!("| a. {short} | b |"),
        format!("{short} `code of\nsome words`"),
    ] {
        assert_eq!(too_long(&text).len(), 1, "{text}");
    }
    for text in [
        format!("{short}. {short}! ({short}.) {short}"),
        format!("- {short}\n- {short}\n\n{short}\n"),
        format!("| {short} | {short} |\n{short}"),
        format!("{short}\n```sh\n{long}\n```\n{short}"),
        format!("# {long}"),
        format!("[a](address of some words) `{long}`"),
    ] {
        assert_eq!(too_long(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn no_sentence_and_no_cell_of_a_users_page_is_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guides = fs::read_dir(root.join("docs/howto")).expect("a folder");
    let guides = guides.map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for page in PAGES.iter().map(|page| root.join(page)).chain(guides) {
        let name = page.display().to_string();
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        found.extend(too_long(&text).iter().map(|unit| format!("{name}: {unit}")));
    }
    assert!(found.is_empty(), "over {MOST_WORDS} words:\n{}", found.join("\n"));
}
