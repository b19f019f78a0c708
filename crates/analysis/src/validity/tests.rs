//! Rules on made-up runs: what each sees, and that it is a note where the numbers hardly change.

use super::*;
use squall_metrics::{
    ErrorKind, HostSample, NameId, PHASES, Phases, RowKey, RowKind, Sample, Slice, TimeRecorder,
    UserState,
};

const SECOND: u64 = 1_000_000_000;

/// A run of ten seconds of a hundred requests of a millisecond each, changed second by second.
fn reasons(change: impl Fn(u32, &mut Slice)) -> Vec<Reason> {
    reasons_on(&HostMetrics::default(), change)
}

fn reasons_on(host: &HostMetrics, change: impl Fn(u32, &mut Slice)) -> Vec<Reason> {
    assessed(host, 10, &[], change)
}

/// The reasons of a run of ten seconds that has slices of so many.
fn assessed(
    host: &HostMetrics,
    seconds: u32,
    thresholds: &[Threshold],
    change: impl Fn(u32, &mut Slice),
) -> Vec<Reason> {
    let slices: Vec<Slice> = (0..seconds)
        .map(|second| {
            let mut slice = Slice::new(0, second);
            if second == 0 {
                slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
            }
            (0..100).for_each(|_| slice.record(NameId(0), &Sample::ok(1_000)));
            change(second, &mut slice);
            slice
        })
        .collect();
    let mut totals = Totals::new();
    slices.iter().for_each(|slice| assert!(totals.add(slice)));
    let mut series = totals.series();
    slices.iter().for_each(|slice| series.add(slice));
    let series = series.finish();
    assess(&Facts {
        totals: &totals,
        series: &series,
        all: &totals.all(),
        elapsed_s: 10.0,
        host,
        steady: None,
        thresholds,
    })
}

/// Rule, validity and effect of each reason.
fn told(reasons: &[Reason]) -> Vec<(&'static str, Validity, String)> {
    reasons.iter().map(|own| (own.rule, own.validity(), own.effect_text())).collect()
}

fn one(
    rule: &'static str,
    validity: Validity,
    effect: &str,
) -> Vec<(&'static str, Validity, String)> {
    vec![(rule, validity, effect.to_owned())]
}

#[test]
fn a_healthy_run_has_no_reason() {
    assert_eq!(reasons(|_, _| ()), []);
}

#[test]
fn users_that_wait_for_squall_cost_rate() {
    let closed = |ready_ms: u64| {
        move |second: u32, slice: &mut Slice| {
            let start = u64::from(second) * SECOND;
            let mut book = TimeRecorder::new(start);
            book.expect(1);
            book.change(UserState::NotStarted, UserState::Ready, start);
            book.change(UserState::Ready, UserState::Request, start + ready_ms * 1_000_000);
            slice.time_account = book.close(start + SECOND);
        }
    };
    assert_eq!(reasons(closed(5)), []);
    let note = one("generator_time", Validity::Valid, "rate by up to 1.5%");
    assert_eq!(told(&reasons(closed(15))), note);
    let pauses = one("generator_time", Validity::Questionable, "rate by up to 27%");
    assert_eq!(told(&reasons(closed(270))), pauses);
}

#[test]
fn a_stall_weighs_by_its_length() {
    let stall = |ms: u64| {
        move |second: u32, slice: &mut Slice| {
            if second == 4 {
                slice.self_metrics.loop_iteration.record(ms * 1_000);
            }
        }
    };
    assert_eq!(reasons(stall(90)), []);
    let note = one("stalled", Validity::Valid, "rate by up to 1.5%");
    assert_eq!(told(&reasons(stall(150))), note);
    let long = one("stalled", Validity::Questionable, "rate by up to 15%");
    assert_eq!(told(&reasons(stall(1_500))), long);
}

#[test]
fn late_sends_weigh_by_what_they_add() {
    let late = |us: u64, of: u32| {
        move |_: u32, slice: &mut Slice| {
            for n in 0..100 {
                let delay = if n < of { us } else { 0 };
                slice.self_metrics.send_delay.record(delay);
                let corrected_latency_ns = Some((1_000 + delay) * 1_000);
                slice.record(NameId(0), &Sample { corrected_latency_ns, ..Sample::ok(1_000) });
            }
        }
    };
    assert_eq!(reasons(late(900, 100)), [], "too little to matter");
    assert_eq!(reasons(late(5_000, 1)), [], "too few");
    let found = reasons(late(2_000, 50));
    assert_eq!((found[0].rule, found[0].validity()), ("send_delay", Validity::Invalid));
    assert_eq!(found[0].effect.map(|effect| effect.mean), Some(0.5));
}

