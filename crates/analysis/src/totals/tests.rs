//! Tests of totals.

use super::*;
use squall_metrics::{CheckResult, MetricKind, Sample};

fn request(name: &str) -> RowKey {
    RowKey::new(RowKind::Request, "s", name)
}

fn of(totals: &Totals, name: &str) -> Option<RequestStats> {
    totals.select(&Selector { name: Some(name.to_owned()), ..Selector::default() })
}

/// One name of a request, a group and a program, and of requests of two scenarios.
#[test]
fn a_row_is_more_than_its_name() {
    let mut slice = Slice::new(0, 0);
    let keys = [
        RowKey::new(RowKind::Request, "buyer", "login"),
        RowKey::new(RowKind::Program, "buyer", "login"),
        RowKey::new(RowKind::Request, "guest", "login"),
        RowKey::new(RowKind::Group, "buyer", "login"),
        RowKey::new(RowKind::Check, "buyer", "login"),
    ];
    for (id, key) in keys.iter().enumerate() {
        slice.announce(NameId(id as u32), key.clone());
    }
    for (id, times) in [(0, 1), (1, 2), (2, 4)] {
        (0..times).for_each(|_| slice.record(NameId(id), &Sample::ok(10)));
    }
    slice.record_span(NameId(3), 10_000, false);
    for result in
        [CheckResult::Passed, CheckResult::Passed, CheckResult::Failed, CheckResult::Warned]
    {
        slice.record_check(NameId(4), result);
    }
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    let counts: Vec<u64> = totals.rows().map(|(_, row)| row.count).collect();
    assert_eq!((counts, totals.all().count), (vec![1, 2, 4, 1], 7));
    let name = || Selector { name: Some("login".to_owned()), ..Selector::default() };
    let count = |selector: Selector| totals.select(&selector).map(|row| (row.count, row.errors));
    assert_eq!(count(name()), Some((5, 0)), "of both scenarios");
    assert_eq!(count(Selector { scenario: Some("guest".to_owned()), ..name() }), Some((4, 0)));
    assert_eq!(count(Selector { kind: Some(RowKind::Program), ..name() }), Some((2, 0)));
    assert_eq!(count(Selector { kind: Some(RowKind::Check), ..name() }), Some((4, 1)));
    assert_eq!(count(Selector { scenario: Some("nobody".to_owned()), ..name() }), None);
    let names = totals.by_name(RowKind::Request);
    let counts = |rows: &[&RequestStats]| rows.iter().map(|row| row.count).collect::<Vec<_>>();
    let names: Vec<_> = names.iter().map(|(name, rows)| (*name, counts(rows))).collect();
    assert_eq!(names, [("login", vec![1, 4])]);
}

#[test]
fn a_group_knows_the_outcomes_of_what_is_within_it() {
    let mut slice = Slice::new(0, 0);
    let group = RowKey::new(RowKind::Group, "s", "checkout");
    let mut inner = request("pay");
    inner.place.group.push("checkout".to_owned());
    for (id, key) in [group.clone(), inner, request("home")].into_iter().enumerate() {
        slice.announce(NameId(id as u32), key);
    }
    slice.record_span(NameId(0), 10_000, false);
    slice.record(NameId(1), &Sample { status: 503, ..Sample::ok(10) });
    slice.record(NameId(2), &Sample::ok(10));
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    assert_eq!(totals.within(&group).status, [(503, 1)]);
}

#[test]
fn workers_may_number_names_differently() {
    let mut totals = Totals::new();
    for (worker, first, second) in [(0, "a", "b"), (1, "b", "a")] {
        let mut slice = Slice::new(worker, 0);
        slice.announce(NameId(0), request(first));
        slice.announce(NameId(1), request(second));
        slice.record(NameId(0), &Sample::ok(10));
        slice.record(NameId(0), &Sample::ok(10));
        slice.record(NameId(1), &Sample::ok(10));
        totals.add(&slice);
    }
    assert_eq!(of(&totals, "a").map(|row| row.count), Some(3));
    assert_eq!(of(&totals, "b").map(|row| row.count), Some(3));
    assert_eq!(totals.all().count, 6);
}

