//! OpenTelemetry's metrics over HTTP or gRPC as Protocol Buffers: totals since the start of the load (cumulative), with latencies as
//! exponential histograms. A point that is sent again says the same once more.

use std::io;

use squall_metrics::Histogram;
use squall_plan::feed_target::FeedTarget;
use squall_report::families::{FamilyKind, Tags};
use squall_runner::Trouble;

use crate::exponential::{Exponential, SCALE};
use crate::exposition::at_most;
use crate::families::{Family, Resolution, SeriesValue};
use crate::grpc::Caller;
use crate::http::Poster;
use crate::outbox::{DeliveryError, Receiver};
use crate::protobuf::{Field, Message, first_field};
use crate::timeline::Moment;

/// The method that takes metrics, of `opentelemetry/proto/collector/metrics/v1/metrics_service.proto`.
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u64 = 2;

/// Who sends metrics, and in which form.
#[derive(Debug, Clone, PartialEq)]
pub struct Exporter {
    /// `service.name`, and `service.version`, if there is one.
    pub service: String,
    pub version: Option<String>,
    /// The bounds of histograms, in thousandths of their unit; `None`: they are exponential.
    pub bounds: Option<&'static [u64]>,
}

impl Exporter {
    /// squall itself.
    fn own() -> Exporter {
        Exporter { service: "squall".to_owned(), version: None, bounds: None }
    }
}

/// From when to when, in ns since 1970.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

/// What is sent of the families as they were at the end of a second: an `ExportMetricsServiceRequest`, of OpenTelemetry's
/// `opentelemetry/proto/metrics/v1/metrics.proto`.
pub fn encode(at: Moment, families: &[Family]) -> Vec<u8> {
    encode_as(&Exporter::own(), at, families)
}

/// The same, sent by somebody.
pub fn encode_as(exporter: &Exporter, at: Moment, families: &[Family]) -> Vec<u8> {
    // Microseconds are what a float of this size still has.
    let nanos = |unix_s: f64| (unix_s * 1e6).round() as u64 * 1_000;
    let start = nanos(at.unix_s - f64::from(at.second));
    let span = Span { start, end: nanos(at.unix_s + 1.0) };
    let (mut resource, mut scope, mut scoped) =
        (Message::default(), Message::default(), Message::default());
    resource.message(1, &attribute("service.name", &exporter.service));
    if let Some(version) = &exporter.version {
        resource.message(1, &attribute("service.version", version));
    }
    scope.text(1, "squall");
    scope.text(2, env!("CARGO_PKG_VERSION"));
    scoped.message(1, &scope);
    for family in families {
        scoped.message(2, &metric(family, span, exporter.bounds));
    }
    let (mut of_resource, mut request) = (Message::default(), Message::default());
    of_resource.message(1, &resource);
    of_resource.message(2, &scoped);
    request.message(1, &of_resource);
    request.finish()
}

/// A `Metric`.
fn metric(family: &Family, span: Span, bounds: Option<&[u64]>) -> Message {
    let (mut metric, mut data) = (Message::default(), Message::default());
    metric.text(1, &family.name);
    metric.text(2, family.help);
    metric.text(3, family.unit);
    for (tags, value) in &family.series {
        data.message(
            1,
            &match value {
                SeriesValue::Number(number) => {
                    number_point(tags, span, |point| point.fixed(6, *number))
                }
                SeriesValue::Amount(number) => {
                    number_point(tags, span, |point| point.double(4, *number))
                }
                SeriesValue::Distribution(own, step) => match bounds {
                    None => exponential_point(tags, &Exponential::of(own, *step), span),
                    Some(bounds) => bounded_point(tags, (own, *step), bounds, span),
                },
            },
        );
    }
    match family.kind {
        FamilyKind::Level => metric.message(5, &data),
        FamilyKind::Sum => {
            data.varint(2, CUMULATIVE);
            data.varint(3, 1);
            metric.message(7, &data);
        }
        FamilyKind::Distribution => {
            data.varint(2, CUMULATIVE);
            metric.message(if bounds.is_none() { 10 } else { 9 }, &data);
        }
    }
    metric
}

/// A `NumberDataPoint`, whose number is written in the form that it has.
fn number_point(tags: &Tags, span: Span, write: impl Fn(&mut Message)) -> Message {
    let mut point = Message::default();
    point.fixed(2, span.start);
    point.fixed(3, span.end);
    write(&mut point);
    for (name, value) in tags {
        point.message(7, &attribute(name, value));
    }
    point
}

