//! A page that was there from the beginning knows what one knows that has just been opened.

use std::sync::Arc;

use squall_metrics::{
    ErrorKind, MetricKey, MetricKind, MetricStats, NameId, RowKey, RowKind, Sample, Slice,
};
use squall_plan::yaml::load_str;
use squall_report::Meta;
use squall_runner::{Event, EventKind, Phase, Row, Second};

use super::*;

const PLAN: &str = "
target: http://shop.test
scenarios:
  buyer: {load: {users: 20, for: 1m}, steps: [{get: /}]}
  guest: {load: {rate: 100/s, for: 1m}, steps: [{get: /}]}
";

fn running() -> LiveState {
    let plan = load_str("shop", PLAN, "".as_ref(), &Default::default()).expect("a plan").plan;
    let mut state =
        LiveState::of(&Meta { plan: "shop".to_owned(), ..Meta::default() }, &plan, Some(60.0));
    state.event(&Event { at_s: 0.0, kind: EventKind::PhaseBegan(Phase::Load) });
    state
}

/// A second in which a name has so many requests on a worker, which hands each second over once.
fn pass(state: &mut LiveState, worker: u32, second: u32, name: &str, requests: u64, errors: u64) {
    let key = RowKey::new(RowKind::Request, "buyer", name);
    let mut slice = Slice::new(worker, second);
    slice.announce(NameId(0), key.clone());
    for request in 0..requests {
        let error = (request < errors).then_some(ErrorKind::Status);
        slice.record(NameId(0), &Sample { error, ..Sample::ok(1_000) });
    }
    let rows =
        slice.rows().map(|(_, stats)| Row { key: Arc::new(key.clone()), stats: stats.clone() });
    let rows = rows.collect();
    state.now_s = f64::from(second) + 1.0;
    state.second(&Second { second, rows, slices: vec![slice], ..Second::default() });
}

/// What a page makes of what it is sent.
#[derive(Default)]
struct Page {
    known: Known,
    points: std::collections::BTreeMap<u64, Value>,
    rows: Vec<(String, u64, Vec<Value>)>,
    latest: u64,
    parts: Map<String, Value>,
}

impl Page {
    fn learn(&mut self, state: &LiveState) -> Value {
        let news: Value = serde_json::from_str(&picture(state, &mut self.known)).expect("JSON");
        if news["new"] == true {
            *self = Page { known: std::mem::take(&mut self.known), ..Page::default() };
        }
        for point in news["points"].as_array().expect("a list") {
            self.points.insert(point[0].as_u64().expect("a second"), point.clone());
        }
        let latest = news["rows"]["latest"].as_u64().expect("a second");
        for (_, _, curve) in &mut self.rows {
            curve.extend((self.latest..latest).map(|_| json!([0, 0, 0])));
        }
        self.latest = latest;
        for row in news["rows"]["changed"].as_array().expect("a list") {
            let at = row["at"].as_u64().expect("a place") as usize;
            if self.rows.len() <= at {
                let label = row["label"].as_str().expect("a name of a new row").to_owned();
                self.rows.push((label, 0, Vec::new()));
            }
            let (_, count, curve) = &mut self.rows[at];
            *count = row["count"].as_u64().expect("a number");
            let tail = row["tail"].as_array().expect("a list");
            curve.truncate(curve.len().saturating_sub(tail.len()));
            curve.extend(tail.iter().cloned());
        }
        for name in ["about", "answers", "ahead", "errors", "judged", "generator", "log"] {
            if let Some(part) = news.get(name) {
                self.parts.insert(name.to_owned(), part.clone());
            }
        }
        news
    }
}

#[test]
fn news_add_up_to_everything() {
    let (mut state, mut page) = (running(), Page::default());
    page.learn(&state);
    for second in 0..40 {
        pass(&mut state, 0, second, "first", 5, u64::from(second == 20) * 3);
        if second > 10 {
            pass(&mut state, 2, second, "second", 2, 0);
        }
        if second % 3 == 0 {
            page.learn(&state);
        }
        // Another worker is late by a second.
        if second > 0 {
            pass(&mut state, 1, second - 1, "first", 1, 0);
        }
    }
    page.learn(&state);
    let mut fresh = Page::default();
    assert_eq!(fresh.learn(&state)["new"], true);
    assert_eq!(page.points, fresh.points);
    assert_eq!(page.parts, fresh.parts);
    let names = |page: &Page| -> Vec<(String, u64)> {
        page.rows.iter().map(|(name, count, _)| (name.clone(), *count)).collect()
    };
    assert_eq!(names(&page), names(&fresh));
    for (own, wanted) in page.rows.iter().zip(&fresh.rows) {
        let from = own.2.len().saturating_sub(wanted.2.len());
        assert_eq!(own.2[from..], wanted.2[..], "{}", own.0);
    }
}

