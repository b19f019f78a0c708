//! The settings of `--out experimental-prometheus-rw`, by k6's variables. Pure.

use std::time::Duration;

use squall_plan::feed_target::{FeedKind, FeedTarget};

use super::push::{Layout, PushTarget, TrendStat};
use super::variables::{Variables, with_user};
use crate::summary::Statistic;

const GROUP: &str = "K6_PROMETHEUS_RW_";
const HEADER: &str = "K6_PROMETHEUS_RW_HEADERS_";
const HEADERS: &str = "K6_PROMETHEUS_RW_HTTP_HEADERS";
const STATS: &str = "K6_PROMETHEUS_RW_TREND_STATS";
const TLS: &str = "K6_PROMETHEUS_RW_TLS_MINIMUM_VERSION";
const KNOWN: [&str; 12] = [
    "K6_PROMETHEUS_RW_SERVER_URL",
    HEADER,
    HEADERS,
    STATS,
    TLS,
    "K6_PROMETHEUS_RW_USERNAME",
    "K6_PROMETHEUS_RW_PASSWORD",
    "K6_PROMETHEUS_RW_BEARER_TOKEN",
    "K6_PROMETHEUS_RW_PUSH_INTERVAL",
    "K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM",
    "K6_PROMETHEUS_RW_STALE_MARKERS",
    "K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY",
];
const CERTIFICATE: &str = "squall shows receivers no certificate of its own: use a token or a user, or a proxy that has one";
const SIGNED: &str = "squall does not sign requests for AWS: write to a collector that does, such as aws-sigv4-proxy";
const REFUSED: [(&str, &str); 5] = [
    ("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE", CERTIFICATE),
    ("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY", CERTIFICATE),
    ("K6_PROMETHEUS_RW_SIGV4_REGION", SIGNED),
    ("K6_PROMETHEUS_RW_SIGV4_ACCESS_KEY", SIGNED),
    ("K6_PROMETHEUS_RW_SIGV4_SECRET_KEY", SIGNED),
];

/// The target of variables.
///
/// # Errors
/// Something is wrong or squall has nothing like it, in a sentence.
pub(super) fn target(argument: &str, variables: &Variables<'_>) -> Result<PushTarget, String> {
    if !argument.is_empty() {
        return Err(
            "nothing may stand behind it: K6_PROMETHEUS_RW_SERVER_URL says where to".to_owned()
        );
    }
    variables.refuse(&REFUSED)?;
    let text = |name| variables.text(name);
    if let Some(other) = text(TLS).filter(|version| *version != "1.2") {
        return Err(format!("{TLS}: squall accepts 1.2 and 1.3: expected 1.2, found `{other}`"));
    }
    let url = text("K6_PROMETHEUS_RW_SERVER_URL").unwrap_or("http://localhost:9090/api/v1/write");
    let url = match text("K6_PROMETHEUS_RW_USERNAME") {
        Some(user) => with_user(url, user, text("K6_PROMETHEUS_RW_PASSWORD").unwrap_or_default())?,
        None => url.to_owned(),
    };
    let target = FeedTarget {
        token: text("K6_PROMETHEUS_RW_BEARER_TOKEN").map(str::to_owned),
        headers: headers(variables)?,
        accepts_any_certificate: variables.is_on("K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY")?,
        ..FeedTarget::new(FeedKind::RemoteWrite, &url)?
    };
    let every = variables.time("K6_PROMETHEUS_RW_PUSH_INTERVAL")?;
    let layout = Layout::RemoteWrite {
        stats: stats(text(STATS).unwrap_or("p(99)"))?,
        is_native: variables.is_on("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM")?,
        has_stale_markers: variables.is_on("K6_PROMETHEUS_RW_STALE_MARKERS")?,
    };
    let warnings = variables.warnings(GROUP, &KNOWN, &[]);
    Ok(PushTarget { target, every: every.unwrap_or(Duration::from_secs(5)), layout, warnings })
}

