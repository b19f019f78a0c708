//! Trees from HTML and XML, and what they refuse.

use super::limits::{ATTRIBUTES_LIMIT, DEPTH_LIMIT};
use super::*;

/// A tree as one line: elements in brackets, text in quotes.
pub(super) fn outline(tree: &Tree) -> String {
    fn node(tree: &Tree, id: NodeId, out: &mut String) {
        match tree.kind(id) {
            Kind::Text => out.push_str(&format!("{:?}", tree.text(id))),
            Kind::Comment => out.push_str(&format!("!{:?}", tree.text(id))),
            Kind::Instruction => out.push_str(&format!("?{}:{:?}", tree.name(id), tree.text(id))),
            Kind::Document | Kind::Element => {
                out.push_str(tree.name(id));
                for a in tree.attributes(id) {
                    out.push_str(&format!(
                        " {}={:?}",
                        tree.attribute_name(a),
                        tree.attribute_value(a)
                    ));
                }
                out.push('[');
                tree.children(id).for_each(|child| node(tree, child, out));
                out.push(']');
            }
        }
    }
    let mut out = String::new();
    node(tree, DOCUMENT, &mut out);
    out
}

fn html(body: &str) -> Result<Tree, ExtractError> {
    parse(body.as_bytes(), Dialect::Html)
}

fn xml(body: &str) -> Result<Tree, ExtractError> {
    parse(body.as_bytes(), Dialect::Xml)
}

