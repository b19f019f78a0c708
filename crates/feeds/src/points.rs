//! Makes points of a second by the table of measurements. Pure.

use std::fmt::Write as _;

use squall_metrics::{MetricKey, ROW_COUNTS, RequestStats, RowKey};
use squall_report::families::{Tags, series_tags};
use squall_report::group_path;

use crate::table::{
    CHECK, CHECKS, COUNT, ERRORS, Field, LOAD, METRICS, Number, RESPONSES, ROW_TIMES, load,
    measurement, metric,
};
use crate::timeline::SentSecond;

/// Numbers of one thing in a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What kind of thing.
    pub measurement: &'static str,
    /// Which one. No two points of a second have the same measurement and tags.
    pub tags: Tags,
    /// Its numbers; at least one.
    pub fields: Vec<(&'static str, Number)>,
}

/// The points of a second, each with the tester's own tags.
pub fn points(second: &SentSecond, own: &Tags) -> Vec<Point> {
    let mut points = vec![point(LOAD, own.clone(), load(&second.counters))];
    for (key, stats) in second.rows.iter().filter(|(_, stats)| !stats.is_empty()) {
        let tags = tags(key, own);
        let counts = ROW_COUNTS.iter().map(|own| (own.name, Number::Sum((own.of)(stats))));
        let fields = counts.chain(values(&ROW_TIMES, stats)).collect();
        points.push(point(measurement(key.place.kind), tags.clone(), fields));
        // Errors and statuses of a group or an iteration are those of the requests within it.
        if key.place.kind.is_request() {
            outcomes(&mut points, &tags, stats);
        }
    }
    for (key, counts) in &second.checks {
        points.push(point(CHECKS, tags(key, own), values(&CHECK, counts)));
    }
    for (key, stats) in &second.metrics {
        points.push(point(METRICS, metric_tags(key, own), values(metric(key.kind), stats)));
    }
    points
}

fn outcomes(points: &mut Vec<Point>, tags: &Tags, stats: &RequestStats) {
    let mut count = |measurement, tag: &str, value: String, count| {
        let mut tags = tags.clone();
        tags.push((tag.to_owned(), value));
        points.push(point(measurement, tags, vec![(COUNT, Number::Sum(count))]));
    };
    for (kind, errors) in &stats.error_kinds {
        count(ERRORS, "error", kind.label().to_owned(), *errors);
    }
    for (status, responses) in &stats.status {
        count(RESPONSES, "status", status.to_string(), *responses);
    }
}

fn point(measurement: &'static str, tags: Tags, fields: Vec<(&'static str, Number)>) -> Point {
    Point { measurement, tags, fields }
}

fn values<T>(fields: &[Field<T>], of: &T) -> Vec<(&'static str, Number)> {
    fields.iter().filter_map(|field| Some((field.name, (field.of)(of)?))).collect()
}

/// The tags of a row: what it is, its own, and the tester's.
pub fn tags(key: &RowKey, own: &Tags) -> Tags {
    let (place, group) = (&key.place, group_path(&key.place.group));
    let known = [
        ("kind", place.kind.label()),
        ("scenario", &place.scenario),
        ("group", &group),
        ("name", &key.name),
    ];
    series_tags(&known, place.tags.iter().map(|(name, value)| (name, value)), own)
}

/// The tags of a metric of the plan or of a monitor, likewise.
pub fn metric_tags(key: &MetricKey, own: &Tags) -> Tags {
    let known = [("kind", key.kind.label()), ("scenario", &key.scenario), ("name", &key.name)];
    series_tags(&known, key.tags.iter().map(|(name, value)| (name, value)), own)
}

