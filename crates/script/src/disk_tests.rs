//! The files of scripts on a real disk: roots, links, what was fetched.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::disk::around;
use crate::fetch::{FetchState, fetch};
use crate::{Files as _, Graph, ScriptFiles};

/// A folder with files, which goes when it is dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let own = Folder(tempfile::tempdir().expect("a folder"));
        for (name, text) in files {
            let path = own.path(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        own
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn graph(&self, script: &str) -> Result<usize, String> {
        let script = self.path(script);
        let read = Graph::read(&script, &ScriptFiles::of(&script));
        read.map(|own| own.modules.len()).map_err(|error| error.to_string())
    }
}

#[test]
fn the_root_is_what_a_folder_above_says() {
    let script = ("r/tests/k6/a.js", "import '../../lib/b.js'");
    for (mark, root) in [
        ("squall.lock", ""),
        ("r/squall.lock", "r"),
        ("r/.git/HEAD", "r"),
        ("package.json", ""),
        // Nobody has said it: it holds what is imported.
        ("r/other", "r"),
        ("r/tests/package.json", "r"),
    ] {
        let folder = Folder::new(&[script, ("r/lib/b.js", ""), (mark, "")]);
        assert_eq!(folder.graph(script.0), Ok(2), "{mark}");
        let files = ScriptFiles::of(&folder.path(script.0));
        assert_eq!(files.root().components(), folder.path(root).components(), "{mark}");
    }
    // A lock comes before a repository, and that before a package.
    let all = [script, ("r/lib/b.js", ""), ("r/.git/HEAD", ""), ("r/tests/package.json", "{}")];
    let folder = Folder::new(&all);
    assert_eq!(folder.graph(script.0), Ok(2));
    fs::write(folder.path("r/tests/squall.lock"), "").expect("writable");
    let error = folder.graph(script.0).expect_err("the root is lower now");
    for part in ["a.js:1:8: ", "lib/b.js is outside of ", "r/tests, the root", "`squall.lock`"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_root_holds_what_is_imported_but_not_the_home_folder() {
    let folder = Folder::new(&[
        ("h/k6/load/a.js", "import '../lib/b'; import './c.js'; import 'k6'; import '../none.js'"),
        ("h/k6/lib/b.ts", "import '../../../d.js'; const x: number = 1"),
        ("h/k6/load/c.js", "not { a module"),
        ("d.js", "import './h/k6/load/a.js'; open('x')"),
    ]);
    let root = |home: &str| {
        let (own, home) = (folder.path("h/k6/load"), folder.path(home));
        around(&own, &own.join("a.js"), &home).components().collect::<PathBuf>()
    };
    assert_eq!(root("/elsewhere/me"), folder.path("").components().collect::<PathBuf>());
    assert_eq!(root("h"), folder.path("h/k6"));
    assert_eq!(root("h/k6"), folder.path("h/k6/load"));
    assert_eq!(root("h/k6/load"), folder.path("h/k6/load"));
}

#[test]
fn nothing_outside_of_the_root_is_read_through_links_either() {
    let folder = Folder::new(&[
        ("r/package.json", "{}"),
        ("r/a.js", ""),
        ("r/in/b.txt", "b"),
        ("secret.txt", "s"),
    ]);
    symlink(folder.path("secret.txt"), folder.path("r/link.txt")).expect("a link");
    symlink(folder.path("r/in"), folder.path("r/near")).expect("a link");
    symlink(folder.path(""), folder.path("r/far")).expect("a link");
    let files = ScriptFiles::of(&folder.path("r/a.js"));
    assert_eq!(files.read(&folder.path("r/near/b.txt")).as_deref(), Ok("b"));
    for name in ["secret.txt", "r/link.txt", "r/far/secret.txt", "r/in/../../secret.txt"] {
        let error = files.bytes(&folder.path(name)).expect_err(name);
        assert!(error.contains("is outside of") && error.contains("/r, the root"), "{error}");
    }
    assert!(files.bytes(Path::new("/etc/passwd")).is_err_and(|own| own.contains("outside")));
    assert!(files.bytes(&folder.path("r/in")).is_err_and(|own| own.contains("not a file")));
    let read: Vec<_> = files.read_files().iter().map(|own| own.path.clone()).collect();
    assert_eq!(read, [Path::new("near/b.txt")]);
    // A script that is a link itself was asked for.
    symlink(folder.path("secret.txt"), folder.path("r/s.js")).expect("a link");
    assert!(ScriptFiles::of(&folder.path("r/s.js")).bytes(&folder.path("r/s.js")).is_ok());
}

const URL: &str = "https://a.example/x/1.0/index.js";
const NEAR: &str = "https://a.example/x/1.0/near.js";

/// What URLs give now, and what they were asked for.
struct Net {
    texts: RefCell<BTreeMap<&'static str, &'static str>>,
    asked: RefCell<Vec<String>>,
}

impl Net {
    fn new() -> Net {
        let texts = [(URL, "import './near.js'; export const x = 1"), (NEAR, "export const y = 1")];
        Net { texts: RefCell::new(texts.into()), asked: RefCell::default() }
    }

    fn get(&self, url: &str, most: u64) -> Result<Vec<u8>, String> {
        self.asked.borrow_mut().push(url.to_owned());
        let texts = self.texts.borrow();
        let text = texts.get(url).ok_or("the server responded 404")?;
        assert!(text.len() as u64 <= most);
        Ok(text.as_bytes().to_vec())
    }

    /// Fetches: what became of each module, and how many were downloaded.
    fn fetch(&self, script: &Path, is_update: bool) -> Result<(Vec<FetchState>, usize), String> {
        self.asked.borrow_mut().clear();
        let fetched = fetch(script, is_update, &|url, most| self.get(url, most));
        let (_, modules) = fetched.map_err(|error| error.to_string())?;
        Ok((modules.iter().map(|own| own.state).collect(), self.asked.borrow().len()))
    }
}

fn script() -> Folder {
    Folder::new(&[
        ("r/package.json", "{}"),
        ("r/t/a.js", &format!("\nimport {{ x }} from '{URL}'; export default () => x")),
    ])
}

/// The file of a module, which the lock names.
fn cached(folder: &Folder, url: &str) -> PathBuf {
    let lock = fs::read_to_string(folder.path("r/squall.lock")).expect("a lock");
    let lock: serde_json::Value = serde_json::from_str(&lock).expect("JSON");
    folder.path("r").join(lock["modules"][url]["file"].as_str().expect("a name"))
}

#[test]
fn what_urls_give_is_fetched_once_and_locked() {
    use FetchState::{Added, Kept, Restored};
    let (folder, net) = (script(), Net::new());
    let path = folder.path("r/t/a.js");
    let error = folder.graph("r/t/a.js").expect_err("not fetched");
    let command = format!("`squall k6 fetch {}`", path.display());
    assert!(error.contains(&format!("a.js:2:19: `{URL}`: it is not in ")), "{error}");
    assert!(error.contains("r/squall.lock") && error.ends_with(&command), "{error}");
    assert_eq!(net.fetch(&path, false), Ok((vec![Added, Added], 2)));
    assert_eq!(folder.graph("r/t/a.js"), Ok(3));
    let files = ScriptFiles::of(&path);
    Graph::read(&path, &files).expect("a graph");
    let urls: Vec<_> = files.read_files().into_iter().filter_map(|own| own.url).collect();
    assert_eq!(urls.len(), 2);
    let lock = fs::read_to_string(folder.path("r/squall.lock")).expect("a lock");
    assert_eq!(net.fetch(&path, false), Ok((vec![Kept, Kept], 0)));
    fs::remove_file(cached(&folder, NEAR)).expect("it is there");
    let error = folder.graph("r/t/a.js").expect_err("gone");
    assert!(error.starts_with(&format!("{URL}:1:8: `{NEAR}`: ")), "{error}");
    assert!(error.contains("fetch it again") && error.ends_with(&command), "{error}");
    assert_eq!(net.fetch(&path, false), Ok((vec![Kept, Restored], 1)));
    assert_eq!(fs::read_to_string(folder.path("r/squall.lock")).ok(), Some(lock));
}

#[test]
fn what_is_not_what_was_locked_is_refused() {
    use FetchState::{Kept, Restored, Updated};
    let (folder, net) = (script(), Net::new());
    let path = folder.path("r/t/a.js");
    net.fetch(&path, false).expect("fetched");
    fs::write(cached(&folder, NEAR), "export const y = 'another'").expect("writable");
    let error = folder.graph("r/t/a.js").expect_err("another");
    assert!(error.contains("is not what squall.lock names, by its hash"), "{error}");
    assert_eq!(net.fetch(&path, false), Ok((vec![Kept, Restored], 1)));
    // What the URL gives has changed: an update takes it, and nothing else does.
    net.texts.borrow_mut().insert(NEAR, "export const y = 2");
    assert_eq!(net.fetch(&path, false), Ok((vec![Kept, Kept], 0)));
    fs::remove_file(cached(&folder, NEAR)).expect("it is there");
    let error = net.fetch(&path, false).expect_err("it has changed");
    assert!(error.contains("something else now") && error.contains("`--update`"), "{error}");
    assert!(!cached(&folder, NEAR).exists(), "nothing is written if something fails");
    assert_eq!(net.fetch(&path, true), Ok((vec![Kept, Updated], 2)));
    assert_eq!(folder.graph("r/t/a.js"), Ok(3));
}

#[test]
fn what_cannot_be_fetched_is_named_with_its_place() {
    let (folder, net) = (script(), Net::new());
    let path = folder.path("r/t/a.js");
    net.texts.borrow_mut().remove(NEAR);
    let error = net.fetch(&path, false).expect_err("404");
    let said = format!("{URL}:1:8: `{NEAR}`: the server responded 404");
    assert_eq!(error, said);
    net.texts.borrow_mut().insert(NEAR, "<!DOCTYPE html>");
    let error = net.fetch(&path, false).expect_err("a page");
    assert!(error.starts_with(&format!("{NEAR}:1:")), "{error}");
    assert!(!folder.path("r/squall.lock").exists() && !folder.path("r/squall_modules").exists());
    for (lock, said) in [
        ("{", "squall.lock: EOF"),
        (
            &*format!(
                "{{\"version\": 1, \"modules\": {{\"{URL}\": {{\"sha256\": \"\", \"file\": \"../out.js\"}}}}}}"
            ),
            "is outside of",
        ),
    ] {
        fs::write(folder.path("r/squall.lock"), lock).expect("writable");
        fs::write(folder.path("out.js"), "").expect("writable");
        let error = folder.graph("r/t/a.js").expect_err(said);
        assert!(error.contains(said), "{error}");
    }
}
