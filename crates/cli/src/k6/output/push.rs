//! k6's outputs that send what is measured to another system while the run goes on: InfluxDB, Prometheus and OpenTelemetry. Who is
//! slow, down or refuses costs points, which are counted, and never the run.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_feeds::{Dispatch, Exporter, FieldValue, Moment, influxdb_line};
use squall_k6::output::{FieldKind, Layout, Point, PushTarget};
use squall_report::Run;
use squall_runner::{Delivery, Event, EventKind, Phase, Second, Sink, Start, Trouble, Wanted};

use super::points::Points;
use super::series::Series;

/// Most bytes of lines that are kept before they are sent.
const MAX_KEPT: usize = 1 << 20;
/// The bounds of histograms that k6's OpenTelemetry library has if nothing else is said, in thousandths.
const BOUNDS: [u64; 15] = [
    0, 5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 250_000, 500_000, 750_000, 1_000_000,
    2_500_000, 5_000_000, 7_500_000, 10_000_000,
];

/// Sends the points of a run.
pub struct Push {
    target: PushTarget,
    points: Points,
    made: Made,
    /// Once the run has begun, until it is over.
    sending: Option<(Dispatch, Delivery)>,
    has_teardown: bool,
    /// When something was sent last, in seconds since 1970.
    sent_unix_s: f64,
}

/// What was made of points and is not sent yet.
enum Made {
    Lines(Lines),
    Series(Box<Series>),
}

/// Points of InfluxDB.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    points: u64,
    /// How many there were in all.
    all: u64,
}

impl Push {
    pub fn new(target: PushTarget, points: Points) -> Push {
        let made = match target.layout {
            Layout::Influxdb { .. } => Made::Lines(Lines::default()),
            Layout::RemoteWrite { .. } | Layout::OpenTelemetry { .. } => {
                Made::Series(Box::default())
            }
        };
        Push { target, points, made, sending: None, has_teardown: false, sent_unix_s: 0.0 }
    }

    /// Sends what was made, if there is enough or the time has come.
    fn send_if_due(&mut self) {
        let is_much = matches!(&self.made, Made::Lines(own) if own.text.len() >= MAX_KEPT);
        let waited = Duration::from_secs_f64((now_unix_s() - self.sent_unix_s).max(0.0));
        if is_much || waited >= self.target.every {
            self.send();
        }
    }

    fn send(&mut self) {
        let now_unix_s = now_unix_s();
        self.sent_unix_s = now_unix_s;
        let at = self.moment(now_unix_s);
        let Some((dispatch, delivery)) = &self.sending else { return };
        match (&mut self.made, &self.target.layout) {
            (Made::Lines(own), _) if own.points > 0 => {
                dispatch.lines(std::mem::take(&mut own.text), std::mem::take(&mut own.points));
            }
            (Made::Lines(_), _) => {}
            (Made::Series(series), layout) => {
                match layout {
                    Layout::OpenTelemetry { service, version, prefix } => {
                        let (service, version) = (service.clone(), Some(version.clone()));
                        let exporter = Exporter { service, version, bounds: Some(&BOUNDS) };
                        dispatch.otlp(&exporter, at, &series.of_opentelemetry(prefix));
                    }
                    Layout::RemoteWrite { stats, is_native, .. } => {
                        dispatch.remote_write(at, &series.of_prometheus(stats, *is_native));
                    }
                    Layout::Influxdb { .. } => {}
                }
                series.sent();
                let left_out = series.take_left_out();
                if left_out > 0 {
                    let what = "there are more than 20,000 series: give requests with changing URLs a `name` tag";
                    delivery.trouble(&Trouble::new(what));
                    delivery.lost(left_out);
                }
            }
        }
    }

    /// A moment as encoders take it: they add a second, at the end of which something was so.
    fn moment(&self, now_unix_s: f64) -> Moment {
        let second = (now_unix_s - self.points.began_unix_s()).max(0.0) as u32;
        Moment { second, unix_s: now_unix_s - 1.0 }
    }

    /// Sends what is left, and waits for the receiver, but not for long.
    fn end(&mut self) {
        self.send();
        let later = self.moment(self.sent_unix_s + 0.001);
        let Some((dispatch, _)) = self.sending.take() else { return };
        if let (
            Made::Series(series),
            Layout::RemoteWrite { stats, is_native, has_stale_markers: true },
        ) = (&mut self.made, &self.target.layout)
        {
            series.renew();
            dispatch.remote_write(later, &series.stale(stats, *is_native));
        }
        dispatch.finish();
    }
}

