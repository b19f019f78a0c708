//! What scripts import and open: modules from URLs, fetched from a server of the test, and files below the root.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::said;

/// What a server has: the path, the status with headers, and the body.
type Pages = Vec<(&'static str, &'static str, String)>;

/// A server for modules, which ends with the process of the test.
struct Modules {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Modules {
    fn new(pages: Pages) -> Modules {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::default());
        let seen = asked.clone();
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| answer(stream, &pages, &seen));
        });
        Modules { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }
}

fn answer(mut stream: TcpStream, pages: &Pages, asked: &Mutex<Vec<String>>) {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|own| own == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&part[..count]),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let page = pages.iter().find(|(own, ..)| *own == path);
    let (status, body) = page.map_or(("404 Not Found", ""), |(_, status, body)| (*status, body));
    asked.lock().expect("no panic").push(path);
    let length = body.len();
    let _gone = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

fn server() -> Modules {
    let own = |path, status, body: &str| (path, status, body.to_owned());
    Modules::new(vec![
        own(
            "/lib/1.0/index.js",
            "200 OK",
            "import { deep } from './deep.ts';\nexport const twice = (n) => deep(n);\n",
        ),
        own(
            "/lib/1.0/deep.ts",
            "200 OK",
            "\nexport function deep(n: number): number {\n  if (n < 0) throw new Error('below');\n  return n * 2;\n}\n",
        ),
        own("/old.js", "302 Found\r\nLocation: /new/place.js", ""),
        own("/new/place.js", "200 OK", "export const moved = 'moved';\n"),
        own("/page.js", "200 OK", "<!DOCTYPE html>\n"),
        own("/round.js", "302 Found\r\nLocation: /round.js", ""),
    ])
}

/// Writes texts into folders below one of their own.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    folder
}

fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    let (code, out, errors) = said(folder, args);
    (code, out + &errors)
}

fn says(folder: &Path, args: &[&str], code: i32, parts: &[&str]) -> String {
    let (own, said) = run(folder, args);
    assert_eq!(own, code, "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{args:?}: {part}: {said}");
    }
    said
}

#[test]
fn modules_of_urls_are_fetched_and_then_run_without_their_server() {
    let server = server();
    let url = &server.url;
    let script = format!(
        "import {{ twice }} from '{url}/lib/1.0/index.js';
import {{ moved }} from '{url}/old.js';
import {{ randomItem }} from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
export const options = {{ iterations: 1 }};
export default function () {{ console.log(`${{twice(21)}} ${{moved}} ${{randomItem([7])}}`); twice(-1); }}
"
    );
    let folder = tree(&[("t/a.js", &script), ("package.json", "{}")]);
    let (root, line) = (folder.path(), ["run", "t/a.js", "-q"]);
    let missing = format!("a.js:1:23: `{url}/lib/1.0/index.js`: it is not in ");
    says(root, &line, 2, &[&missing, "squall.lock: fetch it with `squall k6 fetch t/a.js`"]);
    says(root, &["k6", "run", "t/a.js"], 107, &[&missing]);
    assert!(server.asked().is_empty(), "only `fetch` asks the network");
    let fetched = says(root, &["k6", "fetch", "t/a.js"], 0, &["3 modules", "added"]);
    assert!(fetched.contains("squall.lock") && !fetched.contains("jslib"), "{fetched}");
    let all = ["/lib/1.0/index.js", "/old.js", "/new/place.js", "/lib/1.0/deep.ts"];
    assert_eq!(server.asked(), all);
    says(root, &["k6", "fetch", "t/a.js"], 0, &["3 modules", "unchanged"]);
    assert!(server.asked().is_empty(), "all is there");
    let said = says(root, &["k6", "run", "t/a.js"], 0, &["42 moved 7", "Error: below"]);
    assert!(said.contains(&format!("{url}/lib/1.0/deep.ts:3:")), "{said}");
    let check =
        says(root, &["check", "t/a.js"], 0, &["locked (SHA-256 ", "1.4.0/index.js: built in"]);
    assert!(check.contains(&format!("    {url}/lib/1.0/deep.ts: ")), "{check}");
    // What somebody has changed is not run.
    let modules = root.join("squall_modules");
    let files: Vec<_> = std::fs::read_dir(&modules).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 3);
    for file in files {
        std::fs::write(file.path(), "export const moved = 1, twice = (n) => n;").expect("writable");
    }
    says(root, &line, 2, &["is not what squall.lock names, by its hash"]);
    says(root, &["k6", "fetch", "t/a.js"], 0, &["restored"]);
    says(root, &["check", "t/a.js"], 0, &[]);
    server.asked();
    says(root, &["k6", "fetch", "--update", "t/a.js"], 0, &["unchanged"]);
    assert_eq!(server.asked(), all);
}

#[test]
fn what_cannot_be_fetched_is_said_with_its_place() {
    let server = server();
    for (path, said) in [
        ("/none.js", "`: the server responded 404"),
        ("/page.js", "/page.js:1:1: "),
        ("/round.js", "redirect"),
    ] {
        let script = format!("\nimport '{}{path}'; export default () => 1", server.url);
        let folder = tree(&[("a.js", &script)]);
        let (code, text) = run(folder.path(), &["k6", "fetch", "a.js"]);
        assert!(code == 107 && text.contains(path) && text.contains(said), "{code} {text}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
    let folder = tree(&[("a.js", "import 'http://a.example/x.js'"), ("b.js", "")]);
    let root = folder.path();
    says(root, &["k6", "fetch", "a.js"], 107, &["a.js:1:8: ", "URLs that begin with https://"]);
    says(root, &["k6", "fetch", "b.js"], 0, &["imports no modules that have to be fetched"]);
    says(root, &["k6", "fetch", "none.js"], 107, &["none.js"]);
}

#[test]
fn a_script_reads_what_is_below_its_root() {
    let script = "import { b } from '../lib/b.js';
import { SharedArray } from 'k6/data';
const rows = new SharedArray('rows', () => JSON.parse(open('../data/rows.json')));
export const options = { iterations: 1 };
export default function () { console.log(`${b} ${rows.length}`) }
";
    let folder = tree(&[
        ("r/t/a.js", script),
        ("r/lib/b.js", "export const b = 'b'"),
        ("r/data/rows.json", "[1, 2]"),
        ("r/.git", ""),
    ]);
    let root = folder.path().join("r");
    says(&root, &["k6", "run", "t/a.js"], 0, &["b 2"]);
    let check = says(&root, &["check", "t/a.js"], 0, &["3 files, ", "    lib/b.js: 20 B"]);
    assert!(check.contains("    data/rows.json: 6 B"), "{check}");
    std::fs::write(root.join("t/squall.lock"), "").expect("writable");
    let parts = ["lib/b.js is outside of ", "/r/t, the root of the script", "squall.lock"];
    says(&root, &["check", "t/a.js"], 2, &parts);
    for mark in ["t/squall.lock", ".git"] {
        // Where nobody says it, the root holds what is imported.
        std::fs::remove_file(root.join(mark)).expect("it is there");
        says(&root, &["check", "t/a.js"], 0, &["below "]);
    }
    std::fs::remove_file(root.join("data/rows.json")).expect("it is there");
    std::fs::write(folder.path().join("rows.json"), "[]").expect("writable");
    let (from, to) = (folder.path().join("rows.json"), root.join("data/rows.json"));
    std::os::unix::fs::symlink(from, to).expect("a link");
    says(&root, &["check", "t/a.js"], 2, &["data/rows.json is outside of "]);
}
