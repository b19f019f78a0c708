//! The points of k6's metrics that follow from what a run tells its sinks: of a request, and of a second. Pure.

use std::borrow::Cow;

use squall_engine::{Exchange, ExchangeCopy};
use squall_k6::output::{Point, PointMetric, RequestTimes};
use squall_k6::summary::{BuiltIn, Contains};
use squall_metrics::{CheckCounts, MetricKey, MetricKind, MetricStats, RowKey, THOUSANDTHS};
use squall_runner::{Second, masked_url};
use squall_script::ScriptMetric;

use super::metric_kinds::to_k6;

/// Who is told of a point.
type Each<'e> = &'e mut dyn FnMut(Point<'_>);

/// A tag with its value.
type Tag<'t> = (&'t str, Cow<'t, str>);

/// When a second of the load was over.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// In µs since 1970 (UTC).
    pub unix_us: u64,
    /// Whether it has not come before: of one that comes again the users are known already.
    pub is_new: bool,
}

/// The points of a request, at its end; its phase began at `began_us`, in µs since 1970. A program has none.
pub fn of_request(exchange: &Exchange, began_us: u64, each: Each<'_>) {
    let last = exchange.last();
    if last.is_some_and(|hop| hop.url.is_empty()) {
        return;
    }
    let secrets = &*exchange.secrets;
    let url = last.map(|hop| masked_url(hop, secrets)).unwrap_or_default();
    let has_failed = exchange.error.is_some();
    let mut tags: Vec<Tag<'_>> = vec![
        ("expected_response", if has_failed { "false" } else { "true" }.into()),
        ("method", last.map_or(Cow::Borrowed(""), method)),
        ("name", secrets.mask(&exchange.name).into()),
        ("proto", last.map_or("", protocol).into()),
        ("scenario", exchange.scenario.as_str().into()),
        ("status", exchange.status.to_string().into()),
        ("url", url.into()),
    ];
    tags.retain(|(_, value)| !value.is_empty());
    if let Some((_, detail)) = exchange.error.as_ref().filter(|_| exchange.status == 0) {
        tags.push(("error", secrets.mask(detail).into()));
    }
    let trace = exchange.trace.map(|trace| ("trace_id", trace.to_string().into()));
    let metadata: Vec<Tag<'_>> = trace.into_iter().collect();
    let unix_us = began_us + exchange.at_us + exchange.latency_ns / 1_000;
    for (metric, value) in times(exchange).points(has_failed) {
        each(Point { metric, unix_us, value, tags: &tags, metadata: &metadata });
    }
}

/// Where its time went. What squall takes for the time to the first byte begins with the sending.
fn times(exchange: &Exchange) -> RequestTimes {
    let [pool, dns, connect, tls, first_byte, body] =
        exchange.phases.0.map(|ns| ns.unwrap_or(0) as f64 / 1e6);
    RequestTimes {
        blocked: pool + dns,
        connecting: connect,
        tls_handshaking: tls,
        sending: 0.0,
        waiting: first_byte,
        receiving: body,
    }
}

/// The first word of a request.
fn method(hop: &ExchangeCopy) -> Cow<'_, str> {
    let is_of_word = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let length = hop.request.iter().take_while(is_of_word).count();
    String::from_utf8_lossy(&hop.request[..length])
}

/// The protocol, as k6 calls it, by the first word of the response.
fn protocol(hop: &ExchangeCopy) -> &'static str {
    let known = [("HTTP/1.1", "HTTP/1.1"), ("HTTP/2", "HTTP/2.0"), ("HTTP/1.0", "HTTP/1.0")];
    let own = known.iter().find(|(word, _)| hop.head.starts_with(word.as_bytes()));
    own.map_or("", |(_, name)| name)
}

