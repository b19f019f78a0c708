//! `k6/data`.

use super::{default, stage, user};
use crate::StageOptions;
use crate::tests::Host;

const SCRIPT: &str = "import { SharedArray } from 'k6/data';
const own = new SharedArray('rows', () => {
  console.log('made');
  return [{ name: 'a', deep: { n: 1 } }, 'text', null, undefined, [1, 2]];
});
";

fn all(expressions: &[(&str, &str)]) {
    let imports = "import data, { SharedArray } from 'k6/data';
const own = new SharedArray('rows', () => [{ name: 'a', deep: { n: 1 } }, 'text', null, undefined, [1, 2]]);
const empty = new SharedArray('empty', () => []);
const numbers = new SharedArray('numbers', () => [3, 1, 2]);";
    super::cases(imports, expressions);
}

#[test]
fn a_shared_array_reads_as_an_array() {
    all(&[
        ("own.length", "5"),
        ("own[0].name", "\"a\""),
        ("own['1']", "\"text\""),
        ("own[5] === undefined && own[-1] === undefined && own['01'] === undefined", "true"),
        ("[...own].length", "5"),
        ("own.map((row) => typeof row)", r#"["object","string","object","object","object"]"#),
        ("own.find((row) => row && row.name === 'a').deep.n", "1"),
        ("own.at(-1)", "[1,2]"),
        ("own.slice(1, 3)", r#"["text",null]"#),
        ("Array.isArray(own)", "true"),
        ("JSON.stringify(numbers)", "\"[3,1,2]\""),
        ("Object.keys(numbers)", r#"["0","1","2"]"#),
        ("2 in numbers && !(3 in numbers)", "true"),
        ("numbers.filter((own) => own > 1)", "[3,2]"),
        ("[...numbers].sort()", "[1,2,3]"),
        ("numbers.reduce((sum, own) => sum + own, 0)", "6"),
        (
            "(() => { let sum = 0; for (const own of numbers) sum += own; numbers.forEach((own) => { sum += own }); return sum })()",
            "12",
        ),
        ("numbers.includes(2)", "true"),
        ("numbers.indexOf(1)", "1"),
        ("empty.length", "0"),
        ("[...empty]", "[]"),
        ("data.SharedArray === SharedArray", "true"),
    ]);
}

#[test]
fn a_shared_array_cannot_be_changed() {
    let refused = "TypeError: SharedArray \"rows\" cannot be changed: all users share it";
    all(&[
        ("own[0] = 1", refused),
        ("own.push(1)", refused),
        ("own.length = 0", refused),
        ("delete own[0]", refused),
        ("own.sort()", refused),
        ("Object.defineProperty(own, 'x', { value: 1 })", refused),
        ("Object.setPrototypeOf(own, null)", refused),
        ("Object.freeze(own)", refused),
        ("own[0].name = 'b'", "TypeError"),
        ("own[0].deep.n = 2", "TypeError"),
        ("own[4].push(3)", "TypeError"),
        ("own[0].deep.n", "1"),
    ]);
}

#[test]
fn what_makes_it_has_to_be_a_function_that_returns_an_array() {
    for (text, said) in [
        (
            "new SharedArray('', () => [])",
            "TypeError: SharedArray takes a name, which is not empty",
        ),
        (
            "new SharedArray('a')",
            "TypeError: SharedArray \"a\" takes a function that returns an array",
        ),
        (
            "new SharedArray('a', () => ({}))",
            "TypeError: the function of SharedArray \"a\" has to return an array",
        ),
        ("new SharedArray('a', () => { throw new Error('no') })", "Error: no"),
        (
            "new SharedArray('a', () => new SharedArray('a', () => []))",
            "Error: the function of SharedArray `a` makes the same array again",
        ),
    ] {
        let script = format!("import {{ SharedArray }} from 'k6/data'; {text}");
        let options = StageOptions::default();
        let stage = stage(&script, &options);
        let thrown = user(&stage, 1).expect_err(text);
        assert!(thrown.message.starts_with(said), "{text}: {thrown}");
        // Others are not kept from making it.
        let good = "import { SharedArray } from 'k6/data'; export const n = new SharedArray('a', () => [1]).length";
        let other = super::stage(good, &options);
        let own = user(&other, 1).expect("no error");
        assert_eq!(other.json(&own, "n").expect("JSON").as_deref(), Some("1"));
    }
    all(&[(
        "new SharedArray('late', () => [])",
        "Error: a SharedArray must be made where the script begins, outside of functions",
    )]);
}

#[test]
fn it_is_made_once_for_all_users_of_all_workers() {
    let script =
        format!("{SCRIPT} export default function () {{ return own[0].name + own.length }}");
    let options = StageOptions::default();
    let made: usize = std::thread::scope(|scope| {
        let worker = || {
            let stage = stage(&script, &options);
            let mut host = Host::default();
            for number in 1..=3 {
                let function = default(&stage, number);
                let result = host.run(&stage, &function, 0).expect("no error");
                assert_eq!(result.as_deref(), Some("\"a5\""));
            }
            host.lines().len()
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|own| own.join().expect("no panic")).sum()
    });
    assert_eq!(made, 1);
}
