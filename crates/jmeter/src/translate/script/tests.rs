use std::path::Path;

use proptest::prelude::*;
use squall_plan::expr::Expr;
use squall_plan::span::Span;

use super::*;

/// Knows the variables `token`, which a response sets, and `size`, which is 3.
struct World;

impl Environment for World {
    fn variable(&self, name: &str) -> Result<Script, String> {
        match name {
            "token" => Ok(Script::new(Kind::MaybeText, "token")),
            "size" => Ok(Script::new(Kind::Text, "\"3\"")),
            "odd" => Err("the variable `odd`".to_owned()),
            _ => Ok(Script::new(Kind::Null, "null")),
        }
    }

    fn property(&self, name: &str) -> Script {
        match name {
            "users" => Script::new(Kind::Text, "\"50\""),
            "shared" => Script::new(Kind::MaybeText, "property_shared"),
            _ => Script::new(Kind::Null, "null"),
        }
    }
}

/// A text in which `{name}` is a variable that is known later.
fn pieces(text: &str) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    for (index, part) in text.split(['{', '}']).enumerate().filter(|(_, part)| !part.is_empty()) {
        pieces.push(match index % 2 {
            0 => TextPiece::Text(part.to_owned()),
            _ => TextPiece::Expr(part.to_owned()),
        });
    }
    pieces
}

fn read_as(language: Language, text: &str) -> Result<Script, String> {
    read(&pieces(text), language, &World)
}

/// What a script comes to, with the variables `{n}`, which is "5", and `{t}`, which is "ok".
fn value(language: Language, text: &str) -> String {
    let script = read_as(language, text).unwrap_or_else(|what| panic!("{text}: {what}"));
    let plan = format!(
        "vars: {{n: \"5\", t: ok, token: abc}}\ntarget: http://a.test\nscenarios:\n  s:\n    load: {{users: 1, iterations: 1}}\n    steps:\n      - set: {{x: {}}}\n",
        quoted(&format!("${{{}}}", script.source))
    );
    let loaded =
        squall_plan::yaml::load_str("plan.yaml", &plan, Path::new(""), &Default::default());
    assert!(loaded.is_ok(), "{plan}");
    format!("{:?} {}", script.kind, script.source)
}

