//! The lines of points in one of k6's forms. Pure.

use std::collections::BTreeSet;

use squall_base::escape_json;

use super::point::Point;
use super::{TimeFormat, csv, json};
use crate::options::SystemTags;

/// Most metrics that are said to be what they are; a script with more says no more of them.
const MAX_METRICS: usize = 2_000;

/// A form in which k6 writes points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A line of JSON for each point, and one for each metric before that.
    Json,
    /// Comma-separated values with a head.
    Csv(TimeFormat),
}

/// Makes the lines of points.
#[derive(Debug)]
pub struct PointLines {
    form: Form,
    /// Those of the script: the metric with its tags, and the expression.
    thresholds: Vec<(String, String)>,
    /// Tags that have a column of their own in CSV.
    columns: Vec<&'static str>,
    /// Metrics that were said to be what they are.
    told: BTreeSet<String>,
}

impl PointLines {
    /// In a form; `thresholds` are those of the script: the metric with its tags, as in `http_req_duration{name:items}`, and the
    /// expression; `tags` those that k6 is asked to give.
    pub fn new(form: Form, thresholds: Vec<(String, String)>, tags: &SystemTags) -> PointLines {
        PointLines { form, thresholds, columns: tags.columns(), told: BTreeSet::new() }
    }

    /// What stands before all points: whole lines, or nothing.
    pub fn head(&self) -> String {
        match self.form {
            Form::Json => String::new(),
            Form::Csv(_) => csv::head(&self.columns) + "\n",
        }
    }

    /// A point, as whole lines that are added to `out`.
    pub fn add(&mut self, point: &Point<'_>, out: &mut String) {
        match self.form {
            Form::Csv(times) => *out += &csv::point(point, &self.columns, times),
            Form::Json => {
                let name = point.metric.name;
                if !self.told.contains(name) && self.told.len() < MAX_METRICS {
                    self.told.insert(name.to_owned());
                    let about = json::metric(&point.metric, &self.thresholds).to_string();
                    *out += &escape_json(&about);
                    out.push('\n');
                }
                *out += &escape_json(&json::point(point).to_string());
            }
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use squall_script::MetricKind;

    use super::super::PointMetric;
    use super::*;
    use crate::golden::golden;
    use crate::summary::Contains;

    /// Two requests and a value of the script, in a form.
    fn lines(form: Form) -> String {
        let thresholds = [
            ("http_reqs", "count>1"),
            ("http_reqs{name:a,status:200}", "count>0"),
            ("render", "avg<5"),
        ];
        let thresholds =
            thresholds.map(|(metric, own)| (metric.to_owned(), own.to_owned())).to_vec();
        let mut lines = PointLines::new(form, thresholds, &SystemTags::default());
        let mut out = lines.head();
        let tags = [
            ("name", Cow::Borrowed("http://a/?q=1,2")),
            ("url", Cow::Borrowed("http://a/?q=1,2")),
            ("method", Cow::Borrowed("GET")),
            ("status", Cow::Borrowed("200")),
            ("team", Cow::Borrowed("a \"b\"\n")),
            ("zone", Cow::Borrowed("z")),
        ];
        let metadata = [("trace_id", Cow::Borrowed("00ff"))];
        for (at, has_failed) in [(0, 0.0), (1, 1.0)] {
            let unix_us = 1_790_000_000_250_000 + at * 1_000_000;
            for (name, value) in [
                ("http_reqs", 1.0),
                ("http_req_duration", 118.059),
                ("http_req_failed", has_failed),
            ] {
                let metric = PointMetric::built_in(name).expect("one of k6's");
                let point = Point { metric, unix_us, value, tags: &tags, metadata: &metadata };
                lines.add(&point, &mut out);
            }
        }
        let (kind, contains) = (MetricKind::Trend, Contains::Time);
        let metric = PointMetric { name: "render", kind, contains };
        let point =
            Point { metric, unix_us: 1_790_000_002_000_000, value: 2.5, tags: &[], metadata: &[] };
        lines.add(&point, &mut out);
        out
    }

    #[test]
    fn points_are_written_as_k6_does() {
        golden("output/golden/points.json", &lines(Form::Json));
        golden("output/golden/points.csv", &lines(Form::Csv(TimeFormat::Unix)));
    }

    #[test]
    fn a_metric_is_told_of_once() {
        let lines = lines(Form::Json);
        let told = lines.lines().filter(|line| line.contains("\"Metric\""));
        assert_eq!((told.count(), lines.lines().count()), (4, 11));
    }
}
