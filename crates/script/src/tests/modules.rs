//! What modules import: those of Node.js' kind, those of k6's library, and what is refused.

use std::path::Path;

use super::{Host, Texts, default, once, stage_of};
use crate::StageOptions;
use crate::graph::Graph;

fn result(files: &[(&str, &str)]) -> String {
    let stage = stage_of(files, &StageOptions::default());
    let result = Host::default().run(&stage, &default(&stage, 1), 0);
    result.unwrap_or_else(|thrown| panic!("{thrown}")).expect("a value")
}

#[test]
fn a_script_may_require_what_it_needs() {
    let script = "const { check } = require('k6');
const http = require(\"k6/http\");
const lib = require('./lib');
const { twice } = require('./es.js');
const inner = () => require('pack');
module.exports.default = function () { return [typeof check, typeof http, lib.count(), lib.name, twice(4), inner()('x')] };
exports.options = { vus: 2 };";
    let files = [
        ("/t/a.js", script),
        ("/t/lib.js", "let count = 0; exports.count = () => ++count; exports.name = 'lib'"),
        ("/t/es.js", "export const twice = (own) => own * 2"),
        ("/t/node_modules/pack/package.json", r#"{"main": "main.js"}"#),
        (
            "/t/node_modules/pack/main.js",
            "(function (root, make) { if (typeof exports === 'object' && typeof module !== 'undefined') { module.exports = make() } else { root.pack = make() } })(this, () => (own) => own + '!')",
        ),
    ];
    assert_eq!(result(&files), r#"["function","object",1,"lib",8,"x!"]"#);
    let stage = stage_of(&files, &StageOptions::default());
    let user = super::user(&stage, 1).expect("no error");
    assert_eq!(stage.json(&user, "options").expect("JSON").as_deref(), Some(r#"{"vus":2}"#));
}

#[test]
fn modules_of_both_kinds_import_each_other() {
    let script = "import whole, { name } from './lib.js';
import make from './function.js';
import * as all from './lib.js';
export default () => [whole.name, name, make(3), all.name, whole === all.default];";
    let files = [
        ("/t/a.js", script),
        ("/t/lib.js", "module.exports = { name: 'lib' }"),
        ("/t/function.js", "module.exports = (own) => own + 1"),
    ];
    assert_eq!(result(&files), r#"["lib","lib",4,"lib",true]"#);
    // Each sees of the other what is there by then.
    let files = [
        ("/t/a.js", "import { seen, own } from './b.js'; export default () => [seen, own.late]"),
        (
            "/t/b.js",
            "exports.early = 1; exports.own = require('./c.js'); exports.seen = exports.own.seen",
        ),
        ("/t/c.js", "const b = require('./b.js'); exports.seen = b.early; exports.late = 2"),
    ];
    assert_eq!(result(&files), "[1,2]");
}

#[test]
fn names_of_a_modules_own_are_no_others() {
    let script = "const require = (own) => own + '?';
const module = { exports: 1 };
export default () => [require('./none.js'), module.exports];";
    assert_eq!(result(&[("/t/a.js", script)]), r#"["./none.js?",1]"#);
}

#[test]
fn what_cannot_be_imported_is_said_where_it_is_asked_for() {
    for (text, said) in [
        (
            "const own = require('./none.js')",
            "/t/a.js:1:21: `./none.js` is not there: /t/none.js does not exist",
        ),
        (
            "import own from 'https://jslib.k6.io/httpx/0.1.0/index.js'",
            "/t/a.js:1:17: `https://jslib.k6.io/httpx/0.1.0/index.js`: no modules of URLs",
        ),
        (
            "import own from 'https://jslib.k6.io/k6-utils/1.0.0/other.js'",
            "/t/a.js:1:17: `https://jslib.k6.io/k6-utils/1.0.0/other.js`: no modules of URLs",
        ),
        ("import own from 'jslib/k6-utils'", "/t/a.js:1:17: `jslib/k6-utils` is neither built in"),
        ("import own from 'frozen'", "/t/a.js:1:17: `frozen` is neither built in"),
    ] {
        let files = Texts(vec![("/t/a.js".to_owned(), text.as_bytes().to_vec())]);
        let error = Graph::read(Path::new("/t/a.js"), &files).expect_err(text).to_string();
        assert!(error.starts_with(said), "{text}: {error}");
    }
    for version in ["1.0.0", "1.4.0", "0.0.1"] {
        let script = format!(
            "import {{ randomItem }} from 'https://jslib.k6.io/k6-utils/{version}/index.js'; export default () => randomItem([1])"
        );
        assert_eq!(result(&[("/t/a.js", &script)]), "1");
    }
}

#[test]
fn what_is_called_and_is_no_function_is_named() {
    for (body, expected) in [
        ("http.gte('x')", "TypeError: not a function, in a call of `http.gte`"),
        ("const o = {}; o\n.first()", "TypeError: not a function, in a call of `first`"),
        ("let o; new o(1)", "TypeError: not a function, in a call of `o`"),
        ("[1].map(2)", "TypeError: not a function"),
        ("const o = {}; o['k']()", "TypeError: not a function"),
        ("try { http.gte() } catch (e) { throw new Error(e.message) }", "Error: not a function"),
    ] {
        let script =
            format!("import http from 'k6/http';\nexport default function () {{ {body} }}");
        let (_, result) = once(&script);
        let thrown = result.expect_err(body);
        assert_eq!(thrown.message, expected, "{thrown}");
    }
}
