//! The points of an interval under JMeter's names (`InfluxdbBackendListenerClient` and `GraphiteBackendListenerClient` of
//! Apache JMeter 5.6.3), as lines of InfluxDB's protocol and of Graphite's. Numbers have no type there: all are with
//! fractions, as boards and databases made for JMeter expect. Pure.

use std::fmt::Write as _;

use squall_plan::model::{JmeterGraphite, JmeterInfluxdb};
use squall_report::families::Tags;

use super::sums::{Sum, Sums, Threads, Window};
use crate::graphite;
use crate::outbox::Batch;
use crate::points::percent_encoded;

/// What the sum of all samples is called: a sample of this name has no points of its own.
const ALL: &str = "all";

#[derive(Debug, Default)]
pub struct Lines(String, u64);

impl Lines {
    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
        self.1 += 1;
    }

    /// As bytes.
    pub fn batch(self) -> Batch {
        Batch { bytes: self.0.into_bytes(), points: self.1 }
    }
}

#[derive(Debug)]
pub struct Influxdb {
    /// Escaped, with the tag `application`.
    measurement: String,
    application: String,
    title: String,
    event_tags: String,
    /// The tester's own tags.
    own: String,
    percentiles: Vec<f32>,
}

impl Influxdb {
    /// As a plan says, with the tester's own tags.
    pub fn new(how: &JmeterInfluxdb, own: &Tags) -> Influxdb {
        let or =
            |text: &Option<String>, without: &str| text.as_deref().unwrap_or(without).to_owned();
        let own: Vec<(&str, &str)> =
            own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Influxdb {
            measurement: escaped(&or(&how.measurement, "jmeter")),
            application: tags(&[("application", &or(&how.application, ""))]),
            title: or(&how.title, "Test"),
            event_tags: or(&how.event_tags, ""),
            own: tags(&own),
            percentiles: how.samples.percentiles.iter().map(|own| own.value as f32).collect(),
        }
    }

    /// The start of the run, or its end, for notes on boards; the time in ms since 1970.
    pub fn event(&self, word: &str, unix_ms: u64, out: &mut Lines) {
        let (application, own) = (&self.application, &self.own);
        let title = tags(&[("title", "ApacheJMeter")]);
        let about = tags(&[("tags", &self.event_tags)]);
        let text = format!("{} {word}", self.title);
        let text = text.trim().replace('\\', "\\\\").replace('"', "\\\"");
        out.push(format_args!(
            "events{application}{title}{own}{about} text=\"{text}\" {unix_ms}000000"
        ));
    }

    /// The points of an interval.
    pub fn interval(&self, sums: &Sums, threads: &Threads, unix_ms: u64, out: &mut Lines) {
        for (name, sum) in sums.by_name.iter().filter(|(name, _)| *name != ALL) {
            self.of_name(name, sum, unix_ms, out);
        }
        let sum = &sums.all;
        if sum.count() > 0 {
            let mut fields = format!("count={},countError={}", sum.count(), sum.ko.count);
            times(&mut fields, &sum.ok.times);
            self.traffic(&mut fields, sum, &sum.times);
            self.point(&[("transaction", ALL), ("statut", ALL)], &fields, unix_ms, out);
        }
        let Threads { min, max, mean, started, ended } = threads;
        let fields =
            format!("minAT={min},maxAT={max},meanAT={mean},startedT={started},endedT={ended}");
        self.point(&[("transaction", "internal")], &fields, unix_ms, out);
    }

    fn of_name(&self, name: &str, sum: &Sum, unix_ms: u64, out: &mut Lines) {
        let all = (ALL, sum.count(), &sum.times);
        let ok = ("ok", sum.ok.count, &sum.ok.times);
        let ko = ("ko", sum.ko.count, &sum.ko.times);
        for (word, count, window) in [all, ok, ko] {
            if count > 0 {
                let mut fields = format!("count={count}");
                times(&mut fields, window);
                self.traffic(&mut fields, sum, window);
                self.point(&[("transaction", name), ("statut", word)], &fields, unix_ms, out);
            }
        }
        for error in sum.errors() {
            let known = [
                ("transaction", name),
                ("responseCode", error.code.as_str()),
                ("responseMessage", error.message.as_str()),
            ];
            self.point(&known, &format!("count={}", error.count), unix_ms, out);
        }
    }

