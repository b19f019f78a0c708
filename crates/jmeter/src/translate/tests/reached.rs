//! Proxies and source addresses.

use super::*;

/// A plan's translation with these properties of JMeter and of the system: as YAML, and what has no equal.
fn with(text: &str, own: &[(&str, &str)], system: &[(&str, &str)]) -> (String, Vec<String>) {
    let map = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let machine = crate::Machine {
        properties: map(system),
        name: Some("here".to_owned()),
        address: Some("10.0.0.1".to_owned()),
        ..crate::Machine::default()
    };
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let given =
        TranslationContext { machine, properties: map(own), ..TranslationContext::default() };
    let made = translate(&tree, given);
    let what = made.obstacles.into_iter().map(|obstacle| obstacle.what).collect();
    (quoted(&made.plan), what)
}

/// A data set with the variable `v`.
const DATA: &str = "<CSVDataSet testname=\"c\"><stringProp name=\"filename\">a.csv</stringProp>\
                    <stringProp name=\"variableNames\">v</stringProp></CSVDataSet><hashTree/>";

/// The value of a key in a request with these properties, and what has no equal.
fn of_request(key: &str, properties: &[(&str, &str)]) -> (Option<String>, Vec<String>) {
    let own: String = properties
        .iter()
        .map(|(name, value)| string(&format!("HTTPSampler.{name}"), value))
        .collect();
    let text = plan(&(DATA.to_owned() + &request("r", &format!("{TO_SHOP}{own}"), "")));
    let (yaml, what) = with(&text, &[], &[]);
    let line = yaml.lines().find_map(|line| line.trim().strip_prefix(&format!("\"{key}\": ")));
    (line.map(|line| line.trim_end_matches(',').to_owned()), what)
}

