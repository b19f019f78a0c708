//! The settings of `--out opentelemetry`, by k6's variables. Pure.

use std::time::Duration;

use squall_base::form::percent_decoded;
use squall_plan::feed_target::{FeedKind, FeedTarget};

use super::push::{Layout, PushTarget};
use super::variables::{Variables, with_user};

const GROUP: &str = "K6_OTEL_";
const PROTOCOL: &str = "K6_OTEL_EXPORTER_PROTOCOL";
const OLD_PROTOCOL: &str = "K6_OTEL_EXPORTER_TYPE";
const SKIPS: &str = "K6_OTEL_TLS_INSECURE_SKIP_VERIFY";
const HEADERS: &str = "K6_OTEL_HEADERS";
const KNOWN: [&str; 15] = [
    PROTOCOL,
    OLD_PROTOCOL,
    SKIPS,
    HEADERS,
    "K6_OTEL_SERVICE_NAME",
    "K6_OTEL_SERVICE_VERSION",
    "K6_OTEL_METRIC_PREFIX",
    "K6_OTEL_EXPORT_INTERVAL",
    "K6_OTEL_HTTP_EXPORTER_INSECURE",
    "K6_OTEL_HTTP_EXPORTER_ENDPOINT",
    "K6_OTEL_HTTP_EXPORTER_URL_PATH",
    "K6_OTEL_HTTP_EXPORTER_USERNAME",
    "K6_OTEL_HTTP_EXPORTER_PASSWORD",
    "K6_OTEL_GRPC_EXPORTER_ENDPOINT",
    "K6_OTEL_GRPC_EXPORTER_INSECURE",
];
const CERTIFICATE: &str =
    "squall takes the system's roots, and shows no certificate of its own: leave it out";
const REFUSED: [(&str, &str); 3] = [
    ("K6_OTEL_TLS_CERTIFICATE", CERTIFICATE),
    ("K6_OTEL_TLS_CLIENT_CERTIFICATE", CERTIFICATE),
    ("K6_OTEL_TLS_CLIENT_KEY", CERTIFICATE),
];
const IDLE: [(&str, &str); 1] =
    [("K6_OTEL_FLUSH_INTERVAL", "squall counts values as they come: see K6_OTEL_EXPORT_INTERVAL")];

/// The target of variables.
///
/// # Errors
/// Something is wrong or squall has nothing like it, in a sentence.
pub(super) fn target(argument: &str, variables: &Variables<'_>) -> Result<PushTarget, String> {
    if !argument.is_empty() {
        return Err("nothing may stand behind it: K6_OTEL_... variables say where to".to_owned());
    }
    variables.refuse(&REFUSED)?;
    let text = |name| variables.text(name);
    let protocol = text(PROTOCOL).or_else(|| text(OLD_PROTOCOL)).unwrap_or("grpc");
    let (kind, url) = match protocol {
        "grpc" => (FeedKind::OtlpGrpc, url_of_grpc(variables)?),
        "http/protobuf" | "http" => (FeedKind::Otlp, url_of_http(variables)?),
        other => {
            return Err(format!("{PROTOCOL}: expected grpc or http/protobuf, found `{other}`"));
        }
    };
    let url = match text("K6_OTEL_HTTP_EXPORTER_USERNAME") {
        Some(user) => {
            with_user(&url, user, text("K6_OTEL_HTTP_EXPORTER_PASSWORD").unwrap_or_default())?
        }
        None => url,
    };
    let target = FeedTarget {
        headers: headers(variables)?,
        accepts_any_certificate: variables.is_on(SKIPS)?,
        ..FeedTarget::new(kind, &url)?
    };
    if target.accepts_any_certificate && kind == FeedKind::OtlpGrpc {
        return Err(format!(
            "{SKIPS}: squall checks certificates over gRPC: set {PROTOCOL}=http/protobuf, or K6_OTEL_GRPC_EXPORTER_INSECURE=true for a server without TLS"
        ));
    }
    let service = text("K6_OTEL_SERVICE_NAME").or_else(|| text("OTEL_SERVICE_NAME"));
    let layout = Layout::OpenTelemetry {
        service: service.unwrap_or("k6").to_owned(),
        version: text("K6_OTEL_SERVICE_VERSION").unwrap_or(env!("CARGO_PKG_VERSION")).to_owned(),
        prefix: text("K6_OTEL_METRIC_PREFIX").unwrap_or_default().to_owned(),
    };
    let every = variables.time("K6_OTEL_EXPORT_INTERVAL")?.unwrap_or(Duration::from_secs(10));
    let warnings = variables.warnings(GROUP, &KNOWN, &IDLE);
    Ok(PushTarget { target, every, layout, warnings })
}

