//! Where a feed goes, as it is typed (`--out KIND=TARGET`) or written in a plan (`feeds`), and how it is shown without what is
//! secret. Pure.

use squall_base::form::percent_decoded;

use crate::secrets::{MASK, sounds_secret};

/// Tags that squall gives itself: no tester's tag may have such a name.
pub const TAGS_TAKEN: [&str; 9] =
    ["kind", "scenario", "group", "name", "error", "status", "result", "le", "quantile"];
/// The same of points as JMeter writes them.
pub const TAGS_TAKEN_BY_JMETER: [&str; 7] =
    ["application", "transaction", "statut", "responseCode", "responseMessage", "title", "tags"];

/// The name of a tag where that which it has is taken: `tag_NAME`, with more of that where this is taken too.
pub fn untaken(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut own = name.to_owned();
    while is_taken(&own) {
        own.insert_str(0, "tag_");
    }
    own
}

/// Parameters of a URL that are secrets.
const SECRET_PARAMETERS: [&str; 3] = ["p", "password", "token"];

/// A kind of feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FeedKind {
    /// JSON lines, to a file or a pipe.
    #[default]
    JsonLines,
    /// InfluxDB's line protocol over HTTP.
    Influxdb,
    /// Graphite's plain text over TCP.
    Graphite,
    Statsd,
    /// An endpoint that Prometheus scrapes.
    Prometheus,
    /// Prometheus remote write over HTTP.
    RemoteWrite,
    /// OpenTelemetry's metrics over HTTP.
    Otlp,
    /// OpenTelemetry's metrics over gRPC.
    OtlpGrpc,
}

impl FeedKind {
    /// All kinds with their names.
    pub const ALL: [(FeedKind, &str); 8] = [
        (FeedKind::JsonLines, "jsonl"),
        (FeedKind::Influxdb, "influxdb"),
        (FeedKind::Graphite, "graphite"),
        (FeedKind::Statsd, "statsd"),
        (FeedKind::Prometheus, "prometheus"),
        (FeedKind::RemoteWrite, "remote-write"),
        (FeedKind::Otlp, "otlp"),
        (FeedKind::OtlpGrpc, "otlp-grpc"),
    ];

    /// The variable of the environment whose token authorizes to such a receiver; `None`: no token does.
    pub fn token_variable(self) -> Option<&'static str> {
        match self {
            FeedKind::Influxdb => Some("SQUALL_INFLUXDB_TOKEN"),
            FeedKind::RemoteWrite => Some("SQUALL_REMOTE_WRITE_TOKEN"),
            FeedKind::Otlp | FeedKind::OtlpGrpc => Some("SQUALL_OTLP_TOKEN"),
            FeedKind::JsonLines | FeedKind::Graphite | FeedKind::Statsd | FeedKind::Prometheus => {
                None
            }
        }
    }

    /// The kind of a name.
    pub fn from_label(label: &str) -> Option<FeedKind> {
        FeedKind::ALL.iter().find(|(_, own)| *own == label).map(|(kind, _)| *kind)
    }

    pub fn label(self) -> &'static str {
        FeedKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, label)| label)
    }
}

/// Where a feed goes.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct FeedTarget {
    pub kind: FeedKind,
    /// A path, a URL, or a host with its port, as it was typed: it may hold credentials.
    pub to: String,
    /// The token that authorizes, in place of what else does.
    pub token: Option<String>,
    /// More headers of its requests, if it is asked over HTTP or gRPC. They may hold credentials.
    pub headers: Vec<(String, String)>,
    /// Whether it may have any certificate.
    pub accepts_any_certificate: bool,
}

impl std::fmt::Debug for FeedTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl FeedTarget {
    /// The target of a feed of this kind.
    ///
    /// # Errors
    /// Such a feed cannot go there, in a sentence.
    pub fn new(kind: FeedKind, to: &str) -> Result<FeedTarget, String> {
        let own = FeedTarget { kind, to: to.to_owned(), ..FeedTarget::default() };
        match own.problem() {
            Some(problem) => Err(format!("{}: {problem}", own.shown())),
            None => Ok(own),
        }
    }

