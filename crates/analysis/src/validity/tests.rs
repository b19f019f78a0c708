//! Rules on made-up runs: what each sees, and that it is a note where the numbers hardly change.

mod machine;
mod target;

use std::sync::Arc;

use super::seconds::seconds_in_words;
use super::*;
use crate::threshold::Windows;
use crate::{Threshold, Totals};
use squall_metrics::{
    ErrorKind, HostMetrics, HostSample, NameId, PHASES, Phases, RowKey, RowKind, Sample, Slice,
    TimeRecorder, UserState,
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
    assessed_over(10.0, host, (0..seconds).collect(), thresholds, |second, slice| {
        (0..100).for_each(|_| slice.record(NameId(0), &Sample::ok(1_000)));
        change(second, slice);
    })
}

/// The reasons of a run of so many seconds that has these slices.
fn assessed_over(
    elapsed_s: f64,
    host: &HostMetrics,
    seconds: Vec<u32>,
    thresholds: &[Threshold],
    fill: impl Fn(u32, &mut Slice),
) -> Vec<Reason> {
    let first = seconds[0];
    let slices: Vec<Slice> = seconds
        .into_iter()
        .map(|second| {
            let mut slice = Slice::new(0, second);
            if second == first {
                slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
            }
            fill(second, &mut slice);
            slice
        })
        .collect();
    let mut totals = Totals::new();
    slices.iter().for_each(|slice| assert!(totals.add(slice)));
    let mut series = totals.series();
    slices.iter().for_each(|slice| series.add(slice));
    let series = series.finish();
    let mut windows = Windows::new(thresholds, Arc::new(totals.clone()), elapsed_s as u32);
    slices.iter().for_each(|slice| windows.add(slice));
    assess(&Facts {
        totals: &totals,
        series: &series,
        all: &totals.all(),
        elapsed_s,
        host,
        fleet: None,
        steady: None,
        thresholds,
        results: &windows.finish(),
        shows_corrected: true,
    })
}

/// Rule, validity and effect of each reason.
fn told(reasons: &[Reason]) -> Vec<(&'static str, Validity, String)> {
    let unlisted = reasons.iter().find(|own| !VALIDITY_RULES.contains(&own.rule));
    assert_eq!(unlisted, None, "`VALIDITY_RULES` has all rules");
    reasons.iter().map(|own| (own.rule, own.validity(), own.effect_text())).collect()
}

fn one(
    rule: &'static str,
    validity: Validity,
    effect: &str,
) -> Vec<(&'static str, Validity, String)> {
    vec![(rule, validity, effect.to_owned())]
}

/// A request of 1 ms, of which a phase took so long; the time in the pool comes before it.
fn with_phase(name: &str, us: u64) -> Sample {
    phase_of(1_000, name, us)
}

/// A request of so many µs, of which a phase took so many.
fn phase_of(latency: u64, name: &str, us: u64) -> Sample {
    let mut phases = Phases::default();
    phases.add(PHASES.iter().position(|own| *own == name).expect("a phase"), us * 1_000);
    Sample { phases, ..Sample::ok(latency) }
}