#[test]
fn dropped_arrivals_cost_rate() {
    let dropped = |number: u64| {
        move |_: u32, slice: &mut Slice| {
            (slice.counters.arrivals_due, slice.counters.arrivals_dropped) = (1_000, number);
        }
    };
    assert_eq!(reasons(dropped(1)), []);
    let note = one("arrivals_dropped", Validity::Valid, "rate by up to 1.5%");
    assert_eq!(told(&reasons(dropped(15))), note);
    let many = one("arrivals_dropped", Validity::Questionable, "rate by up to 10%");
    assert_eq!(told(&reasons(dropped(100))), many);
}

/// Of a run of ten seconds, whatever an eleventh has that had hardly begun.
#[test]
fn a_second_that_had_hardly_begun_is_none() {
    let dropped = |from: u32, to: u32| {
        let reasons =
            assessed(&HostMetrics::default(), 11, &[], move |second, slice: &mut Slice| {
                let number = if (from..=to).contains(&second) { 100 } else { 0 };
                (slice.counters.arrivals_due, slice.counters.arrivals_dropped) = (1_000, number);
            });
        reasons[0].observed.clone()
    };
    assert!(dropped(2, 4).ends_with("in seconds 2 to 4 of 10"), "{}", dropped(2, 4));
    assert!(dropped(9, 10).ends_with("in seconds 9 to 10 of 11"), "{}", dropped(9, 10));
}

#[test]
fn a_percentile_of_few_values_says_of_what() {
    let p99 = [Threshold::parse("p99 < 10s").expect("a threshold")];
    let observed = |given_up: bool| {
        let reasons = assessed(&HostMetrics::default(), 1, &p99, move |_, slice: &mut Slice| {
            let error = Some(ErrorKind::TimeoutFirstByte);
            let timeouts = if given_up { 2 } else { 0 };
            (0..timeouts).for_each(|_| {
                slice.record(NameId(0), &Sample { complete: false, error, ..Sample::ok(5_000) })
            });
        });
        let short = reasons.iter().find(|own| own.rule == "too_short").expect("too few");
        short.observed.clone()
    };
    assert_eq!(observed(false), "`p99 < 10s` is based on 100 responses; p99 needs at least 368");
    let both =
        "`p99 < 10s` is based on 100 responses and 2 requests without one; p99 needs at least 368";
    assert_eq!(observed(true), both);
}

#[test]
fn what_runs_out_is_a_note_until_something_failed() {
    let mut host = HostMetrics::default();
    for second in 0..10u32 {
        let ports_used = 1_000 * u64::from(second);
        host.add(
            f64::from(second),
            HostSample { ports_used, ports_limit: 10_000, ..HostSample::default() },
        );
    }
    let note = one("ports", Validity::Valid, "none");
    assert_eq!(told(&reasons_on(&host, |_, _| ())), note);
    let found = reasons(|_, slice| {
        let error = Some(ErrorKind::NoFreePort);
        let failed = Sample { complete: false, error, ..Sample::ok(10) };
        (0..100).for_each(|_| slice.record(NameId(0), &failed));
    });
    assert_eq!(told(&found), one("ports", Validity::Questionable, "rate by up to 50%"));
}

#[test]
fn the_host_is_looked_at() {
    let mut host = HostMetrics::default();
    host.add(0.0, HostSample::default());
    let later = HostSample {
        cpu_ticks: 2_000,
        steal_ticks: 100,
        major_faults: 5_000,
        clock_step_us: 50_000,
        link_used_permille: 900,
        ..HostSample::default()
    };
    host.add(10.0, later);
    let mut found = told(&reasons_on(&host, |_, _| ()));
    found.sort_by_key(|(rule, ..)| *rule);
    let unknown = |rule| (rule, Validity::Questionable, "unknown".to_owned());
    let rate = |rule| (rule, Validity::Questionable, "rate by up to 5%".to_owned());
    assert_eq!(found, [unknown("clock_step"), unknown("link"), rate("steal"), rate("swapping")]);
}

#[test]
fn what_was_sent_again_weighs_by_what_it_added() {
    let sent_again = |number: u64| {
        move |_: u32, slice: &mut Slice| slice.counters.segments_retransmitted = number
    };
    assert_eq!(
        reasons(|second, slice| slice.counters.segments_retransmitted = u64::from(second == 0)),
        []
    );
    let found = reasons(sent_again(2));
    assert_eq!((found[0].rule, found[0].validity()), ("retransmits", Validity::Invalid));
    let found = reasons(|_, slice| slice.counters.stale_retries = 3);
    assert_eq!(told(&found), one("retries", Validity::Questionable, "p99 by up to 3%"));
}

