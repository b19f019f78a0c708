//! The settings of `--out influxdb`: k6's variables and the URL behind it; those of the extension `xk6-output-influxdb` for version 2
//! are `K6_INFLUXDB_ORGANIZATION`, `K6_INFLUXDB_BUCKET` and `K6_INFLUXDB_TOKEN`. Pure.

use std::time::Duration;

use squall_base::form::percent_decoded;
use squall_plan::feed_target::{FeedKind, FeedTarget, masked, parts};

use super::push::{FieldKind, Layout, PushTarget};
use super::variables::{Variables, encoded, time, with_user};

const GROUP: &str = "K6_INFLUXDB_";
const KNOWN: [&str; 13] = [
    "K6_INFLUXDB_ADDR",
    "K6_INFLUXDB_BUCKET",
    "K6_INFLUXDB_CONSISTENCY",
    "K6_INFLUXDB_DB",
    "K6_INFLUXDB_INSECURE",
    "K6_INFLUXDB_ORGANIZATION",
    "K6_INFLUXDB_PASSWORD",
    "K6_INFLUXDB_PRECISION",
    "K6_INFLUXDB_PUSH_INTERVAL",
    "K6_INFLUXDB_RETENTION",
    "K6_INFLUXDB_TAGS_AS_FIELDS",
    "K6_INFLUXDB_TOKEN",
    "K6_INFLUXDB_USERNAME",
];
const REFUSED: [(&str, &str); 2] = [
    ("K6_INFLUXDB_PROXY", "squall writes without a proxy: leave it out"),
    ("K6_INFLUXDB_PAYLOAD_SIZE", "squall writes over HTTP, not over UDP: leave it out"),
];
const IDLE: [(&str, &str); 1] = [(
    "K6_INFLUXDB_CONCURRENT_WRITES",
    "squall writes one request after the other, and keeps up to 16 MiB meanwhile",
)];
/// Tags that are fields if nothing else is said: they have too many values.
const FIELDS: &str = "vu,iter,url";

/// What is set, by variables and then by the URL.
#[derive(Default)]
struct Settings<'s> {
    /// Scheme, host and the path before that of writes.
    address: String,
    /// As it stands in a URL.
    user: Option<String>,
    database: String,
    is_insecure: bool,
    precision: Option<&'s str>,
    retention: Option<&'s str>,
    consistency: Option<&'s str>,
    fields: Option<&'s str>,
    every: Option<Duration>,
}

/// The target of a URL and of variables.
///
/// # Errors
/// Something is wrong or squall has nothing like it, in a sentence.
pub(super) fn target(url: &str, variables: &Variables<'_>) -> Result<PushTarget, String> {
    variables.refuse(&REFUSED)?;
    let text = |name| variables.text(name);
    let mut own = Settings {
        address: text("K6_INFLUXDB_ADDR").unwrap_or("http://localhost:8086").to_owned(),
        user: None,
        database: encoded(text("K6_INFLUXDB_DB").unwrap_or("k6")),
        is_insecure: variables.is_on("K6_INFLUXDB_INSECURE")?,
        precision: text("K6_INFLUXDB_PRECISION"),
        retention: text("K6_INFLUXDB_RETENTION"),
        consistency: text("K6_INFLUXDB_CONSISTENCY"),
        fields: text("K6_INFLUXDB_TAGS_AS_FIELDS"),
        every: variables.time("K6_INFLUXDB_PUSH_INTERVAL")?,
    };
    if !url.is_empty() {
        own.add_url(url)?;
    }
    let (scheme, user, rest) = parts(&own.address)
        .filter(|(scheme, ..)| matches!(*scheme, "http" | "https"))
        .ok_or_else(|| expected_url(&own.address))?;
    let server = format!("{scheme}://{}", rest.trim_end_matches('/'));
    let user = own.user.clone().or(user.map(str::to_owned));
    let server = match (text("K6_INFLUXDB_USERNAME"), user) {
        (_, Some(user)) => server.replacen("://", &format!("://{user}@"), 1),
        (Some(user), None) => {
            with_user(&server, user, text("K6_INFLUXDB_PASSWORD").unwrap_or_default())?
        }
        (None, None) => server,
    };
    let (to, create) = own.urls(&server, text)?;
    let target = FeedTarget {
        token: text("K6_INFLUXDB_TOKEN").map(str::to_owned),
        accepts_any_certificate: own.is_insecure,
        ..FeedTarget::new(FeedKind::Influxdb, &to)?
    };
    let precision_ns = own.precision_ns()?;
    Ok(PushTarget {
        target,
        every: own.every.unwrap_or(Duration::from_secs(1)),
        layout: Layout::Influxdb {
            create,
            fields: fields(own.fields.unwrap_or(FIELDS))?,
            precision_ns,
        },
        warnings: variables.warnings(GROUP, &KNOWN, &IDLE),
    })
}

