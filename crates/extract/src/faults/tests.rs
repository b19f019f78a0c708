use proptest::prelude::*;

use super::MarkupFormat::{Html, Xhtml, Xml};
use super::{Faults, MarkupFormat, count};
use crate::ExtractError;

fn of(text: &str, format: MarkupFormat) -> (u32, u32) {
    let Faults { errors, warnings } = count(text.as_bytes(), format).unwrap();
    (errors, warnings)
}

/// What a page without faults begins with.
const HEAD: &str = "<!DOCTYPE html><title>t</title>";

/// A page: what it shows, whether it is behind `HEAD`, its text, and its errors and warnings in the three formats.
type Page = (&'static str, bool, &'static str, [(u32, u32); 3]);

/// Pages with what JTidy r938 counts in them as HTML, XHTML and XML; `true`: behind `HEAD`.
#[rustfmt::skip]
const PAGES: &[Page] = &[
    ("nothing", false, "", [(0, 1), (0, 1), (0, 0)]),
    ("a text", false, "text", [(0, 3), (0, 3), (0, 0)]),
    ("a page", true, "<p>x</p>", [(0, 0), (0, 0), (0, 0)]),
    ("no document type", false, "<title>t</title><p>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("no title", false, "<!DOCTYPE html><p>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("an unknown element", true, "<nav>x</nav>", [(1, 3), (1, 3), (0, 0)]),
    ("an unknown element alone", true, "<p><foo></p>", [(1, 2), (1, 2), (1, 0)]),
    ("an element of a browser", true, "<p><blink>x</blink></p>", [(0, 1), (0, 1), (0, 0)]),
    ("an unknown attribute", true, "<p data-x=1>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("an attribute of a browser", true, "<p><textarea wrap=off rows=1 cols=1>x</textarea></p>", [(0, 1), (0, 1), (0, 0)]),
    ("a missing end", true, "<div><p>x", [(0, 1), (0, 1), (0, 0)]),
    ("a missing end before another", true, "<div><b>x</div>", [(0, 1), (0, 1), (1, 0)]),
    ("an end of nothing", true, "<p>x</p></div>", [(0, 1), (0, 1), (0, 1)]),
    ("crossed ends", true, "<p><b><i>x</b></i></p>", [(0, 2), (0, 2), (2, 0)]),
    ("an end of a paragraph", true, "x</p>", [(0, 3), (0, 3), (0, 1)]),
    ("no quotes", true, "<p class=a>x</p>", [(0, 0), (0, 0), (0, 0)]),
    ("an open quote", true, "<p class='a>x</p>", [(0, 2), (0, 2), (0, 1)]),
    ("an attribute twice", true, "<p class=a class=b>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("an image without a text", true, "<p><img src=a></p>", [(0, 1), (0, 1), (1, 0)]),
    ("an image without a source", true, "<p><img alt=a></p>", [(0, 1), (0, 1), (1, 0)]),
    ("a script without a type", true, "<script>x</script><p>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("tags in a script", true, "<script type=a>x='<b></b>'</script><p>x</p>", [(1, 0), (1, 0), (0, 0)]),
    ("a script that does not end", true, "<script type=a>x", [(2, 0), (2, 0), (0, 0)]),
    ("a form without an action", true, "<form><p>x</p></form>", [(0, 1), (0, 1), (0, 0)]),
    ("an empty element", true, "<p><b></b>x</p><div></div>", [(0, 2), (0, 2), (0, 0)]),
    ("an empty paragraph", true, "<p id=a></p>", [(0, 1), (0, 1), (0, 0)]),
    ("a tag without its end", true, "<p <b>x</b></p>", [(1, 0), (1, 0), (1, 0)]),
    ("an end tag without its end", true, "<p>x</p <b>y</b>", [(1, 0), (1, 0), (1, 0)]),
    ("an ampersand", true, "<p>a & b &amp; c &copy d &foo; &lt</p>", [(0, 4), (0, 4), (0, 4)]),
    ("an ampersand in a reference", true, "<p><a href='?a=1&b=2&copy=3'>x</a></p>", [(0, 3), (0, 3), (0, 2)]),
    ("a space in a reference", true, "<p><a href='a b'>x</a></p>", [(0, 1), (0, 1), (0, 0)]),
    ("an id twice", true, "<p id=a>x</p><p id=A>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("an id that is none", true, "<p id='1'>x</p>", [(0, 1), (0, 1), (0, 0)]),
    ("a color", true, "<p><font color=redd>x</font></p>", [(0, 1), (0, 1), (0, 0)]),
    ("a length", true, "<table width='5x'><tr><td>x</table>", [(0, 1), (0, 1), (1, 0)]),
    ("a list in a list", true, "<ul><li>x<ul><li>y</ul></ul>", [(0, 0), (0, 0), (2, 0)]),
    ("a text in a list", true, "<ul>x</ul>", [(0, 1), (0, 1), (0, 0)]),
    ("an item in no list", true, "<li>x", [(0, 3), (0, 3), (0, 0)]),
    ("a text in a table", true, "<table>x<tr><td>y</table>", [(0, 1), (0, 1), (1, 0)]),
    ("a form in a table", true, "<table><form action=a><tr><td>x</form></table>", [(1, 6), (1, 6), (2, 0)]),
    ("a cell in no table", true, "<div><td>x</td></div>", [(0, 6), (0, 6), (0, 0)]),
    ("a row without cells", true, "<table><tr></table>", [(0, 0), (0, 0), (1, 0)]),
    ("links in links", true, "<p><a href=a>x<a href=b>y</a></p>", [(0, 1), (0, 1), (1, 0)]),
    ("headings in headings", true, "<h1>x<h2>y</h2>", [(0, 1), (0, 1), (0, 0)]),
    ("a division in a heading", true, "<h1>x<div>y</div>z</h1>", [(0, 2), (0, 2), (0, 0)]),
    ("emphasis in emphasis", true, "<p><b>x<b id=a>y</b></b></p>", [(0, 1), (0, 1), (0, 0)]),
    ("emphasis over blocks", true, "<p><b>x<p>y</b>", [(0, 2), (0, 2), (1, 0)]),
    ("a meta element in the body", true, "<p>x</p><meta name=a content=b>", [(0, 1), (0, 1), (0, 0)]),
    ("a text in the head", false, "<!DOCTYPE html><head>x<title>t</title></head>", [(0, 3), (0, 3), (0, 0)]),
    ("fields", true, "<form action=a><p><select><option>x<option>y</select></p></form>", [(0, 0), (0, 0), (3, 0)]),
    ("a text in a select", true, "<p><select>x</select></p>", [(0, 1), (0, 1), (0, 0)]),
    ("frames", true, "<frameset cols='*'><frame src=a><noframes>x</noframes></frameset>", [(0, 0), (0, 1), (1, 0)]),
    ("strict and not so", false, r#"<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><title>t</title><p><font color=red>x</font></p>"#, [(0, 1), (0, 1), (0, 0)]),
    ("lower case", false, r#"<!doctype html public "-//w3c//dtd html 4.0//en"><title>t</title><p>x</p>"#, [(0, 1), (0, 1), (0, 2)]),
    ("XHTML", false, r#"<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><p>x<br>y<br/></p></body></html>"#, [(0, 1), (0, 1), (3, 0)]),
    ("another name space", false, r#"<!DOCTYPE html><html xmlns="urn:a"><head><title>t</title></head><body><p>x&apos;</p></body></html>"#, [(0, 2), (0, 2), (0, 1)]),
    ("a comment", true, "<!-- a --><p>x</p><!-- a -- b -->", [(0, 1), (0, 1), (0, 1)]),
    ("a section", true, "<p><![CDATA[x]]>y</p>", [(0, 0), (0, 0), (0, 0)]),
    ("behind the end", true, "<body><p>x</p></body><p>y</p>", [(0, 1), (0, 1), (0, 0)]),
    ("a preformatted text", true, "<pre>x<p>y<div>z</div></pre>", [(0, 4), (0, 4), (1, 0)]),
    ("definitions", true, "<dl>x<dd>y<p>z</dl>", [(0, 1), (0, 1), (1, 0)]),
    ("an object", true, "<p><object data=a><param name=b value=c>x</object></p>", [(0, 0), (0, 0), (2, 0)]),
    ("XML", false, r#"<?xml version="1.0"?><a><b/><c>x</c></a>"#, [(1, 5), (1, 5), (0, 0)]),
    ("crossed ends of XML", false, "<a><b></a></b>", [(0, 6), (0, 6), (1, 0)]),
    ("an end of XML too many", false, "<a/></b>", [(0, 4), (0, 4), (0, 1)]),
];

#[test]
fn faults_are_those_that_jtidy_counts() {
    for (name, has_head, page, counts) in PAGES {
        let page = if *has_head { format!("{HEAD}{page}") } else { (*page).to_owned() };
        for (format, counts) in [Html, Xhtml, Xml].into_iter().zip(counts) {
            assert_eq!(of(&page, format), *counts, "{name}, {format:?}: {page}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_read_all_the_same() {
    let page = [HEAD.as_bytes(), b"<p>\xFF</p>"].concat();
    assert_eq!(count(&page, Html), Ok(Faults::default()));
}

#[test]
fn nesting_is_bounded() {
    for format in [Html, Xhtml, Xml] {
        assert!(count("<div>".repeat(4000).as_bytes(), format).is_ok());
        let error = count("<div>".repeat(100_000).as_bytes(), format).unwrap_err();
        assert!(matches!(error, ExtractError::TooDeep { .. }), "{error}");
    }
}

/// Inline elements go on in each block that follows, so that what is to be done grows with their product.
#[test]
fn work_is_bounded() {
    let page = format!("{HEAD}{}{}", "<font>".repeat(3000), "<p>x".repeat(20_000));
    let error = count(page.as_bytes(), Html).unwrap_err();
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
    let tag = format!("{HEAD}<p {}>", "a=b ".repeat(10_000));
    let error = count(tag.as_bytes(), Html).unwrap_err();
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
}

/// A part of a page that has no faults.
fn part() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-z]{1,8}".prop_map(|text| format!("<p>{text}</p>")),
        "[a-z]{1,8}"
            .prop_map(|text| format!("<p><a href=\"{text}\">{text}</a> &amp; <em>x</em></p>")),
        Just("<hr/>".to_owned()),
        Just("<h1>x</h1>".to_owned()),
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let parts = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat());
        (0..5_usize, parts).prop_map(|(kind, parts)| match kind {
            0 => format!("<div class=\"a\">{parts}</div>"),
            1 => format!("<ul><li>{parts}</li><li>x</li></ul>"),
            2 => format!("<table><tr><td>{parts}</td></tr></table>"),
            3 => format!("<blockquote>{parts}</blockquote>"),
            _ => format!("<dl><dt>x</dt><dd>{parts}</dd></dl>"),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_without_faults_have_none(body in part()) {
        let page = format!("<!DOCTYPE html><html><head><title>t</title></head><body>{body}</body></html>");
        prop_assert_eq!(of(&page, Html), (0, 0), "{}", page);
        prop_assert_eq!(of(&page, Xhtml), (0, 0), "{}", page);
        prop_assert_eq!(of(&page, Xml), (0, 0), "{}", page);
        // What HTML 4 does not know is an error, and thrown away at both ends.
        let page = page.replace("<body>", "<body><nav>").replace("</body>", "</nav></body>");
        prop_assert_eq!(of(&page, Html), (1, 2), "{}", page);
        prop_assert_eq!(of(&page, Xml), (0, 0), "{}", page);
    }
}
