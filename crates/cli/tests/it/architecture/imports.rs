//! Which file of a crate imports which, read from the source as text: `use` declarations, and paths that begin with `crate`, `super`,
//! `self` or a child module. An item that a module re-exports is an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a crate, by their path below `src`, and for each the files that it imports with the names it takes.
pub type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// A file of a crate.
struct Source {
    /// Its path below `src`.
    path: String,
    /// Its module, such as `["ring", "slots"]`.
    module: Vec<String>,
    /// Its text without comments, strings and tests.
    text: String,
}

/// The words that begin an item with a name.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules!"];

/// Reads the imports of the crate whose sources are in `folder`, tests left out.
pub fn of(folder: &Path) -> Imports {
    let mut sources = Vec::new();
    for path in super::sources(folder) {
        let below = path.strip_prefix(folder).expect("a file below the folder").to_path_buf();
        if is_test(&below) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file is readable");
        sources.push(Source {
            path: below.to_string_lossy().into_owned(),
            module: module_of(&below),
            text: plain(&text),
        });
    }
    let house = House::new(&sources);
    let mut imports = Imports::new();
    for source in &sources {
        let taken = imports.entry(source.path.clone()).or_default();
        for path in house.paths(source) {
            if let Some((file, name)) = house.definition(&path, 0)
                && file != source.path
            {
                taken.entry(file).or_default().insert(name);
            }
        }
    }
    imports
}

/// Sets of files that import each other, in circles.
pub fn cycles(imports: &Imports) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (file.as_str(), reach(imports, file))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (file, from) in &reached {
        if !from.contains(file) || found.iter().any(|cycle| cycle.contains(*file)) {
            continue;
        }
        let cycle = from.iter().filter(|other| reached[*other].contains(file));
        found.push(cycle.map(|other| (*other).to_owned()).collect());
    }
    found
}

/// The files that a file imports, and those that they import, and so on.
fn reach<'i>(imports: &'i Imports, file: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = imports[file].keys().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(imports[next].keys().map(String::as_str));
        }
    }
    reached
}

/// Whether a file holds tests alone.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        let name = part.trim_end_matches(".rs");
        name.ends_with("tests")
            || matches!(part.as_ref(), "testing.rs" | "simulation.rs" | "suite.rs")
    })
}

fn module_of(path: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// A text without its tests, which stand at its end.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])
}

/// A text without comments and strings, and without its tests.
fn plain(text: &str) -> String {
    let text = without_tests(text);
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let mut is_quoted = false;
        let mut last = ' ';
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '/' if !is_quoted && characters.peek() == Some(&'/') => break,
                '"' if last != '\\' && last != '\'' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                _ => plain.push(character),
            }
            last = if last == '\\' && character == '\\' { ' ' } else { character };
        }
        plain.push('\n');
    }
    plain
}

/// What the files of a crate define and re-export.
struct House<'s> {
    files: BTreeMap<&'s [String], &'s Source>,
    items: BTreeMap<&'s str, BTreeSet<&'s str>>,
    /// For each file, the names that it brings into scope, and their paths.
    uses: BTreeMap<&'s str, Vec<(String, Vec<String>)>>,
}

