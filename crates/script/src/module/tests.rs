//! What becomes of a module.

use super::*;
use crate::engine::{Limits, Realm};

fn read(text: &str, language: Language) -> Module {
    Module::read(text, language).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// What a module exports as `result`, as JSON; what it imports is `{ a: 1, f: function, default: 'd' }`.
fn run(text: &str, language: Language) -> String {
    let module = read(text, language);
    let realm = Realm::new(Limits::default()).expect("memory");
    let scope = realm.scope();
    let run = format!(
        "(() => {{ 'use strict'; const out = {{}}; let count = 0;
            const all = {{ a: 1, get count() {{ return count }}, up() {{ count++; return this === undefined }}, default: 'd' }};
            const put = (own) => Object.assign(out, own); put.all = (own) => {{ for (const k in own) if (k !== 'default') out[k] = () => own[k] }};
            ({})(() => all, put);
            return JSON.stringify(out.result()) }})()",
        module.text
    );
    let value = scope.evaluate("run.js", &run);
    let value = value.unwrap_or_else(|thrown| panic!("{thrown}\n{}", module.text));
    value.to_text().expect("a text")
}

#[test]
fn imports_and_exports_mean_what_they_meant() {
    for (text, result) in [
        ("export const result = 1", "1"),
        ("export let result = 1; result++", "2"),
        ("export function result() {} result.x = 1; export { y as z }; const y = 1", "undefined"),
        ("const a = 3; export { a as result }", "3"),
        ("import { a } from 'm'; export const result = a", "1"),
        ("import { a as b } from 'm'; export const result = { b, c: b }", r#"{"b":1,"c":1}"#),
        ("import d, { a } from 'm'; export const result = [d, a]", r#"["d",1]"#),
        ("import * as m from 'm'; export const result = m.a + m['a']", "2"),
        (
            "import { count, up } from 'm'; const before = count; const own = up(); export const result = [before, own, count]",
            "[0,true,1]",
        ),
        ("export { a as result } from 'm'", "1"),
        ("export * as result from 'm'", r#"{"a":1,"count":0,"default":"d"}"#),
        ("export { result }; var result = 2", "2"),
        ("export const { x, y: [result = 4] } = { x: 1, y: [] }", "4"),
        ("export default function () { return 1 } export const result = 5", "5"),
        ("export default (a) => a\nexport const result = 6", "6"),
        ("export default function named() {} export const result = typeof named", r#""function""#),
        ("export default class { }\nexport const result = 7", "7"),
        ("import { a } from 'm'; const f = (a) => a; export const result = f(9)", "9"),
        ("import { a } from 'm'; export { a as result }", "1"),
        ("export const result = this === undefined", "true"),
        // Lines without semicolons: what is imported begins none that goes on with the one before.
        ("import { a, up } from 'm'\nlet n = [a]\nup.x\nexport const result = n", "[1]"),
        ("import { up } from 'm'\nlet n = 1\nup()\nexport const result = n", "1"),
        (
            "import { up } from 'm'\nlet n = 0\nif (n) up()\nelse n = up()\nexport const result = n",
            "true",
        ),
        ("import { up } from 'm'\nconst f = () => up()\nup()\nexport const result = f()", "true"),
        (
            "import { up } from 'm'\nfunction f(x) { switch (x) { case 1: x = 2\nup()\n} do up()\nwhile (false)\nreturn x }\nexport const result = f(1)",
            "2",
        ),
        ("export default () => 1\nexport const result = 1", "1"),
        ("export default (1, { a: 2 });\nexport const result = 1", "1"),
    ] {
        assert_eq!(run(text, Language::JavaScript), result, "{text}");
    }
}

#[test]
fn types_go_and_nothing_else() {
    for (text, result) in [
        ("export const result: number = 1 as number", "1"),
        ("interface A { a: string }\ntype B = A | null\nexport const result = 2", "2"),
        (
            "function f<T extends object>(a?: T, ...b: string[]): a is T { return a!.x } export const result = f({ x: 3 } as any)",
            "3",
        ),
        (
            "const f = async <T,>(a: T): Promise<T> => a; export const result = typeof f",
            r#""function""#,
        ),
        (
            "class A<T> implements I, J { private readonly a: number = 4; static b?: string; c!: number; declare d: string; [k: string]: any; m?(): void; n(this: A<T>, x: T): T { return x } }\nexport const result = new A<number>().n(4)",
            "4",
        ),
        (
            "abstract class A { abstract a(): number; abstract b: string; protected constructor(public x: number, private y = 2) {} }\nclass B extends A { constructor() { super(3) } a() { return this.x + (this as any).y } }\nexport const result = new B().a()",
            "5",
        ),
        (
            "enum E { A, B = 5, C, D = 'd', F = B << 1 }\nexport const result = [E.A, E.B, E.C, E.D, E.F, E[6]]",
            r#"[0,5,6,"d",10,"C"]"#,
        ),
        ("export enum result { A }", r#"{"0":"A","A":0}"#),
        ("const enum E { A = 1 } export const result = E.A", "1"),
        (
            "import type { T } from 'm'; import { U, type V, a } from 'm'; let x: U | V | T; export const result = a",
            "1",
        ),
        (
            "declare const x: number; declare function f(): void; declare module 'a' { }\nexport const result = 7",
            "7",
        ),
        (
            "function f(a: string): string; function f(a: number): number; function f(a: any) { return a } export const result = f(8)",
            "8",
        ),
        ("export const result = ({ a: 9 } satisfies object).a", "9"),
        (
            "const f = (a: {\n b: number\n}): {\n c: number\n} => ({ c: a.b }); export const result = f({ b: 1 })",
            r#"{"c":1}"#,
        ),
        ("let a = 1\ntype B = number\n(globalThis as any).x\nexport const result = a", "1"),
        ("const x = <number>(1 as unknown); export const result = x", "1"),
        (
            "for (const a of [1] as number[]) { } export type { A } from 'm'; export const result = [1, 2].map<number>((x): number => x!)",
            "[1,2]",
        ),
        ("export default interface A { }\nexport const result = 1", "1"),
        (
            "class A { constructor(readonly a: string) { } }\nexport const result = new A('x').a",
            r#""x""#,
        ),
    ] {
        assert_eq!(run(text, Language::TypeScript), result, "{text}");
    }
}

#[test]
fn lines_stay_where_they_were() {
    let text = "import {\n a,\n b\n} from 'm';\ntype X = {\n  y: string\n};\nenum E {\n  A,\n  B\n}\nexport default function () {\n  here(a, b, E.A);\n}\n";
    let module = read(text, Language::TypeScript);
    let line = |text: &str| Place::at(text, text.find("here").expect("here"));
    assert_eq!(line(&module.text).line, line(text).line);
    assert_eq!(module.imports, [("m".to_owned(), Place { line: 4, column: 8 })]);
    for first in [
        "export default function () { here() }",
        "import { a } from 'm'; export default function () { a(a, { a }, () => here()) }",
        "import { a } from 'm'\n/* \u{e4} */ a(a); let b = 1; here(a)",
    ] {
        let module = read(first, Language::JavaScript);
        let Place { line: number, column } = line(&module.text);
        let column = module.places.column(number, column);
        assert_eq!(Place { line: number, column }, line(first), "{first}");
        let told = line(&module.text).column;
        let mut stack = format!("    at f (/t/a.js:{number}:{told})\n    at /t/b.js:1:1");
        module.places.restore("/t/a.js", &mut stack);
        assert_eq!(stack, format!("    at f (/t/a.js:{number}:{column})\n    at /t/b.js:1:1"));
    }
}

#[test]
fn what_users_cannot_share_is_found() {
    for (text, what) in [
        ("x = 1", "writes to a global"),
        ("globalThis.x = 1", "writes to a global"),
        ("global['x']++", "writes to a global"),
        ("Array.prototype.last = () => 1", "changes a built-in object"),
        ("Math.max = null", "changes a built-in object"),
        ("delete String.prototype.trim", "changes a built-in object"),
        ("Object.defineProperty(Array.prototype, 'x', {})", "changes a built-in object"),
        ("Object.assign(globalThis, {})", "writes to a global"),
        ("x ||= 1", "writes to a global"),
        ("eval('1')", "makes code from a text"),
    ] {
        let found = read(text, Language::JavaScript).offences;
        assert_eq!(found, [Offence { what, place: Place { line: 1, column: 1 } }], "{text}");
    }
    for text in [
        "let x; x = 1; const o = {}; o.y = 2; o.prototype = 1",
        "function A() {} A.prototype.b = 1",
        "const Math = {}; Math.max = 1",
        "const r = Object.assign({}, { a: 1 })",
        "const root = Function('return this')(); const f = new Function('a', 'return a')",
    ] {
        assert_eq!(read(text, Language::JavaScript).offences, [], "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    for (text, line, column, said) in [
        ("const a = ;", 1, 11, "unexpected `;`, in `const a = ;`"),
        ("function f() {", 1, 15, "xpected `}` but found end of file, in `function f() {`"),
        ("f(1 2)", 1, 5, "xpected `,` or `)` but found `2`, in `f(1 2)`"),
        ("let a = 1;\n  let a = 2;", 1, 5, "a"),
        ("namespace A { export const x = 1 }", 1, 1, "namespaces are more than types"),
        ("@d class A {}", 1, 1, "decorators are more than types"),
    ] {
        let error = Module::read(text, Language::TypeScript).expect_err(text);
        assert!(error.message.contains(said), "{text}: {error:?}");
        assert_eq!((error.place.line, error.place.column), (line, column), "{text}: {error:?}");
    }
}

#[test]
fn types_in_a_file_of_javascript_are_told() {
    let error = Module::read("const a: number = 1", Language::JavaScript).expect_err("types");
    let help = error.help.expect("help");
    assert_eq!(help, "this is TypeScript: give the file a name that ends in .ts");
}

#[test]
fn a_top_level_that_waits_makes_the_module_async() {
    assert!(read("const a = await f();", Language::JavaScript).is_async);
    assert!(!read("const f = async () => await 1;", Language::JavaScript).is_async);
}