#[test]
fn each_language_compares_by_its_own_rules() {
    use Language::{BeanShell, Groovy, JavaScript, Jexl};
    for (language, text, expected) in [
        (JavaScript, "\"{n}\" == \"1\"", r#"Bool (string(n) == "1")"#),
        (JavaScript, "'{n}' != 'x';", r#"Bool !(string(n) == "x")"#),
        (JavaScript, "{n}==1", "Bool loose_equal(json_decode(trim(string(n))), 1)"),
        (JavaScript, "\"{n}\" === 1", "Bool (string(n) == 1)"),
        (JavaScript, "\"{t}\".length>2", "Bool (size(string(t)) > 2)"),
        (
            JavaScript,
            "Math.round(props.get(\"users\")*20/100>>0)",
            "Number round(int((double((number(\"50\") * 20)) / double(100))))",
        ),
        (
            Jexl,
            "(\"{t}\" eq \"a\" or not empty(\"{t}\"))",
            "Bool ((string(t) == \"a\") || !((string(t) in [null, \"\"])))",
        ),
        (Jexl, "\"{n}\" == 5", "Bool (double(string(n)) == double(5))"),
        (Jexl, "{n} <= 7", "Bool (number(json_decode(trim(string(n)))) <= 7)"),
        (Jexl, "\"{t}\".startsWith(\"http\" ) ", "Bool startsWith(string(t), \"http\")"),
        (
            Groovy,
            "vars.get(\"token\") != null && !vars.get('token').equals(\"\")",
            "Bool (!(token == null) && !((string(token) == \"\")))",
        ),
        (Groovy, "vars.get('size').toInteger() > 1800000", "Bool (int(\"3\") > 1800000)"),
        (Groovy, "(vars.get('size') as long) - 1 >= 0", "Bool ((int(\"3\") - 1) >= 0)"),
        (
            Groovy,
            "\"{t}\".equals(\"true\") ? 6000 : 0",
            "Number ((string(t) == \"true\") ? 6000 : 0)",
        ),
        (BeanShell, "\"{t}\".equals(\"true\")", "Bool (string(t) == \"true\")"),
        (BeanShell, "return vars.get(\"none\") == null;", "Bool true"),
    ] {
        assert_eq!(value(language, text), expected, "{text}");
    }
}

#[test]
fn what_is_not_one_known_expression_is_refused() {
    use Language::{BeanShell, Groovy, JavaScript, Jexl};
    for (language, text, expected) in [
        (JavaScript, "{n}==COMPLETED", "the name `COMPLETED`"),
        (JavaScript, "var a", "the name `var`"),
        (JavaScript, "a{n} == 1", "a name with a variable right behind it"),
        (JavaScript, "{n}0 == 1", "a variable that is part of a word"),
        (JavaScript, "\"a", "a text whose end is missing"),
        (JavaScript, "010 == 8", "the number that begins with `010`"),
        (Groovy, "vars.remove(\"a\").equals(\"b\")", "`vars.remove`, as it is used there"),
        (Groovy, "vars.get(\"token\") > 5", "a text that is compared with a number"),
        (Groovy, "\"1\" == 1", "values of two kinds that are compared"),
        (Groovy, "vars.get(\"odd\") == null", "the variable `odd`"),
        (BeanShell, "System.getenv(\"a\")", "`System.getenv`"),
        (Jexl, "\"a\" =~ \"b\"", "`=~`"),
        (Jexl, "1 == ", "an end where more is expected"),
        (Jexl, "", "an end where more is expected"),
    ] {
        assert_eq!(read_as(language, text), Err(expected.to_owned()), "{text}");
    }
    let deep = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(read_as(Jexl, &deep), Err("so many parentheses".to_owned()));
    assert_eq!(read_as(Jexl, &"!".repeat(5_000)), Err("so many signs".to_owned()));
}

proptest! {
    /// Whatever is read becomes an expression that squall reads, and nothing panics.
    #[test]
    fn any_text_is_read_or_refused(
        words in prop::collection::vec(
            prop_oneof![
                Just("\"{t}\""), Just("'a'"), Just("{n}"), Just("1"), Just("2.5"), Just("("), Just(")"), Just("=="),
                Just("!="), Just("<"), Just("&&"), Just("||"), Just("!"), Just("+"), Just("-"), Just("/"), Just("?"),
                Just(":"), Just("."), Just("length"), Just("equals("), Just("vars.get('token')"), Just("Math.round("),
                Just("null"), Just("true"), Just("as int"), Just("eq"), Just("not"), Just(","), Just("é"), Just("\\"),
            ],
            0..12,
        ),
        language in prop_oneof![
            Just(Language::JavaScript), Just(Language::Jexl), Just(Language::Groovy), Just(Language::BeanShell),
        ],
    ) {
        let text = words.join(" ");
        if let Ok(script) = read_as(language, &text) {
            let read = Expr::parse(&script.source, Span::default());
            prop_assert!(read.is_ok(), "{} -> {}", text, script.source);
        }
    }
}

/// What a script comes to, in which `§name§` is a variable that is known later.
fn outcome(language: Language, place: Place, text: &str) -> Result<ScriptOutcome, String> {
    let parts = text.split('§').enumerate().filter(|(_, part)| !part.is_empty());
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => TextPiece::Text(part.to_owned()),
        _ => TextPiece::Expr(part.to_owned()),
    });
    run(&parts.collect::<Vec<_>>(), language, place, &World)
}

