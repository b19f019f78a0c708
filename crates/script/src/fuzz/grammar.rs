//! Scripts out of bytes: each expression comes to the number of the user that evaluates it, by way of something that the
//! interpreter itself calls, and waits wherever it can. Pure.

/// How deep expressions are within each other.
const DEEPEST: u32 = 6;

/// Bytes that are read one by one; behind the last one are zeros.
pub(super) struct Choices<'b>(pub &'b [u8]);

impl Choices<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }
}

/// Ways to come to a value: `E` is an expression for it, `W` something that may wait.
const WAYS: [&str; 34] = [
    "(W, E)",
    "(() => { try { W; throw E } catch (e) { W; return e } finally { W } })()",
    "(() => { try { return E } finally { W } })()",
    "(() => { for (const v of [E, E]) { try { W; continue } finally { W } } return E })()",
    "[E].map((v) => (W, v))[0]",
    "[E, E].sort((a, b) => (W, a - b))[1]",
    "[E, E].reduce((a, b) => (W, (a + b) / 2))",
    "Array.from({ length: 2 }, () => (W, E))[1]",
    "({ get v() { W; return E } }).v",
    "(() => { let k = 0; const o = { set v(n) { W; k = n } }; o.v = E; return k })()",
    "JSON.parse(JSON.stringify({ a: { toJSON() { W; return E } } })).a",
    "JSON.parse('{\"a\":1}', (k, v) => (k ? (W, E) : v)).a",
    "(function* () { W; yield E; W })().next().value",
    "[...(function* () { try { yield E; W } finally { W } })()][0]",
    "(() => { const [v] = (function* () { try { yield E; yield 0 } finally { W } })(); return v })()",
    "new (class { #v = (W, E); get v() { return this.#v } })().v",
    "new (class extends (class { constructor(v) { W; this.v = v } }) { constructor() { super(E); W } })().v",
    "Number('a'.replace(/a/, () => (W, E)))",
    "Number(/(\\d+)/.exec(`x${(W, E)}y`)[1])",
    "new Map([[1, E]]).get(1)",
    "[...new Set([E, (W, E)])][0]",
    "(() => { let v; new Map([[1, 2]]).forEach(() => { W; v = E }); return v })()",
    "(() => { const m = new WeakMap(), k = {}; m.set(k, E); W; return m.get(k) })()",
    "+{ [Symbol.toPrimitive]() { W; return E } }",
    "new Proxy({}, { get() { W; return E } }).v",
    "Reflect.apply(function () { W; return arguments[0] }, null, [E])",
    "(() => { const c = { v: E }; c.c = c; c.f = () => c; W; return c.f().c.v })()",
    "((f) => (W, f()))(((n) => () => n)(E))",
    "(() => { let v = 0; (function down(n) { if (n) down(n - 1); else { W; v = E } })(9); return v })()",
    "group('g', () => E)",
    "(check(0, { c: () => (W, E) === own, d: () => false }), E)",
    "http.get(`http://a.test/${E}`).json('n')",
    "http.batch([`http://a.test/${E}`, `http://a.test/${E}`]).map((r) => JSON.parse(r.body).n)[1]",
    "(() => { try { return (function f() { return f() + 1 })() } catch { W; return E } })()",
];

/// What may wait, or leaves something behind.
const WAITS: [&str; 8] = [
    "0",
    "sleep(0.001)",
    "sleep(0)",
    "http.get('http://a.test/0')",
    "keep(E)",
    "new Uint8Array(1000)",
    "setTimeout(() => keep(E), 1)",
    "Promise.resolve().then(() => keep(E))",
];

/// Statements of the function that users run.
const STATEMENTS: [&str; 8] = [
    "keep(E);",
    "W;",
    "all.push((async () => { await null; W; keep(E); await null; return E })());",
    "all.push(new Promise((done) => { W; setTimeout(() => done(keep(E)), 1) }));",
    "for await (const v of (async function* () { yield E; W; yield E })()) keep(v);",
    "if (__ITER === 1) throw new Error(`e${E}`);",
    "try { null.x } catch (e) { W; if (!e.stack.includes('a.js')) throw new Error('crossed: ' + e.stack) }",
    "last = E; W; keep(last);",
];

/// A script.
pub(super) fn script(choices: &mut Choices<'_>) -> String {
    let count = 1 + choices.below(6);
    let statements: Vec<String> = (0..count)
        .map(|_| filled(STATEMENTS[choices.below(STATEMENTS.len())], choices, 0))
        .collect();
    let statements = statements.join("\n  ");
    format!(
        "import http from 'k6/http';
import {{ check, group, sleep }} from 'k6';
const own = __VU;
let last;
const keep = (v) => {{
  if (v !== own || v !== __VU) throw new Error(`crossed: ${{v}} ${{own}} ${{__VU}}`);
  return v;
}};
export default async function () {{
  const all = [];
  {statements}
  for (const v of await Promise.all(all)) keep(v);
  return own;
}}
"
    )
}

/// A text with its `E` and `W` replaced. Capitals that are words of their own are these.
fn filled(text: &str, choices: &mut Choices<'_>, depth: u32) -> String {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut all = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_alone = !is_word(before) && !is_word(rest.peek().copied());
        match c {
            'E' if is_alone => all += &expression(choices, depth + 1),
            'W' if is_alone => {
                let own = WAITS[choices.below(WAITS.len())];
                all += &filled(own, choices, depth + 1);
            }
            _ => all.push(c),
        }
        before = Some(c);
    }
    all
}

fn expression(choices: &mut Choices<'_>, depth: u32) -> String {
    let way = usize::from(choices.byte());
    match WAYS.get(way % (WAYS.len() + 8)) {
        Some(text) if depth < DEEPEST => filled(text, choices, depth),
        _ => "own".to_owned(),
    }
}