/// A name or value of a tag in which some characters, by their number and themselves, are percent-encoded: those that a
/// protocol gives a meaning to, so that different texts stay different.
pub fn percent_encoded(text: &str, is_encoded: impl Fn(usize, char) -> bool) -> String {
    let mut out = String::new();
    for (index, c) in text.chars().enumerate() {
        if is_encoded(index, c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use squall_metrics::{CheckCounts, ErrorKind, MetricKind, MetricStats, Place, RowKind, Sample};

    use super::*;
    use crate::timeline::Moment;

    fn pairs(tags: &[(&str, &str)]) -> Tags {
        tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// A second with a request in a group, with tags, of which one of three is an error, and a check.
    pub(crate) fn example() -> SentSecond {
        let mut stats = RequestStats::default();
        stats.record(&Sample { bytes_in: 70, ..Sample::ok(1_000) });
        stats.record(&Sample { bytes_out: 7, ..Sample::ok(3_000) });
        let error = Some(ErrorKind::from_label("status").expect("a kind"));
        stats.record(&Sample { error, status: 500, ..Sample::ok(3_000) });
        let place = Place {
            group: vec!["shop".to_owned(), "pay".to_owned()],
            tags: pairs(&[("team", "a"), ("kind", "x")]),
            ..Place::new(RowKind::Request, "buyer")
        };
        let key = RowKey { place, name: "GET /a b".to_owned() };
        let check = RowKey::new(RowKind::Check, "buyer", "is ok");
        let counts = CheckCounts { passed: 2, failed: 1, warned: 0 };
        let mut second = SentSecond { second: 4, ..SentSecond::default() };
        second.counters.users_active = 6;
        second.rows.insert(Arc::new(key), stats);
        second.checks.insert(Arc::new(check), counts);
        second
    }

    #[test]
    fn a_second_has_points_for_the_load_and_for_rows_with_their_outcomes_and_checks() {
        let points = points(&example(), &pairs(&[("team", "mine"), ("env", "test")]));
        let names: Vec<&str> = points.iter().map(|point| point.measurement).collect();
        let all = [LOAD, "squall_requests", ERRORS, RESPONSES, RESPONSES, CHECKS];
        assert_eq!(names, all);
        assert_eq!(points[0].tags, pairs(&[("team", "mine"), ("env", "test")]));
        assert!(points[0].fields.contains(&("users_active", Number::Level(6.0))));
        let row = pairs(&[
            ("kind", "request"),
            ("scenario", "buyer"),
            ("group", "shop / pay"),
            ("name", "GET /a b"),
            ("team", "a"),
            ("tag_kind", "x"),
            ("env", "test"),
        ]);
        assert_eq!(points[1].tags, row, "the plan's tag holds, and squall's names are its own");
        let of = |name| points[1].fields.iter().find(|(own, _)| *own == name).map(|own| own.1);
        assert_eq!(of("count"), Some(Number::Sum(3)));
        assert_eq!(of("errors"), Some(Number::Sum(1)));
        assert_eq!(
            (of("bytes_in"), of("bytes_out")),
            (Some(Number::Sum(70)), Some(Number::Sum(7)))
        );
        assert_eq!(of("latency_p50_us"), of("latency_max_us"), "two of three");
        assert_eq!(of("corrected_latency_p50_us"), None, "there is no schedule");
        let last = |point: &Point| point.tags.last().cloned().map(|own| (own, point.fields[0]));
        let count = |count| (COUNT, Number::Sum(count));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(last(&points[2]), Some((pair("error", "status"), count(1))));
        assert_eq!(last(&points[3]), Some((pair("status", "200"), count(2))));
        assert_eq!(last(&points[4]), Some((pair("status", "500"), count(1))));
        assert!(!points[5].tags.iter().any(|(name, _)| name == "group"), "no tag is empty");
    }

    #[test]
    fn what_was_not_sent_has_a_point_though_nothing_ended() {
        let mut stats = RequestStats::default();
        let error = Some(ErrorKind::Variable);
        stats.record(&Sample { error, complete: false, status: 0, ..Sample::ok(0) });
        let mut second = SentSecond::default();
        second.rows.insert(Arc::new(RowKey::new(RowKind::Request, "buyer", "pay")), stats);
        let points = points(&second, &Tags::new());
        let names: Vec<&str> = points.iter().map(|point| point.measurement).collect();
        assert_eq!(names, [LOAD, "squall_requests", ERRORS]);
        let of = |name| points[1].fields.iter().find(|(own, _)| *own == name).map(|own| own.1);
        let sum = |number| Some(Number::Sum(number));
        assert_eq!((of("count"), of("errors")), (sum(0), sum(0)));
        assert_eq!((of("not_sent"), of("cut_off"), of("retries")), (sum(1), sum(0), sum(0)));
        assert_eq!(points[2].fields, [(COUNT, Number::Sum(1))]);
    }

    /// A second in which a metric of each kind has recorded 1.5, 0 and 4.
    pub(crate) fn recorded() -> SentSecond {
        let mut second = SentSecond::default();
        for (_, kind) in MetricKind::NAMES {
            let mut stats = MetricStats::default();
            for (at, value) in [1.5, 0.0, 4.0].into_iter().enumerate() {
                stats.record(kind, value, at as u64).expect("a value");
            }
            let key =
                MetricKey::new(kind, "buyer", "paid", pairs(&[("kind", "x"), ("plan", "free")]));
            second.metrics.insert(Arc::new(key), stats);
        }
        second
    }

    /// A second with what a monitor called `db` has scraped: two series, whose labels are called as tags of squall's own.
    pub(crate) fn scraped() -> SentSecond {
        let mut second = SentSecond::default();
        for (kind, value) in [("a", 1.5), ("b", 2.5)] {
            let mut stats = MetricStats::default();
            stats.record(MetricKind::Gauge, value, 0).expect("a value");
            let labels = [("kind", kind), ("monitor", "db"), ("name", "n"), ("scenario", "s")];
            let key = MetricKey::new(MetricKind::Gauge, "", "hits", pairs(&labels));
            second.metrics.insert(Arc::new(key), stats);
        }
        second
    }

    /// What a format writes of that second has a line for each series, given its label and its value.
    pub(crate) fn told_of_scraped(
        encode: impl FnOnce(Moment, &[Point]) -> Vec<u8>,
        line: impl Fn(&str, f64) -> String,
    ) {
        let at = Moment { second: 4, unix_s: 1_700_000_004.25 };
        let text = String::from_utf8(encode(at, &points(&scraped(), &Vec::new()))).expect("text");
        for (kind, value) in [("a", 1.5), ("b", 2.5)] {
            let line = line(kind, value);
            assert!(text.contains(&line), "{line}\n{text}");
        }
    }

    #[test]
    fn labels_that_were_scraped_stay_apart_from_tags() {
        let points = points(&scraped(), &pairs(&[("monitor", "mine"), ("env", "test")]));
        for (point, kind) in points[1..].iter().zip(["a", "b"]) {
            let tags = [
                ("kind", "gauge"),
                ("name", "hits"),
                ("tag_kind", kind),
                ("monitor", "db"),
                ("tag_name", "n"),
                ("tag_scenario", "s"),
                ("env", "test"),
            ];
            assert_eq!(point.tags, pairs(&tags));
        }
    }

    #[test]
    fn a_metric_of_the_plan_has_the_fields_of_its_kind() {
        let points = points(&recorded(), &pairs(&[("env", "test")]));
        let fields = |kind: &str| {
            let tags = [("kind", kind), ("scenario", "buyer"), ("name", "paid")];
            let tags =
                [&tags[..], &[("tag_kind", "x"), ("plan", "free"), ("env", "test")]].concat();
            let found =
                points.iter().find(|own| own.measurement == METRICS && own.tags == pairs(&tags));
            found.expect(kind).fields.clone()
        };
        let (count, level) = ((COUNT, Number::Sum(3)), |name, level| (name, Number::Level(level)));
        assert_eq!(fields("counter"), [count, ("sum", Number::Amount(5.5))]);
        assert_eq!(
            fields("gauge"),
            [count, level("last", 4.0), level("min", 0.0), level("max", 4.0)]
        );
        assert_eq!(fields("rate"), [count, ("trues", Number::Sum(2))]);
        let trend = fields("trend");
        assert_eq!((trend[0], trend[2], trend[6]), (count, level("p50", 1.5), level("max", 4.0)));
    }
}
