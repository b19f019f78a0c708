//! Pages that are read quickly have the trees that html5ever gives them.

use super::super::super::tests::outline;
use super::super::parse_any;
use super::*;

/// Reads a page in both ways, if it can be read quickly; whether it was.
fn agrees(html: &str, scripting: bool) -> bool {
    let Some(quick) = parse(html, scripting) else { return false };
    let full = parse_any(html, scripting).unwrap_or_else(|error| panic!("{html:?}: {error}"));
    assert_eq!(outline(&quick), outline(&full), "{html:?}, scripting {scripting}");
    true
}

#[test]
fn usual_pages_are_read_quickly() {
    for html in [
        "",
        " \n",
        "x",
        "\u{FEFF}<!DOCTYPE html>\r\n<html lang=en>\r\n<head>\r<title>a &lt; b</title></head>\n<body class='x y'>\n</body>\n</html>\n",
        "<!doctype HTML><!--a--><html><!--b--><head><!--c--></head><!--d--><body><!--e--></body><!--f--> <!--g--></html><!--h--> x",
        "<title>x</title><meta charset=utf-8><link rel=stylesheet href=/a.css><p>1<p>2<hr>3",
        "<head><noscript><link rel=stylesheet href=a></noscript><base href=/></head><body><noscript><p>x</noscript>",
        "<head><script>if (a < b && c) { x('</div>') }</script><style>p > a { }</style></head>",
        "<script><!-- a //--></script><SCRIPT type=x>1</Script >",
        "<textarea>\n\nx <b> &amp; y</textarea><pre>\nx\n</pre><iframe src=x><p></iframe><xmp><p></xmp>",
        "<ul><li>1<li>2<ul><li>3</ul><li><p>4</ul><dl><dt>a<dd>b<dt>c</dl>",
        "<div><p>1<div>2</div></p>3</div></div><span>4</b></span>",
        "<p>1 <b>2 <i>3</i></b> <a href='?a=1&amp;b=2&copy=3'>4</a> <a>5</a> a < b, c<3 </p>",
        "<h1>1<h2>2</h1>3<h3>4</h2>",
        "<form><p><input name=a><input type=hidden value=\"1>2\"><button>b</button></form><form></form>",
        "<select><option>1<option selected>2<optgroup label=x><option>3</optgroup></select><option>4<option>5",
        "<table><caption>c <b>d</caption><col><col><tr><td>1<td><b>2<tr><th>3</table>4",
        "<table> <thead><tr><th>1</th></tr></thead> <tbody><tr><td><table><td>2</table></td></tr> </tbody><tfoot></table>",
        "<!doctype html><p><table></table>",
        "<p><table></table>",
        "<!doctype html public \"-//W3C//DTD XHTML 1.0 Strict//EN\"><div><table></table>",
        "<img src=a alt='' /><br/><br /><a href=/x/>y</a><p a=1 A=2 b c=>",
        "<my-element data-x='1'><x:y>z</x:y></my-element><\u{E9}></p>",
        "<svg viewbox='0 0 1 1' XLINK:href=a xmlns=x><g><PATH d=M0 /></g><lineargradient/><title>a &amp; b</title><a>x</a></svg>x",
        "<p><svg/><svg a=b/></svg><table><tr><td><svg><style> a > b </style></svg></table>",
        "<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE html><![CDATA[x]]></#if></><!x>1<!>2<?>3</ >",
        "<head><template><script>1</script></template></head><body>x<b><template>1<p>2<div><b>3</template>4</b>",
        "<table><template><a></template><tr><td><template><table><td></table><template>1</template></template></table>",
        "<template> <!--c--> <link><i>1</template><select><template></select></template></select>",
        "<body><section><article><h2>x</h2></article><nav><ol><li><a>1</a></ol></nav></section></body></html>",
    ] {
        assert!(agrees(html, false), "{html:?}");
        assert!(agrees(html, true), "{html:?}");
    }
}

