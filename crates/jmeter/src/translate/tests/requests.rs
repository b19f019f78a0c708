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
