//! The examples of the XPath 1.0 specification (sections 2.2, 2.5 and 4), and what goes beyond.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Limits;
use crate::markup::{self, Dialect};

fn tree(xml: &str) -> Tree {
    markup::parse(xml.as_bytes(), Dialect::Xml).unwrap()
}

fn html(html: &str) -> Tree {
    markup::parse(html.as_bytes(), Dialect::Html).unwrap()
}

fn find(expression: &str, tree: &Tree) -> Found<'static> {
    let xpath = XPath::compile(expression).unwrap_or_else(|e| panic!("{expression}: {e}"));
    search(&xpath, tree, MatchChoice::All, 0).unwrap()
}

fn search(
    xpath: &XPath,
    tree: &Tree,
    which: MatchChoice,
    random: u64,
) -> Result<Found<'static>, ExtractError> {
    let fuel = Fuel::new(4 * tree.len() as usize, Limits::default());
    xpath.find(tree, &fuel, which, random)
}

fn texts(expression: &str, tree: &Tree) -> Vec<String> {
    match find(expression, tree) {
        Found::None => vec![],
        Found::One(one) => panic!("one of all: {one:?}"),
        Found::Many(items) => {
            items.iter().map(|i| String::from_utf8(i.to_text().into_owned()).unwrap()).collect()
        }
    }
}

/// Checks which nodes are found, by their `id`.
fn check_ids(tree: &Tree, table: &[(&str, &str)]) {
    for (expression, expected) in table {
        let ids = texts(&format!("({expression})/@id"), tree);
        assert_eq!(ids.join(" "), *expected, "{expression}");
    }
}

