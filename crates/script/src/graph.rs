//! The modules of a script: its file, and what it imports, each once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::files::{Files, plain, text};
use crate::library;
use crate::module::{Module, Offence, Place, SyntaxError};
use crate::origin::{Origin, is_path};

/// Most modules of a script, and most bytes of one: more are a mistake.
pub(crate) const MOST: usize = 2_000;
pub(crate) const LARGEST: usize = 32 << 20;

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
    pub origin: Origin,
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
    pub origin: Origin,
    pub place: Option<Place>,
    pub message: String,
    pub help: Option<String>,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.origin)?;
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
        own.module(Origin::File(path.to_owned()), None)?;
        let mut at = 0;
        while at < own.modules.len() {
            let Linked { origin, module, .. } = &own.modules[at];
            let (origin, imports) = (origin.clone(), module.imports.clone());
            let linked = imports.iter().map(|(source, place)| own.import(&origin, source, *place));
            let linked = linked.collect::<Result<Vec<_>, _>>()?;
            own.modules[at].imports = linked;
            at += 1;
        }
        Ok(Graph { modules: own.modules })
    }

    /// The first thing that keeps users from sharing a realm, and the module that it is in.
    pub fn offence(&self) -> Option<(&Origin, &Offence)> {
        self.modules.iter().find_map(|own| Some((&own.origin, own.module.offences.first()?)))
    }
}

struct Reader<'f> {
    files: &'f dyn Files,
    numbers: HashMap<Origin, usize>,
    modules: Vec<Linked>,
}

