//! Managers of cookies and caches.

use super::*;

#[test]
fn several_managers_have_jars_and_caches_with_names() {
    let manager = |class: &str, clears: &str| {
        let clears = format!(r#"<boolProp name="{clears}">true</boolProp>"#);
        format!(r#"<{class} testname="m">{clears}</{class}><hashTree/>"#)
    };
    let branch = |inner: &str| {
        let inner = inner.to_owned() + &request("r", TO_SHOP, "");
        format!(r#"<GenericController testname="s"/><hashTree>{inner}</hashTree>"#)
    };
    let cookies = manager("CookieManager", "CookieManager.clearEachIteration");
    let cache = manager("CacheManager", "clearEachIteration");
    let (text, obstacles) =
        translated(&plan(&(branch(&cookies) + &branch(&(cookies.clone() + &cache)))));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""cookie_jar": "m""#,
        r#""cookie_jar": "m (2)""#,
        r#""clear_cookies": "m""#,
        r#""clear_cookies": "m (2)""#,
        r#""clear_cache": true"#,
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
    assert!(!text.contains("cache_name"), "{text}");
    let (text, _) = translated(&plan(&branch(&cookies)));
    assert!(text.contains(r#""clear_cookies": true"#) && !text.contains("cookie_jar"), "{text}");
}
