use std::rc::Rc;

use proptest::prelude::*;

use super::*;

/// Knows `status`, `body`, `list`, `map`, `unset` without a value, the constants `k` and `nil`, and the
/// function `json`.
struct World {
    status: Value,
    body: Vec<u8>,
    list: Value,
    map: Value,
}

impl Default for World {
    fn default() -> Self {
        let json = |text: &str| Value::from_json(&serde_json::from_str(text).expect("JSON"));
        World {
            status: Value::Int(200),
            body: b"hello \xff world".to_vec(),
            list: json("[1, 2, 3]"),
            map: json(r#"{"a": {"b": "deep"}, "n": null}"#),
        }
    }
}

impl Binder for World {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        let known = ["status", "body", "list", "map", "unset"];
        match path[0] {
            "nil" => Ok(Bound::Constant(Value::Null, 1)),
            "k" => Ok(Bound::Constant(Value::Int(7), 1)),
            name => match known.iter().position(|own| *own == name) {
                Some(slot) => Ok(Bound::Slot(Slot(slot as u32), 1)),
                None => Err(BindError::unknown_variable(name, known.into_iter())),
            },
        }
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        if name == "json" { Ok(FunctionId(9)) } else { Err(BindError::unknown_function(name)) }
    }
}

impl Scope for World {
    fn variable(&self, Slot(slot): Slot) -> ValueRef<'_> {
        match slot {
            0 => self.status.as_ref(),
            1 => ValueRef::Bytes(&self.body),
            2 => self.list.as_ref(),
            3 => self.map.as_ref(),
            _ => ValueRef::Null,
        }
    }

    fn is_set(&self, Slot(slot): Slot) -> bool {
        slot < 4
    }

    fn call(&self, FunctionId(id): FunctionId, args: &[Value]) -> Result<Value, EvalError> {
        Ok(Value::List(vec![Value::Int(i64::from(id)), args[0].clone()].into()))
    }

    fn random(&self) -> u64 {
        u64::MAX / 2
    }

    fn now_unix_ms(&self) -> i64 {
        5_500
    }
}

fn eval(source: &str) -> Result<Value, String> {
    eval_in(&World::default(), source)
}

fn eval_in(world: &World, source: &str) -> Result<Value, String> {
    let expr = Expr::parse(source, Span::default()).map_err(|error| error.message)?;
    let program = expr.bind(&mut World::default()).map_err(|error| error.message)?;
    program.eval(world).map_err(|error| error.to_string())
}

#[test]
fn expressions_have_their_values() {
    for (source, expected) in [
        ("status == 200", "true"),
        ("status in [200, 302] && !(status > 300)", "true"),
        ("1 + 2 * 3 - 4 / 2 % 3", "5"),
        ("-2 * -(1 + 1)", "4"),
        ("7 / 2", "3"),
        ("7 / 2.0", "3.5"),
        ("'a' + \"b\\n\" + r'\\d'", "ab\n\\d"),
        ("body.contains('world')", "true"),
        ("body.matches('h.llo')", "true"),
        ("size(list) == 3 && list[1] == 2", "true"),
        ("map.a.b.startsWith('de')", "true"),
        ("has(map.a.b) && !has(map.a.c) && map.n == null", "true"),
        ("list.filter(x, x > 1).map(x, x * 10)", "[20,30]"),
        ("list.all(x, list.exists(y, y == x))", "true"),
        ("list.exists_one(x, x == 2)", "true"),
        ("{'x': 1, 'y': [k]}.y[0]", "7"),
        ("status == 1 || status == 200 ? 'yes' : 'no'", "yes"),
        ("1500ms < 2s && 1m == 60s", "true"),
        ("1m30s == 90s && 2min == 120s && 0.3ms == 300us", "true"),
        ("64KiB + 1MB", "1065536"),
        ("0x10 + 1e2", "116"),
        ("int('42') + int(3.9)", "45"),
        ("random(1, 6)", "3"),
        ("json('$.a')[1]", "$.a"),
        ("now()", "5"),
        ("split('a,b', ',')[1].upper()", "B"),
        ("md5('')", "d41d8cd98f00b204e9800998ecf8427e"),
        ("uuid().size()", "36"),
        ("false && 1 / 0 == 1", "false"),
        ("1 / 0 == 1 && false", "false"),
        ("true || missing_is_bound == 1 || true", ""),
    ] {
        if expected.is_empty() {
            assert!(eval(source).is_err(), "{source}");
            continue;
        }
        assert_eq!(
            eval(source).map(|value| value.to_string()),
            Ok(expected.to_owned()),
            "{source}"
        );
    }
}