impl Made {
    fn add(&mut self, point: &Point<'_>, layout: &Layout) {
        match self {
            Made::Series(series) => series.add(point),
            Made::Lines(own) => {
                let Layout::Influxdb { fields, precision_ns, .. } = layout else { return };
                // A point takes the place of one of the same time and tags: values of one µs are told apart by their number.
                let time = point.unix_us * 1_000 + own.all % 1_000;
                add_line(&mut own.text, point, fields, time - time % precision_ns);
                (own.points, own.all) = (own.points + 1, own.all.wrapping_add(1));
            }
        }
    }
}

/// A point as a line: its value is a field, as are the tags that are to be such.
fn add_line(lines: &mut String, point: &Point<'_>, fields: &[(String, FieldKind)], time_ns: u64) {
    let as_field = |tag: &str| fields.iter().find(|(name, _)| name == tag).map(|(_, kind)| *kind);
    let all = || {
        // What a script says beside tags, such as the number of a trace, is not sent, as in k6: each would be another series.
        let numbers = point.metadata.iter().filter(|(name, _)| ["vu", "iter"].contains(name));
        let own = point.tags.iter().chain(numbers);
        own.map(|(name, value)| (*name, value.as_ref()))
    };
    let tags = all().filter(|(name, _)| as_field(name).is_none());
    let more = all().filter_map(|(name, value)| Some((name, field(as_field(name)?, value))));
    let value = [("value", FieldValue::Float(point.value))];
    influxdb_line(lines, point.metric.name, tags, more.chain(value), time_ns);
}

/// The value of a tag as a field; a text, where it is not what it is to be.
fn field(kind: FieldKind, value: &str) -> FieldValue<'_> {
    let read = match kind {
        FieldKind::Text => None,
        FieldKind::Bool => value.parse().ok().map(FieldValue::Bool),
        FieldKind::Float => {
            let number: Option<f64> = value.parse().ok();
            number.filter(|own| own.is_finite()).map(FieldValue::Float)
        }
        FieldKind::Integer => value.parse().ok().map(FieldValue::Integer),
    };
    read.unwrap_or(FieldValue::Text(value))
}

fn now_unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |own| own.as_secs_f64())
}

impl Sink for Push {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.points.start(start);
        self.sent_unix_s = start.meta.started_unix;
        self.has_teardown = !start.plan.teardown.is_empty();
        let target = &self.target.target;
        let delivery = Dispatch::delivery(target, &start.program.secrets);
        let dispatch = match &self.target.layout {
            Layout::Influxdb { create, .. } => {
                Dispatch::influxdb(target, create.as_deref(), &delivery)?
            }
            Layout::RemoteWrite { .. } | Layout::OpenTelemetry { .. } => {
                Dispatch::totals(target, &delivery)?
            }
        };
        self.sending = Some((dispatch, delivery.clone()));
        Ok(Wanted { measured: true, delivery: Some(delivery), ..Wanted::default() })
    }

    fn second(&mut self, own: &Second) -> io::Result<()> {
        let (made, layout) = (&mut self.made, &self.target.layout);
        self.points.second(own, &mut |point| made.add(point, layout));
        self.send_if_due();
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let (made, layout) = (&mut self.made, &self.target.layout);
        self.points.event(event, &mut |point| made.add(point, layout));
        match &event.kind {
            EventKind::Evaluated(_) if !self.has_teardown => self.end(),
            EventKind::PhaseEnded { phase: Phase::Teardown, .. }
            | EventKind::NotRun(Phase::Teardown) => self.end(),
            // A teardown that is killed takes nothing with it.
            EventKind::Evaluated(_) => self.send(),
            _ => self.send_if_due(),
        }
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.end();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use squall_k6::output::PointMetric;

    use super::*;

    #[test]
    fn no_value_takes_the_place_of_another_one() {
        let metric = PointMetric::built_in("checks").expect("one of k6's");
        let tags = [("check", Cow::Borrowed("is, ok")), ("url", Cow::Borrowed("http://a"))];
        let metadata = [("vu", Cow::Borrowed("7")), ("iter", Cow::Borrowed("x"))];
        let point = Point { metric, unix_us: 5, value: 1.0, tags: &tags, metadata: &metadata };
        let fields =
            [("vu", FieldKind::Integer), ("iter", FieldKind::Float), ("url", FieldKind::Text)];
        let fields = fields.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let layout = |precision_ns| {
            let fields = fields.clone();
            Layout::Influxdb { create: None, fields, precision_ns }
        };
        let mut made = Made::Lines(Lines::default());
        made.add(&point, &layout(1));
        made.add(&point, &layout(1));
        made.add(&point, &layout(1_000));
        let Made::Lines(lines) = made else { panic!("series") };
        let line = "checks,check=is\\,\\ ok url=\"http://a\",vu=7i,iter=\"x\",value=1";
        assert_eq!(lines.text, format!("{line} 5000\n{line} 5001\n{line} 5000\n"));
    }
}