fn expected_url(found: &str) -> String {
    let found = masked(found);
    format!("expected a URL of http or https, such as http://localhost:8086/k6, found `{found}`")
}

impl<'s> Settings<'s> {
    /// What a URL says: `http://user:password@host:8086/database?retention=...`.
    fn add_url(&mut self, url: &'s str) -> Result<(), String> {
        let (scheme, user, rest) = parts(url).ok_or_else(|| expected_url(url))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // The last part of the path is the database; what ends with a slash has none.
        let (server, database) = match rest.rsplit_once('/') {
            Some((server, database)) => (server, database),
            None => (rest, ""),
        };
        self.address = format!("{scheme}://{server}");
        self.user = user.map(str::to_owned);
        if !database.is_empty() {
            database.clone_into(&mut self.database);
        }
        for (key, value) in query.split('&').filter_map(|own| own.split_once('=')) {
            match key {
                "insecure" if matches!(value, "true" | "false") => {
                    self.is_insecure = value == "true";
                }
                "precision" => self.precision = Some(value),
                "retention" => self.retention = Some(value),
                "consistency" => self.consistency = Some(value),
                "tagsAsFields" => self.fields = Some(value),
                "pushInterval" => {
                    self.every = Some(time(value).map_err(|why| format!("pushInterval: {why}"))?);
                }
                // One request follows the other in any case.
                "concurrentWrites" if value.parse::<u32>().is_ok_and(|count| count > 0) => {}
                other => {
                    return Err(format!(
                        "`{other}={value}` in the URL: expected insecure=true or false, precision, retention, consistency, pushInterval, tagsAsFields or concurrentWrites"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The URL that takes writes, and that which makes the database, of version 1.
    fn urls<'v>(
        &self,
        server: &str,
        text: impl Fn(&'static str) -> Option<&'v str>,
    ) -> Result<(String, Option<String>), String> {
        if let Some(bucket) = text("K6_INFLUXDB_BUCKET") {
            let organization = text("K6_INFLUXDB_ORGANIZATION").ok_or(
                "K6_INFLUXDB_BUCKET is set, and K6_INFLUXDB_ORGANIZATION is not: version 2 needs both",
            )?;
            let (organization, bucket) = (encoded(organization), encoded(bucket));
            let to = format!("{server}/api/v2/write?org={organization}&bucket={bucket}");
            return Ok((to, None));
        }
        if let Some(name) = ["K6_INFLUXDB_ORGANIZATION", "K6_INFLUXDB_TOKEN"]
            .into_iter()
            .find(|name| text(name).is_some())
        {
            return Err(format!(
                "{name} is set, and K6_INFLUXDB_BUCKET is not: version 2 needs a bucket"
            ));
        }
        let mut to = format!("{server}/write?db={}", self.database);
        let plain =
            |text: &str| String::from_utf8_lossy(&percent_decoded(text.as_bytes())).into_owned();
        for (key, value) in [("rp", self.retention), ("consistency", self.consistency)] {
            if let Some(value) = value {
                to += &format!("&{key}={}", encoded(&plain(value)));
            }
        }
        let name = plain(&self.database).replace('\\', "\\\\").replace('"', "\\\"");
        let query = encoded(&format!("CREATE DATABASE \"{name}\""));
        Ok((to, Some(format!("{server}/query?q={query}"))))
    }

    fn precision_ns(&self) -> Result<u64, String> {
        Ok(match self.precision.unwrap_or("n") {
            "n" | "ns" => 1,
            "u" | "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            other => {
                return Err(format!("precision: expected n, u, ms, s, m or h, found `{other}`"));
            }
        })
    }
}

/// Tags that become fields: `vu:int,url`.
fn fields(text: &str) -> Result<Vec<(String, FieldKind)>, String> {
    let mut fields: Vec<(String, FieldKind)> = Vec::new();
    for own in text.split(',').map(str::trim).filter(|own| !own.is_empty()) {
        let (tag, kind) = own.split_once(':').unwrap_or((own, "string"));
        let kind = match kind {
            "string" => FieldKind::Text,
            "bool" => FieldKind::Bool,
            "float" => FieldKind::Float,
            "int" => FieldKind::Integer,
            other => {
                return Err(format!(
                    "K6_INFLUXDB_TAGS_AS_FIELDS: expected string, bool, float or int for `{tag}`, found `{other}`"
                ));
            }
        };
        if fields.iter().any(|(other, _)| other == tag) {
            return Err(format!("K6_INFLUXDB_TAGS_AS_FIELDS: `{tag}` is there twice"));
        }
        fields.push((tag.to_owned(), kind));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, given: &[(&str, &str)]) -> Result<PushTarget, String> {
        Variables::with(given, |own| target(url, own))
    }

    #[test]
    fn a_url_goes_before_variables() {
        let to = |url: &str, given: &[(&str, &str)]| of(url, given).expect(url).target.to;
        assert_eq!(to("", &[]), "http://localhost:8086/write?db=k6");
        assert_eq!(to("http://h:1/runs", &[("K6_INFLUXDB_DB", "x")]), "http://h:1/write?db=runs");
        assert_eq!(to("http://h/a/", &[("K6_INFLUXDB_DB", "x y")]), "http://h/a/write?db=x%20y");
        assert_eq!(
            to("https://me:p%40@h/a/b?retention=w", &[]),
            "https://me:p%40@h/a/write?db=b&rp=w"
        );
        let user = [("K6_INFLUXDB_USERNAME", "me"), ("K6_INFLUXDB_PASSWORD", "a@b")];
        assert_eq!(to("http://h/a", &user), "http://me:a%40b@h/write?db=a");
        let second = [
            ("K6_INFLUXDB_ORGANIZATION", "o"),
            ("K6_INFLUXDB_BUCKET", "b"),
            ("K6_INFLUXDB_TOKEN", "t"),
        ];
        let own = of("http://h:8086", &second).expect("a target");
        assert_eq!(own.target.to, "http://h:8086/api/v2/write?org=o&bucket=b");
        assert_eq!(own.target.token.as_deref(), Some("t"));
    }

    #[test]
    fn a_database_is_made_and_tags_become_fields() {
        let given = [
            ("K6_INFLUXDB_TAGS_AS_FIELDS", "vu:int,url"),
            ("K6_INFLUXDB_PUSH_INTERVAL", "3s"),
            ("K6_INFLUXDB_CONCURRENT_WRITES", "9"),
        ];
        let own = of("http://h/a?precision=ms", &given).expect("a target");
        assert_eq!(own.every, Duration::from_secs(3));
        assert_eq!(own.warnings.len(), 1);
        let create = Some("http://h/query?q=CREATE%20DATABASE%20%22a%22".to_owned());
        let fields =
            vec![("vu".to_owned(), FieldKind::Integer), ("url".to_owned(), FieldKind::Text)];
        assert_eq!(own.layout, Layout::Influxdb { create, fields, precision_ns: 1_000_000 });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, given, expected) in [
            ("udp://h:1", ("K6_X", "1"), "expected a URL of http or https"),
            ("http://h/a?size=1", ("K6_X", "1"), "`size=1` in the URL"),
            ("http://h/a?precision=d", ("K6_X", "1"), "precision: expected n, u,"),
            ("http://h/a", ("K6_INFLUXDB_PROXY", "http://p"), "K6_INFLUXDB_PROXY: squall writes"),
            ("http://h/a", ("K6_INFLUXDB_TAGS_AS_FIELDS", "a:b"), "for `a`, found `b`"),
            ("http://h/a", ("K6_INFLUXDB_TAGS_AS_FIELDS", "a,a"), "`a` is there twice"),
            ("http://h/a", ("K6_INFLUXDB_TOKEN", "t"), "K6_INFLUXDB_BUCKET is not"),
            ("http://h/a", ("K6_INFLUXDB_INSECURE", "yes"), "expected true or false"),
        ] {
            let error = of(url, &[given]).expect_err(url);
            assert!(error.contains(expected), "{error}");
        }
    }
}