#[test]
fn keys_of_maps_are_texts_ints_and_bools() {
    for (source, expected) in [
        ("{1: 'a', '1': 'b', true: 'c'}[1]", "a"),
        ("{1: 'a', '1': 'b', true: 'c'}['1']", "b"),
        ("{1: 'a', '1': 'b', true: 'c'}[true]", "c"),
        ("{1: 'a'}[1.0]", "a"),
        ("1 in {1: 'a'} && !('1' in {1: 'a'}) && 1.0 in {1: 2} && !(1.5 in {1: 2})", "true"),
        ("{2: 'b', 1: 'a'}.map(k, k + 1)", "[2,3]"),
        ("{1: 1.0} == {1: 1} && {1: 1} != {'1': 1}", "true"),
        ("json_encode({1: 'a', true: 'b'})", "{\"true\":\"b\",\"1\":\"a\"}"),
        ("map['a'].b + map[body.substring(100) + 'a'].b", "deepdeep"),
        ("{body.substring(0, 1): 1}.h", "1"),
    ] {
        let value = eval(source).map(|value| value.to_string());
        assert_eq!(value, Ok(expected.to_owned()), "{source}");
    }
    for (source, word) in [
        ("{null: 1}", "found null"),
        ("{[1]: 1}", "found a list"),
        ("{1.5: 1}", "found a double"),
        ("{1: 1, 1.0: 2}", "the key `1` twice"),
        ("{1: 1}[2]", "does not have this key"),
        ("{1: 1}['1']", "does not have this key"),
        ("[1][2]", "the index is out of range"),
        ("{1: 1}[list]", "cannot index a map with a list"),
        ("{unset: 1}", "`unset` has no value"),
    ] {
        let error = eval(source).expect_err(source);
        assert!(error.contains(word), "{source}: {error}");
    }
}

/// As `&&` and `||`: CEL's definition of the macros.
#[test]
fn all_and_exists_absorb_errors() {
    for (source, expected) in [
        ("[0, 1, 2].exists(x, 2 / x == 1)", "true"),
        ("[2, 0].exists(x, 2 / x == 1)", "true"),
        ("[0, 1, 2].all(x, 2 / x == 1)", "false"),
        ("['a', 3].all(x, x > 5)", "false"),
        ("list.exists(x, map.n == x || x == 3)", "true"),
        ("[].all(x, x.y)", "true"),
        ("list.exists(x, x == 9)", "false"),
    ] {
        let value = eval(source).map(|value| value.to_string());
        assert_eq!(value, Ok(expected.to_owned()), "{source}");
    }
    for source in [
        "[0, 2].exists(x, 2 / x == 7)",
        "[0, 2].all(x, 2 / x == 1)",
        "[1, 2].all(x, x)",
        "[0, 1].exists_one(x, 2 / x == 2)",
        "[0, 1].filter(x, 2 / x == 2)",
    ] {
        assert!(eval(source).is_err(), "{source}");
    }
    assert!(eval("[0, 2].all(x, 2 / x == 1)").expect_err("an error").contains("division by zero"));
}

