//! Prometheus remote write, version 1.0: totals since the start of the load, with latencies as native histograms. A sample
//! that is sent again takes the place of itself, since it has a time.

use std::io;

use squall_plan::feed_target::FeedTarget;
use squall_report::families::{FamilyKind, Tags, labels};

use crate::exponential::{Exponential, SCALE};
use crate::families::{Family, SeriesValue};
use crate::http::Poster;
use crate::outbox::{DeliveryError, Receiver};
use crate::protobuf::Message;
use crate::snappy::compress;
use crate::timeline::Moment;

/// What is sent of the families as they were at the end of a second: a `WriteRequest` of
/// <https://prometheus.io/docs/specs/prw/remote_write_spec/>, compressed.
pub fn encode(at: Moment, families: &[Family]) -> Vec<u8> {
    let mut request = Message::default();
    let end_ms = ((at.unix_s + 1.0) * 1e3).round() as u64;
    for family in families {
        for (tags, value) in &family.series {
            request.message(1, &series(family, tags, *value, end_ms));
        }
        request.message(3, &metadata(family));
    }
    compress(&request.finish())
}

/// A `TimeSeries` with one value.
fn series(family: &Family, tags: &Tags, value: SeriesValue, end_ms: u64) -> Message {
    let mut own = labels(tags);
    own.insert("__name__".to_owned(), family.full_name());
    let mut series = Message::default();
    for (name, value) in &own {
        let mut label = Message::default();
        label.text(1, name);
        label.text(2, value);
        series.message(1, &label);
    }
    match value {
        SeriesValue::Number(number) => series.message(2, &sample(number as f64, end_ms)),
        SeriesValue::Amount(number) => series.message(2, &sample(number, end_ms)),
        SeriesValue::Distribution(own, step) => {
            series.message(4, &histogram(&Exponential::of(own, step), end_ms));
        }
    }
    series
}

/// A `Sample`.
fn sample(number: f64, end_ms: u64) -> Message {
    let mut sample = Message::default();
    sample.double(1, number);
    sample.varint(2, end_ms);
    sample
}

/// A `Histogram`.
fn histogram(own: &Exponential, end_ms: u64) -> Message {
    let mut message = Message::default();
    message.varint(1, own.count);
    message.double(3, own.sum);
    message.signed(4, i64::from(SCALE));
    message.double(5, own.zero_threshold);
    message.varint(6, own.zeros);
    for (gap, length) in own.spans() {
        let mut span = Message::default();
        span.signed(1, gap);
        span.varint(2, length);
        message.message(11, &span);
    }
    message.many_signed(12, own.deltas());
    message.varint(15, end_ms);
    message
}

/// A `MetricMetadata`.
fn metadata(family: &Family) -> Message {
    let mut message = Message::default();
    message.varint(
        1,
        match family.kind {
            FamilyKind::Sum => 1,
            FamilyKind::Level => 2,
            FamilyKind::Distribution => 3,
        },
    );
    message.text(2, &family.full_name());
    message.text(4, family.help);
    message
}

pub struct Writes(Poster);

impl Writes {
    /// To a URL that takes writes. Without a token of its own that of the environment is taken, if there is one.
    ///
    /// # Errors
    /// There is no TLS for it.
    pub fn new(target: &FeedTarget) -> io::Result<Writes> {
        let poster = Poster::new(target, "application/x-protobuf")?
            .with("content-encoding", "snappy")
            .with("x-prometheus-remote-write-version", "0.1.0");
        Ok(Writes(poster.authorized(target, "Bearer")))
    }
}

impl Receiver for Writes {
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError> {
        self.0.post(bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Read, decompress, read, unzigzag};
    use crate::families::families;
    use crate::points::tests::{example, scraped};

    /// The one field of this number.
    fn only(fields: &[(u32, Read)], number: u32) -> Read {
        let mut own = fields.iter().filter(|(field, _)| *field == number);
        let (_, value) = own.next().unwrap_or_else(|| panic!("no field {number}: {fields:?}"));
        assert!(own.next().is_none());
        value.clone()
    }

    /// Names and values of the labels of a series.
    fn labels_of(series: &Read) -> Vec<String> {
        let labels = series.fields().into_iter().filter(|(field, _)| *field == 1);
        let text = |(_, label): (u32, Read)| {
            let fields = label.fields();
            format!("{}={}", only(&fields, 1).text(), only(&fields, 2).text())
        };
        labels.map(text).collect()
    }

    #[test]
    fn a_request_has_sorted_labels_totals_and_native_histograms() {
        let second = example();
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let bytes = encode(at, &families(&second, &vec![("env".to_owned(), "x".to_owned())]));
        let all = read(&decompress(&bytes));
        let series: Vec<Read> =
            all.iter().filter(|(field, _)| *field == 1).map(|(_, own)| own.clone()).collect();
        let named = |name: &str| {
            let name = format!("__name__={name}");
            series.iter().find(|own| labels_of(own)[0] == name).expect("a series").fields()
        };
        let requests = named("squall_requests_total");
        let labels: Vec<String> = series
            .iter()
            .map(labels_of)
            .find(|own| own[0].ends_with("requests_total"))
            .expect("one");
        let wanted = "__name__=squall_requests_total env=x group=shop / pay kind=request name=GET /a b \
                      scenario=buyer tag_kind=x team=a";
        assert_eq!(labels.join(" "), wanted);
        let sample = only(&requests, 2).fields();
        assert_eq!(f64::from_bits(only(&sample, 1).number()), 3.0);
        assert_eq!(only(&sample, 2).number(), 1_700_000_005_250);
        let histogram = only(&named("squall_latency_seconds"), 4).fields();
        assert_eq!(only(&histogram, 1).number(), 3);
        assert_eq!(f64::from_bits(only(&histogram, 3).number()), 0.007);
        assert_eq!(unzigzag(only(&histogram, 4).number()), 4);
        let deltas: Vec<i64> = only(&histogram, 12).varints().into_iter().map(unzigzag).collect();
        assert_eq!(deltas, [1, 1], "one of 1 ms, two of 3 ms");
        let first = histogram.iter().find(|(field, _)| *field == 11).expect("a span").1.fields();
        // 2^(-160/16) s is 0.98 ms, 2^(-159/16) s is 1.02 ms.
        assert_eq!(unzigzag(only(&first, 1).number()), -159);
        let level = all.iter().filter(|(field, _)| *field == 3).map(|(_, own)| own.fields());
        let kinds: Vec<(String, u64)> =
            level.map(|own| (only(&own, 2).text(), only(&own, 1).number())).collect();
        assert!(kinds.contains(&("squall_users_active".to_owned(), 2)), "{kinds:?}");
        assert!(kinds.contains(&("squall_latency_seconds".to_owned(), 3)), "{kinds:?}");
    }

    #[test]
    fn what_was_scraped_has_the_label_of_its_monitor() {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let all = read(&decompress(&encode(at, &families(&scraped(), &Vec::new()))));
        let series =
            all.iter().filter(|(field, _)| *field == 1).map(|(_, own)| labels_of(own).join(" "));
        let series: Vec<String> = series.collect();
        for kind in ["a", "b"] {
            let labels = format!(
                "__name__=squall_metric_gauge kind=gauge monitor=db name=hits tag_kind={kind} tag_name=n tag_scenario=s"
            );
            assert!(series.contains(&labels), "{labels}\n{series:?}");
        }
    }
}
