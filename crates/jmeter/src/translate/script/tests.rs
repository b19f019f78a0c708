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

    fn property(&self, name: &str) -> Option<String> {
        (name == "users").then(|| "50".to_owned())
    }
}

/// A text in which `{name}` is a variable that is known later.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, part) in text.split(['{', '}']).enumerate().filter(|(_, part)| !part.is_empty()) {
        pieces.push(match index % 2 {
            0 => Piece::Text(part.to_owned()),
            _ => Piece::Expr(part.to_owned()),
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
