//! Extractors over bodies: a pattern, a zero byte, a body. Both may be anything.

use squall_extract::{Body, Documents, Extractor, Limits, MarkupFormat, MatchChoice, Spec};

const ANY: [MatchChoice; 6] = [
    MatchChoice::First,
    MatchChoice::Nth(2),
    MatchChoice::Last,
    MatchChoice::All,
    MatchChoice::Random,
    MatchChoice::All,
];

fn parts(input: &[u8]) -> Option<(&str, &[u8])> {
    let split = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (pattern, body) = input.split_at(split);
    Some((std::str::from_utf8(pattern).ok()?, body.get(1..).unwrap_or_default()))
}

fn find(spec: &Spec<'_>, body: &[u8], content_type: &str) {
    let Ok(extractor) = Extractor::compile(spec) else { return };
    let body = Body::new(body, content_type.as_bytes());
    let documents = Documents::of(&body, Limits::default());
    for which in ANY {
        let _ = extractor.find_in(&documents, which, u64::MAX / 3);
    }
}

/// Regular expressions and boundaries.
pub(crate) fn text(input: &[u8]) {
    let Some((pattern, body)) = parts(input) else { return };
    let (left, right) = pattern.split_at(pattern.floor_char_boundary(pattern.len() / 2));
    find(&Spec::Regex { pattern, group: None }, body, "");
    find(&Spec::Between { left, right }, body, "");
}

/// JSONPath.
pub(crate) fn json(input: &[u8]) {
    let Some((pattern, body)) = parts(input) else { return };
    find(&Spec::Json(pattern), body, "application/json");
}

/// CSS selectors over HTML and XML.
pub(crate) fn css(input: &[u8]) {
    let Some((selector, body)) = parts(input) else { return };
    for content_type in ["text/html", "text/xml"] {
        find(&Spec::Css { selector, attr: None }, body, content_type);
    }
}

/// XPath over HTML and XML, and whether that is well-formed.
pub(crate) fn xpath(input: &[u8]) {
    let Some((pattern, body)) = parts(input) else { return };
    let _ = Documents::new(body, Limits::default()).is_well_formed();
    for content_type in ["text/html", "text/xml"] {
        find(&Spec::XPath(pattern), body, content_type);
    }
}

/// The faults of a page: they are the same whenever they are counted, and of XML there is none that no `>`, `<`, `&` or
/// quote is there for.
pub(crate) fn faults(page: &[u8]) {
    for format in [MarkupFormat::Html, MarkupFormat::Xhtml, MarkupFormat::Xml] {
        let faults = Documents::new(page, Limits::default()).faults(format);
        assert_eq!(faults, Documents::new(page, Limits::default()).faults(format));
        let is_plain = !page.iter().any(|byte| b"<>&\"'".contains(byte));
        if let (true, MarkupFormat::Xml, Ok(faults)) = (is_plain, format, faults) {
            assert_eq!((faults.errors, faults.warnings), (0, 0));
        }
    }
}
