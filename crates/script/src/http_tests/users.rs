//! Many users at once.

use super::{answered, stage};
use crate::Numbers;
use crate::engine::{Fiber, Step};
use crate::http::HttpOptions;
use crate::stage::Stage;
use crate::{Answer, Wait};

/// Runs users in turn until all have ended; what each returned.
fn in_turn(stage: &Stage, count: u64) -> Vec<String> {
    let number = |at: usize| Numbers { user: at as u64 + 1, iteration: 0 };
    let mut fibers: Vec<Option<Fiber>> = (0..count as usize)
        .map(|at| {
            let user = stage.user(number(at), &[]).unwrap_or_else(|own| panic!("{own}"));
            let function = stage.exported(&user, "default").expect("exports").expect("a function");
            Some(stage.call(&function, Vec::new()).expect("a stack"))
        })
        .collect();
    let mut results = vec![String::new(); fibers.len()];
    let mut answers: Vec<Option<Answer>> = fibers.iter().map(|_| Some(Answer::Ready)).collect();
    while fibers.iter().any(Option::is_some) {
        // From the last to the first and back, so that no order is that of all switches.
        for at in (0..fibers.len()).rev().chain(0..fibers.len()) {
            let Some(fiber) = &mut fibers[at] else { continue };
            let answer = answers[at].take().expect("an answer");
            match stage.resume(fiber, number(at), answer) {
                Step::Wait(Wait::Requests(own)) => {
                    answers[at] = Some(Answer::Responses(own.list.iter().map(answered).collect()));
                }
                Step::Wait(_) => answers[at] = Some(Answer::Ready),
                Step::Done(result) => {
                    results[at] = match result {
                        Ok(own) => own.value().to_text().expect("a text"),
                        Err(thrown) => thrown.to_string(),
                    };
                    fibers[at] = None;
                }
            }
        }
    }
    results
}

/// Ways to call `get(n)`, which makes a request and returns what it brought: `n`.
const WAYS: [(&str, &str); 16] = [
    ("plain", "get(n)"),
    ("group", "group('g', () => group('h', () => get(n)))"),
    ("check", "{ let v; check(1, { c: () => (v = get(n)) > 0 }); return v }"),
    (
        "forEach",
        "{ let v = []; [1, 2, 3].forEach(() => v.push(get(n))); return new Set(v).size === 1 ? v[0] : v }",
    ),
    (
        "sort",
        "{ const s = [3, 1, 2].sort((a, b) => get(n) === n ? a - b : 0); return s.join() === '1,2,3' ? n : s }",
    ),
    ("getter", "({ get v() { return get(n) } }).v"),
    ("setter", "{ const o = { set v(x) { this.own = get(x) } }; o.v = n; return o.own }"),
    ("toJSON", "JSON.parse(JSON.stringify({ a: { toJSON: () => get(n) } })).a"),
    (
        "generator",
        "{ function* g() { yield get(n); yield get(n) } const [a, b] = g(); return a === b ? a : -1 }",
    ),
    (
        "constructor",
        "{ class A { v = get(n); constructor() { this.w = get(n) } } const a = new A(); return a.v === a.w ? a.v : -1 }",
    ),
    ("replace", "Number('a'.replace(/a/, () => get(n)))"),
    (
        "params",
        "Number(http.get('http://a/x', { headers: { get h() { return get(n) } } }).request.headers.H[0])",
    ),
    (
        "body",
        "Number(http.post('http://a/x', { toString: 1, get f() { return get(n) } }).request.body.split('f=')[1])",
    ),
    (
        "async",
        "(async () => { const f = async () => { const a = get(n); await null; return a }; const [a, b] = await Promise.all([f(), f()]); return a === b ? a : -1 })()",
    ),
    (
        "asyncRequest",
        "(async () => { const all = await Promise.all([n, n + 100].map((own) => http.asyncRequest('GET', `http://a/${own}`))); return all[1].body - all[0].body === 100 ? Number(all[0].body) : -1 })()",
    ),
    (
        "batch",
        "{ const all = http.batch({ a: `http://a/${n}`, b: `http://a/${n + 1}` }); return all.b.body - all.a.body === 1 ? Number(all.a.body) : -1 }",
    ),
];