#[test]
fn groups_do_not_count_twice() {
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), request("a"));
    slice.announce(NameId(1), RowKey::new(RowKind::Group, "s", "a"));
    slice.record(NameId(0), &Sample::ok(10));
    slice.record_span(NameId(1), 30_000, false);
    let mut totals = Totals::new();
    totals.add(&slice);
    assert_eq!(totals.all().count, 1);
    assert_eq!(
        totals.of_kind(RowKind::Group).map(|(_, row)| row.latency.max()).collect::<Vec<_>>(),
        [30]
    );
}

/// Whatever the order in which slices come, and how often: totals and series are the same.
#[test]
fn slices_merge_in_any_order_and_once() {
    let slices: Vec<Slice> = (0..30u32)
        .flat_map(|second| [(0, second), (1, second)])
        .map(|(worker, second)| {
            let mut slice = Slice::new(worker, second);
            if second == 0 {
                slice.announce(NameId(0), request("a"));
                slice.announce(NameId(1), RowKey::new(RowKind::Group, "s", "g"));
            }
            slice.record(NameId(0), &Sample::ok(u64::from(10 + second)));
            slice.record_span(NameId(1), 5_000, false);
            slice.counters.users_active = u64::from(40 - second);
            slice.time_account.users = u64::from(second);
            slice
        })
        .collect();
    let evaluate = |order: &[usize]| {
        let mut totals = Totals::new();
        let added = order.iter().filter(|at| totals.add(&slices[**at])).count();
        let mut series = totals.series();
        order.iter().for_each(|at| series.add(&slices[*at]));
        let rows = series.finish().rows().to_vec();
        (totals, rows, added)
    };
    let forward: Vec<usize> = (0..60).collect();
    let (expected, rows, added) = evaluate(&forward);
    assert_eq!((added, rows.len(), rows[0].users, rows[7].requests), (60, 30, 80, 2));
    assert_eq!(expected.counters().users_active, 80);
    // Late by a few seconds; from the end to the beginning; everything twice.
    let late: Vec<usize> = (0..60).map(|at| at / 10 * 10 + (at * 7) % 10).collect();
    let backward: Vec<usize> = (0..60).rev().collect();
    for order in [late, backward, [forward.clone(), forward].concat()] {
        let (totals, same, added) = evaluate(&order);
        assert_eq!((added, totals.refused()), (60, order.len() as u64 - 60));
        assert_eq!(same, rows);
        assert_eq!((totals.all(), totals.of_kind(RowKind::Request).count()), (expected.all(), 1));
        assert_eq!(of(&totals, "g"), of(&expected, "g"));
        assert_eq!(totals.time_account(30.0), expected.time_account(30.0));
        assert_eq!(totals.time_account(30.0).users, 58);
    }
    let mut together = Totals::new();
    slices.chunks(7).for_each(|some| together.add_together(some));
    together.add_together(&slices[3..9]);
    assert_eq!((together.all(), together.refused(), together.seconds()), (expected.all(), 6, 30));
    assert_eq!(of(&together, "g"), of(&expected, "g"));
    assert_eq!(together.time_account(30.0), expected.time_account(30.0));
}

#[test]
fn workers_may_number_metrics_differently_and_announce_them_late() {
    let bought = MetricKey::new(squall_metrics::MetricKind::Counter, "s", "bought", Vec::new());
    let mut totals = Totals::new();
    for (worker, number) in [(0, 0), (1, 5)] {
        let record = |slice: &mut Slice| {
            assert_eq!(slice.record_metric(MetricId(number), bought.kind, 1.5, 0), Ok(()));
        };
        let (mut first, mut second) = (Slice::new(worker, 0), Slice::new(worker, 1));
        first.announce_metric(MetricId(number), &bought);
        record(&mut first);
        record(&mut second);
        assert!(totals.add(&second) && totals.add(&first));
    }
    let all: Vec<_> = totals.metrics().map(|(key, stats)| (key, stats.sum())).collect();
    assert_eq!(all, [(&bought, 6.0)]);
}