/// Headers, each in a variable of its own, or all in one as `name:value,name:value`.
fn headers(variables: &Variables<'_>) -> Result<Vec<(String, String)>, String> {
    let owned = |(name, value): (&str, &str)| (name.trim().to_owned(), value.trim().to_owned());
    let mut all: Vec<(String, String)> = variables.beginning(HEADER).map(owned).collect();
    for pair in variables.text(HEADERS).into_iter().flat_map(|text| text.split(',')) {
        let named = pair.split_once(':').filter(|(name, _)| !name.trim().is_empty());
        let expected = || format!("{HEADERS}: expected name:value, with commas between them");
        all.push(owned(named.ok_or_else(expected)?));
    }
    Ok(all)
}

/// The statistics of trends, with the ends of their names: `p(99.9)` is `p999`.
fn stats(text: &str) -> Result<Vec<(String, TrendStat)>, String> {
    let one = |name: &str| {
        if name == "sum" {
            return Ok((name.to_owned(), TrendStat::Sum));
        }
        let own = Statistic::parse(name).map_err(|why| format!("{STATS}: {why}, or sum"))?;
        let bare: String = name.chars().filter(|c| !matches!(c, '(' | ')' | '.' | ' ')).collect();
        Ok((bare, TrendStat::Of(own)))
    };
    text.split(',').map(str::trim).filter(|own| !own.is_empty()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[(&str, &str)]) -> Result<PushTarget, String> {
        Variables::with(given, |own| target("", own))
    }

    #[test]
    fn everything_is_said_by_variables() {
        let own = of(&[]).expect("a target");
        assert_eq!(own.target.to, "http://localhost:9090/api/v1/write");
        assert_eq!(own.every, Duration::from_secs(5));
        let own = of(&[
            ("K6_PROMETHEUS_RW_SERVER_URL", "https://h/api/v1/push"),
            ("K6_PROMETHEUS_RW_USERNAME", "me"),
            ("K6_PROMETHEUS_RW_PASSWORD", "p:w"),
            ("K6_PROMETHEUS_RW_HEADERS_X-Scope-OrgID", "a"),
            ("K6_PROMETHEUS_RW_HTTP_HEADERS", "b:c,d:e"),
            ("K6_PROMETHEUS_RW_TREND_STATS", "p(99.9),sum,avg"),
            ("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s"),
            ("K6_PROMETHEUS_RW_STALE_MARKERS", "true"),
        ])
        .expect("a target");
        assert_eq!(own.target.to, "https://me:p%3Aw@h/api/v1/push");
        let names: Vec<&str> = own.target.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, own.warnings.len()), (vec!["X-Scope-OrgID", "b", "d"], 0));
        let Layout::RemoteWrite { stats, is_native: false, has_stale_markers: true } = own.layout
        else {
            panic!("{:?}", own.layout)
        };
        let expected = [
            ("p999".to_owned(), TrendStat::Of(Statistic::Percentile(99.9))),
            ("sum".to_owned(), TrendStat::Sum),
            ("avg".to_owned(), TrendStat::Of(Statistic::Avg)),
        ];
        assert_eq!(stats, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value, expected) in [
            (
                "K6_PROMETHEUS_RW_SIGV4_REGION",
                "x",
                "K6_PROMETHEUS_RW_SIGV4_REGION: squall does not",
            ),
            ("K6_PROMETHEUS_RW_TREND_STATS", "p99", "or sum"),
            ("K6_PROMETHEUS_RW_SERVER_URL", "h:9090", "expected a URL"),
            ("K6_PROMETHEUS_RW_HTTP_HEADERS", "a", "expected name:value"),
            ("K6_PROMETHEUS_RW_TLS_MINIMUM_VERSION", "1.3", "expected 1.2"),
        ] {
            let error = of(&[(name, value)]).expect_err(name);
            assert!(error.contains(expected), "{error}");
        }
        assert!(target("http://h", &Variables::new(&[])).is_err());
    }
}