/// RFC 7636, appendix B, and the documentation of AWS's signatures (version 4) with its example key.
#[test]
fn digests_have_formats_and_raw_ones_are_keys() {
    for (source, expected) in [
        (
            "sha256('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', 'base64url')",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        ),
        (
            "base64url(sha256('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', 'raw'))",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        ),
        (
            "hmac('sha256', hmac('sha256', hmac('sha256', hmac('sha256', \
             'AWS4' + 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', '20150830', 'raw'), \
             'us-east-1', 'raw'), 'iam', 'raw'), 'aws4_request')",
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9",
        ),
        ("sha1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha1('abc', 'hex') == sha1('abc')", "true"),
        ("md5('', 'base64')", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ("base64_decode(base64(sha1('x', 'raw'))) == sha1('x', 'raw')", "true"),
        ("base64url_decode('fj8=') + base64url_decode('fj8')", "~?~?"),
        ("form_decode('a+b%26%C3%a9')", "a b&é"),
        ("html_decode('&lt;&eacute;&#233;&x;')", "<éé&x;"),
        (
            "url_part('/a?b=%20[é]') + url_part('a b[', ' [') + url_part('a#b', '#') + url_part(5)",
            "/a?b=%20[é]a b[a#b5",
        ),
        ("form_encode('a b&é~*')", "a+b%26%C3%A9%7E*"),
        ("pad(7, 3, '0') + pad('abcd', 2, 'x') + pad('', 3, 'xy')", "007abcdxyx"),
        ("join(list(1), '-') + join(list([2, 3]), '-')", "12-3"),
        ("date(0, '%Y-%m-%dT%H:%M:%S.%LZ')", "1970-01-01T00:00:00.000Z"),
        ("date(0, '%-H:%M %:z', '+02:00')", "2:00 +02:00"),
        ("date(date_ms('2021-03', '%Y-%m', 'local'), '%Y-%m', 'local')", "2021-03"),
        ("date_ms('04.03.2021', '%d.%m.%Y') + duration_ms('P1D')", "1614902400000"),
        ("date_ms('x', '%d') == null && duration_ms('x') == null", "true"),
        ("find_all('a1 b2', '([a-z])([0-9])')", r#"[["a1","a","1"],["b2","b","2"]]"#),
        ("find_all('ab', '(a)|(b)')[1]", r#"["b",null,"b"]"#),
        ("find_all('ab', 'c' + 'd')", "[]"),
        ("size(find_all('é€', ''))", "6"),
        ("fill('$' + '{a}-$' + '{b}-$' + '{a', {'a': 1})", "1-${b}-${a"),
        ("fill('$' + '{a}', {'a': '$' + '{a}'})", "${a}"),
        ("size(random_string(5)) == 5 && random_string(3, 'x') == 'xxx'", "true"),
        ("size(sha224('')) == 56 && size(sha384('')) == 96", "true"),
        ("size(sha512('')) == 128 && size(base64url(body)) == 18", "true"),
        ("base64('a' + md5('', 'raw'))", "YdQdjNmPALIE6YAJmOz4Qn4="),
    ] {
        let value = eval(source).map(|value| value.to_string());
        assert_eq!(value, Ok(expected.to_owned()), "{source}");
    }
    for (source, word) in [
        ("sha256('a', 'b64')", "unknown format `b64`: expected hex, base64, base64url or raw"),
        ("hmac('sha3', 'a', 'b')", "unknown algorithm `sha3`"),
        ("hmac('sha256', 1, 'b')", "expected a string, found an int"),
        ("base64url_decode('!')", "Invalid"),
        ("form_decode('%4')", "two hexadecimal digits"),
        ("url_part('a{b')", "`{` in a part of a URL: `a{b`"),
        ("url_part('a b')", "` ` in"),
        ("url_part('a#b')", "`#` in"),
        ("url_part('a[b')", "`[` in"),
        ("url_part('100%', ' ')", "`%` in"),
        ("fail('no host')", "no host"),
        ("random_string(3, '')", "characters to choose from"),
        ("random_string(1000000000)", "from 0 to 1048576"),
        ("random_string(-1)", "from 0 to 1048576"),
        ("date(0, '%q')", "unknown date field `%q`"),
        ("date(0, '%Y', 'Mars')", "`Mars` is not a time zone"),
        ("date_ms('1', '%I')", "read together"),
        ("fill('a', 'b')", "fill() expects a map"),
        ("fill('$' + '{a}', {'a': null})", "found null"),
        ("find_all('a', '(')", "unclosed group"),
        ("md5(unset)", "`unset` has no value"),
    ] {
        let error = eval(source).expect_err(source);
        assert!(error.contains(word), "{source}: {error}");
    }
    // A raw digest goes into a text as it is.
    let template = crate::template::Template::parse("a${md5('', 'raw')}b", Span::default());
    let bound = template.expect("a text").bind(&mut World::default()).expect("known names");
    let mut out = Vec::new();
    bound.render(&World::default(), &mut out).expect("a value");
    assert_eq!((out.len(), &out[..3], out[17]), (18, &b"a\xd4\x1d"[..], b'b'));
}

#[test]
fn a_text_that_is_only_looked_at_is_that_which_is_rendered() {
    let world = World::default();
    for source in [
        "",
        "a",
        "${body}",
        "${status}",
        "${list}",
        "${'x' + 'y'}",
        "a${body}b",
        "${nil}",
        "${unset}",
    ] {
        let template = crate::template::Template::parse(source, Span::default()).expect(source);
        let bound = template.bind(&mut World::default()).expect(source);
        let (mut rendered, mut room) = (Vec::new(), b"old".to_vec());
        let result = bound.render(&world, &mut rendered).map_err(|error| error.to_string());
        let seen = bound.text_in(&world, &mut room).map_err(|error| error.to_string());
        assert_eq!(seen, result.map(|()| rendered.as_slice()), "{source}");
    }
    let template = crate::template::Template::parse("${body}", Span::default()).expect("a text");
    let bound = template.bind(&mut World::default()).expect("known names");
    let mut room = Vec::new();
    let seen = bound.text_in(&world, &mut room).expect("a text");
    assert!(std::ptr::eq(seen, world.body.as_slice()), "it is copied");
}

/// What was never given a value can be asked for, and used for nothing else; null is a value, but no text.
#[test]
fn a_variable_without_a_value_is_an_error_where_a_value_is_needed() {
    for (source, expected) in [
        ("has(unset) ? unset : 'none'", "none"),
        ("unset == null ? 'none' : unset", "none"),
        ("has(status) && !has(nil) && has(map.n) && !has(unset.a)", "true"),
        ("unset == 5 || unset != null", "false"),
        ("unset in list", "false"),
    ] {
        assert_eq!(
            eval(source).map(|value| value.to_string()),
            Ok(expected.to_owned()),
            "{source}"
        );
    }
    for source in [
        "unset",
        "unset + 1",
        "unset.a",
        "unset[0]",
        "'a' + unset",
        "string(unset)",
        "unset.startsWith('a')",
        "[1, unset]",
        "{'a': unset}",
        "list.map(x, unset)",
        "true ? unset : 1",
        "json(unset)",
        "unset < 5",
    ] {
        let error = eval(source).expect_err(source);
        assert!(error.contains("variable `unset` has no value"), "{source}: {error}");
        assert!(error.contains("default"), "{source}: {error}");
    }
    assert_eq!(eval("map.n"), Ok(Value::Null), "it was given");
    let rendered = |source: &str| {
        let template = crate::template::Template::parse(source, Span::default()).expect(source);
        let bound = template.bind(&mut World::default()).expect(source);
        let mut out = Vec::new();
        let rendered = bound.render(&World::default(), &mut out);
        rendered.map(|()| String::from_utf8(out).expect("text")).map_err(|error| {
            assert!(error.lacks_value(), "{source}: {error}");
            error.to_string()
        })
    };
    assert_eq!(rendered("a${status}b${'c'}"), Ok("a200bc".to_owned()));
    for source in ["${map.n}", "a${map.n}", "${nil}", "a${nil}", "${unset}", "a${unset}b"] {
        let error = rendered(source).expect_err(source);
        assert!(error.contains("no text") || error.contains("no value"), "{source}: {error}");
    }
    let template = crate::template::Template::parse("a ${unset} ${nil}", Span::default());
    let bound = template.expect("a text").bind(&mut World::default()).expect("known names");
    let mut out = Vec::new();
    assert_eq!(bound.show(&World::default(), &mut out), Ok(false));
    assert_eq!(out, b"a null null");
}

#[test]
fn constants_are_folded() {
    let program = |source: &str| {
        Expr::parse(source, Span::default())
            .expect(source)
            .bind(&mut World::default())
            .expect(source)
    };
    assert_eq!(program("k + 1 == 8").constant(), Some(&Value::Bool(true)));
    assert_eq!(program("random(1, 2)").constant(), None);
    assert_eq!(program("status").slot(), Some(Slot(0)));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (source, column, word) in [
        ("status = 200", 8, "`=`"),
        ("(1 + 2", 7, "expected `)`"),
        ("1 +", 4, "expected a value"),
        ("statsu == 1", 1, "unknown variable"),
        ("jsno('a')", 1, "unknown function"),
        ("1 $ 2", 3, "unexpected `$`"),
        ("'abc", 1, "unterminated"),
        ("size()", 1, "takes 1 argument,"),
        ("5 apples", 3, "unexpected `apples`"),
        ("5x", 1, "invalid number `5x`"),
        ("body.matches('(')", 5, "unclosed"),
    ] {
        let parsed = Expr::parse(source, Span { file: 0, line: 1, column: 1 });
        let error = parsed.and_then(|expr| expr.bind(&mut World::default())).expect_err(source);
        assert!(error.message.contains(word), "{source}: {}", error.message);
        assert_eq!(error.span.column, column, "{source}: {}", error.message);
    }
    assert!(eval("'5' < 3").expect_err("a mismatch").contains("int(x)"));
}

#[test]
fn deep_and_long_expressions_are_errors() {
    let deep = "nested more than 64 levels deep";
    let many = "more than 1,000 parts";
    for (source, words) in [
        ("(".repeat(10_000), deep),
        ("[".repeat(300), deep),
        ("-".repeat(9_000) + "x", many),
        ("1+".repeat(4_000) + "1", many),
        ("x".repeat(20_000), "longer than 16 KiB"),
        ("!".repeat(5_000) + "true", many),
        ("list".to_owned() + &".a".repeat(8_000), many),
    ] {
        let error = Expr::parse(&source, Span::default())
            .and_then(|expr| expr.bind(&mut World::default()))
            .expect_err(&source[..10]);
        assert!(error.message.contains(words), "{:.10}: {}", source, error.message);
    }
    for source in ["(".repeat(60) + "1" + &")".repeat(60), "1+".repeat(400) + "1"] {
        assert!(eval(&source).is_ok(), "{source}");
    }
}

/// What makes a value grow, or an evaluation take long, ends with an error before it does.
#[test]
fn large_values_and_long_work_are_errors() {
    let text = "x".repeat(1 << 20);
    let numbers: Vec<Value> = (0..5_000).map(Value::Int).collect();
    let nested = (0..300).fold(Value::Null, |value, _| Value::List([value].into()));
    let world = World {
        body: text.into_bytes(),
        list: Value::List(numbers.into()),
        map: nested,
        ..World::default()
    };
    let error = |source: &str| eval_in(&world, source).expect_err(source);
    for source in [
        "body.replace(\"x\", body)",
        "body + body + body + body + body + body + body + body + body + body + body + body + body + body + body + body + body",
        "list.map(x, body)",
        "[list.map(x, list)]",
        "join(list, body)",
        "split(body, \"\")",
        "[map]",
    ] {
        assert!(error(source).contains("larger than 16 MiB"), "{source}: {}", error(source));
    }
    for source in
        ["list.all(x, list.all(y, x + y >= 0))", "list.all(x, body.contains(\"y\") == false)"]
    {
        assert!(error(source).contains("too long"), "{source}: {}", error(source));
    }
    assert_eq!(
        eval_in(&world, "size(body + body) + size(list.filter(x, x % 2 == 0))"),
        Ok(Value::Int((2 << 20) + 2_500))
    );
}

proptest! {
    #[test]
    fn no_text_panics(source in "[ -~]{0,40}") {
        let _ = eval(&source);
    }

    #[test]
    fn no_words_panic(words in prop::collection::vec(prop::sample::select(vec![
        "status", "body", "(", ")", "[", "]", "{", "}", ".", ",", "==", "&&", "!", "-", "1", "'a'", "has", "map", "x", "?", ":", "in", "size", "5ms", "%", "0",
    ]), 0..30)) {
        let _ = eval(&words.join(" "));
    }
}

/// Knows the constants `big`, a text of 8 MiB, and `config`, and keeps one budget and all warnings.
struct Constants {
    budget: Rc<Budget>,
    big: Value,
    warnings: Vec<String>,
}

impl Constants {
    fn new() -> Self {
        let (budget, big) = (Rc::new(Budget::of_constants()), Value::text("x".repeat(8 << 20)));
        Constants { budget, big, warnings: Vec::new() }
    }

    fn bind(&mut self, source: &str) -> BoundExpr {
        let expr = Expr::parse(source, Span::default()).expect(source);
        expr.bind(self).expect(source)
    }
}

impl Binder for Constants {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        Ok(match path[0] {
            "big" => Bound::Constant(self.big.clone(), 1),
            "config" => {
                let config = serde_json::json!({"name": "n", "big": "x".repeat(1 << 20)});
                Bound::Constant(Value::from_json(&config), 1)
            }
            _ => Bound::Slot(Slot(0), 1),
        })
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }

    fn budget(&self) -> Rc<Budget> {
        self.budget.clone()
    }

    fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning.message);
    }
}

