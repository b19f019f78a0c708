//! The resources that a page is made of, as a browser that runs scripts would fetch them: images,
//! styles, scripts, frames, icons. References are given as they stand; what they mean is the caller's
//! to find out. A page is read once, in linear time.

use std::time::Duration;

use crate::body::Body;
use crate::cost::{MARKUP_PICOSECONDS, cost_of};
use crate::documents::Documents;
use crate::error::ExtractError;
use crate::limits::Limits;
use crate::markup::{self, NodeId, Tree};

/// The most resources that are taken of one page or style sheet.
pub const RESOURCES_LIMIT: usize = 1_000;

/// What it takes to go through a style sheet, for each byte.
const STYLE_PICOSECONDS: u64 = 4_000;

/// What a resource is to its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// `img`, `input type=image`.
    Image,
    /// `link rel=stylesheet`, and `@import` in styles.
    Style,
    /// `script src`.
    Script,
    /// `iframe` and `frame`: a page of its own.
    Frame,
    /// `link rel=icon`.
    Icon,
    /// `url(...)` in styles: an image or a font.
    Asset,
}

impl ResourceKind {
    pub const ALL: [ResourceKind; 6] = [
        ResourceKind::Image,
        ResourceKind::Style,
        ResourceKind::Script,
        ResourceKind::Frame,
        ResourceKind::Icon,
        ResourceKind::Asset,
    ];

    pub fn label(self) -> &'static str {
        match self {
            ResourceKind::Image => "image",
            ResourceKind::Style => "style",
            ResourceKind::Script => "script",
            ResourceKind::Frame => "frame",
            ResourceKind::Icon => "icon",
            ResourceKind::Asset => "asset",
        }
    }
}

/// A reference to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub kind: ResourceKind,
    /// The reference as it stands, without white space around it; never empty.
    pub reference: String,
}

/// What a page says of its resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageResources {
    /// What references are relative to, where the page says so (`base href`).
    pub base: Option<String>,
    /// In the order of the page, at most [`RESOURCES_LIMIT`]; the same one may be there several times.
    pub resources: Vec<Resource>,
}

/// The resources of a page of HTML.
///
/// Of an image with several sources `src` is taken, or the first candidate of `srcset`, its own or that
/// of the `picture` around it. What is in `noscript` and `template` is passed over.
///
/// # Errors
/// The body is longer than [`Limits::body_bytes`], or not to be read as HTML.
pub fn page_resources(body: &Body<'_>, limits: Limits) -> Result<PageResources, ExtractError> {
    let tree = markup::parse_scripted(Documents::of(body, limits).bounded_text()?)?;
    let mut page = PageResources::default();
    let mut inert = 0;
    for id in tree.elements() {
        if page.resources.len() >= RESOURCES_LIMIT {
            break;
        }
        if id < inert {
            continue;
        }
        match tree.local_name(id) {
            "template" => inert = tree.descendants(id).end,
            "base" if page.base.is_none() => {
                page.base = tree.attribute(id, "href").map(|href| href.trim().to_owned());
            }
            "style" => add_style(tree.text(id), &mut page.resources),
            _ => page.resources.extend(resource(&tree, id)),
        }
    }
    Ok(page)
}

fn resource(tree: &Tree, id: NodeId) -> Option<Resource> {
    let attribute = |name| tree.attribute(id, name).map(str::trim);
    let is = |name, value: &str| attribute(name).is_some_and(|own| own.eq_ignore_ascii_case(value));
    let (kind, reference) = match tree.local_name(id) {
        "img" => (ResourceKind::Image, image(tree, id)),
        "input" if is("type", "image") => (ResourceKind::Image, attribute("src")),
        "script" if is_fetched(attribute("type"), attribute("nomodule").is_some()) => {
            (ResourceKind::Script, attribute("src"))
        }
        "iframe" | "frame" => (ResourceKind::Frame, attribute("src")),
        "link" => {
            let relation = attribute("rel").unwrap_or_default();
            let has = |word: &str| {
                relation.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word))
            };
            let kind = match (has("stylesheet") && !has("alternate"), has("icon")) {
                (true, _) => ResourceKind::Style,
                (_, true) => ResourceKind::Icon,
                _ => return None,
            };
            (kind, attribute("href"))
        }
        _ => return None,
    };
    new(kind, reference?)
}

fn new(kind: ResourceKind, reference: &str) -> Option<Resource> {
    let reference = reference.trim();
    let inline = reference.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("data:"));
    (!reference.is_empty() && !inline).then(|| Resource { kind, reference: reference.to_owned() })
}