    fn traffic(&self, fields: &mut String, sum: &Sum, window: &Window) {
        let Sum { hits, bytes_in, bytes_out, .. } = sum;
        let _ = write!(fields, ",hit={hits},sb={bytes_out},rb={bytes_in}");
        for (percentile, value) in
            self.percentiles.iter().zip(window.percentiles(&self.percentiles))
        {
            let _ = write!(fields, ",pct{percentile:?}={value}");
        }
    }

    fn point(&self, known: &[(&str, &str)], fields: &str, unix_ms: u64, out: &mut Lines) {
        let Influxdb { measurement, application, own, .. } = self;
        let known = tags(known);
        out.push(format_args!("{measurement}{application}{known}{own} {fields} {unix_ms}000000"));
    }
}

/// Mean, smallest and largest, if there is any.
fn times(fields: &mut String, window: &Window) {
    if !window.is_empty() {
        let (mean, min, max) = (window.mean(), window.min(), window.max());
        let _ = write!(fields, ",avg={mean},min={min},max={max}");
    }
}

/// Tags as they stand in a line. One without a value cannot.
fn tags(tags: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, value) in tags.iter().filter(|(_, value)| !value.trim().is_empty()) {
        let _ = write!(out, ",{}={}", escaped(name), escaped(value));
    }
    out
}

/// A name or value as JMeter escapes it, and what would end the line or the value besides percent-encoded.
fn escaped(text: &str) -> String {
    let text = text.trim();
    let ends = |at: usize| {
        matches!(text[at + 1..].chars().next(), None | Some(' ' | ',' | '=' | '\n' | '\\'))
    };
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        match c {
            ' ' | ',' | '=' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\\' if ends(at) => out.push_str("%5C"),
            c if c.is_ascii_control() => {
                out.push_str(&percent_encoded(&c.to_string(), |_, _| true))
            }
            c => out.push(c),
        }
    }
    out
}

#[derive(Debug)]
pub struct Graphite {
    prefix: String,
    /// The tester's own tags.
    own: String,
    /// Percentiles with what they are called.
    percentiles: Vec<f32>,
    names: Vec<String>,
}

impl Graphite {
    /// As a plan says, with the tester's own tags.
    pub fn new(how: &JmeterGraphite, own: &Tags) -> Graphite {
        let percentiles: Vec<f32> =
            how.samples.percentiles.iter().map(|own| own.value as f32).collect();
        let name = |percentile: &f32| {
            let text = format!("{percentile:.2}");
            path_part(text.trim_end_matches('0').trim_end_matches('.'))
        };
        let mut tags = String::new();
        for (name, value) in own {
            let _ = write!(tags, ";{}={}", graphite::escaped(name), graphite::escaped(value));
        }
        Graphite {
            prefix: how.prefix.clone().unwrap_or_else(|| "jmeter.".to_owned()),
            own: tags,
            names: percentiles.iter().map(name).collect(),
            percentiles,
        }
    }

    /// The numbers of an interval; the time in s since 1970.
    pub fn interval(&self, sums: &Sums, threads: &Threads, unix_s: u64, out: &mut Lines) {
        for (name, sum) in sums.by_name.iter().filter(|(name, _)| *name != ALL) {
            self.sum(&path_part(name), sum, unix_s, out);
        }
        self.sum(ALL, &sums.all, unix_s, out);
        let Threads { min, max, mean, started, ended } = threads;
        for (name, value) in [
            ("minAT", min),
            ("maxAT", max),
            ("meanAT", mean),
            ("startedT", started),
            ("endedT", ended),
        ] {
            self.number("test", name, value, unix_s, out);
        }
    }