#[test]
fn constants_of_all_expressions_have_one_budget() {
    // What is made: 8 MiB each, of which 64 MiB are kept.
    let mut world = Constants::new();
    let made = (0..400).filter(|n| world.bind(&format!("big + '{n}'")).constant().is_some());
    assert_eq!(made.count(), 7);
    assert_eq!(world.warnings, ["the constants of the plan come to more than 64 MiB"]);
    // What is read: 131,072 units of work each.
    for source in ["sha512(big)", "size(big)", "big == 'a'"] {
        let mut world = Constants::new();
        let read = (0..400).filter(|_| world.bind(source).constant().is_some()).count();
        assert!((15..=20).contains(&read), "{source}: {read}");
        let bound = "the constants of the plan come to more than 2,500,000 units of work";
        assert_eq!(world.warnings, [bound]);
    }
    // What is left is evaluated in the run.
    let left = world.bind("size(big + 'a')");
    assert_eq!(left.eval(&World::default()), Ok(Value::Int((8 << 20) + 1)));
}

#[test]
fn what_is_constant_already_costs_nothing() {
    let mut world = Constants::new();
    let before = world.budget.work_left();
    for _ in 0..1_000 {
        assert!(world.bind("big").constant().is_some());
        assert!(world.bind("config.big").constant().is_some());
        assert!(world.bind("true ? big : config.big").constant().is_some());
    }
    assert_eq!(world.budget.work_left(), before);
    assert!(world.warnings.is_empty(), "{:?}", world.warnings);
}

