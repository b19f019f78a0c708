//! What scripts were made of, as `squall check` shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use squall_base::units;
use squall_engine::{Program, ReadFile, ScriptParts};

/// Most files that are named, and letters of a hash.
const MOST: usize = 20;
const HASH: usize = 12;

/// The scripts of programs, each with its root, its modules and the files that it opens.
pub fn describe(programs: &[Arc<Program>]) -> String {
    // Setup, load and teardown may call the same, each with other values.
    let scripts = programs.iter().flat_map(|program| program.scripts());
    let scripts: BTreeMap<_, _> = scripts.map(|own| (own.file.clone(), own)).collect();
    scripts.values().map(of_script).collect()
}

fn of_script(own: &ScriptParts) -> String {
    let bytes: u64 = own.files.iter().map(|file| file.bytes).sum();
    let files = units::counted(own.files.len() as u64, "file");
    let (file, root) = (own.file.display(), own.root.display());
    let mut text = format!("  script     {file}: {files}, {}, below {root}\n", units::bytes(bytes));
    let others: Vec<&ReadFile> =
        own.files.iter().filter(|file| file.path != own.below_root).collect();
    let (shown, more) = others.split_at(others.len().min(MOST));
    shown.iter().for_each(|file| text += &of_file(file));
    if !more.is_empty() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {} more", units::count(more.len() as u64));
    }
    for url in &own.built_in {
        let _ = writeln!(text, "    {url}: built in");
    }
    text
}

fn of_file(file: &ReadFile) -> String {
    let bytes = units::bytes(file.bytes);
    match &file.url {
        Some((url, sha256)) => {
            let hash = &sha256[..sha256.len().min(HASH)];
            format!("    {url}: {bytes}, locked (SHA-256 {hash}...)\n")
        }
        None => format!("    {}: {bytes}\n", file.path.display()),
    }
}