fn check_values(tree: &Tree, table: &[(&str, Item<'static>)]) {
    for (expression, expected) in table {
        assert_eq!(find(expression, tree), Found::Many(vec![expected.clone()]), "{expression}");
    }
}

const DOC: &str = r#"<?xml version="1.0"?>
<doc id="doc" xml:lang="en"><?note mind?><!--remark-->
  <chapter id="c1"><title id="t1">Introduction</title><para id="p1" type="warning">one</para>
    <section id="s1"><para id="p2">two</para><para id="p3" type="warning">three</para></section>
  </chapter>
  <chapter id="c2"><title id="t2">Matter</title>
    <olist id="o"><item id="i1">7</item><item id="i2">8</item><item id="i3">9</item></olist>
    <section id="s2" xml:lang="de-AT"><para id="p4" type="warning">four</para></section>
    <section id="s3"><para id="p5">five</para><div id="d"><para id="p6">six</para></div></section>
  </chapter>
  <appendix id="a"><x:para id="p7" xmlns:x="urn:x" x:kind="k">seven</x:para></appendix>
  <employee id="e1" secretary="s" assistant="a"/><employee id="e2" secretary="s"/>
</doc>"#;

#[test]
fn abbreviated_paths() {
    check_ids(
        &tree(DOC),
        &[
            ("doc/chapter", "c1 c2"),
            ("/doc/*", "c1 c2 a e1 e2"),
            ("/doc/chapter[1]", "c1"),
            ("/doc/chapter[last()]", "c2"),
            ("/doc/*/para", "p1 p7"),
            ("/doc/chapter[2]/section[2]", "s3"),
            ("doc/chapter//para", "p1 p2 p3 p4 p5 p6"),
            ("//olist/item", "i1 i2 i3"),
            ("doc/.//title", "t1 t2"),
            ("//item/..", "o"),
            ("//item/../../title", "t2"),
            ("//para[@type='warning']", "p1 p3 p4"),
            ("//section/para[@type=\"warning\"][1]", "p3 p4"),
            ("//section/para[1][@type=\"warning\"]", "p4"),
            ("(//para)[2]", "p2"),
            ("//para[2]", "p3"),
            ("(//para)[last()]", "p7"),
            ("//chapter[title='Introduction']", "c1"),
            ("//chapter[olist]", "c2"),
            ("//employee[@secretary and @assistant]", "e1"),
            ("//employee[@secretary and not(@assistant)]", "e2"),
            ("/", ""),
            ("/descendant::node()[@id='d']", "d"),
            ("//para | //title", "t1 p1 p2 p3 t2 p4 p5 p6 p7"),
            ("(//section | //olist)[2]", "o"),
            ("//section[para[@type]]", "s1 s2"),
            ("//*[@id = 'i2' or @id = 'i3']", "i2 i3"),
            ("doc / chapter [ position() = 2 ]", "c2"),
        ],
    );
}

#[test]
fn axes() {
    check_ids(
        &tree(DOC),
        &[
            ("/child::doc/child::chapter", "c1 c2"),
            ("/descendant::para", "p1 p2 p3 p4 p5 p6 p7"),
            ("//olist/ancestor::*", "doc c2"),
            ("//div/ancestor-or-self::*", "doc c2 s3 d"),
            ("//div/ancestor::*[1]", "s3"),
            ("//chapter[1]/descendant-or-self::*", "c1 t1 p1 s1 p2 p3"),
            ("//div/self::div", "d"),
            ("//div/self::para", ""),
            ("//olist/following-sibling::*", "s2 s3"),
            ("//olist/following-sibling::section[1]", "s2"),
            ("//section[3]/preceding-sibling::*", ""),
            ("//section[2]/preceding-sibling::*[1]", "s2"),
            ("//section[2]/preceding-sibling::*", "t2 o s2"),
            ("//olist/following::para", "p4 p5 p6 p7"),
            // Document order, whatever the direction of the axis.
            ("//olist/preceding::*", "c1 t1 p1 s1 p2 p3 t2"),
            ("//olist/preceding::para[1]", "p3"),
            ("//@type/parent::para", "p1 p3 p4"),
            ("//@type/ancestor::chapter", "c1 c2"),
            ("//olist/parent::chapter", "c2"),
            ("//olist/parent::section", ""),
        ],
    );
    let tree = tree(DOC);
    assert_eq!(texts("//para[1]/@type", &tree), ["warning", "warning"]);
    assert_eq!(texts("//employee[1]/@*", &tree), ["e1", "s", "a"]);
    assert_eq!(texts("//section[2]/attribute::xml:lang", &tree), [""; 0]);
    assert_eq!(texts("//section/@xml:lang", &tree), ["de-AT"]);
    assert_eq!(texts("//@type/..//text()", &tree), ["one", "three", "four"]);
    assert_eq!(texts("//@type/self::node()", &tree), ["warning"; 3]);
    assert_eq!(texts("//@type/child::node() | //@type/following-sibling::*", &tree), [""; 0]);
    assert_eq!(texts("count(//employee[1]/@id/following::*)", &tree), ["1"]);
}

#[test]
fn node_tests() {
    let tree = tree(DOC);
    for (expression, expected) in [
        ("//comment()", vec!["remark"]),
        ("//processing-instruction()", vec!["mind"]),
        ("//processing-instruction('note')", vec!["mind"]),
        ("//processing-instruction('other')", vec![]),
        ("//title/text()", vec!["Introduction", "Matter"]),
        ("//title/node()", vec!["Introduction", "Matter"]),
        ("//x:para", vec!["seven"]),
        ("//x:*", vec!["seven"]),
        ("//y:para", vec![]),
        ("//appendix/para", vec!["seven"]),
        ("//@kind", vec!["k"]),
        ("//@x:kind", vec!["k"]),
        ("//@xmlns:x | //@*[name() = 'xmlns:x']", vec![]),
    ] {
        assert_eq!(texts(expression, &tree), expected, "{expression}");
    }
}

#[test]
fn operators() {
    let tree = tree(DOC);
    let number = |n: f64| number_item(n);
    let truth = |b: bool| Item::Json(json!(b));
    check_values(
        &tree,
        &[
            ("1 + 2 * 3", number(7.0)),
            ("(1 + 2) * 3", number(9.0)),
            ("10 - 4 - 3", number(3.0)),
            ("7 div 2", number(3.5)),
            ("5 mod 2", number(1.0)),
            ("5 mod -2", number(1.0)),
            ("-5 mod 2", number(-1.0)),
            ("1.5 mod 0.5", number(0.0)),
            ("- - 3", number(3.0)),
            ("--'3'", number(3.0)),
            ("2*-3", number(-6.0)),
            ("1 div 0", Item::text("Infinity")),
            ("0 div 0", Item::text("NaN")),
            ("1 = 1 and 2 = 2", truth(true)),
            ("1 = 2 or 2 = 2", truth(true)),
            ("1 = 2 or 2 = 3 and 1", truth(false)),
            ("3 > 2 > 1", truth(false)),
            ("1 < 2 = true()", truth(true)),
            ("'a' = \"a\"", truth(true)),
            ("'1' = 1.0", truth(true)),
            ("'a' < 'b'", truth(false)),
            ("'2' >= '10'", truth(false)),
            ("true() = 'x'", truth(true)),
            ("true() > false()", truth(true)),
            // Nodes: one that compares is enough.
            ("//item = 8", truth(true)),
            ("//item = '8'", truth(true)),
            ("//item != 8", truth(true)),
            ("not(//item = 10)", truth(true)),
            ("//item > 8", truth(true)),
            ("9 <= //item", truth(true)),
            ("9 < //item", truth(false)),
            ("//item = //item", truth(true)),
            ("//item = //para", truth(false)),
            ("//item != //item", truth(true)),
            ("//item[1] != //item[1]", truth(false)),
            ("//item < //item", truth(true)),
            ("//item[3] < //item", truth(false)),
            ("//item[3] <= //item", truth(true)),
            ("//item > //item[last()]", truth(false)),
            ("//nothing = //nothing", truth(false)),
            ("//nothing != //nothing", truth(false)),
            ("//nothing = false()", truth(true)),
            ("//item = true()", truth(true)),
            ("//nothing = ''", truth(false)),
            ("//title < //para", truth(false)),
            // Names and operators look alike.
            ("count(//div) div count(//olist)", number(1.0)),
            ("//item[1] * 2", number(14.0)),
            ("count(//*) * 0", number(0.0)),
            ("9007199254740993", number(9007199254740992.0)),
        ],
    );
}

#[test]
fn functions() {
    let tree = tree(DOC);
    let number = |n: f64| number_item(n);
    let truth = |b: bool| Item::Json(json!(b));
    check_values(
        &tree,
        &[
            ("count(//para)", Item::Json(json!(7))),
            ("count(id('p1 p2 nothing'))", number(2.0)),
            ("string(id('p2')/..)", Item::text("twothree")),
            ("sum(//item)", number(24.0)),
            ("sum(//nothing)", number(0.0)),
            ("sum(//para)", Item::text("NaN")),
            ("name(//para[. = 'seven'])", Item::text("x:para")),
            ("local-name(//para[. = 'seven'])", Item::text("para")),
            ("namespace-uri(//para[. = 'seven'])", Item::text("urn:x")),
            ("namespace-uri(//@kind)", Item::text("urn:x")),
            ("namespace-uri(//@type)", Item::text("")),
            ("name(//nothing)", Item::text("")),
            ("name(/*)", Item::text("doc")),
            ("string(//item)", Item::text("7")),
            ("string(//nothing)", Item::text("")),
            ("string(1 = 1)", Item::text("true")),
            ("concat('a', 1, true(), //item)", Item::text("a1true7")),
            ("starts-with('abc', 'ab')", truth(true)),
            ("starts-with('abc', 'bc')", truth(false)),
            ("contains('abc', 'bc')", truth(true)),
            ("contains('abc', '')", truth(true)),
            ("substring-before('1999/04/01', '/')", Item::text("1999")),
            ("substring-after('1999/04/01', '/')", Item::text("04/01")),
            ("substring-after('1999/04/01', '19')", Item::text("99/04/01")),
            ("substring-before('a', 'b')", Item::text("")),
            ("substring('12345', 2, 3)", Item::text("234")),
            ("substring('12345', 2)", Item::text("2345")),
            ("substring('12345', 1.5, 2.6)", Item::text("234")),
            ("substring('12345', 0, 3)", Item::text("12")),
            ("substring('12345', 0 div 0, 3)", Item::text("")),
            ("substring('12345', 1, 0 div 0)", Item::text("")),
            ("substring('12345', -42, 1 div 0)", Item::text("12345")),
            ("substring('12345', -1 div 0, 1 div 0)", Item::text("")),
            ("substring('größe', 3, 2)", Item::text("öß")),
            ("string-length('größe')", number(5.0)),
            ("normalize-space('  a \n b\t')", Item::text("a b")),
            ("translate('bar', 'abc', 'ABC')", Item::text("BAr")),
            ("translate('--aaa--', 'abc-', 'ABC')", Item::text("AAA")),
            ("translate('aa', 'aa', 'xy')", Item::text("xx")),
            ("boolean(//para)", truth(true)),
            ("boolean('false')", truth(true)),
            ("boolean(0)", truth(false)),
            ("not(boolean(''))", truth(true)),
            ("number('12.5')", Item::Json(json!(12.5))),
            ("number(true())", number(1.0)),
            ("number('x')", Item::text("NaN")),
            ("floor(-2.5)", number(-3.0)),
            ("ceiling(2.1)", number(3.0)),
            ("round(2.5)", number(3.0)),
            ("count(//para[lang('en')])", number(6.0)),
            ("count(//para[lang('de')])", number(1.0)),
            ("count(//para[lang('DE-at')])", number(1.0)),
            ("count(//para[lang('d')])", number(0.0)),
            ("count(//item[string-length() = 1])", number(3.0)),
            ("count(//*[position() = last()])", number(10.0)),
        ],
    );
    check_ids(
        &tree,
        &[
            ("//item[position() mod 2 = 1]", "i1 i3"),
            ("//item[number() > 7]", "i2 i3"),
            ("//*[starts-with(name(), 'app')]", "a"),
            ("//*[contains(@secretary, 's')][last()]", "e2"),
            ("//item[last() - 1]", "i2"),
            ("//item[. = sum(//item) div 3]", "i2"),
        ],
    );
}

#[test]
fn pages() {
    let tree = html(
        "<!DOCTYPE html><title>T</title><FORM><input name=csrf value='t&amp;k'></FORM>\
         <table><tr><td>a<td> 1 <tr><td>b<td>2</table><a HREF=/x>X</a><svg viewBox=0></svg>",
    );
    for (expression, expected) in [
        ("//title", vec!["T"]),
        ("/html/head/title/text()", vec!["T"]),
        ("//input[@name='csrf']/@value", vec!["t&k"]),
        ("//INPUT/@VALUE", vec!["t&k"]),
        ("//tr[td='b']/td[2]", vec!["2"]),
        ("normalize-space(//tr[1]/td[2])", vec!["1"]),
        ("//table/tr", vec![]),
        ("//table/tbody/tr[2]/td", vec!["b", "2"]),
        ("//a[contains(@href, 'x')]", vec!["X"]),
        ("//svg/@viewBox", vec!["0"]),
    ] {
        assert_eq!(texts(expression, &tree), expected, "{expression}");
    }
}

#[test]
fn picks_one() {
    let tree = tree(DOC);
    let pick = |expression, which| {
        search(&XPath::compile(expression).unwrap(), &tree, which, u64::MAX).unwrap()
    };
    for (which, expected) in [
        (MatchChoice::First, "7"),
        (MatchChoice::Nth(2), "8"),
        (MatchChoice::Last, "9"),
        (MatchChoice::Random, "9"),
    ] {
        assert_eq!(pick("//item", which), Found::One(Item::text(expected)), "{which:?}");
    }
    assert_eq!(pick("//item", MatchChoice::Nth(4)), Found::None);
    assert_eq!(pick("//nothing", MatchChoice::First), Found::None);
    assert_eq!(pick("1 + 1", MatchChoice::Random), Found::One(Item::Json(json!(2))));
    assert_eq!(pick("1 + 1", MatchChoice::Nth(2)), Found::None);
}

#[test]
fn mistakes_say_where() {
    for (expression, offset) in [
        ("", 0),
        ("//", 2),
        ("a/", 2),
        ("a[", 2),
        ("a[1", 3),
        ("a b", 2),
        ("a =", 3),
        ("'a", 0),
        ("foo::a", 0),
        ("namespace::a", 0),
        ("foo()", 0),
        ("a/foo()", 2),
        ("count()", 0),
        ("count(1)", 6),
        ("contains('a')", 0),
        ("'a' | //b", 0),
        ("//b | 1", 6),
        ("'a'[1]", 0),
        ("1/a", 0),
        ("$x", 0),
        ("(a", 2),
        ("a]", 1),
        ("@", 1),
        ("a!b", 1),
    ] {
        let error = XPath::compile(expression).unwrap_err();
        assert_eq!(error.offset, Some(offset), "{expression}: {error}");
    }
    assert_eq!(
        XPath::compile("contains('a')").unwrap_err().message,
        "contains() takes 2 arguments, not 1"
    );
}

#[test]
fn nesting_is_bounded() {
    for expression in [
        "(".repeat(10_000),
        "a[".repeat(10_000),
        "not(".repeat(10_000),
        "(".repeat(100) + "1" + &")".repeat(100),
    ] {
        assert!(XPath::compile(&expression).is_err(), "{expression:.20}");
    }
    // Long is not deep.
    let tree = tree("<a/>");
    for expression in [
        format!("1{}", " + 1".repeat(10_000)),
        format!("a{}", "/a".repeat(10_000)),
        format!("a{}", "|a".repeat(10_000)),
        format!("a{}", "[1]".repeat(10_000)),
        format!("{}1", "-".repeat(10_000)),
    ] {
        assert!(search(&XPath::compile(&expression).unwrap(), &tree, MatchChoice::All, 0).is_ok());
    }
}

#[test]
fn costly_searches_end() {
    let wide = html(&"<p>x".repeat(50_000));
    for expression in [
        "//p/following-sibling::p[last()]",
        "//p[count(//p) > 1]",
        "//p/preceding::*[last()]",
        "//p[contains(/, 'yy')]",
    ] {
        let xpath = XPath::compile(expression).unwrap();
        let found = search(&xpath, &wide, MatchChoice::All, 0);
        assert!(matches!(found, Err(ExtractError::TooCostly { .. })), "{expression}");
    }
    for expression in [
        "//p[last()]",
        "//p[2]/following-sibling::*[1]",
        "//p/following-sibling::p[1]",
        "//p = //p",
        "//p/following-sibling::p",
        "//p/preceding::*",
        "//p/following::p/preceding::p",
    ] {
        let xpath = XPath::compile(expression).unwrap();
        assert!(search(&xpath, &wide, MatchChoice::First, 0).is_ok(), "{expression}");
    }
}

fn element() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["<a/>", "<b/>", "t", "<!--c-->"]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 4, |inner| {
        (prop::sample::select(vec!["a", "b"]), prop::collection::vec(inner, 1..4))
            .prop_map(|(name, children)| format!("<{name} x='1'>{}</{name}>", children.concat()))
    })
}

proptest! {
    /// With a predicate on the position each node is gone from by itself, without it from all at once.
    #[test]
    fn one_walk_finds_what_many_find(xml in element()) {
        let tree = tree(&format!("<r>{xml}</r>"));
        let count = |path: &str| texts(&format!("count({path})"), &tree);
        for axis in [
            "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
            "following", "following-sibling", "parent", "preceding", "preceding-sibling", "self",
        ] {
            for start in ["//a", "//b//node()", "//node()"] {
                for test in ["b", "node()", "*[@x]"] {
                    let path = format!("{start}/{axis}::{test}");
                    let each = format!("{path}[position() > 0]");
                    prop_assert_eq!(count(&path), count(&each), "{} in {}", path, xml);
                    prop_assert_eq!(
                        count(&format!("{path} | {each}")), count(&path), "{} in {}", path, xml
                    );
                }
            }
        }
        prop_assert_eq!(count("//a"), count("//a[position() > 0]"));
    }
}
