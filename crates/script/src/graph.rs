//! The modules of a script: its file, and what it imports, each once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::files::{Files, plain};
use crate::library;
use crate::module::{Language, Module, Offence, Place, SyntaxError};

/// Most modules of a script, and most bytes of one: more are a mistake.
const MOST: usize = 2_000;
const LARGEST: usize = 32 << 20;

/// What a module imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Import {
    /// Another module, by its number.
    Module(usize),
    /// One that is built in, by its number in [`library::MODULES`].
    BuiltIn(usize),
}

/// A module with what it imports, in the order of [`Module::imports`].
#[derive(Debug, Clone)]
pub struct Linked {
    pub path: PathBuf,
    pub module: Module,
    pub imports: Vec<Import>,
}

/// All modules of a script; the first is its own file.
#[derive(Debug, Clone)]
pub struct Graph {
    pub modules: Vec<Linked>,
}

/// What is wrong with a script, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    pub path: PathBuf,
    pub place: Option<Place>,
    pub message: String,
    pub help: Option<String>,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl Graph {
    /// Reads a script and all that it imports.
    ///
    /// # Errors
    /// A file cannot be read, is not JavaScript or TypeScript, or imports what there is not: with the place that asks for
    /// it.
    pub fn read(path: &Path, files: &dyn Files) -> Result<Graph, ScriptError> {
        let mut own = Reader { files, numbers: HashMap::new(), modules: Vec::new() };
        own.module(path.to_owned(), None)?;
        let mut at = 0;
        while at < own.modules.len() {
            let Linked { path, module, .. } = &own.modules[at];
            let (path, imports) = (path.clone(), module.imports.clone());
            let linked = imports.iter().map(|(source, place)| own.import(&path, source, *place));
            let linked = linked.collect::<Result<Vec<_>, _>>()?;
            own.modules[at].imports = linked;
            at += 1;
        }
        Ok(Graph { modules: own.modules })
    }

    /// The first thing that keeps users from sharing a realm, and the file that it is in.
    pub fn offence(&self) -> Option<(&Path, &Offence)> {
        self.modules.iter().find_map(|own| Some((own.path.as_path(), own.module.offences.first()?)))
    }
}

struct Reader<'f> {
    files: &'f dyn Files,
    numbers: HashMap<PathBuf, usize>,
    modules: Vec<Linked>,
}