#[test]
fn html_becomes_a_tree() {
    for (body, expected) in [
        ("", "[html[head[]body[]]]"),
        ("<p>a<p>b&amp;c", r#"[html[head[]body[p["a"]p["b&c"]]]]"#),
        ("<IMG SRC=x id='1'>", r#"[html[head[]body[img src="x" id="1"[]]]]"#),
        ("<!--c--><title>t</title>", r#"[!"c"html[head[title["t"]]body[]]]"#),
        // Foster parenting: the text moves before the table, and texts merge.
        ("x<table>a<tr><td>1</table>y", r#"[html[head[]body["xa"table[tbody[tr[td["1"]]]]"y"]]]"#),
        // Misnesting: the adoption agency.
        ("<p>1<b>2<i>3</b>4</i>5</p>", r#"[html[head[]body[p["1"b["2"i["3"]]i["4"]"5"]]]]"#),
        ("<b>1<p>2</b>3</p>", r#"[html[head[]body[b["1"]p[b["2"]"3"]]]]"#),
        ("<template><i>t</i></template>", r#"[html[head[template[i["t"]]]body[]]]"#),
        ("<noscript><i>n</i></noscript>", r#"[html[head[noscript[]]body[i["n"]]]]"#),
        ("<meta charset=latin1>x", r#"[html[head[meta charset="latin1"[]]body["x"]]]"#),
        ("<script>a<b</script>x", r#"[html[head[script["a<b"]]body["x"]]]"#),
        ("<script>a<b</script>", r#"[html[head[script["a<b"]]body[]]]"#),
        (
            "<svg viewBox='0' xlink:href='#a'><g/></svg>",
            r##"[html[head[]body[svg viewBox="0" xlink:href="#a"[g[]]]]]"##,
        ),
        ("<body a=1><body a=2 b=3>", r#"[html[head[]body a="1" b="3"[]]]"#),
        ("<frameset><frame>", "[html[head[]frameset[frame[]]]]"),
        ("<?php echo 1 ?>x", r#"[!"?php echo 1 ?"html[head[]body["x"]]]"#),
    ] {
        assert_eq!(outline(&html(body).unwrap()), expected, "{body}");
    }
}

#[test]
fn html_that_is_not_utf8_is_read_with_replacements() {
    let tree = parse(b"<p>caf\xE9</p>", Dialect::Html).unwrap();
    assert_eq!(tree.text(DOCUMENT), "caf\u{FFFD}");
}

#[test]
fn xml_becomes_a_tree() {
    for (body, expected) in [
        ("<a/>", "[a[]]"),
        (
            "\u{FEFF}<?xml version='1.0'?>\n<!DOCTYPE a><a>1<b x='&lt;2'/>&#51;<![CDATA[<4>]]></a>\n",
            r#"[a["1"b x="<2"[]"3<4>"]]"#,
        ),
        ("<s:A xmlns:s='u'><s:b/></s:A>", r#"[s:A xmlns:s="u"[s:b[]]]"#),
        ("<?go now?><a><!--c--></a>", r#"[?go:"now"a[!"c"]]"#),
        ("<a x='&unknown;'>&unknown; & b</a>", r#"[a x="&unknown;"["&unknown; & b"]]"#),
    ] {
        assert_eq!(outline(&xml(body).unwrap()), expected, "{body}");
    }
}

#[test]
fn malformed_xml_says_where() {
    for (body, line) in [
        ("", "line 1: there is no root"),
        ("plain text", "line 1: there is text outside"),
        ("<a>\n<b>\n</a>", "line 3"),
        ("<a>\n", "line 2: an element is not closed"),
        ("<a/>\n<b/>", "line 2: there is a second root"),
        ("<a b></a>", "line 1"),
    ] {
        let ExtractError::NotMarkup { reason } = xml(body).unwrap_err() else { panic!("{body}") };
        assert!(reason.contains(line), "{body}: {reason}");
    }
}

#[test]
fn a_page_with_an_xml_declaration_may_still_be_html() {
    let body = b"<?xml version='1.0'?><!DOCTYPE html><html><body><br><p>1</body></html>";
    assert_eq!(Dialect::of(b"", body), Dialect::Xml);
    assert_eq!(parse(body, Dialect::Xml).unwrap().text(DOCUMENT), "1");
}

#[test]
fn content_types_decide() {
    const BARE: &str = "<a/>";
    const PROLOG: &str = "\u{FEFF} <?xml version='1.0'?><a/>";
    const PAGE: &str = "<?xml version='1.0'?><!-- < --><!DOCTYPE html><HTML></html>";
    for (content_type, bare, prolog, page) in [
        ("text/html; charset=utf-8", Dialect::Html, Dialect::Xml, Dialect::Html),
        ("Application/XML", Dialect::Xml, Dialect::Xml, Dialect::Xml),
        ("application/soap+XML;charset=utf-8", Dialect::Xml, Dialect::Xml, Dialect::Xml),
        ("application/json", Dialect::Html, Dialect::Xml, Dialect::Xml),
        ("", Dialect::Html, Dialect::Xml, Dialect::Xml),
    ] {
        for (body, expected) in [(BARE, bare), (PROLOG, prolog), (PAGE, page)] {
            let dialect = Dialect::of(content_type.as_bytes(), body.as_bytes());
            assert_eq!(dialect, expected, "{body} as {content_type}");
        }
    }
}

#[test]
fn depth_is_bounded() {
    for tag in ["<div>", "<b>", "<ul><li>", "<svg><g>", "<table><tr><td>", "<template>"] {
        // Half of the limit is fine; tables add elements of their own.
        assert!(html(&tag.repeat(100)).is_ok(), "{tag}");
        assert_eq!(
            html(&tag.repeat(100_000)).err(),
            Some(ExtractError::TooDeep { limit: DEPTH_LIMIT }),
            "{tag}"
        );
    }
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(xml(&nested(DEPTH_LIMIT)).is_ok());
    for depth in [DEPTH_LIMIT + 1, 100_000] {
        assert_eq!(xml(&nested(depth)).err(), Some(ExtractError::TooDeep { limit: DEPTH_LIMIT }));
    }
}

#[test]
fn attributes_are_bounded() {
    let attributes = |count| (0..count).map(|i| format!("a{i}='' ")).collect::<String>();
    for read in [html, xml] {
        assert!(read(&format!("<p {}></p>", attributes(ATTRIBUTES_LIMIT))).is_ok());
        for count in [ATTRIBUTES_LIMIT + 1, 200_000] {
            assert_eq!(
                read(&format!("<p {}></p>", attributes(count))).err(),
                Some(ExtractError::TooLarge {
                    what: "attributes in one tag",
                    limit: ATTRIBUTES_LIMIT
                })
            );
        }
    }
}

#[test]
fn attributes_cannot_hide() {
    let many: String = (0..200_000).map(|i| format!("a{i} ")).collect();
    for body in [
        format!("<!-- <a b=\" --><x {many}>"),
        format!("<x b='<!--' {many}>"),
        format!("<svg><script><x {many}>"),
        format!("</x {many}>"),
        format!("<x {many}"),
        (0..5000).map(|i| format!("<body b{i}>")).collect(),
    ] {
        assert!(matches!(html(&body), Err(ExtractError::TooLarge { .. })), "{:.40}", body);
    }
}

#[test]
fn long_comments_and_values_are_no_attributes() {
    let words = "word ".repeat(100_000);
    for body in [
        format!("<!--{words}--><p>x"),
        format!("<p title='{}'>x", "word".repeat(100_000)),
        format!("<script>if (a<b {words}</script>x"),
        format!("<p>{words}"),
    ] {
        assert!(html(&body).is_ok(), "{:.40}", body);
    }
}

#[test]
fn copied_formatting_elements_are_bounded() {
    let formatting: String = (0..400).map(|i| format!("<b x={i}>")).collect();
    let body = format!("<p>{formatting}{}", "<p>x".repeat(20_000));
    assert!(matches!(html(&body), Err(ExtractError::TooLarge { what: "nodes", .. })));
}

#[test]
fn entities_are_not_expanded() {
    let mut body = String::from("<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY lol 'lol'>");
    for i in 1..10 {
        let before = if i == 1 { "lol".into() } else { format!("lol{}", i - 1) };
        body.push_str(&format!("<!ENTITY lol{i} '{}'>", format!("&{before};").repeat(10)));
    }
    body.push_str("]><lolz a='&lol9;'>&lol9;</lolz>");
    assert_eq!(xml(&body).unwrap().text(DOCUMENT), "&lol9;");
}

#[test]
fn a_node_knows_its_neighbours() {
    let tree = xml("<a><b>1<c/>2</b><d/><e x=''>3</e></a>").unwrap();
    let (a, b, d, e) = (1, 2, 6, 7);
    assert_eq!([a, b, d, e].map(|id| tree.name(id)), ["a", "b", "d", "e"]);
    assert_eq!(tree.children(a).collect::<Vec<_>>(), [b, d, e]);
    assert_eq!(tree.next_sibling(b), Some(d));
    assert_eq!(tree.next_sibling(e), None);
    assert_eq!(tree.previous_sibling(e), Some(d));
    assert_eq!(tree.previous_sibling(b), None);
    assert_eq!(tree.ancestors(e).collect::<Vec<_>>(), [a, DOCUMENT]);
    assert_eq!(tree.descendants(b), 3..6);
    assert_eq!([tree.text(a), tree.text(b), tree.text(d), tree.text(e)], ["123", "12", "", "3"]);
    assert_eq!(tree.attribute(e, "x"), Some(""));
    assert_eq!(tree.attribute(d, "x"), None);
    assert_eq!((tree.next_sibling(DOCUMENT), tree.parent(DOCUMENT)), (None, None));
}