    fn sum(&self, context: &str, sum: &Sum, unix_s: u64, out: &mut Lines) {
        if sum.count() == 0 {
            return;
        }
        for (name, value) in [
            ("ok.count", sum.ok.count),
            ("ko.count", sum.ko.count),
            ("a.count", sum.count()),
            ("h.count", sum.hits),
            ("sb.bytes", sum.bytes_out),
            ("rb.bytes", sum.bytes_in),
        ] {
            self.number(context, name, value, unix_s, out);
        }
        let all = ("a", sum.count(), &sum.times);
        let ok = ("ok", sum.ok.count, &sum.ok.times);
        let ko = ("ko", sum.ko.count, &sum.ko.times);
        for (word, _, window) in [ok, ko, all].into_iter().filter(|(_, count, _)| *count > 0) {
            self.times(context, word, window, unix_s, out);
        }
    }

    fn times(&self, context: &str, word: &str, window: &Window, unix_s: u64, out: &mut Lines) {
        for (name, value) in [("min", window.min()), ("max", window.max())] {
            self.number(context, &format!("{word}.{name}"), value, unix_s, out);
        }
        self.number(context, &format!("{word}.avg"), window.mean(), unix_s, out);
        for (name, value) in self.names.iter().zip(window.percentiles(&self.percentiles)) {
            self.number(context, &format!("{word}.pct{name}"), value, unix_s, out);
        }
    }

    fn number(
        &self,
        context: &str,
        name: &str,
        value: impl std::fmt::Display,
        unix_s: u64,
        out: &mut Lines,
    ) {
        let Graphite { prefix, own, .. } = self;
        out.push(format_args!("{prefix}{context}.{name}{own} {value} {unix_s}"));
    }
}

/// A part of a path as JMeter writes it; any other white space, and what is no character at all, is a `-` too.
fn path_part(text: &str) -> String {
    let part = |c: char| match c {
        '.' => '_',
        '\\' => '-',
        c if c.is_whitespace() || c.is_control() => '-',
        c => c,
    };
    text.chars().map(part).collect()
}

#[cfg(test)]
mod tests {
    use squall_plan::expr::Pattern;
    use squall_plan::model::JmeterSamples;
    use squall_plan::span::{Span, Spanned};

    use super::super::sums::tests::{failed, sample};
    use super::*;

    fn sums() -> Sums {
        let mut sums = Sums::new(Pattern::compile("").ok());
        sums.add(&sample("GET /a, b", 10));
        sums.add(&sample("GET /a, b", 21));
        sums.add(&failed("GET /a, b", "500", "Internal Server Error", ""));
        sums.add(&sample("all", 1));
        sums
    }

    fn of(percentiles: &[f64]) -> JmeterSamples {
        let spanned = |own: &f64| Spanned::new(*own, Span::default());
        let percentiles = percentiles.iter().map(spanned).collect();
        JmeterSamples { percentiles, ..JmeterSamples::default() }
    }

    fn text(out: Lines) -> String {
        let batch = out.batch();
        let text = String::from_utf8(batch.bytes).expect("text");
        assert_eq!(text.lines().count() as u64, batch.points);
        text
    }