#[test]
fn what_failed_is_not_tried_again_with_what_is_around_it() {
    let mut world = Constants::new();
    let once = {
        world.bind("int(big)");
        Budget::of_constants().work_left() - world.budget.work_left()
    };
    assert!(once > 100_000, "{once}");
    let mut source = "int(big)".to_owned();
    (0..30).for_each(|_| source = format!("({source} + 1)"));
    world.budget = Rc::new(Budget::of_constants());
    world.bind(&source);
    assert_eq!(Budget::of_constants().work_left() - world.budget.work_left(), once);
}

#[test]
fn constants_that_fail_are_warned_of() {
    for (source, warning) in [
        ("hmac('sha3', 'k', 't')", "unknown algorithm `sha3`"),
        ("sha256('a', 'b64')", "unknown format `b64`"),
        ("sha256('a', 'b64') == status", "unknown format `b64`"),
        ("{1: 'a', 1.0: 'b'}", "the map has the key `1` twice"),
        ("1 / 0 == 1 || false", "division by zero"),
        ("config.nmae", "there is no field `nmae`"),
        ("[1 / 0]", "division by zero"),
        // Not those whose failure need not matter, ...
        ("1 / 0 == 1 || true", ""),
        ("status == 1 || 1 / 0 == 1", ""),
        ("status == 1 ? 1 / 0 : 2", ""),
        ("true ? 1 : 1 / 0", ""),
        ("has(config.nmae)", ""),
        ("has(config.nmae) ? config.nmae : 'none'", ""),
        ("status.all(x, 1 / 0 == x)", ""),
        // ... and those which fail on purpose.
        ("fail('no host')", ""),
    ] {
        let mut world = Constants::new();
        world.bind(source);
        match warning {
            "" => assert!(world.warnings.is_empty(), "{source}: {:?}", world.warnings),
            _ => {
                let [found] = &*world.warnings else { panic!("{source}: {:?}", world.warnings) };
                assert!(found.starts_with("this fails whenever it is evaluated: "), "{found}");
                assert!(found.contains(warning), "{source}: {found}");
            }
        }
    }
    let known = Constants::new().bind("has(config.nmae) ? config.nmae : 'none'");
    assert_eq!(known.constant(), Some(&Value::text("none")));
}