    /// Why such a feed cannot go there.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let to = self.to.as_str();
        match self.kind {
            FeedKind::JsonLines => to.is_empty().then_some("expected jsonl=FILE"),
            FeedKind::Graphite => (!is_host_and_port(to)).then_some("expected graphite=HOST:PORT"),
            FeedKind::Statsd => (!is_host_and_port(to)).then_some("expected statsd=HOST:PORT"),
            FeedKind::Prometheus => (to.parse::<u16>().is_err() && !is_host_and_port(to))
                .then_some("expected prometheus=PORT or prometheus=HOST:PORT"),
            FeedKind::Influxdb => problem_of_influxdb(to),
            FeedKind::RemoteWrite => problem_of_url(to).or_else(|| {
                has_no_path(to)
                    .then_some("expected the URL that takes writes: http://HOST:9090/api/v1/write")
            }),
            FeedKind::Otlp => problem_of_url(to).or_else(|| {
                has_no_path(to)
                    .then_some("expected the URL that takes metrics: http://HOST:4318/v1/metrics")
            }),
            FeedKind::OtlpGrpc => problem_of_url(to).or_else(|| {
                (!is_server_alone(to)).then_some("expected only a server: http://HOST:4317")
            }),
        }
    }

    /// Kind and target, with stars in place of passwords and tokens.
    pub fn shown(&self) -> String {
        format!("{}={}", self.kind.label(), masked(&self.to))
    }

    /// What of it no output may show, as it stands there and as it was before it was encoded for a URL.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets: Vec<String> = self.token.iter().cloned().collect();
        secrets.extend(self.headers.iter().map(|(_, value)| value.clone()));
        secrets.extend(secrets_of_url(&self.to));
        with_plain(secrets)
    }

    /// A text, such as a part of the command line, in which this target is shown without its secrets.
    pub fn masked_in(&self, text: &str) -> String {
        text.replace(&self.to, &masked(&self.to))
    }
}

fn is_host_and_port(to: &str) -> bool {
    let parts = to.rsplit_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn problem_of_url(to: &str) -> Option<&'static str> {
    if !to.starts_with("http://") && !to.starts_with("https://") {
        return Some("expected a URL of http or https");
    }
    // A password with a `/` or `?` would end the host, and be shown as a part of the path.
    let has_odd_password = parts(to).is_some_and(|(_, _, rest)| rest.contains('@'));
    has_odd_password
        .then_some("what is special in a password is percent-encoded, such as %2F for `/`")
}

/// The path of a URL, without the first `/`, and its query.
fn path_and_query(url: &str) -> (&str, &str) {
    let rest = parts(url).map_or("", |(_, _, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    path.split_once('?').unwrap_or((path, ""))
}

fn has_no_path(url: &str) -> bool {
    path_and_query(url).0.is_empty()
}

fn is_server_alone(url: &str) -> bool {
    let server = parts(url).map_or("", |(_, _, rest)| rest.strip_suffix('/').unwrap_or(rest));
    !server.is_empty() && !server.contains(['/', '?', '#'])
}

fn problem_of_influxdb(to: &str) -> Option<&'static str> {
    if let Some(problem) = problem_of_url(to) {
        return Some(problem);
    }
    let (path, query) = path_and_query(to);
    let has = |name: &str| query.split('&').any(|own| own.starts_with(name));
    let is_v2 = path.ends_with("api/v2/write");
    match path.ends_with("write") && (has("db=") || is_v2 && has("bucket=")) {
        _ if has("precision=") => Some("times are in nanoseconds: leave `precision` out"),
        true => None,
        false => Some(
            "expected the URL that takes writes: http://HOST:8086/write?db=NAME, or http://HOST:8086/api/v2/write?org=NAME&bucket=NAME",
        ),
    }
}

/// Whether the value of a URL's parameter of this name is a secret.
fn is_secret_parameter(name: &str) -> bool {
    SECRET_PARAMETERS.contains(&name) || sounds_secret(&name.replace('-', "_"))
}

/// A URL in its parts: until `://`, what authorizes (`user:password`), and what follows.
pub fn parts(url: &str) -> Option<(&str, Option<&str>, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => Some((scheme, Some(&rest[..at]), &rest[at + 1..])),
        None => Some((scheme, None, rest)),
    }
}

/// What of a URL no output may show: its password, and parameters that are secret.
pub(crate) fn secrets_of_url(url: &str) -> Vec<String> {
    let Some((_, user, rest)) = parts(url) else { return Vec::new() };
    // What is masked is no user any more, but stands for a secret.
    let password = user.and_then(|user| match user {
        MASK => Some(user),
        user => user.split_once(':').map(|(_, password)| password),
    });
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let given = query.split('&').filter_map(|own| own.split_once('='));
    let secret = given.filter(|(name, _)| is_secret_parameter(name)).map(|(_, value)| value);
    with_plain(password.into_iter().chain(secret).map(str::to_owned).collect())
}

/// These texts, and each as it was before it was encoded for a URL.
fn with_plain(mut texts: Vec<String>) -> Vec<String> {
    for own in texts.clone() {
        let plain = String::from_utf8_lossy(&percent_decoded(own.as_bytes())).into_owned();
        if plain != own && !texts.contains(&plain) {
            texts.push(plain);
        }
    }
    texts
}

