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
pub(super) const WAYS: [&str; 63] = [
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
    "http.post(`http://a.test/${E}`, new Uint8Array(8).fill((W, 1)).subarray(2, 5)).json('n')",
    "JSON.parse(String.fromCharCode(...new Uint8Array(http.get(`http://a.test/${E}`, { responseType: 'binary' }).body))).n",
    "Number(http.request('PUT', `http://a.test/${E}`, { toString() { W; return 'a' }, get b() { W; return 1 } }).json().n)",
    "(() => { const all = {}; all[E] = http.batch({ a: ['POST', `http://a.test/${E}`, new ArrayBuffer(3)] }).a.json(); return all[own].n })()",
    "new Float64Array([(W, E), E]).map((v) => (W, v)).sort((a, b) => (W, a - b))[1]",
    "(() => { const b = new ArrayBuffer(8), t = new Float64Array(b); t[0] = E; t.forEach(() => { W; b.transfer() }); return t.length === 0 ? E : 0 })()",
    "(() => { const b = new ArrayBuffer(8, { maxByteLength: 64 }), t = new Uint8Array(b); b.resize(64); t.fill({ valueOf() { W; b.resize(4); return 1 } }); return E })()",
    "(() => { const a = [1, 2, 3, 4]; a.sort(() => { a.length = 0; W; return 1 }); a.splice(0, 9); return E })()",
    "(() => { const a = [1, 2, 3]; for (const v of a) { if (a.length < 5) a.push(v); W; a.shift() } return E })()",
    "[E, [(W, E)]].flat().concat([E]).toSorted((a, b) => (W, a - b)).at(-1)",
    "Object.values(Object.groupBy([E], (v) => (W, v)))[0][0]",
    "(() => { const o = Object.defineProperty({}, 'v', { get() { W; return E }, configurable: true }); const v = o.v; delete o.v; return v })()",
    "Object.assign({}, { get v() { W; return E } }).v",
    "(({ v = (W, E), ...rest }) => (W, v))({ get w() { W; return 0 } })",
    "Reflect.construct(new Proxy(class { constructor(v) { W; this.v = v } }, { construct: (c, [v]) => (W, new c(v)) }), [E]).v",
    "(() => { const p = new Proxy({}, { has: () => (W, true), set: (o, k, v) => { W; o[k] = v; return true }, ownKeys: () => (W, ['v']) }); p.v = E; return 'v' in p ? Reflect.get(p, 'v') : Reflect.ownKeys(p) })()",
    "(() => { const it = { [Symbol.iterator]: () => ({ next: () => (W, { value: E, done: false }), return() { W; return {} } }) }; for (const v of it) return v })()",
    "(() => { const g = (function* () { try { yield 0 } catch (e) { W; yield e } finally { W } })(); g.next(); const { value } = g.throw(E); g.return(0); return value })()",
    "(() => { try { for (const v of (function* () { try { yield 0 } finally { W } })()) throw E } catch (e) { return e } })()",
    "(() => { try { new (class { constructor() { W; throw E } })() } catch (e) { return e } })()",
    "(() => { try { JSON.stringify({ toJSON() { W; throw E } }) } catch (e) { return e } })()",
    "(() => { try { [2, 1].sort(() => { W; throw E }) } catch (e) { return e } })()",
    "(() => { try { group('g', () => { W; throw E }) } catch (e) { return e } })()",
    "(() => { try { check(0, { c: () => { W; throw E } }) } catch (e) { return e } })()",
    "(() => { const e = new Error('e', { cause: E }); W; return e.stack ? e.cause : 0 })()",
    "shared.map((row) => (W, row.n * E))[0]",
    "(() => { let v = 0; for (const row of shared) { W; v = E } return v })()",
    "(exec.vu.tags.own = E, W, Number(exec.vu.tags.own))",
    "(counted.add(E, { own: `${(W, E)}` }), E)",
];

/// What may wait, or leaves something behind.
const WAITS: [&str; 11] = [
    "0",
    "sleep(0.001)",
    "sleep(0)",
    "http.get('http://a.test/0')",
    "keep(E)",
    "new Uint8Array(1000)",
    "setTimeout(() => keep(E), 1)",
    "Promise.resolve().then(() => keep(E))",
    "http.asyncRequest('GET', `http://a.test/${E}`).then((r) => keep(r.json('n')))",
    "(() => { const t = setInterval(() => { W; clearInterval(t) }, 1) })()",
    "(async function* () { yield E; W })().next()",
];

/// Statements of the function that users run.
const STATEMENTS: [&str; 13] = [
    "keep(E);",
    "W;",
    "all.push((async () => { await null; W; keep(E); await null; return E })());",
    "all.push(new Promise((done) => { W; setTimeout(() => done(keep(E)), 1) }));",
    "for await (const v of (async function* () { yield E; W; yield E })()) keep(v);",
    "if (__ITER === 1) throw new Error(`e${E}`);",
    "try { null.x } catch (e) { W; if (!e.stack.includes('a.js')) throw new Error('crossed: ' + e.stack) }",
    "last = E; W; keep(last);",
    "all.push(Promise.all([(async () => (W, E))(), new Promise((done) => setTimeout(() => done(E), 1))]).then(([a, b]) => (keep(a), b)));",
    "all.push(Promise.race([http.asyncRequest('GET', `http://a.test/${E}`).then((r) => r.json('n')), (async () => { await null; W; return E })()]));",
    "await Promise.allSettled([(async () => { W; throw E })(), Promise.any([Promise.reject(1), E]).then(keep)]);",
    "try { await (async () => { await null; W; throw E })() } catch (e) { W; keep(e) } finally { W }",
    "for await (const v of (async function* () { try { yield E; W; yield 0 } finally { await null; W } })()) { keep(v); break }",
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
import {{ SharedArray }} from 'k6/data';
import {{ Counter }} from 'k6/metrics';
import exec from 'k6/execution';
const shared = new SharedArray('rows', () => [{{ n: 1 }}, {{ n: 2 }}]);
const counted = new Counter('counted');
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
