//! Runs cases that others wrote, from standard input: `suites jsonpath` takes the JSONPath
//! Compliance Test Suite, `suites css` one JSON object a line with `markup`, `sel`, `ids` and
//! `flags`. Prints each case that is not as expected, and last how many there are of each kind.

use std::error::Error;
use std::io::Read;

use serde_json::Value;
use squall_extract::{Documents, Extractor, Found, Item, Limits, Spec, Which};

/// Flags of CSS cases that are read as XML (XHTML and XML).
const XML_FLAGS: u64 = 0x4 | 0x8;

#[derive(Default)]
struct Tally {
    same: u32,
    refused: u32,
    different: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let mut tally = Tally::default();
    match std::env::args().nth(1).as_deref() {
        Some("jsonpath") => {
            let suite: Value = serde_json::from_str(&input)?;
            for case in suite["tests"].as_array().into_iter().flatten() {
                json_path(case, &mut tally);
            }
        }
        Some("css") => {
            for line in input.lines() {
                css(&serde_json::from_str(line)?, &mut tally);
            }
        }
        _ => return Err("usage: suites jsonpath|css < cases".into()),
    }
    println!("same {} refused {} different {}", tally.same, tally.refused, tally.different);
    Ok(())
}

fn json_path(case: &Value, tally: &mut Tally) {
    let selector = case["selector"].as_str().unwrap_or_default();
    let compiled = Extractor::compile(&Spec::Json(selector));
    let invalid = case["invalid_selector"] == true;
    let (Ok(extractor), false) = (&compiled, invalid) else {
        match compiled.is_err() == invalid {
            true => tally.same += 1,
            false => {
                tally.refused += 1;
                println!("{selector}: invalid {invalid}, {:?}", compiled.err());
            }
        }
        return;
    };
    let body = case["document"].to_string();
    let documents = Documents::new(body.as_bytes(), Limits::default());
    let found = values(extractor.find_in(&documents, Which::All, 0).ok());
    let expected = match &case["results"] {
        Value::Array(results) => results.clone(),
        _ => vec![case["result"].clone()],
    };
    if found.as_ref().is_some_and(|found| expected.contains(found)) {
        tally.same += 1;
    } else {
        tally.different += 1;
        println!("{selector} in {body}: {found:?}");
    }
}

fn values(found: Option<Found<'_>>) -> Option<Value> {
    Some(match found? {
        Found::None => Value::Array(Vec::new()),
        Found::One(item) => Value::Array(vec![value(item)]),
        Found::Many(items) => items.into_iter().map(value).collect(),
    })
}

fn value(item: Item<'_>) -> Value {
    match item {
        Item::Json(value) => value,
        Item::Bytes(bytes) => String::from_utf8_lossy(&bytes).into(),
    }
}

fn css(case: &Value, tally: &mut Tally) {
    let selector = case["sel"].as_str().unwrap_or_default();
    if case["custom"] == true || case["markup"].is_null() {
        return;
    }
    let expected = case["ids"].as_array();
    let extractor = match Extractor::compile(&Spec::Css { selector, attr: Some("id") }) {
        Ok(extractor) => extractor,
        Err(_) if expected.is_none() => {
            tally.same += 1;
            return;
        }
        Err(error) => {
            tally.refused += 1;
            println!("refused {selector:?}: {error}");
            return;
        }
    };
    let xml = case["flags"].as_u64().unwrap_or(0) & XML_FLAGS != 0;
    let content_type = if xml { "text/xml" } else { "text/html" };
    let body = case["markup"].as_str().unwrap_or_default().trim_start().as_bytes();
    let documents = Documents::with_content_type(body, content_type.as_bytes(), Limits::default());
    let found = values(extractor.find_in(&documents, Which::All, 0).ok());
    if expected.is_some() && found.as_ref().and_then(Value::as_array) == expected {
        tally.same += 1;
    } else {
        tally.different += 1;
        println!("different {selector:?} ({}): {found:?}, not {expected:?}", case["flags"]);
    }
}
