//! The machine that squall runs on: what runs out, and who else uses it.

use super::*;

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
    assert_eq!(told(&found), one("ports", Validity::Invalid, "rate by up to 50%"));
}

#[test]
fn the_host_is_looked_at() {
    let mut host = HostMetrics::default();
    host.add(0.0, HostSample::default());
    let later = HostSample {
        cpu_ticks: 2_000,
        steal_ticks: 200,
        major_faults: 10_000,
        clock_step_us: 50_000,
        link_used_permille: 900,
        ..HostSample::default()
    };
    host.add(10.0, later);
    let mut found = told(&reasons_on(&host, |_, _| ()));
    found.sort_by_key(|(rule, ..)| *rule);
    let unknown = |rule| (rule, Validity::Questionable, "unknown".to_owned());
    let rate = |rule| (rule, Validity::Questionable, "rate by up to 10%".to_owned());
    assert_eq!(found, [unknown("clock_step"), unknown("link"), rate("steal"), rate("swapping")]);
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

/// Full by programs that spin, beside a target that takes a tenth of it.
fn full_by_others() -> HostSample {
    HostSample {
        cpu_busy_ticks: 200,
        own_cpu_ticks: 2,
        target_cpu_ticks: 18,
        target_is_local: 1,
        target_processes: 1,
        cpu_pressure_us: 900_000,
        ..HostSample::default()
    }
}

/// 100 requests of 20 to 60 ms in each of ten seconds, on such a machine.
fn beside(of_second: HostSample, starved_ms: u64) -> Vec<Reason> {
    let host = machine(of_second);
    assessed_over(10.0, &host, (0..10).collect(), &[], |_, slice| {
        (0..100).for_each(|n| slice.record(NameId(0), &Sample::ok(20_000 + 400 * n)));
        slice.self_metrics.starved_ns = starved_ms * 1_000_000;
    })
}

#[test]
fn neighbours_of_the_target_are_doubted_by_what_it_waited() {
    // 100 responses a second, 90% of what they waited is the neighbours' fault: 6.3 ms each.
    let busy = beside(HostSample { target_waited_us: 700_000, ..full_by_others() }, 0);
    let effect = busy[0].effect.expect("known");
    assert_eq!((busy[0].rule, busy[0].validity()), ("host_busy", Validity::Questionable));
    assert_eq!((effect.mean_us / 100.0).round(), 63.0, "{effect:?}");
    assert!(effect.p99_us > 15_000.0 && effect.p99_us < 21_000.0, "up to the median: {effect:?}");
    let said = "other programs took 90% of this machine's CPU time (limit 10%), which was 100% busy, and the target";
    assert!(busy[0].observed.starts_with(said), "{}", busy[0].observed);
    // It had its CPU: they gave way.
    let calm = beside(HostSample { target_waited_us: 900, ..full_by_others() }, 0);
    assert_eq!((calm[0].rule, calm[0].validity()), ("host_busy", Validity::Valid));
    // One of the two CPUs, that of the target, is taken, and nothing is full.
    let half = HostSample { cpu_busy_ticks: 120, cpu_pressure_us: 0, ..full_by_others() };
    let found = beside(HostSample { target_waited_us: 700_000, ..half }, 0);
    assert_eq!((found[0].rule, found[0].validity()), ("host_busy", Validity::Questionable));
    assert_eq!(beside(HostSample { target_waited_us: 900, ..half }, 0), []);
    // A desktop at rest.
    let rest = HostSample { cpu_busy_ticks: 30, ..full_by_others() };
    assert_eq!(beside(HostSample { target_waited_us: 700_000, ..rest }, 0), []);
}

#[test]
fn neighbours_of_a_target_that_cannot_be_seen_have_an_unknown_effect() {
    let unseen = HostSample { target_processes: 0, target_cpu_ticks: 0, ..full_by_others() };
    let found = told(&beside(unseen, 0));
    assert_eq!(found, one("host_busy", Validity::Questionable, "unknown"));
    // squall waited for a CPU, and so did the target beside it.
    let found = told(&beside(HostSample { cpu_pressure_us: 0, ..unseen }, 77));
    let unknown = |rule| (rule, Validity::Questionable, "unknown".to_owned());
    assert_eq!(found, [unknown("host_busy"), unknown("starved")]);
    // Nobody waited.
    assert_eq!(beside(HostSample { cpu_pressure_us: 0, ..unseen }, 0), []);
}

/// What squall waited for is in no latency that ends with the kernel's stamp, and the target has its own machine.
#[test]
fn neighbours_of_squall_alone_cost_what_squall_lost() {
    let far = HostSample { target_is_local: 0, target_processes: 0, ..full_by_others() };
    let note = |rule| (rule, Validity::Valid, "none".to_owned());
    assert_eq!(told(&beside(far, 77)), [note("host_busy"), note("starved")]);
    // What squall lost can make a run invalid; that others were busy cannot.
    let found = assessed_over(10.0, &machine(far), (0..10).collect(), &[], |second, slice| {
        let start = u64::from(second) * SECOND;
        let mut book = TimeRecorder::new(start);
        book.expect(1);
        book.change(UserState::NotStarted, UserState::Ready, start);
        book.change(UserState::Ready, UserState::Request, start + SECOND * 3 / 5);
        slice.time_account = book.close(start + SECOND);
        slice.self_metrics.starved_ns = 600_000_000;
        slice.record(NameId(0), &Sample::ok(20_000));
    });
    let weight = |rule| found.iter().find(|own| own.rule == rule).map(Reason::validity);
    assert_eq!(weight("host_busy"), Some(Validity::Questionable), "{found:?}");
    assert_eq!(weight("starved"), Some(Validity::Invalid), "{found:?}");
}

#[test]
fn a_machine_that_the_target_fills_is_a_finding() {
    let full = HostSample { own_cpu_ticks: 70, target_cpu_ticks: 125, ..full_by_others() };
    let found = beside(HostSample { target_waited_us: 2_000_000, ..full }, 0);
    assert_eq!(told(&found), one("machine_full", Validity::Valid, "none"));
    let said = "the target's machine was full: all its CPUs were busy in seconds 1 to 10 of 1 to 10, 62.5% with the target and 35% with squall";
    assert_eq!(found[0].observed, said);
    assert!(!found[0].is_of_generator());
    let built_in = HostSample { own_cpu_ticks: 195, target_cpu_ticks: 0, ..full_by_others() };
    let found = beside(built_in, 0);
    assert!(found[0].observed.ends_with("97.5% with squall and its built-in target"), "{found:?}");
    assert_eq!(beside(HostSample { cpu_busy_ticks: 180, ..full }, 0), []);
}

/// The advice names what would help here.
#[test]
fn advice_is_about_the_cause() {
    let advice = |of_second: HostSample, cpu_ms: u64, starved_ms: u64| {
        let host = machine(of_second);
        let found = assessed_over(10.0, &host, (0..10).collect(), &[], |_, slice| {
            slice.self_metrics.cpu_ns = cpu_ms * 1_000_000;
            slice.self_metrics.starved_ns = starved_ms * 1_000_000;
            (0..50).for_each(|_| slice.record(NameId(0), &Sample::ok(30)));
            (0..50).for_each(|_| slice.self_metrics.send_delay.record(5_000));
        });
        found.into_iter().find(|own| own.rule == "send_delay").expect("late").advice
    };
    let far = HostSample { target_is_local: 0, ..full_by_others() };
    let quiet = HostSample::default();
    assert!(advice(far, 20, 0).starts_with("the machine is busy: other programs took 90%"));
    assert!(advice(quiet, 990, 0).starts_with("squall used all of its CPU"));
    assert!(advice(quiet, 20, 200).starts_with("squall waited for a CPU"));
    let calm = advice(quiet, 20, 0);
    assert!(calm.starts_with("squall had CPU to spare") && !calm.contains("machines"), "{calm}");
}