fn image(tree: &Tree, id: NodeId) -> Option<&str> {
    let own = tree.attribute(id, "src").filter(|src| !src.trim().is_empty());
    let around = || {
        let picture = tree.parent(id).filter(|parent| tree.local_name(*parent) == "picture")?;
        // Its sources stand before the image: the rest is not looked at, so that a picture with many
        // images costs no more than its length.
        let first = tree.children(picture).find(|child| tree.is_element(*child))?;
        (tree.local_name(first) == "source").then(|| tree.attribute(first, "srcset")).flatten()
    };
    own.or_else(|| candidate(tree.attribute(id, "srcset")?)).or_else(|| candidate(around()?))
}

/// The first candidate of a `srcset`.
fn candidate(srcset: &str) -> Option<&str> {
    let text = srcset.trim_start_matches([' ', '\t', '\n', '\r', '\x0C', ',']);
    let url = text.split_ascii_whitespace().next()?;
    Some(url.trim_end_matches(',')).filter(|url| !url.is_empty())
}

/// Whether a script of a type is one that browsers fetch and run.
fn is_fetched(kind: Option<&str>, for_old_browsers: bool) -> bool {
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let runs = ["", "module"].contains(&&*kind)
        || kind.ends_with("javascript")
        || kind.ends_with("ecmascript");
    runs && !for_old_browsers
}

/// The resources of a style sheet: what it imports, and each `url(...)`.
pub fn style_resources(css: &[u8]) -> Vec<Resource> {
    let mut resources = Vec::new();
    add_style(&String::from_utf8_lossy(css), &mut resources);
    resources
}

/// How long [`page_resources`] usually takes, as [`crate::Extractor::cost_estimate`] has it.
pub fn page_cost_estimate(body_bytes: usize) -> Duration {
    cost_of(body_bytes, MARKUP_PICOSECONDS)
}

/// How long [`style_resources`] usually takes, as [`crate::Extractor::cost_estimate`] has it.
pub fn style_cost_estimate(body_bytes: usize) -> Duration {
    cost_of(body_bytes, STYLE_PICOSECONDS)
}

/// What comes next in a style sheet, as far as references care.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Rules,
    /// After `@import`, until its reference.
    Import,
    /// In a statement whose URLs are names.
    Namespace,
}