/// The points of a second but for those of requests. `metrics` are those that the script makes.
pub fn of_second(own: &Second, moment: Moment, metrics: &[ScriptMetric], each: Each<'_>) {
    let unix_us = moment.unix_us;
    if let Some(metric) = PointMetric::built_in("vus").filter(|_| moment.is_new) {
        let value = own.load.users() as f64;
        each(Point { metric, unix_us, value, tags: &[], metadata: &[] });
    }
    for (key, counts) in &own.checks {
        of_check(key, *counts, unix_us, each);
    }
    for (key, stats) in &own.metrics {
        if !key.is_of_monitor() && !is_told(&key.name) {
            of_metric((key, stats), unix_us, metrics, each);
        }
    }
}

/// Whether a metric is k6's own and there is a point of it for each request or check.
fn is_told(name: &str) -> bool {
    name == "checks" || (BuiltIn::of(name).is_some() && name.starts_with("http_req"))
}

fn of_check(key: &RowKey, counts: CheckCounts, unix_us: u64, each: Each<'_>) {
    let Some(metric) = PointMetric::built_in("checks") else { return };
    let path: String = key.place.group.iter().map(|group| format!("::{group}")).collect();
    let tags: [Tag<'_>; 3] = [
        ("check", key.name.as_str().into()),
        ("group", path.into()),
        ("scenario", key.place.scenario.as_str().into()),
    ];
    let fails = counts.failed.saturating_add(counts.warned);
    for (count, value) in [(counts.passed, 1.0), (fails, 0.0)] {
        (0..count).for_each(|_| each(Point { metric, unix_us, value, tags: &tags, metadata: &[] }));
    }
}

