//! Extractors over bodies: a pattern, a zero byte, a body. Both may be anything.

use squall_extract::{
    Body, Charset, Documents, Extractor, LINKS_LIMIT, Limits, Link, MatchChoice, Spec,
};

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

/// The links of a page: each is one, and there are not too many.
pub(crate) fn links(page: &[u8]) {
    let Ok(extractor) = Extractor::compile(&Spec::Links) else { panic!("it has no pattern") };
    for content_type in ["text/html", "text/xml"] {
        let body = Body::new(page, content_type.as_bytes());
        let documents = Documents::of(&body, Limits::default());
        if let Ok(found) = extractor.find_in(&documents, MatchChoice::All, 0) {
            let items = found.into_items();
            assert!(items.len() <= LINKS_LIMIT && items.iter().all(|own| Link::of(own).is_some()));
        }
    }
}

/// What a page, or a style sheet, loads: no reference is empty.
pub(crate) fn resources(bytes: &[u8]) {
    let page = squall_extract::page_resources(&Body::new(bytes, b"text/html"), Limits::default());
    let of_page = page.map(|page| page.resources).unwrap_or_default();
    for own in of_page.into_iter().chain(squall_extract::style_resources(bytes)) {
        assert!(!own.reference.trim().is_empty(), "{own:?}");
    }
}

/// A text whose encoding is named in its first line, and where browsers look for it: decoded and encoded again, it is not lost.
pub(crate) fn charset(bytes: &[u8]) {
    let split = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (label, text) = (String::from_utf8_lossy(&bytes[..split]), &bytes[split..]);
    for content_type in [&bytes[..split], b"text/html", b""] {
        let body = Body::new(text, content_type);
        let _ = Documents::of(&body, Limits::default()).is_well_formed();
    }
    let (Some(decoded), Some(charset)) =
        (squall_extract::decoded(text, &label), Charset::of(&label))
    else {
        return;
    };
    let encoded = charset.encode(decoded.as_bytes());
    assert!(decoded.is_empty() || !encoded.is_empty(), "{label}: {decoded:?}");
    let _ = squall_extract::decoded(&encoded, &label);
}
