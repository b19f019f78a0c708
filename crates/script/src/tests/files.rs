//! `open`, and `k6/secrets`.

use super::{Host, default, stage, stage_of, user, with_files};
use crate::{SecretSource, StageOptions};

const FILES: &[(&str, &[u8])] = &[
    ("/t/data/users.csv", b"a,b"),
    ("/t/lib/near.txt", b"near"),
    ("/t/near.txt", b"of the script"),
    ("/t/bytes.bin", &[0xff, 0x00, 0x41]),
];

#[test]
fn files_are_relative_to_the_module_that_begins() {
    let script = "import { near, read } from './lib/near.js';
const users = open('./data/users.csv');
const bytes = new Uint8Array(open('bytes.bin', 'b'));
const absolute = open('/t/data/../lib/near.txt');
const all = ['data/users.csv'].map((own) => open(own));
const read_here = read('near.txt');
export default () => [users, [...bytes], near, absolute, ...all, read_here];";
    let lib = "export const near = read('./near.txt'); export function read(path) { return [path].map((own) => open(own))[0] }";
    let stage = stage_of(&[("/t/a.js", script), ("/t/lib/near.js", lib)], &with_files(FILES));
    for number in 1..3 {
        let function = default(&stage, number);
        let result = Host::default().run(&stage, &function, 0).expect("no error");
        let expected = r#"["a,b",[255,0,65],"near","near","a,b","of the script"]"#;
        assert_eq!(result.as_deref(), Some(expected));
    }
}

#[test]
fn what_cannot_be_opened_is_said_with_its_path() {
    for (text, said) in [
        ("open('./none.csv')", "Error: open(`/t/none.csv`): /t/none.csv is not there"),
        (
            "open('bytes.bin')",
            "Error: open(`/t/bytes.bin`): /t/bytes.bin is not text: its byte 0 does not belong to UTF-8",
        ),
        (
            "open('bytes.bin', 'r')",
            "TypeError: open() has the mode \"b\", for bytes, and no other: r",
        ),
        ("open()", "TypeError: open() takes the path of a file"),
    ] {
        let stage = stage(text, &with_files(FILES));
        let thrown = user(&stage, 1).expect_err(text);
        assert_eq!(thrown.message, said, "{text}");
        assert!(thrown.stack.contains("/t/a.js:1"), "{thrown}");
    }
    let own = stage("open('x')", &StageOptions::default());
    let thrown = user(&own, 1).expect_err("no files");
    assert_eq!(thrown.message, "Error: open(`/t/x`): no files are at hand here");
    let late = stage("export default () => open('bytes.bin', 'b')", &with_files(FILES));
    let result = Host::default().run(&late, &default(&late, 1), 0);
    let thrown = result.expect_err("a user runs");
    assert!(thrown.message.contains("files are opened where the script begins"), "{thrown}");
}

/// `import.meta.resolve` is relative to the module where it stands, and `open` takes what it returns.
#[test]
fn a_module_names_files_by_its_own_place() {
    let script = "import { near } from './lib/near.js'
const own = import.meta.resolve('./data/users.csv')
let error
try { import.meta.resolve('lodash') } catch (own) { error = own.message }
const texts = [open(own), open(near)]
export default () => [own, near, ...texts, import.meta.resolve('/x y.js'), error]";
    let lib = "export const near = import.meta.resolve('../lib/near.txt')";
    let stage = stage_of(&[("/t/a.js", script), ("/t/lib/near.js", lib)], &with_files(FILES));
    let result = Host::default().run(&stage, &default(&stage, 1), 0).expect("no error");
    let expected = r#"["file:///t/data/users.csv","file:///t/lib/near.txt","a,b","near","file:///x%20y.js","import.meta.resolve(`lodash`): expected a path that begins with `./`, `../` or `/`"]"#;
    assert_eq!(result.as_deref(), Some(expected));
}

#[test]
fn secrets_are_given_by_name() {
    let script = "import secrets from 'k6/secrets';
export default async () => {
  const errors = [];
  for (const own of [() => secrets.get('none'), () => secrets.source('x').get('token')]) {
    try { await own() } catch (error) { errors.push(error.message) }
  }
  return [await secrets.get('token'), await secrets.source('other').get('token'), ...errors];
};";
    let source = |name: &str, value: &str| SecretSource {
        name: name.to_owned(),
        secrets: vec![("token".to_owned(), value.to_owned())],
    };
    let told = |secrets: Vec<SecretSource>, script: &str| -> Vec<String> {
        let stage = stage(script, &StageOptions { secrets, ..StageOptions::default() });
        let result = Host::default().run(&stage, &default(&stage, 1), 0).expect("no error");
        serde_json::from_str(&result.expect("a list")).expect("texts")
    };
    let secrets = vec![source("default", "s3"), source("other", "s4")];
    let expected = [
        "s3",
        "s4",
        "secret `none`: the source `default` does not have it",
        "secret `token`: no source of secrets is named `x`: there are default, other",
    ];
    assert_eq!(told(secrets, script), expected);
    let script = "import secrets from 'k6/secrets';
export default () => secrets.get('token').catch((error) => [error.message]);";
    let expected = ["secret `token`: squall was given no secrets: use `--secret-source`"];
    assert_eq!(told(Vec::new(), script), expected);
}