fn of_metric(
    (key, stats): (&MetricKey, &MetricStats),
    unix_us: u64,
    metrics: &[ScriptMetric],
    each: Each<'_>,
) {
    let is_time = metrics.iter().any(|own| own.name == key.name && own.is_time);
    let contains = if is_time { Contains::Time } else { Contains::Default };
    let of_script = PointMetric { name: &key.name, kind: to_k6(key.kind), contains };
    let metric = PointMetric::built_in(&key.name).unwrap_or(of_script);
    let mut tags: Vec<Tag<'_>> =
        key.tags.iter().map(|(tag, value)| (tag.as_str(), value.as_str().into())).collect();
    if tags.iter().all(|(tag, _)| *tag != "scenario") {
        tags.push(("scenario", key.scenario.as_str().into()));
    }
    let mut tell = |value: f64, count: u64| {
        let point = Point { metric, unix_us, value, tags: &tags, metadata: &[] };
        (0..count).for_each(|_| each(point.clone()));
    };
    match key.kind {
        MetricKind::Counter => tell(stats.sum(), 1),
        MetricKind::Gauge => stats.gauge().into_iter().for_each(|own| tell(own.last, 1)),
        MetricKind::Rate => {
            tell(1.0, stats.trues);
            tell(0.0, stats.count.saturating_sub(stats.trues));
        }
        MetricKind::Trend => {
            for (low, width, count) in stats.trend.buckets() {
                tell((low + (width - 1) / 2) as f64 / THOUSANDTHS, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use squall_metrics::{ErrorKind, Phases, RowKind, ScenarioLoad};

    use super::*;

    /// A point in one line: its metric, value, time and tags.
    fn shown(point: &Point<'_>) -> String {
        let Point { metric, unix_us, value, tags, metadata } = point;
        let tags = tags.iter().chain(*metadata).map(|(tag, value)| format!(" {tag}={value}"));
        format!("{} {value} @{unix_us}{}", metric.name, tags.collect::<String>())
    }

    fn exchange() -> Exchange {
        let hop = ExchangeCopy {
            url: "http://host/items".to_owned(),
            request: b"GET /items HTTP/".to_vec(),
            head: b"HTTP/2 200\r\n".to_vec(),
            ..ExchangeCopy::default()
        };
        let ms = |ms: u64| Some(ms * 1_000_000);
        Exchange {
            at_us: 5,
            latency_ns: 20_000_000,
            name: "items".to_owned(),
            scenario: "buyers".to_owned(),
            status: 200,
            hops: vec![hop],
            phases: Phases([ms(1), ms(2), ms(3), ms(4), ms(5), ms(6)]),
            ..Exchange::default()
        }
    }

    fn points_of(exchange: &Exchange) -> Vec<String> {
        let mut told = Vec::new();
        of_request(exchange, 1_000_000, &mut |point| told.push(shown(&point)));
        told
    }

    #[test]
    fn a_request_has_k6s_points() {
        let told = points_of(&exchange());
        let tags = "@1020005 expected_response=true method=GET name=items proto=HTTP/2.0 scenario=buyers status=200 url=http://host/items";
        let metrics = told.iter().filter_map(|line| line.strip_suffix(tags).map(str::trim_end));
        let expected = [
            "http_reqs 1",
            "http_req_duration 11",
            "http_req_blocked 3",
            "http_req_connecting 3",
            "http_req_tls_handshaking 4",
            "http_req_sending 0",
            "http_req_waiting 5",
            "http_req_receiving 6",
            "http_req_failed 0",
        ];
        assert_eq!(metrics.collect::<Vec<_>>(), expected, "{told:?}");
    }

    #[test]
    fn a_request_without_a_response_says_why() {
        let error = Some((ErrorKind::ConnectRefused, "connection refused".to_owned()));
        let told = points_of(&Exchange { error, status: 0, hops: Vec::new(), ..exchange() });
        let last = told.last().expect("a point");
        assert!(last.starts_with("http_req_failed 1 "), "{last}");
        assert!(last.ends_with("expected_response=false name=items scenario=buyers status=0 error=connection refused"), "{last}");
        // Programs are no requests.
        let program = Exchange { hops: vec![ExchangeCopy::default()], ..exchange() };
        assert_eq!(points_of(&program), Vec::<String>::new());
    }

    #[test]
    fn a_second_has_a_point_for_each_value() {
        let mut own = Second::default();
        own.load
            .scenarios
            .insert("buyers".to_owned(), ScenarioLoad { users: 3, ..ScenarioLoad::default() });
        let mut check = RowKey::new(RowKind::Check, "buyers", "ok");
        check.place.group = vec!["shop".to_owned()];
        own.checks.push((Arc::new(check), CheckCounts { passed: 2, failed: 1, warned: 0 }));
        for (kind, name, values) in [
            (MetricKind::Counter, "iterations", vec![2.0, 1.0]),
            (MetricKind::Trend, "render", vec![1.5, 1.5]),
            (MetricKind::Rate, "cached", vec![1.0, 0.0]),
            (MetricKind::Gauge, "stock", vec![7.0, 5.0]),
            (MetricKind::Rate, "checks", vec![1.0]),
            (MetricKind::Counter, "http_reqs", vec![1.0]),
            (MetricKind::Counter, "http_req_own", vec![1.0]),
        ] {
            let mut stats = MetricStats::default();
            for (value, at) in values.into_iter().zip(0..) {
                assert_eq!(stats.record(kind, value, at), Ok(()));
            }
            own.metrics.push((Arc::new(MetricKey::new(kind, "buyers", name, Vec::new())), stats));
        }
        let told = |is_new| {
            let mut told = Vec::new();
            let moment = Moment { unix_us: 9, is_new };
            of_second(&own, moment, &[], &mut |point| told.push(shown(&point)));
            told
        };
        let expected = [
            "vus 3 @9",
            "checks 1 @9 check=ok group=::shop scenario=buyers",
            "checks 1 @9 check=ok group=::shop scenario=buyers",
            "checks 0 @9 check=ok group=::shop scenario=buyers",
            "iterations 3 @9 scenario=buyers",
            "render 1.5 @9 scenario=buyers",
            "render 1.5 @9 scenario=buyers",
            "cached 1 @9 scenario=buyers",
            "cached 0 @9 scenario=buyers",
            "stock 5 @9 scenario=buyers",
            "http_req_own 1 @9 scenario=buyers",
        ];
        assert_eq!(told(true), expected);
        assert_eq!(told(false), expected[1..]);
    }
}
