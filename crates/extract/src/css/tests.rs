//! What selectors select, by the identifiers of the elements.

use proptest::prelude::*;

use super::selector::{Combinator, Compound, Name, Test};
use super::*;
use crate::Limits;
use crate::markup::{self, Dialect};

fn select(selector: &str, attribute: Option<&str>, tree: &Tree) -> Vec<String> {
    let css = Css::compile(selector, attribute).unwrap_or_else(|e| panic!("{selector}: {e}"));
    match find(&css, tree, MatchChoice::All).unwrap() {
        Found::None => vec![],
        Found::One(one) => panic!("one of all: {one:?}"),
        Found::Many(items) => {
            items.iter().map(|i| String::from_utf8(i.to_text().into_owned()).unwrap()).collect()
        }
    }
}

/// As much fuel as a body of about the size of the tree has.
fn fuel(tree: &Tree) -> Fuel {
    Fuel::new(4 * tree.len() as usize, Limits::default())
}

fn find(css: &Css, tree: &Tree, which: MatchChoice) -> Result<Found<'static>, ExtractError> {
    css.find(tree, &fuel(tree), which, 0)
}

fn html(text: &str) -> Tree {
    markup::parse(text.as_bytes(), Dialect::Html).unwrap()
}

fn check(tree: &Tree, table: &[(&str, &str)]) {
    for (selector, expected) in table {
        assert_eq!(select(selector, Some("id"), tree).join(" "), *expected, "{selector}");
    }
}

const PAGE: &str = r#"<html id=html lang=en-GB><body id=body>
<h1 id=h1 class="big title">T</h1>
<p id=p1 class=first>one</p><!-- c --><p id=p2>two <b id=b1>bold</b></p>
<ul id=ul><li id=l1>1<li id=l2 class=new>2<li id=l3>3<li id=l4 class="new last">4
 <ul id=sub><li id=s1>x</ul></ul>
<form id=f><input id=i1 name=csrf value=tok TYPE=hidden><input id=i2 name="a[b]" disabled></form>
<div id=e1></div><div id=e2><!-- only a comment --></div><div id=e3> </div>
<p id="1x" title="say &quot;hi&quot;">last</p></body></html>"#;