/// What a script sets: variables, and properties behind them.
fn set_by(language: Language, text: &str) -> Vec<String> {
    let made =
        outcome(language, Place::Before, text).unwrap_or_else(|what| panic!("{text}: {what}"));
    let all = made.variables.iter().chain(&made.properties);
    all.map(|(name, value)| format!("{name} = {}", value.source)).collect()
}

#[test]
fn statements_come_to_expressions_over_what_was_before() {
    use Language::{BeanShell, Groovy};
    for (language, text, expected) in [
        (BeanShell, "// a\n vars.put(\"uid\", \"§n§\"); /* b */", vec!["uid = string(n)"]),
        (
            BeanShell,
            "String a = vars.get(\"token\"); a = a + \"x\"; vars.put(\"b\", a); props.put(\"p\", a);",
            vec![
                "b = ((token == null ? \"null\" : string(token)) + \"x\")",
                "p = ((token == null ? \"null\" : string(token)) + \"x\")",
            ],
        ),
        (
            BeanShell,
            "if (vars.get(\"token\") == null) { vars.put(\"b\", \"none\"); } else vars.put(\"b\", \"some\");",
            vec!["b = ((token == null) ? \"none\" : \"some\")"],
        ),
        (
            BeanShell,
            "int i = 1; i++; i += 2; vars.put(\"b\", Integer.toString(i));",
            vec!["b = string(((1 + 1) + 2))"],
        ),
        (
            Groovy,
            "import groovy.json.JsonSlurper\ndef s = new JsonSlurper()\ndef j = s.parseText(vars.get(\"size\"))\n\
             props.put('id', j.users[0].id)",
            vec!["p = "],
        ),
        (Groovy, "def a = 'x'\nvars.put(\"b\", \"${a}-1\")", vec!["b = string(\"x\") + \"-1\""]),
        (
            Groovy,
            "vars.put('b', props.get('shared'))\nlog.info 'x: ' + 1",
            vec!["b = property_shared"],
        ),
        (
            BeanShell,
            "try { vars.put(\"b\", \"1\"); } catch (Exception ex) { log.warn(\"x\", ex); throw ex; }",
            vec!["b = \"1\""],
        ),
        (BeanShell, "", vec![]),
    ] {
        if expected == ["p = "] {
            let expected = "id = string(json_decode(\"3\")[\"users\"][0][\"id\"])";
            assert_eq!(set_by(language, text), [expected]);
        } else {
            assert_eq!(set_by(language, text), expected, "{text}");
        }
    }
}

#[test]
fn what_is_not_the_same_each_time_is_kept() {
    let text = "def id = UUID.randomUUID().toString()\nvars.put('a', id)\nvars.put('b', id)";
    let made = outcome(Language::Groovy, Place::Before, text).expect("a script");
    assert_eq!(made.kept, ["uuid()"]);
    let values: Vec<&str> = made.variables.iter().map(|(_, value)| value.source.as_str()).collect();
    assert_eq!(values, ["kept_0", "kept_0"]);
}

#[test]
fn assertions_say_when_a_sample_fails() {
    use Language::{BeanShell, Groovy};
    for (language, text, failed, ok) in [
        (
            Groovy,
            "if (prev.getTime() > 6000) {\n AssertionResult.setFailure(true)\n AssertionResult.setFailureMessage(\"slow: \" + prev.getTime())\n}",
            Some("(floor(duration) > 6000)"),
            None,
        ),
        (
            BeanShell,
            "String a = vars.get(\"token\").trim(); if (a == \"x\") { Failure = true; } else { Failure = false; FailureMessage = \"\"; }",
            Some("(trim(string(token)) == \"x\")"),
            None,
        ),
        (
            BeanShell,
            "if (ResponseCode.equals(\"500\") == true) { SampleResult.setResponseOK(); }",
            None,
            Some(
                "(((string(status) == \"500\") == true) ? true : (status >= 200 && status < 400))",
            ),
        ),
    ] {
        let made = outcome(language, Place::Assertion, text)
            .unwrap_or_else(|what| panic!("{text}: {what}"));
        assert_eq!((made.failed.as_deref(), made.ok.as_deref()), (failed, ok), "{text}");
    }
}