    #[test]
    fn points_of_influxdb_are_those_of_jmeter() {
        let how = JmeterInfluxdb {
            samples: of(&[90.0, 99.9]),
            application: Some("shop 1".to_owned()),
            event_tags: Some("a b".to_owned()),
            title: Some("the \"test\" \\".to_owned()),
            ..JmeterInfluxdb::default()
        };
        let influxdb = Influxdb::new(&how, &vec![("env".to_owned(), "ci".to_owned())]);
        let mut out = Lines::default();
        influxdb.event("started", 1_700_000_000_123, &mut out);
        let sums = sums();
        influxdb.interval(&sums, &sums.threads((1, 0)), 1_700_000_005_000, &mut out);
        let name = "jmeter,application=shop\\ 1,transaction=GET\\ /a\\,\\ b";
        let expected = [
            "events,application=shop\\ 1,title=ApacheJMeter,env=ci,tags=a\\ b text=\"the \\\"test\\\" \\\\ started\" 1700000000123000000".to_owned(),
            format!("{name},statut=all,env=ci count=3,avg=20.333333333333332,min=10,max=30,hit=3,sb=3,rb=30,pct90.0=30,pct99.9=30 1700000005000000000"),
            format!("{name},statut=ok,env=ci count=2,avg=15.5,min=10,max=21,hit=3,sb=3,rb=30,pct90.0=21,pct99.9=21 1700000005000000000"),
            format!("{name},statut=ko,env=ci count=1,avg=30,min=30,max=30,hit=3,sb=3,rb=30,pct90.0=30,pct99.9=30 1700000005000000000"),
            format!("{name},responseCode=500,responseMessage=Internal\\ Server\\ Error,env=ci count=1 1700000005000000000"),
            "jmeter,application=shop\\ 1,transaction=all,statut=all,env=ci count=4,countError=1,avg=10.666666666666666,min=1,max=21,hit=4,sb=4,rb=40,pct90.0=30,pct99.9=30 1700000005000000000".to_owned(),
            "jmeter,application=shop\\ 1,transaction=internal,env=ci minAT=2,maxAT=2,meanAT=2,startedT=1,endedT=0 1700000005000000000".to_owned(),
        ];
        assert_eq!(text(out).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_interval_without_samples_has_the_threads_alone() {
        let influxdb = Influxdb::new(&JmeterInfluxdb::default(), &Vec::new());
        let mut out = Lines::default();
        influxdb.interval(&Sums::default(), &Threads::default(), 1, &mut out);
        let expected =
            "jmeter,transaction=internal minAT=0,maxAT=0,meanAT=0,startedT=0,endedT=0 1000000\n";
        assert_eq!(text(out), expected);
    }

    #[test]
    fn nothing_in_a_tag_ends_it() {
        assert_eq!(escaped(" a,b=c d\ne "), "a\\,b\\=c\\ d\\ne");
        assert_eq!(escaped("a\\b\\ c\\"), "a\\b%5C\\ c%5C");
        assert_eq!(escaped("a\tb\r"), "a%09b");
        assert_eq!(tags(&[("a", " "), ("b", "c")]), ",b=c");
    }

    #[test]
    fn paths_of_graphite_are_those_of_jmeter() {
        let how = JmeterGraphite {
            samples: of(&[90.0, 99.9]),
            prefix: Some("load.".to_owned()),
            ..JmeterGraphite::default()
        };
        let graphite = Graphite::new(&how, &vec![("env".to_owned(), "a b".to_owned())]);
        let (mut out, sums) = (Lines::default(), sums());
        graphite.interval(&sums, &sums.threads((1, 0)), 1_700_000_005, &mut out);
        let text = text(out);
        let of_name = text.lines().filter_map(|line| line.strip_prefix("load.GET-/a,-b."));
        let of_name = of_name.map(|line| line.replace(";env=a%20b", "").replace(" 1700000005", ""));
        let expected = [
            "ok.count 2",
            "ko.count 1",
            "a.count 3",
            "h.count 3",
            "sb.bytes 3",
            "rb.bytes 30",
            "ok.min 10",
            "ok.max 21",
            "ok.avg 15.5",
            "ok.pct90 21",
            "ok.pct99_9 21",
            "ko.min 30",
            "ko.max 30",
            "ko.avg 30",
            "ko.pct90 30",
            "ko.pct99_9 30",
            "a.min 10",
            "a.max 30",
            "a.avg 20.333333333333332",
            "a.pct90 30",
            "a.pct99_9 30",
        ];
        assert_eq!(of_name.collect::<Vec<_>>(), expected);
        assert_eq!(text.matches("load.all.a.count").count(), 1, "{text}");
        assert!(text.contains("load.test.startedT;env=a%20b 1 1700000005\n"), "{text}");
        assert!(text.lines().all(|line| line.split(' ').count() == 3), "{text}");
        assert_eq!(path_part("a.b\\c d\n"), "a_b-c-d-");
    }
}
