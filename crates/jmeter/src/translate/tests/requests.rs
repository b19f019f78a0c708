//! Options of HTTP requests.

use super::*;

fn flag(name: &str) -> String {
    format!(r#"<boolProp name="HTTPSampler.{name}">true</boolProp>"#)
}

#[test]
fn redirects_may_lead_to_any_host() {
    let anywhere = r#""allow_hosts""#;
    for option in ["follow_redirects", "auto_redirects"] {
        let properties = format!("{TO_SHOP}{}", flag(option));
        let (text, obstacles) = translated(&plan(&request("r", &properties, "")));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(anywhere) && text.contains(r#""redirects": 20"#), "{text}");
    }
    let (text, _) = translated(&plan(&request("r", TO_SHOP, "")));
    assert!(!text.contains("allow_hosts"), "{text}");
}

#[test]
fn methods_are_those_that_jmeter_has() {
    let of = |method: &str, more: &str| {
        let own = format!("{TO_SHOP}{}{more}", string("HTTPSampler.method", method));
        translated(&plan(&request("r", &own, "")))
    };
    for method in ["TRACE", "PROPFIND", "MKCALENDAR", "SEARCH"] {
        let (text, obstacles) = of(method, "");
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(&format!(r#""method": "{method}""#)), "{text}");
        // A body that may be there is said to be empty; TRACE has none.
        assert_eq!(text.contains(r#""Content-Length": "0""#), method != "TRACE", "{text}");
    }
    let raw = r#"<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.value">&lt;x/&gt;</stringProp></elementProp>
        </collectionProp></elementProp>"#;
    assert!(of("REPORT", raw).0.contains(r#""body": "<x/>""#));
    assert!(!of("TRACE", raw).0.contains(r#""body""#));
    let (text, obstacles) = of("LOCK", &flag("auto_redirects"));
    assert!(obstacles.is_empty() && !text.contains(r#""redirects""#), "{text}");
    let java = string("HTTPSampler.implementation", "Java");
    for (method, is_sent) in [("TRACE", true), ("PATCH", false), ("COPY", false)] {
        let (text, obstacles) = of(method, &java);
        assert_eq!(obstacles, [""; 0]);
        assert_eq!(!text.contains("fail("), is_sent, "{method}: {text}");
    }
}
