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

#[test]
fn a_manager_begins_with_its_own_cookies() {
    let cookie = |own: &str| {
        let name = r#"<stringProp name="Cookie.value">v</stringProp>"#;
        format!(r#"<elementProp name="c" elementType="Cookie">{name}{own}</elementProp>"#)
    };
    let of = |own: &str| {
        let list = format!(
            r#"<collectionProp name="CookieManager.cookies">{}</collectionProp>"#,
            cookie(own)
        );
        let manager = format!(r#"<CookieManager testname="m">{list}</CookieManager><hashTree/>"#);
        translated(&plan(&(manager + &request("r", TO_SHOP, ""))))
    };
    let domain = string("Cookie.domain", "shop.test");
    let secure = r#"<boolProp name="Cookie.secure">true</boolProp>"#;
    let (text, obstacles) = of(&(domain.clone() + &string("Cookie.path", "/a") + secure));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""set_cookie":"#,
        r#""name": "c""#,
        r#""value": "v""#,
        r#""domain": "shop.test""#,
        r#""path": "/a""#,
        r#""secure": true"#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // One for no domain goes nowhere.
    assert!(!of("").0.contains("set_cookie"));
    let expires = domain + &string("Cookie.expires", "1893456000");
    let (text, obstacles) = of(&expires);
    assert_eq!((text.matches("set_cookie").count(), obstacles.len()), (1, 0));
}

#[test]
fn a_policy_says_whether_cookies_are_kept() {
    let of = |policy: &str, own: &str| {
        let policy = string("CookieManager.policy", policy);
        let manager =
            format!(r#"<CookieManager testname="m">{policy}{own}</CookieManager><hashTree/>"#);
        let follows = r#"<boolProp name="HTTPSampler.auto_redirects">true</boolProp>"#;
        translated(&plan(&(manager + &request("r", &(TO_SHOP.to_owned() + follows), ""))))
    };
    for policy in ["standard", "netscape", "best-match", "compatibility"] {
        let (text, obstacles) = of(policy, "");
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(r#""redirect_cookies": false"#), "{text}");
    }
    let (text, obstacles) = of("ignoreCookies", "");
    assert_eq!(obstacles, [""; 0]);
    assert_eq!(text.matches("cookies\": true").count(), 0, "{text}");
    assert!(!text.contains("redirect_cookies"), "{text}");
    let cookie = r#"<collectionProp name="CookieManager.cookies"><elementProp name="c" elementType="Cookie"/></collectionProp>"#;
    let why = "m: cookies of its own beside the policy `ignoreCookies`";
    assert_eq!(of("ignoreCookies", cookie).1, [why]);
    assert_eq!(of("rfc2965", "").1, ["m: the cookie policy `rfc2965`"]);
}
