//! What a page leads to, as a value of the plan: references with what they mean where the page is. Pure.

use std::sync::Arc;

use squall_extract::{Found, Link};
use squall_plan::value::{Map, Value};
use url::Url;

/// The links that were found in a page, as a list of maps; those that lead to what requests cannot ask for are
/// passed over.
pub(crate) fn value(found: Found<'_>, page: &str) -> Value {
    let Ok(page) = Url::parse(page) else { return Value::List(Arc::new([])) };
    let items = found.into_items();
    let links = items.iter().filter_map(Link::of);
    Value::List(links.filter_map(|link| of_link(&link, &page)).collect())
}

fn of_link(link: &Link, page: &Url) -> Option<Value> {
    // A base that is no URL is none.
    let base = link.base.as_deref().and_then(|base| page.join(base).ok());
    let base = base.as_ref().unwrap_or(page);
    let url = match link.href.as_deref() {
        // A form without an action is sent to where its page is.
        None | Some("") if link.element == "form" => page.clone(),
        reference => base.join(reference.unwrap_or_default()).ok()?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let fields = link.fields.iter().map(|[name, value, kind]| {
        map([("name", text(name)), ("value", text(value)), ("type", text(kind))])
    });
    let mut sent = url.clone();
    sent.set_fragment(None);
    Some(map([
        ("element", text(&link.element)),
        ("href", link.href.as_deref().map_or(Value::Null, text)),
        ("url", text(sent.as_str())),
        ("scheme", text(url.scheme())),
        ("host", text(url.host_str()?)),
        ("port", url.port_or_known_default().map_or(Value::Null, |port| Value::Int(port.into()))),
        ("path", text(url.path())),
        ("query", text(url.query().unwrap_or_default())),
        ("method", text(&link.method)),
        ("fields", Value::List(fields.collect())),
    ]))
}

fn text(text: &str) -> Value {
    Value::text(text)
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value));
    Value::Map(Arc::new(pairs.collect::<Map>()))
}

#[cfg(test)]
mod tests {
    use squall_extract::{Extractor, MatchChoice, Spec};

    use super::*;

    const PAGE: &str = "http://shop.test:8080/list/all?page=1";

    fn of(body: &str, page: &str) -> Vec<serde_json::Value> {
        let extractor = Extractor::compile(&Spec::Links).expect("it needs no pattern");
        let found = extractor.find(body.as_bytes(), MatchChoice::All, 0).expect("a page");
        let Value::List(links) = value(found, page) else { panic!("a list") };
        links.iter().map(Value::to_json).collect()
    }

    #[test]
    fn references_mean_what_they_mean_on_their_page() {
        for (body, expected) in [
            ("<a href=item?id=1#top>", "http://shop.test:8080/list/item?id=1"),
            ("<a href='?page=2'>", "http://shop.test:8080/list/all?page=2"),
            ("<base href=/b/><a href=x>", "http://shop.test:8080/b/x"),
            ("<base href='http://['><a href=x>", "http://shop.test:8080/list/x"),
            ("<a href=//other.test/é>", "http://other.test/%C3%A9"),
            ("<base href=/b/><form></form>", PAGE),
            ("<form action=send></form>", "http://shop.test:8080/list/send"),
        ] {
            assert_eq!(of(body, PAGE)[0]["url"], expected, "{body}");
        }
        for other in ["mailto:a@b.test", "javascript:go()", "http://[", "ftp://a.test/"] {
            assert_eq!(of(&format!("<a href='{other}'>"), PAGE).len(), 0, "{other}");
        }
        assert_eq!(of("<a href=x>", "").len(), 0, "where the page is not known");
    }

    #[test]
    fn a_link_has_its_parts() {
        let body = "<form method=post action='https://a.test/f?x=1'><input name=n value=v></form>";
        let expected = serde_json::json!({
            "element": "form", "href": "https://a.test/f?x=1", "url": "https://a.test/f?x=1", "scheme": "https",
            "host": "a.test", "port": 443, "path": "/f", "query": "x=1", "method": "POST",
            "fields": [{"name": "n", "value": "v", "type": "text"}],
        });
        assert_eq!(of(body, PAGE), [expected]);
    }
}
