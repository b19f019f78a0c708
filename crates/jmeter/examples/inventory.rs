//! What the JMeter plans whose paths are given are made of, for scripts: lines with tabs between their fields.
//! `plan PATH whole|idle|lacks` (idle: whole, but no thread group has anything to do), `refused PATH REASON`, then for each plan once `element PATH KIND`, for each kind, or option of one, that it
//! lacks, and `function PATH NAME`, for each function that is called. With one path and `--tree`, the tree as a person reads it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use squall_jmeter::inventory::{Fate, Inventory};
use squall_jmeter::{TranslationContext, Tree, inventory, translate};

fn main() -> ExitCode {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    let tree_wanted = paths.iter().any(|path| path == "--tree");
    paths.retain(|path| path != "--tree");
    for path in paths {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        match Tree::read(&bytes) {
            Ok(tree) if tree_wanted => print!("{}", whole(&path, &tree).0),
            Ok(tree) => summary(&path, &tree),
            Err(error) => println!("refused\t{path}\t{error}"),
        }
    }
    ExitCode::SUCCESS
}

fn whole(path: &str, tree: &Tree) -> (Inventory, bool) {
    let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
    let given = TranslationContext { folder, ..TranslationContext::default() };
    let translation = translate(tree, given);
    (inventory(tree, &translation.obstacles, &translation.idle), translation.is_idle)
}

fn summary(path: &str, tree: &Tree) {
    let (found, is_idle) = whole(path, tree);
    let how_far = match found.is_whole() {
        true if is_idle => "idle",
        true => "whole",
        false => "lacks",
    };
    println!("plan\t{path}\t{how_far}");
    let kinds: BTreeSet<String> = found
        .obstacles()
        .flat_map(|entry| match &entry.fate {
            Fate::Lacks(lacks) => {
                lacks.iter().map(|what| format!("{}: {what}", entry.kind)).collect()
            }
            _ => vec![entry.kind.clone()],
        })
        .collect();
    kinds.iter().for_each(|kind| println!("element\t{path}\t{kind}"));
    let functions: BTreeSet<&str> =
        found.entries.iter().flat_map(|entry| entry.functions.iter().copied()).collect();
    functions.iter().for_each(|name| println!("function\t{path}\t{name}"));
}
