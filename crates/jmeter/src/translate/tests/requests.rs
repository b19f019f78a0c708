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

#[test]
fn times_limit_how_long_a_request_takes() {
    let times = string("HTTPSampler.connect_timeout", "100")
        + &string("HTTPSampler.response_timeout", "2000");
    let (text, obstacles) = translated(&plan(&request("r", &(TO_SHOP.to_owned() + &times), "")));
    assert_eq!(obstacles, [""; 0]);
    let of_request = text.split_once("\"get\":").expect("a request").1;
    for line in [r#""connect": "100ms""#, r#""first_byte": "2s""#] {
        assert!(of_request.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_page_loads_what_it_names() {
    let page = |more: &str| {
        let own = format!("{TO_SHOP}{}{more}", flag("image_parser"));
        let (text, obstacles) = translated(&plan(&request("r", &own, "")));
        assert_eq!(obstacles, [""; 0]);
        text.replace("\\\\", "\\")
    };
    let text = page(
        &(flag("concurrentDwn")
            + &string("HTTPSampler.concurrentPool", "3")
            + &string("HTTPSampler.embedded_url_re", r"http://shop\.test/.*")
            + &string("HTTPSampler.embedded_url_exclude_re", r".*\.gif")),
    );
    for part in [
        r#""limit": 3"#,
        r#""include": "\A(?:http://shop\.test/.*)\z""#,
        r#""exclude": "\A(?:.*\.gif)\z""#,
        r#""hosts": "all""#,
        "allow_hosts",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // One after the other, whatever the number says; without one there are six.
    assert!(page(&string("HTTPSampler.concurrentPool", "3")).contains(r#""limit": 1"#));
    let text = page(&flag("concurrentDwn"));
    assert!(!text.contains(r#""limit": 1"#) && !text.contains(r#""include""#), "{text}");
}

#[test]
fn old_names_of_the_sampler_are_requests() {
    for tag in ["HTTPSampler", "HTTPSampler2"] {
        let own = format!(r#"<{tag} testname="old">{TO_SHOP}</{tag}><hashTree/>"#);
        let (text, obstacles) = translated(&plan(&own));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(r#""get": "/cart""#) && text.contains(r#""name": "old""#), "{text}");
    }
}

#[test]
fn credentials_are_those_of_the_url_and_its_mechanism() {
    let manager = |url: &str, mechanism: &str| {
        let own = string("Authorization.url", url)
            + &string("Authorization.username", "me")
            + &string("Authorization.password", "word")
            + &string("Authorization.mechanism", mechanism);
        let own =
            format!(r#"<elementProp name="" elementType="Authorization">{own}</elementProp>"#);
        format!(
            r#"<AuthManager testname="a"><collectionProp name="AuthManager.auth_list">{own}</collectionProp></AuthManager><hashTree/>"#
        )
    };
    let of = |url: &str, mechanism: &str| {
        translated(&plan(&request("r", TO_SHOP, &manager(url, mechanism))))
    };
    let (text, obstacles) = of("http://shop.test:80/ca", "DIGEST");
    assert_eq!(obstacles, [""; 0]);
    for part in [r#""digest":"#, r#""user": "me""#, r#""password": "word""#] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(of("http://shop.test/", "BASIC_DIGEST").0.contains(r#""basic":"#));
    assert!(!of("http://shop.test/other", "DIGEST").0.contains("digest"));
    assert_eq!(of("http://shop.test/", "KERBEROS").1, ["a: the mechanism `KERBEROS`"]);
}

#[test]
fn whole_urls_are_looked_at_behind_their_hosts() {
    let of = |path: &str| {
        let set = string("HTTPSampler.path", path);
        let extractor = r#"<RegexExtractor testname="x"><stringProp name="RegexExtractor.refname">h</stringProp>
            <stringProp name="RegexExtractor.regex">h=(.)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
            <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
        let first = request("first", TO_SHOP, extractor);
        let (text, lacks) =
            translated(&plan(&(first + &request("r", &(TO_SHOP.to_owned() + &set), ""))));
        assert_eq!(lacks, [""; 0]);
        text
    };
    for (path, expected) in [
        ("http://${h}:80/a?b=${h}#c", r##": "http://${h}:80/a?b=${url_part(h, \" []\")}""##),
        ("http://${h}", r##": "http://${split(url_part(h, \" #\"), \"#\")[0]}""##),
        ("https://a.test", r##": "https://a.test""##),
        ("https://a.test/b[c]", "Illegal character in path at index 16: https://a.test/b[c]"),
        ("${h}", r##"${(string(h).startsWith(\"http://\")"##),
    ] {
        assert!(of(path).contains(expected), "{path}: {}", of(path));
    }
}

#[test]
fn headers_of_a_manager_do_not_contradict_the_body() {
    let headers: String =
        [("Content-Type", "application/json"), ("Content-Length", "99"), ("X-Own", "1")]
            .iter()
            .map(|(name, value)| {
                let own = string("Header.name", name) + &string("Header.value", value);
                format!(r#"<elementProp name="" elementType="Header">{own}</elementProp>"#)
            })
            .collect();
    let manager = format!(
        r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers">{headers}</collectionProp></HeaderManager><hashTree/>"#
    );
    let of = |more: &str| {
        let own = format!("{TO_SHOP}{}{more}", string("HTTPSampler.method", "POST"));
        let (text, lacks) = translated(&plan(&request("r", &own, &manager)));
        assert_eq!(lacks, [""; 0]);
        assert!(text.contains("X-Own") && !text.contains("Content-Length"), "{text}");
        text
    };
    assert!(of("").contains("application/json"));
    let text = of(&flag("DO_MULTIPART_POST"));
    assert!(text.contains("multipart") && !text.contains("Content-Type"), "{text}");
}

fn dns(own: &str, hosts: &[(&str, &str)]) -> String {
    let hosts: String = hosts
        .iter()
        .map(|(name, address)| {
            let own = string("StaticHost.Name", name) + &string("StaticHost.Address", address);
            format!(r#"<elementProp name="{name}" elementType="StaticHost">{own}</elementProp>"#)
        })
        .collect();
    format!(
        r#"<DNSCacheManager testname="d">{own}<collectionProp name="DNSCacheManager.hosts">{hosts}</collectionProp>
        </DNSCacheManager><hashTree/>"#
    )
}

#[test]
fn hosts_are_where_a_manager_says() {
    let manager = dns(
        r#"<boolProp name="DNSCacheManager.isCustomResolver">true</boolProp>"#,
        &[("shop.test", "127.0.0.1 , backend.test"), ("shop.test", "127.0.0.9")],
    );
    let (text, lacks) = translated(&plan(&request("r", TO_SHOP, &manager)));
    assert_eq!(lacks, [""; 0]);
    let squeezed = text.split_whitespace().collect::<String>();
    let expected = r#""resolve":"shop.test":-"127.0.0.1"-"backend.test""dns":"select":"first""#;
    assert!(squeezed.contains(expected), "{text}");
    // A table of one address says nothing of an order, and one of another request does not hold for it.
    let one = dns("", &[("shop.test", "127.0.0.1")]);
    let text = translated(&plan(&request("r", TO_SHOP, &one))).0;
    assert!(text.contains("resolve") && !text.contains("select"), "{text}");
    let two = request("r", TO_SHOP, &one) + &request("s", TO_SHOP, "");
    let why = "d: hosts of its own that do not hold for all requests of the plan";
    assert_eq!(translated(&plan(&two)).1, [why]);
    let alike = request("r", TO_SHOP, &one) + &request("s", TO_SHOP, &one);
    assert_eq!(translated(&plan(&alike)).1, [""; 0]);
    // The client of Java looks names up by itself.
    let java = TO_SHOP.to_owned() + &string("HTTPSampler.implementation", "Java");
    let (text, lacks) = translated(&plan(&request("r", &java, &one)));
    assert_eq!((text.contains("resolve"), lacks.len()), (false, 0));
    let nothing = dns("", &[("shop.test", "")]);
    assert_eq!(obstacles("", &nothing), ["d: `shop.test` without an address"]);
}

#[test]
fn names_are_looked_up_as_ever_unless_a_manager_has_servers() {
    let manager = |own: bool, servers: &str| {
        dns(
            &format!(
                r#"<boolProp name="DNSCacheManager.isCustomResolver">{own}</boolProp>
                <boolProp name="DNSCacheManager.clearEachIteration">true</boolProp>
                <collectionProp name="DNSCacheManager.servers">{servers}</collectionProp>"#
            ),
            &[],
        )
    };
    let server = r#"<stringProp name="1">192.0.2.53</stringProp>"#;
    for (own, servers) in [(false, ""), (false, server), (true, "")] {
        assert_eq!(obstacles("", &manager(own, servers)), [""; 0]);
    }
    assert_eq!(obstacles("", &manager(true, server)), ["d: name servers of its own"]);
    let text = translated(&plan(&request("r", TO_SHOP, &manager(false, "")))).0;
    assert!(text.contains(r#""ttl": "30s""#), "{text}");
}

#[test]
fn a_digest_may_take_the_place_of_a_body() {
    let own = format!("{TO_SHOP}{}{}", flag("md5"), flag("image_parser"));
    let (text, lacks) = translated(&plan(&request("r", &own, "")));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""digest": "md5""#) && !text.contains("resources"), "{text}");
}

#[test]
fn the_file_of_an_old_sampler_is_refused_with_what_to_do() {
    let own = |file: &str| {
        string("HTTPSampler.FILE_NAME", file) + &string("HTTPSampler.mimetype", "text/plain")
    };
    assert_eq!(obstacles(&own(""), ""), [""; 0]);
    let lacks = obstacles(&own("a.txt"), "");
    assert!(lacks[0].contains("belongs into its files"), "{lacks:?}");
}

#[test]
fn a_request_of_graphql_is_its_arguments() {
    let body = string("Argument.value", "{&quot;query&quot;:&quot;{ shop }&quot;}");
    let body = format!(
        r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="" elementType="HTTPArgument">{body}</elementProp></collectionProp></elementProp>"#
    );
    let own = flag("postBodyRaw") + &string("HTTPSampler.method", "POST") + &body;
    let own = own + &string("GraphQLHTTPSampler.query", "{ shop }") + TO_SHOP;
    let text = format!(
        r#"<HTTPSamplerProxy guiclass="GraphQLHTTPSamplerGui" testname="r">{own}</HTTPSamplerProxy><hashTree/>"#
    );
    let (text, lacks) = translated(&plan(&text));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""body": "{\"query\":\"{ shop }\"}""#), "{text}");
}
