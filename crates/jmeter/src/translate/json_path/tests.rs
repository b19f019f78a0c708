use proptest::prelude::*;

use super::*;

fn path(source: &str) -> String {
    json_path(source).unwrap_or_else(|what| panic!("{what}")).path
}

#[test]
fn paths_are_written_as_the_rfc_has_them() {
    for (source, expected, is_definite) in [
        ("$", "$", true),
        ("$.a.b-c[0]['d e'][*].*", "$['a']['b-c'][0]['d e'][*][*]", false),
        ("$.a.[0].b", "$['a'][0]['b']", true),
        ("$..id", "$..['id']", false),
        ("$..*", "$..[*]", false),
        ("$..a[-1:].b", "$..['a'][-1:]['b']", false),
        ("$.a[0,2]", "$['a'][0,2]", false),
        ("$[1:3]", "$[1:3]", false),
        ("name", "$['name']", true),
        (r"$['it\'s']", r"$['it\'s']", true),
    ] {
        let found = json_path(source).expect(source);
        assert_eq!((found.path.as_str(), found.is_definite), (expected, is_definite), "{source}");
        assert_eq!(found.function, None);
    }
    for source in ["$.", "$[-1:2]", "$.a['b", "$a", "$..[0].x", "$['a','b']", "$.a b", "$[1:2:3]"] {
        assert!(json_path(source).is_err(), "{source}");
    }
}

#[test]
fn filters_are_written_as_the_rfc_has_them() {
    for (test, expected) in [
        ("@.b == 'x'", "@['b'] == 'x'"),
        ("@.b=='x'&&@.p<2", "(@['b'] == 'x' && @['p'] < 2)"),
        ("@.id == 7", "(@['id'] == 7 || @['id'] == '7')"),
        ("'7' == @.id", "('7' == @['id'] || @['id'] == 7)"),
        ("@.id != 7", "!(@['id'] == 7 || @['id'] == '7')"),
        ("@['a b'].c[0]", "@['a b']['c'][0]"),
        ("!@.b", "!@['b']"),
        ("!(@.b == true || @.n == null)", "!(@['b'] == true || @['n'] == null)"),
        (r"@.b =~ /x\/.*/i", r"match(string(@['b']), '(?i)x/.*')"),
        ("@.b =~ /.*/", "(match(string(@['b']), '.*') || !@['b'] || @['b'] == null)"),
        ("@.id == '07'", "(@['id'] == '07' || @['id'] == 7)"),
        ("@.id == '7.50'", "(@['id'] == '7.50' || @['id'] == 7.5)"),
        ("@.b in ['x', 2]", "(@['b'] == 'x' || (@['b'] == 2 || @['b'] == '2'))"),
        ("@.b nin ['x']", "!(@['b'] == 'x')"),
        ("@.t contains 'a.b'", r"(search(@['t'], 'a\\.b') || @['t'][?@ == 'a.b'])"),
        ("@.t anyof ['a', 'b']", "@['t'][?(@ == 'a' || @ == 'b')]"),
        ("@.t size 2", "length(@['t']) == 2"),
        ("@.t empty false", "length(@['t']) > 0"),
        ("@.t.length() > 1", "length(@['t']) > 1"),
        ("@.p > $.id", "@['p'] > $['id']"),
        ("@ > 1", "@ > 1"),
    ] {
        assert_eq!(path(&format!("$.a[?({test})].c")), format!("$['a'][??{expected}]['c']"));
    }
    for test in [
        "@.b == x",
        "@.b = 'x'",
        "@..b == 'x'",
        "@.*",
        "@.a[?(@.b)]",
        "@.b =~ 'x'",
        "@.b =~ /(?=a)/",
        "@.t noneof ['a']",
        "@.t == ['a']",
        "@.id == 07",
        "@.t.max() == 1",
    ] {
        assert!(json_path(&format!("$.a[?({test})]")).is_err(), "{test}");
    }
    assert!(json_path("$.a[?(@.b == 'x']").is_err());
    for deep in ["(", "!(", "!"] {
        assert!(json_path(&format!("$[?({}@.b", deep.repeat(100_000))).is_err(), "{deep}");
    }
    assert!(
        json_path(&".a".repeat(100_000)).is_err() && json_path("$[99999999999999999]").is_err()
    );
}

#[test]
fn a_function_ends_a_path() {
    let found = json_path("$.a[*].b.length()").expect("a path");
    assert_eq!(found.path, "$['a'][*]['b']");
    assert_eq!(found.function.as_deref(), Some("length"));
    assert!(json_path("$.a.length().b").is_err() && json_path("$.length(1)").is_err());
}

/// What paths are made of.
const PARTS: [&str; 26] = [
    "$",
    "$",
    ".",
    "..",
    "a",
    "b-c",
    "*",
    "[",
    "]",
    "[0]",
    "[-1:]",
    "[0,2]",
    "['d e']",
    "[?(",
    ")]",
    "@.a",
    "@",
    " == ",
    " =~ ",
    "/x+/i",
    "'it\\'s'",
    "7",
    " && ",
    "!",
    "(",
    ".length()",
];

proptest! {
    #[test]
    fn a_path_without_filters_reads_as_it_was_written(parts in prop::collection::vec(0..PARTS.len(), 0..16)) {
        let source: String = parts.iter().map(|part| PARTS[*part]).collect();
        let Ok(path) = json_path(&format!("$.a{source}")) else { return Ok(()) };
        prop_assert!(path.path.starts_with("$['a"), "{source}");
        if !path.path.contains('?') {
            let again = JsonPath { function: None, ..path.clone() };
            prop_assert_eq!(json_path(&path.path), Ok(again), "{}", source);
        }
    }
}
