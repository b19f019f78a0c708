//! What a script may use, and how it ends where it uses more.

use std::time::Duration;

use super::{Host, default, once, stage};
use crate::StageOptions;
use crate::engine::{Cause, Limits};

fn limited(script: &str, limits: Limits) -> (Host, Result<Option<String>, crate::Thrown>) {
    let stage = stage(script, &StageOptions { limits, ..StageOptions::default() });
    let function = default(&stage, 1);
    let mut host = Host::default();
    let result = host.run(&stage, &function, 0);
    // Whoever comes after it has all again.
    let after = stage.value_of("1").expect("memory");
    assert_eq!(stage.json_of(&after).expect("JSON").as_deref(), Some("1"));
    (host, result)
}

#[test]
fn an_endless_loop_is_ended_and_named() {
    let limits = Limits { run: Duration::from_millis(500), ..Limits::default() };
    for body in [
        "for (;;) n++",
        "try { for (;;) n++ } catch (e) { console.log('caught') } finally { console.log('finally') }",
        "Promise.resolve().then(() => { for (;;) n++ }); setTimeout(() => console.log('later'), 1)",
        "setTimeout(() => { for (;;) n++ }, 1)",
        "const again = () => Promise.resolve().then(again); again()",
        "[1, 2].sort(() => { for (;;) n++ })",
        "(async () => { for (;;); })().catch(() => {}); console.log('on')",
        "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "[].join.call({ length: 2 ** 32 }, '')",
        "[].reverse.call({ length: 2 ** 53 - 1 })",
        "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "new Array(2 ** 32 - 1).forEach(() => {})",
        "new Array(2 ** 32 - 1).includes(1)",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
    ] {
        let script = format!("let n = 0; export default function () {{\n{body} }}");
        let (host, result) = limited(&script, limits);
        let thrown = result.expect_err(body);
        assert_eq!(thrown.cause, Cause::TooLong, "{body}: {thrown}");
        assert_eq!(
            thrown.message,
            "it ran for 500ms without waiting, and was ended: look for an endless loop"
        );
        // Between two jobs it is in no function.
        let is_named = thrown.stack.contains("(/t/a.js:") || body.contains("again");
        assert!(is_named, "{body}: {thrown}");
        assert_eq!(host.lines(), [""; 0], "{body}");
    }
}

#[test]
fn a_recursion_without_end_is_an_error_that_scripts_can_catch() {
    let (_, result) = once(
        "const down = (n) => down(n + 1) + 1;
export default function () {
  const seen = [];
  for (const own of [() => down(0), () => [1].map(function again() { return [1].map(again) }),
    () => { const list = []; let at = list; for (let n = 0; n < 1e5; n++) { at.push([]); at = at[0] } return JSON.stringify(list) }]) {
    try { own() } catch (error) { seen.push(error.constructor.name) }
  }
  return seen;
}",
    );
    let result = result.expect("no error").expect("names");
    assert_eq!(result, r#"["RangeError","RangeError","RangeError"]"#);
    let (_, result) = once("export default function down() { return down() + 1 }");
    let thrown = result.expect_err("too deep");
    assert!(thrown.message.starts_with("RangeError"), "{thrown}");
}

#[test]
fn memory_is_bounded_for_all_users_of_a_realm() {
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let script = "export default function () { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) }";
    let (_, result) = limited(script, limits);
    let thrown = result.expect_err("no memory");
    assert!(thrown.message.contains("memory"), "{thrown}");
}
