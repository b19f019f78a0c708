//! TCP Samplers.

use super::*;

/// The translation of a sampler with these properties, and what stands before it.
fn sampler(before: &str, properties: &[(&str, &str)]) -> (String, Vec<String>) {
    let own = |(name, value): &(&str, &str)| string(&format!("TCPSampler.{name}"), value);
    let own: String = properties.iter().map(own).collect();
    translated(&plan(&format!(r#"{before}<TCPSampler testname="t">{own}</TCPSampler><hashTree/>"#)))
}

const PLACE: [(&str, &str); 2] = [("server", "db.test"), ("port", "70")];

fn at_place(more: &[(&str, &str)]) -> (String, Vec<String>) {
    sampler("", &[&PLACE, more].concat())
}

/// What a plan has to say of such a sampler.
fn says(more: &[(&str, &str)], parts: &[&str]) {
    let (text, obstacles) = at_place(more);
    assert_eq!(obstacles, [""; 0], "{more:?}");
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn classes_say_what_bytes_are_and_where_they_end() {
    says(
        &[("request", "a ${__threadNum}")],
        &[r#""tcp": "db.test:70""#, r#""send": "a ${user + 1}""#],
    );
    assert!(!at_place(&[]).0.contains("until"), "until the server closes");
    says(&[("EolByte", "10")], &[r#""byte": 10"#, r#""or_close": true"#]);
    says(&[("EolByte", "-1")], &[r#""byte": 255"#]);
    says(&[("EolByte", "x")], &[r#""byte": 0"#]);
    assert!(!at_place(&[("EolByte", "200")]).0.contains("until"), "it is no byte of Java");
    let binary = ("classname", "org.apache.jmeter.protocol.tcp.sampler.BinaryTCPClientImpl");
    says(&[binary, ("request", "0aff"), ("EolByte", "3")], &[r#""form": "hex""#, r#""byte": 3"#]);
    let prefixed = ("classname", "LengthPrefixedBinaryTCPClientImpl");
    says(&[prefixed, ("EolByte", "3")], &[r#""form": "hex""#, r#""length_prefix": 2"#]);
    for (more, reason) in [
        (vec![("classname", "com.example.Own")], "the class"),
        (vec![binary, ("request", "0a0")], "hexadecimal"),
        (vec![("soLinger", "-1")], "SO_LINGER"),
        (vec![("unknown", "1")], "TCPSampler.unknown"),
    ] {
        let (_, obstacles) = at_place(&more);
        assert!(obstacles.iter().any(|own| own.contains(reason)), "{more:?}: {obstacles:?}");
    }
}

#[test]
fn connections_and_times_are_those_of_the_sampler_or_its_defaults() {
    assert!(!at_place(&[]).0.contains(r#""connection""#), "it is kept");
    says(&[("closeConnection", "true")], &[r#""connection": "close""#]);
    says(&[("reUseConnection", "false")], &[r#""connection": "new""#]);
    says(&[("soLinger", "0"), ("nodelay", "true")], &[r#""reset": true"#]);
    says(
        &[("ctimeout", "100"), ("timeout", "2000")],
        &[r#""connect": "100ms""#, r#""first_byte": "2s""#, r#""total": "2s100ms""#],
    );
    let of = |name: &str, value: &str| string(&format!("TCPSampler.{name}"), value);
    let config = of("server", "other.test") + &of("port", "80") + &of("EolByte", "10");
    let config = format!(
        r#"<ConfigTestElement guiclass="TCPConfigGui" testname="c">{config}</ConfigTestElement><hashTree/>"#
    );
    let (text, obstacles) = sampler(&config, &[("port", "81"), ("request", "x")]);
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""other.test:81""#) && text.contains(r#""byte": 10"#), "{text}");
}

#[test]
fn places_that_the_run_decides_may_be_anywhere() {
    let (text, obstacles) = sampler("", &[("server", "${__P(h)}${__threadNum}"), ("port", "1")]);
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""allow_hosts""#), "{text}");
    for port in ["", "x", "0", "70000"] {
        let (text, obstacles) = sampler("", &[("server", "h"), ("port", port)]);
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains("fail("), "each sample fails: {text}");
    }
    assert!(sampler("", &[("port", "1")]).0.contains(r#""127.0.0.1:1""#));
    assert!(sampler("", &[("server", "::1"), ("port", "1")]).0.contains(r#""[::1]:1""#));
}