#[test]
fn what_a_script_does_is_in_its_order_and_on_its_condition() {
    let text = "log.info(\"a {}\", vars.get(\"token\")); if (vars.get(\"size\").equals(\"3\")) { prev.setStopThread(true); } Thread.sleep(20);";
    let made = outcome(Language::BeanShell, Place::After, text).expect("a script");
    let said: Vec<String> = made
        .effects
        .iter()
        .map(|effect| match &effect.does {
            Does::Log(text) => format!("{}:{text}", effect.condition),
            Does::Wait(time) => format!("{}:{time}", effect.condition),
            Does::Stop(scope) => format!("{}:{scope:?}", effect.condition),
        })
        .collect();
    let expected = [
        ":\"a \" + (token == null ? \"null\" : string(token)) + \"\"",
        "(\"3\" == \"3\"):User",
        ":int(20)",
    ];
    assert_eq!(said, expected);
}

#[test]
fn statements_that_are_not_known_are_refused_with_their_line() {
    use Language::{BeanShell, Groovy};
    for (language, place, text, expected) in [
        (
            BeanShell,
            Place::Before,
            "vars.put(\"a\", \"b\")\nvars.put(\"c\", \"d\")",
            "line 1: `vars`",
        ),
        (BeanShell, Place::Before, "\nprev.getResponseCode();", "line 2: `prev.getResponseCode`"),
        (Groovy, Place::Before, "int a = 1\nvars.put('x', a)", "line 2: a value other than a text"),
        (Groovy, Place::Before, "import com.example.X", "line 1: the import of `com.example.X`"),
        (Groovy, Place::After, "for (i in 1..2) { }", "line 1: `for`"),
        (Groovy, Place::After, "def f = new File('a')", "line 1: `new File`"),
        (
            BeanShell,
            Place::Before,
            "if (true) { return 1; } a = 2;",
            "line 1: a `return` within the script",
        ),
        (Groovy, Place::Before, "vars.put(\"a\", \"${b}\")", "line 1: `${b}`"),
        (BeanShell, Place::Before, "/* a", "line 1: a comment without an end"),
    ] {
        let what = outcome(language, place, text).expect_err(text);
        assert_eq!(what, expected, "{text}");
    }
}

proptest! {
    /// Whatever is read becomes expressions that squall reads, and nothing panics.
    #[test]
    fn any_script_is_read_or_refused(
        words in prop::collection::vec(
            prop_oneof![
                Just("vars.put('a',"), Just("'a'"), Just("§n§"), Just("1"), Just("("), Just(")"), Just(");"), Just("=="),
                Just("if ("), Just(") {"), Just("}"), Just("else"), Just("Failure ="), Just("true;"), Just("def x ="),
                Just("x"), Just("= 2;"), Just("+"), Just("try {"), Just("catch (E e) {"), Just("log.info("), Just("\n"),
                Just("return"), Just("prev.getResponseCode()"), Just("new Random()"), Just(".nextInt(5)"), Just("\"${x}\""),
                Just("import java.util.*;"), Just("++;"), Just(","), Just("// x"), Just("/*"), Just("java.util.UUID.randomUUID()"),
            ],
            0..16,
        ),
        language in prop_oneof![Just(Language::JavaScript), Just(Language::Groovy), Just(Language::BeanShell)],
        place in prop_oneof![Just(Place::Before), Just(Place::After), Just(Place::Assertion), Just(Place::Sampler)],
    ) {
        let text = words.join(" ");
        if let Ok(made) = outcome(language, place, &text) {
            let values = made.variables.iter().chain(&made.properties).map(|(_, value)| &value.source);
            let all = values.chain(&made.kept).chain(&made.failed).chain(&made.ok);
            for source in all {
                prop_assert!(Expr::parse(source, Span::default()).is_ok(), "{} -> {}", text, source);
            }
        }
    }
}
