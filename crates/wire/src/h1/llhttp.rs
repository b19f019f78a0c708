//! llhttp's own cases for responses (in `suite/`, with their licence). What is known to differ is listed,
//! with the reason; the lists are exact.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{Malformed, Parsed, ResponseParser};

/// Cases that llhttp takes and this parser refuses, or reads in another way.
const STRICTER: &[(&str, &str)] = &[
    ("sample.md: RTSP response", "it is none of HTTP"),
    ("sample.md: ICE response", "it is none of HTTP"),
    ("sample.md: HTTP version 0.9", "HTTP/0.9 has no status line"),
    ("sample.md: Google 301", "the text of its page follows the response"),
];
/// Cases that llhttp refuses and this parser takes.
const LAXER: &[(&str, &str)] = &[
    ("invalid.md: Invalid space after start line", "refused once the line has come to its end"),
    ("invalid.md: Only LFs present and no body", "RFC 9112, section 2.2: a LF may end a line"),
    ("invalid.md: Only LFs present", "RFC 9112, section 2.2: a LF may end a line"),
    ("sample.md: No carriage ret", "RFC 9112, section 2.2: a LF may end a line"),
    (
        "transfer-encoding.md: Trailing space on chunked body",
        "old servers fill sizes up with spaces",
    ),
    ("transfer-encoding.md: No extension after semicolon", "extensions mean nothing here"),
    ("transfer-encoding.md: Unbalanced chunk extensions quoting", "extensions mean nothing here"),
];

fn cases() -> Vec<Value> {
    let mut text = String::new();
    let packed = include_bytes!("suite/http1-llhttp.json.gz").as_slice();
    GzDecoder::new(packed).read_to_string(&mut text).expect("a file of this repository");
    serde_json::from_str(&text).expect("a list of cases")
}

/// A message: status, body, whether it is complete.
type Message = (u64, Vec<u8>, bool);

/// The responses in `bytes`, which the other side may still go on with.
fn read(bytes: &[u8]) -> Result<Vec<Message>, Malformed> {
    let (mut messages, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (mut parser, mut body) = (ResponseParser::new(false), Vec::new());
        let Parsed::Head { end, .. } = parser.feed(rest, &mut |_| ())? else { break };
        rest = &rest[end..];
        if !parser.is_done() {
            match parser.feed(rest, &mut |part| body.extend_from_slice(part))? {
                Parsed::Body(used) | Parsed::Done(used) => rest = &rest[used..],
                _ => {}
            }
        }
        let head = *parser.head().expect("it was read");
        messages.push((u64::from(head.status), body, parser.is_done()));
        if !head.keep_alive {
            // An exchange calls such bytes unsolicited.
            let end = if rest.is_empty() { Ok(messages) } else { Err(Malformed("bytes behind")) };
            return end;
        }
    }
    Ok(messages)
}

fn expected(case: &Value) -> Vec<Message> {
    let messages = case["msgs"].as_array().expect("messages").iter();
    let of = |message: &Value| {
        let status = message["status"].as_u64()?;
        let body = message["body"].as_str().unwrap_or_default().as_bytes().to_vec();
        Some((status, body, message["complete"] == true))
    };
    // Interim responses are passed over.
    messages.filter_map(of).filter(|(status, ..)| !(100..200).contains(status)).collect()
}

#[test]
fn llhttp_and_this_parser_agree() {
    let cases = cases();
    assert_eq!(cases.len(), 84);
    let (mut stricter, mut laxer) = (Vec::new(), Vec::new());
    for case in cases.iter().filter(|case| case["type"] == "response") {
        if case["meta"]["skipBody"] == true {
            continue; // it is read as a response to HEAD
        }
        let hex = case["hex"].as_str().expect("bytes");
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let name = format!("{}: {}", case["file"], case["name"]).replace('"', "");
        match (read(&bytes), case["err"].is_null()) {
            (Err(_), false) => {}
            (Ok(messages), true) if messages == expected(case) => {}
            (Ok(messages), true) => {
                stricter.push((name, format!("{messages:?} for {:?}", expected(case))));
            }
            (Err(error), true) => stricter.push((name, error.0.to_owned())),
            (Ok(messages), false) => laxer.push((name, format!("{messages:?} {}", case["err"]))),
        }
    }
    is_listed(&stricter, STRICTER);
    is_listed(&laxer, LAXER);
}

/// Whether what differs is just what is known to.
fn is_listed(found: &[(String, String)], known: &[(&str, &str)]) {
    let names: BTreeSet<&str> = found.iter().map(|(name, _)| &**name).collect();
    let known: BTreeSet<&str> = known.iter().map(|(name, _)| *name).collect();
    let news: Vec<_> = found.iter().filter(|(name, _)| !known.contains(&**name)).collect();
    let mended: Vec<_> = known.difference(&names).collect();
    assert!(
        news.is_empty() && mended.is_empty(),
        "differ: {news:#?}\nlisted, but agree: {mended:#?}"
    );
}
