//! What users of a realm cannot do to each other.

use std::path::Path;

use crate::engine::{Limits, Step};
use crate::graph::Graph;
use crate::host::Numbers;
use crate::stage_tests::{Texts, run, stage};
use crate::{Answer, Stage, StageOptions};

const SHARED: &str = "TypeError: all users share this object, so that scripts cannot change it: keep such state in a variable of the module, or use --isolation=vm";

/// What the default function with this body logs, or how it fails.
fn logged(body: &str) -> Vec<String> {
    let script = format!("export default function () {{ {body} }}");
    run(&stage(&[("/t/a.js", &script)]), 1, 1).remove(0)
}

#[test]
fn what_users_share_cannot_be_changed() {
    for write in [
        "globalThis.x = 1",
        "Function('x = 1')()",
        "Function('Array.prototype.last = 1')()",
        "Function('delete Math.max')()",
        "globalThis.Math = null",
        "global.console = {}",
        "Array.prototype.last = () => 1",
        "Array.prototype[0] = 1",
        "const p = Object.getPrototypeOf([]); p.map = 1",
        "Object.prototype.toString = () => ''",
        "Math.max = null",
        "console.log = () => {}",
        "delete String.prototype.trim",
        "Object.defineProperty(Map.prototype, 'x', { value: 1 })",
        "Object.defineProperty(Map.prototype, 'get', { value: 1 })",
        "Object.setPrototypeOf(Array.prototype, null)",
        "Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())).x = 1",
        "Object.getPrototypeOf(async () => {}).x = 1",
        "Object.getPrototypeOf([][Symbol.iterator]()).next = 1",
        "Object.getPrototypeOf(''.matchAll(/a/g)).next = 1",
        "Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())).x = 1",
        "k6.check = null",
        "k6.check.x = 1",
        "Counter.prototype.add = null",
        "http.get = null",
        "Object.getPrototypeOf(http.expectedStatuses(200)).x = 1",
        "http.CookieJar.prototype.set = null",
    ] {
        let script = format!(
            "import * as k6 from 'k6'; import http from 'k6/http'; import {{ Counter }} from 'k6/metrics';
export default function () {{ {write} }}"
        );
        let told = run(&stage(&[("/t/a.js", &script)]), 1, 1).remove(0);
        assert!(told.len() == 1 && told[0].starts_with(SHARED), "{write}: {told:?}");
    }
    let told = logged(
        "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 1; console.log(new Error('x').stack.includes('/t/a.js'))",
    );
    assert_eq!(told, ["true"]);
}

/// What a user alone may do: a script, and what its default function returns.
const ALONE: [(&str, &str); 6] = [
    ("globalThis.x = __VU; export default () => { sleep(1); return globalThis.x }", "1"),
    ("global.f = () => 7; export default () => f()", "7"),
    (
        "Array.prototype.last = function () { return this[this.length - 1] }; export default () => [1, 5].last()",
        "5",
    ),
    ("export default () => eval('2 + 1')", "3"),
    ("export default () => { Function('y = 4')(); return globalThis.y }", "4"),
    ("Math.max = () => 8; export default () => Math.max(1)", "8"),
];

#[test]
fn a_user_alone_changes_what_it_likes() {
    for (script, expected) in ALONE {
        let text = format!("import {{ sleep }} from 'k6'; {script}");
        let stages: Vec<Stage> = (1..=3).map(|_| alone(&text, Limits::default())).collect();
        let mut calls: Vec<_> = stages
            .iter()
            .zip(1..)
            .map(|(stage, user)| {
                let numbers = Numbers { user, iteration: 0 };
                let own = stage.user(numbers, &[]).unwrap_or_else(|thrown| panic!("{thrown}"));
                let function = stage.exported(&own, "default").unwrap().expect("a function");
                (stage, stage.call(&function, Vec::new()).expect("a stack"), numbers)
            })
            .collect();
        let mut returned = vec![String::new(); calls.len()];
        for _ in 0..2 {
            for ((stage, fiber, numbers), returned) in calls.iter_mut().zip(&mut returned) {
                if returned.is_empty()
                    && let Step::Done(done) = stage.resume(fiber, *numbers, Answer::Ready)
                {
                    *returned = done.unwrap().value().to_text().unwrap();
                }
            }
        }
        let of = |user: usize| match script.contains("__VU") {
            true => user.to_string(),
            false => expected.to_owned(),
        };
        assert_eq!(returned, (1..=3).map(of).collect::<Vec<_>>(), "{script}");
    }
}