fn url_of_grpc(variables: &Variables<'_>) -> Result<String, String> {
    let endpoint = variables.text("K6_OTEL_GRPC_EXPORTER_ENDPOINT").unwrap_or("localhost:4317");
    let is_insecure = variables.is_on("K6_OTEL_GRPC_EXPORTER_INSECURE")?;
    Ok(format!("{}://{endpoint}", scheme(is_insecure)))
}

fn url_of_http(variables: &Variables<'_>) -> Result<String, String> {
    let name = "K6_OTEL_HTTP_EXPORTER_ENDPOINT";
    let endpoint = variables.text(name).unwrap_or("localhost:4318");
    if endpoint.contains("://") {
        return Err(format!("{name}: expected a host and a port, without a scheme"));
    }
    let path = variables.text("K6_OTEL_HTTP_EXPORTER_URL_PATH").unwrap_or("/v1/metrics");
    let is_insecure = variables.is_on("K6_OTEL_HTTP_EXPORTER_INSECURE")?;
    Ok(format!("{}://{endpoint}/{}", scheme(is_insecure), path.trim_start_matches('/')))
}

fn scheme(is_insecure: bool) -> &'static str {
    if is_insecure { "http" } else { "https" }
}

/// Headers: `name=value,name=value`, percent-encoded.
fn headers(variables: &Variables<'_>) -> Result<Vec<(String, String)>, String> {
    let plain =
        |text: &str| String::from_utf8_lossy(&percent_decoded(text.trim().as_bytes())).into_owned();
    let pairs = variables.text(HEADERS).into_iter().flat_map(|text| text.split(','));
    let header = |pair: &str| {
        let named = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let expected = || format!("{HEADERS}: expected name=value, with commas between them");
        let (name, value) = named.ok_or_else(expected)?;
        Ok((plain(name), plain(value)))
    };
    pairs.map(header).collect()
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
        assert_eq!(
            (own.target.kind, &*own.target.to),
            (FeedKind::OtlpGrpc, "https://localhost:4317")
        );
        let own = of(&[
            ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
            ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "h:1"),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_HEADERS", "a=b%20c"),
            ("K6_OTEL_METRIC_PREFIX", "k6_"),
            ("K6_OTEL_FLUSH_INTERVAL", "1s"),
            ("K6_OTEL_EXPORT_INTERVAL", "2s"),
            ("OTEL_SERVICE_NAME", "shop"),
        ])
        .expect("a target");
        assert_eq!((own.target.kind, &*own.target.to), (FeedKind::Otlp, "http://h:1/v1/metrics"));
        assert_eq!(own.target.headers, [("a".to_owned(), "b c".to_owned())]);
        assert_eq!((own.every, own.warnings.len()), (Duration::from_secs(2), 1));
        let Layout::OpenTelemetry { service, prefix, .. } = own.layout else {
            panic!("{:?}", own.layout)
        };
        assert_eq!((service.as_str(), prefix.as_str()), ("shop", "k6_"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value, expected) in [
            ("K6_OTEL_EXPORTER_PROTOCOL", "x", "expected grpc or http/protobuf"),
            ("K6_OTEL_TLS_CERTIFICATE", "a.pem", "K6_OTEL_TLS_CERTIFICATE: squall takes"),
            ("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", "true", "over gRPC"),
            ("K6_OTEL_HEADERS", "a", "expected name=value"),
        ] {
            let error = of(&[(name, value)]).expect_err(name);
            assert!(error.contains(expected), "{error}");
        }
    }
}
