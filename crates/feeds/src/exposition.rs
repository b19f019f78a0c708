//! What is served to those who scrape: the text format of Prometheus, version 0.0.4, with distributions as histograms of fixed
//! bounds, or the messages of `io.prometheus.client` (`io/prometheus/client/metrics.proto`), which have native histograms too. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use squall_metrics::Histogram;
use squall_report::families::{FamilyKind, Tags, braced, labels};
use squall_serve::Request;

use crate::exponential::{Exponential, SCALE};
use crate::families::{Family, Resolution, SeriesValue};
use crate::protobuf::{Message, varint};

/// The bounds of histograms of times, in µs: from 0.1 ms to 5 min.
const BOUNDS_US: [u64; 20] = [
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
];
/// Those of trends that the plan records or a monitor samples, of which nobody knows the unit, in thousandths: from 0.01 to 1,000,000.
const BOUNDS_THOUSANDTHS: [u64; 25] = [
    10,
    25,
    50,
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
];

/// The bounds of a histogram, in its steps.
fn bounds(step: Resolution) -> &'static [u64] {
    match step {
        Resolution::Microsecond => &BOUNDS_US,
        Resolution::Thousandth => &BOUNDS_THOUSANDTHS,
    }
}

/// In which form metrics are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    /// Messages with their lengths before them.
    Messages,
}

impl Format {
    /// The format that a request asks for. Only who can read messages asks for them, so that how much it wants them
    /// (`q`) is not looked at.
    pub fn asked_for(request: &Request) -> Format {
        let takes_messages = request.list("accept").any(|kind| {
            let mut parts = kind.split(';').map(str::trim);
            parts.next() == Some("application/vnd.google.protobuf")
                && parts.any(|part| part == "encoding=delimited")
        });
        if takes_messages { Format::Messages } else { Format::Text }
    }

    /// The type of its content.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::Messages => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }

    /// The families in this format.
    pub fn encode(self, families: &[Family]) -> Vec<u8> {
        match self {
            Format::Text => text(families).into_bytes(),
            Format::Messages => messages(families),
        }
    }
}

fn text(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        let name = family.full_name();
        let kind = match family.kind {
            FamilyKind::Sum => "counter",
            FamilyKind::Level => "gauge",
            FamilyKind::Distribution => "histogram",
        };
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
        for (tags, value) in &family.series {
            let labels = labels(tags);
            match value {
                SeriesValue::Number(number) => {
                    let _ = writeln!(out, "{name}{} {number}", braced(&labels, &[]));
                }
                SeriesValue::Amount(number) => {
                    let _ = writeln!(out, "{name}{} {number}", braced(&labels, &[]));
                }
                SeriesValue::Distribution(own, step) => {
                    lines_of_histogram(&mut out, &name, &labels, own, *step);
                }
            }
        }
    }
    out
}

fn lines_of_histogram(
    out: &mut String,
    name: &str,
    labels: &BTreeMap<String, String>,
    own: &Histogram,
    step: Resolution,
) {
    let mut bucket = |bound: &str, count: u64| {
        let _ = writeln!(out, "{name}_bucket{} {count}", braced(labels, &[("le", bound)]));
    };
    for (bound, count) in at_most(own, step, bounds(step)) {
        bucket(&bound.to_string(), count);
    }
    bucket("+Inf", own.count());
    let (labels, sum) = (braced(labels, &[]), own.sum() / step.per_unit());
    let _ = writeln!(out, "{name}_sum{labels} {sum}\n{name}_count{labels} {}", own.count());
}

/// How many values are at most each of the bounds, which are given in steps and become such of the family's unit; what lies in a
/// bucket of the histogram is taken for its highest value.
pub fn at_most(own: &Histogram, step: Resolution, bounds: &[u64]) -> Vec<(f64, u64)> {
    let mut counts: Vec<(f64, u64)> =
        bounds.iter().map(|bound| (*bound as f64 / step.per_unit(), 0)).collect();
    for (low, width, count) in own.buckets() {
        let high = (low + width - 1).min(own.max());
        let first = bounds.partition_point(|bound| *bound < high);
        counts[first..].iter_mut().for_each(|(_, sum)| *sum += count);
    }
    counts
}

fn messages(families: &[Family]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        let message = metric_family(family).finish();
        varint(&mut out, message.len() as u64);
        out.extend_from_slice(&message);
    }
    out
}