#[test]
fn users_wait_for_their_own_responses_wherever_they_are() {
    for (what, text) in WAYS {
        let body =
            if text.starts_with('{') { text.to_owned() } else { format!("{{ return {text} }}") };
        let script = format!(
            "let mine = 0; const get = (n) => {{ mine += 1; const before = mine; const r = http.get(`http://a/${{n}}`); if (mine < before) throw new Error('mixed'); return Number(r.body) }};
function of(n) {body}
export default async function () {{ const n = __VU; const v = await of(n); return `${{v}}` }}"
        );
        let results = in_turn(&stage(&script, HttpOptions::default()), 64);
        for (at, result) in results.iter().enumerate() {
            assert_eq!(*result, (at + 1).to_string(), "{what}");
        }
    }
}

#[test]
fn users_that_are_ended_leave_nothing() {
    let script = "const jar = new http.CookieJar(); let big;
export default async function () {
  big = new Array(100).fill(__VU);
  const own = http.asyncRequest('GET', 'http://a/1');
  try {
    group('g', () => [3, 1, 2].sort(() => { try { http.batch([['POST', 'http://a/', { f: http.file('x'.repeat(100), 'n') }, { jar }]]) } finally { big = null } }));
  } finally { http.get('http://a/2') }
  await own;
}";
    let stage = stage(script, HttpOptions::default());
    let users: Vec<_> = (1..=10)
        .map(|user| stage.user(Numbers { user, iteration: 0 }, &[]).expect("a user"))
        .collect();
    let round = |count: u64| {
        for number in 0..count {
            let user = &users[number as usize % users.len()];
            let numbers = Numbers { user: number % 10 + 1, iteration: number };
            let function = stage.exported(user, "default").expect("exports").expect("a function");
            let mut fiber = stage.call(&function, Vec::new()).expect("a stack");
            let step = stage.resume(&mut fiber, numbers, Answer::Ready);
            assert!(matches!(step, Step::Wait(Wait::Requests(_))));
            if number % 3 == 0 {
                // This one goes on to what its jobs do.
                let step = stage.resume(&mut fiber, numbers, Answer::Responses(Vec::new()));
                assert!(matches!(step, Step::Wait(_)), "{step:?}");
            }
        }
        stage.told();
        stage.realm().collect();
        stage.realm().memory()
    };
    let before = round(1_000);
    let after = round(10_000);
    assert!(after <= before + 4096, "{after} {before}");
}

#[test]
fn functions_of_the_host_stay_within_the_end_of_a_stack() {
    let script = r#"import crypto from 'k6/crypto'; import encoding from 'k6/encoding'; import exec from 'k6/execution'; import { Trend } from 'k6/metrics';
const trend = new Trend('own');
const jar = new http.CookieJar();
const params = { headers: { a: 1 }, cookies: { c: { value: 1 } }, tags: { name: 'n' }, timeout: '1m', compression: 'gzip, br', jar };
const wrong = { timeout: 'x' };
const file = http.file('x', 'n');
const r = () => http.get('http://a/{"a":[1', params);
const functions = [
  () => http.post('http://a/x', { f: file, g: ['1'] }, params),
  () => http.get('nowhere'),
  () => http.get('http://a/x', wrong),
  () => http.batch([['GET', 'http://a/1'], 'http://a/2']),
  () => http.expectedStatuses(200, { min: 1, max: 2 }),
  () => r().json('a'), () => r().headers, () => r().cookies, () => r().request, () => r().timings,
  () => jar.set('http://a/', 'n', 'v', { path: '/' }), () => jar.clear('http://a/'), () => jar.cookiesForURL('http://a/'),
  () => new http.CookieJar(), () => http.url`http://a/${1}`, () => http.asyncRequest('GET', 'http://a/'),
  () => crypto.hmac('sha512', 'key', 'x', 'hex'), () => crypto.ripemd160('x', 'base64'), () => crypto.randomBytes(3),
  () => encoding.b64decode(encoding.b64encode('xyz'), 'std', 's'), () => new TextDecoder().decode(new TextEncoder().encode('x')),
  () => new URL('http://a/b?c=d').searchParams, () => setTimeout(() => 1, 5), () => Math.random(), () => exec.vu.iterationInScenario,
  () => check(1, { own: true }, { tag: 1 }), () => group('g', () => sleep(1)), () => trend.add(1, { tag: 2 }), () => console.log({ a: 1 }),
];
let done = 0;
export default function () {
  let frames = 0;
  const deep = () => {
    try { deep() } catch (e) {
      if (frames++ < 60) for (const own of functions) try { own(); done++ } catch {}
      throw e;
    }
  };
  try { deep() } catch (e) { return `${e instanceof RangeError} ${done > 0}` }
}"#;
    let stage = stage(script, HttpOptions::default());
    assert_eq!(in_turn(&stage, 1), ["true true"]);
    let unused = stage.realm().unused_stack();
    assert!(unused > 8 << 10, "{unused} bytes are left");
}
