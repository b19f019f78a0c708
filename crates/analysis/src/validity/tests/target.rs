//! The target and the way to it: what was sent again, looked up, or waited for.

use super::*;

#[test]
fn what_the_target_sent_again_is_named() {
    let lossy = |out_of_order| machine(HostSample { out_of_order, ..HostSample::default() });
    assert_eq!(reasons_on(&lossy(0), |_, _| ()), []);
    assert_eq!(
        told(&reasons_on(&lossy(4), |_, _| ())),
        one("packets_lost", Validity::Valid, "none")
    );
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
    // No response took as long as one that waits for a retransmission.
    assert_eq!(told(&reasons(sent_again(2))), one("retransmits", Validity::Valid, "none"));
    let lost = reasons(|second, slice| {
        sent_again(2)(second, slice);
        (0..2).for_each(|_| slice.record(NameId(0), &Sample::ok(240_000)));
    });
    let effect = lost[0].effect.expect("known");
    assert_eq!((lost[0].rule, lost[0].validity()), ("retransmits", Validity::Invalid));
    assert_eq!((effect.mean_us / 100.0).round(), 47.0, "2 of 102 took 239 ms more: {effect:?}");
    assert!(lost[0].observed.contains("20 responses took 200 ms or more"), "{}", lost[0].observed);
    // Five of a thousand do not reach the 99th percentile.
    let few = reasons(|second, slice| {
        slice.counters.segments_retransmitted = u64::from(second % 2 == 0);
        if second % 2 == 0 {
            slice.record(NameId(0), &Sample::ok(240_000));
        }
    });
    assert_eq!(few[0].effect.map(|effect| effect.p99), Some(0.0));
    let found = reasons(|_, slice| slice.counters.stale_retries = 3);
    assert_eq!(told(&found), one("retries", Validity::Valid, "p99 by up to 3%"));
    let found = reasons(|_, slice| slice.counters.stale_retries = 20);
    assert_eq!(told(&found), one("retries", Validity::Questionable, "p99 by up to 20%"));
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

#[test]
fn names_that_are_looked_up_are_a_part_of_latencies() {
    let lookups = |number: u32, us: u64| {
        reasons(move |_, slice| {
            (0..number).for_each(|_| slice.record(NameId(0), &phase_of(10 * us, "dns", us)));
        })
    };
    assert_eq!(lookups(1, 100), [], "too little");
    let half = |us| {
        let found = lookups(100, us);
        let effect = found[0].effect.expect("known");
        (found[0].rule, found[0].validity(), effect.mean_us.round(), effect.p99_us.round())
    };
    assert_eq!(half(500), ("name_lookups", Validity::Valid, 250.0, 500.0));
    assert_eq!(half(5_000), ("name_lookups", Validity::Questionable, 2_500.0, 5_000.0));
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
