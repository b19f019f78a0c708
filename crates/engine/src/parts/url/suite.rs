//! The WHATWG's cases for URLs, of web-platform-tests (in `suite/`, with their licence): references on
//! pages of http and https, and absolute URLs of these. What differs is listed with the reason, and the
//! list is exact.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::resolve;

/// Cases that are read in another way here.
const DIFFERENT: &[(&str, &str)] = &[];

fn cases() -> Vec<Value> {
    let mut text = String::new();
    let packed = include_bytes!("suite/urltestdata.json.gz").as_slice();
    GzDecoder::new(packed).read_to_string(&mut text).expect("a file of this repository");
    serde_json::from_str(&text).expect("a list of cases")
}

fn is_http(url: &str) -> bool {
    url.starts_with("http:") || url.starts_with("https:")
}

/// What is sent of a URL as the suite writes it, and to whom: neither fragment nor credentials. `None`: it
/// is none of http.
fn expected(case: &Value) -> Option<String> {
    let text = |key: &str| case[key].as_str();
    let href = text("href").filter(|href| is_http(href))?;
    let href = href.split('#').next()?;
    let (protocol, host) = (text("protocol")?, text("host")?);
    let rest = &href[protocol.len() + 2..];
    let rest = &rest[rest.find('/')?..];
    Some(format!("{protocol}//{host}{rest}"))
}

/// What this crate makes of it; `None`: it is refused, or the page is one that it does not go to.
fn found(case: &Value) -> Option<String> {
    let input = case["input"].as_str().expect("an input");
    let page = case["base"].as_str().map(|base| resolve(None, base));
    let page = page.transpose().ok()?;
    let page = page.as_ref().map(|page| (&page.origin, &*page.path));
    let location = resolve(page, input).ok()?;
    Some(format!("{}{}", location.origin, location.path))
}

#[test]
fn urls_mean_what_they_mean_to_browsers() {
    let of_http = |case: &&Value| match case["base"].as_str() {
        Some(base) => is_http(base),
        None => case["input"].as_str().is_some_and(|input| is_http(&input.to_ascii_lowercase())),
    };
    let cases = cases();
    let cases: Vec<&Value> = cases.iter().filter(of_http).collect();
    assert_eq!(cases.len(), 467);
    assert_eq!(cases.iter().filter(|case| expected(case).is_some()).count(), 227);
    let name = |case: &Value| format!("{:?} on {}", case["input"].as_str(), case["base"]);
    let differ: Vec<_> = cases.iter().filter(|case| found(case) != expected(case)).collect();
    let names: BTreeSet<String> = differ.iter().map(|case| name(case)).collect();
    let known: BTreeSet<String> = DIFFERENT.iter().map(|(name, _)| (*name).to_owned()).collect();
    let news: Vec<_> = differ
        .iter()
        .filter(|case| !known.contains(&name(case)))
        .map(|case| (name(case), found(case), expected(case)))
        .collect();
    let mended: Vec<_> = known.difference(&names).collect();
    assert!(
        news.is_empty() && mended.is_empty(),
        "differ: {news:#?}\nlisted, but agree: {mended:#?}"
    );
}