fn add_style(css: &str, resources: &mut Vec<Resource>) {
    let (bytes, mut at, mut within) = (css.as_bytes(), 0, Within::Rules);
    let begins = |at: usize, word: &str| {
        bytes.get(at..at + word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    while at < bytes.len() && resources.len() < RESOURCES_LIMIT {
        match bytes[at] {
            b'/' if begins(at, "/*") => {
                let end = memchr::memmem::find(&bytes[at + 2..], b"*/");
                at = end.map_or(bytes.len(), |end| at + 2 + end + 2);
            }
            quote @ (b'"' | b'\'') => {
                let end = end_of(bytes, at + 1, quote);
                if within == Within::Import {
                    let text = unescaped(&css[at + 1..end.min(bytes.len())]);
                    resources.extend(new(ResourceKind::Style, &text));
                    within = Within::Rules;
                }
                at = end + 1;
            }
            b'u' | b'U' if begins(at, "url(") && (at == 0 || !is_name(bytes[at - 1])) => {
                let inside = at + 4;
                let skipped =
                    bytes[inside..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                let from = inside + skipped;
                let (from, end) = match bytes.get(from) {
                    Some(quote @ (b'"' | b'\'')) => (from + 1, end_of(bytes, from + 1, *quote)),
                    _ => (from, end_of(bytes, from, b')')),
                };
                let text = unescaped(css.get(from..end.min(bytes.len())).unwrap_or_default());
                let kind = match within {
                    Within::Import => Some(ResourceKind::Style),
                    Within::Rules => Some(ResourceKind::Asset),
                    Within::Namespace => None,
                };
                resources.extend(kind.and_then(|kind| new(kind, &text)));
                if within == Within::Import {
                    within = Within::Rules;
                }
                at = end + 1;
            }
            b'@' => {
                within = match () {
                    () if begins(at, "@import") => Within::Import,
                    () if begins(at, "@namespace") => Within::Namespace,
                    () => Within::Rules,
                };
                at += 1;
            }
            b';' | b'{' | b'}' => {
                within = Within::Rules;
                at += 1;
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Where a text ends that a byte ends, escapes passed over; at most behind the last byte.
fn end_of(bytes: &[u8], from: usize, end: u8) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != end {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// Without the backslashes before characters; escapes by number are rare in URLs, and stay.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && !next.is_ascii_hexdigit() => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(html: &str) -> Vec<String> {
        let page =
            page_resources(&Body::new(html.as_bytes(), b""), Limits::default()).expect("a page");
        show(&page.resources)
    }

    fn show(resources: &[Resource]) -> Vec<String> {
        resources.iter().map(|r| format!("{} {}", r.kind.label(), r.reference)).collect()
    }

    #[test]
    fn a_page_names_its_resources() {
        for (html, resources) in [
            ("<img src=' a.png '><IMG SRC=b.png>", "image a.png, image b.png"),
            ("<img srcset='a.png 1x, b.png 2x'>", "image a.png"),
            ("<img src=c.png srcset='a.png 1x'>", "image c.png"),
            ("<img srcset=', a.png, b.png 2x'><img srcset=''><img src=''>", "image a.png"),
            (
                "<picture><source srcset='a.webp 2x'><source srcset=b><img></picture>",
                "image a.webp",
            ),
            ("<picture><source srcset=a.webp><img src=a.png></picture>", "image a.png"),
            ("<input type=IMAGE src=a><input type=text src=b>", "image a"),
            (
                "<link rel=StyleSheet href=a.css><link rel='alternate stylesheet' href=b>",
                "style a.css",
            ),
            ("<link rel='shortcut icon' href=a><link rel=canonical href=b>", "icon a"),
            ("<script src=a.js></script><script>var x = '<img src=b>'</script>", "script a.js"),
            ("<script type=module src=a></script><script nomodule src=b></script>", "script a"),
            ("<script type=text/javascript src=a></script>", "script a"),
            ("<script type=application/json src=a></script>", ""),
            ("<iframe src=/f></iframe><iframe></iframe>", "frame /f"),
            ("<frameset><frame src=a><frame src=b></frameset>", "frame a, frame b"),
            ("<noscript><img src=a></noscript><img src=b>", "image b"),
            ("<body><noscript><img src=a></noscript><template><img src=c></template>", ""),
            ("<img src='data:image/gif;base64,R0'><img src=x>", "image x"),
            (
                "<style>@import 'a.css'; b { background: url(c.png) }</style>",
                "style a.css, asset c.png",
            ),
            ("<!-- <img src=a> --><p>no</p>", ""),
        ] {
            assert_eq!(page(html).join(", "), resources, "{html}");
        }
    }

    #[test]
    fn the_first_base_counts() {
        let html = b"<base target=x><base href=' /a/ '><base href=/b/><img src=c>";
        let page = page_resources(&Body::new(html, b""), Limits::default()).expect("a page");
        assert_eq!(page.base.as_deref(), Some("/a/"));
    }

    #[test]
    fn a_style_names_its_resources() {
        for (css, resources) in [
            ("@import url(a.css); @import \"b.css\" screen;", "style a.css, style b.css"),
            ("@IMPORT url( 'a.css' );", "style a.css"),
            (
                "a { background: URL(a.png) } b { src: url(\"b.woff\"), url( c )}",
                "asset a.png, asset b.woff, asset c",
            ),
            ("/* url(a) */ a { content: 'url(b)' } c { d: url(e) }", "asset e"),
            ("@namespace svg url(http://www.w3.org/2000/svg); a { b: url(c) }", "asset c"),
            ("a { b: curl(c); d: my-url(e) }", ""),
            (r"a { b: url(a\)b\'c) }", "asset a)b'c"),
            ("a { b: url(data:image/png;base64,xx) } c { d: url() }", ""),
            ("a { b: url(", ""),
            ("a { b: url(c", "asset c"),
            ("@import 'a", "style a"),
            ("@import url(a)", "style a"),
        ] {
            assert_eq!(show(&style_resources(css.as_bytes())).join(", "), resources, "{css}");
        }
    }

    #[test]
    fn there_is_a_limit() {
        let html = "<img src=a><style>url(b)</style>".repeat(RESOURCES_LIMIT);
        assert_eq!(page(&html).len(), RESOURCES_LIMIT);
        assert_eq!(style_resources("url(a)".repeat(5_000).as_bytes()).len(), RESOURCES_LIMIT);
        let limits = Limits { body_bytes: 10, ..Limits::default() };
        assert!(page_resources(&Body::new(b"<img src=a.png>", b""), limits).is_err());
    }

    proptest! {
        #[test]
        fn any_text_has_resources_or_none(
            css in r#"(url\(|@import|[a-z]|'|"|\\|\)|/\*|\*/|;|é| ){0,40}"#,
        ) {
            for resource in style_resources(css.as_bytes()) {
                prop_assert!(!resource.reference.is_empty());
            }
            prop_assert!(page_resources(&Body::new(css.as_bytes(), b""), Limits::default()).is_ok());
        }
    }
}