/// A `MetricFamily`.
fn metric_family(family: &Family) -> Message {
    let mut message = Message::default();
    message.text(1, &family.full_name());
    message.text(2, family.help);
    let kind = match family.kind {
        FamilyKind::Sum => 0,
        FamilyKind::Level => 1,
        FamilyKind::Distribution => 4,
    };
    message.varint(3, kind);
    for (tags, value) in &family.series {
        message.message(4, &metric(family.kind, tags, *value));
    }
    message
}

/// A `Metric`.
fn metric(kind: FamilyKind, tags: &Tags, value: SeriesValue) -> Message {
    let mut metric = Message::default();
    for (name, value) in labels(tags) {
        let mut label = Message::default();
        label.text(1, &name);
        label.text(2, &value);
        metric.message(1, &label);
    }
    // A `Gauge` is in field 2 and a `Counter` in 3; both have their number in 1.
    let place = if kind == FamilyKind::Level { 2 } else { 3 };
    let number = |number: f64| {
        let mut message = Message::default();
        message.double(1, number);
        message
    };
    match value {
        SeriesValue::Number(own) => metric.message(place, &number(own as f64)),
        SeriesValue::Amount(own) => metric.message(place, &number(own)),
        SeriesValue::Distribution(own, step) => metric.message(7, &histogram(own, step)),
    }
    metric
}