/// A machine with two CPUs, whose counters count this much in each of ten seconds.
fn machine(of_second: HostSample) -> HostMetrics {
    let mut host = HostMetrics::default();
    for second in 0..=10u64 {
        let mut sample = of_second;
        for (name, value) in of_second.counters() {
            sample.set(name, value * second);
        }
        sample.cpu_ticks = 200 * second;
        host.add(second as f64, sample);
    }
    host
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

/// What came after a lost packet waited for it in the kernel, not for squall.
#[test]
fn responses_that_wait_for_a_lost_packet_are_no_stall() {
    let read_late = |lost: u64| {
        reasons(move |second, slice| {
            (0..100).for_each(|_| slice.self_metrics.receive_delay.record(50));
            if second == 4 {
                slice.self_metrics.receive_delay.record(650_000);
                slice.counters.segments_retransmitted = lost;
            }
        })
    };
    assert_eq!(told(&read_late(0)), one("stalled", Validity::Questionable, "rate by up to 6.5%"));
    assert_eq!(read_late(1), []);
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
    let effect = "mean by up to 50% (1.00 ms), p99 by up to 66.7% (2.00 ms)";
    assert_eq!(told(&found), one("send_delay", Validity::Questionable, effect));
    // The latency is not late, and so is nothing that is asked of it.
    let weight = |threshold: &str| {
        let asked = [Threshold::parse(threshold).expect("a threshold")];
        assessed(&HostMetrics::default(), 10, &asked, late(2_000, 50))[0].validity()
    };
    assert_eq!(weight("p95 < 300ms"), Validity::Questionable);
    assert_eq!(weight("corrected_p99 < 4ms"), Validity::Invalid, "it may be the delay that fails");
    assert_eq!(weight("corrected_p99 < 1s"), Validity::Questionable);
}

/// What is too small to be seen in anything shown can still decide a threshold that is close to its limit.
#[test]
fn a_delay_is_weighed_against_what_is_asked() {
    for (asked, validity) in [
        ("p99 < 51ms", Validity::Valid),
        ("corrected_p99 < 120ms", Validity::Valid),
        ("corrected_p99 < 60ms", Validity::Questionable),
        ("corrected_p95 < 60ms", Validity::Valid),
        ("corrected_p99 < 53ms", Validity::Questionable),
    ] {
        let host = HostMetrics::default();
        let thresholds = [Threshold::parse(asked).expect("a threshold")];
        let found = assessed_over(10.0, &host, (0..10).collect(), &thresholds, |_, slice| {
            for n in 0..100 {
                // Less than 5% of any number that is shown.
                let delay = if n < 3 { 2_600 } else { 0 };
                slice.self_metrics.send_delay.record(delay);
                let corrected_latency_ns = Some((50_000 + delay) * 1_000);
                slice.record(NameId(0), &Sample { corrected_latency_ns, ..Sample::ok(50_000) });
            }
        });
        assert_eq!((found[0].rule, found[0].validity()), ("send_delay", validity), "{asked}");
    }
}

/// Arrivals that are late come together. That costs a queue that is in use, and none that is idle most of the time.
#[test]
fn late_arrivals_meet_in_a_queue_that_is_in_use() {
    let run = |each_second: u32| {
        assessed_over(10.0, &HostMetrics::default(), (0..10).collect(), &[], move |_, slice| {
            for n in 0..each_second {
                slice.self_metrics.send_delay.record(50_000);
                slice.record(NameId(0), &Sample::ok(if n % 2 == 0 { 1_000 } else { 40_000 }));
            }
        })
    };
    let effect = |of: &[Reason]| of[0].effect.map(|effect| effect.p99_us.round());
    let (busy, idle) = (run(500), run(2));
    // Half of the latency may be that, if the target is such a queue, which nobody knows.
    assert_eq!((busy[0].rule, busy[0].validity()), ("send_delay", Validity::Questionable));
    assert_eq!(effect(&busy), Some(39_000.0), "no more than what is above the fastest");
    // 2 requests of 20.5 ms a second: 0.041 are in flight.
    assert_eq!((idle[0].rule, idle[0].validity()), ("send_delay", Validity::Questionable));
    assert!(effect(&idle).is_some_and(|us| (2_000.0..2_100.0).contains(&us)), "{idle:?}");
    let calm = assessed_over(10.0, &HostMetrics::default(), (0..10).collect(), &[], |_, slice| {
        (0..50).for_each(|_| slice.self_metrics.send_delay.record(5_000));
        (0..50).for_each(|n| slice.record(NameId(0), &Sample::ok(30 + n)));
    });
    assert_eq!((calm[0].rule, calm[0].validity()), ("send_delay", Validity::Valid));
}

/// Half of what should have been sent was not sent in the time of the run.
#[test]
fn a_rate_that_squall_cannot_send_is_not_the_one_that_was_asked_for() {
    let behind = |us: u64| {
        let found = reasons(move |_, slice| {
            slice.self_metrics.send_delay.record_n(us, 200);
            let corrected_latency_ns = Some((1_000 + us) * 1_000);
            slice.record(NameId(0), &Sample { corrected_latency_ns, ..Sample::ok(1_000) });
        });
        let late = found.into_iter().find(|own| own.rule == "send_delay").expect("late");
        (late.validity(), late.effect.map(|effect| (effect.rate * 100.0).round()))
    };
    assert_eq!(behind(5_500_000), (Validity::Invalid, Some(55.0)));
    assert_eq!(behind(2_000), (Validity::Questionable, Some(0.0)), "the corrected latency");
}

/// Three requests are what was asked for, and have no throughput.
#[test]
fn a_run_of_three_requests_is_valid() {
    let thresholds = |texts: &[&str]| -> Vec<Threshold> {
        texts.iter().map(|text| Threshold::parse(text).expect("a threshold")).collect()
    };
    let of = |asked: &[&str]| {
        let host = HostMetrics::default();
        let found = assessed_over(0.02, &host, vec![0], &thresholds(asked), |_, slice| {
            let mut book = TimeRecorder::new(0);
            book.expect(1);
            book.change(UserState::NotStarted, UserState::Ready, 0);
            book.change(UserState::Ready, UserState::Request, SECOND / 100);
            slice.time_account = book.close(SECOND / 50);
            slice.self_metrics.starved_ns = SECOND / 100;
            (0..3).for_each(|_| slice.record(NameId(0), &Sample::ok(300)));
        });
        worst(&found)
    };
    assert_eq!(of(&[]), Validity::Valid);
    assert_eq!(of(&["rate > 1/s"]), Validity::Questionable, "the rate may be twice as high");
    assert_eq!(of(&["p95 < 1s"]), Validity::Questionable, "three responses have no p95");
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

/// Seconds are counted from the start of the run, whichever of them were measured.
#[test]
fn seconds_are_those_of_the_run() {
    let words = |meant: &[u32], all: std::ops::Range<u32>| {
        let spans = |seconds: Vec<u32>| seconds.into_iter().map(|second| (second, 1)).collect();
        let (meant, all): (Vec<_>, Vec<_>) = (spans(meant.to_vec()), spans(all.collect()));
        seconds_in_words(&meant, &all)
    };
    assert_eq!(words(&[], 0..5), "");
    assert_eq!(words(&[3], 0..5), "in second 3");
    assert_eq!(words(&[3, 4], 0..5), "in seconds 3 to 4 of 5");
    assert_eq!(words(&[3, 4, 9], 2..10), "in 3 of 8 seconds, first in second 3");
    // A step of a search begins after some seconds that do not count, ...
    assert_eq!(words(&[3, 4, 5, 6, 7, 8, 9], 2..10), "in seconds 3 to 9 of 2 to 9");
    // ... and in a long run a row is several seconds.
    assert_eq!(
        seconds_in_words(&[(4, 4), (8, 4)], &[(0, 4), (4, 4), (8, 4)]),
        "in seconds 4 to 11 of 12"
    );
    let gap = [0, 1, 3, 9].map(|second| (second, 1));
    assert_eq!(seconds_in_words(&gap[2..3], &gap), "in second 3");
    assert_eq!(seconds_in_words(&gap[..2], &gap), "in seconds 0 to 1 of 10");
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

/// A moving window has a part of the run's responses, and its own value.
#[test]
fn a_moving_window_is_judged_by_what_is_in_it() {
    let short = |asked: &str| {
        let asked = [Threshold::parse(asked).expect("a threshold")];
        let found = assessed(&HostMetrics::default(), 10, &asked, |_, _| ());
        found.into_iter().map(|own| own.observed).collect::<Vec<_>>()
    };
    let said = "`p99 < 10s over 2s` is based on 200 responses in each window on average; p99 needs at least 368";
    assert_eq!(short("p99 < 10s over 2s"), [said]);
    assert_eq!(short("p99 < 10s over 5s"), [] as [&str; 0]);
    // 1.5% of the rate is much where it is 51/s, beside a limit of 50/s.
    let weight = |asked: &str| {
        let asked = [Threshold::parse(asked).expect("a threshold")];
        let host = HostMetrics::default();
        let found = assessed_over(10.0, &host, (0..10).collect(), &asked, |second, slice| {
            let requests = if (5..7).contains(&second) { 51 } else { 100 };
            (0..requests).for_each(|_| slice.record(NameId(0), &Sample::ok(1_000)));
            (slice.counters.arrivals_due, slice.counters.arrivals_dropped) = (1_000, 15);
        });
        found[0].validity()
    };
    assert_eq!(weight("rate > 50/s"), Validity::Valid);
    assert_eq!(weight("rate > 50/s over 2s"), Validity::Questionable);
}

/// Latencies that move noticeably may have moved how many are within the time of an Apdex.
#[test]
fn an_apdex_is_doubted_where_the_latencies_that_it_counts_are() {
    let weight = |asked: &[&str]| {
        let asked: Vec<Threshold> =
            asked.iter().map(|text| Threshold::parse(text).expect("a threshold")).collect();
        let host = HostMetrics::default();
        let found = assessed_over(10.0, &host, (0..10).collect(), &asked, |second, slice| {
            if second == 0 {
                slice.announce(NameId(1), RowKey::new(RowKind::Request, "s", "b"));
            }
            (0..100).for_each(|_| slice.record(NameId(0), &phase_of(5_000, "dns", 4_000)));
            (0..300).for_each(|_| slice.record(NameId(1), &Sample::ok(100_000)));
        });
        found.into_iter().map(|own| (own.rule, own.validity())).collect::<Vec<_>>()
    };
    assert_eq!(weight(&[]), [("name_lookups", Validity::Valid)], "little of any number shown");
    assert_eq!(weight(&["apdex(b, 1s) > 0.9"]), [("name_lookups", Validity::Valid)]);
    assert_eq!(weight(&["apdex(a, 10ms) > 0.9"]), [("name_lookups", Validity::Questionable)]);
}