#[test]
fn simple_selectors() {
    check(
        &html(PAGE),
        &[
            ("li", "l1 l2 l3 l4 s1"),
            ("LI.new", "l2 l4"),
            (".new.last", "l4"),
            ("#p1, #p2", "p1 p2"),
            ("p2, h1", "h1"),
            (r"#\31 x", "1x"),
            ("#1x", "1x"),
            (r"p.fir\73t", "p1"),
            ("*.title", "h1"),
            ("[disabled]", "i2"),
            ("input[name=csrf]", "i1"),
            ("input[NAME='csrf']", "i1"),
            ("[name=\"a[b]\"]", "i2"),
            ("[type=HIDDEN i]", "i1"),
            ("[type=HIDDEN]", "i1"),
            ("[class~=big]", "h1"),
            ("[class~='']", ""),
            ("[lang|=en]", "html"),
            ("[lang|=e]", ""),
            ("[id^=l]", "l1 l2 l3 l4"),
            ("[id$='2']", "p2 l2 i2 e2"),
            ("[id*=od]", "body"),
            ("[id*='']", ""),
            (r#"[title="say \"hi\""]"#, "1x"),
            ("*|p", "p1 p2 1x"),
            (".First", ""),
        ],
    );
}

#[test]
fn combinators() {
    check(
        &html(PAGE),
        &[
            ("ul li", "l1 l2 l3 l4 s1"),
            ("body>ul>li", "l1 l2 l3 l4"),
            ("ul ul li", "s1"),
            ("ul > li > ul", "sub"),
            ("h1 + p", "p1"),
            ("p + p", "p2"),
            ("p ~ p", "p2 1x"),
            ("h1~ul li+li", "l2 l3 l4"),
            ("li:not(.new) ~ li.new", "l2 l4"),
            ("body p b", "b1"),
            ("body > b", ""),
            (" form\n>\tinput ", "i1 i2"),
        ],
    );
}

#[test]
fn pseudo_classes() {
    check(
        &html(PAGE),
        &[
            (":root", "html"),
            ("div:empty", "e1 e2"),
            ("li:first-child", "l1 s1"),
            ("li:last-child", "l4 s1"),
            ("li:only-child", "s1"),
            ("b:only-of-type", "b1"),
            ("body > :first-of-type", "h1 p1 ul f e1"),
            ("p:last-of-type", "1x"),
            ("#ul > li:nth-child(odd)", "l1 l3"),
            ("#ul > li:nth-child(even)", "l2 l4"),
            ("#ul > li:nth-child(3n+1)", "l1 l4"),
            ("#ul > li:nth-child( 3n - 1 )", "l2"),
            ("#ul > li:nth-child(-n+2)", "l1 l2"),
            ("#ul > li:nth-child(n)", "l1 l2 l3 l4"),
            ("#ul > li:nth-child(2)", "l2"),
            ("#ul > li:nth-child(-2)", ""),
            ("#ul > li:nth-last-child(2)", "l3"),
            ("p:nth-of-type(2)", "p2"),
            ("p:nth-last-of-type(-n + 2)", "p2 1x"),
            ("li:not(.new, #l1)", "l3 s1"),
            (":is(h1, b, .last)", "h1 b1 l4"),
            (":where(ul) > li:is(.new)", "l2 l4"),
            ("p:has(b)", "p2"),
            ("li:has(> ul > li)", "l4"),
            ("p:has(+ ul)", "p2"),
            ("p:has(~ form input)", "p1 p2"),
            ("p:not(:has(*))", "p1 1x"),
            ("ul:has(ul)", "ul"),
            (":nth-child(2 of .new)", "l4"),
            ("li:nth-last-child(1 of :not(.new))", "l3 s1"),
            ("#ul > li:nth-child(ODD)", "l1 l3"),
            ("ul /* the first */ > li:first-child/**/", "l1 s1"),
            ("li/*c*/.new/**//**/:not(/**/.last)", "l2"),
            ("input/*c*/[disabled]/**/ , ul/**/ /**/.last", "l4 i2"),
            ("input[type=HIDDEN s]", ""),
            ("input[type=HIDDEN]", "i1"),
            ("form > :optional", "i1 i2"),
            (":link, :checked, :required", ""),
            ("a:hover, :focus, :not(:visited) > h1, :current(p)", "h1"),
            ("#ul > li:NOT(.new)", "l1 l3"),
            ("#ul > li:nth-child(odd OF .new)", "l2"),
            (":is(), :is(, h1), :where(b,)", "h1 b1"),
            ("li[class!=new], [id!=l1]:contains(bold)", "html body p2 b1 l1 l3 l4 s1"),
            ("p:contains(\"two b\", 'one')", "p1 p2"),
            ("p:-soup-contains-own(bold)", ""),
            (":scope > body > ul, & > body > h1", "h1 ul"),
            (":disabled", "i2"),
            (":read-write", ""),
            (":lang(en) > h1", "h1"),
            ("h1:dir(ltr), h1:dir(rtl)", "h1"),
        ],
    );
}

#[test]
fn takes_texts_and_attributes() {
    let tree = html("<td> 42 </td><p>a <b>b</b>\n</p><a href='/x?a=1&amp;b=2'>x</a><a>y</a>");
    assert_eq!(select("p", None, &tree), ["a b"]);
    assert_eq!(select("a", None, &tree), ["x", "y"]);
    // Elements without the attribute do not count.
    assert_eq!(select("a", Some("HREF"), &tree), ["/x?a=1&b=2"]);
    assert_eq!(select("i", None, &tree), [""; 0]);
    let css = Css::compile("a", None).unwrap();
    for (which, expected) in
        [(MatchChoice::First, "x"), (MatchChoice::Nth(2), "y"), (MatchChoice::Last, "y")]
    {
        let found = find(&css, &tree, which).unwrap();
        assert_eq!(found, Found::One(Item::text(expected)), "{which:?}");
    }
    assert_eq!(find(&css, &tree, MatchChoice::Nth(3)).unwrap(), Found::None);
}

#[test]
fn works_on_xml() {
    let xml = b"<?xml version='1.0'?><Feed><m:Item xml:lang='en' id='1'/><Item id='2'/></Feed>";
    let tree = markup::parse(xml, Dialect::Xml).unwrap();
    check(
        &tree,
        &[
            ("Item", "1 2"),
            ("item", ""),
            ("m|Item", "1"),
            ("m|*", "1"),
            ("*|*[id]", "1 2"),
            ("Item:lang(en)", "1"),
            (":checked, :dir(ltr), :link", ""),
            ("|Item", "2"),
            ("*|Item", "1 2"),
            ("[xml|lang=en]", "1"),
        ],
    );
}

#[test]
fn names_with_a_colon_are_other_names_in_html() {
    let tree = html("<o:p id=1>x</o:p><p id=2><svg><a id=3 xlink:href=y></a></svg>");
    check(&tree, &[("p", "2"), (r"o\:p", "1"), ("o|p", "1"), ("*|p", "2"), ("o|*", "1")]);
}

#[test]
fn attributes_of_html_have_values_without_case() {
    let tree = html("<link id=1 rel=StyleSheet><input id=2 type=TEXT name=Q><td id=3 align=Left>");
    check(
        &tree,
        &[
            ("[rel=stylesheet]", "1"),
            ("[TYPE^=te]", "2"),
            ("[name=q]", ""),
            ("[name=q i]", "2"),
            ("[rel=stylesheet s]", ""),
        ],
    );
    let tree = markup::parse(b"<a><b id='1' type='TEXT'/></a>", Dialect::Xml).unwrap();
    check(&tree, &[("[type=text]", ""), ("[type=text i]", "1")]);
}

#[test]
fn forms_are_in_the_state_in_which_they_arrive() {
    let tree = html(
        "<form><fieldset id=a disabled><legend><input id=b></legend><legend><input id=c></legend>\
         <div><select id=d><optgroup id=e disabled><option id=f></optgroup>\
         <option id=g selected></select></div></fieldset><fieldset><input id=h type=hidden disabled>\
         <button id=i></button><input id=j type=submit></fieldset></form>\
         <input id=k type=radio name=x><input id=l type=radio name=y checked>\
         <input id=m type=radio name=y><a id=n href=x></a><a id=o></a>\
         <input id=p type=number min=1 max=3 value=4><textarea id=q placeholder=x></textarea>\
         <p id=r contenteditable></p><x-y id=s></x-y>",
    );
    check(
        &tree,
        &[
            (":disabled", "a c d e f h"),
            (":is(input, button, select, option):enabled", "b g i j k l m p"),
            (":default", "g i l"),
            (":checked", "g l"),
            (":indeterminate", "k"),
            (":link", "n"),
            (":out-of-range", "p"),
            (":in-range", ""),
            (":placeholder-shown", "q"),
            (":read-write", "b p q r"),
            ("body > :not(:defined)", "s"),
        ],
    );
}

#[test]
fn mistakes_say_where() {
    for (selector, offset) in [
        ("", 0),
        ("   ", 3),
        ("a,", 2),
        ("> a", 0),
        ("a > ", 4),
        ("a[", 2),
        ("a[b", 3),
        ("a[b=", 4),
        ("a[b='c", 4),
        ("a[b=1]", 4),
        ("a[b!c]", 3),
        (".1a", 1),
        ("a::text", 1),
        ("a:hoover", 1),
        ("a:not(", 6),
        ("a:nth-child(x)", 12),
        ("a:nth-of-type(2 of b)", 16),
        ("a:nth-child(99999999999)", 12),
        ("a || b", 2),
        ("a)", 1),
        ("-", 0),
        ("a:dir(up)", 6),
        ("a:lang()", 7),
        ("a:contains(1)", 11),
        ("a:not(,b)", 6),
        ("a\\", 2),
    ] {
        let error = Css::compile(selector, None).unwrap_err();
        assert_eq!(error.offset, Some(offset), "{selector}: {error}");
    }
    assert!(Css::compile("a", Some(" ")).is_err());
    assert!(Css::compile(&":not(".repeat(10_000), None).is_err());
    assert!(Css::compile(&"a ".repeat(10_000), None).is_err());
}

#[test]
fn costly_searches_end() {
    let deep = html(&"<div>".repeat(500));
    let wide = html(&"<p>x".repeat(50_000));
    let form = html(&format!("<form>{}", "<input type=radio name=a>".repeat(20_000)));
    for (selector, tree) in [
        ("b ~ p", &wide),
        ("p:has(~ b)", &wide),
        ("div:has(div:has(div:has(b)))", &deep),
        (":indeterminate", &form),
    ] {
        let css = Css::compile(selector, None).unwrap();
        let found = find(&css, tree, MatchChoice::All);
        assert!(matches!(found, Err(ExtractError::TooCostly { .. })), "{selector}");
    }
    // Combinations of ancestors are not tried one by one.
    let css = Css::compile(&format!("b {}", "div ".repeat(100)), None).unwrap();
    assert_eq!(find(&css, &deep, MatchChoice::All), Ok(Found::None));
    // Positions do not make it quadratic.
    for selector in [
        "p:nth-child(even):nth-last-of-type(odd)",
        "p:nth-child(even of p)",
        "p:nth-child(even of p:nth-last-child(odd of p))",
        "p:first-child, p:last-child",
    ] {
        let css = Css::compile(selector, None).unwrap();
        assert!(matches!(find(&css, &wide, MatchChoice::Last), Ok(Found::One(_))), "{selector}");
    }
}

/// Joins compounds in all ways there are, without the shortcuts of the matcher.
fn matches_plainly(tree: &Tree, compounds: &[Compound], element: NodeId) -> bool {
    let Some((last, before)) = compounds.split_last() else { return true };
    let [Test::Name(Name::Local(name))] = &*last.tests else { panic!("only names are tested") };
    if tree.name(element) != name {
        return false;
    }
    if before.is_empty() {
        return true;
    }
    let siblings =
        std::iter::successors(tree.previous_sibling(element), |id| tree.previous_sibling(*id));
    let others: Vec<NodeId> = match last.combinator {
        Combinator::Child => tree.ancestors(element).take(1).collect(),
        Combinator::Descendant => tree.ancestors(element).collect(),
        Combinator::NextSibling => siblings.take(1).collect(),
        Combinator::LaterSibling => siblings.collect(),
    };
    others.into_iter().any(|other| matches_plainly(tree, before, other))
}

fn element() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["<a/>", "<b/>", "<c/>"]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 4, |inner| {
        (prop::sample::select(vec!["a", "b", "c"]), prop::collection::vec(inner, 1..4))
            .prop_map(|(name, children)| format!("<{name}>{}</{name}>", children.concat()))
    })
}

proptest! {
    #[test]
    fn shortcuts_miss_nothing(
        xml in element(),
        names in prop::collection::vec("[abc]", 2..6),
        combinators in prop::collection::vec("[ >+~]", 5),
    ) {
        let tree = markup::parse(xml.as_bytes(), Dialect::Xml).unwrap();
        let mut selector = names[0].clone();
        for (combinator, name) in combinators.iter().zip(&names[1..]) {
            selector.push_str(combinator);
            selector.push_str(name);
        }
        let list = parse::selectors(&selector).unwrap();
        let fuel = fuel(&tree);
        let matcher = Matcher::new(Elements { tree: &tree, fuel: &fuel });
        for element in tree.elements() {
            prop_assert_eq!(
                matcher.any(&list, element),
                Ok(matches_plainly(&tree, &list[0].0, element)),
                "{} in {}", selector, xml
            );
        }
    }
}