#[test]
fn unusual_pages_are_left_to_the_full_algorithm() {
    for html in [
        "a\0b",
        "<p><b>1</p>2",
        "<b>1<p>2</b>3",
        "<a>1<a>2",
        "<b><b><b><b>1",
        "<table>x</table>",
        "<table><div></table>",
        "<table><input type=hidden></table>",
        "<form><form>",
        "<form><div></form>",
        "<div></div",
        "<p title='x",
        "<p a=1",
        "<p =>",
        "<p></p x=1>",
        "<!-- x",
        "<!-->x-->",
        "<!-- a --!> b -->",
        "<?xml version='1.0'",
        "<template>x",
        "</template>",
        "<template><tr></template>",
        "<template><form></template>",
        "<template></body>",
        "x<!doctype html>",
        "<title>x",
        "<script>x</script/>",
        "<script><!-- <script> </script> --></script>",
        "<textarea>&#10;x</textarea>",
        "<svg><x></svg>",
        "<svg><p></svg>",
        "<svg><title><b></title></svg>",
        "<svg><![CDATA[x]]></svg>",
        "<svg><g></svg>",
        "<math></math>",
        "<frameset>",
        "<plaintext>",
        "<object></object>",
        "<ruby>a<rt>b</ruby>",
        "<head></head><meta>",
        "<html><html>",
        "<body><body>",
        "<head><noscript><p>",
        "</br>",
        "<select><input>",
        "<button><button>",
        "<nobr><nobr>",
    ] {
        assert!(parse(html, false).is_none(), "{html:?}");
    }
    assert!(parse(&"<div>".repeat(DEPTH_LIMIT + 1), false).is_none());
    assert!(parse(&"<p>".repeat(1_000_000), false).is_none());
    let attributes: String = (0..100).map(|number| format!(" a{number}")).collect();
    assert!(parse(&format!("<p{attributes}>"), false).is_none());
    // Looks at many open elements for each of many tags.
    let deep = "<x>".repeat(500) + &"</y>".repeat(10_000);
    assert!(parse(&deep, false).is_none());
}

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 ^ self.0 >> 29) * bound as u128) >> 64) as usize
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

const ELEMENTS: [&str; 82] = [
    "html", "head", "body", "title", "meta", "link", "base", "style", "script", "noscript", "p",
    "p", "div", "div", "span", "span", "a", "b", "i", "em", "nobr", "address", "section", "dialog",
    "center", "ul", "ul", "ol", "li", "li", "li", "dl", "dt", "dd", "h1", "h2", "pre", "listing",
    "form", "form", "button", "input", "hr", "br", "img", "wbr", "param", "label", "fieldset",
    "select", "select", "option", "option", "optgroup", "textarea", "iframe", "xmp", "noembed",
    "noframes", "table", "table", "table", "caption", "colgroup", "col", "tbody", "thead", "tfoot",
    "tr", "tr", "td", "td", "td", "th", "x-y", "P", "dIv", "main", "nav", "summary", "font", "u",
];

const PIECES: [&str; 54] = [
    "x",
    " ",
    "\n",
    "\r\n",
    "text ",
    "<",
    "< ",
    "a<1",
    "&",
    "&amp;",
    "&lt;b",
    "&copy",
    "&#65;",
    "&#10;",
    "&#x80;",
    "&notit;",
    "<!--c-->",
    "<!-- - -- -->",
    "<!---->",
    "<!doctype html>",
    "<!DOCTYPE html PUBLIC \"x\">",
    "<p class='a b' id=x>",
    "<a href=\"?a&amp;b=1\">",
    "<a/>",
    "<input type=hidden value=1 />",
    "<div a A=2 a=3>",
    "<div/>",
    "</p>",
    "</div>",
    "</li>",
    "</table>",
    "</td>",
    "</tr>",
    "</body>",
    "</html>",
    "</form>",
    "</select>",
    "</a>",
    "</b>",
    "</h1>",
    "<svg><g fill=x refx=1 /></svg>",
    "<svg viewBox=a>",
    "</svg>",
    "<path/>",
    "<td>",
    "<tr>",
    "<li>",
    "<template>",
    "</template>",
    "<template><p>x</template>",
    "<?x y?>",
    "</#x>",
    "</>",
    "é",
];

/// Tags and texts one after the other.
fn soup(numbers: &mut Numbers) -> String {
    let mut html = String::new();
    for _ in 0..1 + numbers.below(16) {
        let name = numbers.one_of(&ELEMENTS);
        match numbers.below(6) {
            0 | 1 => html.push_str(&format!("<{name}>")),
            2 | 3 => html.push_str(&format!("</{name}>")),
            _ => html.push_str(numbers.one_of(&PIECES)),
        }
    }
    html
}

