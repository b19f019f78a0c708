//! k6's options: how each is called in a script, on the command line and in the environment. Pure.

/// How an option is written as a text, on the command line and in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// `true` or `false`; on the command line its name alone.
    Switch,
    /// A text, or a time.
    Text,
    /// A text; on the command line its name alone asks for heads.
    Debug,
    /// Texts with commas between them; on the command line also several times.
    List,
    /// `10s:5,1m:20`: lengths and targets.
    Stages,
    /// `name=value`, with commas between them; on the command line also several times.
    Pairs,
    /// JSON; nothing that is typed on the command line.
    Json,
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// As scripts and `--config` files call it.
    pub name: &'static str,
    /// Its flag without `--`; empty: it has none.
    pub flag: &'static str,
    /// Its short flag.
    pub short: Option<char>,
    /// Its variable in the environment; empty: it has none.
    pub variable: &'static str,
    pub kind: Kind,
    /// What it does, for the help.
    pub about: &'static str,
}

/// The option that a script calls so; capitals do not matter, as in k6.
pub fn known(name: &str) -> Option<&'static Known> {
    OPTIONS.iter().find(|own| own.name.eq_ignore_ascii_case(name))
}

/// The rows of the table: name, flag, short flag, variable, kind, and what it does.
macro_rules! options {
    ($($name:literal $flag:literal $short:expr, $variable:literal $kind:ident $about:literal;)+) => {
        &[$(Known {
            name: $name,
            flag: $flag,
            short: $short,
            variable: $variable,
            kind: Kind::$kind,
            about: $about,
        }),+]
    };
}

/// All options, in the order of the help.
pub static OPTIONS: &[Known] = options! {
    "vus" "vus" Some('u'), "K6_VUS" Number "Virtual users";
    "duration" "duration" Some('d'), "K6_DURATION" Text "Length of the test, such as 30s";
    "iterations" "iterations" Some('i'), "K6_ITERATIONS" Number "Iterations of all virtual users together";
    "stages" "stage" Some('s'), "K6_STAGES" Stages "A stage, such as 30s:10: its length, and the virtual users at its end";
    "scenarios" "" None, "" Json "Scenarios, by name";
    "thresholds" "" None, "K6_THRESHOLDS" Json "Thresholds, by metric";
    "tags" "tag" None, "K6_TAGS" Pairs "A tag of everything that is measured, such as name=value";
    "maxRedirects" "max-redirects" None, "K6_MAX_REDIRECTS" Number "Maximum number of redirects that a request follows [default: 10]";
    "batch" "batch" None, "K6_BATCH" Number "Maximum number of requests of a batch at a time [default: 20]";
    "batchPerHost" "batch-per-host" None, "K6_BATCH_PER_HOST" Number "The same to one host [default: 6; 0: any number]";
    "rps" "rps" None, "K6_RPS" Number "Maximum number of requests per second, of all virtual users together";
    "userAgent" "user-agent" None, "K6_USER_AGENT" Text "The User-Agent of requests";
    "httpDebug" "http-debug" None, "K6_HTTP_DEBUG" Debug "Log the heads of requests and responses; with =full bodies too";
    "insecureSkipTLSVerify" "insecure-skip-tls-verify" None, "K6_INSECURE_SKIP_TLS_VERIFY" Switch "Accept any certificate";
    "noConnectionReuse" "no-connection-reuse" None, "K6_NO_CONNECTION_REUSE" Switch "A new connection for each request";
    "noVUConnectionReuse" "no-vu-connection-reuse" None, "K6_NO_VU_CONNECTION_REUSE" Switch "New connections in each iteration";
    "minIterationDuration" "min-iteration-duration" None, "K6_MIN_ITERATION_DURATION" Text "Minimum length of an iteration; a shorter one waits";
    "throw" "throw" Some('w'), "K6_THROW" Switch "Requests that fail throw";
    "blacklistIPs" "blacklist-ip" None, "K6_BLACKLIST_IPS" List "Networks that requests may not go to, such as 10.0.0.0/8";
    "blockHostnames" "block-hostnames" None, "K6_BLOCK_HOSTNAMES" List "Hosts that requests may not go to, such as *.example.com";
    "localIPs" "local-ips" None, "K6_LOCAL_IPS" Text "Addresses that connections are made from, such as 10.0.0.1-10.0.0.9";
    "dns" "dns" None, "K6_DNS" Pairs "How names are resolved: ttl=5m,select=random,policy=preferIPv4";
    "discardResponseBodies" "discard-response-bodies" None, "K6_DISCARD_RESPONSE_BODIES" Switch "Do not keep bodies of responses";
    "noSetup" "no-setup" None, "K6_NO_SETUP" Switch "Do not run setup()";
    "noTeardown" "no-teardown" None, "K6_NO_TEARDOWN" Switch "Do not run teardown()";
    "noThresholds" "no-thresholds" None, "K6_NO_THRESHOLDS" Switch "Leave out the thresholds";
    "systemTags" "system-tags" None, "K6_SYSTEM_TAGS" List "Tags of what is measured";
    "summaryTrendStats" "summary-trend-stats" None, "K6_SUMMARY_TREND_STATS" List "What the summary shows of times, such as avg,p(99)";
    "summaryTimeUnit" "summary-time-unit" None, "K6_SUMMARY_TIME_UNIT" Text "The unit of times in the summary: s, ms or us";
    "executionSegment" "execution-segment" None, "K6_EXECUTION_SEGMENT" Text "A part of the load; not supported";
    "executionSegmentSequence" "execution-segment-sequence" None, "K6_EXECUTION_SEGMENT_SEQUENCE" Text "All parts of the load; not supported";
    "paused" "paused" Some('p'), "K6_PAUSED" Switch "Begin with a pause; not supported";
    "linger" "linger" Some('l'), "K6_LINGER" Switch "Stay after the end; without effect";
    "noUsageReport" "no-usage-report" None, "K6_NO_USAGE_REPORT" Switch "Without effect: squall reports to nobody";
    "hosts" "" None, "K6_HOSTS" Json "Addresses in place of DNS, by host";
    "tlsAuth" "" None, "K6_TLS_AUTH" Json "Certificates of the client";
    "tlsVersion" "" None, "K6_TLS_VERSION" Json "Versions of TLS";
    "tlsCipherSuites" "" None, "K6_TLS_CIPHER_SUITES" Json "Cipher suites of TLS";
    "noCookiesReset" "" None, "K6_NO_COOKIES_RESET" Switch "Users keep their cookies from one iteration to the next";
    "setupTimeout" "" None, "K6_SETUP_TIMEOUT" Text "Maximum length of setup()";
    "teardownTimeout" "" None, "K6_TEARDOWN_TIMEOUT" Text "Maximum length of teardown()";
    "cloud" "" None, "" Json "What k6's cloud reads";
    "ext" "" None, "" Json "What extensions read";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_options_share_a_name() {
        let all = |of: fn(&Known) -> String| {
            let mut names: Vec<String> =
                OPTIONS.iter().map(of).filter(|own| !own.is_empty()).collect();
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before, "{names:?}");
        };
        all(|own| own.name.to_owned());
        all(|own| own.flag.to_owned());
        all(|own| own.variable.to_owned());
        all(|own| own.short.map(String::from).unwrap_or_default());
    }
}