/// What a run of a day holds: numbers of 1,200 rows at most.
#[test]
fn a_long_run_takes_no_more_memory_than_a_short_one() {
    let (mut totals, mut seconds) = (Totals::new(), Vec::new());
    for second in 0..10_000 {
        let mut slice = Slice::new(0, second);
        slice.announce(NameId(0), request("a"));
        slice.record(NameId(0), &Sample::ok(u64::from(second % 100)));
        slice.counters.users_active = 3;
        assert!(totals.add(&slice));
        seconds.push(slice);
    }
    let mut builder = totals.series();
    seconds.iter().for_each(|slice| builder.add(slice));
    let series = builder.finish();
    let rows = series.rows();
    assert!((600..=1_200).contains(&rows.len()), "{}", rows.len());
    assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), 10_000);
    assert!(rows.iter().all(|row| row.users == 3 && row.second % row.seconds == 0));
    assert!(rows.iter().map(|row| row.seconds).sum::<u32>() >= 10_000);
}

/// What a monitor samples has a course of its own; it is no worker, and the run is no longer by it.
#[test]
fn a_monitor_has_metrics_and_no_seconds_of_the_run() {
    let mut sampled: Vec<Slice> =
        (0..4).map(|second| Slice::new(Source::Monitor(0), second)).collect();
    let cpu = MetricKey::new(MetricKind::Gauge, "", "cpu", Vec::new());
    sampled[0].announce_metric(MetricId(0), &cpu);
    for (at, slice) in sampled.iter_mut().enumerate() {
        slice.record_metric(MetricId(0), cpu.kind, at as f64, at as u64).expect("a value");
    }
    let worked = (0..2).map(|second| {
        let mut slice = Slice::new(0, second);
        slice.announce(NameId(0), request("a"));
        slice.record(NameId(0), &Sample::ok(10));
        slice
    });
    let slices: Vec<Slice> = worked.chain(sampled).collect();
    let mut totals = Totals::new();
    slices.iter().for_each(|slice| assert!(totals.add(slice)));
    let again = Totals::from(&totals.summary().expect("all names are known"));
    for totals in [totals, again] {
        assert_eq!((totals.workers(), totals.seconds()), (1, 2));
        let mut series = totals.series();
        slices.iter().for_each(|slice| series.add(slice));
        let series = series.finish();
        assert_eq!(series.rows().iter().map(|row| row.second).collect::<Vec<_>>(), [0, 1]);
        let values = series.metrics()[0].points.iter().map(|(second, own)| (*second, own.value));
        assert_eq!(values.collect::<Vec<_>>(), [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]);
    }
}

/// A monitor samples each second what a plan may record once.
#[test]
fn metrics_of_monitors_take_no_course_of_the_plan() {
    let key = |scenario: &str, number: u32| {
        MetricKey::new(MetricKind::Gauge, scenario, &format!("m{number}"), Vec::new())
    };
    let slice = |source: Source, scenario: &str, count, second: u32| {
        let mut slice = Slice::new(source, second);
        for number in 0..count {
            let (id, key) = (MetricId(number), key(scenario, number));
            slice.announce_metric(id, &key);
            slice.record_metric(id, key.kind, 1.0, 0).expect("a value");
        }
        slice
    };
    let mut totals = Totals::new();
    for second in 0..1_200 {
        assert!(totals.add(&slice(Source::Monitor(0), "", 5, second)));
        let recorded = if second == 7 { 8 } else { 0 };
        assert!(totals.add(&slice(Source::Worker(0), "s", recorded, second)));
    }
    let series = totals.series().finish();
    let followed: Vec<&MetricKey> = series.metrics().iter().map(|track| &track.key).collect();
    assert_eq!(followed.len(), 10);
    assert!(followed[..8].iter().all(|key| key.scenario == "s"), "{followed:?}");
}