#[test]
fn what_has_not_changed_is_not_sent_again() {
    let (mut state, mut page) = (running(), Page::default());
    pass(&mut state, 0, 0, "first", 5, 0);
    page.learn(&state);
    let news = page.learn(&state);
    for name in ["about", "answers", "ahead", "errors", "judged", "generator", "log"] {
        assert!(news.get(name).is_none(), "{name}");
    }
    assert_eq!((&news["new"], &news["rows"]["changed"]), (&json!(false), &json!([])));
    state.event(&Event { at_s: 1.0, kind: EventKind::Paused });
    let news = page.learn(&state);
    assert_eq!((&news["about"]["paused"], news.get("errors")), (&json!(true), None));
}

#[test]
fn a_long_run_is_sent_anew_when_its_points_cover_more_seconds() {
    let (mut state, mut page) = (running(), Page::default());
    let mut anew = 0;
    for second in 0..1_300 {
        pass(&mut state, 0, second, "first", 1, 0);
        anew += u32::from(page.learn(&state)["new"] == true);
    }
    assert_eq!(anew, 2, "at first, and when neighbours became one");
    let at = Point::names().position(|name| name == "requests").expect("a quantity");
    let requests = page.points.values().filter_map(|point| point[at].as_u64());
    assert_eq!(requests.sum::<u64>(), 1_300);
}

/// Those that a page has are not sent again, but for the last seconds.
#[test]
fn metrics_over_time_are_sent_as_they_come() {
    let (mut state, mut page) = (running(), Page::default());
    let tags = vec![("host".to_owned(), "db1".to_owned())];
    let cpu = Arc::new(MetricKey::new(MetricKind::Gauge, "", "cpu", tags));
    let sent = |page: &mut Page, state: &LiveState| page.learn(state)["metrics"].clone();
    for number in 0..10 {
        pass(&mut state, 0, number, "first", 1, 0);
        let mut stats = MetricStats::default();
        stats.record(cpu.kind, 0.5, 0).expect("a value");
        let metrics = vec![(cpu.clone(), stats)];
        state.second(&Second { second: number, metrics, ..Second::default() });
    }
    let first = sent(&mut page, &state);
    assert_eq!(first[0]["points"].as_array().map(Vec::len), Some(10));
    assert_eq!((&first[0]["name"], &first[0]["tags"]), (&json!("cpu"), &json!([["host", "db1"]])));
    assert_eq!(first[0]["points"][9], json!([9, 1, 0.5]));
    let again = sent(&mut page, &state);
    assert_eq!(again[0]["points"].as_array().map(Vec::len), Some(LATE as usize + 1));
}

#[test]
fn what_monitors_sample_is_sent_by_monitor_with_its_unit_and_bound() {
    let mut state = running();
    let sample = |state: &mut LiveState, second: u32, cpu: f64| {
        let all = [("cpu", cpu), ("cpu_limit", 2.0), ("rss", 1_048_576.0)];
        let metrics = all.map(|(name, value)| {
            let mut stats = MetricStats::default();
            stats.record(MetricKind::Gauge, value, 0).expect("a value");
            let tags = vec![("monitor".to_owned(), "server".to_owned())];
            (Arc::new(MetricKey::new(MetricKind::Gauge, "", name, tags)), stats)
        });
        state.second(&Second { second, metrics: metrics.into(), ..Second::default() });
    };
    let mut page = Page::default();
    assert_eq!(page.learn(&state)["targets"], json!([]));
    sample(&mut state, 0, 1.99);
    sample(&mut state, 1, 0.5);
    let news = page.learn(&state);
    let [server] = news["targets"].as_array().expect("a list").as_slice() else {
        panic!("{news}");
    };
    assert_eq!(
        server["metrics"],
        json!([
            {"at": 0, "name": "cpu", "now": "50%", "highest": "199%", "full_at": "200%", "top": 2.0, "is_full": false},
            {"at": 2, "name": "rss", "now": "1.0 MiB", "highest": "1.0 MiB", "full_at": null, "top": null, "is_full": false},
        ])
    );
    assert_eq!((&server["monitor"], &server["left_out"]), (&json!("server"), &json!(0)));
}