#[test]
fn timeouts_and_stalls_that_percentiles_hide_are_notes() {
    let found = reasons(|_, slice| {
        let error = Some(ErrorKind::TimeoutFirstByte);
        let given_up = Sample { complete: false, error, ..Sample::ok(1_000_000) };
        (0..5).for_each(|_| slice.record(NameId(0), &given_up));
    });
    assert_eq!(told(&found), one("timeouts", Validity::Valid, "none"));
    assert!(found[0].observed.starts_with("50 requests timed out"), "{}", found[0].observed);
    assert!(found[0].observed.contains("percentiles above p95.2"), "{}", found[0].observed);
    // What the end of the load cut off is no timeout of the target.
    let cut_off = |_: u32, slice: &mut Slice| {
        let error = Some(ErrorKind::Interrupted);
        let cut_off = Sample { complete: false, error, ..Sample::ok(1_000_000) };
        (0..5).for_each(|_| slice.record(NameId(0), &cut_off));
    };
    let found = reasons(cut_off);
    assert_eq!(told(&found), one("cut_off", Validity::Valid, "none"));
    let told_of = &found[0].observed;
    assert!(told_of.starts_with("the end of the load cut off 50 requests"), "{told_of}");
    assert!(!found[0].advice.contains("target"), "{}", found[0].advice);
    let found = reasons(|second, slice| {
        cut_off(second, slice);
        let error = Some(ErrorKind::TimeoutFirstByte);
        slice.record(NameId(0), &Sample { complete: false, error, ..Sample::ok(1_000_000) });
    });
    assert_eq!(told(&found), one("timeouts", Validity::Valid, "none"));
    assert!(found[0].observed.contains("; 50 cut off"), "{}", found[0].observed);
    let stall = |second: u32, slice: &mut Slice| {
        if second == 5 {
            slice.record(NameId(0), &Sample::ok(2_000_000));
        }
    };
    let found = reasons(stall);
    assert_eq!(told(&found), one("hidden_stall", Validity::Valid, "none"));
    assert!(found[0].observed.starts_with("1 request took"), "{}", found[0].observed);
    // With a schedule the corrected latency shows it.
    let scheduled = reasons(|second, slice| {
        stall(second, slice);
        let corrected_latency_ns = Some(1_000_000);
        slice.record(NameId(0), &Sample { corrected_latency_ns, ..Sample::ok(1_000) });
    });
    assert_eq!(scheduled, []);
}

/// A request of 1 ms, of which a phase took so long; the time in the pool comes before it.
fn with_phase(name: &str, us: u64) -> Sample {
    let mut phases = Phases::default();
    phases.add(PHASES.iter().position(|own| *own == name).expect("a phase"), us * 1_000);
    Sample { phases, ..Sample::ok(1_000) }
}

#[test]
fn names_that_are_looked_up_are_a_part_of_latencies() {
    let lookups = |number: u32, us: u64| {
        reasons(move |_, slice| {
            (0..number).for_each(|_| slice.record(NameId(0), &with_phase("dns", us)));
        })
    };
    assert_eq!(lookups(1, 900), [], "too few");
    let few = one("name_lookups", Validity::Questionable, "mean by up to 25%, p99 by up to 50%");
    assert_eq!(told(&lookups(100, 500)), few);
}

#[test]
fn what_a_users_lookups_take_is_a_part_of_its_time() {
    let found = reasons(|second, slice| {
        let start = u64::from(second) * SECOND;
        let mut book = TimeRecorder::new(start);
        book.expect(1);
        book.change(UserState::NotStarted, UserState::Request, start);
        slice.time_account = book.close(start + SECOND);
        (0..100).for_each(|_| slice.record(NameId(0), &with_phase("dns", 1_000)));
    });
    // 0.1 s of each second.
    assert_eq!(found[0].effect.map(|effect| (effect.rate * 100.0).round()), Some(10.0));
}

#[test]
fn waits_for_the_plans_own_pool_are_a_note() {
    let waits = |us: u64| reasons(move |_, slice| slice.record(NameId(0), &with_phase("pool", us)));
    assert_eq!(waits(5_000), []);
    assert_eq!(told(&waits(10_000)), one("pool_waits", Validity::Valid, "none"));
}

#[test]
fn memory_from_a_slow_disk_costs_the_time_that_it_took() {
    let mut host = HostMetrics::default();
    host.add(0.0, HostSample::default());
    host.add(10.0, HostSample { major_faults: 1_000, ..HostSample::default() });
    let note = one("swapping", Validity::Valid, "rate by up to 1%");
    assert_eq!(told(&reasons_on(&host, |_, _| ())), note);
    let found = reasons_on(&host, |second, slice| {
        let start = u64::from(second) * SECOND;
        let mut book = TimeRecorder::new(start);
        book.expect(1);
        book.change(UserState::NotStarted, UserState::Ready, start);
        book.change(UserState::Ready, UserState::Request, start + SECOND / 4);
        slice.time_account = book.close(start + SECOND);
    });
    let swapping = found.iter().find(|reason| reason.rule == "swapping");
    assert_eq!(swapping.map(Reason::effect_text).as_deref(), Some("rate by up to 25%"));
}