#[test]
fn proxies_of_requests() {
    for (properties, expected) in [
        (&[("proxyHost", "p.test"), ("proxyPort", "80")][..], Some(r#""http://p.test:80""#)),
        (
            &[
                ("proxyHost", "::1"),
                ("proxyPort", " 81 "),
                ("proxyUser", "a b"),
                ("proxyPass", "p%@+"),
                ("proxyScheme", "http"),
            ],
            Some(r#""http://a%20b:p%25%40%2B@[::1]:81""#),
        ),
        (
            &[("proxyHost", "p"), ("proxyPort", "1"), ("proxyUser", "u"), ("proxyPass", "${v}")],
            Some(r#""http://${url_encode(\"u\") + \":\" + url_encode(string(v)) + \"@\"}p:1""#),
        ),
        // What JMeter takes for none.
        (&[("proxyHost", " "), ("proxyPort", "80")], None),
        (&[("proxyHost", "p")], None),
        (&[("proxyHost", "p"), ("proxyPort", "x")], None),
    ] {
        let (found, what) = of_request("proxy", properties);
        assert_eq!((found.as_deref(), what), (expected, Vec::new()), "{properties:?}");
    }
    let (found, _) = of_request("proxy", &[("proxyHost", "${v}"), ("proxyPort", "80")]);
    let found = found.expect("whether there is one, its variable says");
    assert!(found.starts_with(r#""${string(v) != \"\" && "#), "{found}");
    for (host, is_anywhere) in [("p.test", false), ("${v}", true)] {
        let own = string("HTTPSampler.proxyHost", host) + &string("HTTPSampler.proxyPort", "80");
        let text = plan(&(DATA.to_owned() + &request("r", &format!("{TO_SHOP}{own}"), "")));
        let (yaml, _) = with(&text, &[], &[]);
        assert_eq!(yaml.contains("allow_hosts"), is_anywhere, "{yaml}");
    }
    let tls = [("proxyHost", "p"), ("proxyPort", "1"), ("proxyScheme", "https")];
    assert_eq!(of_request("proxy", &tls).1, ["a proxy that is spoken to by TLS"]);
}

/// A password that is known stands in a secret variable where only the run knows whose it is.
#[test]
fn passwords_of_users_that_only_the_run_knows() {
    let own = |user: &str, host: &str| {
        [("proxyHost", host), ("proxyPort", "1"), ("proxyUser", user), ("proxyPass", "tuna fish")]
            .map(|(name, value)| string(&format!("HTTPSampler.{name}"), value))
            .concat()
    };
    let data = "<CSVDataSet testname=\"c\"><stringProp name=\"filename\">a.csv</stringProp>\
                <stringProp name=\"variableNames\">v</stringProp></CSVDataSet><hashTree/>";
    let of = |users: &[&str], host: &str| {
        let requests = users
            .iter()
            .map(|user| request("r", &format!("{TO_SHOP}{}", own(user, host)), ""))
            .collect::<String>();
        let tree = Tree::read(plan(&(data.to_owned() + &requests)).as_bytes()).expect("a plan");
        let made = translate(&tree, TranslationContext::default());
        assert_eq!(made.obstacles, []);
        made.plan
    };
    for host in ["p.test", "${v}"] {
        let known = of(&["${v}", "a${v}"], host);
        let secrets = known.vars.iter().filter(|var| var.is_secret());
        let names: Vec<&str> = secrets.map(|var| var.name.value.as_str()).collect();
        assert_eq!(names, ["constant_1_password"]);
        let plain = quoted(&known);
        assert_eq!(plain.matches("tuna").count(), 1, "{plain}");
        assert!(plain.contains("url_encode(string(constant_1_password))"), "{plain}");
    }
    for plan in [
        of(&["${v}"], "p.test"),
        of(&["${v}"], "${v}"),
        of(&["ada"], "p.test"),
        of(&["ada"], "${v}"),
    ] {
        let masked = yaml::print(&plan, true);
        assert!(!masked.contains("tuna") && masked.contains("***"), "{masked}");
    }
}

#[test]
fn source_addresses_of_requests() {
    for (properties, expected) in [
        (&[("ipSource", "127.0.0.2"), ("ipSourceType", "0")][..], Some(r#""127.0.0.2""#)),
        (&[("ipSource", "::1")], Some(r#""::1""#)),
        (&[("ipSource", "localhost")], Some(r#""127.0.0.1""#)),
        (&[("ipSource", "here")], Some(r#""10.0.0.1""#)),
        (&[("ipSource", "${v}")], Some(r#""${v}""#)),
        (&[("ipSource", " "), ("ipSourceType", "1")], None),
        // Java's client has none.
        (&[("ipSource", "127.0.0.2"), ("implementation", "Java")], None),
    ] {
        let (found, what) = of_request("source_address", properties);
        assert_eq!((found.as_deref(), what), (expected, Vec::new()), "{properties:?}");
    }
    for (properties, expected) in [
        (&[("ipSource", "there")][..], "the source address `there`, which is not an IP address"),
        (&[("ipSource", "eth0"), ("ipSourceType", "2")], "the source address of a device"),
    ] {
        assert_eq!(of_request("source_address", properties).1, [expected]);
    }
}

#[test]
fn properties_say_of_all_requests_how_they_are_reached() {
    let text = plan(&request("r", TO_SHOP, ""));
    let own = [
        ("http.proxyUser", "ada"),
        ("http.proxyPass", "s t"),
        ("httpclient.localaddress", "127.0.0.2"),
    ];
    let proxy = [("http.proxyHost", "p.test"), ("http.proxyPort", "3128")];
    let except = ("http.nonProxyHosts", "a.test|*.near.test|127.*|*");
    let (yaml, what) = with(&text, &own, &[&proxy[..], &[except]].concat());
    assert_eq!(what, [""; 0]);
    let yaml: String = yaml.split_whitespace().collect();
    for part in [
        r#""proxy":"http://ada:s%20t@p.test:3128""#,
        r#""no_proxy":-"a.test"-"*.near.test"-"*""#,
        r#""source_addresses":-"127.0.0.2""#,
    ] {
        assert!(yaml.contains(part), "{part}: {yaml}");
    }
    let without = with(&text, &own[..2], &[("http.proxyHost", "p")]).0;
    assert!(!without.contains("proxy"), "{without}");
    for (own, system, expected) in [
        (&[][..], ("http.nonProxyHosts", "*near.test"), "`*near.test` in http.nonProxyHosts"),
        (&[], ("http.proxyPort", "x"), "`x` as http.proxyPort"),
        (&[], ("http.proxyScheme", "https"), "a proxy that is spoken to by TLS"),
        (
            &[("httpclient.localaddress", "there")],
            ("a", "b"),
            "the source address `there`, which is not an IP address",
        ),
    ] {
        let (_, what) = with(&text, own, &[&proxy[..], &[system]].concat());
        assert_eq!(what, [expected]);
    }
    let java = string("HTTPSampler.implementation", "Java");
    let text = plan(&request("r", &format!("{TO_SHOP}{java}"), ""));
    let (_, what) = with(&text, &[], &proxy);
    assert_eq!(what, ["the proxy of system properties with the client of Java"]);
}