impl Reader<'_> {
    /// The number of a module; it is read if it is new. `asked`: who imports it.
    fn module(
        &mut self,
        origin: Origin,
        asked: Option<(&Origin, Place)>,
    ) -> Result<usize, ScriptError> {
        if let Some(number) = self.numbers.get(&origin) {
            return Ok(*number);
        }
        let failed = |message: String| {
            let (origin, place) = asked.map_or((&origin, None), |(own, at)| (own, Some(at)));
            ScriptError { origin: origin.clone(), place, message, help: None }
        };
        if self.modules.len() == MOST {
            return Err(failed(format!("a script may import {MOST} modules at most")));
        }
        let text = self.text(&origin).map_err(failed)?;
        if text.len() > LARGEST {
            return Err(failed(format!("{origin} is larger than {} MiB", LARGEST >> 20)));
        }
        let module = Module::read(&text, origin.language()).map_err(|error| {
            let SyntaxError { message, help, place } = error;
            ScriptError { origin: origin.clone(), place: Some(place), message, help }
        })?;
        let number = self.modules.len();
        self.numbers.insert(origin.clone(), number);
        self.modules.push(Linked { origin, module, imports: Vec::new() });
        Ok(number)
    }

    fn text(&self, origin: &Origin) -> Result<String, String> {
        match origin {
            Origin::File(path) => self.files.read(path),
            Origin::Url(url) => {
                let bytes =
                    self.files.fetched(url.as_str()).map_err(|why| format!("`{url}`: {why}"))?;
                text(Path::new(url.as_str()), bytes)
            }
        }
    }

    fn import(&mut self, from: &Origin, source: &str, place: Place) -> Result<Import, ScriptError> {
        let failed = |message: String| ScriptError {
            origin: from.clone(),
            place: Some(place),
            message,
            help: None,
        };
        let url = from.url(source).transpose();
        let url = url.map_err(|why| failed(format!("`{source}`: {why}")))?;
        let named = url.as_ref().map_or(source, |url| url.as_str());
        if let Some(number) = library::number(named) {
            return Ok(Import::BuiltIn(number));
        }
        if let Some(why) = library::refused(named) {
            return Err(failed(format!("`{source}`: {why}")));
        }
        let found = match (url, from) {
            (Some(url), _) => Origin::Url(Box::new(url)),
            (None, Origin::File(path)) => self.near(path, source).map_err(|(message, help)| {
                ScriptError { help: Some(help.to_owned()), ..failed(message) }
            })?,
            (None, Origin::Url(_)) => {
                let why = "a module of a URL imports URLs, paths, and what is built in";
                return Err(failed(format!("`{source}`: {why}")));
            }
        };
        self.module(found, Some((from, place))).map(Import::Module)
    }

    /// What a file imports that is neither built in nor a URL; or why there is no such thing, and what helps.
    fn near(&self, from: &Path, source: &str) -> Result<Origin, (String, &'static str)> {
        let folder = from.parent().unwrap_or(Path::new(""));
        if !is_path(source) {
            let message = format!("`{source}` is neither built in nor in a `node_modules` folder");
            let help = "install it beside the script with npm, or import a file";
            return self.package(folder, source).map(Origin::File).ok_or((message, help));
        }
        let looked = plain(&folder.join(source));
        self.file(&looked).map(Origin::File).ok_or_else(|| {
            let message = format!("`{source}` is not there: {} does not exist", looked.display());
            (message, "paths are relative to the file that imports")
        })
    }

    fn file(&self, path: &Path) -> Option<PathBuf> {
        with_end(path, |own| self.files.has(own))
    }

    /// The file of a package in the nearest `node_modules` that has it.
    fn package(&self, from: &Path, source: &str) -> Option<PathBuf> {
        let words = if source.starts_with('@') { 2 } else { 1 };
        let parts: Vec<&str> = source.splitn(words + 1, '/').collect();
        let (name, inner) = (parts[..words.min(parts.len())].join("/"), parts.get(words));
        // Above a path that is relative are more folders.
        let whole = std::path::absolute(from).unwrap_or_default();
        for folder in from.ancestors().chain(whole.ancestors()) {
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

/// A file that there is, as it is named, or with an end that scripts leave out.
pub(crate) fn with_end(path: &Path, has: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let ends = ["", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"];
    let named = |end: &&str| PathBuf::from(format!("{}{end}", path.display()));
    ends.iter().map(named).find(|own| has(own))
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
        fn fetched(&self, url: &str) -> Result<Vec<u8>, String> {
            self.bytes(Path::new(url))
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
        let paths: Vec<_> = graph.modules.iter().map(|own| own.origin.to_string()).collect();
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
            (
                "import b from 'https://a.example/x.js'",
                "/t/a.js:1:15: `https://a.example/x.js`: https://a.example/x.js is not there",
            ),
            ("import b from 'http://a.example/x.js'", "/t/a.js:1:15: `http://a.example/x.js`: mod"),
            ("import './b.js'", "/t/b.js:1:8: "),
        ] {
            let files = Texts(vec![("/t/a.js", text), ("/t/b.js", "let = 1 1")]);
            let error = Graph::read(Path::new("/t/a.js"), &files).expect_err(text).to_string();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
    #[test]
    fn modules_of_urls_import_what_is_near_them() {
        let files = Texts(vec![
            ("/t/a.js", "import own from 'https://a.example/lib/x.js?v=1'; import './b.js'"),
            ("/t/b.js", "import 'https://a.example/lib/y.ts'"),
            (
                "https://a.example/lib/x.js?v=1",
                "import './y.ts#a'; import 'k6'; import 'https://jslib.k6.io/k6-utils/1.0.0/index.js'; export default 1",
            ),
            ("https://a.example/lib/y.ts", "export const own: number = 1"),
        ]);
        let graph = Graph::read(Path::new("/t/a.js"), &files).expect("a graph");
        let origins: Vec<String> = graph.modules.iter().map(|own| own.origin.to_string()).collect();
        assert_eq!(origins, [files.0[0].0, files.0[2].0, files.0[1].0, files.0[3].0]);
        let built_in = |name| Import::BuiltIn(library::number(name).expect("built in"));
        let utils = "https://jslib.k6.io/k6-utils/1.0.0/index.js";
        assert_eq!(graph.modules[1].imports, [Import::Module(3), built_in("k6"), built_in(utils)]);
        for (text, said) in [
            (
                "\nimport 'lodash'",
                "https://a.example/x.js:2:8: `lodash`: a module of a URL imports",
            ),
            (
                "import '/etc/passwd'",
                "https://a.example/x.js:1:8: `https://a.example/etc/passwd`: ",
            ),
            (
                "import 'file:///etc/passwd'",
                "https://a.example/x.js:1:8: `file:///etc/passwd`: mod",
            ),
            ("let = 1 1", "https://a.example/x.js:1:"),
        ] {
            let script = ("/t/a.js", "import 'https://a.example/x.js'");
            let files = Texts(vec![script, ("https://a.example/x.js", text), ("/etc/passwd", "")]);
            let error = Graph::read(Path::new("/t/a.js"), &files).expect_err(text).to_string();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
}