impl Reader<'_> {
    /// The number of a file's module; it is read if it is new. `asked`: who imports it.
    fn module(
        &mut self,
        path: PathBuf,
        asked: Option<(&Path, Place)>,
    ) -> Result<usize, ScriptError> {
        if let Some(number) = self.numbers.get(&path) {
            return Ok(*number);
        }
        let failed = |message: String, help: Option<String>| {
            let (path, place) = asked.map_or((path.as_path(), None), |(own, at)| (own, Some(at)));
            ScriptError { path: path.to_owned(), place, message, help }
        };
        if self.modules.len() == MOST {
            return Err(failed(format!("a script may import {MOST} modules at most"), None));
        }
        let text = self.files.read(&path).map_err(|error| failed(error, None))?;
        if text.len() > LARGEST {
            let shown = path.display();
            return Err(failed(format!("{shown} is larger than {} MiB", LARGEST >> 20), None));
        }
        let language = Language::of(&path.to_string_lossy());
        let module = Module::read(&text, language).map_err(|error| {
            let SyntaxError { message, help, place } = error;
            ScriptError { path: path.clone(), place: Some(place), message, help }
        })?;
        let number = self.modules.len();
        self.numbers.insert(path.clone(), number);
        self.modules.push(Linked { path, module, imports: Vec::new() });
        Ok(number)
    }

    fn import(&mut self, from: &Path, source: &str, place: Place) -> Result<Import, ScriptError> {
        let failed = |message: String, help: &str| ScriptError {
            path: from.to_owned(),
            place: Some(place),
            message,
            help: Some(help.to_owned()).filter(|own| !own.is_empty()),
        };
        if let Some(number) = library::number(source) {
            return Ok(Import::BuiltIn(number));
        }
        if let Some(why) = library::refused(source) {
            return Err(failed(format!("`{source}`: {why}"), ""));
        }
        let folder = from.parent().unwrap_or(Path::new(""));
        let is_path = ["./", "../", "/"].iter().any(|own| source.starts_with(own));
        let found = if is_path {
            self.file(&plain(&folder.join(source)))
        } else {
            self.package(folder, source)
        };
        match found {
            Some(path) => self.module(path, Some((from, place))).map(Import::Module),
            None if is_path => {
                let looked = plain(&folder.join(source));
                let message =
                    format!("`{source}` is not there: {} does not exist", looked.display());
                Err(failed(message, "paths are relative to the file that imports"))
            }
            None => {
                let message =
                    format!("`{source}` is neither built in nor in a `node_modules` folder");
                Err(failed(message, "install it beside the script with npm, or import a file"))
            }
        }
    }

    /// A file as it is named, or with an end that scripts leave out.
    fn file(&self, path: &Path) -> Option<PathBuf> {
        let ends = ["", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"];
        let named = |end: &&str| PathBuf::from(format!("{}{end}", path.display()));
        ends.iter().map(named).find(|own| self.files.has(own))
    }

    /// The file of a package in the nearest `node_modules` that has it.
    fn package(&self, from: &Path, source: &str) -> Option<PathBuf> {
        let words = if source.starts_with('@') { 2 } else { 1 };
        let parts: Vec<&str> = source.splitn(words + 1, '/').collect();
        let (name, inner) = (parts[..words.min(parts.len())].join("/"), parts.get(words));
        for folder in from.ancestors() {
            let package = folder.join("node_modules").join(&name);
            if let Some(inner) = inner {
                if let Some(found) = self.file(&package.join(inner)) {
                    return Some(found);
                }
                continue;
            }
            let about = self.files.read(&package.join("package.json")).ok();
            let about =
                about.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
            let entry = |about: &serde_json::Value| {
                let named = ["module", "main"].iter().find_map(|key| about.get(key)?.as_str());
                self.file(&plain(&package.join(named.unwrap_or("index.js"))))
            };
            let found =
                about.as_ref().and_then(entry).or_else(|| self.file(&package.join("index")));
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(Vec<(&'static str, &'static str)>);

    impl Files for Texts {
        fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
            let own = self.0.iter().find(|(own, _)| Path::new(own) == path);
            own.map(|(_, text)| text.as_bytes().to_vec())
                .ok_or(format!("{} is not there", path.display()))
        }
        fn has(&self, path: &Path) -> bool {
            self.0.iter().any(|(own, _)| Path::new(own) == path)
        }
    }

    #[test]
    fn modules_are_found_where_scripts_expect_them() {
        let files = Texts(vec![
            (
                "/t/a.js",
                "import './lib/b.js'; import c from 'pack'; import 'k6/http'; import '@s/d/e'",
            ),
            ("/t/lib/b.js", "import '../a.js'; export const b = 1"),
            ("/t/node_modules/pack/package.json", r#"{"main": "./dist/p.js"}"#),
            ("/t/node_modules/pack/dist/p.js", "export default 1"),
            ("/node_modules/@s/d/e.js", ""),
        ]);
        let graph = Graph::read(Path::new("/t/a.js"), &files).expect("a graph");
        let paths: Vec<_> =
            graph.modules.iter().map(|own| own.path.display().to_string()).collect();
        let expected =
            ["/t/a.js", "/t/lib/b.js", "/t/node_modules/pack/dist/p.js", "/node_modules/@s/d/e.js"];
        assert_eq!(paths, expected);
        let http = Import::BuiltIn(library::number("k6/http").expect("built in"));
        let own = [Import::Module(1), Import::Module(2), http, Import::Module(3)];
        assert_eq!(graph.modules[0].imports, own);
        assert_eq!(graph.modules[1].imports, [Import::Module(0)]);
    }

    #[test]
    fn what_is_not_there_is_said_where_it_is_asked_for() {
        for (text, said) in [
            ("\nimport './no.js'", "/t/a.js:2:8: `./no.js` is not there: /t/no.js does not exist"),
            ("import x from 'lodash'", "/t/a.js:1:15: `lodash` is neither built in"),
            ("import b from 'k6/browser'", "/t/a.js:1:15: `k6/browser`"),
            ("import b from 'https://a.example/x.js'", "/t/a.js:1:15: `https://a.example/x.js`"),
            ("import './b.js'", "/t/b.js:1:8: "),
        ] {
            let files = Texts(vec![("/t/a.js", text), ("/t/b.js", "let = 1 1")]);
            let error = Graph::read(Path::new("/t/a.js"), &files).expect_err(text).to_string();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
}
