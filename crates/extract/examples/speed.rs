//! Nanoseconds per extraction from small bodies, by kind: the hot path of a run.

use std::hint::black_box;
use std::time::Instant;

use squall_extract::{Documents, Extractor, Limits, MatchChoice, Spec};

fn main() {
    let json = format!(
        r#"{{"meta":{{"next":"abc","n":1}},"items":[{}],"token":"t0k3n"}}"#,
        (0..32)
            .map(|i| format!(r#"{{"id":{i},"name":"item {i}","price":{i}.25,"tags":["a","b"]}}"#))
            .collect::<Vec<_>>()
            .join(",")
    );
    let html = format!(
        "<!DOCTYPE html><html><head><title>t</title></head><body><ul>{}</ul>\
         <form><input type=hidden name=csrf value=tok></form></body></html>",
        (0..40)
            .map(|i| format!(r#"<li class="item"><a href="/p/{i}">item {i}</a></li>"#))
            .collect::<String>()
    );
    println!("json {} bytes, html {} bytes", json.len(), html.len());
    let cases = [
        ("json $.token", Spec::Json("$.token"), &json, MatchChoice::First),
        ("json $.items[20].name", Spec::Json("$.items[20].name"), &json, MatchChoice::First),
        ("json $..id all", Spec::Json("$..id"), &json, MatchChoice::All),
        (
            "json $.items[?@.id==20].name",
            Spec::Json("$.items[?@.id==20].name"),
            &json,
            MatchChoice::First,
        ),
        (
            "regex first",
            Spec::Regex { pattern: r#"name=csrf value=(\w+)"#, group: None },
            &html,
            MatchChoice::First,
        ),
        (
            "regex all",
            Spec::Regex { pattern: r#"href="([^"]*)""#, group: None },
            &html,
            MatchChoice::All,
        ),
        (
            "regex random",
            Spec::Regex { pattern: r#"href="([^"]*)""#, group: None },
            &html,
            MatchChoice::Random,
        ),
        (
            "between first",
            Spec::Between { left: "csrf value=", right: ">" },
            &html,
            MatchChoice::First,
        ),
        (
            "css input[name=csrf]",
            Spec::Css { selector: "input[name=csrf]", attr: Some("value") },
            &html,
            MatchChoice::First,
        ),
        ("xpath //input/@value", Spec::XPath("//input/@value"), &html, MatchChoice::First),
    ];
    for (name, spec, body, which) in cases {
        let extractor = Extractor::compile(&spec).unwrap();
        let mut best = f64::MAX;
        for _ in 0..15 {
            let rounds = 1000;
            let start = Instant::now();
            for round in 0..rounds {
                let documents = Documents::new(black_box(body.as_bytes()), Limits::default());
                black_box(extractor.find_in(&documents, which, round << 40).unwrap());
            }
            best = best.min(start.elapsed().as_nanos() as f64 / rounds as f64);
        }
        println!("{name:32} {best:8.0} ns");
    }
    searches(&html);
}

/// Searches alone, in a page that has been read.
fn searches(html: &str) {
    let documents = Documents::new(html.as_bytes(), Limits::default());
    let css = |selector| Spec::Css { selector, attr: None };
    for spec in [
        css("li"),
        css("ul > li.item a[href]"),
        css("li:nth-child(2n+1)"),
        css("li:nth-of-type(30) a"),
        css("li:nth-child(3 of .item)"),
        css("li:first-child"),
        css("input:not([type=text])"),
        css("li:has(a[href='/p/39'])"),
        Spec::XPath("//li"),
        Spec::XPath("//li/a/@href"),
        Spec::XPath("//ul//a"),
        Spec::XPath("//li[20]"),
        Spec::XPath("//li[a='item 30']"),
        Spec::XPath("//input[@name='csrf']/@value"),
    ] {
        let extractor = Extractor::compile(&spec).unwrap();
        let mut best = f64::MAX;
        for _ in 0..15 {
            let rounds = 1000;
            let start = Instant::now();
            for _ in 0..rounds {
                black_box(extractor.find_in(black_box(&documents), MatchChoice::All, 0).unwrap());
            }
            best = best.min(start.elapsed().as_nanos() as f64 / rounds as f64);
        }
        println!("all of {spec:?} {best:8.0} ns");
    }
}
