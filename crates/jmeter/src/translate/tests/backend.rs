//! Backend listeners: the feeds that they become, and those that send nothing.

use super::*;
use crate::inventory::Fate;

const PACKAGE: &str = "org.apache.jmeter.visualizers.backend.";

/// A listener of a class with these parameters.
fn listener(name: &str, class: &str, parameters: &[(&str, &str)]) -> String {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            r#"<elementProp name="{name}" elementType="Argument">{}{}</elementProp>"#,
            string("Argument.name", name),
            string("Argument.value", value)
        )
    };
    let arguments: String = parameters.iter().map(argument).collect();
    format!(
        r#"<BackendListener testname="{name}"><elementProp name="arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>{}</BackendListener><hashTree/>"#,
        string("classname", class)
    )
}

fn influxdb(name: &str, parameters: &[(&str, &str)]) -> String {
    listener(name, &format!("{PACKAGE}influxdb.InfluxdbBackendListenerClient"), parameters)
}

fn graphite(name: &str, parameters: &[(&str, &str)]) -> String {
    listener(name, &format!("{PACKAGE}graphite.GraphiteBackendListenerClient"), parameters)
}

/// The feeds of a plan with these elements beside a thread group, and in it; and what becomes of its listeners.
fn feeds(beside: &str, inside: &str, properties: &[(&str, &str)]) -> (String, Vec<String>) {
    let (name, loops) = ("ThreadGroup.num_threads", "LoopController.loops");
    let text = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>{beside}
        <ThreadGroup testname="users">{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{}
        <boolProp name="LoopController.continue_forever">false</boolProp></elementProp></ThreadGroup>
        <hashTree>{inside}{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        string(name, "1"),
        string(loops, "1"),
        request("r", TO_SHOP, ""),
    );
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let properties = properties.iter().map(owned).collect();
    let translation =
        translate(&tree, TranslationContext { properties, ..TranslationContext::default() });
    assert_eq!(translation.obstacles, []);
    let found = inventory(&tree, &[], &translation.idle);
    assert!(found.is_whole());
    let listeners = found.entries.iter().filter(|entry| entry.kind == "Backend Listener");
    let fates = listeners.map(|entry| match &entry.fate {
        Fate::Runs => format!("{} runs", entry.name),
        Fate::Idle(why) => format!("{}: {why}", entry.name),
        other => panic!("{other:?}"),
    });
    let fates = fates.collect();
    let printed = yaml::print(&translation.plan, false);
    let again = yaml::load_str("p", &printed, "".as_ref(), &Default::default()).expect("a plan");
    assert_eq!(again.plan.feeds, translation.plan.feeds);
    let printed = quoted(&translation.plan);
    let feeds = printed.split_once("\n\"feeds\":\n").map_or("", |(_, feeds)| feeds);
    (feeds.to_owned(), fates)
}

#[test]
fn a_listener_of_influxdb_becomes_a_feed() {
    let parameters = [
        ("influxdbMetricsSender", &*format!("{PACKAGE}influxdb.HttpMetricsSender")),
        ("influxdbUrl", "http://${__P(db,h)}:8086/api/v2/write?org=o&amp;bucket=b"),
        ("influxdbUrl", "http://second:8086/"),
        ("influxdbToken", "abc"),
        ("application", "shop"),
        ("measurement", ""),
        ("summaryOnly", "false"),
        ("samplersRegex", "^a.*"),
        ("percentiles", "90;95.0; 99.9 ;x;101;95"),
        ("testTitle", "of ${nobody}"),
        ("eventTags", ""),
        ("TAG_env", " ci "),
        ("TAG_none", ""),
    ];
    let given = [("db", "db.test"), ("backend_influxdb.send_interval", "10")];
    let (feeds, fates) = feeds(&influxdb("l", &parameters), "", &given);
    let expected = r#"  -
    "influxdb": "http://db.test:8086/api/v2/write?org=o&bucket=b"
    "token": "abc"
    "jmeter_points":
      "names": "^a.*"
      "percentiles":
        - 90.0
        - 99.9
        - 95.0
      "every": "10s"
      "application": "shop"
      "title": "of $${nobody}"
    "tags":
      "env": "ci"
"#;
    assert_eq!(feeds, expected);
    assert_eq!(fates, ["l runs"]);
}

#[test]
fn a_listener_of_graphite_becomes_a_feed() {
    let own = |more: &[(&str, &str)]| {
        let all = [("graphiteHost", "h"), ("graphitePort", "2103"), ("rootMetricsPrefix", "p.")];
        let (feeds, fates) = feeds("", &graphite("l", &[&all[..], more].concat()), &[]);
        assert_eq!(fates, ["l runs"]);
        feeds
    };
    let feed = own(&[]);
    assert!(
        feed.contains("\"graphite\": \"h:2103\"") && feed.contains("\"prefix\": \"p.\""),
        "{feed}"
    );
    assert!(feed.contains("\"scenarios\":\n        - \"users\""), "{feed}");
    assert!(!feed.contains("names"), "{feed}");
    let feed = own(&[("summaryOnly", "false"), ("samplersList", "a;b c?")]);
    assert!(feed.contains(r#""names": "\\A(?:a|b c\\?)\\z""#), "{feed}");
    let all =
        [("summaryOnly", "false"), ("useRegexpForSamplersList", "true"), ("samplersList", ".*")];
    assert!(own(&all).contains(r#""names": "\\A(?:.*)\\z""#));
}

#[test]
fn other_listeners_send_nothing_and_it_is_said_why() {
    let to = ("influxdbUrl", "http://h:8086/write?db=a");
    let udp = format!("{PACKAGE}influxdb.UdpMetricsSender");
    let pickle = format!("{PACKAGE}graphite.PickleGraphiteMetricsSender");
    let beside = influxdb("late", &[("influxdbUrl", "http://${__time()}/write?db=a")])
        + &influxdb("unset", &[("influxdbUrl", "http://${nobody}/write?db=a")])
        + &influxdb("nowhere", &[("influxdbUrl", "http://me:secret@h:8086/")])
        + &influxdb("udp", &[("influxdbMetricsSender", &*udp), to])
        + &influxdb("ahead", &[to, ("samplersRegex", "(?=a)")])
        + &influxdb("taken", &[to, ("TAG_statut", "x")])
        + &graphite("pickle", &[("graphiteMetricsSender", &*pickle), ("graphiteHost", "h")])
        + &graphite("no host", &[])
        + &listener("raw", &format!("{PACKAGE}influxdb.InfluxDBRawBackendListenerClient"), &[to])
        + &listener("own", "com.example.Client", &[]);
    let inside = format!(
        r#"<GenericController testname="c"/><hashTree>{}</hashTree>"#,
        influxdb("inside", &[to])
    );
    let (feeds, fates) = feeds(&beside, &inside, &[]);
    assert_eq!(feeds, "");
    for (fate, word) in fates.iter().zip([
        "late: `http://${__time()}",
        "unset: where it goes, `http://${nobody}",
        "nowhere: influxdb=http://***@h:8086/: expected the URL that takes writes",
        "udp: its sender `org.apache.jmeter.visualizers.backend.influxdb.UdpMetricsSender`",
        "ahead: `(?` in the pattern",
        "taken: the tag `statut`",
        "pickle: its sender",
        "no host: graphite=:2003: expected",
        "raw: its class",
        "own: its class `com.example.Client`",
        "inside: it stands in a controller or below a sampler",
    ]) {
        assert!(fate.starts_with(word), "{fate} is not {word}");
    }
    assert_eq!(fates.len(), 11);
}