#[test]
fn memory_of_a_user_alone_is_its_own() {
    let script = "export default function () { const all = []; if (__VU === 1) for (;;) all.push('x'.repeat(1000) + all.length); return all.length }";
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let ends = |user| {
        let stage = alone(script, limits);
        let numbers = Numbers { user, iteration: 0 };
        let own = stage.user(numbers, &[]).expect("a user");
        let function = stage.exported(&own, "default").unwrap().expect("a function");
        let mut fiber = stage.call(&function, Vec::new()).expect("a stack");
        match stage.resume(&mut fiber, numbers, Answer::Ready) {
            Step::Done(done) => done.map(|own| own.value().to_text().unwrap()),
            Step::Wait(own) => panic!("{own:?}"),
        }
    };
    assert!(ends(1).expect_err("no memory").message.contains("memory"));
    assert_eq!(ends(2), Ok("0".to_owned()));
}

/// A stage for one user.
fn alone(script: &str, limits: Limits) -> Stage {
    let graph = Graph::read(Path::new("/t/a.js"), &Texts(&[("/t/a.js", script)]));
    let options = StageOptions { is_alone: true, limits, ..StageOptions::default() };
    let stage = Stage::new(&graph.unwrap_or_else(|why| panic!("{why}")), &options);
    stage.expect("memory").unwrap_or_else(|thrown| panic!("{thrown}"))
}

#[test]
fn what_inherits_from_it_has_properties_of_its_own() {
    for (body, said) in [
        ("const o = {}; o.toString = () => 'mine'; console.log(`${o}`)", "mine"),
        (
            "const o = {}; o.constructor = 1; o.hasOwnProperty = 2; console.log(o)",
            r#"{"constructor":1,"hasOwnProperty":2}"#,
        ),
        (
            "const a = [1]; a.push = () => 7; a.map = 2; console.log(a.push(), a.length, a.map)",
            "7 1 2",
        ),
        ("class A { toString = () => 'field' } console.log(`${new A()}`)", "field"),
        (
            "function A() {} A.prototype = Object.create(Array.prototype); A.prototype.constructor = A; A.prototype.join = () => 'j'; console.log(new A().join())",
            "j",
        ),
        (
            "function E(m) { this.message = m; this.name = 'E' } E.prototype = Object.create(Error.prototype); E.prototype.toString = () => 'e'; console.log(new E('m').message, new E('').name, E.prototype.toString())",
            "m E e",
        ),
        (
            "const e = new TypeError('a'); e.name = 'Own'; e.message = 'b'; console.log(`${e.name} ${e.message}`)",
            "Own b",
        ),
        ("const m = new Map(); m.get = () => 5; console.log(m.get(1))", "5"),
        (
            "const f = () => 1; f.call = 2; f.toString = () => 'f'; console.log(f.call, `${f}`)",
            "2 f",
        ),
        ("const p = Promise.resolve(1); p.then = 3; console.log(p.then)", "3"),
        (
            "const o = Object.create(Object.freeze({ a: 1 })); try { o.a = 2; console.log('written') } catch (e) { console.log(e.message) }",
            "'a' is read-only",
        ),
        (
            "const a = []; for (let i = 0; i < 9; i++) a[i] = i; a.length = 3; console.log(a)",
            "[0,1,2]",
        ),
    ] {
        assert_eq!(logged(body), [said], "{body}");
    }
}