/// A URL, such as the target of a feed, with stars in place of what authorizes.
pub fn masked(to: &str) -> String {
    let Some((scheme, user, rest)) = parts(to) else { return to.to_owned() };
    // What stands before an `@` further on may be a password that is not encoded.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("***@", rest),
        None => (user.map_or("", |_| "***@"), rest),
    };
    let Some((path, query)) = rest.split_once('?') else {
        return format!("{scheme}://{user}{rest}");
    };
    let mask = |own: &str| match own.split_once('=') {
        Some((name, _)) if is_secret_parameter(name) => format!("{name}=***"),
        _ => own.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(mask).collect();
    format!("{scheme}://{user}{path}?{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_checked_before_the_run() {
        let is_good = |kind, to: &str| FeedTarget::new(kind, to).is_ok();
        for to in ["localhost:2003", "[::1]:2003"] {
            assert!(is_good(FeedKind::Graphite, to), "{to}");
        }
        for to in ["localhost", ":2003", "localhost:x", ""] {
            assert!(!is_good(FeedKind::Graphite, to), "{to}");
        }
        for to in [
            "http://h:8086/write?db=a",
            "https://u:p@h/x/api/v2/write?org=o&bucket=b",
            "http://h/write?u=a&p=b&db=c",
        ] {
            assert!(is_good(FeedKind::Influxdb, to), "{to}");
        }
        for to in [
            "h:8086",
            "http://h:8086/",
            "http://h/write",
            "http://h/write?bucket=a",
            "http://h/write?db=a&precision=s",
            "http://me:se/cret@h/write?db=a",
            "http://me:se?cret@h/write?db=a",
        ] {
            assert!(!is_good(FeedKind::Influxdb, to), "{to}");
        }
        for (to, good) in [("9090", true), ("0.0.0.0:9090", true), ("x", false), ("99999", false)] {
            assert_eq!(is_good(FeedKind::Prometheus, to), good, "{to}");
        }
        assert!(is_good(FeedKind::Statsd, "h:8125") && !is_good(FeedKind::Statsd, "h"));
        for kind in [FeedKind::RemoteWrite, FeedKind::Otlp] {
            assert!(is_good(kind, "http://u:p@h:9090/api/v1/write"));
            for to in ["h:9090/api", "http://h:9090", "http://h:9090/", "http://u:a/b@h/write"] {
                assert!(!is_good(kind, to), "{to}");
            }
        }
        for to in ["http://h:4317", "https://u:p@h/", "http://[::1]:4317"] {
            assert!(is_good(FeedKind::OtlpGrpc, to), "{to}");
        }
        for to in ["h:4317", "http://", "http://h:4317/v1/metrics", "http://h?a", "http://u:a/b@h"]
        {
            assert!(!is_good(FeedKind::OtlpGrpc, to), "{to}");
        }
        assert!(is_good(FeedKind::JsonLines, "-") && !is_good(FeedKind::JsonLines, ""));
    }

    #[test]
    fn what_authorizes_is_not_shown() {
        let shown = |to: &str| {
            let kind = FeedKind::Influxdb;
            FeedTarget { to: to.to_owned(), kind, ..FeedTarget::default() }.shown()
        };
        let url = "http://me:se@cret@h:8086/write?db=a&u=me&p=secret";
        assert_eq!(shown(url), "influxdb=http://***@h:8086/write?db=a&u=me&p=***");
        let odd = "http://me:a@b/c?d@h/write?db=a";
        assert_eq!(shown(odd), "influxdb=http://***@h/write?db=a");
        assert_eq!(shown("http://h/write?db=a"), "influxdb=http://h/write?db=a");
        let own = FeedTarget::new(FeedKind::Influxdb, url).expect("a target");
        let masked = own.masked_in(&format!("--out=influxdb={url}"));
        assert!(!masked.contains("secret") && !masked.contains("cret@"), "{masked}");
        assert!(!format!("{own:?}").contains("secret"));
        let refused = FeedTarget::new(FeedKind::Influxdb, "http://me:secret@h/");
        assert!(refused.is_err_and(|text| !text.contains("secret")));
        let token = Some("abc".to_owned());
        let headers = vec![("x-key".to_owned(), "def".to_owned())];
        let secrets = FeedTarget { token, headers, ..own }.secrets();
        assert_eq!(secrets, ["abc", "def", "se@cret", "secret"]);
    }

    #[test]
    fn what_was_masked_is_a_secret_still() {
        let secrets =
            |to: &str| FeedTarget { to: to.to_owned(), ..FeedTarget::default() }.secrets();
        let url = "http://me:secret@h:8086/write?db=a";
        assert_eq!(masked(url), "http://***@h:8086/write?db=a");
        assert_eq!(secrets(&masked(url)), ["***"]);
        assert_eq!(secrets("http://me:***@h/write?db=a"), ["***"]);
        assert!(secrets("http://me@h/write?db=a").is_empty());
    }
}