/// An element with what may be in it; end tags that may be left out sometimes are.
fn element(numbers: &mut Numbers, name: &str, depth: usize, html: &mut String) {
    let attributes =
        ["", "", " class=a", " id='x&amp;y' Title=\"<b>\"", " disabled", " data-a = 1"];
    html.push_str(&format!("<{name}{}>", numbers.one_of(&attributes)));
    let blocks = [
        "p", "div", "ul", "table", "form", "h2", "span", "b", "dl", "pre", "section", "select",
        "template",
    ];
    let phrases =
        ["b", "i", "em", "a", "span", "img", "br", "input", "button", "textarea", "label", "x-y"];
    let inside: &[&str] = match name {
        "meta" | "link" | "img" | "br" | "input" | "hr" | "col" => return,
        "html" => &["body"],
        "head" => &["meta", "link", "title", "script", "style", "template"],
        "title" | "script" | "style" | "textarea" | "option" => &[],
        "ul" | "ol" => &["li"],
        "dl" => &["dt", "dd"],
        "table" => &["tr", "tbody", "thead", "caption", "colgroup"],
        "colgroup" => &["col"],
        "tbody" | "thead" => &["tr"],
        "tr" => &["td", "th"],
        "select" => &["option", "optgroup"],
        "optgroup" => &["option"],
        "div" | "li" | "td" | "dd" | "body" | "section" | "form" | "template" => &blocks,
        _ => &phrases,
    };
    let spaced =
        matches!(name, "html" | "head" | "ul" | "dl" | "table" | "tbody" | "tr" | "select");
    for _ in 0..numbers.below(5) {
        match (inside, depth) {
            (_, 0) | ([], _) => {}
            _ => {
                let child = numbers.one_of(inside);
                element(numbers, child, depth - 1, html);
            }
        }
        let texts: &[&str] = match spaced {
            true => &["", " ", "\n", "<!--c-->"],
            false => &["", "text", " a &amp; b ", "\n", "<!-- c -->", "1 < 2"],
        };
        html.push_str(numbers.one_of(texts));
    }
    let may_be_left_out = matches!(name, "p" | "li" | "dt" | "dd" | "td" | "th" | "tr" | "option");
    if !may_be_left_out || numbers.below(3) > 0 {
        html.push_str(&format!("</{name}>"));
    }
}

/// A page with something cut out, doubled or put elsewhere.
fn mutated(numbers: &mut Numbers, html: &str) -> String {
    let mut place = || html.floor_char_boundary(numbers.below(html.len() + 1));
    let (a, b, c) = (place(), place(), place());
    let (start, end) = (a.min(b), a.max(b).min(html.ceil_char_boundary(a.min(b) + 12)));
    let (before, cut, behind) = (&html[..start], &html[start..end], &html[end..]);
    match numbers.below(4) {
        0 => format!("{before}{behind}"),
        1 => format!("{before}{cut}{cut}{behind}"),
        2 => format!("{}{cut}{}", &html[..c], &html[c..]),
        _ => format!("{before}{}{behind}", numbers.one_of(&PIECES)),
    }
}

#[test]
fn trees_are_those_of_the_full_algorithm() {
    const ROUNDS: usize = 4_000;
    let mut numbers = Numbers(1);
    let (mut soups, mut pages, mut mutants) = (0, 0, 0);
    for round in 0..ROUNDS {
        let scripting = round % 2 == 1;
        soups += usize::from(agrees(&soup(&mut numbers), scripting));
        let mut page = String::from(numbers.one_of(&["", "<!doctype html>", "<!DOCTYPE x>\n"]));
        let root = numbers.one_of(&["html", "body", "div", "table", "p", "ul", "form"]);
        element(&mut numbers, root, 6, &mut page);
        pages += usize::from(agrees(&page, scripting));
        for _ in 0..4 {
            page = mutated(&mut numbers, &page);
            mutants += usize::from(agrees(&page, scripting));
        }
    }
    // Most pages that are whole are read quickly, and enough of the others to compare.
    let enough = pages > ROUNDS / 3 && mutants > ROUNDS / 2 && soups > ROUNDS / 20;
    assert!(enough, "of {ROUNDS}: {pages} whole, {soups} soups, {mutants} mutants");
}