/// An `ExponentialHistogramDataPoint`. Its bucket `i` is ours of `i + 1`.
fn exponential_point(tags: &Tags, own: &Exponential, span: Span) -> Message {
    let mut point = Message::default();
    for (name, value) in tags {
        point.message(1, &attribute(name, value));
    }
    point.fixed(2, span.start);
    point.fixed(3, span.end);
    point.fixed(4, own.count);
    point.double(5, own.sum);
    point.signed(6, i64::from(SCALE));
    point.fixed(7, own.zeros);
    let mut buckets = Message::default();
    let first = own.buckets.first().map_or(0, |(index, _)| *index);
    buckets.signed(1, i64::from(first) - 1);
    buckets.varints(2, dense(&own.buckets));
    point.message(8, &buckets);
    point.double(14, own.zero_threshold);
    point
}

/// A `HistogramDataPoint`.
fn bounded_point(
    tags: &Tags,
    (own, step): (&Histogram, Resolution),
    bounds: &[u64],
    span: Span,
) -> Message {
    let mut point = Message::default();
    point.fixed(2, span.start);
    point.fixed(3, span.end);
    point.fixed(4, own.count());
    point.double(5, own.sum() / step.per_unit());
    let up_to = at_most(own, step, bounds).into_iter().map(|(_, count)| count);
    let mut before = 0;
    for count in up_to.chain([own.count()]) {
        point.fixed(6, count - before);
        before = count;
    }
    for bound in bounds {
        point.double(7, *bound as f64 / step.per_unit());
    }
    for (name, value) in tags {
        point.message(9, &attribute(name, value));
    }
    point
}

/// The counts of all buckets from the first to the last.
fn dense(buckets: &[(i32, u64)]) -> Vec<u64> {
    let mut counts = Vec::new();
    for (index, count) in buckets {
        let place = (index - buckets[0].0) as usize;
        counts.resize(place, 0);
        counts.push(*count);
    }
    counts
}

/// A `KeyValue` with a text.
fn attribute(name: &str, value: &str) -> Message {
    let (mut attribute, mut any) = (Message::default(), Message::default());
    any.text(1, value);
    attribute.text(1, name);
    attribute.message(2, &any);
    attribute
}

pub struct Metrics(Poster);

impl Metrics {
    /// To a URL that takes metrics. Without a token of its own that of the environment is taken, if there is one.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn new(target: &FeedTarget) -> io::Result<Metrics> {
        let poster = Poster::new(target, "application/x-protobuf")?;
        Ok(Metrics(poster.authorized(target, "Bearer")))
    }
}

impl Receiver for Metrics {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        taken(&self.0.post(bytes)?)
    }
}

/// Where metrics go by calls.
pub struct Calls(Caller);

impl Calls {
    /// To a URL whose server takes metrics. Without a token of its own that of the environment is taken, if there is one.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn new(target: &FeedTarget) -> io::Result<Calls> {
        Ok(Calls(Caller::new(target, METHOD)?))
    }
}

impl Receiver for Calls {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        taken(&self.0.call(bytes)?)
    }
}

fn taken(response: &[u8]) -> Result<(), DeliveryError> {
    match rejected(response) {
        Some((points, error)) => Err(DeliveryError::Part(points, error)),
        None => Ok(()),
    }
}

