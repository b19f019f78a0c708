//! Properties of JMeter itself that are given and change nothing here.

use std::collections::BTreeMap;

/// The property that says in which form samples are written.
pub const FORM: &str = "jmeter.save.saveservice.output_format";
/// The property that says whether parts of samples are written.
pub const PARTS: &str = "jmeter.save.saveservice.subresults";
/// The property that says how many seconds there are from one line of the summary to the next.
pub const INTERVAL: &str = "summariser.interval";

/// How JMeter's own properties begin (`bin/jmeter.properties` of Apache JMeter 5.6.3, without those of its desk).
const OF_JMETER: [&str; 65] = [
    "CookieManager.",
    "HTTPResponse.",
    "JMSSampler.",
    "aggregate_rpt_pct",
    "assertion.equals_",
    "asynch.",
    "backend_",
    "beanshell.",
    "cache_manager.",
    "cacheable_methods",
    "classfinder.",
    "client.",
    "cookies",
    "css.parser.",
    "cssParser.",
    "cssselector.",
    "csvdataset.",
    "csvread.",
    "document.max_size",
    "function.",
    "groovy.",
    "hc.parameters.file",
    "htmlParser.",
    "http.",
    "httpclient",
    "https.",
    "httpsampler.",
    "includecontroller.",
    "javascript.",
    "jdbc.",
    "jdbcsampler.",
    "jmeter.",
    "jmeterengine.",
    "jmeterthread.",
    "jsr223.",
    "kerberos",
    "key_on_threadname",
    "language",
    "ldapsampler.",
    "log_level.",
    "mailer.",
    "mirror.",
    "mode",
    "num_sample_threshold",
    "oro.",
    "os_sampler.",
    "plugin_dependency_paths",
    "proxy.",
    "remote_hosts",
    "resultcollector.",
    "sample_sender_",
    "sample_variables",
    "sampleresult.",
    "search_paths",
    "server.",
    "server_port",
    "subresults.",
    "summariser.",
    "system.properties",
    "tcp.",
    "time",
    "upgrade_properties",
    "user.",
    "wmlParser.",
    "xpath",
];
/// Those that are heeded: by the command itself, or where the plan is read.
const HEEDED: [&str; 16] = [
    FORM,
    INTERVAL,
    PARTS,
    "backend_graphite.send_interval",
    "backend_influxdb.send_interval",
    "csvread.delimiter",
    "http.proxyPass",
    "http.proxyUser",
    "httpclient.localaddress",
    "includecontroller.prefix",
    "tcp.BinaryTCPClient.eomByte",
    "tcp.binarylength.prefix.length",
    "tcp.charset",
    "tcp.eolByte",
    "tcp.handler",
    "tcp.status.prefix",
];

/// The names of properties that are JMeter's own and change nothing here. Those that it was shipped with are nothing to speak
/// of, and those whose names the plan has in it are the plan's.
pub fn names<'p>(
    properties: &'p BTreeMap<String, String>,
    shipped: &BTreeMap<String, String>,
    plan: &str,
) -> Vec<&'p str> {
    let given = properties.iter().filter(|(name, value)| shipped.get(*name) != Some(*value));
    let names = given.map(|(name, _)| name.as_str());
    let of_jmeter = names.filter(|name| OF_JMETER.iter().any(|own| name.starts_with(own)));
    of_jmeter.filter(|name| !HEEDED.contains(name) && !plan.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_nothing_is_named_but_not_what_the_plan_asks_for() {
        let of = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect()
        };
        let given = of(&[
            "sample_variables",
            "https.default.protocol",
            "function.cache.per.iteration",
            "xpath.namespace.config",
            "beanshell.init.file",
            "server.rmi.port",
            "summariser.interval",
            "tcp.handler",
            "http.port",
            "users",
        ]);
        let found = names(&given, &of(&["server.rmi.port"]), "to ${__P(http.port)}");
        let expected = [
            "beanshell.init.file",
            "function.cache.per.iteration",
            "https.default.protocol",
            "sample_variables",
            "xpath.namespace.config",
        ];
        assert_eq!(found, expected);
    }
}