/// A `Histogram`, of fixed bounds and native: a reader takes the form that it knows.
fn histogram(own: &Histogram, step: Resolution) -> Message {
    let mut message = Message::default();
    message.varint(1, own.count());
    message.double(2, own.sum() / step.per_unit());
    for (bound, count) in at_most(own, step, bounds(step)) {
        let mut bucket = Message::default();
        bucket.varint(1, count);
        bucket.double(2, bound);
        message.message(3, &bucket);
    }
    let own = Exponential::of(own, step);
    message.signed(5, i64::from(SCALE));
    message.double(6, own.zero_threshold);
    message.varint(7, own.zeros);
    for (gap, length) in own.spans() {
        let mut span = Message::default();
        span.signed(1, gap);
        span.varint(2, length);
        message.message(12, &span);
    }
    message.many_signed(13, own.deltas());
    message
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::decode::{Read, read, read_varint, unzigzag};
    use crate::families::families;
    use crate::points::tests::{example, recorded, scraped};

    #[test]
    fn text_is_that_of_prometheus() {
        let mut second = example();
        let (key, stats) = second.rows.pop_first().expect("a row");
        let mut key = (*key).clone();
        key.name = "a \"b\"\\\n".to_owned();
        second.rows.insert(Arc::new(key), stats);
        second.metrics = recorded().metrics;
        let text = text(&families(&second, &vec![("team-x".to_owned(), "y".to_owned())]));
        let row = "{group=\"shop / pay\",kind=\"request\",name=\"a \\\"b\\\"\\\\\\n\",scenario=\"buyer\",\
                   tag_kind=\"x\",team=\"a\",team_x=\"y\"";
        let of_plan = |kind| {
            format!(
                "{{kind=\"{kind}\",name=\"paid\",plan=\"free\",scenario=\"buyer\",tag_kind=\"x\",team_x=\"y\""
            )
        };
        for line in [
            "# TYPE squall_requests_total counter\n",
            &format!("\nsquall_requests_total{row}}} 3\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.0005\"}} 0\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.001\"}} 1\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.005\"}} 3\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"+Inf\"}} 3\n"),
            &format!("\nsquall_latency_seconds_sum{row}}} 0.007\n"),
            &format!("\nsquall_latency_seconds_count{row}}} 3\n"),
            "\nsquall_users_active{team_x=\"y\"} 6\n",
            &format!("\nsquall_metric_counter_total{}}} 5.5\n", of_plan("counter")),
            &format!("\nsquall_metric_gauge{}}} 4\n", of_plan("gauge")),
            &format!("\nsquall_metric_trend_bucket{},le=\"0.01\"}} 1\n", of_plan("trend")),
            &format!("\nsquall_metric_trend_bucket{},le=\"2.5\"}} 2\n", of_plan("trend")),
            &format!("\nsquall_metric_trend_bucket{},le=\"1000000\"}} 3\n", of_plan("trend")),
            &format!("\nsquall_metric_trend_sum{}}} 5.5\n", of_plan("trend")),
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn messages_are_for_those_who_ask_for_them() {
        let asked = |accept: &str| {
            let fields =
                accept.split_once(": ").map(|(name, own)| (name.to_lowercase(), own.to_owned()));
            Format::asked_for(&Request {
                fields: fields.into_iter().collect(),
                ..Request::default()
            })
        };
        let prometheus = "accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                          encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.2";
        assert_eq!(asked(prometheus), Format::Messages);
        for other in
            ["", "Accept: */*", "Accept: application/openmetrics-text", "X: encoding=delimited"]
        {
            assert_eq!(asked(other), Format::Text, "{other}");
        }
    }

    #[test]
    fn messages_have_both_forms_of_histograms() {
        let mut second = example();
        second.metrics = recorded().metrics;
        let bytes = messages(&families(&second, &Tags::new()));
        let mut rest = &bytes[..];
        let mut all: Vec<Vec<(u32, Read)>> = Vec::new();
        while !rest.is_empty() {
            let length = read_varint(&mut rest) as usize;
            let (message, after) = rest.split_at(length);
            all.push(read(message));
            rest = after;
        }
        let one = |fields: &[(u32, Read)], number: u32| {
            let found = fields.iter().find(|(own, _)| *own == number);
            found.unwrap_or_else(|| panic!("field {number} of {fields:?}")).1.clone()
        };
        let family = |name: &str| {
            let found = all.iter().find(|fields| one(fields, 1).text() == name);
            found.unwrap_or_else(|| panic!("{name}"))
        };
        let number = |name: &str, kind, place| {
            assert_eq!(one(family(name), 3).number(), kind, "{name}");
            let metric = one(family(name), 4).fields();
            f64::from_bits(one(&one(&metric, place).fields(), 1).number())
        };
        assert_eq!(number("squall_requests_total", 0, 3), 3.0);
        assert_eq!(number("squall_users_active", 1, 2), 6.0);
        assert_eq!(number("squall_metric_counter_total", 0, 3), 5.5);
        assert_eq!(number("squall_metric_gauge", 1, 2), 4.0);
        assert_eq!(one(family("squall_latency_seconds"), 3).number(), 4);
        let own = one(&one(family("squall_latency_seconds"), 4).fields(), 7).fields();
        assert_eq!(one(&own, 1).number(), 3);
        assert_eq!(f64::from_bits(one(&own, 2).number()), 0.007);
        let buckets =
            own.iter().filter(|(field, _)| *field == 3).map(|(_, bucket)| bucket.fields());
        let bounds: Vec<(u64, f64)> = buckets
            .map(|own| (one(&own, 1).number(), f64::from_bits(one(&own, 2).number())))
            .collect();
        assert_eq!((bounds.len(), bounds[3], bounds[5]), (20, (1, 0.001), (3, 0.005)));
        assert_eq!(unzigzag(one(&own, 5).number()), 4);
        let deltas: Vec<i64> = one(&own, 13).varints().into_iter().map(unzigzag).collect();
        assert_eq!(deltas, [1, 1], "one of 1 ms, two of 3 ms");
        let trend = one(&one(family("squall_metric_trend"), 4).fields(), 7).fields();
        assert_eq!((one(&trend, 1).number(), one(&trend, 7).number()), (3, 1), "one of three is 0");
        assert_eq!(f64::from_bits(one(&trend, 6).number()), 0.000_5);
        let first = one(&trend, 12).fields();
        // 2^(10/16) is 1.54.
        assert_eq!(unzigzag(one(&first, 1).number()), 10);
    }

    #[test]
    fn what_was_scraped_has_the_label_of_its_monitor() {
        let second = scraped();
        let text = text(&families(&second, &Tags::new()));
        for (kind, value) in [("a", 1.5), ("b", 2.5)] {
            let line = format!(
                "\nsquall_metric_gauge{{kind=\"gauge\",monitor=\"db\",name=\"hits\",tag_kind=\"{kind}\",tag_name=\"n\",tag_scenario=\"s\"}} {value}\n"
            );
            assert!(text.contains(&line), "{line}\n{text}");
        }
        let bytes = messages(&families(&second, &Tags::new()));
        let bytes = String::from_utf8_lossy(&bytes).into_owned();
        assert!(bytes.contains("monitor") && bytes.contains("tag_scenario"), "{bytes}");
    }
}