/// How many points the receiver says that it has not taken, of an `ExportMetricsServiceResponse`, and why.
fn rejected(response: &[u8]) -> Option<(u64, Trouble)> {
    let Field::Bytes(partial) = first_field(response, 1)? else { return None };
    let Field::Number(points) = first_field(partial, 1)? else { return None };
    let words = match first_field(partial, 2) {
        Some(Field::Bytes(words)) => words,
        _ => &[],
    };
    let trouble = || Trouble::new(format!("{points} points were rejected")).said(words);
    (points > 0).then(|| (points, trouble()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Read, read, unzigzag};
    use crate::families::families;
    use crate::points::tests::{example, scraped};

    /// The fields of this number.
    fn all(fields: &[(u32, Read)], number: u32) -> Vec<Read> {
        let own = fields.iter().filter(|(field, _)| *field == number);
        own.map(|(_, value)| value.clone()).collect()
    }

    fn one(fields: &[(u32, Read)], number: u32) -> Read {
        let own = all(fields, number);
        assert_eq!(own.len(), 1, "field {number} of {fields:?}");
        own[0].clone()
    }

    /// Name and value of an attribute.
    fn text(attribute: &Read) -> String {
        let fields = attribute.fields();
        format!("{}={}", one(&fields, 1).text(), one(&one(&fields, 2).fields(), 1).text())
    }

    #[test]
    fn a_receiver_says_how_many_points_it_has_rejected() {
        let response = |points, text: &str| {
            let (mut partial, mut response) = (Message::default(), Message::default());
            partial.varint(1, points);
            partial.text(2, text);
            response.message(1, &partial);
            rejected(&response.finish())
        };
        let wanted = (3, Trouble::new("3 points were rejected").said(b"too old"));
        assert_eq!(response(3, "too old"), Some(wanted));
        assert_eq!(response(0, "a warning"), None);
        assert_eq!((rejected(b""), rejected(b"{}")), (None, None));
    }

    #[test]
    fn a_request_has_totals_and_exponential_histograms() {
        let second = example();
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let bytes = encode(at, &families(&second, &vec![("env".to_owned(), "x".to_owned())]));
        let resource = one(&read(&bytes), 1).fields();
        assert_eq!(text(&one(&one(&resource, 1).fields(), 1)), "service.name=squall");
        let scoped = one(&resource, 2).fields();
        let metrics: Vec<Vec<(u32, Read)>> = all(&scoped, 2).iter().map(Read::fields).collect();
        let named = |name: &str| {
            metrics
                .iter()
                .find(|own| one(own, 1).text() == name)
                .unwrap_or_else(|| panic!("{name}"))
        };
        let sum = one(named("squall_requests"), 7).fields();
        assert_eq!((one(&sum, 2).number(), one(&sum, 3).number()), (2, 1), "cumulative, monotonic");
        let point = one(&sum, 1).fields();
        assert_eq!(one(&point, 2).number(), 1_700_000_000_250_000_000, "the load began");
        assert_eq!(one(&point, 3).number(), 1_700_000_005_250_000_000, "the second ended");
        assert_eq!(one(&point, 6).number(), 3);
        let tags: Vec<String> = all(&point, 7).iter().map(text).collect();
        let wanted =
            "kind=request scenario=buyer group=shop / pay name=GET /a b team=a tag_kind=x env=x";
        assert_eq!(tags.join(" "), wanted);
        assert_eq!(
            one(&one(&one(named("squall_users_active"), 5).fields(), 1).fields(), 6).number(),
            6
        );
        assert_eq!(one(named("squall_received_bytes"), 3).text(), "By");
        let histogram = one(named("squall_latency_seconds"), 10).fields();
        assert_eq!(one(&histogram, 2).number(), 2);
        let point = one(&histogram, 1).fields();
        assert_eq!((one(&point, 4).number(), one(&point, 7).number()), (3, 0));
        assert_eq!(f64::from_bits(one(&point, 5).number()), 0.007);
        assert_eq!(unzigzag(one(&point, 6).number()), 4);
        let buckets = one(&point, 8).fields();
        // 2^(-160/16) s is 0.98 ms, 2^(-134/16) s is 3.01 ms.
        assert_eq!(unzigzag(one(&buckets, 1).number()), -160);
        let counts = one(&buckets, 2).varints();
        assert_eq!((counts.len(), counts[0], counts[25]), (26, 1, 2));
        assert_eq!(counts.iter().sum::<u64>(), 3);
    }

    #[test]
    fn what_was_scraped_has_the_attribute_of_its_monitor() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let second = scraped();
        let resource = one(&read(&encode(at, &families(&second, &Vec::new()))), 1).fields();
        let metrics = all(&one(&resource, 2).fields(), 2);
        let gauge = metrics.iter().map(Read::fields);
        let gauge = gauge.into_iter().find(|own| one(own, 1).text() == "squall_metric_gauge");
        let points = all(&one(&gauge.expect("a gauge"), 5).fields(), 1);
        let tags =
            |point: &Read| -> Vec<String> { all(&point.fields(), 7).iter().map(text).collect() };
        let found: Vec<String> = points.iter().map(|point| tags(point).join(" ")).collect();
        let of = |kind| {
            format!("kind=gauge name=hits tag_kind={kind} monitor=db tag_name=n tag_scenario=s")
        };
        assert_eq!(found, [of("a"), of("b")]);
    }
}