impl<'s> House<'s> {
    fn new(sources: &'s [Source]) -> House<'s> {
        let files: BTreeMap<&[String], &Source> =
            sources.iter().map(|source| (source.module.as_slice(), source)).collect();
        let items = sources.iter().map(|source| (source.path.as_str(), items(&source.text)));
        let uses = sources.iter().map(|source| {
            let mut found = Vec::new();
            for tree in source.text.split("use ").skip(1).filter_map(|rest| rest.split(';').next())
            {
                flatten(&[], tree.trim(), &mut found);
            }
            let absolute = found.into_iter().filter_map(|(name, path)| {
                let child = [source.module.as_slice(), &path[..1]].concat();
                let is_child = files.contains_key(child.as_slice());
                let inner = [source.module.as_slice(), path.as_slice()].concat();
                Some((name, if is_child { inner } else { absolute(source, &path)? }))
            });
            (source.path.as_str(), absolute.collect())
        });
        let uses = uses.collect();
        House { files, items: items.collect(), uses }
    }

    /// The paths from the crate's root that a file names.
    fn paths(&self, source: &Source) -> Vec<Vec<String>> {
        let uses = &self.uses[source.path.as_str()];
        let mut paths: Vec<Vec<String>> = uses.iter().map(|(_, path)| path.clone()).collect();
        let is_word =
            |character: char| character.is_alphanumeric() || character == '_' || character == ':';
        for word in
            source.text.split(|character| !is_word(character)).filter(|word| word.contains("::"))
        {
            let path: Vec<String> = word.split("::").map(str::to_owned).collect();
            if let Some((_, module)) = uses.iter().find(|(name, _)| *name == path[0]) {
                // A module that was imported, with an item of it.
                if self.files.contains_key(module.as_slice()) {
                    paths.push([module.as_slice(), &path[1..]].concat());
                }
                continue;
            }
            let mut child = source.module.clone();
            child.push(path[0].clone());
            if self.files.contains_key(child.as_slice()) {
                paths.push([child.as_slice(), &path[1..]].concat());
            } else {
                paths.extend(absolute(source, &path));
            }
        }
        paths
    }

    /// The file that defines what is at a path, and the name that it has there.
    fn definition(&self, path: &[String], depth: usize) -> Option<(String, String)> {
        if depth > 8 {
            return None;
        }
        let most =
            (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let file = self.files[&path[..most]];
        let Some(name) = path.get(most).filter(|name| !name.is_empty() && *name != "*") else {
            // A module by itself: what is taken from it is seen where it is used.
            return None;
        };
        if !self.items[file.path.as_str()].contains(name.as_str())
            && let Some((_, exported)) =
                self.uses[file.path.as_str()].iter().find(|(used, _)| used == name)
        {
            let exported = [exported.as_slice(), &path[most + 1..]].concat();
            return self.definition(&exported, depth + 1);
        }
        Some((file.path.clone(), name.clone()))
    }
}

/// The names of a text's items.
fn items(text: &str) -> BTreeSet<&str> {
    let mut words = text.split(|character: char| {
        !(character.is_alphanumeric() || character == '_' || character == '!')
    });
    let mut items = BTreeSet::new();
    while let Some(word) = words.next() {
        if ITEMS.contains(&word) {
            items.extend(words.by_ref().find(|word| !word.is_empty() && *word != "mut"));
        }
    }
    items
}

/// The names that a `use` tree brings into scope, with their paths.
fn flatten(before: &[String], tree: &str, into: &mut Vec<(String, Vec<String>)>) {
    if let Some((head, rest)) = tree.split_once('{') {
        let mut path = before.to_vec();
        path.extend(
            head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned),
        );
        let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
        let mut depth = 0;
        let parts = inner.split(|character| {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            character == ',' && depth == 0
        });
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            flatten(&path, part, into);
        }
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut full = before.to_vec();
    full.extend(path.split("::").map(|part| part.trim().to_owned()));
    // `{self, ...}`: the module itself.
    if full.len() > 1 && full.last().is_some_and(|last| last == "self") {
        full.pop();
    }
    let last = full.last().cloned().unwrap_or_default();
    let name = if name.is_empty() { last } else { name.trim().to_owned() };
    into.push((name, full));
}

/// A path from the crate's root; `None` for one that leads out of the crate.
fn absolute(source: &Source, path: &[String]) -> Option<Vec<String>> {
    let mut module = source.module.clone();
    let mut rest = path;
    match path.first().map(String::as_str)? {
        "crate" => {
            module.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {}
        _ => return None,
    }
    while rest.first().is_some_and(|part| part == "super") {
        module.pop();
        rest = &rest[1..];
    }
    module.extend(rest.iter().cloned());
    Some(module)
}

/// The number of a crate's lines, tests left out.
pub fn lines(folder: &Path) -> usize {
    let files = super::sources(folder);
    let own = files.iter().filter(|path| !is_test(path.strip_prefix(folder).unwrap_or(path)));
    own.map(|path| {
        let text = std::fs::read_to_string(path).expect("a source file is readable");
        without_tests(&text).lines().count()
    })
    .sum()
}

/// The folder of a crate's sources.
pub fn folder(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR")))
}