/// Two workers that number differently, something of each kind, and a slice that comes twice: what is kept of all that
/// says the same, also about the series that is then computed from the slices.
#[test]
fn a_summary_says_what_the_totals_say() {
    let slice = |worker: u32, second: u32| {
        let mut slice = Slice::new(worker, second);
        let (a, b, group, check) =
            (NameId(worker), NameId(1 - worker), NameId(2), NameId(3 + worker));
        let metric = MetricId(worker);
        if second == 0 {
            slice.announce(a, request("a"));
            slice.announce(b, request("b"));
            slice.announce(group, RowKey::new(RowKind::Iteration, "s", "s"));
            slice.announce(check, RowKey::new(RowKind::Check, "s", "ok"));
            let key = MetricKey::new(MetricKind::Counter, "s", "sold", Vec::new());
            slice.announce_metric(metric, &key);
        }
        slice.record(a, &Sample::ok(u64::from(second + 1) * 10));
        slice.record(b, &Sample { status: 500, ..Sample::ok(7) });
        slice.record_span(group, 9_000, second == 3);
        slice.record_cut_off_span(group, 1_000);
        slice.record_check(check, CheckResult::Warned);
        slice.record_metric(metric, MetricKind::Counter, 2.0, 5).expect("a count");
        slice.counters.users_active = u64::from(10 - second.min(9));
        slice.counters.redirects = 3;
        slice.time_account.covered_ns = 1_000_000_000;
        slice.time_account.users = 4;
        slice.self_metrics.cpu_ns = 7;
        slice
    };
    let slices = || (0..1_300).flat_map(|second| [slice(1, second), slice(0, second)]);
    let mut totals = Totals::new();
    slices().for_each(|slice| {
        totals.add(&slice);
    });
    assert!(!totals.add(&slice(1, 7)));

    let summary = totals.summary().expect("all names are known");
    let again = Totals::from(&summary);
    assert_eq!(again.summary(), Some(summary));
    assert_eq!(again.rows().collect::<Vec<_>>(), totals.rows().collect::<Vec<_>>());
    assert_eq!(again.checks().collect::<Vec<_>>(), totals.checks().collect::<Vec<_>>());
    assert_eq!(again.metrics().collect::<Vec<_>>(), totals.metrics().collect::<Vec<_>>());
    assert_eq!((again.counters(), again.counters().users_active), (totals.counters(), 20));
    assert_eq!(again.self_metrics(), totals.self_metrics());
    assert_eq!(again.time_account(2_000.0), totals.time_account(2_000.0));
    let numbers = |own: &Totals| (own.seconds(), own.workers(), own.refused(), own.nameless());
    assert_eq!((numbers(&again), numbers(&totals)), ((1_300, 2, 1, 0), (1_300, 2, 1, 0)));

    let [one, other] = [&again, &totals].map(|totals| {
        let mut series = totals.series();
        slices().for_each(|slice| series.add(&slice));
        series.finish()
    });
    assert_eq!(one.rows(), other.rows());
    assert_eq!((one.rows().len(), one.requests()), (650, other.requests()));
    assert_eq!((one.scenarios(), one.checks()), (other.scenarios(), other.checks()));
}

#[test]
fn what_ran_later_is_added() {
    let part = |name: &str, value: f64| {
        let mut slice = Slice::new(0, 0);
        let check = RowKey::new(RowKind::Check, "s", "ok");
        slice.announce(NameId(0), request(name));
        slice.announce(NameId(1), check);
        let level = MetricKey::new(MetricKind::Gauge, "s", "level", Vec::new());
        slice.announce_metric(MetricId(0), &level);
        slice.record(NameId(0), &Sample::ok(10));
        slice.record_check(NameId(1), CheckResult::Passed);
        slice.record_metric(MetricId(0), MetricKind::Gauge, value, 500).expect("a level");
        slice.counters.arrivals_dropped = 1;
        let mut totals = Totals::new();
        totals.add(&slice);
        totals
    };
    let mut totals = part("a", 3.0);
    totals.add_later(&part("b", 1.0), 1_000);
    totals.add_later(&part("a", 2.0), 500);
    let counts = totals.rows().map(|(key, row)| (key.name.as_str(), row.count));
    assert_eq!(counts.collect::<Vec<_>>(), [("a", 2), ("b", 1)]);
    let passed = totals.checks().map(|(_, counts)| counts.passed);
    assert_eq!(passed.collect::<Vec<_>>(), [3]);
    let levels = totals.metrics().filter_map(|(_, stats)| stats.gauge());
    let levels: Vec<_> = levels.map(|own| (own.last, own.min, own.max)).collect();
    assert_eq!(levels, [(1.0, 1.0, 3.0)], "the one that was recorded last");
    assert_eq!((totals.counters().arrivals_dropped, totals.seconds()), (3, 1));
}