#[test]
fn the_environment_is_each_users_own() {
    let script = "
const host = __ENV.HOST;
export default function () { __ENV.count = (Number(__ENV.count) || 0) + 1; return [host, __ENV.HOST, __ENV.MINE, __ENV.count].join() }";
    let stage = stage(&[("/t/a.js", script)]);
    let returned = |env: &[(&str, &str)]| {
        let env: Vec<_> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let user = stage.user(Numbers { user: 1, iteration: 0 }, &env).expect("a user");
        let function = stage.exported(&user, "default").expect("exports").expect("a function");
        function.value().call(&[]).and_then(|own| own.to_text()).expect("a text")
    };
    assert_eq!(returned(&[]), "h:1,h:1,,1");
    assert_eq!(returned(&[("MINE", "1"), ("count", "4")]), "h:1,h:1,1,5");
    assert_eq!(returned(&[("HOST", "other")]), "other,other,,1");
}

#[test]
fn errors_say_where_their_author_wrote_what_threw() {
    let failed = |stage: &Stage| {
        let user = stage.user(Numbers { user: 1, iteration: 0 }, &[]);
        let stack = user.expect_err("an error").stack;
        stack.lines().next().unwrap_or_default().trim().to_owned()
    };
    let one = "import { check } from 'k6'; check(1, {}); throw new Error();";
    assert_eq!(failed(&stage(&[("/t/a.js", one)])), "at <anonymous> (/t/a.js:1:53)");
    let typed =
        "type A = { a: string };\nconst a = null as any as A; throw new Error() as any;\nexport {}";
    assert_eq!(failed(&stage(&[("/t/a.ts", typed)])), "at <anonymous> (/t/a.ts:2:39)");
    let main = "import { f } from './b.ts';\nexport const x = f(1);";
    let other = "export function f<T>(x: T): T { const y = x as any; throw new Error() }";
    let two = stage(&[("/t/a.js", main), ("/t/b.ts", other)]);
    assert_eq!(failed(&two), "at f (/t/b.ts:1:63)");
    let late = "import { f } from './b.ts'; export default () => { f(1) }";
    let told = run(&stage(&[("/t/a.js", late), ("/t/b.ts", other)]), 1, 1).remove(0);
    assert!(told[0].contains("(/t/b.ts:1:63)\n    at default (/t/a.js:1:52)"), "{told:?}");
}

#[test]
fn what_a_module_does_not_export_is_said_where_it_is_imported() {
    let other = "import { own } from './a.js'; export const a = 1; export default () => own";
    for (text, said, line) in [
        (
            "\nimport { check,\n nope } from 'k6'",
            "\"k6\" does not export `nope`: it exports check, ",
            2,
        ),
        (
            "import { a, b } from './b.js'",
            "\"./b.js\" does not export `b`: it exports a, default",
            1,
        ),
        (
            "import { a as c } from './b.js'; import d from './c.js'",
            "\"./c.js\" does not export `default`",
            1,
        ),
    ] {
        let text = format!("{text}; export const own = 1; export default () => 1");
        let files = [("/t/a.js", text.as_str()), ("/t/b.js", other), ("/t/c.js", "export {}")];
        let user = stage(&files).user(Numbers { user: 1, iteration: 0 }, &[]);
        let thrown = user.expect_err("an error");
        assert!(thrown.message.starts_with(&format!("SyntaxError: {said}")), "{thrown}");
        let place = format!("    at <anonymous> (/t/a.js:{line}:");
        assert!(thrown.stack.starts_with(&place), "{thrown}");
    }
    // Two that import each other are not whole when the second one looks.
    let first =
        "import { a } from './b.js'; export const own = a; export default () => { throw own }";
    let two = stage(&[("/t/a.js", first), ("/t/b.js", other)]);
    assert_eq!(run(&two, 1, 1), [["1"]]);
}
